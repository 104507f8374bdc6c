/* SPDX-License-Identifier: MIT
 *
 * nlock-pthread.h - nlock under a program that is written for POSIX or C11 threads, by compiling it again
 *
 *	#include <nlock-pthread.h>      // first of all, or: cc -include nlock-pthread.h
 *	cc prog.c -pthread $(pkg-config --cflags --libs nlock-pthread)
 *
 * The names of the functions that work on mutexes, condition variables, reader-writer locks, barriers, semaphores and
 * once-controls mean nlock's from here on. The types, the initialisers and all other functions stay the C library's, and so do
 * what the functions promise, when they fail and with what: pthread_mutex_lock(3) and its companions are their manual, and
 * nlock(7) lists every difference. They are those of the preload library; the two may be used together.
 *
 * An object must be used by one side only. Code that was compiled without this header (another library, a header that was included
 * before it) may be handed a lock only to hold on to it. So in C++ std::mutex and its companions, half of which are compiled
 * in the C++ library, stay the C library's, and what their native_handle() yields must not be passed to these functions; for
 * std:: on nlock there are the preload library and <nlock.hpp>. What the C library keeps: robust, priority-inheriting and
 * priority-protected mutexes, and all that is process-shared: named semaphores always, the rest unless NLOCK_PRELOAD_SHARED=1 is
 * in the environment of the process that initialises it; then every process that uses it must do so by nlock. To those each function
 * passes on.
 */
#ifndef NLOCK_PTHREAD_H
#define NLOCK_PTHREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#ifndef PTHREAD_RWLOCK_INITIALIZER
#error "nlock-pthread.h needs POSIX 2001: define _GNU_SOURCE, or _POSIX_C_SOURCE as 200112L, before the first include"
#endif

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L && !defined __STDC_NO_THREADS__
#include <threads.h>
#define NLOCK_PTHREAD_HAS_C11
#endif

/* The C++ library's own uses of the names, before these mean something else. */
#if defined __cplusplus && __cplusplus >= 201103L
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#if __cplusplus >= 201402L
#include <shared_mutex>
#endif
#if __cplusplus >= 202002L
#include <barrier>
#include <latch>
#include <semaphore>
#include <stop_token>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NLOCK_PTHREAD_API __attribute__((visibility("default"), nothrow))
#define NLOCK_PTHREAD_API_UNWINDS __attribute__((visibility("default"))) /* cancellation points, and what calls back */

