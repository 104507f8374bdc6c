/* SPDX-License-Identifier: MIT
 *
 * tsv.h - rows that programs read: separated by tabs, in one form for all experiments
 *
 * The first line says where it was measured. A line whose first field is "exp" is the head of a table and names its columns; rows
 * follow, each with the table's name and as many fields. A reader looks for columns by name: new ones come at the end. What is not
 * known is "-". Times are in microseconds, shares in per cent, rates a second.
 */
#ifndef HANDOFF_TSV_H
#define HANDOFF_TSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What -f asks for: text for people, or this. */
enum output { OUTPUT_TEXT, OUTPUT_TSV };
enum output tsv_option(const char *arg);

/* The first line. `seed` is that of the random numbers, or "-". */
void tsv_machine(FILE *out, const char *seed);

/* The head of a table: names separated by blanks. */
void tsv_head(FILE *out, const char *columns);

/* A row, field by field: the table's name first, the end of the line last. */
void tsv_row(FILE *out, const char *table);
void tsv_text(FILE *out, const char *value);
void tsv_letter(FILE *out, char value);
void tsv_number(FILE *out, double value); /* NAN: not known */
void tsv_yes(FILE *out, bool value);
void tsv_spread(FILE *out, const double *v, size_t n); /* three fields: median, least, most */
void tsv_end(FILE *out);

#endif
