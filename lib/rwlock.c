/* SPDX-License-Identifier: MIT
 *
 * rwlock.c - many readers or one writer, in turn or by preference
 *
 * Promise
 *   Readers exclude writers, a writer excludes everybody; what a writer did is visible to all who come after it, and what
 *   readers read was read before the next writer. Nobody sleeps for ever on a lock that is released again and again.
 *   Phase-fair: the next writer is passed by one admission of readers at most, a waiting reader by one writer at most. Where
 *   writers queue, there is a next one from the moment at which an owner has taken the lock, awake or not. An
 *   uncontended pair of calls is two read-modify-writes and no system call. After its last step a release does not touch
 *   the object (see Life); it may make one wake call with its address.
 *
 * Word (rwlock.h): `state`, 64 bits; every decision is one compare-exchange of it
 *   OWNED    a writer owns the lock, or it has been granted to the next writer. Set by that writer as it takes it, or by the
 *            last reader, for it; cleared by the owner's release.
 *   NEXT     there is a next writer: it holds the seat, is registered and waits. Set by it, or for it with PROMISED; cleared by it,
 *            as it claims or leaves, by a release that grants, and by T22. Keeps new readers out, unless the lock prefers readers.
 *   ASLEEP   the next writer sleeps on wgate, or is on its way. Implies NEXT. Set by it alone. Who clears it owes wgate one
 *            step and one wake, unless it is the next writer itself.
 *   DUE      the next writer has been next for longer than the time bound, and lost. Implies NEXT, goes with it.
 *   PROMISED the owner has given the seat to the head of its queue, and the place of the next writer with it; the new holder
 *            has not come for it yet. Set with NEXT, by the owner; cleared by the new holder, or by the owner with NEXT, if the
 *            seat was not granted. It outlives a grant: then the lock waits for that holder. Excludes ASLEEP.
 *   FORKED   flips once in each process that has found waiters of its parent here: T19.
 *   PHASE    how often waiting readers have been admitted, modulo 4.
 *   SPREAD, BIASED, TURNING: the object has slots for readers, and some readers may be in those. What follows here is true
 *            without them, and rwlock_spread.c says why it is true with them: in short, no writer owns, is next or waits
 *            before all readers in slots have become ordinary ones.
 *   active   readers that are in. waiting: readers that are registered, exact. 26 bits each; together at most RW_MAX, so that
 *            no sum of the two can carry, nor with what comes out of slots (a downgrade adds one). Above it: EAGAIN.
 *   At rest: zero, but for FORKED, PHASE and SPREAD, and BIASED, which destroy takes away.
 *   rgate    where readers sleep. Steps by 1 after an admission, so that modulo 4 it is the phase that readers have been
 *            told of; steps by 4, which tells of none, when they had better look at the state themselves.
 *   wgate    where the next writer sleeps; steps by 1.
 *   seat     a mutex: whoever holds it is the next writer. It is the writers' queue, with the hand-off attribute; but an owner
 *            that finds a queue there grants it, whatever that says (T20), unless readers are preferred.
 *   bypass   the owner's: writers that came past the next writer.
 *
 * States                             who may change it
 *   free: no OWNED, no active, no NEXT  anybody: T1, T5; a reader that is still registered: T16
 *   active, no NEXT                     readers: T1, T3, T16, T18; the seat's holder: T6
 *   active, NEXT                        the same, but T1 and T16 only if readers are preferred; newcomers: T2; the last
 *                                       reader: T4; the next writer: T7, T9, T10
 *   OWNED, with NEXT or not             the owner: T11 to T14, T17, T20, T22; newcomers: T2; the seat's holder: T6, T7, T9, T10
 *   NEXT PROMISED, with what it may     as without PROMISED, but the next writer's steps begin with T21
 *   OWNED PROMISED, no NEXT             the seat's new holder, which owns: T21; newcomers: T2
 *   open: NEXT, no OWNED, no active     any writer: T5; the next one: T8; readers: T1 if preferred, else T2
 *   Impossible: OWNED with active; ASLEEP or DUE without NEXT; open with ASLEEP; waiting without OWNED or NEXT, but for
 *   those that T10 has called.
 *
 * Transitions
 *   T1   active + 1                    enter          a reader
 *   T2   waiting + 1                   read_slow      a reader that may not enter; it notes PHASE
 *   T3   active - 1                    rdunlock       a reader, if not the last or nobody is next
 *   T4   active 1 NEXT -> OWNED        without_reader the last reader grants; if ASLEEP, it owes the call
 *   T5   free or open -> OWNED         take           a newcomer, or the holder of the seat; passes the next writer, if any
 *   T6   -> NEXT                       register_next  the holder of the seat
 *   T7   NEXT -> ASLEEP (DUE)          next_waits     it has watched for its budget
 *   T8   open -> OWNED                 claim          the next writer
 *   T9   ASLEEP -> awake               get_up         its deadline has passed, and nobody owes it a call
 *   T10  NEXT -> none                  leave          the same, later: nothing was granted, nothing is open. Readers that it
 *                                                     alone kept out are called
 *   T11  OWNED -> active, PHASE + 1    without_owner  admits all waiting readers; NEXT stays. Not if writers are preferred and
 *                                                     there is a next one
 *   T12  OWNED NEXT -> OWNED           without_owner  grants; if ASLEEP, owes the call
 *   T13  OWNED NEXT -> open            without_owner  opens; the same
 *   T14  OWNED -> free                 wrunlock       nobody waits
 *   T15  waiting - 1                   wait_turn      a reader whose deadline has passed, in the phase that it noted
 *   T16  waiting - 1, active + 1       wait_turn      a reader that was called and may enter
 *   T17  OWNED -> active 1             downgraded     and what T11 does
 *   T18  active 1 -> OWNED             tryupgrade     if nobody is next, or readers are preferred
 *   T19  any -> OWNED, active          adopt          first slow call of this process on the object, before it touches the seat.
 *                                                     In the child of a fork all who wait are the parent's
 *   T20  OWNED -> NEXT PROMISED        pass_seat      the new owner, if writers queue for the seat and readers are not preferred;
 *                                                     then it grants the seat
 *   T21  PROMISED -> none              register_next  the new holder of the seat: it is the next writer, or the owner already
 *   T22  NEXT PROMISED -> none         pass_seat      the owner, if it could take the seat again at once
 *
 * Told phases
 *   A reader that registered in phase p is in as soon as PHASE is p + 1, and goes on when rgate says so. PHASE changes only in
 *   T11 and T17, out of OWNED, so all readers of the phase before have left, and they left after they had been told. So at
 *   most one step of rgate is outstanding, and until that reader has left rgate says p - 1, p or p + 1: two bits tell
 *   them apart. (A next writer that leaves does not admit: active readers may be slow to look at the gate, and after four
 *   such admissions one of them would take the gate of four phases later for its own.)
 *
 * Life
 *   After its compare-exchange a release touches nothing but the gate that it owes a step, and there is somebody who does not
 *   return from its call before it has seen that step: T11, T17 the readers that were admitted; T4, T12, T13 with ASLEEP the next
 *   writer. T10 is made by one that is inside. The owner lets go of the seat while it owns the lock.
 *
 * Nobody sleeps for ever
 *   Readers wait only while OWNED or NEXT is set. OWNED goes by T11, which admits them, or leaves NEXT behind; NEXT goes by
 *   becoming OWNED, or by T10, which calls them after it: each reads the gate, then the state, then sleeps only on that gate.
 *   The next writer reads wgate, sets ASLEEP, and sleeps on that wgate. Nobody owes it anything when it reads: what was owed to
 *   writers before it they had seen before they left the seat. OWNED or active last until T4, T12, T13, each of which takes
 *   ASLEEP away and steps wgate.
 *   A promise is kept: the mutex gives a grant to a head that always claims it (with its deadline passed, too), and that one makes
 *   T21. If the seat was opened instead, the owner takes it again and makes T22, or somebody else has it, and makes T21.
 *
 * The bound
 *   Opening and granting are those of mutex.c, with the next writer as the head; `bypass` counts T5 and T18 while there is one.
 *   The last reader always grants.
 *
 * Placement FIRST: wgate and the seat choose their node as the mutex does. Readers do not come one at a time, so rgate stays on
 * the node on which init ran.
 *
 * Orders
 *   A1  enter: CAS acquire           pairs with A5: sees the last writer's section
 *   A2  take, claim: CAS acquire     pairs with A5, A6: comes after the sections of all that were in
 *   A3  claim: load acquire          the same, when granted: only read-modify-writes come between, so A6 of every reader of
 *                                    the phase is in the release sequence that is read
 *   A4  tryupgrade: CAS acquire      as A2
 *   A5  wrunlock, release: CAS release      publishes the section to A1 to A4
 *   A6  rdunlock, release: CAS release      what was read was read before A2, A3, A4
 *   A7  call: add release            pairs with A8, A9: the step, and what was released with it, come before what the called
 *                                    one does, even if that ends the object's life
 *   A8  wait_turn: load acquire      pairs with A7; and the state that is read next is not older than the call
 *   A9  next_waits: load acquire     the same
 *   A10 read_slow: CAS acquire and release   acquire: sees that rgate has been told of the phase before last, else an old value
 *                                    could pass for the next phase. Release: pairs with A12
 *   A11 register_next: CAS release   pairs with A12
 *   A14 pass_seat: CAS release       pairs with A12, as A11 does: it registers another
 *   A14 survives the sweep: the promise that a late adopter would take away is made good by T6 as long as the owner owns, and
 *   whoever sees a grant of it sees A5, which comes after.
 *   A12 adopt: load acquire          who sees a registration of this process sees that the object has been adopted. For destroy it
 *                                    pairs with A5, A6 too: the caller may reuse the memory
 *   A15 settled: load acquire        as A12, for destroy
 *   A13 adopt: load acquire          pairs with A7: so does who sees a step that this process has made
 *   A13 survives the sweep: without it a late adopter could put an old phase into a state that four admissions have made equal
 *   to the one it read; nothing that small explores so many.
 *
 * Checked by tests/explore. Phase-fair locks: Brandenburg and Anderson, 2009.
 */
