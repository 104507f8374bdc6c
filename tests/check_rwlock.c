/* SPDX-License-Identifier: MIT
 *
 * check_rwlock.c - tier 3: the rwlock on this kernel, through <nlock.h> alone
 *
 * No sleeps and no clocks in verdicts: a waiter is started, seen asleep in /proc on the gate where it belongs, and only then comes
 * the next step. A crew are threads, or processes, that make one call each time that they are told; main makes its own.
 * NLOCK_FUTEX=legacy in the environment runs all of it on the classic calls.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000

/* ---------------------------------------------------------------- the crew */

enum job {
	RD,
	TRYRD,
	RD_UNTIL,
	WR,
	TRYWR,
	WR_UNTIL,
	UNLOCK,
	RDUNLOCK,
	WRUNLOCK,
	DOWNGRADE,
	UPGRADE,
	DESTROY,
	WORK, /* `rounds` sections of all kinds; 0, or 1 if exclusion failed */
	LEAVE
};

enum { MOST = 8 };

struct member {
	sem_t go, done;
	pthread_t thread;
	pid_t pid, tid;
	enum job job;
	int result, rounds;
	bool keeps_errno;
	clockid_t clock;
	struct timespec until;
};

/* Either kind of lock; both are used as the first. A spread one turns its slots as often as it can, not only when it may pay. */
union lock {
	nlock_rwlock_t rw;
	nlock_rwlock_spread_t spread;
};

static bool is_spread;

static int init(union lock *l, int prefers, nlock_attr_t attr)
{
	int rc = is_spread ? nlock_rwlock_spread_init(&l->spread, prefers, attr)
			   : nlock_rwlock_init(&l->rw, prefers, attr);

	if (!rc && is_spread)
		l->spread.left = l->spread.after = 0;
	return rc;
}

#define ON_A_SPREAD_LOCK(test) \
	do { \
		is_spread = true; \
		test; \
		is_spread = false; \
	} while (0)

/* In memory that processes share. */
static struct stage {
	union lock lock;
	uint64_t left, right; /* always equal, except inside a writer's section */
	struct member crew[MOST];
	int n;
	bool are_processes;
} * st;

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static bool is_consistent(void)
{
	return st->left == st->right;
}

static bool write_section(void)
{
	bool ok = is_consistent();

	st->left++;
	sched_yield();
	st->right++;
	return ok;
}

/* One section of a kind that chance chooses. False: exclusion failed, or a call. */
static bool section(uint32_t rnd, struct timespec until)
{
	nlock_rwlock_t *rw = &st->lock.rw;
	bool ok = true;

	switch (rnd % 8) {
	case 0:
		if (nlock_rwlock_trywrlock(rw))
			return true;
		ok = write_section();
		break;
	case 1:
		if (nlock_rwlock_wrlock_until(rw, CLOCK_MONOTONIC, &until))
			return true;
		ok = write_section();
		break;
	case 2:
	case 3:
		ok = !nlock_rwlock_wrlock(rw) && write_section();
		if (rnd & 32)
			ok = ok && !nlock_rwlock_downgrade(rw) && is_consistent();
		break;
	case 4:
		if (nlock_rwlock_rdlock_until(rw, CLOCK_MONOTONIC, &until))
			return true;
		ok = is_consistent();
		break;
	case 5:
		if (nlock_rwlock_tryrdlock(rw))
			return true;
		ok = is_consistent();
		break;
	default:
		ok = !nlock_rwlock_rdlock(rw) && is_consistent();
		if ((rnd & 32) && !nlock_rwlock_tryupgrade(rw))
			ok = write_section() && ok;
	}
	return nlock_rwlock_unlock(rw) == 0 && ok;
}

static int work(struct member *a)
{
	uint64_t rnd = harness_random_start((uint32_t)(a - st->crew));
	int bad = 0;

	for (int i = 0; i < a->rounds; i++)
		bad |= !section(harness_random(&rnd), harness_in(CLOCK_MONOTONIC, harness_random(&rnd) % 50000));
	return bad;
}

static int act(struct member *a)
{
	nlock_rwlock_t *rw = &st->lock.rw;

	switch (a->job) {
	case RD:
		return nlock_rwlock_rdlock(rw);
	case TRYRD:
		return nlock_rwlock_tryrdlock(rw);
	case RD_UNTIL:
		return nlock_rwlock_rdlock_until(rw, a->clock, &a->until);
	case WR:
		return nlock_rwlock_wrlock(rw);
	case TRYWR:
		return nlock_rwlock_trywrlock(rw);
	case WR_UNTIL:
		return nlock_rwlock_wrlock_until(rw, a->clock, &a->until);
	case UNLOCK:
		return nlock_rwlock_unlock(rw);
	case RDUNLOCK:
		return nlock_rwlock_rdunlock(rw);
	case WRUNLOCK:
		return nlock_rwlock_wrunlock(rw);
	case DOWNGRADE:
		return nlock_rwlock_downgrade(rw);
	case UPGRADE:
		return nlock_rwlock_tryupgrade(rw);
	case DESTROY:
		return nlock_rwlock_destroy(rw);
	case WORK:
		return work(a);
	default:
		return 0;
	}
}

