/* SPDX-License-Identifier: MIT
 *
 * bench_barrier.c - `nlock bench barrier': rounds, one after the other, with nothing between them
 *
 * Each thread writes down which round it has come to. What must hold is checked by everybody in every round: after the
 * barrier, the neighbour has come to this round, too; and exactly one thread a round is told that it is the serial one.
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "loops.h"

#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CK_BARRIER
#include <ck_barrier.h>
#endif

#define THREADS_MAX 64

struct hall {
	char barrier[256];
	OWN_LINES unsigned long last; /* the round that is the last one; 0: not yet known */
	struct {
		OWN_LINES unsigned long round;
	} at[THREADS_MAX];
};

_Static_assert(sizeof(struct hall) <= OBJECT_SIZE && sizeof(pthread_barrier_t) <= 256, "sizes");

/* ---------------------------------------------------------------- the loop */

static unsigned long look_at(const unsigned long *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Thread 0 says, before it comes to it, which round is the last one. A thread that is still on its way out of the round
 * before may read that early, and is not misled. */
INLINED void loop_rounds(struct worker *w, try_fn *wait)
{
	struct hall *h = w->object;
	unsigned long round = 0, last;

	if (w->threads > THREADS_MAX) {
		w->failures++;
		return;
	}
	do {
		round++;
		if (w->id == 0 && phase_now(w) == PHASE_STOP)
			publish(&h->last, round);
		publish(&h->at[w->id].round, round);
		if (wait(w))
			w->guarded->counter++;
		if (look_at(&h->at[(w->id + 1) % w->threads].round) < round)
			w->failures++;
		if (w->id == 0)
			publish(&w->ops, round);
		last = look_at(&h->last);
	} while (!last || round < last);
}

#define BARRIER_BODY(x) \
	static void x##_rounds(struct worker *w) \
	{ \
		loop_rounds(w, x##_wait); \
	}

/* ---------------------------------------------------------------- the barriers: true for the serial thread */

INLINED bool nl_wait(struct worker *w)
{
	return nlock_barrier_wait(w->object) == NLOCK_BARRIER_SERIAL;
}

BARRIER_BODY(nl)

static void nl_begin(void *object, unsigned int threads)
{
	if (nlock_barrier_init(object, threads, 0))
		abort();
}

static bool nl_end(void *object)
{
	return nlock_barrier_destroy(object) == 0;
}

INLINED bool pt_wait(struct worker *w)
{
	return pthread_barrier_wait(w->object) == PTHREAD_BARRIER_SERIAL_THREAD;
}

BARRIER_BODY(pt)

static void pthread_begin(void *object, unsigned int threads)
{
	pthread_barrier_init(object, NULL, threads);
}

static bool pthread_end(void *object)
{
	return pthread_barrier_destroy(object) == 0;
}

#ifdef HAVE_CK_BARRIER
/* It has no serial thread; the first one will do. */
INLINED bool ck_wait(struct worker *w)
{
	ck_barrier_centralized(w->object, (void *)w->scratch, w->threads);
	return w->id == 0;
}

BARRIER_BODY(ck)
#endif

/* ---------------------------------------------------------------- three that do not work */

INLINED bool open_wait(struct worker *w)
{
	return w->id == 0;
}

INLINED bool serial_wait(struct worker *w)
{
	pthread_barrier_wait(w->object);
	return w->id < 2;
}

BARRIER_BODY(open)
BARRIER_BODY(serial)

static void stuck_begin(void *object, unsigned int threads)
{
	pthread_barrier_init(object, NULL, threads + 1);
}

/* ---------------------------------------------------------------- the tables */

#define BODY(x) \
	{ \
		[BODY_CONTENDED] = x##_rounds \
	}

static const struct subject subjects[] = {
	{ .name = "nlock",
	  .what = "nlock_barrier_t",
	  .flags = SUBJECT_MUST,
	  .begin_for = nl_begin,
	  .end = nl_end,
	  .body = BODY(nl) },
	{ .name = "pthread",
	  .what = "pthread_barrier_t: the reference",
	  .flags = SUBJECT_PEER | SUBJECT_ALWAYS,
	  .begin_for = pthread_begin,
	  .end = pthread_end,
	  .body = BODY(pt) },
	{ .name = "pthread-2",
	  .what = "the reference once more: what differs is noise",
	  .flags = SUBJECT_ALWAYS,
	  .begin_for = pthread_begin,
	  .end = pthread_end,
	  .body = BODY(pt) },
#ifdef HAVE_CK_BARRIER
	SUBJECT("ck", "Concurrency Kit, centralized; spins for ever", SUBJECT_SPINS, nothing_begin, nothing_end,
		BODY(ck)),
#endif
	SUBJECT("self-test-open", "lets everybody through", SUBJECT_FAULTY, nothing_begin, nothing_end, BODY(open)),
	{ .name = "self-test-serial",
	  .what = "has two serial threads",
	  .flags = SUBJECT_FAULTY,
	  .begin_for = pthread_begin,
	  .end = nothing_end,
	  .body = BODY(serial) },
	{ .name = "self-test-stuck",
	  .what = "waits for one thread too many",
	  .flags = SUBJECT_HANGS,
	  .begin_for = stuck_begin,
	  .end = nothing_end,
	  .body = BODY(pt) },
	LAST_SUBJECT,
};

#define ROUNDS(n) \
	.name = "t" #n, .threads = n, .body = BODY_CONTENDED, .load = "nothing between the rounds", .op = "round"

static const struct cell cells[] = {
	{ ROUNDS(2), .must = 20, .flags = CELL_TWO_CPUS },
	{ ROUNDS(4), .must = 1.1, .flags = CELL_TWO_CPUS },
	{ ROUNDS(16), .must = 1.1, .flags = CELL_TWO_CPUS },
	{ ROUNDS(64), .must = 1.1, .flags = CELL_TWO_CPUS, .stretch = 2 },
};

static const struct cell self_test = { ROUNDS(4) };

/* Somebody comes last, and need not sleep. One in a hundred more is what the scheduler takes for itself. */
static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	(void)cpus;
	if (c->threads > 2)
		add_at_most(l, "nlock", NULL, MEASURE_SWITCHES, 1.01 * (c->threads - 1));
	else
		add_shown(l, "nlock", NULL, MEASURE_SWITCHES);
	add_shown(l, "nlock", "ck", MEASURE_RATE);
}

const struct noun noun_barrier = {
	.name = "barrier",
	.subjects = subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.self_test = &self_test,
};
