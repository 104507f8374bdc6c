/* SPDX-License-Identifier: MIT
 *
 * fairness.c - who gets the lock? Three threads, five ways of handing it over, and a history that each owner signs
 */
#include <nlock.h>
#include <pthread.h>
#include <stdio.h>

enum { TURNS = 8000, WORK = 8000, NEVER = 2 * TURNS };

static nlock_mutex_t lock;
static char history[TURNS + 3]; /* each thread may sign once too often before it sees that it is over */
static volatile int taken, fair_every, wrong;

static void *contend(void *name)
{
	for (int n = 0; n < TURNS;) {
		nlock_mutex_lock(&lock);
		n = taken;
		history[n] = *(char *)name;
		for (volatile int i = 0; i < WORK; i++)
			;
		wrong |= taken != n; /* somebody else was in here */
		taken = n + 1;
		(taken % fair_every ? nlock_mutex_unlock : nlock_mutex_unlock_fair)(&lock);
	}
	return NULL;
}

static int run(const char *policy, nlock_attr_t attr, int every)
{
	int changes = 0, length = 1, longest = 1;
	pthread_t b, c;

	taken = 0;
	fair_every = every;
	if (nlock_mutex_init(&lock, attr) || pthread_create(&b, NULL, contend, "b") ||
	    pthread_create(&c, NULL, contend, "c"))
		return 1;
	contend("a");
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	for (int i = 1; i < TURNS; i++) {
		length = history[i] == history[i - 1] ? length + 1 : 1;
		longest = length > longest ? length : longest;
		changes += length == 1;
	}
	printf("%-28s %7.2f %% %12d  %.30s\n", policy, 100.0 * changes / TURNS, longest, history + TURNS / 2);
	return wrong;
}

int main(void)
{
	puts("An owner that opens the lock mostly takes it again; one that grants it cannot, if another is in line.\n"
	     "(On a busy machine the others lose their CPU before they are in line: then runs grow long under FIFO too.)\n"
	     "hand-off                 owner changes  longest run  thirty turns");
	return run("NLOCK_BOUNDED", NLOCK_BOUNDED, NEVER) || run("NLOCK_BOUNDED_N(7)", NLOCK_BOUNDED_N(7), NEVER) ||
	       run("NLOCK_FIFO", NLOCK_FIFO, NEVER) || run("NLOCK_BARGING", NLOCK_BARGING, NEVER) ||
	       run("barging, 1 in 100 fair", NLOCK_BARGING, 100);
}
