/* SPDX-License-Identifier: MIT
 *
 * region.c - makes and frees the memory of a run, see region.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "region.h"

#include <errno.h>
#include <math.h>

#include "random.h"

/* Without a lock nothing may be shared: each task then has a cell, and so a guard, of its own, and there is no
 * history. */
static bool has_lock(const struct lock_kind *kind)
{
	return kind->letter != 'e';
}

/* How many tasks may ask for one lock; the self-test sends one more to the first. */
static unsigned tasks_of_cell(const struct config *cf, unsigned cells)
{
	return (cf->tasks + cells - 1) / cells + 1;
}

/* The pieces of the region, in order. Returns the slots of the ticket locks. */
static struct ticket_slot *lay_out(struct arena *a, struct region *rg, const struct config *cf,
				   const struct lock_kind *kind)
{
	bool waits = cf->waits && has_lock(kind);

	rg->cell_count = has_lock(kind) ? cf->locks : cf->tasks;
	rg->room = has_lock(kind) ? HISTORY_MAX : 0;
	rg->cells = arena_carve(a, rg->cell_count * sizeof(struct cell));
	rg->workers = arena_carve(a, cf->tasks * sizeof(struct worker));
	rg->tasks = arena_carve(a, cf->tasks * sizeof(struct task));
	rg->waits = arena_carve(a, waits ? cf->tasks * sizeof(struct wait_hist) : 0);
	rg->owners = arena_carve(a, rg->room * sizeof *rg->owners);
	rg->arrivals = arena_carve(a, waits ? rg->room * sizeof *rg->arrivals : 0);
	if (!waits) {
		rg->waits = NULL;
		rg->arrivals = NULL;
	}
	return cells_carve_slots(a, rg->cell_count, kind, tasks_of_cell(cf, rg->cell_count));
}

static int make_cells(struct region *rg, struct ticket_slot *slots)
{
	const struct config *cf = rg->config;
	struct lock_setup setup = {
		.shared = cf->processes,
		.tasks = tasks_of_cell(cf, rg->cell_count),
		.patience_ns = (int64_t)(cf->patience * 1000),
		.slots = slots,
	};

	return -cells_init(rg->cells, rg->cell_count, rg->kind, &setup);
}

static void make_workers(struct region *rg, unsigned run)
{
	const struct config *cf = rg->config;

	for (unsigned i = 0; i < cf->tasks; i++) {
		struct worker *w = &rg->workers[i];

		w->region = rg;
		w->id = i;
		w->cell = &rg->cells[i % rg->cell_count];
		w->waits = rg->waits ? &rg->waits[i] : NULL;
		w->random = random_start(cf->seed, run, i);
	}
}

int region_make(struct region **region, const struct config *config, const struct lock_kind *kind, unsigned run)
{
	struct arena arena = { NULL, 0, 0 };
	struct ticket_slot *slots;
	struct region draft, *rg;
	int err;

	arena_carve(&arena, sizeof *rg);
	lay_out(&arena, &draft, config, kind);
	if (!arena_map(&arena, config->processes))
		return errno;
	rg = arena_carve(&arena, sizeof *rg);
	slots = lay_out(&arena, rg, config, kind);
	rg->arena = arena;
	rg->config = config;
	rg->kind = kind;
	rg->loops_r = (uint64_t)llround(config->r * (double)config->loops);
	rg->loops_x = (uint64_t)llround(config->x * (double)config->loops);
	err = make_cells(rg, slots);
	if (!err) {
		make_workers(rg, run);
		err = gate_init(&rg->gate, config->tasks, config->processes);
		*region = rg;
		if (!err)
			return 0;
		cells_fini(rg->cells, rg->cell_count, kind);
	}
	arena_unmap(&arena);
	return err;
}

void region_free(struct region *rg)
{
	struct arena arena = rg->arena; /* the original goes with the rest */

	cells_fini(rg->cells, rg->cell_count, rg->kind);
	gate_fini(&rg->gate);
	arena_unmap(&arena);
}

/* ------------------------------------------------------------------ its tasks */

void region_stats_since(nlock_stats_t *now, const nlock_stats_t *before)
{
	now->grants -= before->grants;
	now->barges -= before->barges;
	now->sleeps -= before->sleeps;
	now->wakes -= before->wakes;
}

/* Each process counts for itself. */
static void task_body(void *of)
{
	struct worker *w = of;
	bool counts = w->region->config->processes;
	nlock_stats_t before;

	counts = counts && nlock_stats(&before) == 0;
	w->region->body(w);
	if (counts && nlock_stats(&w->stats) == 0)
		region_stats_since(&w->stats, &before);
}

void region_start(struct region *rg, void (*body)(struct worker *))
{
	rg->body = body;
	for (unsigned i = 0; i < rg->config->tasks; i++)
		rg->tasks[i] = (struct task){ .body = task_body, .of = &rg->workers[i] };
	tasks_start(rg->tasks, rg->config->tasks, rg->config->processes);
}

int region_join(struct region *rg)
{
	return tasks_join(rg->tasks, rg->config->tasks, rg->config->processes);
}
