/* SPDX-License-Identifier: MIT
 *
 * place_lib.c - a library that locks when it comes and when it goes
 *
 * Its constructor runs before that of a library to preload. It starts a thread there, which locks for the first time while dlopen
 * has the loader's lock, if it came by dlopen.
 */
#include "use.h"

#include <stdio.h>
#include <unistd.h>

static void say(const char *where, int line)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "%s %d\n", where, line);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(3);
}

static void *in_thread(void *line)
{
	*(int *)line = use_all();
	return NULL;
}

__attribute__((constructor)) static void comes(void)
{
	int line = -1;
	pthread_t t;

	say("constructor", use_all());
	if (!pthread_create(&t, NULL, in_thread, &line))
		pthread_join(t, NULL);
	say("thread of constructor", line);
}

__attribute__((destructor)) static void goes(void)
{
	say("destructor", use_all());
}

int place_use(void);
int place_use(void)
{
	return use_all();
}
