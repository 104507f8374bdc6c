/* SPDX-License-Identifier: MIT
 *
 * bench.c - `nlock bench NOUN': which cells, which locks, how long
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

static const char help_head[] =
	"usage: nlock bench %s [OPTION]...\n"
	"\n"
	"Measures %s beside its peers: all locks take turns in short slices, and each ratio is formed\n"
	"within a round. Prints the targets beside what was reached.%s\n"
	"\n";

static const char help_one[] =
	"  --cell LIST     only these cells: names or patterns as --list shows them; of the mutex also any other\n"
	"                  tTHREADS-INSIDE-OUTSIDE with times like 0, 400ns, 13us (t4-2us-500ns)\n"
	"  --threads N     of the mutex: the contended cells, all with N threads\n"
	"  --locks LIST    only these locks, and the reference\n";

static const char help_both[] =
	"  --rounds N      rounds, default 15; fewer give no verdicts\n"
	"  --slice MS      length of a slice in milliseconds, default 40\n"
	"  --unpinned      leave it to the scheduler where threads run; else thread i is bound to the i-th CPU\n"
	"  --quick         few and tiny slices: shows that everything runs, says nothing about speed\n"
	"  --csv           one line per comparison, comma separated, under a header line\n"
	"  --list          list the cells and the locks\n"
	"  --self-test     show that locks that break their promise, or never come back, are noticed\n"
	"  --help          this text\n";

static const struct noun *const nouns[] = {
	&noun_mutex, &noun_cond, &noun_rwlock, &noun_barrier, &noun_sem, &noun_once
};

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
	const struct noun *n = cmd->plan.noun;

	*c = n->cells[i];
	return !cmd->threads || n->with_threads(&n->cells[i], (unsigned int)cmd->threads, c);
}

static int add_matching(struct command *cmd, const char *pattern)
{
	const struct noun *n = cmd->plan.noun;
	bool is_found = false;
	struct cell c;

	for (unsigned int i = 0; i < n->cell_count; i++) {
		if (!cell_at(cmd, i, &c) || fnmatch(pattern, c.name, 0))
			continue;
		is_found = true;
		if (!add_cell(cmd, &c))
			return usage_error("too many cells");
	}
	if (is_found)
		return 0;
	if (!n->parse_cell || !n->parse_cell(pattern, &c))
		return usage_error("no cell is called '%s'; see `nlock bench %s --list'", pattern, n->name);
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
	const struct noun *n = cmd->plan.noun;
	int rc = 0;

	for (unsigned int i = 0; n->subjects[i].name; i++)
		cmd->plan.wanted[i] = !list || (n->subjects[i].flags & SUBJECT_ALWAYS);
	while (!rc && (name = next_name(&rest))) {
		int i = subject_find(n, name);

		if (i < 0 || (n->subjects[i].flags & SUBJECT_SELF_TEST))
			rc = usage_error("no lock is called '%s' in this build; see `nlock bench %s --list'", name,
					 n->name);
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

static int read_options(struct command *cmd, int argc, char **argv)
{
	struct options o = { .argc = argc, .argv = argv };
	int rc = 0, option;

	while (!rc && (option = options_next(&o, specs)) != OPTIONS_END)
		rc = option == OPTIONS_BAD ? EXIT_USAGE : set_option(cmd, option, o.value);
	if (!rc && cmd->plan.is_all && (cmd->cell_list || cmd->lock_list || cmd->threads))
		rc = usage_error("--cell, --locks and --threads choose among what one noun has; not with `bench all'");
	return rc;
}

/* With what the options say, and for this noun. */
static int choose(struct command *cmd, const struct noun *n)
{
	int rc;

	cmd->plan.noun = n;
	cmd->n = 0;
	if (cmd->threads && !n->with_threads)
		return usage_error("the cells of %s have their threads in their names: no --threads", n->name);
	rc = choose_locks(cmd);
	return rc ? rc : choose_cells(cmd);
}

/* ---------------------------------------------------------------- doing it */

static void help(const struct command *cmd, const char *name)
{
	const char *takes = !strcmp(name, "mutex") ? " All cells take about three minutes." : "";

	if (cmd->plan.is_all)
		takes = " That takes about six minutes.";
	printf(help_head, name, cmd->plan.is_all ? "everything, noun by noun," : name, takes);
	if (!cmd->plan.is_all)
		fputs(help_one, stdout);
	fputs(help_both, stdout);
}

static void list(const struct noun *n)
{
	puts("cells");
	for (unsigned int i = 0; i < n->cell_count; i++)
		printf("  %s\n", n->cells[i].name);
	if (n->parse_cell)
		puts("  tTHREADS-INSIDE-OUTSIDE, for any others");
	puts("\nlocks");
	for (unsigned int i = 0; n->subjects[i].name; i++) {
		if (!(n->subjects[i].flags & SUBJECT_SELF_TEST))
			printf("  %-14s %s\n", n->subjects[i].name, n->subjects[i].what);
	}
}

