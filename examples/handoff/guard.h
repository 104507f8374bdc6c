/* SPDX-License-Identifier: MIT
 *
 * guard.h - how a broken lock is found out
 *
 * Two numbers under the lock. The owner raises one as it enters and the other as it leaves, so outside of a
 * section they are equal. Who finds them different on entry, or changed on leaving, was not alone. At the end
 * both equal the number of sections. The idea is futex_numa's.
 *
 * The accesses are atomic but relaxed: to a sound lock that makes no difference, and on a broken one they are
 * no undefined behaviour, and no data race that a sanitizer would stop at, before the guard has spoken.
 */
#ifndef HANDOFF_GUARD_H
#define HANDOFF_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct guard {
	_Atomic unsigned long entered, left;
};

static inline unsigned long guard_get(_Atomic unsigned long *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static inline void guard_set(_Atomic unsigned long *p, unsigned long v)
{
	atomic_store_explicit(p, v, memory_order_relaxed);
}

/* Returns the number of this section, counted from 0. Adds to *violations what it finds. */
static inline unsigned long guard_enter(struct guard *g, uint64_t *violations)
{
	unsigned long n = guard_get(&g->entered);

	*violations += guard_get(&g->left) != n;
	guard_set(&g->entered, n + 1);
	return n;
}

static inline void guard_leave(struct guard *g, unsigned long n, uint64_t *violations)
{
	*violations += guard_get(&g->entered) != n + 1 || guard_get(&g->left) != n;
	guard_set(&g->left, n + 1);
}

/* For a reader: nobody is writing. */
static inline void guard_look(struct guard *g, uint64_t *violations)
{
	*violations += guard_get(&g->entered) != guard_get(&g->left);
}

/* After all is over: no section was lost. */
static inline bool guard_is_whole(struct guard *g, unsigned long sections)
{
	return guard_get(&g->entered) == sections && guard_get(&g->left) == sections;
}

#endif
