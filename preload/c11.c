/* SPDX-License-Identifier: MIT
 *
 * c11.c - mtx_*, cnd_*, call_once
 *
 * The C library's are its pthread objects under other names, and its functions call each other directly: nobody who interposes
 * pthread_mutex_lock sees them. So they are here too, on top of the others of this door.
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>
#include <threads.h>

NP_FITS(pthread_mutex_t, mtx_t);
NP_FITS(pthread_cond_t, cnd_t);
NP_FITS(pthread_once_t, once_flag);

static int answer(int rc)
{
	switch (rc) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

static pthread_mutex_t *mutex_of(mtx_t *m)
{
	return (pthread_mutex_t *)m;
}

static pthread_cond_t *cond_of(cnd_t *c)
{
	return (pthread_cond_t *)c;
}

/* As the C library's, it takes what is no type for mtx_plain. */
NP_EXPORT int DOOR(, mtx_init)(mtx_t *m, int type)
{
	const bool is_recursive = (type & ~mtx_timed) == (mtx_plain | mtx_recursive);
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, is_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
	return answer(DOOR(pthread_, mutex_init)(mutex_of(m), &attr));
}

NP_EXPORT void DOOR(, mtx_destroy)(mtx_t *m)
{
	DOOR(pthread_, mutex_destroy)(mutex_of(m));
}

NP_EXPORT int DOOR(, mtx_lock)(mtx_t *m)
{
	return answer(DOOR(pthread_, mutex_lock)(mutex_of(m)));
}

NP_EXPORT int DOOR(, mtx_trylock)(mtx_t *m)
{
	return answer(DOOR(pthread_, mutex_trylock)(mutex_of(m)));
}

NP_EXPORT int DOOR(, mtx_timedlock)(mtx_t *restrict m, const struct timespec *restrict abs)
{
	return answer(DOOR(pthread_, mutex_timedlock)(mutex_of(m), abs));
}

NP_EXPORT int DOOR(, mtx_unlock)(mtx_t *m)
{
	return answer(DOOR(pthread_, mutex_unlock)(mutex_of(m)));
}

NP_EXPORT int DOOR(, cnd_init)(cnd_t *c)
{
	return answer(DOOR(pthread_, cond_init)(cond_of(c), NULL));
}

NP_EXPORT void DOOR(, cnd_destroy)(cnd_t *c)
{
	DOOR(pthread_, cond_destroy)(cond_of(c));
}

NP_EXPORT int DOOR(, cnd_wait)(cnd_t *c, mtx_t *m)
{
	return answer(DOOR(pthread_, cond_wait)(cond_of(c), mutex_of(m)));
}

NP_EXPORT int DOOR(, cnd_timedwait)(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict abs)
{
	return answer(DOOR(pthread_, cond_timedwait)(cond_of(c), mutex_of(m), abs));
}

NP_EXPORT int DOOR(, cnd_signal)(cnd_t *c)
{
	return answer(DOOR(pthread_, cond_signal)(cond_of(c)));
}

NP_EXPORT int DOOR(, cnd_broadcast)(cnd_t *c)
{
	return answer(DOOR(pthread_, cond_broadcast)(cond_of(c)));
}

NP_EXPORT void DOOR(, call_once)(once_flag *o, void (*init)(void))
{
	DOOR(pthread_, once)((pthread_once_t *)o, init);
}
