/* SPDX-License-Identifier: MIT
 *
 * convoy.h - the parts of convoy
 */
#ifndef HANDOFF_CONVOY_H
#define HANDOFF_CONVOY_H

#include <stdbool.h>
#include <stdint.h>

#include "args.h"
#include "kinds.h"
#include "place.h"
#include "tsv.h"

#define BINS_MAX 1000u

struct convoy_options {
	unsigned threads, runs;
	double r, x;            /* mean microseconds without and with the lock */
	double stall_ms;        /* that one owner sleeps */
	double bin_ms, seconds; /* of a bin, and of a run */
	enum place place;
	enum output output;
	uint64_t seed, loops; /* rounds of busy work in a microsecond */
	const struct lock_kind *kinds[KINDS_MAX];
	unsigned kind_count;
};

/* All threads together. */
struct bin {
	uint64_t turns, failed; /* failed: the lock was not had at the first attempt */
};

/* A part of a run: turns a second, and per cent of them that failed at first; NAN if it has no bin. */
struct stretch {
	double thput, wc;
};

/* A run. The stall is in the bins `from` to `to`; if there was none, has_stall is false and all but the bins is NAN. */
struct convoy_run {
	struct bin bins[BINS_MAX];
	bool has_stall, guard_ok;
	unsigned from, to;
	struct stretch before, after;
	double recover; /* bins after the stall until it is out of the convoy; INFINITY: not in this run */
};

/* Out of a convoy: throughput is back at so much of that before, and at most so many per cent of a bin's requests wait. */
#define RECOVERED_THPUT 0.8
#define RECOVERED_WC    20

/* Of all runs of one lock: medians, and the last run. */
struct convoy_summary {
	const struct lock_kind *kind;
	int error; /* errno value: the lock is not to be had here */
	bool guard_ok;
	struct stretch before, after;
	double kept;    /* throughput after over before */
	double recover; /* NAN: in less than half of the runs, or there was no stall */
	struct convoy_run last;
};

unsigned convoy_bins(const struct convoy_options *o);
unsigned convoy_stall_bin(const struct convoy_options *o);

/* From the bins and the stall to all the rest; pure arithmetic. */
void convoy_judge(const struct convoy_options *o, struct convoy_run *run);

/* Fills a summary for each lock, in interleaved runs: 0 or an errno value. */
int convoy_measure(const struct convoy_options *o, struct convoy_summary *s);

/* Rows with their head, and then the strips; or both tables of tsv. */
void convoy_print(const struct convoy_options *o, const struct convoy_summary *s);

/* An exit code, after what is wrong with a lock has been said on standard error. */
int convoy_complaints(const struct convoy_options *o, const struct convoy_summary *s);

/* --claim and --sweep: exit codes. */
int convoy_claim(struct convoy_options *o);
int convoy_sweep(struct convoy_options *o);

#endif
