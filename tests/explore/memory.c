/* SPDX-License-Identifier: MIT
 *
 * memory.c - the C11 memory model, operationally
 *
 * Each word has a history of stores, in modification order. A thread's view says, for each word, the oldest store that it may
 * still read (coherence), and, for each thread, up to which point that thread's actions happen before its own next one. A
 * store carries a view; a load that acquires joins it to its own. A read-modify-write reads the newest store and continues its
 * release sequence: the view it leaves contains the one it found. A store goes last in the history, always, which is why
 * 2+2W is out of reach, and a load returns what has been stored, which is why load buffering is.
 *
 * A failed compare-exchange is a load, and may return an older value than the newest one as any load may.
 *
 * Where several stores that a relaxed load could return have one value, only the oldest is tried: reading it tells the thread least, and
 * whatever can follow after reading another of them can follow after this one.
 */
#include "engine.h"

#include <string.h>

struct store x_history[X_WORDS][X_STORES];
char x_arena[X_ARENA] __attribute__((aligned(64)));

static bool acquires(enum x_order o)
{
	return o == X_ACQ || o >= X_ACQ_REL;
}

static bool releases(enum x_order o)
{
	return o >= X_REL;
}

void x_join(struct view *a, const struct view *b)
{
	for (int i = 0; i < X_THREADS; i++)
		a->clock[i] = b->clock[i] > a->clock[i] ? b->clock[i] : a->clock[i];
	for (int i = 0; i < X_WORDS; i++) {
		a->floor[i] = b->floor[i] > a->floor[i] ? b->floor[i] : a->floor[i];
		a->tag_floor[i] = b->tag_floor[i] > a->tag_floor[i] ? b->tag_floor[i] : a->tag_floor[i];
	}
}

/* ---------------------------------------------------------------- storage and its end */

void *x_new(size_t size)
{
	void *p = x_arena + w.arena_used;

	w.arena_used += (size + 15) & ~(size_t)15;
	if (w.arena_used > X_ARENA)
		x_fail("explorer", "the arena is too small");
	memset(p, 0, size);
	return p;
}

static bool is_within(const void *p, const struct end *e)
{
	return (const char *)p >= e->from && (const char *)p < e->to;
}

bool x_is_dead(const void *p)
{
	for (int i = 0; i < w.ends; i++) {
		if (is_within(p, &w.end[i]))
			return true;
	}
	return false;
}

static void must_live(const void *p, const struct x_site *s)
{
	if (x_is_dead(p))
		x_fail("life", "T%d touches memory after its end: %s (%s:%d)", w.self, s->text, s->file, s->line);
}

/* The first of the threads that has done, at the given clocks, what the running thread does not know of; 0 if none. */
static int stranger(const uint16_t clock[X_THREADS])
{
	for (int t = 1; t <= x_test->threads; t++) {
		if (t != w.self && clock[t] > x_me()->view.clock[t])
			return t;
	}
	return 0;
}

static void must_know(const char *property, const uint16_t clock[X_THREADS], const char *what, const struct x_site *s)
{
	int t = stranger(clock);

	if (t)
		x_fail(property, "T%d: %s, while T%d's access does not happen before it: %s (%s:%d)", w.self, what, t, s->text,
		       s->file, s->line);
}

static void must_know_write(const char *property, const struct plain *v, const char *what, const struct x_site *s)
{
	uint16_t clock[X_THREADS] = { 0 };

	clock[v->writer] = v->written;
	must_know(property, clock, what, s);
}

void x_dead(const void *p, size_t size, struct x_site *s)
{
	struct end e = { p, (const char *)p + size };

	x_meet(s);
	x_trace(s, "the memory ends");
	for (int i = 0; i < w.words; i++) {
		if (is_within(w.word[i].addr, &e))
			must_know("life", w.word[i].used, "the memory ends", s);
	}
	for (int i = 0; i < w.plains; i++) {
		if (is_within(w.plain[i].addr, &e)) {
			must_know("life", w.plain[i].read, "the memory ends", s);
			must_know_write("life", &w.plain[i], "the memory ends", s);
		}
	}
	if (w.ends == X_ENDS)
		x_fail("explorer", "too many ends");
	w.end[w.ends++] = e;
	memset((void *)(uintptr_t)p, 0xff, size); /* an attribute word that is read from here is invalid */
}

/* ---------------------------------------------------------------- plain accesses */

static struct plain *plain(const void *p)
{
	struct plain *v;

	for (int i = 0; i < w.plains; i++) {
		if (w.plain[i].addr == p)
			return &w.plain[i];
	}
	if (w.plains == X_PLAINS)
		x_fail("explorer", "too many plain variables");
	v = &w.plain[w.plains++];
	memset(v, 0, sizeof(*v));
	v->addr = p;
	return v;
}

