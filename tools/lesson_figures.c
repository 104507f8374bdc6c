/* SPDX-License-Identifier: MIT
 *
 * lesson_figures.c - the pictures, in the order in which they are best looked at
 */
#include "lesson.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lesson_svg.h"
#include "metrics.h"
#include "published.h"

/* The locks that most pictures show. */
static const char shown[] = "tfhcp";

/* A picture in words. */
struct words {
	char text[3000];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->length, sizeof w->text - w->length, format, args);
	va_end(args);
	if (n > 0)
		w->length += (size_t)n < sizeof w->text - w->length ? (size_t)n : sizeof w->text - w->length - 1;
}

/* In place of a picture. */
static void put_missing(FILE *out, const char *title, const char *id)
{
	fputs("<p class=\"missing\">", out);
	html_text(out, title);
	fprintf(out, ": not measured (%s).</p>\n", id);
}

/* ---------------------------------------------------------------- who had the lock */

#define COLUMNS   100u
#define LANE      5.0 /* height of a task's lane in a strip */
#define STRIP_GAP 7.0
#define STRIP_X   98.0
#define STRIP_W   298.0
#define TASKS_MAX 3u

/* Who had most of a stretch. */
static unsigned owner_of(const uint16_t *owners, size_t n)
{
	size_t had[TASKS_MAX] = { 0 };
	unsigned most = 0;

	for (size_t i = 0; i < n; i++)
		had[owners[i] % TASKS_MAX]++;
	for (unsigned t = 1; t < TASKS_MAX; t++)
		most = had[t] > had[most] ? t : most;
	return most;
}

/* Each task has a lane; columns with the same owner are one bar. */
static void draw_strip(struct picture *p, double y, const uint16_t *owners, size_t columns, size_t step)
{
	double width = STRIP_W / COLUMNS;

	fprintf(p->out, "<rect class=\"paper\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", STRIP_X, y,
		width * (double)columns, LANE * TASKS_MAX);
	for (size_t i = 0, n; i < columns; i += n) {
		unsigned owner = owner_of(owners + i * step, step);

		for (n = 1; i + n < columns && owner_of(owners + (i + n) * step, step) == owner;)
			n++;
		fprintf(p->out, "<rect class=\"o%u\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n", owner,
			STRIP_X + width * (double)i, y + LANE * owner, width * (double)n, LANE);
	}
}

static void label_strip(struct picture *p, double y, const char *lock, size_t step)
{
	char each[32];

	snprintf(each, sizeof each, "%zu", step);
	if (*lock)
		svg_text(p, 4, y + 12, "start", lock);
	svg_text(p, STRIP_X - 6, y + 12, "end", each);
}

static size_t changes(const uint16_t *owners, size_t n)
{
	size_t count = 0;

	for (size_t i = 1; i < n; i++)
		count += owners[i] != owners[i - 1];
	return count;
}

/* The middle of the history, acquisition by acquisition, and a hundred times as much of it. */
static double draw_history(struct picture *p, double y, const struct history *h, struct words *w)
{
	const char name[] = { h->lock, 0 };
	size_t start = h->count / 2 - COLUMNS / 2, step = h->count / COLUMNS < COLUMNS ? h->count / COLUMNS : COLUMNS;

	draw_strip(p, y, h->owners + start, COLUMNS, 1);
	label_strip(p, y, name, 1);
	y += LANE * TASKS_MAX + 3;
	draw_strip(p, y, h->owners + h->count / 2 - step * COLUMNS / 2, COLUMNS, step);
	label_strip(p, y, "", step);
	say(w, " Lock %c: %zu changes of owner in the hundred acquisitions shown.", h->lock,
	    changes(h->owners + start, COLUMNS));
	return y + LANE * TASKS_MAX + STRIP_GAP;
}

/* A trace of 2002, spread out. NULL: no memory. */
static uint16_t *spread(const struct trace2002 *t, size_t *count)
{
	uint16_t *owners;
	size_t at = 0;

	*count = 0;
	for (size_t i = 0; i < t->count; i++)
		*count += t->runs[i].length;
	owners = calloc(*count, sizeof *owners);
	for (size_t i = 0; owners && i < t->count; i++)
		for (uint32_t k = 0; k < t->runs[i].length; k++)
			owners[at++] = t->runs[i].owner;
	return owners;
}

