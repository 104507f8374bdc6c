/* SPDX-License-Identifier: MIT
 *
 * check_sem.c - tier 3: the semaphore on this kernel, through <nlock.h> alone
 *
 * No sleeps and no clocks in verdicts: a waiter is started, seen asleep in /proc, and only then comes the next step. --core
 * is for runs under system-call filters.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000

/* ---------------------------------------------------------------- threads that make one call each */

enum how { WAIT, WAIT_UNTIL, WAIT_POSIX, WAIT_POSIX_UNTIL, WAIT_DISABLED, POST };

struct job {
	nlock_sem_t *s;
	enum how how;
	clockid_t clock;
	struct timespec abs;
	pthread_t thread;
	pid_t tid;
	int result; /* UNDECIDED: the call has not returned, or never will */
	bool keeps_errno;
};

#define UNDECIDED (-1)

static int wait_posix(struct job *j)
{
	int before;

	if (j->how == WAIT_DISABLED)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return nlock_sem_wait_posix(j->s, j->clock, j->how == WAIT_POSIX_UNTIL ? &j->abs : NULL);
}

static void *work(void *arg)
{
	struct job *j = arg;

	errno = 4711;
	__atomic_store_n(&j->tid, harness_tid(), __ATOMIC_RELEASE);
	j->result = j->how == WAIT         ? nlock_sem_wait(j->s)
		    : j->how == WAIT_UNTIL ? nlock_sem_wait_until(j->s, j->clock, &j->abs)
		    : j->how == POST       ? nlock_sem_post(j->s)
					   : wait_posix(j);
	j->keeps_errno = errno == 4711;
	return NULL;
}

