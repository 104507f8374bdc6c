/* SPDX-License-Identifier: MIT
 *
 * ask_rwlock.c - read-write locks of each kind
 */
#include "pt.h"

#include <string.h>

struct kind {
	const char *name;
	bool is_static;
	int kind, pshared;
};

/* Kind -1: without attributes. */
static const struct kind kinds[] = {
	{ "static", true, PTHREAD_RWLOCK_PREFER_READER_NP, 0 },
	{ "static writer", true, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0 },
	{ "without attributes", false, -1, 0 },
	{ "prefer reader", false, PTHREAD_RWLOCK_PREFER_READER_NP, 0 },
	{ "prefer writer", false, PTHREAD_RWLOCK_PREFER_WRITER_NP, 0 },
	{ "prefer writer nonrecursive", false, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 0 },
	{ "shared", false, PTHREAD_RWLOCK_PREFER_READER_NP, 1 },
	{ "shared, prefer writer nonrecursive", false, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, 1 },
};

static pthread_rwlock_t reader = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t writer = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static pthread_rwlock_t *make(const struct kind *k)
{
	pthread_rwlock_t *l = pt_shared(sizeof(*l));
	pthread_rwlockattr_t a;

	if (k->is_static)
		return k->kind == PTHREAD_RWLOCK_PREFER_READER_NP ? &reader : &writer;
	pthread_rwlockattr_init(&a);
	if (k->kind >= 0)
		pthread_rwlockattr_setkind_np(&a, k->kind);
	pthread_rwlockattr_setpshared(&a, k->pshared);
	ANSWER(pthread_rwlock_init(l, k->kind >= 0 ? &a : NULL));
	return l;
}

struct timed {
	pthread_rwlock_t *l;
	clockid_t clock;
	struct timespec t;
};

static int call_rdlock(void *l)
{
	return pthread_rwlock_rdlock(l);
}

static int call_wrlock(void *l)
{
	return pthread_rwlock_wrlock(l);
}

static int call_tryrdlock(void *l)
{
	return pthread_rwlock_tryrdlock(l);
}

static int call_unlock(void *l)
{
	return pthread_rwlock_unlock(l);
}

static int call_try_to_read(void *l)
{
	int rc = pthread_rwlock_tryrdlock(l);

	return rc ? rc : pthread_rwlock_unlock(l);
}

static int call_try_to_write(void *l)
{
	int rc = pthread_rwlock_trywrlock(l);

	return rc ? rc : pthread_rwlock_unlock(l);
}

static int call_write(void *l)
{
	int rc = pthread_rwlock_wrlock(l);

	return rc ? rc : pthread_rwlock_unlock(l);
}

static int call_read(void *l)
{
	int rc = pthread_rwlock_rdlock(l);

	return rc ? rc : pthread_rwlock_unlock(l);
}

static int call_timedrdlock(void *arg)
{
	const struct timed *a = arg;

	return pthread_rwlock_timedrdlock(a->l, &a->t);
}

static int call_timedwrlock(void *arg)
{
	const struct timed *a = arg;

	return pthread_rwlock_timedwrlock(a->l, &a->t);
}

static int call_clockrdlock(void *arg)
{
	const struct timed *a = arg;

	return pthread_rwlock_clockrdlock(a->l, a->clock, &a->t);
}

static int call_clockwrlock(void *arg)
{
	const struct timed *a = arg;

	return pthread_rwlock_clockwrlock(a->l, a->clock, &a->t);
}

/* ---------------------------------------------------------------- held and not */

static void lives(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_tryrdlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_wrlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_trywrlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_destroy(l));
}

static void writer_again(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct timespec soon = pt_time(CLOCK_REALTIME, WHEN_SOON);

	ANSWER(pthread_rwlock_wrlock(l));
	ANSWER(pthread_rwlock_wrlock(l));
	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_trywrlock(l));
	ANSWER(pthread_rwlock_tryrdlock(l));
	ANSWER(pthread_rwlock_timedwrlock(l, &soon));
	ANSWER(pthread_rwlock_timedrdlock(l, &soon));
	ANSWER(pthread_rwlock_unlock(l));
	pt_elsewhere(call_try_to_write, l);
}

