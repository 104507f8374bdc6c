/* SPDX-License-Identifier: MIT
 *
 * ask_sem.c - semaphores, with and without a name
 */
#include "pt.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char name[40];

enum sort { SORT_OWN, SORT_SHARED, SORT_NAMED };

static const enum sort sorts[] = { SORT_OWN, SORT_SHARED, SORT_NAMED };
static const char *const subjects[] = { "sem", "sem, shared", "sem, named" };

static sem_t *make(const void *sort, unsigned int value)
{
	sem_t *s;

	if (*(const enum sort *)sort == SORT_NAMED) {
		snprintf(name, sizeof(name), "/check_pthread-%d", (int)getpid());
		errno = PT_ERRNO;
		s = sem_open(name, O_CREAT | O_EXCL, 0600, value);
		pt_answer_errno(s == SEM_FAILED ? -1 : 0);
		return s == SEM_FAILED ? NULL : s;
	}
	s = pt_shared(sizeof(*s));
	ANSWER_ERRNO(sem_init(s, *(const enum sort *)sort == SORT_SHARED, value));
	return s;
}

static void end(const void *sort, sem_t *s)
{
	if (*(const enum sort *)sort != SORT_NAMED) {
		ANSWER_ERRNO(sem_destroy(s));
		return;
	}
	ANSWER_ERRNO(sem_close(s));
	ANSWER_ERRNO(sem_unlink(name));
}

static void tell_value(sem_t *s)
{
	int value = -7;

	ANSWER_ERRNO(sem_getvalue(s, &value));
	pt_number(value);
}

/* Results as errno values, errno as it was. */
static int as_errno(int rc)
{
	int error = errno;

	errno = PT_ERRNO;
	return rc ? error : 0;
}

static int call_wait(void *s)
{
	return as_errno(sem_wait(s));
}

static int call_trywait(void *s)
{
	return as_errno(sem_trywait(s));
}

static int call_post(void *s)
{
	return as_errno(sem_post(s));
}

struct timed {
	sem_t *s;
	clockid_t clock;
	struct timespec t;
};

static int call_timedwait(void *arg)
{
	const struct timed *a = arg;

	return as_errno(sem_timedwait(a->s, &a->t));
}

static int call_clockwait(void *arg)
{
	const struct timed *a = arg;

	return as_errno(sem_clockwait(a->s, a->clock, &a->t));
}

/* ---------------------------------------------------------------- values */

static void lives(const void *sort)
{
	sem_t *s = make(sort, 2);

	tell_value(s);
	ANSWER_ERRNO(sem_wait(s));
	ANSWER_ERRNO(sem_trywait(s));
	ANSWER_ERRNO(sem_trywait(s));
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	ANSWER_ERRNO(sem_post(s));
	pt_elsewhere(call_wait, s);
	pt_elsewhere(call_trywait, s);
	pt_elsewhere(call_trywait, s);
	end(sort, s);
}

static void overflows(const void *sort)
{
	sem_t *s = make(sort, SEM_VALUE_MAX);

	tell_value(s);
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	ANSWER_ERRNO(sem_wait(s));
	ANSWER_ERRNO(sem_post(s));
	ANSWER_ERRNO(sem_post(s));
	end(sort, s);
}

static void is_too_much(const void *sort)
{
	sem_t *s = make(sort, (unsigned int)SEM_VALUE_MAX + 1);

	if (s)
		sem_unlink(name);
	make(sort, UINT_MAX);
}

static void is_waited_for(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct pt_thread t[3];

	for (int i = 0; i < COUNT(t); i++) {
		pt_start(&t[i], call_wait, s);
		pt_waits(&t[i]);
	}
	tell_value(s);
	for (int i = 0; i < COUNT(t); i++)
		ANSWER_ERRNO(sem_post(s));
	for (int i = 0; i < COUNT(t); i++)
		pt_finish(&t[i]);
	tell_value(s);
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	end(sort, s);
}

static void is_made_anew(const void *sort)
{
	sem_t *s = make(sort, 1);

	ANSWER_ERRNO(sem_destroy(s));
	ANSWER_ERRNO(sem_init(s, 1, 3));
	tell_value(s);
	ANSWER_ERRNO(sem_destroy(s));
	ANSWER_ERRNO(sem_init(s, 0, 4));
	tell_value(s);
	ANSWER_ERRNO(sem_trywait(s));
	tell_value(s);
}

/* ---------------------------------------------------------------- times */

static void timed_free(const void *sort)
{
	sem_t *s = make(sort, 100);

	for (int w = 0; w < WHENS; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		ANSWER_ERRNO(sem_timedwait(s, &t));
	}
	tell_value(s);
	end(sort, s);
}

static void timed_empty(const void *sort)
{
	sem_t *s = make(sort, 0);

	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		ANSWER_ERRNO(sem_timedwait(s, &t));
	}
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	end(sort, s);
}

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_BOOTTIME, -1, 99 };

