/* SPDX-License-Identifier: MIT
 *
 * report.c - how figures, ratios and verdicts are printed
 */
#define _GNU_SOURCE
#include "bench.h"
#include "tool.h"

#include <nlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---------------------------------------------------------------- verdicts */

static void count(const struct outcome *o, struct verdicts *v)
{
	v->ok += !strcmp(o->verdict, "ok");
	v->missed += !strcmp(o->verdict, "MISS");
	v->unjudged += !strcmp(o->verdict, "-");
}

/* ---------------------------------------------------------------- the table */

static const char *measure_text(char buf[64], const struct cell *c, const struct comparison *k)
{
	static const char *const names[] = { "rate",
					     "time per hand-off",
					     "CPU time",
					     "switches",
					     "reads past a waiting writer (p99), per other thread",
					     "p99 wait",
					     "p99.9 wait",
					     "longest wait" };
	char spared[NUMBER_SIZE];

	if (k->spared > 0)
		snprintf(buf, 64, "%s, after %s for watching", names[k->measure], format_ns(spared, k->spared));
	else if (k->measure == MEASURE_SWITCHES)
		snprintf(buf, 64, "switches per %s", c->sharers ? "waiter" : c->op);
	else
		return names[k->measure];
	return buf;
}

static const char *target_text(char buf[NUMBER_SIZE], const struct comparison *k)
{
	if (k->target == 0)
		return "";
	snprintf(buf, NUMBER_SIZE, "%s %.2f", k->at_most ? "<=" : ">=", k->target);
	return buf;
}

static const char *name_of(const struct plan *p, int subject)
{
	return subject >= 0 ? p->noun->subjects[subject].name : subject == BASE_NONE ? "none" : "?";
}

static void print_ratio(const struct comparison *k, const struct outcome *o)
{
	char target[NUMBER_SIZE], median[NUMBER_SIZE] = "", range[2 * NUMBER_SIZE] = "";
	int digits = o->high < 100 ? 2 : 0;

	if (o->rounds) {
		snprintf(median, sizeof(median), "%.*f", digits, o->median);
		snprintf(range, sizeof(range), "%.*f-%.*f", digits, o->low, digits, o->high);
	}
	printf(" %8s  %-11s  %-8s %-4s", median, range, target_text(target, k), o->verdict);
}

/* Who owned the lock, and for how long, is asked of the mutex. Elsewhere an operation is a thing that takes its time. */
static bool has_owners(const struct cell *c)
{
	return !c->op && (c->body == BODY_CONTENDED || c->body == BODY_TIMED);
}

static void print_costs(const struct cell *c, const struct result *r)
{
	char cpu[NUMBER_SIZE], run[NUMBER_SIZE], time[NUMBER_SIZE];
	double ops = r->sum.ops > 0 ? r->sum.ops : 1, rate = median_of(r, MEASURE_RATE);

	printf("  %8s %7.3f", format_ns(cpu, r->sum.cpu_ns / ops), r->sum.switches / ops);
	if (has_owners(c))
		printf(" %7.3f %7s", r->sum.changes / ops, format_count(run, (double)r->longest_run));
	else
		printf(" %8s", rate > 0 ? format_ns(time, NSEC_PER_SEC / rate) : "-");
}

/* The tail that is looked at: writers are few. */
static double tail(const struct cell *c)
{
	return c->flags & CELL_READERS ? 0.99 : 0.999;
}

static void print_waits(const struct cell *c, const struct result *r)
{
	char p50[NUMBER_SIZE], high[NUMBER_SIZE], longest[NUMBER_SIZE];

	if (!r->wait_rounds)
		return;
	printf("  %8s %8s %8s", format_ns(p50, hist_quantile(&r->waits, 0.5)),
	       format_ns(high, hist_quantile(&r->waits, tail(c))), format_ns(longest, (double)r->waits.longest));
}

/* One subject, and how it compares with the reference. */
static void print_subject(const struct plan *p, const struct cell *c, const struct comparison *k,
			  const struct outcome *o, const struct result *r)
{
	char rate[NUMBER_SIZE];

	printf("  %-14s %8s", name_of(p, k->subject), format_count(rate, median_of(r, MEASURE_RATE)));
	print_ratio(k, o);
	print_costs(c, r);
	print_waits(c, r);
	putchar('\n');
}

