/* SPDX-License-Identifier: MIT
 *
 * cell_run.c - measures one cell, in a process of its own
 *
 * A process of its own, because what a library and the kernel learn about a process (CPUs, the size of its private
 * futex hash) must not pass from one cell to the next, and because a lock that does not let go can be got rid of.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Among what is measured are locks that do not work, on purpose: what ThreadSanitizer would say of them is no finding. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "report_bugs=0";
}
#endif
#endif

/* Everything in the child; the parent reads `results` when it has ended. */
struct session {
	const struct plan *plan;
	const struct cell *cell;
	struct team team;
	void *object;
	struct guarded *guarded;
	struct hist noted;
	const struct subject *subject;
};

/* ---------------------------------------------------------------- who takes part */

static bool is_in_list(const char *name, const char *list)
{
	size_t n = strlen(name);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, name, n) && (list[n] == ',' || !list[n]))
			return true;
	}
	return false;
}

unsigned int cell_cpus(const struct plan *p, const struct cell *c)
{
	unsigned int wanted = c->flags & CELL_ONE_CPU ? 1 : c->flags & CELL_TWO_CPUS ? 2 : p->cpus->n;

	return wanted < p->cpus->n ? wanted : p->cpus->n;
}

static bool may_run(const struct plan *p, const struct cell *c, const struct subject *s)
{
	if (!p->wanted[s - p->noun->subjects] || !s->body[c->body])
		return false;
	if (c->only ? !is_in_list(s->name, c->only) : s->flags & (SUBJECT_RAW | SUBJECT_SELF_TEST))
		return false;
	return !(s->flags & SUBJECT_SPINS) || c->threads <= cell_cpus(p, c);
}

/* Each round begins with another one, and every second goes backwards, so that nobody always comes after the same. */
static unsigned int in_turn(unsigned int round, unsigned int i, unsigned int n)
{
	unsigned int at = round % 2 ? n - 1 - i : i;

	return (at + round) % n;
}

/* ---------------------------------------------------------------- a slice */

static void complain(const struct session *s, const char *what)
{
	if (!s->plan->is_silent)
		fprintf(stderr, "nlock: %s, cell %s, lock %s: %s\n", s->plan->noun->name, s->cell->name,
			s->subject->name, what);
}

static int64_t warm_up(const struct plan *p)
{
	return p->slice / 10 + 1000000;
}

static void set_up_object(struct session *s)
{
	memset(s->object, 0, OBJECT_SIZE);
	if (s->subject->begin_for)
		s->subject->begin_for(s->object, s->team.n);
	else
		s->subject->begin(s->object);
}

static void set_up(struct session *s)
{
	const struct cell *c = s->cell;

	set_up_object(s);
	hist_clear(&s->noted);
	*s->guarded =
		(struct guarded){ .last = UINT32_MAX, .times_handoffs = c->flags & CELL_HANDOFF, .noted = &s->noted };
	for (unsigned int i = 0; i < s->team.n; i++) {
		struct worker *w = &s->team.workers[i];
		bool is_hog = i == 0 && (c->flags & CELL_HOG);

		w->object = s->object;
		w->guarded = s->guarded;
		w->inside = work_units(is_hog ? HOG_NS : c->inside);
		w->outside = work_units(is_hog ? 0 : c->outside);
		w->stall = i == 0 && (c->flags & CELL_HANDOFF) ? warm_up(s->plan) / 2 : 0;
		w->arg = c->arg;
		memset(w->scratch, 0, sizeof(w->scratch));
		hist_clear(w->waits);
	}
}

/* Also closes the last run, which nobody has ended. */
static void check_slice(struct session *s, enum body body)
{
	unsigned long ops = 0, last = s->guarded->counter - s->guarded->run_start;
	char what[96];

	for (unsigned int i = 0; i < s->team.n; i++) {
		ops += s->team.workers[i].ops - s->team.workers[i].reads;
		if (s->team.workers[i].failures) {
			complain(s, "a call failed that cannot fail, or it let through what it must not");
			_exit(CELL_BROKEN);
		}
	}
	if (body >= BODY_CONTENDED && s->guarded->counter != ops) {
		snprintf(what, sizeof(what), "%lu operations, but the counter that it guards says %lu", ops,
			 s->guarded->counter);
		complain(s, what);
		_exit(CELL_BROKEN);
	}
	if (!s->subject->end(s->object)) {
		complain(s, "it is not at rest after all have left it");
		_exit(CELL_BROKEN);
	}
	if (last > s->guarded->longest)
		s->guarded->longest = last;
}

static struct sample slice(struct session *s, enum body body)
{
	int64_t count = s->plan->slice * (s->cell->stretch ? s->cell->stretch : 1);
	struct sample got;
	unsigned int stuck;
	char what[96];

	set_up(s);
	stuck = team_slice(&s->team, s->subject->body[body], warm_up(s->plan), count, s->plan->patience, &got);
	if (stuck) {
		snprintf(what, sizeof(what),
			 "%u of %u threads did not come back within %.1f s after the end of a slice", stuck, s->team.n,
			 (double)s->plan->patience / NSEC_PER_SEC);
		complain(s, what);
		_exit(CELL_STUCK);
	}
	check_slice(s, body);
	return got;
}

/* ---------------------------------------------------------------- a cell */

/* A slice without an operation has a rate, 0, and no cost of one. */
static double per_op(const struct sample *got, double x)
{
	return got->ops > 0 ? x / got->ops : NAN;
}

