/* SPDX-License-Identifier: MIT
 *
 * hash_run.c - the measuring loop of futex_hash
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "futex_hash.h"

#include <errno.h>
#include <stdlib.h>

#include "metrics.h"
#include "place.h"
#include "sysfutex.h"
#include "tasks.h"
#include "watchdog.h"

#define NEVER 1234u /* what no futex here ever holds */

struct asker {
	_Alignas(128) struct gate *gate;
	_Atomic uint32_t *futexes;
	unsigned number, count;
	bool shared;
	uint64_t done;
	int error;
};

/* Looks at the gate once a round, so that what is measured is the call. */
static void ask(void *of)
{
	struct asker *a = of;

	a->error = place_task(PLACE_RR, a->number);
	gate_pass(a->gate);
	while (!a->error && gate_is_open(a->gate)) {
		for (unsigned i = 0; i < a->count; i++) {
			long rc = sys_futex_wait(&a->futexes[i], NEVER, a->shared);

			if (rc != -EAGAIN && rc != -EINTR)
				a->error = rc < 0 ? (int)-rc : EIO;
		}
		a->done += a->count;
	}
}

/* Each thread's futexes are a piece of memory of their own, as in the original. */
static int make_askers(const struct hash_options *o, struct asker *askers, struct task *tasks, struct gate *gate)
{
	for (unsigned i = 0; i < o->threads; i++) {
		askers[i] = (struct asker){ .gate = gate, .number = i, .count = o->futexes, .shared = o->shared };
		askers[i].futexes = calloc(o->futexes, sizeof *askers[i].futexes);
		if (!askers[i].futexes)
			return ENOMEM;
		tasks[i] = (struct task){ .body = ask, .of = &askers[i] };
	}
	return 0;
}

static int run_askers(const struct hash_options *o, struct asker *askers, struct task *tasks, struct gate *gate,
		      double *rates)
{
	int err = gate_init(gate, o->threads, false);
	double took;

	if (err)
		return err;
	watchdog_arm(10 * o->seconds + 30, "a run");
	tasks_start(tasks, o->threads, false);
	took = gate_run(gate, o->seconds);
	tasks_join(tasks, o->threads, false);
	watchdog_disarm();
	gate_fini(gate);
	for (unsigned i = 0; i < o->threads; i++) {
		rates[i] = ratio((double)askers[i].done, took);
		err = askers[i].error ? askers[i].error : err;
	}
	return err;
}

int hash_run(const struct hash_options *o, double *rates, struct hash_range *where)
{
	struct asker *askers = aligned_alloc(128, o->threads * sizeof *askers);
	struct task *tasks = calloc(o->threads, sizeof *tasks);
	struct gate gate;
	int err = ENOMEM;

	for (unsigned i = 0; askers && i < o->threads; i++)
		askers[i].futexes = NULL;
	if (askers && tasks)
		err = make_askers(o, askers, tasks, &gate);
	if (!err)
		err = run_askers(o, askers, tasks, &gate, rates);
	for (unsigned i = 0; where && !err && i < o->threads; i++)
		where[i] = (struct hash_range){ askers[i].futexes, askers[i].futexes + o->futexes - 1 };
	for (unsigned i = 0; askers && i < o->threads; i++)
		free((void *)askers[i].futexes);
	free(tasks);
	free(askers);
	return err;
}
