/* SPDX-License-Identifier: MIT
 *
 * loops_cond.h - three ways to meet at a condvar
 *
 *	ring	A token goes round; thread i waits for it at condvar i. The mutex is held in the signal, or released
 *		before. Whoever has the token is alone, and that is checked as for a lock.
 *	queue	A bounded queue of numbers, half of the threads put them in, half take them out. The mutex is held in the
 *		signal. What is taken out must be what was put in, in order.
 *	crowd	Thread 0 broadcasts to all the others, who wait again; when all do, it goes on. With the mutex held, or
 *		released before. Each waiter must have come through once for each broadcast. A round needs a switch for
 *		each waiter and one for thread 0.
 */
#ifndef LOOPS_COND_H
#define LOOPS_COND_H

#include "loops.h"

#define CONDS_MAX 64
#define QUEUE_MAX 256

/* What the mutex protects. Volatile, because the self-test has a mutex that does not, and is to come back from it. */
struct board {
	volatile bool is_closed;
	volatile unsigned int turn;
	volatile unsigned long put, taken;
	volatile unsigned long generation, waiting, through;
	unsigned long item[QUEUE_MAX];
};

/* Each lock on lines of its own. */
struct desk {
	char mutex[128];
	OWN_LINES struct board board;
	OWN_LINES char cond[CONDS_MAX][128];
};

_Static_assert(sizeof(struct desk) <= OBJECT_SIZE, "OBJECT_SIZE");

/* Which condvar is for what. In a ring, condvar i is thread i's. */
enum { NOT_EMPTY, NOT_FULL };
enum { RELEASED, ALL_WAIT };

/* The cell's number. In a ring and in a crowd: where is the mutex meanwhile? In a queue, how long that may be. */
enum { HELD, AFTER };

static inline void *mutex_of(struct worker *w)
{
	return ((struct desk *)w->object)->mutex;
}

static inline void *cond_of(struct worker *w, unsigned int i)
{
	return ((struct desk *)w->object)->cond[i];
}

static inline struct board *board_of(struct worker *w)
{
	return &((struct desk *)w->object)->board;
}

struct cond_fns {
	lock_fn *lock, *unlock;
	nth_fn *wait, *signal, *broadcast;
};

/* ---------------------------------------------------------------- ring */

/* False: the ring is closed. */
INLINED bool await_turn(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);

	while (b->turn != w->id && !b->is_closed)
		f.wait(w, w->id);
	return !b->is_closed;
}

/* With the mutex held, or released before. It is held again afterwards. */
INLINED void tell(struct worker *w, struct cond_fns f, nth_fn *call, unsigned int i)
{
	if (w->arg == HELD) {
		call(w, i);
		return;
	}
	f.unlock(w);
	call(w, i);
	f.lock(w);
}

/* Whoever leaves tells the next one that the ring is closed. */
INLINED void loop_turns(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);
	unsigned int next = (w->id + 1) % w->threads;
	unsigned long ops = 0;

	if (w->threads > CONDS_MAX) {
		w->failures++;
		return;
	}
	f.lock(w);
	while (await_turn(w, f)) {
		section(w);
		publish(&w->ops, ++ops);
		b->is_closed = phase_now(w) == PHASE_STOP;
		b->turn = next;
		tell(w, f, f.signal, next);
	}
	f.signal(w, next);
	f.unlock(w);
}

/* ---------------------------------------------------------------- queue */

/* False: the queue is closed. */
INLINED bool put(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);

	while (b->put - b->taken == (unsigned long)w->arg && !b->is_closed)
		f.wait(w, NOT_FULL);
	if (b->is_closed)
		return false;
	b->item[b->put % QUEUE_MAX] = b->put;
	b->put++;
	f.signal(w, NOT_EMPTY);
	return true;
}

INLINED bool take(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);

	while (b->put == b->taken && !b->is_closed)
		f.wait(w, NOT_EMPTY);
	if (b->is_closed)
		return false;
	if (b->item[b->taken % QUEUE_MAX] != b->taken || w->guarded->counter != b->taken)
		w->failures++;
	section(w);
	b->taken++;
	f.signal(w, NOT_FULL);
	return true;
}

INLINED void close_queue(struct worker *w, struct cond_fns f)
{
	f.lock(w);
	board_of(w)->is_closed = true;
	f.broadcast(w, NOT_EMPTY);
	f.broadcast(w, NOT_FULL);
	f.unlock(w);
}

/* An operation is an item taken out. */
INLINED void loop_queue(struct worker *w, struct cond_fns f)
{
	bool is_producer = w->id < w->threads / 2, is_open = true;
	unsigned long ops = 0;

	while (is_open && phase_now(w) != PHASE_STOP) {
		f.lock(w);
		is_open = is_producer ? put(w, f) : take(w, f);
		f.unlock(w);
		if (is_open && !is_producer)
			publish(&w->ops, ++ops);
	}
	close_queue(w, f);
}

/* ---------------------------------------------------------------- crowd */

INLINED void be_in_crowd(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);

	f.lock(w);
	while (!b->is_closed) {
		unsigned long seen = b->generation;

		b->waiting++;
		if (b->waiting == w->threads - 1)
			f.signal(w, ALL_WAIT);
		while (b->generation == seen)
			f.wait(w, RELEASED);
		b->through++;
	}
	f.unlock(w);
}

INLINED void release_crowd(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);

	b->waiting = 0;
	b->generation++;
	tell(w, f, f.broadcast, RELEASED);
}

INLINED void drive_crowd(struct worker *w, struct cond_fns f)
{
	struct board *b = board_of(w);
	unsigned long ops = 0;

	f.lock(w);
	while (!b->is_closed) {
		while (b->waiting != w->threads - 1)
			f.wait(w, ALL_WAIT);
		if (b->through != ops * (w->threads - 1))
			w->failures++;
		b->is_closed = phase_now(w) == PHASE_STOP;
		section(w);
		publish(&w->ops, ++ops);
		release_crowd(w, f);
	}
	f.unlock(w);
}

INLINED void loop_crowd(struct worker *w, struct cond_fns f)
{
	if (w->id == 0)
		drive_crowd(w, f);
	else
		be_in_crowd(w, f);
}

#endif
