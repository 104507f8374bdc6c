/* SPDX-License-Identifier: MIT
 *
 * bench.h - what is compared, where, and what must come out
 *
 *	noun		a kind of lock, with all of its subjects, cells and targets: `nlock bench NOUN'
 *	subject		a thing under test: a lock, with its loops compiled around it so that it is called as a program
 *			would call it
 *	cell		a load: threads, what they do, time inside and outside the lock
 *	comparison	one subject beside another in one cell, with a target or without
 *
 * bench.c reads the command line, cell_run.c measures a cell in a process of its own, report.c prints; they know of no noun
 * but what is in its table. Each noun has a file of its own, bench_NOUN.c; the mutex, which came first and has more, has
 * three: locks.c its subjects, cells.c its loads and targets. All subjects of a cell take turns, slice by slice, and
 * every ratio is formed within a round, so that whatever the machine does in a bad second it does to both sides.
 */
#ifndef BENCH_H
#define BENCH_H

#include "measure.h"

#include <stdbool.h>
#include <stddef.h>

/* ---------------------------------------------------------------- subjects */

/* Each noun gives the names its own meaning; cell_run.c treats them so: */
enum body {
	BODY_PAIR,        /* one thread that nobody disturbs: lock and unlock */
	BODY_PAIR_2,      /* another such thing */
	BODY_CONTENDED,   /* threads that meet. From here on the guarded counter is held against the operations */
	BODY_TIMED,       /* the same, and each wait is timed */
	BODY_CONTENDED_2, /* other ways to meet */
	BODY_CONTENDED_3,
	BODY_COUNT
};

#define SUBJECT_SPINS  0x01u /* for ever: only where each thread has a CPU */
#define SUBJECT_PEER   0x02u /* a lock of others that sleeps: what the best one does is a target */
#define SUBJECT_ALWAYS 0x04u /* measured whatever was asked for: the reference */
#define SUBJECT_RAW    0x08u /* only where it is asked for by the cell */
#define SUBJECT_FAULTY 0x10u /* on purpose, for the self-test: breaks a rule that is checked */
#define SUBJECT_HANGS  0x20u /* on purpose, too: does not come back */
#define SUBJECT_MUST   0x40u /* the target of a cell is for this one */

#define SUBJECT_SELF_TEST (SUBJECT_FAULTY | SUBJECT_HANGS)

struct subject {
	const char *name;
	const char *what;
	unsigned int flags;
	void (*begin)(void *object); /* zeroed, OBJECT_SIZE bytes */
	bool (*end)(void *object);   /* false: it is not at rest */
	body_fn *body[BODY_COUNT];
	void (*begin_for)(void *object, unsigned int threads); /* or NULL: in the place of begin, if that must know */
};

/* All but begin_for; the last argument is the bodies in braces. */
#define SUBJECT(name, what, flags, begin, end, ...) \
	{ \
		name, what, flags, begin, end, __VA_ARGS__, NULL \
	}

#define LAST_SUBJECT SUBJECT(NULL, NULL, 0, NULL, NULL, { NULL })

#define OBJECT_SIZE  16384
#define OBJECT_ALIGN 4096

#define SUBJECTS_MAX 18

/* For locks that need none. */
void nothing_begin(void *object);
bool nothing_end(void *object);

/* ---------------------------------------------------------------- cells */

#define CELL_NAME_MAX 64

struct cell {
	char name[CELL_NAME_MAX];
	enum body body;
	unsigned int threads;
	long inside, outside; /* ns */
	double must;          /* SUBJECT_MUST against the reference, where there is a number; else 0 */
	unsigned int flags;
	unsigned int stretch; /* slices are so many times as long; 0 is 1 */
	const char *only;     /* these subjects, separated by commas; NULL: all that can */
	const char *load;     /* what the threads do; NULL: they go in and out of one lock */
	const char *op;       /* what an operation is; NULL: one lock and unlock */
	long arg;             /* a number that the body needs */
	unsigned int sharers; /* switches are counted for each of so many: the waiters of a broadcast; 0 is 1 */
};

#define CELL_ONE_CPU  0x01u /* all threads on one */
#define CELL_TWO_CPUS 0x02u /* on two, however many there are */
#define CELL_HOG      0x04u /* thread 0 stays HOG_NS inside and is never outside; the others' waits count */
#define CELL_ALL_WAIT 0x08u /* as many rounds with timed waits as without */
#define CELL_HANDOFF  0x10u /* begins with a queue; what counts is the time from owner to owner */
#define CELL_READERS  0x20u /* the timed waits are writers', and the readers that go past them count */
#define CELL_UNTIMED  0x40u /* no timed waits */

#define HOG_NS 100000

/* ---------------------------------------------------------------- comparisons */