static double draw_trace(struct picture *p, double y, const struct trace2002 *t, const char *name, struct words *w)
{
	size_t count, columns, step;
	uint16_t *owners = spread(t, &count);

	columns = count < COLUMNS ? count : COLUMNS;
	step = count / columns;
	if (owners) {
		draw_strip(p, y, owners, columns, step);
		label_strip(p, y, name, step);
	}
	free(owners);
	say(w, " 2002, %s: %zu runs in %zu acquisitions.", t->name, t->count, count);
	return y + LANE * TASKS_MAX + STRIP_GAP;
}

static void figure_owners(FILE *out, const struct lab *lab)
{
	static const char title[] = "Who had the lock";
	const struct outcome *o = lab_find(lab, "three");
	struct words w = { .length = 0 };
	struct picture p;
	double y = 4;

	if (!o || !o->history_count)
		return put_missing(out, title, "three");
	svg_begin(&p, out, "owners", title, 256);
	say(&w, "Strips of owners; each of three tasks has a lane.");
	for (const char *k = shown; *k; k++) {
		const struct history *h = outcome_history(o, *k);

		if (h && h->count >= COLUMNS)
			y = draw_history(&p, y, h, &w);
	}
	y = draw_trace(&p, y, &trace_up_fair, "2002 fair", &w);
	draw_trace(&p, y, &trace_up_r2x1, "2002", &w);
	svg_describe(&p, "owners", w.text);
	svg_end(&p,
		"Time goes to the right, three tasks in three lanes. The number says how many acquisitions a column "
		"stands for; it shows who had most of them. A fair lock goes round, an unfair one stays. The last two "
		"strips are what was printed on 6 March 2002.");
}

/* ---------------------------------------------------------------- run lengths */

#define BINS 20 /* of run lengths, each twice as wide as the one before */

/* The share of the acquisitions that is in runs of 1, of 2 or 3, of 4 to 7, ... */
static void share_of_runs(const struct run *runs, size_t n, double *y)
{
	double all = 0;

	for (int b = 0; b < BINS; b++)
		y[b] = 0;
	for (size_t i = 0; i < n; i++) {
		int b = (int)floor(log2(runs[i].length));

		y[b < BINS ? b : BINS - 1] += runs[i].length;
		all += runs[i].length;
	}
	for (int b = 0; b < BINS; b++)
		y[b] = ratio(y[b], all);
}

static void run_line(struct picture *p, char lock, bool then, const struct run *runs, size_t n, struct words *w)
{
	double x[BINS], y[BINS];
	struct run_stats s = run_statistics(runs, n);
	int last = 0;

	share_of_runs(runs, n, y);
	for (int b = 0; b < BINS; b++) {
		x[b] = exp2(b);
		last = y[b] > 0 ? b : last;
	}
	svg_line(p, lock, then, x, y, (size_t)last + 1);
	say(w, " %s%c: mean run %.4g, weighted median %.4g, longest %llu.", then ? "2002, " : "", lock, s.mean,
	    s.weighted_median, (unsigned long long)s.longest);
}

static void figure_runs(FILE *out, const struct lab *lab)
{
	static const char title[] = "How long one task keeps the lock";
	const struct outcome *o = lab_find(lab, "three");
	struct words w = { .length = 0 };
	struct picture p;

	if (!o || !o->history_count)
		return put_missing(out, title, "three");
	svg_begin(&p, out, "runs", title, 270);
	p.x = (struct axis){ "run length, acquisitions in a row", 1, 1e6, true };
	p.y = (struct axis){ "share of acquisitions", 0, 1, false };
	svg_axes(&p);
	run_line(&p, 'm', true, trace_up_r2x1.runs, trace_up_r2x1.count, &w);
	for (const char *k = shown; *k; k++) {
		const struct history *h = outcome_history(o, *k);
		struct run *runs = h ? calloc(h->count, sizeof *runs) : NULL;

		if (runs)
			run_line(&p, *k, false, runs, history_runs(h->owners, h->count, runs), &w);
		free(runs);
	}
	svg_describe(&p, "runs", w.text);
	svg_end(&p,
		"A random acquisition is in a run of this length. Weighted so, since the plain median misleads: of the "
		"94 runs of 2002 (dashed) 62 have length 1, but hardly an acquisition is in one of those.");
}

/* ---------------------------------------------------------------- waits */

