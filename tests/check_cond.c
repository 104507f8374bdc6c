/* SPDX-License-Identifier: MIT
 *
 * check_cond.c - tier 3: the condition variable on this kernel, through <nlock.h> alone
 *
 * No sleeps and no clocks in verdicts: a waiter is started, seen asleep in /proc, and only then comes the next step. The members
 * of a crew are threads or processes that do one deed at a time on a condition variable and its mutex.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND          ((int64_t)1000000000)
#define CREW_MAX        40
#define ERRNO_UNTOUCHED 4711

/* ---------------------------------------------------------------- a crew */

enum task { WAIT, WAIT_TWICE, WAIT_UNTIL, SIGNAL, BROADCAST, DESTROY, PRODUCE, CONSUME, LEAVE };

struct member {
	sem_t go, done;
	bool has_answered;
	int number, result, error, rounds;
	enum task task;
	pid_t pid, tid;
	pthread_t thread;
	struct crew *crew;
	clockid_t clock;
	struct timespec until;
	uint64_t sum;
};

/* Shared memory, at the same address everywhere. */
struct crew {
	nlock_cond_t *c; /* in a page of its own */
	nlock_mutex_t m;
	bool is_processes;
	int n;
	uint32_t came; /* guarded by m, as all that follows */
	uint16_t order[CREW_MAX];
	uint64_t queue[4];
	uint32_t head, tail, producers;
	struct member member[CREW_MAX];
};

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void sem_take(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

/* Signs when it is back, in the mutex; unlocks. */
static int wait_once(struct member *w, bool is_timed)
{
	struct crew *k = w->crew;
	int rc = nlock_mutex_lock(&k->m), rc2;

	if (rc)
		return -1;
	rc = is_timed ? nlock_cond_wait_until(k->c, &k->m, w->clock, &w->until) : nlock_cond_wait(k->c, &k->m);
	k->order[k->came++ % CREW_MAX] = (uint16_t)w->number;
	rc2 = nlock_mutex_trylock(&k->m);
	if (rc2 != EBUSY)
		return -2;
	return nlock_mutex_unlock(&k->m) ? -3 : rc;
}

static bool is_full(const struct crew *k)
{
	return k->tail - k->head == COUNT(k->queue);
}

/* One wait in four has a deadline that may well pass. */
static int wait_somehow(struct member *w, uint64_t *rnd)
{
	struct crew *k = w->crew;
	clockid_t clock = harness_random(rnd) & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	struct timespec until;
	int rc;

	if (harness_random(rnd) % 4)
		return nlock_cond_wait(k->c, &k->m);
	until = harness_in(clock, harness_random(rnd) % 80000);
	rc = nlock_cond_wait_until(k->c, &k->m, clock, &until);
	return rc == ETIMEDOUT ? 0 : rc;
}

/* Producers and consumers wait for the same object, so whoever signals one might hit the other kind: all are told. */
static int tell(struct crew *k, uint64_t *rnd)
{
	bool is_early = harness_random(rnd) & 1;
	int rc = 0;

	if (is_early)
		rc = nlock_cond_broadcast(k->c);
	rc |= nlock_mutex_unlock(&k->m);
	if (!is_early)
		rc |= nlock_cond_broadcast(k->c);
	return rc;
}

static int produce(struct member *w)
{
	uint64_t rnd = harness_random_start((uint32_t)w->number);
	struct crew *k = w->crew;
	int bad = 0;

	for (int i = 0; i < w->rounds && !bad; i++) {
		bad |= nlock_mutex_lock(&k->m);
		while (is_full(k) && !bad)
			bad |= wait_somehow(w, &rnd);
		k->queue[k->tail++ % COUNT(k->queue)] = (uint64_t)i + 1;
		w->sum += (uint64_t)i + 1;
		k->producers -= i + 1 == w->rounds;
		bad |= tell(k, &rnd);
	}
	return bad;
}

static int consume(struct member *w)
{
	uint64_t rnd = harness_random_start((uint32_t)w->number);
	struct crew *k = w->crew;
	int bad = 0;

	while (!bad) {
		bad |= nlock_mutex_lock(&k->m);
		while (k->head == k->tail && k->producers && !bad)
			bad |= wait_somehow(w, &rnd);
		if (k->head == k->tail)
			return bad | nlock_mutex_unlock(&k->m);
		w->sum += k->queue[k->head++ % COUNT(k->queue)];
		bad |= tell(k, &rnd);
	}
	return bad;
}

static int perform(struct member *w)
{
	struct crew *k = w->crew;
	int rc;

	switch (w->task) {
	case WAIT:
		return wait_once(w, false);
	case WAIT_TWICE:
		rc = wait_once(w, false);
		return rc ? rc : wait_once(w, false);
	case WAIT_UNTIL:
		return wait_once(w, true);
	case SIGNAL:
		return nlock_cond_signal(k->c);
	case BROADCAST:
		return nlock_cond_broadcast(k->c);
	case DESTROY:
		return nlock_cond_destroy(k->c);
	case PRODUCE:
		return produce(w);
	case CONSUME:
		return consume(w);
	default:
		return 0;
	}
}

static void *member_main(void *arg)
{
	struct member *w = arg;
	bool goes_on = true;

	w->pid = getpid();
	w->tid = harness_tid();
	while (goes_on) {
		__atomic_store_n(&w->has_answered, true, __ATOMIC_RELEASE);
		sem_post(&w->done);
		sem_take(&w->go);
		goes_on = w->task != LEAVE;
		errno = ERRNO_UNTOUCHED;
		w->result = perform(w);
		w->error = errno;
	}
	sem_post(&w->done);
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

static bool member_start(struct member *w)
{
	if (!w->crew->is_processes)
		return !pthread_create(&w->thread, NULL, member_main, w);
	w->pid = fork();
	if (w->pid)
		return w->pid > 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	member_main(w);
	_exit(0);
}

static int answer(struct crew *k, int i)
{
	sem_take(&k->member[i].done);
	return k->member[i].result;
}

static struct crew *meet(nlock_attr_t of_c, nlock_attr_t of_m, int n, bool is_processes)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct crew *k = shared(sizeof(*k));

	must(k != NULL && n <= CREW_MAX);
	k->c = shared((size_t)sysconf(_SC_PAGESIZE));
	must(k->c != NULL);
	k->is_processes = is_processes;
	k->n = n;
	must_be(nlock_cond_init(k->c, of_c), 0);
	must_be(nlock_mutex_init(&k->m, of_m), 0);
	must(!sigaction(SIGUSR1, &sa, NULL));
	for (int i = 0; i < n; i++) {
		struct member *w = &k->member[i];

		w->number = i;
		w->crew = k;
		must(!sem_init(&w->go, 1, 0) && !sem_init(&w->done, 1, 0));
		must(member_start(w));
		must_be(answer(k, i), 0);
	}
	return k;
}

static void ask(struct crew *k, int i, enum task task)
{
	k->member[i].task = task;
	__atomic_store_n(&k->member[i].has_answered, false, __ATOMIC_RELAXED);
	sem_post(&k->member[i].go);
}

static int tell_to(struct crew *k, int i, enum task task)
{
	ask(k, i, task);
	return answer(k, i);
}

static bool has_answered(struct crew *k, int i)
{
	return __atomic_load_n(&k->member[i].has_answered, __ATOMIC_ACQUIRE);
}

/* There are two, and a bit of the state says which. */
static const void *gate_of(const nlock_cond_t *c)
{
	return __atomic_load_n(&c->state, __ATOMIC_RELAXED) >> 58 & 1 ? &c->gate2 : &c->gate;
}

static bool sees_asleep(struct crew *k, int i, const void *on)
{
	return harness_sees_asleep(k->member[i].pid, k->member[i].tid, on);
}

/* Asks, and waits until member i sleeps on the condition variable. */
static void park(struct crew *k, int i, enum task task)
{
	ask(k, i, task);
	must(sees_asleep(k, i, gate_of(k->c)), "member %d", i);
}

static void is_back(struct crew *k, int i, int rc)
{
	must_be(answer(k, i), rc);
	must_be(k->member[i].error, ERRNO_UNTOUCHED);
}

static void deadline(struct crew *k, int i, clockid_t clock, struct timespec until)
{
	k->member[i].clock = clock;
	k->member[i].until = until;
}

static void part(struct crew *k)
{
	for (int i = 0; i < k->n; i++)
		must_be(tell_to(k, i, LEAVE), 0);
	for (int i = 0; i < k->n; i++) {
		if (k->is_processes)
			must(waitpid(k->member[i].pid, NULL, 0) == k->member[i].pid);
		else
			must(!pthread_join(k->member[i].thread, NULL));
	}
	must_be(nlock_cond_destroy(k->c), 0);
	must_be(nlock_mutex_destroy(&k->m), 0);
	munmap(k->c, (size_t)sysconf(_SC_PAGESIZE));
	munmap(k, sizeof(*k));
}

static struct crew *meet_row(const struct row *row, int n)
{
	return meet(row->attr, row->attr, n, false);
}

/* ---------------------------------------------------------------- nobody waits */

/* In a child that may only exit. */
static int lonely(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	int bad;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	bad = nlock_cond_signal(arg) || nlock_cond_broadcast(arg) || nlock_cond_destroy(arg);
	syscall(SYS_exit_group, bad); /* here: on the way out a sanitizer makes calls of its own */
	return 1;
}

ROW_TEST(signal_and_broadcast_of_nobody_make_no_system_call)
{
	nlock_cond_t c;
	int status;

	must_be(nlock_cond_init(&c, row->attr), 0);
	status = harness_child(lonely, &c);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
		cannot("no system-call filters");
	must_be(status, 0);
}

/* ---------------------------------------------------------------- signal */

static void one_by_one(struct crew *k, bool holds)
{
	for (int i = 0; i < k->n; i++)
		park(k, i, WAIT);
	must_be(nlock_mutex_lock(&k->m), 0);
	k->came = 0;
	must_be(nlock_mutex_unlock(&k->m), 0);
	for (int i = 0; i < k->n; i++) {
		if (holds)
			must_be(nlock_mutex_lock(&k->m), 0);
		must_be(nlock_cond_signal(k->c), 0);
		if (holds)
			must_be(nlock_mutex_unlock(&k->m), 0);
		is_back(k, i, 0);
		must_be(k->order[i], i);
		for (int j = i + 1; j < k->n; j++)
			must(!has_answered(k, j) && sees_asleep(k, j, gate_of(k->c)), "member %d", j);
	}
}

ROW_TEST(each_signal_releases_one_sleeper_in_order_of_arrival)
{
	struct crew *k = meet_row(row, 5);

	one_by_one(k, false);
	one_by_one(k, true);
	part(k);
}

ROW_TEST(each_signal_releases_one_sleeping_process)
{
	struct crew *k = meet(row->attr | NLOCK_SHARED, row->attr | NLOCK_SHARED, 4, true);

	one_by_one(k, false);
	one_by_one(k, true);
	part(k);
}

ROW_TEST(signal_holds_for_the_one_that_is_blocked_and_not_for_a_later_one)
{
	struct crew *k = meet_row(row, 2);

	for (int i = 0; i < harness_rounds(50, 2000); i++) {
		park(k, 0, WAIT);
		must_be(nlock_mutex_lock(&k->m), 0);
		must_be(nlock_cond_signal(k->c), 0);
		ask(k, 1, WAIT);
		must_be(nlock_mutex_unlock(&k->m), 0);
		is_back(k, 0, 0);
		must(sees_asleep(k, 1, gate_of(k->c)));
		must_be(nlock_cond_signal(k->c), 0);
		is_back(k, 1, 0);
	}
	part(k);
}

/* ---------------------------------------------------------------- broadcast */

static void all_at_once(struct crew *k, bool holds)
{
	for (int i = 0; i < k->n; i++) {
		deadline(k, i, CLOCK_MONOTONIC, harness_in(CLOCK_MONOTONIC, 3600 * SECOND));
		park(k, i, i % 3 ? WAIT : WAIT_UNTIL);
	}
	if (holds)
		must_be(nlock_mutex_lock(&k->m), 0);
	must_be(nlock_cond_broadcast(k->c), 0);
	if (holds)
		must_be(nlock_mutex_unlock(&k->m), 0);
	for (int i = 0; i < k->n; i++)
		is_back(k, i, 0);
}

ROW_TEST(broadcast_releases_all)
{
	struct crew *k = meet_row(row, 32);

	for (int i = 0; i < harness_rounds(4, 200); i++)
		all_at_once(k, i & 1);
	part(k);
}

ROW_TEST(broadcast_releases_all_processes)
{
	struct crew *k = meet(row->attr | NLOCK_SHARED, row->attr | NLOCK_SHARED, 8, true);

	for (int i = 0; i < harness_rounds(4, 200); i++)
		all_at_once(k, i & 1);
	part(k);
}

ROW_TEST(thread_that_waits_again_takes_nobodys_place_in_a_broadcast)
{
	struct crew *k = meet_row(row, 8);

	for (int i = 0; i < 8; i++)
		park(k, i, i < 4 ? WAIT_TWICE : WAIT);
	must_be(nlock_cond_broadcast(k->c), 0);
	for (int i = 4; i < 8; i++)
		is_back(k, i, 0);
	for (int i = 0; i < 4; i++)
		must(sees_asleep(k, i, gate_of(k->c)));
	for (int i = 0; i < 4; i++)
		must_be(nlock_cond_signal(k->c), 0);
	for (int i = 0; i < 4; i++)
		is_back(k, i, 0);
	part(k);
}

/* The two objects may differ in all that their attributes say. */
ROW_TEST(mutex_may_have_any_placement_and_sharing)
{
	for (int i = 0; i < ROWS; i += ROWS_HANDOFFS - 1) {
		struct crew *k;

		if (!harness_has_row(i))
			continue;
		k = meet(row->attr, rows[i].attr, 3, false);
		all_at_once(k, false);
		all_at_once(k, true);
		one_by_one(k, true);
		part(k);
	}
}

/* ---------------------------------------------------------------- load */

static void load(struct crew *k, int producers, int rounds)
{
	uint64_t in = 0, out = 0;

	k->producers = (uint32_t)producers;
	for (int i = 0; i < k->n; i++) {
		k->member[i].rounds = rounds;
		k->member[i].sum = 0;
		ask(k, i, i < producers ? PRODUCE : CONSUME);
	}
	for (int i = 0; i < k->n; i++) {
		must_be(answer(k, i), 0);
		if (i < producers)
			in += k->member[i].sum;
		else
			out += k->member[i].sum;
	}
	must_be(in, (uint64_t)producers * (uint64_t)rounds * (uint64_t)(rounds + 1) / 2);
	must_be(out, in);
	must_be(k->head, k->tail);
}

ROW_TEST(nothing_is_lost_between_threads)
{
	struct crew *k = meet_row(row, 6);

	load(k, 3, harness_rounds(400, 20000));
	load(k, 1, harness_rounds(400, 20000));
	part(k);
}

ROW_TEST(nothing_is_lost_between_processes)
{
	struct crew *k = meet(row->attr | NLOCK_SHARED, row->attr | NLOCK_SHARED, 4, true);

	load(k, 2, harness_rounds(400, 20000));
	part(k);
}

ROW_TEST(signals_of_the_system_during_load_change_nothing)
{
	struct crew *k = meet_row(row, 4);
	int busy = 4;

	k->producers = 2;
	for (int i = 0; i < 4; i++) {
		k->member[i].rounds = harness_rounds(300, 10000);
		ask(k, i, i < 2 ? PRODUCE : CONSUME);
	}
	while (busy) {
		busy = 0;
		for (int i = 0; i < 4; i++) {
			if (has_answered(k, i))
				continue;
			pthread_kill(k->member[i].thread, SIGUSR1);
			busy++;
		}
		sched_yield();
	}
	for (int i = 0; i < 4; i++)
		must_be(answer(k, i), 0);
	part(k);
}

/* One signal for each token, each taken by one: a signal that is lost leaves somebody asleep, and the test hangs. */
struct tokens {
	nlock_cond_t c;
	nlock_mutex_t m;
	int tokens, rounds, bad;
	bool signals_inside;
};

static void *taker(void *arg)
{
	struct tokens *k = arg;

	for (int i = 0; i < k->rounds; i++) {
		int bad = nlock_mutex_lock(&k->m);

		while (!k->tokens && !bad)
			bad |= nlock_cond_wait(&k->c, &k->m);
		k->tokens--;
		k->bad |= bad;
		bad |= nlock_mutex_unlock(&k->m);
	}
	return NULL;
}

static void *giver(void *arg)
{
	struct tokens *k = arg;

	for (int i = 0; i < k->rounds; i++) {
		bool is_inside = (i & 1) == k->signals_inside;

		if (nlock_mutex_lock(&k->m))
			abort();
		k->tokens++;
		if ((is_inside && nlock_cond_signal(&k->c)) || nlock_mutex_unlock(&k->m) ||
		    (!is_inside && nlock_cond_signal(&k->c)))
			abort();
	}
	return NULL;
}

ROW_TEST(one_signal_for_each_token_is_enough)
{
	static struct tokens k;
	pthread_t t[6];

	must_be(nlock_cond_init(&k.c, row->attr), 0);
	must_be(nlock_mutex_init(&k.m, row->attr), 0);
	k.rounds = harness_rounds(2000, 100000);
	for (int i = 0; i < 6; i++)
		must(!pthread_create(&t[i], NULL, i < 3 ? taker : giver, &k));
	for (int i = 0; i < 6; i++)
		must(!pthread_join(t[i], NULL));
	must_be(k.bad, 0);
	must_be(k.tokens, 0);
	must_be(nlock_cond_destroy(&k.c), 0);
}

/* ---------------------------------------------------------------- with a rwlock */

struct news {
	nlock_cond_t c;
	nlock_rwlock_t rw;
	int edition, last, bad; /* the edition belongs to the writer */
	pid_t tid[6];
};

static struct news news;

/* Reads each edition, or a later one. Odd readers now and then ask for the write lock. */
static void *reader(void *arg)
{
	int i = (int)(intptr_t)arg, seen = 0;

	__atomic_store_n(&news.tid[i], harness_tid(), __ATOMIC_RELEASE);
	while (seen < news.last) {
		bool writes = (i & 1) && seen % 3 == 0;
		int bad = writes ? nlock_rwlock_wrlock(&news.rw) : nlock_rwlock_rdlock(&news.rw);

		while (news.edition == seen && !bad)
			bad |= nlock_cond_wait_rwlock(&news.c, &news.rw);
		bad |= nlock_rwlock_trywrlock(&news.rw) != EBUSY;
		seen = news.edition;
		bad |= writes ? nlock_rwlock_wrunlock(&news.rw) : nlock_rwlock_rdunlock(&news.rw);
		if (bad)
			__atomic_store_n(&news.bad, bad, __ATOMIC_RELAXED);
	}
	return NULL;
}

ROW_TEST(readers_and_writers_wait_and_have_their_lock_again)
{
	pthread_t t[6];

	news.last = harness_rounds(300, 20000);
	must_be(nlock_cond_init(&news.c, row->attr), 0);
	must_be(nlock_rwlock_init(&news.rw, NLOCK_RW_PHASE_FAIR, row->attr), 0);
	for (int i = 0; i < 6; i++)
		must(!pthread_create(&t[i], NULL, reader, (void *)(intptr_t)i));
	for (int i = 0; i < 6; i++) {
		while (!__atomic_load_n(&news.tid[i], __ATOMIC_ACQUIRE))
			sched_yield();
		must(harness_sees_asleep(getpid(), news.tid[i], &news.c.gate));
	}
	for (int i = 0; i < news.last; i++) {
		must_be(nlock_rwlock_wrlock(&news.rw), 0);
		news.edition++;
		if (i & 1)
			must_be(nlock_cond_broadcast(&news.c), 0);
		must_be(nlock_rwlock_wrunlock(&news.rw), 0);
		if (!(i & 1))
			must_be(nlock_cond_broadcast(&news.c), 0);
	}
	for (int i = 0; i < 6; i++)
		must(!pthread_join(t[i], NULL));
	must_be(news.bad, 0);
	must_be(nlock_cond_destroy(&news.c), 0);
	must_be(nlock_rwlock_destroy(&news.rw), 0);
}

ROW_TEST(deadline_and_errors_with_a_rwlock)
{
	struct timespec until = harness_in(CLOCK_REALTIME, 5000000);
	nlock_cond_t c;
	nlock_rwlock_t rw;

	must_be(nlock_cond_init(&c, row->attr), 0);
	must_be(nlock_rwlock_init(&rw, NLOCK_RW_PREFER_WRITERS, row->attr), 0);
	errno = ERRNO_UNTOUCHED;
	must_be(nlock_cond_wait_rwlock(&c, &rw), EPERM);
	must_be(nlock_rwlock_rdlock(&rw), 0);
	must_be(nlock_cond_wait_rwlock_until(&c, &rw, CLOCK_BOOTTIME, &until), EINVAL);
	must_be(nlock_cond_wait_rwlock_until(&c, &rw, CLOCK_REALTIME, &until), ETIMEDOUT);
	must_be(nlock_rwlock_trywrlock(&rw), EBUSY);
	must_be(nlock_rwlock_rdunlock(&rw), 0);
	must_be(nlock_rwlock_wrlock(&rw), 0);
	must_be(nlock_cond_wait_rwlock_until(&c, &rw, CLOCK_REALTIME, &until), ETIMEDOUT);
	must_be(nlock_rwlock_tryrdlock(&rw), EBUSY);
	must_be(nlock_rwlock_wrunlock(&rw), 0);
	must_be(errno, ERRNO_UNTOUCHED);
	must_be(nlock_cond_destroy(&c), 0);
	must_be(nlock_rwlock_destroy(&rw), 0);
}

/* ---------------------------------------------------------------- time */

static bool has_come(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec != t->tv_sec ? now.tv_sec > t->tv_sec : now.tv_nsec >= t->tv_nsec;
}

ROW_TEST(deadline_is_not_told_early_and_leaves_nothing)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	struct crew *k = meet_row(row, 1);

	for (int i = 0; i < COUNT(clocks); i++) {
		struct timespec until = harness_in(clocks[i], 20000000);

		deadline(k, 0, clocks[i], until);
		must_be(tell_to(k, 0, WAIT_UNTIL), ETIMEDOUT);
		must(has_come(clocks[i], &until), "early");
		must_be(k->member[0].error, ERRNO_UNTOUCHED);
		must_be(nlock_cond_destroy(k->c), 0);
	}
	part(k);
}

