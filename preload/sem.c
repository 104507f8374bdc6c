/* SPDX-License-Identifier: MIT
 *
 * sem.c - sem_*
 *
 * There is no static initialiser, so sem_init decides: it marks what it makes ours. What has no mark is the C library's: named
 * semaphores, which lie in files that any process may map, and process-shared ones unless they are taken over.
 *
 * These functions return -1 and set errno. Only those that wait are cancellation points, also if they need not wait.
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>
#include <limits.h>

static inline struct np_sem *overlay(sem_t *s)
{
	return (struct np_sem *)s;
}

/* What has been marked tells that we are active. */
static inline bool is_ours(sem_t *s)
{
	return overlay(s)->mark == NP_SEM_OURS;
}

static int answer(int rc)
{
	if (rc == 0)
		return 0;
	errno = rc;
	return -1;
}

/* The time is judged even if there is no need to wait. */
static int wait_until(sem_t *s, clockid_t clock, const struct timespec *abs)
{
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || abs->tv_nsec < 0 || abs->tv_nsec >= 1000000000)
		return answer(EINVAL);
	return answer(nlock_sem_wait_posix(&overlay(s)->sem, clock, abs));
}

NP_EXPORT int DOOR(, sem_init)(sem_t *s, int is_shared, unsigned int value)
{
	overlay(s)->mark = 0;
	if (!np_is_active() || (is_shared && !np_takes_shared()))
		return host(sem_init)(s, is_shared, value);
	if (value > SEM_VALUE_MAX)
		return answer(EINVAL);
	if (nlock_sem_init(&overlay(s)->sem, value, is_shared ? NLOCK_SHARED : NLOCK_PRIVATE))
		return host(sem_init)(s, is_shared, value); /* not aligned: the C library does what it can */
	overlay(s)->mark = NP_SEM_OURS;
	return 0;
}

/* As the C library's, it has nothing to do and refuses nothing. */
NP_EXPORT int DOOR(, sem_destroy)(sem_t *s)
{
	return is_ours(s) ? 0 : host(sem_destroy)(s);
}

NP_EXPORT int DOOR(, sem_wait)(sem_t *s)
{
	return is_ours(s) ? answer(nlock_sem_wait_posix(&overlay(s)->sem, CLOCK_REALTIME, NULL)) : host(sem_wait)(s);
}

NP_EXPORT int DOOR(, sem_trywait)(sem_t *s)
{
	return is_ours(s) ? answer(nlock_sem_trywait(&overlay(s)->sem)) : host(sem_trywait)(s);
}

NP_EXPORT int DOOR(, sem_timedwait)(sem_t *s, const struct timespec *abs)
{
	return is_ours(s) ? wait_until(s, CLOCK_REALTIME, abs) : host(sem_timedwait)(s, abs);
}

NP_EXPORT int DOOR(, sem_clockwait)(sem_t *s, clockid_t clock, const struct timespec *abs)
{
	return is_ours(s) ? wait_until(s, clock, abs) : host(sem_clockwait)(s, clock, abs);
}

NP_EXPORT int DOOR(, sem_post)(sem_t *s)
{
	return is_ours(s) ? answer(nlock_sem_post(&overlay(s)->sem)) : host(sem_post)(s);
}

NP_EXPORT int DOOR(, sem_getvalue)(sem_t *s, int *value)
{
	if (!is_ours(s))
		return host(sem_getvalue)(s, value);
	*value = (int)nlock_sem_value(&overlay(s)->sem);
	return 0;
}
