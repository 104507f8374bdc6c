/* SPDX-License-Identifier: MIT
 *
 * search.c - which executions: all, depth first; random ones; or one again
 *
 * Wherever there is a choice the state is copied: the world, the histories as far back as anybody can read, and the live parts of
 * the stacks. To try the next alternative the copy is put back, and the coroutine that asked goes on from inside x_decide. So no
 * execution is ever repeated from its beginning, and a step costs what it does.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHOICES = 20000 };

struct copy {
	char *bytes;
	size_t size, room;
};

struct choice {
	int n, i;
	jmp_buf context;
	struct copy state;
};

struct world w;
static struct choice choices[CHOICES];
static int made;   /* choices on the way to where we are */
static int replayed;
static jmp_buf out;
static struct copy beginning;
static uint64_t random_state;

/* ---------------------------------------------------------------- copies of a state */

static void append(struct copy *c, const void *p, size_t size)
{
	if (c->size + size > c->room) {
		c->room = (c->size + size) * 2;
		c->bytes = realloc(c->bytes, c->room);
		if (!c->bytes) {
			fputs("explorer: out of memory\n", stderr);
			exit(2);
		}
	}
	memcpy(c->bytes + c->size, p, size);
	c->size += size;
}

static size_t world_size(void)
{
	return offsetof(struct world, thread) + (size_t)(x_test->threads + 1) * sizeof(struct thread);
}

/* A thread that is done may still be the one that makes the choice of who is next. */
static bool has_live_stack(int t)
{
	return t == w.self || w.thread[t].status != DONE;
}

static void copy(struct copy *c)
{
	uint16_t floor[X_WORDS];

	c->size = 0;
	append(c, &w, world_size());
	append(c, x_arena, w.arena_used);
	x_floors(floor);
	for (int i = 0; i < w.words; i++) {
		append(c, &floor[i], sizeof(floor[i]));
		append(c, &x_history[i][floor[i]], (size_t)(w.word[i].stores - floor[i]) * sizeof(struct store));
	}
	for (int t = 0; t <= x_test->threads; t++) {
		if (has_live_stack(t))
			append(c, w.thread[t].sp, (size_t)(x_stack_top(t) - w.thread[t].sp));
	}
}

static const char *fetch(const char *from, void *p, size_t size)
{
	memcpy(p, from, size);
	return from + size;
}

/* Runs on the main stack: those of the threads are overwritten. */
static void put_back(const struct copy *c)
{
	const char *p = fetch(c->bytes, &w, world_size());

	p = fetch(p, x_arena, w.arena_used);
	for (int i = 0; i < w.words; i++) {
		uint16_t floor;

		p = fetch(p, &floor, sizeof(floor));
		p = fetch(p, &x_history[i][floor], (size_t)(w.word[i].stores - floor) * sizeof(struct store));
	}
	for (int t = 0; t <= x_test->threads; t++) {
		if (has_live_stack(t))
			p = fetch(p, w.thread[t].sp, (size_t)(x_stack_top(t) - w.thread[t].sp));
	}
}

/* Not inlined: the frame of x_decide, which goes on from the copy, must lie above. */
static __attribute__((noinline)) void copy_here(struct copy *c)
{
	x_me()->sp = __builtin_frame_address(0);
	copy(c);
}

/* ---------------------------------------------------------------- choices */

bool x_is_exhaustive(void)
{
	return !x_opt.runs && !x_opt.replay;
}

uint64_t x_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1du >> 20;
}

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* The choices of a replay are one character each; when they end, the first alternative is taken. */
static int replay_one(int n)
{
	const char *d = x_opt.replay[replayed] ? strchr(digits, x_opt.replay[replayed]) : digits;
	int i = d ? (int)(d - digits) : 0;

	replayed += x_opt.replay[replayed] != 0;
	return i < n ? i : 0;
}

/* Notes a choice that was made otherwise. */
int x_record(int n, int i)
{
	if (made == CHOICES)
		x_fail("explorer", "too many choices in one execution");
	choices[made].n = n;
	choices[made++].i = i;
	return i;
}

/* 0 .. n-1. Rare: when executions are random, mostly 0. */
int x_decide(int n, bool is_rare)
{
	struct choice *c;

	if (n <= 1)
		return 0;
	if (x_opt.replay)
		return x_record(n, replay_one(n));
	if (x_opt.runs)
		return x_record(n, is_rare && x_random() % 4 ? 0 : (int)(x_random() % (unsigned int)n));
	c = &choices[made];
	x_record(n, 0);
	if (!_setjmp(c->context))
		copy_here(&c->state);
	return c->i;
}

int x_choose(int n)
{
	int i = x_decide(n, true);

	x_learn((uint64_t)i);
	return i;
}

/* ---------------------------------------------------------------- executions */

void x_leave(void)
{
	_longjmp(out, 1);
}

static void from_the_beginning(void)
{
	made = replayed = 0;
	if (_setjmp(out))
		return;
	put_back(&beginning);
	if (x_opt.runs && !x_opt.replay)
		x_draw_priorities();
	x_resume(0);
}

static void from_choice(struct choice *c)
{
	made = (int)(c - choices) + 1;
	if (_setjmp(out))
		return;
	put_back(&c->state);
	_longjmp(c->context, 1);
}

static void all(void)
{
	from_the_beginning();
	for (;;) {
		x_res->executions++;
		if (x_res->has_failed)
			return;
		while (made && choices[made - 1].i + 1 == choices[made - 1].n)
			made--;
		if (!made)
			return;
		choices[made - 1].i++;
		from_choice(&choices[made - 1]);
	}
}

static void some(void)
{
	random_state = (x_opt.seed + 1) * 0x9e3779b97f4a7c15u;
	while (x_res->executions < x_opt.runs && !x_res->has_failed) {
		from_the_beginning();
		x_res->executions++;
	}
}

static void one(void)
{
	x_is_tracing = true;
	from_the_beginning();
	x_is_tracing = false;
	x_res->executions++;
}

/* The failed execution once more, as a trace, and how to have it again. */
static void show(void)
{
	static char path[CHOICES + 1];
	struct x_result again = *x_res, *first = x_res;
	int n = made;

	for (int i = 0; i < n; i++)
		path[i] = digits[choices[i].i];
	path[n] = 0;
	while (n && path[n - 1] == '0')
		path[--n] = 0;
	x_opt.replay = path;
	again.has_failed = false;
	x_res = &again;
	one();
	x_res = first;
	x_opt.replay = NULL;
	printf("  again: same arguments and -R%s\n", *path ? path : "0");
	if (!again.has_failed || strcmp(again.property, first->property))
		puts("  (the replay did not fail in the same way: the test is not deterministic)");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void x_explore(const struct x_test *t, const struct x_options *o, struct x_result *r)
{
	double start = seconds();

	memset(r, 0, sizeof(*r));
	x_test = t;
	x_opt = *o;
	x_res = r;
	x_boot();
	copy(&beginning);
	if (x_opt.replay)
		one();
	else if (x_opt.runs)
		some();
	else
		all();
	r->states = x_states();
	r->seconds = seconds() - start;
	x_forget_states();
	if (r->has_failed && !x_opt.replay && x_opt.traces)
		show();
}
