/* SPDX-License-Identifier: MIT
 *
 * expected.h - the conditions of the claims E1 to E6 about fair and unfair hand-off, for whoever has measured
 *
 * E2 to E4 are of three processes, as the tasks of 2002 were: each is bound to one CPU, so that nobody watches and a waiter sleeps at
 * once, as with the futex of that day. Threads that run at the same time pass c to and fro.
 */
#ifndef HANDOFF_EXPECTED_H
#define HANDOFF_EXPECTED_H

#include <stdbool.h>

struct expected {
	const char *claim, *what;
	char lock, over;           /* over: the throughput of `lock` over that of this one; 0: a column of `lock` */
	const char *column, *plus; /* by their names in -f tsv; plus: another that is added, or NULL */
	double least, most;        /* both infinite: a note, which decides nothing */
	bool may_lack;             /* not every build knows it; then it decides nothing */
	const char *then;          /* what was published; "" for nothing */
};

/* Ends with one whose claim is NULL. */
extern const struct expected expected[];

/* How to ask for what was measured; NAN for what was not. */
struct measured {
	void *of;
	double (*value)(void *of, char lock, const char *column);
	double (*ratio)(void *of, char above, char below); /* of throughputs */
};

double expected_value(const struct expected *e, const struct measured *m);
bool expected_is_note(const struct expected *e);

/* Local fairness with a hundred tasks was seen on two CPUs. On more than four it is another matter. */
#define EXPECTED_E6_CPUS 4u

#endif