ROW_TEST(past_deadline_does_not_block_and_the_mutex_is_held)
{
	static const struct timespec past[] = { { 0, 0 }, { -1, 999999999 }, { 1, 5 } };
	struct crew *k = meet_row(row, 1);

	for (int i = 0; i < COUNT(past); i++) {
		deadline(k, 0, i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, past[i]);
		must_be(tell_to(k, 0, WAIT_UNTIL), ETIMEDOUT);
		must_be(k->member[0].error, ERRNO_UNTOUCHED);
	}
	part(k);
}

ROW_TEST(deadline_that_passes_takes_no_signal_from_the_others)
{
	struct crew *k = meet_row(row, 2);

	for (int i = 0; i < harness_rounds(20, 500); i++) {
		deadline(k, 0, CLOCK_MONOTONIC, harness_in(CLOCK_MONOTONIC, 1000000));
		ask(k, 0, WAIT_UNTIL);
		park(k, 1, WAIT);
		while (!has_answered(k, 1)) {
			must_be(nlock_cond_signal(k->c), 0);
			sched_yield();
		}
		must_be(answer(k, 1), 0);
		(void)answer(k, 0);
		must(k->member[0].result == 0 || k->member[0].result == ETIMEDOUT);
	}
	part(k);
}

ROW_TEST(far_deadlines_are_waited_for_like_none)
{
	struct crew *k = meet_row(row, 2);

	deadline(k, 0, CLOCK_MONOTONIC,
		 (struct timespec){ sizeof(time_t) == 8 ? (time_t)INT64_MAX : INT32_MAX, 999999999 });
	deadline(k, 1, CLOCK_REALTIME, harness_in(CLOCK_REALTIME, 100000 * SECOND));
	park(k, 0, WAIT_UNTIL);
	park(k, 1, WAIT_UNTIL);
	must_be(nlock_cond_signal(k->c), 0);
	is_back(k, 0, 0);
	must_be(nlock_cond_broadcast(k->c), 0);
	is_back(k, 1, 0);
	part(k);
}

