/* SPDX-License-Identifier: MIT
 *
 * bench.h - what is compared, where, and what must come out
 *
 *	subject		a thing under test: a lock, with its loops compiled around it so that it is called as a program
 *			would call it
 *	cell		a load: threads, time inside and outside the lock
 *	comparison	one subject beside another in one cell, with a target or without
 *
 * bench.c reads the command line, cells.c knows loads and targets, locks.c the subjects, run.c measures a cell in a
 * process of its own, report.c prints. All subjects of a cell take turns, slice by slice, and every ratio is formed
 * within a round, so that whatever the machine does in a bad second it does to both sides.
 */
#ifndef BENCH_H
#define BENCH_H

#include "measure.h"

#include <stdbool.h>
#include <stddef.h>

/* ---------------------------------------------------------------- subjects */

enum body {
	BODY_PAIR,      /* lock and unlock, nothing else */
	BODY_TRY_PAIR,  /* trylock and unlock */
	BODY_CONTENDED, /* lock, work, unlock, work */
	BODY_TIMED,     /* the same, and each wait is timed */
	BODY_COUNT
};

#define SUBJECT_SPINS  0x01u /* for ever: only where each thread has a CPU */
#define SUBJECT_PEER   0x02u /* a lock of others that sleeps: what the best one does is a target */
#define SUBJECT_ALWAYS 0x04u /* measured whatever was asked for: the reference */
#define SUBJECT_RAW    0x08u /* only where it is asked for by the cell */
#define SUBJECT_FAULTY 0x10u /* on purpose, for the self-test */

struct subject {
	const char *name;
	const char *what;
	unsigned int flags;
	void (*begin)(void *object); /* zeroed, OBJECT_SIZE bytes */
	bool (*end)(void *object);   /* false: it is not at rest */
	body_fn *body[BODY_COUNT];
};

#define OBJECT_SIZE 4096

extern const struct subject subjects[];
extern const unsigned int subject_count;

#define SUBJECTS_MAX 16

/* The index of a subject, or -1. */
int subject_find(const char *name);

/* ---------------------------------------------------------------- cells */

#define CELL_NAME_MAX 64

struct cell {
	char name[CELL_NAME_MAX];
	enum body body;
	unsigned int threads;
	long inside, outside; /* ns */
	double must;          /* default and barging against pthread, where targets.md has a number; else 0 */
	unsigned int flags;
	unsigned int stretch; /* slices are so many times as long; 0 is 1 */
	const char *only;     /* these subjects, separated by commas; NULL: all that can */
};

#define CELL_ONE_CPU  0x01u /* all threads on one */
#define CELL_HOG      0x02u /* thread 0 stays HOG_NS inside and is never outside; the others' waits count */
#define CELL_ALL_WAIT 0x04u /* as many rounds with timed waits as without */
#define CELL_HANDOFF  0x08u /* begins with a queue; what counts is the time from owner to owner */

#define HOG_NS 100000

extern const struct cell cells[];
extern const unsigned int cell_count;

/* A contended cell by its name, tTHREADS-INSIDE-OUTSIDE. False: not such a name. */
bool cell_parse(const char *name, struct cell *c);

/* Contended, and nothing special about it: it makes sense with any number of threads. */
bool cell_is_plain(const struct cell *c);

/* The cell with the same times and other threads. */
struct cell cell_with_threads(const struct cell *c, unsigned int threads);

/* ---------------------------------------------------------------- comparisons */

enum measure { MEASURE_RATE, MEASURE_HANDOFF, MEASURE_WAIT_P999, MEASURE_WAIT_MAX };

#define BASE_BEST_PEER (-2)

struct comparison {
	int subject;
	int base; /* or BASE_BEST_PEER */
	enum measure measure;
	double target; /* 0: none */
	bool at_most;  /* else at least */
};

#define COMPARISONS_MAX (SUBJECTS_MAX + 8)

/* The first ones are subject by subject against the reference, then come the others. */
unsigned int cell_comparisons(const struct cell *c, unsigned int cpus, struct comparison *out);

/* ---------------------------------------------------------------- measuring */

#define ROUNDS_MAX     500
#define ROUNDS_JUDGED  15  /* fewer say nothing */
#define ENOUGH_OF_CPUS 0.8 /* of what the machine should give */

struct plan {
	long rounds;
	int64_t slice;    /* ns */
	int64_t patience; /* ns: with threads that do not come out of a lock */
	int64_t spin;     /* ns: how long effective CPUs are measured at each cell */
	bool is_unpinned, is_csv, is_silent;
	bool wanted[SUBJECTS_MAX];
	const struct cpus *cpus;
};

/* Of one subject in one cell. Values that are no times or counts are per round. */
struct result {
	bool is_measured;
	unsigned int rounds, wait_rounds;
	double rate[ROUNDS_MAX];    /* operations per second */
	double handoff[ROUNDS_MAX]; /* nanoseconds, the median in a slice */
	double p999[ROUNDS_MAX];    /* wait, nanoseconds */
	double longest[ROUNDS_MAX]; /* wait, nanoseconds */
	struct sample sum;          /* of all windows without timed waits, if there are any */
	unsigned long longest_run;
	struct hist waits;
};

enum cell_end { CELL_DONE, CELL_BROKEN, CELL_STUCK };

/* Fills results[subject_count], which is shared memory, from a child process. */
enum cell_end run_cell(const struct plan *p, const struct cell *c, struct result *results);

bool may_run(const struct plan *p, const struct cell *c, const struct subject *s);

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
