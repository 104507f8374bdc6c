/* SPDX-License-Identifier: MIT
 *
 * nlock.c - the command `nlock`
 *
 *	nlock info		what this machine and this kernel offer
 *	nlock run CMD		a program that uses pthreads, with nlock under it
 *	nlock bench NOUN	nlock beside its peers
 *	nlock report		the experiments about hand-off, on one page
 *
 * Each sub command is a file; this one holds what they share. It sees <nlock.h> and nothing of lib/.
 */
#include "tool.h"

#include <errno.h>
#include <nlock.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const char *format, ...)
{
	va_list args;

	fputs("nlock: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] && strcmp(arg, "--");
}

/* A name of one letter has one dash, and all others have two. */
static int find_spec(const char *arg, const struct option_spec *specs)
{
	const char *name = arg + (arg[1] == '-' ? 2 : 1);
	size_t n = arg[1] == '-' ? strcspn(name, "=") : strlen(name);

	for (int i = 0; specs[i].name; i++) {
		if (strlen(specs[i].name) == n && !strncmp(name, specs[i].name, n) && (n == 1) == (arg[1] != '-'))
			return i;
	}
	return OPTIONS_BAD;
}

int options_next(struct options *o, const struct option_spec *specs)
{
	const char *arg, *equals;
	int found;

	if (o->at >= o->argc)
		return OPTIONS_END;
	arg = o->argv[o->at++];
	if (!is_option(arg)) {
		usage_error("unexpected argument '%s'", arg);
		return OPTIONS_BAD;
	}
	found = find_spec(arg, specs);
	if (found < 0) {
		usage_error("unknown option '%s'", arg);
		return OPTIONS_BAD;
	}
	equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
	if (equals && !specs[found].takes_value) {
		usage_error("option '--%s' takes no value", specs[found].name);
		return OPTIONS_BAD;
	}
	o->value = equals ? equals + 1 : NULL;
	if (equals || specs[found].takes_value != true)
		return found;
	o->value = o->at < o->argc ? o->argv[o->at++] : NULL;
	if (o->value)
		return found;
	usage_error("option '--%s' needs a value", specs[found].name);
	return OPTIONS_BAD;
}

bool parse_number(const char *text, long min, long max, long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtol(text, &end, 10);
	return !errno && !*end && *number >= min && *number <= max;
}

/* Three digits that count, and the unit. */
static char *format_unit(char buf[NUMBER_SIZE], double x, const char *unit)
{
	snprintf(buf, NUMBER_SIZE, "%.*f%s", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, unit);
	return buf;
}

char *format_ns(char buf[NUMBER_SIZE], double ns)
{
	if (ns == 0)
		return strcpy(buf, "0");
	if (ns < 999.5)
		return format_unit(buf, ns, " ns");
	if (ns < 999.5e3)
		return format_unit(buf, ns / 1e3, " us");
	if (ns < 999.5e6)
		return format_unit(buf, ns / 1e6, " ms");
	return format_unit(buf, ns / 1e9, " s");
}

char *format_count(char buf[NUMBER_SIZE], double n)
{
	if (n < 999.5)
		return format_unit(buf, n, "");
	if (n < 999.5e3)
		return format_unit(buf, n / 1e3, " k");
	return format_unit(buf, n / 1e6, " M");
}

static const char help[] =
	"usage: nlock info [--json]\n"
	"       nlock run [OPTION]... [--] CMD [ARG]...\n"
	"       nlock bench mutex | cond | rwlock | barrier | sem | once | all [OPTION]...\n"
	"       nlock report [OPTION]...\n"
	"       nlock --version | --help\n"
	"\n"
	"info    what this machine and its kernel offer to nlock\n"
	"run     a program that uses pthreads, with nlock under it\n"
	"bench   speed, order of service and cost of nlock's locks beside their peers\n"
	"report  the experiments about lock hand-off, with pictures, beside the numbers that were published\n"
	"\n"
	"`nlock info --help', `nlock run --help', `nlock bench NOUN --help' and `nlock report --help' list the "
	"options;\n"
	"nlock(1) explains the output.\n";

static int version_main(void)
{
	uint32_t v = nlock_version();

	printf("nlock %d.%d.%d, library %u.%u.%u\n", NLOCK_VERSION_MAJOR, NLOCK_VERSION_MINOR, NLOCK_VERSION_PATCH,
	       v >> 16, v >> 8 & 0xff, v & 0xff);
	return EXIT_SUCCESS;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2)
		return usage_error("which command? info, run, bench or report; `nlock --help' says more");
	if (!strcmp(argv[1], "info"))
		return info_main(argc - 2, argv + 2);
	if (!strcmp(argv[1], "run"))
		return run_main(argc - 2, argv + 2);
	if (!strcmp(argv[1], "bench"))
		return bench_main(argc - 2, argv + 2);
	if (!strcmp(argv[1], "report"))
		return report_main(argc - 2, argv + 2);
	if (argc > 2)
		return usage_error("unknown command '%s'; `nlock --help' lists them", argv[1]);
	if (!strcmp(argv[1], "--version"))
		return version_main();
	if (!strcmp(argv[1], "--help"))
		return fputs(help, stdout) < 0;
	return usage_error("unknown command '%s'; `nlock --help' lists them", argv[1]);
}

int main(int argc, char **argv)
{
	int rc = dispatch(argc, argv);

	/* A full disk or a closed pipe must not look like success. */
	if ((fflush(stdout) || ferror(stdout)) && !rc) {
		fprintf(stderr, "nlock: cannot write the output: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	return rc;
}
