/* SPDX-License-Identifier: MIT
 *
 * fake_wait.h - sleeping, waking and time on a script
 *
 * tests/fake_wait.c stands in for lib/wait.c. The players of a script are threads of which only one runs at a time:
 * the script gives a player its turn, and has it back when the player's call has returned, when the player has fallen
 * asleep in nl_wait, or when it has come to a stop that the script had asked for. A sleeper goes on only when the
 * script says so and with the outcome that the script says; a wake takes it out of the queue, as in the kernel, but it
 * does not run by itself.
 *
 *	fk_begin();
 *	fk_call(A, lock, &m);                    // FK_READY: has it
 *	fk_call(B, lock, &m);                    // FK_ASLEEP
 *	fk_call(A, unlock, &m);                  // FK_READY; B is FK_WOKEN now
 *	fk_go(B);                                // FK_READY
 *	fk_end();
 *
 * The fake keeps a record of all calls, and complains about what breaks the contract of lib/wait.h: attributes that
 * differ between calls on one word, a lane that is none, a count that is none, a deadline that changes within a call
 * or is no time.
 */
#ifndef FAKE_WAIT_H
#define FAKE_WAIT_H

#include "wait.h"

#define FK_PLAYERS 8
#define FK_SCRIPT  (-1) /* the script itself, which may call the library where that does not sleep */
#define FK_CALLS   4096 /* the last so many are kept */

#define FK_CANCELLED (-4711) /* fk_result() of a call that was cancelled */

enum fk_state {
	FK_READY,   /* between two calls; fk_result() says what the last returned */
	FK_ASLEEP,  /* in the queue */
	FK_WOKEN,   /* a wake took it out of the queue; it has not run yet */
	FK_STOPPED, /* at a stop */
};

/* Stops, for one player; a script may combine them. Each holds once, FK_AT_CLOCK until it is taken back. */
#define FK_BEFORE_ENTER 0x01u
#define FK_AFTER_ENTER  0x02u
#define FK_BEFORE_WAIT  0x04u /* on its way to sleep: no wake finds it, and the word is compared after it */
#define FK_BEFORE_WAKE  0x08u
#define FK_AFTER_WAKE   0x10u
#define FK_AT_CLOCK     0x20u /* each look at the clock, as a watcher does */

enum fk_kind { FK_ENTER, FK_WAIT, FK_WAKE, FK_PLACE, FK_ADOPT, FK_MOVE };

struct fk_record {
	enum fk_kind kind;
	int who;
	uint32_t *word;
	nlock_attr_t attr;
	uint32_t value; /* expected by a wait; stored by an enter or adopt */
	uint32_t lanes;
	int n;        /* asked of a wake */
	int result;   /* woken by a wake, woken and moved by a move; 1 if an enter or adopt succeeded */
	uint32_t *to; /* of a move */
};

/* What nl_wake says, whatever it did. */
enum fk_lie { FK_TRUTH, FK_ZERO };

extern struct fk_world {
	int64_t now;                   /* nl_now() */
	int64_t tick;                  /* added after each look at it */
	int64_t realtime;              /* the other clock, in nanoseconds */
	int64_t watch_ns;              /* nl_watch_ns() */
	uint32_t cpu;                  /* nl_wait_cpu() */
	uint32_t nodes;                /* of the machine, in a row; 0 is 1 */
	uint32_t node[FK_PLAYERS + 1]; /* nl_wait_node() of each player, and of the script */
	bool in_vain;                  /* what nl_watch_try goes by: watching has not paid on any object */
	int place_result;              /* nl_wait_place() */
	uint32_t generation; /* of processes: private objects that are not NUMA are marked with it, as in lib/wait.c */
	uint32_t features;   /* NLOCK_HAS_REQUEUE: sleepers can be moved */
	uint32_t default_limit; /* nl_default_limit() */
	enum fk_lie lie;
	bool may_drop; /* a deadline may be dropped within a call, by one that is owed something; else only once it has passed */
	const char *complaint; /* the first breach of the contract, or NULL */
	const char *(*rule)(
		const struct fk_record *r); /* the script's own rule for each call, before it happens; may be NULL */
	int n_enters, n_waits, n_wakes, n_clocks; /* calls since fk_begin or fk_forget */
	int n_calls;                              /* all but looks at the clock */
	struct fk_record calls[FK_CALLS];
} fk;

/* A fresh world. All players must be ready. */
void fk_begin(void);

/* Forgets the record, not the sleepers. */
void fk_forget(void);

/* Player `who` makes a call, up to where it stops. */
enum fk_state fk_call(int who, int (*call)(void *), void *arg);

/* Lets a stopped or woken player go on. */
enum fk_state fk_go(int who);

/* Lets a sleeper return with `why`, though no wake found it. */
enum fk_state fk_rouse(int who, enum nl_outcome why);

/* Cancels a player: one that sleeps, has been woken or is about to sleep, in a wait that can be cancelled, calls what the wait says, up to
 * where that stops, and then its call has ended. One that is ready is cancelled at the next such place that it comes to. */
enum fk_state fk_cancel(int who);
bool fk_may_cancel(int who);

void fk_stop_at(int who, unsigned int where);

enum fk_state fk_state(int who);
int fk_result(int who);

/* Where a sleeper sleeps, and whether it has a deadline. */
uint32_t fk_lane(int who);
bool fk_has_deadline(int who);
int fk_asleep(void);

/* The last call of this kind, NULL if there was none. */
const struct fk_record *fk_last(enum fk_kind kind);

#endif