static struct result *new_results(void)
{
	void *mem = mmap(NULL, sizeof(struct result) * SUBJECTS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* `cpus` is what the machine gave just before. */
static int run_cells(const struct command *cmd, struct result *results, struct verdicts *v, double *cpus)
{
	const struct plan *p = &cmd->plan;

	for (unsigned int i = 0; i < cmd->n; i++) {
		double after;

		if (run_cell(p, &cmd->chosen[i], results) != CELL_DONE)
			return EXIT_FAILURE;
		after = cpus_effective(p->cpus->n, p->spin);
		report_cell(p, &cmd->chosen[i], results, *cpus < after ? *cpus : after, v);
		*cpus = after;
	}
	return EXIT_SUCCESS;
}

/* Quietly. One that is to come back is given time: a busy machine must not pass for a fault of another kind. */
static bool is_noticed(const struct plan *p, struct result *results, const struct subject *s)
{
	struct cell c = *p->noun->self_test;
	struct plan quiet = *p;
	bool hangs = s->flags & SUBJECT_HANGS, is_right;

	c.only = s->name;
	quiet.is_silent = true;
	quiet.wanted[s - p->noun->subjects] = true;
	if (hangs)
		quiet.patience = NSEC_PER_SEC / 2;
	is_right = run_cell(&quiet, &c, results) == (hangs ? CELL_STUCK : CELL_BROKEN);
	printf("%s: %s\n", s->name, is_right ? "noticed" : "NOT NOTICED");
	return is_right;
}

static int self_test(const struct plan *p, struct result *results)
{
	bool is_right = true;

	for (const struct subject *s = p->noun->subjects; s->name; s++) {
		if (s->flags & SUBJECT_SELF_TEST)
			is_right &= is_noticed(p, results, s);
	}
	return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The nouns from `first` on, `n` of them. */
static int bench(struct command *cmd, const struct noun *const *first, unsigned int n)
{
	struct verdicts v = { 0 };
	struct result *results = new_results();
	double cpus;
	int rc = 0;

	if (!results) {
		perror("nlock");
		return EXIT_FAILURE;
	}
	work_calibrate();
	cpus = cpus_effective(cmd->plan.cpus->n, cmd->plan.spin);
	if (!cmd->is_self_test)
		report_begin(&cmd->plan);
	for (unsigned int i = 0; !rc && i < n; i++) {
		rc = choose(cmd, first[i]);
		if (!rc)
			rc = cmd->is_self_test ? self_test(&cmd->plan, results) : run_cells(cmd, results, &v, &cpus);
	}
	if (!rc && !cmd->is_self_test)
		report_end(&cmd->plan, &v);
	return rc;
}

/* Whether the options make sense, before anything is printed. */
static int check(struct command *cmd, const struct noun *const *first, unsigned int n)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < n; i++)
		rc = choose(cmd, first[i]);
	return rc;
}

static int bench_nouns(const char *name, const struct noun *const *first, unsigned int n, int argc, char **argv)
{
	static struct command cmd = {
		.plan = { .rounds = ROUNDS_JUDGED, .slice = 40 * MS, .patience = 10ll * NSEC_PER_SEC, .spin = 60 * MS }
	};
	static struct cpus cpus;
	int rc;

	cmd.plan.is_all = n > 1;
	rc = read_options(&cmd, argc, argv);
	if (!rc)
		rc = check(&cmd, first, n);
	if (rc)
		return rc;
	if (cmd.is_help)
		help(&cmd, name);
	for (unsigned int i = 0; cmd.is_list && i < n; i++)
		list(first[i]);
	if (cmd.is_help || cmd.is_list)
		return EXIT_SUCCESS;
	if (!cpus_allowed(&cpus)) {
		perror("nlock");
		return EXIT_FAILURE;
	}
	cmd.plan.cpus = &cpus;
	return bench(&cmd, first, n);
}

#define NOUNS "mutex, cond, rwlock, barrier, sem, once or all"

int bench_main(int argc, char **argv)
{
	if (argc < 1)
		return usage_error("bench what? " NOUNS);
	if (!strcmp(argv[0], "--help"))
		return puts("usage: nlock bench NOUN [OPTION]...\n\nNOUN is " NOUNS ". `nlock bench NOUN --help' lists the options.") < 0;
	for (unsigned int i = 0; i < LENGTH(nouns); i++) {
		if (!strcmp(argv[0], nouns[i]->name))
			return bench_nouns(argv[0], &nouns[i], 1, argc - 1, argv + 1);
	}
	if (!strcmp(argv[0], "all"))
		return bench_nouns(argv[0], nouns, LENGTH(nouns), argc - 1, argv + 1);
	return usage_error("cannot bench '%s'; " NOUNS, argv[0]);
}
