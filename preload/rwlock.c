/* SPDX-License-Identifier: MIT
 *
 * rwlock.c - pthread_rwlock_*
 *
 * The C library's default lets readers in while writers wait, and nlock's must be told so before it is used. A lock that was made by
 * a static initialiser tells us nothing but its kind, so the first to use it prepares it: it puts CLAIM into the flags, stores
 * the preference, and puts OURS there. Whoever sees CLAIM does the rest himself, which changes nothing if it has been done: nobody
 * waits for a thread that may have been stopped in between.
 *
 * The C library says in a word that such a lock is process-shared, and in that word lies a part of ours. So it is believed only
 * if the flags, after that, can be "changed" from what they were to the same: then there was no mark when the word was read.
 *
 * The writer's number makes its second lock, of either mode, fail with EDEADLK. It is stored by the writer only, and taken away
 * before it unlocks, so a reader that unlocks sees none.
 *
 * Orders
 *   A1  flags_of: load acquire      pairs with A3: who sees OURS sees the preference. And with A2: who sees CLAIM stores into the
 *                                   word only after the mark, as everybody sees it
 *   A2  claim: CAS acquire release  one that finds no mark comes before the one that sets CLAIM, and so before all that owners of our
 *                                   lock store into the word: what was read of the word before it was not theirs. To look at
 *                                   the flags a second time would not do: an owner's stores have no order, and the look could be older
 *   A3  finish_claim: CAS release   publishes the preference
 *   Relaxed and why: what the word says counts only after A2. The writer's number is stored by the writer only, and compared
 *   with the reader's own.
 */
#include "host.h"
#include "overlay.h"

#include <errno.h>
#include <string.h>

static inline struct np_rwlock *overlay(pthread_rwlock_t *rw)
{
	return (struct np_rwlock *)rw;
}

/* ---------------------------------------------------------------- whose it is */

static uint32_t flags_of(const struct np_rwlock *o)
{
	return __atomic_load_n(&o->flags, __ATOMIC_ACQUIRE); /* A1 */
}

/* Says the word. */
static bool is_host_shared(const pthread_rwlock_t *rw)
{
	return __atomic_load_n(&rw->__data.__shared, __ATOMIC_RELAXED) != 0;
}

/* f: as the flags were, not OURS. */
static void finish_claim(struct np_rwlock *o, uint32_t f)
{
	uint32_t claimed = (f & NP_RW_KIND) | NP_RW_CLAIM, ours = claimed | NP_RW_OURS;

	__atomic_store_n(&o->lock.prefers, (uint16_t)np_prefers(f & NP_RW_KIND), __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&o->flags, &claimed, ours, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED); /* A3 */
}

static __attribute__((noinline, cold)) bool claim(pthread_rwlock_t *rw)
{
	struct np_rwlock *o = overlay(rw);
	uint32_t f;

	if (!np_is_active())
		return false;
	while (!((f = flags_of(o)) & (NP_RW_CLAIM | NP_RW_OURS))) {
		bool is_hosts = is_host_shared(rw);
		uint32_t next = is_hosts ? f : f | NP_RW_CLAIM;
		bool is_so = __atomic_compare_exchange_n(&o->flags, &f, next, false, __ATOMIC_ACQ_REL, /* A2 */
							 __ATOMIC_RELAXED);

		if (is_so && is_hosts)
			return false;
	}
	if (!(f & NP_RW_OURS))
		finish_claim(o, f);
	return true;
}

/* What has been marked tells that we are active. */
static inline bool is_ours(pthread_rwlock_t *rw)
{
	return NP_IS_ALIGNED(rw, struct np_rwlock) &&
	       (__builtin_expect((flags_of(overlay(rw)) & NP_RW_OURS) != 0, 1) || claim(rw));
}

/* ---------------------------------------------------------------- the writer */

static uint32_t caller(const struct np_rwlock *o)
{
	return o->lock.attr & NLOCK_SHARED ? np_me_among_all() : np_me();
}

static bool is_mine(const struct np_rwlock *o)
{
	uint32_t writer = __atomic_load_n(&o->writer, __ATOMIC_RELAXED);

	return writer && writer == caller(o);
}

/* rc: of an attempt to lock for writing. */
static int wrote(struct np_rwlock *o, int rc)
{
	if (rc == 0)
		__atomic_store_n(&o->writer, caller(o), __ATOMIC_RELAXED);
	return rc;
}

/* The time is judged even if there is no need to wait, and first. */
static bool is_valid(clockid_t clock, const struct timespec *abs)
{
	return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && abs->tv_nsec >= 0 && abs->tv_nsec < 1000000000;
}

static int rdlock_until(struct np_rwlock *o, clockid_t clock, const struct timespec *abs)
{
	if (!is_valid(clock, abs))
		return EINVAL;
	return is_mine(o) ? EDEADLK : nlock_rwlock_rdlock_until(&o->lock, clock, abs);
}

