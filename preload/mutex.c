/* SPDX-License-Identifier: MIT
 *
 * mutex.c - pthread_mutex_*
 *
 *   normal, adaptive   nlock's mutex as it is. Who unlocks need not have locked, and to unlock what is unlocked does nothing
 *   recursive          the owner counts; the last unlock unlocks
 *   error-checking     the owner is told EDEADLK, anybody else EPERM
 *   the rest           robust, priority-inheriting, with a ceiling, destroyed, and process-shared unless taken over: the C
 *                      library's, which looks at the kind and nothing else before it decides
 *
 * An owner is known by a number that no other thread of the process has or had (np_me). The one thread of a fork's child keeps
 * its number, and so what it owned.
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>
#include <string.h>

/* How an attempt ends: at once, never, or at a time. */
struct patience {
	bool is_try;
	int clock;
	const struct timespec *abs; /* NULL: for ever */
};

enum np_kind np_mutex_kind(const struct np_mutex *o)
{
	const uint32_t kind = o->kind;

	if (!np_is_active() || kind & ~(NP_KIND_TYPE | NP_KIND_TAKEN | NP_KIND_SHARED | NP_KIND_ELIDE))
		return NP_HOSTS;
	if (!(kind & NP_KIND_SHARED) != !(kind & NP_KIND_TAKEN))
		return NP_HOSTS;
	switch (kind & NP_KIND_TYPE) {
	case PTHREAD_MUTEX_RECURSIVE:
		return NP_RECURSIVE;
	case PTHREAD_MUTEX_ERRORCHECK:
		return NP_CHECKED;
	default:
		return NP_NORMAL;
	}
}

uint32_t np_mutex_caller(const struct np_mutex *o)
{
	return o->kind & NP_KIND_SHARED ? np_me_among_all() : np_me();
}

/* The fast path of lock, trylock and unlock. */
static inline bool is_plain(const struct np_mutex *o)
{
	return __builtin_expect(np_is_common(o) && np_is_known_active(), 1);
}

/* Of a negative time the C library's mutexes do not look at the nanoseconds; its other objects do, and so do ours. */
static int take(struct np_mutex *o, const struct patience *p)
{
	static const struct timespec long_past = { 0, 0 };

	if (p->is_try)
		return nlock_mutex_trylock(&o->lock);
	if (!p->abs)
		return nlock_mutex_lock(&o->lock);
	return nlock_mutex_lock_until(&o->lock, p->clock, p->abs->tv_sec < 0 ? &long_past : p->abs);
}

/* The caller owns it already. */
static int take_again(struct np_mutex *o, enum np_kind kind, const struct patience *p)
{
	if (kind == NP_CHECKED)
		return p->is_try ? EBUSY : EDEADLK;
	if (o->depth == UINT32_MAX)
		return EAGAIN;
	o->depth++;
	return 0;
}

static int lock(struct np_mutex *o, enum np_kind kind, const struct patience *p)
{
	uint32_t me;
	int rc;

	if (kind == NP_NORMAL)
		return take(o, p);
	me = np_mutex_caller(o);
	if (np_mutex_owner(o) == me)
		return take_again(o, kind, p);
	rc = take(o, p);
	if (rc == 0)
		np_mutex_own(o, me, 1);
	return rc;
}

static int unlock(struct np_mutex *o, enum np_kind kind)
{
	if (kind != NP_NORMAL) {
		if (np_mutex_owner(o) != np_mutex_caller(o))
			return EPERM;
		if (--o->depth)
			return 0;
		np_mutex_own(o, 0, 0);
	}
	nlock_mutex_unlock(&o->lock);
	return 0;
}

/* ---------------------------------------------------------------- the odd kinds, off the fast path */

static __attribute__((noinline)) int lock_odd(pthread_mutex_t *m)
{
	const struct patience p = { .is_try = false };
	enum np_kind kind = np_mutex_kind(np_mutex(m));

	return kind == NP_HOSTS ? host(pthread_mutex_lock)(m) : lock(np_mutex(m), kind, &p);
}

static __attribute__((noinline)) int trylock_odd(pthread_mutex_t *m)
{
	const struct patience p = { .is_try = true };
	enum np_kind kind = np_mutex_kind(np_mutex(m));

	return kind == NP_HOSTS ? host(pthread_mutex_trylock)(m) : lock(np_mutex(m), kind, &p);
}

static __attribute__((noinline)) int unlock_odd(pthread_mutex_t *m)
{
	enum np_kind kind = np_mutex_kind(np_mutex(m));

	return kind == NP_HOSTS ? host(pthread_mutex_unlock)(m) : unlock(np_mutex(m), kind);
}