static void figure_waits(FILE *out, const struct lab *lab)
{
	static const char title[] = "Who pays: the time of a wait";
	static const double y[] = { 0.5, 0.1, 0.01, 0.001 };
	struct words w = { .length = 0 };
	struct picture p;

	if (!lab_find(lab, "waits"))
		return put_missing(out, title, "waits");
	svg_begin(&p, out, "waits", title, 270);
	p.x = (struct axis){ "wait in microseconds", 0.01, 1e6, true };
	p.y = (struct axis){ "share of waits that are longer", 0.001, 1, true };
	svg_axes(&p);
	for (const char *k = shown; *k; k++) {
		const double x[] = { lab_value(lab, "waits", *k, "wait_p50"), lab_value(lab, "waits", *k, "wait_p90"),
				     lab_value(lab, "waits", *k, "wait_p99"),
				     lab_value(lab, "waits", *k, "wait_p999") };

		svg_line(&p, *k, false, x, y, 4);
		say(&w, " %c: median %.3g, p99 %.4g, longest %.5g us.", *k, x[0], x[2],
		    lab_value(lab, "waits", *k, "wait_max"));
	}
	svg_describe(&p, "waits", w.text);
	svg_end(&p, "A hundred tasks; marks at the median and at one wait in 10, 100 and 1000. The unfair locks win at "
		    "the top "
		    "and lose at the bottom: most get it at once, and a few wait for long.");
}

/* ---------------------------------------------------------------- throughput and fairness */

static void figure_cost(FILE *out, const struct lab *lab)
{
	static const char title[] = "What fairness costs";
	struct words w = { .length = 0 };
	struct picture p;

	if (!lab_find(lab, "three"))
		return put_missing(out, title, "three");
	svg_begin(&p, out, "cost", title, 250);
	p.x = (struct axis){ "owner changes per acquisition", 0, 1, false };
	p.y = (struct axis){ "throughput over that of lock c", 0.01, 10, true };
	svg_axes(&p);
	for (const char *k = "ktfhcp"; *k; k++) {
		double x = lab_value(lab, "three", *k, "chg"), y = lab_ratio(lab, "three", *k, 'c');

		svg_line(&p, *k, false, &x, &y, 1);
		say(&w, " %c: %.3f changes, %.3f of the throughput of c.", *k, x, y);
	}
	svg_describe(&p, "cost", w.text);
	svg_end(&p,
		"Three tasks, 2 us outside and 1 us inside. To the right the lock changes hands each time; up is fast. "
		"Bounded hand-off (h) is meant to stand near barging (c), and never to let a waiter wait for ever.");
}

/* ---------------------------------------------------------------- at what scale is it fair? */

#define SCALES 12

static void figure_scale(FILE *out, const struct lab *lab)
{
	static const char title[] = "At what scale is it fair?";
	const struct outcome *o = lab_find(lab, "three");
	struct words w = { .length = 0 };
	struct picture p;

	if (!o || !o->history_count)
		return put_missing(out, title, "three");
	svg_begin(&p, out, "scale", title, 250);
	p.x = (struct axis){ "window, acquisitions", 1, 1e6, true };
	p.y = (struct axis){ "Jain's index in the window", 0, 1, false };
	svg_axes(&p);
	for (const char *k = shown; *k; k++) {
		const struct history *h = outcome_history(o, *k);
		double x[SCALES], y[SCALES];

		for (int i = 0; h && i < SCALES; i++) {
			x[i] = floor(h->tasks * pow(10, i / 2.0));
			y[i] = windowed_jain(h->owners, h->count, h->tasks, (size_t)x[i]);
		}
		if (!h)
			continue;
		svg_line(&p, *k, false, x, y, SCALES);
		say(&w, " %c: %.2f in windows of %g, %.2f of %g.", *k, y[2], x[2], y[6], x[6]);
	}
	svg_describe(&p, "scale", w.text);
	svg_end(&p, "1: all had the same, 1/3: one of three had all. Over a second everybody is fair, whatever the "
		    "lock does: "
		    "that is the scheduler's doing. Look at the left.");
}

/* ---------------------------------------------------------------- one stall */

#define BINS_MAX 200

