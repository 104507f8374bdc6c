/* SPDX-License-Identifier: MIT
 *
 * options.h - the command line of ulockflex
 */
#ifndef HANDOFF_OPTIONS_H
#define HANDOFF_OPTIONS_H

#include "args.h"
#include "bench.h"

enum action { DO_RUN, DO_SELFTEST, DO_CLAIMS, DO_DEMO };
enum format { FORMAT_CLASSIC, FORMAT_TSV, FORMAT_JSON };

struct options {
	struct config config; /* config.loops is 0 if they are to be calibrated */
	enum action action;
	enum format format;
	bool quiet;
	const char *history_file; /* or NULL */
};

/* Returns only if there is something to do: prints help or a one-line error and exits otherwise. */
void options_parse(struct options *o, int argc, char **argv);

#endif
