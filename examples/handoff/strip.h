/* SPDX-License-Identifier: MIT
 *
 * strip.h - a history as something to look at, and as 2002 printed it
 */
#ifndef HANDOFF_STRIP_H
#define HANDOFF_STRIP_H

#include <stdbool.h>
#include <stdio.h>

#include "bench.h"

#define STRIP_WIDTH 100u

/* Two strips of owners, one character each: 100 acquisitions in a row, and 100 hundreds of them. The hundred is
 * chosen by rule, not by eye: of all hundreds of the history, the one with the median number of owner changes
 * that is nearest to the middle. */
void strip_print(FILE *out, char lock, const struct history *h, bool colour);

/* Whether strips on this stream should be coloured: it is a terminal, and the reader has not said NO_COLOR. */
bool strip_has_colour(FILE *out);

/* "acquisition [ how often in a row ]: task", where a single one has no bracket; after a header of comment lines. */
void history_print(FILE *out, const struct config *config, const struct summary *s);

#endif
