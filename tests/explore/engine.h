/* SPDX-License-Identifier: MIT
 *
 * engine.h - what the parts of the explorer share
 *
 *	explore.c   options, sites, trace, report
 *	search.c    choices: depth first, random, replay; saving and restoring a state
 *	sched.c     coroutines; whose step is next
 *	memory.c    what a load may return; races; ends of life
 *	state.c     when are two states the same
 *	futex.c     the model of wait.h
 *
 * All that makes up a state is in `w`, in `x_history` and on the threads' stacks, so that a state can be copied away and
 * brought back.
 */
#ifndef X_ENGINE_H
#define X_ENGINE_H

#include "explore.h"

#include <nlock.h>
#include <setjmp.h>

#include "../../lib/wait.h"

enum {
	X_THREADS = 8, /* thread 0 runs init and fini */
	X_WORDS = 10,
	X_STORES = 400, /* per word and execution */
	X_PLAINS = 12,
	X_ENDS = 4,
	X_ARENA = 2048,
	X_STACK = 65536,
	X_POISON = 0x5e,
};

/* What a thread or a store "knows": how far each thread had come, the oldest store of each word that may still be read, and the
 * oldest whose tag may, if that is a later one. */
struct view {
	uint16_t clock[X_THREADS];
	uint16_t floor[X_WORDS];
	uint16_t tag_floor[X_WORDS];
};

struct store {
	struct x_pair pair;
	struct view view; /* what a load that acquires it gets to know */
};

struct word {
	const void *addr;
	bool has_tags;               /* other than one */
	bool is_wide;                /* 64 bits: value and tag are its halves, and are only read as one */
	uint16_t stores;
	uint16_t newest_sc;          /* index of the newest SC store */
	uint16_t published;          /* by wakes, to the kernel's later looks */
	uint16_t used[X_THREADS];    /* clock of each thread's last access, if ends of life matter */
};

struct plain {
	const void *addr;
	uint16_t writer, written;    /* thread and clock of the last write */
	uint16_t read[X_THREADS];    /* clock of each thread's last read since */
};

enum status { READY, ASLEEP, DONE };

struct thread {
	jmp_buf context;
	char *sp;                    /* everything above it is live */
	uint64_t past;               /* hash of what it has read since it last forgot */
	struct view view;
	struct view acquired;        /* by relaxed loads; an acquire fence makes it known */
	struct view released;        /* at the last release fence */
	int64_t rounds;              /* of watching; each takes a nanosecond of its own clock */
	enum status status;
	bool has_started, is_chosen, is_paused, is_expired, is_timed, may_be_cancelled, is_cancelled;
	enum nl_outcome outcome;
	const void *address;         /* where it sleeps */
	uint32_t lane, node;
	int priority;
};

struct end {
	const char *from, *to;
};

struct world {
	bool is_running;             /* the threads run, not init or fini */
	int self;
	int words, plains, ends, sleepers;
	int preemptions, stale, strays, expiries, cancels, jumps, steps;
	int64_t now;
	size_t arena_used;
	struct view sc;
	uint8_t queue[X_THREADS];    /* sleepers, oldest first */
	struct end end[X_ENDS];
	struct plain plain[X_PLAINS];
	struct word word[X_WORDS];
	struct thread thread[X_THREADS];
};

extern struct world w;
extern struct store x_history[X_WORDS][X_STORES];
extern char x_arena[X_ARENA];
extern const struct x_test *x_test;
extern struct x_options x_opt;
extern struct x_result *x_res;
extern bool x_is_tracing;

static inline struct thread *x_me(void)
{
	return &w.thread[w.self];
}

static inline uint64_t x_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* explore.c */
void x_leave(void) __attribute__((noreturn));
void x_trace(const struct x_site *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void x_meet(struct x_site *s);

/* search.c */
bool x_is_exhaustive(void);
int x_decide(int n, bool is_rare);
int x_record(int n, int i);
uint64_t x_random(void);

/* sched.c */
void x_boot(void);
void x_resume(int t) __attribute__((noreturn));
void x_step(void);
void x_end_thread(void) __attribute__((noreturn));
char *x_stack_top(int t);
void x_draw_priorities(void);
void x_wake_up(int t, enum nl_outcome why);

/* memory.c */
void x_join(struct view *a, const struct view *b);
struct word *x_word(const void *p);
struct word *x_live_word(const void *p, size_t size, const struct x_site *s);
int x_pick(const struct word *l, int oldest, const struct x_pair *but, bool is_exact);
uint32_t x_read_tag(const struct word *l);
void x_see(const struct word *l, int i);
void x_used(struct word *l);
bool x_is_dead(const void *p);
void x_floors(uint16_t floor[X_WORDS]);

/* state.c */
bool x_is_new(void);
uint64_t x_states(void);
void x_forget_states(void);

#endif
