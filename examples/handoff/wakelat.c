/* SPDX-License-Identifier: MIT
 *
 * wakelat.c - how long it takes to wake a thread, and how many can be woken: after Chris Mason's schbench
 *
 * Message threads hand out work to workers, which sleep until they get some. Measured are the time from the post to the worker's
 * running, that of a request, and requests a second. In 2025 two of its command lines were run beside the hash benchmark of
 * futex_hash.c: they saw nothing of what that had made of the private hash, since hardly two threads meet in a bucket here.
 *	wake_run.c    the threads      point.c    where they sleep: a futex, or nlock's condition variable or semaphore
 */
#include "wakelat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "hash_set.h"
#include "place.h"
#include "published.h"
#include "text.h"
#include "watchdog.h"

static const char help[] =
	"Usage: wakelat [OPTION]...\n"
	"How long it takes to wake a thread, and how many can be woken. After Chris Mason's schbench.\n"
	"\n"
	"  -m N       message threads (1)\n"
	"  -t N       workers of each (as many as CPUs may be used)\n"
	"  -r S       seconds (30)                          -w S       seconds before them that do not count (1)\n"
	"  -i S       seconds from one \"current rps\" to the next (10)\n"
	"  -s US      microseconds that each request sleeps (100)\n"
	"  -n N       multiplications of two matrices in each request, after that (5); 0: wake-ups and sleeps alone\n"
	"  -F KB      size of each worker's three matrices (256)\n"
	"  -L         do not lock the CPU while multiplying. Without -L, whoever comes to a CPU whose last worker has "
	"not\n"
	"             finished waits for it\n"
	"  -M auto    message thread i runs on the i-th CPU, the workers on the rest, if there is one\n"
	"  -P POINT   workers sleep on: futex (default), as in schbench; cond, an nlock_cond_t; sem, an nlock_sem_t\n"
	"  -b N       slots of the process's futex hash: 0 is the global hash, else a power of two\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --help, --version\n"
	"\n"
	"The two command lines of 2025, which took this program's ancestor five seconds each:\n"
	"  wakelat -t 64 -r 5 -i 5\n"
	"  wakelat -L -m 4 -M auto -t 64 -n 0 -r 5 -i 5\n"
	"\n"
	"Rates in the percentiles are of tenths of an interval.\n"
	"\n"
	"Exit code: 0 done; 1 it failed or did not end; 2 usage; 77 this kernel cannot set the hash like that\n";

static const char *const message_places[] = { "auto", NULL };

static bool set_count(struct wake_options *o, int option, const char *arg)
{
	switch (option) {
	case 'm':
		o->messages = (unsigned)args_integer('m', arg, 1, 256);
		return true;
	case 't':
		o->workers = (unsigned)args_integer('t', arg, 1, 1024);
		return true;
	case 'n':
		o->operations = (unsigned)args_integer('n', arg, 0, 1000000);
		return true;
	case 'F':
		o->footprint = 1024 * (size_t)args_integer('F', arg, 1, 1u << 20);
		return true;
	case 's':
		o->sleep_ns = 1000 * (int64_t)args_integer('s', arg, 0, 1000000);
		return true;
	}
	return false;
}

static void set_option(struct wake_options *o, int option, const char *arg)
{
	if (set_count(o, option, arg))
		return;
	switch (option) {
	case 'r':
		o->seconds = args_number('r', arg, 0.001, 3600);
		break;
	case 'w':
		o->warmup = args_number('w', arg, 0, 3600);
		break;
	case 'i':
		o->interval = args_number('i', arg, 0.001, 3600);
		break;
	case 'L':
		o->no_cpu_locks = true;
		break;
	case 'M':
		o->pin = args_word('M', arg, message_places) == 0;
		break;
	case 'P':
		o->kind = (enum point_kind)args_word('P', arg, point_names);
		break;
	case 'f':
		o->output = tsv_option(arg);
		break;
	case 'b':
		o->slots = hash_slots_from(arg);
		break;
	}
}

static void print_latencies(const char *what, const struct wake_options *o, const struct wait_hist *h)
{
	static const double quantiles[] = { 50, 90, 99, 99.9 };

	printf("%s Latencies percentiles (usec) runtime %g (s) (%llu total samples)\n", what, o->seconds,
	       (unsigned long long)wait_count(h));
	for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
		printf("\t%s%5.1fth:", quantiles[i] == 99 ? "* " : "  ", quantiles[i]);
		text_number(stdout, 0, 1, wait_quantile(h, quantiles[i] / 100) / 1000);
		printf("\n");
	}
	if (wait_count(h))
		printf("\t  min=%.1f, max=%.1f\n", wait_least(h) / 1000, (double)h->max / 1000);
	else
		printf("\t  min=-, max=-\n");
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest rate that so many per cent of them do not exceed. */
static double rate_at(const struct wake_results *r, unsigned per_cent)
{
	unsigned below = (r->rate_count * per_cent + 99) / 100;

	return r->rates[below ? below - 1 : 0];
}

