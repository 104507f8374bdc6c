/* SPDX-License-Identifier: MIT
 *
 * ask_cond.c - condition variables, with every kind of mutex
 */
#include "kinds.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* One for all the waiters of a case. */
struct party {
	pthread_cond_t c;
	pthread_mutex_t *m;
	int goes; /* guarded by the mutex, or by nobody having it */
	int depth, is_held_up;
	int until[2]; /* a pipe: who is held up waits for a byte */
	pthread_mutex_t other;
	clockid_t clock;
	struct timespec t;
};

static struct party *party_of(const void *k)
{
	struct party *p = pt_shared(sizeof(*p));
	pthread_condattr_t a;

	memset(&p->goes, 0, sizeof(*p) - offsetof(struct party, goes));
	p->depth = 1;
	p->m = kind_make(k);
	pthread_condattr_init(&a);
	pthread_condattr_setpshared(&a, ((const struct kind *)k)->pshared);
	ANSWER(pthread_cond_init(&p->c, &a));
	return p;
}

static int locks(struct party *p)
{
	int rc = 0;

	for (int i = 0; i < p->depth && !rc; i++)
		rc = pthread_mutex_lock(p->m);
	return rc;
}

static int unlocks(struct party *p)
{
	int rc = 0;

	for (int i = 0; i < p->depth && !rc; i++)
		rc = pthread_mutex_unlock(p->m);
	return rc;
}

static int call_wait(void *arg)
{
	struct party *p = arg;
	int rc = locks(p);

	while (!rc && !__atomic_load_n(&p->goes, __ATOMIC_RELAXED))
		rc = pthread_cond_wait(&p->c, p->m);
	return rc ? rc : unlocks(p);
}

static int call_timedwait(void *arg)
{
	struct party *p = arg;
	int rc = locks(p);

	while (!rc && !__atomic_load_n(&p->goes, __ATOMIC_RELAXED))
		rc = pthread_cond_timedwait(&p->c, p->m, &p->t);
	return rc;
}

static int call_clockwait(void *arg)
{
	struct party *p = arg;
	int rc = locks(p);

	while (!rc && !__atomic_load_n(&p->goes, __ATOMIC_RELAXED))
		rc = pthread_cond_clockwait(&p->c, p->m, p->clock, &p->t);
	return rc;
}

/* ---------------------------------------------------------------- signals */

static void is_signalled(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	pt_start(&t, call_wait, p);
	pt_waits(&t);
	ANSWER(pthread_mutex_lock(p->m));
	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	ANSWER(pthread_cond_signal(&p->c));
	ANSWER(pthread_mutex_unlock(p->m));
	pt_finish(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
	ANSWER(pthread_cond_destroy(&p->c));
	ANSWER(pthread_mutex_destroy(p->m));
}

static void are_told(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t[3];

	for (int i = 0; i < COUNT(t); i++) {
		pt_start(&t[i], call_wait, p);
		pt_waits(&t[i]);
	}
	ANSWER(pthread_mutex_lock(p->m));
	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	ANSWER(pthread_mutex_unlock(p->m));
	ANSWER(pthread_cond_broadcast(&p->c));
	for (int i = 0; i < COUNT(t); i++)
		pt_finish(&t[i]);
	ANSWER(pthread_cond_destroy(&p->c));
}

/* A wait of a thread that has it twice. May another have it meanwhile? */
static void waits_deep(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	p->depth = ((const struct kind *)k)->type == PTHREAD_MUTEX_RECURSIVE ? 2 : 1;
	pt_start(&t, call_wait, p);
	pt_waits(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	ANSWER(pthread_cond_signal(&p->c));
	pt_finish(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
}

static void nobody_waits(const void *k)
{
	struct party *p = party_of(k);
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);

	ANSWER(pthread_cond_signal(&p->c));
	ANSWER(pthread_cond_broadcast(&p->c));
	ANSWER(pthread_mutex_lock(p->m));
	ANSWER(pthread_cond_timedwait(&p->c, p->m, &past));
	ANSWER(pthread_cond_destroy(&p->c));
}

/* ---------------------------------------------------------------- times */

static void times(const void *k)
{
	struct party *p = party_of(k);

	ANSWER(pthread_mutex_lock(p->m));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		ANSWER(pthread_cond_timedwait(&p->c, p->m, &t));
		pt_elsewhere(call_try_and_unlock, p->m);
	}
	ANSWER(pthread_mutex_unlock(p->m));
	pt_elsewhere(call_try_and_unlock, p->m);
	ANSWER(pthread_cond_destroy(&p->c));
}

static void waits_late(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	p->t = pt_time(CLOCK_REALTIME, WHEN_HUGE);
	pt_start(&t, call_timedwait, p);
	pt_waits(&t);
	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	ANSWER(pthread_cond_broadcast(&p->c));
	pt_finish(&t);
}

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 99 };