#include "atomic.h"
#include "mutex.h"
#include "policy.h"
#include "rwlock.h"
#include "spin.h"
#include "stats.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <nlock.h>

/* ---------------------------------------------------------------- what the child of a fork finds */

/* T19. The seat's mark is the object's: with it the seat becomes free, whoever held it. The state comes first, and is changed only if
 * there is something of the parent's in it, so FORKED flips once; a thread that is late with it, fails. An admission of the parent's
 * may not have been told: then it never was. Returns the state. */
static uint64_t adopt(nlock_rwlock_t *rw)
{
	for (;;) {
		uint32_t gate = nl_load_acq(&rw->rgate);      /* A13 */
		uint64_t w = nl_load64_acq(&rw->state), mine; /* A12 */
		uint32_t seat;

		if (!nl_wait_is_foreign(&rw->seat.word, rw->attr))
			return w;
		mine = without_parents(w, gate);
		if (w != mine && !nl_cas64_rlx(&rw->state, &w, mine ^ RW_FORKED))
			continue;
		seat = nl_load_rlx(&rw->seat.word);
		nl_wait_adopt(&rw->seat.word, &seat, 0);
	}
}

/* ---------------------------------------------------------------- releases */

/* The steps that are owed. */
static void call_readers(nlock_rwlock_t *rw, nlock_attr_t attr, uint32_t step)
{
	nl_add_rel(&rw->rgate, step); /* A7 */
	nl_wake(&rw->rgate, attr, INT_MAX, NL_LANE_ALL);
}

