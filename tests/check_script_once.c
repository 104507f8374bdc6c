/* SPDX-License-Identifier: MIT
 *
 * check_script_once.c - tier 2: lib/once.c over tests/fake_wait.c, interleaving by interleaving
 *
 * A, B, C are players. An init that is to take its time sleeps on a word of its own, until the script rouses it. To be left by
 * unwinding it needs a thread that may end, which is none of the players.
 */
#include "fake_wait.h"
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C };

#define DONE    0x1u
#define RUNNING 0x2u
#define WAITERS 0x4u

static nlock_once_t *o; /* alone in its page */
static uint32_t inside[2] __attribute__((aligned(8)));
static int runs, completed;
static bool is_long;

static void init(void *arg)
{
	must(arg == &runs);
	runs++;
	if (is_long)
		nl_wait(inside, NLOCK_FIFO, 0, NL_LANE_BACK, NULL);
	completed++;
}

static int do_once(void *arg)
{
	return nlock_once(arg, init, &runs);
}

static void begin(void)
{
	if (!o)
		o = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	must(o != MAP_FAILED);
	fk_begin();
	o->word = 0;
	runs = completed = 0;
	is_long = false;
}

static void rest(void)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	must(!fk.complaint, "%s", fk.complaint);
	must_be(completed, 1);
	must_be(o->word, DONE);
}

/* The word while a thread of this process is in init. */
static uint32_t running(uint32_t more)
{
	return nl_wait_process() << 3 | RUNNING | more;
}

#define ends(who) \
	do { \
		must_be(fk_call(who, do_once, o), FK_READY); \
		must_be(fk_result(who), 0); \
	} while (0)
#define goes_and_ends(who) \
	do { \
		must_be(fk_go(who), FK_READY); \
		must_be(fk_result(who), 0); \
	} while (0)
#define is_roused_and_ends(who) \
	do { \
		must_be(fk_rouse(who, NL_LOOK), FK_READY); \
		must_be(fk_result(who), 0); \
	} while (0)

TEST(alone_it_runs_once_and_makes_no_call)
{
	begin();
	for (int i = 0; i < 3; i++) {
		must_be(nlock_once(o, init, &runs), 0);
		must_be(runs, 1);
	}
	must_be(fk.n_calls, 0);
	must_be(fk.n_clocks, 0);
	rest();
}

TEST(who_comes_meanwhile_sleeps_until_it_has_completed)
{
	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	must_be(o->word, running(0));
	must_be(fk_call(B, do_once, o), FK_ASLEEP);
	must_be(o->word, running(WAITERS));
	must_be(fk_call(C, do_once, o), FK_ASLEEP);
	must(!fk_has_deadline(B));
	is_roused_and_ends(A);
	must_be(o->word, DONE);
	must_be(fk.n_wakes, 1);
	must_be(fk_last(FK_WAKE)->result, 2);
	goes_and_ends(B);
	goes_and_ends(C);
	must_be(runs, 1);
	rest();
}

TEST(completion_with_nobody_waiting_makes_no_wake)
{
	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	is_roused_and_ends(A);
	must_be(fk.n_wakes, 0);
	rest();
}

TEST(waiter_on_its_way_to_sleep_is_sent_back)
{
	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	fk_stop_at(B, FK_BEFORE_WAIT);
	must_be(fk_call(B, do_once, o), FK_STOPPED);
	is_roused_and_ends(A);
	goes_and_ends(B);
	must_be(runs, 1);
	rest();
}

TEST(b79_interrupted_or_stray_woken_waiter_sleeps_on)
{
	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	must_be(fk_call(B, do_once, o), FK_ASLEEP);
	for (int i = 0; i < 100; i++)
		must_be(fk_rouse(B, i & 1 ? NL_WOKEN : NL_LOOK), FK_ASLEEP);
	must_be(runs, 1);
	is_roused_and_ends(A);
	goes_and_ends(B);
	rest();
}

/* A has stored DONE and is on its way to its wake; B has seen that, and the page goes. */
TEST(completion_does_not_look_again)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	fk_stop_at(B, FK_BEFORE_WAIT);
	must_be(fk_call(B, do_once, o), FK_STOPPED);
	fk_stop_at(A, FK_BEFORE_WAKE);
	must_be(fk_rouse(A, NL_LOOK), FK_STOPPED);
	goes_and_ends(B);
	must(!mprotect(o, page, PROT_NONE));
	goes_and_ends(A);
	must(!mprotect(o, page, PROT_READ | PROT_WRITE));
	rest();
}