static void clockwaits(const void *k)
{
	struct party *p = party_of(k);

	ANSWER(pthread_mutex_lock(p->m));
	for (int i = 0; i < COUNT(clocks); i++) {
		struct timespec past = pt_time(CLOCK_MONOTONIC, WHEN_PAST), bad = pt_time(0, WHEN_NSEC_LOW);

		ANSWER(pthread_cond_clockwait(&p->c, p->m, clocks[i], &past));
		ANSWER(pthread_cond_clockwait(&p->c, p->m, clocks[i], &bad));
	}
	pt_elsewhere(call_trylock, p->m);
}

static void clockwait_minds_its_clock(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	p->t = pt_time(CLOCK_MONOTONIC, WHEN_LATE);
	p->clock = CLOCK_REALTIME;
	ANSWER(call_clockwait(p));
	ANSWER(unlocks(p));
	p->clock = CLOCK_MONOTONIC;
	pt_start(&t, call_clockwait, p);
	pt_waits(&t);
}

/* ---------------------------------------------------------------- mistakes */

static void is_not_held(const void *k)
{
	struct party *p = party_of(k);
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST), bad = pt_time(0, WHEN_NSEC_HIGH);

	ANSWER(pthread_cond_timedwait(&p->c, p->m, &bad));
	ANSWER(pthread_cond_timedwait(&p->c, p->m, &past));
}

static int call_timedwait_past(void *arg)
{
	struct party *p = arg;
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);

	return pthread_cond_timedwait(&p->c, p->m, &past);
}

static void is_held_by_another(const void *k)
{
	struct party *p = party_of(k);

	if (((const struct kind *)k)->type != PTHREAD_MUTEX_ERRORCHECK &&
	    ((const struct kind *)k)->type != PTHREAD_MUTEX_RECURSIVE)
		return pt_word("does not apply");
	ANSWER(pthread_mutex_lock(p->m));
	pt_elsewhere(call_timedwait_past, p);
	ANSWER(pthread_mutex_unlock(p->m));
}

/* ---------------------------------------------------------------- owners that die */

static int call_signal_and_die(void *arg)
{
	struct party *p = arg;
	int rc = pthread_mutex_lock(p->m);

	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	return rc ? rc : pthread_cond_signal(&p->c);
}

static int call_wait_and_mourn(void *arg)
{
	struct party *p = arg;
	int rc = locks(p);

	while (!rc && !__atomic_load_n(&p->goes, __ATOMIC_RELAXED))
		rc = pthread_cond_wait(&p->c, p->m);
	if (rc != EOWNERDEAD)
		return rc;
	rc = pthread_mutex_consistent(p->m);
	rc = rc ? rc : pthread_mutex_unlock(p->m);
	return rc ? rc : EOWNERDEAD;
}

static void signaller_dies(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	if (((const struct kind *)k)->robust != PTHREAD_MUTEX_ROBUST)
		return pt_word("does not apply");
	pt_start(&t, call_wait_and_mourn, p);
	pt_waits(&t);
	pt_elsewhere(call_signal_and_die, p);
	pt_finish(&t);
	ANSWER(pthread_mutex_lock(p->m));
}

static int call_timedwait_soon(void *arg)
{
	struct party *p = arg;
	struct timespec soon = pt_time(CLOCK_REALTIME, WHEN_SOON);
	int rc = pthread_mutex_lock(p->m);

	return rc ? rc : pthread_cond_timedwait(&p->c, p->m, &soon);
}

/* Nobody made it consistent, and then it was waited with. */
static void is_lost(const void *k)
{
	struct party *p = party_of(k);

	if (((const struct kind *)k)->robust != PTHREAD_MUTEX_ROBUST)
		return pt_word("does not apply");
	pt_elsewhere(call_lock, p->m);
	ANSWER(pthread_mutex_lock(p->m));
	ANSWER(call_timedwait_past(p));
	pt_elsewhere(call_timedwait_soon, p);
}

/* ---------------------------------------------------------------- cancellation */

static void cleans_up(void *arg)
{
	struct party *p = arg;

	pt_word("in the handler");
	pt_elsewhere(call_try_and_unlock, p->m);
	ANSWER(unlocks(p));
}

static int call_wait_and_clean_up(void *arg)
{
	struct party *p = arg;
	int rc = locks(p);

	pthread_cleanup_push(cleans_up, p);
	while (!rc)
		rc = pthread_cond_wait(&p->c, p->m);
	pthread_cleanup_pop(0);
	return rc;
}