void x_plain(const void *p, bool is_write, struct x_site *s)
{
	struct plain *v;

	if (!w.is_running)
		return;
	x_meet(s);
	must_live(p, s);
	v = plain(p);
	must_know_write("race", v, is_write ? "writes" : "reads", s);
	if (!is_write) {
		v->read[w.self] = x_me()->view.clock[w.self];
		return;
	}
	must_know("race", v->read, "writes", s);
	memset(v->read, 0, sizeof(v->read)); /* who knows of this write knows of them */
	v->writer = (uint16_t)w.self;
	v->written = x_me()->view.clock[w.self];
	x_trace(s, "plain write");
}

/* ---------------------------------------------------------------- words */

struct word *x_word(const void *p)
{
	for (int i = 0; i < w.words; i++) {
		if (w.word[i].addr == p)
			return &w.word[i];
	}
	return NULL;
}

static struct x_pair halves(uint64_t v)
{
	return (struct x_pair){ (uint32_t)v, (uint32_t)(v >> 32) };
}

static uint64_t whole(struct x_pair p)
{
	return (uint64_t)p.tag << 32 | p.value;
}

/* On first use the value moves from memory into the history; what is left behind would betray a plain access. */
struct word *x_live_word(const void *p, size_t size, const struct x_site *s)
{
	struct word *l = x_word(p);
	struct store *first;

	must_live(p, s);
	if (l)
		return l;
	if (w.words == X_WORDS)
		x_fail("explorer", "too many words");
	first = x_history[w.words];
	l = &w.word[w.words++];
	memset(l, 0, sizeof(*l));
	memset(first, 0, sizeof(*first));
	l->addr = p;
	l->stores = 1;
	if (size == sizeof(uint64_t)) {
		first->pair = halves(*(const uint64_t *)p);
		l->is_wide = l->has_tags = true;
	} else {
		memcpy(&first->pair.value, p, size); /* little-endian, or 32 bits */
	}
	memset((void *)(uintptr_t)p, X_POISON, size);
	return l;
}

static struct store *history(const struct word *l)
{
	return x_history[l - w.word];
}

static uint16_t *my_floor(const struct word *l)
{
	return &x_me()->view.floor[l - w.word];
}

/* The oldest store whose tag, or which as a pair, may still be read: looking at the tag makes a promise too. */
static uint16_t my_pair_floor(const struct word *l)
{
	uint16_t tag = x_me()->view.tag_floor[l - w.word];

	return tag > *my_floor(l) ? tag : *my_floor(l);
}

/* What has been read is all that makes a thread's next steps differ. */
void x_learn(uint64_t what)
{
	x_me()->past = x_mix(x_me()->past, what + 1);
}

void x_used(struct word *l)
{
	if (x_test->has_ends)
		l->used[w.self] = x_me()->view.clock[w.self];
}

/* Older than i is out of the running thread's sight from now on. */
void x_see(const struct word *l, int i)
{
	if (i > *my_floor(l))
		*my_floor(l) = (uint16_t)i;
}

/* Do they look the same to who reads the word? */
static bool is_alike(const struct word *l, struct x_pair a, struct x_pair b)
{
	return a.value == b.value && (!l->is_wide || a.tag == b.tag);
}

static bool is_pair(const struct word *l, const struct store *s, const struct x_pair *p)
{
	return s->pair.value == p->value && ((p->tag == X_ANY_TAG && !l->is_wide) || s->pair.tag == p->tag);
}

static int pick_one(const int *c, int n)
{
	int k = x_decide(x_opt.stale >= 0 && w.stale >= x_opt.stale ? 1 : n, true);

	w.stale += k > 0 && x_opt.stale >= 0;
	return c[k];
}

/* The index of the store that a look at l returns: the newest, or an older one not before `oldest` and other than `but`. is_exact:
 * stores of one value are told apart. */
int x_pick(const struct word *l, int oldest, const struct x_pair *but, bool is_exact)
{
	const struct store *h = history(l);
	int newest = l->stores - 1, n = 0, k, c[X_STORES];

	for (int i = newest; i >= oldest; i--) {
		if (but && i != newest && is_pair(l, &h[i], but))
			continue;
		for (k = 0; k < n && (is_exact || !is_alike(l, h[c[k]].pair, h[i].pair)); k++)
			;
		c[k] = i;
		n += k == n;
	}
	return pick_one(c, n);
}

/* What is seen of one half of a pair says nothing about the other. */
uint32_t x_read_tag(const struct word *l)
{
	const struct store *h = history(l);
	int n = 0, k, c[X_STORES];

	for (int i = l->stores - 1; i >= my_pair_floor(l); i--) {
		for (k = 0; k < n && h[c[k]].pair.tag != h[i].pair.tag; k++)
			;
		c[k] = i;
		n += k == n;
	}
	k = pick_one(c, n);
	x_me()->view.tag_floor[l - w.word] = (uint16_t)k;
	x_learn(h[k].pair.tag);
	return h[k].pair.tag;
}

