/* SPDX-License-Identifier: MIT
 *
 * cond_move.c - a broadcast that moves waiters to their mutex
 *
 * All whom a broadcast releases want one mutex. If it is locked, to wake them all is to let them fall asleep again one by one. So a few are
 * woken, and the rest moved into the mutex's queue (futex_requeue), where each is woken once, when it can have the lock. For that the
 * mutex must count them, as it counts all who wait for it, from before they are moved.
 *
 * Which mutex
 *   c->mutex says it: how far away it is from c, in units of 8 bytes. Two private objects of one process keep their distance, in
 *   a forked child too; it is the one exception to "objects hold no pointers". A waiter says which as it registers. NONE
 *   becomes a distance, and that becomes MIXED, for good, when somebody waits with another lock, or with a mutex that cannot
 *   be moved to: shared, placed, a cohort lock (mutex.c, Crowds), too far away. So it has said the same to all who are
 *   registered while it says a distance (A2, A10).
 *
 * Sent away (T13)
 *   One step on the state counts all as inside and changes EPOCH. A waiter knows in which epoch it registered: so by its last look at the
 *   latest it sees that it was sent away, and then it does not leave before its gate has moved. SENT stays until nobody is inside,
 *   and meanwhile there is no second T13: so no waiter sees two. Only if nobody was inside, calling, moving or watching: then
 *   those registered are exactly those that wait, and all of them are sent.
 *   Nobody who was sent can lock the mutex before the gate moves, and all of them will. So until then it exists, and
 *   its state can be looked at: what was known before T13 might be old. If it is locked it counts them all (mutex.c, T16), and the
 *   gate says COUNTED as it moves (T14). Else they are just released: whoever locks an open mutex needs no help.
 *   Then the sleepers are woken, or a few of them, and the rest moved. A waiter that was not asleep sees that the gate has moved; it goes to the
 *   mutex as one that is counted, as those do that are woken there.
 *   There are two gates, one for each epoch: who registers after T13 sleeps on the other one and is not moved.
 *
 * Who wakes them
 *   The woken ones look at the mutex after the others have been moved: they lock it, or find an owner, or a head, whose release comes after
 *   that. If nobody was asleep, nobody was moved. And a destroyer may hold the mutex, or be the one who has to unlock it:
 *   so where destroy finds SENT it wakes all who sleep on the mutex, to let go of the condition variable and wait for the
 *   mutex as others do. If they are moved after that, whoever moves them finds LEAVING when it leaves, and does it.
 *   To who sleeps there for another reason that is a stray wake. By then they may all have gone and the mutex ended: to
 *   wake sleepers on a private word is not to touch it.
 *
 * Counting
 *   cond.c says that of its two counts that of those inside goes down when somebody leaves, even if it was woken by mistake. While some are sent
 *   away it must be exact, or EPOCH could change twice. Therefore no signal wakes one while SENT is set; it releases all. So
 *   who registered after T13 and returns before its gate has moved has been woken by mistake, and counts itself out as one whose deadline
 *   has passed does (T7).
 *
 * Orders
 *   A10  send: CAS acquire       pairs with A2: who sees a registration sees what it said of its mutex, or what came after it
 *   A11  send: add release       pairs with A12: the mutex has counted a waiter before it goes there
 *   A12  await: load acquire     see A11
 *   A10 survives the sweep: what A6 has seen of the state says the same, unless the state has changed and come back in between, which
 *   takes more threads than a scenario that is swept has.
 *   A11 survives the sweep, and so
 *   A12 survives the sweep: the waiter's first look at the mutex is a read-modify-write, and the explorer makes no execution in which
 *   that comes before one that was made earlier; the language allows them.
 */
#include "atomic.h"
#include "cond.h"
#include "mutex.h"
#include "policy.h"
#include "wait.h"

#include <limits.h>
#include <nlock.h>
#include <stddef.h>

#define NONE  0u
#define MIXED 0x80000000u

static uint32_t distance(const nlock_cond_t *c, const nlock_mutex_t *m)
{
	intptr_t d = ((intptr_t)m - (intptr_t)c) / 8;

	if (!m || d <= INT32_MIN || d > INT32_MAX || nl_policy_is_cohort(m->attr) ||
	    !nl_wait_may_move(c->attr, m->attr))
		return MIXED;
	return (uint32_t)d;
}

void nl_cond_name(nlock_cond_t *c, const nlock_mutex_t *m)
{
	uint32_t d = distance(c, m), seen = nl_load_rlx(&c->mutex);

	if (seen == d || (seen == NONE && nl_cas_rlx(&c->mutex, &seen, d)) || seen == d)
		return;
	nl_store_rlx(&c->mutex, MIXED);
}

/* NULL: not one and the same for all. */
static nlock_mutex_t *named(nlock_cond_t *c)
{
	uint32_t d = nl_load_rlx(&c->mutex);

	return d == NONE || d == MIXED ? NULL : (nlock_mutex_t *)((intptr_t)c + (intptr_t)(int32_t)d * 8);
}

/* How many can run at once; but one has the lock, and another is about to. */
static int kept_running(void)
{
	return nl_wait_cpus() > 1 ? 2 : 1;
}

/* T14. Nobody else moves this gate meanwhile. Returns its new value. */
static uint32_t move_gate(uint32_t *gate, bool is_counted)
{
	uint32_t g = nl_load_rlx(gate), v = (g & ~G_COUNTED) + G_ONE + (is_counted ? G_COUNTED : 0);

	nl_add_rel(gate, v - g); /* A11 */
	return v;
}

/* T13 */
bool nl_cond_send(nlock_cond_t *c, uint64_t s)
{
	const uint64_t n = s & C_WAITING;
	const int most = kept_running();
	uint64_t v;
	uint32_t *gate = nl_cond_gate(c, s), g;
	nlock_mutex_t *m;
	bool is_counted;

	if ((s & ~(C_WAITING | C_EPOCH | C_TURN)) || n <= (uint64_t)most || !named(c))
		return false;
	v = s - n * C_WAITER + (n + 1) * C_INSIDE + C_MOVE;
	if (!nl_cas64_acq(&c->state, &s, (v | C_SENT) ^ C_EPOCH)) /* A10 */
		return false;
	m = named(c);
	is_counted = m && nl_mutex_expect(m, (uint32_t)n);
	g = move_gate(gate, is_counted);
	if (!is_counted || !nl_move(gate, g, &m->word, most))
		nl_wake(gate, c->attr, INT_MAX, NL_LANE_BACK);
	s = nl_cond_leave(c, NULL, C_MOVE);
	if (is_counted && (s & C_LEAVING) && (s & C_SENT))
		nl_wake(&m->word, NLOCK_PRIVATE, INT_MAX, NL_LANE_BACK);
	return true;
}

void nl_cond_await(nlock_cond_t *c, struct nl_cond_waiter *self)
{
	uint32_t *gate = nl_cond_gate(c, self->epoch), g;

	while ((g = nl_load_acq(gate)) == self->gate) /* A12 */
		self->is_woken |= nl_wait(gate, c->attr, g, NL_LANE_BACK, NULL) == NL_WOKEN;
	self->is_counted = g & G_COUNTED;
}

void nl_cond_rouse(nlock_cond_t *c)
{
	nlock_mutex_t *m = named(c);

	if (m)
		nl_wake(&m->word, NLOCK_PRIVATE, INT_MAX, NL_LANE_BACK);
}