/* ---------------------------------------------------------------- errors */

ROW_TEST(bad_arguments_change_nothing)
{
	const struct timespec good = harness_in(CLOCK_MONOTONIC, 3600 * SECOND);
	const struct {
		int clock;
		const struct timespec *abs;
	} bad[] = {
		{ CLOCK_BOOTTIME, &good },
		{ CLOCK_PROCESS_CPUTIME_ID, &good },
		{ -1, &good },
		{ CLOCK_MONOTONIC, NULL },
		{ CLOCK_MONOTONIC, &(struct timespec){ 1, -1 } },
		{ CLOCK_REALTIME, &(struct timespec){ 1, 1000000000 } },
		{ CLOCK_REALTIME, &(struct timespec){ -1, 2000000000 } },
	};
	nlock_cond_t c;
	nlock_mutex_t m;

	must_be(nlock_cond_init(&c, row->attr), 0);
	must_be(nlock_mutex_init(&m, row->attr), 0);
	errno = ERRNO_UNTOUCHED;
	must_be(nlock_cond_wait(&c, &m), EPERM);
	must_be(nlock_cond_wait_until(&c, &m, CLOCK_MONOTONIC, &good), EPERM);
	must_be(nlock_mutex_lock(&m), 0);
	for (int i = 0; i < COUNT(bad); i++) {
		must_be(nlock_cond_wait_until(&c, &m, bad[i].clock, bad[i].abs), EINVAL);
		must_be(nlock_mutex_trylock(&m), EBUSY);
	}
	must_be(nlock_mutex_unlock(&m), 0);
	must_be(nlock_cond_destroy(&c), 0);
	must_be(errno, ERRNO_UNTOUCHED);
}

