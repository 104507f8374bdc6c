/* SPDX-License-Identifier: MIT
 *
 * lesson_claims.c - what is claimed about fair and unfair hand-off, and whether it holds here
 *
 *   A   arithmetic on what was published. It holds or the tables were copied wrongly.
 *   D   what a lock promises, which no machine may make untrue.
 *   E   what was seen: ratios and shares, never a speed. Not to see it here is a finding and no fault of anybody.
 *   M   shown beside what was published, without a verdict.
 */
#include "lesson.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "expected.h"
#include "metrics.h"
#include "published.h"

const char *const verdict_names[VERDICTS] = {
	"reproduced",   "not reproduced here", "machine busy", "needs a larger machine",
	"not measured", "shown, no verdict",
};

/* What is being looked into. */
struct inquiry {
	const struct lab *lab;
	struct finding *finding;
};

/* ---------------------------------------------------------------- conditions */

/* The experiment that the values come from. False, and no verdict, if there is nothing to be judged. */
static bool uses(struct inquiry *q, const char *id)
{
	const struct outcome *o = lab_find(q->lab, id);
	struct finding *f = q->finding;
	double switches;

	if (!o || !o->row_count) {
		f->lacks = true;
		snprintf(f->why, sizeof f->why, "%s %s%s%.100s", id, o ? "has no results" : "has not run",
			 o && *o->said ? ": " : "", o ? o->said : "");
		return false;
	}
	f->cpus = fmin(f->cpus, o->cpus);
	switches = lab_value(q->lab, id, 't', "csw_op");
	f->switches = isnan(f->switches) ? switches : f->switches;
	return true;
}

static struct condition *add(struct inquiry *q, const char *what, double v)
{
	struct finding *f = q->finding;
	struct condition *c = &f->conditions[f->count < CONDITIONS_MAX ? f->count++ : CONDITIONS_MAX - 1];

	*c = (struct condition){ .value = v, .least = -INFINITY, .most = INFINITY, .then = "" };
	snprintf(c->what, sizeof c->what, "%s", what);
	return c;
}

/* One condition of the claim. What is not known does not hold. */
static void within(struct inquiry *q, const char *what, double v, double least, double most, const char *then)
{
	struct condition *c = add(q, what, v);

	c->least = least;
	c->most = most;
	c->then = then;
	q->finding->holds = q->finding->holds && v >= least && v <= most;
}

static void at_least(struct inquiry *q, const char *what, double v, double least, const char *then)
{
	within(q, what, v, least, INFINITY, then);
}

static void at_most(struct inquiry *q, const char *what, double v, double most, const char *then)
{
	within(q, what, v, -INFINITY, most, then);
}

static void note(struct inquiry *q, const char *what, double v, const char *then)
{
	add(q, what, v)->then = then;
}

/* ---------------------------------------------------------------- A: the published numbers */

static double thput(enum post post, int c, int r, int x, const char *lock)
{
	const struct row2002 *row = published_row(post, c, r, x, lock, 0);

	return row ? row->thput : NAN;
}

static void claim_a1(struct inquiry *q)
{
	within(q, "FUTEX_UP_FAIR / FUTEX_UP", published_fair_ratio(), 0.107, 0.109, "217001 / 2002852");
}

static void claim_a2(struct inquiry *q)
{
	double two = ratio(thput(MAR05, 2, 0, 0, "f"), thput(MAR05, 2, 0, 0, "m"));
	double three = ratio(thput(MAR05, 3, 0, 0, "f"), thput(MAR05, 3, 0, 0, "m"));
	double hundred = ratio(thput(MAR05, 100, 0, 0, "f"), thput(MAR05, 100, 0, 0, "m"));

	within(q, "f/m with 2 processes", two, 0.3895, 0.3905, "");
	within(q, "f/m with 3", three, 0.154, 0.156, "");
	within(q, "f/m with 100", hundred, 0.029, 0.030, "");
}

static void claim_a3(struct inquiry *q)
{
	struct ols_range range = ols_fair_range();

	within(q, "cells with 3 tasks or more", (double)range.cells, 16, 16, "");
	at_least(q, "least futex_fair/futex", range.least, 0.38, "");
	at_most(q, "most", range.most, 0.64, "");
	within(q, "median", range.median, 0.48, 0.50, "");
}

