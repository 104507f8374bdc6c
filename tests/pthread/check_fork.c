/* SPDX-License-Identifier: MIT
 *
 * check_fork.c - what a child finds
 *
 * The idioms that programs live by: held by who forks, locked in prepare and unlocked or initialised in the child, waited at by threads
 * that the child does not have, an initialiser in progress, forks amid eight busy threads.
 */
#include "judge.h"
#include "kinds.h"

#include <sched.h>
#include <signal.h>

/* The kinds of which anybody may make use in a child. */
static const int usable[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

static bool knows_its_owner(const struct kind *k)
{
	return k->type == PTHREAD_MUTEX_RECURSIVE || k->type == PTHREAD_MUTEX_ERRORCHECK;
}

/* In memory that the child has a copy of. */
static pthread_mutex_t *make(const struct kind *k)
{
	static pthread_mutex_t m[COUNT(usable)];
	pthread_mutexattr_t a;
	int i = (int)(k - kinds);

	must(i < COUNT(usable));
	pthread_mutexattr_init(&a);
	must(!pthread_mutexattr_settype(&a, k->type));
	must(!pthread_mutex_init(&m[i], &a));
	return &m[i];
}

static void remake(pthread_mutex_t *m, const struct kind *k)
{
	must(make(k) == m);
}

/* Two threads and the caller take turns. */
static struct work {
	pthread_mutex_t *m;
	int n; /* guarded by m */
} work;

static void *works(void *arg)
{
	for (int i = 0; i < 50; i++) {
		must(!pthread_mutex_lock(work.m));
		work.n++;
		must(!pthread_mutex_unlock(work.m));
	}
	return arg;
}

static void take_turns(pthread_mutex_t *m)
{
	pthread_t t[2];

	work.m = m;
	work.n = 0;
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_create(&t[i], NULL, works, NULL));
	works(NULL);
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_join(t[i], NULL));
	must(work.n == 150);
}

/* ---------------------------------------------------------------- held by who forks */

struct held {
	const struct kind *k;
	pthread_mutex_t *m;
};

static void child_of_holder(void *arg)
{
	const struct held *h = arg;

	if (knows_its_owner(h->k))
		remake(h->m, h->k);
	else
		must(!pthread_mutex_unlock(h->m));
	must(!pthread_mutex_lock(h->m));
	must(!pthread_mutex_unlock(h->m));
	take_turns(h->m);
	must(!pthread_mutex_destroy(h->m));
}

static void held_at_fork(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct held h = { .k = &kinds[usable[i % COUNT(usable)]] };

		judge_round(i);
		h.m = make(h.k);
		must(!pthread_mutex_lock(h.m));
		judge_in_child(child_of_holder, &h);
		must(!pthread_mutex_unlock(h.m));
		must(!pthread_mutex_destroy(h.m));
	}
}

static int call_visit(void *m)
{
	int rc = pthread_mutex_lock(m);

	return rc ? rc : pthread_mutex_unlock(m);
}

/* The child has none of those who wait. */
static void waited_at_at_fork(int rounds)
{
	struct pt_thread t[3];

	for (int i = 0; i < rounds; i++) {
		struct held h = { .k = &kinds[usable[i % COUNT(usable)]] };

		judge_round(i);
		h.m = make(h.k);
		must(!pthread_mutex_lock(h.m));
		for (int j = 0; j < COUNT(t); j++) {
			pt_start(&t[j], call_visit, h.m);
			must(pt_sees_asleep(&t[j]));
		}
		judge_in_child(child_of_holder, &h);
		/* in the parent they are still there */
		must(!pthread_mutex_unlock(h.m));
		for (int j = 0; j < COUNT(t); j++) {
			must(!pthread_join(t[j].thread, NULL));
			must(!t[j].result);
		}
		must(!pthread_mutex_destroy(h.m));
	}
}

/* ---------------------------------------------------------------- atfork handlers, and eight busy threads */

static struct {
	pthread_mutex_t *m[COUNT(usable)];
	pthread_rwlock_t rw;
	pthread_cond_t c;
	pthread_mutex_t cm;
	sem_t s;
	bool is_over;
} town;

static void prepare(void)
{
	for (int i = 0; i < COUNT(usable); i++)
		must(!pthread_mutex_lock(town.m[i]));
	must(!pthread_rwlock_wrlock(&town.rw));
	must(!pthread_mutex_lock(&town.cm));
}

