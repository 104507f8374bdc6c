/* SPDX-License-Identifier: MIT
 *
 * numa_lock.h - the lock of futex_numa: value and node side by side, as FUTEX2_NUMA wants them
 *
 * The protocol of Peter Zijlstra's demonstration of 2023. Bit 0 of the value: locked; bit 12: somebody may wait. Whoever takes a
 * free lock for which nobody waits also sets the node anew: to a fixed one, or to none, which means that the kernel
 * puts in the node of the first that waits. Whoever comes first takes it: it barges.
 *
 * It shows how little a lock needs, and it is no lock to build on. If two threads on two nodes start to wait at the same moment and
 * find no node, each queues on its own, one node is kept, and the other thread's wake-up goes astray. So waits
 * here end after a while by the clock, and look again; how often that was so is counted.
 */
#ifndef HANDOFF_NUMA_LOCK_H
#define HANDOFF_NUMA_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

union numa_word {
	_Atomic uint64_t both;
	struct {
		_Atomic uint32_t value, node;
	} half;
};

struct numa_lock {
	_Alignas(128) union numa_word word;
	_Alignas(128) unsigned flags; /* of the futex2 calls */
	uint32_t home;                /* the node, or SYS2_NO_NODE */
	int64_t patience;             /* ns; the longest wait before it looks again */
	_Atomic uint64_t late;        /* waits that ended by the clock */
};

void numa_lock_init(struct numa_lock *l, unsigned flags, uint32_t home, int64_t patience);
void numa_lock_take(struct numa_lock *l);
void numa_lock_free(struct numa_lock *l);

/* Of a lock that one holds. */
static inline int32_t numa_lock_node(struct numa_lock *l)
{
	return (int32_t)atomic_load_explicit(&l->word.half.node, memory_order_relaxed);
}

#endif
