/* SPDX-License-Identifier: MIT
 *
 * cond_locks.c - waiting on a condition variable with another lock than nlock's mutex given up
 *
 * The wait is that of cond.c, in two halves; the lock is given up and taken again between and after them by two functions:
 * the caller's, or the public ones of the rwlock. In which mode the caller holds a rwlock is told by one look at its state: while a
 * writer owns the lock nobody reads, and while somebody reads no writer owns it. The look is the holder's own, so it cannot
 * be older than its lock; and what others do meanwhile does not change the one bit that matters.
 *
 * Promise
 *   As nlock_cond_wait: who registers holds the lock, so a thread that changes things under the lock knows of all who looked
 *   before it. Several readers may register at once. A broadcast wakes all: they need not wait for each other.
 *   If the lock cannot be given up, the waiter has not been blocked: it lets go of the condition variable as if woken by
 *   mistake, which cond.c allows at any time.
 *   A wait with any lock can be cancelled before it registers, with the lock held, and while it sleeps: then cond.c's abandon
 *   comes first and the lock after it, as at the end of every wait. In between it cannot.
 */
#include "atomic.h"
#include "cond.h"
#include "rwlock.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>

struct any_wait {
	nlock_cond_t *c;
	const struct nlock_any_lock *how;
	void *lock;
	struct nl_cond_waiter self;
};

static int wait_with(struct any_wait *w)
{
	int rc, again;

	nl_cond_enter(w->c, &w->self);
	rc = w->how->unlock(w->lock);
	if (rc) {
		nl_cond_abandon(w->c, &w->self);
		return rc;
	}
	rc = nl_cond_block(w->c, &w->self);
	again = w->how->lock(w->lock);
	return again ? again : rc;
}

/* ---------------------------------------------------------------- a rwlock */

static int rdlock(void *rw)
{
	return nlock_rwlock_rdlock(rw);
}

static int rdunlock(void *rw)
{
	return nlock_rwlock_rdunlock(rw);
}

static int wrlock(void *rw)
{
	return nlock_rwlock_wrlock(rw);
}

static int wrunlock(void *rw)
{
	return nlock_rwlock_wrunlock(rw);
}

static int wait_rwlock(nlock_cond_t *c, nlock_rwlock_t *rw, struct nl_cond_waiter self)
{
	static const struct nlock_any_lock reader = { rdunlock, rdlock }, writer = { wrunlock, wrlock };
	const uint64_t state = nl_load64_rlx(&rw->state);
	struct any_wait w = { c, state & RW_OWNED ? &writer : &reader, rw, self };

	/* held by nobody: neither in the state nor in a slot */
	if (!(state & RW_OWNED) && (state & RW_LENT ? nl_spread_leave(rw, true) == EPERM : !active(state)))
		return EPERM;
	return wait_with(&w);
}

int nlock_cond_wait_rwlock(nlock_cond_t *c, nlock_rwlock_t *rw)
{
	return wait_rwlock(c, rw, (struct nl_cond_waiter){ 0 });
}

int nlock_cond_wait_rwlock_until(nlock_cond_t *c, nlock_rwlock_t *rw, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc = nl_deadline_set(&d, clock, abs);

	return rc == -EINVAL ? EINVAL : wait_rwlock(c, rw, (struct nl_cond_waiter){ .d = &d, .is_late = rc });
}

/* ---------------------------------------------------------------- any lock */

/* While it slept. */
static void abandon(void *arg)
{
	struct any_wait *w = arg;

	nl_cond_abandon(w->c, &w->self);
	w->how->lock(w->lock);
}

int nlock_cond_wait_any(nlock_cond_t *c, const struct nlock_any_lock *how, void *lock, int clock,
			const struct timespec *abs)
{
	struct nl_deadline d;
	struct any_wait w = { c, how, lock, { .d = &d } };
	int rc = nl_deadline_or_none(&d, clock, abs);

	if (rc == -EINVAL)
		return EINVAL;
	w.self.is_late = rc;
	d.abandon = abandon;
	d.arg = &w;
	nl_cancel_point();
	return wait_with(&w);
}