static int wrlock_until(struct np_rwlock *o, clockid_t clock, const struct timespec *abs)
{
	if (!is_valid(clock, abs))
		return EINVAL;
	return is_mine(o) ? EDEADLK : wrote(o, nlock_rwlock_wrlock_until(&o->lock, clock, abs));
}

/* ---------------------------------------------------------------- what is exported */

NP_EXPORT int DOOR(pthread_, rwlock_init)(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attr)
{
	struct np_rwlock *o = overlay(rw);
	bool is_shared;
	int rc = 0;

	if (attr || !np_is_active())
		rc = host(pthread_rwlock_init)(rw, attr);
	else
		memset(rw, 0, sizeof(*rw));
	if (rc || !NP_IS_ALIGNED(rw, struct np_rwlock))
		return rc;
	is_shared = is_host_shared(rw);
	if (!np_is_active() || (is_shared && !np_takes_shared()))
		return 0;
	o->writer = 0;
	rc = nlock_rwlock_init(&o->lock, np_prefers(o->flags & NP_RW_KIND), is_shared ? NLOCK_SHARED : NLOCK_PRIVATE);
	if (rc == 0)
		o->flags |= NP_RW_OURS;
	return rc;
}

/* As the C library's, it has nothing to do and refuses nothing. */
NP_EXPORT int DOOR(pthread_, rwlock_destroy)(pthread_rwlock_t *rw)
{
	return is_ours(rw) ? 0 : host(pthread_rwlock_destroy)(rw);
}

NP_EXPORT int DOOR(pthread_, rwlock_rdlock)(pthread_rwlock_t *rw)
{
	if (!is_ours(rw))
		return host(pthread_rwlock_rdlock)(rw);
	return is_mine(overlay(rw)) ? EDEADLK : nlock_rwlock_rdlock(&overlay(rw)->lock);
}

NP_EXPORT int DOOR(pthread_, rwlock_tryrdlock)(pthread_rwlock_t *rw)
{
	return is_ours(rw) ? nlock_rwlock_tryrdlock(&overlay(rw)->lock) : host(pthread_rwlock_tryrdlock)(rw);
}

NP_EXPORT int DOOR(pthread_, rwlock_timedrdlock)(pthread_rwlock_t *rw, const struct timespec *abs)
{
	return is_ours(rw) ? rdlock_until(overlay(rw), CLOCK_REALTIME, abs) : host(pthread_rwlock_timedrdlock)(rw, abs);
}

NP_EXPORT int DOOR(pthread_, rwlock_clockrdlock)(pthread_rwlock_t *rw, clockid_t clock, const struct timespec *abs)
{
	return is_ours(rw) ? rdlock_until(overlay(rw), clock, abs) : host(pthread_rwlock_clockrdlock)(rw, clock, abs);
}

NP_EXPORT int DOOR(pthread_, rwlock_wrlock)(pthread_rwlock_t *rw)
{
	if (!is_ours(rw))
		return host(pthread_rwlock_wrlock)(rw);
	return is_mine(overlay(rw)) ? EDEADLK : wrote(overlay(rw), nlock_rwlock_wrlock(&overlay(rw)->lock));
}

NP_EXPORT int DOOR(pthread_, rwlock_trywrlock)(pthread_rwlock_t *rw)
{
	return is_ours(rw) ? wrote(overlay(rw), nlock_rwlock_trywrlock(&overlay(rw)->lock))
			   : host(pthread_rwlock_trywrlock)(rw);
}

NP_EXPORT int DOOR(pthread_, rwlock_timedwrlock)(pthread_rwlock_t *rw, const struct timespec *abs)
{
	return is_ours(rw) ? wrlock_until(overlay(rw), CLOCK_REALTIME, abs) : host(pthread_rwlock_timedwrlock)(rw, abs);
}

NP_EXPORT int DOOR(pthread_, rwlock_clockwrlock)(pthread_rwlock_t *rw, clockid_t clock, const struct timespec *abs)
{
	return is_ours(rw) ? wrlock_until(overlay(rw), clock, abs) : host(pthread_rwlock_clockwrlock)(rw, clock, abs);
}

NP_EXPORT int DOOR(pthread_, rwlock_unlock)(pthread_rwlock_t *rw)
{
	struct np_rwlock *o = overlay(rw);

	if (!is_ours(rw))
		return host(pthread_rwlock_unlock)(rw);
	if (__atomic_load_n(&o->writer, __ATOMIC_RELAXED))
		__atomic_store_n(&o->writer, 0, __ATOMIC_RELAXED);
	return nlock_rwlock_unlock(&o->lock);
}

NP_OLD_NAME(__pthread_rwlock_init, pthread_rwlock_init);
NP_OLD_NAME(__pthread_rwlock_destroy, pthread_rwlock_destroy);
NP_OLD_NAME(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);
NP_OLD_NAME(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);
NP_OLD_NAME(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);
NP_OLD_NAME(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);
NP_OLD_NAME(__pthread_rwlock_unlock, pthread_rwlock_unlock);
