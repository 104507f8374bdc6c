/* SPDX-License-Identifier: MIT
 *
 * cond.c - a condition variable whose queue is the kernel's
 *
 * Promise
 *   A signal releases at least one of the threads that were blocked when it was made, if there were any; a broadcast all
 *   of them. Who begins to wait after a signal has returned is never released by it. A thread is blocked from the moment
 *   at which the mutex can be had by others. No signal is lost to a deadline, an interruption, a stray wake or a
 *   cancellation. Where nobody waits, signal and broadcast are one load.
 *   A wake takes a thread that sleeps at that moment: so who is released is decided by the kernel's queue, and a signal
 *   leaves nothing behind that a later arrival could take.
 *   A broadcast that finds the mutex locked may move waiters to it instead of waking them: cond_move.c.
 *   Leaving is a waiter's last look at the object, and comes before it locks the mutex again. destroy waits for those
 *   that have been released and have not left, who all run, or are woken by it; it never waits for one that is blocked.
 *
 * Word
 *   state    64 bits, on which nobody sleeps:
 *     waiting   22 bits  registered and not released
 *     inside    22 bits  released and not out, and callers of signal and broadcast that still work on the object.
 *                        waiting + inside is exact: the number of threads that will look at the object again. So 22 bits
 *                        are enough: Linux has no more threads. Which of the two a thread is counted by is not its own:
 *                        the one count or the other goes down by one when somebody leaves
 *     calling    8 bits  of the callers, those whose wake of one has still to come
 *     moving     6 bits  of all inside, those who release all and whose wake of all has still to come. Once at its maximum
 *                        it stays there until nobody is counted
 *     EPOCH              changes as all who wait are sent away; else constant
 *     SENT               some have been sent away, and somebody is inside. Set only by T13, if nobody is inside; cleared
 *                        as nobody is
 *     WATCHED            the only thread that is counted watches the gate and cannot sleep before this is clear. Set only by
 *                        that thread, as it registers
 *     TOLD               the watcher has been released, and nobody will wake it. Set only on WATCHED, which goes; cleared
 *                        by the watcher alone, as it leaves, and there is no other watcher before that
 *     LEAVING            destroy waits for the last one inside
 *     TURN               changes when a forked child forgets the threads of its parent; else constant
 *     At rest: nothing but TURN and EPOCH.
 *   gate     32 bits, on which waiters sleep, in the back lane, and destroy, in the front lane. While EPOCH is set it is gate2
 *     G_OUT              the last one inside has left, and destroy may return
 *     COUNTED            the mutex counts those whom T14 has released
 *     the rest           goes up by one when all who are registered are released
 *
 * Transitions
 *   T1   waiting+1               enter       a waiter that holds the mutex, after it has read the gate. Alone: WATCHED,
 *                                            if there is a CPU to watch on and it has paid; else WATCHED goes
 *   T2   waiting-1 inside+2      signal      one is to be released; the caller is inside, and calling. With nobody
 *        calling+1                           waiting, but another call under way: inside+1, calling+1
 *   T3   waiting=0 inside+=all   release     broadcast, and a signal that finds WATCHED or somebody moving: the caller is
 *        moving+1                            inside too; then gate+1, and all are woken. WATCHED becomes TOLD: then nobody
 *                                            sleeps
 *   T4   waiting=0 inside+=all   release_rest  signal, whose wake found nobody, so that all are on their way to sleep;
 *        moving+1                            then as T3. Not if nobody but the caller is inside
 *   T5   inside-1                leave       whoever was released, or woken by mistake. waiting-1, if nobody is counted
 *                                            as inside, which takes a mistake. Who was sent away: after T14
 *   T6   T5 with calling-1,      leave       signal; whoever moved the gate
 *        moving-1
 *   T7   waiting-1 inside+1      count_out   deadline passed, or woken while SENT is set and the gate has not moved: it
 *                                            releases itself; then T5. If it finds that the gate has moved on, it was
 *                                            released before, and the place that it has taken was that of a later
 *                                            arrival: T4, as for a signal
 *   T8   WATCHED cleared         watch       the watcher, before it sleeps. If it is TOLD it does not
 *   T9   LEAVING set             destroy     nobody waits, somebody is inside
 *   T10  gate+OUT                leave       whoever left last, if LEAVING; then wakes the front lane
 *   T11  all counts = 0          adopt       a forked child: TURN changes, then the gate's mark
 *   T12  T2 or T3, then T6;      abandon     cancelled while it slept, was about to or had been woken; or its lock could not be
 *        then T5                             given up. It is still counted when it signals
 *   T13  waiting=0 inside+=all   send        broadcast, if there is nothing but waiting: as T3, and EPOCH changes, SENT is set
 *        moving+1                            and the gate is the old one. Then their mutex counts them, if it is locked,
 *   T14  old gate +1 (COUNTED)   send        and they are woken, or some of them, and the rest moved: cond_move.c
 *
 * Who is released
 *   A waiter is out of it when a wake has taken it out of the queue or the gate has moved on from what it read; until then
 *   it is blocked. Always: waiting + calling >= blocked, but for those whom a T3, T4 or T7 under way will release by the
 *   gate. For T1 adds one to both sides; T2 moves one from the first term to the second; a wake that finds somebody, and
 *   the T6 after it, take one from both sides, and one that finds nobody is followed by T4. T5 leaves `waiting` alone, or,
 *   if nobody is inside, then waiting is all that will look at the object again, this one and every blocked one among
 *   them. T7 takes one from both sides, unless it had been released by the gate, which it sees (A2, A3); it mends that.
 *   A thread that the gate has released may still be asleep while the wake of all is to come, and a signal's wake could
 *   find it in front of a blocked one. So a signal that finds somebody moving releases all. If the moving begins after
 *   T2, all whom that signal is for are released by it.
 *   So where signal and broadcast find waiting and calling zero, nobody is blocked whom nobody releases. With waiting zero
 *   and calling not, somebody may be blocked for whom another call's wake is still to come, and that wake might find a
 *   later arrival in front of it: then the call makes a wake of its own.
 *   A wake that finds a thread other than the one that had slept longest is no fault: both were blocked at that moment.
 *   Who is cancelled cannot tell whether a wake has taken it out of the queue. If one has, the signal was for it alone, perhaps, and
 *   another was blocked that it might have released: so it signals once more (T12), and whoever was blocked then and still is
 *   has had its signal. If none has, then to the sums this is a signal like any other, and after it a waiter that leaves
 *   as if woken by mistake (T5); somebody may wake for nothing. If all were released by the gate, the signal is for later arrivals: for
 *   nothing too. It signals before it leaves, since leaving is its last look.
 *
 * Nobody sleeps for ever
 *   A waiter sleeps on the gate as it was before it registered. If all are released by the gate, it is found by the wake
 *   after that, or sent back by the kernel. If one is to be released (T2), either the wake finds a sleeper or T4 follows.
 *   The watcher sleeps only if WATCHED was cleared by itself or by T1, and then no T3 has counted on its being awake.
 *   destroy sleeps on a gate that does not say OUT. Whoever makes `inside` zero sees LEAVING, or destroy sees the zero.
 *   A stray wake makes a waiter leave: a wake-up for nothing. T5 keeps the sum right.
 *
 * Limits
 *   gate: 30 bits. A waiter that is kept from running between reading the gate and sleeping, while all are released
 *   exactly 2^30 times or a multiple, each time with somebody waiting, is not released by the last of these.
 *   calling: at 255 a signal releases all. moving: at 63 every signal does, until nobody is inside.
 *
 * Orders
 *   A1  enter: load acquire      pairs with A4: who reads the gate after T3 registers after T3, and is not counted by it
 *   A2  enter: CAS release       pairs with A3: who sees a registration sees the gate that its thread had read
 *   A3  count_out: CAS acquire  see A2: if it counts itself out for a later arrival, it sees that the gate has moved on
 *   A4  release: add release     pairs with A1
 *   A5  leave: CAS release       pairs with A6, A7: what was done to the object comes before its end
 *   A6  adopt: load acquire      for destroy, see A5: the chain of read-modify-writes reaches it from all who have left.
 *                                In a forked child, see A2: who sees a registration sees the mark that came before it
 *   A7  leave: CAS acquire       the last one takes with it what all others did, and hands it on by A8
 *   A8  leave: add release       pairs with A9
 *   A9  destroy: load acquire    see A8
 *   A1 survives the sweep, and so
 *   A4 survives the sweep: without them the gate might be read after a T3 that counts the later registration, which takes
 *   a load that foresees a store (load buffering). The explorer makes no such executions; the language allows them.
 *   Relaxed and why: who waits and who signals are ordered by the mutex. That a sleeper and a wake do not miss each other
 *   is the kernel's doing.
 *
 * Checked by tests/explore. That a wake takes sleepers out of the kernel's queue, and nothing else can be consumed, is what
 * "futex2 has a queue" means to a condition variable; glibc bug 25847 is what happens to those that keep their own.
 */
