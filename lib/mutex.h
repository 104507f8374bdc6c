/* SPDX-License-Identifier: MIT
 *
 * mutex.h - the mutex's word, for the files that work on it: mutex.c, which says what each bit means, and cond.c and rwlock.c
 */
#ifndef NL_MUTEX_H
#define NL_MUTEX_H

#include <nlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(nlock_mutex_t) == 16 && _Alignof(nlock_mutex_t) == 8, "the size is ABI");
_Static_assert(offsetof(nlock_mutex_t, node) == 4, "the kernel reads the node right after the word");

#define M_LOCKED      0x01u
#define M_GRANT       0x02u
#define M_HEAD        0x0cu
#define M_HEAD_NONE   0x00u
#define M_HEAD_CALLED 0x04u
#define M_HEAD_AWAKE  0x08u
#define M_HEAD_FRONT  0x0cu
#define M_DUE         0x10u
#define M_ROUND       0x20u
#define M_CROWD       0x40u
#define M_ONE         0x80u /* one registered waiter */

static inline bool is_open(uint32_t w)
{
	return !(w & M_LOCKED);
}

static inline bool is_owned(uint32_t w)
{
	return (w & (M_LOCKED | M_GRANT)) == M_LOCKED;
}

static inline bool has_waiters(uint32_t w)
{
	return w >= M_ONE;
}

static inline bool has_one_waiter(uint32_t w)
{
	return has_waiters(w) && w < 2 * M_ONE;
}

static inline uint32_t head_of(uint32_t w)
{
	return w & M_HEAD;
}

static inline uint32_t with_head(uint32_t w, uint32_t head)
{
	return (w & ~M_HEAD) | head;
}

/* The word after one waiter has gone, the head or another. */
static inline uint32_t without_waiter(uint32_t w, bool is_head)
{
	w -= M_ONE;
	if (is_head)
		w &= ~(M_GRANT | M_HEAD | M_DUE);
	return has_waiters(w) ? w : w & M_LOCKED;
}

/* mutex.c: T15 is in it. cohort.c: the wake of T6, false if nobody was asleep; where a later waiter sleeps; T15. */
void nl_mutex_count_overtaking(nlock_mutex_t *m);
bool nl_cohort_call(nlock_mutex_t *m, uint32_t w);
uint32_t nl_cohort_lane(uint32_t w);
void nl_cohort_end_round(nlock_mutex_t *m);

/* T16: counts n waiters who will come, by the next call, which they do not make before this has returned. Not of a cohort lock.
 * False: it is not locked, and they are not counted. */
bool nl_mutex_expect(nlock_mutex_t *m, uint32_t n);

/* Locks as one of these. is_woken: a wake has taken this thread out of a queue, perhaps that of the mutex. */
void nl_mutex_lock_expected(nlock_mutex_t *m, bool is_woken);

#endif
