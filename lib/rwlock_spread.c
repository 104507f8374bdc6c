/* SPDX-License-Identifier: MIT
 *
 * rwlock_spread.c - readers that do not meet: each counts itself in a slot near it
 *
 * Promise
 *   That of rwlock.c. While no writer comes, a reader's two read-modify-writes are of a slot that only readers of some CPUs use, and
 *   of the rest of the lock it reads what nobody writes. No thread waits for a slot.
 *
 * The bias is that of BRAVO (Dice and Kogan, 2019); big-reader locks and Linux's percpu-rwsem are its kin. There a reader publishes itself
 * and then looks whether it may, and the writer revokes and then looks who is there: two stores that must not miss each
 * other, with a full fence each. Here the slot itself says whether it may be entered, so that a reader is in by one
 * compare-exchange of it, or is not; and a writer waits for no slot: it turns those it finds there into ordinary readers.
 *
 * Word: three bits of the state (rwlock.h)
 *   SPREAD   slots follow. Constant after init.
 *   BIASED   readers go to the slots. Excludes OWNED, NEXT, TURNING. Set by the turner that has opened them; cleared by one that will close them.
 *   TURNING  one thread, the turner, opens or closes the slots. It holds one of `active`: no writer can own. Cleared by it.
 *   LENT     BIASED or TURNING: else all slots are closed and count nobody.
 * and the slots, of which each is
 *   OPEN     may be entered. Set and cleared by the turner.
 *   count    readers that are in, by this slot. They are nobody's in particular: a reader may leave by another slot, or by `active`.
 *            What holds is: all counts and `active`, without a closer's guard and what is counted double in S4, are as
 *            many as there are readers.
 *   entries  how often it has been entered, modulo 2^32.
 *   left     how many more readers enter the ordinary way before one opens the slots: a hint.
 *
 * Transitions
 *   S1   slot: count + 1, entries + 1     nl_spread_enter  a reader that has seen BIASED, if the slot is OPEN; else T1
 *   S2   slot: count - 1                  is_in_slot       a reader that has seen LENT; its own slot first, then the others
 *   S3   -> TURNING, active + 1           nl_spread_enter  a reader enters so, if no writer owns or is next and no reader waits. Each slot becomes
 *                                         open_slots       OPEN; then TURNING -> BIASED, or, if somebody is next by now, each slot is closed
 *                                                          as in S4, and TURNING goes. The reader is in, by `active`
 *   S4   BIASED -> TURNING, active + 1    settled          anybody that wants to own, be next or know: this is the guard. Then for each slot:
 *        active + count                   nl_spread_close  while the slot still counts them, too
 *        slot: 0                          nl_spread_close  unless its count has changed: then `active` is set right first
 *        TURNING -> none, active - 1      settled          T3 or T4: it may be the last reader
 *   S5   active - 1                       nl_spread_leave  a reader that has seen LENT and found nobody in any slot; not the turner's one
 *   T5, T6 and T18 need a state without BIASED, T18 one without TURNING. T4, T5 and T8 need one without readers, so none with TURNING.
 *
 * Nobody is missed
 *   S4 adds first and takes away after, so a reader that finds the slot empty finds `active` counting it, and the guard. If it took the guard
 *   for itself, a writer could own while the slots are being emptied: so S5 leaves one.
 *   A reader that looks at one slot after the other may miss all counts while others come and go. So to have found nobody means something only
 *   if a second look, after the one at the state, finds nobody and the entries unchanged: then there was a moment at which no slot
 *   counted anybody, and the state was such that nobody reads. Otherwise somebody has entered meanwhile, and it looks again.
 *
 * Fairness: a reader that has seen BIASED, and is then slow, may enter an OPEN slot while a next writer is there already: once.
 *
 * Fork: the slots are part of the object. Who was in stays in, as the ordinary reader does; a thread that was turning leaves
 * its guard behind. A child whose forking thread owned the lock finds all slots closed and empty.
 *
 * Orders
 *   A1  nl_spread_enter: CAS acquire     pairs with A3: sees what the opener has seen of the last writer's section
 *   A2  nl_spread_enter: CAS acquire     the opener enters, as in rwlock.c, A1
 *   A3  open_slots: CAS release          pairs with A1
 *   A4  nl_spread_close: CAS acquire and release   acquire: pairs with A6, and hands on what was read before to the writer with the guard's
 *                                        release. Release: pairs with A5: who finds it empty finds `active` raised
 *   A5  is_in_slot: load acquire         pairs with A4; and with A6: who finds a count gone sees the entry of who took it
 *   A6  is_in_slot: CAS release          the reader's release: pairs with A4, A5
 *   A7  nl_spread_leave: load acquire    pairs with A8, as A5 does with A6
 *   A7 survives the sweep: whom the second look would miss without it has come in by a slot, missed that slot's count itself and left by
 *   `active`, all during the first look: more readers than are explored.
 *   A8  nl_spread_leave: CAS release     the reader's release, as in rwlock.c
 */
#include "atomic.h"
#include "rwlock.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>
#include <string.h>

#define S_OPEN  UINT64_C(1)
#define S_ONE   UINT64_C(2)
#define S_ENTRY (UINT64_C(1) << 32)
#define S_MOST  (UINT64_C(1) << 20) /* readers by one slot, so that `active` can take them all */

