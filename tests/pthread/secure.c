/* SPDX-License-Identifier: MIT
 *
 * secure.c - does the environment reach the library? Says whether the start was a secure one, and how a waiting thread waits
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <nlock-pthread.h>

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pid_t waiter;

static void *waits(void *arg)
{
	__atomic_store_n(&waiter, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return arg;
}

/* The number of the call that the thread is blocked in, or -1. */
static long call_of_waiter(void)
{
	char path[64], text[128] = "";
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)__atomic_load_n(&waiter, __ATOMIC_ACQUIRE));
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (!fgets(text, sizeof(text), f) || sscanf(text, "%ld", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr;
}

int main(void)
{
	struct timespec moment = { 0, 100000 };
	long nr = -1;
	pthread_t t;

	alarm(60);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	pthread_mutex_lock(&m);
	pthread_create(&t, NULL, waits, NULL);
	while (nr != SYS_futex && nr != 449 && nr != 455) {
		nanosleep(&moment, NULL);
		nr = call_of_waiter();
	}
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	printf("%s %s\n", getauxval(AT_SECURE) ? "secure" : "plain", nr == SYS_futex ? "classic" : "futex2");
	return 0;
}
