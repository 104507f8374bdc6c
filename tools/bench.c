/* SPDX-License-Identifier: MIT
 *
 * bench.c - `nlock bench mutex': which cells, which locks, how long
 *
 * This is a measurement, not a test: a missed target is printed and changes no exit code. What does change it is a lock
 * that fails to exclude, that does not come back, or that cannot be run.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "tool.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CELLS_MAX 256
#define MS        1000000

enum {
	OPT_THREADS,
	OPT_CELL,
	OPT_LOCKS,
	OPT_CSV,
	OPT_ROUNDS,
	OPT_SLICE,
	OPT_UNPINNED,
	OPT_QUICK,
	OPT_LIST,
	OPT_SELF_TEST,
	OPT_HELP
};

static const struct option_spec specs[] = {
	{ "threads", true }, { "cell", true },       { "locks", true },     { "csv", false },
	{ "rounds", true },  { "slice", true },      { "unpinned", false }, { "quick", false },
	{ "list", false },   { "self-test", false }, { "help", false },     { NULL, false },
};

static const char help[] =
	"usage: nlock bench mutex [OPTION]...\n"
	"\n"
	"Measures nlock's mutex beside its peers: all locks take turns in short slices, and each ratio is formed\n"
	"within a round. Prints the targets beside what was reached. All cells take about three minutes.\n"
	"\n"
	"  --cell LIST     only these cells: names or patterns as --list shows them, or tTHREADS-INSIDE-OUTSIDE\n"
	"                  with times like 0, 400ns, 13us (t4-2us-500ns)\n"
	"  --threads N     the contended cells, all with N threads\n"
	"  --locks LIST    only these locks, and the reference\n"
	"  --rounds N      rounds, default 15; fewer give no verdicts\n"
	"  --slice MS      length of a slice in milliseconds, default 40\n"
	"  --unpinned      leave it to the scheduler where threads run; else thread i is bound to the i-th CPU\n"
	"  --quick         few and tiny slices: shows that everything runs, says nothing about speed\n"
	"  --csv           one line per comparison, comma separated, under a header line\n"
	"  --list          list the cells and the locks\n"
	"  --self-test     show that a lock that fails to exclude, and one that never comes back, are noticed\n"
	"  --help          this text\n";

struct command {
	struct plan plan;
	struct cell chosen[CELLS_MAX];
	unsigned int n;
	long threads; /* 0: as the cells have it */
	bool is_list, is_self_test, is_help;
	const char *cell_list, *lock_list;
};

/* ---------------------------------------------------------------- options */

/* The next name of a list separated by commas; NULL at its end. An empty name is a name, that nobody has. */
static char *next_name(char **rest)
{
	return *rest ? strsep(rest, ",") : NULL;
}

static bool add_cell(struct command *cmd, const struct cell *c)
{
	for (unsigned int i = 0; i < cmd->n; i++) {
		if (!strcmp(cmd->chosen[i].name, c->name))
			return true;
	}
	if (cmd->n == CELLS_MAX)
		return false;
	cmd->chosen[cmd->n++] = *c;
	return true;
}

/* The i-th cell, as --threads wants it. False: --threads has no use for it. */
static bool cell_at(const struct command *cmd, unsigned int i, struct cell *c)
{
	*c = cells[i];
	if (!cmd->threads)
		return true;
	*c = cell_with_threads(&cells[i], (unsigned int)cmd->threads);
	return cell_is_plain(&cells[i]);
}

static int add_matching(struct command *cmd, const char *pattern)
{
	bool is_found = false;
	struct cell c;

	for (unsigned int i = 0; i < cell_count; i++) {
		if (!cell_at(cmd, i, &c) || fnmatch(pattern, c.name, 0))
			continue;
		is_found = true;
		if (!add_cell(cmd, &c))
			return usage_error("too many cells");
	}
	if (is_found)
		return 0;
	if (!cell_parse(pattern, &c))
		return usage_error("no cell is called '%s'; see `nlock bench mutex --list'", pattern);
	return add_cell(cmd, &c) ? 0 : usage_error("too many cells");
}

static int choose_cells(struct command *cmd)
{
	char *list = strdup(cmd->cell_list ? cmd->cell_list : "*"), *rest = list, *name;
	int rc = 0;

	while (!rc && (name = next_name(&rest)))
		rc = add_matching(cmd, name);
	free(list);
	return rc;
}

static int choose_locks(struct command *cmd)
{
	char *list = cmd->lock_list ? strdup(cmd->lock_list) : NULL, *rest = list, *name;
	int rc = 0;

	for (unsigned int i = 0; i < subject_count; i++)
		cmd->plan.wanted[i] = !list || (subjects[i].flags & SUBJECT_ALWAYS);
	while (!rc && (name = next_name(&rest))) {
		int i = subject_find(name);

		if (i < 0 || (subjects[i].flags & SUBJECT_FAULTY))
			rc = usage_error("no lock is called '%s' in this build; see `nlock bench mutex --list'", name);
		else
			cmd->plan.wanted[i] = true;
	}
	free(list);
	return rc;
}

