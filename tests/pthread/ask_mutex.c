/* SPDX-License-Identifier: MIT
 *
 * ask_mutex.c - every function, every kind, every mistake
 */
#include "kinds.h"

struct timed {
	pthread_mutex_t *m;
	clockid_t clock;
	struct timespec t;
};

static int call_timedlock(void *arg)
{
	const struct timed *a = arg;

	return pthread_mutex_timedlock(a->m, &a->t);
}

static int call_clocklock(void *arg)
{
	const struct timed *a = arg;

	return pthread_mutex_clocklock(a->m, a->clock, &a->t);
}

/* ---------------------------------------------------------------- locked and unlocked */

static void lives(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_destroy(m));
}

static int call_lock_twice(void *m)
{
	int rc = pthread_mutex_lock(m);

	return rc ? rc : pthread_mutex_lock(m);
}

static void relocks(const void *k)
{
	struct pt_thread t;

	pt_start(&t, call_lock_twice, kind_make(k));
	pt_waits(&t);
}

static void unlocks_thrice(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_unlock(m));
	pt_elsewhere(call_trylock, m);
}

static void unlocks_unlocked(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_lock(m));
	pt_elsewhere(call_try_and_unlock, m);
	ANSWER(pthread_mutex_unlock(m));
	pt_elsewhere(call_try_and_unlock, m);
}

static void unlocks_unlocked_and_destroys(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_destroy(m));
}

static void is_unlocked_by_another(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	pt_elsewhere(call_unlock, m);
	pt_elsewhere(call_trylock, m);
}

static void is_busy(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	pt_elsewhere(call_try_and_unlock, m);
	ANSWER(pthread_mutex_unlock(m));
	pt_elsewhere(call_try_and_unlock, m);
}

static int call_lock_and_unlock(void *m)
{
	int rc = pthread_mutex_lock(m);

	return rc ? rc : pthread_mutex_unlock(m);
}

static void is_waited_for(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct pt_thread t, u;

	ANSWER(pthread_mutex_lock(m));
	pt_start(&t, call_lock_and_unlock, m);
	pt_waits(&t);
	pt_start(&u, call_lock_and_unlock, m);
	pt_waits(&u);
	ANSWER(pthread_mutex_unlock(m));
	pt_finish(&t);
	pt_finish(&u);
	ANSWER(pthread_mutex_destroy(m));
}

static void is_deep(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	int depth = 1;

	ANSWER(pthread_mutex_lock(m));
	while (depth < 1000 && !pthread_mutex_trylock(m))
		depth++;
	pt_number(depth);
	while (depth > 1 && !pthread_mutex_unlock(m))
		depth--;
	pt_elsewhere(call_try_and_unlock, m);
	ANSWER(pthread_mutex_unlock(m));
	pt_elsewhere(call_try_and_unlock, m);
}

/* ---------------------------------------------------------------- times */

static void timedlock_free(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	for (int w = 0; w < WHENS; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		if (!ANSWER(pthread_mutex_timedlock(m, &t)))
			pthread_mutex_unlock(m);
	}
}

static void timedlock_held(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timed a = { m, 0, pt_time(CLOCK_REALTIME, (enum when)w) };

		pt_elsewhere(call_timedlock, &a);
	}
	ANSWER(pthread_mutex_unlock(m));
	pt_elsewhere(call_try_and_unlock, m);
}

static void timedlock_own(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		ANSWER(pthread_mutex_timedlock(m, &t));
	}
}

static void timedlock_waits(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct timed late = { m, 0, pt_time(CLOCK_REALTIME, WHEN_LATE) }, huge = { m, 0, pt_time(0, WHEN_HUGE) };
	struct pt_thread t, u;

	ANSWER(pthread_mutex_lock(m));
	pt_start(&t, call_timedlock, &late);
	pt_waits(&t);
	pt_start(&u, call_timedlock, &huge);
	pt_waits(&u);
}

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 99 };

static void clocklock_free(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	for (int i = 0; i < COUNT(clocks); i++) {
		struct timespec past = pt_time(CLOCK_MONOTONIC, WHEN_PAST), bad = pt_time(0, WHEN_NSEC_HIGH);

		if (!ANSWER(pthread_mutex_clocklock(m, clocks[i], &past)))
			pthread_mutex_unlock(m);
		if (!ANSWER(pthread_mutex_clocklock(m, clocks[i], &bad)))
			pthread_mutex_unlock(m);
	}
}

