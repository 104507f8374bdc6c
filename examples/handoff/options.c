/* SPDX-License-Identifier: MIT
 *
 * options.c - see options.h
 *
 * Nothing is accepted and ignored: an option that would have no effect beside the others is an error.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_head[] =
	"Usage: ulockflex [OPTION]...\n"
	"Measures what it costs, and who gets the lock, when tasks compete for one. After Hubertus Franke's\n"
	"ulockflex of 2002; the ratio that was published then is printed beside the one found now.\n"
	"\n"
	"Each task: work r microseconds, lock, work x microseconds, unlock, count one. Times are uniform in\n"
	"0.5 to 1.5 times the mean. Locks are compared in interleaved runs; every number is the median of them.\n"
	"\n"
	"  -c N        tasks (3)                        -a N     locks, dealt over the tasks (1)\n"
	"  -t S        seconds of each run (1)          -i N     measured runs, after a warm-up (5)\n"
	"  -r US       mean time without the lock (2)   -x US    mean time with it (1)\n"
	"  -L LIST     locks, by letter or name, comma separated (k,t,f,h,c,p)\n"
	"  -p US       how long a spinning lock spins (3)\n"
	"  -s PCT      share of requests for reading (0); needs locks s, q, r or w\n"
	"  -M MODE     tasks are: thread (default), proc\n"
	"  -A PLACE    tasks run on: rr, CPU after CPU (default); compact; spread; node, node after node; none\n"
	"  -R N        rounds of busy work in a microsecond; without it they are measured\n"
	"  -S SEED     of the random times (1)\n"
	"  -H FILE     write the history of the last run, \"acquisition [ how often ]: task\"; -: to standard output\n"
	"  -W          also take the time of each acquisition, and count overtakings (slows the loop a little)\n"
	"  -f, --format FORMAT   classic (default), tsv, json\n"
	"  -q          print the result rows and nothing else\n"
	"  -T          self-test: break mutual exclusion on purpose, which must be found out\n"
	"  --claims    try the claims E1 to E6 about fair and unfair hand-off on this machine (a minute)\n"
	"  --demo      the experiment of 2002, and what it shows (a quarter of a minute)\n"
	"  --help, --version\n"
	"\n"
	"Locks, and who gets them on release:\n";

static const char help_tail[] =
	"\n"
	"  strict   in order of arrival, whether or not the next is asleep yet: a convoy cannot dissolve\n"
	"  queued   passes only to one that waits in the queue; if all are still on the way there, it goes free\n"
	"  bounded  goes free, and is passed on once the first waiter has been overtaken too often or for too long\n"
	"  barges   goes free and one waiter is woken: whoever comes first takes it (convoy avoidance)\n"
	"  phases, readers, writers   reader-writer locks: in turn, readers first, writers first\n"
	"\n"
	"Columns of the classic row: WC, RC per cent of write, read requests that did not succeed at once; R for\n"
	"spinning locks per cent of those that spinning resolved, for others sleeps per such request; COV\n"
	"of the tasks' counts (population); mRun mean run of one owner; wRun run that a random acquisition is in.\n"
	"\n"
	"Exit code: 0 done; 1 mutual exclusion was violated, or a run did not end; 2 usage; 77 something is missing\n";

static void print_help(void)
{
	fputs(help_head, stdout);
	kinds_help(NULL);
	fputs(help_tail, stdout);
}

__attribute__((noreturn)) static void print_and_exit(int option)
{
	if (option == 'V')
		args_version();
	print_help();
	exit(args_finish(EXIT_DONE));
}

/* Says whether this was one of them. */
static bool set_number(struct config *cf, int option, const char *arg)
{
	switch (option) {
	case 'c':
		cf->tasks = (unsigned)args_integer('c', arg, 1, TASKS_MAX);
		return true;
	case 'a':
		cf->locks = (unsigned)args_integer('a', arg, 1, LOCKS_MAX);
		return true;
	case 's':
		cf->reads = (unsigned)args_integer('s', arg, 0, 100);
		return true;
	case 'p':
		cf->patience = args_number('p', arg, 0, 1e6);
		return true;
	}
	return false;
}

static bool set_common(struct config *cf, int option, const char *arg)
{
	const struct args_common common = {
		&cf->r,         &cf->x,     &cf->seconds, &cf->runs, &cf->loops,      &cf->seed,
		&cf->processes, &cf->place, NULL,         cf->kinds, &cf->kind_count, NULL,
	};

	return args_common(&common, option, arg);
}

static void set_option(struct options *o, int option, const char *arg)
{
	static const char *const formats[] = { "classic", "tsv", "json", NULL };

	if (set_common(&o->config, option, arg) || set_number(&o->config, option, arg))
		return;
	if (option == 'f')
		o->format = (enum format)args_word('f', arg, formats);
	if (option == 'H')
		o->history_file = arg;
	o->config.waits = o->config.waits || option == 'W';
	o->quiet = o->quiet || option == 'q';
	if (option == 'T')
		o->action = DO_SELFTEST;
	if (option == 'C')
		o->action = DO_CLAIMS;
	if (option == 'D')
		o->action = DO_DEMO;
}

/* `given` is the options' letters. C and D stand for --claims and --demo. */
static void check_together(const struct options *o, const char *given)
{
	const struct config *cf = &o->config;
	static const char *const action_names[] = { "", "-T", "--claims", "--demo" };
	const char *allowed = o->action == DO_SELFTEST ? "TLMSq" : "CDtSR";
	bool spins = false, shares = true;

	if (o->action != DO_RUN && given[strspn(given, allowed)])
		args_error("-%c does not go with %s", given[strspn(given, allowed)], action_names[o->action]);
	if (strchr(given, 'C') && strchr(given, 'D'))
		args_error("--claims does not go with --demo");
	for (unsigned k = 0; k < cf->kind_count; k++) {
		spins = spins || cf->kinds[k]->spins;
		shares = shares && cf->kinds[k]->rdlock;
	}
	if (strchr(given, 'p') && !spins)
		args_error("-p needs a spinning lock: T, F, H or C");
	if (cf->reads && !shares)
		args_error("-s needs reader-writer locks, and no other: s, q, r, w");
	if (cf->reads == 100 && o->history_file)
		args_error("-H has nothing to write if all requests are for reading");
	if (o->history_file && !strcmp(o->history_file, "-") && o->format != FORMAT_CLASSIC)
		args_error("-H - does not go with -f tsv or json");
}

static void defaults(struct options *o)
{
	struct config *cf = &o->config;

	*o = (struct options){ .action = DO_RUN, .format = FORMAT_CLASSIC };
	cf->tasks = 3;
	cf->locks = 1;
	cf->runs = 5;
	cf->r = 2;
	cf->x = 1;
	cf->patience = 3;
	cf->place = PLACE_RR;
	cf->seed = 1;
	cf->kind_count = kinds_from("k,t,f,h,c,p", cf->kinds, NULL);
}

void options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },         { "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' }, { "claims", no_argument, NULL, 'C' },
		{ "demo", no_argument, NULL, 'D' },         { 0 },
	};
	char given[64] = "";
	int c;

	defaults(o);
	while ((c = args_next(argc, argv, ":c:a:t:i:L:r:x:p:s:M:A:R:S:H:Wf:qT", longs, given)) != -1) {
		if (c == 'h' || c == 'V')
			print_and_exit(c);
		set_option(o, c, optarg);
	}
	check_together(o, given);
	if (o->config.seconds <= 0)
		o->config.seconds = o->action == DO_RUN ? 1 : 0.5;
}