static void call_next(nlock_rwlock_t *rw, nlock_attr_t attr)
{
	nl_add_rel(&rw->wgate, 1); /* A7 */
	nl_wake(&rw->wgate, attr, 1, NL_LANE_ALL);
}

/* T11 to T14: what the owner's release leaves behind. These three return w itself if nobody holds the lock so. */
static uint64_t without_owner(nlock_rwlock_t *rw, uint64_t w)
{
	if (!(w & RW_OWNED))
		return w;
	if (may_admit(rw, w))
		return admitted(w & ~RW_OWNED);
	if (!(w & RW_NEXT))
		return w & ~RW_OWNED;
	if (nl_policy_grants(rw->attr, NL_BY_ATTR, nl_own_get(&rw->bypass), w & RW_DUE))
		return w & ~RW_WRITER;
	return w & ~(RW_OWNED | RW_ASLEEP);
}

/* The compare-exchange, and then the step that it owes. What is needed after it is read before it: *rw may be gone. */
static __attribute__((noinline)) int release(nlock_rwlock_t *rw, uint64_t (*without)(nlock_rwlock_t *, uint64_t))
{
	const nlock_attr_t attr = rw->attr;
	uint64_t w = adopt(rw), v;

	do {
		v = without(rw, w);
		if (v == w)
			return EPERM;
	} while (!nl_cas64_rel(&rw->state, &w, v)); /* A5, A6 */
	if ((w ^ v) & RW_PHASE)
		call_readers(rw, attr, GATE_TOLD);
	else if (w & ~v & RW_ASLEEP)
		call_next(rw, attr);
	return 0;
}

