/* SPDX-License-Identifier: MIT
 *
 * futex_hash.c - what the size of the private futex hash is worth, as "perf bench futex hash" measures it
 *
 * Since Linux 6.17 a process has a hash table of its own for the futexes that only it uses. It began small, and in 2025 this
 * benchmark was the one that showed it: each thread, one on each CPU, asks in a loop to wait on one of its futexes for a value that
 * is not there. It is sent back at once, after its bucket was locked and unlocked, so that nothing is measured but the hash. The
 * fewer buckets, the more threads meet in one.
 *	hash_run.c    the loop      hash_table.c    --table, which sets the numbers of 2025 beside its own
 */
#include "futex_hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "metrics.h"
#include "place.h"
#include "published.h"
#include "watchdog.h"

static const char help[] =
	"Usage: futex_hash [OPTION]...\n"
	"Threads that ask to wait on futexes for a value that is not there: what the process's hash table costs. "
	"After\n"
	"\"perf bench futex hash\"; the summary is worded as there.\n"
	"\n"
	"  -t N            threads, the i-th on the i-th CPU (as many as CPUs may be used)\n"
	"  -f N            futexes of each thread (1024)\n"
	"  -b N            slots of the private hash: 0 is the global hash, else a power of two. Without it, the "
	"kernel's choice\n"
	"  -s, --shared    shared futexes, which use the global hash\n"
	"  -r S            seconds (10; with --table of each run 0.2)\n"
	"  -q, --silent    print the summary alone\n"
	"  --format FORMAT text (default), tsv\n"
	"  --table         all sizes, private and shared, each in a process of its own, beside the numbers of 2025\n"
	"  -i N            rounds of the table (5)\n"
	"  --help, --version\n"
	"\n"
	"Slots are set by nlock_hash_set_slots as far as it goes, which is 8 for each CPU, at least 16; above that by "
	"prctl(2).\n"
	"In the table \"ratio\" is over the global hash in the same round, with the same futexes and threads: median, "
	"least\n"
	"and most of the rounds. The published ratios are those of 80 and of 5 CPUs: the fewer CPUs there are, the "
	"nearer to 1\n"
	"they come.\n"
	"\n"
	"Exit code: 0 done; 1 it failed or did not end; 2 usage; 77 this kernel cannot set the hash like that\n";

static void set_option(struct hash_options *o, int option, const char *arg)
{
	switch (option) {
	case 't':
		o->threads = (unsigned)args_integer('t', arg, 1, HASH_THREADS_MAX);
		break;
	case 'f':
		o->futexes = (unsigned)args_integer('f', arg, 1, 1u << 20);
		break;
	case 'b':
		o->slots = hash_slots_from(arg);
		break;
	case 'r':
		o->seconds = args_number('r', arg, 0.001, 3600);
		break;
	case 'i':
		o->rounds = (unsigned)args_integer('i', arg, 1, 1000);
		break;
	case 's':
		o->shared = true;
		break;
	case 'o':
		o->output = tsv_option(arg);
		break;
	case 'q':
		o->silent = true;
		break;
	}
}

void hash_tsv_head(void)
{
	tsv_machine(stdout, "-");
	tsv_head(stdout, "sort slots set_by threads futexes i t thput thput_min thput_max ratio ratio_min ratio_max");
}

void hash_tsv_row(const struct hash_options *o, enum hash_how how, const double *rates, const double *ratios)
{
	tsv_row(stdout, "futex_hash");
	tsv_text(stdout, o->shared ? "shared" : "private");
	if (o->slots > 0)
		tsv_number(stdout, o->slots);
	else
		tsv_text(stdout, o->slots ? "default" : "global");
	tsv_text(stdout, hash_how_names[how]);
	tsv_number(stdout, o->threads);
	tsv_number(stdout, o->futexes);
	tsv_number(stdout, o->rounds);
	tsv_number(stdout, o->seconds);
	tsv_spread(stdout, rates, o->rounds);
	tsv_spread(stdout, ratios, ratios ? o->rounds : 0);
	tsv_end(stdout);
}