static void clocked(const void *sort)
{
	sem_t *s = make(sort, 0);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT(clocks); i++) {
			struct timespec past = pt_time(CLOCK_MONOTONIC, WHEN_PAST), bad = pt_time(0, WHEN_NSEC_HIGH);

			ANSWER_ERRNO(sem_clockwait(s, clocks[i], &past));
			ANSWER_ERRNO(sem_clockwait(s, clocks[i], &bad));
		}
		for (int i = 0; !round && i < 100; i++)
			sem_post(s);
	}
	tell_value(s);
	end(sort, s);
}

static void minds_its_clock(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct timed past = { s, CLOCK_REALTIME, pt_time(CLOCK_MONOTONIC, WHEN_LATE) };
	struct timed late = { s, CLOCK_MONOTONIC, past.t }, huge = { s, 0, pt_time(0, WHEN_HUGE) };
	struct pt_thread t, u;

	pt_elsewhere(call_clockwait, &past);
	pt_start(&t, call_clockwait, &late);
	pt_waits(&t);
	pt_start(&u, call_timedwait, &huge);
	pt_waits(&u);
	ANSWER_ERRNO(sem_post(s));
	ANSWER_ERRNO(sem_post(s));
	pt_finish(&t);
	pt_finish(&u);
	end(sort, s);
}

/* ---------------------------------------------------------------- signals, cancellation, processes */

static sem_t *posted;
static int handled;

static void handler(int sig)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	if (sig == SIGUSR2)
		sem_post(posted);
}

