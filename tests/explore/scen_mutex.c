/* SPDX-License-Identifier: MIT
 *
 * scen_mutex.c - the scenarios of the mutex, and what must hold in them
 *
 *	scen_mutex HANDOFF PROGRAM... [need:EVENT...] [options of the explorer]
 *
 * HANDOFF is fifo, barging, bounded or a number k for BOUNDED_N(k); ",first" or ",node" after it chooses the placement;
 * ",cohort:NODES" makes it a cohort lock: a digit for each thread says on which node it is, an x that it is on any of two, a new one each time.
 * ",fork:HEX" makes the threads those of a forked child, which finds the word as given. If that says that the lock is owned, it is
 * by the first thread, whose program begins inside its section.
 * There is one PROGRAM for each thread, a letter for each call:
 *
 *	l  lock                     u  unlock              m  bump
 *	t  lock until a deadline    f  unlock_fair         d  drop a reference, unlock; the last one frees the mutex
 *	y  trylock                  b  unlock_barging
 *	s  say so (store release)   w  wait until somebody has said so; three looks, then the rest is skipped
 *	D  destroy, three tries; 0: free the mutex
 *	v  wait at a gate, and lock as one whom a broadcast has sent to the mutex; V until a deadline, that is not the mutex's
 *	a  the broadcast, the first one only: those who wait at the gate are counted, one of them is woken and the others moved; A wakes two
 *
 * A program may end in *N: all of it N times. A t or y that fails skips to behind the next release. Threads whose neighbour to the left does the same start after it: their
 * names do not matter. need: fails unless the event has happened in some execution; so a scenario cannot pass by missing the
 * thing that it is for. need:overtaken means that the bound was reached exactly.
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race, exclusion   the section is one thread's; what the last owner wrote is seen
 *	asleep            nobody sleeps for ever
 *	bound             between becoming one and being none, a head is overtaken at most k times by ordinary releases.
 *	                  Counted here from the word alone: a LOCKED bit that goes up while HEAD stays is an overtaking
 *	                  Of a cohort lock, too: a thread that is asleep when others begin to lock is passed by at most k of these. Excused
 *	                  are the same as under order
 *	owner             the bits of a release and of a call are the owner's to set
 *	grant             a grant goes to a head, implies LOCKED, and only the head claims it
 *	head              HEAD is only changed by whom it speaks of, except by the owner from and to CALLED and out of FRONT
 *	count             each waiter is counted once, by itself or by a broadcast; at count zero all flags are clear
 *	crowd             CROWD is set by a broadcast and goes with a call; while it is set and there is no head, newcomers take the lock
 *	                  at most k times between two calls
 *	order             FIFO: a thread that began to lock after another was asleep in the back lane is not granted the lock before
 *	                  it. Excused are those whose place is lost by a stray wake, and by a wake that was made after a release: see woken.
 *	                  Who is moved comes at that moment, in the order of the kernel's queue; who is woken at the gate has no place
 *	call              no call into the kernel unless two threads want the lock at the same time; none in trylock
 *	rest              in the end the word is zero
 *	adopt             a child of a fork finds the lock owned by its first thread or free, and counts nobody
 *	life              no access after the end; a wake with a dead address is none, except on a node
 *	result            ETIMEDOUT only after the deadline; everything else succeeds
 */
#include "atomic.h"
#include "scen.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/mutex.h"
#include "../../lib/wait.h"

enum { THREADS = 7, MAX = THREADS + 1 };

/* The word, spelled out once more: if it changes, this must be thought about again. */
enum {
	LOCKED = 0x01,
	GRANT = 0x02,
	HEAD = 0x0c,
	NONE = 0x00,
	CALLED = 0x04,
	AWAKE = 0x08,
	FRONT = 0x0c,
	DUE = 0x10,
	ROUND = 0x20,
	CROWD = 0x40,
	ONE = 0x80,
};
_Static_assert(LOCKED == M_LOCKED && GRANT == M_GRANT && HEAD == M_HEAD && NONE == M_HEAD_NONE &&
		       CALLED == M_HEAD_CALLED && AWAKE == M_HEAD_AWAKE && FRONT == M_HEAD_FRONT && DUE == M_DUE &&
		       ROUND == M_ROUND && CROWD == M_CROWD && ONE == M_ONE,
	       "the word has changed");

