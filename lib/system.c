/* SPDX-License-Identifier: MIT
 *
 * system.c - what the library and the kernel say of themselves
 *
 * The private hash belongs to the process, not to any lock, so the calls for it are here; wait.c makes them, since it also reads
 * what the environment asks for. Nothing but nlock_hash_set_slots and nlock_hash_use_global changes anything. errno stays as it
 * was.
 */
#include "policy.h"
#include "stats.h"
#include "wait.h"

#include <errno.h>
#include <nlock.h>

#ifdef NL_STATS
/* Relaxed counters; see stats.h. */
nlock_stats_t nl_stats;
#endif

/* Of the library that runs; the header's macro is of the one compiled against. */
uint32_t nlock_version(void)
{
	return NLOCK_VERSION;
}

int nlock_hash_slots(void)
{
	return nl_wait_slots();
}

/* 0 would be the global hash, which cannot be undone: not by this function. */
int nlock_hash_set_slots(uint32_t n)
{
	return n ? -nl_wait_set_slots(n) : EINVAL;
}

/* Under a name of its own, so that nobody comes here by a number that is 0 by mistake. */
int nlock_hash_use_global(void)
{
	return -nl_wait_set_slots(0);
}

/* A thread sleeps on one object at a time, so no more of them have waiters than there are threads. With 8 slots for each, a call
 * finds another's waiters in its own one time in eight at most. The kernel's own choice is 4 for each thread that has a CPU. */
#define SLOTS_EACH 8

uint32_t nlock_hash_fit(uint32_t threads, uint32_t locks)
{
	const uint64_t wanted = SLOTS_EACH * (uint64_t)(threads < locks ? threads : locks);
	uint32_t slots = 2;

	while (slots < wanted && slots < 1u << 31)
		slots *= 2;
	return slots;
}

/* What policy.h goes by. */
uint32_t nlock_bound(void)
{
	return nl_policy_limit(NLOCK_BOUNDED);
}

/* The futex calls are wait.c's to know; the hash and the counting are ours. */
uint32_t nlock_features(void)
{
	uint32_t f = nl_wait_features();

	if (nlock_hash_slots() >= 0)
		f |= NLOCK_HAS_HASH;
#ifdef NL_STATS
	f |= NLOCK_HAS_STATS;
#endif
	return f;
}

/* Each count by itself is exact; together they are not a snapshot. */
int nlock_stats(nlock_stats_t *s)
{
#ifdef NL_STATS
	s->grants = nl_get_rlx(&nl_stats.grants);
	s->barges = nl_get_rlx(&nl_stats.barges);
	s->waited = nl_get_rlx(&nl_stats.waited);
	s->sleeps = nl_get_rlx(&nl_stats.sleeps);
	s->wakes = nl_get_rlx(&nl_stats.wakes);
	s->woken = nl_get_rlx(&nl_stats.woken);
	s->timeouts = nl_get_rlx(&nl_stats.timeouts);
	s->bypass_max = nl_get_rlx(&nl_stats.bypass_max);
	return 0;
#else
	(void)s;
	return ENOTSUP;
#endif
}
