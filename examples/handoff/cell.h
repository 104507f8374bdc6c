/* SPDX-License-Identifier: MIT
 *
 * cell.h - a lock and what it protects, each on lines of its own
 */
#ifndef HANDOFF_CELL_H
#define HANDOFF_CELL_H

#include <stdatomic.h>

#include "arena.h"
#include "guard.h"
#include "locks.h"

struct cell {
	_Alignas(LINE) struct lock lock;
	_Alignas(LINE) struct guard guard;
	_Alignas(LINE) _Atomic uint32_t arrivals; /* numbers given out to those who ask, if anybody does */
};

/* Room for the slots of n cells of this kind, for which so many tasks ask at most; NULL if it needs none. */
struct ticket_slot *cells_carve_slots(struct arena *a, unsigned n, const struct lock_kind *kind, unsigned tasks);

/* Makes the locks of n cells of zero bytes; setup->slots are those of all. All or none: 0 or an errno value. */
int cells_init(struct cell *cells, unsigned n, const struct lock_kind *kind, const struct lock_setup *setup);
void cells_fini(struct cell *cells, unsigned n, const struct lock_kind *kind);

/* A turn in a cell: returns the number of the section, which cell_leave wants back. */
static inline unsigned long cell_enter(struct cell *c, const struct lock_kind *kind, struct tally *t,
				       uint64_t *violations)
{
	t->asked++;
	kind->lock(&c->lock, t);
	return guard_enter(&c->guard, violations);
}

static inline void cell_leave(struct cell *c, const struct lock_kind *kind, unsigned long section, uint64_t *violations)
{
	guard_leave(&c->guard, section, violations);
	*violations += kind->unlock(&c->lock) != 0;
}

#endif