/* Of the gate. It moves once: who comes after that locks as others do. */
enum { SHUT = 0, COUNTED = 1, RELEASED = 2 };
enum { HAS_MOVED = 0x100 }; /* in the count of those who have come there */

static const char *program[MAX];
static uint32_t attr;
static uint32_t limit;     /* of overtakings */
static uint32_t inherited; /* the word in a child of a fork, or 0 */
static bool is_fifo, is_bound_exact, keeps_places;
static const char *nodes; /* of a cohort lock, or NULL: a digit for each thread, or a letter for any of two */

/* Known from observing, not from the mutex. Masks have a bit 1 << t for thread t. */
struct ghost {
	nlock_mutex_t m;
	uint32_t section;            /* plain, and checked for races: how many sections there were */
	uint32_t refs;               /* the same */
	uint32_t said;               /* a word */
	uint32_t sections;           /* how many there should be */
	uint32_t in;                 /* the thread in the section */
	uint32_t owner;              /* by the word; 0: open or granted */
	uint32_t head;               /* 0: none, or not answered yet */
	uint32_t overtaken;          /* this head, so far */
	uint32_t was_opened_past_it; /* the last release: the lock was opened although there was a head */
	uint32_t counted;            /* who is registered */
	uint32_t inside;             /* who wants or has the lock */
	uint32_t crowded;            /* of those, who was not alone all the time */
	uint32_t called;             /* the last one that an owner took out of the back lane */
	uint32_t trying;             /* who is in trylock */
	uint32_t has_ended;
	uint32_t gate, comers;     /* words */
	uint32_t at_gate;          /* who waits there since before it moved, or is on its way from it to the lock */
	uint32_t waking;           /* the thread that wakes or moves these */
	uint32_t expecting;        /* the thread that adds them to the count */
	uint32_t passed_crowd;     /* by so many newcomers */
	uint32_t is_foreign;  /* the word is still as the parent process left it */
	uint32_t before[MAX]; /* who was asleep in the back lane when this thread's call began; COHORT: or has come out of it */
	uint32_t passed[MAX]; /* COHORT: how many of those that came later got the lock since it fell asleep */
};

static struct ghost *g;

/* ---------------------------------------------------------------- what has been reached, in all executions together */

#define EVENTS(X) \
	X(grant) \
	X(barge) X(front) X(due) X(called) X(missed) X(answered) X(timeout) X(refused) X(entered) X(adopted) X(late) \
		X(freed) X(near) X(ended) X(moved) X(expected) X(joined) X(passed)

enum event {
#define X(name) E_##name,
	EVENTS(X)
#undef X
		NEVENTS
};

static const char *const event_names[] = {
#define X(name) #name,
	EVENTS(X)
#undef X
};

static uint64_t events[NEVENTS];
static uint32_t most_overtaken;

static void note(enum event e)
{
	events[e]++;
}

/* ---------------------------------------------------------------- the word as it changes */

static void check_shape(uint32_t v)
{
	if (v & GRANT) {
		X_CHECK("grant", v & LOCKED);
		X_CHECK("grant", (v & HEAD) != NONE);
	}
	if (v < ONE)
		X_CHECK("count", !(v & ~(uint32_t)LOCKED));
	if ((v & HEAD) == NONE)
		X_CHECK("head", !(v & DUE));
	if (!nodes)
		X_CHECK("round", !(v & ROUND));
}

