/* SPDX-License-Identifier: MIT
 *
 * explore.c - exhaustive exploration of lock code under the C11 memory model: options, sites, trace, report
 *
 * What it is
 *   A few threads run as coroutines in one process. Each atomic operation and each wait or wake is a step. At each step there are
 *   choices: whose step is next; which of the stores that it may see a load returns; whom the kernel finds; whether a deadline
 *   passes, a signal comes or a stray wake-up hits. All combinations are tried, depth first; a state that has been
 *   visited is not entered again. The code explored is the library's own source: lib/NOUN.c is compiled as it is, with atomic.h
 *   of this directory forced in front (see there), and nothing of it is copied or rewritten.
 *
 *	engine.h    the parts and what they share       memory.c   stores, loads, races, ends of life
 *	search.c    depth first, random, replay         futex.c    waiting, waking, time
 *	sched.c     coroutines, the next step           state.c    when two states are the same
 *	litmus.c    calibration: small shapes whose outcomes C11 decides
 *	scen.c      the command line of scenarios
 *	scen_NOUN.c the scenarios of a primitive and what must hold in them; NOUN.sh lists them
 *	explore.sh  runs all of them; mutants.sh plants faults; sweep.sh weakens each order; relacy/ asks another explorer
 *
 * What it finds (the word that a failure begins with)
 *   race       plain accesses that nothing orders: an order is missing, or two own the lock
 *   asleep     threads sleep and nobody is left who could wake them: a lost wake-up. A deadline that would end it is no excuse
 *   life       an access to an object that is not ordered before its end, or comes after it
 *   steps      an execution longer than -n: threads keep each other busy, or one spins for a thing that nobody will do
 *   others     what the test itself asserts through x_fail and X_CHECK
 *   explorer   a table of the explorer is too small: enlarge it in engine.h
 *
 * Reading a failure
 *   The schedule is printed one step a line: number, thread, operation, what came of it, where it stands in the source. The
 *   line "again" has what to add to the arguments to see it once more. With -q only the last lines are printed.
 *
 * Honest limits
 *   - A store goes last in its word's history, so 2+2W is not produced; a load returns only what has been stored, so load buffering is
 *     not; litmus.c shows both holes. Each needs relaxed stores that race on two words. The mutex has one word, and a hint that may
 *     have any value.
 *   - The kernel is a model: comparing and queueing is one step, a wake is one, and nothing is lost.
 *   - Liveness is "somebody sleeps for ever" and "too many steps". A thread that is unlucky for ever is not found;
 *     the scenarios count overtakings instead.
 *   - Under -p only executions with so few preemptions are tried; a thread that blocks, pauses or ends is not one. Under -r nothing is
 *     proved at all.
 *   - A state is recognised by a 64-bit hash. A plain read that goes past the seam (m->attr) must be of a constant: it belongs to no
 *     state. After an object's end it yields an invalid value, and tests that end lives try it late.
 *   - Threads are fixed at the start, words have 16 or 32 bits.
 *
 * Adding a scenario
 *   For the mutex: nothing to write, see the head of scen_mutex.c; add a line to explore.sh. For another primitive: a file like
 *   scen_mutex.c. All that outlives a step of a thread is in memory from x_new, threads call x_forget between their calls with
 *   what they still know, observers make no steps. Then plant the faults that it is for, and see them caught.
 */
#include "engine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct x_test *x_test;
struct x_options x_opt;
struct x_result *x_res;
bool x_is_tracing;

const struct x_options x_defaults = { .preemptions = -1, .stale = -1, .watch = 1, .steps = 2000, .traces = true };

/* ---------------------------------------------------------------- options */

static int *number_for(struct x_options *o, char c)
{
	switch (c) {
	case 'p':
		return &o->preemptions;
	case 's':
		return &o->stale;
	case 'e':
		return &o->strays;
	case 't':
		return &o->expiries;
	case 'c':
		return &o->cancels;
	case 'd':
		return &o->jumps;
	case 'b':
		return &o->watch;
	case 'n':
		return &o->steps;
	case 'P':
		return &o->depth;
	default:
		return NULL;
	}
}