/* Without BIASED: S4. */
static uint64_t settled(nlock_rwlock_t *rw)
{
	uint64_t w = adopt(rw);

	for (; w & RW_BIASED; w = nl_load64_acq(&rw->state)) { /* A15 */
		if (nl_cas64_rlx(&rw->state, &w, (w ^ RW_LENT) + RW_ONE)) {
			nl_spread_close(rw);
			release(rw, without_guard);
		}
	}
	return w;
}

/* ---------------------------------------------------------------- readers */

/* T1. 0, EAGAIN, or EBUSY: it may not enter; *w is the state. */
static int enter(nlock_rwlock_t *rw, uint64_t *w)
{
	do {
		if (is_full(*w))
			return EAGAIN;
		if (!may_read(rw, *w))
			return EBUSY;
		if ((*w & RW_SPREAD) && nl_spread_enter(rw, *w))
			return 0;
	} while (!nl_cas64_acq(&rw->state, w, *w + RW_ONE)); /* A1 */
	return 0;
}

/* T15, T16 for a reader that is registered in `phase`. 0: is in; ETIMEDOUT: has left; EBUSY: has to wait; EAGAIN: look again. */
static int leave_line(nlock_rwlock_t *rw, uint64_t w, bool is_expired)
{
	if (may_read(rw, w))
		return nl_cas64_acq(&rw->state, &w, w - RW_WAITER + RW_ONE) ? 0 : EAGAIN; /* A1 */
	if (is_expired)
		return nl_cas64_rlx(&rw->state, &w, w - RW_WAITER) ? ETIMEDOUT : EAGAIN;
	return EBUSY;
}

/* Once admitted, it waits for what it is owed, which is no matter of deadlines. */
static int wait_turn(nlock_rwlock_t *rw, uint32_t phase, const struct nl_deadline *d)
{
	bool is_expired = false;

	for (;;) {
		uint32_t gate = nl_load_acq(&rw->rgate); /* A8 */
		uint64_t w;
		int rc = EBUSY;

		if (is_told(gate, phase))
			return 0;
		w = nl_load64_rlx(&rw->state);
		if (phase_of(w) == phase)
			rc = leave_line(rw, w, is_expired);
		else
			d = NULL;
		if (rc == EAGAIN)
			continue;
		if (rc != EBUSY)
			return rc;
		is_expired = nl_wait(&rw->rgate, rw->attr, gate, NL_LANE_BACK, d) == NL_TIMEDOUT;
		nl_fresh_rlx(&rw->rgate);
	}
}

