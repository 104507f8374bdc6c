/* SPDX-License-Identifier: MIT
 *
 * check_cancel.c - cancelled at any point of a wait: nothing is lost, nobody stays behind
 *
 * A round: a victim and a witness wait for one thing each, one thing is given, and the victim is cancelled, at a moment that
 * chance picks: before it waits, on its way to sleep, asleep, woken. Either the victim has taken the thing, or it is there for the
 * witness, who is never cancelled. If it went with the victim the witness sleeps for ever, and the watchdog says so.
 */
#include "judge.h"
#include "kinds.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- condition variables */

static struct {
	pthread_mutex_t *m;
	pthread_cond_t c;
	int inside;                     /* plain: threads that have the mutex */
	int things, taken_by_witness;   /* guarded by m */
	bool is_over, is_victim_served; /* guarded by m */
	int depth;
	clockid_t clock;
} hall;

static void enter(void)
{
	must(!hall.inside);
	hall.inside = 1;
}

static void leave(void)
{
	must(hall.inside == 1);
	hall.inside = 0;
}

static void lock(void)
{
	for (int i = 0; i < hall.depth; i++)
		must(!pthread_mutex_lock(hall.m));
	enter();
}

static void unlock(void)
{
	leave();
	for (int i = 0; i < hall.depth; i++)
		must(!pthread_mutex_unlock(hall.m));
}

/* The handler runs with the mutex, all levels of it. */
static void cleans_up(void *unused)
{
	(void)unused;
	enter();
	unlock();
}

static void wait_somehow(uint32_t how)
{
	clockid_t clock = how % 3 == 1 ? hall.clock : CLOCK_MONOTONIC;
	struct timespec late = pt_time(clock, WHEN_LATE);
	int rc;

	leave();
	if (how % 3 == 0)
		rc = pthread_cond_wait(&hall.c, hall.m);
	else if (how % 3 == 1)
		rc = pthread_cond_timedwait(&hall.c, hall.m, &late);
	else
		rc = pthread_cond_clockwait(&hall.c, hall.m, CLOCK_MONOTONIC, &late);
	must(!rc);
	enter();
}

static void *is_victim(void *arg)
{
	lock();
	pthread_cleanup_push(cleans_up, NULL);
	while (!hall.things)
		wait_somehow((uint32_t)(uintptr_t)arg);
	hall.things--;
	hall.is_victim_served = true;
	pthread_cleanup_pop(0);
	unlock();
	return arg;
}

static void *is_witness(void *arg)
{
	uint64_t state = judge_seed() * 2 + 1;

	lock();
	for (;;) {
		while (!hall.things && !hall.is_over)
			wait_somehow(judge_random(&state));
		if (!hall.things)
			break;
		hall.things--;
		hall.taken_by_witness++;
	}
	unlock();
	return arg;
}

static void give(void)
{
	lock();
	hall.things++;
	must(!pthread_cond_signal(&hall.c));
	unlock();
}

/* Looks until the thing has been taken: by looking alone it gives the witness its turn. */
static void until_taken(void)
{
	for (bool is_taken = false; !is_taken;) {
		lock();
		is_taken = !hall.things;
		unlock();
		if (!is_taken)
			sched_yield();
	}
}

/* Whether the victim was cancelled is for itself to say: one that has returned already may still be called cancelled by pthread_join, if
 * the C library's signal comes late. */
static void cond_round(uint64_t *state)
{
	void *value, *how = (void *)(uintptr_t)(judge_random(state) % 3 + 3);
	uint32_t order = judge_random(state) % 4;
	int before = hall.taken_by_witness;
	pthread_t victim;

	hall.is_victim_served = false;
	must(!pthread_create(&victim, NULL, is_victim, how));
	judge_dawdle(state, order == 3 ? 300 : 30000);
	if (order == 0)
		must(!pthread_cancel(victim));
	judge_dawdle(state, 1000);
	give();
	judge_dawdle(state, order == 1 ? 10 : 3000);
	if (order == 1 || order == 2)
		must(!pthread_cancel(victim));
	if (order == 3) {
		/* both get one, or the witness gets both */
		must(!pthread_cancel(victim));
		give();
	}
	must(!pthread_join(victim, &value));
	until_taken();
	lock();
	must(hall.is_victim_served || value == PTHREAD_CANCELED);
	must(hall.taken_by_witness - before + hall.is_victim_served == (order == 3 ? 2 : 1));
	unlock();
}

