/* SPDX-License-Identifier: MIT
 *
 * rwshare.c - what it is worth that readers share a lock, by the share of requests that are for reading: figure 6 of the OLS paper of 2002
 *
 * The loop is ulockflex's, with one lock. Up to a large share of reads it hardly matters that readers could be in together, since every writer ends it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "bench.h"
#include "cpu.h"
#include "kinds.h"
#include "published.h"
#include "text.h"
#include "tsv.h"
#include "watchdog.h"

static const char help_head[] =
	"Usage: rwshare [OPTION]...\n"
	"Throughput of reader-writer locks by the share of requests that are for reading: 0, 20, 40, 60, 80 and 100 "
	"per\n"
	"cent. After figure 6 of Franke, Russell and Kirkwood, Fuss, Futexes and Furwocks (2002).\n"
	"\n"
	"Each task: work r microseconds, lock for reading or for writing, work x microseconds, unlock, count one.\n"
	"\n"
	"  -c N         tasks (2)\n"
	"  -r US        mean time without the lock (0)      -x US   mean time with it (10)\n"
	"  -t S         seconds of each run (0.2)           -i N    measured runs, after a warm-up (5)\n"
	"  -L LIST      locks, by letter or name, comma separated (s,q,r,w)\n"
	"  -M MODE      tasks are: thread (default), proc\n"
	"  -A PLACE     tasks run on: rr (default), compact, spread, node, none\n"
	"  -R N         rounds of busy work in a microsecond; without it they are measured\n"
	"  -S SEED      of the random times and choices (1)\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --help, --version\n"
	"\n"
	"Rows: iterations a second, all tasks together, medians of the runs; the last row is the one before it over "
	"the\n"
	"first. Beside it is what figure 6 shows for as many tasks, or the next smaller number of them; the paper does "
	"not say\n"
	"with what r and x.\n"
	"\n"
	"Locks:\n";

static const char help_tail[] = "\n"
				"Exit code: 0 done; 1 mutual exclusion was violated, or a run did not end; 2 usage; 77 "
				"a lock is not to be had here\n";

/* Of each share, and in it of each lock. */
struct results {
	struct summary of[FIGURE6_SHARES][KINDS_MAX];
};

static bool kind_shares(const struct lock_kind *kind)
{
	return kind->rdlock;
}

/* ------------------------------------------------------------------ printing */

static double thput(const struct results *r, unsigned share, unsigned k)
{
	return r->of[share][k].error ? NAN : r->of[share][k].median[M_THPUT];
}

static void print_share(const struct config *cf, const struct results *r, unsigned share, const struct figure6 *then)
{
	printf("%7u", figure6_reads[share]);
	for (unsigned k = 0; k < cf->kind_count; k++)
		text_number(stdout, 10, 0, thput(r, share, k));
	printf("  |%10.0f%10.0f\n", then->furwock[share], then->ulocks[share]);
}

static void print_ratios(const struct config *cf, const struct results *r, const struct figure6 *then)
{
	unsigned last = FIGURE6_SHARES - 1;

	printf("  100/0");
	for (unsigned k = 0; k < cf->kind_count; k++)
		text_number(stdout, 10, 2, ratio(thput(r, last, k), thput(r, 0, k)));
	printf("  |%10.2f%10.2f\n", ratio(then->furwock[last], then->furwock[0]),
	       ratio(then->ulocks[last], then->ulocks[0]));
}

static void print_text(const struct config *cf, const struct results *r)
{
	const struct figure6 *then = figure6_near(cf->tasks);

	text_machine(stdout, -1);
	printf(", %u %s, r %g us, x %g us, %u runs of %g s, placed %s, seed %llu\n", cf->tasks,
	       cf->processes ? "processes" : "threads", cf->r, cf->x, cf->runs, cf->seconds, place_names[cf->place],
	       (unsigned long long)cf->seed);
	printf("%*s  | 2002, %u tasks\nreads %%", 7 + 11 * (int)cf->kind_count, "", then->tasks);
	for (unsigned k = 0; k < cf->kind_count; k++)
		printf(" %10s", cf->kinds[k]->name);
	printf("  |%10s%10s\n", "furwock", "ulocks");
	for (unsigned share = 0; share < FIGURE6_SHARES; share++)
		print_share(cf, r, share, then);
	print_ratios(cf, r, then);
}

