/* SPDX-License-Identifier: MIT
 *
 * loops.h - the loops that are compiled around a lock's functions
 *
 * Always inlined, with functions as arguments that are constant: no indirect call is left, so that nlock and the C
 * library are called through the procedure linkage table as in any program, and the others as their headers have it.
 */
#ifndef LOOPS_H
#define LOOPS_H

#include "bench.h"

#define INLINED static inline __attribute__((always_inline))

typedef void lock_fn(struct worker *w);
typedef bool try_fn(struct worker *w);

/* For one of several locks. */
typedef void nth_fn(struct worker *w, unsigned int i);

/* ---------------------------------------------------------------- nobody else */

#define BATCH 1000

INLINED void loop_pair(struct worker *w, lock_fn *lock, lock_fn *unlock)
{
	unsigned long ops = 0;

	while (phase_now(w) != PHASE_STOP) {
		for (int i = 0; i < BATCH; i++) {
			lock(w);
			unlock(w);
		}
		publish(&w->ops, ops += BATCH);
	}
}

INLINED void loop_single(struct worker *w, lock_fn *call)
{
	unsigned long ops = 0;

	while (phase_now(w) != PHASE_STOP) {
		for (int i = 0; i < BATCH; i++)
			call(w);
		publish(&w->ops, ops += BATCH);
	}
}

INLINED void loop_try_pair(struct worker *w, try_fn *try, lock_fn *unlock)
{
	unsigned long ops = 0;

	while (phase_now(w) != PHASE_STOP) {
		for (int i = 0; i < BATCH; i++) {
			if (!try(w)) {
				w->failures++;
				return;
			}
			unlock(w);
		}
		publish(&w->ops, ops += BATCH);
	}
}

/* ---------------------------------------------------------------- in the lock */

/* The lock is not with the one any more that had it last. `before` is the counter. */
void note_owner(struct worker *w, unsigned long before);

/* The counter is read before the work and written after it: an intruder loses an increment. */
INLINED void section(struct worker *w)
{
	struct guarded *g = w->guarded;
	unsigned long before = g->counter;

	if (g->last != w->id)
		note_owner(w, before);
	work(w->inside);
	g->counter = before + 1;
}

/* ---------------------------------------------------------------- a token that goes round
 *
 * Thread i takes it at place i and gives it on at the next one. Whoever has it and sees the stop sign closes the ring;
 * everybody gets it once more and leaves. The owner of the token is alone: it counts as a lock does.
 */

INLINED void loop_ring(struct worker *w, bool *is_closed, nth_fn *take, nth_fn *give)
{
	unsigned long ops = 0;
	bool leave;

	do {
		take(w, w->id);
		leave = *is_closed;
		if (!leave) {
			section(w);
			publish(&w->ops, ++ops);
			*is_closed = phase_now(w) == PHASE_STOP;
		}
		give(w, (w->id + 1) % w->threads);
	} while (!leave);
}

/* With nothing but the system call. */
#define RAW_RING \
	{ \
		"raw-futex", "a token that futex(2) passes round, no lock", SUBJECT_RAW, raw_ring_begin, nothing_end, \
			{ NULL, NULL, raw_ring, NULL, NULL, NULL }, NULL \
	}

void raw_ring_begin(void *object);
void raw_ring(struct worker *w);

/* ---------------------------------------------------------------- what nobody can do without
 *
 * The atomic operations of an uncontended pair, and nothing else: the limit. Inline, and through pointers that are
 * fetched anew for each call, as a function of a shared library is from its table.
 */

INLINED int limit_take(uint32_t *word)
{
	uint32_t zero = 0;

	return __atomic_compare_exchange_n(word, &zero, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED) ? 0 : 1;
}

INLINED int limit_give(uint32_t *word)
{
	return __atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 1 ? 0 : 1;
}

INLINED int limit_add(uint32_t *word)
{
	return __atomic_fetch_add(word, 1, __ATOMIC_ACQUIRE) == UINT32_MAX ? 1 : 0;
}

INLINED int limit_sub(uint32_t *word)
{
	return __atomic_fetch_sub(word, 1, __ATOMIC_RELEASE) == 0 ? 1 : 0;
}

INLINED int limit_load(uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) == 0 ? 0 : 1;
}

typedef int (*volatile limit_pointer)(uint32_t *);

extern limit_pointer limit_take_pointer, limit_give_pointer, limit_add_pointer, limit_sub_pointer, limit_load_pointer;

/* A body that makes the pair, or the single operation, of two limits: NAME_in and NAME_call. */
#define LIMIT_PAIR(name, first, second) \
	INLINED void name##_first(struct worker *w) \
	{ \
		first(w->object); \
	} \
	INLINED void name##_second(struct worker *w) \
	{ \
		second(w->object); \
	} \
	static void name(struct worker *w) \
	{ \
		loop_pair(w, name##_first, name##_second); \
	}

#define LIMIT_SINGLE(name, operation) \
	INLINED void name##_call(struct worker *w) \
	{ \
		operation(w->object); \
	} \
	static void name(struct worker *w) \
	{ \
		loop_single(w, name##_call); \
	}

#endif
