/* SPDX-License-Identifier: MIT
 *
 * args.c - see args.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nlock.h>

const char *program_name = "?";

void args_error(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see %s --help\n", program_name);
	exit(EXIT_USAGE);
}

double args_number(char option, const char *text, double least, double most)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !(v >= least && v <= most))
		args_error("-%c wants a number from %g to %g, not '%s'", option, least, most, text);
	return v;
}

uint64_t args_integer(char option, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v < least || v > most)
		args_error("-%c wants a whole number from %llu to %llu, not '%s'", option, (unsigned long long)least,
			   (unsigned long long)most, text);
	return v;
}

int args_word(char option, const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	args_error("-%c does not know '%s'", option, text);
}

static bool common_number(const struct args_common *c, int option, const char *arg)
{
	if (option == 'r' && c->r)
		*c->r = args_number('r', arg, 0, 1e6);
	else if (option == 'x' && c->x)
		*c->x = args_number('x', arg, 0, 1e6);
	else if (option == 't' && c->seconds)
		*c->seconds = args_number('t', arg, 0.001, 3600);
	else if (option == 'i' && c->runs)
		*c->runs = (unsigned)args_integer('i', arg, 1, RUNS_MAX);
	else if (option == 'R' && c->loops)
		*c->loops = args_integer('R', arg, 1, 1000000);
	else if (option == 'S' && c->seed)
		*c->seed = args_integer('S', arg, 0, UINT64_MAX);
	else
		return false;
	return true;
}

bool args_common(const struct args_common *c, int option, const char *arg)
{
	static const char *const modes[] = { "thread", "proc", NULL };

	if (option == 'L' && c->kinds)
		*c->kind_count = kinds_from(arg, c->kinds, c->fits);
	else if (option == 'M' && c->processes)
		*c->processes = args_word('M', arg, modes) == 1;
	else if (option == 'A' && c->place)
		*c->place = (enum place)args_word('A', arg, place_names);
	else if (option == 'f' && c->output)
		*c->output = tsv_option(arg);
	else
		return common_number(c, option, arg);
	return true;
}

/* getopt would take --ver for --version. */
static bool is_whole(const char *word, const char *name)
{
	size_t length = strcspn(word, "=");

	return length == strlen(name) + 2 && !strncmp(word + 2, name, length - 2);
}

int args_next(int argc, char **argv, const char *shorts, const struct option *longs, char *given)
{
	int at = -1, c;

	opterr = 0;
	c = getopt_long(argc, argv, shorts, longs, &at);
	if (c == -1 && optind < argc)
		args_error("what is '%s' for?", argv[optind]);
	if (c == -1)
		return c;
	if (at >= 0 && !is_whole(argv[optind - 1 - (optarg == argv[optind - 1])], longs[at].name))
		args_error("unknown option '%s'", argv[optind - 1]);
	if (c == ':')
		args_error("-%c wants an argument", optopt);
	if (c == '?')
		args_error("unknown option '%s'", argv[optind - 1]);
	if (!strchr(given, c))
		given[strlen(given)] = (char)c;
	return c;
}

void args_version(void)
{
	uint32_t v = nlock_version();

	printf("%s, with nlock %u.%u.%u\n", program_name, (unsigned)(v >> 16), (unsigned)(v >> 8 & 255),
	       (unsigned)(v & 255));
	exit(args_finish(EXIT_DONE));
}

int args_finish(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "%s: cannot write standard output: %s\n", program_name, strerror(errno));
	return EXIT_VIOLATION;
}
