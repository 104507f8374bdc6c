/* SPDX-License-Identifier: MIT
 *
 * lesson.c - `nlock report': the command line
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <limits.h>
#include <nlock.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "place.h"
#include "tool.h"

static const char help[] =
	"usage: nlock report [--quick | --full] [-o DIR] [--only LIST] [--seconds S]\n"
	"       nlock report --page [-o DIR]\n"
	"       nlock report --list\n"
	"\n"
	"Runs the experiments about fair and unfair hand-off of locks, says what of what is claimed about it holds on\n"
	"this machine, and writes DIR/index.html: pictures, and the published numbers beside those of this machine.\n"
	"\n"
	"  --quick       short runs: less than four minutes (the default)\n"
	"  --full        long runs, and those with a thousand tasks: less than 25 minutes\n"
	"  -o DIR        where the page and the tables go (nlock-report)\n"
	"  --only LIST   run these experiments only, separated by commas; results of others that are in DIR stay\n"
	"  --seconds S   length of each run, 0.001 to 60 (differs by experiment)\n"
	"  --page        run nothing: write the page of what is in DIR\n"
	"  --list        list the experiments\n"
	"\n"
	"Nothing else should run meanwhile: where the machine gives less than 0.8 of its CPUs there is no verdict.\n";

struct request {
	struct schedule schedule;
	const char *dir;
	bool page_only, lists, helps, has_profile;
};

/* ---------------------------------------------------------------- options */

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	return (*text == '.' || (*text >= '0' && *text <= '9')) && !*end && *seconds >= 0.001 && *seconds <= 60;
}

/* Every name of the list must be an experiment's. */
static bool is_list(const char *list)
{
	while (list) {
		size_t n = strcspn(list, ","), i = 0;

		while (i < experiment_count && (strlen(experiments[i].id) != n || strncmp(experiments[i].id, list, n)))
			i++;
		if (i == experiment_count)
			return false;
		list = list[n] ? list + n + 1 : NULL;
	}
	return true;
}

enum { O_QUICK, O_FULL, O_OUTPUT, O_ONLY, O_SECONDS, O_PAGE, O_LIST, O_HELP };

static int set_option(struct request *r, int option, const char *value)
{
	switch (option) {
	case O_QUICK:
	case O_FULL:
		r->schedule.profile = option == O_FULL ? PROFILE_FULL : PROFILE_QUICK;
		r->has_profile = true;
		return 0;
	case O_OUTPUT:
		r->dir = value;
		return *value ? 0 : usage_error("-o wants the name of a directory");
	case O_ONLY:
		r->schedule.only = value;
		return is_list(value) ? 0 : usage_error("--only: '%s' names no experiment; --list does", value);
	case O_SECONDS:
		return parse_seconds(value, &r->schedule.seconds) ? 0 : usage_error("--seconds wants 0.001 to 60");
	case O_PAGE:
		r->page_only = true;
		return 0;
	case O_LIST:
		r->lists = true;
		return 0;
	}
	r->helps = true;
	return 0;
}

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option_spec specs[] = {
		[O_QUICK] = { "quick", false }, [O_FULL] = { "full", false },      [O_OUTPUT] = { "o", true },
		[O_ONLY] = { "only", true },    [O_SECONDS] = { "seconds", true }, [O_PAGE] = { "page", false },
		[O_LIST] = { "list", false },   [O_HELP] = { "help", false },      { NULL, false },
	};
	struct options o = { .argc = argc, .argv = argv };
	int option, err = 0;

	*r = (struct request){ .dir = "nlock-report" };
	while (!err && (option = options_next(&o, specs)) != OPTIONS_END)
		err = option == OPTIONS_BAD ? EXIT_USAGE : set_option(r, option, o.value);
	if (!err && r->page_only && (r->has_profile || r->schedule.only || r->schedule.seconds > 0))
		err = usage_error("--page runs nothing: it goes with -o only");
	return err;
}

/* ---------------------------------------------------------------- the page, and the verdicts on the terminal */

static int write_verdicts(const char *dir, const struct finding *all)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/verdicts.tsv", dir);
	FILE *f = n > 0 && n < PATH_MAX ? fopen(path, "we") : NULL;

	if (!f)
		return errno;
	fprintf(f, "exp\tclaim\tverdict\twhy\n");
	for (size_t i = 0; i < claims_count; i++)
		fprintf(f, "verdicts\t%s\t%s\t%s\n", all[i].id, verdict_names[all[i].verdict],
			*all[i].why ? all[i].why : "-");
	return fclose(f) ? errno : 0;
}

