/* SPDX-License-Identifier: MIT
 *
 * tool.h - what the sub commands of nlock share: options, and how they end
 *
 * Exit codes: 0 done, 1 something went wrong while it ran, 2 the command line was wrong (one line on standard error). Those
 * of `nlock run' are its program's, once it has begun.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_USAGE 2

int info_main(int argc, char **argv);
int run_main(int argc, char **argv);
int bench_main(int argc, char **argv);
int report_main(int argc, char **argv);

/* "nlock: ..." on standard error. Returns EXIT_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a process of one thread gets that asks for n slots of its own futex hash, or with 0 for the global one: another process is
 * asked, so this one keeps what it has. 0 or an errno value. */
int try_slots(uint32_t n, int *slots);

/* Options, spelled out in full: --name, --name VALUE or --name=VALUE; of one letter: -n or -n VALUE. */
struct option_spec {
	const char *name; /* NULL ends the table */
	int takes_value;  /* false, true or OPTION_MAY */
};

#define OPTION_MAY 2 /* --name or --name=VALUE: what follows is the next argument */

struct options {
	int argc;
	char **argv;
	int at;            /* the argument that comes next */
	const char *value; /* of the option just returned; NULL: none */
};

#define OPTIONS_END (-1)
#define OPTIONS_BAD (-2) /* usage_error has been called */

/* The index in `specs` of the next option. An argument that is none is an error, too. */
int options_next(struct options *o, const struct option_spec *specs);

/* A decimal number and nothing else. */
bool parse_number(const char *text, long min, long max, long *number);

/* The path of a file that belongs to this command: in the build tree in one of the directories `in_tree`, which ends with NULL; or where
 * `installed` is now, if the tree was moved; or in `installed`. False if it is nowhere. `out` has room for PATH_MAX. */
bool find_own_file(char *out, const char *name, const char *const *in_tree, const char *installed);

/* "2 ns", "13 us", "0.41 s" and "812", "45.1 k", "3.10 M": three digits, for tables. They return buf. */
#define NUMBER_SIZE 16
char *format_ns(char buf[NUMBER_SIZE], double ns);
char *format_count(char buf[NUMBER_SIZE], double n);

#endif