/* A broadcast counts all at the gate at once. */
static void expects(uint32_t old, uint32_t v)
{
	X_CHECK("count", (uint32_t)__builtin_popcount(g->at_gate) == v / ONE - old / ONE && !(g->counted & g->at_gate));
	X_CHECK("crowd", (old & LOCKED) && (v & CROWD) && ((old ^ v) & (ONE - 1) & ~(uint32_t)CROWD) == 0);
	g->counted |= g->at_gate;
	g->inside |= g->at_gate;
	g->crowded |= g->inside;
	g->passed_crowd = 0;
	note(E_expected);
}

static void count(uint32_t old, uint32_t v, uint32_t me)
{
	int32_t d = (int32_t)(v / ONE - old / ONE);

	if (d && g->expecting == me) {
		expects(old, v);
		return;
	}
	X_CHECK("crowd", !(~old & v & CROWD));
	X_CHECK("count", d >= -1 && d <= 1);
	if (d > 0) {
		X_CHECK("count", !(g->counted & 1u << me));
		g->counted |= 1u << me;
	} else if (d < 0) {
		X_CHECK("count", g->counted & 1u << me);
		g->counted &= ~(1u << me);
	}
	X_CHECK("count", (uint32_t)__builtin_popcount(g->counted) == v / ONE);
}

/* Thread t has its turn, or has given up, or has lost its place by an accident: nobody need wait for it. */
static void let_pass(int t)
{
	for (int i = 1; i < MAX; i++)
		g->before[i] &= ~(1u << t);
	g->passed[t] = 0;
}

/* Of a cohort lock. A round is ended by the owner, and is over when nobody waits. */
static void passes_others(int me)
{
	for (int t = 1; t < MAX; t++) {
		if (!(g->before[me] & 1u << t))
			continue;
		g->passed[t]++;
		if (is_bound_exact && keeps_places && g->passed[t] > limit)
			x_fail("bound", "T%d has been passed %u times", t, g->passed[t]);
		if (g->passed[t] > most_overtaken)
			most_overtaken = g->passed[t];
	}
}

static void rounds(uint32_t old, uint32_t v, uint32_t owner)
{
	if (!((old ^ v) & ROUND) || v < ONE)
		return;
	X_CHECK("round", owner == (uint32_t)x_self());
	note(E_ended);
}

/* A lock that was opened while there was no head is not the head's to lose. */
static void overtake(void)
{
	if (!g->was_opened_past_it)
		return;
	g->overtaken++;
	note(E_barge);
	if (is_bound_exact && g->overtaken > limit)
		x_fail("bound", "the head has been overtaken %u times", g->overtaken);
	if (!nodes && g->overtaken > most_overtaken)
		most_overtaken = g->overtaken;
}

static void newcomer_passes_crowd(void)
{
	g->passed_crowd++;
	if (is_bound_exact && g->passed_crowd > limit)
		x_fail("crowd", "%u newcomers have overtaken it", g->passed_crowd);
	if (g->passed_crowd == limit)
		note(E_passed);
}

static void ownership(uint32_t old, uint32_t v, uint32_t me)
{
	if (!(old & LOCKED) && (v & LOCKED)) {
		X_CHECK("exclusion", !g->owner);
		g->owner = me;
		if ((old & CROWD) && (old & HEAD) == NONE && old / ONE == v / ONE)
			newcomer_passes_crowd();
		if (g->head == me)
			g->passed_crowd = 0;
		if (nodes)
			passes_others((int)me);
		if ((v & HEAD) != NONE)
			overtake();
		let_pass((int)me);
	} else if ((old & LOCKED) && !(v & LOCKED)) {
		X_CHECK("owner", g->owner == me && !(old & GRANT));
		g->owner = 0;
		g->was_opened_past_it = (old & HEAD) != NONE;
	}
	if (!(old & GRANT) && (v & GRANT)) {
		X_CHECK("owner", g->owner == me);
		g->owner = 0;
		note(E_grant);
	} else if ((old & GRANT) && !(v & GRANT)) {
		X_CHECK("grant", g->head == me && (v & LOCKED));
		if (is_fifo && g->before[me])
			x_fail("order", "T%u is granted the lock before those of mask %#x, who slept when it came", me,
			       g->before[me]);
		g->owner = me;
		g->passed_crowd = 0;
		if (nodes)
			passes_others((int)me);
		let_pass((int)me);
	}
}