static __attribute__((noinline, cold)) int read_slow(nlock_rwlock_t *rw, const struct nl_deadline *d)
{
	uint64_t w = adopt(rw);
	int rc;

	do {
		rc = enter(rw, &w);
		if (rc != EBUSY)
			return rc;
	} while (!nl_cas64_acqrel(&rw->state, &w, w + RW_WAITER)); /* A10 */
	rc = wait_turn(rw, phase_of(w), d);
	NL_COUNT(waited, !rc);
	NL_COUNT(timeouts, rc != 0);
	return rc;
}

/* ---------------------------------------------------------------- writers */

/* The owner says that it came past the next writer, if there is one in w. */
static void count_overtaking(nlock_rwlock_t *rw, uint64_t w)
{
	if (!(w & RW_NEXT))
		return;
	if (nl_own_get(&rw->bypass) < UINT16_MAX)
		nl_own_set(&rw->bypass, nl_own_get(&rw->bypass) + 1);
	NL_COUNT(barges, 1);
	NL_HIGHEST(bypass_max, nl_own_get(&rw->bypass));
}

/* T5. False: it is not free; *w is the state. */
static bool take(nlock_rwlock_t *rw, uint64_t *w)
{
	while (is_free(*w)) {
		if (nl_cas64_acq(&rw->state, w, *w | RW_OWNED)) { /* A2 */
			count_overtaking(rw, *w);
			return true;
		}
	}
	return false;
}

/* What the holder of the seat knows. */
struct next {
	int64_t since;               /* when it became the next, nanoseconds */
	bool is_expired;             /* the deadline has passed */
	const struct nl_deadline *d; /* or NULL: for ever */
};

/* T6, T21, or T5 on the way. True: owns the lock. Nobody sleeps on wgate now, so it may change its node. */
static bool register_next(nlock_rwlock_t *rw, struct next *self)
{
	uint64_t w = nl_load64_rlx(&rw->state);
	uint32_t gate = nl_load_rlx(&rw->wgate);

	for (;;) {
		if (w & RW_BIASED)
			w = settled(rw);
		else if (!(w & RW_PROMISED) && take(rw, &w))
			return true;
		else if (!(w & RW_BIASED) &&
			 nl_cas64_rel(&rw->state, &w, w & RW_PROMISED ? w & ~RW_PROMISED : w | RW_NEXT)) /* A11 */
			break;
	}
	nl_wait_enter(&rw->wgate, rw->attr, &gate, gate);
	self->since = nl_now();
	return false;
}

/* T8, or it has been granted already. True: owns the lock. A compare-exchange that fails may find the grant, but does not acquire
 * it: so look again. */
static bool claim(nlock_rwlock_t *rw)
{
	for (;;) {
		uint64_t w = nl_load64_acq(&rw->state); /* A3 */

		if (!(w & RW_NEXT)) {
			NL_COUNT(grants, 1);
			return true;
		}
		if (!is_free(w))
			return false;
		if (nl_cas64_acq(&rw->state, &w, (w | RW_OWNED) & ~RW_WRITER)) { /* A2 */
			NL_COUNT(waited, 1);
			return true;
		}
	}
}

/* T9. False: somebody else has called. */
static bool get_up(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	while (w & RW_ASLEEP) {
		if (nl_cas64_rlx(&rw->state, &w, w & ~RW_ASLEEP))
			return true;
	}
	return false;
}

