/* SPDX-License-Identifier: MIT
 *
 * starve.c - how long can one wait for a lock? After Rusty Russell's starve of March 2002, and the lock skew of Go's issue 13086
 *
 * Hogs take the lock, keep it, release it and take it again, without a pause. A victim comes by now and then, asks once, and
 * notes how long that took. In 2002 an hour of tests found nobody starving, until the test was mended.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cell.h"
#include "cpu.h"
#include "kinds.h"
#include "metrics.h"
#include "place.h"
#include "tasks.h"
#include "text.h"
#include "tsv.h"
#include "watchdog.h"

#define HOGS_MAX 1024u

static const char help_head[] =
	"Usage: starve [OPTION]...\n"
	"How long a victim waits for a lock that hogs take again and again. After Rusty Russell's starve of 2002, and\n"
	"with --skew after the lock skew of Go's issue 13086.\n"
	"\n"
	"  -c N         hogs: lock, hold, unlock, without a pause (3; with --skew 1)\n"
	"  -x US        how long they hold it (20000; with --skew 200)\n"
	"  -r US        how long the victim sleeps before it asks again (as long as hogs hold; with --skew 100)\n"
	"  -i N         how often it asks (20; with --skew 200)\n"
	"  -t S         when the hogs stop, if the victim is not done by then (6)\n"
	"  -L LIST      locks, by letter or name, comma separated (t,f,h,c,p)\n"
	"  -A PLACE     threads run on: rr (default), compact, spread, node, none\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --skew HOW   one hog that spends its time in the lock with HOW: sleep, or spin, which is harder on the "
	"victim\n"
	"  --help, --version\n"
	"\n"
	"Columns: times the victim had the lock; its mean, median and worst wait in milliseconds; the worst over hogs "
	"times\n"
	"hold, which no wait for a fair lock exceeds by much; and how often a second the hogs had it.\n"
	"\n"
	"Locks:\n";

static const char help_tail[] = "\n"
				"Exit code: 0 done; 1 mutual exclusion was violated, or it did not end; 2 usage; 77 a "
				"lock is not to be had here\n";

struct options {
	unsigned hogs, rounds, kind_count;
	double hold_us, sleep_us, seconds;
	bool skew, spins;
	enum output output;
	enum place place;
	const struct lock_kind *kinds[KINDS_MAX];
};

struct bed {
	const struct options *options;
	const struct lock_kind *kind;
	struct gate gate;
	int64_t end; /* of the hogs, in any case; set before the gate opens to them */
	struct cell cell;
};

struct hog {
	_Alignas(128) struct bed *bed;
	unsigned number;
	struct tally tally;
	uint64_t done, violations;
	int error;
};

struct parts {
	struct bed *bed;
	struct hog *hogs;
	struct task *tasks;
	double *waits; /* of the victim, ms */
};

/* ------------------------------------------------------------------ hogs and victim */

static void spin_until(int64_t end)
{
	while (now_ns() < end)
		busy_loop(100);
}

/* As Rusty's did, hogs sleep with the lock, unless they are to spin. */
static void hold(const struct options *o)
{
	int64_t end = now_ns() + (int64_t)(o->hold_us * 1000);

	if (o->spins)
		spin_until(end);
	else
		sleep_until(end);
}

static void hog_turn(struct bed *b, struct hog *h)
{
	unsigned long section;

	section = cell_enter(&b->cell, b->kind, &h->tally, &h->violations);
	hold(b->options);
	cell_leave(&b->cell, b->kind, section, &h->violations);
	h->done++;
}

/* At least one turn, so that even the shortest run on the busiest machine has something to show. */
static void hog_body(void *of)
{
	struct hog *h = of;
	struct bed *b = h->bed;

	h->error = place_task(b->options->place, h->number);
	gate_pass(&b->gate);
	if (h->error)
		return;
	do {
		hog_turn(b, h);
	} while (gate_is_open(&b->gate) && now_ns() < b->end);
}

/* Returns how often it had the lock, and notes each wait in ms. Only while there are hogs. */
static unsigned victim(struct bed *b, double *waits, uint64_t *violations)
{
	const struct options *o = b->options;
	struct tally tally = { 0 };
	unsigned n = 0;

	while (n < o->rounds) {
		unsigned long section;
		int64_t asked;

		sleep_until(now_ns() + (int64_t)(o->sleep_us * 1000));
		if (now_ns() >= b->end)
			break;
		asked = now_ns();
		section = cell_enter(&b->cell, b->kind, &tally, violations);
		waits[n++] = (double)(now_ns() - asked) / 1e6;
		cell_leave(&b->cell, b->kind, section, violations);
	}
	return n;
}

