/* SPDX-License-Identifier: MIT
 *
 * tasks.c - see tasks.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "cpu.h"
#include "watchdog.h"

static void *thread_main(void *arg)
{
	struct task *t = arg;

	t->body(t->of);
	return NULL;
}

static int start_process(struct task *t)
{
	int parent = getpid();
	pid_t child = fork();

	if (child < 0)
		return errno;
	if (child > 0) {
		t->process = child; /* by the parent alone: the memory may be shared, and to the child this is 0 */
		return 0;
	}
	watchdog_child(parent);
	t->body(t->of);
	_exit(0);
}

static int start_thread(struct task *t)
{
	pthread_attr_t a;
	int err = pthread_attr_init(&a);

	if (err)
		return err;
	/* Small stacks, for runs with a thousand tasks. If that is refused the default does. */
	pthread_attr_setstacksize(&a, 256 * 1024);
	err = pthread_create(&t->thread, &a, thread_main, t);
	pthread_attr_destroy(&a);
	return err;
}

/* The tasks that have started already wait for the rest at the barrier, and would for ever: so this is the end. */
void tasks_start(struct task *tasks, unsigned n, bool processes)
{
	for (unsigned i = 0; i < n; i++) {
		int err = processes ? start_process(&tasks[i]) : start_thread(&tasks[i]);

		if (!err)
			continue;
		fprintf(stderr, "%s: cannot start task %u: %s\n", program_name, i, strerror(err));
		watchdog_give_up();
	}
}

int tasks_join(struct task *tasks, unsigned n, bool processes)
{
	int err = 0;

	for (unsigned i = 0; i < n; i++) {
		int status = 0;

		if (!processes)
			pthread_join(tasks[i].thread, NULL);
		else if (waitpid(tasks[i].process, &status, 0) < 0 || status)
			err = EIO;
	}
	return err;
}

/* ------------------------------------------------------------------ start and end */

int gate_init(struct gate *g, unsigned tasks, bool shared)
{
	pthread_barrierattr_t a;
	int err = pthread_barrierattr_init(&a);

	if (err)
		return err;
	if (shared)
		err = pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (!err)
		err = pthread_barrier_init(&g->start, &a, tasks + 1);
	pthread_barrierattr_destroy(&a);
	atomic_init(&g->stop, false);
	return err;
}

void gate_fini(struct gate *g)
{
	pthread_barrier_destroy(&g->start);
}

void gate_pass(struct gate *g)
{
	pthread_barrier_wait(&g->start);
}

int64_t gate_go(struct gate *g)
{
	pthread_barrier_wait(&g->start);
	return now_ns();
}

double gate_stop(struct gate *g, int64_t since)
{
	atomic_store_explicit(&g->stop, true, memory_order_relaxed);
	return (double)(now_ns() - since) / 1e9;
}

double gate_run(struct gate *g, double seconds)
{
	int64_t start = gate_go(g);

	sleep_until(start + (int64_t)(seconds * 1e9));
	return gate_stop(g, start);
}

void sleep_until(int64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}
