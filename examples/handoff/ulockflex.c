/* SPDX-License-Identifier: MIT
 *
 * ulockflex.c - fair against unfair hand-off, as Hubertus Franke measured it in 2002
 *
 * The question of March 2002: when a lock is released and somebody waits, who gets it? Passed on in order of
 * arrival it is fair, but each turn then costs a context switch, and the tasks queue up behind one another for
 * good (a convoy). Left free it goes to whoever runs, which is many times faster, and a waiter may wait for
 * long. "Let the app decide", wrote Franke.
 *
 * Start with `ulockflex --demo`. Where to read on:
 *	options.c     the command line
 *	locks.c       the locks, one table; ticket.c the strict FIFO lock that the others are held against
 *	bench.h       the loop; worker.c is what each task does, bench.c repeats it, guard.h catches broken locks
 *	metrics.c     what is computed from it; strip.c draws it; report.c and table.c print it
 *	published.c   the numbers of 2002; traces.c its histories
 *	verdict.c     the claims that are made about it, tried on this machine
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cpu.h"
#include "modes.h"
#include "report.h"
#include "strip.h"
#include "watchdog.h"

static void print_rows(const struct options *o, const struct summary *s)
{
	for (unsigned k = 0; k < o->config.kind_count; k++) {
		if (s[k].error)
			continue;
		if (o->format == FORMAT_CLASSIC)
			report_classic(stdout, &o->config, &s[k]);
		else if (o->format == FORMAT_TSV)
			report_tsv(stdout, &o->config, &s[k]);
		else
			report_json(stdout, &o->config, &s[k]);
	}
}

static void print_strips(const struct options *o, const struct summary *s)
{
	printf("\nWho had the lock: 100 acquisitions in a row, and 100 times as many (who had most, . if nobody)\n");
	for (unsigned k = 0; k < o->config.kind_count; k++)
		if (!s[k].error && s[k].kind->letter != 'e')
			strip_print(stdout, s[k].kind->letter, &s[k].history, strip_has_colour(stdout));
}

static void print_all(const struct options *o, const struct summary *s)
{
	const struct config *cf = &o->config;

	if (o->format == FORMAT_TSV && !o->quiet)
		report_tsv_head(stdout, cf);
	if (o->format == FORMAT_CLASSIC && !o->quiet) {
		report_machine(stdout, cf, -1);
		report_classic_head(stdout);
	}
	print_rows(o, s);
	if (o->quiet)
		return;
	if (o->format == FORMAT_TSV)
		report_published(stdout, "#", cf, s);
	if (o->format == FORMAT_JSON)
		report_published_json(stdout, cf, s);
	if (o->format != FORMAT_CLASSIC)
		return;
	report_handoff(stdout, cf, s);
	print_strips(o, s);
	printf("\n");
	report_published(stdout, "", cf, s);
}

/* 0, or -1 with errno set. */
static int print_histories(FILE *f, const struct config *cf, const struct summary *s)
{
	for (unsigned k = 0; k < cf->kind_count; k++)
		if (!s[k].error)
			history_print(f, cf, &s[k]);
	if (f == stdout) /* main looks at it */
		return 0;
	if (ferror(f)) {
		fclose(f);
		errno = EIO;
		return -1;
	}
	return fclose(f);
}

/* NULL if none is asked for. Opened before anything is measured, so that a bad name costs no time. */
static FILE *open_history(const struct options *o, int *failed)
{
	FILE *f;

	*failed = 0;
	if (!o->history_file)
		return NULL;
	f = strcmp(o->history_file, "-") ? fopen(o->history_file, "we") : stdout;
	if (f)
		return f;
	fprintf(stderr, "ulockflex: cannot write '%s': %s\n", o->history_file, strerror(errno));
	*failed = 1;
	return NULL;
}

static int mode_run(const struct options *o)
{
	static struct summary summaries[KINDS_MAX];
	int failed, err;
	FILE *history = open_history(o, &failed);

	if (failed)
		return EXIT_USAGE;
	err = bench_all(&o->config, summaries);
	if (err) {
		fprintf(stderr, "ulockflex: a run failed: %s\n", strerror(err));
		return EXIT_VIOLATION;
	}
	print_all(o, summaries);
	if (history && print_histories(history, &o->config, summaries) != 0) {
		fprintf(stderr, "ulockflex: cannot write '%s': %s\n", o->history_file, strerror(errno));
		return EXIT_VIOLATION;
	}
	bench_free(summaries, o->config.kind_count);
	return bench_complaints(&o->config, summaries);
}

int main(int argc, char **argv)
{
	static struct options o;
	int code;

	program_name = "ulockflex";
	options_parse(&o, argc, argv);
	watchdog_install(locks_cleanup);
	if (!o.config.loops)
		o.config.loops = busy_calibrate();
	o.config.progress = !o.quiet && isatty(STDERR_FILENO);
	if (o.action == DO_SELFTEST)
		code = mode_selftest(&o);
	else if (o.action == DO_CLAIMS)
		code = mode_claims(&o);
	else if (o.action == DO_DEMO)
		code = mode_demo(&o);
	else
		code = mode_run(&o);
	return args_finish(code);
}
