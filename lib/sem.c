/* SPDX-License-Identifier: MIT
 *
 * sem.c - a semaphore that answers its waiters
 *
 * Promise
 *   Each token that is posted is taken once. What was done before a post is visible after the wait that takes its token.
 *   Nobody sleeps for ever while tokens keep coming. An uncontended post or wait is one 64-bit exchange and no system call.
 *   Post touches the object for the last time in the store that lets somebody have the token, or lets the last of those
 *   whom it owes an answer go; afterwards it may make a wake call with the address. So whoever has taken the last token
 *   that was to come may free the object at once, unless such a call reads memory (wait.c: placement NODE and FIRST).
 *   Post takes no lock and waits for nobody: a signal handler may post to a semaphore that the interrupted thread is
 *   posting to or waiting for.
 *   A token posted while threads wait is for them. A newcomer gets past them only where the hand-off says so: see The
 *   bound.
 *
 * Word: state, 64 bits
 *   value    31 bits: tokens that anybody may take. Not zero only if the count is zero.
 *   EPOCH    changes when a child of a fork forgets its parent's waiters. Means nothing else.
 *   WATCHED  a thread watches, unregistered. A hint. Cleared by whoever takes a token here or registers.
 *   FRONT    some thread sleeps in the front lane, or is about to. A hint, for the next post. Zero if the count is zero.
 *   count    22 bits, more than there can be threads: registered waiters to whom no answer has been promised. Exact.
 *   bypass   8 bits: newcomers that registered in order to get past others, since a waiter last went.
 * Word: gate, 32 bits, where waiters sleep: how many answers have been written, ever.
 * Word: claimed, 32 bits: how many of them have been claimed, ever. Never ahead of gate.
 *   Both wrap. To be misled, a thread would have to stand still between two steps for 2^32 answers exactly.
 *   An answer is a token: what is written and not claimed is neither in the value nor anybody's yet.
 *   At rest the state is the value (and EPOCH), and gate equals claimed.
 *
 * States                        who may change it
 *   value > 0, count 0          any thread: T1, T4
 *   value 0, count 0            a newcomer: T2, T3; a poster: T4
 *   value 0, count n            a newcomer: T3; a poster: T5; a waiter: T8, T9
 *   gate ahead of claimed       a registered waiter: T7; one that has left: T10
 *   Every thread inside wait that has registered is in the count, or owed an answer (promised, not written), or covered
 *   by one that is written and not claimed; and there are no more of either. Who is which is open until the claim.
 *
 * Transitions
 *   T1   value-1                       take       any thread, at any time
 *   T2   WATCHED                       watch      a newcomer, if nobody waits: it looks for a bounded time
 *   T3   count+1 (bypass+1)            enter      value 0. It has looked at gate before. bypass: see The bound
 *   T4   value+n                       post       nobody is counted
 *   T5   count-k, value+(n-k)          post       promises k answers, to as many as are counted. FRONT is cleared
 *   T6   gate+k                        answer     who has made T5 or T10, and nobody else. Then up to k are woken
 *   T7   claimed+1                     claim      a waiter, if gate is ahead, and has moved since the waiter looked at it in
 *                                                 T3, or a wake took the waiter out of the queue, or it may get past. It has
 *                                                 the token
 *   T8   FRONT                         settle     a waiter that was woken and found no answer
 *   T9   count-1, bypass 0             leave      a waiter whose deadline has passed, or that was interrupted, while anybody is counted: not
 *                                                 necessarily itself. If nobody is, an answer is owed to it: it waits for that
 *   T10  claimed+1                     leave      after T9, if gate is ahead: the answer may have been for this thread, and those
 *                                                 who came after it was written do not look at it. It is claimed and
 *                                                 written once more (T6)
 *   T11  bypass 0                      wait_slow  a waiter that has claimed what was written after it came
 *   T12  count n -> 0, new EPOCH       adopt      in the child of a fork, before its first T3 and T5: the waiters are the
 *                                                 parent's. What they were answered is claimed (T7), and posted again
 *   T13  T7, then T4 or T5; or T9, T10  abandon  a waiter that is cancelled while it sleeps, is about to, or has been woken: what it can
 *                                                 claim, or is owed, it posts
 *
 * Nobody sleeps for ever
 *   A waiter sleeps on a gate that it has seen equal to claimed, or that has not moved since before T3. Each T6 moves gate, then
 *   wakes as many as it answers. Who is on its way is sent back by the kernel's comparison. So an answer that is written
 *   and not claimed has a waiter that is awake and may claim it: one that the wake took out of the queue, whoever that
 *   is; or, if nobody was there, one that was registered when the answer was promised, and so looked at gate before it was
 *   written. (That only the latter may claim would not do: who came in between may stand in the queue before it, or be
 *   found first for its priority. Found by scen_sem fifo,1 wu wu wu.) The one way in which such a waiter goes without a
 *   claim is T9, and then it passes the answer on (T10): that moves gate again, and wakes. It must see the newest gate there:
 *   found by scen_sem fifo,0 t w w p p p.
 *   Who is cancelled may have been taken out of the queue by a wake, and cannot tell. It goes on as one that was, and whose deadline has
 *   passed: it looks at the newest gate, and claims any answer, and posts that token; or finds that all are claimed, so that the wake is
 *   wanted no more, and leaves (T9, T10). To leave first would not do: another may have claimed the answer of this wake by the
 *   time that T10 claims, and its own, written since, has nobody awake. Found by scen_sem fifo,0 c t w pp p -c1 -t1.
 *   If it cannot leave, an answer is promised. That cannot be handed on before it is written: whoever had the token then could end
 *   the semaphore under T6. So it is waited for, in the cleanup and with no further cancellation: it comes from a poster between
 *   T5 and T6, who waits for nobody.
 *   A wake that hits a thread by mistake lets it claim another's answer, and leaves its own to the other.
 *
 * The end of life
 *   A waiter leaves with a claim, or after T9. If nobody is inside, nobody is counted, owed or covered: every promise has been
 *   kept, and T6 is the last step of the one who made it. The value says nothing of this, and need not: T1 and T4 are
 *   single steps.
 *
 * The bound
 *   An answer that was written before a thread came is for others. It may claim it nevertheless if the hand-off does not
 *   grant after `bypass` such newcomers (policy.h), which T3 counts, at most BYPASS_MOST of them: more cannot be counted, so a larger
 *   bound is that one. T9 and T11 begin anew. So, of the tokens posted while threads wait, at most `limit` go to
 *   newcomers for each waiter that goes; under FIFO, none. A thread that comes while an answer is promised and not yet
 *   written (a post has not returned) may get that one; and so may one that is still on its way to sleep get what
 *   is written then. Who was woken and finds nothing sleeps in front, where the next post wakes first.
 *
 * Fork
 *   adopt makes three steps, and several threads of the child may make them at once. claimed goes up to gate by one
 *   exchange, so one of them has what was there. Nobody registers until the mark is ours, so a state that counts somebody is
 *   the parent's, until one thread changes EPOCH; a thread that comes late with what it read before then fails on EPOCH. The
 *   mark comes last. Tokens that another thread of the parent was posting at the time of the fork may be missing.
 *
 * Orders
 *   A1  take: CAS acquire      pairs with A2: sees what was done before the post
 *   A2  post: CAS release      publishes it, if the token goes into the value
 *   A3  answer: add release    publishes it, if the token is an answer; all adds are one release sequence
 *   A4  gate: load acquire     pairs with A3: sees it before the claim
 *   A5  enter: load acquire    gate is looked at before T3, not after: else the answer to this very thread could be taken
 *                              for an old one. Without it only load buffering goes wrong.
 *       A5 survives the sweep: the explorer does not produce load buffering.
 *   A6  enter: CAS release     pairs with A7: who left knows of each answer that a waiter, now counted in its place, saw in T3
 *   A7  leave: CAS acquire     the same; in between are only read-modify-writes. Only load buffering goes wrong without it.
 *       A7 survives the sweep: the explorer does not produce load buffering.
 *   A8  adopt: load acquire    pairs with A6: who sees a waiter that has registered here sees whose the object is, too. Found
 *                              by scen_sem fifo,0,fork:1:0 w p: a post took a waiter of its own process for the parent's
 *   A9  adopt: load acquire    pairs with A3: the same of who sees an answer that was written here.
 *       A9 survives the sweep: the explorer takes gate and the mark for one word, which is coherent in itself.
 *   Relaxed and why: the rest hands on no data. claimed is only exchanged against what was read.
 *
 * Checked by tests/explore. That a post must not look again is glibc's bug 12674; counting answers apart from tokens
 * keeps both the waiters and the poster of the last token out of each other's way.
 */
