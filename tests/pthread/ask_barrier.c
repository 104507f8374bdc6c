/* SPDX-License-Identifier: MIT
 *
 * ask_barrier.c - barriers, and what runs once
 */
#include "pt.h"

#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- barriers */

static pthread_barrier_t *make(unsigned int count, int pshared)
{
	pthread_barrier_t *b = pt_shared(sizeof(*b));
	pthread_barrierattr_t a;

	pthread_barrierattr_init(&a);
	pthread_barrierattr_setpshared(&a, pshared);
	ANSWER(pthread_barrier_init(b, &a, count));
	return b;
}

static int call_wait(void *b)
{
	return pthread_barrier_wait(b);
}

/* EDOM stands for the serial one. */
static int call_wait_as_errno(void *b)
{
	int rc = pthread_barrier_wait(b);

	return rc == PTHREAD_BARRIER_SERIAL_THREAD ? EDOM : rc;
}

static void counts(const void *unused)
{
	(void)unused;
	make(0, 0);
	make(0, 1);
	make(1, 0);
	make(INT_MAX - 1, 0);
	make(INT_MAX, 0);
	make((unsigned int)INT_MAX + 1, 0);
	make(UINT_MAX, 0);
}

static void alone(const void *pshared)
{
	pthread_barrier_t *b = make(1, *(const int *)pshared);

	for (int i = 0; i < 3; i++)
		ANSWER(pthread_barrier_wait(b));
	ANSWER(pthread_barrier_destroy(b));
}

/* As in a packed structure. */
static void packed(const void *unused)
{
	pthread_barrier_t *b = (void *)((char *)pt_shared(sizeof(*b) + 4) + 4);

	(void)unused;
	ANSWER(pthread_barrier_init(b, NULL, 1));
	ANSWER(pthread_barrier_wait(b));
	ANSWER(pthread_barrier_destroy(b));
}

/* Who is the serial one is open; that there is one is not. */
static void meet(const void *pshared)
{
	pthread_barrier_t *b = make(3, *(const int *)pshared);
	struct pt_thread t[2];
	int serial, others;

	for (int round = 0; round < 3; round++) {
		serial = others = 0;
		for (int i = 0; i < 2; i++) {
			pt_start(&t[i], call_wait, b);
			pt_waits(&t[i]);
		}
		serial += pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD;
		for (int i = 0; i < 2; i++) {
			pthread_join(t[i].thread, NULL);
			serial += t[i].result == PTHREAD_BARRIER_SERIAL_THREAD;
			others += t[i].result == 0;
		}
		pt_number(serial);
		pt_number(serial + others);
	}
	ANSWER(pthread_barrier_destroy(b));
	ANSWER(pthread_barrier_init(b, NULL, 1));
	ANSWER(pthread_barrier_wait(b));
}

static void meets_a_process(const void *unused)
{
	pthread_barrier_t *b = make(2, 1);
	struct pt_thread t;
	int status = -1, rc;
	pid_t pid;

	(void)unused;
	pt_start(&t, call_wait, b);
	pt_waits(&t);
	pid = fork();
	if (!pid)
		_exit(call_wait_as_errno(b));
	waitpid(pid, &status, 0);
	pthread_join(t.thread, NULL);
	rc = WIFEXITED(status) && WEXITSTATUS(status) == EDOM;
	pt_number(rc + (t.result == PTHREAD_BARRIER_SERIAL_THREAD));
	ANSWER(pthread_barrier_destroy(b));
}

static int call_cancelled_wait(void *b)
{
	pthread_cancel(pthread_self());
	pthread_barrier_wait(b);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return 0;
}

static void is_no_cancellation_point(const void *unused)
{
	pthread_barrier_t *b = make(2, 0);
	struct pt_thread t;

	(void)unused;
	pt_start(&t, call_cancelled_wait, b);
	pt_waits(&t);
	pthread_barrier_wait(b);
	pt_finish(&t);
}

/* Destroyed by who comes back first, and filled: nobody may touch it any more. */
static void is_destroyed_at_once(const void *unused)
{
	pthread_barrier_t *b = make(2, 0);
	struct pt_thread t;

	(void)unused;
	for (int i = 0; i < 100; i++) {
		pt_start(&t, call_wait_as_errno, b);
		pthread_barrier_wait(b);
		if (pthread_barrier_destroy(b))
			pt_word("not destroyed");
		memset(b, 0x5a, sizeof(*b));
		pthread_join(t.thread, NULL);
		for (size_t j = 0; j < sizeof(*b); j++) {
			if (((unsigned char *)b)[j] != 0x5a)
				pt_word("touched");
		}
		if (pthread_barrier_init(b, NULL, 2))
			pt_word("not initialised");
	}
}

