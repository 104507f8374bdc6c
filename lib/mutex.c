/* SPDX-License-Identifier: MIT
 *
 * mutex.c - a mutex whose hand-off is one number
 *
 * Promise
 *   Exclusion; what was done before an unlock is visible after the next lock. Nobody sleeps for ever on a lock that is
 *   released again and again. The thread at the head is overtaken at most `limit` times (policy.h) by ordinary unlocks,
 *   whatever the scheduler does. An uncontended call makes no system call. After the store that releases, unlock does
 *   not touch the object; it may make one wake call with its address. So the next owner may free it at once, unless
 *   such a call reads memory (wait.c: placement NODE and FIRST).
 *   At the head is the thread that HEAD speaks of. It got there by registering when nobody was registered, or by being
 *   the first that a wake found in the kernel's queue. It stays until it owns the lock or its deadline passes: it may
 *   go back to sleep, but in a lane of its own, so that having been woken costs nobody its place.
 *
 * Word (mutex.h)
 *   LOCKED   set while owned or granted. Cleared only by a release that opens.
 *   GRANT    released to the head. Set only by a release, only if HEAD is not NONE; implies LOCKED. Cleared only by the
 *            head, as it claims; never withdrawn.
 *   HEAD     NONE    nobody is at the head.
 *            CALLED  the owner's wake took a sleeper out of the back lane, who has not answered yet. Set only by the
 *                    owner, on NONE, right before that wake; taken back by the same owner if the wake found nobody.
 *            AWAKE   the head runs or is being woken, and must change the word before it can sleep again.
 *            FRONT   the head sleeps in the front lane, or is on its way. Set only by the head: on AWAKE, or as it
 *                    registers.
 *            Back to NONE only by the head, as it claims, takes or leaves.
 *   ROUND    in which of two lines later waiters sleep, of a cohort lock only: see cohort.c. Flipped only by the owner, T15, while
 *            somebody is registered; cleared as the count becomes zero, and by T14.
 *   DUE      the head has been one for longer than the time bound, and goes back to sleep. Cleared with HEAD.
 *   CROWD    many of those who wait have been moved here at once. Set only by T16; cleared by T6, and as the count becomes zero.
 *   count    registered waiters, exact: each adds ONE before it sleeps, or is added by T16, and subtracts it as it acquires or
 *            leaves. 25 bits: more than there can be threads. At count zero all flags but LOCKED are clear. At rest: all zero.
 *
 * States                          who may change it
 *   0                             any thread: T1
 *   LOCKED, count 0               the owner: T8; a newcomer: T3
 *   LOCKED, any count             a broadcast, on behalf of those whom it moves: T16
 *   LOCKED, count n, any HEAD     the owner: T6, T7, T9, T10, T15; newcomers: T4; the head: T11, T13; other waiters: T12, T13
 *   LOCKED GRANT, HEAD not NONE   the head: T5; the one that was called: T12; newcomers: T4; other waiters: T13
 *   open, count n, HEAD not FRONT any thread: T2; any waiter: T5; one that was woken: T12
 *   Impossible: GRANT without LOCKED; GRANT or DUE with HEAD NONE; open with FRONT; any HEAD but NONE at
 *   count 0.
 *
 * Transitions
 *   T1   0 -> LOCKED                     lock, trylock
 *   T2   open -> LOCKED                  barge         newcomer; overtakes the head, if there is one
 *   T3   LOCKED -> count 1 AWAKE|FRONT   enter         first waiter: it is the head. FRONT if the limit is > 0:
 *                                                      then it had its chance to watch before
 *   T4   n -> n+1                        enter         later waiter: it is not
 *   T5   open or GRANT -> LOCKED, n-1    acquire       a waiter; GRANT by the head alone, which takes HEAD and DUE along
 *   T6   NONE -> CALLED                  call_head     owner, then wakes one in the back lane; found one: HEAD stays
 *                                                      A cohort lock chooses among the sleepers: cohort.c. CROWD goes
 *   T7   CALLED -> NONE                  call_head     owner, if that wake found nobody
 *   T8   LOCKED -> 0                     unlock        nobody waits
 *   T9   LOCKED -> open                  unlock_slow   FRONT becomes AWAKE, and the front lane is woken after it. NONE
 *                                                      (after T7, or CROWD): one is woken after it, in whatever lane
 *   T10  LOCKED -> LOCKED GRANT          unlock_slow   HEAD not NONE; FRONT as in T9
 *   T11  AWAKE -> FRONT (DUE)            head_waits    the head has watched for its budget, or watching does not pay here
 *   T12  NONE or CALLED -> AWAKE         answer        a thread that was woken in the back lane, or by a broadcast
 *   T13  n -> n-1                        leave         deadline passed, neither open nor granted to it; a head takes
 *                                                      HEAD and DUE along
 *   T14  any -> LOCKED or 0              adopt         first slow call of this process on the object. In the child of a
 *                                                      fork the waiters that the word counts are the parent's, and what was
 *                                                      granted to one of them is free
 *   T15  ROUND flips                     cohort.c      owner of a cohort lock, as the limit is reached
 *   T16  n -> n+k, CROWD                 expect        anybody, while LOCKED, for k threads that wait elsewhere and are
 *                                                      moved here next: see Crowds
 *
 * Nobody sleeps for ever
 *   A waiter sleeps only on a LOCKED word, and the head only on one that says FRONT and not GRANT. So there is an owner,
 *   or a head about to be one, and its release does this:
 *   FRONT   becomes AWAKE in the releasing store, so either the head is asleep and the wake finds it, or it is on its
 *           way and the kernel, which compares under the lock of its queue, sends it back.
 *   AWAKE   that thread cannot sleep without T11, which fails on a word that was opened or granted.
 *   CALLED  the wake took a thread out of the queue. It returns NL_WOKEN and reads the newest word (a read-modify-write:
 *           a wake gives the woken no view of memory), finds CALLED and answers, or finds that another woken thread
 *           has, which is then the head.
 *   NONE    T6 is tried, once. If its wake finds nobody, each registered thread is still on its way to sleep on a word
 *           that T9 changes, or gets there before T9 and is found by the wake after it. Only once, because owner and
 *           waiters could chase each other. With CROWD it is left out, and T9 and the wake after it do the same.
 *   A wake that hits a thread by mistake (made late, for an earlier object at this address) at worst makes it the head
 *   when there is none.
 *
 * The bound
 *   `bypass` counts T2, and T5 by a waiter that is not the head, while there is a head; each adds one as owner. The head
 *   zeroes it as it acquires, and so does an owner that calls a head. A release with bypass >= limit grants, and a
 *   granted lock is taken by nobody else. Of a cohort lock `bypass` counts for all who wait: see cohort.c.
 *
 * Crowds
 *   A broadcast counts those here whom it is about to move (T16), and then moves them in one step that also wakes at least one, if
 *   any were asleep. Moved ones sleep in the back lane. Whoever has been woken, or was on its way to sleep, goes on by
 *   lock_expected, as a waiter that is not the head, and answers (T12) if it has been woken.
 *   Until it has been moved a waiter is as one on its way to sleep. If the lock has been released in between, nobody looks for it, but
 *   one that was woken comes after the move, and finds the lock open, or an owner or a head whose release is still to come.
 *   Each of a crowd wants the lock once, and who is called while it is held finds it held, mostly. So while CROWD is set T6 is left
 *   out by a release that opens, HEAD stays NONE, and one is woken after T9. Then T2 counts also while there is no head, and after
 *   `limit` of these T6 is made: so newcomers overtake the crowd at most `limit` times before it has a head. FIFO, whose limit
 *   is zero, leaves out nothing. Moved waiters stand in the line in the order in which they were moved, behind those who slept
 *   there or, where the kernel keeps both queues in one chain, among them, in order of age. Who was woken instead has no place in
 *   the line: it may answer first, or fall asleep last.
 *   There are no crowds at a cohort lock, in whose line everybody sleeps in the lane of a node and of a round.
 *
 * Orders
 *   A1  lock, trylock: CAS acquire   pairs with A4, A5: sees the last owner's section, and its `bypass`
 *   A2  barge: CAS acquire           the same
 *   A3  acquire: CAS acquire         the same; only read-modify-writes come between: A5's release sequence reaches it
 *   A4  unlock: CAS release          publishes the section to A1, A2, A3
 *   A5  unlock_slow: CAS release     the same, open or granted
 *   A6  destroy: load acquire        pairs with A4, A5: the caller may reuse the memory
 *   Relaxed and why: the other transitions hand no data on. That a sleeper and a wake do not miss each other is the
 *   kernel's doing, see above.
 *
 * Checked by tests/explore: every interleaving of small cases under the C11 memory model. Open and grant are the two
 * releases of the 2002 futex discussion (Franke, Russell); counting overtakings is nsync's LONG_WAIT and parking_lot's
 * eventual fairness made exact.
 */