#include "atomic.h"
#include "attr.h"
#include "cond.h"
#include "mutex.h"
#include "spin.h"
#include "stats.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <nlock.h>

_Static_assert(sizeof(nlock_cond_t) == 32 && _Alignof(nlock_cond_t) == 8, "the size is ABI");
_Static_assert(offsetof(nlock_cond_t, node) == 12, "the kernel reads the node right after the gate");

static uint64_t waiting(uint64_t s)
{
	return s & C_WAITING;
}

static bool is_alone(uint64_t s)
{
	return (s & C_COUNTS) == C_INSIDE;
}

/* Nobody waits, or all who do have been released. */
static bool has_nobody(uint64_t s)
{
	return !(s & (C_WAITING | C_CALLING));
}

static bool is_full(uint64_t s, uint64_t field)
{
	return (s & field) == field;
}

/* All who wait are counted as inside, and one is moving. */
static uint64_t all_released(uint64_t s)
{
	s += waiting(s) * (C_INSIDE - C_WAITER);
	return is_full(s, C_MOVING) ? s : s + C_MOVE;
}

/* One has left. What goes besides: `mine`, its flags and its places in the counts of callers. */
static uint64_t without(uint64_t s, uint64_t mine)
{
	if (is_full(s, C_MOVING))
		mine &= ~C_MOVING;
	s -= mine & (C_CALLING | C_MOVING);
	s &= ~(mine & (C_WATCHED | C_TOLD));
	s -= s & (C_COUNTS - C_WAITING) ? C_INSIDE : C_WAITER;
	if (!(s & (C_COUNTS - C_WAITING)))
		s &= ~C_SENT;
	return s & C_COUNTS ? s : s & ~C_MOVING;
}

