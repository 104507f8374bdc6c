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
#include "cpu.h"
#include "guard.h"
#include "locks.h"
#include "metrics.h"
#include "place.h"
#include "tasks.h"
#include "text.h"
#include "watchdog.h"

#define HOGS_MAX  1024u
#define KINDS_MAX 32u

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
	enum place place;
	const struct lock_kind *kinds[KINDS_MAX];
};

struct bed {
	const struct options *options;
	const struct lock_kind *kind;
	struct gate gate;
	int64_t end; /* of the hogs, in any case; set before the gate opens to them */
	_Alignas(128) struct lock lock;
	_Alignas(128) struct guard guard;
};

struct hog {
	_Alignas(128) struct bed *bed;
	unsigned number;
	struct tally tally;
	uint64_t done, violations;
	int error;
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

	b->kind->lock(&b->lock, &h->tally);
	section = guard_enter(&b->guard, &h->violations);
	hold(b->options);
	guard_leave(&b->guard, section, &h->violations);
	h->violations += b->kind->unlock(&b->lock) != 0;
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
		b->kind->lock(&b->lock, &tally);
		waits[n++] = (double)(now_ns() - asked) / 1e6;
		section = guard_enter(&b->guard, violations);
		guard_leave(&b->guard, section, violations);
		*violations += b->kind->unlock(&b->lock) != 0;
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
	fflush(stdout);
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
	if (!violations && guard_is_whole(&b->guard, (unsigned long)(*turns + n)))
		return err ? EXIT_VIOLATION : EXIT_DONE;
	fprintf(stderr, "%s: lock %c let two in at once\n", program_name, b->kind->letter);
	return EXIT_VIOLATION;
}

static int measure(struct bed *b, struct hog *hogs, struct task *tasks, double *waits)
{
	const struct options *o = b->options;
	uint64_t violations = 0, turns;
	int64_t start;
	double took;
	unsigned n;
	int code;

	for (unsigned i = 0; i < o->hogs; i++) {
		hogs[i] = (struct hog){ .bed = b, .number = i + 1 };
		tasks[i] = (struct task){ .body = hog_body, .of = &hogs[i] };
	}
	if (gate_init(&b->gate, o->hogs, false) != 0)
		watchdog_give_up();
	watchdog_arm(10 * o->seconds + 30, "a run");
	b->end = INT64_MAX;
	tasks_start(tasks, o->hogs, false);
	b->end = now_ns() + (int64_t)(o->seconds * 1e9);
	start = gate_go(&b->gate);
	n = victim(b, waits, &violations);
	took = gate_stop(&b->gate, start);
	tasks_join(tasks, o->hogs, false);
	watchdog_disarm();
	gate_fini(&b->gate);
	code = judge(b, hogs, n, violations, &turns);
	print_row(b, waits, n, turns, took);
	return code;
}

static int run_kind(const struct options *o, const struct lock_kind *kind)
{
	static struct bed bed;
	struct lock_setup setup = { .tasks = o->hogs + 1 };
	struct ticket_slot *slots = aligned_alloc(128, ticket_slots(setup.tasks) * sizeof *slots);
	struct hog *hogs = aligned_alloc(128, o->hogs * sizeof *hogs);
	struct task *tasks = calloc(o->hogs, sizeof *tasks);
	double *waits = calloc(o->rounds, sizeof *waits);
	int err = ENOMEM, code = EXIT_MISSING;

	memset(&bed, 0, sizeof bed);
	bed.options = o;
	bed.kind = kind;
	setup.slots = slots;
	if (slots && hogs && tasks && waits)
		err = kind->init(&bed.lock, kind, &setup);
	if (err) {
		fprintf(stderr, "%s: lock %c cannot be had here: %s\n", program_name, kind->letter, strerror(err));
	} else {
		code = measure(&bed, hogs, tasks, waits);
		kind->fini(&bed.lock);
	}
	free(slots);
	free(hogs);
	free(tasks);
	free(waits);
	return code;
}

static int run_all(const struct options *o)
{
	int worst = EXIT_DONE;

	place_task(o->place, 0); /* the victim is this thread; where it cannot be placed it stays */
	text_machine(stdout, -1);
	printf(", %u hog%s that %s for %g us with the lock; the victim sleeps %g us\n", o->hogs,
	       o->hogs == 1 ? "" : "s", o->spins ? "spin" : "sleep", o->hold_us, o->sleep_us);
	printf(" L policy   times   mean ms   median     worst worst/turn   hogs/s\n");
	for (unsigned k = 0; k < o->kind_count; k++) {
		int code = run_kind(o, o->kinds[k]);

		if (code == EXIT_VIOLATION || worst == EXIT_DONE)
			worst = code;
	}
	return worst;
}

/* ------------------------------------------------------------------ the command line */

/* Without a lock there is nothing to wait for, and a spinning one has patience, which is no question here. */
static const struct lock_kind *kind_of(const char *word, size_t length)
{
	const struct lock_kind *kind = lock_kind_find(word, length);

	if (!kind || kind->letter == 'e' || kind->spins)
		args_error("-L does not know the lock '%.*s'", (int)length, word);
	return kind;
}

static void lock_list(struct options *o, const char *list)
{
	o->kind_count = 0;
	for (;;) {
		size_t length = strcspn(list, ",");

		if (o->kind_count == KINDS_MAX)
			args_error("-L wants at most %u locks", KINDS_MAX);
		o->kinds[o->kind_count++] = kind_of(list, length);
		if (!list[length])
			return;
		list += length + 1;
	}
}

static void set_option(struct options *o, int option, const char *arg)
{
	static const char *const hows[] = { "sleep", "spin", NULL };

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
	case 't':
		o->seconds = args_number('t', arg, 0.001, 3600);
		break;
	case 'L':
		lock_list(o, arg);
		break;
	case 'A':
		o->place = (enum place)args_word('A', arg, place_names);
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
	for (const struct lock_kind *k = lock_kinds; k->letter; k++)
		if (k->letter != 'e' && !k->spins)
			printf("  %c  %-13s %-8s %s\n", k->letter, k->name, k->policy, k->says);
	fputs(help_tail, stdout);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "skew", required_argument, NULL, 'S' },
		{ 0 },
	};
	static struct options o = { .hold_us = -1, .sleep_us = -1, .seconds = 6, .place = PLACE_RR };
	char given[64] = "";
	int c;

	program_name = "starve";
	lock_list(&o, "t,f,h,c,p");
	while ((c = args_next(argc, argv, ":c:i:x:r:t:L:A:", longs, given)) != -1) {
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