/* Watches for its budget; then it sleeps (T7) until it has been called, or its deadline passes. */
static void next_waits(nlock_rwlock_t *rw, struct next *self)
{
	const struct nl_deadline *d = self->d;
	uint32_t gate = nl_load_rlx(&rw->wgate);
	struct nl_spin spin;
	uint64_t w, v;

	nl_spin_start(&spin, NL_SPIN_NEAR);
	do {
		w = nl_load64_rlx(&rw->state);
		if (!(w & RW_NEXT) || is_free(w))
			return;
	} while (nl_spin_more(&spin));
	v = w | RW_ASLEEP;
	if (nl_policy_is_due(rw->attr, nl_now() - self->since))
		v |= RW_DUE;
	if (!nl_cas64_rlx(&rw->state, &w, v))
		return;
	while (nl_load_acq(&rw->wgate) == gate) { /* A9 */
		if (self->is_expired && d && get_up(rw))
			return;
		if (self->is_expired)
			d = NULL; /* the call is owed */
		if (nl_wait(&rw->wgate, rw->attr, gate, NL_LANE_BACK, d) == NL_TIMEDOUT)
			self->is_expired = true;
		nl_fresh_rlx(&rw->wgate);
	}
}

/* T10. False: look again. */
static bool leave(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	do {
		if (!(w & RW_NEXT) || is_free(w))
			return false;
	} while (!nl_cas64_rlx(&rw->state, &w, w & ~RW_WRITER));
	if (waiting(w) && !(w & RW_OWNED))
		call_readers(rw, rw->attr, GATE_LOOK);
	NL_COUNT(timeouts, 1);
	return true;
}

/* The holder of the seat. 0: owns the lock. */
static int next_locks(nlock_rwlock_t *rw, struct next *self)
{
	bool is_owner = register_next(rw, self);

	while (!is_owner && !claim(rw)) {
		if (!self->is_expired)
			next_waits(rw, self);
		else if (leave(rw))
			return ETIMEDOUT;
	}
	nl_own_set(&rw->bypass, 0);
	return 0;
}

/* T20, T22: the new owner gives the seat to the head of its queue, and the place of the next writer with it, so that no reader
 * comes in while that one wakes up. A grant is always claimed; if the seat was opened instead, the owner takes all back. */
static void pass_seat(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	while (!nl_cas64_rel(&rw->state, &w, w | RW_NEXT | RW_PROMISED)) /* A14 */
		;
	nlock_mutex_unlock_fair(&rw->seat);
	if (nlock_mutex_trylock(&rw->seat))
		return;
	w = nl_load64_rlx(&rw->state);
	while ((w & RW_PROMISED) && !nl_cas64_rlx(&rw->state, &w, w & ~(RW_NEXT | RW_PROMISED)))
		;
	nlock_mutex_unlock(&rw->seat);
}

static __attribute__((noinline, cold)) int write_slow(nlock_rwlock_t *rw, const struct nl_deadline *d,
						      const struct timespec *abs)
{
	struct next self = { .d = d };
	uint64_t w = settled(rw);
	int rc;

	if (take(rw, &w))
		return 0;
	rc = d ? nlock_mutex_lock_until(&rw->seat, d->clock, abs) : nlock_mutex_lock(&rw->seat);
	if (rc)
		return rc;
	rc = next_locks(rw, &self);
	if (!rc && rw->prefers != NLOCK_RW_PREFER_READERS && has_waiters(nl_load_rlx(&rw->seat.word)))
		pass_seat(rw);
	else
		nlock_mutex_unlock(&rw->seat);
	return rc;
}

/* ---------------------------------------------------------------- the interface */

int nlock_rwlock_init(nlock_rwlock_t *rw, int prefers, nlock_attr_t attr)
{
	int rc;

	if ((uintptr_t)rw % _Alignof(nlock_rwlock_t) || prefers < NLOCK_RW_PHASE_FAIR ||
	    prefers > NLOCK_RW_PREFER_WRITERS)
		return EINVAL;
	rc = nlock_mutex_init(&rw->seat, attr);
	if (!rc)
		rc = -nl_wait_place(&rw->rgate, attr);
	if (!rc)
		rc = -nl_wait_place(&rw->wgate, attr);
	if (rc)
		return rc;
	rw->attr = attr;
	rw->prefers = (uint16_t)prefers;
	rw->bypass = 0;
	nl_store_rlx(&rw->rgate, 0);
	nl_store_rlx(&rw->wgate, 0);
	nl_store64_rlx(&rw->state, 0);
	return 0;
}

