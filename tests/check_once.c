/* SPDX-License-Identifier: MIT
 *
 * check_once.c - tier 3: the initialiser that runs once on this kernel, through <nlock.h> alone
 *
 * check_once_cxx.sh tries what a C++ exception does.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void count(void *arg)
{
	++*(int *)arg;
}

/* ---------------------------------------------------------------- no system call */

static int uncontended(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	nlock_once_t *o = arg;
	int n = 0;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	return nlock_once(o, count, &n) || nlock_once(o, count, &n) || n != 1;
}

TEST(uncontended_call_makes_no_system_call)
{
	nlock_once_t o = NLOCK_ONCE_INIT;
	int status = harness_child(uncontended, &o);

	if (status == EXIT_CANNOT << 8)
		cannot("no system-call filters");
	must_be(status, 0);
}

/* ---------------------------------------------------------------- many threads */

#define MANY 200

static struct {
	nlock_once_t o[MANY];
	int runs[MANY]; /* plain: init writes, everybody reads */
	pthread_barrier_t start;
} crowd;

static void *visits(void *arg)
{
	for (int i = 0; i < MANY; i++) {
		pthread_barrier_wait(&crowd.start);
		if (nlock_once(&crowd.o[i], count, &crowd.runs[i]) || crowd.runs[i] != 1)
			return arg;
	}
	return NULL;
}

TEST(of_many_one_runs_it_and_all_see_what_it_did)
{
	pthread_t t[4];
	void *bad;

	must_be(pthread_barrier_init(&crowd.start, NULL, COUNT(t)), 0);
	for (int i = 0; i < COUNT(t); i++)
		must_be(pthread_create(&t[i], NULL, visits, &crowd), 0);
	for (int i = 0; i < COUNT(t); i++) {
		must_be(pthread_join(t[i], &bad), 0);
		must(!bad);
	}
}

/* ---------------------------------------------------------------- while it runs */

/* The first init waits until it may go on; `leaves`: and does not return. */
static struct {
	nlock_once_t o;
	sem_t is_in, may_go;
	int runs;
	enum { RETURNS, EXITS, IS_CANCELLED } how;
} play;

