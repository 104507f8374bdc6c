/* SPDX-License-Identifier: MIT
 *
 * onnode.c - memory for objects on a NUMA node
 *
 * Promise
 *   A slot is zeroed, of whole cache lines and aligned to one, and on the node that was asked for. Its memory is never unmapped, and it
 *   is only ever given out again for an object of the same type, on the same node. So an object of placement NODE or FIRST that
 *   stands here may be freed by the rule for HASH: while another thread is still inside the release that let the last user in.
 *
 * Why no byte of a stranger changes
 *   What a thread may still do to the object then is one wake call, with the address of a wait word and the attributes of the
 *   object that was (HACKING, After a release). A plain one looks at no memory. A NUMA one reads the 32 bits behind the wait word, and
 *   writes there only if they are -1, which asks the kernel for a node. In an object of the same type these are again the
 *   second word of a pair of wait.h, and such a word is 0, a node, or the number of a process, which has at most 22 bits: never -1. Nor
 *   is it between two objects, since free changes no byte and alloc sets all to 0. The kernel then finds nobody at that node, or
 *   says that there is none of that number, or wakes a waiter of the new object for nothing, which every wait allows for.
 *   The one wait word with nothing behind it that is ours is nl_attr_unplaced's: it is never NUMA.
 *
 * Layout
 *   Chunks of 64 KiB, each for one type on one node, with a bit for each slot. What is handed out is found by looking through the
 *   chunks: that takes longer with many of them, but nothing is written to a slot that is free, and a pointer that is not
 *   one of ours, or is free already, is known for certain.
 *
 * Fork
 *   The child has a copy of everything. The lock is held over the fork, so that the copy is whole. The handlers are made
 *   after those of wait.c, and before those of the program, which may allocate in its own.
 *
 * Failure
 *   libnuma is not used, only the one call of the kernel that it would make for us. Its constructor reads /proc and /sys, allocates and
 *   changes the memory policy for a moment, in every program that is linked with it, also in those that never come here. Its
 *   allocator prints a line where a filter forbids mbind, and hands out memory of any node; its sets of nodes end the program when
 *   there is no memory for them.
 */
#include "futex2.h"
#include "wait.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define LINE      64
#define CHUNK     65536
#define BITS      64
#define SLOTS_MAX (CHUNK / LINE)

#define SLOT_OF(type) ((uint32_t)(sizeof(type) + LINE - 1) / LINE * LINE)

static const uint32_t slot_size[] = {
	[NLOCK_TYPE_MUTEX] = SLOT_OF(nlock_mutex_t),     [NLOCK_TYPE_COND] = SLOT_OF(nlock_cond_t),
	[NLOCK_TYPE_RWLOCK] = SLOT_OF(nlock_rwlock_t),   [NLOCK_TYPE_RWLOCK_SPREAD] = SLOT_OF(nlock_rwlock_spread_t),
	[NLOCK_TYPE_BARRIER] = SLOT_OF(nlock_barrier_t), [NLOCK_TYPE_SEM] = SLOT_OF(nlock_sem_t),
};

#define TYPES (int)(sizeof(slot_size) / sizeof(*slot_size))

/* At the beginning of its 64 KiB, on the node too. */
struct chunk {
	struct chunk *next;
	int type, node;
	uint32_t slots;
	uint64_t used[SLOTS_MAX / BITS];
};

#define HEAD SLOT_OF(struct chunk)

static nlock_mutex_t guard; /* of all that follows */
static struct chunk *chunks;

/* The first slot follows the head. */
static char *slot_at(struct chunk *c, uint32_t i)
{
	return (char *)c + HEAD + (size_t)i * slot_size[c->type];
}

/* ---------------------------------------------------------------- fork */

static void begin_fork(void)
{
	nlock_mutex_lock(&guard);
}

static void end_fork(void)
{
	nlock_mutex_unlock(&guard);
}