static void print_comparison(const struct plan *p, const struct cell *c, const struct comparison *k,
			     const struct outcome *o)
{
	char names[64], measure[64];

	snprintf(names, sizeof(names), "%s%s%s", name_of(p, k->subject), k->base == BASE_NONE ? "" : " : ",
		 k->base == BASE_NONE ? "" : name_of(p, o->base));
	printf("  %-23s", names);
	print_ratio(k, o);
	printf("  %s%s%s%s\n", measure_text(measure, c, k), k->base == BASE_BEST_PEER ? ", beside the best peer" : "",
	       o->why_not ? "; no verdict: " : "", o->why_not ? o->why_not : "");
}

static const char *placement(const struct plan *p, const struct cell *c)
{
	if (c->flags & CELL_ONE_CPU)
		return "one-cpu";
	if (c->flags & CELL_TWO_CPUS)
		return p->is_unpinned ? "two-cpus-unpinned" : "two-cpus";
	return p->is_unpinned ? "unpinned" : "pinned";
}

static void print_load(const struct plan *p, const struct cell *c)
{
	char inside[NUMBER_SIZE], outside[NUMBER_SIZE];
	bool is_section = c->body == BODY_CONTENDED || c->body == BODY_TIMED;

	printf("\n%s%s%s: %u thread%s", p->is_all ? p->noun->name : "", p->is_all ? " " : "", c->name, c->threads,
	       c->threads == 1 ? "" : "s");
	if (c->load)
		printf(", %s", c->load);
	if (c->flags & CELL_HOG)
		printf(", one of them %s inside and never outside; the others", format_ns(inside, HOG_NS));
	if (is_section && (!c->load || c->inside || c->outside))
		printf("%s %s inside, %s outside", c->flags & CELL_HOG ? "" : ",", format_ns(inside, (double)c->inside),
		       format_ns(outside, (double)c->outside));
	if (c->op)
		printf("; op: %s", c->op);
}

static void print_cell_head(const struct plan *p, const struct cell *c, const struct result *results, double cpus)
{
	bool has_waits = has_owners(c);

	print_load(p, c);
	printf("; %s; effective CPUs %.2f of %u\n", placement(p, c), cpus, p->cpus->n);
	printf("  %-14s %8s %8s  %-11s  %-13s  %8s %7s", "lock", "ops/s", ":pthread", "5-95 %", "must", "CPU/op",
	       "csw/op");
	if (has_owners(c))
		printf(" %7s %7s", "change", "run");
	else
		printf(" %8s", "time/op");
	for (unsigned int i = 0; p->noun->subjects[i].name; i++)
		has_waits |= results[i].wait_rounds > 0;
	if (has_waits)
		printf("  %8s %8s %8s", "wait p50", c->flags & CELL_READERS ? "p99" : "p99.9", "longest");
	putchar('\n');
}

/* ---------------------------------------------------------------- CSV */

static const char csv_header[] =
	"cell,threads,inside_ns,outside_ns,placement,lock,base,measure,rounds,slice_ms,ratio,ratio_p5,ratio_p95,"
	"relation,target,verdict,ops_per_s,cpu_ns_per_op,switches_per_op,changes_per_op,longest_run,"
	"wait_p50_ns,wait_p99_ns,wait_p999_ns,wait_longest_ns,effective_cpus,noun";

static void csv_waits(const struct result *r)
{
	if (!r->wait_rounds) {
		printf(",,,,");
		return;
	}
	printf(",%.0f,%.0f,%.0f,%.0f", hist_quantile(&r->waits, 0.5), hist_quantile(&r->waits, 0.99),
	       hist_quantile(&r->waits, 0.999), (double)r->waits.longest);
}

