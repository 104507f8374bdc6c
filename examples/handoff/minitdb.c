/* SPDX-License-Identifier: MIT
 *
 * minitdb.c - a small database whose users do random operations: what a lock's policy costs in a program that does something
 *
 * After tdbtorture, the stress test of Samba's database, which was the other benchmark of 2002: fair futexes cost it 50 per cent by one
 * report and 30 by another, and the OLS paper of that year compared it with fcntl locks (table 3). One chain is high contention there,
 * 4096 are low, one process is none.
 *	minitdb_database.c    the database      minitdb_selftest.c    is a damaged one found out?
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cpu.h"
#include "kinds.h"
#include "metrics.h"
#include "minitdb.h"
#include "minitdb_selftest.h"
#include "place.h"
#include "published.h"
#include "random.h"
#include "tasks.h"
#include "text.h"
#include "tsv.h"
#include "watchdog.h"

#define WORKERS_MAX 256u
#define CHAINS_MAX  8000u

static const char help_head[] =
	"Usage: minitdb [OPTION]...\n"
	"Workers do random operations on a hash database that they share, until each has done its number of them: a "
	"seventh\n"
	"delete a key, a fifth of the rest store one, the others fetch one, and every thousandth visits all records. A "
	"chain of\n"
	"records has a lock, and so has the list of free ones. After tdbtorture, and the OLS paper of 2002, table 3.\n"
	"\n"
	"  -c N         workers (6)\n"
	"  -n N         operations of each (5000)\n"
	"  -H N         chains (1; low contention was 4096)\n"
	"  -k N         letters of a key, at most, from 1 to 3: 26, 702 or 18278 keys, of which about half are in use "
	"(2)\n"
	"  -i N         runs (3)\n"
	"  -L LIST      locks, by letter or name, comma separated (t,f,h,c,p)\n"
	"  -M MODE      workers are: thread (default), proc\n"
	"  -A PLACE     they run on: rr (default), compact, spread, node, none\n"
	"  -S SEED      of the operations (1)\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  -T           self-test: damage the database in each way that there is, which must be found out\n"
	"  --help, --version\n"
	"\n"
	"Columns: seconds until all are done; operations a second, all workers together; that over lock c's; per cent "
	"of\n"
	"requests for a lock that did not succeed at once; context switches an operation. Medians of the runs. After "
	"each run the\n"
	"database is verified: each record in its chain and whole, none lost, none in two places, as many as there "
	"should be.\n"
	"\n"
	"Locks:\n";

static const char help_tail[] =
	"\n"
	"Exit code: 0 done; 1 the database was damaged, or it did not end; 2 usage; 77 a lock is not to be had here\n";

struct options {
	unsigned workers, operations, chains, letters, runs, kind_count;
	bool processes;
	enum place place;
	enum output output;
	uint64_t seed;
	const struct lock_kind *kinds[KINDS_MAX];
};

struct bed {
	const struct options *options;
	struct gate gate;
	struct database db;
};

struct worker {
	_Alignas(LINE) struct bed *bed;
	struct user user;
	unsigned number;
	uint64_t random, switches;
	int64_t begin, end; /* when it was let go, and when it was done */
	int error;
};

struct parts {
	struct bed *bed;
	struct worker *workers;
	struct task *tasks;
	struct chain *chains;
	struct record *records;
	bool *seen;
};

/* Of one lock, a value of each run. */
struct results {
	int error; /* errno value: the lock is not to be had here */
	bool intact;
	double seconds[RUNS_MAX], thput[RUNS_MAX], wc[RUNS_MAX], switches[RUNS_MAX];
};

/* ------------------------------------------------------------------ what they do */

static void operate(struct worker *w)
{
	struct database *db = &w->bed->db;
	uint32_t key = database_draw(w->bed->options->letters, &w->random);

	if (random_next(&w->random) % 7 == 0)
		database_delete(db, &w->user, key);
	else if (random_next(&w->random) % 5 == 0)
		database_store(db, &w->user, key, random_next(&w->random));
	else
		database_fetch(db, &w->user, key);
}

static void worker_body(void *of)
{
	struct worker *w = of;
	struct bed *b = w->bed;
	uint64_t switches;

	w->error = place_task(b->options->place, w->number);
	gate_pass(&b->gate);
	if (w->error)
		return;
	switches = context_switches();
	w->begin = now_ns();
	for (unsigned i = 1; i <= b->options->operations; i++) {
		operate(w);
		if (i % 1000 == 0)
			database_traverse(&b->db, &w->user);
	}
	w->end = now_ns();
	w->switches = context_switches() - switches;
}

/* So that the number of records hardly drifts: a key is deleted with every 7th operation on it, and stored with every 5th of the
 * rest, so 6 of 11 are there in the long run. By nobody's lock: the workers have not started. */
