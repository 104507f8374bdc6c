/* SPDX-License-Identifier: MIT
 *
 * report.h - the numbers as text
 */
#ifndef HANDOFF_REPORT_H
#define HANDOFF_REPORT_H

#include <stdio.h>

#include "bench.h"

/* Where this was measured: one line that starts with "#". `effective` below 0: not measured. */
void report_machine(FILE *out, const struct config *config, double effective);

/* The rows of 2002, with two columns more at the end, and their header. */
void report_classic_head(FILE *out);
void report_classic(FILE *out, const struct config *config, const struct summary *s);

/* What 2002 had no columns for: the hand-off, and, if they were taken, the waits. */
void report_handoff(FILE *out, const struct config *config, const struct summary *summaries);

/* The columns of the tables that programs read. Ratios are not among them: they can be computed. */
void report_tsv_head(FILE *out, const struct config *config);
void report_tsv(FILE *out, const struct config *config, const struct summary *s);
void report_json(FILE *out, const struct config *config, const struct summary *s);

/* The metric in the column of this name; NAN if there is none. */
double report_metric(const struct summary *s, const char *column);

/* Beside each lock's throughput over that of lock c, what was published for these tasks, r and x; and fair over
 * unfair, published and now, in any case. Each line starts with `prefix`. */
void report_published(FILE *out, const char *prefix, const struct config *config, const struct summary *summaries);
void report_published_json(FILE *out, const struct config *config, const struct summary *summaries);

#endif
