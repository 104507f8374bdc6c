/* SPDX-License-Identifier: MIT
 *
 * lesson_run.c - runs the experiments of a profile, one after the other
 *
 * Before each, and after the last, the machine is asked what it gives of its CPUs. The index is written after each experiment, so
 * that an interrupted run leaves whole results of all that ended before.
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "tool.h"

#define MISSING    77 /* the exit code of a program that lacks something here */
#define SPIN_NS    200000000
#define ARGS_MAX   40
#define CANNOT_RUN 126

static volatile sig_atomic_t signal_got;
static volatile pid_t child;

/* A signal from the terminal reaches the program by itself. */
static void on_signal(int signo)
{
	signal_got = signo;
	if (child > 0)
		kill(child, SIGTERM);
}

static void answer_signals_by(void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler };

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
}

/* Holds them back. *before: what was held back before. */
static void hold_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* ---------------------------------------------------------------- which */

bool schedule_has(const struct schedule *s, const struct experiment *e)
{
	size_t n = strlen(e->id);

	for (const char *at = s->only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (!strncmp(at, e->id, n) && (!at[n] || at[n] == ','))
			return true;
	}
	return !s->only && e->run[s->profile] > 0;
}

static double seconds_of(const struct schedule *s, const struct experiment *e)
{
	double t = e->run[s->profile] > 0 ? e->run[s->profile] : e->run[PROFILE_FULL];

	return s->seconds > 0 ? s->seconds : t;
}

/* Longer or shorter than the table says in so far as the runs are. */
static double takes(const struct schedule *s, const struct experiment *e)
{
	enum profile profile = e->run[s->profile] > 0 ? s->profile : PROFILE_FULL;
	double by = strstr(e->arguments, "%T") ? seconds_of(s, e) / e->run[profile] : 1;

	return e->takes[profile] * by;
}

/* ---------------------------------------------------------------- the command line of one */

struct command {
	char text[512];
	char *argv[ARGS_MAX + 1];
	int argc;
};

/* What %T, %P, %Q or %H stands for. */
static void substitute(char *out, size_t room, char letter, double seconds, const struct lab *lab,
		       const struct experiment *e)
{
	if (letter == 'T')
		snprintf(out, room, "%g", seconds);
	else if (letter == 'P' || letter == 'Q')
		snprintf(out, room, "%u", lab->machine.cpus << (letter == 'Q'));
	else
		snprintf(out, room, "%s/%s.history", lab->dir, e->id);
}

/* False if it does not fit. The directory may have blanks in its name, so arguments are separated by zeros from here on. */
static bool make_command(struct command *c, const struct lab *lab, const struct experiment *e, double seconds)
{
	const char *from = e->arguments;
	size_t at = (size_t)snprintf(c->text, sizeof c->text, "%s", e->program) + 1;

	c->argv[0] = c->text;
	c->argc = 1;
	while (*from && c->argc < ARGS_MAX) {
		size_t n = strcspn(from, " ");

		if (at + n >= sizeof c->text)
			return false;
		c->argv[c->argc++] = &c->text[at];
		if (*from == '%')
			substitute(&c->text[at], sizeof c->text - at, from[1], seconds, lab, e);
		else
			snprintf(&c->text[at], sizeof c->text - at, "%.*s", (int)n, from);
		at += strlen(&c->text[at]) + 1;
		from += n + strspn(from + n, " ");
	}
	c->argv[c->argc] = NULL;
	return !*from && at < sizeof c->text;
}

/* For the reader: where the history went is no part of it. */
static void note_command(char *out, size_t room, const struct command *c)
{
	size_t at = 0;

	for (int i = 0; i < c->argc && at < room; i++) {
		const char *slash = strrchr(c->argv[i], '/');

		at += (size_t)snprintf(out + at, room - at, "%s%s", i ? " " : "", slash ? slash + 1 : c->argv[i]);
	}
}

/* ---------------------------------------------------------------- one */

static int open_result(const struct lab *lab, const struct experiment *e, const char *suffix)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s%s", lab->dir, e->id, suffix);

	if (n < 0 || n >= PATH_MAX)
		return -1;
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

__attribute__((noreturn)) static void become(const char *path, char *const *argv, int out, int err, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(CANNOT_RUN);
	execv(path, argv);
	dprintf(STDERR_FILENO, "%s: %s\n", path, strerror(errno));
	_exit(CANNOT_RUN);
}

