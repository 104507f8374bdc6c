/* SPDX-License-Identifier: MIT
 *
 * barrier.c - a barrier that may be used again, and unmapped, at once
 *
 * Promise
 *   A call of wait returns when `count` calls, this one included, have arrived in its round; what each of them did before is then
 *   visible to all. Rounds follow each other without a pause: who arrives when a round is full is the first of the next, so
 *   2 * count callers make two rounds. One call of each round returns SERIAL. No call to the kernel by a thread that finds the
 *   others there, if nobody sleeps; none at all if count is 1. After destroy has returned 0, no thread touches the object:
 *   the memory may go. At most a wake with the address of `left` comes later, which reads no memory, whatever the placement.
 *
 * Words
 *   state    round, 32 bits: how many rounds are full. arrived, 32 bits: how many have arrived in the next. Changed by arrivals only.
 *   gate     the threads sleep on it. From bit 1 on: how many rounds have been opened; each is opened once, by its serial thread.
 *            ASLEEP: somebody sleeps here, or is on the way. Set only by a thread whose round is not open; cleared by
 *            whoever opens a round, who then owes a wake of all.
 *   left     the destroyer sleeps on it. From bit 1 on: how many calls have had their last look at the object. AWAITED: a
 *            destroyer waits, and what is counted now is how many are still inside, as a negative number.
 *   All of them count modulo a power of two. All bytes zero is at rest; so is any round r with arrived 0, gate r, left r * count.
 *
 * States                           who may change it
 *   arrived < count - 1            an arrival: T1
 *   arrived = count - 1            an arrival: T2. It is the serial thread of the round
 *   round > gate                   the serial threads of the rounds that are full and not open: T4
 *   a round is not open            its threads, but the serial one: T3
 *   left < round * count           each thread whose round is open: T5
 *   arrived 0                      destroy: T6
 *   AWAITED                        each thread still inside: T5; the destroyer, when nobody is: T7
 *   Impossible: gate ahead of round; left ahead of gate * count; arrived = count
 *
 * Transitions
 *   T1   r, a -> r, a+1                wait
 *   T2   r, count-1 -> r+1, 0          wait        the serial thread; opens and leaves
 *   T3   ASLEEP goes up                lie_down    then sleeps, if the gate is still the same
 *   T4   gate g -> g+1, ASLEEP down    open_gate   then wakes all, if ASLEEP was up
 *   T5   left + 1                      leave       the last look. If AWAITED and nobody is inside now: wakes the destroyer
 *   T6   left l -> l - r*count AWAITED destroy     then waits until nobody is inside
 *   T7   AWAITED -> left r*count       destroy     at rest again
 *   T8   r, a -> r+1, 0 and so on      adopt       first call of this process on the object: in the child of a fork those that
 *                                                  had arrived are not there, nor are those that had not left
 *
 * A round is over
 *   for its threads when the gate has counted past it: the gate counts openings and does not say of which rounds, since two serial
 *   threads may come in either order (2 * count callers). r+1 openings are of r+1 different rounds, one of which is r or a
 *   later one, and a round is full only after all before it are. So whoever sees r+1 openings knows that round r was full, and
 *   (A2, A3: all openings are one release sequence) sees what all of its threads did. Nobody is kept: each of the r+1 serial
 *   threads runs, and does not sleep before T4. The gate is behind by one for each that is on its way, so by less than
 *   2^22, as many as there can be threads; it counts to 2^31. To take a round that is over for one that is not, a
 *   thread must be kept from running for 2^31 - 2^22 rounds of others, two calls each at least.
 *
 * Nobody sleeps for ever
 *   A thread sleeps on a gate that has not counted past its round and says ASLEEP. The next T4 changes it, so the kernel, which
 *   compares under the lock of its queue, sends back who is on the way; it takes ASLEEP away, so its wake of all follows.
 *   There is a next T4: by the serial thread of this round or of an earlier one; or if the round is not full, of this one
 *   when it is. Who was woken too early (the opening was of an earlier round) sets ASLEEP again.
 *   T8 does not take ASLEEP away: nothing tells a thread that finds the object adopted that what it reads of the gate is new, and on an
 *   old value that says ASLEEP it would go to sleep without setting it (found by tests/explore: "2,fork:100 w w").
 *   The destroyer sleeps on an AWAITED count of those inside. Their rounds are full, they leave by T5 whatever others do, and
 *   the last one to do so knows it from the value that it changed.
 *
 * Where they sleep
 *   Under PLACE_FIRST the node may change only while nobody sleeps at the gate. T3 proves it by an exchange of a gate g
 *   without ASLEEP if left was g * count before: then all threads of the rounds before g, and all that opened one, have gone,
 *   wakes included; those of later rounds that have slept since have set ASLEEP. The destroyer and who wakes it
 *   always use the plain table: a wake on a node would read memory that may be gone.
 *
 * Orders
 *   A1  wait: CAS acquire release     arrivals of a round are a chain: the last has seen what all did before, and it opens
 *   A2  open_gate: CAS release        pairs with A3; RMWs of the gate continue each other's release sequence
 *   A3  wait_for: load acquire        pairs with A2
 *   A4  leave: add release            pairs with A5, A6, A7, A9: all that a thread did with the object comes before
 *   A5  destroy: add acquire          for those that had left (the release half of it is not needed)
 *   A6  destroy: load acquire         for those that left while it slept
 *   A7  lie_down: load acquire        the sleeps and wakes of those that left come before the node is changed
 *   A7 survives the sweep: the explorer's kernel reads the newest node, and hardware keeps the order of a load and of a store that
 *   depends on it; C11 does not
 *   A8  adopt: load acquire           pairs with A1: who sees an arrival of this process sees that the object is adopted
 *   A9  adopt: load acquire           pairs with A4: the same for a departure
 *   Relaxed and why: ASLEEP hands no data on. That a sleeper and a wake do not miss each other is the kernel's doing.
 *
 * Checked by tests/explore. A central barrier with a round number (the textbook's sense reversal, with more than two senses); that
 * the destroyer waits for the leavers is what glibc has done since 2.25 (Riegel) and musl since 0.9.
 */