static void print_verdicts(const struct finding *all)
{
	for (size_t i = 0; i < claims_count; i++)
		printf("%-4s %s%s%s\n", all[i].id, verdict_names[all[i].verdict], *all[i].why ? ": " : "", all[i].why);
}

static void print_missing(const struct lab *lab, const struct schedule *s)
{
	for (size_t i = 0; i < experiment_count; i++) {
		if (schedule_has(s, &experiments[i]) && !lab->outcomes[i].has_run)
			printf("missing: %s, %s\n", experiments[i].id, experiments[i].says);
	}
}

/* Under another name first, so that what was there stays until the new one is whole. */
static int write_page(const struct lab *lab, const struct finding *findings)
{
	char path[PATH_MAX], made[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/index.html", lab->dir), err = 0;
	int m = snprintf(made, sizeof made, "%s/index.html.new", lab->dir);
	FILE *f = n > 0 && m > 0 && m < PATH_MAX ? fopen(made, "we") : NULL;

	if (!f)
		return errno;
	page_write(f, lab, findings);
	err = ferror(f) ? EIO : 0;
	if (fclose(f) && !err)
		err = errno;
	return err ? err : rename(made, path) ? errno : 0;
}

static int make_page(const char *dir)
{
	struct lab lab = { 0 };
	struct finding *findings = calloc(claims_count, sizeof *findings);
	int err = findings ? lab_read(&lab, dir) : ENOMEM;

	if (!err) {
		claims_judge(&lab, findings);
		err = write_verdicts(dir, findings);
	}
	if (!err)
		err = write_page(&lab, findings);
	if (!err) {
		print_verdicts(findings);
		printf("The page is %s/index.html\n", dir);
	}
	lab_free(&lab);
	free(findings);
	if (!err)
		return EXIT_SUCCESS;
	fprintf(stderr, "nlock: %s: %s\n", dir, strerror(err));
	return EXIT_FAILURE;
}

/* ---------------------------------------------------------------- this machine */

static void fill_machine(struct machine *m, enum profile profile)
{
	uint32_t v = nlock_version();
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	*m = (struct machine){ .cpus = place_cpus(), .nodes = place_nodes() };
	snprintf(m->kernel, sizeof m->kernel, "unknown");
	if (!uname(&u))
		snprintf(m->kernel, sizeof m->kernel, "%.30s %.60s %.30s", u.sysname, u.release, u.machine);
	if (gmtime_r(&now, &tm))
		strftime(m->date, sizeof m->date, "%Y-%m-%d %H:%M UTC", &tm);
	snprintf(m->version, sizeof m->version, "%u.%u.%u", v >> 16, v >> 8 & 0xff, v & 0xff);
	snprintf(m->profile, sizeof m->profile, "%s", profile == PROFILE_FULL ? "full" : "quick");
}

static int measure(const struct request *r)
{
	struct lab lab = { .dir = r->dir };
	int code, err = 0;

	if (mkdir(r->dir, 0777) && errno != EEXIST)
		err = errno;
	if (!err && r->schedule.only)
		lab_read_index(&lab, r->dir);
	if (!err && !lab.outcomes)
		lab.outcomes = calloc(experiment_count, sizeof *lab.outcomes);
	if (!lab.outcomes) {
		fprintf(stderr, "nlock: %s: %s\n", r->dir, strerror(err ? err : ENOMEM));
		return EXIT_FAILURE;
	}
	fill_machine(&lab.machine, r->schedule.profile);
	code = schedule_run(&r->schedule, &lab);
	print_missing(&lab, &r->schedule);
	lab_free(&lab);
	return code;
}

static int list_experiments(void)
{
	for (size_t i = 0; i < experiment_count; i++)
		printf("%-14s %s\n", experiments[i].id, experiments[i].says);
	return EXIT_SUCCESS;
}

/* Ends as the signal would have ended it, but with the page. */
static void end_by(int signo)
{
	fflush(NULL);
	signal(signo, SIG_DFL);
	raise(signo);
}

int report_main(int argc, char **argv)
{
	struct request r;
	int code = parse(&r, argc, argv), page;

	if (code)
		return code;
	if (r.helps)
		return fputs(help, stdout) < 0;
	if (r.lists)
		return list_experiments();
	if (!r.page_only)
		code = measure(&r);
	page = make_page(r.dir);
	if (code > 128)
		end_by(code - 128);
	return code ? code : page;
}
