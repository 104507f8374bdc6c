/* SPDX-License-Identifier: MIT
 *
 * cond_rwlock.c - waiting on a condition variable with a rwlock given up
 *
 * The wait is that of cond.c, in two halves; the rwlock is given up and taken again between and after them by its public
 * functions. In which mode the caller holds it is told by one look at its state: while a writer owns the lock nobody reads,
 * and while somebody reads no writer owns it. The look is the holder's own, so it cannot be older than its lock; and what
 * others do meanwhile does not change the one bit that matters.
 *
 * Promise
 *   As nlock_cond_wait: who registers holds the lock, so a thread that changes things under the write lock knows of all
 *   who looked before it. Several readers may register at once. A broadcast wakes all: they need not wait for each other.
 */
#include "atomic.h"
#include "cond.h"
#include "rwlock.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>

static int wait_with(nlock_cond_t *c, nlock_rwlock_t *rw, struct nl_cond_waiter *self)
{
	const uint64_t w = nl_load64_rlx(&rw->state);
	const bool is_writer = w & RW_OWNED;
	int rc, again;

	if (!is_writer && !active(w))
		return EPERM;
	nl_cond_enter(c, self);
	is_writer ? nlock_rwlock_wrunlock(rw) : nlock_rwlock_rdunlock(rw);
	rc = nl_cond_block(c, self);
	again = is_writer ? nlock_rwlock_wrlock(rw) : nlock_rwlock_rdlock(rw);
	return again ? again : rc;
}

int nlock_cond_wait_rwlock(nlock_cond_t *c, nlock_rwlock_t *rw)
{
	struct nl_cond_waiter self = { 0 };

	return wait_with(c, rw, &self);
}

int nlock_cond_wait_rwlock_until(nlock_cond_t *c, nlock_rwlock_t *rw, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	struct nl_cond_waiter self = { .d = &d };
	int rc = nl_deadline_set(&d, clock, abs);

	if (rc == -EINVAL)
		return EINVAL;
	self.is_late = rc;
	return wait_with(c, rw, &self);
}