#include "atomic.h"
#include "attr.h"
#include "policy.h"
#include "spin.h"
#include "stats.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>
#include <stddef.h>

_Static_assert(sizeof(nlock_sem_t) == 24 && _Alignof(nlock_sem_t) == 8, "the size is ABI");
_Static_assert(offsetof(nlock_sem_t, node) == offsetof(nlock_sem_t, gate) + 4,
	       "the kernel reads the node after the gate");
_Static_assert(offsetof(nlock_sem_t, gate) % 8 == 0, "gate and node are exchanged as one");

#define S_VALUE   UINT64_C(0x000000007fffffff)
#define S_EPOCH   UINT64_C(0x0000000080000000)
#define S_WATCHED UINT64_C(0x0000000100000000)
#define S_FRONT   UINT64_C(0x0000000200000000)
#define S_ONE     UINT64_C(0x0000000400000000) /* one registered waiter */
#define S_COUNT   UINT64_C(0x00fffffc00000000)
#define S_PASSED  UINT64_C(0x0100000000000000) /* one in bypass */
#define S_BYPASS  UINT64_C(0xff00000000000000)

#define BYPASS_MOST 255

/* What a thread in wait_slow knows of itself. */
struct waiter {
	nlock_sem_t *s;
	uint64_t seen;  /* the state as last read */
	uint32_t came;  /* gate, before it registered */
	bool may_pass;  /* it may claim what was there before */
	bool was_woken; /* a wake took it out of the queue the last time */
	int over; /* why it is to leave: its deadline has passed, a signal handler has run, or ECANCELED; else 0 */
	const struct nl_deadline *d; /* or NULL: for ever */
};