static __attribute__((constructor(102))) void hold_over_forks(void)
{
	pthread_atfork(begin_fork, end_fork, end_fork);
}

/* ---------------------------------------------------------------- chunks */

/* mbind(2) */
#define BIND 2

/* The node was allowed a moment ago: EINVAL means that this has changed, or that it has no memory. */
static int bind_to_node(void *memory, int node)
{
	unsigned long mask[NL_NODES / (8 * sizeof(long))] = { 0 };
	long rc;

	mask[(size_t)node / (8 * sizeof(long))] = 1ul << (size_t)node % (8 * sizeof(long));
	rc = nl_syscall(SYS_mbind, (uintptr_t)memory, CHUNK, BIND, (uintptr_t)mask, NL_NODES + 1, 0);
	return rc == -ENOMEM || rc == -EINVAL || !rc ? (int)-rc : ENOTSUP;
}

/* Nothing is written to the memory before it is bound: the first to write decides where it is. */
static int add_chunk(int type, int node, struct chunk **added)
{
	struct chunk *c = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (c == MAP_FAILED)
		return ENOMEM;
	rc = bind_to_node(c, node);
	if (rc) {
		munmap(c, CHUNK); /* nobody has seen it */
		return rc;
	}
	c->type = type;
	c->node = node;
	c->slots = (CHUNK - HEAD) / slot_size[type];
	c->next = chunks;
	chunks = *added = c;
	return 0;
}

/* A free slot of the chunk, which is then used; NULL: there is none. */
static char *take_slot(struct chunk *c)
{
	for (uint32_t i = 0; i < c->slots; i++) {
		uint64_t bit = UINT64_C(1) << i % BITS;

		if (c->used[i / BITS] & bit)
			continue;
		c->used[i / BITS] |= bit;
		return slot_at(c, i);
	}
	return NULL;
}

/* What stood there before goes: see the head for who may still read it. */
static int take_on_node(int type, int node, void **object)
{
	struct chunk *c;
	char *slot = NULL;
	int rc = 0;

	for (c = chunks; c && !slot; c = c->next) {
		if (c->type == type && c->node == node)
			slot = take_slot(c);
	}
	if (!slot)
		rc = add_chunk(type, node, &c);
	if (rc)
		return rc;
	*object = memset(slot ? slot : take_slot(c), 0, slot_size[type]);
	return 0;
}

/* EINVAL: it is not the beginning of a slot of this chunk that is used. */
static int give_back(struct chunk *c, const char *object)
{
	size_t at = (size_t)(object - slot_at(c, 0)), i = at / slot_size[c->type];
	uint64_t bit = UINT64_C(1) << i % BITS;

	if (object < slot_at(c, 0) || at % slot_size[c->type] || i >= c->slots || !(c->used[i / BITS] & bit))
		return EINVAL;
	c->used[i / BITS] &= ~bit;
	return 0;
}

/* ---------------------------------------------------------------- the interface */

int nlock_alloc_onnode(enum nlock_type type, int node, void **object)
{
	int saved = errno, rc;

	if ((int)type < 0 || (int)type >= TYPES || node < 0 || node >= NL_NODES || !object)
		return EINVAL;
	if (!nl_wait_allows((uint32_t)node))
		return EINVAL;
	nlock_mutex_lock(&guard);
	rc = take_on_node((int)type, node, object);
	nlock_mutex_unlock(&guard);
	errno = saved;
	return rc;
}

int nlock_free_onnode(void *object)
{
	uintptr_t at = (uintptr_t)object;
	struct chunk *c;
	int rc;

	if (!object)
		return 0;
	nlock_mutex_lock(&guard);
	for (c = chunks; c && (at < (uintptr_t)c || at >= (uintptr_t)c + CHUNK); c = c->next)
		;
	rc = c ? give_back(c, object) : EINVAL;
	nlock_mutex_unlock(&guard);
	return rc;
}