static void csv_row(const struct plan *p, const struct cell *c, const struct comparison *k, const struct outcome *o,
		    const struct result *r, double cpus)
{
	static const char *const measures[] = { "rate",   "handoff",  "cpu",       "switches",
						"passed", "wait_p99", "wait_p999", "wait_longest" };
	double slice_ms = (double)p->slice / 1e6 * (c->stretch ? c->stretch : 1), ops = r->sum.ops > 0 ? r->sum.ops : 1;

	printf("%s,%u,%ld,%ld,%s,%s,%s,%s,%u,%g", c->name, c->threads, c->inside, c->outside, placement(p, c),
	       name_of(p, k->subject), name_of(p, o->base), measures[k->measure], o->rounds, slice_ms);
	if (o->rounds)
		printf(",%.4f,%.4f,%.4f", o->median, o->low, o->high);
	else
		printf(",,,");
	if (k->target != 0)
		printf(",%s,%.4g,%s", k->at_most ? "<=" : ">=", k->target, o->verdict);
	else
		printf(",,,");
	printf(",%.0f,%.2f,%.5f,%.5f,%lu", median_of(r, MEASURE_RATE), r->sum.cpu_ns / ops, r->sum.switches / ops,
	       r->sum.changes / ops, r->longest_run);
	csv_waits(r);
	printf(",%.2f,%s\n", cpus, p->noun->name);
}

/* ---------------------------------------------------------------- all of it */

/* What has a target is not passed over because the base is missing: the line says why there is no verdict. */
static bool is_worth_a_line(const struct comparison *k, const struct result *results, bool is_subject)
{
	if (k->subject < 0 || !results[k->subject].is_measured)
		return false;
	return is_subject || k->target != 0 || k->base == BASE_NONE || (k->base >= 0 && results[k->base].is_measured);
}

static void note_noise(const char *subject, const struct outcome *o, struct verdicts *v)
{
	if (strcmp(subject, "pthread-2") || !o->rounds)
		return;
	if (v->noise_low == 0 || o->median < v->noise_low)
		v->noise_low = o->median;
	if (o->median > v->noise_high)
		v->noise_high = o->median;
}

static void report_comparison(const struct plan *p, const struct cell *c, const struct comparison *k, bool is_subject,
			      const struct result *results, double cpus, struct verdicts *v)
{
	struct outcome o = comparison_judge(k, results, p, cpus);
	const struct result *r = &results[k->subject];

	count(&o, v);
	if (p->is_csv)
		csv_row(p, c, k, &o, r, cpus);
	else if (is_subject)
		print_subject(p, c, k, &o, r);
	else
		print_comparison(p, c, k, &o);
	if (is_subject)
		note_noise(name_of(p, k->subject), &o, v);
}

void report_cell(const struct plan *p, const struct cell *c, const struct result *results, double cpus,
		 struct verdicts *v)
{
	struct comparison all[COMPARISONS_MAX];
	unsigned int n = cell_comparisons(p->noun, c, p->cpus->n, all), subjects = subject_count(p->noun);

	if (v->cpus_low == 0 || cpus < v->cpus_low)
		v->cpus_low = cpus;
	if (!p->is_csv)
		print_cell_head(p, c, results, cpus);
	for (unsigned int i = 0; i < n; i++) {
		if (is_worth_a_line(&all[i], results, i < subjects))
			report_comparison(p, c, &all[i], i < subjects, results, cpus, v);
	}
	fflush(stdout);
}

static const char *libc_name(char *buf, size_t size)
{
#ifdef _CS_GNU_LIBC_VERSION
	if (confstr(_CS_GNU_LIBC_VERSION, buf, size))
		return buf;
#endif
	snprintf(buf, size, "unknown C library");
	return buf;
}

void report_begin(const struct plan *p)
{
	uint32_t f = nlock_features();
	struct utsname u;
	char libc[64];

	if (p->is_csv) {
		puts(csv_header);
		return;
	}
	uname(&u);
	printf("%ld rounds of %g ms slices; %u CPUs; Linux %s %s, %s; %s; nlock %d.%d.%d\n", p->rounds,
	       (double)p->slice / 1e6, p->cpus->n, u.release, u.machine,
	       f & NLOCK_HAS_WAIT ? "futex2" : "classic futex", libc_name(libc, sizeof(libc)), NLOCK_VERSION_MAJOR,
	       NLOCK_VERSION_MINOR, NLOCK_VERSION_PATCH);
}

void report_end(const struct plan *p, const struct verdicts *v)
{
	if (p->is_csv)
		return;
	printf("\ntargets: %u ok, %u MISS, %u without a verdict; effective CPUs at least %.2f of %u\n", v->ok,
	       v->missed, v->unjudged, v->cpus_low, p->cpus->n);
	if (v->noise_low > 0)
		printf("noise: pthread against itself, medians of the cells: %.2f-%.2f\n", v->noise_low, v->noise_high);
}
