/* SPDX-License-Identifier: MIT
 *
 * processes.c - one lock between processes: a counter in memory that a parent shares with its children
 *
 * A shared lock must be ready before anybody else can see it. Here that is easy: map, initialise, and only then fork. How
 * processes that merely know the name of a file can do it is shown in nlock_mutex(3). Zeroed memory would be a lock too, but a
 * private one: its sleepers are not found from another process. Hence NLOCK_SHARED.
 */
#include <nlock.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4, TURNS = 50000 };

struct shared {
	nlock_mutex_t lock;
	long counter;
	long done_at[CHILDREN]; /* the counter after the last turn of each child */
};

static void count(struct shared *s, int child)
{
	for (int i = 0; i < TURNS; i++) {
		nlock_mutex_lock(&s->lock);
		long seen = s->counter;
		if (i % 1000 == 0)
			sched_yield(); /* the worst moment for the others to run */
		s->counter = s->done_at[child] = seen + 1;
		nlock_mutex_unlock(&s->lock);
	}
}

int main(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int failed = 0, status;
	pid_t pid;

	if (s == MAP_FAILED || nlock_mutex_init(&s->lock, NLOCK_SHARED | NLOCK_BOUNDED_N(100)))
		return 1;
	nlock_mutex_lock(&s->lock); /* nobody starts before all are there */
	for (int i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (pid == 0) {
			count(s, i);
			_exit(0);
		}
		failed |= pid < 0;
	}
	nlock_mutex_unlock(&s->lock);
	while (wait(&status) > 0)
		failed |= status != 0;
	for (int i = 0; i < CHILDREN; i++)
		printf("process %d was done when the counter stood at %ld\n", i, s->done_at[i]);
	printf("%d processes, %d turns each: %ld of %ld\n", CHILDREN, TURNS, s->counter, (long)CHILDREN * TURNS);
	return failed || s->counter != (long)CHILDREN * TURNS;
}