static void trace(struct inquiry *q, const struct trace2002 *t, const double wants[6])
{
	struct run_stats s = run_statistics(t->runs, t->count);
	const double is[6] = { (double)s.runs, (double)s.acquisitions, s.mean,
			       s.median,       s.weighted_median,      (double)s.longest };
	char what[80];
	int wrong = 0;

	for (int i = 0; i < 6; i++)
		wrong += !(fabs(is[i] - wants[i]) <= 0.05);
	snprintf(what, sizeof what, "%s: numbers that differ, of six", t->name);
	within(q, what, wrong, 0, 0, "");
}

static void claim_a4(struct inquiry *q)
{
	trace(q, &trace_up_r2x1, (const double[]){ 94, 93335, 992.9, 1, 4789, 5007 });
	trace(q, &trace_up_r0x0, (const double[]){ 35, 346212, 9891.8, 8340, 13396, 23875 });
	trace(q, &trace_up_fair, (const double[]){ 15, 15, 1, 1, 1, 1 });
}

static void claim_a5(struct inquiry *q)
{
	const uint64_t counts[] = { 1, 2, 1 };

	within(q, "Jain's index of the cycle 0 1 2 1", jain_index(counts, 3), 0.8885, 0.8895, "");
	within(q, "COV", cov_population(counts, 3), 0.353, 0.354, "");
}

static void claim_a6(struct inquiry *q)
{
	const uint64_t some[] = { 3, 1, 4, 1, 5, 9, 2, 6 }, equal[] = { 7, 7, 7, 7 }, hog[] = { 0, 5, 0, 0 };
	double cov = cov_population(some, 8);

	at_most(q, "|Jain - 1/(1+COV^2)|", fabs(jain_index(some, 8) - 1 / (1 + cov * cov)), 1e-9, "");
	within(q, "all equal", jain_index(equal, 4), 1, 1, "");
	within(q, "one of four has all", jain_index(hog, 4), 0.25, 0.25, "");
}

static void claim_a7(struct inquiry *q)
{
	const struct numa2023 *n = &futex_numa2023;

	within(q, "futex_numa, separate / shared", ratio(n->separate[0] + n->separate[1], n->shared[0] + n->shared[1]),
	       3.0, 3.01, "97.27 / 32.36");
	within(q, "hash, 80 threads", ratio(futex_hash2025[3].series, futex_hash2025[3].base), 0.096, 0.097, "");
	within(q, "hash, 5 cores, automatic", ratio(futex_hash2025[5].series, futex_hash2025[5].base), 0.196, 0.197,
	       "");
}

/* ---------------------------------------------------------------- D: promises */

/* In how many of the cases it was so that this release of this lock did what the claim is about. */
static double share_of(const struct inquiry *q, const char *claim, char lock, const char *release)
{
	const struct outcome *o = lab_find(q->lab, "release");

	for (size_t i = 0; o && i < o->row_count; i++) {
		const struct row *r = &o->rows[i];

		if (!strcmp(row_text(r, "claim"), claim) && row_text(r, "lock")[0] == lock &&
		    !strcmp(row_text(r, "release"), release))
			return ratio(row_number(r, "times"), row_number(r, "tried"));
	}
	return NAN;
}

/* A lock that goes free is a race: what a busy machine makes of it is no verdict, unless the promise is broken already. */
static void race_begins(struct inquiry *q)
{
	q->finding->needs_quiet = q->finding->holds;
}

static void claim_d1(struct inquiry *q)
{
	if (!uses(q, "release"))
		return;
	within(q, "t: the releaser has it again, of all cases", share_of(q, "D1", 't', "ordinary"), 0, 0, "");
	within(q, "f: the same", share_of(q, "D1", 'f', "ordinary"), 0, 0, "");
	race_begins(q);
	at_least(q, "c: the same", share_of(q, "D1", 'c', "ordinary"), 0.99, "");
	note(q, "h: the same", share_of(q, "D1", 'h', "ordinary"), "");
	note(q, "p: the same", share_of(q, "D1", 'p', "ordinary"), "");
}

static void claim_d2(struct inquiry *q)
{
	if (!uses(q, "release"))
		return;
	within(q, "t: cases in order of arrival, of all", share_of(q, "D2", 't', "ordinary"), 1, 1, "");
	within(q, "f: the same", share_of(q, "D2", 'f', "ordinary"), 1, 1, "");
}

