/* SPDX-License-Identifier: MIT
 *
 * cohort.c - a cohort lock's line: who is called next
 *
 * Promise
 *   What mutex.c promises, with another choice in T6: not the oldest sleeper but the oldest of the nearest node. And the bound holds
 *   for every waiter: a thread that sleeps is passed by at most `limit` threads that came after it had fallen asleep, newcomers
 *   and preferred waiters together, as far as locks are released by ordinary unlocks. Excused is what costs a place under FIFO
 *   too: a signal, a wake that was made late, a priority, and a release that opened the lock since nobody was asleep.
 *
 * Lines
 *   Later waiters sleep in the lane of their node and in one of two lines, BACK or ODD, as ROUND says. The kernel compares the word as it
 *   queues them, so those who sleep in a line came while ROUND said so. A round lasts from one flip to the next. There are two
 *   kinds of time:
 *   bypass < limit    whoever is nearest is called. Each T2, T5 by another than the head, and T6 that may have passed somebody adds one.
 *                     Only who is not in the farthest step of distance can have passed anybody, and only if others wait.
 *   bypass >= limit   the round has been ended by T15, which came with the last of these counts. Every release grants, so no
 *                     newcomer gets in, and T6 calls those of the ended round alone, oldest first. When none of them
 *                     sleeps any more, bypass is zero again: nobody can have joined them.
 *   The head does not zero bypass as it acquires, unless it was the last that waited.
 *
 * Why that is a bound
 *   Who falls asleep in the first kind of time is passed at most limit - bypass times before T15, and not after it: before it come only
 *   those of its round that are older. Who falls asleep in the second kind is passed by nobody then, for those of the ended
 *   round are older; and at most limit times in what follows. With n asleep at T15 the second kind lasts n hand-offs.
 *   One counter is enough because it counts for all what may have happened to one.
 *
 * At count zero ROUND is clear and no line has sleepers. A bypass that is left from before, or that another process has counted for
 * its own default limit, makes one call look into a line where nobody sleeps, and is zeroed by that.
 * Time makes nobody the head: DUE is about the head alone. Under BARGING there is no limit, and no T15.
 *
 * Lanes are the kernel's, so all this works between processes. A thread sleeps in the lane of the node on which it fell asleep.
 */
#include "atomic.h"
#include "mutex.h"
#include "policy.h"
#include "wait.h"

/* Where those sleep who come in the round of w. */
static uint32_t line_of(uint32_t w)
{
	return w & M_ROUND ? NL_LANE_ODD : NL_LANE_BACK;
}

uint32_t nl_cohort_lane(uint32_t w)
{
	return line_of(w) | nl_lane_of(nl_wait_node());
}

/* T15. Not if nobody waits any more: then there is no round. */
void nl_cohort_end_round(nlock_mutex_t *m)
{
	uint32_t w = nl_load_rlx(&m->word);

	while (has_waiters(w) && !nl_cas_rlx(&m->word, &w, w ^ M_ROUND))
		;
}

/* The oldest of the nearest. If there is nobody farther, that is the oldest of all. Others than that one there may be by now that
 * the caller's word does not count. */
static bool call_nearest(nlock_mutex_t *m)
{
	const uint32_t here = nl_wait_node();
	uint32_t lanes, farther = nl_lanes_near(here, 0);

	for (uint32_t i = 1; (lanes = farther); i++) {
		farther = nl_lanes_near(here, i);
		if (!nl_wake(&m->word, m->attr, 1, lanes))
			continue;
		if (farther && !has_one_waiter(nl_fresh_rlx(&m->word)))
			nl_mutex_count_overtaking(m);
		return true;
	}
	return false;
}

/* On the word w. Where the limit has been reached, first those of the round that has ended, oldest first. */
bool nl_cohort_call(nlock_mutex_t *m, uint32_t w)
{
	const uint32_t limit = nl_policy_limit(m->attr);

	if (!limit) /* the environment says so */
		return nl_wake(&m->word, m->attr, 1, NL_LANE_BACK | NL_LANE_ODD) != 0;
	if (nl_own_get(&m->bypass) >= limit) {
		if (nl_wake(&m->word, m->attr, 1, line_of(w ^ M_ROUND)))
			return true;
		nl_own_set(&m->bypass, 0);
	}
	return call_nearest(m);
}
