/* SPDX-License-Identifier: MIT
 *
 * rwlock.h - the rwlock's state and gates, bit by bit: rwlock.c says what each means
 */
#ifndef NL_RWLOCK_H
#define NL_RWLOCK_H

#include <nlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(nlock_rwlock_t) == 48 && _Alignof(nlock_rwlock_t) == 8, "the size is ABI");
_Static_assert(offsetof(nlock_rwlock_t, rgate) == 8 && offsetof(nlock_rwlock_t, wgate) == 16, "word and node");

#define RW_OWNED       UINT64_C(0x01)
#define RW_NEXT        UINT64_C(0x02)
#define RW_ASLEEP      UINT64_C(0x04)
#define RW_DUE         UINT64_C(0x08)
#define RW_FORKED      UINT64_C(0x10)
#define RW_PHASE       UINT64_C(0x60)
#define RW_PROMISED    UINT64_C(0x80)
#define RW_SPREAD      UINT64_C(0x100) /* these three: see rwlock_spread.c */
#define RW_BIASED      UINT64_C(0x200)
#define RW_TURNING     UINT64_C(0x400)
#define RW_PHASE_SHIFT 5
#define RW_ONE         (UINT64_C(1) << 11) /* one active reader */
#define RW_WAITER      (UINT64_C(1) << 37) /* one waiting reader */
#define RW_COUNT       UINT64_C(0x3ffffff) /* what each of them can count */
#define RW_MAX         UINT64_C(0x2000000) /* of both together; the rest is for those that come out of slots */

#define RW_WRITER (RW_NEXT | RW_ASLEEP | RW_DUE)     /* all that speaks of the next writer */
#define RW_REST   (RW_FORKED | RW_PHASE | RW_SPREAD) /* what is left when nobody is there */
#define RW_LENT   (RW_BIASED | RW_TURNING)           /* readers may be in slots */

#define GATE_TOLD 1u /* steps of rgate */
#define GATE_LOOK 4u

static inline uint64_t active(uint64_t w)
{
	return w / RW_ONE & RW_COUNT;
}

static inline uint64_t waiting(uint64_t w)
{
	return w / RW_WAITER;
}

static inline uint32_t phase_of(uint64_t w)
{
	return (uint32_t)((w & RW_PHASE) >> RW_PHASE_SHIFT);
}

/* Has the phase after `phase` been told? */
static inline bool is_told(uint32_t gate, uint32_t phase)
{
	return ((gate - phase) & 3) == 1;
}

static inline bool is_full(uint64_t w)
{
	return active(w) + waiting(w) >= RW_MAX;
}

/* What is left of it in the child of a fork, where rgate is as given: who holds it, but nobody who waits. */
static inline uint64_t without_parents(uint64_t w, uint32_t gate)
{
	w &= ~(RW_WRITER | RW_PROMISED | RW_PHASE | RW_COUNT * RW_WAITER);
	return w | (uint64_t)(gate & 3) << RW_PHASE_SHIFT;
}

/* May a writer take it? */
static inline bool is_free(uint64_t w)
{
	return !(w & (RW_OWNED | RW_BIASED)) && !active(w);
}

static inline bool may_read(const nlock_rwlock_t *rw, uint64_t w)
{
	return !(w & RW_OWNED) && (!(w & RW_NEXT) || rw->prefers == NLOCK_RW_PREFER_READERS);
}

static inline bool may_admit(const nlock_rwlock_t *rw, uint64_t w)
{
	return waiting(w) && (!(w & RW_NEXT) || rw->prefers != NLOCK_RW_PREFER_WRITERS);
}

/* All waiting readers are in. */
static inline uint64_t admitted(uint64_t w)
{
	uint64_t v = w & (RW_WAITER - 1) & ~RW_PHASE;

	return (v + waiting(w) * RW_ONE) | ((w + (UINT64_C(1) << RW_PHASE_SHIFT)) & RW_PHASE);
}

/* What a release leaves behind; w itself, if nobody holds the lock so. First the last step of a reader: T3, T4. */
static inline uint64_t without_reader(nlock_rwlock_t *rw, uint64_t w)
{
	(void)rw;
	if ((w & RW_OWNED) || active(w) <= !!(w & RW_TURNING))
		return w;
	w -= RW_ONE;
	return !active(w) && (w & RW_NEXT) ? (w | RW_OWNED) & ~RW_WRITER : w;
}

/* The same for the guard of who has closed the slots. */
static inline uint64_t without_guard(nlock_rwlock_t *rw, uint64_t w)
{
	return without_reader(rw, w & ~RW_TURNING);
}

/* T17. */
static inline uint64_t downgraded(nlock_rwlock_t *rw, uint64_t w)
{
	uint64_t v = (w & ~RW_OWNED) + RW_ONE;

	if (!(w & RW_OWNED))
		return w;
	return may_admit(rw, w) ? admitted(v) : v;
}

/* rwlock_spread.c */
bool nl_spread_enter(nlock_rwlock_t *rw, uint64_t w);
int nl_spread_leave(nlock_rwlock_t *rw, bool only_looks);
void nl_spread_close(nlock_rwlock_t *rw);

#endif
