/* SPDX-License-Identifier: MIT
 *
 * release.c - what one release of a lock does, step by step, while those who wait for it are known to be asleep
 *
 * The other experiments let threads run and count. Here nothing is left to the scheduler: each waiter starts when the one before it is
 * asleep, as the kernel says, and then the owner releases the lock. So what a hand-off promises can be seen a thousand times out of a
 * thousand, on a machine of any size and under any load. Only what a lock that goes free does next is a race, which its releaser nearly
 * always wins.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "cpu.h"
#include "kinds.h"
#include "place.h"
#include "tasks.h"
#include "text.h"
#include "tsv.h"
#include "watchdog.h"

#define WAITERS_MAX 64u

static const char help_head[] =
	"Usage: release [OPTION]...\n"
	"What one release of a lock does while others sleep for it, step by step: the claims D1 to D5.\n"
	"\n"
	"  -n N         how often each is tried (1000)\n"
	"  -c N         waiters in line, for D2 (8)\n"
	"  -L LIST      locks, by letter or name, comma separated (t,f,h,c,p)\n"
	"  -f, --format FORMAT   text (default), tsv\n"
	"  --help, --version\n"
	"\n"
	"Rows, for the locks of the list that they are about: how often it was tried, and how often\n"
	"  D1  the releaser, who tries again at once, has the lock again, though somebody sleeps for it: never after "
	"a\n"
	"      hand-over\n"
	"  D2  those who fell asleep one after the other have it in that order: always, of locks in order of arrival\n"
	"  D3  the same as D1 on one lock, whose releases are by turns open (nlock_mutex_unlock_barging) and fair\n"
	"      (nlock_mutex_unlock_fair)\n"
	"  D4  a waiter who has been asleep for longer than its time bound, and was then overtaken, has the lock at "
	"the\n"
	"      next release: always, of a bounded lock\n"
	"  D5  with nobody there a fair release leaves it free, and the next turn makes no system call: always\n"
	"\n"
	"Locks:\n";

static const char help_tail[] =
	"\n"
	"Exit code: 0 done; 1 it did not end; 2 usage; 77 a lock, or /proc, is not to be had here\n";

struct options {
	unsigned tries, waiters, kind_count;
	enum output output;
	const struct lock_kind *kinds[KINDS_MAX];
};

/* A lock that main holds while the others fall asleep for it. */
struct bed {
	const struct lock_kind *kind;
	struct lock lock;
	unsigned order[WAITERS_MAX], owners; /* who had it; under the lock */
};

struct waiter {
	struct bed *bed;
	struct task task;
	unsigned number;
	_Atomic pid_t id; /* of the thread; 0 until the next thing that it does is to ask for the lock */
};

static struct ticket_slot slots[2 * WAITERS_MAX];

/* ------------------------------------------------------------------ waiters */

static void wait_body(void *of)
{
	struct waiter *w = of;
	struct tally tally = { 0 };

	place_task(PLACE_RR, w->number + 1); /* where it cannot be placed it stays */
	atomic_store(&w->id, (pid_t)syscall(SYS_gettid));
	w->bed->kind->lock(&w->bed->lock, &tally);
	w->bed->order[w->bed->owners++] = w->number;
	w->bed->kind->unlock(&w->bed->lock);
}

/* The first line of a file that the kernel keeps about a thread. */
static bool reads(pid_t id, const char *file, char line[256])
{
	char path[64];
	bool has;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)id, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	has = fgets(line, 256, f);
	fclose(f);
	return has;
}

/* It has been switched off its CPU, which the kernel says by naming its system call, and nobody has woken it since. Its state alone
 * would not do: that is set a moment before it is in line. Where the call may not be read, it has to. */
