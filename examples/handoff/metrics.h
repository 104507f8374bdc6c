/* SPDX-License-Identifier: MIT
 *
 * metrics.h - what the numbers of a lock experiment mean
 *
 * Three groups, because they answer different questions:
 *   shares     how much each task got in the long run. They measure the scheduler more than the lock.
 *   histories  who got the lock after whom. They measure the hand-off.
 *   waits      how long an acquisition took. They show who pays.
 *
 * A history is the sequence of owners, one small integer for each acquisition. A run is a longest stretch of it
 * with one owner. Everything here is pure arithmetic: no clock, no lock, no output. What cannot be computed (an
 * empty history, fewer acquisitions than the window) is NAN, which the reports print as "-".
 */
#ifndef HANDOFF_METRICS_H
#define HANDOFF_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* ---- shares; all take the tasks' counts */

double jain_index(const uint64_t *counts, size_t n);        /* (sum)^2 / (n * sum of squares): 1 equal, 1/n one hog */
double cov_population(const uint64_t *counts, size_t n);    /* standard deviation / mean; Jain = 1 / (1 + COV^2) */
double busier_half_share(const uint64_t *counts, size_t n); /* share of the busier half: 0.5 fair, 1 not */
double least_over_mean(const uint64_t *counts, size_t n);
double most_over_mean(const uint64_t *counts, size_t n);

/* ---- histories */

struct run {
	uint32_t length;
	uint16_t owner;
};

struct run_stats {
	uint64_t runs;         /* K */
	uint64_t acquisitions; /* A */
	uint64_t longest;
	double mean;            /* A / K */
	double median;          /* of the lengths; says little: a history may be all long runs and have median 1 */
	double weighted_median; /* smallest L such that runs of at most L make half of all acquisitions */
	double ones, twos;      /* fraction of the runs that have length 1, 2 */
	double change_rate;     /* K / A: 1 if the lock changes hands every time */
};

/* Splits a history into runs; `runs` has room for n. Returns how many. */
size_t history_runs(const uint16_t *owners, size_t n, struct run *runs);

struct run_stats run_statistics(const struct run *runs, size_t n);

/* Mean over disjoint windows of `window` acquisitions of Jain's index in the window: at what time scale is it
 * fair? */
double windowed_jain(const uint16_t *owners, size_t n, unsigned tasks, size_t window);

/* Lock working set size: mean number of distinct owners in disjoint windows. */
double working_set(const uint16_t *owners, size_t n, unsigned tasks, size_t window);

/* Median number of acquisitions from one of a task's own to its next: the number of tasks for FIFO, 1 for a hog. */
double reacquire_distance(const uint16_t *owners, size_t n, unsigned tasks);

/* arrivals[i] is the arrival number (0, 1, 2, ...) of the i-th acquirer. The largest number of later arrivals
 * that were served before an earlier one: 0 is the definition of FIFO. */
double longest_bypass(const uint32_t *arrivals, size_t n);

/* ---- waits: a log-linear histogram, 256 steps for each doubling, so within 0.4 % of the truth at every scale */

#define WAIT_STEPS  256u
#define WAIT_GROUPS 34u /* up to 2^41 ns, more than half an hour */

struct wait_hist {
	uint64_t max;
	uint32_t count[WAIT_STEPS * WAIT_GROUPS];
};

void wait_add(struct wait_hist *h, uint64_t ns);
void wait_merge(struct wait_hist *to, const struct wait_hist *from);
uint64_t wait_count(const struct wait_hist *h);
double wait_quantile(const struct wait_hist *h, double q); /* in ns, 0 < q <= 1; NAN if empty */
double wait_least(const struct wait_hist *h);              /* the same, of the shortest */

/* ---- samples; NANs are left out */

double sample_median(const double *v, size_t n);
double sample_min(const double *v, size_t n);
double sample_max(const double *v, size_t n);
double sample_mean(const double *v, size_t n);
double sample_error(const double *v, size_t n); /* standard error of the mean; NAN below two */
double sample_ci95(const double *v, size_t n);  /* half width of the mean's 95 % interval (Student); NAN below two */

/* a / b, or NAN where that means nothing. */
double ratio(double a, double b);

#endif