static void in_parent(void)
{
	must(!pthread_mutex_unlock(&town.cm));
	must(!pthread_rwlock_unlock(&town.rw));
	for (int i = COUNT(usable) - 1; i >= 0; i--)
		must(!pthread_mutex_unlock(town.m[i]));
}

static void in_child(void)
{
	must(!pthread_mutex_unlock(&town.cm));
	must(!pthread_cond_init(&town.c, NULL));
	must(!pthread_rwlock_init(&town.rw, NULL));
	must(!sem_init(&town.s, 0, 4));
	for (int i = 0; i < COUNT(usable); i++) {
		if (knows_its_owner(&kinds[usable[i]]))
			remake(town.m[i], &kinds[usable[i]]);
		else
			must(!pthread_mutex_unlock(town.m[i]));
	}
}

static bool is_over(void)
{
	return __atomic_load_n(&town.is_over, __ATOMIC_RELAXED);
}

static void visit_once(uint64_t *state)
{
	uint32_t r = judge_random(state);
	pthread_mutex_t *m = town.m[r % COUNT(usable)];
	struct timespec soon = pt_time(CLOCK_REALTIME, WHEN_SOON);

	must(!pthread_mutex_lock(m));
	judge_dawdle(state, 200);
	must(!pthread_mutex_unlock(m));
	must(!(r & 0x100 ? pthread_rwlock_wrlock(&town.rw) : pthread_rwlock_rdlock(&town.rw)));
	judge_dawdle(state, 200);
	must(!pthread_rwlock_unlock(&town.rw));
	must(!sem_wait(&town.s) || errno == EINTR);
	must(!sem_post(&town.s));
	must(!pthread_mutex_lock(&town.cm));
	if (r & 0x200)
		pthread_cond_timedwait(&town.c, &town.cm, &soon);
	else
		must(!pthread_cond_broadcast(&town.c));
	must(!pthread_mutex_unlock(&town.cm));
}

static void *hammers(void *arg)
{
	uint64_t state = judge_seed() * 2 + (uint64_t)(uintptr_t)arg * 2 + 1;

	while (!is_over())
		visit_once(&state);
	return NULL;
}

static void child_of_town(void *unused)
{
	uint64_t state = judge_seed() * 2 + 99;
	pthread_t t;

	(void)unused;
	town.is_over = false;
	must(!pthread_create(&t, NULL, hammers, (void *)50));
	for (int i = 0; i < 20; i++)
		visit_once(&state);
	__atomic_store_n(&town.is_over, true, __ATOMIC_RELAXED);
	must(!pthread_mutex_lock(&town.cm));
	must(!pthread_cond_broadcast(&town.c));
	must(!pthread_mutex_unlock(&town.cm));
	must(!pthread_join(t, NULL));
	must(!sem_destroy(&town.s));
	must(!pthread_cond_destroy(&town.c));
	must(!pthread_rwlock_destroy(&town.rw));
	for (int i = 0; i < COUNT(usable); i++)
		must(!pthread_mutex_destroy(town.m[i]));
}

static void found(void)
{
	for (int i = 0; i < COUNT(usable); i++)
		town.m[i] = make(&kinds[usable[i]]);
	must(!pthread_rwlock_init(&town.rw, NULL));
	must(!pthread_cond_init(&town.c, NULL));
	must(!pthread_mutex_init(&town.cm, NULL));
	must(!sem_init(&town.s, 0, 4));
}

static void busy_with_handlers(int rounds)
{
	pthread_t t[8];

	found();
	must(!pthread_atfork(prepare, in_parent, in_child));
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_create(&t[i], NULL, hammers, (void *)(uintptr_t)i));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		judge_in_child(child_of_town, NULL);
	}
	__atomic_store_n(&town.is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_join(t[i], NULL));
}

/* Without handlers the child may only use what it makes. */
static void child_on_its_own(void *unused)
{
	found();
	child_of_town(unused);
}

static void busy_without_handlers(int rounds)
{
	pthread_t t[8];

	found();
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_create(&t[i], NULL, hammers, (void *)(uintptr_t)i));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		judge_in_child(child_on_its_own, NULL);
	}
	__atomic_store_n(&town.is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < COUNT(t); i++)
		must(!pthread_join(t[i], NULL));
}