/* ------------------------------------------------------------------ one lock */

static void print_row(const struct bed *b, const double *waits, unsigned n, uint64_t turns, double took)
{
	const struct options *o = b->options;
	double worst = sample_max(waits, n);

	printf(" %c %-7s %6u", b->kind->letter, b->kind->policy, n);
	text_number(stdout, 9, 2, sample_mean(waits, n));
	text_number(stdout, 9, 2, sample_median(waits, n));
	text_number(stdout, 9, 2, worst);
	text_number(stdout, 10, 2, ratio(worst, o->hogs * o->hold_us / 1000));
	text_number(stdout, 9, 1, ratio((double)turns, took));
	printf("%s\n", n < o->rounds ? "  not done when the hogs stopped" : "");
}

static void print_tsv(const struct bed *b, const double *waits, unsigned n, uint64_t turns, double took, int code)
{
	const struct options *o = b->options;

	tsv_row(stdout, "starve");
	tsv_letter(stdout, b->kind->letter);
	tsv_yes(stdout, !strcmp(b->kind->policy, "strict"));
	tsv_number(stdout, o->hogs);
	tsv_text(stdout, !o->skew ? "none" : o->spins ? "spin" : "sleep");
	tsv_text(stdout, place_names[o->place]);
	tsv_number(stdout, o->seconds);
	tsv_number(stdout, o->hold_us);
	tsv_number(stdout, o->sleep_us);
	tsv_number(stdout, o->rounds);
	tsv_number(stdout, n);
	tsv_number(stdout, 1000 * sample_mean(waits, n));
	tsv_number(stdout, 1000 * sample_median(waits, n));
	tsv_number(stdout, 1000 * sample_max(waits, n));
	tsv_number(stdout, ratio((double)turns, took));
	tsv_yes(stdout, code == EXIT_DONE);
	tsv_end(stdout);
}

static int judge(struct bed *b, const struct hog *hogs, unsigned n, uint64_t violations, uint64_t *turns)
{
	int err = 0;

	*turns = 0;
	for (unsigned i = 0; i < b->options->hogs; i++) {
		*turns += hogs[i].done;
		violations += hogs[i].violations;
		err = hogs[i].error ? hogs[i].error : err;
	}
	if (err)
		fprintf(stderr, "%s: a hog could not go on: %s\n", program_name, strerror(err));
	if (!violations && guard_is_whole(&b->cell.guard, (unsigned long)(*turns + n)))
		return err ? EXIT_VIOLATION : EXIT_DONE;
	fprintf(stderr, "%s: lock %c let two in at once\n", program_name, b->kind->letter);
	return EXIT_VIOLATION;
}

static int measure(struct parts *parts)
{
	struct bed *b = parts->bed;
	const struct options *o = b->options;
	uint64_t violations = 0, turns;
	int64_t start;
	double took;
	unsigned n;
	int code;

	for (unsigned i = 0; i < o->hogs; i++) {
		parts->hogs[i] = (struct hog){ .bed = b, .number = i + 1 };
		parts->tasks[i] = (struct task){ .body = hog_body, .of = &parts->hogs[i] };
	}
	if (gate_init(&b->gate, o->hogs, false) != 0)
		watchdog_give_up();
	watchdog_arm(10 * o->seconds + 30, "a run");
	b->end = INT64_MAX;
	tasks_start(parts->tasks, o->hogs, false);
	b->end = now_ns() + (int64_t)(o->seconds * 1e9);
	start = gate_go(&b->gate);
	n = victim(b, parts->waits, &violations);
	took = gate_stop(&b->gate, start);
	tasks_join(parts->tasks, o->hogs, false);
	watchdog_disarm();
	gate_fini(&b->gate);
	code = judge(b, parts->hogs, n, violations, &turns);
	if (o->output == OUTPUT_TSV)
		print_tsv(b, parts->waits, n, turns, took, code);
	else
		print_row(b, parts->waits, n, turns, took);
	fflush(stdout);
	return code;
}

/* What a run needs, in the order of its pieces. Returns the slots of a ticket lock. */
static struct ticket_slot *lay_out(struct arena *a, const struct options *o, const struct lock_kind *kind,
				   struct parts *parts)
{
	parts->bed = arena_carve(a, sizeof *parts->bed);
	parts->hogs = arena_carve(a, o->hogs * sizeof *parts->hogs);
	parts->tasks = arena_carve(a, o->hogs * sizeof *parts->tasks);
	parts->waits = arena_carve(a, o->rounds * sizeof *parts->waits);
	return cells_carve_slots(a, 1, kind, o->hogs + 1);
}