static void another_tries(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_wrlock(l));
	pt_elsewhere(call_try_to_read, l);
	pt_elsewhere(call_try_to_write, l);
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_rdlock(l));
	pt_elsewhere(call_try_to_read, l);
	pt_elsewhere(call_try_to_write, l);
	ANSWER(pthread_rwlock_unlock(l));
}

static int call_read_and_write(void *l)
{
	int rc = pthread_rwlock_rdlock(l);

	return rc ? rc : pthread_rwlock_wrlock(l);
}

static void reader_writes(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct timespec soon = pt_time(CLOCK_REALTIME, WHEN_SOON);
	struct pt_thread t;

	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_trywrlock(l));
	ANSWER(pthread_rwlock_timedwrlock(l, &soon));
	ANSWER(pthread_rwlock_unlock(l));
	pt_start(&t, call_read_and_write, l);
	pt_waits(&t);
}

/* May one read while a writer waits: another, and who reads already? */
static void writer_waits(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);
	struct pt_thread t;

	ANSWER(pthread_rwlock_rdlock(l));
	pt_start(&t, call_write, l);
	pt_waits(&t);
	pt_elsewhere(call_try_to_read, l);
	if (!ANSWER(pthread_rwlock_tryrdlock(l)))
		ANSWER(pthread_rwlock_unlock(l));
	if (!ANSWER(pthread_rwlock_timedrdlock(l, &past)))
		ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	pt_finish(&t);
	ANSWER(pthread_rwlock_destroy(l));
}

static void waits_behind_writer(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct pt_thread w, r;

	ANSWER(pthread_rwlock_rdlock(l));
	pt_start(&w, call_write, l);
	pt_waits(&w);
	pt_start(&r, call_read, l);
	pt_waits(&r);
	ANSWER(pthread_rwlock_unlock(l));
	pt_finish(&w);
	pt_finish(&r);
}

static void readers_wait(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct pt_thread t[3];

	ANSWER(pthread_rwlock_wrlock(l));
	for (int i = 0; i < COUNT(t); i++) {
		pt_start(&t[i], i == 1 ? call_write : call_read, l);
		pt_waits(&t[i]);
	}
	ANSWER(pthread_rwlock_unlock(l));
	for (int i = 0; i < COUNT(t); i++)
		pt_finish(&t[i]);
	pt_elsewhere(call_try_to_write, l);
	ANSWER(pthread_rwlock_destroy(l));
}

/* A writer that gives up lets those in whom it held back. */
static void writer_gives_up(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct timed soon = { l, 0, pt_time(CLOCK_REALTIME, WHEN_SOON) };

	ANSWER(pthread_rwlock_rdlock(l));
	pt_elsewhere(call_timedwrlock, &soon);
	pt_elsewhere(call_try_to_read, l);
	ANSWER(pthread_rwlock_unlock(l));
	pt_elsewhere(call_try_to_write, l);
}

static void another_unlocks_the_read(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_rdlock(l));
	pt_elsewhere(call_unlock, l);
	pt_elsewhere(call_try_to_write, l);
	pt_elsewhere(call_tryrdlock, l);
	ANSWER(pthread_rwlock_unlock(l));
	pt_elsewhere(call_try_to_write, l);
}

/* ---------------------------------------------------------------- times */

static void timed_free(const void *k)
{
	pthread_rwlock_t *l = make(k);

	for (int w = 0; w < WHENS; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		if (!ANSWER(pthread_rwlock_timedrdlock(l, &t)))
			pthread_rwlock_unlock(l);
		if (!ANSWER(pthread_rwlock_timedwrlock(l, &t)))
			pthread_rwlock_unlock(l);
	}
}