static void cond_with(const struct kind *k, int rounds)
{
	uint64_t state = judge_seed() * 2 + 3;
	pthread_condattr_t a;
	pthread_t witness;

	memset(&hall, 0, sizeof(hall));
	hall.m = kind_make(k);
	hall.depth = 1;
	hall.clock = k->type == PTHREAD_MUTEX_ERRORCHECK ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, hall.clock);
	pthread_condattr_setpshared(&a, k->pshared);
	must(!pthread_cond_init(&hall.c, &a));
	must(!pthread_create(&witness, NULL, is_witness, NULL));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		cond_round(&state);
	}
	lock();
	hall.is_over = true;
	must(!pthread_cond_broadcast(&hall.c));
	unlock();
	must(!pthread_join(witness, NULL));
	must(!pthread_cond_destroy(&hall.c));
	must(!pthread_mutex_destroy(hall.m));
}

static const struct kind *kind_named(const char *name)
{
	for (int i = 0; i < n_kinds; i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	abort();
}

#define COND(sentence, kind) \
	static void sentence(int rounds) \
	{ \
		cond_with(kind_named(kind), rounds); \
	}
COND(cond_normal, "normal")
COND(cond_recursive, "recursive")
COND(cond_checking, "error-checking")
COND(cond_adaptive, "adaptive")
COND(cond_robust, "robust")
COND(cond_inheriting, "inheriting")
COND(cond_shared, "shared")

/* Many victims of broadcasts and signals, all cancelled in turn; then nobody is left, and it works as new. */
static void crowds_are_cancelled(int rounds)
{
	uint64_t state = judge_seed() * 2 + 5;
	pthread_t t[8];
	void *value;

	memset(&hall, 0, sizeof(hall));
	hall.m = kind_make(kind_named("error-checking"));
	hall.depth = 1;
	must(!pthread_cond_init(&hall.c, NULL));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		hall.things = 0;
		for (int j = 0; j < COUNT(t); j++)
			must(!pthread_create(&t[j], NULL, is_victim, (void *)(uintptr_t)(3 + j % 3)));
		judge_dawdle(&state, 100000);
		for (int j = 0; j < COUNT(t); j++) {
			must(!pthread_cancel(t[j]));
			if (judge_random(&state) % 4 == 0)
				must(!pthread_cond_broadcast(&hall.c));
		}
		for (int j = 0; j < COUNT(t); j++) {
			must(!pthread_join(t[j], &value));
			must(value == PTHREAD_CANCELED);
		}
		must(!pthread_cond_destroy(&hall.c));
		must(!pthread_cond_init(&hall.c, NULL));
	}
}

/* ---------------------------------------------------------------- semaphores */

static sem_t sem;
static bool is_victim_served; /* written by the victim */

#define VICTIM 0x300u /* added to how a thread waits */

static void *waits_for_token(void *arg)
{
	uint32_t how = (uint32_t)(uintptr_t)arg % 3;
	struct timespec late = pt_time(how == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, WHEN_LATE);

	if (how == 0)
		must(!sem_wait(&sem));
	else if (how == 1)
		must(!sem_timedwait(&sem, &late));
	else
		must(!sem_clockwait(&sem, CLOCK_MONOTONIC, &late));
	if ((uint32_t)(uintptr_t)arg >= VICTIM)
		is_victim_served = true;
	return arg;
}

static int value_of_sem(void)
{
	int value = -1;

	must(!sem_getvalue(&sem, &value));
	return value;
}

