/* SPDX-License-Identifier: MIT
 *
 * place.h - which CPU a task runs on, and how many CPUs there really are
 *
 * Left alone, the scheduler may stack the tasks on one CPU, and then there is no contention and nothing to see.
 * So tasks are pinned unless one asks for `none`.
 */
#ifndef HANDOFF_PLACE_H
#define HANDOFF_PLACE_H

#include <stdbool.h>

enum place {
	PLACE_NONE,    /* where the scheduler likes */
	PLACE_RR,      /* task i on the i-th CPU, round robin */
	PLACE_COMPACT, /* neighbours share a core, then a package */
	PLACE_SPREAD,  /* neighbours are as far apart as can be */
	PLACE_NODE,    /* task i on any CPU of the i-th NUMA node, round robin */
	PLACE_BEYOND,  /* on any but the first i CPUs; on any if no other is left. Has no name */
};

extern const char *const place_names[]; /* ended by NULL; the index is the enum's */

/* The CPUs that this process may use, and the nodes that have any of them. Read once; at least 1. */
unsigned place_cpus(void);
unsigned place_nodes(void);

/* The kernel's number of the node on which PLACE_NODE puts task i. */
unsigned place_node(unsigned i);

/* Puts the calling thread in its place: 0 or an errno value. */
int place_task(enum place place, unsigned task);

/* How many CPUs' worth of time the machine gives to as many spinning threads as there are CPUs, over a fifth of
 * a second. A quiet machine gives nearly all; another program, a quota or a hypervisor takes away. */
double place_effective_cpus(void);

/* Below four fifths a comparison with 2002 means little. */
bool place_is_busy(double effective_cpus);

#endif
