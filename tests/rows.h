/* SPDX-License-Identifier: MIT
 *
 * rows.h - the table of rows: hand-off x placement x sharing
 *
 * Every tier loops over it. A new value on an axis is one line here. The rows of one placement and sharing stand
 * together, the plainest first: the first ROWS_HANDOFFS rows differ in the hand-off only.
 */
#ifndef ROWS_H
#define ROWS_H

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

#define ROW_NO_BOUND UINT32_MAX

struct row {
	const char *name; /* hand-off, placement, sharing */
	nlock_attr_t attr;
	uint32_t bound;     /* how often an ordinary unlock may let others pass the head; ROW_NO_BOUND */
	nlock_attr_t place; /* the placement alone */
	bool is_shared;
};

#define ROW(h, k, p, s) \
	{ \
#h " " #p " " #s, NLOCK_##h | NLOCK_PLACE_##p | NLOCK_##s, k, NLOCK_PLACE_##p, \
			NLOCK_##s == NLOCK_SHARED \
	}

#define ROWS_OF(p, s) \
	ROW(BOUNDED, NLOCK_BOUND_DEFAULT, p, s), ROW(BOUNDED_N(0), 0, p, s), ROW(BOUNDED_N(1), 1, p, s), \
		ROW(BOUNDED_N(7), 7, p, s), ROW(BOUNDED_N(100), 100, p, s), ROW(FIFO, 0, p, s), \
		ROW(BARGING, ROW_NO_BOUND, p, s)

#define ROWS_HANDOFFS 7

static const struct row rows[] = {
	ROWS_OF(HASH, PRIVATE),  ROWS_OF(HASH, SHARED),  ROWS_OF(NODE(0), PRIVATE), ROWS_OF(NODE(0), SHARED),
	ROWS_OF(FIRST, PRIVATE), ROWS_OF(FIRST, SHARED), ROWS_OF(MPOL, PRIVATE),    ROWS_OF(MPOL, SHARED),
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

#endif