#include "atomic.h"
#include "attr.h"
#include "spin.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <nlock.h>
#include <stddef.h>

_Static_assert(sizeof(nlock_barrier_t) == 32 && _Alignof(nlock_barrier_t) == 8, "the size is ABI");
_Static_assert(offsetof(nlock_barrier_t, gate) == 8 && offsetof(nlock_barrier_t, node) == 12 &&
		       offsetof(nlock_barrier_t, left) % 8 == 0,
	       "the kernel reads the node right after the word");

#define B_ASLEEP  1u                   /* gate */
#define B_AWAITED 1u                   /* left */
#define B_ONE     2u                   /* gate: one round; left: one call */
#define B_LAST    (B_AWAITED - B_ONE)  /* left, awaited: one is inside */
#define B_LATE    (B_ONE * (1u << 22)) /* gate: never further behind */

static inline uint32_t round_of(uint64_t s)
{
	return (uint32_t)(s >> 32);
}

static inline uint32_t arrived_of(uint64_t s)
{
	return (uint32_t)s;
}

static inline uint64_t first_of(uint32_t round)
{
	return (uint64_t)round << 32;
}

/* What `left` is when all calls of the rounds before this one have gone. */
static inline uint32_t left_before(const nlock_barrier_t *b, uint32_t round)
{
	return round * b->count * B_ONE;
}

static inline bool is_over(uint32_t gate, uint32_t round)
{
	uint32_t behind = (round + 1) * B_ONE - (gate & ~B_ASLEEP);

	return behind == 0 || behind > B_LATE;
}

/* T8. Several threads may be here at once. Whether the object is still foreign is asked after its words were read: an
 * arrival or a departure of this process is never taken for one of the parent's (A8, A9). ASLEEP stays up, see above. */
static __attribute__((noinline, cold)) void adopt(nlock_barrier_t *b)
{
	uint64_t s = nl_load64_acq(&b->state); /* A8 */
	uint32_t left = nl_load_acq(&b->left); /* A9 */
	uint32_t gate = nl_load_rlx(&b->gate), round = round_of(s) + (arrived_of(s) != 0);

	if (!nl_wait_is_foreign(&b->gate, b->attr))
		return;
	if (arrived_of(s) && !nl_cas64_rlx(&b->state, &s, first_of(round)))
		return;
	if (left != left_before(b, round) && !nl_cas_rlx(&b->left, &left, left_before(b, round)))
		return;
	nl_wait_adopt(&b->gate, &gate, round * B_ONE | (gate & B_ASLEEP));
}

static inline void make_mine(nlock_barrier_t *b)
{
	while (nl_wait_is_foreign(&b->gate, b->attr))
		adopt(b);
}

