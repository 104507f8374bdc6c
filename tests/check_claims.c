/* SPDX-License-Identifier: MIT
 *
 * check_claims.c - the claims A1 to A7: what the published numbers say, computed from the published numbers
 *
 * The same tables and the same arithmetic are in ulockflex, which applies them to what it measures. Nothing is measured here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "metrics.h"
#include "published.h"

static bool is_near(double v, double want, double slack)
{
	return fabs(v - want) <= slack;
}

static double thput(enum post post, int c, const char *lock)
{
	const struct row2002 *w = published_row(post, c, 0, 0, lock, 0);

	must(w, "the row is not in the table");
	return w->thput;
}

/* ---------------------------------------------------------------- A1 to A3: the tables */

TEST(fair_release_had_a_ninth_of_the_unfair_throughput_on_6_march_2002)
{
	must_be(thput(MAR06, 3, "up-fair"), 217001);
	must_be(thput(MAR06, 3, "up"), 2002852);
	must(is_near(published_fair_ratio(), 0.108, 0.001));
}

TEST(cost_of_strict_fifo_grew_with_the_number_of_processes_on_5_march_2002)
{
	double two = thput(MAR05, 2, "f") / thput(MAR05, 2, "m");
	double three = thput(MAR05, 3, "f") / thput(MAR05, 3, "m");
	double hundred = thput(MAR05, 100, "f") / thput(MAR05, 100, "m");

	must(is_near(two, 0.390, 0.001));
	must(is_near(three, 0.155, 0.001));
	must(is_near(hundred, 0.029, 0.001));
	must(two > three && three > hundred);
}

TEST(fair_costs_about_half_in_each_cell_of_the_ols_paper_with_three_tasks_or_more)
{
	struct ols_range range = ols_fair_range();
	int cells = 0;

	for (size_t i = 0; i < ols2002_count; i++) {
		if (ols2002[i].tasks < 3)
			continue;
		must(ols_fair_ratio(&ols2002[i]) >= 0.38 && ols_fair_ratio(&ols2002[i]) <= 0.64);
		cells++;
	}
	must_be(cells, 16);
	must_be(range.cells, 16);
	must(is_near(range.median, 0.49, 0.005));
	must(is_near(range.least, 0.385, 0.0005) && is_near(range.most, 0.632, 0.0005));
}

TEST(tables_have_all_their_rows_and_no_row_twice)
{
	must_be(rows2002_count, 93);
	must_be(ols2002_count, 20);
	for (size_t i = 0; i < rows2002_count; i++) {
		const struct row2002 *w = &rows2002[i];

		must(published_row(w->post, w->c, w->r, w->x, w->lock, w->p) == w);
		must(w->thput > 0 && w->wc >= 0 && w->wc <= 100);
	}
}

TEST(published_ratios_are_found_for_our_own_locks)
{
	struct published_ratio r[PUBLISHED_MAX];

	must_be(published_ratios('f', 3, 0, 0, r, PUBLISHED_MAX), 1);
	must(is_near(r[0].value, 0.108, 0.001));
	must_be(published_ratios('t', 3, 0, 0, r, PUBLISHED_MAX), 2);
	must(is_near(r[0].value, 0.395, 0.001) && is_near(r[1].value, 0.155, 0.001));
	must_be(published_ratios('f', 100, 9, 1, r, PUBLISHED_MAX), 1);
	must(is_near(r[0].value, 0.450, 0.001));
	must_be(published_ratios('f', 100, 9, 1, r, 0), 0);
	must_be(published_ratios('f', 3, 2, 1, r, PUBLISHED_MAX), 0);
	must_be(published_ratios('f', 3, 0.5, 0, r, PUBLISHED_MAX), 0);
	must_be(published_ratios('p', 3, 0, 0, r, PUBLISHED_MAX), 0);
}

/* ---------------------------------------------------------------- A4: the histories */

/* The histories as a sequence of owners, which must come back as the same runs. */
static void must_survive_expansion(const struct trace2002 *t)
{
	struct run_stats s = run_statistics(t->runs, t->count);
	uint16_t *owners = malloc(s.acquisitions * sizeof *owners);
	struct run *runs = malloc(s.acquisitions * sizeof *runs);
	size_t n = 0;

	must(owners && runs);
	for (size_t i = 0; i < t->count; i++)
		for (uint32_t k = 0; k < t->runs[i].length; k++)
			owners[n++] = t->runs[i].owner;
	must_be(history_runs(owners, n, runs), t->count);
	for (size_t i = 0; i < t->count; i++)
		must(runs[i].length == t->runs[i].length && runs[i].owner == t->runs[i].owner);
	free(owners);
	free(runs);
}

