/* SPDX-License-Identifier: MIT
 *
 * numa_run.c - see futex_numa.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <nlock.h>

#include "args.h"
#include "cpu.h"
#include "futex_numa.h"
#include "guard.h"
#include "metrics.h"
#include "numa_lock.h"
#include "published.h"
#include "sysfutex.h"
#include "tasks.h"
#include "text.h"
#include "watchdog.h"

/* ------------------------------------------------------------------ one thread of either kind */

struct bed {
	const struct numa_options *options;
	struct gate gate;
	struct numa_lock raw;
	nlock_mutex_t nlock;
	_Alignas(128) struct guard guard;
};

struct thread {
	_Alignas(128) struct bed *bed;
	struct gate *gate;
	enum place place;
	unsigned number;
	union numa_word *word; /* a contender's */
	unsigned flags;
	uint32_t touch; /* the node to put into the word first; SYS2_NO_NODE: another thread does that */
	uint64_t done, violations;
	int error; /* it could not do its work */
};

static unsigned flags_of(bool numa)
{
	return SYS2_U32 | SYS2_PRIVATE | (numa ? SYS2_NUMA : 0);
}

static void nap(int64_t ns)
{
	const struct timespec ts = { .tv_nsec = (long)ns };

	nanosleep(&ts, NULL);
}

static void take(struct bed *b)
{
	if (b->options->kind == NUMA_RAW)
		numa_lock_take(&b->raw);
	else
		nlock_mutex_lock(&b->nlock);
}

static int give(struct bed *b)
{
	if (b->options->kind != NUMA_RAW)
		return nlock_mutex_unlock(&b->nlock);
	numa_lock_free(&b->raw);
	return 0;
}

/* Says which node is in the word, if it is not the one that this thread saw last. */
static void tell_node(struct bed *b, int32_t *last)
{
	int32_t node = numa_lock_node(&b->raw);

	if (node == *last)
		return;
	*last = node;
	printf("node: %d\n", (int)node);
}

static void locker(void *of)
{
	struct thread *t = of;
	struct bed *b = t->bed;
	bool tells = b->options->kind == NUMA_RAW && b->options->numa && b->options->output == OUTPUT_TEXT;
	int32_t last = INT32_MIN;

	t->error = place_task(t->place, t->number);
	gate_pass(t->gate);
	while (!t->error && gate_is_open(t->gate)) {
		unsigned long section;

		take(b);
		section = guard_enter(&b->guard, &t->violations);
		t->done++;
		nap(b->options->nap_ns);
		guard_leave(&b->guard, section, &t->violations);
		if (tells)
			tell_node(b, &last);
		t->violations += give(b) != 0;
		nap(b->options->nap_ns);
	}
}

/* The word never has all bits set, so this never sleeps. The page of the word is touched first where it is to lie. */
static void contender(void *of)
{
	struct thread *t = of;

	t->error = place_task(t->place, t->number);
	if (t->touch != SYS2_NO_NODE)
		atomic_store_explicit(&t->word->half.node, t->touch, memory_order_relaxed);
	gate_pass(t->gate);
	while (!t->error && gate_is_open(t->gate)) {
		long rc = sys_futex2_wait(&t->word->half.value, UINT32_MAX, t->flags, 0);

		t->error = rc == -EAGAIN || rc == -EINTR ? 0 : (int)-rc;
		t->done++;
	}
}

/* Lets them run. The sum of what those from `first` on did; *error is the error of one of them, if there is one. */
static void run_threads(struct thread *threads, unsigned n, struct gate *gate, double seconds, double *took)
{
	struct task *tasks = calloc(n, sizeof *tasks);

	if (!tasks || gate_init(gate, n, false) != 0)
		watchdog_give_up();
	for (unsigned i = 0; i < n; i++)
		tasks[i] = (struct task){ .body = threads[i].bed ? locker : contender, .of = &threads[i] };
	watchdog_arm(10 * seconds + 30, "a run");
	tasks_start(tasks, n, false);
	*took = gate_run(gate, seconds);
	tasks_join(tasks, n, false);
	watchdog_disarm();
	gate_fini(gate);
	free(tasks);
}

static uint64_t sum_done(const struct thread *threads, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += threads[i].done;
	return sum;
}

static int first_error(const struct thread *threads, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (threads[i].error)
			return threads[i].error;
	return 0;
}

/* ------------------------------------------------------------------ that of 2023 */

/* Twenty times as long as it takes when all is well. */
static int64_t patience_of(const struct numa_options *o)
{
	return 200000000 + 20 * (int64_t)o->threads * o->nap_ns;
}

