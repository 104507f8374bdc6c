/* SPDX-License-Identifier: MIT
 *
 * lesson_tables.c - every number that was published, with the ratio that this machine has for it
 *
 * Speeds of 2002 and of today have nothing to say to each other; ratios of locks have. So beside each row stands the ratio that
 * was published and the same of this machine's locks.
 */
#include "lesson.h"

#include <math.h>
#include <string.h>

#include "metrics.h"
#include "published.h"

/* ---------------------------------------------------------------- cells */

/* `columns` is "name|name|...". */
static void table_begin(FILE *out, const char *caption, const char *columns)
{
	fputs("<div class=\"wide\" tabindex=\"0\">\n<table>\n<caption>", out);
	html_text(out, caption);
	fputs("</caption>\n<thead><tr>", out);
	while (*columns) {
		size_t n = strcspn(columns, "|");

		fprintf(out, "<th scope=\"col\">%.*s</th>", (int)n, columns);
		columns += n + (columns[n] == '|');
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

static void table_end(FILE *out)
{
	fputs("</tbody>\n</table>\n</div>\n", out);
}

static void text_cell(FILE *out, const char *text)
{
	fputs("<td class=\"w\">", out);
	html_text(out, text);
	fputs("</td>", out);
}

static void exact_cell(FILE *out, int digits, double v)
{
	if (isnan(v))
		fputs("<td>&#8211;</td>", out);
	else
		fprintf(out, "<td>%.*f</td>", digits, v);
}

/* Three digits behind the point, as ratios have everywhere. */
static void html_ratio(FILE *out, double v)
{
	if (isnan(v))
		fputs("&#8211;", out);
	else
		fprintf(out, "%.3f", v);
}

static void ratio_cell(FILE *out, bool here, double v)
{
	fprintf(out, here ? "<td class=\"here\">" : "<td>");
	html_ratio(out, v);
	fputs("</td>", out);
}

/* The row of a table in which two columns have these texts. */
static const struct row *find_row(const struct lab *lab, const char *id, const char *table, const char *const keys[4])
{
	const struct outcome *o = lab_find(lab, id);

	for (size_t i = 0; o && i < o->row_count; i++) {
		const struct row *r = &o->rows[i];

		if (!strcmp(r->table, table) && !strcmp(row_text(r, keys[0]), keys[1]) &&
		    !strcmp(row_text(r, keys[2]), keys[3]))
			return r;
	}
	return NULL;
}

/* ---------------------------------------------------------------- ulockflex in 2002 */

/* Which of our locks does what one of 2002 did. */
static const struct pair {
	enum post post;
	const char *then, *base;
	char here, base_here;
} pairs[] = {
	{ FEB26, "e", "c", 'e', 'c' },   { FEB26, "k", "c", 'k', 'c' },        { FEB26, "f", "c", 't', 'c' },
	{ FEB26, "F", "c", 'T', 'c' },   { FEB26, "C", "c", 'C', 'c' },        { FEB26, "c", "c", 'c', 'c' },
	{ MAR05, "e", "m", 'e', 'p' },   { MAR05, "k", "m", 'k', 'p' },        { MAR05, "f", "m", 't', 'p' },
	{ MAR05, "m", "m", 'p', 'p' },   { MAR05, "c", "m", 'c', 'p' },        { MAR06, "k", "up", 'k', 'p' },
	{ MAR06, "up", "up", 'p', 'p' }, { MAR06, "up-fair", "up", 'f', 'p' },
};

static const struct pair *pair_of(const struct row2002 *row)
{
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (pairs[i].post == row->post && !strcmp(pairs[i].then, row->lock))
			return &pairs[i];
	}
	return NULL;
}

/* The experiment that has this load today; of some there is none, and then it has not run. */
static const char *experiment_of(char id[32], const struct row2002 *row)
{
	if (row->r == 0 && row->x == 0)
		snprintf(id, 32, row->c == 1 ? "alone" : "empty-%d", row->c);
	else if (row->r == 10)
		snprintf(id, 32, "arrival-%d", row->c);
	else
		snprintf(id, 32, "ols-%d-%d-%d", row->c, row->r, row->x);
	return id;
}

static void post_row(FILE *out, const struct lab *lab, const struct row2002 *row)
{
	const struct pair *p = pair_of(row);
	const struct row2002 *base = p ? published_row(row->post, row->c, row->r, row->x, p->base, 0) : NULL;
	char id[32], name[4] = { p ? p->here : '-', '/', p ? p->base_here : '-', 0 };

	experiment_of(id, row);
	fprintf(out, "<tr><td>%d</td><td>%d</td><td>%d</td>", row->c, row->r, row->x);
	text_cell(out, row->lock);
	fprintf(out, "<td>%d</td>", row->p);
	exact_cell(out, 2, row->wc);
	exact_cell(out, 2, row->retry);
	exact_cell(out, 6, row->cov);
	exact_cell(out, 0, row->thput);
	ratio_cell(out, false, base ? ratio(row->thput, base->thput) : NAN);
	text_cell(out, name);
	ratio_cell(out, true, p ? lab_ratio(lab, id, p->here, p->base_here) : NAN);
	fputs("</tr>\n", out);
}

static void posts(FILE *out, const struct lab *lab, enum post post, const char *caption, const char *base)
{
	char columns[200];

	snprintf(columns, sizeof columns,
		 "tasks|outside|inside|lock|patience|contended %%|R|COV|a second|over %s|here|ratio here", base);
	table_begin(out, caption, columns);
	for (size_t i = 0; i < rows2002_count; i++) {
		if (rows2002[i].post == post)
			post_row(out, lab, &rows2002[i]);
	}
	table_end(out);
}

/* ---------------------------------------------------------------- OLS 2002 */

static void ols_row(FILE *out, const struct lab *lab, const struct ols_cell *c)
{
	const double then[] = { c->fair.futex,   c->fair.ulocks,   c->fair.futex_spin,   c->fair.ulocks_spin,
				c->greedy.futex, c->greedy.ulocks, c->greedy.futex_spin, c->greedy.ulocks_spin };
	char id[32];

	snprintf(id, sizeof id, "ols-%d-%d-%d", c->tasks, c->r, c->x);
	fprintf(out, "<tr><td>%d</td><td>%d/%d</td>", c->tasks, c->r, c->x);
	exact_cell(out, 0, c->sysv);
	for (int i = 0; i < 8; i++)
		exact_cell(out, 1, then[i]);
	ratio_cell(out, false, ols_fair_ratio(c));
	ratio_cell(out, true, lab_ratio(lab, id, 'f', 'c'));
	ratio_cell(out, false, ratio(100 + c->fair.ulocks, 100 + c->greedy.ulocks));
	ratio_cell(out, true, lab_ratio(lab, id, 't', 'c'));
	fputs("</tr>\n", out);
}

static void ols(FILE *out, const struct lab *lab)
{
	table_begin(out,
		    "OLS 2002, tables 1 and 2: per cent faster than the System V semaphore; and fair over unfair, then "
		    "and here "
		    "(f/c and t/c)",
		    "tasks|us|sysv a second|futex_fair|ulocks_fair|futex_fair, spin|ulocks_fair, "
		    "spin|futex|ulocks|futex, spin|"
		    "ulocks, spin|futex_fair / futex|f/c here|ulocks_fair / ulocks|t/c here");
	for (size_t i = 0; i < ols2002_count; i++)
		ols_row(out, lab, &ols2002[i]);
	table_end(out);
}

/* ---------------------------------------------------------------- the histories */

static void history_row(FILE *out, const char *name, bool here, const double v[7])
{
	fprintf(out, "<tr%s>", here ? " class=\"here\"" : "");
	text_cell(out, name);
	for (int i = 0; i < 7; i++) {
		fputs("<td>", out);
		html_number(out, v[i]);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

static void trace_row(FILE *out, const struct trace2002 *t)
{
	struct run_stats s = run_statistics(t->runs, t->count);

	history_row(out, t->name, false,
		    (const double[]){ (double)s.runs, (double)s.acquisitions, s.mean, s.median, s.weighted_median,
				      (double)s.longest, s.change_rate });
}

static void histories(FILE *out, const struct lab *lab)
{
	table_begin(out, "The histories of 6 March 2002, and the same load here (last rows)",
		    "lock|runs|acquisitions|mean run|plain median|weighted median|longest|changes per acquisition");
	trace_row(out, &trace_up_r2x1);
	trace_row(out, &trace_up_r0x0);
	trace_row(out, &trace_up_fair);
	for (const char *k = "tfhcp"; *k; k++) {
		double runs = lab_value(lab, "three", *k, "runs"), mean = lab_value(lab, "three", *k, "mrun");
		const char name[] = { *k, 0 };

		history_row(out, name, true,
			    (const double[]){ runs, runs * mean, mean, lab_value(lab, "three", *k, "medrun"),
					      lab_value(lab, "three", *k, "wrun"),
					      lab_value(lab, "three", *k, "maxrun"),
					      lab_value(lab, "three", *k, "chg") });
	}
	table_end(out);
}

static void trace_lines(FILE *out, const struct trace2002 *t)
{
	uint64_t at = t->first;

	fputs("<details><summary>", out);
	html_text(out, t->name);
	fputs(", as it was printed</summary>\n<pre>", out);
	for (size_t i = 0; i < t->count; i++) {
		if (t->runs[i].length > 1)
			fprintf(out, "%llu [ %u ]: %u\n", (unsigned long long)at, t->runs[i].length, t->runs[i].owner);
		else
			fprintf(out, "%llu : %u\n", (unsigned long long)at, t->runs[i].owner);
		at += t->runs[i].length;
	}
	fputs("</pre></details>\n", out);
}

/* ---------------------------------------------------------------- a database and its readers, OLS 2002 */

static const char *const contention[3] = { "db-1", "db-4096", "db-alone" };

/* How long it takes with this lock, over how long with p, which puts a waiter to sleep at once as the futex of 2002 did. */
static double torture_here(const struct lab *lab, int load, char lock)
{
	const struct outcome *o = lab_find(lab, contention[load]);

	return ratio(row_number(outcome_row(o, "minitdb", 'p'), "thput"),
		     row_number(outcome_row(o, "minitdb", lock), "thput"));
}

/* `then` is NULL for a lock of today, `here` 0 for one of 2002 that is not among ours. */
static void torture_row(FILE *out, const struct lab *lab, const struct torture2002 *then, char here)
{
	const struct torture2002 none = { "-", NAN, NAN, NAN }, *t = then ? then : &none, *futex = &torture2002[2];
	const double ratios[3] = { ratio(t->high, futex->high), ratio(t->low, futex->low),
				   ratio(t->none, futex->none) };
	const char name[] = { here ? here : '-', 0 };

	fputs("<tr>", out);
	text_cell(out, t->lock);
	exact_cell(out, 2, t->high);
	exact_cell(out, 2, t->low);
	exact_cell(out, 2, t->none);
	for (int i = 0; i < 3; i++)
		ratio_cell(out, false, ratios[i]);
	text_cell(out, name);
	for (int i = 0; i < 3; i++)
		ratio_cell(out, true, here ? torture_here(lab, i, here) : NAN);
	fputs("</tr>\n", out);
}

/* Throughput of a fair lock over that of p with one chain, beside what the two messages of 2002 make of it. */
static void torture_fair(FILE *out, const struct lab *lab)
{
	fprintf(out,
		"<p>Of fair hand-off in that test there are two sentences: it costs \"50 %%\" (6 March 2002), which "
		"leaves %.2f of "
		"the throughput, and without it is \"~30 %% faster\" (9 March), which leaves %.2f. Here, with one "
		"chain: t/p ",
		TORTURE_MARCH_6, TORTURE_MARCH_9);
	html_ratio(out, ratio(1, torture_here(lab, 0, 't')));
	fputs(", f/p ", out);
	html_ratio(out, ratio(1, torture_here(lab, 0, 'f')));
	fputs(".</p>\n", out);
}

static void torture(FILE *out, const struct lab *lab)
{
	table_begin(
		out,
		"OLS 2002, table 3: seconds until six processes are done with their operations on a database of one "
		"chain (high contention) and of 4096 (low), and until one process is (none); and over those of the "
		"futex, then and "
		"here",
		"lock|high|low|none|high / futex|low / futex|none / futex|lock here|high / p here|low / p here|none / "
		"p here");
	torture_row(out, lab, &torture2002[0], 'l');
	torture_row(out, lab, &torture2002[1], 0);
	torture_row(out, lab, &torture2002[2], 'p');
	for (const char *k = "tfhc"; *k; k++)
		torture_row(out, lab, NULL, *k);
	table_end(out);
	torture_fair(out, lab);
}

/* Throughput at this share of reads over that without any. */
static double sharing_here(const struct lab *lab, unsigned tasks, char lock, unsigned reads)
{
	char id[32], share[16];
	const char name[] = { lock, 0 };
	double v[2];

	snprintf(id, sizeof id, tasks == 2 ? "rwshare" : "rwshare-%u", tasks);
	for (int i = 0; i < 2; i++) {
		snprintf(share, sizeof share, "%u", i ? reads : 0);
		v[i] = row_number(find_row(lab, id, "rwshare", (const char *const[]){ "lock", name, "reads", share }),
				  "thput");
	}
	return ratio(v[1], v[0]);
}

static void sharing_row(FILE *out, const struct lab *lab, const struct figure6 *then, unsigned share)
{
	fprintf(out, "<tr><td>%u</td><td>%u</td>", then->tasks, figure6_reads[share]);
	exact_cell(out, 0, then->furwock[share]);
	ratio_cell(out, false, ratio(then->furwock[share], then->furwock[0]));
	exact_cell(out, 0, then->ulocks[share]);
	ratio_cell(out, false, ratio(then->ulocks[share], then->ulocks[0]));
	for (const char *k = "sqrw"; *k; k++)
		ratio_cell(out, true, sharing_here(lab, then->tasks, *k, figure6_reads[share]));
	fputs("</tr>\n", out);
}

static void sharing(FILE *out, const struct lab *lab)
{
	table_begin(out,
		    "OLS 2002, figure 6: reader-writer locks, iterations a second by the share of requests that are "
		    "for reading, and "
		    "over those without any, then and here",
		    "tasks|reads %|furwock|over 0 %|ulocks|over 0 %|s here (pthread)|q here (phase-fair)|r here "
		    "(readers first)|"
		    "w here (writers first)");
	for (size_t i = 0; i < figure6_count; i++)
		for (unsigned share = 0; share < FIGURE6_SHARES; share++)
			sharing_row(out, lab, &figure6[i], share);
	table_end(out);
	fputs("<p>The figures are read off the bars; the paper does not say how long its tasks worked. Here it is 0 us "
	      "outside and 10 us "
	      "inside.</p>\n",
	      out);
}

/* ---------------------------------------------------------------- 2023 and 2025 */

static void numa(FILE *out, const struct lab *lab)
{
	const struct numa2023 *n = &futex_numa2023;
	const struct row *here = find_row(lab, "numa-words", "futex_numa_words",
					  (const char *const[]){ "words", "each", "words", "each" });
	const char *nodes = row_text(here, "nodes");

	table_begin(out, "2023, futex_numa: calls of the contenders of two processes in 10 seconds",
		    "node 0 and node|first process|second|ratio|one word a node / one word, here|nodes here");
	fprintf(out, "<tr><td>0</td><td>%.0f</td><td>%.0f</td><td>1</td><td class=\"here\">1</td>", n->shared[0],
		n->shared[1]);
	text_cell(out, nodes);
	fprintf(out, "</tr>\n<tr><td>1</td><td>%.0f</td><td>%.0f</td>", n->separate[0], n->separate[1]);
	ratio_cell(out, false, ratio(n->separate[0] + n->separate[1], n->shared[0] + n->shared[1]));
	ratio_cell(out, true, row_number(here, "ratio"));
	text_cell(out, nodes);
	fputs("</tr>\n", out);
	table_end(out);
	fputs("<p>The lock of that program, run for a second, had 8980 turns on two nodes.</p>\n", out);
}

static void hash_row(FILE *out, const struct lab *lab, const struct hash2025 *h)
{
	char slots[16] = "default", threads[16];
	const struct row *here = NULL;

	if (h->slots != HASH_DEFAULT)
		snprintf(slots, sizeof slots, "%d", h->slots);
	snprintf(threads, sizeof threads, "%u", lab->machine.cpus);
	if (!h->cpus || h->threads == h->cpus)
		here = find_row(lab, "hash", "futex_hash",
				(const char *const[]){ "sort", h->shared ? "shared" : "private", "slots", slots });
	fputs("<tr>", out);
	text_cell(out, h->what);
	exact_cell(out, 0, h->base);
	exact_cell(out, 0, h->series);
	ratio_cell(out, false, ratio(h->series, h->base));
	ratio_cell(out, true, row_number(here, "ratio"));
	text_cell(out, here ? row_text(here, "threads") : "-");
	fputs("</tr>\n", out);
}

static void hash(FILE *out, const struct lab *lab)
{
	table_begin(out,
		    "2025, perf bench futex hash: operations a second and thread, with the global and with the private "
		    "hash",
		    "load|global|private|ratio|ratio here|threads here");
	for (size_t i = 0; i < futex_hash2025_count; i++)
		hash_row(out, lab, &futex_hash2025[i]);
	table_end(out);
	fputs("<p>The first message about it had 1556023 and 150382 for 80 threads. Fewer CPUs meet less often: on "
	      "few, all "
	      "ratios are near 1.</p>\n",
	      out);
}

static double rate_of(const struct lab *lab, const char *id)
{
	return row_number(outcome_row(lab_find(lab, id), "wakelat", 0), "rps");
}

static void schbench(FILE *out, const struct lab *lab)
{
	static const char *const ids[2][2] = { { "wake-global", "wake" }, { "rate-global", "rate" } };

	table_begin(out, "2025, schbench: requests a second, with the global and with the private hash",
		    "arguments|global|private|ratio|ratio here");
	for (int i = 0; i < 2; i++) {
		fputs("<tr>", out);
		text_cell(out, schbench2025[i].what);
		exact_cell(out, 2, schbench2025[i].base);
		exact_cell(out, 2, schbench2025[i].series);
		ratio_cell(out, false, ratio(schbench2025[i].series, schbench2025[i].base));
		ratio_cell(out, true, ratio(rate_of(lab, ids[i][1]), rate_of(lab, ids[i][0])));
		fputs("</tr>\n", out);
	}
	table_end(out);
}

void tables_write(FILE *out, const struct lab *lab)
{
	posts(out, lab, MAR06, "6 March 2002, \"Futexes V\"", "up");
	posts(out, lab, MAR05, "5 March 2002, \"Futexes III : performance numbers\"", "m");
	histories(out, lab);
	trace_lines(out, &trace_up_r2x1);
	trace_lines(out, &trace_up_r0x0);
	trace_lines(out, &trace_up_fair);
	ols(out, lab);
	torture(out, lab);
	sharing(out, lab);
	posts(out, lab, FEB26, "26 February 2002, the first table", "c");
	numa(out, lab);
	hash(out, lab);
	schbench(out, lab);
}
