/* SPDX-License-Identifier: MIT
 *
 * report.c - ratios, verdicts, and how they are printed
 *
 * A verdict is "ok" or "MISS", by the median of the ratios. It is refused ("-") where the figures cannot carry one; the
 * reason is printed.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "tool.h"

#include <nlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A wait as long as a hundred time bounds is starvation, and not the scheduler's doing. */
#define STARVED_NS (100.0 * NLOCK_BOUND_NS)

struct outcome {
	int base; /* the best peer has a name by now; -1: nobody */
	unsigned int rounds;
	double median, low, high;
	const char *verdict; /* "ok", "MISS", "-"; "" without a target */
	const char *why_not; /* or NULL */
};

/* ---------------------------------------------------------------- ratios and verdicts */

static const double *values(const struct result *r, enum measure m, unsigned int *n)
{
	*n = m == MEASURE_RATE || m == MEASURE_HANDOFF ? r->rounds : r->wait_rounds;
	switch (m) {
	case MEASURE_RATE:
		return r->rate;
	case MEASURE_HANDOFF:
		return r->handoff;
	case MEASURE_WAIT_P999:
		return r->p999;
	default:
		return r->longest;
	}
}

static double median_of(const struct result *r, enum measure m)
{
	double copy[ROUNDS_MAX];
	unsigned int n;
	const double *v = values(r, m, &n);

	memcpy(copy, v, n * sizeof(*copy));
	return quantile(copy, n, 0.5);
}

static int best_peer(const struct result *results)
{
	double highest = 0;
	int best = -1;

	for (unsigned int i = 0; i < subject_count; i++) {
		double rate;

		if (!(subjects[i].flags & SUBJECT_PEER) || !results[i].is_measured)
			continue;
		rate = median_of(&results[i], MEASURE_RATE);
		if (rate > highest) {
			highest = rate;
			best = (int)i;
		}
	}
	return best;
}

/* Pair by pair within a round. */
static unsigned int ratios(const struct result *a, const struct result *b, enum measure m, double *out)
{
	unsigned int n = 0, in_a, in_b;
	const double *x = values(a, m, &in_a), *y = values(b, m, &in_b);

	for (unsigned int i = 0; i < in_a && i < in_b; i++) {
		if (y[i] > 0)
			out[n++] = x[i] / y[i];
	}
	return n;
}

static const char *why_not(const struct comparison *k, const struct outcome *o, const struct result *results,
			   const struct plan *p, double cpus)
{
	bool is_wait = k->measure == MEASURE_WAIT_P999 || k->measure == MEASURE_WAIT_MAX;

	if (o->rounds == 0)
		return "not both were measured";
	if (o->rounds < ROUNDS_JUDGED)
		return "too few rounds";
	if (cpus < ENOUGH_OF_CPUS * p->cpus->n)
		return "the machine is busy";
	if (is_wait && median_of(&results[o->base], MEASURE_WAIT_MAX) < STARVED_NS)
		return "nobody starves here";
	return NULL;
}

static struct outcome judge(const struct comparison *k, const struct result *results, const struct plan *p, double cpus)
{
	struct outcome o = { .base = k->base == BASE_BEST_PEER ? best_peer(results) : k->base, .verdict = "" };
	double r[ROUNDS_MAX];

	if (k->subject >= 0 && o.base >= 0)
		o.rounds = ratios(&results[k->subject], &results[o.base], k->measure, r);
	if (o.rounds) {
		o.median = quantile(r, o.rounds, 0.5);
		o.low = quantile(r, o.rounds, 0.05);
		o.high = quantile(r, o.rounds, 0.95);
	}
	if (k->target == 0)
		return o;
	o.why_not = why_not(k, &o, results, p, cpus);
	if (o.why_not)
		o.verdict = "-";
	else if (k->at_most ? o.median <= k->target : o.median >= k->target)
		o.verdict = "ok";
	else
		o.verdict = "MISS";
	return o;
}

static void count(const struct outcome *o, struct verdicts *v)
{
	v->ok += !strcmp(o->verdict, "ok");
	v->missed += !strcmp(o->verdict, "MISS");
	v->unjudged += !strcmp(o->verdict, "-");
}

/* ---------------------------------------------------------------- the table */

static const char *const measure_names[] = { "rate", "time per hand-off", "p99.9 wait", "longest wait" };

static const char *target_text(char buf[NUMBER_SIZE], const struct comparison *k)
{
	if (k->target == 0)
		return "";
	snprintf(buf, NUMBER_SIZE, "%s %.2f", k->at_most ? "<=" : ">=", k->target);
	return buf;
}

static const char *name_of(int subject)
{
	return subject >= 0 ? subjects[subject].name : "?";
}

static void print_ratio(const struct comparison *k, const struct outcome *o)
{
	char target[NUMBER_SIZE], median[NUMBER_SIZE] = "", range[2 * NUMBER_SIZE] = "";
	int digits = o->high < 100 ? 2 : 0;

	if (o->rounds) {
		snprintf(median, sizeof(median), "%.*f", digits, o->median);
		snprintf(range, sizeof(range), "%.*f-%.*f", digits, o->low, digits, o->high);
	}
	printf(" %8s  %-11s  %-8s%-4s", median, range, target_text(target, k), o->verdict);
}

static void print_costs(const struct cell *c, const struct result *r)
{
	char cpu[NUMBER_SIZE], run[NUMBER_SIZE];
	bool is_contended = c->body == BODY_CONTENDED || c->body == BODY_TIMED;
	double ops = r->sum.ops > 0 ? r->sum.ops : 1;

	printf("  %8s %7.3f", format_ns(cpu, r->sum.cpu_ns / ops), r->sum.switches / ops);
	if (is_contended)
		printf(" %7.3f %7s", r->sum.changes / ops, format_count(run, (double)r->longest_run));
}