static uint64_t end_of(const struct trace2002 *t)
{
	return t->first + run_statistics(t->runs, t->count).acquisitions;
}

TEST(unfair_history_with_work_has_median_run_1_and_weighted_median_4789)
{
	struct run_stats s = run_statistics(trace_up_r2x1.runs, trace_up_r2x1.count);

	must_be(s.runs, 94);
	must_be(s.acquisitions, 93335);
	must(is_near(s.mean, 992.9, 0.05));
	must(s.median == 1 && s.weighted_median == 4789);
	must_be(s.longest, 5007);
	must(is_near(s.ones, 62.0 / 94, 1e-12));
	must(is_near(s.change_rate, 0.00101, 0.000005));
	must_be(end_of(&trace_up_r2x1), 1159959 + 978);
	must_survive_expansion(&trace_up_r2x1);
}

TEST(unfair_history_of_the_empty_loop_has_mean_run_9892)
{
	struct run_stats s = run_statistics(trace_up_r0x0.runs, trace_up_r0x0.count);

	must_be(s.runs, 35);
	must_be(s.acquisitions, 346212);
	must(is_near(s.mean, 9891.8, 0.05));
	must(s.median == 8340 && s.weighted_median == 13396);
	must_be(s.longest, 23875);
	must_be(end_of(&trace_up_r0x0), 8021600 + 7016);
	must_survive_expansion(&trace_up_r0x0);
}

TEST(fair_history_has_runs_of_1_only)
{
	struct run_stats s = run_statistics(trace_up_fair.runs, trace_up_fair.count);

	must_be(s.runs, 15);
	must_be(s.acquisitions, 15);
	must(s.mean == 1 && s.median == 1 && s.weighted_median == 1 && s.ones == 1 && s.change_rate == 1);
	must_be(s.longest, 1);
	must_survive_expansion(&trace_up_fair);
}

/* ---------------------------------------------------------------- A5, A6: the arithmetic */

TEST(cycle_0_1_2_1_changes_hands_always_and_shares_unequally)
{
	static const uint16_t cycle[] = { 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1 };
	static const uint64_t counts[] = { 3, 6, 3 };
	struct run runs[COUNT(cycle)];
	struct run_stats s = run_statistics(runs, history_runs(cycle, COUNT(cycle), runs));

	must(is_near(jain_index(counts, 3), 0.889, 0.0005));
	must(is_near(cov_population(counts, 3), 0.354, 0.0005));
	must(s.change_rate == 1);
	must(is_near(windowed_jain(cycle, COUNT(cycle), 3, 4), jain_index(counts, 3), 1e-12));
	must(working_set(cycle, COUNT(cycle), 3, 4) == 3);
	must(working_set(cycle, COUNT(cycle), 3, 2) == 2);
	must(reacquire_distance(cycle, COUNT(cycle), 3) == 2);
}

TEST(jains_index_and_cov_are_the_same_statement)
{
	uint64_t state = harness_random_start(6), counts[64];

	for (int round = 0; round < harness_rounds(2000, 200000); round++) {
		size_t n = 1 + harness_random(&state) % COUNT(counts);
		double cov;

		for (size_t i = 0; i < n; i++)
			counts[i] = harness_random(&state) >> harness_random(&state) % 32;
		counts[0]++; /* not all zero */
		cov = cov_population(counts, n);
		must(is_near(jain_index(counts, n), 1 / (1 + cov * cov), 1e-9));
	}
}

TEST(jains_index_is_1_for_equals_and_one_nth_for_a_hog)
{
	uint64_t equal[50], hog[50] = { 0 };

	for (size_t n = 1; n <= COUNT(equal); n++) {
		equal[n - 1] = 1000;
		hog[0] = 123456;
		must(is_near(jain_index(equal, n), 1, 1e-12));
		must(is_near(cov_population(equal, n), 0, 1e-12));
		must(is_near(jain_index(hog, n), 1.0 / (double)n, 1e-12));
		must(is_near(busier_half_share(hog, n), 1, 1e-12));
		must(is_near(most_over_mean(hog, n), (double)n, 1e-9));
		must(least_over_mean(equal, n) == 1);
		must(n == 1 || least_over_mean(hog, n) == 0);
	}
	must(busier_half_share(equal, 50) == 0.5);
}

/* ---------------------------------------------------------------- A7: 2023 and 2025 */

static double sum(const double v[2])
{
	return v[0] + v[1];
}