static void handle(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void is_interrupted(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct timed late = { s, CLOCK_MONOTONIC, pt_time(CLOCK_MONOTONIC, WHEN_LATE) };
	struct timed rt = { s, 0, pt_time(CLOCK_REALTIME, WHEN_LATE) };
	struct pt_thread t;

	handle(SIGUSR1, 0);
	pt_start(&t, call_wait, s);
	pt_waits(&t);
	pthread_kill(t.thread, SIGUSR1);
	pt_finish(&t);
	pt_start(&t, call_timedwait, &rt);
	pt_waits(&t);
	pthread_kill(t.thread, SIGUSR1);
	pt_finish(&t);
	pt_start(&t, call_clockwait, &late);
	pt_waits(&t);
	pthread_kill(t.thread, SIGUSR1);
	pt_finish(&t);
	tell_value(s);
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	end(sort, s);
}

static void is_restarted(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct timed late = { s, CLOCK_MONOTONIC, pt_time(CLOCK_MONOTONIC, WHEN_LATE) };
	struct timed *const args[] = { NULL, &late };
	struct timespec moment = { 0, 100000 };
	struct pt_thread t;

	handle(SIGUSR1, SA_RESTART);
	for (int i = 0; i < 2; i++) {
		int before = handled;

		pt_start(&t, i ? call_clockwait : call_wait, i ? (void *)args[i] : s);
		pt_waits(&t);
		pthread_kill(t.thread, SIGUSR1);
		while (__atomic_load_n(&handled, __ATOMIC_RELAXED) == before)
			nanosleep(&moment, NULL);
		pt_waits(&t);
		ANSWER_ERRNO(sem_post(s));
		pt_finish(&t);
	}
	end(sort, s);
}

/* Its own handler posts to it. EINTR may come first, or the token. */
static int call_wait_for_handler(void *s)
{
	int rc = sem_wait(s);

	return as_errno(rc && errno == EINTR ? sem_trywait(s) : rc);
}

/* The same, with the answer of the wait itself. */
static void is_posted_by_its_handler_once(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct pt_thread t;

	posted = s;
	handle(SIGUSR2, 0);
	pt_start(&t, call_wait, s);
	pt_waits(&t);
	pthread_kill(t.thread, SIGUSR2);
	pt_finish(&t);
	tell_value(s);
	end(sort, s);
}

static void is_posted_by_its_handler(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct pt_thread t;

	posted = s;
	handle(SIGUSR2, 0);
	pt_start(&t, call_wait_for_handler, s);
	pt_waits(&t);
	pthread_kill(t.thread, SIGUSR2);
	pt_finish(&t);
	tell_value(s);
	end(sort, s);
}

static void tell_fate(struct pt_thread *t)
{
	void *value;

	pthread_join(t->thread, &value);
	pt_word(value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
}

static void is_cancelled(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct pt_thread t;

	pt_start(&t, call_wait, s);
	pt_waits(&t);
	pthread_cancel(t.thread);
	tell_fate(&t);
	tell_value(s);
	ANSWER_ERRNO(sem_post(s));
	tell_value(s);
	end(sort, s);
}

static int call_cancelled_wait(void *s)
{
	pthread_cancel(pthread_self());
	return call_wait(s);
}

static int call_cancelled_trywait(void *s)
{
	pthread_cancel(pthread_self());
	call_trywait(s);
	call_post(s);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return 0;
}

static int call_cancelled_timedwait(void *s)
{
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);

	pthread_cancel(pthread_self());
	return as_errno(sem_timedwait(s, &past));
}

/* There are tokens. */
static void is_cancelled_before(const void *sort)
{
	sem_t *s = make(sort, 5);
	struct pt_thread t;

	pt_start(&t, call_cancelled_wait, s);
	tell_fate(&t);
	pt_start(&t, call_cancelled_timedwait, s);
	tell_fate(&t);
	pt_start(&t, call_cancelled_trywait, s);
	tell_fate(&t);
	tell_value(s);
	end(sort, s);
}

static void is_seen_by_another(const void *sort)
{
	sem_t *s = make(sort, 0);
	struct pt_thread t;

	if (*(const enum sort *)sort == SORT_OWN)
		return pt_word("does not apply");
	pt_start(&t, call_wait, s);
	pt_waits(&t);
	pt_in_child(call_post, s);
	pt_finish(&t);
	pt_in_child(call_trywait, s);
	ANSWER_ERRNO(sem_post(s));
	pt_in_child(call_trywait, s);
	tell_value(s);
	end(sort, s);
}

static const struct {
	const char *sentence;
	void (*body)(const void *);
} cases[] = {
	{ "two tokens taken and given back", lives },
	{ "posted when full", overflows },
	{ "with too many tokens", is_too_much },
	{ "waited for by three", is_waited_for },
	{ "timedwait with tokens: past, negative, bad, bad, bad, soon, late, huge", timed_free },
	{ "timedwait without: past, negative, bad, bad, bad, soon", timed_empty },
	{ "clockwait: past and bad, for each clock, without and with tokens", clocked },
	{ "clockwait minds its clock; until the end of time", minds_its_clock },
	{ "interrupted in wait, timedwait, clockwait", is_interrupted },
	{ "interrupted by a handler with SA_RESTART", is_restarted },
	{ "posted by the handler that interrupts the wait", is_posted_by_its_handler },
	{ "posted by the handler that interrupts the wait, without asking again", is_posted_by_its_handler_once },
	{ "cancelled in a wait", is_cancelled },
	{ "cancelled before a wait, a timedwait, a trywait", is_cancelled_before },
	{ "posted and taken by another process", is_seen_by_another },
};

/* ---------------------------------------------------------------- names */

static int call_other_side(void *s)
{
	const char *path = "/proc/self/exe";

	(void)s;
	execle(path, path, "--other-side", name, (char *)NULL, (char *[]){ NULL });
	return ENOEXEC;
}

int sem_other_side(const char *its_name);
int sem_other_side(const char *its_name)
{
	sem_t *s = sem_open(its_name, 0);
	int rc;

	if (s == SEM_FAILED)
		return errno;
	rc = sem_wait(s);
	rc = rc ? rc : sem_post(s);
	rc = rc ? rc : sem_post(s);
	return rc ? errno : 0;
}

/* A process that was started without any environment, and so without a library to preload. */
static void named_meets_a_stranger(const void *sort)
{
	sem_t *s = make(sort, 1);
	struct pt_thread t;

	pt_in_child(call_other_side, s);
	tell_value(s);
	ANSWER_ERRNO(sem_trywait(s));
	ANSWER_ERRNO(sem_trywait(s));
	pt_start(&t, call_wait, s);
	pt_waits(&t);
	ANSWER_ERRNO(sem_post(s));
	pt_finish(&t);
	end(sort, s);
}

static void named_is_opened(const void *sort)
{
	sem_t *s = make(sort, 3), *again;

	again = sem_open(name, 0);
	pt_word(again == s ? "the same" : "another");
	ANSWER_ERRNO(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED ? -1 : 0);
	again = sem_open(name, O_CREAT, 0600, 9);
	pt_word(again == s ? "the same" : "another");
	tell_value(s);
	ANSWER_ERRNO(sem_close(s));
	ANSWER_ERRNO(sem_trywait(s));
	ANSWER_ERRNO(sem_close(s));
	ANSWER_ERRNO(sem_close(s));
	ANSWER_ERRNO(sem_unlink(name));
	ANSWER_ERRNO(sem_unlink(name));
	ANSWER_ERRNO(sem_open(name, 0) == SEM_FAILED ? -1 : 0);
	ANSWER_ERRNO(sem_open("/", O_CREAT, 0600, 1) == SEM_FAILED ? -1 : 0);
}

void ask_sem(void);
void ask_sem(void)
{
	for (int k = 0; k < COUNT(sorts); k++) {
		for (int i = 0; i < COUNT(cases); i++)
			pt_case(subjects[k], cases[i].sentence, cases[i].body, &sorts[k]);
	}
	pt_case(subjects[0], "destroyed, then shared, then private", is_made_anew, &sorts[0]);
	pt_case(subjects[1], "destroyed, then shared, then private", is_made_anew, &sorts[1]);
	pt_case(subjects[2], "opened and closed again and again", named_is_opened, &sorts[2]);
	pt_case(subjects[2], "meets a process without an environment", named_meets_a_stranger, &sorts[2]);
}
