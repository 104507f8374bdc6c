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
#include <sys/mman.h>

#include "random.h"

/* Hands out pieces of one mapping. Used twice: without a base to learn the size, then for real. */
struct arena {
	char *base;
	size_t used;
};

static void *carve(struct arena *a, size_t size)
{
	void *piece = a->base ? a->base + a->used : NULL;

	a->used += (size + LINE - 1) / LINE * LINE;
	return piece;
}

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
	rg->cells = carve(a, rg->cell_count * sizeof(struct cell));
	rg->workers = carve(a, cf->tasks * sizeof(struct worker));
	rg->tasks = carve(a, cf->tasks * sizeof(struct task));
	rg->waits = carve(a, waits ? cf->tasks * sizeof(struct wait_hist) : 0);
	rg->owners = carve(a, rg->room * sizeof *rg->owners);
	rg->arrivals = carve(a, waits ? rg->room * sizeof *rg->arrivals : 0);
	if (!waits) {
		rg->waits = NULL;
		rg->arrivals = NULL;
	}
	if (!kind->has_slots)
		return NULL;
	return carve(a, (size_t)ticket_slots(tasks_of_cell(cf, rg->cell_count)) * rg->cell_count *
				sizeof(struct ticket_slot));
}

static int make_cells(struct region *rg, struct ticket_slot *slots)
{
	const struct config *cf = rg->config;
	struct lock_setup setup = {
		.shared = cf->processes,
		.tasks = tasks_of_cell(cf, rg->cell_count),
		.patience_ns = (int64_t)(cf->patience * 1000),
	};

	for (unsigned i = 0; i < rg->cell_count; i++) {
		int err;

		setup.slots = slots ? slots + (size_t)i * ticket_slots(setup.tasks) : NULL;
		err = rg->kind->init(&rg->cells[i].lock, rg->kind, &setup);
		if (!err)
			continue;
		while (i--)
			rg->kind->fini(&rg->cells[i].lock);
		return -err;
	}
	return 0;
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
	int sharing = config->processes ? MAP_SHARED : MAP_PRIVATE;
	struct arena arena = { NULL, 0 };
	struct ticket_slot *slots;
	struct region draft, *rg;
	int err;

	carve(&arena, sizeof *rg);
	lay_out(&arena, &draft, config, kind);
	arena.base = mmap(NULL, arena.used, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (arena.base == MAP_FAILED)
		return errno;
	draft.size = arena.used;
	arena.used = 0;
	rg = carve(&arena, sizeof *rg);
	slots = lay_out(&arena, rg, config, kind);
	rg->size = draft.size;
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
		for (unsigned i = 0; i < rg->cell_count; i++)
			kind->fini(&rg->cells[i].lock);
	}
	munmap(rg, draft.size);
	return err;
}

void region_free(struct region *rg)
{
	for (unsigned i = 0; i < rg->cell_count; i++)
		rg->kind->fini(&rg->cells[i].lock);
	gate_fini(&rg->gate);
	munmap(rg, rg->size);
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