static void timed_held(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_wrlock(l));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timed a = { l, 0, pt_time(CLOCK_REALTIME, (enum when)w) };

		pt_elsewhere(call_timedrdlock, &a);
		pt_elsewhere(call_timedwrlock, &a);
		a.t = pt_time(CLOCK_REALTIME, (enum when)w);
		ANSWER(call_timedrdlock(&a));
		ANSWER(call_timedwrlock(&a));
	}
	ANSWER(pthread_rwlock_unlock(l));
	pt_elsewhere(call_try_to_write, l);
}

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 99 };

static void clocks_free(const void *k)
{
	pthread_rwlock_t *l = make(k);

	for (int i = 0; i < COUNT(clocks); i++) {
		struct timespec past = pt_time(CLOCK_MONOTONIC, WHEN_PAST), bad = pt_time(0, WHEN_NSEC_HIGH);

		if (!ANSWER(pthread_rwlock_clockrdlock(l, clocks[i], &past)))
			pthread_rwlock_unlock(l);
		if (!ANSWER(pthread_rwlock_clockwrlock(l, clocks[i], &past)))
			pthread_rwlock_unlock(l);
		if (!ANSWER(pthread_rwlock_clockrdlock(l, clocks[i], &bad)))
			pthread_rwlock_unlock(l);
		if (!ANSWER(pthread_rwlock_clockwrlock(l, clocks[i], &bad)))
			pthread_rwlock_unlock(l);
	}
}

static void clocks_held(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_wrlock(l));
	for (int i = 0; i < COUNT(clocks); i++) {
		struct timed past = { l, clocks[i], pt_time(CLOCK_MONOTONIC, WHEN_PAST) };
		struct timed bad = { l, clocks[i], pt_time(0, WHEN_NSEC_HIGH) };

		pt_elsewhere(call_clockrdlock, &past);
		pt_elsewhere(call_clockwrlock, &past);
		pt_elsewhere(call_clockrdlock, &bad);
		pt_elsewhere(call_clockwrlock, &bad);
	}
}

static void minds_its_clock(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct timed past = { l, CLOCK_REALTIME, pt_time(CLOCK_MONOTONIC, WHEN_LATE) };
	struct timed late = { l, CLOCK_MONOTONIC, past.t }, huge = { l, 0, pt_time(0, WHEN_HUGE) };
	struct pt_thread t[4];

	ANSWER(pthread_rwlock_wrlock(l));
	pt_elsewhere(call_clockrdlock, &past);
	pt_elsewhere(call_clockwrlock, &past);
	pt_start(&t[0], call_clockrdlock, &late);
	pt_waits(&t[0]);
	pt_start(&t[1], call_clockwrlock, &late);
	pt_waits(&t[1]);
	pt_start(&t[2], call_timedrdlock, &huge);
	pt_waits(&t[2]);
	pt_start(&t[3], call_timedwrlock, &huge);
	pt_waits(&t[3]);
}

/* ---------------------------------------------------------------- the end, children, cancellation */

static void destroys_held(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_destroy(l));
	ANSWER(pthread_rwlock_init(l, NULL));
	ANSWER(pthread_rwlock_wrlock(l));
	ANSWER(pthread_rwlock_destroy(l));
}

static void uses_destroyed(const void *k)
{
	pthread_rwlock_t *l = make(k);

	ANSWER(pthread_rwlock_destroy(l));
	ANSWER(pthread_rwlock_rdlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_wrlock(l));
	ANSWER(pthread_rwlock_unlock(l));
	ANSWER(pthread_rwlock_destroy(l));
}

static void child_unlocks(const void *k)
{
	pthread_rwlock_t *l = make(k);

	if (((const struct kind *)k)->pshared)
		return pt_word("does not apply");
	ANSWER(pthread_rwlock_rdlock(l));
	pt_in_child(call_unlock, l);
	ANSWER(pthread_rwlock_destroy(l));
}

static void among_processes(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct pt_thread t;

	if (!((const struct kind *)k)->pshared)
		return pt_word("does not apply");
	pt_in_child(call_rdlock, l);
	pt_in_child(call_try_to_write, l);
	pt_start(&t, call_wrlock, l);
	pt_waits(&t);
	pt_in_child(call_unlock, l);
	pt_finish(&t);
	pt_in_child(call_try_to_read, l);
}