static void claim_d3(struct inquiry *q)
{
	if (!uses(q, "release"))
		return;
	within(q, "c, fair release: the releaser has it again, of all cases", share_of(q, "D3", 'c', "fair"), 0, 0, "");
	within(q, "f, fair release: the same", share_of(q, "D3", 'f', "fair"), 0, 0, "");
	race_begins(q);
	at_least(q, "c, open release: the same", share_of(q, "D3", 'c', "open"), 0.99, "");
	at_least(q, "f, open release: the same", share_of(q, "D3", 'f', "open"), 0.99, "");
}

static void claim_d4(struct inquiry *q)
{
	if (!uses(q, "release"))
		return;
	within(q, "h: cases in which the late waiter has it next, of all", share_of(q, "D4", 'h', "late"), 1, 1, "");
}

/* What ends a process at its first system call is not to be had everywhere. */
static void claim_d5(struct inquiry *q)
{
	double f = share_of(q, "D5", 'f', "alone");

	if (!uses(q, "release"))
		return;
	if (isnan(f)) {
		q->finding->lacks = true;
		snprintf(q->finding->why, sizeof q->finding->why, "system calls cannot be forbidden here");
		return;
	}
	within(q, "f: turns without a system call, of all", f, 1, 1, "");
	within(q, "c: the same", share_of(q, "D5", 'c', "alone"), 1, 1, "");
}

static void claim_d6(struct inquiry *q)
{
	const struct outcome *o = lab_find(q->lab, "guard");
	double broken = 0, ran = 0;

	if (!o) {
		q->finding->lacks = true;
		snprintf(q->finding->why, sizeof q->finding->why, "guard has not run");
		return;
	}
	within(q, "exit code of the self-test, which breaks a lock", o->code, 0, 0, "");
	for (size_t i = 0; i < experiment_count; i++) {
		const struct outcome *e = &q->lab->outcomes[i];

		for (size_t k = 0; k < e->row_count; k++) {
			const char *ok = row_text(&e->rows[k], "guard_ok");

			ran += !strcmp(ok, "yes") || !strcmp(ok, "no");
			broken += !strcmp(ok, "no");
		}
	}
	at_least(q, "locks and loads that were guarded", ran, 1, "");
	within(q, "that let two in at once", broken, 0, 0, "");
}

/* ---------------------------------------------------------------- E: what was seen */

#define OF(lock, column)   lab_value(q->lab, id, lock, column)
#define OVER(above, below) lab_ratio(q->lab, id, above, below)

struct source {
	const struct lab *lab;
	const char *id;
};

static double value_of(void *of, char lock, const char *column)
{
	const struct source *s = of;

	return lab_value(s->lab, s->id, lock, column);
}

static double ratio_of(void *of, char above, char below)
{
	const struct source *s = of;

	return lab_ratio(s->lab, s->id, above, below);
}

/* A claim that ulockflex can judge by itself, too: the conditions are in one place. */
static void expect(struct inquiry *q, const char *claim, const char *id)
{
	struct source s = { q->lab, id };
	const struct measured m = { &s, value_of, ratio_of };

	if (!uses(q, id))
		return;
	for (const struct expected *e = expected; e->claim; e++) {
		double v = expected_value(e, &m);

		if (strcmp(e->claim, claim) || (e->may_lack && isnan(v)))
			continue;
		if (expected_is_note(e))
			note(q, e->what, v, e->then);
		else
			within(q, e->what, v, e->least, e->most, e->then);
	}
}

static void claim_e1(struct inquiry *q)
{
	expect(q, "E1", "alone");
}

static void claim_e2(struct inquiry *q)
{
	expect(q, "E2", "three");
}

static void claim_e3(struct inquiry *q)
{
	expect(q, "E3", "three");
	note(q, "mean run of c with threads, which run at the same time more often",
	     lab_value(q->lab, "threads", 'c', "mrun"), "");
}

static void claim_e4(struct inquiry *q)
{
	expect(q, "E4", "three");
}

static void claim_e5(struct inquiry *q)
{
	expect(q, "E5", "empty-3");
}

static void claim_e6(struct inquiry *q)
{
	expect(q, "E6", "hundred");
	q->finding->is_shown = q->lab->machine.cpus > EXPECTED_E6_CPUS;
}

static void claim_e7(struct inquiry *q)
{
	const char *id = "waits";

	if (!uses(q, id))
		return;
	at_most(q, "median wait, c over t", ratio(OF('c', "wait_p50"), OF('t', "wait_p50")), 0.05, "");
	at_least(q, "99th percentile of waits, c over t", ratio(OF('c', "wait_p99"), OF('t', "wait_p99")), 1, "");
	note(q, "longest wait, h (bounded) over c", ratio(OF('h', "wait_max"), OF('c', "wait_max")), "");
}