static void start(struct job *j, nlock_sem_t *s, enum how how)
{
	j->s = s;
	j->how = how;
	j->tid = 0;
	j->result = UNDECIDED;
	must_be(pthread_create(&j->thread, NULL, work, j), 0);
	while (!__atomic_load_n(&j->tid, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void park(struct job *j, nlock_sem_t *s, enum how how)
{
	start(j, s, how);
	must(harness_sees_asleep(getpid(), j->tid, &s->gate));
}

static int result(struct job *j)
{
	must_be(pthread_join(j->thread, NULL), 0);
	must(j->keeps_errno);
	return j->result;
}

/* A page that processes share, with a semaphore of the row in it. */
struct page {
	nlock_sem_t s, done;
	uint64_t left, right; /* equal, except inside a section */
};

static struct page *new_page(const struct row *row, uint32_t value)
{
	struct page *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED);
	must_be(nlock_sem_init(&p->s, value, row->attr), 0);
	must_be(nlock_sem_init(&p->done, 0, row->attr), 0);
	return p;
}

static void end_page(struct page *p, uint32_t value)
{
	must_be(nlock_sem_value(&p->s), value);
	must_be(nlock_sem_destroy(&p->s), 0);
	munmap(p, sizeof(*p));
}

/* ---------------------------------------------------------------- no system call */

/* In a child that may only exit. */
static int uncontended(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	const struct timespec past = { -1, 0 };
	nlock_sem_t *s = arg;
	int bad = 0;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	bad |= nlock_sem_trywait(s) != EAGAIN;
	bad |= nlock_sem_post(s);
	bad |= nlock_sem_wait(s);
	bad |= nlock_sem_post_n(s, 2);
	bad |= nlock_sem_trywait(s);
	bad |= nlock_sem_wait_until(s, CLOCK_MONOTONIC, &past);
	bad |= nlock_sem_value(s) != 0;
	return bad || nlock_sem_destroy(s);
}

ROW_TEST(uncontended_calls_make_no_system_call)
{
	nlock_sem_t s;
	int status;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	status = harness_child(uncontended, &s);
	if (status == EXIT_CANNOT << 8)
		cannot("no system-call filters");
	must_be(status, 0);
}

/* ---------------------------------------------------------------- counting */

static int rounds_of_work;

/* With one token the semaphore is a lock. */
static int section_work(struct page *p)
{
	for (int i = 0; i < rounds_of_work; i++) {
		const struct timespec soon = harness_in(CLOCK_MONOTONIC, 200000);

		if (i % 7 == 0 && nlock_sem_wait_until(&p->s, CLOCK_MONOTONIC, &soon)) {
			i--;
			continue;
		}
		if (i % 7 && nlock_sem_wait(&p->s))
			return 1;
		if (p->left++ != p->right++)
			return 1;
		if (nlock_sem_post(&p->s))
			return 1;
	}
	return 0;
}

static void *section_thread(void *arg)
{
	return section_work(arg) ? arg : NULL;
}

ROW_TEST(one_token_excludes_threads)
{
	struct page *p = new_page(row, 1);
	pthread_t t[6];
	void *bad;

	rounds_of_work = harness_rounds(300, 20000);
	for (int i = 0; i < COUNT(t); i++)
		must_be(pthread_create(&t[i], NULL, section_thread, p), 0);
	for (int i = 0; i < COUNT(t); i++) {
		must_be(pthread_join(t[i], &bad), 0);
		must(!bad);
	}
	must_be(p->left, (uint64_t)COUNT(t) * (uint64_t)rounds_of_work);
	must_be(p->right, p->left);
	end_page(p, 1);
}

ROW_TEST(one_token_excludes_processes)
{
	struct page *p = new_page(row, 1);
	pid_t pid[4];
	int status;

	rounds_of_work = harness_rounds(300, 20000);
	for (int i = 0; i < COUNT(pid); i++) {
		pid[i] = fork();
		must(pid[i] >= 0);
		if (!pid[i])
			_exit(section_work(p));
	}
	for (int i = 0; i < COUNT(pid); i++) {
		must_be(waitpid(pid[i], &status, 0), pid[i]);
		must_be(status, 0);
	}
	must_be(p->left, (uint64_t)COUNT(pid) * (uint64_t)rounds_of_work);
	must_be(p->right, p->left);
	end_page(p, 1);
}

struct stream {
	nlock_sem_t s;
	int sent, got, missed; /* atomic */
};

static void *sends(void *arg)
{
	struct stream *st = arg;
	int n = 0;

	for (int i = 0; i < rounds_of_work; i++) {
		uint32_t k = (uint32_t)(i % 4);

		n += nlock_sem_post_n(&st->s, k) ? 0 : (int)k;
	}
	__atomic_fetch_add(&st->sent, n, __ATOMIC_RELAXED);
	return NULL;
}

static void *receives(void *arg)
{
	struct stream *st = arg;

	for (;;) {
		const struct timespec abs = harness_in(CLOCK_REALTIME, SECOND / 50);

		if (!nlock_sem_wait_until(&st->s, CLOCK_REALTIME, &abs))
			__atomic_fetch_add(&st->got, 1, __ATOMIC_RELAXED);
		else if (__atomic_load_n(&st->sent, __ATOMIC_RELAXED) >= 2 * (rounds_of_work / 4) * 6)
			return NULL;
	}
}

/* Threads that wait with deadlines miss some, but no token is lost or made. */
ROW_TEST(no_token_is_lost_or_made_between_posts_and_timeouts)
{
	struct stream st = { .sent = 0 };
	pthread_t t[5];

	rounds_of_work = harness_rounds(400, 20000);
	must_be(nlock_sem_init(&st.s, 0, row->attr), 0);
	for (int i = 0; i < 5; i++)
		must_be(pthread_create(&t[i], NULL, i < 2 ? sends : receives, &st), 0);
	for (int i = 0; i < 5; i++)
		must_be(pthread_join(t[i], NULL), 0);
	must_be(st.got + (int)nlock_sem_value(&st.s), st.sent);
	must_be(nlock_sem_destroy(&st.s), 0);
}

/* ---------------------------------------------------------------- who gets it */

ROW_TEST(sleepers_are_served_in_order_of_arrival)
{
	struct job j[8];
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int r = 0; r < harness_rounds(3, 100); r++) {
		for (int i = 0; i < COUNT(j); i++)
			park(&j[i], &s, WAIT);
		for (int i = 0; i < COUNT(j); i++) {
			must_be(nlock_sem_post(&s), 0);
			must_be(result(&j[i]), 0);
			must(i + 1 == COUNT(j) || harness_sees_asleep(getpid(), j[i + 1].tid, &s.gate));
		}
	}
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(token_for_a_sleeper_is_not_there_for_others)
{
	struct job j[2];
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	park(&j[0], &s, WAIT);
	park(&j[1], &s, WAIT);
	must_be(nlock_sem_value(&s), 0);
	must_be(nlock_sem_destroy(&s), EBUSY);
	must_be(nlock_sem_post(&s), 0);
	must_be(nlock_sem_trywait(&s), EAGAIN);
	must_be(nlock_sem_value(&s), 0);
	must_be(result(&j[0]), 0);
	must_be(nlock_sem_post_n(&s, 3), 0);
	must_be(nlock_sem_trywait(&s), 0);
	must_be(nlock_sem_trywait(&s), 0);
	must_be(nlock_sem_trywait(&s), EAGAIN);
	must_be(result(&j[1]), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

/* The deadline is what ends the second wait, however late it is. */
ROW_TEST(poster_that_waits_goes_behind_the_sleeper_under_fifo)
{
	struct job j;
	nlock_sem_t s;

	if (row->bound)
		return;
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < harness_rounds(20, 500); i++) {
		struct timespec soon;

		park(&j, &s, WAIT);
		soon = harness_in(CLOCK_MONOTONIC, 2000000);
		must_be(nlock_sem_post(&s), 0);
		must_be(nlock_sem_wait_until(&s, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
		must_be(result(&j), 0);
	}
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(post_of_many_releases_all_sleepers)
{
	struct job j[8];
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < COUNT(j); i++)
		park(&j[i], &s, WAIT);
	must_be(nlock_sem_post_n(&s, COUNT(j) + 2), 0);
	for (int i = 0; i < COUNT(j); i++)
		must_be(result(&j[i]), 0);
	must_be(nlock_sem_value(&s), 2);
	must_be(nlock_sem_destroy(&s), 0);
}

/* ---------------------------------------------------------------- deadlines */

ROW_TEST(past_deadline_gives_up_at_once)
{
	static const struct timespec past[] = { { 0, 0 }, { 1, 0 }, { -1, 0 }, { -1, 999999999 }, { LONG_MIN, 0 } };
	nlock_sem_t s;

	for (uint32_t v = 0; v < 2; v++) {
		must_be(nlock_sem_init(&s, v * COUNT(past) * 2, row->attr), 0);
		for (int i = 0; i < COUNT(past); i++) {
			must_be(nlock_sem_wait_until(&s, CLOCK_REALTIME, &past[i]), v ? 0 : ETIMEDOUT);
			must_be(nlock_sem_wait_until(&s, CLOCK_MONOTONIC, &past[i]), v ? 0 : ETIMEDOUT);
		}
	}
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(bad_deadline_is_refused_only_if_there_is_no_token)
{
	static const struct timespec bad[] = { { 0, -1 }, { 0, SECOND }, { -1, -1 }, { 5, LONG_MAX }, { 5, LONG_MIN } };
	static const clockid_t clocks[] = { CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC_COARSE, -1,
					    INT_MAX };
	const struct timespec good = harness_in(CLOCK_MONOTONIC, SECOND);
	nlock_sem_t s;

	for (uint32_t v = 0; v < 2; v++) {
		must_be(nlock_sem_init(&s, v * 100, row->attr), 0);
		errno = 4711;
		for (int i = 0; i < COUNT(bad); i++)
			must_be(nlock_sem_wait_until(&s, CLOCK_MONOTONIC, &bad[i]), v ? 0 : EINVAL);
		for (int i = 0; i < COUNT(clocks); i++)
			must_be(nlock_sem_wait_until(&s, clocks[i], &good), v ? 0 : EINVAL);
		must_be(nlock_sem_wait_until(&s, CLOCK_MONOTONIC, NULL), v ? 0 : EINVAL);
		must_be(errno, 4711);
	}
}

static bool has_come(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

ROW_TEST(timed_out_waiter_was_not_early_and_leaves_nothing)
{
	struct job j[2];
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 2; k++) {
			j[k].clock = (i + k) & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
			j[k].abs = harness_in(j[k].clock, 300000 + (i + k) * 100001);
			start(&j[k], &s, WAIT_UNTIL);
		}
		for (int k = 0; k < 2; k++) {
			must_be(result(&j[k]), ETIMEDOUT);
			must(has_come(j[k].clock, &j[k].abs));
		}
		must_be(nlock_sem_destroy(&s), 0);
	}
}

ROW_TEST(timed_waiters_are_served_like_the_others)
{
	struct job j[3] = { { .clock = CLOCK_MONOTONIC, .abs = harness_in(CLOCK_MONOTONIC, (int64_t)3600 * SECOND) },
			    { .clock = CLOCK_REALTIME, .abs = harness_in(CLOCK_REALTIME, (int64_t)99999 * SECOND) },
			    { .clock = CLOCK_MONOTONIC,
			      .abs = { sizeof(time_t) == 8 ? (time_t)INT64_MAX : INT32_MAX, 999999999 } } };
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < 3; i++)
		park(&j[i], &s, WAIT_UNTIL);
	for (int i = 0; i < 3; i++) {
		must_be(nlock_sem_post(&s), 0);
		must_be(result(&j[i]), 0);
	}
	must_be(nlock_sem_destroy(&s), 0);
}

/* ---------------------------------------------------------------- signals, cancellation */

static void nothing(int sig)
{
	(void)sig;
}

static void handle(void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler };

	must(!sigaction(SIGUSR1, &sa, NULL));
}

ROW_TEST(interrupted_waiters_wait_on)
{
	struct job j[2] = { { .tid = 0 },
			    { .clock = CLOCK_REALTIME, .abs = harness_in(CLOCK_REALTIME, (int64_t)3600 * SECOND) } };
	nlock_sem_t s;

	handle(nothing);
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	park(&j[0], &s, WAIT);
	park(&j[1], &s, WAIT_UNTIL);
	for (int i = 0; i < 60; i++) {
		must_be(pthread_kill(j[i & 1].thread, SIGUSR1), 0);
		must(harness_sees_asleep(getpid(), j[i & 1].tid, &s.gate));
	}
	must_be(nlock_sem_post_n(&s, 2), 0);
	must_be(result(&j[0]), 0);
	must_be(result(&j[1]), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

static nlock_sem_t *in_handler;
static int handler_posts;

static void posts(int sig)
{
	(void)sig;
	if (nlock_sem_post(in_handler))
		abort();
	__atomic_fetch_add(&handler_posts, 1, __ATOMIC_RELAXED);
}

ROW_TEST(handler_may_post_what_its_thread_waits_for)
{
	struct job j;
	nlock_sem_t s;

	handle(posts);
	in_handler = &s;
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < 20; i++) {
		park(&j, &s, WAIT);
		must_be(pthread_kill(j.thread, SIGUSR1), 0);
		must_be(result(&j), 0);
	}
	must_be(nlock_sem_destroy(&s), 0);
}

static void *pesters(void *arg)
{
	const pthread_t *victim = arg;

	for (int i = 0; i < 300; i++) {
		if (pthread_kill(*victim, SIGUSR1))
			return arg;
		sched_yield();
	}
	return NULL;
}

/* The handler posts in the middle of the thread's own waits and posts. */
ROW_TEST(handler_may_post_anywhere)
{
	pthread_t self = pthread_self(), t;
	int taken = 0, posted = 0;
	nlock_sem_t s;
	void *bad;

	handle(posts);
	in_handler = &s;
	handler_posts = 0;
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	must_be(pthread_create(&t, NULL, pesters, &self), 0);
	for (int i = 0; i < 3000; i++) {
		const struct timespec soon = harness_in(CLOCK_MONOTONIC, 20000);

		posted += i % 3 == 0 && !nlock_sem_post(&s);
		taken += !nlock_sem_wait_until(&s, CLOCK_MONOTONIC, &soon);
	}
	must_be(pthread_join(t, &bad), 0);
	must(!bad);
	must_be(nlock_sem_value(&s) + (uint32_t)taken, posted + __atomic_load_n(&handler_posts, __ATOMIC_RELAXED));
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(cancelled_waiter_waits_on)
{
	struct job j;
	nlock_sem_t s;
	void *end;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	park(&j, &s, WAIT);
	must_be(pthread_cancel(j.thread), 0);
	must(harness_sees_asleep(getpid(), j.tid, &s.gate));
	must_be(nlock_sem_post(&s), 0);
	must_be(pthread_join(j.thread, &end), 0);
	must_be(j.result, 0);
	must_be(nlock_sem_destroy(&s), 0);
}

/* ---------------------------------------------------------------- as POSIX has it */

static void handle_with(int flags)
{
	struct sigaction sa = { .sa_handler = nothing, .sa_flags = flags };

	must(!sigaction(SIGUSR1, &sa, NULL));
}

ROW_TEST(posix_waiter_is_interrupted_by_a_handler)
{
	struct job j = { .clock = CLOCK_MONOTONIC, .abs = harness_in(CLOCK_MONOTONIC, (int64_t)3600 * SECOND) };
	nlock_sem_t s;

	handle_with(0);
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < 20; i++) {
		park(&j, &s, i & 1 ? WAIT_POSIX : WAIT_POSIX_UNTIL);
		must_be(pthread_kill(j.thread, SIGUSR1), 0);
		must_be(result(&j), EINTR);
		must_be(nlock_sem_destroy(&s), 0);
	}
}

ROW_TEST(posix_waiter_is_not_interrupted_by_a_handler_that_restarts)
{
	struct job j;
	nlock_sem_t s;

	handle_with(SA_RESTART);
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	park(&j, &s, WAIT_POSIX);
	for (int i = 0; i < 30; i++) {
		must_be(pthread_kill(j.thread, SIGUSR1), 0);
		must(harness_sees_asleep(getpid(), j.tid, &s.gate));
	}
	must_be(nlock_sem_post(&s), 0);
	must_be(result(&j), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(errors_of_a_posix_wait)
{
	static const struct timespec past = { -1, 5 }, bad[] = { { 0, -1 }, { 0, SECOND } };
	const struct timespec soon = harness_in(CLOCK_REALTIME, 100000);
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 4, row->attr), 0);
	errno = 4711;
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_sem_wait_posix(&s, CLOCK_MONOTONIC, &bad[i]), 0);
	must_be(nlock_sem_wait_posix(&s, CLOCK_BOOTTIME, &past), 0);
	must_be(nlock_sem_wait_posix(&s, -1, NULL), 0);
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_sem_wait_posix(&s, CLOCK_MONOTONIC, &bad[i]), EINVAL);
	must_be(nlock_sem_wait_posix(&s, CLOCK_BOOTTIME, &past), EINVAL);
	must_be(nlock_sem_wait_posix(&s, CLOCK_MONOTONIC, &past), ETIMEDOUT);
	must_be(nlock_sem_wait_posix(&s, CLOCK_REALTIME, &soon), ETIMEDOUT);
	must_be(errno, 4711);
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(b82_cancelled_posix_waiter_is_gone)
{
	struct job j = { .clock = CLOCK_REALTIME, .abs = harness_in(CLOCK_REALTIME, (int64_t)3600 * SECOND) };
	nlock_sem_t s;
	void *end;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < 20; i++) {
		park(&j, &s, i & 1 ? WAIT_POSIX : WAIT_POSIX_UNTIL);
		must_be(pthread_cancel(j.thread), 0);
		must_be(pthread_join(j.thread, &end), 0);
		must(end == PTHREAD_CANCELED);
		must_be(nlock_sem_value(&s), 0);
		must_be(nlock_sem_destroy(&s), 0);
	}
	park(&j, &s, WAIT_DISABLED);
	must_be(pthread_cancel(j.thread), 0);
	must(harness_sees_asleep(getpid(), j.tid, &s.gate));
	must_be(nlock_sem_post(&s), 0);
	must_be(result(&j), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

static void *waits_when_cancelled(void *arg)
{
	if (pthread_cancel(pthread_self()))
		return arg;
	nlock_sem_wait_posix(arg, -1, NULL);
	return arg;
}

ROW_TEST(b82_thread_that_is_cancelled_already_takes_no_token)
{
	nlock_sem_t s;
	pthread_t t;
	void *end;

	must_be(nlock_sem_init(&s, 1, row->attr), 0);
	must_be(pthread_create(&t, NULL, waits_when_cancelled, &s), 0);
	must_be(pthread_join(t, &end), 0);
	must(end == PTHREAD_CANCELED);
	must_be(nlock_sem_value(&s), 1);
	must_be(nlock_sem_destroy(&s), 0);
}

/* One is cancelled while a token is posted that is for it: before, after, or meanwhile. With nobody else the token is in the value, or
 * was taken; a second waiter must get it, and one that is lost hangs the test. Whether the first was cancelled is told by its call: a
 * thread that has returned already may still be called cancelled by pthread_join, if the C library's signal comes late. */
static void posts_and_cancels(const struct row *row, int rounds)
{
	struct job j[2], p;
	int cancelled = 0;
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	for (int i = 0; i < rounds; i++) {
		bool has_second = i & 1, posts_meanwhile = i % 3 == 1;
		bool was_cancelled;
		void *end;

		park(&j[0], &s, WAIT_POSIX);
		if (has_second)
			park(&j[1], &s, WAIT);
		if (i % 3 == 0)
			must_be(nlock_sem_post(&s), 0);
		if (posts_meanwhile)
			start(&p, &s, POST);
		must_be(pthread_cancel(j[0].thread), 0);
		if (i % 3 == 2)
			must_be(nlock_sem_post(&s), 0);
		must_be(pthread_join(j[0].thread, &end), 0);
		if (posts_meanwhile)
			must_be(result(&p), 0);
		was_cancelled = j[0].result == UNDECIDED;
		must(was_cancelled ? end == PTHREAD_CANCELED : !j[0].result);
		cancelled += was_cancelled;
		if (!was_cancelled)
			must_be(nlock_sem_post(&s), 0);
		if (has_second)
			must_be(result(&j[1]), 0);
		else
			must_be(nlock_sem_trywait(&s), 0);
		must_be(nlock_sem_value(&s), 0);
		must_be(nlock_sem_destroy(&s), 0);
	}
	must(cancelled > 0);
}

ROW_TEST(b82_no_token_is_lost_on_a_thread_that_is_cancelled)
{
	posts_and_cancels(row, harness_rounds(60, 2000));
}

TEST(b82_no_token_is_lost_in_many_cancellations)
{
	posts_and_cancels(&rows[0], harness_rounds(2000, 30000));
}

/* ---------------------------------------------------------------- the range */

ROW_TEST(value_stops_at_its_maximum)
{
	nlock_sem_t s;

	must_be(nlock_sem_init(&s, NLOCK_SEM_VALUE_MAX, row->attr), 0);
	must_be(nlock_sem_post(&s), EOVERFLOW);
	must_be(nlock_sem_post_n(&s, UINT32_MAX), EOVERFLOW);
	must_be(nlock_sem_value(&s), NLOCK_SEM_VALUE_MAX);
	must_be(nlock_sem_wait(&s), 0);
	must_be(nlock_sem_post_n(&s, 2), EOVERFLOW);
	must_be(nlock_sem_post(&s), 0);
	must_be(nlock_sem_value(&s), NLOCK_SEM_VALUE_MAX);
	must_be(nlock_sem_destroy(&s), 0);
}

static void *posts_many(void *arg)
{
	struct stream *st = arg;
	int n = 0;

	for (int i = 0; i < 1000; i++)
		n += !nlock_sem_post(&st->s);
	__atomic_fetch_add(&st->sent, n, __ATOMIC_RELAXED);
	return NULL;
}

ROW_TEST(posts_at_the_limit_add_up)
{
	struct stream st = { .sent = 0 };
	pthread_t t[4];

	must_be(nlock_sem_init(&st.s, NLOCK_SEM_VALUE_MAX - 1500, row->attr), 0);
	for (int i = 0; i < COUNT(t); i++)
		must_be(pthread_create(&t[i], NULL, posts_many, &st), 0);
	for (int i = 0; i < COUNT(t); i++)
		must_be(pthread_join(t[i], NULL), 0);
	must_be(st.sent, 1500);
	must_be(nlock_sem_value(&st.s), NLOCK_SEM_VALUE_MAX);
}

/* ---------------------------------------------------------------- the end of life */

/* The memory is unmapped as soon as the token is there: the poster may still be inside its post. */
ROW_TEST(memory_may_go_as_soon_as_the_last_token_is_taken)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct job j;

	for (int i = 0; i < harness_rounds(150, 5000); i++) {
		nlock_sem_t *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		must(s != MAP_FAILED);
		must_be(nlock_sem_init(s, 0, row->attr), 0);
		start(&j, s, POST);
		must_be(nlock_sem_wait(s), 0);
		must(!munmap(s, size));
		must_be(result(&j), 0);
	}
}

/* ---------------------------------------------------------------- fork, processes */

static int child_uses(void *arg)
{
	nlock_sem_t *s = arg;

	if (nlock_sem_trywait(s) != EAGAIN || nlock_sem_post_n(s, 2) || nlock_sem_value(s) != 2)
		return 1;
	return nlock_sem_wait(s) || nlock_sem_wait(s) || nlock_sem_destroy(s);
}

static int child_destroys(void *arg)
{
	return nlock_sem_destroy(arg);
}

ROW_TEST(child_of_a_fork_counts_no_waiter_of_its_parent)
{
	static nlock_sem_t s; /* private memory: the child has a copy */
	struct job j;

	if (row->is_shared || row->place == NLOCK_PLACE_NODE(0) || row->place == NLOCK_PLACE_FIRST)
		return;
	must_be(nlock_sem_init(&s, 0, row->attr), 0);
	park(&j, &s, WAIT);
	must_be(harness_child(child_uses, &s), 0);
	must_be(harness_child(child_destroys, &s), 0);
	must_be(nlock_sem_post(&s), 0);
	must_be(result(&j), 0);
	must_be(harness_child(child_uses, &s), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

static int child_posts(void *arg)
{
	return nlock_sem_post(arg);
}

ROW_TEST(process_posts_to_a_thread_of_another)
{
	struct page *p = new_page(row, 0);
	struct job j;

	park(&j, &p->s, WAIT);
	must_be(harness_child(child_posts, &p->s), 0);
	must_be(result(&j), 0);
	end_page(p, 0);
}

ROW_TEST(waiting_processes_are_woken_by_posts)
{
	struct page *p = new_page(row, 0);
	pid_t pid[3];
	int status;

	for (int i = 0; i < COUNT(pid); i++) {
		pid[i] = fork();
		must(pid[i] >= 0);
		if (!pid[i])
			_exit(nlock_sem_wait(&p->s));
		must(harness_sees_asleep(pid[i], pid[i], &p->s.gate));
	}
	for (int i = 0; i < COUNT(pid); i++) {
		must_be(nlock_sem_post(&p->s), 0);
		must_be(waitpid(pid[i], &status, 0), pid[i]);
		must_be(status, 0);
	}
	end_page(p, 0);
}

/* ---------------------------------------------------------------- objects */

TEST(zeroed_memory_is_a_semaphore_without_tokens)
{
	static nlock_sem_t s;
	struct job j;

	must_be(nlock_sem_trywait(&s), EAGAIN);
	park(&j, &s, WAIT);
	must_be(nlock_sem_post(&s), 0);
	must_be(result(&j), 0);
	must_be(nlock_sem_post(&s), 0);
	must_be(nlock_sem_value(&s), 1);
	must_be(nlock_sem_wait(&s), 0);
	must_be(nlock_sem_destroy(&s), 0);
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	nlock_sem_t s;

	for (int fill = 0; fill < 256; fill += 51) {
		memset(&s, fill, sizeof(s));
		must_be(nlock_sem_init(&s, 3, row->attr), 0);
		must_be(nlock_sem_value(&s), 3);
		must_be(nlock_sem_trywait(&s), 0);
		must_be(nlock_sem_destroy(&s), 0);
	}
}

ROW_TEST(bad_objects_values_and_attributes_are_refused)
{
	static const uint32_t bad[] = { NLOCK_BAD_ATTR,           0x40,        0x10000, NLOCK_FIFO | 0x10000,
					NLOCK_PLACE_FIRST | 0x40, NLOCK_COHORT };
	char bytes[48] __attribute__((aligned(8)));
	nlock_sem_t *s = (nlock_sem_t *)(void *)bytes;

	for (int off = 1; off < 8; off++)
		must_be(nlock_sem_init((nlock_sem_t *)(void *)(bytes + off), 0, row->attr), EINVAL);
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_sem_init(s, 0, bad[i]), EINVAL);
	must_be(nlock_sem_init(s, 0, row->attr | NLOCK_BAD_ATTR), EINVAL);
	must_be(nlock_sem_init(s, (uint32_t)NLOCK_SEM_VALUE_MAX + 1, row->attr), EINVAL);
	must_be(nlock_sem_init(s, UINT32_MAX, row->attr), EINVAL);
	must_be(nlock_sem_init(s, NLOCK_SEM_VALUE_MAX, row->attr), 0);
}

static const struct test tests[] = {
	CROSS_OF_ROWS(uncontended_calls_make_no_system_call),
	CORE_ROW(one_token_excludes_threads),
	EACH_SHARED(one_token_excludes_processes),
	CORE_CROSS(no_token_is_lost_or_made_between_posts_and_timeouts),
	CORE_ROW(sleepers_are_served_in_order_of_arrival),
	CORE_ROW(token_for_a_sleeper_is_not_there_for_others),
	EACH_ROW(poster_that_waits_goes_behind_the_sleeper_under_fifo),
	CORE_CROSS(post_of_many_releases_all_sleepers),
	EACH_HANDOFF(past_deadline_gives_up_at_once),
	EACH_HANDOFF(bad_deadline_is_refused_only_if_there_is_no_token),
	CORE_CROSS(timed_out_waiter_was_not_early_and_leaves_nothing),
	CORE_CROSS(timed_waiters_are_served_like_the_others),
	CORE_CROSS(interrupted_waiters_wait_on),
	CROSS_OF_ROWS(handler_may_post_what_its_thread_waits_for),
	EACH_HANDOFF(handler_may_post_anywhere),
	EACH_HANDOFF(cancelled_waiter_waits_on),
	CROSS_OF_ROWS(posix_waiter_is_interrupted_by_a_handler),
	CROSS_OF_ROWS(posix_waiter_is_not_interrupted_by_a_handler_that_restarts),
	CORE_CROSS(errors_of_a_posix_wait),
	CROSS_OF_ROWS(b82_cancelled_posix_waiter_is_gone),
	CORE_CROSS(b82_thread_that_is_cancelled_already_takes_no_token),
	CROSS_OF_ROWS(b82_no_token_is_lost_on_a_thread_that_is_cancelled),
	ONCE(b82_no_token_is_lost_in_many_cancellations),
	EACH_HANDOFF(value_stops_at_its_maximum),
	EACH_HANDOFF(posts_at_the_limit_add_up),
	EACH_MORTAL(memory_may_go_as_soon_as_the_last_token_is_taken),
	CROSS_OF_ROWS(child_of_a_fork_counts_no_waiter_of_its_parent),
	EACH_SHARED(process_posts_to_a_thread_of_another),
	EACH_SHARED(waiting_processes_are_woken_by_posts),
	CORE_ONCE(zeroed_memory_is_a_semaphore_without_tokens),
	CROSS_OF_ROWS(init_reads_nothing_of_what_was_there),
	EACH_PLACE(bad_objects_values_and_attributes_are_refused),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "sem", tests, COUNT(tests));
}