int nlock_rwlock_destroy(nlock_rwlock_t *rw)
{
	return settled(rw) & ~RW_REST ? EBUSY : nlock_mutex_destroy(&rw->seat);
}

int nlock_rwlock_tryrdlock(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);
	int rc = enter(rw, &w);

	if (rc != EBUSY)
		return rc;
	w = adopt(rw);
	return enter(rw, &w);
}

int nlock_rwlock_rdlock(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);
	int rc = enter(rw, &w);

	return rc == EBUSY ? read_slow(rw, NULL) : rc;
}

int nlock_rwlock_rdlock_until(nlock_rwlock_t *rw, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc = nlock_rwlock_tryrdlock(rw);

	if (rc != EBUSY)
		return rc;
	rc = nl_deadline_set(&d, clock, abs);
	return rc ? -rc : read_slow(rw, &d);
}

int nlock_rwlock_trywrlock(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	if (take(rw, &w))
		return 0;
	w = settled(rw);
	return take(rw, &w) ? 0 : EBUSY;
}

int nlock_rwlock_wrlock(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	return take(rw, &w) ? 0 : write_slow(rw, NULL, NULL);
}

int nlock_rwlock_wrlock_until(nlock_rwlock_t *rw, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc;

	if (nlock_rwlock_trywrlock(rw) == 0)
		return 0;
	rc = nl_deadline_set(&d, clock, abs);
	return rc ? -rc : write_slow(rw, &d, abs);
}

/* The last reader while somebody is next, or one that may be in a slot. EAGAIN: look again. */
static __attribute__((noinline)) int rdunlock_slow(nlock_rwlock_t *rw, uint64_t w)
{
	if (w & RW_LENT)
		return nl_spread_leave(rw, false);
	if ((w & RW_OWNED) || !active(w))
		return EPERM;
	return release(rw, without_reader) ? EAGAIN : 0;
}

/* T3. */
int nlock_rwlock_rdunlock(nlock_rwlock_t *rw)
{
	uint64_t w;
	int rc;

	do {
		w = nl_load64_rlx(&rw->state);
		while (!(w & (RW_OWNED | RW_LENT)) && active(w) > !!(w & RW_NEXT)) {
			if (nl_cas64_rel(&rw->state, &w, w - RW_ONE)) /* A6 */
				return 0;
		}
		rc = rdunlock_slow(rw, w);
	} while (rc == EAGAIN);
	return rc;
}

/* T14. */
int nlock_rwlock_wrunlock(nlock_rwlock_t *rw)
{
	uint64_t w = nl_load64_rlx(&rw->state);

	if ((w & ~RW_REST) == RW_OWNED && nl_cas64_rel(&rw->state, &w, w & ~RW_OWNED)) /* A5 */
		return 0;
	return release(rw, without_owner);
}

int nlock_rwlock_unlock(nlock_rwlock_t *rw)
{
	return nl_load64_rlx(&rw->state) & RW_OWNED ? nlock_rwlock_wrunlock(rw) : nlock_rwlock_rdunlock(rw);
}

int nlock_rwlock_downgrade(nlock_rwlock_t *rw)
{
	return release(rw, downgraded);
}

/* T18. */
int nlock_rwlock_tryupgrade(nlock_rwlock_t *rw)
{
	uint64_t w = adopt(rw);

	do {
		if (w & RW_BIASED)
			w = settled(rw);
		if ((w & RW_OWNED) || !active(w))
			return EPERM;
		if (active(w) > 1 || (w & RW_TURNING) || !may_read(rw, w))
			return EBUSY;
	} while (!nl_cas64_acq(&rw->state, &w, (w - RW_ONE) | RW_OWNED)); /* A4 */
	count_overtaking(rw, w);
	return 0;
}