/* A bin for each point of a lock's last run: when, and the column, per cent of what it is before the stall if `relative`. */
static size_t bins_of(const struct outcome *o, char lock, double width, bool relative, double *x, double *y)
{
	double before = 0;
	size_t n = 0, counted = 0;

	for (size_t i = 0; i < o->row_count && n < BINS_MAX; i++) {
		const struct row *r = &o->rows[i];

		if (strcmp(r->table, "convoy_bin") || row_text(r, "lock")[0] != lock)
			continue;
		x[n] = width * row_number(r, "bin");
		y[n] = row_number(r, relative ? "thput" : "wc");
		counted += !strcmp(row_text(r, "phase"), "before");
		before += !strcmp(row_text(r, "phase"), "before") ? y[n] : 0;
		n++;
	}
	if (relative && !counted) /* no stall was placed */
		return 0;
	for (size_t i = 0; i < n && relative; i++)
		y[i] = fmin(100 * ratio(y[i], before / (double)counted), 200);
	return n;
}

static double stall_at(const struct outcome *o, double width)
{
	for (size_t i = 0; i < o->row_count; i++) {
		if (!strcmp(o->rows[i].table, "convoy_bin") && !strcmp(row_text(&o->rows[i], "phase"), "stall"))
			return width * row_number(&o->rows[i], "bin");
	}
	return NAN;
}

static void draw_bins(struct picture *p, const struct outcome *o, bool relative, struct words *w)
{
	double width = row_number(outcome_row(o, "convoy", 't'), "bin") / 1000, at = stall_at(o, width);
	double x[BINS_MAX], y[BINS_MAX];

	p->x = (struct axis){ "milliseconds", 0, width, false };
	p->y = (struct axis){ relative ? "throughput, % of before" : "requests that wait, %", 0, relative ? 200 : 100,
			      false };
	for (size_t i = 0; i < o->row_count; i++) {
		double end = strcmp(o->rows[i].table, "convoy_bin") ? 0 : width * (row_number(&o->rows[i], "bin") + 1);

		p->x.most = i && end > p->x.most ? end : p->x.most;
	}
	svg_axes(p);
	if (!isnan(at))
		svg_tick(p, svg_x(p, at), p->top, p->bottom - p->top);
	for (const char *k = "tfhc"; *k; k++) {
		size_t n = bins_of(o, *k, width, relative, x, y);
		const struct row *r = outcome_row(o, "convoy", *k);

		svg_line(p, *k, false, x, y, n);
		if (r)
			say(w,
			    " %c: %.1f per cent waited before the stall and %.1f after it; throughput %.3g and %.3g.",
			    *k, row_number(r, "wc_before"), row_number(r, "wc_after"), row_number(r, "thput_before"),
			    row_number(r, "thput_after"));
	}
}

static void figure_convoy(FILE *out, const struct lab *lab, bool relative)
{
	const char *title = relative ? "What the convoy costs" : "How a convoy is born";
	const char *name = relative ? "speed" : "convoy";
	const struct outcome *calm = lab_find(lab, "convoy-400"), *o = lab_find(lab, "convoy");
	struct words w = { .length = 0 };
	struct picture p;

	if (!o || !o->row_count)
		return put_missing(out, title, "convoy");
	if (row_number(outcome_row(o, "convoy", 't'), "wc_before") > 5 && calm && calm->row_count)
		o = calm;
	svg_begin(&p, out, name, title, 250);
	draw_bins(&p, o, relative, &w);
	svg_describe(&p, name, w.text);
	svg_end(&p, relative ? "The same run: turns in each bin, over those before the stall."
			     : "Eight threads; at the thick line one of them sleeps 5 ms with the lock. It was an "
			       "accident, and it is "
			       "over; but first come, first served (t) keeps everybody in the queue from then on.");
}

/* ---------------------------------------------------------------- the victim */

