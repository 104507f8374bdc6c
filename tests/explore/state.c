/* SPDX-License-Identifier: MIT
 *
 * state.c - when are two states the same?
 *
 * The state is hashed in a form that leaves out what cannot matter any more: stores that nobody can read, clocks (a view is
 * hashed as what it knows of: which of the accesses that a later one could race with happen before its owner's next action),
 * and how a thread came by what it knows: its future depends on what it has read since it last forgot, on its view, and on memory.
 *
 * Under a bound on preemptions a state counts as visited only if it was reached with as few of them. Which thread ran last then
 * belongs to the state, since going on with it is free.
 *
 * 64 bits of hash can collide, and then a state is missed. At ten million states the odds of one collision are 1 in 400,000.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the form */

struct access {
	int thread;
	uint16_t clock;
};

static struct access accesses[X_PLAINS * X_THREADS + X_WORDS * X_THREADS];
static int naccesses;
static uint16_t oldest[X_WORDS];

static void add_access(int thread, uint16_t clock)
{
	if (clock)
		accesses[naccesses++] = (struct access){ thread, clock };
	else
		accesses[naccesses++] = (struct access){ 0, 0 };
}

/* The accesses that a later one could race with, in an order that depends on the test alone. */
static void collect_accesses(void)
{
	naccesses = 0;
	for (int i = 0; i < w.plains; i++) {
		add_access(w.plain[i].writer, w.plain[i].written);
		for (int t = 1; t <= x_test->threads; t++)
			add_access(t, w.plain[i].read[t]);
	}
	for (int i = 0; x_test->has_ends && i < w.words; i++) {
		for (int t = 1; t <= x_test->threads; t++)
			add_access(t, w.word[i].used[t]);
	}
}

static uint64_t relative(uint16_t i, int word)
{
	return i > oldest[word] ? i - oldest[word] : 0;
}

static uint64_t of_view(const struct view *v)
{
	uint64_t h = 1, bits = 0;

	for (int i = 0; i < naccesses; i++) {
		bits = bits << 1 | (v->clock[accesses[i].thread] >= accesses[i].clock);
		if (i % 60 == 59) {
			h = x_mix(h, bits);
			bits = 0;
		}
	}
	h = x_mix(h, bits);
	for (int i = 0; i < w.words; i++) {
		h = x_mix(h, relative(v->floor[i], i));
		if (w.word[i].has_tags && !w.word[i].is_wide)
			h = x_mix(h, relative(v->tag_floor[i], i));
	}
	return h;
}

static uint64_t of_thread(const struct thread *t)
{
	uint64_t flags = (uint64_t)t->may_be_cancelled << 5 | (uint64_t)t->is_cancelled << 4 |
			 (uint64_t)t->has_started << 3 | (uint64_t)t->is_paused << 2 | (uint64_t)t->is_expired << 1 |
			 t->is_timed;
	uint64_t h = x_mix(t->past, (uint64_t)t->status << 16 | (uint64_t)t->outcome << 8 | flags);

	if (t->status == DONE)
		return h;
	if (t->status == ASLEEP)
		h = x_mix(x_mix(h, (uint64_t)t->lane << 8 | t->node), (uintptr_t)t->address);
	h = x_mix(h, of_view(&t->view));
	if (!x_test->has_fences)
		return h;
	return x_mix(x_mix(h, of_view(&t->acquired)), of_view(&t->released));
}

static uint64_t of_word(int i)
{
	const struct word *l = &w.word[i];
	uint64_t h = x_mix((uintptr_t)l->addr, relative(l->published, i) << 32 | relative(l->newest_sc, i) << 16 |
						       relative(w.sc.floor[i], i));

	for (int k = oldest[i]; k < l->stores; k++) {
		const struct store *s = &x_history[i][k];

		h = x_mix(x_mix(h, (uint64_t)s->pair.tag << 32 | s->pair.value), of_view(&s->view));
	}
	return h;
}

static uint64_t of_state(void)
{
	uint64_t h = 0, v;

	x_floors(oldest);
	collect_accesses();
	for (int t = 1; t <= x_test->threads; t++)
		h = x_mix(h, of_thread(&w.thread[t]));
	for (int i = 0; i < w.words; i++)
		h = x_mix(h, of_word(i));
	for (size_t i = 0; i < w.arena_used; i += sizeof(v)) {
		memcpy(&v, x_arena + i, sizeof(v));
		h = x_mix(h, v);
	}
	for (int i = 0; i < w.sleepers; i++)
		h = x_mix(h, w.queue[i]);
	h = x_mix(h, (uint64_t)w.cancels << 48 | (uint64_t)w.stale << 40 | (uint64_t)w.strays << 32 |
			     (uint64_t)w.expiries << 24 | (uint64_t)w.jumps << 16 | (uint64_t)w.ends << 8 |
			     (unsigned int)w.sleepers);
	return x_opt.preemptions < 0 ? h : x_mix(h, (uint64_t)w.self);
}

/* ---------------------------------------------------------------- the states visited */

static uint64_t *keys; /* 0: free */
static uint8_t *costs; /* fewest preemptions */
static uint64_t capacity, used;

static uint64_t slot_of(uint64_t key)
{
	uint64_t i = key & (capacity - 1);

	while (keys[i] && keys[i] != key)
		i = (i + 1) & (capacity - 1);
	return i;
}

static void grow(void)
{
	uint64_t *old = keys, n = capacity;
	uint8_t *old_costs = costs;

	capacity = n ? n * 2 : 1 << 16;
	keys = calloc(capacity, sizeof(*keys));
	costs = malloc(capacity);
	if (!keys || !costs) {
		fputs("explorer: out of memory\n", stderr);
		exit(2);
	}
	for (uint64_t i = 0; i < n; i++) {
		if (old[i]) {
			uint64_t k = slot_of(old[i]);

			keys[k] = old[i];
			costs[k] = old_costs[i];
		}
	}
	free(old);
	free(old_costs);
}

/* Has this state not been visited yet, or only at a higher cost? */
bool x_is_new(void)
{
	uint64_t key = of_state(), i;

	key += !key;
	if (used * 10 >= capacity * 7)
		grow();
	i = slot_of(key);
	if (keys[i] && costs[i] <= w.preemptions)
		return false;
	used += !keys[i];
	keys[i] = key;
	costs[i] = (uint8_t)w.preemptions;
	return true;
}

uint64_t x_states(void)
{
	return used;
}

void x_forget_states(void)
{
	free(keys);
	free(costs);
	keys = NULL;
	costs = NULL;
	capacity = used = 0;
}