/* T11, if need be. Returns the state. A thread registers only after the mark is its own process's, set by itself or seen:
 * so all that are counted until then are the parent's. The TURN keeps a late helper from hitting a state that looks the
 * same again. */
static uint64_t adopt(nlock_cond_t *c)
{
	for (;;) {
		uint64_t s = nl_load64_acq(&c->state); /* A6 */
		uint32_t g = nl_load_rlx(&c->gate), g2 = nl_load_rlx(&c->gate2);

		if (!nl_wait_is_foreign(&c->gate, c->attr))
			return s;
		if (s & ~C_TURN)
			nl_cas64_rlx(&c->state, &s, (s & C_TURN) ^ C_TURN);
		else if (g2 & G_OUT)
			nl_cas_rlx(&c->gate2, &g2, g2 & ~G_OUT);
		else
			nl_wait_adopt(&c->gate, &g, g & ~G_OUT);
	}
}

/* T5, T6, T10: the last look at the object, unless destroy waits for it. */
uint64_t nl_cond_leave(nlock_cond_t *c, struct nl_cond_waiter *self, uint64_t mine)
{
	const nlock_attr_t attr = c->attr;
	uint64_t s = nl_load64_rlx(&c->state), v;

	do {
		if (self && nl_cond_is_sent(s, self))
			nl_cond_await(c, self);
		v = without(s, mine);
	} while (!nl_cas64_acqrel(&c->state, &s, v)); /* A5, A7 */
	if ((v & C_LEAVING) && !(v & C_COUNTS)) {
		nl_add_rel(nl_cond_gate(c, v), G_OUT); /* A8 */
		nl_wake(nl_cond_gate(c, v), attr, 1, NL_LANE_FRONT);
	}
	return v;
}

