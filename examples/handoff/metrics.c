/* SPDX-License-Identifier: MIT
 *
 * metrics.c - see metrics.h
 */
#include "metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double ratio(double a, double b)
{
	return b > 0 || b < 0 ? a / b : NAN;
}

/* ------------------------------------------------------------------ shares */

static double total_of(const uint64_t *counts, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)counts[i];
	return sum;
}

double jain_index(const uint64_t *counts, size_t n)
{
	double sum = total_of(counts, n), squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (double)counts[i] * (double)counts[i];
	return ratio(sum * sum, (double)n * squares);
}

double cov_population(const uint64_t *counts, size_t n)
{
	double mean = ratio(total_of(counts, n), (double)n), squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += ((double)counts[i] - mean) * ((double)counts[i] - mean);
	return ratio(sqrt(ratio(squares, (double)n)), mean);
}

static int by_value_falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

double busier_half_share(const uint64_t *counts, size_t n)
{
	uint64_t *sorted = malloc((n ? n : 1) * sizeof *sorted);
	double share = NAN;

	if (!sorted)
		return NAN;
	memcpy(sorted, counts, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value_falling);
	share = ratio(total_of(sorted, (n + 1) / 2), total_of(sorted, n));
	free(sorted);
	return share;
}

double least_over_mean(const uint64_t *counts, size_t n)
{
	uint64_t least = n ? counts[0] : 0;

	for (size_t i = 1; i < n; i++)
		least = counts[i] < least ? counts[i] : least;
	return ratio((double)least * (double)n, total_of(counts, n));
}

double most_over_mean(const uint64_t *counts, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = counts[i] > most ? counts[i] : most;
	return ratio((double)most * (double)n, total_of(counts, n));
}

/* ------------------------------------------------------------------ runs */

size_t history_runs(const uint16_t *owners, size_t n, struct run *runs)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || owners[i] != owners[i - 1])
			runs[k++] = (struct run){ .owner = owners[i] };
		runs[k - 1].length++;
	}
	return k;
}

static int by_length(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* `lengths` is sorted. The middle one, and the one in which the middle acquisition lies. */
static void find_medians(const uint32_t *lengths, size_t n, struct run_stats *s)
{
	uint64_t below = 0;
	size_t i;

	s->median = ((double)lengths[(n - 1) / 2] + (double)lengths[n / 2]) / 2;
	for (i = 0; i < n; i++) {
		below += lengths[i];
		if (2 * below >= s->acquisitions)
			break;
	}
	s->weighted_median = lengths[i < n ? i : n - 1];
}

struct run_stats run_statistics(const struct run *runs, size_t n)
{
	struct run_stats s = { .runs = n,
			       .mean = NAN,
			       .median = NAN,
			       .weighted_median = NAN,
			       .ones = NAN,
			       .twos = NAN,
			       .change_rate = NAN };
	uint32_t *lengths = n ? malloc(n * sizeof *lengths) : NULL;
	size_t ones = 0, twos = 0;

	if (!lengths)
		return s;
	for (size_t i = 0; i < n; i++) {
		lengths[i] = runs[i].length;
		s.acquisitions += runs[i].length;
		ones += runs[i].length == 1;
		twos += runs[i].length == 2;
	}
	qsort(lengths, n, sizeof *lengths, by_length);
	s.longest = lengths[n - 1];
	find_medians(lengths, n, &s);
	free(lengths);
	s.mean = ratio((double)s.acquisitions, (double)n);
	s.ones = ratio((double)ones, (double)n);
	s.twos = ratio((double)twos, (double)n);
	s.change_rate = ratio((double)n, (double)s.acquisitions);
	return s;
}

/* ------------------------------------------------------------------ windows */

double windowed_jain(const uint16_t *owners, size_t n, unsigned tasks, size_t window)
{
	uint64_t *counts = malloc((tasks ? tasks : 1) * sizeof *counts);
	size_t windows = window ? n / window : 0;
	double sum = 0;

	if (!counts)
		return NAN;
	for (size_t w = 0; w < windows; w++) {
		memset(counts, 0, tasks * sizeof *counts);
		for (size_t i = w * window; i < (w + 1) * window; i++)
			counts[owners[i]]++;
		sum += jain_index(counts, tasks);
	}
	free(counts);
	return ratio(sum, (double)windows);
}

double working_set(const uint16_t *owners, size_t n, unsigned tasks, size_t window)
{
	size_t *seen = calloc(tasks ? tasks : 1, sizeof *seen); /* number of the last window in which, from 1 */
	size_t windows = window ? n / window : 0;
	uint64_t distinct = 0;

	if (!seen)
		return NAN;
	for (size_t i = 0; i < windows * window; i++) {
		size_t w = i / window + 1;

		distinct += seen[owners[i]] != w;
		seen[owners[i]] = w;
	}
	free(seen);
	return ratio((double)distinct, (double)windows);
}

#define DISTANCES 65536u /* longer ones are counted as this */

/* The smallest distance that is not below half of all. */
static double middle_distance(const uint64_t *count, uint64_t all)
{
	uint64_t below = 0;

	for (size_t d = 0; d <= DISTANCES; d++) {
		below += count[d];
		if (all && 2 * below >= all)
			return (double)d;
	}
	return NAN;
}

double reacquire_distance(const uint16_t *owners, size_t n, unsigned tasks)
{
	size_t *last = calloc(tasks ? tasks : 1, sizeof *last); /* where the task was last seen, from 1 */
	uint64_t *count = calloc(DISTANCES + 1, sizeof *count);
	uint64_t all = 0;
	double median = NAN;

	for (size_t i = 0; last && count && i < n; i++) {
		size_t *at = &last[owners[i]];

		if (*at) {
			size_t d = i + 1 - *at;

			count[d < DISTANCES ? d : DISTANCES]++;
			all++;
		}
		*at = i + 1;
	}
	if (last && count)
		median = middle_distance(count, all);
	free(last);
	free(count);
	return median;
}

/* A tree of partial sums (Fenwick): tree[i] covers the arrival numbers that i's lowest set bit spans. It
 * answers "how many of the arrivals below this one have been served" in the logarithm of their number. */
static uint32_t served_up_to(const uint32_t *tree, size_t i)
{
	uint32_t sum = 0;

	for (; i; i &= i - 1)
		sum += tree[i];
	return sum;
}

static void mark_served(uint32_t *tree, size_t size, size_t i)
{
	for (; i <= size; i += i & -i)
		tree[i]++;
}

double longest_bypass(const uint32_t *arrivals, size_t n)
{
	uint32_t longest = 0, highest = 0, *tree;

	for (size_t i = 0; i < n; i++)
		highest = arrivals[i] > highest ? arrivals[i] : highest;
	tree = n ? calloc((size_t)highest + 2, sizeof *tree) : NULL;
	if (!tree)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		uint32_t later = (uint32_t)i - served_up_to(tree, (size_t)arrivals[i] + 1);

		longest = later > longest ? later : longest;
		mark_served(tree, (size_t)highest + 1, (size_t)arrivals[i] + 1);
	}
	free(tree);
	return longest;
}

