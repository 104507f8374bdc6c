/* SPDX-License-Identifier: MIT
 *
 * report.c - see report.h
 */
#include "report.h"

#include <math.h>
#include <string.h>

#include "published.h"
#include "text.h"

void report_machine(FILE *out, const struct config *cf, double effective)
{
	text_machine(out, effective);
	fprintf(out, ", %s, placed %s, calibrated at %llu, seed %llu\n", cf->processes ? "processes" : "threads",
		place_names[cf->place], (unsigned long long)cf->loops, (unsigned long long)cf->seed);
}

/* ------------------------------------------------------------------ classic */

void report_classic_head(FILE *out)
{
	fprintf(out, "   c    a    t    i L    p    r    x     WC     RC       R      COV      ThPut    mRun     wRun");
	fprintf(out, "\n");
}

void report_classic(FILE *out, const struct config *cf, const struct summary *s)
{
	const double *m = s->median;

	fprintf(out, "%4u %4u %4g %4u %c %4g %4g %4g", cf->tasks, cf->locks, cf->seconds, cf->runs, s->kind->letter,
		s->kind->spins ? cf->patience : 0, cf->r, cf->x);
	text_number(out, 6, 2, m[M_WC]);
	text_number(out, 6, 2, isnan(m[M_RC]) ? 0 : m[M_RC]);
	text_number(out, 7, 2, m[M_RETRY]);
	text_number(out, 8, 6, m[M_COV]);
	text_number(out, 10, 0, m[M_THPUT]);
	text_number(out, 7, 1, m[M_RUN_MEAN]);
	text_number(out, 8, 0, m[M_RUN_WEIGHTED]);
	fprintf(out, "%s\n", s->guard_ok ? "" : "  MUTUAL EXCLUSION VIOLATED");
}

static void handoff_row(FILE *out, const struct summary *s)
{
	const double *m = s->median;

	fprintf(out, " %c %-7s", s->kind->letter, s->kind->policy);
	text_number(out, 5, 1, ratio(100 * s->thput_ci95, m[M_THPUT]));
	text_number(out, 6, 3, m[M_CSW]);
	text_number(out, 6, 4, m[M_CHANGE]);
	text_number(out, 5, 3, m[M_RUN_ONES]);
	text_number(out, 5, 3, m[M_RUN_TWOS]);
	text_number(out, 8, 0, m[M_RUN_LONGEST]);
	text_number(out, 6, 1, m[M_WORKING_SET]);
	text_number(out, 4, 0, m[M_REACQUIRE]);
	text_number(out, 4, 2, m[M_JAIN_10]);
	text_number(out, 4, 2, m[M_JAIN_100]);
	text_number(out, 4, 2, m[M_JAIN_1000]);
	text_number(out, 4, 2, m[M_JAIN]);
	text_number(out, 4, 2, m[M_BUSIER]);
	fprintf(out, "\n");
}

static void wait_rows(FILE *out, const struct config *cf, const struct summary *s)
{
	fprintf(out,
		"\nWaits in microseconds, and the most later arrivals that were served before an earlier one. A task "
		"draws\n"
		"its arrival number just before it asks; if it loses its CPU in between it counts as overtaken.\n");
	fprintf(out, " L       p50       p90       p99     p99.9       max    bypass\n");
	for (unsigned k = 0; k < cf->kind_count; k++) {
		if (s[k].error)
			continue;
		fprintf(out, " %c", s[k].kind->letter);
		for (int m = M_WAIT_50; m <= M_WAIT_MAX; m++)
			text_number(out, 9, 2, s[k].median[m]);
		text_number(out, 9, 0, s[k].median[M_BYPASS]);
		fprintf(out, "\n");
	}
}

static void stats_rows(FILE *out, const struct config *cf, const struct summary *s)
{
	fprintf(out, "\nWhat nlock did, per iteration\n L    grants    barges    sleeps     wakes\n");
	for (unsigned k = 0; k < cf->kind_count; k++) {
		if (s[k].error || isnan(s[k].median[M_GRANTS]))
			continue;
		fprintf(out, " %c", s[k].kind->letter);
		for (int m = M_GRANTS; m <= M_WAKES; m++)
			text_number(out, 9, 4, s[k].median[m]);
		fprintf(out, "\n");
	}
}

