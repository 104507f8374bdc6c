/* SPDX-License-Identifier: MIT
 *
 * policy.h - does this release hand the lock over?
 *
 * Hand-off is one number: how often may the waiter at the head be overtaken? 0 is FIFO, infinity is barging.
 * Pure functions, but for what the environment says of the default; no state, no atomics. A new policy is a case in
 * nl_policy_limit and nothing else.
 *
 * "Let the app decide", per release: Franke, linux-kernel, 6 March 2002 (FUTEX_UP and FUTEX_UP_FAIR).
 */
#ifndef NL_POLICY_H
#define NL_POLICY_H

#include "attr.h"
#include "wait.h"

/* Who decides about this release. */
enum nl_release {
	NL_BY_ATTR, /* the object's hand-off attribute */
	NL_FAIR,    /* the caller: grant */
	NL_BARGE,   /* the caller: open */
};

#define NL_NO_LIMIT UINT32_MAX

static inline uint32_t nl_policy_limit(nlock_attr_t a)
{
	switch (a & A_HANDOFF) {
	case NLOCK_FIFO:
		return 0;
	case NLOCK_BARGING:
		return NL_NO_LIMIT;
	case A_BOUNDED_N:
		return nl_attr_limit(a);
	default:
		return nl_default_limit();
	}
}

/* Grant? `bypass`: how often the head has been overtaken. `due`: it has been at the head for longer than
 * the time bound, and lost. */
static inline bool nl_policy_grants(nlock_attr_t a, enum nl_release r, uint32_t bypass, bool due)
{
	uint32_t limit = nl_policy_limit(a);

	if (r != NL_BY_ATTR)
		return r == NL_FAIR;
	return due || (limit != NL_NO_LIMIT && bypass >= limit);
}

/* Does it prefer waiters that are near? Then the bound is that of each waiter, not of the head alone: see cohort.c. */
static inline bool nl_policy_is_cohort(nlock_attr_t a)
{
	return (a & NLOCK_COHORT) != 0;
}

/* Has the time bound run out for a head that has been one for `ns` nanoseconds? */
static inline bool nl_policy_is_due(nlock_attr_t a, int64_t ns)
{
	return nl_policy_limit(a) != NL_NO_LIMIT && ns > NLOCK_BOUND_NS;
}

/* Is the next head better called when the lock is acquired than when it is released? Where every release grants, yes, if
 * there is a CPU for it to watch on: its wake-up then overlaps with the critical section. */
static inline bool nl_policy_calls_early(nlock_attr_t a)
{
	return nl_policy_limit(a) == 0;
}

#endif