/* 0 or an errno value. A node that does not exist is found out by a wake that wakes nobody. */
static int make_lock(struct bed *b, const struct numa_options *o)
{
	static const nlock_attr_t placements[] = { [NUMA_HASH] = NLOCK_PLACE_HASH, [NUMA_FIRST] = NLOCK_PLACE_FIRST };
	long rc;

	if (o->kind == NUMA_NODE)
		return nlock_mutex_init(&b->nlock, NLOCK_PLACE_NODE((int)o->node));
	if (o->kind != NUMA_RAW)
		return nlock_mutex_init(&b->nlock, placements[o->kind]);
	numa_lock_init(&b->raw, flags_of(o->numa), o->node, patience_of(o));
	if (!o->numa || o->node == SYS2_NO_NODE)
		return 0;
	rc = sys_futex2_wake(&b->raw.word.half.value, 0, b->raw.flags);
	return rc < 0 ? (int)-rc : 0;
}

static int cannot_be_had(const struct numa_options *o, int err)
{
	if (o->numa && o->node != SYS2_NO_NODE)
		fprintf(stderr, "%s: no lock on node %u here: %s\n", program_name, o->node, strerror(err));
	else
		fprintf(stderr, "%s: no such lock here: %s\n", program_name, strerror(err));
	return EXIT_MISSING;
}

struct sums {
	uint64_t total, contenders, late;
};

static void print_sums(const struct numa_options *o, const struct sums *s)
{
	printf("total: %llu\n", (unsigned long long)s->total);
	if (o->contenders)
		printf("contenders: %llu\n", (unsigned long long)s->contenders);
	if (s->late)
		printf("late: %llu waits ended by the clock: lost wake-ups, or a very busy machine\n",
		       (unsigned long long)s->late);
}

static void tsv_sums(const struct numa_options *o, const struct sums *s, bool guard_ok)
{
	tsv_machine(stdout, "-");
	tsv_head(stdout, "lock numa c threads place t nap_ns node total contenders late guard_ok");
	tsv_row(stdout, "futex_numa");
	tsv_text(stdout, numa_kind_names[o->kind]);
	tsv_yes(stdout, o->numa);
	tsv_number(stdout, o->contenders);
	tsv_number(stdout, o->threads);
	tsv_text(stdout, place_names[o->place]);
	tsv_number(stdout, o->seconds);
	tsv_number(stdout, (double)o->nap_ns);
	tsv_number(stdout, o->numa && o->node != SYS2_NO_NODE ? o->node : NAN);
	tsv_number(stdout, (double)s->total);
	tsv_number(stdout, (double)s->contenders);
	tsv_number(stdout, (double)s->late);
	tsv_yes(stdout, guard_ok);
	tsv_end(stdout);
}

static int report_run(const struct numa_options *o, struct bed *b, const struct thread *threads)
{
	struct sums sums = {
		.total = sum_done(threads, o->threads),
		.contenders = sum_done(threads + o->threads, o->contenders),
		.late = atomic_load_explicit(&b->raw.late, memory_order_relaxed),
	};
	int err = first_error(threads, o->threads + o->contenders);
	uint64_t violations = 0;
	bool guard_ok;

	for (unsigned i = 0; i < o->threads; i++)
		violations += threads[i].violations;
	guard_ok = !violations && guard_is_whole(&b->guard, (unsigned long)sums.total);
	if (o->output == OUTPUT_TSV)
		tsv_sums(o, &sums, guard_ok);
	else
		print_sums(o, &sums);
	if (err)
		fprintf(stderr, "%s: a thread could not go on: %s\n", program_name, strerror(err));
	if (guard_ok)
		return err ? EXIT_VIOLATION : EXIT_DONE;
	fprintf(stderr, "%s: the lock let two in at once\n", program_name);
	return EXIT_VIOLATION;
}

int numa_run(const struct numa_options *o)
{
	static struct bed bed;
	unsigned n = o->threads + o->contenders;
	struct thread *threads = aligned_alloc(_Alignof(struct thread), (n ? n : 1) * sizeof *threads);
	double took;
	int err, code;

	bed.options = o;
	err = threads ? make_lock(&bed, o) : ENOMEM;
	if (err) {
		free(threads);
		return cannot_be_had(o, err);
	}
	for (unsigned i = 0; i < n; i++)
		threads[i] = (struct thread){
			.bed = i < o->threads ? &bed : NULL,
			.gate = &bed.gate,
			.place = o->place,
			.number = i,
			.word = &bed.raw.word,
			.flags = flags_of(o->numa),
			.touch = SYS2_NO_NODE,
		};
	if (o->numa && o->output == OUTPUT_TEXT)
		printf("# %u node%s with CPUs that may be used\n", place_nodes(), place_nodes() == 1 ? "" : "s");
	run_threads(threads, n, &bed.gate, o->seconds, &took);
	code = report_run(o, &bed, threads);
	free(threads);
	return code;
}

/* ------------------------------------------------------------------ one word for all against one a node */

