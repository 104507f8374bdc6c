/* SPDX-License-Identifier: MIT
 *
 * convoy_print.c - the rows of convoy, and its strips
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "convoy.h"
#include "metrics.h"
#include "text.h"

#define STRIP_WIDTH 100u

/* ------------------------------------------------------------------ for people */

static void print_row(const struct convoy_summary *s)
{
	printf(" %c %-7s", s->kind->letter, s->kind->policy);
	text_number(stdout, 8, 1, s->before.thput / 1000);
	text_number(stdout, 6, 1, s->before.wc);
	text_number(stdout, 9, 1, s->after.thput / 1000);
	text_number(stdout, 6, 1, s->after.wc);
	text_number(stdout, 6, 2, s->kept);
	text_number(stdout, 8, 0, s->recover);
	printf("%s\n", s->guard_ok ? "" : "  MUTUAL EXCLUSION VIOLATED");
}

static char tenths(double part)
{
	return isnan(part) ? ' ' : part >= 0.9 ? '9' : (char)('0' + (int)(10 * part));
}

/* The bins of one character: `width` of them from `first`. */
static struct bin column(const struct convoy_options *o, const struct convoy_run *run, unsigned first, unsigned width)
{
	struct bin sum = { 0, 0 };

	for (unsigned i = first; i < first + width && i < convoy_bins(o); i++) {
		sum.turns += run->bins[i].turns;
		sum.failed += run->bins[i].failed;
	}
	return sum;
}

/* Throughput in tenths of what it was before the stall. The last column may have fewer bins than the others. */
static char turns_of(const struct convoy_options *o, const struct convoy_run *run, unsigned first, unsigned width)
{
	unsigned bins = convoy_bins(o) - first < width ? convoy_bins(o) - first : width;
	double most = run->before.thput * o->bin_ms / 1000 * bins;

	return tenths(ratio((double)column(o, run, first, width).turns, most));
}

static char waits_of(const struct convoy_options *o, const struct convoy_run *run, unsigned first, unsigned width)
{
	struct bin sum = column(o, run, first, width);

	return tenths(ratio((double)sum.failed, (double)sum.turns));
}

static char stall_of(const struct convoy_options *o, const struct convoy_run *run, unsigned first, unsigned width)
{
	(void)o;
	return first <= run->to && first + width > run->from ? '^' : ' ';
}

static void print_line(const char *what, const struct convoy_options *o, const struct convoy_run *run,
		       char (*of)(const struct convoy_options *, const struct convoy_run *, unsigned, unsigned))
{
	unsigned bins = convoy_bins(o), width = (bins + STRIP_WIDTH - 1) / STRIP_WIDTH;
	char line[STRIP_WIDTH + 1] = "";
	size_t end = 0;

	for (unsigned first = 0; first < bins; first += width) {
		line[first / width] = of(o, run, first, width);
		if (line[first / width] != ' ')
			end = first / width + 1;
	}
	line[end] = 0;
	printf("%s %s\n", what, line);
}

static void print_strip(const struct convoy_options *o, const struct convoy_summary *s)
{
	printf(" %c ", s->kind->letter);
	if (!s->last.has_stall || !(s->last.before.thput > 0)) {
		printf("there was no stall in this run, or nothing before it\n");
		return;
	}
	print_line("done   ", o, &s->last, turns_of);
	print_line("   waited ", o, &s->last, waits_of);
	print_line("   stall  ", o, &s->last, stall_of);
}

static void print_text(const struct convoy_options *o, const struct convoy_summary *s)
{
	printf("            before the stall   after it             recovers\n");
	printf(" L policy    turns/ms wait%%   turns/ms wait%%  kept  in bins\n");
	for (unsigned k = 0; k < o->kind_count; k++)
		if (!s[k].error)
			print_row(&s[k]);
	printf("\nThe last run, %g ms a character: turns in tenths of those before the stall, and of ten turns how "
	       "many had "
	       "to wait\n",
	       o->bin_ms * ((convoy_bins(o) + STRIP_WIDTH - 1) / STRIP_WIDTH));
	for (unsigned k = 0; k < o->kind_count; k++)
		if (!s[k].error)
			print_strip(o, &s[k]);
}

/* ------------------------------------------------------------------ for programs */

static void tsv_summary(const struct convoy_options *o, const struct convoy_summary *s)
{
	tsv_row(stdout, "convoy");
	tsv_letter(stdout, s->kind->letter);
	tsv_yes(stdout, !strcmp(s->kind->policy, "strict"));
	tsv_number(stdout, o->threads);
	tsv_text(stdout, place_names[o->place]);
	tsv_number(stdout, o->runs);
	tsv_number(stdout, o->r);
	tsv_number(stdout, o->x);
	tsv_number(stdout, 1000 * o->stall_ms);
	tsv_number(stdout, 1000 * o->bin_ms);
	tsv_number(stdout, s->before.thput);
	tsv_number(stdout, s->before.wc);
	tsv_number(stdout, s->after.thput);
	tsv_number(stdout, s->after.wc);
	tsv_number(stdout, s->recover);
	tsv_yes(stdout, s->guard_ok);
	tsv_end(stdout);
}

static void tsv_bin(const struct convoy_options *o, const struct convoy_summary *s, unsigned i)
{
	const struct convoy_run *run = &s->last;
	const struct bin *bin = &run->bins[i];
	const char *phase = !run->has_stall || i < run->from ? "before" : i <= run->to ? "stall" : "after";

	tsv_row(stdout, "convoy_bin");
	tsv_letter(stdout, s->kind->letter);
	tsv_number(stdout, o->runs);
	tsv_number(stdout, i);
	tsv_number(stdout, (double)bin->turns * 1000 / o->bin_ms);
	tsv_number(stdout, ratio(100 * (double)bin->failed, (double)bin->turns));
	tsv_text(stdout, phase);
	tsv_end(stdout);
}

static void print_tsv(const struct convoy_options *o, const struct convoy_summary *s)
{
	tsv_head(stdout,
		 "lock strict c place i r x stall bin thput_before wc_before thput_after wc_after recover guard_ok");
	for (unsigned k = 0; k < o->kind_count; k++)
		if (!s[k].error)
			tsv_summary(o, &s[k]);
	tsv_head(stdout, "lock run bin thput wc phase");
	for (unsigned k = 0; k < o->kind_count; k++)
		for (unsigned i = 0; !s[k].error && i < convoy_bins(o); i++)
			tsv_bin(o, &s[k], i);
}

void convoy_print(const struct convoy_options *o, const struct convoy_summary *s)
{
	if (o->output == OUTPUT_TSV)
		print_tsv(o, s);
	else
		print_text(o, s);
	fflush(stdout);
}

int convoy_complaints(const struct convoy_options *o, const struct convoy_summary *s)
{
	int code = EXIT_DONE;

	for (unsigned k = 0; k < o->kind_count; k++) {
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