static void sem_round(uint64_t *state)
{
	uint32_t r = judge_random(state);
	bool has_witness = r & 1, is_late = r & 2;
	pthread_t victim, witness;
	void *value;

	must(value_of_sem() == 0);
	is_victim_served = false;
	if (has_witness)
		must(!pthread_create(&witness, NULL, waits_for_token, (void *)(uintptr_t)(3 + (r >> 4) % 3)));
	must(!pthread_create(&victim, NULL, waits_for_token, (void *)(uintptr_t)(VICTIM + (r >> 8) % 3)));
	judge_dawdle(state, r & 4 ? 30000 : 1000);
	if (!is_late)
		must(!pthread_cancel(victim));
	judge_dawdle(state, 500);
	must(!sem_post(&sem));
	judge_dawdle(state, 2000);
	if (is_late)
		must(!pthread_cancel(victim));
	if (has_witness)
		/* of two waiters and one token: who is not cancelled must get one in the end */
		must(!sem_post(&sem));
	must(!pthread_join(victim, &value));
	if (has_witness)
		must(!pthread_join(witness, NULL));
	if (!is_victim_served) {
		must(value == PTHREAD_CANCELED);
		must(!sem_trywait(&sem));
	}
	must(sem_trywait(&sem) == -1 && errno == EAGAIN);
}

/* One token, two waiters, one of them cancelled: the other gets it if the victim has not. */
static void sem_round_of_one(uint64_t *state)
{
	uint32_t r = judge_random(state);
	pthread_t victim, witness;
	void *value;

	is_victim_served = false;
	must(!pthread_create(&victim, NULL, waits_for_token, (void *)(uintptr_t)(VICTIM + r % 3)));
	judge_dawdle(state, 20000);
	must(!pthread_create(&witness, NULL, waits_for_token, (void *)(uintptr_t)(3 + (r >> 8) % 3)));
	judge_dawdle(state, 20000);
	must(!sem_post(&sem));
	judge_dawdle(state, r & 0x1000 ? 20 : 2000);
	must(!pthread_cancel(victim));
	must(!pthread_join(victim, &value));
	must(is_victim_served || value == PTHREAD_CANCELED);
	if (is_victim_served)
		must(!sem_post(&sem));
	must(!pthread_join(witness, NULL));
	must(value_of_sem() == 0);
}

/* Where the semaphore is the C library's, a token may stay in it while a witness sleeps: there the wake that was meant for both goes
 * with the victim. So the rounds with one token are ours alone. */
static void sem_with(int pshared, int rounds)
{
	bool is_ours = !pshared || getenv("NLOCK_PRELOAD_SHARED") != NULL;
	uint64_t state = judge_seed() * 2 + 7;

	must(!sem_init(&sem, pshared, 0));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		if (i % 2 || !is_ours)
			sem_round(&state);
		else
			sem_round_of_one(&state);
	}
	must(!sem_destroy(&sem));
}

static void sem_own(int rounds)
{
	sem_with(0, rounds);
}

static void sem_shared(int rounds)
{
	sem_with(1, rounds);
}

static const struct judged tests[] = {
	{ "a signal is not lost with a cancelled thread, normal mutex", cond_normal, 600, 30000 },
	{ "a signal is not lost with a cancelled thread, recursive mutex", cond_recursive, 200, 10000 },
	{ "a signal is not lost with a cancelled thread, error-checking mutex", cond_checking, 200, 10000 },
	{ "a signal is not lost with a cancelled thread, adaptive mutex", cond_adaptive, 100, 5000 },
	{ "a signal is not lost with a cancelled thread, robust mutex", cond_robust, 100, 5000 },
	{ "a signal is not lost with a cancelled thread, inheriting mutex", cond_inheriting, 100, 5000 },
	{ "a signal is not lost with a cancelled thread, shared objects", cond_shared, 100, 5000 },
	{ "of a cancelled crowd nobody stays behind", crowds_are_cancelled, 20, 1000 },
	{ "a token is not lost with a cancelled thread", sem_own, 500, 40000 },
	{ "a token is not lost with a cancelled thread, shared semaphore", sem_shared, 100, 5000 },
};

int main(int argc, char **argv)
{
	return judge_main(argc, argv, tests, COUNT(tests));
}