static void becomes_head(uint32_t from, uint32_t me)
{
	if (g->called && g->called != me)
		let_pass((int)g->called);
	g->called = 0;
	X_CHECK("head", !g->head && (g->counted & 1u << me));
	g->head = me;
	if (from == NONE)
		g->overtaken = 0;
	else
		note(E_answered);
}

static void no_head(uint32_t from, uint32_t v, uint32_t me, uint32_t owner)
{
	if (from == CALLED) {
		X_CHECK("head", !g->head && (owner == me || v < ONE));
		note(E_missed);
	} else {
		X_CHECK("head", g->head == me);
	}
	g->head = 0;
}

/* `owner`: before this change. */
static void headship(uint32_t old, uint32_t v, uint32_t me, uint32_t owner)
{
	uint32_t from = old & HEAD, to = v & HEAD;

	if (from == to)
		return;
	if (to == NONE) {
		no_head(from, v, me, owner);
	} else if (to == CALLED) {
		X_CHECK("head", from == NONE && owner == me);
		X_CHECK("crowd", !(v & CROWD));
		g->overtaken = 0;
		note(E_called);
	} else if (to == AWAKE && from == FRONT) {
		X_CHECK("head", owner == me);
	} else if (to == AWAKE || from == NONE) {
		becomes_head(from, me);
	} else {
		X_CHECK("head", from == AWAKE && g->head == me);
		note(E_front);
	}
}

/* In a child of a fork, until the word is its own, what it says of heads and counts is of the parent's threads. */
static void wrote_foreign(struct x_pair old, struct x_pair v, uint32_t me)
{
	if (old.tag == v.tag) {
		X_CHECK("adopt", !((old.value ^ v.value) & ~(uint32_t)LOCKED));
		ownership(old.value, v.value, me);
		return;
	}
	X_CHECK("adopt", v.value == (g->owner ? (uint32_t)LOCKED : 0));
	X_CHECK("adopt", (g->owner != 0) == ((old.value & (LOCKED | GRANT)) == LOCKED));
	g->is_foreign = 0;
	note(E_adopted);
}

/* If all who wait are on their way to sleep, a release opens the lock and wakes one afterwards. That one has no place in
 * the line until it has looked at the word, and there an owner that came in between may have called another. It may also
 * answer in the place of one that was called, which then has none. */
static void woken(int t)
{
	uint32_t others = nodes ? x_asleep(NL_LANE_BACK | NL_LANE_ODD) : 0;

	if (g->waking == (uint32_t)x_self()) {
		let_pass(t);
		return;
	}
	for (int i = 1; others && i < MAX; i++) {
		if ((others & 1u << i) && (g->before[t] & 1u << i))
			note(E_near);
	}
	if (g->owner == (uint32_t)x_self() && !g->head)
		g->called = (uint32_t)t;
	else if (g->head != (uint32_t)t)
		let_pass(t);
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self(), owner = g->owner;

	if (p == &g->comers && !((old.value | v.value) & HAS_MOVED)) {
		g->at_gate |= 1u << me;
		g->crowded |= 1u << me;
	}
	if (p != &g->m.word)
		return;
	check_shape(v.value);
	if (g->is_foreign) {
		wrote_foreign(old, v, me);
		return;
	}
	count(old.value, v.value, me);
	if (~old.value & v.value & DUE) {
		X_CHECK("head", g->head == me);
		note(E_due);
	}
	rounds(old.value, v.value, owner);
	ownership(old.value, v.value, me);
	headship(old.value, v.value, me, owner);
}

static void enters(uint32_t seen, uint32_t v)
{
	X_CHECK("count", seen < ONE && v / ONE == 1);
	note(E_entered);
}

static void calls(const char *what)
{
	uint32_t me = 1u << x_self();

	if (!(g->crowded & me) || (g->trying & me))
		x_fail("call", "T%d makes a call (%s) that nothing calls for", x_self(), what);
	if (g->has_ended)
		note(E_late);
}