static void print_waits(const struct result *r)
{
	char p50[NUMBER_SIZE], p999[NUMBER_SIZE], longest[NUMBER_SIZE];

	if (!r->wait_rounds)
		return;
	printf("  %8s %8s %8s", format_ns(p50, hist_quantile(&r->waits, 0.5)),
	       format_ns(p999, hist_quantile(&r->waits, 0.999)), format_ns(longest, (double)r->waits.longest));
}

/* One subject, and how it compares with the reference. */
static void print_subject(const struct cell *c, const struct comparison *k, const struct outcome *o,
			  const struct result *r)
{
	char rate[NUMBER_SIZE];

	printf("  %-13s %8s", subjects[k->subject].name, format_count(rate, median_of(r, MEASURE_RATE)));
	print_ratio(k, o);
	print_costs(c, r);
	print_waits(r);
	putchar('\n');
}

static void print_comparison(const struct comparison *k, const struct outcome *o)
{
	char names[64];

	snprintf(names, sizeof(names), "%s : %s", name_of(k->subject), name_of(o->base));
	printf("  %-22s", names);
	print_ratio(k, o);
	printf("  %s%s%s%s\n", measure_names[k->measure], k->base == BASE_BEST_PEER ? ", beside the best peer" : "",
	       o->why_not ? "; no verdict: " : "", o->why_not ? o->why_not : "");
}

static const char *placement(const struct plan *p, const struct cell *c)
{
	if (c->flags & CELL_ONE_CPU)
		return "one-cpu";
	return p->is_unpinned ? "unpinned" : "pinned";
}

static void print_cell_head(const struct plan *p, const struct cell *c, double cpus)
{
	char inside[NUMBER_SIZE], outside[NUMBER_SIZE];

	printf("\n%s: %u thread%s", c->name, c->threads, c->threads == 1 ? "" : "s");
	if (c->flags & CELL_HOG)
		printf(", one of them %s inside and never outside; the others", format_ns(inside, HOG_NS));
	if (c->body == BODY_CONTENDED || c->body == BODY_TIMED)
		printf("%s %s inside, %s outside", c->flags & CELL_HOG ? "" : ",", format_ns(inside, (double)c->inside),
		       format_ns(outside, (double)c->outside));
	printf("; %s; effective CPUs %.2f of %u\n", placement(p, c), cpus, p->cpus->n);
	printf("  %-13s %8s %8s  %-11s  %-12s  %8s %7s", "lock", "ops/s", ":pthread", "5-95 %", "must", "CPU/op",
	       "csw/op");
	if (c->body == BODY_CONTENDED || c->body == BODY_TIMED)
		printf(" %7s %7s  %8s %8s %8s", "change", "run", "wait p50", "p99.9", "longest");
	putchar('\n');
}

/* ---------------------------------------------------------------- CSV */

static const char csv_header[] =
	"cell,threads,inside_ns,outside_ns,placement,lock,base,measure,rounds,slice_ms,ratio,ratio_p5,ratio_p95,"
	"relation,target,verdict,ops_per_s,cpu_ns_per_op,switches_per_op,changes_per_op,longest_run,"
	"wait_p50_ns,wait_p99_ns,wait_p999_ns,wait_longest_ns,effective_cpus";

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
	static const char *const measures[] = { "rate", "handoff", "wait_p999", "wait_longest" };
	double slice_ms = (double)p->slice / 1e6 * (c->stretch ? c->stretch : 1), ops = r->sum.ops > 0 ? r->sum.ops : 1;

	printf("%s,%u,%ld,%ld,%s,%s,%s,%s,%u,%g", c->name, c->threads, c->inside, c->outside, placement(p, c),
	       name_of(k->subject), name_of(o->base), measures[k->measure], o->rounds, slice_ms);
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
	printf(",%.2f\n", cpus);
}

/* ---------------------------------------------------------------- all of it */

static bool has_subject(const struct comparison *k, const struct result *results)
{
	return k->subject >= 0 && results[k->subject].is_measured;
}

static void note_noise(const struct comparison *k, const struct outcome *o, struct verdicts *v)
{
	if (strcmp(subjects[k->subject].name, "pthread-2") || !o->rounds)
		return;
	if (v->noise_low == 0 || o->median < v->noise_low)
		v->noise_low = o->median;
	if (o->median > v->noise_high)
		v->noise_high = o->median;
}

void report_cell(const struct plan *p, const struct cell *c, const struct result *results, double cpus,
		 struct verdicts *v)
{
	struct comparison all[COMPARISONS_MAX];
	unsigned int n = cell_comparisons(c, p->cpus->n, all);

	if (v->cpus_low == 0 || cpus < v->cpus_low)
		v->cpus_low = cpus;
	if (!p->is_csv)
		print_cell_head(p, c, cpus);
	for (unsigned int i = 0; i < n; i++) {
		struct outcome o;

		if (!has_subject(&all[i], results))
			continue;
		o = judge(&all[i], results, p, cpus);
		count(&o, v);
		note_noise(&all[i], &o, v);
		if (p->is_csv)
			csv_row(p, c, &all[i], &o, &results[all[i].subject], cpus);
		else if (i < subject_count)
			print_subject(c, &all[i], &o, &results[all[i].subject]);
		else
			print_comparison(&all[i], &o);
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