static void attributes(const void *unused)
{
	pthread_barrierattr_t a;

	(void)unused;
	ANSWER(pthread_barrierattr_init(&a));
	ANSWER(pthread_barrierattr_setpshared(&a, 2));
	ANSWER(pthread_barrierattr_setpshared(&a, 1));
	ANSWER(pthread_barrierattr_destroy(&a));
}

void ask_barrier(void);
void ask_barrier(void)
{
	static const int own = 0, all = 1;

	pt_case("barrier", "aligned to four bytes only", packed, NULL);
	pt_case("barrier", "attributes and their values", attributes, NULL);
	pt_case("barrier", "counts: 0, 0 shared, 1, INT_MAX - 1, one more, one more, all ones", counts, NULL);
	pt_case("barrier", "for one: three rounds", alone, &own);
	pt_case("barrier, shared", "for one: three rounds", alone, &all);
	pt_case("barrier", "for three, three rounds: serial ones and all", meet, &own);
	pt_case("barrier, shared", "for three, three rounds: serial ones and all", meet, &all);
	pt_case("barrier, shared", "meets another process", meets_a_process, NULL);
	pt_case("barrier", "is no cancellation point", is_no_cancellation_point, NULL);
	pt_case("barrier", "destroyed and filled by the first to come back", is_destroyed_at_once, NULL);
}

/* ---------------------------------------------------------------- once */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs;
static bool waits_in_init;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void init(void)
{
	runs++;
	if (!waits_in_init)
		return;
	waits_in_init = false;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
}

static void init_leaves(void)
{
	if (++runs == 1)
		pthread_exit(NULL);
}

static void init_is_cancelled(void)
{
	if (++runs > 1)
		return;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static int call_once_(void *f)
{
	return pthread_once(&once, (void (*)(void))(uintptr_t)f);
}

static void runs_once(const void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++)
		ANSWER(pthread_once(&once, init));
	pt_elsewhere(call_once_, (void *)(uintptr_t)init);
	pt_number(runs);
}

static void is_waited_for(const void *unused)
{
	struct pt_thread t, u;

	(void)unused;
	waits_in_init = true;
	ANSWER(pthread_mutex_lock(&gate));
	pt_start(&t, call_once_, (void *)(uintptr_t)init);
	pt_waits(&t);
	pt_start(&u, call_once_, (void *)(uintptr_t)init);
	pt_waits(&u);
	ANSWER(pthread_mutex_unlock(&gate));
	pt_finish(&t);
	pt_finish(&u);
	pt_number(runs);
}

static void is_left(const void *unused)
{
	struct pt_thread t;

	(void)unused;
	pt_start(&t, call_once_, (void *)(uintptr_t)init_leaves);
	pthread_join(t.thread, NULL);
	ANSWER(pthread_once(&once, init_leaves));
	pt_number(runs);
}

static void is_cancelled(const void *unused)
{
	struct pt_thread t;

	(void)unused;
	pt_start(&t, call_once_, (void *)(uintptr_t)init_is_cancelled);
	pthread_join(t.thread, NULL);
	ANSWER(pthread_once(&once, init_is_cancelled));
	pt_number(runs);
}

static int call_once_in_child(void *unused)
{
	int rc = pthread_once(&once, init);

	(void)unused;
	return rc ? rc : runs == 2 ? EDOM : ERANGE;
}

/* EDOM: it ran again. */
static void is_forked(const void *unused)
{
	struct pt_thread t;

	(void)unused;
	waits_in_init = true;
	ANSWER(pthread_mutex_lock(&gate));
	pt_start(&t, call_once_, (void *)(uintptr_t)init);
	pt_waits(&t);
	pt_in_child(call_once_in_child, NULL);
	ANSWER(pthread_mutex_unlock(&gate));
	pt_finish(&t);
	pt_number(runs);
}

static int call_cancelled_once(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	pthread_once(&once, init);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return 0;
}

static void once_is_no_cancellation_point(const void *unused)
{
	(void)unused;
	pt_elsewhere(call_cancelled_once, NULL);
	pt_number(runs);
}

void ask_once(void);
void ask_once(void)
{
	pt_case("once", "called four times", runs_once, NULL);
	pt_case("once", "waited for", is_waited_for, NULL);
	pt_case("once", "its init leaves by pthread_exit", is_left, NULL);
	pt_case("once", "its init is cancelled", is_cancelled, NULL);
	pt_case("once", "forked while it runs, called in the child", is_forked, NULL);
	pt_case("once", "with a cancellation pending", once_is_no_cancellation_point, NULL);
}