/* ---------------------------------------------------------------- the calls of a thread */

/* Of a cohort lock: those asleep, and the one that was called out of the line. */
static uint32_t in_place(void)
{
	return (x_asleep(NL_LANE_ALL) | 1u << g->head | 1u << g->called) & ~1u;
}

static void arrives(int t)
{
	uint32_t me = 1u << t, others = g->inside & ~me;

	g->inside |= me;
	g->crowded &= ~me;
	if (others)
		g->crowded |= others | me;
	g->before[t] = nodes ? in_place() & ~me : x_asleep(NL_LANE_BACK) & x_asleep_on(&g->m.word);
	g->passed[t] = 0;
}

static void goes(int t)
{
	g->inside &= ~(1u << t);
	g->crowded &= ~(1u << t);
	g->before[t] = 0;
	let_pass(t);
}

static void enters_section(int t)
{
	X_CHECK("exclusion", !g->in && g->owner == (uint32_t)t);
	g->in = (uint32_t)t;
	g->sections++;
	X_SET(&g->section, X_GET(&g->section, X_SITE("section", X_RLX)) + 1, X_SITE("section", X_RLX));
}

static void leaves_section(int t)
{
	X_CHECK("exclusion", g->in == (uint32_t)t);
	g->in = 0;
}

static bool locks(char how, int t)
{
	static const struct timespec then = { 1, 0 };
	int rc;

	arrives(t);
	if (how == 'y') {
		g->trying |= 1u << t;
		rc = nlock_mutex_trylock(&g->m);
		g->trying &= ~(1u << t);
	} else {
		rc = how == 't' ? nlock_mutex_lock_until(&g->m, CLOCK_MONOTONIC, &then) : nlock_mutex_lock(&g->m);
	}
	if (rc) {
		X_CHECK("result", how == 'y' ? rc == EBUSY : how == 't' && rc == ETIMEDOUT && x_is_expired(t));
		note(how == 'y' ? E_refused : E_timeout);
		goes(t);
		return false;
	}
	enters_section(t);
	return true;
}

/* Who has been moved has its place behind those before it. */
static void are_moved(uint32_t who)
{
	for (int t = 1; t < MAX; t++) {
		if (!(who & 1u << t))
			continue;
		g->before[t] = x_asleep_before(t) & x_asleep(NL_LANE_BACK);
		if (x_asleep_on(&g->m.word) & ~who)
			note(E_joined);
		note(E_moved);
	}
}

/* Like cond.c, but that nobody leaves before the broadcast. */
static void broadcasts(int most)
{
	uint32_t self = (uint32_t)x_self(), n = nl_add_rlx(&g->comers, HAS_MOVED);
	bool is_counted;

	if (n & HAS_MOVED)
		return;
	g->crowded |= n ? 1u << self : 0;
	g->expecting = self;
	is_counted = n && nl_mutex_expect(&g->m, n);
	g->expecting = 0;
	nl_add_rel(&g->gate, is_counted ? COUNTED : RELEASED);
	if (!n)
		return;
	g->waking = self;
	if (is_counted && nl_move(&g->gate, COUNTED, &g->m.word, most))
		are_moved(x_asleep_on(&g->m.word) & g->at_gate);
	else
		nl_wake(&g->gate, 0, INT_MAX, NL_LANE_BACK);
	g->waking = 0;
}

