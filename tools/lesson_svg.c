/* SPDX-License-Identifier: MIT
 *
 * lesson_svg.c - see lesson_svg.h
 */
#include "lesson_svg.h"

#include <math.h>
#include <string.h>

#include "lesson.h"

#define MARKS_MAX 24 /* of a line with more points, one in so many has a letter */

void svg_begin(struct picture *p, FILE *out, const char *id, const char *title, int height)
{
	*p = (struct picture){
		.out = out, .height = height, .left = 52, .right = PICTURE_WIDTH - 12, .top = 12, .bottom = height - 38
	};
	fprintf(out, "<figure id=\"%s\">\n<h3>", id);
	html_text(out, title);
	fprintf(out, "</h3>\n<svg role=\"img\" viewBox=\"0 0 %d %d\" aria-labelledby=\"%s-t %s-d\">\n", PICTURE_WIDTH,
		height, id, id);
	fprintf(out, "<title id=\"%s-t\">", id);
	html_text(out, title);
	fputs("</title>\n", out);
}

void svg_describe(struct picture *p, const char *id, const char *text)
{
	fprintf(p->out, "<desc id=\"%s-d\">", id);
	html_text(p->out, text);
	fputs("</desc>\n", p->out);
}

void svg_end(struct picture *p, const char *caption)
{
	fputs("</svg>\n<figcaption>", p->out);
	html_text(p->out, caption);
	fputs("</figcaption>\n</figure>\n", p->out);
}

/* ---------------------------------------------------------------- axes */

static double part(const struct axis *a, double v)
{
	return a->is_log ? log(v / a->least) / log(a->most / a->least) : (v - a->least) / (a->most - a->least);
}

double svg_x(const struct picture *p, double v)
{
	return p->left + part(&p->x, v) * (p->right - p->left);
}

double svg_y(const struct picture *p, double v)
{
	return p->bottom - part(&p->y, v) * (p->bottom - p->top);
}

/* 0.001, 1, 1k, 1M. */
static void name_tick(char *out, size_t room, double v)
{
	if (v >= 999999)
		snprintf(out, room, "%gM", v / 1e6);
	else if (v >= 9999)
		snprintf(out, room, "%gk", v / 1000);
	else
		snprintf(out, room, "%.4g", v);
}

/* Powers of ten, or of a hundred where there are many; a linear axis has five steps. */
static double next_tick(const struct axis *a, double v)
{
	if (!a->is_log)
		return v + (a->most - a->least) / 5;
	return v * (a->most / a->least > 1e5 ? 100 : 10);
}

static void draw_tick(struct picture *p, bool is_x, double v)
{
	double x = is_x ? svg_x(p, v) : p->left, y = is_x ? p->bottom : svg_y(p, v);
	char name[32];

	name_tick(name, sizeof name, v);
	fprintf(p->out, "<path class=\"grid\" d=\"M%.1f %.1f%c%.1f\"/>\n", x, y, is_x ? 'V' : 'H',
		is_x ? (double)p->top : (double)p->right);
	if (is_x)
		svg_text(p, x, y + 15, "middle", name);
	else
		svg_text(p, x - 5, y + 4, "end", name);
}

static void draw_axis(struct picture *p, bool is_x)
{
	const struct axis *a = is_x ? &p->x : &p->y;

	for (double v = a->least; v <= a->most * 1.0001; v = next_tick(a, v))
		draw_tick(p, is_x, v);
}

void svg_axes(struct picture *p)
{
	draw_axis(p, true);
	draw_axis(p, false);
	fprintf(p->out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", p->left, p->top, p->bottom, p->right);
	svg_text(p, (p->left + p->right) / 2.0, p->height - 6, "middle", p->x.label);
	fprintf(p->out, "<text text-anchor=\"middle\" transform=\"translate(12 %.1f) rotate(-90)\">",
		(p->top + p->bottom) / 2.0);
	html_text(p->out, p->y.label);
	fputs("</text>\n", p->out);
}

/* ---------------------------------------------------------------- marks */

void svg_text(struct picture *p, double x, double y, const char *anchor, const char *text)
{
	fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_text(p->out, text);
	fputs("</text>\n", p->out);
}

void svg_mark(struct picture *p, char lock, double x, double y)
{
	fprintf(p->out, "<text class=\"mark k%c\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%c</text>\n", lock, x,
		y + 4, lock);
}

/* What cannot stand on the axes is not drawn: nothing of NAN, and no zero on a logarithmic one. */
static bool is_on(const struct axis *a, double v)
{
	return v >= a->least && v <= a->most;
}

void svg_line(struct picture *p, char lock, bool then, const double *x, const double *y, size_t n)
{
	char pen = 'M';

	fprintf(p->out, "<path class=\"line%s k%c\" d=\"", then ? " then" : "", lock);
	for (size_t i = 0; i < n; i++) {
		if (!is_on(&p->x, x[i]) || !is_on(&p->y, y[i]))
			continue;
		fprintf(p->out, "%c%.1f %.1f", pen, svg_x(p, x[i]), svg_y(p, y[i]));
		pen = 'L';
	}
	fputs("\"/>\n", p->out);
	for (size_t i = 0; i < n && !then; i += n > MARKS_MAX ? n / 6 : 1) {
		if (is_on(&p->x, x[i]) && is_on(&p->y, y[i]))
			svg_mark(p, lock, svg_x(p, x[i]), svg_y(p, y[i]));
	}
}

void svg_bar(struct picture *p, char lock, double x, double y, double width, double height)
{
	fprintf(p->out, "<rect class=\"k%c\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", lock, x, y,
		width, height);
}

void svg_tick(struct picture *p, double x, double y, double height)
{
	fprintf(p->out, "<path class=\"tick\" d=\"M%.1f %.1fv%.1f\"/>\n", x, y, height);
}