static void clocklock_held(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	for (int i = 0; i < COUNT(clocks); i++) {
		struct timed past = { m, clocks[i], pt_time(CLOCK_MONOTONIC, WHEN_PAST) };
		struct timed bad = { m, clocks[i], pt_time(0, WHEN_NSEC_HIGH) };

		pt_elsewhere(call_clocklock, &past);
		pt_elsewhere(call_clocklock, &bad);
	}
}

/* A moment of the monotonic clock is long past on the other. */
static void clocklock_minds_its_clock(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct timed past = { m, CLOCK_REALTIME, pt_time(CLOCK_MONOTONIC, WHEN_LATE) };
	struct timed late = { m, CLOCK_MONOTONIC, past.t };
	struct pt_thread t;

	ANSWER(pthread_mutex_lock(m));
	pt_elsewhere(call_clocklock, &past);
	pt_start(&t, call_clocklock, &late);
	pt_waits(&t);
}

/* ---------------------------------------------------------------- the end */

static void destroys_held(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_destroy(m));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_destroy(m));
}

static void uses_destroyed(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);

	ANSWER(pthread_mutex_destroy(m));
	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_timedlock(m, &past));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_destroy(m));
}

static void is_made_anew(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_init(m, NULL));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_destroy(m));
	ANSWER(pthread_mutex_init(m, NULL));
	ANSWER(pthread_mutex_lock(m));
}

/* ---------------------------------------------------------------- owners that die, children, cancellation */

static void owner_dies(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct pt_thread t;

	pt_elsewhere(call_lock, m);
	if (ANSWER(pthread_mutex_trylock(m)) == EOWNERDEAD) {
		ANSWER(pthread_mutex_consistent(m));
		ANSWER(pthread_mutex_consistent(m));
		ANSWER(pthread_mutex_unlock(m));
		ANSWER(pthread_mutex_lock(m));
		return;
	}
	pt_start(&t, call_lock, m);
	pt_waits(&t);
}

static void owner_dies_and_is_not_mourned(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct timespec soon = pt_time(CLOCK_REALTIME, WHEN_SOON);

	pt_elsewhere(call_lock, m);
	ANSWER(pthread_mutex_timedlock(m, &soon));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_timedlock(m, &soon));
	ANSWER(pthread_mutex_consistent(m));
	ANSWER(pthread_mutex_destroy(m));
}

static void process_dies(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	if (((const struct kind *)k)->pshared != PTHREAD_PROCESS_SHARED)
		return pt_word("does not apply");
	pt_in_child(call_lock, m);
	ANSWER(pthread_mutex_trylock(m));
	ANSWER(pthread_mutex_consistent(m));
	ANSWER(pthread_mutex_unlock(m));
	ANSWER(pthread_mutex_trylock(m));
}

static int call_lock_twice_over(void *m)
{
	int rc = pthread_mutex_lock(m);

	rc = rc ? rc : pthread_mutex_unlock(m);
	rc = rc ? rc : pthread_mutex_lock(m);
	return rc ? rc : pthread_mutex_unlock(m);
}

static void is_passed_among_processes(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	if (((const struct kind *)k)->pshared != PTHREAD_PROCESS_SHARED)
		return pt_word("does not apply");
	pt_in_child(call_lock_twice_over, m);
	ANSWER(pthread_mutex_lock(m));
	pt_in_child(call_trylock, m);
	pt_in_child(call_unlock, m);
	pt_elsewhere(call_trylock, m);
}

static void is_consistent(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_consistent(m));
	ANSWER(pthread_mutex_lock(m));
	ANSWER(pthread_mutex_consistent(m));
}

static void has_a_ceiling(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	int ceiling = -1, old = -1;

	ANSWER(pthread_mutex_getprioceiling(m, &ceiling));
	pt_number(ceiling);
	ANSWER(pthread_mutex_setprioceiling(m, 3, &old));
	pt_number(old);
	ANSWER(pthread_mutex_setprioceiling(m, 1000, &old));
	ANSWER(pthread_mutex_getprioceiling(m, &ceiling));
	pt_number(ceiling);
	ANSWER(pthread_mutex_trylock(m));
}

static void child_unlocks(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	pt_in_child(call_unlock, m);
	pt_elsewhere(call_trylock, m);
}

static void child_finds_it_held(const void *k)
{
	pthread_mutex_t *m = kind_make(k);

	ANSWER(pthread_mutex_lock(m));
	pt_in_child(call_trylock, m);
	ANSWER(pthread_mutex_unlock(m));
}

