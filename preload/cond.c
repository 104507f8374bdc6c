/* SPDX-License-Identifier: MIT
 *
 * cond.c - pthread_cond_*
 *
 * One implementation for every kind of mutex, since who signals cannot know with which one the others wait: nlock's condition variable
 * is told how the mutex at hand is given up and taken back. What the C library's mutex has to say comes out of the wait
 * (EOWNERDEAD).
 *
 * A process-shared condition variable is the C library's, as its partner may be. But the C library cannot wait with a mutex
 * of ours. Such a mutex is private, so all who wait with it are threads of this process; and each holds it as it comes. The first
 * makes the condition variable ours, for good: nobody can be waiting on it with another mutex at that time. But whoever waited
 * with such a one before may have been released and not have left, and still counts itself out: so first the C library is told
 * that its condition variable ends, and waits for that. As at any end, no signal may be under way then for earlier waiters.
 *
 * Orders
 *   A1  flags_of: load acquire   pairs with A2: who sees that it is ours sees it initialised
 *   A2  take_over: or release    publishes it
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>
#include <string.h>

/* ---------------------------------------------------------------- how a mutex is given up */

struct held {
	pthread_mutex_t *m;
	uint32_t depth; /* how often a recursive one was locked: it is given up altogether */
};

static int give_up_normal(void *arg)
{
	nlock_mutex_unlock(&np_mutex(((struct held *)arg)->m)->lock);
	return 0;
}

static int take_back_normal(void *arg)
{
	return nlock_mutex_lock(&np_mutex(((struct held *)arg)->m)->lock);
}

static int give_up_owned(void *arg)
{
	struct held *h = arg;
	struct np_mutex *o = np_mutex(h->m);

	if (np_mutex_owner(o) != np_mutex_caller(o))
		return EPERM;
	h->depth = o->depth;
	np_mutex_own(o, 0, 0);
	nlock_mutex_unlock(&o->lock);
	return 0;
}

static int take_back_owned(void *arg)
{
	struct held *h = arg;
	struct np_mutex *o = np_mutex(h->m);
	int rc = nlock_mutex_lock(&o->lock);

	np_mutex_own(o, np_mutex_caller(o), h->depth);
	return rc;
}

static int give_up_hosts(void *arg)
{
	return host(pthread_mutex_unlock)(((struct held *)arg)->m);
}

static int take_back_hosts(void *arg)
{
	return host(pthread_mutex_lock)(((struct held *)arg)->m);
}

static const struct nlock_any_lock how[] = {
	[NP_HOSTS] = { give_up_hosts, take_back_hosts },
	[NP_NORMAL] = { give_up_normal, take_back_normal },
	[NP_RECURSIVE] = { give_up_owned, take_back_owned },
	[NP_CHECKED] = { give_up_owned, take_back_owned },
};

/* ---------------------------------------------------------------- whose it is */

static inline struct np_cond *overlay(pthread_cond_t *c)
{
	return (struct np_cond *)c;
}

static inline uint32_t flags_of(const struct np_cond *o)
{
	return __atomic_load_n(&o->flags, __ATOMIC_ACQUIRE); /* A1 */
}

static inline bool is_hosts(const struct np_cond *o)
{
	return !np_is_active() || (flags_of(o) & (NP_COND_SHARED | NP_COND_OURS)) == NP_COND_SHARED;
}

static void take_over(struct np_cond *o)
{
	int rc;

	memset(&o->cond, 0, sizeof(o->cond));
	rc = nlock_cond_init(&o->cond, NLOCK_SHARED);
	(void)rc; /* cannot fail: it could only for the alignment or the attributes */
	__atomic_fetch_or(&o->flags, NP_COND_OURS, __ATOMIC_RELEASE); /* A2 */
}

/* True: wait by the C library. The caller holds m. What the end of its condition variable leaves in the flags means nothing to us. */
static bool waits_at_hosts(struct np_cond *o, pthread_mutex_t *m)
{
	if (!is_hosts(o))
		return false;
	if (np_mutex_kind(np_mutex(m)) == NP_HOSTS)
		return true;
	host(pthread_cond_destroy)((pthread_cond_t *)o);
	take_over(o);
	return false;
}

static int wait_until(struct np_cond *o, pthread_mutex_t *m, int clock, const struct timespec *abs)
{
	struct held h = { .m = m };

	return nlock_cond_wait_any(&o->cond, &how[np_mutex_kind(np_mutex(m))], &h, clock, abs);
}

/* ---------------------------------------------------------------- what is exported */

NP_EXPORT int DOOR(pthread_, cond_init)(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	int rc;

	if (!attr && np_is_active()) {
		memset(c, 0, sizeof(*c));
		return 0;
	}
	rc = host(pthread_cond_init)(c, attr);
	if (rc == 0 && is_hosts(overlay(c)) && np_is_active() && np_takes_shared())
		take_over(overlay(c));
	return rc;
}

/* Waits for those that have been released. EBUSY where the C library would wait for ever: somebody is blocked. */
NP_EXPORT int DOOR(pthread_, cond_destroy)(pthread_cond_t *c)
{
	return is_hosts(overlay(c)) ? host(pthread_cond_destroy)(c) : nlock_cond_destroy(&overlay(c)->cond);
}

NP_EXPORT int DOOR(pthread_, cond_wait)(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (waits_at_hosts(overlay(c), m))
		return host(pthread_cond_wait)(c, m);
	return wait_until(overlay(c), m, CLOCK_REALTIME, NULL);
}

NP_EXPORT int DOOR(pthread_, cond_timedwait)(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *abs)
{
	if (waits_at_hosts(overlay(c), m))
		return host(pthread_cond_timedwait)(c, m, abs);
	return wait_until(overlay(c), m, flags_of(overlay(c)) & NP_COND_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME,
			  abs);
}

NP_EXPORT int DOOR(pthread_, cond_clockwait)(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
					     const struct timespec *abs)
{
	if (waits_at_hosts(overlay(c), m))
		return host(pthread_cond_clockwait)(c, m, clock, abs);
	return wait_until(overlay(c), m, clock, abs);
}

NP_EXPORT int DOOR(pthread_, cond_signal)(pthread_cond_t *c)
{
	return is_hosts(overlay(c)) ? host(pthread_cond_signal)(c) : nlock_cond_signal(&overlay(c)->cond);
}

NP_EXPORT int DOOR(pthread_, cond_broadcast)(pthread_cond_t *c)
{
	return is_hosts(overlay(c)) ? host(pthread_cond_broadcast)(c) : nlock_cond_broadcast(&overlay(c)->cond);
}
