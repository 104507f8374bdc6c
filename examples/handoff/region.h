/* SPDX-License-Identifier: MIT
 *
 * region.h - the memory of one run: everything that its tasks, threads or processes, share
 *
 * One mapping, made before the tasks and touched beforehand, so that no page fault falls into a section.
 * Processes inherit it at the same address, so it may hold pointers into itself.
 */
#ifndef HANDOFF_REGION_H
#define HANDOFF_REGION_H

#include <stdatomic.h>

#include "bench.h"
#include "cell.h"
#include "tasks.h"

/* One task's own. */
struct worker {
	_Alignas(LINE) struct region *region;
	struct cell *cell;
	unsigned id;
	int error; /* it could not start */
	uint64_t random;
	uint64_t done, violations, switches;
	struct tally write, read;
	nlock_stats_t stats; /* what it added to its process's counts; only if it has a process of its own */
	struct wait_hist *waits;
};

struct region {
	const struct config *config;
	const struct lock_kind *kind;
	struct arena arena;        /* that it lies in */
	uint64_t loops_r, loops_x; /* mean rounds of busy work */
	struct gate gate;
	struct task *tasks; /* the workers' */
	struct cell *cells;
	unsigned cell_count;
	struct worker *workers;
	struct wait_hist *waits;
	uint16_t *owners;   /* the history of the first cell, in order of acquisition */
	uint32_t *arrivals; /* and the arrival numbers that belong to it */
	size_t room;
	double seconds;      /* how long it really took */
	nlock_stats_t stats; /* what all tasks together added */
	bool has_stats;
	void (*body)(struct worker *); /* what each task does */
	atomic_int step;               /* how far the self-test has got */
};

/* 0, an errno value, or the negative of the one with which the lock itself refused to be made. `run` makes the random numbers differ from run to run. */
int region_make(struct region **region, const struct config *config, const struct lock_kind *kind, unsigned run);
void region_free(struct region *region);

/* What a task does in a measured run: waits for the others at the gate, and then takes its turns while it is open. */
void worker_loop(struct worker *w);

/* Starts all tasks with this body, and waits for them, as tasks.h says. */
void region_start(struct region *region, void (*body)(struct worker *));
int region_join(struct region *region);

/* now -= before, in the counts that are reported. */
void region_stats_since(nlock_stats_t *now, const nlock_stats_t *before);

/* Computes the metrics; false if the guard was violated. */
bool region_results(struct region *region, double *metrics);

#endif