/* Forks. In between no signal comes: it would find no child to end, or a child that takes it for its parent's. */
static pid_t begin_program(const char *path, char *const *argv, int out, int err)
{
	pid_t parent = getpid(), pid = -1;
	sigset_t before;

	fflush(NULL);
	hold_signals(&before);
	if (!signal_got)
		pid = fork();
	if (!pid) {
		answer_signals_by(SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(path, argv, out, err, parent);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Returns the exit code; 128 and the signal's number if it was one that ended it. */
static int run_program(const char *path, char *const *argv, int out, int err)
{
	int status;

	if (begin_program(path, argv, out, err) < 0)
		return CANNOT_RUN;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Tabs would end the field. */
static void note_said(char *out, size_t room, int fd)
{
	ssize_t n = pread(fd, out, room - 1, 0);

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	for (; *out; out++)
		*out = *out == '\t' ? ' ' : *out;
}

static void run_one(const struct experiment *e, struct lab *lab, struct outcome *o, double seconds)
{
	static const char *const in_tree[] = { "examples/handoff", NULL };
	int out = open_result(lab, e, ".tsv"), err = open_result(lab, e, ".err");
	int64_t start = now_ns();
	struct command c;
	char path[PATH_MAX];

	o->has_run = true;
	o->code = CANNOT_RUN;
	if (out < 0 || err < 0 || !make_command(&c, lab, e, seconds)) {
		snprintf(o->said, sizeof o->said, "cannot write %s: %s", lab->dir, strerror(errno));
	} else if (!find_own_file(path, e->program, in_tree, PKGLIBEXECDIR)) {
		snprintf(o->said, sizeof o->said, "%s is neither built nor installed", e->program);
	} else {
		note_command(o->command, sizeof o->command, &c);
		o->code = run_program(path, c.argv, out, err);
		note_said(o->said, sizeof o->said, err);
	}
	o->took = (double)(now_ns() - start) / 1e9;
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
}

/* ---------------------------------------------------------------- all */

/* What the machine gave when it was last asked, and how many experiments may still be repeated. */
struct quiet {
	double cpus;
	unsigned again;
};

#define AGAIN 3u

static void say_left(double left)
{
	if (left >= 90)
		printf("about %.0f min left", ceil(left / 60));
	else
		printf("about %.0f s left", ceil(left / 5) * 5);
}

static bool has_failed(const struct outcome *o)
{
	return o->code && o->code != MISSING;
}

static void say_outcome(const struct experiment *e, const struct outcome *o, unsigned cpus)
{
	if (o->code)
		printf("    %s: %s%s%s\n", e->id, o->code == MISSING ? "not here" : "FAILED", *o->said ? ": " : "",
		       o->said);
	if (is_busy(o->cpus, cpus))
		printf("    machine busy: it gives %.2f of its %u CPUs\n", o->cpus, cpus);
}

static int end_of(const struct lab *lab, bool failed)
{
	int err = lab_write_index(lab);

	if (err)
		fprintf(stderr, "nlock: cannot write %s: %s\n", lab->dir, strerror(err));
	return signal_got ? 128 + signal_got : failed || err;
}

/* Between two looks at what the machine gives. A moment's work of another program is no reason to have no verdict: the experiment
 * is run again, until `again` is used up, for a machine that is busy stays so. */
static void run_in_quiet(const struct experiment *e, struct lab *lab, struct outcome *o, double seconds,
			 struct quiet *q)
{
	unsigned cpus = lab->machine.cpus;

	for (;;) {
		double before = q->cpus;

		run_one(e, lab, o, seconds);
		if (signal_got)
			return;
		q->cpus = cpus_effective(cpus, SPIN_NS);
		o->cpus = fmin(before, q->cpus);
		if (!is_busy(o->cpus, cpus) || !q->again)
			return;
		q->again--;
		printf("    machine busy: it gave %.2f of its %u CPUs; once more\n", o->cpus, cpus);
		fflush(stdout);
	}
}

int schedule_run(const struct schedule *s, struct lab *lab)
{
	unsigned cpus = lab->machine.cpus;
	size_t number = 0, of = 0;
	struct quiet quiet = { .again = AGAIN };
	double left = 0;
	bool failed = false;

	for (size_t i = 0; i < experiment_count; i++) {
		of += schedule_has(s, &experiments[i]);
		left += schedule_has(s, &experiments[i]) ? takes(s, &experiments[i]) : 0;
	}
	answer_signals_by(on_signal);
	quiet.cpus = cpus_effective(cpus, SPIN_NS);
	for (size_t i = 0; i < experiment_count && !signal_got; i++) {
		const struct experiment *e = &experiments[i];
		struct outcome *o = &lab->outcomes[i];

		if (!schedule_has(s, e))
			continue;
		printf("%zu of %zu, ", ++number, of);
		say_left(left);
		printf(": %s, %s\n", e->id, e->says);
		fflush(stdout);
		run_in_quiet(e, lab, o, seconds_of(s, e), &quiet);
		left -= takes(s, e);
		o->has_run = !signal_got;
		failed = failed || (o->has_run && has_failed(o));
		if (o->has_run)
			say_outcome(e, o, cpus);
		if (lab_write_index(lab))
			break;
	}
	return end_of(lab, failed);
}