/* ---------------------------------------------------------------- what is exported */

NP_EXPORT int DOOR(pthread_, mutex_init)(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	struct np_mutex *o = np_mutex(m);
	int rc;

	if (!attr && np_is_active()) {
		memset(m, 0, sizeof(*m));
		return 0;
	}
	rc = host(pthread_mutex_init)(m, attr);
	if (rc || !np_is_active() || !(o->kind & NP_KIND_SHARED) || o->kind & NP_KIND_HOST || !np_takes_shared())
		return rc;
	rc = nlock_mutex_init(&o->lock, NLOCK_SHARED);
	o->kind |= NP_KIND_TAKEN;
	return rc;
}

/* As the C library's: the end of what is locked is refused, a second end is none. */
NP_EXPORT int DOOR(pthread_, mutex_destroy)(pthread_mutex_t *m)
{
	struct np_mutex *o = np_mutex(m);
	int rc;

	if (np_mutex_kind(o) == NP_HOSTS)
		return host(pthread_mutex_destroy)(m);
	rc = nlock_mutex_destroy(&o->lock);
	if (rc == 0)
		o->kind = UINT32_MAX;
	return rc;
}

NP_EXPORT int DOOR(pthread_, mutex_lock)(pthread_mutex_t *m)
{
	return is_plain(np_mutex(m)) ? nlock_mutex_lock(&np_mutex(m)->lock) : lock_odd(m);
}

NP_EXPORT int DOOR(pthread_, mutex_trylock)(pthread_mutex_t *m)
{
	return is_plain(np_mutex(m)) ? nlock_mutex_trylock(&np_mutex(m)->lock) : trylock_odd(m);
}

NP_EXPORT int DOOR(pthread_, mutex_unlock)(pthread_mutex_t *m)
{
	if (!is_plain(np_mutex(m)))
		return unlock_odd(m);
	nlock_mutex_unlock(&np_mutex(m)->lock);
	return 0;
}

NP_EXPORT int DOOR(pthread_, mutex_timedlock)(pthread_mutex_t *m, const struct timespec *abs)
{
	const struct patience p = { .clock = CLOCK_REALTIME, .abs = abs };
	enum np_kind kind = np_mutex_kind(np_mutex(m));

	return kind == NP_HOSTS ? host(pthread_mutex_timedlock)(m, abs) : lock(np_mutex(m), kind, &p);
}

/* The clock is judged even if there is no need to wait, the time only if there is. */
NP_EXPORT int DOOR(pthread_, mutex_clocklock)(pthread_mutex_t *m, clockid_t clock, const struct timespec *abs)
{
	const struct patience p = { .clock = clock, .abs = abs };
	enum np_kind kind = np_mutex_kind(np_mutex(m));

	if (kind == NP_HOSTS)
		return host(pthread_mutex_clocklock)(m, clock, abs);
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ? lock(np_mutex(m), kind, &p) : EINVAL;
}

/* These say EINVAL to the kinds that are ours, by looking at the kind alone. */
NP_EXPORT int DOOR(pthread_, mutex_consistent)(pthread_mutex_t *m)
{
	return host(pthread_mutex_consistent)(m);
}

NP_EXPORT int DOOR(pthread_, mutex_getprioceiling)(const pthread_mutex_t *m, int *ceiling)
{
	return host(pthread_mutex_getprioceiling)(m, ceiling);
}

NP_EXPORT int DOOR(pthread_, mutex_setprioceiling)(pthread_mutex_t *m, int ceiling, int *old)
{
	return host(pthread_mutex_setprioceiling)(m, ceiling, old);
}

NP_OLD_NAME(__pthread_mutex_init, pthread_mutex_init);
NP_OLD_NAME(__pthread_mutex_destroy, pthread_mutex_destroy);
NP_OLD_NAME(__pthread_mutex_lock, pthread_mutex_lock);
NP_OLD_NAME(__pthread_mutex_trylock, pthread_mutex_trylock);
NP_OLD_NAME(__pthread_mutex_unlock, pthread_mutex_unlock);

/* A name that <pthread.h> turns into another, so it is spelt for the assembler. */
#ifndef NP_DOOR_SOURCE
__typeof__(pthread_mutex_consistent) np_mutex_consistent __asm__("pthread_mutex_consistent_np");
NP_OLD_NAME(np_mutex_consistent, pthread_mutex_consistent);
#endif
