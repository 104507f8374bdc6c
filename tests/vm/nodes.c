/* SPDX-License-Identifier: MIT
 *
 * nodes.c - see nodes.h
 */
#include "nodes.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool nodes_run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

bool nodes_stay_on(const struct nodes *found, int i)
{
	return !sched_setaffinity(0, sizeof(found->all[i]), &found->all[i]);
}

static void add(struct nodes *found, int node, int cpu)
{
	int at = found->n;

	for (int i = 0; i < found->n; i++) {
		if (found->node[i] == node) {
			CPU_SET(cpu, &found->all[i]);
			return;
		}
	}
	if (at == NODES_MAX)
		return;
	for (; at > 0 && found->node[at - 1] > node; at--) {
		found->node[at] = found->node[at - 1];
		found->cpu[at] = found->cpu[at - 1];
		found->all[at] = found->all[at - 1];
	}
	found->node[at] = node;
	found->cpu[at] = cpu;
	CPU_ZERO(&found->all[at]);
	CPU_SET(cpu, &found->all[at]);
	found->n++;
}

/* By going there: what the library asks is getcpu, too. The raw call: not every C library has the function. */
void nodes_find(struct nodes *found)
{
	unsigned int cpu, node;
	cpu_set_t before;

	found->n = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &before) && nodes_run_on(i) && !syscall(SYS_getcpu, &cpu, &node, NULL))
			add(found, (int)node, (int)cpu);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

/* The file is a list of ranges, "0-1,4": its last number counts. A kernel without NUMA has no file, and node 0. */
int nodes_possible(void)
{
	FILE *f = fopen("/sys/devices/system/node/possible", "r");
	int last = 0, number;
	char apart;

	while (f && fscanf(f, "%d", &number) == 1) {
		last = number;
		if (fscanf(f, "%c", &apart) != 1)
			break;
	}
	if (f)
		fclose(f);
	return last + 1;
}

/* The file of a node has one number for each node that is online, in their order. */
int nodes_distance(int from, int to)
{
	int distance = -1;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance", from);
	f = fopen(path, "r");
	for (int node = 0; f && node <= to; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance", node);
		distance = -1;
		if (!access(path, F_OK) && fscanf(f, "%d", &distance) != 1)
			break;
	}
	if (f)
		fclose(f);
	return distance;
}

/* How often the thread gave its CPU away because it had to wait; -1: it does not wait now, or is gone. One that has been woken and is
 * on its way to a CPU does not. */
static long switches(pid_t tid)
{
	static const char count[] = "voluntary_ctxt_switches:", state[] = "State:\t";
	char path[64], line[256];
	bool waits = false;
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	f = fopen(path, "r");
	while (f && n < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, state, sizeof(state) - 1))
			waits = line[sizeof(state) - 1] == 'S';
		if (!strncmp(line, count, sizeof(count) - 1))
			n = atol(line + sizeof(count) - 1);
	}
	if (f)
		fclose(f);
	return waits ? n : -1;
}

static uint32_t done(struct sleeper *s)
{
	return __atomic_load_n(&s->done, __ATOMIC_ACQUIRE);
}

void nodes_done(struct sleeper *s)
{
	__atomic_store_n(&s->done, done(s) | 1, __ATOMIC_RELEASE);
}

void nodes_not_done(struct sleeper *s)
{
	__atomic_store_n(&s->done, (done(s) + 1) & ~1u, __ATOMIC_RELEASE);
}

bool nodes_all_done(struct sleeper *s, int n)
{
	for (int i = 0; i < n; i++) {
		if (!(done(&s[i]) & 1))
			return false;
	}
	return true;
}

bool nodes_left_asleep(struct sleeper *s, int n, const volatile void *word)
{
	long before[SLEEPERS_MAX];
	uint32_t was[SLEEPERS_MAX];
	int asleep = 0;

	for (int i = 0; i < n; i++) {
		was[i] = done(&s[i]);
		if (was[i] & 1)
			continue;
		before[i] = switches(s[i].tid);
		if (before[i] < 0 || !harness_is_asleep(getpid(), s[i].tid, word))
			return false;
		asleep++;
	}
	for (int i = 0; i < n; i++) {
		bool slept_on =
			was[i] & 1 || (harness_is_asleep(getpid(), s[i].tid, word) && switches(s[i].tid) == before[i]);

		if (!slept_on || done(&s[i]) != was[i])
			return false;
	}
	return asleep > 0;
}