static void got(struct word *l, int i, enum x_order o)
{
	const struct store *from = &history(l)[i];

	x_see(l, i);
	if (x_test->has_fences)
		x_join(&x_me()->acquired, &from->view);
	if (acquires(o))
		x_join(&x_me()->view, &from->view);
}

/* Appends a store. `from` is the index of the store that a read-modify-write has read, or -1. */
static void put(struct word *l, int from, struct x_pair v, enum x_order o)
{
	struct thread *me = x_me();
	struct store *new = &history(l)[l->stores];
	struct x_pair old = new[-1].pair;

	if (l->stores == X_STORES)
		x_fail("steps", "too many stores to one word");
	*my_floor(l) = l->stores;
	new->pair = v;
	if (v.tag == X_ANY_TAG && !l->is_wide)
		new->pair.tag = old.tag;
	new->view = releases(o) ? me->view : me->released;
	if (from >= 0)
		x_join(&new->view, &history(l)[from].view);
	new->view.floor[l - w.word] = l->stores;
	if (o == X_SC)
		l->newest_sc = l->stores;
	l->stores++;
	me->view.clock[w.self]++; /* what follows is not published by this store */
	if (x_test->wrote && w.is_running)
		x_test->wrote(l->addr, old, new->pair);
	if (x_test->has_ends) {
		x_step(); /* plain reads that follow, which nobody announces, may be late */
		x_learn(1);
	}
}

/* An SC access sees every SC store so far, and what was stored before an SC fence so far. */
static int oldest_for(const struct word *l, enum x_order o)
{
	int i = *my_floor(l);

	if (o != X_SC)
		return i;
	i = l->newest_sc > i ? l->newest_sc : i;
	return w.sc.floor[l - w.word] > i ? w.sc.floor[l - w.word] : i;
}

static const char *stale_mark(const struct word *l, int i)
{
	return is_alike(l, history(l)[i].pair, history(l)[l->stores - 1].pair) ? "" : "  (stale)";
}

uint32_t x_load(const void *p, size_t size, struct x_site *s)
{
	struct word *l;
	uint32_t v;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, size, s);
	i = x_pick(l, oldest_for(l, s->order), NULL, s->order != X_RLX || x_test->has_fences);
	v = history(l)[i].pair.value;
	x_learn(v);
	got(l, i, s->order);
	x_used(l);
	x_trace(s, "-> %#x%s", v, stale_mark(l, i));
	return v;
}

void x_store(void *p, size_t size, uint32_t v, struct x_site *s)
{
	struct word *l;

	x_meet(s);
	x_step();
	l = x_live_word(p, size, s);
	x_learn(0);
	x_used(l);
	x_trace(s, ":= %#x", v);
	put(l, -1, (struct x_pair){ v, X_ANY_TAG }, s->order);
}

uint32_t x_add(void *p, size_t size, uint32_t v, struct x_site *s)
{
	uint32_t old, new;
	struct word *l;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, size, s);
	i = l->stores - 1;
	old = history(l)[i].pair.value;
	new = size == sizeof(uint16_t) ? (uint16_t)(old + v) : old + v;
	x_learn(old);
	got(l, i, s->order);
	x_used(l);
	x_trace(s, "%#x -> %#x", old, new);
	put(l, i, (struct x_pair){ new, X_ANY_TAG }, s->order);
	return old;
}

static bool exchange(uint32_t *p, uint32_t *seen, uint32_t tag, struct x_pair v, struct x_site *s)
{
	struct x_pair expected = { *seen, tag };
	const struct store *old;
	struct word *l;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	i = x_pick(l, tag == X_ANY_TAG ? *my_floor(l) : my_pair_floor(l), &expected, x_test->has_fences);
	old = &history(l)[i];
	x_learn((uint64_t)old->pair.value << 1 | is_pair(l, old, &expected));
	x_used(l);
	if (!is_pair(l, old, &expected)) {
		got(l, i, X_RLX);
		x_trace(s, "%#x -> %#x fails: %#x%s", *seen, v.value, old->pair.value, stale_mark(l, i));
		*seen = old->pair.value;
		return false;
	}
	got(l, i, s->order);
	x_trace(s, "%#x -> %#x", *seen, v.value);
	l->has_tags |= v.tag != X_ANY_TAG && v.tag != old->pair.tag;
	put(l, i, v, s->order);
	return true;
}