static void claim_e8(struct inquiry *q)
{
	double below = 0, known = 0;

	for (size_t i = 0; i < ols2002_count; i++) {
		const struct ols_cell *c = &ols2002[i];
		char id[32];
		double v;

		snprintf(id, sizeof id, "ols-%d-%d-%d", c->tasks, c->r, c->x);
		if (c->tasks > 100 || !uses(q, id))
			continue;
		v = OVER('t', 'c');
		known += !isnan(v);
		below += v < 1;
	}
	within(q, "cells that are known", known, 16, 16, "");
	at_least(q, "in which t/c is below 1", below, 14, "2002: 15 of 16 (ulocks), 16 (futex)");
}

static void claim_e9(struct inquiry *q)
{
	const char *id = "spin";
	double gain, more;

	if (!uses(q, id) || !uses(q, "spin-more"))
		return;
	gain = OVER('T', 'c');
	more = lab_ratio(q->lab, "spin-more", 'T', 'c');
	at_least(q, "throughput T/c, spinning ticket, as many tasks as CPUs", gain, 0.7, "");
	at_most(q, "throughput t/c, the same without spinning", OVER('t', 'c'), 0.5, "");
	at_most(q, "T/c with twice as many tasks, over that with as many as CPUs", ratio(more, gain), 1, "");
}

static void claim_e10(struct inquiry *q)
{
	double hot, calm;

	if (!uses(q, "three") || !uses(q, "arrival-3"))
		return;
	hot = lab_ratio(q->lab, "three", 't', 'c');
	calm = lab_ratio(q->lab, "arrival-3", 't', 'c');
	note(q, "throughput t/c, 2 us outside", hot, "2002: 0.155, r=x=0");
	note(q, "throughput t/c, 10 us outside", calm, "2002: 0.996 to 1.13");
	at_most(q, "distance of their logarithms from 0, calm over hot", ratio(fabs(log(calm)), fabs(log(hot))), 1, "");
}

/* A column of the row for this lock, in any program's table. */
static double from(const struct inquiry *q, const char *id, const char *table, char lock, const char *column)
{
	return row_number(outcome_row(lab_find(q->lab, id), table, lock), column);
}

static void claim_e11(struct inquiry *q)
{
	const struct row *t;
	double turn;

	if (!uses(q, "starve"))
		return;
	t = outcome_row(lab_find(q->lab, "starve"), "starve", 't');
	turn = row_number(t, "c") * row_number(t, "x");
	at_most(q, "worst wait for t, over one turn of all hogs", ratio(row_number(t, "wait_max"), turn), 1.5, "");
	at_least(q, "worst wait for c, over that for t",
		 ratio(from(q, "starve", "starve", 'c', "wait_max"), row_number(t, "wait_max")), 2, "");
	note(q, "worst wait for p, over that for t",
	     ratio(from(q, "starve", "starve", 'p', "wait_max"), row_number(t, "wait_max")), "");
	note(q, "worst wait for h, over that for t",
	     ratio(from(q, "starve", "starve", 'h', "wait_max"), row_number(t, "wait_max")), "");
}

static void claim_e12(struct inquiry *q)
{
	double fair = from(q, "skew", "starve", 't', "wait_mean");

	if (!uses(q, "skew"))
		return;
	at_least(q, "mean wait for c, over that for t", ratio(from(q, "skew", "starve", 'c', "wait_mean"), fair), 20,
		 "");
	at_least(q, "mean wait for p, over that for t", ratio(from(q, "skew", "starve", 'p', "wait_mean"), fair), 20,
		 "");
	at_most(q, "mean wait for h, ms: its bound is 1", from(q, "skew", "starve", 'h', "wait_mean") / 1000, 10, "");
	note(q, "turns of the hog with h, over those with c",
	     ratio(from(q, "skew", "starve", 'h', "hog_rate"), from(q, "skew", "starve", 'c', "hog_rate")), "");
}