/* ---------------------------------------------------------------- read-write locks */

static pthread_rwlock_t rw;

static void child_of_reader(void *unused)
{
	(void)unused;
	must(!pthread_rwlock_unlock(&rw));
	must(!pthread_rwlock_wrlock(&rw));
	must(!pthread_rwlock_unlock(&rw));
	must(!pthread_rwlock_rdlock(&rw));
	must(!pthread_rwlock_unlock(&rw));
}

static void child_of_writer(void *unused)
{
	(void)unused;
	must(!pthread_rwlock_init(&rw, NULL));
	must(!pthread_rwlock_rdlock(&rw));
	must(!pthread_rwlock_unlock(&rw));
	must(!pthread_rwlock_wrlock(&rw));
	must(!pthread_rwlock_unlock(&rw));
}

static void read_and_written_at_fork(int rounds)
{
	must(!pthread_rwlock_init(&rw, NULL));
	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		must(!(i % 2 ? pthread_rwlock_wrlock(&rw) : pthread_rwlock_rdlock(&rw)));
		judge_in_child(i % 2 ? child_of_writer : child_of_reader, NULL);
		must(!pthread_rwlock_unlock(&rw));
	}
	must(!pthread_rwlock_destroy(&rw));
}

/* ---------------------------------------------------------------- semaphores, condition variables */

static sem_t sem;

static int call_sem_wait(void *s)
{
	return sem_wait(s);
}

static void child_of_waiters(void *unused)
{
	struct pt_thread t;

	(void)unused;
	must(!sem_post(&sem));
	must(!sem_wait(&sem));
	must(sem_trywait(&sem) == -1 && errno == EAGAIN);
	pt_start(&t, call_sem_wait, &sem);
	must(pt_sees_asleep(&t));
	must(!sem_post(&sem));
	must(!pthread_join(t.thread, NULL) && !t.result);
}

static void tokens_waited_for_at_fork(int rounds)
{
	struct pt_thread t[2];

	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		must(!sem_init(&sem, 0, 0));
		for (int j = 0; j < COUNT(t); j++) {
			pt_start(&t[j], call_sem_wait, &sem);
			must(pt_sees_asleep(&t[j]));
		}
		judge_in_child(child_of_waiters, NULL);
		for (int j = 0; j < COUNT(t); j++)
			must(!sem_post(&sem));
		for (int j = 0; j < COUNT(t); j++)
			must(!pthread_join(t[j].thread, NULL) && !t[j].result);
		must(!sem_destroy(&sem));
	}
}

static struct {
	pthread_mutex_t m;
	pthread_cond_t c;
	int goes; /* guarded by m */
} party;

static int call_party(void *unused)
{
	int rc = pthread_mutex_lock(&party.m);

	(void)unused;
	while (!rc && !party.goes)
		rc = pthread_cond_wait(&party.c, &party.m);
	return rc ? rc : pthread_mutex_unlock(&party.m);
}

static void tell_party(bool all)
{
	must(!pthread_mutex_lock(&party.m));
	party.goes = 1;
	must(!(all ? pthread_cond_broadcast(&party.c) : pthread_cond_signal(&party.c)));
	must(!pthread_mutex_unlock(&party.m));
}

static void child_of_party(void *all)
{
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);
	struct pt_thread t;

	must(!pthread_mutex_lock(&party.m));
	must(pthread_cond_timedwait(&party.c, &party.m, &past) == ETIMEDOUT);
	must(!pthread_mutex_unlock(&party.m));
	pt_start(&t, call_party, NULL);
	must(pt_sees_asleep(&t));
	tell_party(all != NULL);
	must(!pthread_join(t.thread, NULL) && !t.result);
}

static void waited_for_at_fork(int rounds)
{
	struct pt_thread t[2];

	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		must(!pthread_mutex_init(&party.m, NULL) && !pthread_cond_init(&party.c, NULL));
		party.goes = 0;
		for (int j = 0; j < COUNT(t); j++) {
			pt_start(&t[j], call_party, NULL);
			must(pt_sees_asleep(&t[j]));
		}
		judge_in_child(child_of_party, i % 2 ? &party : NULL);
		tell_party(true);
		for (int j = 0; j < COUNT(t); j++)
			must(!pthread_join(t[j].thread, NULL) && !t[j].result);
		must(!pthread_cond_destroy(&party.c));
	}
}

