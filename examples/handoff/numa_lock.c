/* SPDX-License-Identifier: MIT
 *
 * numa_lock.c - see numa_lock.h
 *
 * The acquire order of the compare-exchange that takes the lock pairs with the release order of the subtraction that frees it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "numa_lock.h"

#include <string.h>

#include "cpu.h"
#include "sysfutex.h"

#define LOCKED  0x1u
#define WAITERS 0x1000u

/* Both halves as one number, whichever way round the machine keeps them. */
struct halves {
	uint32_t value, node;
};

static uint64_t join(struct halves h)
{
	uint64_t both;

	memcpy(&both, &h, sizeof both);
	return both;
}

static struct halves split(uint64_t both)
{
	struct halves h;

	memcpy(&h, &both, sizeof h);
	return h;
}

void numa_lock_init(struct numa_lock *l, unsigned flags, uint32_t home, int64_t patience)
{
	struct halves h = { 0, home };

	atomic_init(&l->word.both, join(h));
	l->flags = flags;
	l->home = home;
	l->patience = patience;
	atomic_init(&l->late, 0);
}

static void wait_for(struct numa_lock *l, uint32_t value)
{
	if (sys_futex2_wait(&l->word.half.value, value, l->flags, now_ns() + l->patience) == -ETIMEDOUT)
		atomic_fetch_add_explicit(&l->late, 1, memory_order_relaxed);
}

/* What the word must become for the caller to own it, or at least to be expected. */
static struct halves wanted(const struct numa_lock *l, struct halves now)
{
	if (now.value & LOCKED)
		now.value |= WAITERS;
	else if (now.value)
		now.value |= LOCKED;
	else
		now = (struct halves){ LOCKED, l->home };
	return now;
}

void numa_lock_take(struct numa_lock *l)
{
	uint64_t both = atomic_load_explicit(&l->word.both, memory_order_relaxed);

	for (;;) {
		struct halves now = split(both), next = wanted(l, now);

		if (!atomic_compare_exchange_strong_explicit(&l->word.both, &both, join(next), memory_order_acquire,
							     memory_order_relaxed))
			continue;
		if (!(now.value & LOCKED))
			return;
		wait_for(l, next.value);
		both = atomic_load_explicit(&l->word.both, memory_order_relaxed);
	}
}

void numa_lock_free(struct numa_lock *l)
{
	uint32_t waiters = WAITERS, old;

	old = atomic_fetch_sub_explicit(&l->word.half.value, LOCKED, memory_order_release);
	if ((old & WAITERS) && sys_futex2_wake(&l->word.half.value, 1, l->flags) == 0)
		atomic_compare_exchange_strong_explicit(&l->word.half.value, &waiters, 0, memory_order_relaxed,
							memory_order_relaxed);
}
