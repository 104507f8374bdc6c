/* SPDX-License-Identifier: MIT
 *
 * tsv.c - see tsv.h
 */
#include "tsv.h"

#include <math.h>
#include <sys/utsname.h>

#include "args.h"
#include "metrics.h"
#include "place.h"

enum output tsv_option(const char *arg)
{
	static const char *const names[] = { "text", "tsv", NULL };

	return (enum output)args_word('f', arg, names);
}

void tsv_machine(FILE *out, const char *seed)
{
	struct utsname u = { .nodename = "-", .release = "-" };

	uname(&u);
	fprintf(out, "# nl-handoff v1 host %s kernel %s cpus %u nodes %u seed %s\n", u.nodename, u.release,
		place_cpus(), place_nodes(), seed);
}

void tsv_head(FILE *out, const char *columns)
{
	fputs("exp\t", out);
	for (; *columns; columns++)
		putc(*columns == ' ' ? '\t' : *columns, out);
	tsv_end(out);
}

void tsv_row(FILE *out, const char *table)
{
	fputs(table, out);
}

void tsv_text(FILE *out, const char *value)
{
	fprintf(out, "\t%s", value);
}

void tsv_letter(FILE *out, char value)
{
	fprintf(out, "\t%c", value);
}

void tsv_number(FILE *out, double value)
{
	if (isnan(value))
		tsv_text(out, "-");
	else
		fprintf(out, "\t%.9g", value);
}

void tsv_yes(FILE *out, bool value)
{
	tsv_text(out, value ? "yes" : "no");
}

void tsv_spread(FILE *out, const double *v, size_t n)
{
	tsv_number(out, sample_median(v, n));
	tsv_number(out, sample_min(v, n));
	tsv_number(out, sample_max(v, n));
}

void tsv_end(FILE *out)
{
	putc('\n', out);
}
