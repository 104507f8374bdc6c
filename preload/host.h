/* SPDX-License-Identifier: MIT
 *
 * host.h - the C library's own functions, and whether we are at work at all
 *
 * host(pthread_mutex_lock)(m) calls the C library's. Through the source door that is the function of that name; through the
 * preload door, where that name is ours, host.c finds it, also before any constructor, from a signal handler, inside malloc.
 */
#ifndef NP_HOST_H
#define NP_HOST_H

#include "door.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef NP_DOOR_SOURCE
#define NLOCK_PTHREAD_NAMES_ONLY
#include <nlock-pthread.h>
#endif

#define NP_HOST_FUNCTIONS(X) \
	X(pthread_mutex_init) \
	X(pthread_mutex_destroy) \
	X(pthread_mutex_lock) \
	X(pthread_mutex_trylock) \
	X(pthread_mutex_timedlock) \
	X(pthread_mutex_clocklock) \
	X(pthread_mutex_unlock) \
	X(pthread_mutex_consistent) \
	X(pthread_mutex_getprioceiling) \
	X(pthread_mutex_setprioceiling) \
	X(pthread_cond_init) \
	X(pthread_cond_destroy) \
	X(pthread_cond_wait) \
	X(pthread_cond_timedwait) \
	X(pthread_cond_clockwait) \
	X(pthread_cond_signal) \
	X(pthread_cond_broadcast) \
	X(pthread_rwlock_init) \
	X(pthread_rwlock_destroy) \
	X(pthread_rwlock_rdlock) \
	X(pthread_rwlock_tryrdlock) \
	X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_wrlock) \
	X(pthread_rwlock_trywrlock) \
	X(pthread_rwlock_timedwrlock) \
	X(pthread_rwlock_clockwrlock) \
	X(pthread_rwlock_unlock) \
	X(pthread_barrier_init) \
	X(pthread_barrier_destroy) \
	X(pthread_barrier_wait) \
	X(pthread_once) \
	X(sem_init) \
	X(sem_destroy) \
	X(sem_wait) \
	X(sem_trywait) \
	X(sem_timedwait) \
	X(sem_clockwait) \
	X(sem_post) \
	X(sem_getvalue)

#ifdef NP_DOOR_SOURCE
#define host(name) (&name)
#else
enum np_host {
#define NP_NUMBER(name) NP_HOST_##name,
	NP_HOST_FUNCTIONS(NP_NUMBER)
#undef NP_NUMBER
};
void *np_host_find(enum np_host which);
#define host(name) ((__typeof__(&name))np_host_find(NP_HOST_##name))
#endif

/* Do we step aside? Then every call goes on to whoever would have had it without us. It is so for a program under
 * ThreadSanitizer, which must see the locks itself, and for a C library that is not known. Never changes; found at first use. */
enum np_state { NP_UNKNOWN, NP_ACTIVE, NP_ASIDE };
extern uint32_t np_state __attribute__((visibility("hidden")));
bool np_find_state(void); /* true: active */

/* False: we step aside, or it has not been found out. */
static inline bool np_is_known_active(void)
{
	return __builtin_expect(__atomic_load_n(&np_state, __ATOMIC_RELAXED) == NP_ACTIVE, 1);
}

static inline bool np_is_active(void)
{
	return np_is_known_active() || np_find_state();
}

/* What the environment asks for; not in a set-uid program. Read at first use, at the latest before main. */
bool np_takes_shared(void);             /* NLOCK_PRELOAD_SHARED=1: process-shared objects are nlock's */
int np_prefers(unsigned int host_kind); /* NLOCK_RWLOCK, else what the C library's kind means: NLOCK_RW_* */

/* This thread's number: not 0, of no other thread of this process, now or ever (a child goes on with its parent's). */
uint32_t np_me(void);

/* The same among processes: the kernel's number, which may come again. */
uint32_t np_me_among_all(void);

#endif
