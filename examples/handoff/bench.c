/* SPDX-License-Identifier: MIT
 *
 * bench.c - starts the tasks, takes the time, and repeats, see bench.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "region.h"
#include "watchdog.h"

/* ------------------------------------------------------------------ one run */

/* Ten times the planned time, and ten seconds. Planned are also the start of each task, and its last turn, which
 * a queue puts one behind the other. */
static double patience_with(const struct config *cf)
{
	return 10 * (cf->seconds + cf->tasks * (0.01 + 1.5e-6 * (cf->r + cf->x))) + 10;
}

static int time_run(struct region *rg)
{
	const struct config *cf = rg->config;
	nlock_stats_t before;
	char what[64];
	int err;

	snprintf(what, sizeof what, "a run of %g s with lock %c", cf->seconds, rg->kind->letter);
	watchdog_arm(patience_with(cf), what);
	rg->has_stats = nlock_stats(&before) == 0;
	region_start(rg, worker_loop);
	rg->seconds = gate_run(&rg->gate, cf->seconds);
	err = region_join(rg);
	watchdog_disarm();
	if (rg->has_stats && nlock_stats(&rg->stats) == 0)
		region_stats_since(&rg->stats, &before);
	for (unsigned i = 0; i < cf->tasks; i++) {
		err = rg->workers[i].error ? rg->workers[i].error : err;
		rg->stats.grants += rg->workers[i].stats.grants;
		rg->stats.barges += rg->workers[i].stats.barges;
		rg->stats.sleeps += rg->workers[i].stats.sleeps;
		rg->stats.wakes += rg->workers[i].stats.wakes;
	}
	return err;
}

/* Without memory for it there is none. */
static void keep_history(struct region *rg, struct history *h)
{
	size_t made = guard_get(&rg->cells[0].guard.left), n = made < rg->room ? made : rg->room;

	h->owners = n ? malloc(n * sizeof *h->owners) : NULL;
	h->count = h->owners ? n : 0;
	h->dropped = rg->room ? made - h->count : 0;
	if (h->owners)
		memcpy(h->owners, rg->owners, n * sizeof *h->owners);
}

int bench_run(const struct config *config, const struct lock_kind *kind, unsigned run, double *metrics, bool *guard_ok,
	      struct history *history)
{
	struct region *rg;
	int err = region_make(&rg, config, kind, run);

	if (err)
		return err;
	err = time_run(rg);
	if (!err) {
		*guard_ok = region_results(rg, metrics) && *guard_ok;
		keep_history(rg, history);
	}
	region_free(rg);
	return err;
}

/* ------------------------------------------------------------------ all runs */

/* [kind][run][metric] */
typedef double samples[METRICS];

static bool is_extreme(int metric)
{
	return metric == M_RUN_LONGEST || metric == M_WAIT_MAX || metric == M_BYPASS;
}

static void summarize(const struct config *cf, struct summary *s, samples *of_run)
{
	double column[RUNS_MAX];

	for (int m = 0; m < METRICS; m++) {
		for (unsigned r = 0; r < cf->runs; r++)
			column[r] = of_run[r][m];
		s->median[m] = is_extreme(m) ? sample_max(column, cf->runs) : sample_median(column, cf->runs);
	}
	for (unsigned r = 0; r < cf->runs; r++)
		s->thput[r] = of_run[r][M_THPUT];
	s->thput_ci95 = sample_ci95(s->thput, cf->runs);
}

static void tell(const struct config *cf, unsigned round, unsigned k)
{
	if (!cf->progress)
		return;
	if (round == 0)
		fprintf(stderr, "\rwarm-up, lock %c          ", cf->kinds[k]->letter);
	else
		fprintf(stderr, "\rrun %u of %u, lock %c       ", round, cf->runs, cf->kinds[k]->letter);
	if (round == cf->runs && k == cf->kind_count - 1)
		fprintf(stderr, "\r%40s\r", "");
}

/* A lock that cannot be made is left out from then on. Anything else that fails ends it all. */
static int one_round(const struct config *cf, unsigned round, struct summary *s, samples *samples_of)
{
	for (unsigned k = 0; k < cf->kind_count; k++) {
		samples scratch, *to = round ? &samples_of[k * cf->runs + round - 1] : &scratch;
		int err;

		tell(cf, round, k);
		if (s[k].error)
			continue;
		free(s[k].history.owners);
		s[k].history = (struct history){ 0 };
		err = bench_run(cf, cf->kinds[k], round, *to, &s[k].guard_ok, &s[k].history);
		if (err < 0 && round == 0)
			s[k].error = -err;
		else if (err)
			return abs(err);
	}
	return 0;
}

int bench_all(const struct config *cf, struct summary *s)
{
	samples *samples_of = calloc((size_t)cf->kind_count * cf->runs, sizeof *samples_of);
	int err = samples_of ? 0 : ENOMEM;

	memset(s, 0, cf->kind_count * sizeof *s);
	for (unsigned k = 0; k < cf->kind_count; k++) {
		s[k].kind = cf->kinds[k];
		s[k].guard_ok = true;
	}
	for (unsigned round = 0; !err && round <= cf->runs; round++)
		err = one_round(cf, round, s, samples_of);
	for (unsigned k = 0; !err && k < cf->kind_count; k++)
		if (!s[k].error)
			summarize(cf, &s[k], samples_of + k * cf->runs);
	free(samples_of);
	return err;
}

void bench_free(struct summary *s, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		free(s[k].history.owners);
}

const struct summary *bench_find(const struct config *cf, const struct summary *s, char letter)
{
	for (unsigned k = 0; k < cf->kind_count; k++)
		if (s[k].kind->letter == letter && !s[k].error)
			return &s[k];
	return NULL;
}

int bench_complaints(const struct config *cf, const struct summary *s)
{
	int code = EXIT_DONE;

	for (unsigned k = 0; k < cf->kind_count; k++) {
		if (s[k].error) {
			fprintf(stderr, "%s: lock %c cannot be had here: %s\n", program_name, s[k].kind->letter,
				strerror(s[k].error));
			code = code == EXIT_DONE ? EXIT_MISSING : code;
		}
		if (!s[k].guard_ok) {
			fprintf(stderr, "%s: lock %c let two in at once\n", program_name, s[k].kind->letter);
			code = EXIT_VIOLATION;
		}
	}
	return code;
}

double bench_ratio(const struct config *cf, const struct summary *s, char above, char below)
{
	const struct summary *a = bench_find(cf, s, above), *b = bench_find(cf, s, below);
	double ratios[RUNS_MAX];

	if (!a || !b)
		return NAN;
	for (unsigned r = 0; r < cf->runs; r++)
		ratios[r] = ratio(a->thput[r], b->thput[r]);
	return sample_median(ratios, cf->runs);
}
