/* SPDX-License-Identifier: MIT
 *
 * cond.h - the two halves of a wait on a condition variable, for whatever lock is given up between them: cond.c says how
 */
#ifndef NL_COND_H
#define NL_COND_H

#include "wait.h"

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

/* What a waiter knows of itself. */
struct nl_cond_waiter {
	const struct nl_deadline *d; /* or NULL: for ever */
	bool is_late;                /* it has passed already */
	bool watches;
	uint32_t gate; /* as it was before this one registered */
	uint64_t mine; /* what it leaves with, besides */
};

/* Registers. The caller holds its lock, and gives it up next. */
void nl_cond_enter(nlock_cond_t *c, struct nl_cond_waiter *self);

/* Blocks until released, and lets go of *c. Then the caller takes its lock again. Returns what the wait returns. */
int nl_cond_block(nlock_cond_t *c, struct nl_cond_waiter *self);

/* Instead: lets go of *c, and passes on the signal that may have released it. */
void nl_cond_abandon(nlock_cond_t *c, struct nl_cond_waiter *self);

#endif
