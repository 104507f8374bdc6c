/* SPDX-License-Identifier: MIT
 *
 * two_first_waiters.c - two threads on two nodes become the first waiters of one lock at the same moment
 *
 *	two_first_waiters [--rounds N] [--shared]
 *		a mutex with NLOCK_PLACE_FIRST. Both must get it. A round in which one is left asleep is a failure
 *	two_first_waiters --kernel-chooses [--rounds N] [--shared]
 *		for comparison: plain words, the node left to the kernel (-1). It can store the node of either waiter after it has
 *		queued them on two, and a wake finds the one only. How often is printed; it is no failure of ours
 *
 * The lock is held, the two leave a gate together, and it is released when both are seen asleep. Lost is who then sleeps although
 * nobody is left to wake him: nodes.h says how that is seen. The last line is for vm.sh: "COUNT: N rounds, M lost". Exit status 77:
 * one node only, or no FUTEX2_NUMA.
 */
#include "harness.h"
#include "nodes.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/futex.h, whose older versions lack them. */
#define WAKE_CALL    454
#define WAIT_CALL    455
#define FLAG_U32     0x02
#define FLAG_NUMA    0x04
#define FLAG_PRIVATE 0x80
#define NO_NODE      UINT32_MAX

static nlock_mutex_t m;
static struct {
	uint32_t value, node;
} plain __attribute__((aligned(8)));
static bool kernel_chooses, is_shared;
static int rounds = 20000;

static struct sleeper waiter[2];
static struct nodes nodes;
static int at_gate, gate; /* atomic: who is there in this round; the round for which it is open */
static bool has_failed;   /* atomic: a call that has no reason to */

static const volatile void *word(void)
{
	return kernel_chooses ? (void *)&plain.value : (void *)&m.word;
}

static unsigned int flags(void)
{
	return FLAG_U32 | FLAG_NUMA | (is_shared ? 0 : FLAG_PRIVATE);
}

static long wake_on(uint32_t node)
{
	__atomic_store_n(&plain.node, node, __ATOMIC_RELAXED);
	return syscall(WAKE_CALL, &plain, UINT32_MAX, INT_MAX, flags());
}

/* ---------------------------------------------------------------- a waiter */

static void wait_once(void)
{
	if (!kernel_chooses) {
		if (nlock_mutex_lock(&m) || nlock_mutex_unlock(&m))
			__atomic_store_n(&has_failed, true, __ATOMIC_RELAXED);
		return;
	}
	while (__atomic_load_n(&plain.value, __ATOMIC_ACQUIRE))
		syscall(WAIT_CALL, &plain, 1, UINT32_MAX, flags(), NULL, 0);
}

/* Nobody sleeps at the gate: the two are to be in the kernel at once. */
static void *waits(void *arg)
{
	struct sleeper *self = arg;

	if (!nodes_run_on(nodes.cpu[self == waiter ? 0 : nodes.n - 1]))
		__atomic_store_n(&has_failed, true, __ATOMIC_RELAXED);
	__atomic_store_n(&self->tid, harness_tid(), __ATOMIC_RELAXED);
	for (int round = 1; round <= rounds; round++) {
		__atomic_fetch_add(&at_gate, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) < round)
			;
		wait_once();
		nodes_done(self);
	}
	return NULL;
}

/* ---------------------------------------------------------------- the owner */

static bool take(void)
{
	plain.value = 1;
	plain.node = NO_NODE;
	return kernel_chooses || !nlock_mutex_lock(&m);
}

static bool give(void)
{
	if (!kernel_chooses)
		return !nlock_mutex_unlock(&m);
	__atomic_store_n(&plain.value, 0, __ATOMIC_RELEASE);
	syscall(WAKE_CALL, &plain, UINT32_MAX, INT_MAX, flags());
	return true;
}

/* After the count, so that the round has an end: the kernel is asked about each node. */
static void rescue(void)
{
	for (int i = 0; i < nodes.n; i++)
		wake_on((uint32_t)nodes.node[i]);
}

/* Returns whether somebody was lost; -1: something failed, or the lock lost somebody and nobody can be brought back. */
static int one_round(int round)
{
	int lost = 0;

	while (__atomic_load_n(&at_gate, __ATOMIC_ACQUIRE) < 2 * round)
		sched_yield();
	nodes_not_done(&waiter[0]);
	nodes_not_done(&waiter[1]);
	if (!take())
		return -1;
	__atomic_store_n(&gate, round, __ATOMIC_RELEASE);
	if (!harness_sees_asleep(getpid(), waiter[0].tid, word()) ||
	    !harness_sees_asleep(getpid(), waiter[1].tid, word()))
		return -1;
	if (!give())
		return -1;
	while (!nodes_all_done(waiter, 2)) {
		if (!nodes_left_asleep(waiter, 2, word()))
			continue;
		lost = 1;
		if (!kernel_chooses)
			return -1;
		rescue();
	}
	return lost;
}

static int play(void)
{
	pthread_t thread[2];
	int lost = 0, rc = 0;

	for (int i = 0; i < 2; i++) {
		if (pthread_create(&thread[i], NULL, waits, &waiter[i]))
			return 1;
	}
	for (int round = 1; round <= rounds && rc >= 0; round++) {
		rc = one_round(round);
		lost += rc > 0;
		if (rc < 0)
			printf("FAIL: round %d: somebody was lost, or a call failed; word 0x%x, node %u\n", round,
			       m.word, m.node);
	}
	if (rc < 0)
		return 1; /* with a thread asleep */
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("COUNT: nodes %d and %d, %s: %d rounds, %d lost\n", nodes.node[0], nodes.node[nodes.n - 1],
	       kernel_chooses ? "the kernel chooses" : "NLOCK_PLACE_FIRST", rounds, lost);
	return __atomic_load_n(&has_failed, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- options */

static void usage(void)
{
	fprintf(stderr, "two_first_waiters: usage: two_first_waiters [--kernel-chooses] [--shared] [--rounds N]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--kernel-chooses"))
			kernel_chooses = true;
		else if (!strcmp(argv[i], "--shared"))
			is_shared = true;
		else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
			rounds = atoi(argv[++i]);
		else
			usage();
	}
	if (rounds < 1)
		usage();
	nodes_find(&nodes);
	if (nodes.n < 2 || nlock_mutex_init(&m, NLOCK_PLACE_FIRST | (is_shared ? NLOCK_SHARED : 0))) {
		printf("SKIP: %s\n", nodes.n < 2 ? "one NUMA node only" : "no FUTEX2_NUMA");
		return EXIT_CANNOT;
	}
	return play();
}
