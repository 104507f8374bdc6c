/* SPDX-License-Identifier: MIT
 *
 * scen.c - see scen.h
 */
#include "scen.h"

#include <stdlib.h>
#include <string.h>

#define NEEDS 16

static const struct scen *scen;
static const char *needs[NEEDS], *last;
static int nneeds;

void scen_usage(const char *why)
{
	fprintf(stderr, "%s: %s\nusage: %s %s [need:EVENT...] [options]\n", scen->name, why, scen->name, scen->usage);
	x_usage(stderr);
	exit(2);
}

const char *scen_unrolled(const char *arg)
{
	const char *star = strchr(arg, '*');
	size_t len = star ? (size_t)(star - arg) : 0, n = star ? strtoul(star + 1, NULL, 10) : 0;
	char *p;

	if (!star)
		return arg;
	if (n < 1 || n > 1000)
		scen_usage("*N is from 1 to 1000");
	p = calloc(n, len + 1);
	for (size_t i = 0; i < n; i++)
		memcpy(p + i * len, arg, len);
	return p;
}

/* Neighbours with one program are twins. */
static void add_thread(const char *arg)
{
	struct x_test *t = scen->test;

	arg = scen->add(arg);
	if (!arg)
		scen_usage("too many threads, or a program that makes no sense");
	t->threads++;
	if (last && !strcmp(arg, last))
		t->twins |= 1u << t->threads;
	last = arg;
}

static void parse(int argc, char **argv, struct x_options *o)
{
	static char name[256];
	bool is_set = !scen->set;

	for (int i = 1; i < argc; i++) {
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%s", i > 1 ? " " : "", argv[i]);
		if (x_option(o, argv[i]) || (scen->option && scen->option(argv[i])))
			continue;
		if (!strncmp(argv[i], "need:", 5) && nneeds < NEEDS)
			needs[nneeds++] = argv[i] + 5;
		else if (argv[i][0] == '-')
			scen_usage("unknown option");
		else if (is_set)
			add_thread(argv[i]);
		else
			scen->set(argv[i]), is_set = true;
	}
	if (!scen->test->threads)
		scen_usage("no threads");
	scen->test->name = name;
	if (scen->parsed)
		scen->parsed(o);
}

static bool has_happened(const char *what)
{
	if (scen->reached && !strcmp(what, scen->reached))
		return scen->has_reached();
	for (int i = 0; i < scen->n_events; i++) {
		if (!strcmp(what, scen->event_names[i]))
			return scen->events[i] > 0;
	}
	scen_usage("need: no such event");
}

int scen_main(const struct scen *s, int argc, char **argv)
{
	struct x_options o = x_defaults;
	struct x_result r;

	scen = s;
	parse(argc, argv, &o);
	x_explore(s->test, &o, &r);
	for (int i = 0; i < nneeds && !r.has_failed; i++) {
		if (has_happened(needs[i]))
			continue;
		r.has_failed = true;
		strcpy(r.property, "vacuous");
		snprintf(r.message, sizeof(r.message), "%s never happened", needs[i]);
	}
	x_print(stdout, s->test, &r);
	return r.has_failed;
}
