/* SPDX-License-Identifier: MIT
 *
 * locks.c - the locks that `nlock bench mutex' compares
 *
 * Each lock gets its own copy of the loops, so that its functions are called directly: nlock and glibc through the
 * procedure linkage table as in any program, the others as their headers have it. LOCK_BODIES makes the copies; the
 * compiler sees constant function names and leaves no indirect call.
 *
 * Two of them do not work, on purpose: `nlock bench mutex --self-test' shows that the bench would notice.
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "locks.h"
#include "loops.h"

#include <nlock.h>

#ifdef HAVE_NSYNC
#include <nsync.h>
#endif
#ifdef HAVE_CK
#include <ck_spinlock.h>
#endif

/* ---------------------------------------------------------------- the loops */

/* A stall makes everybody queue. With a FIFO lock the queue then stays as long as the load. */
INLINED void loop_contended(struct worker *w, lock_fn *lock, lock_fn *unlock)
{
	unsigned long ops = 0;

	if (w->stall) {
		lock(w);
		sleep_ns(w->stall);
		section(w);
		unlock(w);
		publish(&w->ops, ++ops);
	}
	while (phase_now(w) != PHASE_STOP) {
		lock(w);
		section(w);
		unlock(w);
		publish(&w->ops, ++ops);
		work(w->outside);
	}
}

/* A wait that began before the window counts with its whole length, and so does one that outlasts it. */
INLINED void loop_timed(struct worker *w, lock_fn *lock, lock_fn *unlock)
{
	unsigned long ops = 0;

	while (phase_now(w) != PHASE_STOP) {
		int64_t asked = now_ns(), got;

		lock(w);
		got = now_ns();
		section(w);
		unlock(w);
		publish(&w->ops, ++ops);
		if (phase_now(w) != PHASE_WARM)
			hist_add(w->waits, got - asked);
		work(w->outside);
	}
}

