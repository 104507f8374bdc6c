/* SPDX-License-Identifier: MIT
 *
 * results.c - from what the tasks counted to the numbers that are reported
 */
#include <math.h>
#include <stdlib.h>

#include "region.h"

static double per_cent(double part, double whole)
{
	return ratio(100 * part, whole);
}

static void share_results(const struct region *rg, double *m, uint64_t *done)
{
	unsigned n = rg->config->tasks;
	double all = 0, switches = 0;

	for (unsigned i = 0; i < n; i++) {
		done[i] = rg->workers[i].done;
		all += (double)done[i];
		switches += (double)rg->workers[i].switches;
	}
	m[M_THPUT] = ratio(all, rg->seconds);
	m[M_CSW] = ratio(switches, all);
	m[M_COV] = cov_population(done, n);
	m[M_JAIN] = jain_index(done, n);
	m[M_BUSIER] = busier_half_share(done, n);
	m[M_LEAST] = least_over_mean(done, n);
	m[M_MOST] = most_over_mean(done, n);
	if (!rg->has_stats || !rg->kind->is_nlock)
		return;
	m[M_GRANTS] = ratio((double)rg->stats.grants, all);
	m[M_BARGES] = ratio((double)rg->stats.barges, all);
	m[M_SLEEPS] = ratio((double)rg->stats.sleeps, all);
	m[M_WAKES] = ratio((double)rg->stats.wakes, all);
}

static void contention_results(const struct region *rg, double *m)
{
	struct tally w = { 0 }, r = { 0 };
	double sleeps;

	for (unsigned i = 0; i < rg->config->tasks; i++) {
		const struct worker *one = &rg->workers[i];

		w.asked += one->write.asked;
		w.failed += one->write.failed;
		w.watched += one->write.watched;
		w.sleeps += one->write.sleeps;
		r.asked += one->read.asked;
		r.failed += one->read.failed;
	}
	m[M_WC] = per_cent((double)w.failed, (double)w.asked);
	m[M_RC] = rg->kind->rdlock ? per_cent((double)r.failed, (double)r.asked) : NAN;
	if (rg->kind->spins) {
		m[M_RETRY] = w.failed ? per_cent((double)w.watched, (double)w.failed) : 0;
		return;
	}
	if (rg->kind->counts_sleeps)
		sleeps = (double)w.sleeps;
	else
		sleeps = rg->has_stats && rg->kind->is_nlock ? (double)rg->stats.sleeps : NAN;
	m[M_RETRY] = w.failed ? ratio(sleeps, (double)w.failed) : isnan(sleeps) ? NAN : 0;
}

static void run_results(const struct region *rg, size_t n, double *m)
{
	struct run *runs = malloc((n ? n : 1) * sizeof *runs);
	struct run_stats s;

	if (!runs || !n) {
		free(runs);
		return;
	}
	s = run_statistics(runs, history_runs(rg->owners, n, runs));
	free(runs);
	m[M_RUNS] = (double)s.runs;
	m[M_RUN_MEAN] = s.mean;
	m[M_RUN_MEDIAN] = s.median;
	m[M_RUN_WEIGHTED] = s.weighted_median;
	m[M_RUN_ONES] = s.ones;
	m[M_RUN_TWOS] = s.twos;
	m[M_RUN_LONGEST] = (double)s.longest;
	m[M_CHANGE] = s.change_rate;
}

/* The tasks of the first cell are those whose number is a multiple of the number of cells; Jain's index over
 * the others' zeros would be wrong, so numbers are divided first. */
static void window_results(const struct region *rg, size_t n, double *m)
{
	unsigned cells = rg->cell_count, tasks = (rg->config->tasks + cells - 1) / cells;
	uint16_t *owners = malloc((n ? n : 1) * sizeof *owners);

	for (size_t i = 0; owners && i < n; i++)
		owners[i] = (uint16_t)(rg->owners[i] / cells);
	if (owners && n) {
		m[M_JAIN_10] = windowed_jain(owners, n, tasks, 10 * (size_t)tasks);
		m[M_JAIN_100] = windowed_jain(owners, n, tasks, 100 * (size_t)tasks);
		m[M_JAIN_1000] = windowed_jain(owners, n, tasks, 1000 * (size_t)tasks);
		m[M_WORKING_SET] = working_set(owners, n, tasks, 1000);
		m[M_REACQUIRE] = reacquire_distance(owners, n, tasks);
	}
	free(owners);
}

static void wait_results(const struct region *rg, size_t n, double *m)
{
	struct wait_hist *all = rg->waits ? calloc(1, sizeof *all) : NULL;

	if (!all)
		return;
	for (unsigned i = 0; i < rg->config->tasks; i++)
		wait_merge(all, &rg->waits[i]);
	m[M_WAIT_50] = wait_quantile(all, 0.5) / 1000;
	m[M_WAIT_90] = wait_quantile(all, 0.9) / 1000;
	m[M_WAIT_99] = wait_quantile(all, 0.99) / 1000;
	m[M_WAIT_999] = wait_quantile(all, 0.999) / 1000;
	m[M_WAIT_MAX] = (double)all->max / 1000;
	m[M_BYPASS] = longest_bypass(rg->arrivals, n);
	free(all);
}

/* Every section is accounted for, and nobody met anybody in one. */
static bool guard_is_ok(struct region *rg)
{
	uint64_t violations = 0;
	unsigned long *sections = calloc(rg->cell_count, sizeof *sections);
	bool whole = sections;

	for (unsigned i = 0; whole && i < rg->config->tasks; i++) {
		sections[rg->workers[i].cell - rg->cells] += (unsigned long)rg->workers[i].write.asked;
		violations += rg->workers[i].violations;
	}
	for (unsigned i = 0; whole && i < rg->cell_count; i++)
		whole = guard_is_whole(&rg->cells[i].guard, sections[i]);
	free(sections);
	return whole && !violations;
}

bool region_results(struct region *rg, double *m)
{
	size_t made = guard_get(&rg->cells[0].guard.left), n = made < rg->room ? made : rg->room;
	uint64_t *done = calloc(rg->config->tasks, sizeof *done);

	for (int i = 0; i < METRICS; i++)
		m[i] = NAN;
	if (!done)
		return false;
	share_results(rg, m, done);
	contention_results(rg, m);
	run_results(rg, n, m);
	window_results(rg, n, m);
	wait_results(rg, n, m);
	free(done);
	return guard_is_ok(rg);
}