/* With 100 us outside some machines convoy by themselves; there the one with 400 counts. */
static void claim_e13(struct inquiry *q)
{
	const char *id = from(q, "convoy", "convoy", 't', "wc_before") <= 5 ? "convoy" : "convoy-400";
	double kept_t, kept_c;

	if (!uses(q, "convoy") || !uses(q, id))
		return;
	kept_t = ratio(from(q, id, "convoy", 't', "thput_after"), from(q, id, "convoy", 't', "thput_before"));
	kept_c = ratio(from(q, id, "convoy", 'c', "thput_after"), from(q, id, "convoy", 'c', "thput_before"));
	at_most(q, "contention of t before the stall, %", from(q, id, "convoy", 't', "wc_before"), 5, "");
	at_least(q, "contention of t after the stall, %", from(q, id, "convoy", 't', "wc_after"), 80, "");
	at_most(q, "contention of c after the stall, %", from(q, id, "convoy", 'c', "wc_after"), 20, "");
	at_most(q, "throughput of t after the stall, over before", kept_t, 0.6, "");
	at_least(q, "throughput of c after the stall, over before", kept_c, 0.8, "");
	at_most(q, "bins until c has recovered", from(q, id, "convoy", 'c', "recover"), 4, "");
	at_most(q, "bins until h has recovered", from(q, id, "convoy", 'h', "recover"), 10, "");
	note(q, "microseconds outside", from(q, id, "convoy", 't', "r"), "");
}

static void claim_e14(struct inquiry *q)
{
	const struct outcome *o = lab_find(q->lab, "convoy-sweep");
	double rows = 0, right = 0;

	if (!uses(q, "convoy-sweep"))
		return;
	q->finding->is_shown = true;
	for (size_t i = 0; i < o->row_count; i++) {
		if (strcmp(o->rows[i].table, "convoy_sweep"))
			continue;
		rows++;
		right += !strcmp(row_text(&o->rows[i], "predicted"), row_text(&o->rows[i], "sustained"));
	}
	note(q, "steps of r", rows, "");
	note(q, "of these as the model says: (N-1)(x+H) > r", right, "");
}

/* Throughput of one lock of the database over that of another. */
static double database(const struct inquiry *q, const char *id, char above, char below)
{
	return ratio(from(q, id, "minitdb", above, "thput"), from(q, id, "minitdb", below, "thput"));
}

static double damaged(const struct inquiry *q, const char *id)
{
	const struct outcome *o = lab_find(q->lab, id);
	double n = 0;

	for (size_t i = 0; o && i < o->row_count; i++)
		n += !strcmp(row_text(&o->rows[i], "intact"), "no");
	return n;
}

static void claim_e15(struct inquiry *q)
{
	if (!uses(q, "db-1") || !uses(q, "db-4096") || !uses(q, "db-alone"))
		return;
	within(q, "t/c, one process", database(q, "db-alone", 't', 'c'), 0.95, 1.05, "");
	within(q, "t/c, one chain", database(q, "db-1", 't', 'c'), 0.3, 0.95, "2002: 0.5 to 0.77");
	at_most(q, "t/c, 4096 chains", database(q, "db-4096", 't', 'c'), 1, "");
	at_least(q, "time with fcntl over that with p, one chain", database(q, "db-1", 'p', 'l'), 1, "2002: 1.69");
	at_least(q, "the same, 4096 chains", database(q, "db-4096", 'p', 'l'), 1, "2002: 13.30");
	at_least(q, "the same, one process", database(q, "db-alone", 'p', 'l'), 1, "2002: 1.84");
	within(q, "databases that were damaged", damaged(q, "db-1") + damaged(q, "db-4096") + damaged(q, "db-alone"), 0,
	       0, "");
}

/* Throughput of a reader-writer lock at this share of reads, in per cent. */
static double reading(const struct inquiry *q, char lock, double share)
{
	const struct outcome *o = lab_find(q->lab, "rwshare");

	for (size_t i = 0; o && i < o->row_count; i++) {
		const struct row *r = &o->rows[i];

		if (!strcmp(r->table, "rwshare") && row_text(r, "lock")[0] == lock && row_number(r, "reads") == share)
			return row_number(r, "thput");
	}
	return NAN;
}

static void claim_e17(struct inquiry *q)
{
	if (!uses(q, "rwshare"))
		return;
	at_least(q, "throughput of all reads over no reads, q (nlock, phase-fair)",
		 ratio(reading(q, 'q', 100), reading(q, 'q', 0)), 1.5, "2002: 2.5 to 2.96");
	note(q, "the same of s (pthread_rwlock_t)", ratio(reading(q, 's', 100), reading(q, 's', 0)), "");
}

