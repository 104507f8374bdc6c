/* SPDX-License-Identifier: MIT
 *
 * explore.h - what a program under exploration sees of the explorer
 *
 * A test is a struct x_test: how many threads, what each does, what must hold. Everything that a test keeps between two
 * of its steps lives in memory from x_new (it is saved, restored and compared with the rest of the state); local variables of a
 * thread are its own affair, see x_forget. explore.c explains the model.
 */
#ifndef X_EXPLORE_H
#define X_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum x_order { X_RLX, X_ACQ, X_REL, X_ACQ_REL, X_SC };

/* One operation in the source. The order is the site's, so that it can be weakened from the command line. */
struct x_site {
	const char *file;
	int line;
	const char *text;
	enum x_order order;
	bool is_known;
};

#define X_SITE(what, order_)                                                                                           \
	({                                                                                                             \
		static struct x_site site_ = { __FILE__, __LINE__, what, order_, false };                              \
		&site_;                                                                                                \
	})

/* ------------------------------------------------------------------ operations: each is a step */

/* A word and what stands beside it, or the low and the high half of 64 bits. Each store of a word carries both; X_ANY_TAG
 * leaves the tag as it is, or is equal to all. */
struct x_pair {
	uint32_t value, tag;
};
#define X_ANY_TAG UINT32_MAX

#define X_NODES 3

/* `size` in bytes: 2 or 4. */
uint32_t x_load(const void *p, size_t size, struct x_site *s);
void x_store(void *p, size_t size, uint32_t v, struct x_site *s);
uint32_t x_add(void *p, size_t size, uint32_t v, struct x_site *s);
bool x_cas(uint32_t *p, uint32_t *seen, uint32_t v, struct x_site *s);
uint64_t x_load64(const uint64_t *p, struct x_site *s);
void x_store64(uint64_t *p, uint64_t v, struct x_site *s);
uint64_t x_fresh64(uint64_t *p, struct x_site *s);
bool x_cas64(uint64_t *p, uint64_t *seen, uint64_t v, struct x_site *s);
/* Both, exchanged as one. */
bool x_cas_pair(uint32_t *p, uint32_t *seen, uint32_t tag, uint32_t v, uint32_t new_tag, struct x_site *s);
uint32_t x_load_tag(const uint32_t *p, struct x_site *s);
void x_fence(struct x_site *s);

/* ------------------------------------------------------------------ not steps */

