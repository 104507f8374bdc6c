/* SPDX-License-Identifier: MIT
 *
 * bench_rwlock.c - `nlock bench rwlock': pairs, readers only, and a mix in which writers' waits count
 *
 * The lock protects a counter that writers raise. A reader looks at it twice, and must find what it has found before.
 *
 * How long may a writer wait? Time says more about the scheduler than about the lock. What a lock decides is how many
 * readers go past: so each writer counts the reads that begin while it waits. As many as there are other threads are
 * about one phase of readers.
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "loops.h"

#include <nlock.h>
#include <stdlib.h>

#ifdef HAVE_NSYNC
#include <nsync.h>
#endif
#ifdef HAVE_CK
#include <ck_pflock.h>
#include <ck_rwlock.h>
#endif

/* ---------------------------------------------------------------- the loops */

struct rw_fns {
	lock_fn *rdlock, *rdunlock, *wrlock, *wrunlock;
};

/* So many of 1000 operations, in no order. */
INLINED bool is_write(struct worker *w, uint32_t *random)
{
	*random = *random * 1664525u + 1013904223u;
	return w->arg && (*random >> 12) % 1000 < (uint32_t)w->arg;
}

static unsigned long counter_now(struct worker *w)
{
	return __atomic_load_n(&w->guarded->counter, __ATOMIC_RELAXED);
}

INLINED void read_section(struct worker *w)
{
	unsigned long before = counter_now(w);

	publish(&w->reads, w->reads + 1);
	work(w->inside);
	if (counter_now(w) != before)
		w->failures++;
}

static unsigned long reads_of_all(struct worker *w)
{
	unsigned long sum = 0;

	for (unsigned int i = 0; i < w->threads; i++)
		sum += __atomic_load_n(&w->team->workers[i].reads, __ATOMIC_RELAXED);
	return sum;
}

/* The owner notes down how it got here. It is alone: `noted` is its own. */
static __attribute__((noinline)) void timed_wrlock(struct worker *w, lock_fn *wrlock)
{
	unsigned long before = reads_of_all(w), passed;
	int64_t asked = now_ns(), got;

	wrlock(w);
	got = now_ns();
	passed = reads_of_all(w) - before;
	if (phase_now(w) == PHASE_WARM)
		return;
	hist_add(w->waits, got - asked);
	hist_add(w->guarded->noted, (int64_t)passed);
}

INLINED void loop_mixed(struct worker *w, struct rw_fns f, bool is_timed)
{
	uint32_t random = w->id * 2654435761u + 1;
	unsigned long ops = 0;

	while (phase_now(w) != PHASE_STOP) {
		if (is_write(w, &random)) {
			if (is_timed)
				timed_wrlock(w, f.wrlock);
			else
				f.wrlock(w);
			section(w);
			f.wrunlock(w);
		} else {
			f.rdlock(w);
			read_section(w);
			f.rdunlock(w);
		}
		publish(&w->ops, ++ops);
		work(w->outside);
	}
}