static void print_tsv(const struct hash_options *o, enum hash_how how, const double *rates)
{
	struct hash_options once = *o;
	double mean = sample_mean(rates, o->threads);

	once.rounds = 1;
	hash_tsv_head();
	hash_tsv_row(&once, how, &mean, NULL);
}

static void print_run(const struct hash_options *o, const double *rates, const struct hash_range *where)
{
	double mean = sample_mean(rates, o->threads), error = sample_error(rates, o->threads);

	for (unsigned i = 0; !o->silent && i < o->threads; i++) {
		if (o->futexes == 1)
			printf("[thread %2u] futex: %p", i, where[i].first);
		else
			printf("[thread %2u] futexes: %p ... %p", i, where[i].first, where[i].last);
		printf(" [ %.0f ops/sec ]\n", rates[i]);
	}
	printf("%sAveraged %.0f operations/sec (+- %.2f%%), total secs = %g\n", o->silent ? "" : "\n", mean,
	       isnan(error) ? 0 : ratio(100 * error, mean), o->seconds);
}

static int run_once(const struct hash_options *o, double *rates, struct hash_range *where)
{
	enum hash_how how;
	int err = hash_set(o->slots, &how);

	if (err) {
		fprintf(stderr, "%s: the hash cannot be set to %d slots here: %s\n", program_name, o->slots,
			strerror(err));
		return EXIT_MISSING;
	}
	if (o->output == OUTPUT_TEXT)
		printf("# Running 'futex/hash' benchmark:\n"
		       "Run summary [PID %d]: %u threads, each operating on %u %sfutexes for %g secs.\n%s",
		       getpid(), o->threads, o->futexes, o->shared ? "" : "[private] ", o->seconds,
		       o->silent ? "" : "\n");
	err = hash_run(o, rates, where);
	if (err) {
		fprintf(stderr, "%s: a thread could not go on: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	if (o->output == OUTPUT_TSV) {
		print_tsv(o, how, rates);
		return EXIT_DONE;
	}
	print_run(o, rates, where);
	hash_print(stdout, o->slots, how);
	return EXIT_DONE;
}

static int mode_run(const struct hash_options *o)
{
	double *rates = calloc(o->threads, sizeof *rates);
	struct hash_range *where = calloc(o->threads, sizeof *where);
	int code = EXIT_VIOLATION;

	if (rates && where)
		code = run_once(o, rates, where);
	else
		fprintf(stderr, "%s: no memory\n", program_name);
	free(rates);
	free(where);
	return code;
}

static void check_together(const char *given, bool table)
{
	if (table && given[strspn(given, "TtfriVo")])
		args_error("-%c does not go with --table", given[strspn(given, "TtfriVo")]);
	if (strchr(given, 'o') && strchr(given, 'q'))
		args_error("-q does not go with --format");
	if (!table && strchr(given, 'i'))
		args_error("-i goes with --table only");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "table", no_argument, NULL, 'T' },
		{ "shared", no_argument, NULL, 's' },
		{ "silent", no_argument, NULL, 'q' },
		{ "format", required_argument, NULL, 'o' },
		{ 0 },
	};
	struct hash_options o = { .futexes = 1024, .rounds = 5, .slots = HASH_DEFAULT };
	char given[64] = "";
	bool table = false;
	int c;

	program_name = "futex_hash";
	while ((c = args_next(argc, argv, ":t:f:b:r:i:sq", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			fputs(help, stdout);
			return args_finish(EXIT_DONE);
		}
		table = table || c == 'T';
		set_option(&o, c, optarg);
	}
	check_together(given, table);
	o.threads = o.threads ? o.threads : place_cpus();
	if (o.seconds == 0)
		o.seconds = table ? 0.2 : 10;
	watchdog_install(NULL);
	return args_finish(table ? hash_table(&o) : mode_run(&o));
}
