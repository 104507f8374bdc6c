/* SPDX-License-Identifier: MIT
 *
 * start.c - are we at work, what does the environment ask for, who is this thread
 *
 * Half of all programs call a lock function before our constructor has run. So everything here is found at first use, by whoever
 * comes: it takes no lock and comes out the same each time. The constructor only sees to it that this happens before main
 * at the latest, since a program may change its environment. The library's own first use is brought
 * forward too: it reads the environment and opens a file, and might else come in a signal handler that posts, or in a sandbox.
 */
#include "host.h"

#include <nlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------- at work? */

#define OLDEST_GLIBC 34 /* 2.34: threads are in libc.so.6, and the layouts are those that overlay.h was compiled with */

extern void __tsan_init(void) __attribute__((weak));
extern const char *gnu_get_libc_version(void) __attribute__((weak));

uint32_t np_state;

static bool is_known_libc(void)
{
	const char *version = gnu_get_libc_version ? gnu_get_libc_version() : "";

	return strncmp(version, "2.", 2) == 0 && atoi(version + 2) >= OLDEST_GLIBC;
}

__attribute__((noinline, cold)) bool np_find_state(void)
{
	bool is_active = !__tsan_init && is_known_libc();

	__atomic_store_n(&np_state, is_active ? NP_ACTIVE : NP_ASIDE, __ATOMIC_RELAXED);
	return is_active;
}

static void say(const char *text)
{
	if (getauxval(AT_SECURE) || write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* ---------------------------------------------------------------- environment */

#define ASKED        0x1u /* the others are valid */
#define TAKES_SHARED 0x2u
#define RW_IS_SET    0x4u
#define RW_SHIFT     8

static uint32_t asked;

static uint32_t ask_rwlock(void)
{
	static const char names[][12] = { "phase-fair", "readers", "writers" }; /* in the order of NLOCK_RW_* */
	const char *text = secure_getenv("NLOCK_RWLOCK");

	_Static_assert(NLOCK_RW_PHASE_FAIR == 0 && NLOCK_RW_PREFER_READERS == 1 && NLOCK_RW_PREFER_WRITERS == 2, "");
	for (uint32_t i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0)
			return RW_IS_SET | i << RW_SHIFT;
	}
	return 0;
}

/* Before the C library knows its environment there is none to be seen: then it is asked again. */
static uint32_t ask(void)
{
	uint32_t a = __atomic_load_n(&asked, __ATOMIC_RELAXED);
	const char *shared;

	if (a || !environ)
		return a;
	shared = secure_getenv("NLOCK_PRELOAD_SHARED");
	a = ASKED | ask_rwlock();
	if (shared && strcmp(shared, "1") == 0)
		a |= TAKES_SHARED;
	__atomic_store_n(&asked, a, __ATOMIC_RELAXED);
	return a;
}

bool np_takes_shared(void)
{
	return ask() & TAKES_SHARED;
}

int np_prefers(unsigned int host_kind)
{
	uint32_t a = ask();

	if (host_kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
		return NLOCK_RW_PREFER_WRITERS;
	return a & RW_IS_SET ? (int)(a >> RW_SHIFT) : NLOCK_RW_PREFER_READERS;
}

/* ---------------------------------------------------------------- who is this */

uint32_t np_me(void)
{
	static uint32_t last;
	static __thread uint32_t me __attribute__((tls_model("initial-exec")));

	while (!me)
		me = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return me;
}

uint32_t np_me_among_all(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* ---------------------------------------------------------------- the constructor */

static __attribute__((constructor)) void start(void)
{
	ask();
	if (!np_is_active()) {
		say(__tsan_init ? "nlock: this program runs under ThreadSanitizer: its locks are left to it\n"
				: "nlock: this C library is not known: its locks are left to it\n");
		return;
	}
	nlock_features();
}
