/* SPDX-License-Identifier: MIT
 *
 * tasks.c - starts the tasks of a run as threads or as processes, and waits for them
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "region.h"
#include "watchdog.h"

void tasks_stats_since(nlock_stats_t *now, const nlock_stats_t *before)
{
	now->grants -= before->grants;
	now->barges -= before->barges;
	now->sleeps -= before->sleeps;
	now->wakes -= before->wakes;
}

static void *thread_main(void *arg)
{
	struct worker *w = arg;

	w->region->body(w);
	return NULL;
}

/* Each process counts for itself. */
static void process_main(struct worker *w)
{
	nlock_stats_t before;
	bool counts = nlock_stats(&before) == 0;

	w->region->body(w);
	if (counts && nlock_stats(&w->stats) == 0)
		tasks_stats_since(&w->stats, &before);
}

static int start_process(struct worker *w)
{
	int parent = getpid();
	pid_t child = fork();

	if (child < 0)
		return errno;
	if (child > 0) {
		w->process = child; /* by the parent alone: the memory is shared, and to the child this is 0 */
		return 0;
	}
	watchdog_child(parent);
	process_main(w);
	_exit(0);
}

static int start_thread(struct worker *w)
{
	pthread_attr_t a;
	int err = pthread_attr_init(&a);

	if (err)
		return err;
	/* Small stacks, for runs with a thousand tasks. If that is refused the default does. */
	pthread_attr_setstacksize(&a, 256 * 1024);
	err = pthread_create(&w->thread, &a, thread_main, w);
	pthread_attr_destroy(&a);
	return err;
}

/* The tasks that have started already wait for the rest at the barrier, and would for ever: so this is the end. */
void tasks_start(struct region *rg, void (*body)(struct worker *))
{
	rg->body = body;
	for (unsigned i = 0; i < rg->config->tasks; i++) {
		int err = rg->config->processes ? start_process(&rg->workers[i]) : start_thread(&rg->workers[i]);

		if (!err)
			continue;
		fprintf(stderr, "ulockflex: cannot start task %u: %s\n", i, strerror(err));
		locks_cleanup();
		_exit(1);
	}
}

int tasks_join(struct region *rg)
{
	int err = 0;

	for (unsigned i = 0; i < rg->config->tasks; i++) {
		int status = 0;

		if (!rg->config->processes)
			pthread_join(rg->workers[i].thread, NULL);
		else if (waitpid(rg->workers[i].process, &status, 0) < 0 || status)
			err = EIO;
	}
	return err;
}