#define PAIR_BODIES(x) \
	static void x##_rd_pair(struct worker *w) \
	{ \
		loop_pair(w, x##_rdlock, x##_rdunlock); \
	} \
	static void x##_wr_pair(struct worker *w) \
	{ \
		loop_pair(w, x##_wrlock, x##_wrunlock); \
	}

#define FNS(x) ((struct rw_fns){ x##_rdlock, x##_rdunlock, x##_wrlock, x##_wrunlock })

#define MIXED_BODIES(x) \
	static void x##_mixed(struct worker *w) \
	{ \
		loop_mixed(w, FNS(x), false); \
	} \
	static void x##_timed(struct worker *w) \
	{ \
		loop_mixed(w, FNS(x), true); \
	}

#define RW_BODIES(x) PAIR_BODIES(x) MIXED_BODIES(x)

#define BODIES(x) \
	{ \
		x##_rd_pair, x##_wr_pair, x##_mixed, x##_timed \
	}

/* ---------------------------------------------------------------- nlock */

INLINED void nl_rdlock(struct worker *w)
{
	if (nlock_rwlock_rdlock(w->object))
		w->failures++;
}

INLINED void nl_rdunlock(struct worker *w)
{
	nlock_rwlock_rdunlock(w->object);
}

INLINED void nl_wrlock(struct worker *w)
{
	nlock_rwlock_wrlock(w->object);
}

INLINED void nl_wrunlock(struct worker *w)
{
	nlock_rwlock_wrunlock(w->object);
}

RW_BODIES(nl)

static void nl_begin(void *object, int prefers)
{
	if (nlock_rwlock_init(object, prefers, 0))
		abort();
}

static void fair_begin(void *object)
{
	nl_begin(object, NLOCK_RW_PHASE_FAIR);
}

static void readers_begin(void *object)
{
	nl_begin(object, NLOCK_RW_PREFER_READERS);
}

static void writers_begin(void *object)
{
	nl_begin(object, NLOCK_RW_PREFER_WRITERS);
}

static void spread_begin(void *object)
{
	if (nlock_rwlock_spread_init(object, NLOCK_RW_PHASE_FAIR, 0))
		abort();
}

static bool nl_end(void *object)
{
	return nlock_rwlock_destroy(object) == 0;
}

/* ---------------------------------------------------------------- glibc */

INLINED void pt_rdlock(struct worker *w)
{
	if (pthread_rwlock_rdlock(w->object))
		w->failures++;
}

INLINED void pt_wrlock(struct worker *w)
{
	pthread_rwlock_wrlock(w->object);
}

INLINED void pt_rdunlock(struct worker *w)
{
	pthread_rwlock_unlock(w->object);
}

INLINED void pt_wrunlock(struct worker *w)
{
	pthread_rwlock_unlock(w->object);
}

RW_BODIES(pt)

static void pthread_begin(void *object)
{
	pthread_rwlock_init(object, NULL);
}

static bool pthread_end(void *object)
{
	return pthread_rwlock_destroy(object) == 0;
}

#ifdef __GLIBC__
static void pthread_wr_begin(void *object)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(object, &attr);
	pthread_rwlockattr_destroy(&attr);
}
#endif

/* ---------------------------------------------------------------- nsync */

#ifdef HAVE_NSYNC
INLINED void ns_rdlock(struct worker *w)
{
	nsync_mu_rlock(w->object);
}

INLINED void ns_rdunlock(struct worker *w)
{
	nsync_mu_runlock(w->object);
}

INLINED void ns_wrlock(struct worker *w)
{
	nsync_mu_lock(w->object);
}

INLINED void ns_wrunlock(struct worker *w)
{
	nsync_mu_unlock(w->object);
}

RW_BODIES(ns)

static void nsync_begin(void *object)
{
	nsync_mu_init(object);
}
#endif

/* ---------------------------------------------------------------- Concurrency Kit: inline, and spinning for ever */

#ifdef HAVE_CK
INLINED void ck_rdlock(struct worker *w)
{
	ck_rwlock_read_lock(w->object);
}

INLINED void ck_rdunlock(struct worker *w)
{
	ck_rwlock_read_unlock(w->object);
}

INLINED void ck_wrlock(struct worker *w)
{
	ck_rwlock_write_lock(w->object);
}

INLINED void ck_wrunlock(struct worker *w)
{
	ck_rwlock_write_unlock(w->object);
}

RW_BODIES(ck)

static void ck_begin(void *object)
{
	ck_rwlock_init(object);
}

INLINED void pf_rdlock(struct worker *w)
{
	ck_pflock_read_lock(w->object);
}

INLINED void pf_rdunlock(struct worker *w)
{
	ck_pflock_read_unlock(w->object);
}

INLINED void pf_wrlock(struct worker *w)
{
	ck_pflock_write_lock(w->object);
}

INLINED void pf_wrunlock(struct worker *w)
{
	ck_pflock_write_unlock(w->object);
}

RW_BODIES(pf)

static void pf_begin(void *object)
{
	ck_pflock_init(object);
}
#endif

/* ---------------------------------------------------------------- limits, and three that do not work */

LIMIT_PAIR(call_rd_pair, limit_add_pointer, limit_sub_pointer)
LIMIT_PAIR(call_wr_pair, limit_take_pointer, limit_give_pointer)
LIMIT_PAIR(in_rd_pair, limit_add, limit_sub)
LIMIT_PAIR(in_wr_pair, limit_take, limit_give)

INLINED void no_call(struct worker *w)
{
	(void)w;
}

static void open_mixed(struct worker *w)
{
	loop_mixed(w, (struct rw_fns){ no_call, no_call, pt_wrlock, pt_wrunlock }, false);
}

static void shared_mixed(struct worker *w)
{
	loop_mixed(w, (struct rw_fns){ pt_rdlock, pt_rdunlock, pt_rdlock, pt_rdunlock }, false);
}

static void stuck_mixed(struct worker *w)
{
	loop_mixed(w, (struct rw_fns){ pt_rdlock, no_call, pt_wrlock, pt_wrunlock }, false);
}

/* ---------------------------------------------------------------- the tables */

static const struct subject subjects[] = {
	SUBJECT("phase-fair", "nlock, NLOCK_RW_PHASE_FAIR: the default", SUBJECT_MUST, fair_begin, nl_end, BODIES(nl)),
	SUBJECT("prefer-readers", "nlock, NLOCK_RW_PREFER_READERS", SUBJECT_MUST, readers_begin, nl_end, BODIES(nl)),
	SUBJECT("prefer-writers", "nlock, NLOCK_RW_PREFER_WRITERS", SUBJECT_MUST, writers_begin, nl_end, BODIES(nl)),
	SUBJECT("spread", "nlock_rwlock_spread_t: readers in slots", 0, spread_begin, nl_end, BODIES(nl)),
	SUBJECT("pthread", "pthread_rwlock_t, default kind: the reference", SUBJECT_PEER | SUBJECT_ALWAYS,
		pthread_begin, pthread_end, BODIES(pt)),
	SUBJECT("pthread-2", "the reference once more: what differs is noise", SUBJECT_ALWAYS, pthread_begin,
		pthread_end, BODIES(pt)),
#ifdef __GLIBC__
	SUBJECT("pthread-wr", "pthread_rwlock_t, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP", SUBJECT_PEER,
		pthread_wr_begin, pthread_end, BODIES(pt)),
#endif
#ifdef HAVE_NSYNC
	SUBJECT("nsync", "nsync_mu, in its two modes", SUBJECT_PEER, nsync_begin, nothing_end, BODIES(ns)),
#endif
#ifdef HAVE_CK
	SUBJECT("ck-rwlock", "Concurrency Kit, inline; spins for ever", SUBJECT_SPINS, ck_begin, nothing_end,
		BODIES(ck)),
	SUBJECT("ck-pflock", "Concurrency Kit, inline; phase-fair, spins for ever", SUBJECT_SPINS, pf_begin,
		nothing_end, BODIES(pf)),
#endif
	SUBJECT("limit-call", "the two read-modify-writes, called", 0, nothing_begin, nothing_end,
		{ call_rd_pair, call_wr_pair }),
	SUBJECT("limit-inline", "the two read-modify-writes, inline", 0, nothing_begin, nothing_end,
		{ in_rd_pair, in_wr_pair }),
	SUBJECT("self-test-open", "lets readers in always", SUBJECT_FAULTY, pthread_begin, nothing_end,
		{ [BODY_CONTENDED] = open_mixed }),
	SUBJECT("self-test-shared", "lets writers in together", SUBJECT_FAULTY, pthread_begin, nothing_end,
		{ [BODY_CONTENDED] = shared_mixed }),
	SUBJECT("self-test-stuck", "keeps its readers", SUBJECT_HANGS, pthread_begin, nothing_end,
		{ [BODY_CONTENDED] = stuck_mixed }),
	LAST_SUBJECT,
};

_Static_assert(LENGTH(subjects) <= SUBJECTS_MAX, "SUBJECTS_MAX");

#define MIXED .body = BODY_CONTENDED, .op = "lock and unlock"

static const struct cell cells[] = {
	{ .name = "rdlock-unlock", .threads = 1, .body = BODY_PAIR, .must = 1.3, .op = "lock and unlock" },
	{ .name = "wrlock-unlock", .threads = 1, .body = BODY_PAIR_2, .must = 1.55, .op = "lock and unlock" },
	{ .name = "readers-2",
	  .threads = 2,
	  MIXED,
	  .load = "readers only",
	  .must = 1.3,
	  .flags = CELL_TWO_CPUS | CELL_UNTIMED },
	{ .name = "readers-8", .threads = 8, MIXED, .load = "readers only", .flags = CELL_UNTIMED },
	{ .name = "t2-writes-0.1",
	  .threads = 2,
	  MIXED,
	  .load = "1 write in 1000",
	  .arg = 1,
	  .flags = CELL_TWO_CPUS | CELL_UNTIMED },
	{ .name = "t2-writes-1",
	  .threads = 2,
	  MIXED,
	  .load = "1 % writes",
	  .arg = 10,
	  .flags = CELL_TWO_CPUS | CELL_UNTIMED },
	{ .name = "t2-writes-10",
	  .threads = 2,
	  MIXED,
	  .load = "10 % writes",
	  .arg = 100,
	  .flags = CELL_TWO_CPUS | CELL_UNTIMED },
	{ .name = "t8-writes-10",
	  .threads = 8,
	  MIXED,
	  .load = "10 % writes",
	  .arg = 100,
	  .inside = 1000,
	  .outside = 1000,
	  .flags = CELL_ALL_WAIT | CELL_READERS },
};

static const struct cell self_test = { .name = "self-test", .threads = 4, MIXED, .inside = 1000, .arg = 500 };

static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	(void)cpus;
	if (!(c->flags & CELL_READERS))
		return;
	add_beside_best_peer(l, "phase-fair", 0.95);
	add_at_most(l, "phase-fair", NULL, MEASURE_PASSED, 2);
	add_shown(l, "prefer-readers", NULL, MEASURE_PASSED);
	add_shown(l, "prefer-writers", NULL, MEASURE_PASSED);
	add_shown(l, "pthread", NULL, MEASURE_PASSED);
	add_shown(l, "pthread-wr", NULL, MEASURE_PASSED);
	add_shown(l, "nsync", NULL, MEASURE_PASSED);
	add_shown(l, "phase-fair", "pthread", MEASURE_WAIT_P99);
	add_shown(l, "phase-fair", "nsync", MEASURE_WAIT_P99);
}

const struct noun noun_rwlock = {
	.name = "rwlock",
	.subjects = subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.self_test = &self_test,
};
