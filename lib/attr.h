/* SPDX-License-Identifier: MIT
 *
 * attr.h - the fields of the attribute word, and what is a valid one
 *
 *   bits  0-1   hand-off   0 BOUNDED, 1 FIFO, 2 BARGING, 3 BOUNDED_N(k)
 *   bits  2-3   placement  0 HASH, 1 NODE(n), 2 FIRST, 3 MPOL
 *   bit   4     sharing    0 PRIVATE, 1 SHARED
 *   bit   5     cohort     with a hand-off that has something to choose: neither FIFO nor BOUNDED_N(0)
 *   bits  6-15  n          zero unless NODE; all ones never
 *   bits 16-31  k          zero unless BOUNDED_N
 */
#ifndef NL_ATTR_H
#define NL_ATTR_H

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

#define A_HANDOFF     0x00000003u
#define A_PLACE       0x0000000cu
#define A_SHARED      0x00000010u
#define A_NODE        0x0000ffc0u
#define A_NODE_SHIFT  6
#define A_LIMIT       0xffff0000u
#define A_LIMIT_SHIFT 16

#define A_BOUNDED_N  0x3u
#define A_PLACE_NODE 0x4u

static inline uint32_t nl_attr_node(nlock_attr_t a)
{
	return (a & A_NODE) >> A_NODE_SHIFT;
}

static inline uint32_t nl_attr_limit(nlock_attr_t a)
{
	return (a & A_LIMIT) >> A_LIMIT_SHIFT;
}

static inline bool nl_attr_is_valid(nlock_attr_t a)
{
	if ((a & A_NODE) == NLOCK_BAD_ATTR || ((a & A_NODE) && (a & A_PLACE) != A_PLACE_NODE))
		return false;
	if ((a & NLOCK_COHORT) && ((a & A_HANDOFF) == NLOCK_FIFO || (a & (A_HANDOFF | A_LIMIT)) == A_BOUNDED_N))
		return false;
	return !(a & A_LIMIT) || (a & A_HANDOFF) == A_BOUNDED_N;
}

/* The attributes for a second word of an object whose memory may be gone when it is woken: the plain table, never a node. */
static inline nlock_attr_t nl_attr_unplaced(nlock_attr_t a)
{
	return a & A_SHARED;
}

/* Does it ask for another hand-off than the default? Where nothing is handed over, that is refused. */
static inline bool nl_attr_has_handoff(nlock_attr_t a)
{
	return (a & (A_HANDOFF | A_LIMIT | NLOCK_COHORT)) != 0;
}

#endif