static uint32_t value_of(uint64_t s)
{
	return (uint32_t)(s & S_VALUE);
}

static uint32_t waiters_in(uint64_t s)
{
	return (uint32_t)((s & S_COUNT) / S_ONE);
}

static uint32_t bypass_in(uint64_t s)
{
	return (uint32_t)(s / S_PASSED);
}

/* The state after k registered waiters have gone, or have been promised to. */
static uint64_t without(uint64_t s, uint32_t k)
{
	s -= k * S_ONE;
	return s & S_COUNT ? s : s & ~S_FRONT;
}

/* Does the hand-off let one more newcomer past those who wait? */
static bool may_pass(nlock_attr_t attr, uint64_t s)
{
	return bypass_in(s) < BYPASS_MOST && !nl_policy_grants(attr, NL_BY_ATTR, bypass_in(s), false);
}

/* T1. False: there is none in the value. */
static bool take(nlock_sem_t *s, uint64_t *seen)
{
	while (value_of(*seen)) {
		if (nl_cas64_acq(&s->state, seen, (*seen - 1) & ~S_WATCHED)) /* A1 */
			return true;
	}
	return false;
}

/* T7, once it is known that gate is `written`. */
static bool claim(nlock_sem_t *s, uint32_t written)
{
	uint32_t c = nl_load_rlx(&s->claimed);

	while ((int32_t)(written - c) > 0) {
		if (nl_cas_rlx(&s->claimed, &c, c + 1))
			return true;
	}
	return false;
}

/* T6. After A3 *s may be gone. */
static void answer(nlock_sem_t *s, nlock_attr_t attr, uint32_t k, bool has_front)
{
	int found = 0;

	nl_add_rel(&s->gate, k); /* A3 */
	if (has_front)
		found = nl_wake(&s->gate, attr, (int)k, NL_LANE_FRONT);
	if (found < (int)k)
		nl_wake(&s->gate, attr, (int)k - found, NL_LANE_ALL);
}

/* T12. What was read before the mark was found to be the parent's, is the parent's. Returns the state. */
static __attribute__((noinline, cold)) uint64_t adopt(nlock_sem_t *s)
{
	uint32_t lost = 0;
	uint64_t seen;

	for (;;) {
		uint32_t c = nl_load_rlx(&s->claimed), written = nl_load_acq(&s->gate); /* A9 */

		seen = nl_load64_acq(&s->state); /* A8 */
		if (!nl_wait_is_foreign(&s->gate, s->attr))
			break;
		if ((int32_t)(written - c) > 0) {
			if (nl_cas_rlx(&s->claimed, &c, written))
				lost += written - c;
		} else if (!waiters_in(seen) || nl_cas64_rlx(&s->state, &seen, value_of(seen) | (~seen & S_EPOCH))) {
			nl_wait_adopt(&s->gate, &written, written);
		}
	}
	if (lost)
		nlock_sem_post_n(s, lost);
	return lost ? nl_load64_rlx(&s->state) : seen;
}