static int run_kind(const struct options *o, const struct lock_kind *kind)
{
	struct lock_setup setup = { .tasks = o->hogs + 1 };
	struct arena arena = { NULL, 0, 0 };
	int err, code = EXIT_MISSING;
	struct parts parts;

	lay_out(&arena, o, kind, &parts);
	if (!arena_map(&arena, false)) {
		fprintf(stderr, "%s: no memory: %s\n", program_name, strerror(errno));
		return EXIT_VIOLATION;
	}
	setup.slots = lay_out(&arena, o, kind, &parts);
	parts.bed->options = o;
	parts.bed->kind = kind;
	err = cells_init(&parts.bed->cell, 1, kind, &setup);
	if (err) {
		fprintf(stderr, "%s: lock %c cannot be had here: %s\n", program_name, kind->letter, strerror(err));
	} else {
		code = measure(&parts);
		cells_fini(&parts.bed->cell, 1, kind);
	}
	arena_unmap(&arena);
	return code;
}

static void print_head(const struct options *o)
{
	if (o->output == OUTPUT_TSV) {
		tsv_machine(stdout, "-");
		tsv_head(stdout,
			 "lock strict c skew place t x r rounds done wait_mean wait_p50 wait_max hog_rate guard_ok");
		return;
	}
	text_machine(stdout, -1);
	printf(", %u hog%s that %s for %g us with the lock; the victim sleeps %g us\n", o->hogs,
	       o->hogs == 1 ? "" : "s", o->spins ? "spin" : "sleep", o->hold_us, o->sleep_us);
	printf(" L policy   times   mean ms   median     worst worst/turn   hogs/s\n");
}

static int run_all(const struct options *o)
{
	int worst = EXIT_DONE;

	place_task(o->place, 0); /* the victim is this thread; where it cannot be placed it stays */
	print_head(o);
	for (unsigned k = 0; k < o->kind_count; k++) {
		int code = run_kind(o, o->kinds[k]);

		if (code == EXIT_VIOLATION || worst == EXIT_DONE)
			worst = code;
	}
	return worst;
}

/* ------------------------------------------------------------------ the command line */

static void set_option(struct options *o, int option, const char *arg)
{
	static const char *const hows[] = { "sleep", "spin", NULL };
	const struct args_common common = {
		.seconds = &o->seconds,
		.place = &o->place,
		.output = &o->output,
		.kinds = o->kinds,
		.kind_count = &o->kind_count,
		.fits = kind_is_plain,
	};

	if (args_common(&common, option, arg))
		return;
	switch (option) {
	case 'c':
		o->hogs = (unsigned)args_integer('c', arg, 1, HOGS_MAX);
		break;
	case 'i':
		o->rounds = (unsigned)args_integer('i', arg, 1, 1000000);
		break;
	case 'x':
		o->hold_us = args_number('x', arg, 0, 1e7);
		break;
	case 'r':
		o->sleep_us = args_number('r', arg, 0, 1e7);
		break;
	case 'S':
		o->skew = true;
		o->spins = args_word('S', arg, hows) == 1;
		break;
	}
}

static void fill_in(struct options *o)
{
	if (!o->hogs)
		o->hogs = o->skew ? 1 : 3;
	if (!o->rounds)
		o->rounds = o->skew ? 200 : 20;
	if (o->hold_us < 0)
		o->hold_us = o->skew ? 200 : 20000;
	if (o->sleep_us < 0)
		o->sleep_us = o->skew ? 100 : o->hold_us;
}

static void print_help(void)
{
	fputs(help_head, stdout);
	kinds_help(kind_is_plain);
	fputs(help_tail, stdout);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' },
		{ "skew", required_argument, NULL, 'S' },
		{ 0 },
	};
	static struct options o = { .hold_us = -1, .sleep_us = -1, .seconds = 6, .place = PLACE_RR };
	char given[64] = "";
	int c;

	program_name = "starve";
	o.kind_count = kinds_from("t,f,h,c,p", o.kinds, kind_is_plain);
	while ((c = args_next(argc, argv, ":c:i:x:r:t:L:A:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			print_help();
			return args_finish(EXIT_DONE);
		}
		set_option(&o, c, optarg);
	}
	fill_in(&o);
	watchdog_install(locks_cleanup);
	return args_finish(run_all(&o));
}