static int set_number(const char *option, const char *text, long min, long max, long *number)
{
	if (parse_number(text, min, max, number))
		return 0;
	return usage_error("option '--%s' needs a number from %ld to %ld, not '%s'", option, min, max, text);
}

static void set_quick(struct plan *p)
{
	p->rounds = 2;
	p->slice = 2 * MS;
	p->spin = 5 * MS;
}

static int set_option(struct command *cmd, int option, const char *value)
{
	struct plan *p = &cmd->plan;
	long ms = 0;
	int rc;

	switch (option) {
	case OPT_THREADS:
		return set_number("threads", value, 1, 1024, &cmd->threads);
	case OPT_ROUNDS:
		return set_number("rounds", value, 1, ROUNDS_MAX, &p->rounds);
	case OPT_SLICE:
		rc = set_number("slice", value, 1, 10000, &ms);
		p->slice = ms * MS;
		return rc;
	case OPT_CELL:
		cmd->cell_list = value;
		return 0;
	case OPT_LOCKS:
		cmd->lock_list = value;
		return 0;
	case OPT_QUICK:
		set_quick(p);
		return 0;
	}
	p->is_csv |= option == OPT_CSV;
	p->is_unpinned |= option == OPT_UNPINNED;
	cmd->is_list |= option == OPT_LIST;
	cmd->is_self_test |= option == OPT_SELF_TEST;
	cmd->is_help |= option == OPT_HELP;
	return 0;
}

static int read_command(struct command *cmd, int argc, char **argv)
{
	struct options o = { .argc = argc, .argv = argv };
	int rc = 0, option;

	while (!rc && (option = options_next(&o, specs)) != OPTIONS_END)
		rc = option == OPTIONS_BAD ? EXIT_USAGE : set_option(cmd, option, o.value);
	if (!rc)
		rc = choose_locks(cmd);
	return rc ? rc : choose_cells(cmd);
}

/* ---------------------------------------------------------------- doing it */

static int list(void)
{
	puts("cells");
	for (unsigned int i = 0; i < cell_count; i++)
		printf("  %s\n", cells[i].name);
	puts("  tTHREADS-INSIDE-OUTSIDE, for any others\n\nlocks");
	for (unsigned int i = 0; i < subject_count; i++) {
		if (!(subjects[i].flags & SUBJECT_FAULTY))
			printf("  %-13s %s\n", subjects[i].name, subjects[i].what);
	}
	return EXIT_SUCCESS;
}

static struct result *new_results(void)
{
	void *mem = mmap(NULL, sizeof(struct result) * subject_count, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static int run_cells(const struct command *cmd, struct result *results)
{
	const struct plan *p = &cmd->plan;
	struct verdicts v = { 0 };
	double before = cpus_effective(p->cpus->n, p->spin), after;

	report_begin(p);
	for (unsigned int i = 0; i < cmd->n; i++) {
		if (run_cell(p, &cmd->chosen[i], results) != CELL_DONE)
			return EXIT_FAILURE;
		after = cpus_effective(p->cpus->n, p->spin);
		report_cell(p, &cmd->chosen[i], results, before < after ? before : after, &v);
		before = after;
	}
	report_end(p, &v);
	return EXIT_SUCCESS;
}

static bool is_noticed(const struct plan *p, struct result *results, const char *lock, enum cell_end expected)
{
	struct cell c = { "self-test", BODY_CONTENDED, 2, 1000, 0, 0, 0, 1, lock };
	bool is_right = run_cell(p, &c, results) == expected;

	printf("%s: %s\n", lock, is_right ? "noticed" : "NOT NOTICED");
	return is_right;
}

/* Quiet, and with less patience than a real run. */
static int self_test(const struct command *cmd, struct result *results)
{
	struct plan p = cmd->plan;
	bool is_right;

	p.is_silent = true;
	p.patience = NSEC_PER_SEC / 2;
	for (unsigned int i = 0; i < subject_count; i++)
		p.wanted[i] = true;
	is_right = is_noticed(&p, results, "self-test-open", CELL_BROKEN);
	is_right &= is_noticed(&p, results, "self-test-stuck", CELL_STUCK);
	return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int bench_mutex(int argc, char **argv)
{
	static struct command cmd = {
		.plan = { .rounds = ROUNDS_JUDGED, .slice = 40 * MS, .patience = 10ll * NSEC_PER_SEC, .spin = 60 * MS }
	};
	static struct cpus cpus;
	struct result *results;
	int rc = read_command(&cmd, argc, argv);

	if (rc)
		return rc;
	if (cmd.is_help)
		return fputs(help, stdout) < 0;
	if (cmd.is_list)
		return list();
	results = new_results();
	if (!results || !cpus_allowed(&cpus)) {
		perror("nlock");
		return EXIT_FAILURE;
	}
	cmd.plan.cpus = &cpus;
	work_calibrate();
	return cmd.is_self_test ? self_test(&cmd, results) : run_cells(&cmd, results);
}

int bench_main(int argc, char **argv)
{
	if (argc < 1)
		return usage_error("bench what? there is `nlock bench mutex'");
	if (strcmp(argv[0], "mutex"))
		return usage_error("cannot bench '%s'; there is `nlock bench mutex'", argv[0]);
	return bench_mutex(argc - 1, argv + 1);
}
