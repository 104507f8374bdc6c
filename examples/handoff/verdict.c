/* SPDX-License-Identifier: MIT
 *
 * verdict.c - the claims E1 to E6 about fair and unfair hand-off, tried on this machine, by medians of five runs
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
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

static double of(const struct trial *t, char lock, enum metric m)
{
	const struct summary *s = bench_find(&t->config, t->summaries, lock);

	return s ? s->median[m] : NAN;
}

static double over(const struct trial *t, char above, char below)
{
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

static void claim_e1(struct trial *t)
{
	if (!measure(t, "ekfc", 1, 0, 0))
		return;
	claim(&t->claims, "E1  Alone, a lock in user space costs a fraction of a system call");
	claim_at_least(&t->claims, "throughput f/k", over(t, 'f', 'k'), 3, "2002: 3.67");
	claim_at_least(&t->claims, "throughput c/k", over(t, 'c', 'k'), 3, "2002: 3.59");
	claim_within(&t->claims, "contention of f, %", of(t, 'f', M_WC), 0, 0, "");
	claim_within(&t->claims, "contention of c, %", of(t, 'c', M_WC), 0, 0, "");
	if (isnan(of(t, 'f', M_SLEEPS))) {
		printf("     -  futex calls are counted only by a library built with --enable-stats\n");
	} else {
		claim_within(&t->claims, "futex calls of f", of(t, 'f', M_SLEEPS) + of(t, 'f', M_WAKES), 0, 0, "");
		claim_within(&t->claims, "futex calls of c", of(t, 'c', M_SLEEPS) + of(t, 'c', M_WAKES), 0, 0, "");
	}
	verdict(t, "E1");
}

/* The unfair lock of 2002 put a waiter to sleep at once. pthread's does too; nlock's c lets the first waiter watch, and then
 * two CPUs pass it to and fro: it is shown beside. */
static void claim_e2(struct trial *t)
{
	claim(&t->claims,
	      "E2  A strict queue is nearly always contended, convoy avoidance (p: sleeps at once) hardly; the "
	      "queue costs at least half");
	claim_at_least(&t->claims, "contention of t, %", of(t, 't', M_WC), 80, "2002: 99.7");
	claim_at_most(&t->claims, "contention of p, %", of(t, 'p', M_WC), 30, "2002: 0.3 to 7.8");
	claim_at_most(&t->claims, "throughput t/p", over(t, 't', 'p'), 0.5, "2002: 0.155 to 0.395, r=x=0");
	claim_note("contention of c, %: its waiter watches", of(t, 'c', M_WC));
	claim_note("throughput t/c", over(t, 't', 'c'));
	claim_note("throughput f/c, nlock's FIFO", over(t, 'f', 'c'));
	verdict(t, "E2");
}

static void claim_e3(struct trial *t)
{
	claim(&t->claims, "E3  Run lengths show the hand-off: fair is one at a time, unfair is many in a row");
	claim_at_most(&t->claims, "mean run of t", of(t, 't', M_RUN_MEAN), 2, "2002: 1.0");
	claim_at_least(&t->claims, "mean run of p", of(t, 'p', M_RUN_MEAN), 2.5, "2002: 993");
	claim_within(&t->claims, "weighted median run of t", of(t, 't', M_RUN_WEIGHTED), 1, 1, "2002: 1");
	claim_at_least(&t->claims, "weighted median run of p", of(t, 'p', M_RUN_WEIGHTED), 5, "2002: 4789");
	claim_at_least(&t->claims, "owner changes of t, per acquisition", of(t, 't', M_CHANGE), 0.8, "2002: 1.0");
	claim_at_most(&t->claims, "owner changes of p, per acquisition", of(t, 'p', M_CHANGE), 0.45, "2002: 0.001");
	claim_note("plain median run of p: may well be 1", of(t, 'p', M_RUN_MEDIAN));
	claim_note("mean run of c: its waiter watches", of(t, 'c', M_RUN_MEAN));
	claim_note("owner changes of c, per acquisition", of(t, 'c', M_CHANGE));
	claim_note("owner changes of f, per acquisition", of(t, 'f', M_CHANGE));
	verdict(t, "E3");
}