void report_handoff(FILE *out, const struct config *cf, const struct summary *s)
{
	fprintf(out,
		"\nHand-off: context switches an iteration; chg is 1 if the lock changes hands every time; runs of\n"
		"exactly 1 and 2; owners in 1000 acquisitions; median distance between a task's turns; Jain's index\n"
		"in windows of 10, 100, 1000 acquisitions a task and over all (1: equal); share of the busier half\n");
	fprintf(out, " L policy  ci95%% csw/op    chg  P(1)  P(2)  longest owners dist  J10 J100  J1k  all half\n");
	for (unsigned k = 0; k < cf->kind_count; k++)
		if (!s[k].error)
			handoff_row(out, &s[k]);
	if (cf->waits)
		wait_rows(out, cf, s);
	for (unsigned k = 0; k < cf->kind_count; k++) {
		if (s[k].error || isnan(s[k].median[M_GRANTS]))
			continue;
		stats_rows(out, cf, s);
		return;
	}
}

/* ------------------------------------------------------------------ published */

#define FAIR_NOTE "6 March 2002, FUTEX_UP_FAIR / FUTEX_UP, c=3 r=0 x=0"

/* In 2002 there was one lock. */
static size_t found_for(const struct config *cf, char lock, struct published_ratio *found)
{
	if (cf->locks != 1)
		return 0;
	return published_ratios(lock, (int)cf->tasks, cf->r, cf->x, found, PUBLISHED_MAX);
}

/* The rows of one lock: what was found here, and each answer of 2002. */
static void published_rows(FILE *out, const char *prefix, const struct config *cf, const struct summary *s, char lock)
{
	struct published_ratio found[PUBLISHED_MAX];
	size_t n = found_for(cf, lock, found);

	fprintf(out, "%s %c/c ", prefix, lock);
	text_number(out, 7, 3, bench_ratio(cf, s, lock, 'c'));
	fprintf(out, "   ");
	if (!n)
		fprintf(out, "   none for c=%u a=%u r=%g x=%g", cf->tasks, cf->locks, cf->r, cf->x);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s %.3f (%s, %s)", i ? ";" : "", found[i].value, found[i].source, found[i].pair);
	fprintf(out, "\n");
}

void report_published(FILE *out, const char *prefix, const struct config *cf, const struct summary *s)
{
	struct ols_range ols = ols_fair_range();

	fprintf(out, "%s Throughput over that of lock c%s\n", prefix,
		bench_find(cf, s, 'c') ? "" : " (not measured: it is not in the list)");
	fprintf(out, "%s          here    published\n", prefix);
	for (unsigned k = 0; k < cf->kind_count; k++)
		if (s[k].kind->letter != 'c' && !s[k].error)
			published_rows(out, prefix, cf, s, s[k].kind->letter);
	fprintf(out, "%s FIFO/CA", prefix);
	text_number(out, 6, 3, bench_ratio(cf, s, 't', 'c'));
	fprintf(out, " strict,");
	text_number(out, 0, 3, bench_ratio(cf, s, 'f', 'c'));
	fprintf(out, " nlock's; published %.3f (%s)\n", published_fair_ratio(), FAIR_NOTE);
	fprintf(out, "%s         and %.3f to %.3f, median %.2f (OLS 2002, the %zu cells with 3 tasks or more)\n",
		prefix, ols.least, ols.most, ols.median, ols.cells);
}

void report_published_json(FILE *out, const struct config *cf, const struct summary *s)
{
	struct published_ratio found[PUBLISHED_MAX];
	struct ols_range ols = ols_fair_range();

	for (unsigned k = 0; k < cf->kind_count; k++) {
		char lock = s[k].kind->letter;
		size_t n = found_for(cf, lock, found);

		for (size_t i = 0; i < n && !s[k].error; i++) {
			fprintf(out, "{\"published\":\"%s\",\"pair\":\"%s\"", found[i].source, found[i].pair);
			fprintf(out, ",\"lock\":\"%c\"", lock);
			text_json(out, "ratio", 6, found[i].value);
			text_json(out, "here", 6, bench_ratio(cf, s, lock, 'c'));
			fprintf(out, "}\n");
		}
	}
	fprintf(out, "{\"published\":\"%s\"", FAIR_NOTE);
	text_json(out, "ratio", 6, published_fair_ratio());
	text_json(out, "ols_least", 6, ols.least);
	text_json(out, "ols_most", 6, ols.most);
	text_json(out, "here_strict", 6, bench_ratio(cf, s, 't', 'c'));
	text_json(out, "here_fifo", 6, bench_ratio(cf, s, 'f', 'c'));
	fprintf(out, "}\n");
}
