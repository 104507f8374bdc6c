/* SPDX-License-Identifier: MIT
 *
 * arena.h - one mapping, cut into pieces
 *
 * Used twice: without a base to learn how much is wanted, then for real.
 */
#ifndef HANDOFF_ARENA_H
#define HANDOFF_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#define LINE 128 /* two cache lines: CPUs fetch them in pairs */

struct arena {
	char *base;
	size_t used, size;
};

/* A piece that begins on a line of its own; NULL as long as there is no base. */
void *arena_carve(struct arena *a, size_t size);

/* Maps what was carved so far, zeroed and touched beforehand, so that no page fault falls into a section, and begins again. `shared`: with
 * processes, which inherit it at the same address. False: errno says why. */
bool arena_map(struct arena *a, bool shared);
void arena_unmap(struct arena *a);

#endif
