/* SPDX-License-Identifier: MIT
 *
 * place.c - see place.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "place.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"

#define CPUS_MAX 8192u

const char *const place_names[] = { "none", "rr", "compact", "spread", "node", NULL };

/* One usable CPU. `core` counts cores within the package, `thread` the CPUs within the core, each from 0. */
struct cpu {
	unsigned number, package, core, thread, node;
};

static struct {
	unsigned count, nodes, node_number[CPUS_MAX];
	struct cpu by_number[CPUS_MAX], compact[CPUS_MAX], spread[CPUS_MAX];
} machine;

static unsigned read_number(const char *pattern, unsigned cpu)
{
	char path[96];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof path, pattern, cpu);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* Node numbers are few; a machine without the directory has one node. */
static unsigned node_of(unsigned cpu)
{
	for (unsigned node = 0; node < 1024; node++) {
		char path[96];
		FILE *f;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/node%u/cpulist", cpu, node);
		f = fopen(path, "re");
		if (f) {
			fclose(f);
			return node;
		}
	}
	return 0;
}

static int by_package(const void *a, const void *b)
{
	const struct cpu *x = a, *y = b;

	if (x->package != y->package)
		return x->package < y->package ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_thread(const void *a, const void *b)
{
	const struct cpu *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return x->package != y->package ? (x->package < y->package ? -1 : 1) : by_package(a, b);
}

/* The kernel's core numbers have gaps; what matters is the order. */
static void number_cores(struct cpu *cpus, unsigned n)
{
	unsigned core = 0, thread = 0;

	for (unsigned i = 0, raw = 0; i < n; i++) {
		bool same_package = i && cpus[i].package == cpus[i - 1].package;
		bool same_core = same_package && cpus[i].core == raw;

		raw = cpus[i].core;
		thread = same_core ? thread + 1 : 0;
		core = same_core ? core : same_package ? core + 1 : 0;
		cpus[i].core = core;
		cpus[i].thread = thread;
	}
}

static void read_cpu(unsigned number)
{
	struct cpu *c = &machine.by_number[machine.count++];

	c->number = number;
	c->package = read_number("/sys/devices/system/cpu/cpu%u/topology/physical_package_id", number);
	c->core = read_number("/sys/devices/system/cpu/cpu%u/topology/core_id", number);
	c->node = node_of(number);
}

/* Nodes are numbered anew from 0, among those with usable CPUs. */
static void number_nodes(void)
{
	for (unsigned i = 0; i < machine.count; i++) {
		unsigned n = 0;

		while (n < machine.nodes && machine.node_number[n] != machine.by_number[i].node)
			n++;
		if (n == machine.nodes)
			machine.node_number[machine.nodes++] = machine.by_number[i].node;
		machine.by_number[i].node = n;
	}
}

static void read_machine(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	if (set && sched_getaffinity(0, size, set) == 0)
		for (unsigned c = 0; c < CPUS_MAX; c++)
			if (CPU_ISSET_S(c, size, set))
				read_cpu(c);
	if (set)
		CPU_FREE(set);
	if (!machine.count)
		machine.count = 1;
	number_nodes();
	for (unsigned i = 0; i < machine.count; i++)
		machine.compact[i] = machine.by_number[i];
	qsort(machine.compact, machine.count, sizeof machine.compact[0], by_package);
	number_cores(machine.compact, machine.count);
	for (unsigned i = 0; i < machine.count; i++)
		machine.spread[i] = machine.compact[i];
	qsort(machine.spread, machine.count, sizeof machine.spread[0], by_thread);
}

static pthread_once_t machine_once = PTHREAD_ONCE_INIT;

unsigned place_cpus(void)
{
	pthread_once(&machine_once, read_machine);
	return machine.count;
}

unsigned place_nodes(void)
{
	return place_cpus() ? machine.nodes : 1;
}

unsigned place_node(unsigned i)
{
	return machine.node_number[i % place_nodes()];
}

static bool is_place_of(const struct cpu *c, enum place place, unsigned task)
{
	const struct cpu *order = machine.by_number;

	if (place == PLACE_NODE)
		return c->node == task % machine.nodes;
	if (place == PLACE_BEYOND)
		return task >= machine.count || c->number >= order[task].number;
	if (place == PLACE_COMPACT)
		order = machine.compact;
	if (place == PLACE_SPREAD)
		order = machine.spread;
	return c->number == order[task % machine.count].number;
}

int place_task(enum place place, unsigned task)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set;
	int err;

	if (place == PLACE_NONE)
		return 0;
	place_cpus();
	set = CPU_ALLOC(CPUS_MAX);
	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	for (unsigned i = 0; i < machine.count; i++)
		if (is_place_of(&machine.by_number[i], place, task))
			CPU_SET_S(machine.by_number[i].number, size, set);
	err = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
	CPU_FREE(set);
	return err;
}

/* ------------------------------------------------------------------ effective CPUs */

#define SPIN_NS 200000000

struct spinner {
	pthread_t thread;
	unsigned number;
	double cpu_seconds;
};

static void *spin(void *arg)
{
	struct spinner *s = arg;
	int64_t end = now_ns() + SPIN_NS;
	struct timespec ts;

	place_task(PLACE_RR, s->number);
	while (now_ns() < end)
		busy_loop(1000);
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) == 0)
		s->cpu_seconds = (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
	return NULL;
}

double place_effective_cpus(void)
{
	unsigned n = place_cpus(), started = 0;
	struct spinner *s = calloc(n, sizeof *s);
	int64_t start = now_ns();
	double sum = 0, wall;

	for (; s && started < n; started++) {
		s[started].number = started;
		if (pthread_create(&s[started].thread, NULL, spin, &s[started]) != 0)
			break;
	}
	for (unsigned i = 0; i < started; i++) {
		pthread_join(s[i].thread, NULL);
		sum += s[i].cpu_seconds;
	}
	free(s);
	wall = (double)(now_ns() - start) / 1e9;
	return wall > 0 ? sum / wall : 0;
}

bool place_is_busy(double effective_cpus)
{
	return effective_cpus < 0.8 * place_cpus();
}