static void keep_rate(struct session *s, struct result *r, const struct sample *got)
{
	unsigned int sharers = s->cell->sharers ? s->cell->sharers : 1;

	r->value[MEASURE_RATE][r->rounds] = got->ops / got->ns * NSEC_PER_SEC;
	r->value[MEASURE_HANDOFF][r->rounds] = hist_quantile(&s->noted, 0.5);
	r->value[MEASURE_CPU][r->rounds] = per_op(got, got->cpu_ns);
	r->value[MEASURE_SWITCHES][r->rounds] = per_op(got, got->switches) / sharers;
	r->rounds++;
	r->sum.ns += got->ns;
	r->sum.ops += got->ops;
	r->sum.changes += got->changes;
	r->sum.cpu_ns += got->cpu_ns;
	r->sum.switches += got->switches;
}

/* The hog's own waits are no news. */
static void keep_waits(struct session *s, struct result *r)
{
	struct hist all;

	hist_clear(&all);
	for (unsigned int i = s->cell->flags & CELL_HOG ? 1 : 0; i < s->team.n; i++)
		hist_merge(&all, s->team.workers[i].waits);
	if (s->cell->flags & CELL_READERS)
		r->value[MEASURE_PASSED][r->wait_rounds] = hist_quantile(&s->noted, 0.99) / (s->team.n - 1);
	r->value[MEASURE_WAIT_P99][r->wait_rounds] = hist_quantile(&all, 0.99);
	r->value[MEASURE_WAIT_P999][r->wait_rounds] = hist_quantile(&all, 0.999);
	r->value[MEASURE_WAIT_MAX][r->wait_rounds] = (double)all.longest;
	r->wait_rounds++;
	hist_merge(&r->waits, &all);
}

static void one_round(struct session *s, struct result *results, unsigned int round, enum body body)
{
	const struct subject *subjects = s->plan->noun->subjects;
	unsigned int n = subject_count(s->plan->noun);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int who = in_turn(round, i, n);
		struct result *r = &results[who];
		struct sample got;

		s->subject = &subjects[who];
		if (!may_run(s->plan, s->cell, s->subject) || !s->subject->body[body])
			continue;
		got = slice(s, body);
		r->is_measured = true;
		if (body == s->cell->body) {
			keep_rate(s, r, &got);
			r->longest_run = s->guarded->longest > r->longest_run ? s->guarded->longest : r->longest_run;
		}
		if (body == BODY_TIMED)
			keep_waits(s, r);
	}
}

static unsigned int timed_rounds(const struct session *s)
{
	unsigned int all = (unsigned int)s->plan->rounds;

	if (s->cell->body != BODY_CONTENDED || (s->cell->flags & CELL_UNTIMED))
		return 0;
	return s->cell->flags & CELL_ALL_WAIT ? all : (all + 4) / 5;
}

/* Binds the process to the first `n` CPUs. A library may look at the first thread to find out how many CPUs the process
 * has; the others inherit it. */
static bool take_cpus(const struct cpus *all, unsigned int n, struct cpus *taken)
{
	*taken = *all;
	taken->n = n;
	return n == all->n || cpus_bind(taken);
}

static void measure(struct session *s, struct result *results)
{
	static struct cpus cpus;

	if (!take_cpus(s->plan->cpus, cell_cpus(s->plan, s->cell), &cpus)) {
		perror("nlock: cannot bind to one CPU or two");
		_exit(CELL_BROKEN);
	}
	if (!team_open(&s->team, s->cell->threads, s->plan->is_unpinned ? NULL : &cpus)) {
		fprintf(stderr, "nlock: cell %s: cannot start %u threads\n", s->cell->name, s->cell->threads);
		_exit(CELL_BROKEN);
	}
	for (unsigned int i = 0; i < (unsigned int)s->plan->rounds; i++)
		one_round(s, results, i, s->cell->body);
	for (unsigned int i = 0; i < timed_rounds(s); i++)
		one_round(s, results, i, BODY_TIMED);
	team_close(&s->team);
}

static void child(const struct plan *p, const struct cell *c, struct result *results)
{
	struct session s = { .plan = p, .cell = c };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s.object = aligned_alloc(OBJECT_ALIGN, OBJECT_SIZE);
	s.guarded = aligned_alloc(128, (sizeof(*s.guarded) + 127) / 128 * 128);
	if (!s.object || !s.guarded) {
		perror("nlock");
		_exit(CELL_BROKEN);
	}
	measure(&s, results);
	_exit(CELL_DONE);
}

enum cell_end run_cell(const struct plan *p, const struct cell *c, struct result *results)
{
	int status;
	pid_t pid, ended;

	memset(results, 0, sizeof(*results) * SUBJECTS_MAX);
	fflush(stdout);
	signal(SIGCHLD, SIG_DFL); /* ignored, as it may be inherited, it would leave nothing to wait for */
	pid = fork();
	if (pid < 0) {
		perror("nlock: cannot fork");
		return CELL_BROKEN;
	}
	if (pid == 0)
		child(p, c, results);
	while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended < 0) {
		perror("nlock: cannot wait for a cell");
		return CELL_BROKEN;
	}
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "nlock: cell %s: ended by signal %d\n", c->name, WTERMSIG(status));
		return CELL_BROKEN;
	}
	return WEXITSTATUS(status);
}
