/* SPDX-License-Identifier: MIT
 *
 * text.h - numbers and machines as text
 */
#ifndef HANDOFF_TEXT_H
#define HANDOFF_TEXT_H

#include <stdio.h>

/* Right-aligned number after a blank, or "-" for NAN. */
void text_number(FILE *out, int width, int digits, double v);

/* ',"name":v' with so many digits that count, or null for NAN. */
void text_json(FILE *out, const char *name, int digits, double v);

/* Begins the line that says where this was measured: "# system release, CPUs". `effective` below 0: not measured. */
void text_machine(FILE *out, double effective);

#endif
