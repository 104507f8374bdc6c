/* SPDX-License-Identifier: MIT
 *
 * counter.c - the smallest program: one mutex, one counter, four threads
 *
 * Adding one is a load and a store. Without the mutex two threads load the same number, and one of the additions is lost: take
 * the two calls out of add() and see.
 */
#include <nlock.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { THREADS = 4, TURNS = 100000 };

static nlock_mutex_t lock; /* all bytes zero: unlocked, with the default attributes */
static long counter;

static void *add(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		nlock_mutex_lock(&lock);
		long seen = counter;
		if (i % 1000 == 0)
			sched_yield(); /* the worst moment for the others to run */
		counter = seen + 1;
		nlock_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	const long wanted = (long)THREADS * TURNS;
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, add, NULL)) {
			fputs("counter: cannot start a thread\n", stderr);
			return 1;
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%d threads, %d turns each: %ld of %ld\n", THREADS, TURNS, counter, wanted);
	return counter != wanted;
}
