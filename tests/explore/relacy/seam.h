/* SPDX-License-Identifier: MIT
 *
 * seam.h - what lib/atomic.h and lib/wait.h offer, led into Relacy
 *
 * Takes lib/atomic.h's include guard and its names. The mutex's fields get types that Relacy watches, and the names of
 * wait.h lead to functions for them, so that mutex.c compiles as it is. The headers without atomics are the real ones.
 *
 * Relacy runs one thread at a time and switches only in an atomic operation or as a thread parks, so what stands
 * between two of them is atomic: the queue of sleepers needs no lock.
 */
#ifndef NL_ATOMIC_H
#define NL_ATOMIC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <relacy/relacy.hpp>
#undef new /* Relacy's own allocation crashes with gcc 12; nothing here needs any */
#undef delete

#define _Static_assert static_assert
#define _Alignof alignof

#include "mutex.h"
#include "wait.h"

/* Before spin.h, which calls it. */
static inline void nl_pause(void)
{
}

#include "policy.h"
#include "spin.h"
#include "stats.h"

namespace seam
{

/* An atomic field. Relacy does not notice an atomic operation on an object whose life has ended, so each operation also
 * reads a plain variable, which the end of life writes: a race is found as one on that. */
template <class T> struct cell : rl::atomic<T> {
	rl::var<int> alive;

	cell()
	{
		alive($).store(1);
	}
	T operator=(T v)
	{
		use($)->store(v, rl::mo_relaxed, $);
		return v;
	}
	cell *use(rl::debug_info_param where) const
	{
		RL_ASSERT(alive(where).load() == 1);
		return const_cast<cell *>(this);
	}
	void end()
	{
		alive($).store(0);
	}
};

/* A plain field. */
template <class T> struct plain : rl::var<T> {
	T operator=(T v)
	{
		(*this)($).store(v);
		return v;
	}
	operator T()
	{
		return (*this)($).load();
	}
};

static bool cas(cell<uint32_t> *p, uint32_t *seen, uint32_t v, rl::memory_order order, rl::debug_info_param where)
{
	return p->use(where)->compare_exchange(rl::bool_t<false>(), *seen, v, order, rl::mo_relaxed, where);
}

/* What the kernel does: one queue, a thread is in one lane. */
enum { THREADS = 4 };

struct sleeper {
	int thread;
	uint32_t lane;
};

static sleeper queue[THREADS];
static int sleepers;
static int64_t ticks[THREADS];
static int64_t watch_ns;                       /* how many looks a watcher takes, and whether heads are called early */
static bool interruptions;                     /* may a sleeper return without a wake? */
static uint64_t woken[2], nobody, interrupted; /* what the executions reached */

static void remove(int i)
{
	for (sleepers--; i < sleepers; i++)
		queue[i] = queue[i + 1];
}

static void remove_thread(int thread)
{
	for (int i = 0; i < sleepers; i++) {
		if (queue[i].thread == thread)
			return remove(i);
	}
}

/* The comparison is one that fails whatever the word is, and so reads the newest value. */
static uint32_t look(cell<uint32_t> *word, rl::debug_info_param where)
{
	uint32_t seen = UINT32_MAX;

	cas(word, &seen, seen, rl::mo_relaxed, where);
	return seen;
}

/* A wake hands the woken no view of memory: park_current_thread orders nothing. */
static nl_outcome wait(cell<uint32_t> *word, uint32_t expected, uint32_t lane, rl::debug_info_param where)
{
	const int self = rl::ctx().threadx_->index_;

	if (look(word, where) != expected)
		return NL_LOOK;
	queue[sleepers++] = { self, lane };
	if (rl::ctx().park_current_thread(false, interruptions, false, where) == rl::unpark_reason_normal)
		return NL_WOKEN;
	remove_thread(self);
	interrupted++;
	return NL_LOOK;
}

/* May come after the object's end: the word is not looked at. */
static int wake(int n, uint32_t lanes, rl::debug_info_param where)
{
	int found = 0;

	rl::ctx().sched();
	for (int i = 0; i < sleepers && found < n;) {
		const sleeper s = queue[i];

		if (!(s.lane & lanes)) {
			i++;
			continue;
		}
		remove(i);
		woken[s.lane == NL_LANE_FRONT]++;
		rl::ctx().unpark_thread(s.thread, false, where);
		found++;
	}
	nobody += !found;
	return found;
}

struct mutex {
	cell<uint32_t> word;
	uint32_t node; /* wait.c's */
	plain<nlock_attr_t> attr;
	plain<uint16_t> bypass;
	cell<uint8_t> watched, luck;

	void end()
	{
		word.end();
		watched.end();
		luck.end();
		attr = 0;
		bypass = 0;
	}
};

} // namespace seam

#define nl_load_rlx(p)         ((p)->use($)->load(rl::mo_relaxed, $))
#define nl_load_acq(p)         ((p)->use($)->load(rl::mo_acquire, $))
#define nl_store_rlx(p, v)     ((p)->use($)->store(v, rl::mo_relaxed, $))
#define nl_fresh_rlx(p)        ((p)->use($)->fetch_add(0, rl::mo_relaxed, $))
#define nl_load8_rlx(p)        nl_load_rlx(p)
#define nl_store8_rlx(p, v)    nl_store_rlx(p, v)
#define nl_cas_rlx(p, seen, v) seam::cas(p, seen, v, rl::mo_relaxed, $)
#define nl_cas_acq(p, seen, v) seam::cas(p, seen, v, rl::mo_acquire, $)
#define nl_cas_rel(p, seen, v) seam::cas(p, seen, v, rl::mo_release, $)
#define nl_own_get(p)          ((*(p))($).load())
#define nl_own_set(p, v)       ((*(p))($).store(v))

#define nl_wait(p, attr, expected, lane, d) ((void)(nlock_attr_t)(attr), seam::wait(p, expected, lane, $))
#define nl_wake(p, attr, n, lanes)          ((void)(nlock_attr_t)(attr), seam::wake(n, lanes, $))
#define nl_wait_enter(p, attr, seen, v)     seam::cas(p, seen, v, rl::mo_relaxed, $)
#define nl_wait_is_foreign(p, attr)         false
#define nl_wait_adopt(p, seen, v)           false
#define nl_wait_place(p, attr)              0

/* Time passes as it is looked at, so that a watcher's budget ends. */
int64_t nl_now(void)
{
	return ++seam::ticks[rl::ctx().threadx_->index_];
}

int64_t nl_watch_ns(void)
{
	return seam::watch_ns;
}

template <class L> bool nl_watch_try(L *luck)
{
	(void)luck;
	return nl_watch_ns() != 0;
}

template <class L> void nl_watch_tell(L *luck, bool has_paid)
{
	(void)luck;
	(void)has_paid;
}

/* One node: whom a cohort lock calls is the explorer's to look at. */
uint32_t nl_wait_node(void)
{
	return 0;
}

uint32_t nl_lanes_near(uint32_t, uint32_t i)
{
	return i ? 0 : ~NL_LANE_ALL;
}

uint32_t nl_default_limit(void)
{
	return NLOCK_BOUND_DEFAULT;
}

int nl_deadline_set(nl_deadline *, clockid_t, const timespec *)
{
	return -EINVAL;
}

#endif
