/* SPDX-License-Identifier: MIT
 *
 * cell.c - see cell.h
 */
#include "cell.h"

struct ticket_slot *cells_carve_slots(struct arena *a, unsigned n, const struct lock_kind *kind, unsigned tasks)
{
	if (!kind->has_slots)
		return NULL;
	return arena_carve(a, (size_t)ticket_slots(tasks) * n * sizeof(struct ticket_slot));
}

int cells_init(struct cell *cells, unsigned n, const struct lock_kind *kind, const struct lock_setup *setup)
{
	struct lock_setup one = *setup;

	for (unsigned i = 0; i < n; i++) {
		int err;

		one.slots = setup->slots ? setup->slots + (size_t)i * ticket_slots(setup->tasks) : NULL;
		err = kind->init(&cells[i].lock, kind, &one);
		if (!err)
			continue;
		cells_fini(cells, i, kind);
		return err;
	}
	return 0;
}

void cells_fini(struct cell *cells, unsigned n, const struct lock_kind *kind)
{
	while (n--)
		kind->fini(&cells[n].lock);
}