/* T4, T5. What is needed after the token is out is read before: after A2 and A3, *s may be gone. */
static inline int post(nlock_sem_t *s, uint32_t n)
{
	const nlock_attr_t attr = s->attr;
	uint64_t seen = nl_load64_rlx(&s->state), w;
	uint32_t k;

	do {
		if (waiters_in(seen))
			seen = adopt(s);
		k = waiters_in(seen) < n ? waiters_in(seen) : n;
		if (n - k > NLOCK_SEM_VALUE_MAX - value_of(seen))
			return EOVERFLOW;
		w = (k ? without(seen, k) & ~S_FRONT : seen) + (n - k);
	} while (n && !nl_cas64_rel(&s->state, &seen, w)); /* A2 */
	if (k)
		answer(s, attr, k, seen & S_FRONT);
	return 0;
}

/* ---------------------------------------------------------------- waiting */

/* Is there an answer that a newcomer might get past those for whom it is? A hint. */
static bool has_prey(const nlock_sem_t *s, uint64_t seen)
{
	return nl_load_rlx(&s->claimed) != nl_load_rlx(&s->gate) && may_pass(s->attr, seen);
}

/* T2: the first to come, if nobody waits. Who comes meanwhile registers, which ends the watch. */
static void watch(nlock_sem_t *s, uint64_t *seen)
{
	struct nl_spin spin;

	if ((*seen & (S_VALUE | S_COUNT | S_WATCHED)) || has_prey(s, *seen) || !nl_watch_ns())
		return;
	if (!nl_cas64_rlx(&s->state, seen, *seen | S_WATCHED))
		return;
	nl_spin_start(&spin, NL_SPIN_FAR);
	do
		*seen = nl_load64_rlx(&s->state);
	while (!(*seen & (S_VALUE | S_COUNT)) && nl_spin_more(&spin));
}

/* T3, or T1 on the way. True: has a token. */
static bool enter(nlock_sem_t *s, struct waiter *self)
{
	uint64_t w;

	do {
		if (take(s, &self->seen))
			return true;
		self->came = nl_load_acq(&s->gate); /* A5 */
		self->may_pass = nl_load_rlx(&s->claimed) != self->came && may_pass(s->attr, self->seen);
		w = (self->seen & ~S_WATCHED) + S_ONE;
		if (self->may_pass && nl_policy_limit(s->attr) != NL_NO_LIMIT)
			w += S_PASSED;
	} while (!nl_cas64_rel(&s->state, &self->seen, w)); /* A6 */
	return false;
}

/* T11: the newcomers are counted anew. */
static void went(nlock_sem_t *s)
{
	uint64_t seen = nl_load64_rlx(&s->state);

	while (bypass_in(seen) && !nl_cas64_rlx(&s->state, &seen, seen & ~S_BYPASS))
		;
}

/* T7, T11. *written: gate as it was found. */
static bool has_claimed(nlock_sem_t *s, const struct waiter *self, uint32_t *written)
{
	bool is_ours;

	*written = nl_load_acq(&s->gate); /* A4 */
	is_ours = *written != self->came;
	if ((!is_ours && !self->may_pass) || !claim(s, *written))
		return false;
	NL_COUNT(grants, is_ours);
	NL_COUNT(barges, !is_ours);
	if (is_ours)
		went(s);
	return true;
}

/* T8. Returns the lane to sleep in. */
static uint32_t settle(nlock_sem_t *s, const struct waiter *self)
{
	uint64_t seen;

	if (!self->was_woken)
		return NL_LANE_BACK;
	seen = nl_load64_rlx(&s->state);
	while (waiters_in(seen) && !(seen & S_FRONT)) {
		if (nl_cas64_rlx(&s->state, &seen, seen | S_FRONT))
			break;
	}
	return NL_LANE_FRONT;
}

