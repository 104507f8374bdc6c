/* SPDX-License-Identifier: MIT
 *
 * wake_run.c - the threads of wakelat
 *
 * A worker without work puts itself on the list of its message thread, posts to that thread if the list was empty, and sleeps. The
 * message thread takes the whole list at once and posts to everybody on it. At the end the main thread closes the gate and
 * posts to all: whoever sleeps then wakes and sees it, and whoever is about to sleep finds the post.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "place.h"
#include "tasks.h"
#include "wakelat.h"
#include "watchdog.h"

struct worker;

struct message {
	_Alignas(128) struct bed *bed;
	struct point point;
	_Alignas(128) struct worker *_Atomic list;
	unsigned number;
	int error;
};

struct worker {
	_Alignas(128) struct bed *bed;
	struct message *message;
	struct worker *next;
	struct point point;
	int64_t posted; /* when its message thread posted */
	_Atomic uint64_t done;
	uint64_t *matrices; /* three of them, side x side */
	struct wait_hist wakeups, requests;
	int error;
};

struct bed {
	const struct wake_options *options;
	struct gate gate;
	atomic_bool counts; /* the warm-up is over */
	unsigned side;
	struct message *messages;
	struct worker *workers;
	struct task *tasks;
	unsigned worker_count, task_count, cpu_locks;
	pthread_mutex_t *cpu_lock; /* one for each CPU */
};

/* ------------------------------------------------------------------ what they do */

static void message_body(void *of)
{
	struct message *m = of;
	struct gate *gate = &m->bed->gate;

	m->error = place_task(m->bed->options->pin ? PLACE_RR : PLACE_NONE, m->number);
	gate_pass(gate);
	for (;;) {
		struct worker *w = atomic_exchange_explicit(&m->list, NULL, memory_order_acquire), *next;

		if (!w && !gate_is_open(gate))
			return;
		if (!w)
			point_wait(&m->point);
		for (; w; w = next) {
			next = w->next; /* once it has been posted to, it may be on the list again */
			w->posted = now_ns();
			point_post(&w->point);
		}
	}
}

/* False if it was not its message thread that posted, but the end. */
static bool ask_and_sleep(struct worker *w)
{
	struct message *m = w->message;
	struct worker *head = atomic_load_explicit(&m->list, memory_order_relaxed);
	int64_t now;

	w->posted = 0;
	do {
		w->next = head;
	} while (
		!atomic_compare_exchange_weak_explicit(&m->list, &head, w, memory_order_release, memory_order_relaxed));
	if (!head)
		point_post(&m->point);
	point_wait(&w->point);
	if (!gate_is_open(&w->bed->gate))
		return false;
	now = now_ns();
	if (atomic_load_explicit(&w->bed->counts, memory_order_relaxed))
		wait_add(&w->wakeups, (uint64_t)(now - w->posted));
	return true;
}

/* The plainest way to multiply two matrices. */
static void multiply(const struct worker *w)
{
	size_t n = w->bed->side;
	uint64_t *a = w->matrices, *b = a + n * n, *c = b + n * n;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

/* Holds the lock of the CPU that it runs on, so that whoever comes to that CPU next has to wait if it is preempted or moved. */
static void work(struct worker *w)
{
	struct bed *b = w->bed;
	pthread_mutex_t *lock = NULL;

	if (!b->options->operations)
		return;
	if (!b->options->no_cpu_locks) {
		int cpu = sched_getcpu();

		lock = &b->cpu_lock[(unsigned)(cpu < 0 ? 0 : cpu) % b->cpu_locks];
		pthread_mutex_lock(lock);
	}
	for (unsigned i = 0; i < b->options->operations; i++)
		multiply(w);
	if (lock)
		pthread_mutex_unlock(lock);
}

static void worker_body(void *of)
{
	struct worker *w = of;
	const struct wake_options *o = w->bed->options;

	w->error = o->pin ? place_task(PLACE_BEYOND, o->messages) : 0;
	gate_pass(&w->bed->gate);
	while (gate_is_open(&w->bed->gate) && ask_and_sleep(w)) {
		int64_t start = now_ns();

		if (o->sleep_ns)
			sleep_until(start + o->sleep_ns);
		work(w);
		if (atomic_load_explicit(&w->bed->counts, memory_order_relaxed))
			wait_add(&w->requests, (uint64_t)(now_ns() - start));
		atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
	}
}

/* ------------------------------------------------------------------ making them */

static int make_messages(struct bed *b, unsigned *made)
{
	int err = 0;

	for (unsigned i = 0; !err && i < b->options->messages; i++) {
		struct message *m = &b->messages[i];

		m->bed = b;
		m->number = i;
		err = point_init(&m->point, b->options->kind);
		b->tasks[(*made)++] = (struct task){ .body = message_body, .of = m };
	}
	return err;
}

static int make_workers(struct bed *b, unsigned *made)
{
	size_t words = 3 * (size_t)b->side * b->side;
	int err = 0;

	for (unsigned i = 0; !err && i < b->worker_count; i++) {
		struct worker *w = &b->workers[i];

		w->bed = b;
		w->message = &b->messages[i % b->options->messages];
		w->matrices = malloc((words ? words : 1) * sizeof *w->matrices);
		for (size_t k = 0; w->matrices && k < words; k++)
			w->matrices[k] = k;
		err = w->matrices ? point_init(&w->point, b->options->kind) : ENOMEM;
		b->tasks[(*made)++] = (struct task){ .body = worker_body, .of = w };
	}
	return err;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = aligned_alloc(128, (n * size + 127) / 128 * 128);

	return p ? memset(p, 0, n * size) : NULL;
}

static int make_bed(struct bed *b, const struct wake_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned made = 0;
	int err;

	b->options = o;
	b->worker_count = o->messages * o->workers;
	b->task_count = o->messages + b->worker_count;
	b->cpu_locks = cpus > 0 ? (unsigned)cpus : 1;
	b->side = o->operations ? (unsigned)sqrt((double)o->footprint / (3 * sizeof(uint64_t))) : 0;
	b->messages = zeroed(o->messages, sizeof *b->messages);
	b->workers = zeroed(b->worker_count, sizeof *b->workers);
	b->tasks = calloc(b->task_count, sizeof *b->tasks);
	b->cpu_lock = calloc(b->cpu_locks, sizeof *b->cpu_lock);
	if (!b->messages || !b->workers || !b->tasks || !b->cpu_lock)
		return ENOMEM;
	for (unsigned i = 0; i < b->cpu_locks; i++)
		pthread_mutex_init(&b->cpu_lock[i], NULL);
	err = make_messages(b, &made);
	return err ? err : make_workers(b, &made);
}

/* Of all that lies still: zero bytes are objects of nlock without anybody. */
static void free_bed(struct bed *b)
{
	for (unsigned i = 0; b->workers && i < b->worker_count; i++)
		free(b->workers[i].matrices);
	free(b->messages);
	free(b->workers);
	free(b->tasks);
	free(b->cpu_lock);
}

/* ------------------------------------------------------------------ the run */

static uint64_t sum_done(const struct bed *b)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < b->worker_count; i++)
		sum += atomic_load_explicit(&b->workers[i].done, memory_order_relaxed);
	return sum;
}

