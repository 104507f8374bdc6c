/* SPDX-License-Identifier: MIT
 *
 * scen_barrier.c - the scenarios of the barrier, and what must hold in them
 *
 *	scen_barrier COUNT PROGRAM... [need:EVENT...] [options of the explorer]
 *
 * After COUNT: ",first" or ",node" chooses the placement; ",round:HEX" is the round that it begins with (near the end of what
 * the words count); ",fork:AGL" makes the threads those of a forked child, which finds a barrier at which A of the parent's
 * threads had arrived, G rounds were full and not open, and L threads had not left.
 * There is one PROGRAM for each thread, a letter for each call:
 *
 *	w  wait
 *	S  wait, and if this is the serial thread, destroy and free
 *	O  wait, and if it is not, destroy and free; for two threads
 *	d  destroy, without an end
 *
 * A program may end in *N: all of it N times. Threads whose neighbour to the left does the same start after it: their names do not
 * matter. need: fails unless the event has happened in some execution. Before each wait a thread writes a plain variable of its own;
 * after it, it reads those of all that were in its round.
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race     what was done before a wait is ordered before what the others of the round do after it
 *	early    nobody gets out of a round that is not full
 *	serial   one of each round is told that it is the serial one: the one that filled it
 *	round    an arrival is the next in its round, or fills it
 *	gate     who filled a round opens once; ASLEEP is set by who waits for an opening
 *	node     the node changes while nobody sleeps at the gate
 *	left     each call leaves once, after as many openings as its round asks for, or its own; nobody is inside when destroy returns 0
 *	asleep   nobody sleeps for ever
 *	call     no wake but where somebody sleeps or is about to; no call at all for a barrier of one
 *	adopt    the child of a fork finds the barrier at rest, and nothing of its own is taken for the parent's
 *	life     no access after the end; a wake with a dead address is none, except on a node
 *	rest     in the end the words are those of a barrier at rest
 *	result   destroy returns 0
 */
#include "scen.h"

#include <ctype.h>
#include <errno.h>
#include <nlock.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 7, MAX = THREADS + 1, ROUNDS = 8, PLACES = 4 };

/* The words, spelled out once more: if they change, this must be thought about again. */
enum { ASLEEP = 1, AWAITED = 1, ONE = 2 };

static const char *program[MAX];
static uint32_t attr, count, base;
static uint32_t parents_arrived, parents_late, parents_inside; /* in a child of a fork */
static bool is_child;

/* Known from observing, not from the barrier. Masks have a bit 1 << t for thread t; rounds are counted from `base`. */
struct ghost {
	nlock_barrier_t b;
	uint32_t did[MAX][PLACES];     /* plain, and checked for races */
	uint32_t place[MAX];           /* where thread t is in its program, 0 .. PLACES - 1 */
	uint32_t round[MAX];           /* of its last arrival */
	uint32_t members[ROUNDS];      /* who was in it */
	uint8_t spot[ROUNDS][MAX];     /* the place of each then */
	uint32_t serial[ROUNDS];       /* who filled it */
	uint32_t told[ROUNDS];         /* how many were told SERIAL */
	uint32_t full, opened;         /* rounds */
	uint32_t inside;               /* who has arrived and not left */
	uint32_t must_open, must_wake; /* who */
	uint32_t is_foreign, has_ended;
};

static struct ghost *g;

/* ---------------------------------------------------------------- what has been reached, in all executions together */

#define EVENTS(X) X(slept) X(late) X(swapped) X(moved) X(awaited) X(freed) X(adopted) X(raced)

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

static void note(enum event e)
{
	events[e]++;
}

/* ---------------------------------------------------------------- the words as they change */

/* What `left` is when all calls of this many rounds, and of those before `base`, have gone. */
static uint32_t all_left(uint32_t rounds)
{
	return (base + rounds) * count * ONE;
}

static void arrives(struct x_pair old, struct x_pair v, uint32_t me)
{
	uint32_t r = old.tag - base;

	X_CHECK("adopt", !g->is_foreign);
	X_CHECK("round", r == g->full && r < ROUNDS && !(g->inside & 1u << me));
	g->members[r] |= 1u << me;
	g->spot[r][me] = (uint8_t)g->place[me];
	g->round[me] = r;
	g->inside |= 1u << me;
	if (old.value + 1 < count) {
		X_CHECK("round", v.tag == old.tag && v.value == old.value + 1);
		return;
	}
	X_CHECK("round", v.tag == old.tag + 1 && v.value == 0);
	X_CHECK("round", (uint32_t)__builtin_popcount(g->members[r]) == count);
	g->serial[r] = me;
	g->must_open |= 1u << me;
	g->full++;
}