static void claim_e16(struct inquiry *q)
{
	const char *id = "three";

	if (!uses(q, id))
		return;
	at_least(q, "Jain in windows of 10 a task, t", OF('t', "jain_10n"), 0.9, "");
	at_most(q, "Jain in windows of 10 a task, c", OF('c', "jain_10n"), 0.75, "");
	at_least(q, "the same of 1000 over of 10, c", ratio(OF('c', "jain_1000n"), OF('c', "jain_10n")), 1, "");
	at_least(q, "whole run, t", OF('t', "jain"), 0.7, "2002: 0.999");
	at_least(q, "whole run, c", OF('c', "jain"), 0.7, "2002: 0.9997");
	note(q, "Jain in windows of 10 a task, p", OF('p', "jain_10n"), "");
}

static void claim_e18(struct inquiry *q)
{
	const struct outcome *o = lab_find(q->lab, "numa-words");

	if (!uses(q, "numa-words"))
		return;
	q->finding->wants_more = q->lab->machine.nodes < 2 || q->lab->machine.cpus < 16;
	for (size_t i = 0; i < o->row_count; i++) {
		if (!strcmp(row_text(&o->rows[i], "words"), "each"))
			at_least(q, "one word a node, over one word", row_number(&o->rows[i], "ratio"), 1.5,
				 "2023: 3.01");
	}
}

static void claim_e19(struct inquiry *q)
{
	const struct row *row = outcome_row(lab_find(q->lab, "numa-lock"), "futex_numa", 0);

	if (!uses(q, "numa-lock"))
		return;
	within(q, "its lock let two in (0: never)", strcmp(row_text(row, "guard_ok"), "yes") != 0, 0, 0, "");
	at_least(q, "turns in a second", row_number(row, "total"), 1, "2023: 8980");
	within(q, "waits that only the clock ended", row_number(row, "late"), 0, 0, "");
}

/* From 2 slots on: the least rate, over the most with fewer slots. */
static double least_step(const struct outcome *o, double *two, double *many)
{
	double most = 0, least = INFINITY;

	for (size_t i = 0; i < o->row_count; i++) {
		const struct row *r = &o->rows[i];
		double slots = row_number(r, "slots"), v = row_number(r, "ratio");

		if (strcmp(row_text(r, "sort"), "private") || !(slots >= 2) || isnan(v))
			continue;
		*two = slots == 2 ? v : *two;
		*many = slots == 512 ? v : *many;
		least = most > 0 ? fmin(least, v / most) : least;
		most = fmax(most, v);
	}
	return isinf(least) ? NAN : least;
}

static void claim_e20(struct inquiry *q)
{
	double two = NAN, many = NAN, least;

	if (!uses(q, "hash"))
		return;
	least = least_step(lab_find(q->lab, "hash"), &two, &many);
	at_least(q, "rate with more slots, over the best with fewer: the least", least, 0.9, "");
	if (q->lab->machine.cpus >= 16)
		at_most(q, "2 slots over 512", ratio(two, many), 0.7, "2025: 0.196 to 0.906");
	else
		note(q, "2 slots over 512: takes 16 CPUs to be seen", ratio(two, many), "2025: 0.196 to 0.906");
}

static void claim_e21(struct inquiry *q)
{
	if (!uses(q, "three") || !uses(q, "threads"))
		return;
	q->finding->is_shown = true;
	note(q, "throughput t/c, processes", lab_ratio(q->lab, "three", 't', 'c'), "");
	note(q, "throughput t/c, threads", lab_ratio(q->lab, "threads", 't', 'c'), "");
}

/* ---------------------------------------------------------------- all of them */