static void comes_by_the_gate(int t, bool is_timed)
{
	static const struct nl_deadline then = { CLOCK_MONOTONIC, 1, 0, NULL, NULL };
	enum nl_outcome why = NL_LOOK;
	uint32_t state = SHUT, me = 1u << t;
	bool is_woken = false;

	if (nl_add_rlx(&g->comers, 1) & HAS_MOVED) {
		locks('l', t);
		return;
	}
	while ((state = nl_load_acq(&g->gate)) == SHUT) {
		why = nl_wait(&g->gate, 0, SHUT, NL_LANE_BACK, is_timed && why != NL_TIMEDOUT ? &then : NULL);
		is_woken |= why == NL_WOKEN;
	}
	if (state == RELEASED) {
		g->at_gate &= ~me;
		locks('l', t);
		return;
	}
	if (!is_woken)
		g->before[t] = x_asleep(NL_LANE_BACK) & x_asleep_on(&g->m.word);
	nl_mutex_lock_expected(&g->m, is_woken);
	g->at_gate &= ~me;
	enters_section(t);
}

static void end_of_life(void)
{
	g->has_ended = 1;
	note(E_freed);
	x_dead(&g->m, sizeof(g->m), X_SITE("free", X_RLX));
}

static void unlocks(char how, int t)
{
	bool is_last = false;
	int rc;

	leaves_section(t);
	if (how == 'd') {
		uint32_t n = X_GET(&g->refs, X_SITE("refs", X_RLX)) - 1;

		X_SET(&g->refs, n, X_SITE("refs", X_RLX));
		is_last = !n;
	}
	rc = how == 'f'   ? nlock_mutex_unlock_fair(&g->m)
	     : how == 'b' ? nlock_mutex_unlock_barging(&g->m)
			  : nlock_mutex_unlock(&g->m);
	X_CHECK("result", !rc);
	goes(t);
	if (is_last)
		end_of_life();
}

/* The caller goes to the end of the line, if there is one. */
static void bumps(int t)
{
	leaves_section(t);
	X_CHECK("result", !nlock_mutex_bump(&g->m));
	enters_section(t);
}

static bool hears(void)
{
	for (int i = 0; i < 3; i++) {
		if (x_load(&g->said, sizeof(g->said), X_SITE("heard?", X_ACQ)))
			return true;
		x_pause();
	}
	return false;
}

static void destroys(void)
{
	for (int i = 0; i < 3; i++) {
		if (!nlock_mutex_destroy(&g->m)) {
			end_of_life();
			return;
		}
		x_pause();
	}
}

/* One letter; returns the place of the next. */
static const char *call(const char *p, int t)
{
	x_note("-- %c", *p);
	if (strchr("lty", *p)) {
		if (!locks(*p, t))
			return p + strcspn(p, "ufbd") + 1;
	} else if (*p == 'v' || *p == 'V') {
		comes_by_the_gate(t, *p == 'V');
	} else if (*p == 'a' || *p == 'A') {
		broadcasts(*p == 'A' ? 2 : 1);
	} else if (*p == 'm') {
		bumps(t);
	} else if (*p == 's') {
		x_store(&g->said, sizeof(g->said), 1, X_SITE("say", X_REL));
	} else if (*p == 'w') {
		if (!hears())
			return p + strlen(p);
	} else if (*p == 'D') {
		destroys();
	} else {
		unlocks(*p, t);
	}
	return p + 1;
}

/* Between two calls a thread knows nothing but where it is in its program. */
static void thread(int t)
{
	for (const char *p = program[t]; *p;) {
		p = call(p, t);
		x_forget((uint32_t)(p - program[t]));
	}
}

/* Thread 1 is the one that has forked. Of the parent's other threads there is nothing but what the word says. */
static void inherit(void)
{
	x_store(&g->m.word, sizeof(g->m.word), inherited, X_SITE("inherit", X_RLX));
	x_set_tag(&g->m.word, 1);
	g->is_foreign = 1;
	if ((inherited & (LOCKED | GRANT)) == LOCKED) {
		g->owner = g->in = 1;
		g->inside = 1u << 1;
	}
}

static void init(void)
{
	g = x_new(sizeof(*g));
	if (nlock_mutex_init(&g->m, attr))
		x_fail("result", "init");
	for (int t = 1; t < MAX; t++)
		g->refs += program[t] && strchr(program[t], 'd');
	x_store(&g->said, sizeof(g->said), 0, X_SITE("say", X_RLX));
	nl_store_rlx(&g->gate, SHUT);
	nl_store_rlx(&g->comers, 0);
	if (inherited)
		inherit();
}