static void victim_row(struct picture *p, const struct lab *lab, const char *id, const char *column, const char *name,
		       double y, struct words *w)
{
	fprintf(p->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", p->left, y, p->right);
	svg_text(p, p->left - 6, y + 4, "end", name);
	for (const char *k = shown; *k; k++) {
		double v = row_number(outcome_row(lab_find(lab, id), "starve", *k), column);

		if (v >= p->x.least && v <= p->x.most)
			svg_mark(p, *k, svg_x(p, v), y);
		say(w, " %s, %c: %.4g us.", name, *k, v);
	}
}

static void figure_victim(FILE *out, const struct lab *lab)
{
	static const char title[] = "How long a victim waits";
	struct words w = { .length = 0 };
	struct picture p;

	if (!lab_find(lab, "starve") || !lab_find(lab, "skew"))
		return put_missing(out, title, "starve, skew");
	svg_begin(&p, out, "victim", title, 210);
	p.left = 100;
	p.x = (struct axis){ "microseconds", 10, 1e7, true };
	p.y = (struct axis){ "", 0, 1, false };
	for (double v = p.x.least; v <= p.x.most; v *= 100) {
		char label[16];

		snprintf(label, sizeof label,
			 v >= 1e6   ? "%.0f s"
			 : v >= 1e3 ? "%.0f ms"
				    : "%.0f us",
			 v >= 1e6   ? v / 1e6
			 : v >= 1e3 ? v / 1e3
				    : v);
		svg_text(&p, svg_x(&p, v), p.bottom + 15, "middle", label);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", svg_x(&p, v), p.top, p.bottom);
	}
	victim_row(&p, lab, "starve", "wait_mean", "hogs, mean", 35, &w);
	victim_row(&p, lab, "starve", "wait_max", "hogs, worst", 70, &w);
	victim_row(&p, lab, "skew", "wait_mean", "skew, mean", 115, &w);
	victim_row(&p, lab, "skew", "wait_max", "skew, worst", 150, &w);
	svg_describe(&p, "victim", w.text);
	svg_end(&p, "Above, three hogs sleep 20 ms with the lock and take it again at once; below, one works 200 us "
		    "with it. To the "
		    "right the victim starves. The bound (h) is there for this.");
}

/* ---------------------------------------------------------------- the matrix of OLS 2002 */

#define BAR_LEFT 92.0
#define BAR_UNIT 190.0 /* the width of a ratio of 1 */
#define BAR_MOST 1.5

static double bar_width(double v)
{
	return isnan(v) ? 0 : BAR_UNIT * fmin(v, BAR_MOST);
}

static void matrix_row(struct picture *p, const struct lab *lab, const struct ols_cell *c, double y, struct words *w)
{
	double then = ols_fair_ratio(c), strict, fifo;
	char name[32], id[32];

	snprintf(id, sizeof id, "ols-%d-%d-%d", c->tasks, c->r, c->x);
	snprintf(name, sizeof name, "%d: %d/%d", c->tasks, c->r, c->x);
	strict = lab_ratio(lab, id, 't', 'c');
	fifo = lab_ratio(lab, id, 'f', 'c');
	svg_text(p, BAR_LEFT - 6, y + 12, "end", name);
	svg_bar(p, 't', BAR_LEFT, y, bar_width(strict), 6);
	svg_bar(p, 'f', BAR_LEFT, y + 7, bar_width(fifo), 6);
	svg_tick(p, BAR_LEFT + bar_width(then), y - 1, 15);
	say(w, " %d tasks, %d/%d: t/c %.2f, f/c %.2f, 2002 %.2f.", c->tasks, c->r, c->x, strict, fifo, then);
}

static void figure_matrix(FILE *out, const struct lab *lab)
{
	static const char title[] = "Fair over unfair, then and now";
	struct words w = { .length = 0 };
	struct picture p;
	double y = 20;

	svg_begin(&p, out, "matrix", title, 18 * (int)ols2002_count + 22);
	for (double v = 0; v <= BAR_MOST; v += 0.5) {
		char name[8];

		snprintf(name, sizeof name, "%.1f", v);
		svg_text(&p, BAR_LEFT + BAR_UNIT * v, 12, "middle", name);
		fprintf(out, "<path class=\"grid\" d=\"M%.1f 16V%.1f\"/>\n", BAR_LEFT + BAR_UNIT * v,
			y + 18.0 * (double)ols2002_count);
	}
	for (size_t i = 0; i < ols2002_count; i++) {
		matrix_row(&p, lab, &ols2002[i], y, &w);
		y += 18;
	}
	svg_describe(&p, "matrix", w.text);
	svg_end(&p, "Throughput of the strict queue (t, upper bar) and of nlock's FIFO (f, lower bar) over barging "
		    "(c); the tick is "
		    "futex_fair over futex in the OLS paper of 2002. Rows: tasks, and microseconds outside / inside. "
		    "Left of 1.0 "
		    "fairness costs.");
}

void figures_write(FILE *out, const struct lab *lab)
{
	fputs("<div class=\"figures\">\n", out);
	figure_owners(out, lab);
	figure_runs(out, lab);
	figure_waits(out, lab);
	figure_cost(out, lab);
	figure_scale(out, lab);
	figure_convoy(out, lab, false);
	figure_convoy(out, lab, true);
	figure_victim(out, lab);
	figure_matrix(out, lab);
	fputs("</div>\n", out);
}
