/* SPDX-License-Identifier: MIT
 *
 * queue.c - a bounded queue: producers wait while it is full, consumers while it is empty
 *
 * Two condition variables, so that a signal meets only those who can use it. Each waits in a loop that looks at what it waits
 * for: "if" in place of "while" lets a second consumer take what is not there. The sum tells whether a number was lost or came twice.
 */
#include <nlock.h>
#include <pthread.h>
#include <stdio.h>

enum { ROOM = 8, SIDES = 3, EACH = 20000 };

static nlock_mutex_t lock = NLOCK_MUTEX_INIT; /* guards all below */
static nlock_cond_t not_full = NLOCK_COND_INIT, not_empty = NLOCK_COND_INIT;
static unsigned int put_at, got_at; /* how many, ever */
static long ring[ROOM], sum;

static void *produce(void *arg)
{
	for (int i = 1; i <= EACH; i++) {
		nlock_mutex_lock(&lock);
		while (put_at - got_at == ROOM)
			nlock_cond_wait(&not_full, &lock);
		ring[put_at++ % ROOM] = i;
		nlock_mutex_unlock(&lock);
		nlock_cond_signal(&not_empty);
	}
	return arg;
}

static void *consume(void *arg)
{
	for (int i = 1; i <= EACH; i++) {
		nlock_mutex_lock(&lock);
		while (put_at == got_at)
			nlock_cond_wait(&not_empty, &lock);
		sum += ring[got_at++ % ROOM];
		nlock_mutex_unlock(&lock);
		nlock_cond_signal(&not_full);
	}
	return arg;
}

int main(void)
{
	const long wanted = (long)SIDES * EACH * (EACH + 1) / 2;
	pthread_t thread[2 * SIDES];

	for (int i = 0; i < 2 * SIDES; i++) {
		if (pthread_create(&thread[i], NULL, i % 2 ? produce : consume, NULL))
			return 1;
	}
	for (int i = 0; i < 2 * SIDES; i++)
		pthread_join(thread[i], NULL);
	printf("%d producers, %d consumers: sum %ld of %ld\n", SIDES, SIDES, sum, wanted);
	return sum != wanted;
}