/* The gate, in the units that it counts in. */
static void changes_gate(struct x_pair old, struct x_pair v, uint32_t me)
{
	if (old.tag != v.tag) {
		X_CHECK("node", !x_asleep_on(&g->b.gate));
		note(E_moved);
	}
	if (v.value == (old.value | ASLEEP)) {
		X_CHECK("gate", (g->inside & 1u << me) && !(g->must_open & 1u << me) && g->round[me] >= g->opened);
		return;
	}
	X_CHECK("gate", v.value == (old.value & ~(uint32_t)ASLEEP) + ONE);
	X_CHECK("gate", g->must_open & 1u << me);
	if (g->round[me] != g->opened)
		note(E_swapped);
	g->must_open &= ~(1u << me);
	g->opened++;
	if (old.value & ASLEEP)
		g->must_wake |= 1u << me;
}

static void changes_left(uint32_t old, uint32_t v, uint32_t me)
{
	if (!(g->inside & 1u << me)) { /* destroy, before and after */
		X_CHECK("left", v == (old & AWAITED ? all_left(g->full) : old - all_left(g->full) + AWAITED));
		if (!(old & AWAITED) && v != AWAITED)
			note(E_awaited);
		return;
	}
	X_CHECK("left", v == old + ONE && !(g->must_open & 1u << me));
	X_CHECK("left", g->opened > g->round[me] || g->serial[g->round[me]] == me);
	g->inside &= ~(1u << me);
	if (v == AWAITED)
		g->must_wake |= 1u << me;
}

/* In a child of a fork, until the object is its own. */
static void adopts(const void *p, struct x_pair old, struct x_pair v)
{
	if (p == &g->b.state) {
		X_CHECK("adopt", parents_arrived && old.tag + 1 == base && v.tag == base && v.value == 0);
	} else if (p == &g->b.left) {
		X_CHECK("adopt", v.value == all_left(0));
	} else if (old.tag != v.tag) {
		X_CHECK("adopt", (v.value & ~(uint32_t)ASLEEP) == base * ONE && !g->inside);
		g->is_foreign = 0;
		note(E_adopted);
	}
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self();

	if (!me || (old.value == v.value && old.tag == v.tag))
		return;
	if (g->is_foreign && !(p == &g->b.state && v.tag == old.tag))
		adopts(p, old, v);
	else if (p == &g->b.state)
		arrives(old, v, me);
	else if (p == &g->b.gate)
		changes_gate(old, v, me);
	else if (p == &g->b.left)
		changes_left(old.value, v.value, me);
}

static void calls(const char *what)
{
	uint32_t me = 1u << x_self();

	X_CHECK("call", count > 1);
	if (strcmp(what, "wake")) {
		note(E_slept);
		return;
	}
	X_CHECK("call", g->must_wake & me);
	g->must_wake &= ~me;
	if (g->has_ended)
		note(E_late);
}

/* ---------------------------------------------------------------- the calls of a thread */

static void sees_the_others(uint32_t r)
{
	for (uint32_t t = 1; t < MAX; t++) {
		if (g->members[r] & 1u << t) {
			uint32_t i = g->spot[r][t];

			X_CHECK("race", X_GET(&g->did[t][i], X_SITE("other's", X_RLX)) == t + i);
		}
	}
}

/* True: the serial one. */
static bool waits(uint32_t t, uint32_t place)
{
	uint32_t r;
	int rc;

	g->place[t] = place;
	X_SET(&g->did[t][place], t + place, X_SITE("own", X_RLX));
	rc = nlock_barrier_wait(&g->b);
	r = g->round[t];
	X_CHECK("early", g->full > r);
	X_CHECK("left", !(g->inside & 1u << t));
	X_CHECK("serial", rc == (g->serial[r] == t ? NLOCK_BARRIER_SERIAL : 0));
	g->told[r] += rc == NLOCK_BARRIER_SERIAL;
	sees_the_others(r);
	return rc == NLOCK_BARRIER_SERIAL;
}

