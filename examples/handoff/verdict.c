/* SPDX-License-Identifier: MIT
 *
 * verdict.c - the claims E1 to E6 about fair and unfair hand-off, tried on this machine, by medians of five runs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "expected.h"
#include "modes.h"
#include "report.h"
#include "text.h"

struct trial {
	struct config config;
	struct summary summaries[KINDS_MAX];
	struct claims claims;
	int worst; /* exit code */
};

/* Measures the locks of `letters` with c tasks and means r and x. False if it cannot go on. */
static bool measure(struct trial *t, const char *letters, unsigned tasks, double r, double x)
{
	struct config *cf = &t->config;
	int err, code;

	cf->tasks = tasks;
	cf->r = r;
	cf->x = x;
	cf->kind_count = 0;
	for (; *letters; letters++)
		cf->kinds[cf->kind_count++] = lock_kind_find(letters, 1);
	bench_free(t->summaries, KINDS_MAX);
	memset(t->summaries, 0, sizeof t->summaries);
	err = bench_all(cf, t->summaries);
	if (err) {
		fprintf(stderr, "ulockflex: a run failed: %s\n", strerror(err));
		t->worst = EXIT_VIOLATION;
		return false;
	}
	code = bench_complaints(cf, t->summaries);
	if (code == EXIT_VIOLATION)
		t->worst = code;
	printf("\n");
	report_classic_head(stdout);
	for (unsigned k = 0; k < cf->kind_count; k++)
		if (!t->summaries[k].error)
			report_classic(stdout, cf, &t->summaries[k]);
	fflush(stdout);
	return true;
}

static double value_of(void *of, char lock, const char *column)
{
	const struct trial *t = of;
	const struct summary *s = bench_find(&t->config, t->summaries, lock);

	return s ? report_metric(s, column) : NAN;
}

static double ratio_of(void *of, char above, char below)
{
	const struct trial *t = of;

	return bench_ratio(&t->config, t->summaries, above, below);
}

/* Context switches say whether a lock that should convoy did. */
static void verdict(struct trial *t, const char *name)
{
	char why[32 * KINDS_MAX] = "";
	size_t length = 0;

	for (unsigned k = 0; k < t->config.kind_count; k++)
		if (!t->summaries[k].error)
			length += (size_t)snprintf(why + length, sizeof why - length, ", csw/op %c %.3f",
						   t->summaries[k].kind->letter, t->summaries[k].median[M_CSW]);
	claim_verdict(&t->claims, name, why);
}

/* ------------------------------------------------------------------ the claims */

static void try_condition(struct trial *t, const struct expected *e)
{
	const struct measured m = { t, value_of, ratio_of };
	double v = expected_value(e, &m);

	if (e->may_lack && isnan(v))
		printf("     -  %s: counted only by a library built with --enable-stats\n", e->what);
	else if (expected_is_note(e))
		claim_note(e->what, v);
	else
		claim_within(&t->claims, e->what, v, e->least, e->most, e->then);
}

static void try_claim(struct trial *t, const char *name, const char *text)
{
	printf("%-4s", name);
	claim(&t->claims, text);
	for (const struct expected *e = expected; e->claim; e++)
		if (!strcmp(e->claim, name))
			try_condition(t, e);
}

/* Two CPUs now convoy in the empty loop, now go solo; a single number does not tell. */
static void say_bistable(const struct trial *t)
{
	const struct summary *s = bench_find(&t->config, t->summaries, 't');
	double least = INFINITY, most = 0;

	for (unsigned r = 0; s && r < t->config.runs; r++) {
		least = fmin(least, s->thput[r]);
		most = fmax(most, s->thput[r]);
	}
	printf("     -  The empty loop is bistable, now convoy, now solos: runs of t from %.0f to %.0f a second\n",
	       least, most);
}

static void claims_alone(struct trial *t)
{
	if (!measure(t, "ekfc", 1, 0, 0))
		return;
	try_claim(t, "E1", "Alone, a lock in user space costs a fraction of a system call");
	verdict(t, "E1");
}

static void claims_of_three(struct trial *t)
{
	bool measured;

	t->config.processes = true;
	measured = measure(t, "ktfpc", 3, 2, 1);
	t->config.processes = false;
	if (!measured)
		return;
	printf("(processes)\n");
	try_claim(t, "E2",
		  "A strict queue is nearly always contended, convoy avoidance hardly; the queue costs at least half");
	verdict(t, "E2");
	try_claim(t, "E3", "Run lengths show the hand-off: fair is one at a time, unfair is many in a row");
	verdict(t, "E3");
	try_claim(t, "E4", "In a convoy every iteration costs a context switch");
	verdict(t, "E4");
}

static void claims_of_2002(struct trial *t)
{
	if (!measure(t, "tfc", 3, 0, 0))
		return;
	try_claim(t, "E5", "The command of 2002, -r 0 -x 0: convoy avoidance is at least twice as fast");
	say_bistable(t);
	verdict(t, "E5");
}

static void claims_of_a_hundred(struct trial *t)
{
	if (!measure(t, "tfc", 100, 9, 1))
		return;
	try_claim(t, "E6", "A hundred tasks, -r 9 -x 1: local fairness as in the OLS paper");
	if (place_cpus() <= EXPECTED_E6_CPUS)
		verdict(t, "E6");
	else
		printf("E6: no verdict with more than %u CPUs, 2002 had 2\n", EXPECTED_E6_CPUS);
}

int mode_claims(const struct options *o)
{
	static struct trial t;

	double effective = place_effective_cpus();

	t.config = o->config;
	t.config.runs = 5;
	report_machine(stdout, &t.config, effective);
	claims_begin(&t.claims, effective);
	claims_alone(&t);
	if (t.worst == EXIT_DONE)
		claims_of_three(&t);
	if (t.worst == EXIT_DONE)
		claims_of_2002(&t);
	if (t.worst == EXIT_DONE)
		claims_of_a_hundred(&t);
	printf("\n%d of %d claims reproduced here\n", t.claims.held, t.claims.tried);
	bench_free(t.summaries, KINDS_MAX);
	return t.worst;
}
