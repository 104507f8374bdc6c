/* SPDX-License-Identifier: MIT
 *
 * bench_sem.c - `nlock bench sem': a post and a wait, alone and as a hand-off
 *
 * Under load, a token goes round: thread i waits at semaphore i and posts to the next one. There is one token only, so
 * whoever has it is alone, and that is checked as for a lock. What remains in the end must be that token.
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "loops.h"

#include <nlock.h>
#include <semaphore.h>
#include <stdlib.h>

#define RING_MAX 64

/* Each semaphore on lines of its own. */
struct ring {
	bool is_closed;
	OWN_LINES char place[RING_MAX][128];
};

_Static_assert(sizeof(struct ring) <= OBJECT_SIZE && sizeof(sem_t) <= 128 && sizeof(nlock_sem_t) <= 128, "sizes");

static void *place(void *object, unsigned int i)
{
	return ((struct ring *)object)->place[i];
}

/* ---------------------------------------------------------------- nlock */

INLINED void nl_wait(struct worker *w, unsigned int i)
{
	nlock_sem_wait(place(w->object, i));
}

INLINED void nl_post(struct worker *w, unsigned int i)
{
	nlock_sem_post(place(w->object, i));
}

static void nl_begin(void *object, nlock_attr_t attr)
{
	for (unsigned int i = 0; i < RING_MAX; i++) {
		if (nlock_sem_init(place(object, i), i == 0, attr))
			abort();
	}
}

static void bounded_begin(void *object)
{
	nl_begin(object, NLOCK_BOUNDED);
}

static void fifo_begin(void *object)
{
	nl_begin(object, NLOCK_FIFO);
}

static bool nl_end(void *object)
{
	unsigned long sum = 0;
	int rc = 0;

	for (unsigned int i = 0; i < RING_MAX; i++) {
		sum += nlock_sem_value(place(object, i));
		rc |= nlock_sem_destroy(place(object, i));
	}
	return sum == 1 && rc == 0;
}

/* ---------------------------------------------------------------- glibc */

INLINED void pt_wait(struct worker *w, unsigned int i)
{
	while (sem_wait(place(w->object, i)))
		;
}

INLINED void pt_post(struct worker *w, unsigned int i)
{
	sem_post(place(w->object, i));
}

static void pthread_begin(void *object)
{
	for (unsigned int i = 0; i < RING_MAX; i++)
		sem_init(place(object, i), 0, i == 0);
}

static bool pthread_end(void *object)
{
	unsigned long sum = 0;
	int value;

	for (unsigned int i = 0; i < RING_MAX; i++) {
		sem_getvalue(place(object, i), &value);
		sum += (unsigned int)value;
		sem_destroy(place(object, i));
	}
	return sum == 1;
}

/* ---------------------------------------------------------------- bodies */

#define SEM_BODIES(x) \
	INLINED void x##_post_own(struct worker *w) \
	{ \
		x##_post(w, 0); \
	} \
	INLINED void x##_wait_own(struct worker *w) \
	{ \
		x##_wait(w, 0); \
	} \
	static void x##_pair(struct worker *w) \
	{ \
		loop_pair(w, x##_post_own, x##_wait_own); \
	} \
	static void x##_ring(struct worker *w) \
	{ \
		loop_ring(w, &((struct ring *)w->object)->is_closed, x##_wait, x##_post); \
	}

#define BODIES(x) \
	{ \
		x##_pair, NULL, x##_ring \
	}

SEM_BODIES(nl)
SEM_BODIES(pt)

LIMIT_PAIR(call_pair, limit_add_pointer, limit_sub_pointer)
LIMIT_PAIR(in_pair, limit_add, limit_sub)

INLINED void no_call(struct worker *w, unsigned int i)
{
	(void)w;
	(void)i;
}

static void open_ring(struct worker *w)
{
	loop_ring(w, &((struct ring *)w->object)->is_closed, no_call, pt_post);
}

static void deaf_ring(struct worker *w)
{
	loop_ring(w, &((struct ring *)w->object)->is_closed, pt_wait, no_call);
}

/* ---------------------------------------------------------------- the tables */

static const struct subject subjects[] = {
	SUBJECT("bounded", "nlock, NLOCK_BOUNDED: the default", SUBJECT_MUST, bounded_begin, nl_end, BODIES(nl)),
	SUBJECT("fifo", "nlock, NLOCK_FIFO", SUBJECT_MUST, fifo_begin, nl_end, BODIES(nl)),
	SUBJECT("pthread", "sem_t: the reference", SUBJECT_PEER | SUBJECT_ALWAYS, pthread_begin, pthread_end,
		BODIES(pt)),
	SUBJECT("pthread-2", "the reference once more: what differs is noise", SUBJECT_ALWAYS, pthread_begin,
		pthread_end, BODIES(pt)),
	SUBJECT("limit-call", "two read-modify-writes, called", 0, nothing_begin, nothing_end, { call_pair }),
	SUBJECT("limit-inline", "two read-modify-writes, inline", 0, nothing_begin, nothing_end, { in_pair }),
	RAW_RING,
	SUBJECT("self-test-open", "does not wait", SUBJECT_FAULTY, pthread_begin, nothing_end,
		{ NULL, NULL, open_ring }),
	SUBJECT("self-test-deaf", "loses what is posted", SUBJECT_HANGS, pthread_begin, nothing_end,
		{ NULL, NULL, deaf_ring }),
	LAST_SUBJECT,
};

#define RING      .body = BODY_CONTENDED, .load = "a token goes round, one semaphore each", .op = "hand-off"
#define RING_ONLY .only = "bounded,fifo,pthread,pthread-2,raw-futex"

static const struct cell cells[] = {
	{ .name = "post-wait", .threads = 1, .body = BODY_PAIR, .must = 1.15, .op = "post and wait" },
	{ .name = "ping-pong", .threads = 2, RING, RING_ONLY, .must = 10, .flags = CELL_TWO_CPUS },
	{ .name = "ring-16-1cpu", .threads = 16, RING, RING_ONLY, .must = 1.0, .flags = CELL_ONE_CPU },
};

static const struct cell self_test = { .name = "self-test", .threads = 4, RING, .inside = 1000 };

static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	(void)cpus;
	if (c->body == BODY_PAIR)
		return;
	add_shown(l, "bounded", "raw-futex", MEASURE_RATE);
	add_shown(l, "fifo", "raw-futex", MEASURE_RATE);
}

const struct noun noun_sem = {
	.name = "sem",
	.subjects = subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.self_test = &self_test,
};
