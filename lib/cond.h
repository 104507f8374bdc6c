/* SPDX-License-Identifier: MIT
 *
 * cond.h - the state of a condition variable, and the two halves of a wait on it, for whatever lock is given up between them: cond.c
 * says how and what each bit means, cond_move.c how a broadcast moves waiters to their mutex
 */
#ifndef NL_COND_H
#define NL_COND_H

#include "wait.h"

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

#define C_WAITER  ((uint64_t)1)       /* one waiting */
#define C_INSIDE  ((uint64_t)1 << 22) /* one inside */
#define C_CALL    ((uint64_t)1 << 44) /* one calling */
#define C_MOVE    ((uint64_t)1 << 52) /* one moving */
#define C_EPOCH   ((uint64_t)1 << 58)
#define C_SENT    ((uint64_t)1 << 59)
#define C_WATCHED ((uint64_t)1 << 60)
#define C_TOLD    ((uint64_t)1 << 61)
#define C_LEAVING ((uint64_t)1 << 62)
#define C_TURN    ((uint64_t)1 << 63)
#define C_WAITING (C_INSIDE - C_WAITER)
#define C_COUNTS  (C_CALL - C_WAITER)
#define C_CALLING (C_MOVE - C_CALL)
#define C_MOVING  (C_EPOCH - C_MOVE)

#define G_OUT     1u
#define G_COUNTED 2u
#define G_ONE     4u

/* What a waiter knows of itself. */
struct nl_cond_waiter {
	nlock_mutex_t *m;            /* that it gives up; NULL: another lock */
	const struct nl_deadline *d; /* or NULL: for ever */
	bool is_late;                /* it has passed already */
	bool watches;
	bool is_woken;   /* a wake has taken it out of a queue */
	bool is_counted; /* as a waiter of the mutex */
	uint32_t gate;   /* as it was before this one registered */
	uint64_t epoch;  /* in which it registered */
	uint64_t mine;   /* what it leaves with, besides */
};

/* The gate at which those sleep who register in this state. */
static inline uint32_t *nl_cond_gate(nlock_cond_t *c, uint64_t state)
{
	return state & C_EPOCH ? &c->gate2 : &c->gate;
}

/* Has it been sent away since it registered? */
static inline bool nl_cond_is_sent(uint64_t state, const struct nl_cond_waiter *self)
{
	return (state ^ self->epoch) & C_EPOCH;
}

/* Registers. The caller holds its lock, and gives it up next. */
void nl_cond_enter(nlock_cond_t *c, struct nl_cond_waiter *self);

/* Blocks until released, and lets go of *c. Then the caller takes its lock again. Returns what the wait returns. */
int nl_cond_block(nlock_cond_t *c, struct nl_cond_waiter *self);

/* Instead: lets go of *c, and passes on the signal that may have released it. */
void nl_cond_abandon(nlock_cond_t *c, struct nl_cond_waiter *self);

/* The last look at *c. self: NULL for a caller of signal and broadcast; mine: what goes besides. Returns the state after it. */
uint64_t nl_cond_leave(nlock_cond_t *c, struct nl_cond_waiter *self, uint64_t mine);

/* Says which mutex the caller is going to wait with, which it holds; NULL is another lock. */
void nl_cond_name(nlock_cond_t *c, const nlock_mutex_t *m);

/* A broadcast that found the state s, and waiters. False: nobody was sent away, and all must be released. */
bool nl_cond_send(nlock_cond_t *c, uint64_t s);

/* Of one that was sent away: until it may go. */
void nl_cond_await(nlock_cond_t *c, struct nl_cond_waiter *self);

/* For destroy: those that have been sent away, and sleep on their mutex, let go of *c. */
void nl_cond_rouse(nlock_cond_t *c);

#endif
