/* SPDX-License-Identifier: MIT
 *
 * args.h - what the command lines of the experiments have in common
 *
 * Nothing is accepted and ignored. What is wrong ends the program with one line on standard error.
 */
#ifndef HANDOFF_ARGS_H
#define HANDOFF_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "kinds.h"
#include "place.h"
#include "tsv.h"

/* Exit codes, which every --help promises. */
enum { EXIT_DONE = 0, EXIT_VIOLATION = 1, EXIT_USAGE = 2, EXIT_MISSING = 77 };

/* Set first of all by each main: stands before every message. */
extern const char *program_name;

/* "name: message; see name --help", exit code 2. */
__attribute__((noreturn, format(printf, 1, 2))) void args_error(const char *fmt, ...);

/* The value of an option that is called -`option` in the message. */
double args_number(char option, const char *text, double least, double most);
uint64_t args_integer(char option, const char *text, uint64_t least, uint64_t most);

/* Index in a list of words that ends with NULL. */
int args_word(char option, const char *text, const char *const *words);

/* The options that several programs have, each with one meaning and one range: where this program keeps what they say, or NULL for
 * those that it does without. */
struct args_common {
	double *r, *x, *seconds;        /* -r, -x, -t */
	unsigned *runs;                 /* -i; at most RUNS_MAX */
	uint64_t *loops, *seed;         /* -R, -S */
	bool *processes;                /* -M */
	enum place *place;              /* -A */
	enum output *output;            /* -f */
	const struct lock_kind **kinds; /* -L, with the next two */
	unsigned *kind_count;
	kind_fits *fits;
};
#define RUNS_MAX 1000u

/* False if it is none of them. */
bool args_common(const struct args_common *c, int option, const char *arg);

/* getopt_long without abbreviations, and without an answer to what is wrong: returns an option's letter, and -1 after the last,
 * when nothing may be left over. `given`, which has room for 64, collects the letters. `shorts` begins with ':'. */
int args_next(int argc, char **argv, const char *shorts, const struct option *longs, char *given);

/* For --version; and at the end of each main: what code becomes if not all of standard output could be written. */
__attribute__((noreturn)) void args_version(void);
int args_finish(int code);

#endif
