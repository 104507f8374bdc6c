/* SPDX-License-Identifier: MIT
 *
 * claim.h - a claim about this machine, condition by condition, and its verdict
 *
 * A claim is about ratios and proportions, never about a speed. One that does not hold is "not reproduced here", together with what may
 * explain it; it is not a failure of anything. What could not be measured does not hold.
 */
#ifndef HANDOFF_CLAIM_H
#define HANDOFF_CLAIM_H

#include <stdbool.h>

struct claims {
	double effective; /* CPUs */
	bool holds;       /* so far */
	int tried, held;
};

/* Measures the effective CPUs and says what stands in the way of a verdict. The line before it says where this is. */
void claims_begin(struct claims *c, double effective);

void claim(struct claims *c, const char *text);

/* A condition; `then` is what was published, or measured before. */
void claim_within(struct claims *c, const char *what, double v, double least, double most, const char *then);
void claim_at_least(struct claims *c, const char *what, double v, double least, const char *then);
void claim_at_most(struct claims *c, const char *what, double v, double most, const char *then);

/* No condition. */
void claim_note(const char *what, double v);

/* "name: reproduced", or "name: not reproduced here (CPUs, load, why)". */
void claim_verdict(struct claims *c, const char *name, const char *why);

#endif