bool x_option(struct x_options *o, const char *arg)
{
	int *n;

	if (arg[0] != '-' || !arg[1])
		return false;
	n = number_for(o, arg[1]);
	if (n)
		*n = atoi(arg + 2);
	else if (arg[1] == 'r')
		o->runs = strtoull(arg + 2, NULL, 10);
	else if (arg[1] == 'S')
		o->seed = strtoull(arg + 2, NULL, 10);
	else if (arg[1] == 'W')
		o->weaken = arg + 2;
	else if (arg[1] == 'R')
		o->replay = arg + 2;
	else if (!strcmp(arg, "-w"))
		o->any_wake = true;
	else if (!strcmp(arg, "-f"))
		o->refuses = true;
	else if (!strcmp(arg, "-H"))
		o->no_pruning = true;
	else if (!strcmp(arg, "-L"))
		o->lists_sites = true;
	else if (!strcmp(arg, "-q"))
		o->traces = false;
	else
		return false;
	return true;
}

void x_usage(FILE *f)
{
	fputs("  -pN  at most N preemptions         -sN  at most N stale loads      -w  wake in any order\n"
	      "  -eN  N stray wake-ups or signals   -tN  N deadlines that pass      -dN  N leaps of the clock\n"
	      "  -cN  N cancellations               -nN  longest execution (2000)   -q  no trace of a failure\n"
	      "  -rN  N random executions           -PN  by priorities, N changes   -SN  seed\n"
	      "  -W FILE:LINE=ORDER  weaken a site  -L   list the ordered sites     -R CHOICES  replay\n"
	      "  -bN  watch for N rounds (1)        -H   enter states again that have been visited\n"
	      "  -f   moves may be refused\n",
	      f);
}

/* ---------------------------------------------------------------- sites */

enum { SITES = 200 };
static const char *const names[] = { "rlx", "acq", "rel", "acq_rel", "sc" };
static const struct x_site *sites[SITES];
static int nsites;

static void weaken(struct x_site *s, const char *how)
{
	char at[128];
	int len = snprintf(at, sizeof(at), "%s:%d=", s->file, s->line);

	if (strncmp(how, at, (size_t)len))
		return;
	for (int o = X_RLX; o <= X_SC; o++) {
		if (!strcmp(how + len, names[o]))
			s->order = (enum x_order)o;
	}
}

/* Called with each operation's site; the first time matters. */
void x_meet(struct x_site *s)
{
	const char *base = strrchr(s->file, '/');

	if (s->is_known)
		return;
	s->is_known = true;
	s->file = base ? base + 1 : s->file;
	if (nsites < SITES)
		sites[nsites++] = s;
	if (x_opt.weaken)
		weaken(s, x_opt.weaken);
}

static void list_sites(FILE *f)
{
	for (int i = 0; i < nsites; i++) {
		if (sites[i]->order != X_RLX)
			fprintf(f, "site %s:%d %s %s\n", sites[i]->file, sites[i]->line, names[sites[i]->order], sites[i]->text);
	}
}

/* ---------------------------------------------------------------- trace and report */

static void line(const struct x_site *s, const char *fmt, va_list a)
{
	char what[160];

	vsnprintf(what, sizeof(what), fmt, a);
	printf("  %4d  T%d  %-40.40s %-40s", w.steps, w.self, s ? s->text : "", what);
	if (s)
		printf("  %s:%d", s->file, s->line);
	putchar('\n');
}

void x_trace(const struct x_site *s, const char *fmt, ...)
{
	va_list a;

	if (!x_is_tracing)
		return;
	va_start(a, fmt);
	line(s, fmt, a);
	va_end(a);
}

void x_note(const char *fmt, ...)
{
	va_list a;

	if (!x_is_tracing)
		return;
	va_start(a, fmt);
	line(NULL, fmt, a);
	va_end(a);
}

void x_fail(const char *property, const char *fmt, ...)
{
	va_list a;

	x_res->has_failed = true;
	snprintf(x_res->property, sizeof(x_res->property), "%s", property);
	va_start(a, fmt);
	vsnprintf(x_res->message, sizeof(x_res->message), fmt, a);
	va_end(a);
	x_trace(NULL, "FAILS: %s: %s", property, x_res->message);
	x_leave();
}

void x_print(FILE *f, const struct x_test *t, const struct x_result *r)
{
	fprintf(f, "%s %s: %llu executions, %llu steps, %llu states, %llu pruned, longest %d, %.2f s\n",
		r->has_failed ? "FAIL" : "pass", t->name, (unsigned long long)r->executions, (unsigned long long)r->steps,
		(unsigned long long)r->states, (unsigned long long)r->pruned, r->longest, r->seconds);
	if (r->has_failed)
		fprintf(f, "FAIL %s: %s: %s\n", t->name, r->property, r->message);
	if (x_opt.lists_sites)
		list_sites(f);
}
