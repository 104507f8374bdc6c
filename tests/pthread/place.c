/* SPDX-License-Identifier: MIT
 *
 * place.c - locks in odd places: before constructors, inside malloc, in destructors, behind dlopen
 *
 *	place [LIBRARY]    opens and closes the library, five times
 *
 * Says for each place 0, or the line of use.h that went wrong.
 */
#include "use.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *where, int line)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "%s %d\n", where, line);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(3);
}

/* ---------------------------------------------------------------- malloc: a mutex around an arena */

#ifdef WITH_MALLOC
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static char arena[64 << 20] __attribute__((aligned(16)));
static size_t used;
static int locked_badly;

static void *take(size_t n)
{
	char *p;

	n = (n + 31) & ~(size_t)15;
	if (pthread_mutex_lock(&heap))
		locked_badly = 1;
	p = n < sizeof(arena) - used ? arena + used + 16 : NULL;
	if (p) {
		memcpy(p - 16, &n, sizeof(n));
		used += n;
	}
	if (pthread_mutex_unlock(&heap))
		locked_badly = 1;
	return p;
}

void *malloc(size_t n)
{
	return take(n);
}

void free(void *p)
{
	(void)p;
}

/* The arena starts as zeroes and nothing is used twice. */
void *calloc(size_t n, size_t size)
{
	return size && n > SIZE_MAX / size ? NULL : take(n * size);
}

void *realloc(void *old, size_t n)
{
	char *p = take(n);
	size_t had = 0;

	if (!p || !old)
		return p;
	memcpy(&had, (char *)old - 16, sizeof(had));
	return memcpy(p, old, had - 16 < n ? had - 16 : n);
}
#endif

/* ---------------------------------------------------------------- the places */

static int at_preinit = -1;

static void before_all(void)
{
	at_preinit = use_all();
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = before_all;

__attribute__((destructor)) static void last(void)
{
	say("destructor of the program", use_all());
}

static void at_exit(void)
{
	say("atexit", use_all());
}

static pthread_key_t key;

static void of_key(void *value)
{
	(void)value;
	say("destructor of a key", use_all());
}

static void *has_key(void *arg)
{
	pthread_setspecific(key, arg);
	return malloc(10) ? NULL : arg;
}

static void *allocates(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		char *p = malloc(16);

		if (!p)
			return NULL;
		p[0] = 1;
		free(p);
	}
	return arg;
}

static int come_and_go(const char *path)
{
	for (int i = 0; i < 5; i++) {
		void *lib = dlopen(path, RTLD_NOW);
		int (*use)(void) = lib ? (int (*)(void))(uintptr_t)dlsym(lib, "place_use") : NULL;

		if (!use || use() || dlclose(lib))
			return __LINE__;
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	void *value;

	say("preinit", at_preinit);
	say("main", use_all());
	atexit(at_exit);
	pthread_key_create(&key, of_key);
	pthread_create(&t[0], NULL, has_key, &key);
	pthread_join(t[0], NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, allocates, &key);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &value);
		say("malloc", value ? 0 : __LINE__);
	}
	if (argc > 1)
		say("dlopen", come_and_go(argv[1]));
#ifdef WITH_MALLOC
	say("heap", locked_badly);
#endif
	return 0;
}
