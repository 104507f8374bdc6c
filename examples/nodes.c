/* SPDX-License-Identifier: MIT
 *
 * nodes.c - a lock on each NUMA node: its memory there, and its waiters in the kernel's table there
 *
 * It runs on one node too, where there is nothing to gain. Without futex2 with NUMA it says so.
 */
#include <errno.h>
#include <nlock.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 1024, THREADS = 2, TURNS = 10000 };

static nlock_mutex_t *lock[NODES]; /* NULL: no such node, or not for us */
static long counter[NODES];

static int place(int node)
{
	void *p;
	int rc = nlock_alloc_onnode(NLOCK_TYPE_MUTEX, node, &p);

	if (rc)
		return rc;
	lock[node] = p;
	return nlock_mutex_init(lock[node], NLOCK_PLACE_NODE(node));
}

static void *add(void *arg)
{
	int node = (int)((long *)arg - counter);

	for (int i = 0; i < TURNS; i++) {
		nlock_mutex_lock(lock[node]);
		counter[node]++;
		nlock_mutex_unlock(lock[node]);
	}
	return NULL;
}

int main(void)
{
	int bad = 0;
	for (int node = 0; node < NODES && !bad; node++) {
		pthread_t t[THREADS];
		int rc = place(node), n = 0;

		if (rc == EINVAL)
			continue;
		if (rc)
			return printf("node %d: %s\n", node, strerror(rc)) < 0 || rc != ENOTSUP;
		while (n < THREADS && !pthread_create(&t[n], NULL, add, &counter[node]))
			n++;
		for (int i = 0; i < n; i++)
			pthread_join(t[i], NULL);
		printf("node %d: %d threads, %ld turns\n", node, n, counter[node]);
		bad = !n || counter[node] != (long)n * TURNS || nlock_free_onnode(lock[node]);
	}
	return bad;
}