static void tell_fate(struct pt_thread *t)
{
	void *value;

	pthread_join(t->thread, &value);
	pt_word(value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

static void is_cancelled(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	pt_start(&t, call_wait_and_clean_up, p);
	pt_waits(&t);
	pthread_cancel(t.thread);
	tell_fate(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
	ANSWER(pthread_cond_signal(&p->c));
	ANSWER(pthread_cond_destroy(&p->c));
}

static int call_cancelled_wait(void *arg)
{
	pthread_cancel(pthread_self());
	return call_wait_and_clean_up(arg);
}

static void is_cancelled_before(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	pt_start(&t, call_cancelled_wait, p);
	tell_fate(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
	ANSWER(pthread_cond_destroy(&p->c));
}

static int call_cancelled_timedwait(void *arg)
{
	pthread_cancel(pthread_self());
	return call_timedwait(arg);
}

/* A time in the past: does it reach the cancellation point? */
static void is_cancelled_in_the_past(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	p->t = pt_time(CLOCK_REALTIME, WHEN_PAST);
	pt_start(&t, call_cancelled_timedwait, p);
	tell_fate(&t);
}

static int call_wait_undisturbed(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return call_wait(arg);
}

static void refuses_to_be_cancelled(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t;

	pt_start(&t, call_wait_undisturbed, p);
	pt_waits(&t);
	pthread_cancel(t.thread);
	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	ANSWER(pthread_cond_signal(&p->c));
	pt_finish(&t);
}

static const struct {
	const char *sentence;
	void (*body)(const void *);
} cases[] = {
	{ "waited at, signalled, destroyed", is_signalled },
	{ "waited at by three, broadcast without the mutex", are_told },
	{ "waited at by who has a recursive one twice", waits_deep },
	{ "nobody waits for the signal and the broadcast", nobody_waits },
	{ "timedwait: past, negative, bad, bad, bad, soon, each time tried by another", times },
	{ "timedwait until the end of time", waits_late },
	{ "clockwait: past and bad, for each clock", clockwaits },
	{ "clockwait minds its clock", clockwait_minds_its_clock },
	{ "timedwait without the mutex: bad, past", is_not_held },
	{ "timedwait with a mutex that another has", is_held_by_another },
	{ "the signaller dies with the mutex", signaller_dies },
	{ "timedwait with a mutex that is not consistent", is_lost },
	{ "cancelled in a wait: tried by another and unlocked in the handler", is_cancelled },
	{ "cancelled before the wait", is_cancelled_before },
	{ "cancelled before a timedwait that is too late", is_cancelled_in_the_past },
	{ "cancelled with cancellation disabled", refuses_to_be_cancelled },
};

/* ---------------------------------------------------------------- without kinds */

static void attributes(const void *unused)
{
	pthread_condattr_t a;
	clockid_t clock = -1;

	(void)unused;
	ANSWER(pthread_condattr_init(&a));
	for (int i = 0; i < COUNT(clocks); i++)
		ANSWER(pthread_condattr_setclock(&a, clocks[i]));
	ANSWER(pthread_condattr_getclock(&a, &clock));
	pt_number(clock);
	ANSWER(pthread_condattr_setpshared(&a, 2));
	ANSWER(pthread_condattr_setpshared(&a, PTHREAD_PROCESS_SHARED));
	ANSWER(pthread_condattr_destroy(&a));
}

static void static_one(const void *unused)
{
	static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST), late = pt_time(CLOCK_MONOTONIC, WHEN_LATE);

	(void)unused;
	ANSWER(pthread_mutex_lock(&m));
	ANSWER(pthread_cond_timedwait(&c, &m, &past));
	ANSWER(pthread_cond_timedwait(&c, &m, &late));
	ANSWER(pthread_cond_destroy(&c));
	ANSWER(pthread_cond_init(&c, NULL));
	ANSWER(pthread_cond_signal(&c));
}

/* arg: the clock, and whether it is shared. */
static const struct {
	clockid_t clock;
	int pshared;
} makes[] = {
	{ CLOCK_REALTIME, 0 },
	{ CLOCK_MONOTONIC, 0 },
	{ CLOCK_REALTIME, 1 },
	{ CLOCK_MONOTONIC, 1 },
};

static void minds_its_clock(const void *arg)
{
	int i = *(const int *)arg;
	struct party *p = pt_shared(sizeof(*p));
	pthread_condattr_t a;
	struct pt_thread t;

	memset(&p->goes, 0, sizeof(*p) - offsetof(struct party, goes));
	p->depth = 1;
	p->m = kind_make(&kinds[0]);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, makes[i].clock);
	pthread_condattr_setpshared(&a, makes[i].pshared);
	ANSWER(pthread_cond_init(&p->c, &a));
	p->t = pt_time(CLOCK_MONOTONIC, WHEN_LATE);
	pt_start(&t, call_timedwait, p);
	pt_waits(&t);
	pt_elsewhere(call_try_and_unlock, p->m);
}

/* ---------------------------------------------------------------- another mutex, while a waiter is on its way out */

static struct party *held_up;

static void hold_up(int unused)
{
	char byte;

	(void)unused;
	__atomic_store_n(&held_up->is_held_up, 1, __ATOMIC_RELAXED);
	while (read(held_up->until[0], &byte, 1) < 0)
		;
}

/* The thread, which is asleep, does not come out of its call until it is let go. */
static void hold_up_thread(struct party *p, struct pt_thread *t)
{
	const struct sigaction sa = { .sa_handler = hold_up };

	held_up = p;
	ANSWER_ERRNO(pipe(p->until));
	ANSWER_ERRNO(sigaction(SIGUSR1, &sa, NULL));
	ANSWER(pthread_kill(t->thread, SIGUSR1));
	while (!__atomic_load_n(&p->is_held_up, __ATOMIC_RELAXED))
		sched_yield();
}

static int call_wait_with_other(void *arg)
{
	struct party *p = arg;
	int rc = pthread_mutex_lock(&p->other);

	while (!rc && !__atomic_load_n(&p->goes, __ATOMIC_RELAXED))
		rc = pthread_cond_wait(&p->c, &p->other);
	return rc ? rc : pthread_mutex_unlock(&p->other);
}

static int call_try_with_other(void *arg)
{
	struct party *p = arg;
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);
	int rc = pthread_mutex_lock(&p->other);

	rc = rc ? rc : pthread_cond_timedwait(&p->c, &p->other, &past);
	pthread_mutex_unlock(&p->other);
	return rc;
}

static int call_signal(void *arg)
{
	struct party *p = arg;

	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	return pthread_cond_signal(&p->c);
}

/* arg: a kind. When the second one waits, the first has been released, and looks at the condition variable once more. */
static void changes_its_mutex(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t, u;

	pt_start(&t, call_wait, p);
	pt_waits(&t);
	hold_up_thread(p, &t);
	ANSWER(call_signal(p));
	pt_start(&u, call_try_with_other, p);
	pt_sees_asleep(&u); /* or back: both are right */
	ANSWER(write(p->until[1], "", 1) != 1);
	pt_finish(&t);
	pt_finish(&u);
	p->goes = 0;
	pt_start(&t, call_wait_with_other, p);
	pt_waits(&t);
	pt_in_child(call_signal, p);
	pt_finish(&t);
	ANSWER(pthread_cond_destroy(&p->c));
}

static int call_child(void *arg)
{
	struct party *p = arg;
	int rc = pthread_mutex_lock(p->m);

	__atomic_store_n(&p->goes, 1, __ATOMIC_RELAXED);
	rc = rc ? rc : pthread_cond_broadcast(&p->c);
	return rc ? rc : pthread_mutex_unlock(p->m);
}

static void among_processes(const void *k)
{
	struct party *p = party_of(k);
	struct pt_thread t, u;

	pt_start(&t, call_wait, p);
	pt_waits(&t);
	pt_start(&u, call_wait, p);
	pt_waits(&u);
	pt_in_child(call_child, p);
	pt_finish(&t);
	pt_finish(&u);
	ANSWER(pthread_cond_destroy(&p->c));
}

void ask_cond(void);
void ask_cond(void)
{
	static const int n[] = { 0, 1, 2, 3 };
	static const char *const made[] = { "cond", "cond, monotonic", "cond, shared", "cond, shared monotonic" };
	char subject[80] = "cond, mutex ";

	pt_case("cond", "attributes and their values", attributes, NULL);
	pt_case("cond, static", "timedwait: past, monotonic; destroyed, initialised", static_one, NULL);
	for (int i = 0; i < COUNT(n); i++)
		pt_case(made[i], "waits until a time of the monotonic clock", minds_its_clock, &n[i]);
	for (int k = 0; k < n_kinds; k++) {
		strcpy(subject + 12, kinds[k].name);
		for (int i = 0; i < COUNT(cases); i++)
			pt_case(subject, cases[i].sentence, cases[i].body, &kinds[k]);
		if (kinds[k].pshared == PTHREAD_PROCESS_SHARED) {
			pt_case(subject, "two wait, another process broadcasts", among_processes, &kinds[k]);
			pt_case(subject, "another waits with a mutex of its own, the first is about to leave",
				changes_its_mutex, &kinds[k]);
		}
	}
}