#include "atomic.h"
#include "mutex.h"
#include "policy.h"
#include "spin.h"
#include "stats.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>

/* What a thread in lock_slow knows of itself. */
struct waiter {
	uint32_t seen;               /* the word as last read */
	bool is_head, is_expired;    /* expired: the deadline has passed */
	int64_t since;               /* when it became the head, nanoseconds */
	const struct nl_deadline *d; /* or NULL: for ever */
};

static bool may_acquire(const struct waiter *self)
{
	return is_open(self->seen) || (self->is_head && (self->seen & M_GRANT));
}

static void become_head(struct waiter *self)
{
	self->is_head = true;
	self->since = nl_now();
}

/* The owner says that it, or the head that it has called, has overtaken somebody. T15 is due when the limit is reached. */
void nl_mutex_count_overtaking(nlock_mutex_t *m)
{
	const uint32_t n = nl_own_get(&m->bypass) + 1u;

	if (n <= UINT16_MAX)
		nl_own_set(&m->bypass, (uint16_t)n);
	if (n == nl_policy_limit(m->attr) && nl_policy_is_cohort(m->attr))
		nl_cohort_end_round(m);
	NL_COUNT(barges, 1);
	NL_HIGHEST(bypass_max, nl_own_get(&m->bypass));
}

/* Who takes the lock on the word w, not as its head, overtakes the head; of a cohort lock, all who wait. */
static bool overtakes(const nlock_mutex_t *m, uint32_t w)
{
	return nl_policy_is_cohort(m->attr) ? has_waiters(w) : head_of(w) != M_HEAD_NONE;
}