static void destroys(bool is_end)
{
	if (g->inside)
		note(E_raced);
	X_CHECK("result", !nlock_barrier_destroy(&g->b));
	X_CHECK("left", !g->inside);
	if (!is_end)
		return;
	g->has_ended = 1;
	note(E_freed);
	x_dead(&g->b, sizeof(g->b), X_SITE("free", X_RLX));
}

static void thread(int t)
{
	for (uint32_t i = 0; program[t][i]; i++) {
		char what = program[t][i];

		x_note("-- %c", what);
		if (what == 'd')
			destroys(false);
		else if (waits((uint32_t)t, i) ? what == 'S' : what == 'O')
			destroys(true);
		x_forget(i);
	}
}

static void starts_with(uint32_t round, uint32_t arrived, uint32_t gate, uint32_t left)
{
	x_store64(&g->b.state, (uint64_t)round << 32 | arrived, X_SITE("state", X_RLX));
	x_store(&g->b.gate, sizeof(g->b.gate), gate, X_SITE("gate", X_RLX));
	x_store(&g->b.left, sizeof(g->b.left), left, X_SITE("left", X_RLX));
}

static void init(void)
{
	uint32_t round = base - (parents_arrived != 0);

	g = x_new(sizeof(*g));
	if (nlock_barrier_init(&g->b, count, attr))
		x_fail("result", "init");
	starts_with(round, parents_arrived, (round - parents_late) * ONE + (parents_arrived ? ASLEEP : 0),
		    (round * count - parents_inside) * ONE);
	if (is_child) {
		x_set_tag(&g->b.gate, 1);
		g->is_foreign = 1;
	}
}

static void fini(void)
{
	for (uint32_t r = 0; r < g->full; r++)
		X_CHECK("serial", g->told[r] == 1);
	X_CHECK("rest", !g->inside && !g->must_open);
	if (g->has_ended)
		return;
	X_CHECK("result", !nlock_barrier_destroy(&g->b));
	X_CHECK("rest", x_load64(&g->b.state, X_SITE("state at rest", X_RLX)) == (uint64_t)(base + g->full) << 32);
	X_CHECK("rest", (x_load(&g->b.gate, sizeof(g->b.gate), X_SITE("gate at rest", X_RLX)) & ~(uint32_t)ASLEEP) ==
				(base + g->full) * ONE);
	X_CHECK("rest", x_load(&g->b.left, sizeof(g->b.left), X_SITE("left at rest", X_RLX)) == all_left(g->full));
}

/* ---------------------------------------------------------------- the command line */

static struct x_test test = { .init = init, .thread = thread, .fini = fini, .wrote = wrote, .calls = calls };

static void set_fork(const char *digits)
{
	for (int i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)digits[i]))
			scen_usage("fork: is followed by three digits");
	}
	is_child = true;
	parents_arrived = (uint32_t)(digits[0] - '0');
	parents_late = (uint32_t)(digits[1] - '0');
	parents_inside = (uint32_t)(digits[2] - '0');
	base = 5 + (parents_arrived != 0);
}

static void set_count(const char *arg)
{
	const char *what = arg + strcspn(arg, ",");

	count = (uint32_t)atoi(arg);
	if (!count)
		scen_usage("COUNT is a number");
	if (!strcmp(what, ",first"))
		attr = NLOCK_PLACE_FIRST;
	else if (!strcmp(what, ",node"))
		attr = NLOCK_PLACE_NODE(0);
	else if (!strncmp(what, ",round:", 7))
		base = (uint32_t)strtoul(what + 7, NULL, 16);
	else if (!strncmp(what, ",fork:", 6))
		set_fork(what + 6);
	else if (*what)
		scen_usage("after the count: first, node, round or fork");
}

static const char *unrolled(const char *arg)
{
	const char *star = strchr(arg, '*');
	size_t len = star ? (size_t)(star - arg) : strlen(arg), n = star ? strtoul(star + 1, NULL, 10) : 1;
	char *p = calloc(n + 1, len + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(p + i * len, arg, len);
	if (!len || strlen(p) > PLACES || strspn(p, "wSOd") != strlen(p))
		scen_usage("a program is of one to four calls");
	return p;
}

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	if (t == MAX)
		return NULL;
	program[t] = unrolled(arg);
	if (strpbrk(arg, "SO"))
		test.has_ends = true;
	return program[t];
}

static const struct scen scen = {
	.name = "scen_barrier",
	.usage = "COUNT[,first|,node|,round:HEX|,fork:AGL] PROGRAM...",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.set = set_count,
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