static void tsv_share(const struct config *cf, const struct summary *s, unsigned reads)
{
	tsv_row(stdout, "rwshare");
	tsv_letter(stdout, s->kind->letter);
	tsv_number(stdout, cf->tasks);
	tsv_text(stdout, place_names[cf->place]);
	tsv_text(stdout, cf->processes ? "proc" : "thread");
	tsv_number(stdout, cf->seconds);
	tsv_number(stdout, cf->runs);
	tsv_number(stdout, cf->r);
	tsv_number(stdout, cf->x);
	tsv_number(stdout, reads);
	tsv_number(stdout, s->median[M_THPUT]);
	tsv_number(stdout, s->thput_ci95);
	tsv_number(stdout, s->median[M_WC]);
	tsv_number(stdout, s->median[M_RC]);
	tsv_yes(stdout, s->guard_ok);
	tsv_end(stdout);
}

static void print_tsv(const struct config *cf, const struct results *r)
{
	char seed[32];

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)cf->seed);
	tsv_machine(stdout, seed);
	tsv_head(stdout, "lock c place mode t i r x reads thput thput_ci95 wc rc guard_ok");
	for (unsigned k = 0; k < cf->kind_count; k++)
		for (unsigned share = 0; share < FIGURE6_SHARES; share++)
			if (!r->of[share][k].error)
				tsv_share(cf, &r->of[share][k], figure6_reads[share]);
}

/* ------------------------------------------------------------------ measuring */

static int measure(struct config *cf, struct results *r)
{
	for (unsigned share = 0; share < FIGURE6_SHARES; share++) {
		int err;

		cf->reads = figure6_reads[share];
		err = bench_all(cf, r->of[share]);
		bench_free(r->of[share], cf->kind_count); /* histories, which nobody looks at here */
		if (err)
			return err;
	}
	return 0;
}

/* A lock that cannot be had cannot be had for any share. */
static int complain(const struct config *cf, const struct results *r)
{
	int worst = EXIT_DONE;

	for (unsigned share = 0; share < FIGURE6_SHARES && worst != EXIT_MISSING; share++) {
		int code = bench_complaints(cf, r->of[share]);

		if (code == EXIT_VIOLATION || worst == EXIT_DONE)
			worst = code;
	}
	return worst;
}

static int run(struct config *cf, enum output output)
{
	static struct results results;
	int err = measure(cf, &results);

	if (err) {
		fprintf(stderr, "%s: a run failed: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	if (output == OUTPUT_TSV)
		print_tsv(cf, &results);
	else
		print_text(cf, &results);
	return complain(cf, &results);
}

/* ------------------------------------------------------------------ the command line */

static void print_help(void)
{
	fputs(help_head, stdout);
	kinds_help(kind_shares);
	fputs(help_tail, stdout);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' },
		{ 0 },
	};
	static struct config cf = {
		.tasks = 2, .locks = 1, .runs = 5, .seconds = 0.2, .x = 10, .place = PLACE_RR, .seed = 1
	};
	enum output output = OUTPUT_TEXT;
	const struct args_common common = {
		&cf.r,         &cf.x,     &cf.seconds, &cf.runs, &cf.loops,      &cf.seed,
		&cf.processes, &cf.place, &output,     cf.kinds, &cf.kind_count, kind_shares,
	};
	char given[64] = "";
	int c;

	program_name = "rwshare";
	cf.kind_count = kinds_from("s,q,r,w", cf.kinds, kind_shares);
	while ((c = args_next(argc, argv, ":c:r:x:t:i:L:M:A:R:S:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			print_help();
			return args_finish(EXIT_DONE);
		}
		if (!args_common(&common, c, optarg))
			cf.tasks = (unsigned)args_integer('c', optarg, 1, TASKS_MAX);
	}
	watchdog_install(locks_cleanup);
	if (!cf.loops)
		cf.loops = busy_calibrate();
	cf.progress = isatty(STDERR_FILENO);
	return args_finish(run(&cf, output));
}
