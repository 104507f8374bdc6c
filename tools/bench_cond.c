/* SPDX-License-Identifier: MIT
 *
 * bench_cond.c - `nlock bench cond': a condvar with its mutex; what the threads do is in loops_cond.h
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "loops_cond.h"

#include <nlock.h>

#ifdef HAVE_NSYNC
#include <nsync.h>
#endif

/* ---------------------------------------------------------------- bodies */

_Static_assert(sizeof(pthread_cond_t) <= 128 && sizeof(nlock_cond_t) <= 128, "too large for its place");

#define FNS(x) ((struct cond_fns){ x##_lock, x##_unlock, x##_wait, x##_signal, x##_broadcast })

#define COND_BODIES(x) \
	INLINED void x##_signal_nobody(struct worker *w) \
	{ \
		x##_signal(w, 0); \
	} \
	INLINED void x##_broadcast_nobody(struct worker *w) \
	{ \
		x##_broadcast(w, 0); \
	} \
	static void x##_signals(struct worker *w) \
	{ \
		loop_single(w, x##_signal_nobody); \
	} \
	static void x##_broadcasts(struct worker *w) \
	{ \
		loop_single(w, x##_broadcast_nobody); \
	} \
	static void x##_ring(struct worker *w) \
	{ \
		loop_turns(w, FNS(x)); \
	} \
	static void x##_queue(struct worker *w) \
	{ \
		loop_queue(w, FNS(x)); \
	} \
	static void x##_crowd(struct worker *w) \
	{ \
		loop_crowd(w, FNS(x)); \
	}

#define SIGNALS    BODY_PAIR
#define BROADCASTS BODY_PAIR_2
#define RING       BODY_CONTENDED
#define QUEUE      BODY_CONTENDED_2
#define CROWD      BODY_CONTENDED_3

#define BODIES(x) \
	{ \
		[SIGNALS] = x##_signals, [BROADCASTS] = x##_broadcasts, [RING] = x##_ring, [QUEUE] = x##_queue, \
		[CROWD] = x##_crowd \
	}

/* ---------------------------------------------------------------- nlock */

INLINED void nl_lock(struct worker *w)
{
	nlock_mutex_lock(mutex_of(w));
}

INLINED void nl_unlock(struct worker *w)
{
	nlock_mutex_unlock(mutex_of(w));
}

INLINED void nl_wait(struct worker *w, unsigned int i)
{
	nlock_cond_wait(cond_of(w, i), mutex_of(w));
}

INLINED void nl_signal(struct worker *w, unsigned int i)
{
	nlock_cond_signal(cond_of(w, i));
}

INLINED void nl_broadcast(struct worker *w, unsigned int i)
{
	nlock_cond_broadcast(cond_of(w, i));
}

COND_BODIES(nl)

static bool nl_end(void *object)
{
	struct desk *d = object;
	int rc = nlock_mutex_destroy((void *)d->mutex);

	for (unsigned int i = 0; i < CONDS_MAX; i++)
		rc |= nlock_cond_destroy((void *)d->cond[i]);
	return rc == 0;
}

/* ---------------------------------------------------------------- glibc */

INLINED void pt_lock(struct worker *w)
{
	pthread_mutex_lock(mutex_of(w));
}

INLINED void pt_unlock(struct worker *w)
{
	pthread_mutex_unlock(mutex_of(w));
}

INLINED void pt_wait(struct worker *w, unsigned int i)
{
	pthread_cond_wait(cond_of(w, i), mutex_of(w));
}

INLINED void pt_signal(struct worker *w, unsigned int i)
{
	pthread_cond_signal(cond_of(w, i));
}

INLINED void pt_broadcast(struct worker *w, unsigned int i)
{
	pthread_cond_broadcast(cond_of(w, i));
}

COND_BODIES(pt)

static void pthread_begin(void *object)
{
	struct desk *d = object;

	pthread_mutex_init((void *)d->mutex, NULL);
	for (unsigned int i = 0; i < CONDS_MAX; i++)
		pthread_cond_init((void *)d->cond[i], NULL);
}

static bool pthread_end(void *object)
{
	struct desk *d = object;
	int rc = pthread_mutex_destroy((void *)d->mutex);

	for (unsigned int i = 0; i < CONDS_MAX; i++)
		rc |= pthread_cond_destroy((void *)d->cond[i]);
	return rc == 0;
}

/* ---------------------------------------------------------------- nsync; all bytes zero is its initial state, too */

#ifdef HAVE_NSYNC
INLINED void ns_lock(struct worker *w)
{
	nsync_mu_lock(mutex_of(w));
}

INLINED void ns_unlock(struct worker *w)
{
	nsync_mu_unlock(mutex_of(w));
}

INLINED void ns_wait(struct worker *w, unsigned int i)
{
	nsync_cv_wait(cond_of(w, i), mutex_of(w));
}

INLINED void ns_signal(struct worker *w, unsigned int i)
{
	nsync_cv_signal(cond_of(w, i));
}

INLINED void ns_broadcast(struct worker *w, unsigned int i)
{
	nsync_cv_broadcast(cond_of(w, i));
}

COND_BODIES(ns)
#endif

/* ---------------------------------------------------------------- limits, and two that do not work */

LIMIT_SINGLE(call_load, limit_load_pointer)
LIMIT_SINGLE(in_load, limit_load)

INLINED void no_lock(struct worker *w)
{
	(void)w;
}

INLINED void no_call(struct worker *w, unsigned int i)
{
	(void)w;
	(void)i;
}

static void open_queue(struct worker *w)
{
	loop_queue(w, (struct cond_fns){ no_lock, no_lock, no_call, no_call, no_call });
}

static void deaf_queue(struct worker *w)
{
	loop_queue(w, (struct cond_fns){ pt_lock, pt_unlock, pt_wait, no_call, no_call });
}

/* ---------------------------------------------------------------- the tables */

static const struct subject subjects[] = {
	SUBJECT("nlock", "nlock_cond_t and nlock_mutex_t", SUBJECT_MUST, nothing_begin, nl_end, BODIES(nl)),
	SUBJECT("pthread", "pthread_cond_t and pthread_mutex_t: the reference", SUBJECT_PEER | SUBJECT_ALWAYS,
		pthread_begin, pthread_end, BODIES(pt)),
	SUBJECT("pthread-2", "the reference once more: what differs is noise", SUBJECT_ALWAYS, pthread_begin,
		pthread_end, BODIES(pt)),
#ifdef HAVE_NSYNC
	SUBJECT("nsync", "nsync_cv and nsync_mu", SUBJECT_PEER, nothing_begin, nothing_end, BODIES(ns)),
#endif
	SUBJECT("limit-call", "a load, called", 0, nothing_begin, nothing_end, { call_load, call_load }),
	SUBJECT("limit-inline", "a load, inline", 0, nothing_begin, nothing_end, { in_load, in_load }),
	RAW_RING,
	SUBJECT("self-test-open", "the mutex excludes nobody", SUBJECT_FAULTY, nothing_begin, nothing_end,
		{ [QUEUE] = open_queue }),
	SUBJECT("self-test-deaf", "signals are lost", SUBJECT_HANGS, pthread_begin, nothing_end,
		{ [QUEUE] = deaf_queue }),
	LAST_SUBJECT,
};

#define RING_OF(n) \
	.threads = n, .body = RING, .load = "a token goes round, one condvar each, the mutex held", .op = "hand-off", \
	.only = "nlock,pthread,pthread-2,nsync,raw-futex", .arg = HELD
#define PING_PONG \
	.threads = 2, .body = RING, .load = "a token goes to and fro, the mutex released before", .op = "hand-off", \
	.only = "nlock,pthread,pthread-2,nsync,raw-futex", .arg = AFTER
#define QUEUE_OF(n, size) \
	.threads = 2 * n, .body = QUEUE, .load = "half of them put items into a queue of " #size ", half take them", \
	.op = "item", .arg = size
#define CROWD_HELD(n) \
	.threads = n + 1, .body = CROWD, .op = "broadcast", .sharers = n, .flags = CELL_TWO_CPUS, .must = NOT_SLOWER, \
	.load = "one broadcasts to the others, the mutex held", .arg = HELD
#define CROWD_AFTER(n) \
	.threads = n + 1, .body = CROWD, .op = "broadcast", .sharers = n, .flags = CELL_TWO_CPUS, \
	.must = HARDLY_SLOWER, .load = "one broadcasts to the others, the mutex released before", .arg = AFTER

/* Equal, or 1.05 times the time. */
#define NOT_SLOWER    1.0
#define HARDLY_SLOWER (1 / 1.05)

static const struct cell cells[] = {
	{ .name = "signal-nobody", .threads = 1, .body = SIGNALS, .must = 1.7, .op = "signal" },
	{ .name = "broadcast-nobody", .threads = 1, .body = BROADCASTS, .must = 1.9, .op = "broadcast" },

	{ .name = "ping-pong", PING_PONG, .must = 5, .flags = CELL_TWO_CPUS },
	{ .name = "ping-pong-1cpu", PING_PONG, .must = 1.05, .flags = CELL_ONE_CPU },
	{ .name = "ping-pong-1cpu-held", RING_OF(2), .flags = CELL_ONE_CPU },
	{ .name = "ring-4", RING_OF(4), .must = 1.0, .flags = CELL_TWO_CPUS },
	{ .name = "ring-16", RING_OF(16), .must = 1.0, .flags = CELL_TWO_CPUS },
	{ .name = "ring-64", RING_OF(64), .must = 1.0, .flags = CELL_TWO_CPUS, .stretch = 2 },
	{ .name = "ring-4-1cpu", RING_OF(4), .must = 1.7, .flags = CELL_ONE_CPU },
	{ .name = "ring-16-1cpu", RING_OF(16), .must = 1.7, .flags = CELL_ONE_CPU },

	{ .name = "queue-4x4-cap16", QUEUE_OF(4, 16), .must = 3.5, .flags = CELL_TWO_CPUS },
	{ .name = "queue-16x16-cap16", QUEUE_OF(16, 16), .must = 3.5, .flags = CELL_TWO_CPUS, .stretch = 2 },
	{ .name = "queue-4x4-cap1", QUEUE_OF(4, 1), .must = 1.5, .flags = CELL_TWO_CPUS },
	{ .name = "queue-4x4-cap256", QUEUE_OF(4, 256), .must = 1.5, .flags = CELL_TWO_CPUS },

	/* Even of the slowest there are to be dozens of broadcasts in a slice. */
	{ .name = "broadcast-8-held", CROWD_HELD(8) },
	{ .name = "broadcast-32-held", CROWD_HELD(32), .stretch = 2 },
	{ .name = "broadcast-128-held", CROWD_HELD(128), .stretch = 4 },
	{ .name = "broadcast-8-after", CROWD_AFTER(8) },
	{ .name = "broadcast-32-after", CROWD_AFTER(32), .stretch = 2 },
	{ .name = "broadcast-128-after", CROWD_AFTER(128), .stretch = 4 },
};

static const struct cell self_test = { .name = "self-test", QUEUE_OF(2, 4), .inside = 1000 };

/* So long, at most, does a thread of nlock watch before it sleeps. */
#define WATCH_NS 20000

static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	(void)cpus;
	if (c->body == RING)
		add_shown(l, "nlock", "raw-futex", MEASURE_RATE);
	if (c->body == RING && c->threads == 2 && !(c->flags & CELL_ONE_CPU))
		add_cpu(l, "nlock", "pthread", WATCH_NS);
	if (c->body != CROWD)
		return;
	if (c->arg == HELD)
		add_at_most(l, "nlock", NULL, MEASURE_SWITCHES, 1.2);
	else
		add_shown(l, "nlock", NULL, MEASURE_SWITCHES);
	add_shown(l, "pthread", NULL, MEASURE_SWITCHES);
	add_shown(l, "nsync", NULL, MEASURE_SWITCHES);
}

const struct noun noun_cond = {
	.name = "cond",
	.subjects = subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.self_test = &self_test,
};
