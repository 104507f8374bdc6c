/* SPDX-License-Identifier: MIT
 *
 * scen.h - what the programs of scenarios have in common: the command line, and what must have happened
 */
#ifndef X_SCEN_H
#define X_SCEN_H

#include "explore.h"

struct scen {
	const char *name, *usage;            /* of the program */
	struct x_test *test;
	void (*set)(const char *arg);        /* takes the first argument; NULL: there is none */
	const char *(*add)(const char *arg); /* takes the program of the next thread; returns it as it is kept, or NULL */
	bool (*option)(const char *arg);     /* takes an argument of its own, or says no; may be NULL */
	const char *const *event_names;
	const uint64_t *events;              /* how often each has happened, in all executions */
	int n_events;
	const char *reached;                           /* what need: may ask for that is no event; NULL: nothing such */
	bool (*has_reached)(void);
	void (*parsed)(const struct x_options *o);     /* all arguments are known; may be NULL */
};

/* "abc*3" is "abcabcabc". */
const char *scen_unrolled(const char *arg);
void scen_usage(const char *why) __attribute__((noreturn));
int scen_main(const struct scen *s, int argc, char **argv);

#endif