static int call_lock_when_cancelled(void *m)
{
	int rc;

	pthread_cancel(pthread_self());
	rc = pthread_mutex_lock(m);
	rc = rc ? rc : pthread_mutex_unlock(m);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return rc;
}

static void is_no_cancellation_point(const void *k)
{
	pthread_mutex_t *m = kind_make(k);
	struct pt_thread t;

	ANSWER(pthread_mutex_lock(m));
	pt_start(&t, call_lock_when_cancelled, m);
	pt_waits(&t);
	ANSWER(pthread_mutex_unlock(m));
	pt_finish(&t);
}

static const struct {
	const char *sentence;
	void (*body)(const void *);
} cases[] = {
	{ "locked, unlocked, tried, unlocked, destroyed", lives },
	{ "locked by its owner", relocks },
	{ "tried by its owner, unlocked once, then tried by another", unlocks_thrice },
	{ "unlocked when unlocked, then used", unlocks_unlocked },
	{ "unlocked when unlocked, then destroyed", unlocks_unlocked_and_destroys },
	{ "unlocked by another thread, which then tries it", is_unlocked_by_another },
	{ "tried by another thread, held and not", is_busy },
	{ "two wait for it", is_waited_for },
	{ "tried a thousand times by its owner", is_deep },
	{ "timedlock of a free one: past, negative, bad, bad, bad, soon, late, huge", timedlock_free },
	{ "timedlock of one held: past, negative, bad, bad, bad, soon", timedlock_held },
	{ "timedlock by its owner: past, negative, bad, bad, bad, soon", timedlock_own },
	{ "timedlock until late, until the end of time", timedlock_waits },
	{ "clocklock of a free one: past and bad, for each clock", clocklock_free },
	{ "clocklock of one held: past and bad, for each clock", clocklock_held },
	{ "clocklock minds its clock", clocklock_minds_its_clock },
	{ "destroyed when locked, then unlocked, destroyed", destroys_held },
	{ "used after it was destroyed", uses_destroyed },
	{ "initialised again when held, and after destroy", is_made_anew },
	{ "its owner dies", owner_dies },
	{ "its owner dies, and nobody makes it consistent", owner_dies_and_is_not_mourned },
	{ "its owner is a process, and ends", process_dies },
	{ "locked, tried and unlocked by other processes", is_passed_among_processes },
	{ "made consistent for no reason", is_consistent },
	{ "its ceiling", has_a_ceiling },
	{ "held at a fork, unlocked by the child", child_unlocks },
	{ "held at a fork, tried by the child", child_finds_it_held },
	{ "waited for by a thread with a cancellation pending", is_no_cancellation_point },
};

/* ---------------------------------------------------------------- attributes */

static void attributes(const void *unused)
{
	pthread_mutexattr_t a;
	int value = -1;

	(void)unused;
	ANSWER(pthread_mutexattr_init(&a));
	for (int type = -1; type < 5; type++)
		ANSWER(pthread_mutexattr_settype(&a, type));
	ANSWER(pthread_mutexattr_gettype(&a, &value));
	pt_number(value);
	for (int protocol = -1; protocol < 4; protocol++)
		ANSWER(pthread_mutexattr_setprotocol(&a, protocol));
	ANSWER(pthread_mutexattr_setpshared(&a, 2));
	ANSWER(pthread_mutexattr_setrobust(&a, 2));
	ANSWER(pthread_mutexattr_setprioceiling(&a, 1000));
	ANSWER(pthread_mutexattr_destroy(&a));
}

/* Zeroed memory that nobody initialised. */
static void zeroed(const void *unused)
{
	static pthread_mutex_t m;

	(void)unused;
	ANSWER(pthread_mutex_lock(&m));
	pt_elsewhere(call_try_and_unlock, &m);
	ANSWER(pthread_mutex_unlock(&m));
	pt_elsewhere(call_try_and_unlock, &m);
	ANSWER(pthread_mutex_destroy(&m));
}

void ask_mutex(void);
void ask_mutex(void)
{
	char subject[80] = "mutex, ";

	pt_case("mutex", "attributes and their values", attributes, NULL);
	pt_case("mutex, zeroed", "locked, tried, unlocked, tried, destroyed", zeroed, NULL);
	for (int k = 0; k < n_kinds; k++) {
		for (int i = 0; i < 60 && (subject[7 + i] = kinds[k].name[i]) != 0; i++)
			;
		for (int i = 0; i < COUNT(cases); i++)
			pt_case(subject, cases[i].sentence, cases[i].body, &kinds[k]);
	}
}
