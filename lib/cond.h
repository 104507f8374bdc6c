/* SPDX-License-Identifier: MIT
 *
 * cond.h - the state of a condition variable, and the two halves of a wait, for whatever lock is given up between them:
 * cond.c says what each bit means
 */
#ifndef NL_COND_H
#define NL_COND_H

#include "wait.h"

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

/* The state. */
#define C_WAITER  ((uint64_t)1)       /* one waiting */
#define C_INSIDE  ((uint64_t)1 << 22) /* one inside */
#define C_CALL    ((uint64_t)1 << 44) /* one calling */
#define C_MOVE    ((uint64_t)1 << 50) /* one moving */
#define C_WATCHED ((uint64_t)1 << 56)
#define C_TOLD    ((uint64_t)1 << 57)
#define C_LEAVING ((uint64_t)1 << 58)
#define C_TURN    ((uint64_t)1 << 59)
#define C_CHAIN   ((uint64_t)1 << 60)
#define C_MIXED   ((uint64_t)1 << 61)
#define C_SETTING ((uint64_t)1 << 62)
#define C_WAITING (C_INSIDE - C_WAITER)
#define C_COUNTS  (C_CALL - C_WAITER)
#define C_CALLING (C_MOVE - C_CALL)
#define C_MOVING  (C_WATCHED - C_MOVE)

/* What a waiter knows of itself. */
struct nl_cond_waiter {
	const struct nl_deadline *d; /* or NULL: for ever */
	bool is_late;                /* it has passed already */
	bool watches;
	uint32_t gate; /* as it was before this one registered */
	uint64_t mine; /* what it leaves with, besides */
	bool wakes;    /* the next one, when it has its mutex */
};

/* Registers. The caller holds its lock, and gives it up next. `m`: the mutex, or NULL if it is another kind of lock. */
void nl_cond_enter(nlock_cond_t *c, struct nl_cond_waiter *self, const nlock_mutex_t *m);

/* Blocks until released, and lets go of *c. Then the caller takes its lock again. Returns what the wait returns. */
int nl_cond_block(nlock_cond_t *c, struct nl_cond_waiter *self);

#endif
