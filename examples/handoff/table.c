/* SPDX-License-Identifier: MIT
 *
 * table.c - the rows that programs read, tab-separated and JSON: the same columns in the same order
 */
#include <math.h>
#include <string.h>

#include "report.h"
#include "text.h"
#include "tsv.h"

/* The columns that are metrics, in two groups: the second was added after the format was fixed and stands at
 * the end. */
static const struct column {
	const char *name;
	enum metric metric;
} columns[] = {
	{ "wc", M_WC }, { "rc", M_RC }, { "retry", M_RETRY }, { "csw_op", M_CSW }, { "cov", M_COV }, { "jain", M_JAIN },
	{ "ff", M_BUSIER }, { "minmean", M_LEAST }, { "maxmean", M_MOST }, { "runs", M_RUNS }, { "mrun", M_RUN_MEAN },
	{ "medrun", M_RUN_MEDIAN }, { "wrun", M_RUN_WEIGHTED }, { "p1", M_RUN_ONES }, { "p2", M_RUN_TWOS },
	{ "maxrun", M_RUN_LONGEST }, { "chg", M_CHANGE }, { "wait_p50", M_WAIT_50 }, { "wait_p90", M_WAIT_90 },
	{ "wait_p99", M_WAIT_99 }, { "wait_p999", M_WAIT_999 }, { "wait_max", M_WAIT_MAX }, { "bypass_max", M_BYPASS },
}, more_columns[] = {
	{ "lwss", M_WORKING_SET }, { "reacquire", M_REACQUIRE }, { "jain_10n", M_JAIN_10 }, { "jain_100n", M_JAIN_100 },
	{ "jain_1000n", M_JAIN_1000 }, { "grants", M_GRANTS }, { "barges", M_BARGES }, { "sleeps", M_SLEEPS },
	{ "wakes", M_WAKES },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* How a field is written: "name" once for tsv's head, tab and value, or a JSON member. */
enum style { HEAD, TSV, JSON };

static void text_field(FILE *out, enum style style, const char *name, const char *value)
{
	if (style == JSON)
		fprintf(out, ",\"%s\":\"%s\"", name, value);
	else
		tsv_text(out, style == HEAD ? name : value);
}

static void number_field(FILE *out, enum style style, const char *name, double v)
{
	if (style == HEAD)
		tsv_text(out, name);
	else if (style == TSV)
		tsv_number(out, v);
	else
		text_json(out, name, 9, v);
}

static void fields(FILE *out, enum style style, const struct config *cf, const struct summary *s)
{
	const char lock[] = { s->kind->letter, 0 };

	text_field(out, style, "lock", lock);
	text_field(out, style, "strict", !strcmp(s->kind->policy, "strict") ? "yes" : "no");
	number_field(out, style, "c", cf->tasks);
	number_field(out, style, "a", cf->locks);
	text_field(out, style, "place", place_names[cf->place]);
	text_field(out, style, "mode", cf->processes ? "proc" : "thread");
	number_field(out, style, "t", cf->seconds);
	number_field(out, style, "i", cf->runs);
	number_field(out, style, "r", cf->r);
	number_field(out, style, "x", cf->x);
	number_field(out, style, "p", s->kind->spins ? cf->patience : 0);
	number_field(out, style, "thput", s->median[M_THPUT]);
	number_field(out, style, "thput_ci95", s->thput_ci95);
	for (size_t i = 0; i < COUNT(columns); i++)
		number_field(out, style, columns[i].name, s->median[columns[i].metric]);
	text_field(out, style, "guard_ok", s->guard_ok ? "yes" : "no");
	for (size_t i = 0; i < COUNT(more_columns); i++)
		number_field(out, style, more_columns[i].name, s->median[more_columns[i].metric]);
}

void report_tsv_head(FILE *out, const struct config *cf)
{
	const struct summary none = { .kind = lock_kinds };
	char seed[32];

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)cf->seed);
	tsv_machine(out, seed);
	tsv_row(out, "exp");
	fields(out, HEAD, cf, &none);
	tsv_end(out);
}

void report_tsv(FILE *out, const struct config *cf, const struct summary *s)
{
	tsv_row(out, "ulockflex");
	fields(out, TSV, cf, s);
	tsv_end(out);
}

void report_json(FILE *out, const struct config *cf, const struct summary *s)
{
	fprintf(out, "{\"exp\":\"ulockflex\"");
	fields(out, JSON, cf, s);
	fprintf(out, ",\"seed\":%llu}\n", (unsigned long long)cf->seed);
}

static double metric_in(const struct summary *s, const struct column *all, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, name))
			return s->median[all[i].metric];
	return NAN;
}

double report_metric(const struct summary *s, const char *column)
{
	double v = metric_in(s, columns, COUNT(columns), column);

	return isnan(v) ? metric_in(s, more_columns, COUNT(more_columns), column) : v;
}