static void *serve(void *arg)
{
	struct member *a = arg;
	bool leaves;

	a->tid = harness_tid();
	a->pid = getpid();
	sem_post(&a->done);
	do {
		wait_for(&a->go);
		leaves = a->job == LEAVE;
		errno = 12345;
		a->result = act(a);
		a->keeps_errno = errno == 12345;
		sem_post(&a->done);
	} while (!leaves);
	return NULL;
}

static void hire(struct member *a)
{
	must(!sem_init(&a->go, 1, 0) && !sem_init(&a->done, 1, 0));
	if (!st->are_processes) {
		must_be(pthread_create(&a->thread, NULL, serve, a), 0);
		wait_for(&a->done);
		return;
	}
	a->pid = fork();
	must(a->pid >= 0);
	if (!a->pid) {
		serve(a);
		_exit(0);
	}
	wait_for(&a->done);
}

static void does_nothing(int sig)
{
	(void)sig;
}

static void meet(const struct row *row, int prefers, int n, bool are_processes)
{
	struct sigaction sa = { .sa_handler = does_nothing };

	if (!st)
		st = mmap(NULL, sizeof(*st), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(st != MAP_FAILED);
	memset(st, 0, sizeof(*st));
	must(!sigaction(SIGUSR1, &sa, NULL));
	must_be(init(&st->lock, prefers, row->attr), 0);
	st->n = n;
	st->are_processes = are_processes;
	for (int i = 0; i < n; i++)
		hire(&st->crew[i]);
}

static void ask(int i, enum job job)
{
	st->crew[i].job = job;
	sem_post(&st->crew[i].go);
}

static int answer(int i)
{
	wait_for(&st->crew[i].done);
	must(st->crew[i].keeps_errno, "errno of %d", i);
	return st->crew[i].result;
}

static int tell(int i, enum job job)
{
	ask(i, job);
	return answer(i);
}

static bool sees_asleep(int i, const void *word)
{
	return harness_sees_asleep(st->crew[i].pid, st->crew[i].tid, word);
}

#define parks_reader(i, job) \
	do { \
		ask(i, job); \
		must(sees_asleep(i, &st->lock.rw.rgate)); \
	} while (0)
/* The first to wait is the next writer; the others sleep where writers queue. */
#define parks_next(i, job) \
	do { \
		ask(i, job); \
		must(sees_asleep(i, &st->lock.rw.wgate)); \
	} while (0)
#define parks_writer(i, job) \
	do { \
		ask(i, job); \
		must(sees_asleep(i, &st->lock.rw.seat)); \
	} while (0)

static void at(int i, clockid_t clock, struct timespec t)
{
	st->crew[i].clock = clock;
	st->crew[i].until = t;
}

/* Everybody leaves; the lock is at rest. */
static void part(void)
{
	for (int i = 0; i < st->n; i++) {
		must_be(tell(i, LEAVE), 0);
		if (st->are_processes)
			must_be(waitpid(st->crew[i].pid, NULL, 0), st->crew[i].pid);
		else
			must_be(pthread_join(st->crew[i].thread, NULL), 0);
	}
	must_be(nlock_rwlock_destroy(&st->lock.rw), 0);
}

#define EACH_PREFERENCE(p) for (int p = NLOCK_RW_PHASE_FAIR; p <= NLOCK_RW_PREFER_WRITERS; p++)

/* ---------------------------------------------------------------- no system call */

/* In a child that may only exit. */
static int uncontended(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	nlock_rwlock_t *rw = arg;
	const struct timespec past = { -1, 0 };
	int bad = 0;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	bad |= nlock_rwlock_rdlock(rw) || nlock_rwlock_tryrdlock(rw);
	bad |= nlock_rwlock_rdlock_until(rw, CLOCK_MONOTONIC, &past);
	bad |= nlock_rwlock_trywrlock(rw) != EBUSY || nlock_rwlock_tryupgrade(rw) != EBUSY;
	bad |= nlock_rwlock_unlock(rw) || nlock_rwlock_rdunlock(rw) || nlock_rwlock_tryupgrade(rw);
	bad |= nlock_rwlock_tryrdlock(rw) != EBUSY || nlock_rwlock_downgrade(rw) || nlock_rwlock_unlock(rw);
	bad |= nlock_rwlock_wrlock(rw) || nlock_rwlock_wrunlock(rw);
	bad |= nlock_rwlock_trywrlock(rw) || nlock_rwlock_unlock(rw);
	bad |= nlock_rwlock_wrlock_until(rw, CLOCK_MONOTONIC, &past) || nlock_rwlock_unlock(rw);
	bad |= nlock_rwlock_unlock(rw) != EPERM || nlock_rwlock_destroy(rw);
	return bad;
}

static void makes_no_call(const struct row *row)
{
	EACH_PREFERENCE(p)
	{
		union lock l;
		int status;

		must_be(init(&l, p, row->attr), 0);
		status = harness_child(uncontended, &l.rw);
		if (status == EXIT_CANNOT << 8)
			cannot("no system-call filters");
		must_be(status, 0);
	}
}

ROW_TEST(uncontended_calls_make_no_system_call)
{
	makes_no_call(row);
	ON_A_SPREAD_LOCK(makes_no_call(row));
}

/* ---------------------------------------------------------------- exclusion */

static void exclusion(const struct row *row, bool are_processes, int n, int rounds)
{
	EACH_PREFERENCE(p)
	{
		meet(row, p, n, are_processes);
		for (int i = 0; i < n; i++) {
			st->crew[i].rounds = rounds;
			ask(i, WORK);
		}
		for (int i = 0; i < n; i++)
			must_be(answer(i), 0);
		must(is_consistent() && st->left > 0);
		part();
	}
}

ROW_TEST(threads_exclude_each_other)
{
	exclusion(row, false, 5, harness_rounds(150, 20000));
}

ROW_TEST(processes_exclude_each_other)
{
	exclusion(row, true, 5, harness_rounds(150, 20000));
}

ROW_TEST(threads_exclude_each_other_on_a_spread_lock)
{
	ON_A_SPREAD_LOCK(exclusion(row, false, 5, harness_rounds(150, 20000)));
}

ROW_TEST(processes_exclude_each_other_on_a_spread_lock)
{
	ON_A_SPREAD_LOCK(exclusion(row, true, 5, harness_rounds(150, 20000)));
}

/* What there is to prefer among writers depends on the machine; nobody is lost anywhere. */
ROW_TEST(users_of_a_cohort_lock_exclude_each_other)
{
	struct row cohort = *row;

	cohort.attr |= NLOCK_COHORT;
	exclusion(&cohort, row->is_shared, 5, harness_rounds(150, 20000));
}

ROW_TEST(signals_during_work_change_nothing)
{
	int busy = 1;

	meet(row, NLOCK_RW_PHASE_FAIR, 4, false);
	for (int i = 0; i < 4; i++) {
		st->crew[i].rounds = harness_rounds(200, 10000);
		ask(i, WORK);
	}
	while (busy) {
		busy = 0;
		for (int i = 0; i < 4; i++) {
			int posted = 0;

			must(!sem_getvalue(&st->crew[i].done, &posted));
			if (!posted) {
				busy++;
				must_be(pthread_kill(st->crew[i].thread, SIGUSR1), 0);
			}
		}
		sched_yield();
	}
	for (int i = 0; i < 4; i++)
		must_be(answer(i), 0);
	part();
}

/* ---------------------------------------------------------------- who goes first */

static void is_in(int i)
{
	must_be(answer(i), 0);
}

static void goes(int i)
{
	must_be(tell(i, UNLOCK), 0);
}

/* Writers 0 and 4, readers 1 to 3 and 5: w0 | r1 r2 r3 | w4 | r5, whoever came first. */
static void turns(const struct row *row, bool are_processes)
{
	meet(row, NLOCK_RW_PHASE_FAIR, 6, are_processes);
	must_be(nlock_rwlock_rdlock(&st->lock.rw), 0);
	parks_next(0, WR);
	for (int i = 1; i <= 3; i++)
		parks_reader(i, RD);
	must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
	is_in(0);
	for (int i = 1; i <= 3; i++)
		must(sees_asleep(i, &st->lock.rw.rgate));
	parks_next(4, WR);
	goes(0);
	for (int i = 1; i <= 3; i++)
		is_in(i); /* all of them, in one phase */
	must(sees_asleep(4, &st->lock.rw.wgate));
	must_be(nlock_rwlock_tryrdlock(&st->lock.rw), EBUSY);
	parks_reader(5, RD);
	for (int i = 1; i <= 3; i++) {
		must(sees_asleep(4, &st->lock.rw.wgate));
		goes(i);
	}
	is_in(4);
	must(sees_asleep(5, &st->lock.rw.rgate));
	goes(4);
	is_in(5);
	goes(5);
	part();
}

ROW_TEST(phase_fair_lock_lets_readers_and_writers_take_turns)
{
	turns(row, false);
}

ROW_TEST(phase_fair_lock_lets_processes_take_turns)
{
	turns(row, true);
}

/* The first reader comes in by opening the slots, the next by one of them. */
ROW_TEST(writer_waits_for_readers_that_are_in_slots)
{
	ON_A_SPREAD_LOCK(turns(row, false));
	ON_A_SPREAD_LOCK(meet(row, NLOCK_RW_PHASE_FAIR, 3, false));
	for (int round = 0; round < 3; round++) {
		must_be(tell(1, RD), 0);
		must_be(tell(2, RD), 0);
		must_be(tell(2, RD), 0);
		must_be(tell(0, TRYWR), EBUSY);
		must_be(tell(1, RD), 0);
		must_be(tell(0, DESTROY), EBUSY);
		must_be(tell(1, RD), 0);
		must_be(tell(1, UPGRADE), EBUSY);
		parks_next(0, WR);
		must_be(tell(1, UNLOCK), 0);
		must_be(tell(1, UNLOCK), 0);
		must_be(tell(1, UNLOCK), 0);
		must_be(tell(2, UNLOCK), 0);
		must(sees_asleep(0, &st->lock.rw.wgate));
		must_be(tell(2, UNLOCK), 0);
		is_in(0);
		goes(0);
		must_be(tell(1, UNLOCK), EPERM);
	}
	part();
}

/* On whichever CPU each of them is. */
ROW_TEST(reader_in_a_slot_may_be_unlocked_by_another_thread)
{
	ON_A_SPREAD_LOCK(meet(row, NLOCK_RW_PHASE_FAIR, 4, false));
	for (int round = 0; round < harness_rounds(100, 5000); round++) {
		for (int i = 0; i < 4; i++)
			must_be(tell(i, RD), 0);
		for (int i = 3; i >= 0; i--)
			must_be(tell(i, round & 1 ? UNLOCK : RDUNLOCK), 0);
		must_be(tell(round % 4, RDUNLOCK), EPERM);
		if (round % 3 == 0)
			must_be(tell(0, TRYWR) || tell(0, UNLOCK), 0);
	}
	part();
}

/* Readers that overlap for ever: a writer waits for those that are in, and for no other. */
ROW_TEST(writer_waits_for_one_reader_phase_at_most)
{
	int phases = 0;

	meet(row, NLOCK_RW_PHASE_FAIR, 4, false);
	must_be(tell(0, RD), 0);
	for (int i = 0; i < harness_rounds(50, 1000); i++) {
		int reader = i & 1, other = !reader;

		parks_next(2, WR);
		parks_reader(other, RD); /* overlaps with the one that is in */
		goes(reader);
		is_in(2);
		must(sees_asleep(other, &st->lock.rw.rgate));
		goes(2);
		is_in(other);
		phases++;
	}
	must(phases > 0);
	goes(phases & 1);
	part();
}

ROW_TEST(preferred_readers_pass_a_waiting_writer_and_may_lock_twice)
{
	meet(row, NLOCK_RW_PREFER_READERS, 3, false);
	must_be(tell(1, RD), 0);
	parks_next(0, WR);
	must_be(tell(1, RD), 0);
	must_be(tell(2, TRYRD), 0);
	goes(1);
	must_be(tell(1, TRYRD), 0);
	goes(2);
	goes(1);
	must(sees_asleep(0, &st->lock.rw.wgate));
	goes(1);
	is_in(0);
	parks_reader(1, RD);
	parks_next(2, WR);
	goes(0);
	is_in(1);
	goes(1);
	is_in(2);
	goes(2);
	part();
}

ROW_TEST(reader_does_not_pass_a_waiting_writer_otherwise)
{
	for (int p = 0; p < 2; p++) {
		meet(row, p ? NLOCK_RW_PREFER_WRITERS : NLOCK_RW_PHASE_FAIR, 2, false);
		must_be(tell(1, RD), 0);
		parks_next(0, WR);
		must_be(tell(1, TRYRD), EBUSY); /* a second time: it would wait for itself */
		at(1, CLOCK_MONOTONIC, harness_in(CLOCK_MONOTONIC, 1000000));
		must_be(tell(1, RD_UNTIL), ETIMEDOUT);
		goes(1);
		is_in(0);
		goes(0);
		part();
	}
}

ROW_TEST(preferred_writers_go_before_readers_that_came_first)
{
	meet(row, NLOCK_RW_PREFER_WRITERS, 3, false);
	must_be(tell(0, WR), 0);
	parks_reader(1, RD);
	parks_next(2, WR);
	goes(0);
	is_in(2);
	must(sees_asleep(1, &st->lock.rw.rgate));
	goes(2);
	is_in(1);
	goes(1);
	part();
}

/* FIFO hands over; the others may be overtaken, which main is here too slow for or not. */
ROW_TEST(writers_come_in_order_of_arrival)
{
	meet(row, NLOCK_RW_PHASE_FAIR, 5, false);
	for (int r = 0; r < harness_rounds(5, 500); r++) {
		must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
		parks_next(0, WR);
		for (int i = 1; i < 5; i++)
			parks_writer(i, WR);
		must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
		for (int i = 0; i < 5; i++) {
			is_in(i);
			if (i < 4)
				must(sees_asleep(i + 1, &st->lock.rw.wgate));
			goes(i);
		}
	}
	part();
}

/* ---------------------------------------------------------------- downgrade, upgrade */

ROW_TEST(downgrade_lets_readers_in_and_no_writer)
{
	EACH_PREFERENCE(p)
	{
		meet(row, p, 3, false);
		must_be(tell(0, WR), 0);
		parks_reader(1, RD);
		must_be(tell(0, DOWNGRADE), 0);
		is_in(1);
		parks_next(2, WR);
		must_be(tell(0, DOWNGRADE), EPERM);
		goes(0);
		must(sees_asleep(2, &st->lock.rw.wgate));
		goes(1);
		is_in(2);
		goes(2);
		part();
	}
}

ROW_TEST(upgrade_fails_rather_than_waits)
{
	EACH_PREFERENCE(p)
	{
		meet(row, p, 3, false);
		must_be(tell(0, RD), 0);
		must_be(tell(1, RD), 0);
		must_be(tell(0, UPGRADE), EBUSY);
		must_be(tell(1, UPGRADE), EBUSY);
		goes(1);
		must_be(tell(0, UPGRADE), 0);
		must_be(tell(1, TRYRD), EBUSY);
		must_be(tell(0, DOWNGRADE), 0);
		parks_next(2, WR);
		must_be(tell(0, UPGRADE), p == NLOCK_RW_PREFER_READERS ? 0 : EBUSY);
		goes(0);
		is_in(2);
		goes(2);
		part();
	}
}

/* ---------------------------------------------------------------- deadlines and signals */

static bool has_come(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

ROW_TEST(timed_out_waiter_was_not_early_and_leaves_nothing)
{
	EACH_PREFERENCE(p)
	{
		meet(row, p, 3, false);
		must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
		for (int i = 0; i < 4; i++) {
			clockid_t clock = i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;

			for (int k = 0; k < 3; k++) {
				at(k, clock, harness_in(clock, 400000 + k * 200001));
				ask(k, k == 1 ? RD_UNTIL : WR_UNTIL);
			}
			for (int k = 0; k < 3; k++) {
				must_be(answer(k), ETIMEDOUT);
				must(has_come(clock, &st->crew[k].until));
			}
			must_be(nlock_rwlock_destroy(&st->lock.rw), EBUSY);
		}
		must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
		part();
	}
}

/* Both timed calls say so of member 0's deadline; if they lock, it unlocks. */
static void both_say(int rc)
{
	for (int w = 0; w < 2; w++) {
		must_be(tell(0, w ? WR_UNTIL : RD_UNTIL), rc);
		if (!rc)
			must_be(tell(0, UNLOCK), 0);
	}
}

ROW_TEST(past_deadline_gives_up_at_once)
{
	static const struct timespec past[] = { { 0, 0 }, { 1, 0 }, { -1, 999999999 }, { LONG_MIN, 0 } };

	meet(row, NLOCK_RW_PHASE_FAIR, 1, false);
	for (int held = 1; held >= 0; held--) {
		if (held)
			must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
		for (int i = 0; i < COUNT(past); i++) {
			at(0, i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, past[i]);
			both_say(held ? ETIMEDOUT : 0);
		}
		if (held)
			must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
	}
	part();
}

ROW_TEST(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had)
{
	static const struct timespec bad[] = { { 0, -1 }, { 0, 1000000000 }, { 5, LONG_MAX }, { 5, LONG_MIN } };
	static const clockid_t clocks[] = { CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, -1, INT_MAX };

	meet(row, NLOCK_RW_PHASE_FAIR, 1, false);
	for (int held = 1; held >= 0; held--) {
		if (held)
			must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
		for (int i = 0; i < COUNT(bad); i++) {
			at(0, CLOCK_MONOTONIC, bad[i]);
			both_say(held ? EINVAL : 0);
			at(0, clocks[i], harness_in(CLOCK_MONOTONIC, SECOND));
			both_say(held ? EINVAL : 0);
		}
		must_be(nlock_rwlock_wrlock_until(&st->lock.rw, CLOCK_MONOTONIC, NULL), held ? EINVAL : 0);
		must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
	}
	part();
}

ROW_TEST(writer_that_gives_up_lets_the_readers_in_that_it_kept_out)
{
	for (int p = 0; p < 2; p++) {
		meet(row, p ? NLOCK_RW_PREFER_WRITERS : NLOCK_RW_PHASE_FAIR, 3, false);
		must_be(nlock_rwlock_rdlock(&st->lock.rw), 0);
		at(0, CLOCK_MONOTONIC, harness_in(CLOCK_MONOTONIC, 50000000));
		ask(0, WR_UNTIL);
		ask(1, RD);
		ask(2, RD);
		must_be(answer(0), ETIMEDOUT);
		is_in(1);
		is_in(2);
		goes(1);
		goes(2);
		must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
		part();
	}
}

ROW_TEST(interrupted_waiters_wait_on)
{
	meet(row, NLOCK_RW_PHASE_FAIR, 3, false);
	must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
	at(1, CLOCK_REALTIME, harness_in(CLOCK_REALTIME, (int64_t)3600 * SECOND));
	parks_next(0, WR);
	parks_reader(1, RD_UNTIL);
	parks_writer(2, WR);
	for (int i = 0; i < 60; i++) {
		int k = i % 3;

		must_be(pthread_kill(st->crew[k].thread, SIGUSR1), 0);
		must(sees_asleep(k, k == 0   ? (void *)&st->lock.rw.wgate
				    : k == 1 ? (void *)&st->lock.rw.rgate
					     : (void *)&st->lock.rw.seat));
	}
	must_be(nlock_rwlock_unlock(&st->lock.rw), 0);
	is_in(1);
	goes(1);
	is_in(0);
	goes(0);
	is_in(2);
	goes(2);
	part();
}

/* ---------------------------------------------------------------- fork */

static bool must_be_initialised_anew(const struct row *row)
{
	return row->place == NLOCK_PLACE_NODE(0) || row->place == NLOCK_PLACE_FIRST;
}

static union lock owned; /* private memory: a child has a copy */
#define own owned.rw
static const struct row *own_row;

static int child_unlocks(void *arg)
{
	bool bad = false;

	(void)arg;
	if (must_be_initialised_anew(own_row))
		bad = init(&owned, NLOCK_RW_PHASE_FAIR, own_row->attr) || nlock_rwlock_wrlock(&own);
	bad |= nlock_rwlock_unlock(&own) != 0;
	for (int i = 0; i < 3 && !bad; i++) {
		bad |= nlock_rwlock_wrlock(&own) || nlock_rwlock_downgrade(&own) || nlock_rwlock_unlock(&own);
		bad |= nlock_rwlock_rdlock(&own) || nlock_rwlock_unlock(&own);
	}
	return bad || nlock_rwlock_destroy(&own);
}

static void *waits_to_read(void *arg)
{
	__atomic_store_n((pid_t *)arg, harness_tid(), __ATOMIC_RELEASE);
	return (void *)(intptr_t)(nlock_rwlock_rdlock(&own) || nlock_rwlock_unlock(&own));
}

static void *waits_to_write(void *arg)
{
	__atomic_store_n((pid_t *)arg, harness_tid(), __ATOMIC_RELEASE);
	return (void *)(intptr_t)(nlock_rwlock_wrlock(&own) || nlock_rwlock_unlock(&own));
}

static void park_own(pthread_t *t, void *(*how)(void *), const void *word)
{
	pid_t tid = 0;

	must_be(pthread_create(t, NULL, how, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sched_yield();
	must(harness_sees_asleep(getpid(), tid, word));
}

/* The child's lock counts waiters that the child does not have. */
static void unlocks_in_the_child(const struct row *row)
{
	pthread_t t[3];
	void *bad;

	if (row->is_shared)
		return;
	own_row = row;
	for (int reads = 0; reads < 2; reads++) {
		must_be(init(&owned, NLOCK_RW_PHASE_FAIR, row->attr), 0);
		must_be(reads ? nlock_rwlock_rdlock(&own) : nlock_rwlock_wrlock(&own), 0);
		must_be(harness_child(child_unlocks, NULL), 0);
		park_own(&t[0], waits_to_write, &own.wgate);
		park_own(&t[1], waits_to_write, &own.seat);
		park_own(&t[2], waits_to_read, &own.rgate);
		must_be(harness_child(child_unlocks, NULL), 0);
		must_be(nlock_rwlock_unlock(&own), 0);
		for (int i = 0; i < 3; i++) {
			must_be(pthread_join(t[i], &bad), 0);
			must(!bad);
		}
		must_be(nlock_rwlock_destroy(&own), 0);
	}
}

ROW_TEST(child_of_a_fork_may_unlock_what_the_parent_held)
{
	unlocks_in_the_child(row);
	ON_A_SPREAD_LOCK(unlocks_in_the_child(row));
}

static int child_passes_on(void *arg)
{
	return nlock_rwlock_unlock(arg);
}

/* Of a shared lock the child has the same one: its unlock serves the parent's waiters. */
ROW_TEST(shared_lock_may_be_unlocked_by_the_child_of_a_fork)
{
	meet(row, NLOCK_RW_PHASE_FAIR, 2, false);
	must_be(nlock_rwlock_wrlock(&st->lock.rw), 0);
	parks_next(0, WR);
	parks_reader(1, RD);
	must_be(harness_child(child_passes_on, &st->lock.rw), 0);
	is_in(1);
	goes(1);
	is_in(0);
	goes(0);
	part();
}

static bool is_over;

static void *hammer(void *arg)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		if (arg ? nlock_rwlock_wrlock(&own) : nlock_rwlock_rdlock(&own))
			abort();
		if (nlock_rwlock_unlock(&own))
			abort();
	}
	return NULL;
}

/* The usual idiom, while others contend: lock before, unlock on both sides after. */
static void forks_while_others_contend(const struct row *row)
{
	pthread_t t[3];

	if (row->is_shared || must_be_initialised_anew(row))
		return;
	own_row = row;
	must_be(init(&owned, NLOCK_RW_PHASE_FAIR, row->attr), 0);
	for (int i = 0; i < 3; i++)
		must_be(pthread_create(&t[i], NULL, hammer, i == 0 ? &own : NULL), 0);
	for (int i = 0; i < harness_rounds(30, 500); i++) {
		must_be(nlock_rwlock_wrlock(&own), 0);
		must_be(harness_child(child_unlocks, NULL), 0);
		must_be(nlock_rwlock_unlock(&own), 0);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		must_be(pthread_join(t[i], NULL), 0);
	must_be(nlock_rwlock_destroy(&own), 0);
}

ROW_TEST(lock_held_across_a_fork_works_on_both_sides)
{
	forks_while_others_contend(row);
}

ROW_TEST(spread_lock_held_across_a_fork_works_on_both_sides)
{
	ON_A_SPREAD_LOCK(forks_while_others_contend(row));
}

/* ---------------------------------------------------------------- end of life */

struct mortal {
	union lock lock;
	int refs;
};

/* Reads, then gives its reference back: the last one unmaps the lock, whoever is still inside an unlock. */
static void *lives(void *arg)
{
	struct mortal *m = arg;
	bool is_last;

	if (nlock_rwlock_rdlock(&m->lock.rw) || nlock_rwlock_unlock(&m->lock.rw) || nlock_rwlock_wrlock(&m->lock.rw))
		return (void *)1;
	is_last = !--m->refs;
	if (nlock_rwlock_unlock(&m->lock.rw))
		return (void *)1;
	return is_last && munmap(m, 4096) ? (void *)1 : NULL;
}

static void unmaps_at_once(const struct row *row)
{
	for (int i = 0; i < harness_rounds(150, 5000); i++) {
		struct mortal *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_t t[3];
		void *bad;

		must(m != MAP_FAILED);
		must_be(init(&m->lock, i % 3, row->attr), 0);
		m->refs = 4;
		must_be(nlock_rwlock_wrlock(&m->lock.rw), 0);
		for (int k = 0; k < 3; k++)
			must_be(pthread_create(&t[k], NULL, lives, m), 0);
		sched_yield();
		must_be(nlock_rwlock_unlock(&m->lock.rw), 0);
		must(!lives(m));
		for (int k = 0; k < 3; k++) {
			must_be(pthread_join(t[k], &bad), 0);
			must(!bad);
		}
	}
}

ROW_TEST(last_holder_may_unmap_the_lock_at_once)
{
	unmaps_at_once(row);
	ON_A_SPREAD_LOCK(unmaps_at_once(row));
}

struct legacy {
	union lock lock;
	int heirs; /* a semaphore without one: changed by atomic operations */
};

/* Reads, and then tells the heir, while still in: who unmaps the lock as soon as it can be destroyed. */
static void *bequeaths(void *arg)
{
	struct legacy *l = arg;

	if (nlock_rwlock_rdlock(&l->lock.rw))
		abort();
	__atomic_fetch_add(&l->heirs, 1, __ATOMIC_RELEASE);
	return (void *)(intptr_t)nlock_rwlock_unlock(&l->lock.rw);
}

ROW_TEST(spread_lock_may_be_unmapped_when_its_readers_have_left_the_slots)
{
	for (int i = 0; i < harness_rounds(150, 5000); i++) {
		struct legacy *l = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_t t[3];
		void *bad;

		must(l != MAP_FAILED);
		ON_A_SPREAD_LOCK(must_be(init(&l->lock, i % 3, row->attr), 0));
		for (int k = 0; k < 3; k++)
			must_be(pthread_create(&t[k], NULL, bequeaths, l), 0);
		while (__atomic_load_n(&l->heirs, __ATOMIC_ACQUIRE) < 3)
			sched_yield();
		while (nlock_rwlock_destroy(&l->lock.rw))
			sched_yield();
		must_be(munmap(l, 4096), 0);
		for (int k = 0; k < 3; k++) {
			must_be(pthread_join(t[k], &bad), 0);
			must(!bad);
		}
	}
}

/* ---------------------------------------------------------------- objects and errors */

TEST(zeroed_memory_is_a_rwlock)
{
	static const nlock_rwlock_t by_init = NLOCK_RWLOCK_INIT;
	static nlock_rwlock_t by_attr = NLOCK_RWLOCK_INIT_ATTR(NLOCK_RW_PREFER_READERS, NLOCK_FIFO | NLOCK_SHARED);
	nlock_rwlock_t by_call;

	must(!memcmp(&by_init, &(nlock_rwlock_t){ 0 }, sizeof(by_init)));
	must_be(nlock_rwlock_init(&by_call, NLOCK_RW_PREFER_READERS, NLOCK_FIFO | NLOCK_SHARED), 0);
	must(!memcmp(&by_attr, &by_call, sizeof(by_call)));
	meet(&rows[0], 0, 5, false);
	memset(&st->lock.rw, 0, sizeof(st->lock.rw));
	for (int i = 0; i < 5; i++) {
		st->crew[i].rounds = 300;
		ask(i, WORK);
	}
	for (int i = 0; i < 5; i++)
		must_be(answer(i), 0);
	part();
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	nlock_rwlock_t rw;

	for (int fill = 0; fill < 256; fill += 51) {
		memset(&rw, fill, sizeof(rw));
		must_be(nlock_rwlock_init(&rw, fill % 3, row->attr), 0);
		must_be(nlock_rwlock_destroy(&rw), 0);
		must_be(nlock_rwlock_trywrlock(&rw), 0);
		must_be(nlock_rwlock_unlock(&rw), 0);
	}
}

ROW_TEST(bad_objects_attributes_and_preferences_are_refused)
{
	static const uint32_t bad[] = { NLOCK_BAD_ATTR,
					0x40,
					0x10000,
					NLOCK_FIFO | 0x10000,
					NLOCK_PLACE_FIRST | 0x40,
					NLOCK_FIFO | NLOCK_COHORT,
					NLOCK_BOUNDED_N(0) | NLOCK_COHORT };
	char bytes[64] __attribute__((aligned(8)));
	nlock_rwlock_t rw;

	for (int off = 1; off < 8; off++)
		must_be(nlock_rwlock_init((nlock_rwlock_t *)(void *)(bytes + off), 0, row->attr), EINVAL);
	EACH_PREFERENCE(p)
	{
		for (int i = 0; i < COUNT(bad); i++)
			must_be(nlock_rwlock_init(&rw, p, bad[i]), EINVAL);
	}
	must_be(nlock_rwlock_init(&rw, -1, row->attr), EINVAL);
	must_be(nlock_rwlock_init(&rw, 3, row->attr), EINVAL);
	must_be(nlock_rwlock_init(&rw, INT_MIN, row->attr), EINVAL);
}

static int answer_after(int prefers, enum job before, enum job job)
{
	int rc;

	meet(&rows[0], prefers, 1, false);
	if (before != LEAVE)
		must_be(tell(0, before), 0);
	rc = tell(0, job);
	while (tell(0, UNLOCK) == 0)
		;
	part();
	return rc;
}

/* What each call says in each state of the lock: of nobody, of a reader, of a writer. */
static void answers_by_the_table(void)
{
	static const struct {
		enum job job;
		int free, read, written;
	} table[] = {
		{ RDUNLOCK, EPERM, 0, EPERM },  { WRUNLOCK, EPERM, EPERM, 0 }, { UNLOCK, EPERM, 0, 0 },
		{ DOWNGRADE, EPERM, EPERM, 0 }, { UPGRADE, EPERM, 0, EPERM },  { TRYRD, 0, 0, EBUSY },
		{ TRYWR, 0, EBUSY, EBUSY },     { DESTROY, 0, EBUSY, EBUSY },
	};

	EACH_PREFERENCE(p)
	{
		for (int i = 0; i < COUNT(table); i++) {
			must_be(answer_after(p, LEAVE, table[i].job), table[i].free);
			must_be(answer_after(p, RD, table[i].job), table[i].read);
			must_be(answer_after(p, WR, table[i].job), table[i].written);
		}
	}
}

TEST(calls_answer_by_the_table)
{
	answers_by_the_table();
	ON_A_SPREAD_LOCK(answers_by_the_table());
}

/* One that reads, by a slot or not, waits and reads again; nobody does not. */
TEST(reader_in_a_slot_may_wait_on_a_condition_variable)
{
	const struct timespec past = { -1, 0 };
	nlock_cond_t c;
	union lock l;

	must_be(nlock_cond_init(&c, 0), 0);
	ON_A_SPREAD_LOCK(must_be(init(&l, NLOCK_RW_PHASE_FAIR, 0), 0));
	must_be(nlock_cond_wait_rwlock_until(&c, &l.rw, CLOCK_MONOTONIC, &past), EPERM);
	for (int n = 1; n <= 3; n++) {
		for (int i = 0; i < n; i++)
			must_be(nlock_rwlock_rdlock(&l.rw), 0);
		must_be(nlock_cond_wait_rwlock_until(&c, &l.rw, CLOCK_MONOTONIC, &past), ETIMEDOUT);
		for (int i = 0; i < n; i++)
			must_be(nlock_rwlock_rdunlock(&l.rw), 0);
		must_be(nlock_cond_wait_rwlock_until(&c, &l.rw, CLOCK_MONOTONIC, &past), EPERM);
	}
	must_be(nlock_rwlock_destroy(&l.rw), 0);
}

TEST(spread_lock_is_refused_where_it_cannot_be)
{
	static char bytes[2 * sizeof(nlock_rwlock_spread_t)] __attribute__((aligned(64)));

	for (int off = 8; off < 64; off += 8)
		must_be(nlock_rwlock_spread_init((void *)(bytes + off), 0, 0), EINVAL);
	must_be(nlock_rwlock_spread_init((void *)bytes, 3, 0), EINVAL);
	must_be(nlock_rwlock_spread_init((void *)bytes, 0, NLOCK_BAD_ATTR), EINVAL);
	memset(bytes, 0xa5, sizeof(bytes));
	must_be(nlock_rwlock_spread_init((void *)bytes, 0, 0), 0);
	must_be(nlock_rwlock_unlock((void *)bytes), EPERM);
	must_be(nlock_rwlock_destroy((void *)bytes), 0);
}

static const struct test tests[] = {
	CROSS_OF_ROWS(uncontended_calls_make_no_system_call),
	CORE_CROSS(threads_exclude_each_other),
	EACH_SHARED(processes_exclude_each_other),
	CORE_CROSS(threads_exclude_each_other_on_a_spread_lock),
	EACH_SHARED(processes_exclude_each_other_on_a_spread_lock),
	CORE_COHORT(users_of_a_cohort_lock_exclude_each_other),
	CROSS_OF_ROWS(signals_during_work_change_nothing),
	CORE_CROSS(phase_fair_lock_lets_readers_and_writers_take_turns),
	EACH_SHARED(phase_fair_lock_lets_processes_take_turns),
	CORE_CROSS(writer_waits_for_readers_that_are_in_slots),
	CROSS_OF_ROWS(reader_in_a_slot_may_be_unlocked_by_another_thread),
	EACH_PLACE(writer_waits_for_one_reader_phase_at_most),
	CORE_CROSS(preferred_readers_pass_a_waiting_writer_and_may_lock_twice),
	CROSS_OF_ROWS(reader_does_not_pass_a_waiting_writer_otherwise),
	CROSS_OF_ROWS(preferred_writers_go_before_readers_that_came_first),
	CORE_CROSS(writers_come_in_order_of_arrival),
	CROSS_OF_ROWS(downgrade_lets_readers_in_and_no_writer),
	CROSS_OF_ROWS(upgrade_fails_rather_than_waits),
	CORE_CROSS(timed_out_waiter_was_not_early_and_leaves_nothing),
	EACH_PLACE(past_deadline_gives_up_at_once),
	EACH_PLACE(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had),
	CORE_CROSS(writer_that_gives_up_lets_the_readers_in_that_it_kept_out),
	CORE_CROSS(interrupted_waiters_wait_on),
	CROSS_OF_ROWS(child_of_a_fork_may_unlock_what_the_parent_held),
	EACH_SHARED(shared_lock_may_be_unlocked_by_the_child_of_a_fork),
	EACH_HANDOFF(lock_held_across_a_fork_works_on_both_sides),
	EACH_HANDOFF(spread_lock_held_across_a_fork_works_on_both_sides),
	CORE_MORTAL(last_holder_may_unmap_the_lock_at_once),
	CORE_MORTAL(spread_lock_may_be_unmapped_when_its_readers_have_left_the_slots),
	CORE_ONCE(zeroed_memory_is_a_rwlock),
	CROSS_OF_ROWS(init_reads_nothing_of_what_was_there),
	EACH_PLACE(bad_objects_attributes_and_preferences_are_refused),
	CORE_ONCE(calls_answer_by_the_table),
	CORE_ONCE(reader_in_a_slot_may_wait_on_a_condition_variable),
	CORE_ONCE(spread_lock_is_refused_where_it_cannot_be),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "rwlock", tests, COUNT(tests));
}
