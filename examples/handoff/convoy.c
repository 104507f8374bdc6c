/* SPDX-License-Identifier: MIT
 *
 * convoy.c - one owner of a lock stalls once: who recovers? After Blasgen, Gray, Mitoma and Price, The Convoy Phenomenon (1979)
 *
 * While an owner sleeps, everybody else comes to a halt behind it. When it releases, a queue that hands the lock over in order
 * makes each of them wait for a wake-up, and each is back in the queue before its turn has come again: the queue stays, though what caused it
 * is over. A lock that goes free instead lets its owner go on without waiting.
 *	convoy_run.c    the threads      convoy_print.c    rows and strips      convoy_claim.c    the claims
 */
#include "convoy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpu.h"
#include "text.h"
#include "watchdog.h"

#define THREADS_MAX 256u

static const char help_head[] =
	"Usage: convoy [OPTION]...\n"
	"Makes one owner of a lock sleep once, and shows how long the others suffer from it.\n"
	"\n"
	"Each thread: work r microseconds, lock, work x microseconds, unlock. A quarter of the run is before the "
	"stall.\n"
	"\n"
	"  -c N         threads (8)\n"
	"  -r US        mean time without the lock (100)      -x US   mean time with it (1)\n"
	"  -t S         seconds of each run (0.4)             -i N    runs (5)\n"
	"  -b MS        milliseconds of a bin, in which turns are counted (5)\n"
	"  -s, --stall MS   milliseconds that the owner sleeps (5)\n"
	"  -L LIST      locks, by letter or name, comma separated (t,f,h,c)\n"
	"  -A PLACE     threads run on: rr (default), compact, spread, node, none\n"
	"  -R N         rounds of busy work in a microsecond; without it they are measured\n"
	"  -S SEED      of the random times (1)\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --claim      try claim E13: locks t, h and c; r is doubled until t has no convoy before the stall\n"
	"  --sweep      claim E14: for how large an r does a convoy stay? The lock is t, or the only one of -L\n"
	"  --help, --version\n"
	"\n"
	"Columns: turns a millisecond and how many per cent of them had to wait, before the stall and after it to the "
	"end of\n"
	"the run; the throughput that was kept; after how many bins it was out of the convoy: at 0.8 of the throughput "
	"and at "
	"most a\n"
	"fifth of a bin's requests waiting (-: not in this run). Medians of the runs.\n"
	"\n"
	"Locks:\n";

static const char help_tail[] =
	"\n"
	"Exit code: 0 done; 1 mutual exclusion was violated, or it did not end; 2 usage; 77 a lock is "
	"not to be had here\n";

enum { OPT_CLAIM = 'C', OPT_SWEEP = 'W' };

static void set_option(struct convoy_options *o, int option, const char *arg)
{
	const struct args_common common = {
		&o->r, &o->x,     &o->seconds, &o->runs, &o->loops,      &o->seed,
		NULL,  &o->place, &o->output,  o->kinds, &o->kind_count, kind_is_plain,
	};

	if (args_common(&common, option, arg))
		return;
	if (option == 'c')
		o->threads = (unsigned)args_integer('c', arg, 2, THREADS_MAX);
	if (option == 'b')
		o->bin_ms = args_number('b', arg, 0.1, 1e6);
	if (option == 's')
		o->stall_ms = args_number('s', arg, 0.1, 1e4);
}

/* Eight bins: some before the stall that are no warm-up, and some after it. */
static void check_together(struct convoy_options *o, const char *given)
{
	bool claim = strchr(given, OPT_CLAIM), sweep = strchr(given, OPT_SWEEP);

	if (o->seconds * 1000 / o->bin_ms > BINS_MAX || convoy_bins(o) < 16)
		args_error("a run must have 16 to %u bins, not %g s of %g ms", BINS_MAX, o->seconds, o->bin_ms);
	if (claim && sweep)
		args_error("--claim does not go with --sweep");
	if (claim && strchr(given, 'L'))
		args_error("-L does not go with --claim");
	if (claim && o->output == OUTPUT_TSV)
		args_error("-f tsv does not go with --claim");
	if (sweep && strchr(given, 'r'))
		args_error("-r does not go with --sweep");
	if (sweep && !strchr(given, 'L'))
		o->kind_count = kinds_from("t", o->kinds, kind_is_plain);
	if (sweep && o->kind_count != 1)
		args_error("--sweep is of one lock");
}

static void print_help(void)
{
	fputs(help_head, stdout);
	kinds_help(kind_is_plain);
	fputs(help_tail, stdout);
}

static void print_head(const struct convoy_options *o, bool sweep)
{
	char seed[32];

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
	if (o->output == OUTPUT_TSV) {
		tsv_machine(stdout, seed);
		return;
	}
	text_machine(stdout, -1);
	printf(", %u threads, ", o->threads);
	if (!sweep)
		printf("r %g us, ", o->r);
	printf("x %g us, one stall of %g ms, %u runs of %g s, placed %s, seed %s\n", o->x, o->stall_ms, o->runs,
	       o->seconds, place_names[o->place], seed);
	fflush(stdout);
}

static int run(struct convoy_options *o, const char *given)
{
	static struct convoy_summary summaries[KINDS_MAX];
	int err;

	print_head(o, strchr(given, OPT_SWEEP));
	if (strchr(given, OPT_CLAIM))
		return convoy_claim(o);
	if (strchr(given, OPT_SWEEP))
		return convoy_sweep(o);
	err = convoy_measure(o, summaries);
	if (err) {
		fprintf(stderr, "%s: a run failed: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	convoy_print(o, summaries);
	return convoy_complaints(o, summaries);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' },
		{ "stall", required_argument, NULL, 's' },
		{ "claim", no_argument, NULL, OPT_CLAIM },
		{ "sweep", no_argument, NULL, OPT_SWEEP },
		{ 0 },
	};
	static struct convoy_options o = { .threads = 8,
					   .runs = 5,
					   .r = 100,
					   .x = 1,
					   .stall_ms = 5,
					   .bin_ms = 5,
					   .seconds = 0.4,
					   .place = PLACE_RR,
					   .seed = 1 };
	char given[64] = "";
	int c;

	program_name = "convoy";
	o.kind_count = kinds_from("t,f,h,c", o.kinds, kind_is_plain);
	while ((c = args_next(argc, argv, ":c:r:x:t:s:i:b:L:A:R:S:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			print_help();
			return args_finish(EXIT_DONE);
		}
		set_option(&o, c, optarg);
	}
	check_together(&o, given);
	watchdog_install(locks_cleanup);
	if (!o.loops)
		o.loops = busy_calibrate();
	return args_finish(run(&o, given));
}
