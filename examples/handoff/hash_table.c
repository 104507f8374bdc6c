/* SPDX-License-Identifier: MIT
 *
 * hash_table.c - futex_hash --table
 *
 * Every cell runs in a process of its own, since a hash that was asked for stays, and the global one for good. The cells take
 * turns, round after round, and each is divided by the cell of the global hash in the same round.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "futex_hash.h"
#include "metrics.h"
#include "place.h"
#include "published.h"
#include "text.h"
#include "watchdog.h"

#define CELLS_MAX  32
#define ROUNDS_MAX 1000

/* The last two above 256 are those of the published numbers. */
static const int slots_of_rows[] = { HASH_DEFAULT, 0, 2, 16, 256, 512, 1024, 8192 };
#define ROWS (sizeof slots_of_rows / sizeof slots_of_rows[0])

/* What a cell's process says of one run. */
struct answer {
	int err;
	enum hash_how how;
	double rate; /* of one thread, the mean over them */
};

struct cell {
	struct hash_options options;
	struct cell *base; /* the global hash, all else equal */
	struct answer last;
	double rates[ROUNDS_MAX];
};

static struct cell cells[CELLS_MAX];
static unsigned cell_count;

static struct cell *find(unsigned threads, bool shared, int slots)
{
	for (unsigned i = 0; i < cell_count; i++) {
		const struct hash_options *o = &cells[i].options;

		if (o->threads == threads && o->shared == shared && o->slots == slots)
			return &cells[i];
	}
	return NULL;
}

static void add(const struct hash_options *o, unsigned threads, bool shared, int slots)
{
	struct cell *c = find(threads, shared, slots);

	if (c || cell_count == CELLS_MAX)
		return;
	c = &cells[cell_count++];
	c->options = *o;
	c->options.threads = threads;
	c->options.shared = shared;
	c->options.slots = slots;
}

/* As many of so many threads as there were of so many CPUs then; at least one. */
static unsigned as_many_of(unsigned threads, const struct hash2025 *then)
{
	unsigned n = threads * (unsigned)then->threads / (unsigned)then->cpus;

	return n ? n : 1;
}

static void plan(const struct hash_options *o)
{
	for (size_t i = 0; i < ROWS; i++)
		add(o, o->threads, false, slots_of_rows[i]);
	for (size_t i = 0; i < ROWS; i++)
		add(o, o->threads, true, slots_of_rows[i]);
	for (size_t i = 0; i < futex_hash2025_count; i++) {
		if (!futex_hash2025[i].cpus)
			continue;
		add(o, as_many_of(o->threads, &futex_hash2025[i]), false, HASH_DEFAULT);
		add(o, as_many_of(o->threads, &futex_hash2025[i]), false, 0);
	}
	for (unsigned i = 0; i < cell_count; i++)
		cells[i].base = find(cells[i].options.threads, cells[i].options.shared, 0);
}

/* ------------------------------------------------------------------ measuring */

static void measure(const struct hash_options *o, struct answer *a)
{
	double *rates = calloc(o->threads, sizeof *rates);

	a->err = rates ? hash_set(o->slots, &a->how) : ENOMEM;
	if (!a->err)
		a->err = hash_run(o, rates, NULL);
	a->rate = a->err ? NAN : sample_mean(rates, o->threads);
	free(rates);
}

__attribute__((noreturn)) static void cell_process(const struct hash_options *o, int fd, int parent)
{
	struct answer a = { 0 };

	watchdog_child(parent);
	measure(o, &a);
	_exit(write(fd, &a, sizeof a) == sizeof a ? 0 : 1);
}

/* 0 or an errno value; what the process itself found stands in the answer. */
static int run_cell(struct cell *c)
{
	int ends[2], parent = getpid(), status;
	struct answer a;
	pid_t child;
	bool whole;

	if (pipe(ends) != 0)
		return errno;
	fflush(stdout);
	child = fork();
	if (child < 0)
		return errno;
	if (child == 0)
		cell_process(&c->options, ends[1], parent);
	close(ends[1]);
	whole = read(ends[0], &a, sizeof a) == sizeof a;
	close(ends[0]);
	if (waitpid(child, &status, 0) < 0 || status || !whole)
		return EIO;
	c->last = a;
	return 0;
}

static int run_rounds(const struct hash_options *o)
{
	for (unsigned r = 0; r < o->rounds; r++)
		for (unsigned i = 0; i < cell_count; i++) {
			int err = run_cell(&cells[i]);

			if (err)
				return err;
			cells[i].rates[r] = cells[i].last.rate;
		}
	return 0;
}