TEST(init_refuses_what_does_not_apply)
{
	static const nlock_attr_t bad[] = { NLOCK_FIFO,         NLOCK_BARGING,       NLOCK_BOUNDED_N(0),
					    NLOCK_BOUNDED_N(3), NLOCK_BOUNDED_N(-1), NLOCK_PLACE_NODE(1024),
					    NLOCK_BAD_ATTR,     0x80000000u };
	nlock_cond_t pair[2];

	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_cond_init(&pair[0], bad[i]), EINVAL);
	must_be(nlock_cond_init((nlock_cond_t *)(uintptr_t)((char *)&pair[0] + 4), 0), EINVAL);
	if (!(nlock_features() & NLOCK_HAS_NUMA)) {
		must_be(nlock_cond_init(&pair[0], NLOCK_PLACE_NODE(0)), ENOTSUP);
		must_be(nlock_cond_init(&pair[0], NLOCK_PLACE_FIRST), ENOTSUP);
	} else {
		must_be(nlock_cond_init(&pair[0], NLOCK_PLACE_NODE(1023)), EINVAL);
	}
}

TEST(zeroed_memory_is_a_condition_variable)
{
	static nlock_cond_t zero;
	nlock_cond_t c = NLOCK_COND_INIT;
	struct crew *k = meet(0, 0, 2, false);

	must_be(sizeof(c), 32);
	must(!memcmp(&c, &zero, sizeof(c)));
	memset(k->c, 0, sizeof(*k->c));
	all_at_once(k, true);
	one_by_one(k, false);
	part(k);
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	struct crew *k = meet_row(row, 2);

	memset(k->c, 0xa5, sizeof(*k->c));
	must_be(nlock_cond_init(k->c, row->attr), 0);
	all_at_once(k, false);
	part(k);
}

