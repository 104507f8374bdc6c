/* SPDX-License-Identifier: MIT
 *
 * nodes.h - what the tests about NUMA share: CPUs of each node, and threads that have been left asleep
 */
#ifndef NODES_H
#define NODES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NODES_MAX    64
#define SLEEPERS_MAX 64

/* Nodes that have a CPU on which this process may run, in the order of their numbers. */
struct nodes {
	int n;
	int node[NODES_MAX], cpu[NODES_MAX]; /* a CPU of it */
	cpu_set_t all[NODES_MAX];            /* all of them */
};

void nodes_find(struct nodes *found);

/* Moves the calling thread there. False: it may not run there. */
bool nodes_run_on(int cpu);

/* To any CPU of the i-th of these nodes. */
bool nodes_stay_on(const struct nodes *found, int i);

/* How far it is from one node to another, by what the kernel states; -1: it states nothing. */
int nodes_distance(int from, int to);

/* The number of nodes that the kernel thinks possible: no node has this number, nor a higher one. */
int nodes_possible(void);

struct sleeper {
	pid_t tid;
	uint32_t done; /* atomic: odd while it is done, and another number each time */
};

/* Says that it will make no more calls on the word; or that it does, after all. One thread at a time says so. */
void nodes_done(struct sleeper *s);
void nodes_not_done(struct sleeper *s);

/* Threads of this process that work on `word` and sleep nowhere else while they are not done. Was there a moment at which all that
 * are not done slept on it, so that nobody is left to wake them? No clock is asked: whoever slept at the first look and at
 * the second, and was not switched out between them, slept all the time from one to the other; and whoever was done at both,
 * with the same number, was done all the time. False also if all are done. */
bool nodes_left_asleep(struct sleeper *s, int n, const volatile void *word);
bool nodes_all_done(struct sleeper *s, int n);

#endif