TEST(separate_nodes_made_futex_numa_three_times_as_fast)
{
	must(is_near(sum(futex_numa2023.shared) / 1e6, 32.36, 0.005));
	must(is_near(sum(futex_numa2023.separate) / 1e6, 97.27, 0.005));
	must(is_near(sum(futex_numa2023.separate) / sum(futex_numa2023.shared), 3.01, 0.005));
}

static double hash_ratio(const char *what)
{
	for (size_t i = 0; i < futex_hash2025_count; i++)
		if (!strcmp(futex_hash2025[i].what, what))
			return futex_hash2025[i].series / futex_hash2025[i].base;
	return NAN;
}

TEST(small_private_hash_cost_a_factor_of_five_to_ten)
{
	must(is_near(hash_ratio("80 threads, 80 CPUs"), 0.097, 0.0005));
	must(is_near(hash_ratio("80 threads, 80 CPUs, shared futexes"), 0.991, 0.0015));
	must(is_near(hash_ratio("5 cores, automatic size"), 0.196, 0.0005));
	must(is_near(hash_ratio("5 cores, 512 buckets"), 0.906, 0.0005));
	must(is_near(hash_ratio("5 cores, 8192 buckets"), 0.924, 0.0005));
}

TEST(reads_alone_had_at_least_one_and_a_half_times_the_throughput_of_writes_alone_in_figure_6)
{
	const size_t last = FIGURE6_SHARES - 1;

	must_be(figure6_count, 4);
	for (size_t i = 0; i < figure6_count; i++) {
		must(figure6[i].furwock[last] / figure6[i].furwock[0] >= 1.5);
		must(figure6[i].ulocks[last] / figure6[i].ulocks[0] >= 2.5);
	}
	must_be(figure6_near(1)->tasks, 2);
	must_be(figure6_near(3)->tasks, 3);
	must_be(figure6_near(99)->tasks, 4);
	must_be(figure6_near(4096)->tasks, 100);
	must_be(figure6_reads[0], 0);
	must_be(figure6_reads[last], 100);
}

TEST(fcntl_locks_cost_tdbtorture_most_where_futexes_hardly_met)
{
	const struct torture2002 *fcntl = &torture2002[0], *futex = &torture2002[2];

	must(is_near(fcntl->high / futex->high, 1.69, 0.005));
	must(is_near(fcntl->low / futex->low, 13.30, 0.005));
	must(is_near(fcntl->none / futex->none, 1.84, 0.005));
	must(is_near(TORTURE_MARCH_9, 0.77, 0.005));
}

TEST(schbench_saw_nothing_of_it)
{
	must(is_near(ratio(schbench2025[0].series, schbench2025[0].base), 1.010, 0.0005));
	must(is_near(ratio(schbench2025[1].series, schbench2025[1].base), 1.0004, 0.00005));
}

/* ---------------------------------------------------------------- the rest of the arithmetic that measurements rely on */

TEST(bypass_of_arrival_order_is_0_and_of_any_order_what_counting_says)
{
	static const uint32_t fifo[] = { 0, 1, 2, 3 }, reverse[] = { 3, 2, 1, 0 }, gap[] = { 1, 3, 0, 7 };
	uint64_t state = harness_random_start(7);

	must(longest_bypass(fifo, 4) == 0);
	must(longest_bypass(reverse, 4) == 3);
	must(longest_bypass(gap, 4) == 2);
	must(isnan(longest_bypass(fifo, 0)));
	for (int round = 0; round < harness_rounds(200, 20000); round++) {
		uint32_t order[40];
		int n = 1 + (int)(harness_random(&state) % COUNT(order)), most = 0;

		for (int i = 0; i < n; i++) { /* a random permutation of 0 to n-1 */
			int k = (int)(harness_random(&state) % (uint32_t)(i + 1));

			order[i] = order[k];
			order[k] = (uint32_t)i;
		}
		for (int i = 0; i < n; i++) {
			int later = 0;

			for (int k = 0; k < i; k++)
				later += order[k] > order[i];
			most = later > most ? later : most;
		}
		must_be(longest_bypass(order, (size_t)n), most);
	}
}

TEST(wait_quantiles_are_within_half_a_per_cent_at_every_scale)
{
	static struct wait_hist h;

	for (uint64_t ns = 1; ns < (uint64_t)1 << 40; ns += ns / 3 + 1) {
		memset(&h, 0, sizeof h);
		wait_add(&h, ns);
		must(is_near(wait_quantile(&h, 0.5), (double)ns, 0.005 * (double)ns));
		must_be(h.max, ns);
		wait_add(&h, 1000 * ns); /* also beyond the last bucket */
		must(is_near(wait_quantile(&h, 0.5), (double)ns, 0.005 * (double)ns));
	}
	memset(&h, 0, sizeof h);
	must(isnan(wait_quantile(&h, 0.5)));
	wait_add(&h, UINT64_MAX);
	must(wait_quantile(&h, 1) > 1e12);
}