/* A plain access, to be made right after: checked for data races. */
void x_plain(const void *p, bool is_write, struct x_site *s);
/* The calling thread has come to know something otherwise than through the functions here. */
void x_learn(uint64_t what);
/* A good moment for others: who takes the next step instead of this thread does not preempt it. */
void x_pause(void);
/* Memory of the test, zeroed. */
void *x_new(size_t size);
/* The storage ends here: every access so far must happen before this, and none may follow. */
void x_dead(const void *p, size_t size, struct x_site *s);
/* The tag of a word, for init; 0 without. */
void x_set_tag(const uint32_t *p, uint32_t tag);
/* From here on, nothing that the calling thread has read so far influences what it does, except through `state`. */
void x_forget(uint32_t state);
/* A choice of the test's own, 0 .. n-1, explored. */
int x_choose(int n);
/* The calling thread: 0 in init and fini, then 1 .. threads. */
int x_self(void);
/* May the deadline that thread t waits for have passed? */
bool x_is_expired(int t);
/* Which threads are asleep in any of `lanes`, as a mask of 1 << thread. */
uint32_t x_asleep(uint32_t lanes);
/* The same for those who sleep on this word, in any lane. */
uint32_t x_asleep_on(const void *p);
/* Of these, those who stand before thread t, which sleeps there too. */
uint32_t x_asleep_before(int t);
/* A line of the trace. */
void x_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The execution is wrong. `property` is one word: the name of the check. */
void x_fail(const char *property, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
/* A plain read, and a plain write, of a variable of any integer type. */
#define X_GET(p, s)                                                                                                    \
	({                                                                                                             \
		x_plain(p, false, s);                                                                                  \
		x_learn(*(p));                                                                                         \
		*(p);                                                                                                  \
	})
#define X_SET(p, v, s)                                                                                                 \
	({                                                                                                             \
		__typeof__(*(p)) v_ = (v);                                                                             \
		x_plain(p, true, s);                                                                                   \
		*(p) = v_;                                                                                             \
	})

#define X_CHECK(property, cond)                                                                                        \
	do {                                                                                                           \
		if (!(cond))                                                                                           \
			x_fail(property, "%s", #cond);                                                                 \
	} while (0)

/* ------------------------------------------------------------------ a test */

struct x_test {
	const char *name;
	int threads;          /* 1 .. 7 */
	uint32_t twins;       /* bit t: thread t does the same as t-1; it starts after it, without loss of generality */
	bool has_fences;      /* uses fences or SC accesses; costs states */
	bool has_ends;        /* uses x_dead; costs states */
	bool may_doze;        /* it is right that all threads sleep until a deadline, or until they are cancelled */
	void (*init)(void);
	void (*thread)(int t);
	void (*fini)(void);   /* after all threads; sees everything; may be NULL */
	/* Observers, called in the middle of a step; they may look and x_fail, and make no step. May be NULL. */
	void (*wrote)(const void *p, struct x_pair old, struct x_pair v);
	void (*enters)(uint32_t seen, uint32_t v);      /* nl_wait_enter is called */
	void (*calls)(const char *what);                /* a system call is made */
	uint32_t (*cpu)(void);                          /* on which the running thread is; not a step. NULL: on one */
	uint32_t (*node)(void);                         /* the same, on which node, below X_NODES. NULL: on the first */
	void (*woken)(int t);                           /* thread t is taken out of the queue by the running one */
	void (*strayed)(int t);                         /* thread t leaves the queue without a wake */
	void (*cancels)(int t);                         /* what a wait has to do when it is cancelled is about to be called */
	/* That has been done. What the thread t has to do before it ends: this may make steps. */
	void (*cancelled)(int t);
};

struct x_options {
	int preemptions;      /* -p: at most so many, -1: any number */
	int stale;            /* -s: loads of another than the newest value */
	int strays;           /* -e: stray wake-ups and signals */
	int expiries;         /* -t: deadlines that pass while something else could happen */
	int cancels;          /* -c: threads that are cancelled while something else could happen */
	int jumps;            /* -d: leaps of the clock beyond any time bound */
	int watch;            /* -b: looks that a watcher takes; 0: there is one CPU */
	bool no_pruning;      /* -H: enter visited states again; the count of states must not change */
	bool any_wake;        /* -w: a wake takes any sleeper of its lanes, not the oldest */
	bool refuses;         /* -f: moves may be refused, by a filter that has come late */
	int steps;            /* -n: an execution that is longer fails */
	uint64_t runs;        /* -r: so many random executions instead of all */
	int depth;            /* -P: PCT with so many change points instead of a plain random choice */
	uint64_t seed;        /* -S */
	const char *weaken;   /* -W file:line=order */
	const char *replay;   /* -R: the choices of one execution */
	bool lists_sites;     /* -L */
	bool traces;          /* the schedule of a failure; -q: no */
};

struct x_result {
	bool has_failed;
	char property[32];
	char message[256];
	uint64_t executions, steps, states, pruned;
	int longest;             /* execution, in steps */
	double seconds;
};

extern const struct x_options x_defaults;

/* Takes one command-line argument; false if it is none of the above. */
bool x_option(struct x_options *o, const char *arg);
void x_usage(FILE *f);

/* Explores. On failure, prints the schedule and how to see it again. */
void x_explore(const struct x_test *t, const struct x_options *o, struct x_result *r);
void x_print(FILE *f, const struct x_test *t, const struct x_result *r);

#endif
