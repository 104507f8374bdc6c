/* SPDX-License-Identifier: MIT
 *
 * lesson_page.c - the page: one file, which asks nothing of the network and runs nothing
 */
#include "lesson.h"

#include <math.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if ((unsigned char)*text >= ' ' || *text == '\n')
			fputc(*text, out);
	}
}

void html_number(FILE *out, double v)
{
	if (isnan(v))
		fputs("&#8211;", out);
	else if (isinf(v))
		fputs(v < 0 ? "&#8722;&#8734;" : "&#8734;", out);
	else if (fabs(v) >= 1000 || v == floor(v))
		fprintf(out, "%.0f", v);
	else
		fprintf(out, "%.3g", v);
}

/* ---------------------------------------------------------------- how it looks */

/* Colours are names of the page; the dark ones are chosen for the same contrast. Okabe and Ito's, which most eyes tell apart. */
static const char style[] =
	":root{color-scheme:light "
	"dark;--bg:#fff;--fg:#1a1a1a;--soft:#5a5a5a;--line:#ccc;--paper:#f2f2f2;--good:#0a6b3d;"
	"--bad:#a33;--t:#0072b2;--f:#c04f00;--h:#00785a;--c:#a0307f;--p:#7a6200;--k:#555;--m:#555}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e8e8e8;--soft:#b0b0b0;--line:#444;--paper:#24272b;"
	"--good:#5fd39b;--bad:#ff8f8f;--t:#62b8f0;--f:#ff9a4d;--h:#4fd0a5;--c:#f09ad0;--p:#e6cf4a;--k:#bbb;--m:#bbb}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--bg);color:var(--fg);font:1rem/1.5 "
	"system-ui,sans-serif}\n"
	"h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.3rem;margin:2.2rem 0 .6rem}\n"
	"p,li{max-width:46rem}.soft,figcaption,caption{color:var(--soft)}\n"
	".figures{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}\n"
	"figure{margin:0;max-width:36rem}figure svg{display:block;width:100%;height:auto;color:var(--fg)}\n"
	"figure h3{margin:0 0 .3rem;font-size:1.05rem}figcaption{font-size:.9rem;margin-top:.4rem}\n"
	"svg text{font:12px "
	"system-ui,sans-serif;fill:currentColor}.grid{stroke:var(--line);stroke-width:.7;fill:none}\n"
	".axis,.tick{stroke:currentColor;fill:none}.tick{stroke-width:2.5}.paper{fill:var(--paper)}\n"
	".line{fill:none;stroke-width:1.8;stroke:var(--k)}.then{stroke-dasharray:5 4}\n"
	"svg text.mark{font:bold 13px ui-monospace,monospace;stroke:var(--bg);stroke-width:3px;paint-order:stroke}\n"
	".kt{stroke:var(--t)}.kf{stroke:var(--f)}.kh{stroke:var(--h)}.kc{stroke:var(--c)}.kp{stroke:var(--p)}"
	".kk{stroke:var(--k)}.km{stroke:var(--m)}\n"
	"svg text.kt,rect.kt{fill:var(--t)}svg text.kf,rect.kf{fill:var(--f)}svg text.kh{fill:var(--h)}"
	"svg text.kc{fill:var(--c)}svg text.kp{fill:var(--p)}svg text.kk{fill:var(--k)}\n"
	"rect.kt,rect.kf{stroke:none}.o0{fill:var(--t)}.o1{fill:var(--f)}.o2{fill:var(--h)}\n"
	"dt.kt{color:var(--t)}dt.kf{color:var(--f)}dt.kh{color:var(--h)}dt.kc{color:var(--c)}dt.kp{color:var(--p)}"
	"dt.kk{color:var(--k)}\n"
	".wide{overflow-x:auto;margin:1rem "
	"0}table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}\n"
	"caption{text-align:left;padding-bottom:.3rem}th,td{padding:.2rem .55rem;border-bottom:1px solid var(--line);"
	"text-align:right;vertical-align:top}th{font-weight:600}td.w,th.w{text-align:left}\n"
	".here{font-weight:600}.v{white-space:nowrap;font-weight:600}.v-reproduced{color:var(--good)}.v-not{color:var(-"
	"-bad)}\n"
	".claims td,.claims th{text-align:left}.claims td:nth-child(2){min-width:15rem}details{margin:.3rem 0}"
	"pre{overflow-x:auto;font-size:.8rem}\n"
	".busy{border:2px solid var(--bad);padding:.6rem 1rem;max-width:46rem}.missing{color:var(--soft)}\n"
	"dl{display:grid;grid-template-columns:auto 1fr;gap:.15rem .8rem;max-width:46rem}dt{font:bold 1rem "
	"ui-monospace,monospace}"
	"dd{margin:0}\n"
	"@media print{body{max-width:none;padding:0;font-size:10pt}figure,tr{break-inside:avoid}.wide{overflow:visible}"
	"table{font-size:7pt}th,td{padding:.1rem .25rem}}\n";

