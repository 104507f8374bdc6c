/* SPDX-License-Identifier: MIT
 *
 * spin.h - watching a word for a bounded time
 *
 * The budget is time, not rounds: what a pause costs differs tenfold between CPUs. The clock is read once a round. Rounds
 * grow, so that a watcher does not keep taking the owner's cache line away.
 *
 *	struct nl_spin s;
 *	nl_spin_start(&s, NL_SPIN_NEAR);
 *	while (!done() && nl_spin_more(&s))
 *		;
 */
#ifndef NL_SPIN_H
#define NL_SPIN_H

#include "atomic.h"
#include "wait.h"

struct nl_spin {
	int64_t end;     /* 0: no budget */
	uint32_t pauses; /* in the next round */
	uint32_t most;
};

/* How soon to look: NEAR if the lock is about to be handed to the watcher, FAR if it has to catch a moment between
 * sections that may be shorter than the way of a cache line. */
#define NL_SPIN_NEAR 1u, 32u
#define NL_SPIN_FAR  16u, 128u

static inline void nl_spin_begin(struct nl_spin *s, uint32_t first, uint32_t most)
{
	int64_t ns = nl_watch_ns();

	s->end = ns ? nl_now() + ns : 0;
	s->pauses = first;
	s->most = most;
}

#define nl_spin_start(s, pace) nl_spin_begin(s, pace)

/* One round of pauses; false when the budget is used up. */
static inline bool nl_spin_more(struct nl_spin *s)
{
	if (!s->end)
		return false;
	for (uint32_t i = 0; i < s->pauses; i++)
		nl_pause();
	if (s->pauses < s->most)
		s->pauses *= 2;
	return nl_now() < s->end;
}

#endif