static void print_rates(const struct wake_options *o, const struct wake_results *r)
{
	printf("RPS percentiles (requests) runtime %g (s) (%u total samples)\n", o->seconds, r->rate_count);
	printf("\t   20.0th: %.0f\n", rate_at(r, 20));
	printf("\t*  50.0th: %.0f\n", rate_at(r, 50));
	printf("\t   90.0th: %.0f\n", rate_at(r, 90));
	printf("\t  min=%.0f, max=%.0f\n", r->rates[0], r->rates[r->rate_count - 1]);
}

static void tsv_latencies(const struct wait_hist *h)
{
	static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999, 1 };

	for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++)
		tsv_number(stdout, wait_quantile(h, quantiles[i]) / 1000);
}

static void print_tsv(const struct wake_options *o, const struct wake_results *r)
{
	tsv_machine(stdout, "-");
	tsv_head(stdout, "point m threads pinned cpu_locks operations sleep t hash wake_p50 wake_p90 wake_p99 "
			 "wake_p999 wake_max "
			 "req_p50 req_p90 req_p99 req_p999 req_max rps_p20 rps_p50 rps_p90 rps");
	tsv_row(stdout, "wakelat");
	tsv_text(stdout, point_names[o->kind]);
	tsv_number(stdout, o->messages);
	tsv_number(stdout, o->workers);
	tsv_yes(stdout, o->pin);
	tsv_yes(stdout, !o->no_cpu_locks);
	tsv_number(stdout, o->operations);
	tsv_number(stdout, (double)o->sleep_ns / 1000);
	tsv_number(stdout, o->seconds);
	tsv_number(stdout, o->slots == HASH_DEFAULT ? NAN : o->slots);
	tsv_latencies(&r->wakeups);
	tsv_latencies(&r->requests);
	tsv_number(stdout, rate_at(r, 20));
	tsv_number(stdout, rate_at(r, 50));
	tsv_number(stdout, rate_at(r, 90));
	tsv_number(stdout, r->average);
	tsv_end(stdout);
}

static void print_results(const struct wake_options *o, const struct wake_results *r, enum hash_how how)
{
	print_latencies("Wakeup", o, &r->wakeups);
	print_latencies("Request", o, &r->requests);
	print_rates(o, r);
	printf("average rps: %.2f\n", r->average);
	hash_print(stdout, o->slots, how);
	for (size_t i = 0; i < 2; i++)
		printf("published: private over global hash %.3f (%s, 2025, 5 CPUs)\n",
		       ratio(schbench2025[i].series, schbench2025[i].base), schbench2025[i].what);
}

static void print_head(const struct wake_options *o)
{
	text_machine(stdout, -1);
	printf(", %u message thread%s, %u worker%s each, sleeping on %s\n", o->messages, o->messages == 1 ? "" : "s",
	       o->workers, o->workers == 1 ? "" : "s", point_names[o->kind]);
}

static int run(const struct wake_options *o)
{
	static struct wake_results results;
	enum hash_how how;
	int err = hash_set(o->slots, &how);

	if (err) {
		fprintf(stderr, "%s: the hash cannot be set to %d slots here: %s\n", program_name, o->slots,
			strerror(err));
		return EXIT_MISSING;
	}
	if (o->output == OUTPUT_TEXT)
		print_head(o);
	err = wake_run(o, &results);
	if (err) {
		fprintf(stderr, "%s: the run failed: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	qsort(results.rates, results.rate_count, sizeof results.rates[0], by_size);
	if (o->output == OUTPUT_TSV)
		print_tsv(o, &results);
	else
		print_results(o, &results, how);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' },
		{ 0 },
	};
	struct wake_options o = {
		.messages = 1,
		.operations = 5,
		.footprint = 256 * 1024,
		.sleep_ns = 100000,
		.seconds = 30,
		.warmup = 1,
		.interval = 10,
		.slots = HASH_DEFAULT,
	};
	char given[64] = "";
	int c;

	program_name = "wakelat";
	while ((c = args_next(argc, argv, ":m:t:r:w:i:s:n:F:LM:P:b:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			fputs(help, stdout);
			return args_finish(EXIT_DONE);
		}
		set_option(&o, c, optarg);
	}
	if (!o.operations && strchr(given, 'F'))
		args_error("-F has no effect with -n 0");
	o.workers = o.workers ? o.workers : place_cpus();
	watchdog_install(NULL);
	return args_finish(run(&o));
}
