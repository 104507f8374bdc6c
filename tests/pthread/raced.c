/* SPDX-License-Identifier: MIT
 *
 * raced.c - a sound program for ThreadSanitizer: two threads, a mutex, a condition variable
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int n;

static void *adds(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, adds, NULL);
	pthread_mutex_lock(&m);
	while (n < 2000)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", n);
	return 0;
}