static uint64_t fill(struct database *db, uint64_t seed)
{
	uint64_t random = random_start(seed, 0, WORKERS_MAX);
	struct user u = { .kind = lock_kind_find("e", 1) };

	for (uint32_t key = 0; key < db->keys; key++) {
		uint64_t data = random_next(&random);

		if (random_next(&random) % 11 < 6)
			database_store(db, &u, key, data);
	}
	return u.stored;
}

/* ------------------------------------------------------------------ one run */

static struct ticket_slot *lay_out(struct arena *a, const struct options *o, const struct lock_kind *kind,
				   struct parts *p)
{
	unsigned keys = database_keys(o->letters);

	p->bed = arena_carve(a, sizeof *p->bed);
	p->workers = arena_carve(a, o->workers * sizeof *p->workers);
	p->tasks = arena_carve(a, o->workers * sizeof *p->tasks);
	p->chains = arena_carve(a, (o->chains + 1) * sizeof *p->chains);
	p->records = arena_carve(a, keys * sizeof *p->records);
	p->seen = arena_carve(a, 2 * keys * sizeof *p->seen);
	return cells_carve_slots(a, o->chains + 1, kind, o->workers);
}

/* Ten times as long as it takes on a slow machine, whatever the lock: a tenth of a millisecond an operation, a microsecond a
 * record that a walk passes. */
static double patience_with(const struct options *o)
{
	double records = database_keys(o->letters);

	return 60 + o->workers * (double)o->operations *
			    (1e-3 + 1e-5 * records / o->chains + 1e-8 * (records + 100.0 * o->chains));
}

static void let_run(struct parts *p, const struct options *o)
{
	if (gate_init(&p->bed->gate, o->workers, o->processes) != 0)
		watchdog_give_up();
	watchdog_arm(patience_with(o), "a run");
	tasks_start(p->tasks, o->workers, o->processes);
	gate_go(&p->bed->gate);
	if (tasks_join(p->tasks, o->workers, o->processes) != 0)
		p->workers[0].error = EIO;
	watchdog_disarm();
	gate_fini(&p->bed->gate);
}

/* From the first that began to the last that was done: when the gate opens, this thread may be the last to get a CPU. */
static double seconds_of(const struct parts *p, const struct options *o)
{
	int64_t begin = p->workers[0].begin, end = p->workers[0].end;

	for (unsigned i = 1; i < o->workers; i++) {
		begin = p->workers[i].begin < begin ? p->workers[i].begin : begin;
		end = p->workers[i].end > end ? p->workers[i].end : end;
	}
	return (double)(end - begin) / 1e9;
}

/* The sum of the guards is that of the turns. */
static bool guards_are_whole(const struct parts *p, const struct options *o, uint64_t asked)
{
	uint64_t sections = 0;

	for (unsigned i = 0; i <= o->chains; i++) {
		struct guard *g = &p->chains[i].cell.guard;

		if (guard_get(&g->entered) != guard_get(&g->left))
			return false;
		sections += guard_get(&g->left);
	}
	return sections == asked;
}

static bool is_intact(const struct parts *p, const struct options *o, uint64_t records, uint64_t asked,
		      uint64_t violations)
{
	const char *wrong = database_verify(&p->bed->db, records, p->seen);

	if (!wrong && violations)
		wrong = "a user met another in a section, or read damaged data";
	if (!wrong && !guards_are_whole(p, o, asked))
		wrong = "a section was lost";
	if (wrong)
		fprintf(stderr, "%s: lock %c: %s\n", program_name, p->workers[0].user.kind->letter, wrong);
	return !wrong;
}

static int collect(struct parts *p, const struct options *o, struct results *r, unsigned run, uint64_t records,
		   uint64_t asked)
{
	double operations = (double)o->workers * o->operations, turns = 0, failed = 0, switches = 0;
	uint64_t violations = 0;
	int err = 0;

	for (unsigned i = 0; i < o->workers; i++) {
		const struct worker *w = &p->workers[i];

		turns += (double)w->user.tally.asked;
		failed += (double)w->user.tally.failed;
		switches += (double)w->switches;
		violations += w->user.violations;
		asked += w->user.tally.asked;
		records += w->user.stored - w->user.deleted;
		err = w->error ? w->error : err;
	}
	if (err)
		return err;
	r->seconds[run] = seconds_of(p, o);
	r->thput[run] = ratio(operations, r->seconds[run]);
	r->wc[run] = ratio(100 * failed, turns);
	r->switches[run] = ratio(switches, operations);
	r->intact = is_intact(p, o, records, asked, violations) && r->intact;
	return 0;
}

