/* SPDX-License-Identifier: MIT
 *
 * compare.c - which subject is held against which, and what comes out
 *
 * A verdict is "ok" or "MISS", by the median of the ratios. It is refused ("-") where the figures cannot carry one; the
 * reason is printed.
 */
#include "bench.h"

#include <math.h>
#include <nlock.h>
#include <string.h>

/* A wait as long as a hundred time bounds is starvation, and not the scheduler's doing. */
#define STARVED_NS (100.0 * NLOCK_BOUND_NS)

unsigned int subject_count(const struct noun *n)
{
	unsigned int i = 0;

	while (n->subjects[i].name)
		i++;
	return i;
}

int subject_find(const struct noun *n, const char *name)
{
	for (unsigned int i = 0; n->subjects[i].name; i++) {
		if (!strcmp(n->subjects[i].name, name))
			return (int)i;
	}
	return -1;
}

static struct comparison *add(struct list *l, const char *subject, int base, enum measure m, double target)
{
	struct comparison *k = &l->out[l->n++];

	*k = (struct comparison){
		.subject = subject_find(l->noun, subject), .base = base, .measure = m, .target = target
	};
	return k;
}

/* A base that this build does not have stays -1: the comparison is passed over. */
static int base_of(const struct list *l, const char *base)
{
	return base ? subject_find(l->noun, base) : BASE_NONE;
}

void add_at_least(struct list *l, const char *subject, const char *base, double target)
{
	add(l, subject, base_of(l, base), MEASURE_RATE, target);
}

void add_beside_best_peer(struct list *l, const char *subject, double target)
{
	add(l, subject, BASE_BEST_PEER, MEASURE_RATE, target);
}

void add_at_most(struct list *l, const char *subject, const char *base, enum measure m, double target)
{
	add(l, subject, base_of(l, base), m, target)->at_most = true;
}

void add_shown(struct list *l, const char *subject, const char *base, enum measure m)
{
	add(l, subject, base_of(l, base), m, 0);
}

void add_cpu(struct list *l, const char *subject, const char *base, double spared)
{
	struct comparison *k = add(l, subject, base_of(l, base), MEASURE_CPU, 1.0);

	k->at_most = true;
	k->spared = spared;
}

unsigned int cell_comparisons(const struct noun *n, const struct cell *c, unsigned int cpus, struct comparison *out)
{
	struct list l = { n, out, 0 };

	for (unsigned int i = 0; n->subjects[i].name; i++)
		add_at_least(&l, n->subjects[i].name, "pthread", n->subjects[i].flags & SUBJECT_MUST ? c->must : 0);
	n->add_targets(&l, c, cpus);
	return l.n;
}

/* ---------------------------------------------------------------- ratios and verdicts */

static const double *values(const struct result *r, enum measure m, unsigned int *n)
{
	*n = is_of_waits(m) ? r->wait_rounds : r->rounds;
	return r->value[m];
}

double median_of(const struct result *r, enum measure m)
{
	double copy[ROUNDS_MAX];
	unsigned int n;
	const double *v = values(r, m, &n);

	memcpy(copy, v, n * sizeof(*copy));
	return quantile(copy, n, 0.5);
}

static int best_peer(const struct noun *noun, const struct result *results)
{
	double highest = 0;
	int best = -1;

	for (unsigned int i = 0; noun->subjects[i].name; i++) {
		double rate;

		if (!(noun->subjects[i].flags & SUBJECT_PEER) || !results[i].is_measured)
			continue;
		rate = median_of(&results[i], MEASURE_RATE);
		if (rate > highest) {
			highest = rate;
			best = (int)i;
		}
	}
	return best;
}

static double after_spare(double x, double spared)
{
	return x > spared ? x - spared : 0;
}

/* Pair by pair within a round, or, without a base, the figures. */
static unsigned int ratios(const struct comparison *k, int base, const struct result *results, double *out)
{
	unsigned int n = 0, rounds, others;
	const double *x = values(&results[k->subject], k->measure, &rounds), *y = NULL;

	if (base >= 0) {
		y = values(&results[base], k->measure, &others);
		rounds = others < rounds ? others : rounds;
	}
	for (unsigned int i = 0; i < rounds; i++) {
		if (!isnan(x[i]) && (!y || y[i] > 0))
			out[n++] = after_spare(x[i], k->spared) / (y ? y[i] : 1);
	}
	return n;
}

static const char *why_not(const struct comparison *k, const struct outcome *o, const struct result *results,
			   const struct plan *p, double cpus)
{
	bool is_long_wait = k->measure == MEASURE_WAIT_P999 || k->measure == MEASURE_WAIT_MAX;

	if (o->rounds == 0)
		return "not both were measured";
	if (o->rounds < ROUNDS_JUDGED)
		return "too few rounds";
	if (cpus < ENOUGH_OF_CPUS * p->cpus->n)
		return "the machine is busy";
	if (is_long_wait && median_of(&results[o->base], MEASURE_WAIT_MAX) < STARVED_NS)
		return "nobody starves here";
	return NULL;
}

struct outcome comparison_judge(const struct comparison *k, const struct result *results, const struct plan *p,
				double cpus)
{
	struct outcome o = { .base = k->base == BASE_BEST_PEER ? best_peer(p->noun, results) : k->base, .verdict = "" };
	double r[ROUNDS_MAX];

	if (k->subject >= 0 && (o.base >= 0 || o.base == BASE_NONE))
		o.rounds = ratios(k, o.base, results, r);
	if (o.rounds) {
		o.median = quantile(r, o.rounds, 0.5);
		o.low = quantile(r, o.rounds, 0.05);
		o.high = quantile(r, o.rounds, 0.95);
	}
	if (k->target == 0)
		return o;
	o.why_not = why_not(k, &o, results, p, cpus);
	if (o.why_not)
		o.verdict = "-";
	else if (k->at_most ? o.median <= k->target : o.median >= k->target)
		o.verdict = "ok";
	else
		o.verdict = "MISS";
	return o;
}