static bool is_asleep(struct waiter *w)
{
	pid_t id = atomic_load(&w->id);
	char line[256];
	const char *end;

	if (!id || (reads(id, "syscall", line) && !strncmp(line, "running", 7)) || !reads(id, "stat", line))
		return false;
	end = strrchr(line, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* Looks less and less often, so as not to keep it from its CPU. The watchdog sees to the end. */
static void await_sleep(struct waiter *w)
{
	int64_t pause = 10000;

	while (!is_asleep(w)) {
		sleep_until(now_ns() + pause);
		if (pause < 200000)
			pause *= 2;
	}
}

/* They fall asleep in the order of their numbers. */
static void put_to_sleep(struct bed *b, struct waiter *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		w[i].bed = b;
		w[i].number = i;
		w[i].task = (struct task){ .body = wait_body, .of = &w[i] };
		atomic_store(&w[i].id, 0);
		tasks_start(&w[i].task, 1, false);
		await_sleep(&w[i]);
	}
}

static void join(struct waiter *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		tasks_join(&w[i].task, 1, false);
}

static void take(struct bed *b)
{
	struct tally tally = { 0 };

	b->owners = 0;
	b->kind->lock(&b->lock, &tally);
}

/* After a release: has the releaser the lock again, before anybody else had it? */
static bool takes_again(struct bed *b)
{
	if (!b->kind->trylock(&b->lock))
		return false;
	if (!b->owners)
		return true;
	b->kind->unlock(&b->lock);
	return false;
}

/* ------------------------------------------------------------------ the claims: how often it was as they say */

static unsigned releaser_comes_again(struct bed *b, const struct options *o)
{
	unsigned times = 0;

	for (unsigned i = 0; i < o->tries; i++) {
		struct waiter w;

		take(b);
		put_to_sleep(b, &w, 1);
		b->kind->unlock(&b->lock);
		if (takes_again(b)) {
			times++;
			b->kind->unlock(&b->lock);
		}
		join(&w, 1);
	}
	return times;
}

static unsigned order_is_kept(struct bed *b, const struct options *o)
{
	unsigned times = 0;

	for (unsigned i = 0; i < o->tries; i++) {
		struct waiter w[WAITERS_MAX];
		unsigned right = 0;

		take(b);
		put_to_sleep(b, w, o->waiters);
		b->kind->unlock(&b->lock);
		join(w, o->waiters);
		while (right < o->waiters && b->order[right] == right)
			right++;
		times += right == o->waiters;
	}
	return times;
}

/* Each waiter sees an open release first. It is asleep again before the fair one, unless it was the faster. */
static void mixed_releases(struct bed *b, const struct options *o, unsigned *open, unsigned *fair_tries, unsigned *fair)
{
	*open = *fair_tries = *fair = 0;
	for (unsigned i = 0; i < o->tries; i++) {
		struct waiter w;

		take(b);
		put_to_sleep(b, &w, 1);
		nlock_mutex_unlock_barging(&b->lock.u.nlock);
		if (takes_again(b)) {
			++*open;
			++*fair_tries;
			await_sleep(&w);
			nlock_mutex_unlock_fair(&b->lock.u.nlock);
			if (takes_again(b)) {
				++*fair;
				b->kind->unlock(&b->lock);
			}
		}
		join(&w, 1);
	}
}

/* The waiter notices that it is late when it has been overtaken and is about to sleep again. Who was not overtaken is no case. */
static unsigned late_is_served(struct bed *b, const struct options *o, unsigned *tries)
{
	unsigned times = 0;

	*tries = 0;
	for (unsigned i = 0; i < o->tries; i++) {
		struct waiter w;

		take(b);
		put_to_sleep(b, &w, 1);
		sleep_until(now_ns() + 3 * NLOCK_BOUND_NS / 2);
		b->kind->unlock(&b->lock);
		if (takes_again(b)) {
			++*tries;
			await_sleep(&w);
			b->kind->unlock(&b->lock);
			if (takes_again(b))
				b->kind->unlock(&b->lock);
			else
				times++;
		}
		join(&w, 1);
	}
	return times;
}

/* In a process that the kernel ends at its first system call but _exit. EINVAL: there is no such thing here. */
static void turns_without_calls(nlock_mutex_t *m, unsigned n)
{
	int code = EINVAL;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0L, 0L, 0L) == 0) {
		code = 0;
		for (unsigned i = 0; i < n; i++) {
			nlock_mutex_lock(m);
			nlock_mutex_unlock_fair(m);
			if (nlock_mutex_trylock(m) != 0)
				code = EBUSY;
			nlock_mutex_unlock(m);
		}
	}
	for (;;)
		syscall(SYS_exit, code);
}

/* tries becomes 0 if it cannot be tried. */
static unsigned free_without_calls(struct bed *b, const struct options *o, unsigned *tries)
{
	int status = 0, parent = getpid();
	pid_t child = fork();

	*tries = o->tries;
	if (child == 0) {
		watchdog_child(parent);
		turns_without_calls(&b->lock.u.nlock, o->tries);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == EINVAL)) {
		*tries = 0;
		return 0;
	}
	return status ? 0 : o->tries;
}

/* ------------------------------------------------------------------ one lock */

