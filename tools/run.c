/* SPDX-License-Identifier: MIT
 *
 * run.c - measures one cell, in a process of its own
 *
 * A process of its own, because what a library and the kernel learn about a process (CPUs, the size of its private
 * futex hash) must not pass from one cell to the next, and because a lock that does not let go can be got rid of.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything in the child; the parent reads `results` when it has ended. */
struct session {
	const struct plan *plan;
	const struct cell *cell;
	struct team team;
	void *object;
	struct guarded *guarded;
	struct hist handoffs;
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

static bool has_body(const struct cell *c, const struct subject *s)
{
	return s->body[c->body];
}

bool may_run(const struct plan *p, const struct cell *c, const struct subject *s)
{
	if (!p->wanted[s - subjects] || !has_body(c, s))
		return false;
	if (c->only ? !is_in_list(s->name, c->only) : s->flags & (SUBJECT_RAW | SUBJECT_FAULTY))
		return false;
	if (s->flags & SUBJECT_SPINS)
		return c->threads <= p->cpus->n && !(c->flags & CELL_ONE_CPU);
	return true;
}

/* Each round begins with another one, and every second goes backwards, so that nobody always comes after the same. */
static unsigned int in_turn(unsigned int round, unsigned int i)
{
	unsigned int at = round % 2 ? subject_count - 1 - i : i;

	return (at + round) % subject_count;
}

/* ---------------------------------------------------------------- a slice */

static void complain(const struct session *s, const char *what)
{
	if (!s->plan->is_silent)
		fprintf(stderr, "nlock: cell %s, lock %s: %s\n", s->cell->name, s->subject->name, what);
}

static int64_t warm_up(const struct plan *p)
{
	return p->slice / 10 + 1000000;
}

static void set_up(struct session *s)
{
	const struct cell *c = s->cell;

	memset(s->object, 0, OBJECT_SIZE);
	*s->guarded = (struct guarded){ .last = UINT32_MAX };
	if (c->flags & CELL_HANDOFF)
		s->guarded->handoffs = &s->handoffs;
	hist_clear(&s->handoffs);
	s->subject->begin(s->object);
	for (unsigned int i = 0; i < s->team.n; i++) {
		struct worker *w = &s->team.workers[i];
		bool is_hog = i == 0 && (c->flags & CELL_HOG);

		w->object = s->object;
		w->guarded = s->guarded;
		w->inside = work_units(is_hog ? HOG_NS : c->inside);
		w->outside = work_units(is_hog ? 0 : c->outside);
		w->stall = i == 0 && (c->flags & CELL_HANDOFF) ? warm_up(s->plan) / 2 : 0;
		hist_clear(w->waits);
	}
}

/* Also closes the last run, which nobody has ended. */
static void check_slice(struct session *s, enum body body)
{
	unsigned long ops = 0, last = s->guarded->counter - s->guarded->run_start;
	char what[96];

	for (unsigned int i = 0; i < s->team.n; i++) {
		ops += s->team.workers[i].ops;
		if (s->team.workers[i].failures) {
			complain(s, "a call failed that cannot fail");
			_exit(CELL_BROKEN);
		}
	}
	if (body >= BODY_CONTENDED && s->guarded->counter != ops) {
		snprintf(what, sizeof(what), "%lu operations, but the counter that it protects says %lu", ops,
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

static void keep_rate(struct session *s, struct result *r, const struct sample *got)
{
	r->rate[r->rounds] = got->ops / got->ns * NSEC_PER_SEC;
	r->handoff[r->rounds] = hist_quantile(&s->handoffs, 0.5);
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
	r->p999[r->wait_rounds] = hist_quantile(&all, 0.999);
	r->longest[r->wait_rounds] = (double)all.longest;
	r->wait_rounds++;
	hist_merge(&r->waits, &all);
}

static void one_round(struct session *s, struct result *results, unsigned int round, enum body body)
{
	for (unsigned int i = 0; i < subject_count; i++) {
		unsigned int who = in_turn(round, i);
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

	if (s->cell->body != BODY_CONTENDED)
		return 0;
	return s->cell->flags & CELL_ALL_WAIT ? all : (all + 4) / 5;
}

static void measure(struct session *s, struct result *results)
{
	const struct cpus *cpus = s->plan->cpus;
	bool is_one_cpu = s->cell->flags & CELL_ONE_CPU;

	/* A library may look at the first thread to find out how many CPUs the process has; the others inherit it. */
	if (is_one_cpu && !cpus_pin(cpus, 0)) {
		perror("nlock: cannot bind to one CPU");
		_exit(CELL_BROKEN);
	}
	if (!team_open(&s->team, s->cell->threads, is_one_cpu || s->plan->is_unpinned ? NULL : cpus)) {
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
	s.object = aligned_alloc(OBJECT_SIZE, OBJECT_SIZE);
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

	memset(results, 0, sizeof(*results) * subject_count);
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