/* ---------------------------------------------------------------- unwinding */

static sem_t may_leave, is_in;

static void leave(void *arg)
{
	(void)arg;
	runs++;
	sem_post(&is_in);
	while (sem_wait(&may_leave))
		;
	pthread_exit(NULL);
}

static void *runs_and_leaves(void *arg)
{
	nlock_once(arg, leave, NULL);
	return arg;
}

static void start_leaver(pthread_t *t)
{
	must(!sem_init(&may_leave, 0, 0) && !sem_init(&is_in, 0, 0));
	must_be(pthread_create(t, NULL, runs_and_leaves, o), 0);
	while (sem_wait(&is_in))
		;
}

static void let_leave(pthread_t t)
{
	void *end;

	sem_post(&may_leave);
	must_be(pthread_join(t, &end), 0);
	must(!end, "nlock_once returned to a thread that had left");
}

TEST(b83_init_that_was_left_has_not_been_called)
{
	pthread_t t;

	begin();
	start_leaver(&t);
	must_be(o->word, running(0));
	let_leave(t);
	must_be(o->word, 0);
	must_be(fk.n_wakes, 0);
	ends(A);
	must_be(runs, 2);
	rest();
}

TEST(b83_one_of_the_waiters_calls_an_init_that_was_left)
{
	pthread_t t;

	begin();
	start_leaver(&t);
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	must_be(fk_call(B, do_once, o), FK_ASLEEP);
	let_leave(t);
	must_be(o->word, 0);
	must_be(fk_last(FK_WAKE)->result, 2);
	is_long = true;
	must_be(fk_go(A), FK_ASLEEP);
	must_be(fk_go(B), FK_ASLEEP);
	must_be(o->word, running(WAITERS));
	must_be(runs, 2);
	is_roused_and_ends(A);
	goes_and_ends(B);
	rest();
}

/* ---------------------------------------------------------------- fork */

TEST(b92_init_that_ran_in_the_parent_has_not_been_called_in_the_child)
{
	uint32_t parents;

	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	must_be(fk_call(B, do_once, o), FK_ASLEEP);
	parents = o->word;
	fk.generation++;
	is_long = false;
	ends(C);
	must_be(runs, 2);
	must_be(o->word, DONE);
	must_be(fk.n_wakes, 0);
	o->word = parents;
	fk.generation--;
	is_roused_and_ends(A);
	goes_and_ends(B);
	must_be(completed, 2);
	completed = 1;
	rest();
}

TEST(init_that_forked_completes_in_the_child)
{
	begin();
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	fk.generation++;
	is_roused_and_ends(A);
	rest();
}

/* ---------------------------------------------------------------- arguments */

TEST(bad_arguments_are_refused)
{
	begin();
	must_be(nlock_once(NULL, init, &runs), EINVAL);
	must_be(nlock_once(o, NULL, &runs), EINVAL);
	for (int i = 1; i < 4; i++)
		must_be(nlock_once((nlock_once_t *)(void *)((char *)o + i), init, &runs), EINVAL);
	must_be(o->word, 0);
	ends(A);
	rest();
}

TEST(number_of_a_process_may_have_22_bits)
{
	begin();
	fk.generation = 0x3ffffe;
	is_long = true;
	must_be(fk_call(A, do_once, o), FK_ASLEEP);
	must_be(fk_call(B, do_once, o), FK_ASLEEP);
	must_be(o->word, UINT32_C(0x3fffff) << 3 | RUNNING | WAITERS);
	is_roused_and_ends(A);
	goes_and_ends(B);
	rest();
}

static const struct test tests[] = {
	ONCE(alone_it_runs_once_and_makes_no_call),
	ONCE(who_comes_meanwhile_sleeps_until_it_has_completed),
	ONCE(completion_with_nobody_waiting_makes_no_wake),
	ONCE(waiter_on_its_way_to_sleep_is_sent_back),
	ONCE(b79_interrupted_or_stray_woken_waiter_sleeps_on),
	ONCE(completion_does_not_look_again),
	ONCE(b83_init_that_was_left_has_not_been_called),
	ONCE(b83_one_of_the_waiters_calls_an_init_that_was_left),
	ONCE(b92_init_that_ran_in_the_parent_has_not_been_called_in_the_child),
	ONCE(init_that_forked_completes_in_the_child),
	ONCE(bad_arguments_are_refused),
	ONCE(number_of_a_process_may_have_22_bits),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "script of once", tests, COUNT(tests));
}
