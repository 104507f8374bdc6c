/* SPDX-License-Identifier: MIT
 *
 * stats_table.h - what stats.c counts and stats_report.c prints
 */
#ifndef PRELOAD_STATS_TABLE_H
#define PRELOAD_STATS_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum stat_family {
	STAT_MUTEX,
	STAT_RECURSIVE,
	STAT_ERRORCHECK,
	STAT_ADAPTIVE,
	STAT_RWLOCK,
	STAT_SEM,
	STAT_COND,
	STAT_BARRIER,
	STAT_FAMILIES
};

/* One object. All zero: free. A key, once there, stays; everything else is a relaxed sum. */
struct stat_object {
	uint64_t key;       /* address << 3 | family: below */
	uintptr_t caller;   /* who used it first; 0: not known */
	uint64_t acquired;  /* times locked, tokens taken, waits that have come back */
	uint64_t contended; /* calls that had to wait, or did until their deadline */
	uint64_t waited;    /* by those, nanoseconds in all */
	uint64_t longest;   /* and by one of them */
	uint64_t spare[2];
};

#define STAT_OBJECTS 16384

/* `rest` is where objects go for which there was no room. In its pages, whatever their size, there is nothing else: a child of
 * fork throws its copy away. */
struct stat_table {
	struct stat_object object[STAT_OBJECTS];
	struct stat_object rest[STAT_FAMILIES];
} __attribute__((aligned(65536)));

extern struct stat_table stat_table __attribute__((visibility("hidden")));

static inline uintptr_t stat_address(const struct stat_object *o)
{
	return (uintptr_t)(o->key >> 3);
}

static inline enum stat_family stat_family(const struct stat_object *o)
{
	return (enum stat_family)(o->key & 7);
}

#endif