/* The locks of cells that do not lie side by side, all or none. */
static int init_locks(struct parts *p, const struct options *o, const struct lock_kind *kind, struct ticket_slot *slots)
{
	struct lock_setup setup = { .shared = o->processes, .tasks = o->workers };

	for (unsigned i = 0; i <= o->chains; i++) {
		int err;

		setup.slots = slots ? slots + (size_t)i * ticket_slots(setup.tasks) : NULL;
		err = cells_init(&p->chains[i].cell, 1, kind, &setup);
		if (!err)
			continue;
		while (i--)
			cells_fini(&p->chains[i].cell, 1, kind);
		return err;
	}
	return 0;
}

static int run_with_locks(struct parts *p, const struct options *o, const struct lock_kind *kind, unsigned run,
			  struct results *r)
{
	uint64_t records, asked = 0;

	database_init(&p->bed->db, database_keys(o->letters), o->chains, p->chains, p->records);
	records = fill(&p->bed->db, o->seed);
	for (unsigned i = 0; i <= o->chains; i++)
		asked += guard_get(&p->chains[i].cell.guard.left);
	p->bed->options = o;
	for (unsigned i = 0; i < o->workers; i++) {
		p->workers[i] = (struct worker){ .bed = p->bed, .number = i, .random = random_start(o->seed, run, i) };
		p->workers[i].user.kind = kind;
		p->tasks[i] = (struct task){ .body = worker_body, .of = &p->workers[i] };
	}
	let_run(p, o);
	return collect(p, o, r, run, records, asked);
}

/* 0, an errno value, or the negative of the one with which the lock refused to be made. */
static int run_once(const struct options *o, const struct lock_kind *kind, unsigned run, struct results *r)
{
	struct arena arena = { NULL, 0, 0 };
	struct ticket_slot *slots;
	struct parts p;
	int err;

	lay_out(&arena, o, kind, &p);
	if (!arena_map(&arena, o->processes))
		return errno;
	slots = lay_out(&arena, o, kind, &p);
	err = -init_locks(&p, o, kind, slots);
	if (!err) {
		err = run_with_locks(&p, o, kind, run, r);
		for (unsigned i = 0; i <= o->chains; i++)
			cells_fini(&p.chains[i].cell, 1, kind);
	}
	arena_unmap(&arena);
	return err;
}

/* ------------------------------------------------------------------ all of them */

/* Interleaved. A lock that cannot be made is left out from then on. */
static int measure(const struct options *o, struct results *r)
{
	for (unsigned k = 0; k < o->kind_count; k++)
		r[k] = (struct results){ .intact = true };
	for (unsigned run = 0; run < o->runs; run++)
		for (unsigned k = 0; k < o->kind_count; k++) {
			int err = r[k].error ? 0 : run_once(o, o->kinds[k], run, &r[k]);

			if (err < 0 && run == 0)
				r[k].error = -err;
			else if (err)
				return abs(err);
		}
	return 0;
}

/* Throughput over that of lock c, run by run. */
static double over_c(const struct options *o, const struct results *r, unsigned k)
{
	double ratios[RUNS_MAX];

	for (unsigned c = 0; c < o->kind_count; c++) {
		if (o->kinds[c]->letter != 'c' || r[c].error)
			continue;
		for (unsigned run = 0; run < o->runs; run++)
			ratios[run] = ratio(r[k].thput[run], r[c].thput[run]);
		return sample_median(ratios, o->runs);
	}
	return NAN;
}

static void print_row(const struct options *o, const struct results *r, unsigned k)
{
	printf(" %c %-7s", o->kinds[k]->letter, o->kinds[k]->policy);
	text_number(stdout, 9, 3, sample_median(r[k].seconds, o->runs));
	text_number(stdout, 9, 0, sample_median(r[k].thput, o->runs));
	text_number(stdout, 6, 2, over_c(o, r, k));
	text_number(stdout, 6, 2, sample_median(r[k].wc, o->runs));
	text_number(stdout, 6, 3, sample_median(r[k].switches, o->runs));
	printf("  %s\n", r[k].intact ? "yes" : "NO");
}

/* The others of table 3 over its futexes. */
static void print_published(void)
{
	const struct torture2002 *futex = &torture2002[2];

	printf("\nPublished, of tdbtorture: fair over unfair %.2f (6 March 2002), %.2f (9 March 2002). Seconds over "
	       "those with "
	       "futexes\n"
	       "(OLS 2002, table 3), one chain, 4096 chains, one process:\n",
	       TORTURE_MARCH_6, TORTURE_MARCH_9);
	for (const struct torture2002 *t = torture2002; t < futex; t++)
		printf("  %-14s %6.2f %6.2f %6.2f\n", t->lock, ratio(t->high, futex->high), ratio(t->low, futex->low),
		       ratio(t->none, futex->none));
}