/* What a slice yields, a number each. From MEASURE_PASSED on: slices with timed waits. */
enum measure {
	MEASURE_RATE,     /* operations per second */
	MEASURE_HANDOFF,  /* ns, the median */
	MEASURE_CPU,      /* ns per operation */
	MEASURE_SWITCHES, /* context switches per operation and sharer */
	MEASURE_PASSED,   /* reads that began while a writer waited, per other thread; p99 */
	MEASURE_WAIT_P99, /* ns, and so are the others */
	MEASURE_WAIT_P999,
	MEASURE_WAIT_MAX,
	MEASURE_COUNT
};

static inline bool is_of_waits(enum measure m)
{
	return m >= MEASURE_PASSED;
}

#define BASE_BEST_PEER (-2)
#define BASE_NONE      (-3) /* the figure itself, and no ratio */

struct comparison {
	int subject;
	int base; /* or BASE_BEST_PEER, BASE_NONE */
	enum measure measure;
	double target; /* 0: none */
	bool at_most;  /* else at least */
	double spared; /* so much is taken off the subject's figure first */
};

#define COMPARISONS_MAX (SUBJECTS_MAX + 12)

struct noun;

/* Under construction. Without a base: the figure itself. */
struct list {
	const struct noun *noun;
	struct comparison *out;
	unsigned int n;
};

void add_at_least(struct list *l, const char *subject, const char *base, double target);
void add_beside_best_peer(struct list *l, const char *subject, double target);
void add_at_most(struct list *l, const char *subject, const char *base, enum measure m, double target);
void add_shown(struct list *l, const char *subject, const char *base, enum measure m);

/* CPU time per operation, but for `spared` ns not above that of the base. */
void add_cpu(struct list *l, const char *subject, const char *base, double spared);

/* ---------------------------------------------------------------- nouns */

struct noun {
	const char *name;
	const struct subject *subjects; /* one is "pthread", the reference, one "pthread-2"; LAST_SUBJECT at the end */
	const struct cell *cells;
	unsigned int cell_count;
	void (*add_targets)(struct list *l, const struct cell *c, unsigned int cpus);

	/* Makes a cell of a name that is not in the table, or one with other threads. Both NULL: cannot. */
	bool (*parse_cell)(const char *name, struct cell *c);
	bool (*with_threads)(const struct cell *c, unsigned int threads, struct cell *out);

	const struct cell *self_test; /* where the subjects with a fault are tried */
};

extern const struct noun noun_mutex, noun_cond, noun_rwlock, noun_barrier, noun_sem, noun_once;

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

unsigned int subject_count(const struct noun *n);

/* The index of a subject, or -1. */
int subject_find(const struct noun *n, const char *name);

/* The first ones are subject by subject against the reference, then come the others. */
unsigned int cell_comparisons(const struct noun *n, const struct cell *c, unsigned int cpus, struct comparison *out);

/* ---------------------------------------------------------------- measuring */

#define ROUNDS_MAX     500
#define ROUNDS_JUDGED  15  /* fewer say nothing */
#define ENOUGH_OF_CPUS 0.8 /* of what the machine should give */

struct plan {
	const struct noun *noun;
	long rounds;
	int64_t slice;    /* ns */
	int64_t patience; /* ns: with threads that do not come out of a lock */
	int64_t spin;     /* ns: how long effective CPUs are measured at each cell */
	bool is_unpinned, is_csv, is_silent;
	bool is_all; /* nouns, so that cells are named with theirs */
	bool wanted[SUBJECTS_MAX];
	const struct cpus *cpus;
};

/* Of one subject in one cell. */
struct result {
	bool is_measured;
	unsigned int rounds, wait_rounds;
	double value[MEASURE_COUNT][ROUNDS_MAX];
	struct sample sum; /* of all windows without timed waits, if there are any */
	unsigned long longest_run;
	struct hist waits;
};

enum cell_end { CELL_DONE, CELL_BROKEN, CELL_STUCK };

/* Fills results[SUBJECTS_MAX], which is shared memory, from a child process. */
enum cell_end run_cell(const struct plan *p, const struct cell *c, struct result *results);

/* On how many CPUs the cell runs. */
unsigned int cell_cpus(const struct plan *p, const struct cell *c);

/* ---------------------------------------------------------------- judging */

struct outcome {
	int base; /* the best peer has a name by now; -1: nobody */
	unsigned int rounds;
	double median, low, high;
	const char *verdict; /* "ok", "MISS", "-"; "" without a target */
	const char *why_not; /* or NULL */
};

struct outcome comparison_judge(const struct comparison *k, const struct result *results, const struct plan *p,
				double cpus);

double median_of(const struct result *r, enum measure m);

/* ---------------------------------------------------------------- printing */

struct verdicts {
	unsigned int ok, missed, unjudged;
	double noise_low, noise_high, cpus_low;
};

void report_begin(const struct plan *p);
void report_cell(const struct plan *p, const struct cell *c, const struct result *results, double cpus,
		 struct verdicts *v);
void report_end(const struct plan *p, const struct verdicts *v);

#endif