static bool has_crowd(uint32_t w)
{
	return w & M_CROWD;
}

/* T2. False: it is not open; *w is the word. */
static bool barge(nlock_mutex_t *m, uint32_t *w)
{
	while (is_open(*w)) {
		if (nl_cas_acq(&m->word, w, *w | M_LOCKED)) { /* A2 */
			if (overtakes(m, *w) || has_crowd(*w))
				nl_mutex_count_overtaking(m);
			return true;
		}
	}
	return false;
}

/* T14. Every registration comes after it, so all that are counted until then are the parent's. Returns the word. */
static uint32_t adopt(nlock_mutex_t *m, uint32_t w)
{
	while (nl_wait_is_foreign(&m->word, m->attr)) {
		uint32_t mine = w & M_GRANT ? 0 : w & M_LOCKED;

		if (nl_wait_adopt(&m->word, &w, mine)) {
			nl_store8_rlx(&m->watched, 0);
			return mine;
		}
	}
	return w;
}

/* T6, T7: the owner looks for a head, if somebody waits and there is none. *w is the word, before and after. False: it has not
 * looked. */
static bool call_head(nlock_mutex_t *m, uint32_t *w)
{
	do {
		if (!has_waiters(*w) || head_of(*w) != M_HEAD_NONE)
			return false;
	} while (!nl_cas_rlx(&m->word, w, with_head(*w, M_HEAD_CALLED) & ~M_CROWD));
	if (!nl_policy_is_cohort(m->attr))
		nl_own_set(&m->bypass, 0);
	if (nl_policy_is_cohort(m->attr) ? nl_cohort_call(m, *w) : nl_wake(&m->word, m->attr, 1, NL_LANE_BACK) > 0) {
		*w = nl_load_rlx(&m->word);
		return true;
	}
	*w = with_head(*w, M_HEAD_CALLED) & ~M_CROWD;
	while (head_of(*w) == M_HEAD_CALLED) {
		if (nl_cas_rlx(&m->word, w, with_head(*w, M_HEAD_NONE)))
			*w = with_head(*w, M_HEAD_NONE);
	}
	return true;
}

