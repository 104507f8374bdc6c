/* SPDX-License-Identifier: MIT
 *
 * use.h - a little of everything, for odd places
 *
 * use_all() is 0, or the line of what went wrong. It makes no thread and needs nothing that has to be set up.
 */
#ifndef USE_H
#define USE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#define USE(cond) \
	do { \
		if (!(cond)) \
			return __LINE__; \
	} while (0)

static int use_runs;

static void use_init(void)
{
	use_runs++;
}

static inline int use_mutexes(void)
{
	static pthread_mutex_t m[] = {
		PTHREAD_MUTEX_INITIALIZER,
		PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
		PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
		PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
	};
	static const int again[] = { EBUSY, 0, EBUSY, EBUSY };

	for (int i = 0; i < 4; i++) {
		USE(!pthread_mutex_lock(&m[i]));
		USE(pthread_mutex_trylock(&m[i]) == again[i]);
		if (!again[i])
			USE(!pthread_mutex_unlock(&m[i]));
		USE(!pthread_mutex_unlock(&m[i]));
	}
	return 0;
}

static inline int use_waits(void)
{
	static pthread_mutex_t m;
	static pthread_cond_t c;
	struct timespec past = { 1, 0 };
	pthread_barrier_t b;
	sem_t s;

	USE(!pthread_mutex_lock(&m));
	USE(pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT);
	USE(!pthread_cond_signal(&c) && !pthread_cond_broadcast(&c));
	USE(!pthread_mutex_unlock(&m));
	USE(!pthread_barrier_init(&b, NULL, 1));
	USE(pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD && !pthread_barrier_destroy(&b));
	USE(!sem_init(&s, 0, 0) && !sem_post(&s) && !sem_wait(&s) && sem_trywait(&s) == -1 && !sem_destroy(&s));
	return 0;
}

static inline int use_others(void)
{
	static pthread_rwlock_t rw;
	pthread_once_t once = PTHREAD_ONCE_INIT;
	int runs = use_runs;
	mtx_t mtx;

	USE(!pthread_rwlock_rdlock(&rw) && pthread_rwlock_trywrlock(&rw) == EBUSY && !pthread_rwlock_unlock(&rw));
	USE(!pthread_rwlock_wrlock(&rw) && pthread_rwlock_rdlock(&rw) == EDEADLK && !pthread_rwlock_unlock(&rw));
	USE(!pthread_once(&once, use_init) && !pthread_once(&once, use_init) && use_runs == runs + 1);
	USE(mtx_init(&mtx, mtx_plain) == thrd_success && mtx_lock(&mtx) == thrd_success);
	USE(mtx_trylock(&mtx) == thrd_busy && mtx_unlock(&mtx) == thrd_success);
	mtx_destroy(&mtx);
	return 0;
}

static inline int use_all(void)
{
	int line = use_mutexes();

	line = line ? line : use_waits();
	return line ? line : use_others();
}

#endif
