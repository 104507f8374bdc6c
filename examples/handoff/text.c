/* SPDX-License-Identifier: MIT
 *
 * text.c - see text.h
 */
#include "text.h"

#include <math.h>
#include <sys/utsname.h>

#include "place.h"

void text_number(FILE *out, int width, int digits, double v)
{
	if (isnan(v))
		fprintf(out, " %*s", width, "-");
	else
		fprintf(out, " %*.*f", width, digits, v);
}

void text_json(FILE *out, const char *name, int digits, double v)
{
	if (isnan(v))
		fprintf(out, ",\"%s\":null", name);
	else
		fprintf(out, ",\"%s\":%.*g", name, digits, v);
}

void text_machine(FILE *out, double effective)
{
	struct utsname u = { .sysname = "?", .release = "?" };

	uname(&u);
	fprintf(out, "# %s %s, %u CPUs", u.sysname, u.release, place_cpus());
	if (effective >= 0)
		fprintf(out, " (effective %.2f)", effective);
}
