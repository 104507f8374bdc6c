/* SPDX-License-Identifier: MIT
 *
 * kinds.h - the option -L of the experiments: which locks they compare
 */
#ifndef HANDOFF_KINDS_H
#define HANDOFF_KINDS_H

#include <stdbool.h>

#include "locks.h"

#define KINDS_MAX 32u

/* Whether an experiment can do something with this lock; NULL for all of them. */
typedef bool kind_fits(const struct lock_kind *kind);

/* Those that take their place in a queue at once, and are locks at all: most experiments ask no more. */
bool kind_is_plain(const struct lock_kind *kind);

/* Reads letters and names, comma separated, into `kinds`, which has room for KINDS_MAX; returns how many. */
unsigned kinds_from(const char *list, const struct lock_kind **kinds, kind_fits *fits);

/* The lines of --help that say what there is. */
void kinds_help(kind_fits *fits);

#endif