/* ---------------------------------------------------------------- the beginning */

static void write_machine(FILE *out, const struct lab *lab)
{
	const struct machine *m = &lab->machine;
	double least = INFINITY;

	for (size_t i = 0; i < experiment_count; i++) {
		if (lab->outcomes[i].has_run)
			least = fmin(least, lab->outcomes[i].cpus);
	}
	fputs("<p class=\"soft\">", out);
	html_text(out, m->kernel);
	fprintf(out, "; %u CPU%s, of which it gave %.2f at the least; %u NUMA node%s; nlock ", m->cpus,
		m->cpus == 1 ? "" : "s", isinf(least) ? 0 : least, m->nodes, m->nodes == 1 ? "" : "s");
	html_text(out, m->version);
	fputs("; profile ", out);
	html_text(out, m->profile);
	fputs("; ", out);
	html_text(out, m->date);
	fputs("</p>\n", out);
	if (is_busy(least, m->cpus))
		fputs("<p class=\"busy\"><strong>Machine busy.</strong> Other work took CPUs away while this was "
		      "measured. Claims "
		      "that were measured then have no verdict, and the pictures show the scheduler as much as the "
		      "locks.</p>\n",
		      out);
}

static void write_counts(FILE *out, const struct finding *f)
{
	size_t counts[VERDICTS] = { 0 };

	for (size_t i = 0; i < claims_count; i++)
		counts[f[i].verdict]++;
	fprintf(out, "<p><strong>Of %zu claims:</strong>", claims_count);
	for (int v = 0; v < VERDICTS; v++) {
		if (counts[v])
			fprintf(out, " %zu %s;", counts[v], verdict_names[v]);
	}
	fputs(" <a href=\"#claims\">all of them</a>.</p>\n", out);
}

static void write_question(FILE *out)
{
	fputs("<p>A lock is released, and others wait for it. Who gets it? If it is <em>handed over</em> to the one "
	      "who has waited "
	      "longest it is fair; but the next turn begins only when that one has woken up, and meanwhile nobody may "
	      "use the lock. "
	      "If it is left <em>open</em>, whoever runs takes it at once, which is many times faster, and a waiter "
	      "may come too "
	      "late again and again. In March 2002, when Linux got its futexes, this was measured and argued over in "
	      "public; the "
	      "answer was to let the application decide. Here are those experiments on this machine, beside the "
	      "numbers of then."
	      "</p>\n"
	      "<p>The locks have the letters of those days:</p>\n<dl>\n"
	      "<dt class=\"kk\">k</dt><dd>System V semaphore: strict order, two system calls a turn</dd>\n"
	      "<dt class=\"kt\">t</dt><dd>ticket lock: strict order, whether or not the next is awake</dd>\n"
	      "<dt class=\"kf\">f</dt><dd>nlock, NLOCK_FIFO: in order, handed over</dd>\n"
	      "<dt class=\"kh\">h</dt><dd>nlock, NLOCK_BOUNDED: open, but nobody is overtaken too often or for too "
	      "long</dd>\n"
	      "<dt class=\"kc\">c</dt><dd>nlock, NLOCK_BARGING: open, convoy avoidance</dd>\n"
	      "<dt class=\"kp\">p</dt><dd>pthread_mutex_t: open</dd>\n"
	      "<dt>e</dt><dd>no lock at all; T and C are t and c that spin first</dd>\n</dl>\n",
	      out);
}

/* ---------------------------------------------------------------- claims */

static void write_condition(FILE *out, const struct condition *c)
{
	bool is_note = isinf(c->least) && isinf(c->most), holds = c->value >= c->least && c->value <= c->most;

	fprintf(out, "<li>%s", is_note ? "" : holds ? "yes: " : "<strong>no</strong>: ");
	html_text(out, c->what);
	fputs(": <strong>", out);
	html_number(out, c->value);
	fputs("</strong>", out);
	if (!is_note && isinf(c->least))
		fputs(", at most ", out);
	else if (!is_note && isinf(c->most))
		fputs(", at least ", out);
	else if (!is_note)
		fputs(", must be ", out);
	if (!isinf(c->least))
		html_number(out, c->least);
	if (!isinf(c->least) && !isinf(c->most) && c->least < c->most)
		fputs(" to ", out);
	if (!isinf(c->most) && !(c->least >= c->most))
		html_number(out, c->most);
	if (*c->then) {
		fputs(" <span class=\"soft\">(", out);
		html_text(out, c->then);
		fputs(")</span>", out);
	}
	fputs("</li>\n", out);
}

