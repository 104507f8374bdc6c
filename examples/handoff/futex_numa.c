/* SPDX-License-Identifier: MIT
 *
 * futex_numa.c - what it is worth that waiters queue on their own node, as Peter Zijlstra showed it in 2023
 *
 * All threads that wait anywhere share the kernel's hash tables, and two words that fall into one bucket of them share its lock. With
 * FUTEX2_NUMA a word says on which node its waiters queue. This program has his two kinds of threads: some that take a
 * lock and sleep, which show that it works, and contenders, which ask to wait for what is not so and are sent back at
 * once: these do nothing but fight for the bucket.
 *
 * He needed a patched kernel, with one bucket a node, to make the groups of two processes meet. --words does without: all
 * contenders on one word are in one bucket too.
 *	numa_run.c    the experiments      numa_lock.c    his lock
 */
#include "futex_numa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nlock.h>

#include "args.h"
#include "sysfutex.h"
#include "watchdog.h"

const char *const numa_kind_names[] = { "raw", "hash", "node", "first", NULL };

static const char help[] =
	"Usage: futex_numa [OPTION]...\n"
	"A lock whose waiters queue on a NUMA node, and threads that fight for the place where they queue. After "
	"Peter\n"
	"Zijlstra's futex_numa of 2023.\n"
	"\n"
	"  -c N       contenders: each asks in a loop to wait for a value that the word never has (0)\n"
	"  -t N       threads that lock, sleep, unlock, sleep (2)\n"
	"  -s S       seconds (10; with --words of each round 0.5)\n"
	"  -n NS      nanoseconds of each sleep (50000)\n"
	"  -N[NODE]   waiters queue on the node that the lock's second word names (FUTEX2_NUMA): NODE, or without a "
	"number\n"
	"             the node of the first waiter, which the kernel puts in. The number must follow at once: -N0\n"
	"  -L LOCK    raw (default): the lock of the original, two words and two system calls. hash, node, first:\n"
	"             nlock_mutex with that placement; node wants -N and a number, the others no -N\n"
	"  -A PLACE   threads run on: none (default), rr, compact, spread, node\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --words    contenders alone, as many on each node: on one word for all of them, against one word a node\n"
	"  -i N       rounds of --words (5)\n"
	"  --help, --version\n"
	"\n"
	"Lines: \"node: N\" when a thread that has the raw lock finds another node in it than the last time (-1: "
	"nobody\n"
	"has waited since it was free); \"total:\" turns of all threads; \"contenders:\" calls of all contenders.\n"
	"\n"
	"--words wants FUTEX2_NUMA (Linux 6.16). On a machine with one node the two cases are the same, and what it "
	"prints is\n"
	"noise. The published ratio, 3.01, is of two nodes with ten contenders on each and one hash bucket a node.\n"
	"\n"
	"Exit code: 0 done; 1 mutual exclusion was violated, or it did not end; 2 usage; 77 something is missing\n";

/* -N takes its number without a blank, as in the original. */
static void set_node(struct numa_options *o, const char *arg)
{
	o->numa = true;
	o->node = arg ? (uint32_t)args_integer('N', arg, 0, 1023) : SYS2_NO_NODE;
}

static void set_option(struct numa_options *o, int option, const char *arg)
{
	const struct args_common common = { .place = &o->place, .output = &o->output };

	if (args_common(&common, option, arg))
		return;
	switch (option) {
	case 'c':
		o->contenders = (unsigned)args_integer('c', arg, 0, 1024);
		break;
	case 't':
		o->threads = (unsigned)args_integer('t', arg, 0, 1024);
		break;
	case 's':
		o->seconds = args_number('s', arg, 0.001, 3600);
		break;
	case 'n':
		o->nap_ns = (int64_t)args_integer('n', arg, 0, 999999999);
		break;
	case 'i':
		o->rounds = (unsigned)args_integer('i', arg, 1, 1000);
		break;
	case 'L':
		o->kind = (enum numa_kind)args_word('L', arg, numa_kind_names);
		break;
	case 'N':
		set_node(o, arg);
		break;
	}
}

static void check_together(const struct numa_options *o, const char *given, bool words)
{
	if (words && given[strspn(given, "wcsif")])
		args_error("-%c does not go with --words", given[strspn(given, "wcsif")]);
	if (words && strchr(given, 'c') && !o->contenders)
		args_error("--words wants contenders");
	if (!words && strchr(given, 'i'))
		args_error("-i goes with --words only");
	if (!words && !o->threads && !o->contenders)
		args_error("neither threads nor contenders: nothing to do");
	if (o->kind != NUMA_RAW && o->contenders)
		args_error("-c needs the raw lock");
	if (o->kind == NUMA_NODE && (!o->numa || o->node == SYS2_NO_NODE))
		args_error("-L node wants -N and a number");
	if (o->numa && (o->kind == NUMA_HASH || o->kind == NUMA_FIRST))
		args_error("-N does not go with -L %s", numa_kind_names[o->kind]);
}

/* What of the kernel the raw lock, or the words, need: an exit code, after a message if it is not EXIT_DONE. */
static int look_for(bool numa)
{
	uint32_t has = nlock_features();

	if ((has & NLOCK_HAS_WAIT) && (!numa || (has & NLOCK_HAS_NUMA)))
		return EXIT_DONE;
	fprintf(stderr, "%s: %s is not to be had here\n", program_name, numa ? "FUTEX2_NUMA" : "futex2");
	return EXIT_MISSING;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "format", required_argument, NULL, 'f' },
		{ "words", no_argument, NULL, 'w' },
		{ 0 },
	};
	struct numa_options o = { .threads = 2, .rounds = 5, .nap_ns = 50000, .place = PLACE_NONE };
	char given[64] = "";
	bool words = false;
	int c, code = EXIT_DONE;

	program_name = "futex_numa";
	while ((c = args_next(argc, argv, ":c:t:s:n:N::L:A:i:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			fputs(help, stdout);
			return args_finish(EXIT_DONE);
		}
		words = words || c == 'w';
		set_option(&o, c, optarg);
	}
	check_together(&o, given, words);
	if (!o.seconds)
		o.seconds = words ? 0.5 : 10;
	if (o.kind == NUMA_RAW)
		code = look_for(o.numa || words);
	if (code != EXIT_DONE)
		return code;
	watchdog_install(NULL);
	return args_finish(words ? numa_words(&o) : numa_run(&o));
}