static int call_wrlock_when_cancelled(void *l)
{
	int rc;

	pthread_cancel(pthread_self());
	rc = pthread_rwlock_wrlock(l);
	rc = rc ? rc : pthread_rwlock_unlock(l);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return rc;
}

static void is_no_cancellation_point(const void *k)
{
	pthread_rwlock_t *l = make(k);
	struct pt_thread t;

	ANSWER(pthread_rwlock_rdlock(l));
	pt_start(&t, call_wrlock_when_cancelled, l);
	pt_waits(&t);
	ANSWER(pthread_rwlock_unlock(l));
	pt_finish(&t);
}

static const struct {
	const char *sentence;
	void (*body)(const void *);
} cases[] = {
	{ "read twice, written, destroyed", lives },
	{ "the writer asks again: wr, rd, trywr, tryrd, timedwr, timedrd", writer_again },
	{ "tried by another: written and read", another_tries },
	{ "the reader wants to write: try, timed, for ever", reader_writes },
	{ "tried for reading while a writer waits", writer_waits },
	{ "a writer waits, does a reader wait behind it", waits_behind_writer },
	{ "reader, writer, reader wait for the writer", readers_wait },
	{ "a writer gives up", writer_gives_up },
	{ "unlocked by another than the reader", another_unlocks_the_read },
	{ "timedrdlock and timedwrlock when free: past, negative, bad, bad, bad, soon, late, huge", timed_free },
	{ "timedrdlock and timedwrlock when written, also by the writer: past, negative, bad, bad, bad, soon",
	  timed_held },
	{ "clockrdlock and clockwrlock when free: past and bad, for each clock", clocks_free },
	{ "clockrdlock and clockwrlock when written: past and bad, for each clock", clocks_held },
	{ "clockrdlock and clockwrlock mind their clock, and wait until the end of time", minds_its_clock },
	{ "destroyed when read, when written", destroys_held },
	{ "used after it was destroyed", uses_destroyed },
	{ "read at a fork, unlocked by the child", child_unlocks },
	{ "read by a process, waited for by another", among_processes },
	{ "waited for by a thread with a cancellation pending", is_no_cancellation_point },
};

static void attributes(const void *unused)
{
	pthread_rwlockattr_t a;
	int value = -1;

	(void)unused;
	ANSWER(pthread_rwlockattr_init(&a));
	for (int kind = -1; kind < 5; kind++)
		ANSWER(pthread_rwlockattr_setkind_np(&a, kind));
	ANSWER(pthread_rwlockattr_getkind_np(&a, &value));
	pt_number(value);
	ANSWER(pthread_rwlockattr_setpshared(&a, 2));
	ANSWER(pthread_rwlockattr_destroy(&a));
}

/* As in a packed structure, initialised by a call and by the static initialiser. */
static void packed(const void *unused)
{
	pthread_rwlock_t *l = (void *)((char *)pt_shared(sizeof(*l) + 4) + 4);

	(void)unused;
	ANSWER(pthread_rwlock_init(l, NULL));
	for (int i = 0; i < 2; i++) {
		ANSWER(pthread_rwlock_wrlock(l));
		ANSWER(pthread_rwlock_wrlock(l));
		ANSWER(pthread_rwlock_unlock(l));
		ANSWER(pthread_rwlock_tryrdlock(l));
		ANSWER(pthread_rwlock_trywrlock(l));
		ANSWER(pthread_rwlock_unlock(l));
		memset(l, 0, sizeof(*l));
	}
	ANSWER(pthread_rwlock_destroy(l));
}

void ask_rwlock(void);
void ask_rwlock(void)
{
	char subject[80] = "rwlock, ";

	pt_case("rwlock", "attributes and their values", attributes, NULL);
	pt_case("rwlock", "aligned to four bytes only", packed, NULL);
	for (int k = 0; k < COUNT(kinds); k++) {
		strcpy(subject + 8, kinds[k].name);
		for (int i = 0; i < COUNT(cases); i++)
			pt_case(subject, cases[i].sentence, cases[i].body, &kinds[k]);
	}
}
