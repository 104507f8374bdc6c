/* SPDX-License-Identifier: MIT
 *
 * scen_once.c - the scenarios of the initialiser that runs once, and what must hold in them
 *
 *	scen_once PROGRAM... [fork:HEX] [need:EVENT...] [options of the explorer]
 *
 * There is one PROGRAM for each thread, a letter for each call:
 *
 *	o  once                     d  drop a reference, unless it was this thread that called init; the last one frees the object
 *
 * fork:HEX makes the threads those of a forked child, which finds the word as given. Threads whose neighbour to the left does the
 * same start after it. need: fails unless the event has happened in some execution. Unwinding cannot be played here: a coroutine
 * does not end. To the others it looks like fork:0 after a call; tests/check_script_once.c has it.
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race     what init did is seen by who returns
 *	asleep   nobody sleeps for ever
 *	once     init is called once, by the thread whose name the word cannot give, and nobody returns before it has
 *	word     the word goes from nothing, or what a parent left, to running, perhaps with waiters, to done, and stays there
 *	call     a wait only on RUNNING and WAITERS, a wake only by who has completed
 *	rest     in the end the word is done
 *	life     no access after the end
 */
#include "scen.h"

#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/wait.h"

enum { THREADS = 7, MAX = THREADS + 1, DONE = 1, RUNNING = 2, WAITERS = 4, OURS = 8 };

static const char *program[MAX];
static uint32_t inherited;

struct ghost {
	nlock_once_t o;
	uint32_t datum; /* plain, and checked for races */
	uint32_t refs;  /* a word */
	uint32_t word;  /* as it is */
	uint32_t runner, calls, completed, has_ended;
};

static struct ghost *g;

#define EVENTS(X) X(waited) X(woke) X(late) X(freed) X(anew)

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

static bool is_ours(uint32_t w)
{
	return (w & ~(uint32_t)WAITERS) == (OURS | RUNNING);
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self();

	if (p != &g->o.word || old.value == v.value)
		return;
	g->word = v.value;
	if (v.value == DONE) {
		X_CHECK("word", is_ours(old.value) && g->runner == me && g->calls == 1);
		g->completed = 1;
	} else if (v.value == (OURS | RUNNING)) {
		X_CHECK("once", !g->runner);
		X_CHECK("word", old.value == inherited);
		g->runner = me;
		events[E_anew] += inherited != 0;
	} else {
		X_CHECK("word", old.value == (OURS | RUNNING) && v.value == (OURS | RUNNING | WAITERS) && g->runner != me);
	}
}

static void calls(const char *what)
{
	bool is_wake = what[2] == 'k';

	bool is_runner = g->runner == (uint32_t)x_self();

	X_CHECK("call", is_wake ? g->completed && is_runner : g->runner && !is_runner);
	events[is_wake ? E_woke : E_waited]++;
	events[E_late] += g->has_ended;
}

static void init_once(void *arg)
{
	X_CHECK("once", arg == g && g->runner == (uint32_t)x_self() && !g->calls);
	g->calls++;
	X_SET(&g->datum, 1, X_SITE("datum", X_RLX));
}

/* Who has returned knows that init has completed: the one who called it needs no reference. */
static void drops(int t)
{
	if (g->runner == (uint32_t)t)
		return;
	if (x_add(&g->refs, sizeof(g->refs), UINT32_MAX, X_SITE("refs", X_ACQ_REL)) != 1)
		return;
	g->has_ended = 1;
	events[E_freed]++;
	x_dead(&g->o, sizeof(g->o), X_SITE("free", X_RLX));
}

static void thread(int t)
{
	for (const char *p = program[t]; *p; p++) {
		x_note("-- %c", *p);
		if (*p == 'o') {
			X_CHECK("once", !nlock_once(&g->o, init_once, g) && g->completed);
			X_CHECK("once", X_GET(&g->datum, X_SITE("datum", X_RLX)) == 1);
		} else {
			drops(t);
		}
		x_forget((uint32_t)(p + 1 - program[t]));
	}
}

static void init(void)
{
	g = x_new(sizeof(*g));
	x_store(&g->o.word, sizeof(g->o.word), inherited, X_SITE("inherit", X_RLX));
	for (int t = 1; t < MAX; t++)
		g->refs += program[t] && strchr(program[t], 'd');
	g->refs -= g->refs > 0;
}

static void fini(void)
{
	X_CHECK("once", g->calls == 1);
	if (!g->has_ended)
		X_CHECK("rest", x_load(&g->o.word, sizeof(g->o.word), X_SITE("word at rest", X_RLX)) == DONE);
}

static struct x_test test = { .init = init, .thread = thread, .fini = fini, .wrote = wrote, .calls = calls };

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	if (t == MAX || arg[strspn(arg, "od")])
		return NULL;
	program[t] = arg;
	if (strchr(arg, 'd'))
		test.has_ends = true;
	return program[t];
}

static bool option(const char *arg)
{
	if (strncmp(arg, "fork:", 5))
		return false;
	inherited = (uint32_t)strtoul(arg + 5, NULL, 16);
	return true;
}

static const struct scen scen = {
	.name = "scen_once",
	.usage = "PROGRAM... [fork:HEX]",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.option = option,
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
