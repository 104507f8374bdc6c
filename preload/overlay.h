/* SPDX-License-Identifier: MIT
 *
 * overlay.h - what lies where in the C library's types
 *
 * Ours and the C library's objects have the same types, and programs make them without telling us: by a static initialiser, or as
 * memory that is all zero. So each overlay keeps what the C library's headers put into an object where they put it, and
 * from that alone it can be told whose an object is. An object is one library's from its first use to its end.
 *
 *   mutex     the kind says it: robust, priority-inheriting and priority-protected mutexes are the C library's, and process-shared
 *             ones, unless they are taken over, which is a kind of its own
 *   the rest  process-shared objects are the C library's, unless they are taken over; what we made process-shared is marked
 *
 * Where the C library initialises, it initialises ours too: it judges the attributes, and leaves zeroes, which are a valid
 * object of nlock, and its own idea of the kind.
 */
#ifndef NP_OVERLAY_H
#define NP_OVERLAY_H

#include <nlock.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

#define NP_FITS(ours, theirs) \
	_Static_assert(sizeof(ours) <= sizeof(theirs) && _Alignof(ours) <= _Alignof(theirs), "it must fit")
#define NP_AT(ours, field, offset) _Static_assert(offsetof(ours, field) == (offset), "the C library's place for it")

/* Where the C library's object needs less alignment than ours, one in a packed structure is the C library's for ever. */
#define NP_IS_ALIGNED(object, ours) ((uintptr_t)(object) % _Alignof(ours) == 0)

/* ---------------------------------------------------------------- mutex */

struct np_mutex {
	nlock_mutex_t lock;
	uint32_t kind;         /* the C library's, perhaps with TAKEN; constant. All ones: destroyed */
	uint32_t owner, depth; /* of a recursive or error-checking one; who owns it, how often */
};

#define NP_KIND_TYPE 0x03u /* 0 normal, 1 recursive, 2 error-checking, 3 adaptive */
#define NP_KIND_TAKEN \
	0x04u /* process-shared, and ours. To the C library it is no kind at all: without us it says EINVAL */
#define NP_KIND_HOST   0x70u /* robust, inherits priority, has a ceiling */
#define NP_KIND_SHARED 0x80u
#define NP_KIND_ELIDE  0x300u /* may be elided, or must not: nothing to us */

NP_FITS(struct np_mutex, pthread_mutex_t);
NP_AT(struct np_mutex, kind, offsetof(pthread_mutex_t, __data.__kind));
NP_AT(struct np_mutex, kind, 16);
_Static_assert(PTHREAD_MUTEX_NORMAL == 0 && PTHREAD_MUTEX_RECURSIVE == 1 && PTHREAD_MUTEX_ERRORCHECK == 2, "kinds");

static inline struct np_mutex *np_mutex(pthread_mutex_t *m)
{
	return (struct np_mutex *)m;
}

/* Whose a mutex is, and what is asked of it. */
enum np_kind { NP_HOSTS, NP_NORMAL, NP_RECURSIVE, NP_CHECKED };
enum np_kind np_mutex_kind(const struct np_mutex *o);

/* Normal or adaptive, and private: nearly all that there are. */
static inline int np_is_common(const struct np_mutex *o)
{
	return !(o->kind & ~(NP_KIND_TYPE | NP_KIND_ELIDE)) && !((o->kind + 1) & 2);
}

/* Who the caller is to a mutex that knows its owner. */
uint32_t np_mutex_caller(const struct np_mutex *o);

static inline uint32_t np_mutex_owner(const struct np_mutex *o)
{
	return __atomic_load_n(&o->owner, __ATOMIC_RELAXED);
}

/* By the owner: after it has locked, and 0, 0 before it unlocks. */
static inline void np_mutex_own(struct np_mutex *o, uint32_t owner, uint32_t depth)
{
	o->depth = depth;
	__atomic_store_n(&o->owner, owner, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- condition variable */

struct np_cond {
	nlock_cond_t cond;
	uint32_t pad;
	uint32_t flags;
};

#define NP_COND_SHARED    0x1u
#define NP_COND_MONOTONIC 0x2u
#define NP_COND_OURS      0x80000000u /* process-shared, and ours */

NP_FITS(struct np_cond, pthread_cond_t);
NP_AT(struct np_cond, flags, offsetof(pthread_cond_t, __data.__wrefs));

/* ---------------------------------------------------------------- reader-writer lock */

struct np_rwlock {
	nlock_rwlock_t
		lock;   /* its two shorts, prefers and bypass, lie where the C library says that it is process-shared */
	uint32_t flags; /* low half: the C library's kind */
	uint32_t writer; /* who owns it for writing, or 0 */
};

#define NP_RW_KIND  0xffffu
#define NP_RW_CLAIM 0x10000u /* is about to be ours: who sees it finishes that */
#define NP_RW_OURS  0x20000u

NP_FITS(struct np_rwlock, pthread_rwlock_t);
NP_AT(struct np_rwlock, flags, offsetof(pthread_rwlock_t, __data.__flags));
_Static_assert(offsetof(pthread_rwlock_t, __data.__shared) == offsetof(nlock_rwlock_t, prefers), "read as both");
_Static_assert(sizeof(((pthread_rwlock_t *)0)->__data.__shared) == 4, "read as both");

/* ---------------------------------------------------------------- semaphore, barrier, once */

struct np_sem {
	nlock_sem_t sem;
	uint64_t mark; /* beyond what the C library uses. NP_SEM_OURS: sem_init has made it ours */
};

#define NP_SEM_OURS 0x6d65736b636f6c6eull

NP_FITS(struct np_sem, sem_t);
NP_AT(struct np_sem, mark, 24);

/* nlock leaves us 16 bits at the end, beyond what the C library uses. */
#define NP_BARRIER_OURS 0x4b4eu

NP_FITS(nlock_barrier_t, pthread_barrier_t);
NP_FITS(nlock_once_t, pthread_once_t);

#endif