static void fini(void)
{
	X_CHECK("exclusion", g->section == g->sections);
	if (g->has_ended)
		return;
	X_CHECK("rest", !x_load(&g->m.word, sizeof(g->m.word), X_SITE("word at rest", X_RLX)));
	X_CHECK("rest", !nlock_mutex_destroy(&g->m));
}

/* ---------------------------------------------------------------- the command line */

static uint32_t node(void)
{
	char which = nodes ? nodes[x_self() - 1] : '0';

	return which == 'x' ? (uint32_t)x_choose(2) : (uint32_t)(which - '0');
}

static struct x_test test = { .init = init,
			      .thread = thread,
			      .fini = fini,
			      .wrote = wrote,
			      .enters = enters,
			      .calls = calls,
			      .woken = woken,
			      .node = node,
			      .strayed = let_pass };

static void set_handoff(const char *arg)
{
	size_t len = strcspn(arg, ",");

	if (isdigit((unsigned char)*arg)) {
		limit = (uint32_t)atoi(arg);
		attr = NLOCK_BOUNDED_N((int)limit);
		is_bound_exact = true;
	} else if (!strncmp(arg, "fifo", len)) {
		attr = NLOCK_FIFO;
		is_fifo = is_bound_exact = true;
	} else if (!strncmp(arg, "barging", len)) {
		attr = NLOCK_BARGING;
	} else if (!strncmp(arg, "bounded", len)) {
		attr = NLOCK_BOUNDED;
		limit = NLOCK_BOUND_DEFAULT;
		is_bound_exact = true;
	} else {
		scen_usage("HANDOFF is fifo, barging, bounded or a number");
	}
	if (!strncmp(arg + len, ",cohort:", 8)) {
		attr |= NLOCK_COHORT;
		nodes = arg + len + 8;
		is_fifo = false;
	} else if (!strcmp(arg + len, ",first"))
		attr |= NLOCK_PLACE_FIRST;
	else if (!strncmp(arg + len, ",fork:", 6))
		inherited = (uint32_t)strtoul(arg + len + 6, NULL, 16);
	else if (!strcmp(arg + len, ",node"))
		attr |= NLOCK_PLACE_NODE(0);
	else if (arg[len])
		scen_usage("after the hand-off: cohort, first, node or fork");
}

/* Locks and releases take turns; what is between must be in place. */
static bool makes_sense(const char *p, bool has_lock)
{

	for (; *p; p++) {
		bool takes = strchr("ltyvV", *p), releases = strchr("ufbd", *p);

		if (!strchr("ltyvVufbmdswDaA", *p) || (takes && has_lock) || ((releases || *p == 'm') && !has_lock))
			return false;
		has_lock = (has_lock || takes) && !releases;
	}
	return !has_lock;
}

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	arg = scen_unrolled(arg);
	if (t == MAX || !makes_sense(arg, t == 1 && (inherited & (LOCKED | GRANT)) == LOCKED))
		return NULL;
	program[t] = arg;
	if (strpbrk(arg, "dD"))
		test.has_ends = true;
	if (strchr(arg, 'b'))
		is_bound_exact = is_fifo = false;
	return program[t];
}

static bool has_reached(void)
{
	return most_overtaken == limit;
}

/* A stray wake may cost others their place. */
static void parsed(const struct x_options *o)
{
	keeps_places = !o->strays;
	is_fifo = is_fifo && keeps_places;
	if (nodes && (strspn(nodes, "012x") != strlen(nodes) || (int)strlen(nodes) != test.threads))
		scen_usage("a node, 0 to 2 or x, for each thread");
}

static const struct scen scen = {
	.parsed = parsed,
	.name = "scen_mutex",
	.usage = "HANDOFF[,cohort:NODES|,first|,node|,fork:HEX] PROGRAM...",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.set = set_handoff,
	.has_reached = has_reached,
	.reached = "overtaken",
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