#define AFTER 256u /* ordinary readers since the slots were closed; beside them, turning twice costs little */

_Static_assert(sizeof(nlock_rwlock_spread_t) == (NLOCK_READER_SLOTS + 1) * 64, "the size is ABI");
_Static_assert(RW_MAX + NLOCK_READER_SLOTS * S_MOST * 2 < RW_COUNT, "no count can overflow");

static uint64_t count(uint64_t n)
{
	return (uint32_t)n / S_ONE;
}

static uint64_t *slot(nlock_rwlock_spread_t *s, uint32_t i)
{
	return &s->slot[i & s->mask].word;
}

/* ---------------------------------------------------------------- turning */

/* S4, but for its first step and its last, which are the caller's. */
void nl_spread_close(nlock_rwlock_t *rw)
{
	nlock_rwlock_spread_t *s = (void *)rw;

	for (uint32_t i = 0; i <= s->mask; i++) {
		uint64_t n = nl_load64_rlx(slot(s, i)), added = 0, w;

		do {
			w = nl_load64_rlx(&s->rw.state);
			while (count(n) != added && !nl_cas64_rlx(&s->rw.state, &w, w + (count(n) - added) * RW_ONE))
				;
			added = count(n);
		} while (!nl_cas64_acqrel(slot(s, i), &n, n & -S_ENTRY)); /* A4 */
	}
	nl_store_rlx(&s->left, s->after);
}

/* S3, from its second step on. */
static void open_slots(nlock_rwlock_spread_t *s)
{
	uint64_t w;

	for (uint32_t i = 0; i <= s->mask; i++) {
		w = nl_load64_rlx(slot(s, i));
		while (!nl_cas64_rel(slot(s, i), &w, w | S_OPEN)) /* A3 */
			;
	}
	w = nl_load64_rlx(&s->rw.state);
	while (!(w & RW_NEXT) && !waiting(w)) {
		if (nl_cas64_rlx(&s->rw.state, &w, w ^ RW_LENT))
			return;
	}
	nl_spread_close(&s->rw);
	while (!nl_cas64_rlx(&s->rw.state, &w, w & ~RW_TURNING))
		;
}

/* ---------------------------------------------------------------- readers */

/* S1, or S3, for a reader that has seen w and may enter. False: it enters the ordinary way. */
bool nl_spread_enter(nlock_rwlock_t *rw, uint64_t w)
{
	nlock_rwlock_spread_t *s = (void *)rw;
	uint64_t *mine = slot(s, nl_wait_cpu()), n = nl_load64_rlx(mine);
	uint32_t left = nl_load_rlx(&s->left);

	while ((w & RW_BIASED) && (n & S_OPEN) && count(n) < S_MOST) {
		if (nl_cas64_acq(mine, &n, n + S_ONE + S_ENTRY)) /* A1 */
			return true;
	}
	if (left)
		nl_store_rlx(&s->left, left - 1);
	if (left || (w & ~(RW_REST | RW_COUNT * RW_ONE)) ||
	    !nl_cas64_acq(&rw->state, &w, (w | RW_TURNING) + RW_ONE)) /* A2 */
		return false;
	open_slots(s);
	return true;
}

/* Is there a reader in a slot? S2: if so, one less. Else *entries is how many there were ever. */
static bool is_in_slot(nlock_rwlock_spread_t *s, bool only_looks, uint32_t *entries)
{
	uint32_t here = nl_wait_cpu();

	*entries = 0;
	for (uint32_t i = 0; i <= s->mask;) {
		uint64_t n = nl_load64_acq(slot(s, here + i)); /* A5 */

		if (!count(n)) {
			*entries += (uint32_t)(n / S_ENTRY);
			i++;
		} else if (only_looks || nl_cas64_rel(slot(s, here + i), &n, n - S_ONE)) { /* A6 */
			return true;
		}
	}
	return false;
}

/* S2 or S5; or, if it only looks, whether anybody reads. 0; EPERM: nobody does; EAGAIN: all readers, if any, are ordinary ones. */
int nl_spread_leave(nlock_rwlock_t *rw, bool only_looks)
{
	uint64_t before = UINT64_MAX, w;
	uint32_t entries;

	for (;;) {
		if (is_in_slot((void *)rw, only_looks, &entries))
			return 0;
		if (entries == before)
			return EPERM;
		w = nl_load64_acq(&rw->state); /* A7 */
		if (!(w & RW_LENT))
			return only_looks && !active(w) ? EPERM : EAGAIN;
		before = active(w) > !!(w & RW_TURNING) ? UINT64_MAX : entries;
		if (before != entries && (only_looks || nl_cas64_rel(&rw->state, &w, w - RW_ONE))) /* A8 */
			return 0;
	}
}

int nlock_rwlock_spread_init(nlock_rwlock_spread_t *s, int prefers, nlock_attr_t attr)
{
	int rc = (uintptr_t)s % _Alignof(nlock_rwlock_spread_t) ? EINVAL : nlock_rwlock_init(&s->rw, prefers, attr);

	if (rc)
		return rc;
	s->mask = NLOCK_READER_SLOTS - 1;
	s->after = s->left = AFTER;
	memset(s->slot, 0, sizeof(s->slot));
	nl_store64_rlx(&s->rw.state, RW_SPREAD);
	return 0;
}
