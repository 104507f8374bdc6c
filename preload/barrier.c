/* SPDX-License-Identifier: MIT
 *
 * barrier.c - pthread_barrier_*
 *
 * There is no static initialiser, so pthread_barrier_init decides. The C library judges the arguments.
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>

_Static_assert(NLOCK_BARRIER_SERIAL == PTHREAD_BARRIER_SERIAL_THREAD, "one thread of each round");

static inline nlock_barrier_t *overlay(pthread_barrier_t *b)
{
	return (nlock_barrier_t *)b;
}

/* What has been marked tells that we are active. */
static inline bool is_ours(pthread_barrier_t *b)
{
	return NP_IS_ALIGNED(b, nlock_barrier_t) && overlay(b)->tag == NP_BARRIER_OURS;
}

static bool is_shared(const pthread_barrierattr_t *attr)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (attr)
		pthread_barrierattr_getpshared(attr, &shared);
	return shared == PTHREAD_PROCESS_SHARED;
}

NP_EXPORT int DOOR(pthread_, barrier_init)(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned int count)
{
	int rc = host(pthread_barrier_init)(b, attr, count);

	if (rc || !NP_IS_ALIGNED(b, nlock_barrier_t))
		return rc;
	overlay(b)->tag = 0;
	if (!np_is_active() || (is_shared(attr) && !np_takes_shared()))
		return 0;
	rc = nlock_barrier_init(overlay(b), count, is_shared(attr) ? NLOCK_SHARED : NLOCK_PRIVATE);
	if (rc == 0)
		overlay(b)->tag = NP_BARRIER_OURS;
	return rc;
}

NP_EXPORT int DOOR(pthread_, barrier_destroy)(pthread_barrier_t *b)
{
	return is_ours(b) ? nlock_barrier_destroy(overlay(b)) : host(pthread_barrier_destroy)(b);
}

NP_EXPORT int DOOR(pthread_, barrier_wait)(pthread_barrier_t *b)
{
	return is_ours(b) ? nlock_barrier_wait(overlay(b)) : host(pthread_barrier_wait)(b);
}
