/* SPDX-License-Identifier: MIT
 *
 * demo.c - the experiment of 2002 in a quarter of a minute, and a sentence to each part of what it shows
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modes.h"
#include "published.h"
#include "report.h"
#include "strip.h"

static double of(const struct config *cf, const struct summary *s, char lock, enum metric m)
{
	const struct summary *one = bench_find(cf, s, lock);

	return one ? one->median[m] : NAN;
}

static void say_rows(const struct config *cf, const struct summary *s)
{
	double handoff = ratio(1e6, of(cf, s, 't', M_THPUT)) - cf->x;

	printf("WC is contention. In the strict queue of t, %.1f %% of the requests find the lock taken, and an\n"
	       "iteration costs %.2f context switches: everybody queues up behind everybody, a convoy. Handing\n"
	       "over takes %.1f us, the section %g. Lock c is free while the woken task is on its way, so whoever\n"
	       "runs takes it: %.1f %% and %.2f context switches.\n",
	       of(cf, s, 't', M_WC), of(cf, s, 't', M_CSW), handoff, cf->x, of(cf, s, 'c', M_WC),
	       of(cf, s, 'c', M_CSW));
}

static void say_strips(const struct config *cf, const struct summary *s)
{
	printf("\nWho had the lock: 100 acquisitions in a row, and 100 times as many (who had most, . if nobody)\n");
	for (const char *lock = "tc"; *lock; lock++) {
		const struct summary *one = bench_find(cf, s, *lock);

		if (one)
			strip_print(stdout, *lock, &one->history, strip_has_colour(stdout));
	}
	printf("Strict FIFO (t) changes hands at %.1f %% of the acquisitions, and half of them lie in runs of at\n"
	       "most %.0f. Under convoy avoidance (c) it is %.1f %%, and runs of up to %.0f. The tasks' shares of the\n"
	       "whole run (Jain's index %.2f and %.2f) do not tell: shares measure the scheduler, runs the lock.\n",
	       100 * of(cf, s, 't', M_CHANGE), of(cf, s, 't', M_RUN_WEIGHTED), 100 * of(cf, s, 'c', M_CHANGE),
	       of(cf, s, 'c', M_RUN_WEIGHTED), of(cf, s, 't', M_JAIN), of(cf, s, 'c', M_JAIN));
}

static void say_ratios(const struct config *cf, const struct summary *s)
{
	struct ols_range ols = ols_fair_range();
	double strict = bench_ratio(cf, s, 't', 'c');

	printf("\nWhat fairness costs: throughput of FIFO over that of convoy avoidance (FIFO/CA)\n");
	printf("  here       %.3f  strict FIFO, t/c\n", strict);
	printf("             %.3f  nlock's FIFO, f/c: passed on, to a waiter that is awake already if it can be\n",
	       bench_ratio(cf, s, 'f', 'c'));
	printf("             %.3f  nlock's default, h/c: passed on to one overtaken too often or for too long\n",
	       bench_ratio(cf, s, 'h', 'c'));
	printf("  published  %.3f  6 March 2002, FUTEX_UP_FAIR over FUTEX_UP, r=0 x=0\n", published_fair_ratio());
	printf("             %.3f .. %.3f  OLS 2002, the %zu cells with 3 tasks or more, median %.2f\n", ols.least,
	       ols.most, ols.cells, ols.median);
	printf("A strict queue reaches %.0f %% of the throughput here; it was %.0f %% in March 2002, and half in the\n"
	       "paper. Context switches an iteration: t %.2f, f %.2f, h %.2f, c %.2f. With nlock hand-off is yours\n"
	       "to choose, for a lock (NLOCK_FIFO, NLOCK_BOUNDED, NLOCK_BARGING) and for one release\n"
	       "(nlock_mutex_unlock_fair, nlock_mutex_unlock_barging).\n",
	       100 * strict, 100 * published_fair_ratio(), of(cf, s, 't', M_CSW), of(cf, s, 'f', M_CSW),
	       of(cf, s, 'h', M_CSW), of(cf, s, 'c', M_CSW));
}

int mode_demo(const struct options *o)
{
	static struct summary s[KINDS_MAX];
	struct config cf = o->config; /* its defaults are the classic rows: -c 3 -r 2 -x 1, and the locks */
	double effective = place_effective_cpus();
	int err, code;

	cf.runs = 3;
	printf("Three tasks, one lock: work 2 us, lock, work 1 us, unlock (-c 3 -r 2 -x 1)\n");
	report_machine(stdout, &cf, effective);
	if (place_is_busy(effective))
		printf("# The machine is busy with other things: do not rely on these numbers.\n");
	fflush(stdout);
	err = bench_all(&cf, s);
	if (err) {
		fprintf(stderr, "ulockflex: a run failed: %s\n", strerror(err));
		return EXIT_VIOLATION;
	}
	report_classic_head(stdout);
	for (unsigned k = 0; k < cf.kind_count; k++)
		if (!s[k].error)
			report_classic(stdout, &cf, &s[k]);
	say_rows(&cf, s);
	say_strips(&cf, s);
	say_ratios(&cf, s);
	bench_free(s, cf.kind_count);
	code = bench_complaints(&cf, s);
	return code == EXIT_MISSING ? EXIT_DONE : code;
}