/* ---------------------------------------------------------------- signals of the system, cancellation */

ROW_TEST(interrupted_waiter_waits_on)
{
	struct crew *k = meet_row(row, 2);

	deadline(k, 1, CLOCK_REALTIME, harness_in(CLOCK_REALTIME, 3600 * SECOND));
	park(k, 0, WAIT);
	park(k, 1, WAIT_UNTIL);
	for (int i = 0; i < 10; i++) {
		must(!pthread_kill(k->member[i & 1].thread, SIGUSR1));
		must(sees_asleep(k, i & 1, gate_of(k->c)));
	}
	must(!has_answered(k, 0) && !has_answered(k, 1));
	must_be(nlock_cond_destroy(k->c), EBUSY);
	must_be(nlock_cond_signal(k->c), 0);
	must_be(nlock_cond_signal(k->c), 0);
	is_back(k, 0, 0);
	is_back(k, 1, 0);
	part(k);
}

struct lone {
	nlock_cond_t c;
	nlock_mutex_t m;
	pid_t tid;
	int result;
};

static void *lone_waiter(void *arg)
{
	struct lone *l = arg;

	__atomic_store_n(&l->tid, harness_tid(), __ATOMIC_RELEASE);
	l->result = nlock_mutex_lock(&l->m);
	l->result |= nlock_cond_wait(&l->c, &l->m);
	l->result |= nlock_mutex_unlock(&l->m);
	pthread_testcancel();
	l->result = -1;
	return NULL;
}