NLOCK_PTHREAD_API int nlock_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
NLOCK_PTHREAD_API int nlock_pthread_mutex_destroy(pthread_mutex_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mutex_lock(pthread_mutex_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mutex_trylock(pthread_mutex_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mutex_unlock(pthread_mutex_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
		const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_mutex_consistent(pthread_mutex_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mutex_getprioceiling(const pthread_mutex_t *m, int *ceiling);
NLOCK_PTHREAD_API int nlock_pthread_mutex_setprioceiling(pthread_mutex_t *m, int ceiling, int *old);

NLOCK_PTHREAD_API int nlock_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr);
NLOCK_PTHREAD_API int nlock_pthread_cond_destroy(pthread_cond_t *c);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
		const struct timespec *abs);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
		const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_cond_signal(pthread_cond_t *c);
NLOCK_PTHREAD_API int nlock_pthread_cond_broadcast(pthread_cond_t *c);

NLOCK_PTHREAD_API int nlock_pthread_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attr);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_destroy(pthread_rwlock_t *rw);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_rdlock(pthread_rwlock_t *rw);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_tryrdlock(pthread_rwlock_t *rw);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_timedrdlock(pthread_rwlock_t *rw, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_clockrdlock(pthread_rwlock_t *rw, clockid_t clock,
		const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_wrlock(pthread_rwlock_t *rw);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_trywrlock(pthread_rwlock_t *rw);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_timedwrlock(pthread_rwlock_t *rw, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_clockwrlock(pthread_rwlock_t *rw, clockid_t clock,
		const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_rwlock_unlock(pthread_rwlock_t *rw);

NLOCK_PTHREAD_API int nlock_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
		unsigned int count);
NLOCK_PTHREAD_API int nlock_pthread_barrier_destroy(pthread_barrier_t *b);
NLOCK_PTHREAD_API int nlock_pthread_barrier_wait(pthread_barrier_t *b);

NLOCK_PTHREAD_API int nlock_pthread_sem_init(sem_t *s, int is_shared, unsigned int value);
NLOCK_PTHREAD_API int nlock_pthread_sem_destroy(sem_t *s);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_sem_wait(sem_t *s);
NLOCK_PTHREAD_API int nlock_pthread_sem_trywait(sem_t *s);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_sem_timedwait(sem_t *s, const struct timespec *abs);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_sem_post(sem_t *s);
NLOCK_PTHREAD_API int nlock_pthread_sem_getvalue(sem_t *s, int *value);

NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_once(pthread_once_t *o, void (*init)(void));

#ifdef NLOCK_PTHREAD_HAS_C11
NLOCK_PTHREAD_API int nlock_pthread_mtx_init(mtx_t *m, int type);
NLOCK_PTHREAD_API void nlock_pthread_mtx_destroy(mtx_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mtx_lock(mtx_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mtx_trylock(mtx_t *m);
NLOCK_PTHREAD_API int nlock_pthread_mtx_timedlock(mtx_t *m, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_mtx_unlock(mtx_t *m);
NLOCK_PTHREAD_API int nlock_pthread_cnd_init(cnd_t *c);
NLOCK_PTHREAD_API void nlock_pthread_cnd_destroy(cnd_t *c);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_cnd_wait(cnd_t *c, mtx_t *m);
NLOCK_PTHREAD_API_UNWINDS int nlock_pthread_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *abs);
NLOCK_PTHREAD_API int nlock_pthread_cnd_signal(cnd_t *c);
NLOCK_PTHREAD_API int nlock_pthread_cnd_broadcast(cnd_t *c);
NLOCK_PTHREAD_API_UNWINDS void nlock_pthread_call_once(once_flag *o, void (*init)(void));
#endif

#ifdef __cplusplus
}
#endif

/* Not while the library itself is compiled. */
#ifndef NLOCK_PTHREAD_NAMES_ONLY
#define pthread_mutex_init nlock_pthread_mutex_init
#define pthread_mutex_destroy nlock_pthread_mutex_destroy
#define pthread_mutex_lock nlock_pthread_mutex_lock
#define pthread_mutex_trylock nlock_pthread_mutex_trylock
#define pthread_mutex_unlock nlock_pthread_mutex_unlock
#define pthread_mutex_timedlock nlock_pthread_mutex_timedlock
#define pthread_mutex_clocklock nlock_pthread_mutex_clocklock
#define pthread_mutex_consistent nlock_pthread_mutex_consistent
#define pthread_mutex_getprioceiling nlock_pthread_mutex_getprioceiling
#define pthread_mutex_setprioceiling nlock_pthread_mutex_setprioceiling
#define pthread_cond_init nlock_pthread_cond_init
#define pthread_cond_destroy nlock_pthread_cond_destroy
#define pthread_cond_wait nlock_pthread_cond_wait
#define pthread_cond_timedwait nlock_pthread_cond_timedwait
#define pthread_cond_clockwait nlock_pthread_cond_clockwait
#define pthread_cond_signal nlock_pthread_cond_signal
#define pthread_cond_broadcast nlock_pthread_cond_broadcast
#define pthread_rwlock_init nlock_pthread_rwlock_init
#define pthread_rwlock_destroy nlock_pthread_rwlock_destroy
#define pthread_rwlock_rdlock nlock_pthread_rwlock_rdlock
#define pthread_rwlock_tryrdlock nlock_pthread_rwlock_tryrdlock
#define pthread_rwlock_timedrdlock nlock_pthread_rwlock_timedrdlock
#define pthread_rwlock_clockrdlock nlock_pthread_rwlock_clockrdlock
#define pthread_rwlock_wrlock nlock_pthread_rwlock_wrlock
#define pthread_rwlock_trywrlock nlock_pthread_rwlock_trywrlock
#define pthread_rwlock_timedwrlock nlock_pthread_rwlock_timedwrlock
#define pthread_rwlock_clockwrlock nlock_pthread_rwlock_clockwrlock
#define pthread_rwlock_unlock nlock_pthread_rwlock_unlock
#define pthread_barrier_init nlock_pthread_barrier_init
#define pthread_barrier_destroy nlock_pthread_barrier_destroy
#define pthread_barrier_wait nlock_pthread_barrier_wait
#define sem_init nlock_pthread_sem_init
#define sem_destroy nlock_pthread_sem_destroy
#define sem_wait nlock_pthread_sem_wait
#define sem_trywait nlock_pthread_sem_trywait
#define sem_timedwait nlock_pthread_sem_timedwait
#define sem_clockwait nlock_pthread_sem_clockwait
#define sem_post nlock_pthread_sem_post
#define sem_getvalue nlock_pthread_sem_getvalue
#define pthread_once nlock_pthread_once
#ifdef NLOCK_PTHREAD_HAS_C11
#define mtx_init nlock_pthread_mtx_init
#define mtx_destroy nlock_pthread_mtx_destroy
#define mtx_lock nlock_pthread_mtx_lock
#define mtx_trylock nlock_pthread_mtx_trylock
#define mtx_timedlock nlock_pthread_mtx_timedlock
#define mtx_unlock nlock_pthread_mtx_unlock
#define cnd_init nlock_pthread_cnd_init
#define cnd_destroy nlock_pthread_cnd_destroy
#define cnd_wait nlock_pthread_cnd_wait
#define cnd_timedwait nlock_pthread_cnd_timedwait
#define cnd_signal nlock_pthread_cnd_signal
#define cnd_broadcast nlock_pthread_cnd_broadcast
#define call_once nlock_pthread_call_once
#endif
#endif

#endif
