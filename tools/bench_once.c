/* SPDX-License-Identifier: MIT
 *
 * bench_once.c - `nlock bench once': the call that finds everything done
 *
 * Only that one is compared: the first call is made once in a program's life. Here it is made before the loop, since a
 * short slice may be over before its thread has run. The initialiser counts its runs.
 */
#define _GNU_SOURCE
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "loops.h"

#include <nlock.h>

#ifdef HAVE_NSYNC
#include <nsync.h>
#endif

static unsigned long runs;

static void count_run(void)
{
	runs++;
}

static void count_run_arg(void *arg)
{
	(void)arg;
	runs++;
}

static void runs_begin(void *object)
{
	(void)object;
	runs = 0;
}

static void pthread_begin(void *object)
{
	runs = 0;
	*(pthread_once_t *)object = (pthread_once_t)PTHREAD_ONCE_INIT;
}

static bool has_run_once(void *object)
{
	(void)object;
	return runs == 1;
}

/* ---------------------------------------------------------------- the calls */

INLINED void nl_once(struct worker *w)
{
	nlock_once(w->object, count_run_arg, NULL);
}

INLINED void pt_once(struct worker *w)
{
	pthread_once(w->object, count_run);
}

INLINED void twice(struct worker *w)
{
	(void)w;
	count_run();
}

static void nl_done(struct worker *w)
{
	nl_once(w);
	loop_single(w, nl_once);
}

static void pt_done(struct worker *w)
{
	pt_once(w);
	loop_single(w, pt_once);
}

static void twice_done(struct worker *w)
{
	twice(w);
	loop_single(w, twice);
}

#ifdef HAVE_NSYNC
INLINED void ns_once(struct worker *w)
{
	nsync_run_once_arg(w->object, count_run_arg, NULL);
}

static void ns_done(struct worker *w)
{
	ns_once(w);
	loop_single(w, ns_once);
}
#endif

LIMIT_SINGLE(call_done, limit_load_pointer)
LIMIT_SINGLE(in_done, limit_load)

/* ---------------------------------------------------------------- the tables */

static const struct subject subjects[] = {
	SUBJECT("nlock", "nlock_once", SUBJECT_MUST, runs_begin, has_run_once, { nl_done }),
	SUBJECT("pthread", "pthread_once: the reference", SUBJECT_PEER | SUBJECT_ALWAYS, pthread_begin, has_run_once,
		{ pt_done }),
	SUBJECT("pthread-2", "the reference once more: what differs is noise", SUBJECT_ALWAYS, pthread_begin,
		has_run_once, { pt_done }),
#ifdef HAVE_NSYNC
	SUBJECT("nsync", "nsync_run_once_arg", SUBJECT_PEER, runs_begin, has_run_once, { ns_done }),
#endif
	SUBJECT("limit-call", "a load, called", 0, nothing_begin, nothing_end, { call_done }),
	SUBJECT("limit-inline", "a load, inline", 0, nothing_begin, nothing_end, { in_done }),
	SUBJECT("self-test-twice", "runs the initialiser again", SUBJECT_FAULTY, runs_begin, has_run_once,
		{ twice_done }),
	LAST_SUBJECT,
};

static const struct cell cells[] = {
	{ .name = "done", .threads = 1, .body = BODY_PAIR, .must = 1.7, .op = "call" },
};

static const struct cell self_test = { .name = "self-test", .threads = 1, .body = BODY_PAIR };

static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	(void)c;
	(void)cpus;
	add_shown(l, "nlock", "limit-call", MEASURE_RATE);
}

const struct noun noun_once = {
	.name = "once",
	.subjects = subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.self_test = &self_test,
};
