/* SPDX-License-Identifier: MIT
 *
 * futex.c - the model of wait.h: a kernel that keeps its word and nothing more
 *
 * Waiting. The kernel compares and queues in one step. What it compares may be any store that neither the caller's own view nor an
 * earlier wake on the word rules out. A wake makes what its caller knew of the word known to every later comparison, and gives the
 * thread that it wakes nothing: that one may still read as stale as before.
 *
 * A move compares as a wait does. In one step it wakes the oldest and sends the rest to the other word, where they stand behind those
 * who sleep there, or keep their places in the order of arrival, as the kernel's hash will have it.
 *
 * Sleepers stand in one queue, in order of arrival; a wake takes the oldest in any of its lanes and in the table of the node that it
 * reads. A sleeper may leave without a wake: by a stray one, by a signal, at its deadline.
 *
 * The node is the tag of the word's stores (nl_wait_enter exchanges the two as one). It is read like a value.
 *
 * A wait that can be cancelled is, within a budget, in its sleep, or when it is over, whatever has come of it: a wake that took the thread
 * may be lost on it. Then it does what the wait says, and what the test says, and ends.
 *
 * Time stands still but for two things: to look at the clock after a pause takes a nanosecond of the thread's own time, so that watching
 * ends; and within a budget the clock may leap beyond every bound whenever somebody looks at it.
 */
#include "engine.h"

#include <errno.h>

#include "../../lib/attr.h"
#include "atomic.h"

#define LEAP_NS (2 * NLOCK_BOUND_NS)

static bool is_numa(nlock_attr_t attr)
{
	return (attr & A_PLACE) == A_PLACE_NODE || (attr & A_PLACE) == NLOCK_PLACE_FIRST;
}

static void check_attr(nlock_attr_t attr, const struct x_site *s)
{
	if (!nl_attr_is_valid(attr))
		x_fail("life", "T%d passes attributes read from memory that has ended: %s (%s:%d)", w.self, s->text, s->file, s->line);
}

static void enter_kernel(const char *what)
{
	if (x_test->calls)
		x_test->calls(what);
}

/* The deadline may have passed already. */
static bool has_passed(void)
{
	if (x_me()->is_expired || w.expiries >= x_opt.expiries || !x_choose(2))
		return x_me()->is_expired;
	w.expiries++;
	return x_me()->is_expired = true;
}

static enum nl_outcome fall_asleep(const uint32_t *p, uint32_t node, uint32_t lane, bool is_timed)
{
	struct thread *me = x_me();

	me->address = p;
	me->node = node;
	me->lane = lane;
	me->is_timed = is_timed;
	me->status = ASLEEP;
	w.queue[w.sleepers++] = (uint8_t)w.self;
	x_learn(7); /* that it has slept */
	x_step();
	me->is_timed = false;
	return me->outcome;
}

static bool is_endless(const struct nl_deadline *d)
{
	return !d || d->sec == INT64_MAX;
}

static void may_be_cancelled(const struct nl_deadline *d, struct x_site *s)
{
	struct thread *me = x_me();

	if (!me->may_be_cancelled)
		return;
	if (!me->is_cancelled && w.cancels < x_opt.cancels && x_choose(2)) {
		me->is_cancelled = true;
		w.cancels++;
	}
	me->may_be_cancelled = false;
	if (!me->is_cancelled)
		return;
	me->is_cancelled = false;
	x_trace(s, "is cancelled here");
	x_learn(20);
	x_test->cancels(w.self);
	d->abandon(d->arg);
	x_test->cancelled(w.self);
	x_end_thread();
}

enum nl_outcome x_wait(uint32_t *p, nlock_attr_t attr, uint32_t expected, uint32_t lane, const struct nl_deadline *d,
		       struct x_site *s)
{
	enum nl_outcome why;
	struct word *l;
	uint32_t node;
	int i;

