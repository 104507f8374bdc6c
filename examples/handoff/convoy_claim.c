/* SPDX-License-Identifier: MIT
 *
 * convoy_claim.c - the claim E13, that a strict queue stays in a convoy and convoy avoidance leaves it; and E14, when it stays
 *
 * A convoy feeds itself if a thread is back before the queue has come round to it: (N - 1)(x + H) > r, where H is what it takes
 * from one owner to the next. In a convoy a turn takes x + H, so H can be read off the throughput of one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "claim.h"
#include "convoy.h"
#include "metrics.h"

#define DOUBLINGS     6   /* of r, until there is no convoy without a stall */
#define OF_ITSELF     5.0 /* per cent that wait before the stall: more is a convoy already */
#define IN_A_CONVOY   80.0
#define OUT_OF_CONVOY 20.0

static struct convoy_summary summaries[KINDS_MAX];

/* Puts the summaries right for o->r. An exit code. */
static int measure(const struct convoy_options *o)
{
	int err = convoy_measure(o, summaries);

	if (!err)
		return convoy_complaints(o, summaries);
	fprintf(stderr, "%s: a run failed: %s\n", program_name, strerror(err));
	return EXIT_VIOLATION;
}

/* ------------------------------------------------------------------ E13 */

static const struct convoy_summary *of(const struct convoy_options *o, char lock)
{
	for (unsigned k = 0; k < o->kind_count; k++)
		if (o->kinds[k]->letter == lock)
			return &summaries[k];
	return NULL;
}

static void conditions(struct claims *c, const struct convoy_options *o)
{
	const struct convoy_summary *t = of(o, 't'), *b = of(o, 'c'), *h = of(o, 'h');

	claim(c, "E13  After one stall a strict queue stays in the convoy, and convoy avoidance leaves it");
	claim_at_most(c, "contention of t before the stall, %", t->before.wc, OF_ITSELF, "else it convoys by itself");
	claim_at_least(c, "contention of t after it, to the end, %", t->after.wc, IN_A_CONVOY, "");
	claim_at_most(c, "contention of c after it, %", b->after.wc, OUT_OF_CONVOY, "");
	claim_at_most(c, "throughput of t, after over before", t->kept, 0.6, "");
	claim_at_most(c, "bins until c is out of it", b->recover, 4, "");
	claim_note("bins until h is out of it", h->recover);
	claim_note("contention of h after it, %", h->after.wc);
	claim_verdict(c, "E13", "");
}

int convoy_claim(struct convoy_options *o)
{
	double effective = place_effective_cpus();
	struct claims claims;
	int code;

	claims_begin(&claims, effective);
	o->kind_count = kinds_from("t,h,c", o->kinds, NULL);
	code = measure(o);
	for (int i = 0; code == EXIT_DONE && i < DOUBLINGS && !(summaries[0].before.wc <= OF_ITSELF); i++) {
		o->r *= 2;
		printf("# t convoys before the stall (%.0f %%): once more with r %g\n", summaries[0].before.wc, o->r);
		fflush(stdout);
		code = measure(o);
	}
	if (code != EXIT_DONE)
		return code;
	convoy_print(o, summaries);
	printf("\n");
	conditions(&claims, o);
	return code;
}

/* ------------------------------------------------------------------ E14 */

static const double sweep_r[] = { 5, 10, 25, 50, 100, 200, 400, 800, 1600, 3200 };
#define STEPS (sizeof sweep_r / sizeof sweep_r[0])

struct step {
	struct stretch before, after;
	double recover;
};

static bool is_convoy(const struct step *s)
{
	return s->after.wc >= IN_A_CONVOY;
}

/* Microseconds from one owner to the next, as the first convoy shows it; NAN if there was none. */
static double handoff_of(const struct convoy_options *o, const struct step *steps)
{
	for (size_t i = 0; i < STEPS; i++)
		if (is_convoy(&steps[i]))
			return 1e6 / steps[i].after.thput - o->x;
	return NAN;
}

static const char *predicted(const struct convoy_options *o, double handoff, double r)
{
	return isnan(handoff) ? "-" : (o->threads - 1) * (o->x + handoff) > r ? "yes" : "no";
}

static void print_step(const struct convoy_options *o, double handoff, double r, const struct step *s)
{
	printf("%6g  %8.1f  %8.1f  %8.1f  %-9s  %s\n", r, s->before.wc, s->after.wc, s->after.thput / 1000,
	       is_convoy(s) ? "yes" : "no", predicted(o, handoff, r));
}

static void tsv_step(const struct convoy_options *o, double handoff, double r, const struct step *s)
{
	tsv_row(stdout, "convoy_sweep");
	tsv_letter(stdout, o->kinds[0]->letter);
	tsv_number(stdout, o->threads);
	tsv_number(stdout, r);
	tsv_number(stdout, o->x);
	tsv_number(stdout, s->before.wc);
	tsv_number(stdout, s->after.wc);
	tsv_number(stdout, s->after.thput);
	tsv_number(stdout, s->recover);
	tsv_number(stdout, handoff);
	tsv_text(stdout, predicted(o, handoff, r));
	tsv_yes(stdout, is_convoy(s));
	tsv_end(stdout);
}

static void print_sweep(const struct convoy_options *o, const struct step *steps)
{
	double handoff = handoff_of(o, steps);

	if (o->output == OUTPUT_TSV) {
		tsv_head(stdout, "lock c r x wc_before wc_after thput_after recover handoff predicted sustained");
		for (size_t i = 0; i < STEPS; i++)
			tsv_step(o, handoff, sweep_r[i], &steps[i]);
		return;
	}
	printf("     r   wait%% before   after  turns/ms  sustained  (N - 1)(x + H) > r\n");
	for (size_t i = 0; i < STEPS; i++)
		print_step(o, handoff, sweep_r[i], &steps[i]);
	if (isnan(handoff))
		printf("No convoy stayed, so H is not known.\n");
	else
		printf("H, read off the first convoy: %.1f us. The model is of threads that have a CPU each: %u "
		       "threads, %u "
		       "CPUs.\n",
		       handoff, o->threads, place_cpus());
}

int convoy_sweep(struct convoy_options *o)
{
	static struct step steps[STEPS];
	int code = EXIT_DONE;

	for (size_t i = 0; code == EXIT_DONE && i < STEPS; i++) {
		o->r = sweep_r[i];
		code = measure(o);
		steps[i] = (struct step){ summaries[0].before, summaries[0].after, summaries[0].recover };
	}
	if (code == EXIT_DONE)
		print_sweep(o, steps);
	return code;
}
