/* SPDX-License-Identifier: MIT
 *
 * arena.c - see arena.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena.h"

#include <sys/mman.h>

void *arena_carve(struct arena *a, size_t size)
{
	void *piece = a->base ? a->base + a->used : NULL;

	a->used += (size + LINE - 1) / LINE * LINE;
	return piece;
}

bool arena_map(struct arena *a, bool shared)
{
	int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_POPULATE;
	void *base = mmap(NULL, a->used, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (base == MAP_FAILED)
		return false;
	a->base = base;
	a->size = a->used;
	a->used = 0;
	return true;
}

void arena_unmap(struct arena *a)
{
	munmap(a->base, a->size);
}