static void end_all(struct bed *b)
{
	for (unsigned i = 0; i < b->options->messages; i++)
		point_post(&b->messages[i].point);
	for (unsigned i = 0; i < b->worker_count; i++)
		point_post(&b->workers[i].point);
}

/* Ten samples to an interval, as long as there is room for them. */
static unsigned samples_of(const struct wake_options *o)
{
	double n = ceil(10 * o->seconds / o->interval);

	return n < 1 ? 1 : n > SAMPLES_MAX ? SAMPLES_MAX : (unsigned)n;
}

static void take_samples(struct bed *b, struct wake_results *r)
{
	const struct wake_options *o = b->options;
	int64_t start = now_ns(), last = start, told = start;
	uint64_t first = sum_done(b), before = first, told_at = first;

	r->rate_count = samples_of(o);
	for (unsigned i = 0; i < r->rate_count; i++) {
		uint64_t done;
		int64_t now;

		sleep_until(start + (int64_t)(o->seconds * 1e9 * (i + 1) / r->rate_count));
		now = now_ns();
		done = sum_done(b);
		r->rates[i] = ratio((double)(done - before) * 1e9, (double)(now - last));
		last = now;
		before = done;
		if ((double)(now - told) < o->interval * 1e9 && i + 1 < r->rate_count)
			continue;
		if (o->output == OUTPUT_TEXT)
			printf("current rps: %.2f\n", ratio((double)(done - told_at) * 1e9, (double)(now - told)));
		fflush(stdout);
		told = now;
		told_at = done;
	}
	r->average = ratio((double)(before - first) * 1e9, (double)(last - start));
}

static int collect(const struct bed *b, struct wake_results *r)
{
	int err = 0;

	for (unsigned i = 0; i < b->options->messages; i++)
		err = b->messages[i].error ? b->messages[i].error : err;
	for (unsigned i = 0; i < b->worker_count; i++) {
		wait_merge(&r->wakeups, &b->workers[i].wakeups);
		wait_merge(&r->requests, &b->workers[i].requests);
		err = b->workers[i].error ? b->workers[i].error : err;
	}
	return err;
}

static int run_bed(struct bed *b, struct wake_results *r)
{
	const struct wake_options *o = b->options;
	int err = gate_init(&b->gate, b->task_count, false);
	int64_t start;

	if (err)
		return err;
	watchdog_arm(10 * (o->seconds + o->warmup) + b->task_count * 0.1 + 30, "the run");
	tasks_start(b->tasks, b->task_count, false);
	start = gate_go(&b->gate);
	sleep_until(start + (int64_t)(o->warmup * 1e9));
	atomic_store_explicit(&b->counts, true, memory_order_relaxed);
	take_samples(b, r);
	gate_stop(&b->gate, start);
	end_all(b);
	tasks_join(b->tasks, b->task_count, false);
	watchdog_disarm();
	gate_fini(&b->gate);
	return collect(b, r);
}

int wake_run(const struct wake_options *o, struct wake_results *results)
{
	static struct bed bed;
	int err = make_bed(&bed, o);

	memset(results, 0, sizeof *results);
	if (!err)
		err = run_bed(&bed, results);
	free_bed(&bed);
	return err;
}