/* Is it better to watch for a moment than to register at once? If nobody waits and the lock will be opened, registering
 * takes the owner's fast path away for nothing. If it was just granted to its only waiter, who registers after the claim
 * is the head; if that waiter was asleep, all who come meanwhile would fall asleep behind it, and every later grant would
 * go to a sleeper: a convoy. */
static bool is_worth_watching(nlock_attr_t attr, uint32_t w)
{
	return w & M_GRANT ? has_one_waiter(w) : w == M_LOCKED && nl_policy_limit(attr) > 0;
}

/* The first to come watches; who comes meanwhile does not, and takes the hint away, lest that of a dead watcher stays. Nor
 * does anybody where watching was in vain: an owner that needs this CPU, as when it has woken the watcher while it held the
 * lock, is kept from its release. Returns the word. */
static uint32_t watch(nlock_mutex_t *m, uint32_t w)
{
	struct nl_spin spin;

	if (!is_worth_watching(m->attr, w) || !nl_watch_ns())
		return w;
	if (!nl_load8_rlx(&m->watched) && nl_watch_try(&m->luck)) {
		nl_spin_start(&spin, NL_SPIN_FAR);
		nl_store8_rlx(&m->watched, 1);
		while (is_worth_watching(m->attr, w) && nl_spin_more(&spin))
			w = nl_load_rlx(&m->word);
		nl_watch_tell(&m->luck, !is_worth_watching(m->attr, w));
	}
	nl_store8_rlx(&m->watched, 0);
	return w;
}

/* T3, T4, or T2 on the way. True: owns the lock. */
static bool enter(nlock_mutex_t *m, struct waiter *self)
{
	const uint32_t head = nl_policy_limit(m->attr) ? M_HEAD_FRONT : M_HEAD_AWAKE;

	self->seen = watch(m, self->seen);
	for (;;) {
		uint32_t w;

		if (barge(m, &self->seen))
			return true;
		self->is_head = !has_waiters(self->seen);
		w = (self->is_head ? with_head(self->seen, head) : self->seen) + M_ONE;
		if (self->is_head ? nl_wait_enter(&m->word, m->attr, &self->seen, w)
				  : nl_cas_rlx(&m->word, &self->seen, w)) {
			self->seen = w;
			if (self->is_head)
				become_head(self);
			return false;
		}
	}
}

/* T5. True: owns the lock. */
static bool acquire(nlock_mutex_t *m, struct waiter *self)
{
	uint32_t w;

	do {
		if (!may_acquire(self))
			return false;
		w = without_waiter(self->seen, self->is_head) | M_LOCKED;
	} while (!nl_cas_acq(&m->word, &self->seen, w)); /* A3 */
	NL_COUNT(grants, (self->seen & M_GRANT) != 0);
	NL_COUNT(waited, (self->seen & M_GRANT) == 0);
	if (!self->is_head) {
		if (overtakes(m, w))
			nl_mutex_count_overtaking(m);
		return true;
	}
	if (!nl_policy_is_cohort(m->attr) || !has_waiters(w))
		nl_own_set(&m->bypass, 0);
	if (nl_policy_calls_early(m->attr) && nl_watch_ns())
		call_head(m, &w);
	return true;
}

static enum nl_outcome sleep_in(nlock_mutex_t *m, struct waiter *self, uint32_t lane)
{
	enum nl_outcome why = nl_wait(&m->word, m->attr, self->seen, lane, self->d);