static pid_t tid_of(struct lone *l)
{
	pid_t tid;

	while (!(tid = __atomic_load_n(&l->tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	return tid;
}

ROW_TEST(b82_cancelled_waiter_returns_when_signalled_and_is_cancelled_later)
{
	static struct lone l;
	pthread_t t;
	void *how;

	must_be(nlock_cond_init(&l.c, row->attr), 0);
	must_be(nlock_mutex_init(&l.m, row->attr), 0);
	must(!pthread_create(&t, NULL, lone_waiter, &l));
	must(harness_sees_asleep(getpid(), tid_of(&l), &l.c.gate));
	must(!pthread_cancel(t));
	must(harness_sees_asleep(getpid(), l.tid, &l.c.gate));
	must_be(nlock_cond_signal(&l.c), 0);
	must(!pthread_join(t, &how));
	must(how == PTHREAD_CANCELED);
	must_be(l.result, 0);
	must_be(nlock_cond_destroy(&l.c), 0);
	must_be(nlock_mutex_destroy(&l.m), 0);
}

/* ---------------------------------------------------------------- any lock, cancellation */

static int unlock_any(void *m)
{
	return nlock_mutex_unlock(m);
}

static int lock_any(void *m)
{
	return nlock_mutex_lock(m);
}

static int refuse_any(void *m)
{
	(void)m;
	return EPERM;
}

static int lock_of_the_dead(void *m)
{
	return nlock_mutex_lock(m) ? -1 : EOWNERDEAD;
}

static const struct nlock_any_lock any_lock = { unlock_any, lock_any };

/* A cleanup handler: does the cancelled thread have the mutex? */
static void looks_and_unlocks(void *arg)
{
	struct lone *l = arg;

	l->result = nlock_mutex_trylock(&l->m) == EBUSY ? -2 : -3;
	if (nlock_mutex_unlock(&l->m))
		l->result = -4;
}

/* Returns NULL if the mutex did as it should. The C library's cleanup is a setjmp: no argument is looked at after it. */
static void *any_waiter(void *arg)
{
	static char failed;
	struct lone *l = arg;

	if (nlock_mutex_lock(&l->m))
		return &failed;
	pthread_cleanup_push(looks_and_unlocks, l);
	__atomic_store_n(&l->tid, harness_tid(), __ATOMIC_RELEASE);
	l->result = nlock_cond_wait_any(&l->c, &any_lock, &l->m, -1, NULL);
	pthread_cleanup_pop(0);
	return nlock_mutex_unlock(&l->m) ? &failed : NULL;
}

static void *any_waiter_not_to_be_cancelled(void *arg)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return any_waiter(arg);
}

static void lone_begins(struct lone *l, const struct row *row)
{
	l->tid = 0;
	must_be(nlock_cond_init(&l->c, row->attr), 0);
	must_be(nlock_mutex_init(&l->m, row->attr), 0);
}

static void lone_ends(struct lone *l)
{
	must_be(nlock_cond_destroy(&l->c), 0);
	must_be(nlock_mutex_destroy(&l->m), 0);
}

/* Starts a thread and sees it asleep. */
static pthread_t lone_parks(struct lone *l, void *(*body)(void *))
{
	pthread_t t;

	l->tid = 0;
	must(!pthread_create(&t, NULL, body, l));
	must(harness_sees_asleep(getpid(), tid_of(l), &l->c.gate));
	return t;
}

ROW_TEST(b82_cancelled_waiter_has_its_lock_in_its_cleanup_handlers)
{
	static struct lone l;
	void *how;

	lone_begins(&l, row);
	for (int i = 0; i < harness_rounds(20, 500); i++) {
		pthread_t t = lone_parks(&l, any_waiter);
		bool is_held = i & 1;

		if (is_held)
			must_be(nlock_mutex_lock(&l.m), 0);
		must(!pthread_cancel(t));
		if (is_held) {
			must(harness_sees_asleep(getpid(), l.tid, &l.m.word));
			must_be(nlock_cond_destroy(&l.c), 0); /* it has let go */
			must_be(nlock_mutex_unlock(&l.m), 0);
		}
		must(!pthread_join(t, &how));
		must(how == PTHREAD_CANCELED);
		must_be(l.result, -2);
	}
	lone_ends(&l);
}

ROW_TEST(b82_cancellation_that_is_disabled_waits)
{
	static struct lone l;
	pthread_t t;
	void *how;

	lone_begins(&l, row);
	t = lone_parks(&l, any_waiter_not_to_be_cancelled);
	must(!pthread_cancel(t));
	must(harness_sees_asleep(getpid(), l.tid, &l.c.gate));
	must_be(nlock_cond_signal(&l.c), 0);
	must(!pthread_join(t, &how));
	must(!how);
	must_be(l.result, 0);
	lone_ends(&l);
}

static void *plain_waiter(void *arg)
{
	struct lone *l = arg;

	if (nlock_mutex_lock(&l->m))
		return arg;
	__atomic_store_n(&l->tid, harness_tid(), __ATOMIC_RELEASE);
	if (nlock_cond_wait(&l->c, &l->m))
		return arg;
	return nlock_mutex_unlock(&l->m) ? arg : NULL;
}

static void *signals_at_once(void *arg)
{
	struct lone *l = arg;

	while (!__atomic_load_n(&l->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return nlock_cond_signal(&l->c) ? arg : NULL;
}

/* The first of two sleepers is cancelled while a signal is made, which is for it: before, after, or by another thread meanwhile. If it
 * is cancelled, the second must wake; a signal that is lost hangs the test. Whether it was is for its cleanup handler to say: a
 * thread that has returned already may still be called cancelled by pthread_join, if the C library's signal comes late. */
static void signals_and_cancels(const struct row *row, int rounds)
{
	static struct lone l;
	int cancelled = 0;

	lone_begins(&l, row);
	for (int i = 0; i < rounds; i++) {
		pthread_t first = lone_parks(&l, any_waiter), second = lone_parks(&l, plain_waiter), third = 0;
		void *how, *bad;
		bool was_cancelled;

		if (i % 3 == 0)
			must_be(nlock_cond_signal(&l.c), 0);
		if (i % 3 == 1) {
			l.tid = 0;
			must(!pthread_create(&third, NULL, signals_at_once, &l));
			__atomic_store_n(&l.tid, 1, __ATOMIC_RELEASE);
		}
		must(!pthread_cancel(first));
		if (i % 3 == 2)
			must_be(nlock_cond_signal(&l.c), 0);
		must(!pthread_join(first, &how));
		if (third) {
			must(!pthread_join(third, &bad));
			must(!bad);
		}
		was_cancelled = l.result == -2;
		must(was_cancelled ? how == PTHREAD_CANCELED : !l.result);
		cancelled += was_cancelled;
		if (!was_cancelled)
			must_be(nlock_cond_signal(&l.c), 0);
		must(!pthread_join(second, &bad));
		must(!bad);
		must_be(nlock_mutex_trylock(&l.m), 0);
		must_be(nlock_mutex_unlock(&l.m), 0);
	}
	must(cancelled > 0);
	lone_ends(&l);
}

ROW_TEST(b82_signal_is_not_lost_on_a_thread_that_is_cancelled)
{
	signals_and_cancels(row, harness_rounds(60, 2000));
}

TEST(b82_no_signal_is_lost_in_many_cancellations)
{
	signals_and_cancels(&rows[0], harness_rounds(2000, 30000));
}

ROW_TEST(errors_of_a_wait_with_any_lock)
{
	static const struct nlock_any_lock not_mine = { refuse_any, lock_any }, dead = { unlock_any, lock_of_the_dead };
	static const struct timespec past = { -1, 5 }, bad[] = { { 0, -1 }, { 0, SECOND } };
	const struct timespec soon = harness_in(CLOCK_MONOTONIC, 100000);
	static struct lone l;

	lone_begins(&l, row);
	must_be(nlock_mutex_lock(&l.m), 0);
	errno = ERRNO_UNTOUCHED;
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_cond_wait_any(&l.c, &any_lock, &l.m, CLOCK_MONOTONIC, &bad[i]), EINVAL);
	must_be(nlock_cond_wait_any(&l.c, &any_lock, &l.m, CLOCK_BOOTTIME, &past), EINVAL);
	must_be(nlock_cond_wait_any(&l.c, &any_lock, &l.m, CLOCK_REALTIME, &past), ETIMEDOUT);
	must_be(nlock_cond_wait_any(&l.c, &any_lock, &l.m, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
	must_be(nlock_cond_wait_any(&l.c, &not_mine, &l.m, -1, NULL), EPERM);
	must_be(nlock_cond_wait_any(&l.c, &not_mine, &l.m, CLOCK_MONOTONIC, &past), EPERM);
	must_be(nlock_cond_wait_any(&l.c, &dead, &l.m, CLOCK_MONOTONIC, &past), EOWNERDEAD);
	must_be(errno, ERRNO_UNTOUCHED);
	must_be(nlock_mutex_trylock(&l.m), EBUSY);
	must_be(nlock_mutex_unlock(&l.m), 0);
	lone_ends(&l);
}

ROW_TEST(interrupted_waiter_with_any_lock_waits_on)
{
	static struct lone l;
	pthread_t t;
	void *bad;

	must(signal(SIGUSR1, nothing) != SIG_ERR);
	lone_begins(&l, row);
	t = lone_parks(&l, any_waiter);
	for (int i = 0; i < 30; i++) {
		must(!pthread_kill(t, SIGUSR1));
		must(harness_sees_asleep(getpid(), l.tid, &l.c.gate));
	}
	must_be(nlock_cond_signal(&l.c), 0);
	must(!pthread_join(t, &bad));
	must(!bad);
	must_be(l.result, 0);
	lone_ends(&l);
}

/* ---------------------------------------------------------------- the end of life */

ROW_TEST(b24_destroy_refuses_while_somebody_is_blocked)
{
	struct crew *k = meet_row(row, 2);

	park(k, 0, WAIT);
	must_be(nlock_cond_destroy(k->c), EBUSY);
	must_be(tell_to(k, 1, DESTROY), EBUSY);
	must_be(k->member[1].error, ERRNO_UNTOUCHED);
	must_be(nlock_cond_signal(k->c), 0);
	is_back(k, 0, 0);
	part(k);
}

/* The page goes as soon as destroy has returned. */
static void dies_after_broadcast(const struct row *row, bool holds)
{
	struct crew *k = meet_row(row, 4);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *kept = shared(page);

	must(kept != NULL);
	for (int i = 0; i < harness_rounds(60, 2000); i++) {
		for (int j = 0; j < 4; j++)
			park(k, j, WAIT);
		must_be(nlock_mutex_lock(&k->m), 0);
		must_be(nlock_cond_broadcast(k->c), 0);
		if (!holds)
			must_be(nlock_mutex_unlock(&k->m), 0);
		must_be(nlock_cond_destroy(k->c), 0);
		must(!mprotect(k->c, page, PROT_NONE));
		if (holds)
			must_be(nlock_mutex_unlock(&k->m), 0);
		for (int j = 0; j < 4; j++)
			is_back(k, j, 0);
		must(!mprotect(k->c, page, PROT_READ | PROT_WRITE));
		must_be(nlock_cond_init(k->c, row->attr), 0);
	}
	munmap(kept, page);
	part(k);
}

ROW_TEST(b17_memory_may_go_right_after_broadcast_and_destroy)
{
	dies_after_broadcast(row, false);
}

ROW_TEST(b17_memory_may_go_while_the_released_wait_for_the_mutex)
{
	dies_after_broadcast(row, true);
}

/* ---------------------------------------------------------------- fork */

static int child_of_waiters(void *arg)
{
	struct lone *l = arg;
	pthread_t t;

	if (nlock_cond_signal(&l->c) || nlock_cond_broadcast(&l->c) || nlock_cond_destroy(&l->c))
		return 1;
	l->tid = 0;
	if (pthread_create(&t, NULL, lone_waiter, l))
		return 2;
	if (!harness_sees_asleep(getpid(), tid_of(l), &l->c.gate) || nlock_cond_destroy(&l->c) != EBUSY)
		return 3;
	if (nlock_cond_signal(&l->c) || pthread_join(t, NULL) || l->result != -1)
		return 4;
	return nlock_cond_destroy(&l->c) != 0;
}

TEST(child_of_a_fork_has_the_object_for_itself)
{
	static struct lone l;
	pthread_t t;

	for (int i = 0; i < harness_rounds(10, 100); i++) {
		l.tid = 0;
		must(!pthread_create(&t, NULL, lone_waiter, &l));
		must(harness_sees_asleep(getpid(), tid_of(&l), &l.c.gate));
		must_be(harness_child(child_of_waiters, &l), 0);
		must_be(nlock_cond_destroy(&l.c), EBUSY);
		must_be(nlock_cond_signal(&l.c), 0);
		must(!pthread_join(t, NULL));
		must_be(nlock_cond_destroy(&l.c), 0);
	}
}

/* ---------------------------------------------------------------- the table */

static const struct test tests[] = {
	EACH_PLACE(signal_and_broadcast_of_nobody_make_no_system_call),
	CORE_PLACE(each_signal_releases_one_sleeper_in_order_of_arrival),
	CORE_PLACE(signal_holds_for_the_one_that_is_blocked_and_not_for_a_later_one),
	CORE_PLACE(broadcast_releases_all),
	CORE_PLACE(thread_that_waits_again_takes_nobodys_place_in_a_broadcast),
	EACH_PLACE(mutex_may_have_any_placement_and_sharing),
	EACH_PLACE(nothing_is_lost_between_threads),
	EACH_PLACE(signals_of_the_system_during_load_change_nothing),
	CORE_PLACE(one_signal_for_each_token_is_enough),
	EACH_PLACE(readers_and_writers_wait_and_have_their_lock_again),
	EACH_PLACE(deadline_and_errors_with_a_rwlock),
	CORE_PLACE(deadline_is_not_told_early_and_leaves_nothing),
	CORE_PLACE(past_deadline_does_not_block_and_the_mutex_is_held),
	EACH_PLACE(deadline_that_passes_takes_no_signal_from_the_others),
	EACH_PLACE(far_deadlines_are_waited_for_like_none),
	CORE_PLACE(bad_arguments_change_nothing),
	ONCE(init_refuses_what_does_not_apply),
	CORE_ONCE(zeroed_memory_is_a_condition_variable),
	EACH_PLACE(init_reads_nothing_of_what_was_there),
	EACH_PLACE(interrupted_waiter_waits_on),
	EACH_PLACE(b82_cancelled_waiter_returns_when_signalled_and_is_cancelled_later),
	EACH_PLACE(b82_cancelled_waiter_has_its_lock_in_its_cleanup_handlers),
	EACH_PLACE(b82_cancellation_that_is_disabled_waits),
	EACH_PLACE(b82_signal_is_not_lost_on_a_thread_that_is_cancelled),
	ONCE(b82_no_signal_is_lost_in_many_cancellations),
	CORE_PLACE(errors_of_a_wait_with_any_lock),
	EACH_PLACE(interrupted_waiter_with_any_lock_waits_on),
	EACH_PLACE(b24_destroy_refuses_while_somebody_is_blocked),
	EACH_PLACE(b17_memory_may_go_right_after_broadcast_and_destroy),
	EACH_PLACE(b17_memory_may_go_while_the_released_wait_for_the_mutex),
	CORE_ONCE(child_of_a_fork_has_the_object_for_itself),
	EACH_PLACE(each_signal_releases_one_sleeping_process),
	EACH_PLACE(broadcast_releases_all_processes),
	EACH_PLACE(nothing_is_lost_between_processes),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "cond", tests, COUNT(tests));
}