uint64_t x_load64(const uint64_t *p, struct x_site *s)
{
	struct word *l;
	uint64_t v;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	i = x_pick(l, oldest_for(l, s->order), NULL, s->order != X_RLX || x_test->has_fences);
	v = whole(history(l)[i].pair);
	x_learn(v);
	got(l, i, s->order);
	x_used(l);
	x_trace(s, "-> %#llx%s", (unsigned long long)v, stale_mark(l, i));
	return v;
}

void x_store64(uint64_t *p, uint64_t v, struct x_site *s)
{
	struct word *l;

	x_meet(s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	x_learn(0);
	x_used(l);
	x_trace(s, ":= %#llx", (unsigned long long)v);
	put(l, -1, halves(v), s->order);
}

uint64_t x_fresh64(uint64_t *p, struct x_site *s)
{
	struct word *l;
	uint64_t v;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	i = l->stores - 1;
	v = whole(history(l)[i].pair);
	x_learn(v);
	got(l, i, s->order);
	x_used(l);
	x_trace(s, "%#llx", (unsigned long long)v);
	put(l, i, halves(v), s->order);
	return v;
}

bool x_cas64(uint64_t *p, uint64_t *seen, uint64_t v, struct x_site *s)
{
	struct x_pair expected = halves(*seen);
	const struct store *old;
	struct word *l;
	bool is_same;
	int i;

	x_meet(s);
	x_step();
	l = x_live_word(p, sizeof(*p), s);
	i = x_pick(l, *my_floor(l), &expected, x_test->has_fences);
	old = &history(l)[i];
	is_same = is_pair(l, old, &expected);
	x_learn(whole(old->pair));
	x_learn(is_same);
	x_used(l);
	x_trace(s, "%#llx -> %#llx%s %#llx%s", (unsigned long long)*seen, (unsigned long long)v, is_same ? ", was" : " fails:",
		(unsigned long long)whole(old->pair), stale_mark(l, i));
	if (!is_same) {
		got(l, i, X_RLX);
		*seen = whole(old->pair);
		return false;
	}
	got(l, i, s->order);
	put(l, i, halves(v), s->order);
	return true;
}

bool x_cas(uint32_t *p, uint32_t *seen, uint32_t v, struct x_site *s)
{
	return exchange(p, seen, X_ANY_TAG, (struct x_pair){ v, X_ANY_TAG }, s);
}

bool x_cas_pair(uint32_t *p, uint32_t *seen, uint32_t tag, uint32_t v, uint32_t new_tag, struct x_site *s)
{
	return exchange(p, seen, tag, (struct x_pair){ v, new_tag }, s);
}

/* While there has been one tag only, to read it needs no step of its own. */
uint32_t x_load_tag(const uint32_t *p, struct x_site *s)
{
	struct word *l = x_live_word(p, sizeof(*p), s);
	uint32_t tag;

	x_meet(s);
	if (l->has_tags) {
		x_step();
		l = x_live_word(p, sizeof(*p), s);
	}
	tag = x_read_tag(l);
	x_used(l);
	if (l->has_tags)
		x_trace(s, "tag -> %u", tag);
	return tag;
}

void x_set_tag(const uint32_t *p, uint32_t tag)
{
	struct word *l = x_word(p);

	l->has_tags = true;
	for (int i = 0; i < l->stores; i++)
		history(l)[i].pair.tag = tag;
}

static void fence_sc(struct thread *me)
{
	for (int i = 0; i < w.words; i++) {
		if (w.word[i].newest_sc > me->view.floor[i])
			me->view.floor[i] = w.word[i].newest_sc;
		if (w.sc.floor[i] > me->view.floor[i])
			me->view.floor[i] = w.sc.floor[i];
		w.sc.floor[i] = me->view.floor[i];
	}
}

void x_fence(struct x_site *s)
{
	struct thread *me;

	x_meet(s);
	x_step();
	if (!x_test->has_fences)
		x_fail("explorer", "a test with fences must say so");
	me = x_me();
	x_learn(0);
	if (acquires(s->order))
		x_join(&me->view, &me->acquired);
	if (s->order == X_SC)
		fence_sc(me);
	if (releases(s->order))
		me->released = me->view;
	me->view.clock[w.self]++;
	x_trace(s, "fence");
}

/* ---------------------------------------------------------------- what nobody can read any more */

static uint16_t floor_of(int word)
{
	uint16_t newest = w.word[word].stores - 1, floor = newest;

	if (!w.is_running)
		return w.thread[0].view.floor[word];
	for (int t = 1; t <= x_test->threads; t++) {
		if (w.thread[t].status != DONE && w.thread[t].view.floor[word] < floor)
			floor = w.thread[t].view.floor[word];
	}
	return floor;
}

/* The oldest store of each word that some thread may still read. Thread 0 does not look while others run, and then knows all. */
void x_floors(uint16_t floor[X_WORDS])
{
	for (int i = 0; i < w.words; i++)
		floor[i] = floor_of(i);
}
