/* SPDX-License-Identifier: MIT
 *
 * futex_numa.h - the two experiments of futex_numa
 */
#ifndef HANDOFF_FUTEX_NUMA_H
#define HANDOFF_FUTEX_NUMA_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "tsv.h"

enum numa_kind { NUMA_RAW, NUMA_HASH, NUMA_NODE, NUMA_FIRST };

struct numa_options {
	unsigned contenders, threads, rounds;
	double seconds;
	int64_t nap_ns;
	bool numa;     /* FUTEX2_NUMA */
	uint32_t node; /* or SYS2_NO_NODE */
	enum numa_kind kind;
	enum place place;
	enum output output;
};

/* The words of -L, ended by NULL; the index is the enum's. */
extern const char *const numa_kind_names[];

/* That of 2023: threads that lock, sleep and unlock, and contenders that only fight for the hash bucket. Prints its lines. */
int numa_run(const struct numa_options *o);

/* Contenders on every node: on one word for all, whose node is the first, and on a word for each node. Interleaved rounds. */
int numa_words(const struct numa_options *o);

#endif