/* ------------------------------------------------------------------ waits */

static unsigned wait_bucket(uint64_t ns)
{
	unsigned top, bucket;

	if (ns < WAIT_STEPS)
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	bucket = (top - 7) * WAIT_STEPS + (unsigned)((ns >> (top - 8)) & (WAIT_STEPS - 1));
	return bucket < WAIT_STEPS * WAIT_GROUPS ? bucket : WAIT_STEPS * WAIT_GROUPS - 1;
}

/* The middle of a bucket. */
static double wait_value(unsigned bucket)
{
	unsigned group = bucket / WAIT_STEPS, step = bucket % WAIT_STEPS;

	if (!group)
		return step;
	return ldexp(WAIT_STEPS + step + 0.5, (int)group - 1);
}

void wait_add(struct wait_hist *h, uint64_t ns)
{
	h->count[wait_bucket(ns)]++;
	h->max = ns > h->max ? ns : h->max;
}

void wait_merge(struct wait_hist *to, const struct wait_hist *from)
{
	for (unsigned b = 0; b < WAIT_STEPS * WAIT_GROUPS; b++)
		to->count[b] += from->count[b];
	to->max = from->max > to->max ? from->max : to->max;
}

uint64_t wait_count(const struct wait_hist *h)
{
	uint64_t all = 0;

	for (unsigned b = 0; b < WAIT_STEPS * WAIT_GROUPS; b++)
		all += h->count[b];
	return all;
}

double wait_least(const struct wait_hist *h)
{
	return wait_quantile(h, 0x1p-64);
}

double wait_quantile(const struct wait_hist *h, double q)
{
	double all = (double)wait_count(h), below = 0;

	for (unsigned b = 0; b < WAIT_STEPS * WAIT_GROUPS; b++) {
		below += h->count[b];
		if (all > 0 && below >= q * all)
			return fmin(wait_value(b), (double)h->max);
	}
	return NAN;
}

/* ------------------------------------------------------------------ samples */

/* Copies what is a number; the caller frees. */
static double *numbers_of(const double *v, size_t n, size_t *kept)
{
	double *copy = malloc((n ? n : 1) * sizeof *copy);

	*kept = 0;
	for (size_t i = 0; copy && i < n; i++)
		if (!isnan(v[i]))
			copy[(*kept)++] = v[i];
	return copy;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double sample_median(const double *v, size_t n)
{
	size_t k;
	double *s = numbers_of(v, n, &k), median = NAN;

	if (k) {
		qsort(s, k, sizeof *s, by_size);
		median = (s[(k - 1) / 2] + s[k / 2]) / 2;
	}
	free(s);
	return median;
}

double sample_min(const double *v, size_t n)
{
	double min = NAN;

	for (size_t i = 0; i < n; i++)
		min = isnan(min) || v[i] < min ? v[i] : min;
	return min;
}

double sample_max(const double *v, size_t n)
{
	double max = NAN;

	for (size_t i = 0; i < n; i++)
		max = isnan(max) || v[i] > max ? v[i] : max;
	return max;
}

static size_t count_known(const double *v, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += !isnan(v[i]);
	return k;
}

double sample_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += isnan(v[i]) ? 0 : v[i];
	return ratio(sum, (double)count_known(v, n));
}

double sample_error(const double *v, size_t n)
{
	double mean = sample_mean(v, n), squares = 0;
	size_t k = count_known(v, n);

	for (size_t i = 0; i < n; i++)
		squares += isnan(v[i]) ? 0 : (v[i] - mean) * (v[i] - mean);
	return k < 2 ? NAN : sqrt(squares / (double)(k - 1) / (double)k);
}

double sample_ci95(const double *v, size_t n)
{
	/* Student's t at 97.5 %, for 1 to 12 degrees of freedom; beyond them 1.96 + 2.5/d is right within 0.01. */
	static const double t[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179
	};
	size_t k = count_known(v, n);

	if (k < 2)
		return NAN;
	return (k - 1 <= 12 ? t[k - 2] : 1.96 + 2.5 / (double)(k - 1)) * sample_error(v, n);
}