static void write_claim(FILE *out, const struct finding *f)
{
	const char *class = f->verdict == REPRODUCED ? " v-reproduced" : f->verdict == NOT_REPRODUCED ? " v-not" : "";

	fprintf(out, "<tr id=\"%s\"><th scope=\"row\">%s</th><td>", f->id, f->id);
	html_text(out, f->claim);
	if (f->count) {
		fputs("<details><summary>what was asked</summary><ul>\n", out);
		for (size_t i = 0; i < f->count; i++)
			write_condition(out, &f->conditions[i]);
		fputs("</ul></details>", out);
	}
	fprintf(out, "</td><td><span class=\"v%s\">%s</span>", class, verdict_names[f->verdict]);
	if (*f->why) {
		fputs("<br/><span class=\"soft\">", out);
		html_text(out, f->why);
		fputs("</span>", out);
	}
	fputs("</td></tr>\n", out);
}

static void write_claims(FILE *out, const struct finding *findings)
{
	fputs("<h2 id=\"claims\">What is claimed, and what holds here</h2>\n"
	      "<p>A: arithmetic on the published numbers. D: promises, which no machine may break. E: what was seen; "
	      "not to see it "
	      "here is a finding, no fault. Nothing is said of speeds, only of ratios and shares, each the median of "
	      "five runs. "
	      "There is no verdict from a machine that gives less than 0.8 of its CPUs.</p>\n"
	      "<div class=\"wide\" tabindex=\"0\">\n<table class=\"claims\">\n<caption>The claims</caption>\n"
	      "<thead><tr><th scope=\"col\">id</th><th scope=\"col\">claim</th><th "
	      "scope=\"col\">here</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t i = 0; i < claims_count; i++)
		write_claim(out, &findings[i]);
	fputs("</tbody>\n</table>\n</div>\n", out);
}

/* ---------------------------------------------------------------- the end */

static void write_run(FILE *out, const struct experiment *e, const struct outcome *o)
{
	fputs("<tr><td class=\"w\">", out);
	if (o->has_run)
		fprintf(out, "<a href=\"%s.tsv\">%s</a>", e->id, e->id);
	else
		fputs(e->id, out);
	fputs("</td><td class=\"w\"><code>", out);
	html_text(out, o->has_run ? o->command : "did not run");
	fputs("</code></td>", out);
	if (o->has_run)
		fprintf(out, "<td>%d</td><td>%.1f</td><td>%.2f</td>", o->code, o->took, o->cpus);
	else
		fputs("<td></td><td></td><td></td>", out);
	fputs("<td class=\"w\">", out);
	html_text(out, o->said);
	fputs("</td></tr>\n", out);
}

static void write_runs(FILE *out, const struct lab *lab)
{
	fputs("<h2>What was run</h2>\n<div class=\"wide\" tabindex=\"0\">\n<table>\n"
	      "<caption>Each program prints its tables to the file that its name leads to. Exit code 77: something is "
	      "missing here; 1: a "
	      "lock failed, or the program did.</caption>\n<thead><tr>"
	      "<th scope=\"col\" class=\"w\">experiment</th><th scope=\"col\" class=\"w\">command</th><th "
	      "scope=\"col\">exit</th>"
	      "<th scope=\"col\">seconds</th><th scope=\"col\">CPUs given</th><th scope=\"col\" "
	      "class=\"w\">said</th></tr></thead>\n"
	      "<tbody>\n",
	      out);
	for (size_t i = 0; i < experiment_count; i++)
		write_run(out, &experiments[i], &lab->outcomes[i]);
	fputs("</tbody>\n</table>\n</div>\n", out);
}

void page_write(FILE *out, const struct lab *lab, const struct finding *findings)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<link rel=\"icon\" href=\"data:,\"/>\n<title>Lock hand-off: fair or unfair?</title>\n<style>\n",
	      out);
	fputs(style, out);
	fputs("</style>\n</head>\n<body>\n<main>\n<h1>Lock hand-off: fair or unfair?</h1>\n", out);
	write_machine(out, lab);
	write_counts(out, findings);
	write_question(out);
	fputs("<h2>Pictures</h2>\n", out);
	figures_write(out, lab);
	write_claims(out, findings);
	fputs("<h2>What was published, and the same here</h2>\n"
	      "<p>Speeds of other machines say nothing; ratios do. A dash: not measured in this profile, or not to be "
	      "had.</p>\n",
	      out);
	tables_write(out, lab);
	write_runs(out, lab);
	fputs("</main>\n</body>\n</html>\n", out);
}