/* ---------------------------------------------------------------- releasing */

/* The second half of T3 and T4. */
static void move_gate(nlock_cond_t *c, uint64_t s, bool may_sleep)
{
	uint32_t *gate = nl_cond_gate(c, s);

	nl_add_rel(gate, G_ONE); /* A4 */
	if (may_sleep)
		nl_wake(gate, c->attr, INT_MAX, NL_LANE_BACK);
}

/* T4. The caller is inside. Returns what it must leave with, besides. */
static uint64_t release_rest(nlock_cond_t *c)
{
	uint64_t s = nl_load64_rlx(&c->state);

	do {
		if (is_alone(s))
			return 0;
	} while (!nl_cas64_rlx(&c->state, &s, all_released(s)));
	move_gate(c, s, true);
	return C_MOVE;
}

/* T3 */
static int release(nlock_cond_t *c, uint64_t s)
{
	uint64_t v;

	do {
		if (has_nobody(s))
			return 0;
		v = all_released(s) + C_INSIDE;
		if (s & C_WATCHED)
			v ^= C_WATCHED | C_TOLD;
	} while (!nl_cas64_rlx(&c->state, &s, v));
	move_gate(c, s, !(s & C_WATCHED));
	nl_cond_leave(c, NULL, C_MOVE);
	return 0;
}

/* T2, T4, T6 */
static __attribute__((noinline, cold)) int signal_slow(nlock_cond_t *c)
{
	uint64_t s = adopt(c), mine = C_CALL, v;

	do {
		if (has_nobody(s))
			return 0;
		if ((s & (C_WATCHED | C_MOVING | C_SENT)) || is_full(s, C_CALLING))
			return release(c, s);
		v = s + C_CALL + C_INSIDE;
		if (waiting(s))
			v += C_INSIDE - C_WAITER;
	} while (!nl_cas64_rlx(&c->state, &s, v));
	if (!nl_wake(nl_cond_gate(c, s), c->attr, 1, NL_LANE_BACK))
		mine |= release_rest(c);
	nl_cond_leave(c, NULL, mine);
	return 0;
}

/* ---------------------------------------------------------------- waiting */

/* T1 */
void nl_cond_enter(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	uint64_t s = adopt(c), v;

	nl_cond_name(c, self->m);
	do {
		self->gate = nl_load_acq(nl_cond_gate(c, s)); /* A1 */
		self->watches = !(s & C_COUNTS) && !self->is_late && nl_watch_try(&c->luck);
		v = (s & ~C_WATCHED) + C_WAITER;
		if (self->watches)
			v |= C_WATCHED;
	} while (!nl_cas64_rel(&c->state, &s, v)); /* A2 */
	self->epoch = v & C_EPOCH;
	self->mine = v & C_WATCHED ? C_WATCHED | C_TOLD : 0;
}

static bool is_released(nlock_cond_t *c, const struct nl_cond_waiter *self)
{
	return nl_load_rlx(nl_cond_gate(c, self->epoch)) != self->gate;
}

/* T8. True: it has been released. */
static bool watch(nlock_cond_t *c, const struct nl_cond_waiter *self)
{
	uint64_t s;
	struct nl_spin spin;

	nl_spin_start(&spin, NL_SPIN_NEAR);
	do {
		if (is_released(c, self))
			return true;
	} while (nl_spin_more(&spin));
	s = nl_load64_rlx(&c->state);
	while ((s & C_WATCHED) && !nl_cas64_rlx(&c->state, &s, s & ~C_WATCHED))
		;
	return s & C_TOLD;
}

/* T7, if `when` is in the state or zero. With nobody waiting all have been released, also this one; and so has one that was sent away.
 * False: it has been released. */
static bool count_out(nlock_cond_t *c, struct nl_cond_waiter *self, uint64_t when)
{
	uint64_t s = nl_load64_rlx(&c->state);

	do {
		if ((s & when) != when || !waiting(s) || nl_cond_is_sent(s, self) || is_released(c, self))
			return false;
	} while (!nl_cas64_acq(&c->state, &s, s - C_WAITER + C_INSIDE)); /* A3 */
	if (!is_released(c, self))
		return true;
	self->mine |= release_rest(c);
	return false;
}

