/* SPDX-License-Identifier: MIT
 *
 * convoy_run.c - the threads of convoy, and what is made of what they counted
 *
 * Each thread works, takes the lock, works, releases it, takes the time, and counts the turn in the bin of that time. The first owner
 * whose last turn ended after the stall was due sleeps in its section: that is the stall, and there is one only.
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
#include "cell.h"
#include "convoy.h"
#include "cpu.h"
#include "metrics.h"
#include "random.h"
#include "tasks.h"
#include "watchdog.h"

/* Bins at the start that do not count: threads are still settling on their CPUs. */
#define WARMUP 2u

struct bed {
	const struct convoy_options *options;
	const struct lock_kind *kind;
	struct gate gate;
	unsigned bins;
	uint64_t loops_r, loops_x;
	int64_t start, due, bin_ns;
	struct cell cell;
	_Alignas(LINE) int64_t stall_from, stall_to; /* protected by the lock; 0: not yet */
};

struct worker {
	_Alignas(LINE) struct bed *bed;
	struct bin *bins;
	unsigned number;
	uint64_t random, violations;
	struct tally tally;
	int error;
};

/* ------------------------------------------------------------------ what they do */

/* By the owner. `now` is when its last turn ended: a look at the clock here would lengthen every section. */
static void stall_once(struct bed *b, int64_t now)
{
	if (now < b->due || b->stall_from)
		return;
	b->stall_from = now_ns();
	sleep_until(b->stall_from + (int64_t)(b->options->stall_ms * 1e6));
	b->stall_to = now_ns();
}

static int64_t turn(struct worker *w, int64_t now)
{
	struct bed *b = w->bed;
	uint64_t without = random_around(&w->random, b->loops_r), with = random_around(&w->random, b->loops_x);
	unsigned long section;

	busy_loop(without);
	section = cell_enter(&b->cell, b->kind, &w->tally, &w->violations);
	stall_once(b, now);
	busy_loop(with);
	cell_leave(&b->cell, b->kind, section, &w->violations);
	return now_ns();
}

/* A turn that ends after the last bin is counted by nobody, but the guard's sum has it. */
static void worker_body(void *of)
{
	struct worker *w = of;
	struct bed *b = w->bed;
	uint64_t failed = 0;
	int64_t now = 0;

	w->error = place_task(b->options->place, w->number);
	gate_pass(&b->gate);
	while (!w->error) {
		int64_t bin;

		now = turn(w, now);
		bin = (now - b->start) / b->bin_ns;
		if (bin >= b->bins)
			return;
		w->bins[bin].turns++;
		w->bins[bin].failed += w->tally.failed - failed;
		failed = w->tally.failed;
	}
}

/* ------------------------------------------------------------------ one run */

struct parts {
	struct bed *bed;
	struct worker *workers;
	struct task *tasks;
	struct bin *bins;
};

static struct ticket_slot *lay_out(struct arena *a, const struct convoy_options *o, const struct lock_kind *kind,
				   struct parts *p)
{
	p->bed = arena_carve(a, sizeof *p->bed);
	p->workers = arena_carve(a, o->threads * sizeof *p->workers);
	p->tasks = arena_carve(a, o->threads * sizeof *p->tasks);
	p->bins = arena_carve(a, (size_t)o->threads * BINS_MAX * sizeof *p->bins);
	return cells_carve_slots(a, 1, kind, o->threads);
}

unsigned convoy_bins(const struct convoy_options *o)
{
	return (unsigned)ceil(o->seconds * 1000 / o->bin_ms);
}

unsigned convoy_stall_bin(const struct convoy_options *o)
{
	return convoy_bins(o) / 4;
}

static void prepare(struct parts *p, const struct convoy_options *o, const struct lock_kind *kind, unsigned run)
{
	struct bed *b = p->bed;

	b->options = o;
	b->kind = kind;
	b->bins = convoy_bins(o);
	b->bin_ns = (int64_t)(o->bin_ms * 1e6);
	b->loops_r = (uint64_t)llround(o->r * (double)o->loops);
	b->loops_x = (uint64_t)llround(o->x * (double)o->loops);
	for (unsigned i = 0; i < o->threads; i++) {
		p->workers[i] = (struct worker){
			.bed = b,
			.bins = p->bins + (size_t)i * BINS_MAX,
			.number = i,
			.random = random_start(o->seed, run, i),
		};
		p->tasks[i] = (struct task){ .body = worker_body, .of = &p->workers[i] };
	}
}

static int let_run(struct parts *p)
{
	struct bed *b = p->bed;
	const struct convoy_options *o = b->options;
	int err = gate_init(&b->gate, o->threads, false);

	if (err)
		return err;
	watchdog_arm(10 * o->seconds + o->threads * 1e-5 * (o->r + o->x + 1000 * o->stall_ms) + 30, "a run");
	tasks_start(p->tasks, o->threads, false);
	b->start = now_ns();
	b->due = b->start + convoy_stall_bin(o) * b->bin_ns;
	gate_go(&b->gate);
	tasks_join(p->tasks, o->threads, false);
	watchdog_disarm();
	gate_fini(&b->gate);
	return 0;
}

/* The bin in which this was, at most the last. */
static unsigned bin_of(const struct bed *b, int64_t ns)
{
	int64_t bin = (ns - b->start) / b->bin_ns;

	return bin < b->bins ? (unsigned)bin : b->bins - 1;
}