/* T4. */
static void open_gate(nlock_barrier_t *b)
{
	uint32_t gate = nl_load_rlx(&b->gate);

	while (!nl_cas_rel(&b->gate, &gate, (gate & ~B_ASLEEP) + B_ONE)) /* A2 */
		;
	if (gate & B_ASLEEP)
		nl_wake(&b->gate, b->attr, INT_MAX, NL_LANE_ALL);
}

/* T3. False: the gate is not `gate` any more. */
static bool lie_down(nlock_barrier_t *b, uint32_t gate)
{
	if (gate & B_ASLEEP)
		return true;
	if (nl_load_acq(&b->left) == gate * b->count) /* A7 */
		return nl_wait_enter(&b->gate, b->attr, &gate, gate | B_ASLEEP);
	return nl_cas_rlx(&b->gate, &gate, gate | B_ASLEEP);
}

/* Those that are missing may all be running now: worth watching for a moment. */
static void watch(nlock_barrier_t *b, uint32_t round)
{
	struct nl_spin spin;
	bool has_paid;

	if (!nl_watch_try(&b->luck))
		return;
	nl_spin_start(&spin, NL_SPIN_NEAR);
	while (!(has_paid = is_over(nl_load_rlx(&b->gate), round)) && nl_spin_more(&spin))
		;
	nl_watch_tell(&b->luck, has_paid);
}

static void wait_for(nlock_barrier_t *b, uint32_t round)
{
	uint32_t gate;

	while (!is_over(gate = nl_load_acq(&b->gate), round)) { /* A3 */
		if (!lie_down(b, gate))
			continue;
		nl_wait(&b->gate, b->attr, gate | B_ASLEEP, NL_LANE_BACK, NULL);
		nl_fresh_rlx(&b->gate);
	}
}

/* T5. What is needed after it is read before it: *b may be gone. */
static void leave(nlock_barrier_t *b)
{
	const nlock_attr_t attr = nl_attr_unplaced(b->attr);

	if (nl_add_rel(&b->left, B_ONE) == B_LAST) /* A4 */
		nl_wake(&b->left, attr, 1, NL_LANE_ALL);
}

int nlock_barrier_init(nlock_barrier_t *b, uint32_t count, nlock_attr_t attr)
{
	int rc;

	if ((uintptr_t)b % _Alignof(nlock_barrier_t) || !nl_attr_is_valid(attr) || nl_attr_has_handoff(attr))
		return EINVAL;
	if (!count || count > NLOCK_BARRIER_COUNT_MAX)
		return EINVAL;
	rc = nl_wait_place(&b->gate, attr);
	if (rc)
		return -rc;
	b->attr = attr;
	b->count = count;
	b->luck = 0;
	b->tag = 0;
	nl_store64_rlx(&b->state, 0);
	nl_store_rlx(&b->gate, 0);
	nl_store_rlx(&b->left, 0);
	return 0;
}

int nlock_barrier_wait(nlock_barrier_t *b)
{
	uint32_t missing;
	uint64_t s;

	if (!b->count)
		return EINVAL;
	make_mine(b);
	s = nl_load64_rlx(&b->state);
	do {
		missing = b->count - arrived_of(s) - 1;
	} while (!nl_cas64_acqrel(&b->state, &s, missing ? s + 1 : first_of(round_of(s) + 1))); /* A1 */
	if (!missing) {
		open_gate(b);
	} else {
		if (missing < nl_wait_cpus())
			watch(b, round_of(s));
		wait_for(b, round_of(s));
	}
	leave(b);
	return missing ? 0 : NLOCK_BARRIER_SERIAL;
}

/* They are on their way out, and wait for nothing. */
static void wait_for_leavers(nlock_barrier_t *b)
{
	const nlock_attr_t attr = nl_attr_unplaced(b->attr);
	struct nl_spin spin;
	uint32_t left;

	nl_spin_start(&spin, NL_SPIN_NEAR);
	while (nl_load_rlx(&b->left) != B_AWAITED && nl_spin_more(&spin))
		;
	while ((left = nl_load_acq(&b->left)) != B_AWAITED) { /* A6 */
		nl_wait(&b->left, attr, left, NL_LANE_BACK, NULL);
		nl_fresh_rlx(&b->left);
	}
}

int nlock_barrier_destroy(nlock_barrier_t *b)
{
	uint32_t all;
	uint64_t s;

	make_mine(b);
	s = nl_load64_rlx(&b->state);
	if (arrived_of(s))
		return EBUSY;
	all = left_before(b, round_of(s));
	if (nl_add_acqrel(&b->left, B_AWAITED - all) != all) /* A5 */
		wait_for_leavers(b);
	nl_store_rlx(&b->left, all);
	return 0;
}
