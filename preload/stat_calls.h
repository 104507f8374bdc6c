/* SPDX-License-Identifier: MIT
 *
 * stat_calls.h - counting, in libnlock-preload-stats.so; in the other modules there is nothing of it
 *
 * The makefile forces this header on each file of that module (-include). It has the calls of the library that lock or wait
 * go through functions of stats.c, which have the same arguments and results. Nothing else needs to know of it.
 */
#ifndef PRELOAD_STAT_CALLS_H
#define PRELOAD_STAT_CALLS_H

#include <nlock.h>

#define STAT_API __attribute__((visibility("hidden")))

STAT_API int stat_mutex_lock(nlock_mutex_t *m);
STAT_API int stat_mutex_trylock(nlock_mutex_t *m);
STAT_API int stat_mutex_lock_until(nlock_mutex_t *m, int clock, const struct timespec *abs);
STAT_API int stat_rwlock_rdlock(nlock_rwlock_t *l);
STAT_API int stat_rwlock_wrlock(nlock_rwlock_t *l);
STAT_API int stat_rwlock_tryrdlock(nlock_rwlock_t *l);
STAT_API int stat_rwlock_trywrlock(nlock_rwlock_t *l);
STAT_API int stat_rwlock_rdlock_until(nlock_rwlock_t *l, int clock, const struct timespec *abs);
STAT_API int stat_rwlock_wrlock_until(nlock_rwlock_t *l, int clock, const struct timespec *abs);
STAT_API int stat_barrier_wait(nlock_barrier_t *b);
STAT_API int stat_sem_trywait(nlock_sem_t *s);
STAT_API int stat_sem_wait_posix(nlock_sem_t *s, int clock, const struct timespec *abs);
STAT_API int stat_cond_wait_any(nlock_cond_t *c, const struct nlock_any_lock *how, void *lock, int clock,
				const struct timespec *abs);

#ifndef STATS_ITSELF
#define nlock_mutex_lock          stat_mutex_lock
#define nlock_mutex_trylock       stat_mutex_trylock
#define nlock_mutex_lock_until    stat_mutex_lock_until
#define nlock_rwlock_rdlock       stat_rwlock_rdlock
#define nlock_rwlock_wrlock       stat_rwlock_wrlock
#define nlock_rwlock_tryrdlock    stat_rwlock_tryrdlock
#define nlock_rwlock_trywrlock    stat_rwlock_trywrlock
#define nlock_rwlock_rdlock_until stat_rwlock_rdlock_until
#define nlock_rwlock_wrlock_until stat_rwlock_wrlock_until
#define nlock_barrier_wait        stat_barrier_wait
#define nlock_sem_trywait         stat_sem_trywait
#define nlock_sem_wait_posix      stat_sem_wait_posix
#define nlock_cond_wait_any       stat_cond_wait_any
#endif

#endif