/* Sums up what the threads counted. 0 or an errno value. */
static int collect(struct parts *p, struct convoy_run *run)
{
	struct bed *b = p->bed;
	uint64_t violations = 0, asked = 0;
	int err = 0;

	memset(run, 0, sizeof *run);
	for (unsigned i = 0; i < b->options->threads; i++) {
		const struct worker *w = &p->workers[i];

		for (unsigned k = 0; k < b->bins; k++) {
			run->bins[k].turns += w->bins[k].turns;
			run->bins[k].failed += w->bins[k].failed;
		}
		violations += w->violations;
		asked += w->tally.asked;
		err = w->error ? w->error : err;
	}
	run->guard_ok = !violations && guard_is_whole(&b->cell.guard, (unsigned long)asked);
	run->has_stall = b->stall_from;
	if (run->has_stall) {
		run->from = bin_of(b, b->stall_from);
		run->to = bin_of(b, b->stall_to);
	}
	convoy_judge(b->options, run);
	return err;
}

/* 0, an errno value, or the negative of the one with which the lock refused to be made. */
static int run_once(const struct convoy_options *o, const struct lock_kind *kind, unsigned number,
		    struct convoy_run *run)
{
	struct lock_setup setup = { .tasks = o->threads };
	struct arena arena = { NULL, 0, 0 };
	struct parts parts;
	int err;

	lay_out(&arena, o, kind, &parts);
	if (!arena_map(&arena, false))
		return errno;
	setup.slots = lay_out(&arena, o, kind, &parts);
	err = -cells_init(&parts.bed->cell, 1, kind, &setup);
	if (!err) {
		prepare(&parts, o, kind, number);
		err = let_run(&parts);
		err = err ? err : collect(&parts, run);
		cells_fini(&parts.bed->cell, 1, kind);
	}
	arena_unmap(&arena);
	return err;
}

/* ------------------------------------------------------------------ arithmetic */

/* Of the bins from `first` up to, not including, `end`. */
static struct stretch stretch_of(const struct convoy_options *o, const struct bin *bins, unsigned first, unsigned end)
{
	struct bin sum = { 0, 0 };

	if (first >= end)
		return (struct stretch){ NAN, NAN };
	for (unsigned i = first; i < end; i++) {
		sum.turns += bins[i].turns;
		sum.failed += bins[i].failed;
	}
	return (struct stretch){
		.thput = (double)sum.turns * 1000 / (o->bin_ms * (end - first)),
		.wc = ratio(100 * (double)sum.failed, (double)sum.turns),
	};
}

static double recovered_after(const struct convoy_options *o, const struct convoy_run *run)
{
	unsigned bins = convoy_bins(o);

	for (unsigned i = run->to + 1; i < bins; i++) {
		struct stretch s = stretch_of(o, run->bins, i, i + 1);

		if (s.thput >= RECOVERED_THPUT * run->before.thput && s.wc <= RECOVERED_WC)
			return i - run->to;
	}
	return INFINITY;
}

void convoy_judge(const struct convoy_options *o, struct convoy_run *run)
{
	run->before = run->after = (struct stretch){ NAN, NAN };
	run->recover = NAN;
	if (!run->has_stall)
		return;
	run->before = stretch_of(o, run->bins, WARMUP, run->from);
	run->after = stretch_of(o, run->bins, run->to + 1, convoy_bins(o));
	if (run->before.thput > 0 && !isnan(run->after.thput))
		run->recover = recovered_after(o, run);
}

/* ------------------------------------------------------------------ all runs */

/* Of the five numbers of each run. */
struct samples {
	double before_thput[RUNS_MAX], before_wc[RUNS_MAX], after_thput[RUNS_MAX], after_wc[RUNS_MAX];
	double kept[RUNS_MAX], recover[RUNS_MAX];
};

static void note(struct samples *s, unsigned i, const struct convoy_run *run)
{
	s->before_thput[i] = run->before.thput;
	s->before_wc[i] = run->before.wc;
	s->after_thput[i] = run->after.thput;
	s->after_wc[i] = run->after.wc;
	s->kept[i] = ratio(run->after.thput, run->before.thput);
	s->recover[i] = run->recover;
}

static void summarize(struct convoy_summary *to, const struct samples *s, unsigned runs)
{
	double recover = sample_median(s->recover, runs);

	to->before = (struct stretch){ sample_median(s->before_thput, runs), sample_median(s->before_wc, runs) };
	to->after = (struct stretch){ sample_median(s->after_thput, runs), sample_median(s->after_wc, runs) };
	to->kept = sample_median(s->kept, runs);
	to->recover = isinf(recover) ? NAN : recover;
}

static int one_round(const struct convoy_options *o, unsigned i, struct convoy_summary *s, struct samples *samples)
{
	for (unsigned k = 0; k < o->kind_count; k++) {
		int err;

		if (s[k].error)
			continue;
		err = run_once(o, o->kinds[k], i, &s[k].last);
		if (err < 0 && i == 0)
			s[k].error = -err;
		else if (err)
			return abs(err);
		if (s[k].error)
			continue;
		s[k].guard_ok = s[k].guard_ok && s[k].last.guard_ok;
		note(&samples[k], i, &s[k].last);
	}
	return 0;
}

int convoy_measure(const struct convoy_options *o, struct convoy_summary *s)
{
	static struct samples samples[KINDS_MAX];
	int err = 0;

	for (unsigned k = 0; k < o->kind_count; k++)
		s[k] = (struct convoy_summary){ .kind = o->kinds[k], .guard_ok = true };
	for (unsigned i = 0; !err && i < o->runs; i++)
		err = one_round(o, i, s, samples);
	for (unsigned k = 0; !err && k < o->kind_count; k++)
		if (!s[k].error)
			summarize(&s[k], &samples[k], o->runs);
	return err;
}
