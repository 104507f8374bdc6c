/* SPDX-License-Identifier: MIT
 *
 * worker.c - what each task does, see bench.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu.h"
#include "random.h"
#include "region.h"

/* The owner of the first cell is the only one to write here, so plain stores do; relaxed ones, for the sake of
 * broken locks. */
static void note(struct worker *w, unsigned long section, uint32_t arrival)
{
	struct region *rg = w->region;

	if (w->cell != rg->cells || section >= rg->room)
		return;
	__atomic_store_n(&rg->owners[section], (uint16_t)w->id, __ATOMIC_RELAXED);
	if (rg->arrivals)
		__atomic_store_n(&rg->arrivals[section], arrival, __ATOMIC_RELAXED);
}

static void write_turn(struct worker *w, uint64_t loops)
{
	const struct lock_kind *kind = w->region->kind;
	struct cell *cell = w->cell;
	unsigned long section;
	uint32_t arrival = 0;
	int64_t asked = 0;

	if (w->waits) {
		arrival = atomic_fetch_add_explicit(&cell->arrivals, 1, memory_order_relaxed);
		asked = now_ns();
	}
	w->write.asked++;
	kind->lock(&cell->lock, &w->write);
	if (w->waits)
		wait_add(w->waits, (uint64_t)(now_ns() - asked));
	section = guard_enter(&cell->guard, &w->violations);
	note(w, section, arrival);
	busy_loop(loops);
	guard_leave(&cell->guard, section, &w->violations);
	w->violations += kind->unlock(&cell->lock) != 0;
}

static void read_turn(struct worker *w, uint64_t loops)
{
	const struct lock_kind *kind = w->region->kind;
	struct cell *cell = w->cell;

	w->read.asked++;
	kind->rdlock(&cell->lock, &w->read);
	guard_look(&cell->guard, &w->violations);
	busy_loop(loops);
	guard_look(&cell->guard, &w->violations);
	w->violations += kind->rdunlock(&cell->lock) != 0;
}

/* At least one, so that even the shortest run on the busiest machine has something to show. */
static void turns_until_stop(struct worker *w)
{
	struct region *rg = w->region;
	unsigned reads = rg->config->reads;

	do {
		uint64_t without = random_around(&w->random, rg->loops_r),
			 with = random_around(&w->random, rg->loops_x);

		busy_loop(without);
		if (reads && random_next(&w->random) % 100 < reads)
			read_turn(w, with);
		else
			write_turn(w, with);
		w->done++;
	} while (gate_is_open(&rg->gate));
}

void worker_loop(struct worker *w)
{
	struct region *rg = w->region;
	uint64_t switches;

	w->error = place_task(rg->config->place, w->id);
	gate_pass(&rg->gate);
	if (w->error)
		return;
	switches = context_switches();
	turns_until_stop(w);
	w->switches = context_switches() - switches;
}