	self->is_expired = why == NL_TIMEDOUT;
	self->seen = nl_fresh_rlx(&m->word);
	return why;
}

/* True: it may acquire. Watching is left out where it has been in vain: when more threads are runnable than there are CPUs,
 * the head would watch a lock whose next owner needs this CPU. */
static bool watch_as_head(nlock_mutex_t *m, struct waiter *self)
{
	struct nl_spin spin;

	if (!nl_watch_try(&m->luck))
		return false;
	nl_spin_start(&spin, NL_SPIN_NEAR);
	do {
		self->seen = nl_load_rlx(&m->word);
		if (may_acquire(self))
			break;
	} while (nl_spin_more(&spin));
	nl_watch_tell(&m->luck, may_acquire(self));
	return may_acquire(self);
}

/* The head, if awake, watches for its budget; then it sleeps in front (T11). */
static void head_waits(nlock_mutex_t *m, struct waiter *self)
{
	if (head_of(self->seen) == M_HEAD_AWAKE) {
		uint32_t w;

		if (watch_as_head(m, self))
			return;
		w = with_head(self->seen, M_HEAD_FRONT);
		if (nl_policy_is_due(m->attr, nl_now() - self->since))
			w |= M_DUE;
		if (!nl_cas_rlx(&m->word, &self->seen, w))
			return;
		self->seen = w;
	}
	sleep_in(m, self, NL_LANE_FRONT);
}

/* T12, by a thread that was woken. */
static void answer(nlock_mutex_t *m, struct waiter *self)
{
	while (head_of(self->seen) == M_HEAD_NONE || head_of(self->seen) == M_HEAD_CALLED) {
		uint32_t w = with_head(self->seen, M_HEAD_AWAKE);

		if (nl_cas_rlx(&m->word, &self->seen, w)) {
			self->seen = w;
			become_head(self);
			return;
		}
	}
}

/* Everybody else sleeps at once, and becomes the head if a wake says so. */
static void line_waits(nlock_mutex_t *m, struct waiter *self)
{
	const uint32_t lane = nl_policy_is_cohort(m->attr) ? nl_cohort_lane(self->seen) : NL_LANE_BACK;

	if (sleep_in(m, self, lane) == NL_WOKEN)
		answer(m, self);
}

/* T13. False: look again. */
static bool leave(nlock_mutex_t *m, struct waiter *self)
{
	bool done = nl_cas_rlx(&m->word, &self->seen, without_waiter(self->seen, self->is_head));

	NL_COUNT(timeouts, done);
	return done;
}

/* A registered waiter, until it owns the lock or its deadline has passed. */
static int wait_for(nlock_mutex_t *m, struct waiter *self)
{
	while (!acquire(m, self)) {
		if (self->is_expired) {
			if (leave(m, self))
				return ETIMEDOUT;
		} else if (self->is_head) {
			head_waits(m, self);
		} else {
			line_waits(m, self);
		}
	}
	return 0;
}

static __attribute__((noinline, cold)) int lock_slow(nlock_mutex_t *m, uint32_t seen, const struct nl_deadline *d)
{
	struct waiter self = { .seen = adopt(m, seen), .d = d };

	return barge(m, &self.seen) || enter(m, &self) ? 0 : wait_for(m, &self);
}

/* T16 */
bool nl_mutex_expect(nlock_mutex_t *m, uint32_t n)
{
	uint32_t w = adopt(m, nl_load_rlx(&m->word));

	do {
		if (is_open(w))
			return false;
	} while (!nl_cas_rlx(&m->word, &w, (w | M_CROWD) + n * M_ONE));
	return true;
}

void nl_mutex_lock_expected(nlock_mutex_t *m, bool is_woken)
{
	struct waiter self = { .seen = nl_fresh_rlx(&m->word) };

	if (is_woken)
		answer(m, &self);
	wait_for(m, &self);
}