TEST(merged_waits_are_those_of_both)
{
	static struct wait_hist a, b;

	for (uint64_t ns = 0; ns < 200; ns++)
		wait_add(ns < 100 ? &a : &b, ns);
	wait_merge(&a, &b);
	must(wait_quantile(&a, 0.5) == 99 && wait_quantile(&a, 1) == 199);
	must(wait_least(&a) == 0 && wait_least(&b) == 100);
	must(wait_count(&a) == 200 && wait_count(&b) == 100);
	must_be(a.max, 199);
}

TEST(samples_leave_out_what_is_not_a_number)
{
	const double v[] = { 4, NAN, 1, 3 }, none[] = { NAN };

	must(sample_median(v, 4) == 3 && sample_max(v, 4) == 4);
	must(is_near(sample_mean(v, 4), 8.0 / 3, 1e-12));
	/* standard deviation sqrt(7/3) of three; Student's t is 4.303 */
	must(is_near(sample_ci95(v, 4), 4.303 * sqrt(7.0 / 9), 1e-9));
	must(isnan(sample_median(none, 1)) && isnan(sample_mean(none, 1)) && isnan(sample_max(none, 1)));
	must(isnan(sample_ci95(none, 1)) && isnan(sample_ci95(v, 1)));
}

TEST(standard_error_and_extremes_of_samples_are_as_defined)
{
	static const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9, NAN };

	must(is_near(sample_error(v, 9), sqrt(32.0 / 7 / 8), 1e-12));
	must(isnan(sample_error(v, 1)));
	must(sample_min(v, 9) == 2 && sample_max(v, 9) == 9);
	must(isnan(sample_min(v, 0)));
}

TEST(nothing_is_divided_by_zero)
{
	const uint64_t zeros[3] = { 0 };
	struct run_stats s = run_statistics(NULL, 0);

	must(isnan(ratio(1, 0)) && isnan(ratio(1, NAN)));
	must(isnan(jain_index(zeros, 3)) && isnan(cov_population(zeros, 3)) && isnan(busier_half_share(zeros, 3)));
	must(isnan(least_over_mean(zeros, 3)) && isnan(most_over_mean(zeros, 3)) && isnan(jain_index(zeros, 0)));
	must(s.runs == 0 && isnan(s.mean) && isnan(s.weighted_median) && isnan(s.change_rate));
	must(isnan(windowed_jain(NULL, 0, 3, 10)) && isnan(windowed_jain(NULL, 0, 3, 0)));
	must(isnan(working_set(NULL, 0, 3, 10)) && isnan(reacquire_distance(NULL, 0, 3)));
}

static const struct test tests[] = {
	ONCE(fair_release_had_a_ninth_of_the_unfair_throughput_on_6_march_2002),
	ONCE(cost_of_strict_fifo_grew_with_the_number_of_processes_on_5_march_2002),
	ONCE(fair_costs_about_half_in_each_cell_of_the_ols_paper_with_three_tasks_or_more),
	ONCE(tables_have_all_their_rows_and_no_row_twice),
	ONCE(published_ratios_are_found_for_our_own_locks),
	ONCE(unfair_history_with_work_has_median_run_1_and_weighted_median_4789),
	ONCE(unfair_history_of_the_empty_loop_has_mean_run_9892),
	ONCE(fair_history_has_runs_of_1_only),
	ONCE(cycle_0_1_2_1_changes_hands_always_and_shares_unequally),
	ONCE(jains_index_and_cov_are_the_same_statement),
	ONCE(jains_index_is_1_for_equals_and_one_nth_for_a_hog),
	ONCE(separate_nodes_made_futex_numa_three_times_as_fast),
	ONCE(small_private_hash_cost_a_factor_of_five_to_ten),
	ONCE(reads_alone_had_at_least_one_and_a_half_times_the_throughput_of_writes_alone_in_figure_6),
	ONCE(fcntl_locks_cost_tdbtorture_most_where_futexes_hardly_met),
	ONCE(schbench_saw_nothing_of_it),
	ONCE(bypass_of_arrival_order_is_0_and_of_any_order_what_counting_says),
	ONCE(wait_quantiles_are_within_half_a_per_cent_at_every_scale),
	ONCE(merged_waits_are_those_of_both),
	ONCE(samples_leave_out_what_is_not_a_number),
	ONCE(standard_error_and_extremes_of_samples_are_as_defined),
	ONCE(nothing_is_divided_by_zero),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "claims", tests, COUNT(tests));
}