static void print_text(const struct options *o, const struct results *r)
{
	text_machine(stdout, -1);
	printf(", %u %s, %u operations each, %u chain%s, %u keys, %u runs, placed %s, seed %llu\n", o->workers,
	       o->processes ? "processes" : "threads", o->operations, o->chains, o->chains == 1 ? "" : "s",
	       database_keys(o->letters), o->runs, place_names[o->place], (unsigned long long)o->seed);
	printf(" L policy    seconds     ops/s over c     WC csw/op  intact\n");
	for (unsigned k = 0; k < o->kind_count; k++)
		if (!r[k].error)
			print_row(o, r, k);
	print_published();
}

static void tsv_result(const struct options *o, const struct lock_kind *kind, const struct results *r)
{
	tsv_row(stdout, "minitdb");
	tsv_letter(stdout, kind->letter);
	tsv_yes(stdout, !strcmp(kind->policy, "strict"));
	tsv_number(stdout, o->workers);
	tsv_text(stdout, o->processes ? "proc" : "thread");
	tsv_text(stdout, place_names[o->place]);
	tsv_number(stdout, o->chains);
	tsv_number(stdout, database_keys(o->letters));
	tsv_number(stdout, o->operations);
	tsv_number(stdout, o->runs);
	tsv_number(stdout, sample_median(r->seconds, o->runs));
	tsv_number(stdout, sample_median(r->thput, o->runs));
	tsv_number(stdout, sample_median(r->wc, o->runs));
	tsv_number(stdout, sample_median(r->switches, o->runs));
	tsv_yes(stdout, r->intact);
	tsv_end(stdout);
}

static void print_tsv(const struct options *o, const struct results *r)
{
	char seed[32];

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
	tsv_machine(stdout, seed);
	tsv_head(stdout, "lock strict c mode place chains keys operations i seconds thput wc csw_op intact");
	for (unsigned k = 0; k < o->kind_count; k++)
		if (!r[k].error)
			tsv_result(o, o->kinds[k], &r[k]);
}

/* What is wrong with a database was said when it was found. */
static int complaints(const struct options *o, const struct results *r)
{
	int code = EXIT_DONE;

	for (unsigned k = 0; k < o->kind_count; k++) {
		if (r[k].error) {
			fprintf(stderr, "%s: lock %c cannot be had here: %s\n", program_name, o->kinds[k]->letter,
				strerror(r[k].error));
			code = code == EXIT_DONE ? EXIT_MISSING : code;
		}
		if (!r[k].intact)
			code = EXIT_VIOLATION;
	}
	return code;
}

static int run_all(const struct options *o)
{
	static struct results results[KINDS_MAX];
	int err = measure(o, results);

	if (err) {
		fprintf(stderr, "%s: a run failed: %s\n", program_name, strerror(err));
		return EXIT_VIOLATION;
	}
	if (o->output == OUTPUT_TSV)
		print_tsv(o, results);
	else
		print_text(o, results);
	return complaints(o, results);
}

/* ------------------------------------------------------------------ the command line */

static void set_number(struct options *o, int option, const char *arg)
{
	switch (option) {
	case 'c':
		o->workers = (unsigned)args_integer('c', arg, 1, WORKERS_MAX);
		break;
	case 'n':
		o->operations = (unsigned)args_integer('n', arg, 1, 100000000);
		break;
	case 'H':
		o->chains = (unsigned)args_integer('H', arg, 1, CHAINS_MAX);
		break;
	case 'k':
		o->letters = (unsigned)args_integer('k', arg, 1, 3);
		break;
	}
}

static void set_option(struct options *o, int option, const char *arg)
{
	const struct args_common common = {
		.runs = &o->runs,
		.seed = &o->seed,
		.processes = &o->processes,
		.place = &o->place,
		.output = &o->output,
		.kinds = o->kinds,
		.kind_count = &o->kind_count,
		.fits = kind_is_plain,
	};

	if (!args_common(&common, option, arg))
		set_number(o, option, arg);
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
		{ 0 },
	};
	static struct options o = {
		.workers = 6, .operations = 5000, .chains = 1, .letters = 2, .runs = 3, .place = PLACE_RR, .seed = 1
	};
	char given[64] = "";
	int c;

	program_name = "minitdb";
	o.kind_count = kinds_from("t,f,h,c,p", o.kinds, kind_is_plain);
	while ((c = args_next(argc, argv, ":c:n:H:k:i:L:M:A:S:f:T", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			print_help();
			return args_finish(EXIT_DONE);
		}
		set_option(&o, c, optarg);
	}
	if (strchr(given, 'T') && strlen(given) > 1)
		args_error("-T stands alone");
	watchdog_install(locks_cleanup);
	return args_finish(strchr(given, 'T') ? database_selftest() : run_all(&o));
}