/* T8, T9, T10: what this release leaves behind. */
static uint32_t released(nlock_mutex_t *m, uint32_t w, enum nl_release by)
{
	if (head_of(w) == M_HEAD_NONE)
		return w & ~M_LOCKED;
	if (head_of(w) == M_HEAD_FRONT)
		w = with_head(w, M_HEAD_AWAKE);
	return nl_policy_grants(m->attr, by, nl_own_get(&m->bypass), w & M_DUE) ? w | M_GRANT : w & ~M_LOCKED;
}

/* Is T6 left out? A fair release wants a head, and so does one by which newcomers would overtake a crowd once too often. */
static bool leaves_out_call(nlock_mutex_t *m, uint32_t w, enum nl_release by)
{
	return has_crowd(w) && by != NL_FAIR && nl_own_get(&m->bypass) < nl_policy_limit(m->attr);
}

/* What is needed after the release is read before it: after A5, *m may be gone. */
static __attribute__((noinline, cold)) int unlock_slow(nlock_mutex_t *m, uint32_t w, enum nl_release by)
{
	const nlock_attr_t attr = m->attr;
	bool has_called = false;

	w = adopt(m, w);
	do {
		if (!is_owned(w))
			return EPERM;
		if (!has_called && !leaves_out_call(m, w, by))
			has_called = call_head(m, &w);
	} while (!nl_cas_rel(&m->word, &w, released(m, w, by))); /* A5 */
	if (head_of(w) == M_HEAD_FRONT)
		nl_wake(&m->word, attr, 1, NL_LANE_FRONT);
	else if (head_of(w) == M_HEAD_NONE && has_waiters(w))
		nl_wake(&m->word, attr, 1, NL_LANE_ALL);
	return 0;
}

int nlock_mutex_init(nlock_mutex_t *m, nlock_attr_t attr)
{
	int rc;

	if ((uintptr_t)m % _Alignof(nlock_mutex_t) || !nl_attr_is_valid(attr))
		return EINVAL;
	rc = nl_wait_place(&m->word, attr);
	if (rc)
		return -rc;
	m->attr = attr;
	m->bypass = m->watched = m->luck = 0;
	nl_store_rlx(&m->word, 0);
	return 0;
}

int nlock_mutex_destroy(nlock_mutex_t *m)
{
	return adopt(m, nl_load_acq(&m->word)) ? EBUSY : 0; /* A6 */
}

int nlock_mutex_lock(nlock_mutex_t *m)
{
	uint32_t w = 0;

	return nl_cas_acq(&m->word, &w, M_LOCKED) ? 0 : lock_slow(m, w, NULL); /* A1 */
}

static __attribute__((noinline, cold)) int try_slow(nlock_mutex_t *m, uint32_t w)
{
	w = adopt(m, w);
	return barge(m, &w) ? 0 : EBUSY;
}

int nlock_mutex_trylock(nlock_mutex_t *m)
{
	uint32_t w = 0;

	return nl_cas_acq(&m->word, &w, M_LOCKED) ? 0 : try_slow(m, w); /* A1 */
}

int nlock_mutex_lock_until(nlock_mutex_t *m, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc;

	if (nlock_mutex_trylock(m) == 0)
		return 0;
	rc = nl_deadline_set(&d, clock, abs);
	return rc ? -rc : lock_slow(m, nl_load_rlx(&m->word), &d);
}

int nlock_mutex_unlock(nlock_mutex_t *m)
{
	uint32_t w = M_LOCKED;

	return nl_cas_rel(&m->word, &w, 0) ? 0 : unlock_slow(m, w, NL_BY_ATTR); /* A4 */
}

int nlock_mutex_unlock_fair(nlock_mutex_t *m)
{
	return unlock_slow(m, nl_load_rlx(&m->word), NL_FAIR);
}

int nlock_mutex_unlock_barging(nlock_mutex_t *m)
{
	return unlock_slow(m, nl_load_rlx(&m->word), NL_BARGE);
}

int nlock_mutex_bump(nlock_mutex_t *m)
{
	uint32_t w = nl_load_rlx(&m->word);
	int rc;

	if (is_owned(w) && !has_waiters(w))
		return 0;
	rc = unlock_slow(m, w, NL_FAIR);
	return rc ? rc : nlock_mutex_lock(m);
}
