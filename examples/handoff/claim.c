/* SPDX-License-Identifier: MIT
 *
 * claim.c - see claim.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "claim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "place.h"
#include "text.h"

void claims_begin(struct claims *c, double effective)
{
	*c = (struct claims){ .effective = effective };
	if (place_is_busy(effective))
		printf("# machine busy: it gives less than four fifths of its CPUs\n");
	if (place_cpus() < 2)
		printf("# one CPU: the claims are about two or more\n");
	fflush(stdout);
}

void claim(struct claims *c, const char *text)
{
	printf("%s\n", text);
	c->holds = true;
}

void claim_within(struct claims *c, const char *what, double v, double least, double most, const char *then)
{
	bool holds = v >= least && v <= most;

	c->holds = c->holds && holds;
	printf("   %s  %-38s", holds ? "yes" : "NO ", what);
	text_number(stdout, 9, 3, v);
	if (isinf(least))
		printf("   at most %g", most);
	else if (isinf(most))
		printf("   at least %g", least);
	else if (least >= most)
		printf("   is %g", least);
	else
		printf("   from %g to %g", least, most);
	printf("%s%s%s\n", *then ? "   (" : "", then, *then ? ")" : "");
}

void claim_at_least(struct claims *c, const char *what, double v, double least, const char *then)
{
	claim_within(c, what, v, least, INFINITY, then);
}

void claim_at_most(struct claims *c, const char *what, double v, double most, const char *then)
{
	claim_within(c, what, v, -INFINITY, most, then);
}

void claim_note(const char *what, double v)
{
	printf("     -  %-38s", what);
	text_number(stdout, 9, 3, v);
	printf("\n");
}

void claim_verdict(struct claims *c, const char *name, const char *why)
{
	double load[1] = { NAN };

	c->tried++;
	if (c->holds) {
		c->held++;
		printf("%s: reproduced\n", name);
		return;
	}
	if (getloadavg(load, 1) != 1)
		load[0] = NAN;
	printf("%s: not reproduced here (%u CPUs, effective %.2f, load %.1f%s)%s\n", name, place_cpus(), c->effective,
	       load[0], why, place_is_busy(c->effective) ? " - machine busy" : "");
}