struct caller {
	pthread_t thread;
	pid_t tid;
	int result;
	bool keeps_errno;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void scene(void *arg)
{
	if (++*(int *)arg > 1)
		return;
	sem_post(&play.is_in);
	while (play.how == IS_CANCELLED) {
		pthread_testcancel();
		sched_yield();
	}
	wait_for(&play.may_go);
	if (play.how == EXITS)
		pthread_exit(NULL);
}

static void *calls(void *arg)
{
	struct caller *c = arg;

	errno = 4711;
	__atomic_store_n(&c->tid, harness_tid(), __ATOMIC_RELEASE);
	c->result = nlock_once(&play.o, scene, &play.runs);
	c->keeps_errno = errno == 4711;
	return c;
}

static void start(struct caller *c)
{
	c->tid = 0;
	c->result = -1;
	must_be(pthread_create(&c->thread, NULL, calls, c), 0);
	while (!__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* One is in init, and the others sleep. */
static void set_scene(struct caller *c, int n, int how)
{
	memset(&play, 0, sizeof(play));
	play.how = how;
	must(!sem_init(&play.is_in, 0, 0) && !sem_init(&play.may_go, 0, 0));
	start(&c[0]);
	wait_for(&play.is_in);
	for (int i = 1; i < n; i++) {
		start(&c[i]);
		must(harness_sees_asleep(getpid(), c[i].tid, &play.o.word));
	}
}

static void has_returned(struct caller *c)
{
	void *end;

	must_be(pthread_join(c->thread, &end), 0);
	must(end == c);
	must_be(c->result, 0);
	must(c->keeps_errno);
}

TEST(who_comes_meanwhile_waits)
{
	struct caller c[5];

	set_scene(c, COUNT(c), RETURNS);
	sem_post(&play.may_go);
	for (int i = 1; i < COUNT(c); i++)
		has_returned(&c[i]);
	must_be(pthread_join(c[0].thread, NULL), 0);
	must_be(c[0].result, 0);
	must_be(play.runs, 1);
}

static void left(struct caller *c, int n, int how)
{
	void *end;

	set_scene(c, n, how);
	if (how == EXITS)
		sem_post(&play.may_go);
	else
		must_be(pthread_cancel(c[0].thread), 0);
	must_be(pthread_join(c[0].thread, &end), 0);
	must(end == (how == EXITS ? NULL : PTHREAD_CANCELED));
	must_be(c[0].result, -1);
	for (int i = 1; i < n; i++)
		has_returned(&c[i]);
	if (n == 1)
		must_be(nlock_once(&play.o, scene, &play.runs), 0);
	must_be(play.runs, 2);
}

TEST(init_that_the_thread_ended_in_is_called_again)
{
	struct caller c[4];

	left(c, COUNT(c), EXITS);
	left(c, 1, EXITS);
}

TEST(init_that_was_cancelled_is_called_again)
{
	struct caller c[4];

	left(c, COUNT(c), IS_CANCELLED);
	left(c, 1, IS_CANCELLED);
}

TEST(waiter_is_not_cancelled_while_it_waits)
{
	struct caller c[2];
	void *end;

	set_scene(c, 2, RETURNS);
	must_be(pthread_cancel(c[1].thread), 0);
	must(harness_sees_asleep(getpid(), c[1].tid, &play.o.word));
	sem_post(&play.may_go);
	must_be(pthread_join(c[1].thread, &end), 0);
	must_be(c[1].result, 0);
	must_be(pthread_join(c[0].thread, NULL), 0);
	must_be(play.runs, 1);
}

static void nothing(int sig)
{
	(void)sig;
}

TEST(interrupted_waiter_waits_on)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct caller c[2];

	must(!sigaction(SIGUSR1, &sa, NULL));
	set_scene(c, 2, RETURNS);
	for (int i = 0; i < 50; i++) {
		must_be(pthread_kill(c[1].thread, SIGUSR1), 0);
		must(harness_sees_asleep(getpid(), c[1].tid, &play.o.word));
	}
	sem_post(&play.may_go);
	has_returned(&c[1]);
	must_be(pthread_join(c[0].thread, NULL), 0);
}

/* ---------------------------------------------------------------- fork */

static int child_calls(void *arg)
{
	(void)arg;
	return nlock_once(&play.o, scene, &play.runs) || play.runs != 2 || nlock_once(&play.o, scene, &play.runs) ||
	       play.runs != 2;
}

TEST(init_in_progress_is_begun_anew_in_the_child_of_a_fork)
{
	struct caller c[2];

	set_scene(c, 2, RETURNS);
	must_be(harness_child(child_calls, NULL), 0);
	must_be(play.runs, 1);
	sem_post(&play.may_go);
	has_returned(&c[1]);
	must_be(pthread_join(c[0].thread, NULL), 0);
	must_be(harness_child(uncontended, &play.o), 256); /* its init is not called: it counts none */
}

static pid_t forked;

static void forks(void *arg)
{
	forked = fork();
	count(arg);
}

TEST(init_that_forks_completes_in_both)
{
	nlock_once_t o = { 0 };
	int n = 0, status;
	bool is_well;

	is_well = !nlock_once(&o, forks, &n) && !nlock_once(&o, forks, &n) && n == 1;
	if (!forked)
		_exit(!is_well);
	must(is_well && forked > 0);
	must_be(waitpid(forked, &status, 0), forked);
	must_be(status, 0);
}

/* ---------------------------------------------------------------- arguments */

TEST(bad_arguments_are_refused)
{
	char bytes[16] __attribute__((aligned(8))) = { 0 };
	int n = 0;

	errno = 4711;
	must_be(nlock_once(NULL, count, &n), EINVAL);
	must_be(nlock_once((nlock_once_t *)(void *)bytes, NULL, &n), EINVAL);
	for (int off = 1; off < 4; off++)
		must_be(nlock_once((nlock_once_t *)(void *)(bytes + off), count, &n), EINVAL);
	must_be(n, 0);
	must_be(nlock_once((nlock_once_t *)(void *)(bytes + 4), count, &n), 0);
	must_be(n, 1);
	must_be(errno, 4711);
}

static const struct test tests[] = {
	CORE_ONCE(uncontended_call_makes_no_system_call),
	CORE_ONCE(of_many_one_runs_it_and_all_see_what_it_did),
	CORE_ONCE(who_comes_meanwhile_waits),
	CORE_ONCE(init_that_the_thread_ended_in_is_called_again),
	CORE_ONCE(init_that_was_cancelled_is_called_again),
	CORE_ONCE(waiter_is_not_cancelled_while_it_waits),
	CORE_ONCE(interrupted_waiter_waits_on),
	CORE_ONCE(init_in_progress_is_begun_anew_in_the_child_of_a_fork),
	CORE_ONCE(init_that_forks_completes_in_both),
	CORE_ONCE(bad_arguments_are_refused),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "once", tests, COUNT(tests));
}
