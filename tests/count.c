/* SPDX-License-Identifier: MIT
 *
 * count.c - what check_counts.sh has counted: operations of nlock, and of the C library beside them
 *
 *	count CASE N		does CASE N times, alone
 *	count waiters NAME N	one owner, N threads that wait for its lock in the order of NAME; then all have it, one by one
 *	count list		the cases, one a line
 *	count optimised		ends with 0 if it was compiled, as the library was, to be fast and without statistics
 *
 * Only for counting: an operation stands in a loop and its answer is not looked at. That it does what it should is for other tests.
 */
#define _GNU_SOURCE
#include <nlock.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* A run under callgrind takes seconds. */
#define PATIENCE 300

static nlock_mutex_t mutex;
static nlock_rwlock_t rwlock;
static nlock_cond_t cond;
static nlock_sem_t sem;
static nlock_once_t once;

static pthread_mutex_t their_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t their_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t their_cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t their_once = PTHREAD_ONCE_INIT;
static sem_t their_sem;

static void nothing(void)
{
}

static void nothing_of(void *unused)
{
	(void)unused;
}

#define LOOP(name, ...) \
	static void name(long n) \
	{ \
		while (n--) { \
			__VA_ARGS__; \
		} \
	}

LOOP(mutex_pair, nlock_mutex_lock(&mutex), nlock_mutex_unlock(&mutex))
LOOP(mutex_try, (void)!nlock_mutex_trylock(&mutex), nlock_mutex_unlock(&mutex))
LOOP(read_pair, (void)!nlock_rwlock_rdlock(&rwlock), nlock_rwlock_rdunlock(&rwlock))
LOOP(write_pair, nlock_rwlock_wrlock(&rwlock), nlock_rwlock_wrunlock(&rwlock))
LOOP(sem_pair, nlock_sem_post(&sem), nlock_sem_wait(&sem))
LOOP(cond_signal, nlock_cond_signal(&cond))
LOOP(cond_broadcast, nlock_cond_broadcast(&cond))
LOOP(once_done, nlock_once(&once, nothing_of, NULL))

LOOP(their_mutex_pair, pthread_mutex_lock(&their_mutex), pthread_mutex_unlock(&their_mutex))
LOOP(their_mutex_try, pthread_mutex_trylock(&their_mutex), pthread_mutex_unlock(&their_mutex))
LOOP(their_read_pair, pthread_rwlock_rdlock(&their_rwlock), pthread_rwlock_unlock(&their_rwlock))
LOOP(their_write_pair, pthread_rwlock_wrlock(&their_rwlock), pthread_rwlock_unlock(&their_rwlock))
LOOP(their_sem_pair, sem_post(&their_sem), sem_wait(&their_sem))
LOOP(their_cond_signal, pthread_cond_signal(&their_cond))
LOOP(their_cond_broadcast, pthread_cond_broadcast(&their_cond))
LOOP(their_once_done, pthread_once(&their_once, nothing))

struct count_case {
	const char *name;
	nlock_attr_t attr;
	void (*loop)(long n);
};

/* Names with a hyphen: nlock's; "c-" before the name of one: the C library's. */
static const struct count_case cases[] = {
	{ "mutex-bounded", NLOCK_BOUNDED, mutex_pair },
	{ "mutex-fifo", NLOCK_FIFO, mutex_pair },
	{ "mutex-barging", NLOCK_BARGING, mutex_pair },
	{ "mutex-shared", NLOCK_BOUNDED | NLOCK_SHARED, mutex_pair },
	{ "mutex-try", NLOCK_BOUNDED, mutex_try },
	{ "rwlock-read", NLOCK_BOUNDED, read_pair },
	{ "rwlock-write", NLOCK_BOUNDED, write_pair },
	{ "sem-pair", NLOCK_BOUNDED, sem_pair },
	{ "cond-signal", NLOCK_BOUNDED, cond_signal },
	{ "cond-broadcast", NLOCK_BOUNDED, cond_broadcast },
	{ "once-done", NLOCK_BOUNDED, once_done },
	{ "c-mutex-bounded", NLOCK_BOUNDED, their_mutex_pair },
	{ "c-mutex-try", NLOCK_BOUNDED, their_mutex_try },
	{ "c-rwlock-read", NLOCK_BOUNDED, their_read_pair },
	{ "c-rwlock-write", NLOCK_BOUNDED, their_write_pair },
	{ "c-sem-pair", NLOCK_BOUNDED, their_sem_pair },
	{ "c-cond-signal", NLOCK_BOUNDED, their_cond_signal },
	{ "c-cond-broadcast", NLOCK_BOUNDED, their_cond_broadcast },
	{ "c-once-done", NLOCK_BOUNDED, their_once_done },
};

static int do_alone(const struct count_case *c, long n)
{
	if (nlock_mutex_init(&mutex, c->attr) || nlock_rwlock_init(&rwlock, NLOCK_RW_PHASE_FAIR, NLOCK_BOUNDED) ||
	    nlock_sem_init(&sem, 0, NLOCK_BOUNDED) || nlock_cond_init(&cond, 0) || sem_init(&their_sem, 0, 0))
		return 1;
	nlock_once(&once, nothing_of, NULL);
	pthread_once(&their_once, nothing);
	c->loop(n);
	return 0;
}

/* ---------------------------------------------------------------- waiters */

struct waiter {
	pthread_t thread;
	pid_t tid;
};

static void *wait_once(void *of)
{
	struct waiter *w = of;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	nlock_mutex_lock(&mutex);
	nlock_mutex_unlock(&mutex);
	return NULL;
}

static bool start(struct waiter *w, const pthread_attr_t *attr)
{
	if (pthread_create(&w->thread, attr, wait_once, w))
		return false;
	while (!__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return harness_sees_asleep(getpid(), w->tid, &mutex.word);
}

/* On one CPU, so that nobody watches a lock before it sleeps: how long that is depends on the clock. */
static bool has_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return !sched_setaffinity(0, sizeof set, &set);
}

static int let_wait(nlock_attr_t attr, long n)
{
	struct waiter *waiters = calloc((size_t)n, sizeof *waiters);
	pthread_attr_t small;

	if (!waiters || !has_one_cpu() || nlock_mutex_init(&mutex, attr) || pthread_attr_init(&small) ||
	    pthread_attr_setstacksize(&small, 65536))
		return 1;
	nlock_mutex_lock(&mutex);
	for (long i = 0; i < n; i++) {
		if (!start(&waiters[i], &small))
			return 1;
	}
	nlock_mutex_unlock(&mutex);
	for (long i = 0; i < n; i++)
		pthread_join(waiters[i].thread, NULL);
	free(waiters);
	return 0;
}

static bool is_optimised(void)
{
#if defined(__OPTIMIZE__) && !defined(NL_STATS)
	return true;
#else
	return false;
#endif
}

static int list(void)
{
	for (int i = 0; i < COUNT(cases); i++)
		puts(cases[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	bool of_waiters = argc == 4 && !strcmp(argv[1], "waiters");
	const char *name = argc > 2 ? argv[argc - 2] : "";
	long n = argc > 2 ? atol(argv[argc - 1]) : 0;

	alarm(PATIENCE);
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc == 2 && !strcmp(argv[1], "optimised"))
		return !is_optimised();
	for (int i = 0; n > 0 && argc == 3 + of_waiters && i < COUNT(cases); i++) {
		if (!strcmp(cases[i].name, name))
			return of_waiters ? let_wait(cases[i].attr, n) : do_alone(&cases[i], n);
	}
	fputs("usage: count CASE N | count waiters CASE N | count list | count optimised\n", stderr);
	return 2;
}
