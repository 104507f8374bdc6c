/* SPDX-License-Identifier: MIT
 *
 * lesson_svg.h - small pictures for the page: axes, lines, bars, strips
 *
 * Every picture has a title and a text that says the same. Lines and marks carry the letter of their lock, so that they can be told
 * apart without colours; the colours are classes of the page. Units are those of the picture, which is 400 wide: on a phone about a
 * pixel each.
 */
#ifndef LESSON_SVG_H
#define LESSON_SVG_H

#include <stdbool.h>
#include <stdio.h>

#define PICTURE_WIDTH 400

struct axis {
	const char *label;
	double least, most;
	bool is_log;
};

struct picture {
	FILE *out;
	int height, left, right, top, bottom; /* the frame of the axes */
	struct axis x, y;
};

/* The figure, its picture with title and text; `id` is a word that no other picture has. */
void svg_begin(struct picture *p, FILE *out, const char *id, const char *title, int height);
void svg_describe(struct picture *p, const char *id, const char *text);

/* Ends picture and figure, with a caption below. */
void svg_end(struct picture *p, const char *caption);

/* Frame, ticks and labels; p->x and p->y say what of. */
void svg_axes(struct picture *p);

double svg_x(const struct picture *p, double v);
double svg_y(const struct picture *p, double v);

/* A line through those points that are known, and the lock's letter on each. `then`: dashed, what was published. */
void svg_line(struct picture *p, char lock, bool then, const double *x, const double *y, size_t n);
void svg_mark(struct picture *p, char lock, double x, double y);

/* At a place in the picture; the anchor is "start", "middle" or "end". */
void svg_text(struct picture *p, double x, double y, const char *anchor, const char *text);
void svg_bar(struct picture *p, char lock, double x, double y, double width, double height);
void svg_tick(struct picture *p, double x, double y, double height);

#endif