static void claim_e4(struct trial *t)
{
	claim(&t->claims, "E4  In a convoy every iteration costs a context switch");
	claim_within(&t->claims, "context switches an iteration, t", of(t, 't', M_CSW), 0.9, 1.2, "");
	claim_at_most(&t->claims, "context switches an iteration, c", of(t, 'c', M_CSW), 0.3, "");
	claim_note("context switches an iteration, f", of(t, 'f', M_CSW));
	verdict(t, "E4");
}

static void claim_e5(struct trial *t)
{
	const struct summary *s;
	double least = INFINITY, most = 0;

	if (!measure(t, "tfc", 3, 0, 0))
		return;
	claim(&t->claims, "E5  The command of 2002, -r 0 -x 0: convoy avoidance is at least twice as fast");
	claim_at_least(&t->claims, "throughput c/t", over(t, 'c', 't'), 2, "2002: 9.23, 2.53");
	claim_note("throughput c/f, nlock's FIFO", over(t, 'c', 'f'));
	s = bench_find(&t->config, t->summaries, 't');
	for (unsigned r = 0; s && r < t->config.runs; r++) {
		least = fmin(least, s->thput[r]);
		most = fmax(most, s->thput[r]);
	}
	printf("     -  The empty loop is bistable, now convoy, now solos: runs of t from %.0f to %.0f a second\n",
	       least, most);
	verdict(t, "E5");
}

static void claim_e6(struct trial *t)
{
	if (!measure(t, "tfc", 100, 9, 1))
		return;
	claim(&t->claims, "E6  A hundred tasks, -r 9 -x 1: local fairness as in the OLS paper");
	claim_at_least(&t->claims, "runs of exactly 1, t", of(t, 't', M_RUN_ONES), 0.99, "2002: 0.9999");
	claim_within(&t->claims, "runs of exactly 1, c", of(t, 'c', M_RUN_ONES), 0.6, 0.9, "2002: 0.790");
	claim_at_least(&t->claims, "runs of 1 or 2, c", of(t, 'c', M_RUN_ONES) + of(t, 'c', M_RUN_TWOS), 0.9,
		       "2002: 1.0");
	claim_at_least(&t->claims, "contention of t, %", of(t, 't', M_WC), 99, "2002: 100");
	claim_at_most(&t->claims, "contention of c, %", of(t, 'c', M_WC), 30, "2002: 12.7");
	claim_within(&t->claims, "throughput t/c", over(t, 't', 'c'), 0.2, 0.8, "2002: 0.45 to 0.50");
	claim_note("throughput f/c, nlock's FIFO", over(t, 'f', 'c'));
	claim_note("runs of exactly 1, f", of(t, 'f', M_RUN_ONES));
	if (place_cpus() <= 4)
		verdict(t, "E6");
	else
		printf("E6: no verdict with more than 4 CPUs, 2002 had 2\n");
}

int mode_claims(const struct options *o)
{
	static struct trial t;

	double effective = place_effective_cpus();

	t.config = o->config;
	t.config.runs = 5;
	report_machine(stdout, &t.config, effective);
	claims_begin(&t.claims, effective);
	claim_e1(&t);
	if (t.worst == EXIT_DONE && measure(&t, "ktfpc", 3, 2, 1)) {
		claim_e2(&t);
		claim_e3(&t);
		claim_e4(&t);
	}
	if (t.worst == EXIT_DONE)
		claim_e5(&t);
	if (t.worst == EXIT_DONE)
		claim_e6(&t);
	printf("\n%d of %d claims reproduced here\n", t.claims.held, t.claims.tried);
	bench_free(t.summaries, KINDS_MAX);
	return t.worst;
}
