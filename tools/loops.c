/* SPDX-License-Identifier: MIT
 *
 * loops.c - what the loops need and does not have to be inlined; see loops.h
 */
#define _GNU_SOURCE
#include "loops.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void nothing_begin(void *object)
{
	(void)object;
}

bool nothing_end(void *object)
{
	(void)object;
	return true;
}

/* ---------------------------------------------------------------- owners */

static void note_handoff(struct worker *w, unsigned long run)
{
	struct guarded *g = w->guarded;
	int64_t now = now_ns();

	if (run == 1 && phase_now(w) == PHASE_COUNT)
		hist_add(g->noted, now - g->changed_at);
	g->changed_at = now;
}

void note_owner(struct worker *w, unsigned long before)
{
	struct guarded *g = w->guarded;
	unsigned long run = before - g->run_start;

	if (run > g->longest && phase_now(w) == PHASE_COUNT)
		g->longest = run;
	if (g->times_handoffs)
		note_handoff(w, run);
	g->run_start = before;
	g->last = w->id;
	publish(&g->changes, g->changes + 1);
}

/* ---------------------------------------------------------------- the kernel alone */

#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

/* One 32-bit word for each thread, a pair of cache lines apart, then what says that this is the last round. */
#define RING_STEP 32
#define RING_MAX  (OBJECT_SIZE / 4 / RING_STEP - 1)

static uint32_t *ring_word(struct worker *w, unsigned int i)
{
	return (uint32_t *)w->object + (size_t)i * RING_STEP;
}

static void ring_take(struct worker *w, unsigned int i)
{
	uint32_t *mine = ring_word(w, i);

	while (!__atomic_load_n(mine, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, mine, FUTEX_WAIT_PRIVATE, 0, NULL);
	__atomic_store_n(mine, 0, __ATOMIC_RELAXED);
}

static void ring_give(struct worker *w, unsigned int i)
{
	uint32_t *next = ring_word(w, i);

	__atomic_store_n(next, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, next, FUTEX_WAKE_PRIVATE, 1);
}

void raw_ring(struct worker *w)
{
	if (w->threads > RING_MAX)
		w->failures++;
	else
		loop_ring(w, (bool *)ring_word(w, RING_MAX), ring_take, ring_give);
}

void raw_ring_begin(void *object)
{
	*(uint32_t *)object = 1;
}

/* ---------------------------------------------------------------- limits, called */

static int take_function(uint32_t *word)
{
	return limit_take(word);
}

static int give_function(uint32_t *word)
{
	return limit_give(word);
}

static int add_function(uint32_t *word)
{
	return limit_add(word);
}

static int sub_function(uint32_t *word)
{
	return limit_sub(word);
}

static int load_function(uint32_t *word)
{
	return limit_load(word);
}

limit_pointer limit_take_pointer = take_function;
limit_pointer limit_give_pointer = give_function;
limit_pointer limit_add_pointer = add_function;
limit_pointer limit_sub_pointer = sub_function;
limit_pointer limit_load_pointer = load_function;
