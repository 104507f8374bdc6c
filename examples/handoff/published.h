/* SPDX-License-Identifier: MIT
 *
 * published.h - the numbers that the experiments are compared with, as their authors published them
 *
 *   26 February 2002   Hubertus Franke, first ulockflex table; two-way Pentium III, 550 MHz
 *    5 March 2002      the same, "Futexes III : performance numbers"
 *    6 March 2002      the same, "Futexes V": FUTEX_UP_FAIR beside FUTEX_UP; and on the evening the acquisition histories
 *   OLS 2002           Franke, Russell, Kirkwood, "Fuss, Futexes and Furwocks", tables 1 to 3, figure 6; two-way Pentium III, 500 MHz
 *   2023, 2025         Peter Zijlstra's futex_numa, and "perf bench futex hash" on the private hash
 *
 * The lock letters of 2002 are not all ours: its `f` was strict FIFO, except on 6 March, where the two rows
 * called `f` were Rusty Russell's futex with and without a fair release: here "up-fair" and "up". Its `m` was
 * that futex in an earlier form.
 */
#ifndef HANDOFF_PUBLISHED_H
#define HANDOFF_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics.h"

enum post { FEB26, MAR05, MAR06 };

/* A row of ulockflex's own output; its column RC was 0.00 in all of them. */
struct row2002 {
	enum post post;
	int c, a, t, i;
	const char *lock;
	int p, r, x;
	double wc, retry, cov, thput;
};

/* NULL if there is none. */
const struct row2002 *published_row(enum post post, int c, int r, int x, const char *lock, int p);
extern const struct row2002 rows2002[];
extern const size_t rows2002_count;

/* The four locks of a table of the OLS paper, in per cent of improvement over the System V semaphore. */
struct ols_locks {
	double futex, ulocks, futex_spin, ulocks_spin;
};

struct ols_cell {
	int tasks, r, x;
	double sysv; /* iterations a second, read from the bars of figures 1 to 5 */
	struct ols_locks fair, greedy;
};

extern const struct ols_cell ols2002[];
extern const size_t ols2002_count;

/* Throughput of futex_fair over that of futex in one cell, and over all cells with at least three tasks. */
double ols_fair_ratio(const struct ols_cell *cell);
struct ols_range {
	double least, median, most;
	size_t cells;
};
struct ols_range ols_fair_range(void);

/* Figure 6 of the OLS paper: iterations a second, read from its bars, by how many per cent of the requests are for reading; a lock for readers and
 * writers made of two futexes, and one of ulocks. The paper does not say with what r and x. */
#define FIGURE6_SHARES 6u
extern const unsigned figure6_reads[FIGURE6_SHARES];
struct figure6 {
	unsigned tasks;
	double furwock[FIGURE6_SHARES], ulocks[FIGURE6_SHARES];
};
extern const struct figure6 figure6[];
extern const size_t figure6_count;

/* The last of them that has no more tasks; the first if all have more. */
const struct figure6 *figure6_near(unsigned tasks);

/* Table 3 of the OLS paper: seconds until six processes had done 200,000 operations each on Samba's database, with one hash chain and
 * with 4096, and until one process had. */
struct torture2002 {
	const char *lock;
	double high, low, none;
};
extern const struct torture2002 torture2002[3];

/* What fair hand-off left of the throughput of that test, by the two sentences there are: "by 50 %" slower, 6 March 2002; unfair "~30 %
 * faster", 9 March. */
#define TORTURE_MARCH_6 0.5
#define TORTURE_MARCH_9 (1 / 1.3)

/* A history as far as it was printed. */
struct trace2002 {
	const char *name;
	uint64_t first; /* number of its first acquisition */
	const struct run *runs;
	size_t count;
};

extern const struct trace2002 trace_up_r2x1, trace_up_r0x0, trace_up_fair;

/* futex_numa, contenders' calls of the two processes: both on node 0, and one on each node. */
struct numa2023 {
	double shared[2], separate[2];
};
extern const struct numa2023 futex_numa2023;

/* perf bench futex hash, operations a second and thread. */
struct hash2025 {
	const char *what;
	int threads, cpus; /* 0: not said */
	int slots;         /* HASH_DEFAULT: as the kernel chose */
	bool shared;
	double base,
		series; /* with the global hash, and with the private one; shared futexes use the global one in both */
};
#define HASH_DEFAULT (-1)

/* schbench on the five cores, requests a second: "-t 64 -r 5 -i 5", and "-L -m 4 -M auto -t 64 -n 0 -r 5 -i 5". */
struct schbench2025 {
	const char *what;
	double base, series; /* with the global hash, and with the private one */
};
extern const struct schbench2025 schbench2025[2];
extern const struct hash2025 futex_hash2025[];
extern const size_t futex_hash2025_count;

/* What 2002 has to say about the throughput of one of our locks over that of the convoy-avoidance lock, for
 * `tasks` tasks on one lock with means r and x. Puts at most `room` answers into `out` and returns how many. */
struct published_ratio {
	const char *source; /* "6 March 2002" */
	const char *pair;   /* "FUTEX_UP_FAIR / FUTEX_UP" */
	double value;
};
size_t published_ratios(char lock, int tasks, double r, double x, struct published_ratio *out, size_t room);

#define PUBLISHED_MAX 4

/* The number that this experiment is remembered by: fair over unfair on 6 March 2002, 217001 / 2002852. */
double published_fair_ratio(void);

#endif