/* ---------------------------------------------------------------- what runs once */

static pthread_once_t once;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int n_inits;

static void init(void)
{
	n_inits++;
	must(!pthread_mutex_lock(&gate));
	must(!pthread_mutex_unlock(&gate));
}

static int call_init(void *unused)
{
	(void)unused;
	return pthread_once(&once, init);
}

static void child_of_init(void *unused)
{
	(void)unused;
	must(!pthread_mutex_init(&gate, NULL));
	must(!pthread_once(&once, init));
	must(n_inits == 2);
	must(!pthread_once(&once, init));
	must(n_inits == 2);
}

static void in_progress_at_fork(int rounds)
{
	struct pt_thread t[2];

	for (int i = 0; i < rounds; i++) {
		judge_round(i);
		once = PTHREAD_ONCE_INIT;
		n_inits = 0;
		must(!pthread_mutex_lock(&gate));
		for (int j = 0; j < COUNT(t); j++) {
			pt_start(&t[j], call_init, NULL);
			must(pt_sees_asleep(&t[j]));
		}
		judge_in_child(child_of_init, NULL);
		must(!pthread_mutex_unlock(&gate));
		for (int j = 0; j < COUNT(t); j++)
			must(!pthread_join(t[j].thread, NULL) && !t[j].result);
		must(n_inits == 1);
	}
}

/* ---------------------------------------------------------------- handlers that post */

static int n_handled;

static void posts(int sig)
{
	__atomic_fetch_add(&n_handled, 1, __ATOMIC_RELAXED);
	must(sig == SIGUSR1 && !sem_post(&sem));
}

static int call_take_tokens(void *n)
{
	for (int left = *(int *)n; left;) {
		if (!sem_wait(&sem))
			left--;
		else
			must(errno == EINTR);
	}
	return 0;
}

static int call_post_tokens(void *n)
{
	for (int left = *(int *)n; left; left--)
		must(!sem_post(&sem));
	return 0;
}

/* Both a taker and a poster are interrupted by handlers that post. Every token is taken in the end. */
static void posted_in_handlers(int rounds)
{
	struct sigaction sa = { .sa_handler = posts };
	uint64_t state = judge_seed() * 2 + 11;
	struct pt_thread taker, poster;
	int n = rounds * 2, value = -1;

	must(!sem_init(&sem, 0, 0));
	must(!sigaction(SIGUSR1, &sa, NULL));
	pt_start(&poster, call_post_tokens, &rounds);
	pt_start(&taker, call_take_tokens, &n);
	for (int i = 0; i < rounds; i++) {
		int before = __atomic_load_n(&n_handled, __ATOMIC_RELAXED);

		judge_round(i);
		judge_dawdle(&state, 300);
		/* the poster may have ended, but is not joined yet */
		must(!pthread_kill(__atomic_load_n(&poster.is_back, __ATOMIC_ACQUIRE) || i % 2 ? taker.thread
											       : poster.thread,
				   SIGUSR1));
		while (__atomic_load_n(&n_handled, __ATOMIC_RELAXED) == before)
			sched_yield();
	}
	must(!pthread_join(poster.thread, NULL) && !pthread_join(taker.thread, NULL));
	must(!sem_getvalue(&sem, &value) && value == 0 && n_handled == rounds);
	must(!sem_destroy(&sem));
}

static const struct judged tests[] = {
	{ "who held it forks, and both go on", held_at_fork, 45, 10000 },
	{ "it is waited at, and the child has none who wait", waited_at_at_fork, 18, 4000 },
	{ "handlers lock all, amid eight busy threads", busy_with_handlers, 8, 2000 },
	{ "without handlers the child uses what it makes, amid eight busy threads", busy_without_handlers, 4, 1000 },
	{ "read or written by who forks", read_and_written_at_fork, 20, 4000 },
	{ "tokens are waited for, and the child has none who wait", tokens_waited_for_at_fork, 10, 2000 },
	{ "a signal is waited for, and the child has none who wait", waited_for_at_fork, 10, 2000 },
	{ "an initialiser in progress is run again by the child", in_progress_at_fork, 10, 2000 },
	{ "tokens posted by handlers are all taken", posted_in_handlers, 300, 20000 },
};

int main(int argc, char **argv)
{
	return judge_main(argc, argv, tests, COUNT(tests));
}