/* Returns what the wait returns. */
static int sleep_until_released(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	uint32_t *gate = nl_cond_gate(c, self->epoch);

	while (!is_released(c, self)) {
		switch (nl_wait(gate, c->attr, self->gate, NL_LANE_BACK, self->d)) {
		case NL_WOKEN:
			self->is_woken = true;
			count_out(c, self, C_SENT);
			return 0;
		case NL_TIMEDOUT:
			if (!count_out(c, self, 0))
				return 0;
			NL_COUNT(timeouts, 1);
			return ETIMEDOUT;
		default:
			break;
		}
	}
	return 0;
}

int nl_cond_block(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	bool is_over = false;
	int rc = 0;

	if (self->watches) {
		is_over = watch(c, self);
		nl_watch_tell(&c->luck, is_over);
	}
	if (!is_over)
		rc = sleep_until_released(c, self);
	nl_cond_leave(c, self, self->mine);
	return rc;
}

/* T12 */
void nl_cond_abandon(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	nlock_cond_signal(c);
	nl_cond_leave(c, self, self->mine);
}

static int wait_with(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	nlock_mutex_t *m = self->m;
	int rc;

	if (!is_owned(nl_load_rlx(&m->word)))
		return EPERM;
	nl_cond_enter(c, self);
	nlock_mutex_unlock(m);
	rc = nl_cond_block(c, self);
	if (self->is_counted)
		nl_mutex_lock_expected(m, self->is_woken);
	else
		nlock_mutex_lock(m);
	return rc;
}

/* ---------------------------------------------------------------- the public functions */

int nlock_cond_init(nlock_cond_t *c, nlock_attr_t attr)
{
	int rc;

	if ((uintptr_t)c % _Alignof(nlock_cond_t) || !nl_attr_is_valid(attr) || nl_attr_has_handoff(attr))
		return EINVAL;
	rc = nl_wait_place(&c->gate, attr);
	if (rc)
		return -rc;
	c->attr = attr;
	c->luck = 0;
	nl_store64_rlx(&c->state, 0);
	nl_store_rlx(&c->gate, 0);
	nl_store_rlx(&c->gate2, 0);
	nl_store_rlx(&c->mutex, 0);
	return 0;
}

int nlock_cond_destroy(nlock_cond_t *c)
{
	uint64_t s;
	uint32_t *gate, g;

	do {
		s = adopt(c);
		if (waiting(s))
			return EBUSY;
		if (!(s & C_COUNTS))
			return 0;
	} while (!nl_cas64_rlx(&c->state, &s, s | C_LEAVING));
	if (s & C_SENT)
		nl_cond_rouse(c);
	gate = nl_cond_gate(c, s);
	while (!((g = nl_load_acq(gate)) & G_OUT)) /* A9 */
		nl_wait(gate, c->attr, g, NL_LANE_FRONT, NULL);
	nl_store_rlx(gate, g & ~G_OUT);
	nl_store64_rlx(&c->state, s & (C_EPOCH | C_TURN));
	return 0;
}

int nlock_cond_wait(nlock_cond_t *c, nlock_mutex_t *m)
{
	struct nl_cond_waiter self = { .m = m };

	return wait_with(c, &self);
}

int nlock_cond_wait_until(nlock_cond_t *c, nlock_mutex_t *m, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	struct nl_cond_waiter self = { .m = m, .d = &d };
	int rc = nl_deadline_set(&d, clock, abs);

	if (rc == -EINVAL)
		return EINVAL;
	self.is_late = rc;
	return wait_with(c, &self);
}

int nlock_cond_signal(nlock_cond_t *c)
{
	uint64_t s = nl_load64_rlx(&c->state);

	return has_nobody(s) ? 0 : signal_slow(c);
}

int nlock_cond_broadcast(nlock_cond_t *c)
{
	uint64_t s = nl_load64_rlx(&c->state);

	if (has_nobody(s))
		return 0;
	s = adopt(c);
	return nl_cond_send(c, s) ? 0 : release(c, s);
}