static const struct claim {
	const char *id;
	void (*look)(struct inquiry *q);
	const char *text;
} claims[] = {
	{ "A1", claim_a1, "6 March 2002: fair over unfair is 0.108" },
	{ "A2", claim_a2, "5 March 2002: fair over unfair falls with the number of processes" },
	{ "A3", claim_a3, "OLS 2002: with three tasks or more, fair costs about half" },
	{ "A4", claim_a4, "The histories of 2002: runs of a thousand on the average, and a plain median of 1" },
	{ "A5", claim_a5, "First come, first served is not equal shares: 0 1 2 1 has 0.889" },
	{ "A6", claim_a6, "Jain's index and the coefficient of variation say the same" },
	{ "A7", claim_a7, "What a node's own hash, and a hash of the right size, were worth in 2023 and 2025" },
	{ "D1", claim_d1, "Handed over, a lock is not had again by its releaser; left open, it nearly always is" },
	{ "D2", claim_d2, "First come, first served: who fell asleep first has it first" },
	{ "D3", claim_d3, "Open and fair releases of one lock may be mixed, and each does what it says" },
	{ "D4", claim_d4, "A bounded lock is handed over to a waiter who has waited for too long" },
	{ "D5", claim_d5, "A fair release with nobody there leaves the lock free, without a system call" },
	{ "D6", claim_d6, "No lock lets two in, and one that does is found out" },
	{ "E1", claim_e1, "Alone, a lock in user space costs a fraction of a system call" },
	{ "E2", claim_e2,
	  "A strict queue is nearly always contended, convoy avoidance hardly; the queue costs at least half" },
	{ "E3", claim_e3, "Run lengths show the hand-off: fair is one at a time, unfair is many in a row" },
	{ "E4", claim_e4, "In a convoy every operation costs a context switch" },
	{ "E5", claim_e5, "The command of 2002, an empty loop: convoy avoidance is at least twice as fast" },
	{ "E6", claim_e6, "A hundred tasks: local fairness as in the OLS paper" },
	{ "E7", claim_e7, "Convoy avoidance wins the median wait by far and loses the tail" },
	{ "E8", claim_e8, "Over the matrix of OLS 2002, first come, first served is slower nearly everywhere" },
	{ "E9", claim_e9, "Watching makes fair fast, as long as there is a CPU for each task" },
	{ "E10", claim_e10, "At realistic arrival it matters less" },
	{ "E11", claim_e11, "It is easy to starve somebody, unless the lock is fair" },
	{ "E12", claim_e12, "A hog that works with the lock starves the others; a bound on the wait stops it" },
	{ "E13", claim_e13,
	  "One stall: first come, first served stays in the convoy, convoy avoidance is soon out of it" },
	{ "E14", claim_e14, "A convoy stays where the queue comes round faster than its members" },
	{ "E15", claim_e15,
	  "A small database: fair costs a part of it under contention and nothing alone; fcntl is the slowest" },
	{ "E16", claim_e16, "Fairness is a matter of scale: unfair by the ten, fair by the million" },
	{ "E17", claim_e17, "Readers that share a lock are worth it on two CPUs" },
	{ "E18", claim_e18, "A word on each node is worth three times one word for all" },
	{ "E19", claim_e19, "The lock whose waiters queue on a node excludes, and loses no wake-up" },
	{ "E20", claim_e20, "The more slots the private hash has, the better, or at least no worse" },
	{ "E21", claim_e21, "Threads or processes: the same" },
};

const size_t claims_count = sizeof claims / sizeof claims[0];

static void conclude(struct finding *f, const struct lab *lab)
{
	unsigned cpus = lab->machine.cpus;

	if (f->lacks) {
		f->verdict = NOT_MEASURED;
	} else if (f->wants_more || (f->needs_quiet && cpus < 2)) {
		f->verdict = LARGER;
		snprintf(f->why, sizeof f->why, "%u CPUs, %u nodes", cpus, lab->machine.nodes);
	} else if (f->is_shown) {
		f->verdict = SHOWN;
	} else if (f->needs_quiet && is_busy(f->cpus, cpus)) {
		f->verdict = BUSY;
		snprintf(f->why, sizeof f->why, "it gave %.2f of its %u CPUs", f->cpus, cpus);
	} else if (f->holds) {
		f->verdict = REPRODUCED;
	} else {
		f->verdict = NOT_REPRODUCED;
		snprintf(f->why, sizeof f->why, "%u CPUs, %.2f effective", cpus, f->needs_quiet ? f->cpus : cpus);
		if (!isnan(f->switches))
			snprintf(f->why + strlen(f->why), sizeof f->why - strlen(f->why),
				 ", %.2f context switches per operation of t", f->switches);
	}
}

void claims_judge(const struct lab *lab, struct finding *findings)
{
	for (size_t i = 0; i < claims_count; i++) {
		struct finding *f = &findings[i];
		struct inquiry q = { lab, f };

		*f = (struct finding){ .id = claims[i].id, .claim = claims[i].text, .holds = true };
		f->needs_quiet = claims[i].id[0] == 'E';
		f->cpus = INFINITY;
		f->switches = NAN;
		claims[i].look(&q);
		conclude(f, lab);
	}
}