/* ------------------------------------------------------------------ printing */

static unsigned ratios_of(const struct cell *c, double *ratios)
{
	for (unsigned r = 0; r < c->options.rounds; r++)
		ratios[r] = ratio(c->rates[r], c->base->rates[r]);
	return c->options.rounds;
}

static double ratio_of(const struct hash2025 *then)
{
	return ratio(then->series, then->base);
}

/* What was published for this row: with as many threads as CPUs, or on the five cores. */
static const struct hash2025 *published_for(const struct cell *c)
{
	for (size_t i = 0; i < futex_hash2025_count; i++) {
		const struct hash2025 *then = &futex_hash2025[i];

		if (then->slots == c->options.slots && then->shared == c->options.shared &&
		    (!then->cpus || then->shared))
			return then;
	}
	return NULL;
}

static void print_slots(int slots)
{
	if (slots > 0)
		printf(" %7d", slots);
	else
		printf(" %7s", slots ? "default" : "global");
}

static void print_row(const struct cell *c)
{
	const struct hash2025 *then = published_for(c);
	double ratios[ROUNDS_MAX];
	unsigned n = ratios_of(c, ratios);

	printf("%-7s", c->options.shared ? "shared" : "private");
	print_slots(c->options.slots);
	if (c->last.err) {
		printf(" %-6s not here: %s\n", hash_how_names[c->last.how], strerror(c->last.err));
		return;
	}
	printf(" %-6s", hash_how_names[c->last.how]);
	text_number(stdout, 10, 0, sample_median(c->rates, n));
	text_number(stdout, 7, 3, sample_median(ratios, n));
	text_number(stdout, 7, 3, sample_min(ratios, n));
	text_number(stdout, 7, 3, sample_max(ratios, n));
	if (then)
		printf("   %.3f  %s", ratio_of(then), then->what);
	printf("\n");
}

static void print_threads(const struct hash_options *o)
{
	printf("\nprivate futexes, the kernel's own choice over the global hash, by threads\n");
	printf("threads   ratio   least    most   published\n");
	for (size_t i = 0; i < futex_hash2025_count; i++) {
		const struct hash2025 *then = &futex_hash2025[i];
		double ratios[ROUNDS_MAX];
		const struct cell *c;
		unsigned n;

		if (!then->cpus || then->shared)
			continue;
		c = find(as_many_of(o->threads, then), false, HASH_DEFAULT);
		n = ratios_of(c, ratios);
		printf("%7u", c->options.threads);
		text_number(stdout, 7, 3, sample_median(ratios, n));
		text_number(stdout, 7, 3, sample_min(ratios, n));
		text_number(stdout, 7, 3, sample_max(ratios, n));
		printf("   %.3f  %s\n", ratio_of(then), then->what);
	}
}

static void print_tsv(void)
{
	double ratios[ROUNDS_MAX];

	hash_tsv_head();
	for (unsigned i = 0; i < cell_count; i++) {
		ratios_of(&cells[i], ratios);
		hash_tsv_row(&cells[i].options, cells[i].last.how, cells[i].rates, ratios);
	}
}

static void print_text(const struct hash_options *o, double effective)
{
	text_machine(stdout, effective);
	printf(", %u threads, each operating on %u futexes, %u rounds of %g s\n", o->threads, o->futexes, o->rounds,
	       o->seconds);
	printf("futexes   slots set by      ops/s   ratio   least    most   published\n");
	for (unsigned i = 0; i < cell_count; i++)
		if (cells[i].options.threads == o->threads)
			print_row(&cells[i]);
	print_threads(o);
	if (place_is_busy(effective))
		printf("This machine is busy: read nothing into the ratios.\n");
}

int hash_table(const struct hash_options *o)
{
	double effective = place_effective_cpus();
	int err;

	plan(o);
	watchdog_arm(cell_count * o->rounds * (10 * o->seconds + 5) + 30, "the table");
	err = run_rounds(o);
	watchdog_disarm();
	if (err) {
		fprintf(stderr, "%s: a process failed: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	for (unsigned i = 0; i < cell_count; i++)
		if (cells[i].last.err && cells[i].options.slots <= 0) {
			fprintf(stderr, "%s: no table here: %s\n", program_name, strerror(cells[i].last.err));
			return EXIT_MISSING;
		}
	if (o->output == OUTPUT_TSV)
		print_tsv();
	else
		print_text(o, effective);
	return EXIT_DONE;
}
