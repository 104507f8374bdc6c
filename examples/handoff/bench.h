/* SPDX-License-Identifier: MIT
 *
 * bench.h - the measuring loop of ulockflex, and what comes out of it
 *
 * A run: `tasks` threads or processes, dealt over `locks` locks, each in a loop until time is up:
 *	draw two times, uniform in 0.5 to 1.5 times the means r and x
 *	work r; lock; work x; unlock; count one
 * Work is a calibrated busy loop. Each lock stands on cache lines of its own. Under each lock lies a guard, two
 * numbers that differ only inside a section: found different on entry, somebody else was in there (integrity).
 * The owner also notes its number in a table, touched beforehand, while it holds the first lock: that is the
 * history, and it costs one store.
 *
 * Several locks are compared in interleaved rounds, one of which is a warm-up that is thrown away. What is
 * reported is, number by number, the median over the runs.
 */
#ifndef HANDOFF_BENCH_H
#define HANDOFF_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args.h"
#include "kinds.h"
#include "locks.h"
#include "metrics.h"
#include "place.h"
#include "tasks.h"

/* Acquisitions that are noted. A run that makes more loses its end, not its start. */
#define HISTORY_MAX ((size_t)1 << 23)

struct config {
	unsigned tasks, locks, runs;
	double seconds;  /* of each run */
	double r, x;     /* mean microseconds without and with the lock */
	double patience; /* microseconds, of spinning locks */
	unsigned reads;  /* per cent of the requests */
	bool processes;
	enum place place;
	uint64_t loops; /* rounds of busy work in a microsecond */
	uint64_t seed;
	bool waits;    /* take the time of every acquisition, and its arrival number */
	bool progress; /* tell on standard error what is going on */
	const struct lock_kind *kinds[KINDS_MAX];
	unsigned kind_count;
};

/* The numbers of one run, or medians of them; NAN: not known. */
enum metric {
	M_THPUT, /* iterations a second, all tasks together */
	M_WC,    /* per cent of write requests that failed at first */
	M_RC,    /* the same of read requests */
	M_RETRY, /* spinning: per cent of failed requests had by spinning; else sleeps per failed request */
	M_CSW,   /* context switches per iteration */
	/* shares, see metrics.h */
	M_COV,
	M_JAIN,
	M_BUSIER,
	M_LEAST,
	M_MOST,
	/* histories */
	M_RUNS,
	M_RUN_MEAN,
	M_RUN_MEDIAN,
	M_RUN_WEIGHTED,
	M_RUN_ONES,
	M_RUN_TWOS,
	M_RUN_LONGEST,
	M_CHANGE,
	M_WORKING_SET,
	M_REACQUIRE,
	M_JAIN_10, /* in windows of so many acquisitions for each task */
	M_JAIN_100,
	M_JAIN_1000,
	/* waits, microseconds; and the longest bypass */
	M_WAIT_50,
	M_WAIT_90,
	M_WAIT_99,
	M_WAIT_999,
	M_WAIT_MAX,
	M_BYPASS,
	/* what nlock says it did, per iteration */
	M_GRANTS,
	M_BARGES,
	M_SLEEPS,
	M_WAKES,
	METRICS
};

struct history {
	uint16_t *owners;
	size_t count;
	uint64_t dropped; /* acquisitions after the table was full */
};

/* Everything about one lock. */
struct summary {
	const struct lock_kind *kind;
	int error; /* errno value: the lock is not to be had here */
	bool guard_ok;
	double median[METRICS];
	double thput_ci95;
	double thput[RUNS_MAX]; /* of each run */
	struct history history; /* of the last run */
};

/* Fills one summary for each of the config's kinds. Returns 0 or an errno value; a lock that
 * cannot be made and a broken guard are no errors but stand in the summaries. bench_free frees what they hold. */
int bench_all(const struct config *config, struct summary *summaries);
void bench_free(struct summary *summaries, unsigned n);

/* Says on standard error which locks cannot be had here and which let two in at once, and returns the exit code
 * that follows. */
int bench_complaints(const struct config *config, const struct summary *summaries);

/* One run: 0, or what region_make says, or an errno value. *guard_ok is cleared on a violation. The history is the caller's to free. */
int bench_run(const struct config *config, const struct lock_kind *kind, unsigned run, double *metrics, bool *guard_ok,
	      struct history *history);

/* Of two locks in `summaries`: the median over the rounds of their throughput ratio; NAN if one is missing. */
double bench_ratio(const struct config *config, const struct summary *summaries, char above, char below);
const struct summary *bench_find(const struct config *config, const struct summary *summaries, char letter);

#endif