#define PAIR_BODIES(x) \
	static void x##_pair(struct worker *w) \
	{ \
		loop_pair(w, x##_lock, x##_unlock); \
	} \
	static void x##_try_pair(struct worker *w) \
	{ \
		loop_try_pair(w, x##_try, x##_unlock); \
	}

#define LOCK_BODIES(x) \
	PAIR_BODIES(x) \
	static void x##_contended(struct worker *w) \
	{ \
		loop_contended(w, x##_lock, x##_unlock); \
	} \
	static void x##_timed(struct worker *w) \
	{ \
		loop_timed(w, x##_lock, x##_unlock); \
	}

#define BODIES(x) \
	{ \
		x##_pair, x##_try_pair, x##_contended, x##_timed \
	}
#define PAIRS_ONLY(x) \
	{ \
		x##_pair, x##_try_pair, NULL, NULL \
	}
#define CONTENDED_ONLY(x) \
	{ \
		NULL, NULL, x##_contended, NULL \
	}

/* ---------------------------------------------------------------- nlock */

INLINED void nl_lock(struct worker *w)
{
	nlock_mutex_lock(w->object);
}

INLINED bool nl_try(struct worker *w)
{
	return nlock_mutex_trylock(w->object) == 0;
}

INLINED void nl_unlock(struct worker *w)
{
	nlock_mutex_unlock(w->object);
}

LOCK_BODIES(nl)

static void bounded_begin(void *object)
{
	*(nlock_mutex_t *)object = (nlock_mutex_t)NLOCK_MUTEX_INIT;
}

static void barging_begin(void *object)
{
	*(nlock_mutex_t *)object = (nlock_mutex_t)NLOCK_MUTEX_INIT_ATTR(NLOCK_BARGING);
}

static void fifo_begin(void *object)
{
	*(nlock_mutex_t *)object = (nlock_mutex_t)NLOCK_MUTEX_INIT_ATTR(NLOCK_FIFO);
}

static bool nl_end(void *object)
{
	return nlock_mutex_destroy(object) == 0;
}

/* ---------------------------------------------------------------- glibc */

INLINED void pt_lock(struct worker *w)
{
	pthread_mutex_lock(w->object);
}

INLINED bool pt_try(struct worker *w)
{
	return pthread_mutex_trylock(w->object) == 0;
}

INLINED void pt_unlock(struct worker *w)
{
	pthread_mutex_unlock(w->object);
}

LOCK_BODIES(pt)

static void pthread_begin(void *object)
{
	pthread_mutex_init(object, NULL);
}

static bool pthread_end(void *object)
{
	return pthread_mutex_destroy(object) == 0;
}

#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
static void adaptive_begin(void *object)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(object, &attr);
	pthread_mutexattr_destroy(&attr);
}
#endif

/* ---------------------------------------------------------------- nsync */

#ifdef HAVE_NSYNC
INLINED void ns_lock(struct worker *w)
{
	nsync_mu_lock(w->object);
}

INLINED bool ns_try(struct worker *w)
{
	return nsync_mu_trylock(w->object) != 0;
}

INLINED void ns_unlock(struct worker *w)
{
	nsync_mu_unlock(w->object);
}

LOCK_BODIES(ns)

static void nsync_begin(void *object)
{
	nsync_mu_init(object);
}
#endif

/* ---------------------------------------------------------------- Concurrency Kit: inline, and spinning for ever */

#ifdef HAVE_CK
INLINED void cas_lock(struct worker *w)
{
	ck_spinlock_cas_lock(w->object);
}

INLINED bool cas_try(struct worker *w)
{
	return ck_spinlock_cas_trylock(w->object);
}

INLINED void cas_unlock(struct worker *w)
{
	ck_spinlock_cas_unlock(w->object);
}

LOCK_BODIES(cas)

INLINED void ticket_lock(struct worker *w)
{
	ck_spinlock_ticket_lock(w->object);
}

INLINED bool ticket_try(struct worker *w)
{
	return ck_spinlock_ticket_trylock(w->object);
}

INLINED void ticket_unlock(struct worker *w)
{
	ck_spinlock_ticket_unlock(w->object);
}

LOCK_BODIES(ticket)

INLINED ck_spinlock_mcs_context_t *mcs_node(struct worker *w)
{
	return (void *)w->scratch;
}

INLINED void mcs_lock(struct worker *w)
{
	ck_spinlock_mcs_lock(w->object, mcs_node(w));
}

INLINED bool mcs_try(struct worker *w)
{
	return ck_spinlock_mcs_trylock(w->object, mcs_node(w));
}

INLINED void mcs_unlock(struct worker *w)
{
	ck_spinlock_mcs_unlock(w->object, mcs_node(w));
}

LOCK_BODIES(mcs)

/* Zeroed memory is an unlocked lock of each of these kinds, but their interface asks for a call. */
static void cas_begin(void *object)
{
	ck_spinlock_cas_init(object);
}

static void ticket_begin(void *object)
{
	ck_spinlock_ticket_init(object);
}

static void mcs_begin(void *object)
{
	ck_spinlock_mcs_init(object);
}
#endif

/* ---------------------------------------------------------------- the limit: one compare-exchange, one exchange */

INLINED void in_lock(struct worker *w)
{
	limit_take(w->object);
}

INLINED bool in_try(struct worker *w)
{
	return limit_take(w->object) == 0;
}

INLINED void in_unlock(struct worker *w)
{
	limit_give(w->object);
}

INLINED void call_lock(struct worker *w)
{
	limit_take_pointer(w->object);
}

INLINED bool call_try(struct worker *w)
{
	return limit_take_pointer(w->object) == 0;
}

INLINED void call_unlock(struct worker *w)
{
	limit_give_pointer(w->object);
}

PAIR_BODIES(in)
PAIR_BODIES(call)

/* ---------------------------------------------------------------- two that do not work */

INLINED void no_lock(struct worker *w)
{
	(void)w;
}

static void open_contended(struct worker *w)
{
	loop_contended(w, no_lock, no_lock);
}

static void stuck_contended(struct worker *w)
{
	loop_contended(w, pt_lock, no_lock);
}

/* ---------------------------------------------------------------- the table */

const struct subject mutex_subjects[] = {
	SUBJECT("bounded", "nlock, NLOCK_BOUNDED: the default", SUBJECT_MUST, bounded_begin, nl_end, BODIES(nl)),
	SUBJECT("barging", "nlock, NLOCK_BARGING", SUBJECT_MUST, barging_begin, nl_end, BODIES(nl)),
	SUBJECT("fifo", "nlock, NLOCK_FIFO", 0, fifo_begin, nl_end, BODIES(nl)),
	SUBJECT("pthread", "pthread_mutex_t, default kind: the reference", SUBJECT_PEER | SUBJECT_ALWAYS, pthread_begin,
		pthread_end, BODIES(pt)),
	SUBJECT("pthread-2", "the reference once more: what differs is noise", SUBJECT_ALWAYS, pthread_begin,
		pthread_end, BODIES(pt)),
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	SUBJECT("adaptive", "pthread_mutex_t, PTHREAD_MUTEX_ADAPTIVE_NP", SUBJECT_PEER, adaptive_begin, pthread_end,
		BODIES(pt)),
#endif
#ifdef HAVE_NSYNC
	SUBJECT("nsync", "nsync_mu", SUBJECT_PEER, nsync_begin, nothing_end, BODIES(ns)),
#endif
#ifdef HAVE_CK
	SUBJECT("ck-cas", "Concurrency Kit, inline; spins for ever", SUBJECT_SPINS, cas_begin, nothing_end,
		BODIES(cas)),
	SUBJECT("ck-ticket", "Concurrency Kit, inline; FIFO, spins for ever", SUBJECT_SPINS, ticket_begin, nothing_end,
		BODIES(ticket)),
	SUBJECT("ck-mcs", "Concurrency Kit, inline; FIFO, spins for ever", SUBJECT_SPINS, mcs_begin, nothing_end,
		BODIES(mcs)),
#endif
	SUBJECT("limit-call", "compare-exchange and exchange, called", 0, nothing_begin, nothing_end, PAIRS_ONLY(call)),
	SUBJECT("limit-inline", "compare-exchange and exchange, inline", 0, nothing_begin, nothing_end, PAIRS_ONLY(in)),
	RAW_RING,
	SUBJECT("self-test-open", "excludes nobody", SUBJECT_FAULTY, nothing_begin, nothing_end, CONTENDED_ONLY(open)),
	SUBJECT("self-test-stuck", "is never released", SUBJECT_HANGS, pthread_begin, nothing_end,
		CONTENDED_ONLY(stuck)),
	LAST_SUBJECT,
};

_Static_assert(LENGTH(mutex_subjects) <= SUBJECTS_MAX, "SUBJECTS_MAX");