static void print_row(const struct options *o, const char *claim, char lock, const char *how, unsigned tried,
		      unsigned times)
{
	if (o->output == OUTPUT_TSV) {
		tsv_row(stdout, "release");
		tsv_text(stdout, claim);
		tsv_letter(stdout, lock);
		tsv_text(stdout, how);
		tsv_number(stdout, tried);
		tsv_number(stdout, times);
		tsv_end(stdout);
	} else {
		printf(" %s  %c  %-9s %6u %6u\n", claim, lock, how, tried, times);
	}
	fflush(stdout);
}

static void try_nlock(struct bed *b, const struct options *o)
{
	unsigned tried, times, open;
	char lock = b->kind->letter;

	mixed_releases(b, o, &open, &tried, &times);
	print_row(o, "D3", lock, "open", o->tries, open);
	print_row(o, "D3", lock, "fair", tried, times);
	if (!strcmp(b->kind->policy, "bounded")) {
		times = late_is_served(b, o, &tried);
		print_row(o, "D4", lock, "late", tried, times);
	}
	times = free_without_calls(b, o, &tried);
	print_row(o, "D5", lock, "alone", tried, times);
}

static bool is_in_order(const struct lock_kind *kind)
{
	return !strcmp(kind->policy, "strict") || !strcmp(kind->policy, "queued");
}

static int try_kind(const struct options *o, const struct lock_kind *kind)
{
	struct lock_setup setup = { .tasks = o->waiters + 1, .slots = slots };
	static struct bed b;
	int err;

	b = (struct bed){ .kind = kind };
	err = kind->init(&b.lock, kind, &setup);
	if (err) {
		fprintf(stderr, "%s: lock %c cannot be had here: %s\n", program_name, kind->letter, strerror(err));
		return EXIT_MISSING;
	}
	watchdog_arm(60 + 0.1 * o->tries * (o->waiters + 4), "a lock");
	print_row(o, "D1", kind->letter, "ordinary", o->tries, releaser_comes_again(&b, o));
	if (is_in_order(kind))
		print_row(o, "D2", kind->letter, "ordinary", o->tries, order_is_kept(&b, o));
	if (kind->is_nlock)
		try_nlock(&b, o);
	watchdog_disarm();
	kind->fini(&b.lock);
	return EXIT_DONE;
}

static int try_all(const struct options *o)
{
	int worst = EXIT_DONE;
	char line[256];

	if (!reads((pid_t)syscall(SYS_gettid), "stat", line)) {
		fprintf(stderr, "%s: /proc does not say who is asleep\n", program_name);
		return EXIT_MISSING;
	}
	if (o->output == OUTPUT_TSV) {
		tsv_machine(stdout, "-");
		tsv_head(stdout, "claim lock release tried times");
	} else {
		text_machine(stdout, -1);
		printf("\n     L  release    tried  times\n");
	}
	place_task(PLACE_RR, 0);
	for (unsigned k = 0; k < o->kind_count; k++) {
		int code = try_kind(o, o->kinds[k]);

		worst = code == EXIT_DONE ? worst : code;
	}
	return worst;
}

/* ------------------------------------------------------------------ the command line */

static bool can_be_tried(const struct lock_kind *kind)
{
	return kind->trylock && kind_is_plain(kind);
}

static void set_option(struct options *o, int option, const char *arg)
{
	const struct args_common common = {
		.output = &o->output,
		.kinds = o->kinds,
		.kind_count = &o->kind_count,
		.fits = can_be_tried,
	};

	if (args_common(&common, option, arg))
		return;
	if (option == 'n')
		o->tries = (unsigned)args_integer('n', arg, 1, 1000000);
	if (option == 'c')
		o->waiters = (unsigned)args_integer('c', arg, 1, WAITERS_MAX);
}

static void print_help(void)
{
	fputs(help_head, stdout);
	kinds_help(can_be_tried);
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
	static struct options o = { .tries = 1000, .waiters = 8 };
	char given[64] = "";
	int c;

	program_name = "release";
	o.kind_count = kinds_from("t,f,h,c,p", o.kinds, can_be_tried);
	while ((c = args_next(argc, argv, ":n:c:L:f:", longs, given)) != -1) {
		if (c == 'V')
			args_version();
		if (c == 'h') {
			print_help();
			return args_finish(EXIT_DONE);
		}
		set_option(&o, c, optarg);
	}
	watchdog_install(locks_cleanup);
	return args_finish(try_all(&o));
}