static void sleep_on(nlock_sem_t *s, struct waiter *self, uint32_t written)
{
	const uint32_t lane = settle(s, self);
	const enum nl_outcome why = nl_wait(&s->gate, s->attr, written, lane, self->d);

	if (why == NL_WOKEN)
		self->was_woken = self->may_pass = true;
	if (why == NL_TIMEDOUT)
		self->over = ETIMEDOUT;
	if (why == NL_INTR)
		self->over = EINTR;
	nl_fresh_rlx(&s->gate);
}

/* T9, T10. False: an answer is owed. */
static bool leave(nlock_sem_t *s)
{
	uint64_t seen = nl_fresh64_rlx(&s->state);

	do {
		if (!waiters_in(seen))
			return false;
	} while (!nl_cas64_acq(&s->state, &seen, without(seen, 1) & ~S_BYPASS)); /* A7 */
	if (claim(s, nl_fresh_rlx(&s->gate)))
		answer(s, s->attr, 1, false);
	NL_COUNT(timeouts, 1);
	return true;
}

/* Until it has a token, or has left. What is owed to it it gets, though it take longer. */
static int wait_or_leave(nlock_sem_t *s, struct waiter *self)
{
	uint32_t written;

	while (!has_claimed(s, self, &written)) {
		if (self->over && self->d) {
			if (leave(s))
				return self->over;
			self->d = NULL;
		} else {
			sleep_on(s, self, written);
		}
	}
	return 0;
}

/* T13 */
static void abandon(void *arg)
{
	struct waiter *self = arg;

	self->over = ECANCELED;
	self->was_woken = self->may_pass = true;
	nl_fresh_rlx(&self->s->gate);
	if (wait_or_leave(self->s, self) == 0)
		post(self->s, 1);
}

static __attribute__((noinline, cold)) int wait_slow(nlock_sem_t *s, struct nl_deadline *d)
{
	struct waiter self = { .s = s, .seen = adopt(s), .d = d };

	if (d)
		d->arg = &self;
	watch(s, &self.seen);
	return enter(s, &self) ? 0 : wait_or_leave(s, &self);
}

/* ---------------------------------------------------------------- the interface */

int nlock_sem_init(nlock_sem_t *s, uint32_t value, nlock_attr_t attr)
{
	int rc;

	if ((uintptr_t)s % _Alignof(nlock_sem_t) || value > NLOCK_SEM_VALUE_MAX || !nl_attr_is_valid(attr) ||
	    nl_policy_is_cohort(attr))
		return EINVAL;
	rc = nl_wait_place(&s->gate, attr);
	if (rc)
		return -rc;
	s->attr = attr;
	nl_store_rlx(&s->gate, 0);
	nl_store_rlx(&s->claimed, 0);
	nl_store64_rlx(&s->state, value);
	return 0;
}

int nlock_sem_destroy(nlock_sem_t *s)
{
	return waiters_in(adopt(s)) || nl_load_rlx(&s->gate) != nl_load_rlx(&s->claimed) ? EBUSY : 0;
}

int nlock_sem_trywait(nlock_sem_t *s)
{
	uint64_t seen = nl_load64_rlx(&s->state);

	return take(s, &seen) ? 0 : EAGAIN;
}

int nlock_sem_wait(nlock_sem_t *s)
{
	uint64_t seen = nl_load64_rlx(&s->state);

	return take(s, &seen) ? 0 : wait_slow(s, NULL);
}

int nlock_sem_wait_until(nlock_sem_t *s, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc;

	if (nlock_sem_trywait(s) == 0)
		return 0;
	rc = nl_deadline_set(&d, clock, abs);
	return rc ? -rc : wait_slow(s, &d);
}

int nlock_sem_wait_posix(nlock_sem_t *s, int clock, const struct timespec *abs)
{
	struct nl_deadline d;
	int rc;

	nl_cancel_point();
	if (nlock_sem_trywait(s) == 0)
		return 0;
	rc = nl_deadline_or_none(&d, clock, abs);
	if (rc)
		return -rc;
	d.abandon = abandon;
	return wait_slow(s, &d);
}

int nlock_sem_post_n(nlock_sem_t *s, uint32_t n)
{
	return post(s, n);
}

int nlock_sem_post(nlock_sem_t *s)
{
	return post(s, 1);
}

uint32_t nlock_sem_value(const nlock_sem_t *s)
{
	return value_of(nl_load64_rlx(&s->state));
}