	x_meet(s);
	check_attr(attr, s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	if (!is_endless(d) && has_passed()) {
		x_learn(6); /* that it has asked */
		return NL_TIMEDOUT;
	}
	enter_kernel("wait");
	node = is_numa(attr) ? x_read_tag(l) : 0;
	x_me()->may_be_cancelled = d && d->abandon;
	i = x_me()->view.floor[l - w.word];
	i = x_pick(l, l->published > i ? l->published : i, NULL, false);
	x_see(l, i);
	x_used(l);
	if (x_history[l - w.word][i].pair.value != expected) {
		x_trace(s, "%#x: the word is %#x", expected, x_history[l - w.word][i].pair.value);
		x_learn(NL_LOOK);
		may_be_cancelled(d, s);
		return NL_LOOK;
	}
	x_trace(s, "%#x: sleeps in lane %u", expected, lane);
	why = fall_asleep(p, node, lane, !is_endless(d));
	x_trace(s, "returns %s", why == NL_WOKEN ? "woken" : why == NL_TIMEDOUT ? "timed out" : "look");
	x_learn(8 + why);
	may_be_cancelled(d, s);
	return why;
}

/* Takes a sleeper out of the queue: the oldest, or any. 0: nobody is there. */
static int take(const uint32_t *p, uint32_t node, uint32_t lanes)
{
	int c[X_THREADS], n = 0, t;

	for (int i = 0; i < w.sleepers; i++) {
		const struct thread *k = &w.thread[w.queue[i]];

		if (k->address == p && k->node == node && (k->lane & lanes))
			c[n++] = w.queue[i];
	}
	if (!n)
		return 0;
	t = c[x_opt.any_wake ? x_decide(n, true) : 0];
	x_wake_up(t, NL_WOKEN);
	if (x_test->woken)
		x_test->woken(t);
	return t;
}

/* What the caller knows of the word, the kernel's later looks will see. */
static void publish(struct word *l)
{
	if (x_me()->view.floor[l - w.word] > l->published)
		l->published = x_me()->view.floor[l - w.word];
}

int x_wake(uint32_t *p, nlock_attr_t attr, int n, uint32_t lanes, struct x_site *s)
{
	struct word *l = x_word(p);
	int k = 0, t;

	x_meet(s);
	check_attr(attr, s);
	x_step();
	enter_kernel("wake");
	if (is_numa(attr) && x_is_dead(p))
		x_fail("life", "T%d: a wake on a node reads memory that has ended (%s:%d)", w.self, s->file, s->line);
	if (l) {
		uint32_t node = is_numa(attr) ? x_read_tag(l) : 0;

		publish(l);
		if (is_numa(attr))
			x_used(l);
		for (; k < n && (t = take(p, node, lanes)); k++)
			x_trace(s, "lanes %u: T%d", lanes, t);
	}
	if (!k)
		x_trace(s, "lanes %u: nobody", lanes);
	x_learn((uint64_t)k);
	return k;
}

bool nl_wait_may_move(nlock_attr_t from, nlock_attr_t to)
{
	return !((from | to) & (A_PLACE | A_SHARED));
}

/* Behind all others. */
static void queue_again(int t)
{
	int i = 0;

	while (w.queue[i] != t)
		i++;
	for (; i + 1 < w.sleepers; i++)
		w.queue[i] = w.queue[i + 1];
	w.queue[w.sleepers - 1] = (uint8_t)t;
}

static int move_all(const uint32_t *from, const uint32_t *to, struct x_site *s)
{
	uint32_t mask = x_asleep_on(from);
	bool is_far = mask && x_asleep_on(to) && x_choose(2);
	int order[X_THREADS], n = 0;

	for (int i = 0; i < w.sleepers; i++) {
		if (mask & 1u << w.queue[i])
			order[n++] = w.queue[i];
	}
	for (int i = 0; i < n; i++) {
		w.thread[order[i]].address = to;
		if (is_far)
			queue_again(order[i]);
		x_trace(s, "moves T%d", order[i]);
	}
	return n;
}

bool x_move(uint32_t *from, uint32_t expected, uint32_t *to, int n, struct x_site *s)
{
	struct word *l;
	int k = 0, t, i;

	x_meet(s);
	x_step();
	enter_kernel("move");
	l = x_live_word(from, sizeof(*from), s);
	if (x_opt.refuses && x_choose(2)) {
		x_learn(30); /* a filter has come */
		return false;
	}
	publish(l);
	i = x_pick(l, l->published, NULL, false);
	x_see(l, i);
	x_used(l);
	if (x_history[l - w.word][i].pair.value != expected) {
		x_learn(31);
		return false;
	}
	for (; k < n && (t = take(from, 0, NL_LANE_ALL)); k++)
		x_trace(s, "wakes T%d", t);
	k += move_all(from, to, s);
	x_learn(32 + (uint64_t)k);
	return true;
}

/* Under PLACE_FIRST the first waiter's node, whichever that is. */
bool x_enter(uint32_t *p, nlock_attr_t attr, uint32_t *seen, uint32_t v, struct x_site *s)
{
	if (x_test->enters)
		x_test->enters(*seen, v);
	if ((attr & A_PLACE) != NLOCK_PLACE_FIRST)
		return x_cas(p, seen, v, s);
	return x_cas_pair(p, seen, x_load_tag(p, s), v, (uint32_t)x_choose(2), s);
}

bool x_is_foreign(const uint32_t *p, nlock_attr_t attr, struct x_site *s)
{
	return !(attr & A_SHARED) && !is_numa(attr) && x_load_tag(p, s) != 0;
}

bool x_adopt(uint32_t *p, uint32_t *seen, uint32_t v, struct x_site *s)
{
	uint32_t tag = x_load_tag(p, s);

	return tag && x_cas_pair(p, seen, tag, v, 0, s);
}

uint32_t x_asleep(uint32_t lanes)
{
	uint32_t mask = 0;

	for (int i = 0; i < w.sleepers; i++)
		mask |= w.thread[w.queue[i]].lane & lanes ? 1u << w.queue[i] : 0;
	return mask;
}

uint32_t x_asleep_on(const void *p)
{
	uint32_t mask = 0;

	for (int i = 0; i < w.sleepers; i++)
		mask |= w.thread[w.queue[i]].address == p ? 1u << w.queue[i] : 0;
	return mask;
}

uint32_t x_asleep_before(int t)
{
	uint32_t mask = 0;

	for (int i = 0; i < w.sleepers && w.queue[i] != t; i++)
		mask |= w.thread[w.queue[i]].address == w.thread[t].address ? 1u << w.queue[i] : 0;
	return mask;
}

bool x_is_expired(int t)
{
	return w.thread[t].is_expired;
}

/* ---------------------------------------------------------------- the rest of wait.h */

/* Nothing has begun yet: of no interest. */
void nl_cancel_point(void)
{
}

int nl_deadline_set(struct nl_deadline *d, clockid_t clock, const struct timespec *abs)
{
	if (!abs)
		return -EINVAL;
	*d = (struct nl_deadline){ clock, abs->tv_sec, abs->tv_nsec, NULL, NULL };
	x_me()->is_expired = false;
	return has_passed() ? -ETIMEDOUT : 0;
}

int nl_wait_place(uint32_t *word, nlock_attr_t attr)
{
	(void)word;
	(void)attr;
	return 0;
}

int64_t nl_now(void)
{
	if (w.is_running && w.jumps < x_opt.jumps && x_choose(2)) {
		w.jumps++;
		w.now += LEAP_NS;
	}
	x_me()->rounds += x_me()->is_paused;
	x_learn((uint64_t)(w.now + x_me()->rounds));
	return w.now + x_me()->rounds;
}

uint32_t nl_wait_process(void)
{
	return 1;
}

uint32_t nl_wait_cpus(void)
{
	return x_opt.watch ? 2 : 1;
}

uint32_t nl_wait_cpu(void)
{
	uint32_t cpu = x_test->cpu ? x_test->cpu() : 0;

	x_learn(cpu);
	return cpu;
}

/* The nodes stand in a row; their numbers are their places in it. */
uint32_t nl_wait_node(void)
{
	uint32_t node = x_test->node ? x_test->node() : 0;

	x_learn(node);
	return node;
}

uint32_t nl_lanes_near(uint32_t node, uint32_t i)
{
	uint32_t lanes = i <= node ? nl_lane_of(node - i) : 0;

	return node + i < X_NODES ? lanes | nl_lane_of(node + i) : lanes;
}

int64_t nl_watch_ns(void)
{
	return x_opt.watch ? x_opt.watch + 1 : 0;
}

/* A hint may have any value: to try is to have more to explore, and -b0 is never to try. */
bool nl_watch_try(uint8_t *luck)
{
	(void)luck;
	return nl_watch_ns() != 0;
}

void nl_watch_tell(uint8_t *luck, bool has_paid)
{
	(void)luck;
	(void)has_paid;
}

uint32_t nl_default_limit(void)
{
	return NLOCK_BOUND_DEFAULT;
}

uint32_t nl_wait_features(void)
{
	return 0;
}