/* The calls a second of all contenders, or the negative of an errno value. Each word has a page of its own. */
static double words_once(unsigned n, double seconds, bool one_for_all, char *pages, size_t page)
{
	struct thread *threads = aligned_alloc(_Alignof(struct thread), (n ? n : 1) * sizeof *threads);
	unsigned nodes = place_nodes();
	struct gate gate;
	double took, rate;
	int err;

	if (!threads)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		unsigned w = one_for_all ? 0 : i % nodes;

		threads[i] = (struct thread){
			.gate = &gate,
			.place = PLACE_NODE,
			.number = i,
			.word = (union numa_word *)(void *)(pages + w * page),
			.flags = flags_of(true),
			.touch = i == w ? place_node(w) : SYS2_NO_NODE,
		};
	}
	run_threads(threads, n, &gate, seconds, &took);
	err = first_error(threads, n);
	rate = ratio((double)sum_done(threads, n), took);
	free(threads);
	return err ? -err : rate;
}

static void words_row(const char *what, const double *v, unsigned rounds)
{
	printf("%-14s", what);
	text_number(stdout, 12, 0, sample_median(v, rounds));
	text_number(stdout, 12, 0, sample_min(v, rounds));
	text_number(stdout, 12, 0, sample_max(v, rounds));
	printf("\n");
}

/* What was measured, round by round: calls a second on one word, on one a node, and the one over the other. */
struct words {
	const struct numa_options *options;
	unsigned contenders;
	double *one, *each, *ratios, effective;
};

static void words_text(const struct words *w)
{
	const struct numa2023 *then = &futex_numa2023;
	unsigned nodes = place_nodes(), rounds = w->options->rounds;

	text_machine(stdout, w->effective);
	printf(", %u node%s, %u contenders, %u rounds\n", nodes, nodes == 1 ? "" : "s", w->contenders, rounds);
	printf("calls/s             median       least        most\n");
	words_row("one word", w->one, rounds);
	words_row("one a node", w->each, rounds);
	printf("one a node / one: %.2f (%.2f to %.2f); published %.2f (2023, two nodes)\n",
	       sample_median(w->ratios, rounds), sample_min(w->ratios, rounds), sample_max(w->ratios, rounds),
	       ratio(then->separate[0] + then->separate[1], then->shared[0] + then->shared[1]));
	if (nodes == 1)
		printf("This machine has one node: both cases are the same, and the ratio is its noise.\n");
	if (place_is_busy(w->effective))
		printf("This machine is busy: read nothing into the ratio.\n");
}

static void words_tsv_row(const struct words *w, const char *words, const double *v, const double *ratios)
{
	tsv_row(stdout, "futex_numa_words");
	tsv_text(stdout, words);
	tsv_number(stdout, w->contenders);
	tsv_number(stdout, place_nodes());
	tsv_number(stdout, w->options->rounds);
	tsv_number(stdout, w->options->seconds);
	tsv_spread(stdout, v, w->options->rounds);
	tsv_spread(stdout, ratios, ratios ? w->options->rounds : 0);
	tsv_end(stdout);
}

static void words_tsv(const struct words *w)
{
	tsv_machine(stdout, "-");
	tsv_head(stdout, "words c nodes i t thput thput_min thput_max ratio ratio_min ratio_max");
	words_tsv_row(w, "one", w->one, NULL);
	words_tsv_row(w, "each", w->each, w->ratios);
}

static void words_report(struct words *w)
{
	for (unsigned i = 0; i < w->options->rounds; i++)
		w->ratios[i] = ratio(w->each[i], w->one[i]);
	if (w->options->output == OUTPUT_TSV)
		words_tsv(w);
	else
		words_text(w);
}

int numa_words(const struct numa_options *o)
{
	unsigned n = o->contenders ? o->contenders : place_cpus() > place_nodes() ? place_cpus() : place_nodes();
	size_t page = 65536; /* at least as large as any machine's */
	double *rates = calloc(3 * (size_t)o->rounds, sizeof *rates), rate = 0;
	struct words words = { o, n, rates, rates + o->rounds, rates + 2 * o->rounds, place_effective_cpus() };
	char *pages = mmap(NULL, page * place_nodes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || !rates) {
		fprintf(stderr, "%s: no memory\n", program_name);
		return EXIT_VIOLATION;
	}
	for (unsigned i = 0; i < 2 * o->rounds && rate >= 0; i++)
		rate = rates[i % 2 * o->rounds + i / 2] = words_once(n, o->seconds, i % 2 == 0, pages, page);
	if (rate >= 0)
		words_report(&words);
	else
		fprintf(stderr, "%s: a contender could not go on: %s\n", program_name, strerror((int)-rate));
	munmap(pages, page * place_nodes());
	free(rates);
	return rate >= 0 ? EXIT_DONE : EXIT_VIOLATION;
}
