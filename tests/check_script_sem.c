/* SPDX-License-Identifier: MIT
 *
 * check_script_sem.c - tier 2: lib/sem.c over tests/fake_wait.c, interleaving by interleaving
 *
 * The transitions of the table at the top of lib/sem.c, every outcome of a wait at chosen moments, and the public faults that
 * concern semaphores, by their number. The words that the scripts expect are spelled out below and not taken from lib/sem.c.
 *
 * A, B, C, D are players. Where nobody has to be able to sleep, the script calls the library itself.
 */
#include "fake_wait.h"
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C, D };

#define EPOCH   UINT64_C(0x80000000)
#define WATCHED UINT64_C(0x100000000)
#define FRONT   UINT64_C(0x200000000)

static nlock_sem_t *s; /* alone in its page */
static const struct row *now_row;
static struct timespec until;
static int (*in_call)(void *); /* what a signal handler does at the next call into the wait layer */
static int in_call_result;

/* ---------------------------------------------------------------- the calls, as players make them */

static int do_wait(void *arg)
{
	return nlock_sem_wait(arg);
}

static int do_trywait(void *arg)
{
	return nlock_sem_trywait(arg);
}

static int do_wait_until(void *arg)
{
	return nlock_sem_wait_until(arg, CLOCK_MONOTONIC, &until);
}

static int do_wait_posix(void *arg)
{
	return nlock_sem_wait_posix(arg, -1, NULL);
}

static int do_wait_posix_until(void *arg)
{
	return nlock_sem_wait_posix(arg, CLOCK_MONOTONIC, &until);
}

static int do_post(void *arg)
{
	return nlock_sem_post(arg);
}

static int do_post_2(void *arg)
{
	return nlock_sem_post_n(arg, 2);
}

/* ---------------------------------------------------------------- the language of the scripts */

static const char *rule(const struct fk_record *r)
{
	int (*handler)(void *) = in_call;

	if (r->kind < FK_PLACE && r->attr != now_row->attr)
		return "attributes that are not the object's";
	if (r->word != &s->gate)
		return "a word that is not the object's";
	if (handler && r->kind != FK_PLACE) {
		in_call = NULL;
		in_call_result = handler(s);
	}
	return NULL;
}

static void begin(const struct row *row, uint32_t value)
{
	if (!s)
		s = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	must(s != MAP_FAILED);
	now_row = row;
	in_call = NULL;
	fk_begin();
	must_be(nlock_sem_init(s, value, row->attr), 0);
	fk.rule = rule;
	fk_forget();
	until = (struct timespec){ 2000, 0 };
}

/* Everybody is done, and nothing but the value is left. */
static void rest(uint32_t value)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	must(!fk.complaint, "%s", fk.complaint);
	must_be(s->state & ~EPOCH, value);
	must_be(s->gate, s->claimed);
	must_be(nlock_sem_value(s), value);
	must_be(nlock_sem_destroy(s), 0);
}

static uint32_t waiters(void)
{
	return (uint32_t)(s->state >> 34) & 0x3fffff;
}

/* Tokens, registered waiters, answers written and not claimed. */
#define is_now(value, count, answers) \
	do { \
		must_be(nlock_sem_value(s), value); \
		must_be(waiters(), count); \
		must_be(s->gate - s->claimed, answers); \
	} while (0)

#define ends(who, call, value) \
	do { \
		must_be(fk_call(who, call, s), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define takes(who) ends(who, do_wait, 0)
#define posts(who) ends(who, do_post, 0)

#define parks(who, call) \
	do { \
		must_be(fk_call(who, call, s), FK_ASLEEP); \
		must_be(fk_lane(who), NL_LANE_BACK); \
	} while (0)

#define stops(who, call, at) \
	do { \
		fk_stop_at(who, at); \
		must_be(fk_call(who, call, s), FK_STOPPED); \
	} while (0)

#define goes_and_ends(who, value) \
	do { \
		must_be(fk_go(who), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define goes_and_parks(who, in) \
	do { \
		must_be(fk_go(who), FK_ASLEEP); \
		must_be(fk_lane(who), in); \
	} while (0)

#define is_roused_and_ends(who, why, value) \
	do { \
		must_be(fk_rouse(who, why), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define is_roused_and_parks(who, why) must_be(fk_rouse(who, why), FK_ASLEEP)

#define is(who, state) must_be(fk_state(who), state)

/* How many newcomers in a row may get past a waiter. */
static uint32_t most_past(const struct row *row)
{
	return row->bound == ROW_NO_BOUND || row->bound <= 255 ? row->bound : 255;
}

/* ---------------------------------------------------------------- nobody waits: T1, T4 */

ROW_TEST(uncontended_calls_make_no_call)
{
	begin(row, 1);
	for (int i = 0; i < 3; i++) {
		must_be(nlock_sem_wait(s), 0);
		must_be(nlock_sem_trywait(s), EAGAIN);
		must_be(nlock_sem_post(s), 0);
		must_be(nlock_sem_trywait(s), 0);
		must_be(nlock_sem_post_n(s, 3), 0);
		until.tv_sec = -5;
		must_be(do_wait_until(s), 0);
		must_be(nlock_sem_wait(s), 0);
		is_now(1, 0, 0);
	}
	must_be(fk.n_calls, 0);
	must_be(fk.n_clocks, 0);
	rest(1);
}

ROW_TEST(post_of_nothing_does_nothing)
{
	begin(row, 0);
	parks(A, do_wait);
	must_be(nlock_sem_post_n(s, 0), 0);
	is_now(0, 1, 0);
	must_be(fk.n_wakes, 0);
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

/* ---------------------------------------------------------------- waiting and answering: T3, T5, T6, T7 */

ROW_TEST(post_gives_the_token_to_the_longest_asleep)
{
	begin(row, 0);
	parks(A, do_wait);
	parks(B, do_wait);
	is_now(0, 2, 0);
	posts(C);
	is(A, FK_WOKEN);
	is(B, FK_ASLEEP);
	is_now(0, 1, 1);
	must_be(fk.n_wakes, 1);
	goes_and_ends(A, 0);
	is_now(0, 1, 0);
	posts(C);
	goes_and_ends(B, 0);
	posts(C);
	must_be(fk.n_wakes, 2);
	rest(1);
}

ROW_TEST(token_of_a_waiter_cannot_be_taken_by_trywait)
{
	begin(row, 0);
	parks(A, do_wait);
	posts(B);
	ends(C, do_trywait, EAGAIN);
	until.tv_sec = 1;
	ends(C, do_wait_until, ETIMEDOUT);
	must_be(nlock_sem_destroy(s), EBUSY);
	posts(B);
	is_now(1, 0, 1);
	ends(C, do_trywait, 0);
	goes_and_ends(A, 0);
	rest(0);
}

ROW_TEST(post_of_many_answers_all_who_wait_and_keeps_the_rest)
{
	begin(row, 0);
	parks(A, do_wait);
	parks(B, do_wait);
	parks(C, do_wait);
	ends(D, do_post_2, 0);
	is_now(0, 1, 2);
	must_be(fk.n_wakes, 1);
	must_be(fk_last(FK_WAKE)->n, 2);
	is(C, FK_ASLEEP);
	must_be(nlock_sem_post_n(s, 5), 0);
	is_now(4, 0, 3);
	goes_and_ends(C, 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest(4);
}

ROW_TEST(waiter_on_its_way_to_sleep_is_sent_back_by_a_post)
{
	begin(row, 0);
	stops(A, do_wait, FK_BEFORE_WAIT);
	is_now(0, 1, 0);
	posts(B);
	must_be(fk_last(FK_WAKE)->result, 0);
	goes_and_ends(A, 0);
	rest(0);
}

/* A is asleep, B on its way: either may have the token, and the other stays. */
ROW_TEST(waiter_that_was_woken_for_nothing_sleeps_in_front_and_is_next)
{
	begin(row, 0);
	parks(A, do_wait);
	parks(C, do_wait);
	stops(B, do_wait, FK_BEFORE_WAIT);
	posts(D);
	is(A, FK_WOKEN);
	goes_and_ends(B, 0);
	goes_and_parks(A, NL_LANE_FRONT);
	must(s->state & FRONT);
	is_now(0, 2, 0);
	posts(D);
	is(A, FK_WOKEN);
	is(C, FK_ASLEEP);
	must(!(s->state & FRONT));
	goes_and_ends(A, 0);
	posts(D);
	goes_and_ends(C, 0);
	rest(0);
}

/* ---------------------------------------------------------------- the bound */

/* C comes after the token for A was posted. True: it has it, and A waits on. */
static bool gets_past(void)
{
	posts(B);
	must_be(fk_state(A), FK_WOKEN);
	if (fk_call(C, do_wait, s) == FK_ASLEEP)
		return false;
	must_be(fk_result(C), 0);
	goes_and_parks(A, NL_LANE_FRONT);
	return true;
}

ROW_TEST(newcomers_get_past_a_waiter_as_often_as_the_bound_says)
{
	const uint32_t most = most_past(row);
	uint32_t n = 0;

	begin(row, 0);
	for (int again = 0; again < 2; again++) {
		parks(A, do_wait);
		for (n = 0; n < 1000 && gets_past();)
			n++;
		must_be(n, most == ROW_NO_BOUND ? 1000 : most);
		if (most == ROW_NO_BOUND) {
			posts(B);
			goes_and_ends(A, 0);
			continue;
		}
		goes_and_ends(A, 0);
		is_now(0, 1, 0);
		posts(B);
		goes_and_ends(C, 0);
		must_be(s->state >> 56, 0);
	}
	rest(0);
}

ROW_TEST(thread_that_posts_and_waits_goes_behind_under_fifo)
{
	begin(row, 0);
	parks(A, do_wait);
	posts(B);
	must_be(fk_call(B, do_wait, s), row->bound ? FK_READY : FK_ASLEEP);
	if (row->bound) {
		goes_and_parks(A, NL_LANE_FRONT);
		posts(B);
		goes_and_ends(A, 0);
	} else {
		goes_and_ends(A, 0);
		posts(C);
		goes_and_ends(B, 0);
	}
	rest(0);
}

ROW_TEST(waiter_that_leaves_ends_the_count_of_those_who_got_past)
{
	begin(row, 0);
	parks(A, do_wait_until);
	if (row->bound)
		must(gets_past());
	is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
	must_be(s->state, 0);
	rest(0);
}

/* ---------------------------------------------------------------- deadlines: T9 */

ROW_TEST(waiter_leaves_at_its_deadline_and_leaves_nothing)
{
	begin(row, 0);
	parks(A, do_wait_until);
	must(fk_has_deadline(A));
	parks(B, do_wait);
	is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
	is_now(0, 1, 0);
	posts(C);
	goes_and_ends(B, 0);
	rest(0);
}

ROW_TEST(waiter_whose_token_came_with_its_deadline_has_it)
{
	begin(row, 0);
	stops(A, do_wait_until, FK_BEFORE_WAIT);
	posts(B);
	fk.now = 2000 * INT64_C(1000000000);
	goes_and_ends(A, 0);
	parks(A, do_wait); /* the time is past for a timed wait now */
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

/* A post of another thread stands between its two steps: it has promised A an answer. Played by hand. */
ROW_TEST(expired_waiter_waits_for_the_answer_that_it_was_promised)
{
	begin(row, 0);
	parks(A, do_wait_until);
	s->state = 0;
	is_roused_and_parks(A, NL_TIMEDOUT);
	must_be(fk.n_waits, 2);
	is_roused_and_parks(A, NL_LOOK);
	s->gate++;
	is_roused_and_ends(A, NL_LOOK, 0);
	rest(0);
}

ROW_TEST(b38_trywait_and_past_deadlines_make_no_call_and_no_pause)
{
	begin(row, 0);
	fk.watch_ns = 5;
	until.tv_sec = 1;
	ends(A, do_trywait, EAGAIN);
	ends(A, do_wait_until, ETIMEDOUT);
	until.tv_sec = -7;
	ends(A, do_wait_until, ETIMEDOUT);
	must_be(fk.n_calls, 0);
	must_be(fk.n_clocks, 0);
	must_be(nlock_sem_post(s), 0);
	ends(A, do_wait_until, 0);
	rest(0);
}

ROW_TEST(b74_sleep_that_ends_early_is_no_timeout)
{
	begin(row, 0);
	parks(A, do_wait_until);
	fk.now = 2000 * INT64_C(1000000000) - 1;
	is_roused_and_parks(A, NL_LOOK);
	fk.now++;
	is_roused_and_ends(A, NL_LOOK, ETIMEDOUT);
	rest(0);
}

/* The fake complains if the deadline changes. */
ROW_TEST(b75_deadline_stays_the_same_through_a_thousand_interruptions)
{
	begin(row, 0);
	parks(A, do_wait_until);
	for (int i = 0; i < 1000; i++)
		is_roused_and_parks(A, NL_LOOK);
	is_now(0, 1, 0);
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

ROW_TEST(b78_token_posted_during_an_interruption_is_not_lost)
{
	begin(row, 0);
	parks(A, do_wait);
	fk_stop_at(A, FK_BEFORE_WAIT);
	must_be(fk_rouse(A, NL_LOOK), FK_STOPPED);
	is_now(0, 1, 0);
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

ROW_TEST(b79_wake_by_mistake_gives_no_token)
{
	begin(row, 0);
	parks(A, do_wait);
	parks(B, do_wait_until);
	for (int i = 0; i < 50; i++) {
		is_roused_and_parks(A, NL_WOKEN);
		is_roused_and_parks(B, i & 1 ? NL_WOKEN : NL_LOOK);
		is_now(0, 2, 0);
	}
	ends(C, do_post_2, 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest(0);
}

ROW_TEST(bad_deadlines_are_looked_at_only_if_there_is_no_token)
{
	begin(row, 1);
	for (int i = 1; i >= 0; i--) {
		until.tv_nsec = 1000000000;
		ends(A, do_wait_until, i ? 0 : EINVAL);
		must_be(nlock_sem_wait_until(s, CLOCK_BOOTTIME, &until), EINVAL);
		must_be(nlock_sem_wait_until(s, CLOCK_MONOTONIC, NULL), EINVAL);
	}
	must_be(fk.n_calls, 0);
	rest(0);
}

/* ---------------------------------------------------------------- the end of life */

/* The page is gone as soon as A has its token: the post is still on its way to its wake. */
ROW_TEST(b20_post_does_not_look_again)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	begin(row, 0);
	stops(A, do_wait, FK_BEFORE_WAIT);
	stops(B, do_post, FK_BEFORE_WAKE);
	goes_and_ends(A, 0);
	must(!mprotect(s, page, PROT_NONE));
	goes_and_ends(B, 0);
	must(!mprotect(s, page, PROT_READ | PROT_WRITE));
	rest(0);
}

ROW_TEST(b20_post_of_many_does_not_look_again)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	begin(row, 0);
	parks(A, do_wait);
	is_roused_and_parks(A, NL_WOKEN); /* in front, so that there are two wakes */
	stops(C, do_wait, FK_BEFORE_WAIT);
	stops(B, do_post_2, FK_AFTER_WAKE);
	goes_and_ends(C, 0);
	goes_and_ends(A, 0);
	must(!mprotect(s, page, PROT_NONE));
	goes_and_ends(B, 0);
	must(!mprotect(s, page, PROT_READ | PROT_WRITE));
	must_be(fk.n_wakes, 2);
	rest(0);
}

/* ---------------------------------------------------------------- signal handlers */

ROW_TEST(b81_handler_posts_while_its_thread_goes_to_sleep)
{
	begin(row, 0);
	in_call = do_post;
	takes(A);
	must_be(in_call_result, 0);
	must(!in_call);
	rest(0);
}

ROW_TEST(b81_handler_posts_while_its_thread_posts)
{
	begin(row, 0);
	parks(A, do_wait);
	parks(C, do_wait);
	in_call = do_post;
	posts(B);
	must_be(in_call_result, 0);
	is_now(0, 0, 2);
	goes_and_ends(A, 0);
	goes_and_ends(C, 0);
	rest(0);
}

/* ---------------------------------------------------------------- the range */

ROW_TEST(b87_value_stops_at_its_maximum)
{
	const uint32_t max = NLOCK_SEM_VALUE_MAX;

	begin(row, max);
	must_be(nlock_sem_post(s), EOVERFLOW);
	must_be(nlock_sem_post_n(s, UINT32_MAX), EOVERFLOW);
	must_be(nlock_sem_post_n(s, 0), 0);
	is_now(max, 0, 0);
	takes(A);
	must_be(nlock_sem_post_n(s, 2), EOVERFLOW);
	posts(A);
	rest(max);
	must_be(nlock_sem_init(s, max + 1, row->attr), EINVAL);
	must_be(nlock_sem_init(s, UINT32_MAX, row->attr), EINVAL);
}

ROW_TEST(b87_post_of_too_many_answers_nobody)
{
	const uint32_t max = NLOCK_SEM_VALUE_MAX;

	begin(row, 0);
	parks(A, do_wait);
	must_be(nlock_sem_post_n(s, max + 2), EOVERFLOW);
	is_now(0, 1, 0);
	must_be(fk.n_wakes, 0);
	must_be(nlock_sem_post_n(s, max + 1), 0);
	is_now(max, 0, 1);
	goes_and_ends(A, 0);
	rest(max);
}

ROW_TEST(counts_of_answers_may_wrap)
{
	begin(row, 0);
	s->gate = s->claimed = UINT32_MAX - 1;
	for (int i = 0; i < 4; i++) {
		parks(A, do_wait);
		parks(B, do_wait_until);
		posts(C);
		goes_and_ends(A, 0);
		posts(C);
		goes_and_ends(B, 0);
	}
	must_be(s->gate, 6);
	rest(0);
}

/* As many as there can be, but for three. */
ROW_TEST(count_near_its_maximum_keeps_to_its_bits)
{
	const uint64_t many = (uint64_t)(0x3fffff - 2) << 34;

	begin(row, 0);
	s->state = many;
	parks(A, do_wait);
	parks(B, do_wait_until);
	must_be(waiters(), 0x3fffff);
	must_be(nlock_sem_value(s), 0);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	must_be(nlock_sem_post_n(s, 0x3fffff - 1), 0);
	must_be(s->state, 0);
	goes_and_ends(A, 0);
	s->claimed = s->gate;
	rest(0);
}

/* ---------------------------------------------------------------- watching: T2 */

ROW_TEST(watcher_takes_a_token_without_a_sleep)
{
	begin(row, 0);
	fk.watch_ns = 1000;
	stops(A, do_wait, FK_AT_CLOCK);
	must_be(s->state, WATCHED);
	fk_stop_at(A, 0);
	posts(B);
	goes_and_ends(A, 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	rest(0);
}

ROW_TEST(watcher_registers_when_its_time_is_up_and_a_second_does_not_watch)
{
	begin(row, 0);
	fk.watch_ns = fk.tick = 1000;
	stops(A, do_wait, FK_AT_CLOCK);
	fk_stop_at(A, 0);
	parks(B, do_wait);
	is_now(0, 1, 0);
	must(!(s->state & WATCHED));
	goes_and_parks(A, NL_LANE_BACK);
	fk.n_clocks = 0;
	parks(C, do_wait);
	must_be(fk.n_clocks, 0);
	must_be(nlock_sem_post_n(s, 3), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	goes_and_ends(C, 0);
	rest(0);
}

/* ---------------------------------------------------------------- fork: T12 */

static bool is_marked(const struct row *row)
{
	return !row->is_shared && row->place != NLOCK_PLACE_NODE(0) && row->place != NLOCK_PLACE_FIRST;
}

/* A waits in the parent; the child has its words, but not A. */
ROW_TEST(child_of_a_fork_counts_no_waiter_of_its_parent)
{
	nlock_sem_t parents;

	begin(row, 0);
	if (!is_marked(row))
		return;
	parks(A, do_wait);
	parents = *s;
	fk.generation++;
	posts(B);
	is_now(1, 0, 0);
	must_be(fk.n_wakes, 0);
	must_be(s->state, EPOCH | 1);
	takes(B);
	ends(C, do_trywait, EAGAIN);
	*s = parents;
	fk.generation--;
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

/* What belongs to the child is not the parent's a second time. */
ROW_TEST(child_of_a_fork_adopts_once)
{
	begin(row, 0);
	fk.generation++;
	s->state = UINT64_C(3) << 34;
	if (!is_marked(row))
		return;
	parks(A, do_wait);
	is_now(0, 1, 0);
	posts(B);
	is_now(0, 0, 1);
	goes_and_ends(A, 0);
	rest(0);
}

ROW_TEST(child_of_a_fork_has_the_tokens_that_no_waiter_of_its_parent_had_claimed)
{
	nlock_sem_t parents;

	begin(row, 0);
	if (!is_marked(row))
		return;
	parks(A, do_wait);
	parks(B, do_wait);
	posts(C);
	parents = *s;
	fk.generation++;
	takes(C);
	ends(C, do_trywait, EAGAIN);
	must_be(nlock_sem_destroy(s), 0);
	must_be(s->state, EPOCH);
	*s = parents;
	fk.generation--;
	goes_and_ends(A, 0);
	posts(C);
	goes_and_ends(B, 0);
	rest(0);
}

ROW_TEST(destroy_in_the_child_of_a_fork_finds_nobody)
{
	nlock_sem_t parents;

	begin(row, 0);
	parks(A, do_wait);
	must_be(nlock_sem_destroy(s), EBUSY);
	parents = *s;
	fk.generation++;
	must_be(nlock_sem_destroy(s), is_marked(row) ? 0 : EBUSY);
	fk.generation--;
	*s = parents;
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

/* ---------------------------------------------------------------- objects */

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	begin(row, 0);
	for (int fill = 0; fill < 256; fill += 85) {
		memset(s, fill, sizeof(*s));
		must_be(nlock_sem_init(s, 7, row->attr), 0);
		is_now(7, 0, 0);
	}
	rest(7);
}

ROW_TEST(init_says_what_the_wait_layer_says)
{
	begin(row, 0);
	fk.place_result = -ENOTSUP;
	must_be(nlock_sem_init(s, 0, row->attr), ENOTSUP);
	must_be(nlock_sem_init((nlock_sem_t *)(void *)((char *)s + 4), 0, row->attr), EINVAL);
	must_be(nlock_sem_init(s, 0, row->attr | NLOCK_BAD_ATTR), EINVAL);
	rest(0);
}

/* ---------------------------------------------------------------- interruption, cancellation */

#define is_cancelled_and_ends(who) \
	do { \
		must_be(fk_cancel(who), FK_READY); \
		must_be(fk_result(who), FK_CANCELLED); \
	} while (0)

ROW_TEST(interrupted_posix_waiter_goes_and_leaves_nothing)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	is_roused_and_ends(A, NL_INTR, EINTR);
	parks(A, do_wait_posix_until);
	is_roused_and_ends(A, NL_INTR, EINTR);
	rest(0);
	parks(A, do_wait_posix_until);
	is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
	parks(A, do_wait_posix);
	posts(B);
	goes_and_ends(A, 0);
	rest(0);
}

ROW_TEST(interrupted_posix_waiter_waits_for_the_answer_that_it_was_promised)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	s->state = 0;
	is_roused_and_parks(A, NL_INTR);
	s->gate++;
	is_roused_and_ends(A, NL_LOOK, 0);
	rest(0);
}

ROW_TEST(posix_waiter_looks_at_its_deadline_only_if_there_is_no_token)
{
	static const struct timespec bad = { 5, -1 };

	begin(row, 3);
	must_be(nlock_sem_wait_posix(s, CLOCK_MONOTONIC, &bad), 0);
	must_be(nlock_sem_wait_posix(s, CLOCK_BOOTTIME, &until), 0);
	must_be(nlock_sem_wait_posix(s, -1, NULL), 0);
	must_be(nlock_sem_wait_posix(s, CLOCK_MONOTONIC, &bad), EINVAL);
	must_be(nlock_sem_wait_posix(s, CLOCK_BOOTTIME, &until), EINVAL);
	until.tv_sec = -1;
	must_be(nlock_sem_wait_posix(s, CLOCK_REALTIME, &until), ETIMEDOUT);
	must_be(fk.n_calls, 0);
	rest(0);
}

ROW_TEST(b82_thread_that_is_cancelled_already_takes_no_token)
{
	begin(row, 1);
	must_be(fk_cancel(A), FK_READY);
	ends(A, do_wait_posix, FK_CANCELLED);
	must_be(fk.n_calls, 0);
	rest(1);
}

ROW_TEST(b82_cancelled_sleeper_leaves_nothing)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	is_cancelled_and_ends(A);
	rest(0);
}

ROW_TEST(b82_token_of_a_cancelled_waiter_goes_to_the_next)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	parks(B, do_wait);
	posts(C);
	is(A, FK_WOKEN);
	is_cancelled_and_ends(A);
	is(B, FK_WOKEN);
	goes_and_ends(B, 0);
	rest(0);
}

ROW_TEST(b82_token_of_the_only_waiter_goes_back_into_the_value)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	posts(C);
	is(A, FK_WOKEN);
	is_cancelled_and_ends(A);
	is_now(1, 0, 0);
	takes(B);
	stops(A, do_wait_posix, FK_BEFORE_WAIT);
	posts(C);
	is_cancelled_and_ends(A);
	rest(1);
}

ROW_TEST(b82_two_tokens_for_two_waiters_of_whom_one_is_cancelled)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	parks(B, do_wait);
	must_be(nlock_sem_post_n(s, 2), 0);
	is_cancelled_and_ends(A);
	is_now(1, 0, 1);
	goes_and_ends(B, 0);
	rest(1);
}

/* A post of another thread stands between its two steps, as above. */
ROW_TEST(b82_cancelled_waiter_gives_back_the_answer_that_it_was_promised)
{
	begin(row, 0);
	parks(A, do_wait_posix);
	s->state = 0;
	must_be(fk_cancel(A), FK_ASLEEP);
	must(!fk_may_cancel(A));
	s->gate++;
	must_be(fk_rouse(A, NL_LOOK), FK_READY);
	must_be(fk_result(A), FK_CANCELLED);
	rest(1);
}

/* ---------------------------------------------------------------- at random */

static int (*const anything[])(void *) = { do_wait,   do_wait_until, do_trywait,          do_post,
					   do_post_2, do_wait_posix, do_wait_posix_until, do_post };

struct balance {
	int kind[FK_PLAYERS];
	int posted, taken;
};

static void settle(struct balance *b, int i)
{
	if (fk_state(i) != FK_READY || b->kind[i] < 0)
		return;
	if (anything[b->kind[i]] == do_post || anything[b->kind[i]] == do_post_2)
		b->posted += anything[b->kind[i]] == do_post ? 1 : 2;
	else
		b->taken += !fk_result(i);
	b->kind[i] = -1;
}

static void step(struct balance *b, uint64_t *rnd)
{
	int i = (int)(harness_random(rnd) % 6), how = (int)(harness_random(rnd) % 4);

	if (fk_state(i) == FK_READY) {
		b->kind[i] = (int)(harness_random(rnd) % COUNT(anything));
		if (how < 2)
			fk_stop_at(i, how ? FK_BEFORE_WAIT : FK_BEFORE_WAKE);
		fk_call(i, anything[b->kind[i]], s);
	} else if (how == 1 && fk_may_cancel(i) && !(harness_random(rnd) % 4)) {
		fk_cancel(i);
	} else if (fk_state(i) != FK_ASLEEP) {
		fk_go(i);
	} else if (how == 3 && fk_has_deadline(i) && !(harness_random(rnd) % 4)) {
		fk_rouse(i, NL_TIMEDOUT);
	} else if (how == 2) {
		fk_rouse(i, harness_random(rnd) % 2 ? NL_WOKEN : fk_may_cancel(i) ? NL_INTR : NL_LOOK);
	}
	settle(b, i);
}

/* Nobody gets a new call; tokens are posted until nobody is left. */
static void finish(struct balance *b)
{
	for (int round = 0; round < 100; round++) {
		int busy = 0;

		for (int i = 0; i < FK_PLAYERS; i++) {
			fk_stop_at(i, 0);
			while (fk_state(i) == FK_STOPPED || fk_state(i) == FK_WOKEN)
				fk_go(i);
			settle(b, i);
			busy += fk_state(i) != FK_READY;
		}
		if (!busy)
			return;
		must_be(nlock_sem_post(s), 0);
		b->posted++;
	}
	must(false, "somebody sleeps for ever");
}

ROW_TEST(random_schedules_lose_no_token_and_leave_nobody_asleep)
{
	uint64_t rnd = harness_random_start(row->attr);

	for (int r = 0; r < harness_rounds(20, 1000); r++) {
		struct balance b = { .posted = 0 };

		begin(row, 0);
		for (int i = 0; i < FK_PLAYERS; i++)
			b.kind[i] = -1;
		for (int i = 0; i < 200; i++)
			step(&b, &rnd);
		finish(&b);
		rest((uint32_t)(b.posted - b.taken));
	}
}

static const struct test tests[] = {
	EACH_ROW(uncontended_calls_make_no_call),
	EACH_HANDOFF(post_of_nothing_does_nothing),
	EACH_ROW(post_gives_the_token_to_the_longest_asleep),
	EACH_HANDOFF(token_of_a_waiter_cannot_be_taken_by_trywait),
	EACH_ROW(post_of_many_answers_all_who_wait_and_keeps_the_rest),
	EACH_HANDOFF(waiter_on_its_way_to_sleep_is_sent_back_by_a_post),
	EACH_HANDOFF(waiter_that_was_woken_for_nothing_sleeps_in_front_and_is_next),
	EACH_HANDOFF(newcomers_get_past_a_waiter_as_often_as_the_bound_says),
	EACH_HANDOFF(thread_that_posts_and_waits_goes_behind_under_fifo),
	EACH_HANDOFF(waiter_that_leaves_ends_the_count_of_those_who_got_past),
	EACH_HANDOFF(waiter_leaves_at_its_deadline_and_leaves_nothing),
	EACH_HANDOFF(waiter_whose_token_came_with_its_deadline_has_it),
	EACH_HANDOFF(expired_waiter_waits_for_the_answer_that_it_was_promised),
	EACH_HANDOFF(b38_trywait_and_past_deadlines_make_no_call_and_no_pause),
	EACH_HANDOFF(b74_sleep_that_ends_early_is_no_timeout),
	EACH_HANDOFF(b75_deadline_stays_the_same_through_a_thousand_interruptions),
	EACH_HANDOFF(b78_token_posted_during_an_interruption_is_not_lost),
	EACH_HANDOFF(b79_wake_by_mistake_gives_no_token),
	EACH_HANDOFF(bad_deadlines_are_looked_at_only_if_there_is_no_token),
	EACH_ROW(b20_post_does_not_look_again),
	EACH_HANDOFF(b20_post_of_many_does_not_look_again),
	EACH_HANDOFF(b81_handler_posts_while_its_thread_goes_to_sleep),
	EACH_HANDOFF(b81_handler_posts_while_its_thread_posts),
	EACH_HANDOFF(b87_value_stops_at_its_maximum),
	EACH_HANDOFF(b87_post_of_too_many_answers_nobody),
	EACH_HANDOFF(counts_of_answers_may_wrap),
	EACH_HANDOFF(count_near_its_maximum_keeps_to_its_bits),
	EACH_HANDOFF(watcher_takes_a_token_without_a_sleep),
	EACH_HANDOFF(watcher_registers_when_its_time_is_up_and_a_second_does_not_watch),
	EACH_ROW(child_of_a_fork_counts_no_waiter_of_its_parent),
	EACH_ROW(child_of_a_fork_adopts_once),
	EACH_ROW(child_of_a_fork_has_the_tokens_that_no_waiter_of_its_parent_had_claimed),
	EACH_ROW(destroy_in_the_child_of_a_fork_finds_nobody),
	EACH_ROW(init_reads_nothing_of_what_was_there),
	EACH_HANDOFF(init_says_what_the_wait_layer_says),
	EACH_HANDOFF(interrupted_posix_waiter_goes_and_leaves_nothing),
	EACH_HANDOFF(interrupted_posix_waiter_waits_for_the_answer_that_it_was_promised),
	EACH_HANDOFF(posix_waiter_looks_at_its_deadline_only_if_there_is_no_token),
	EACH_HANDOFF(b82_thread_that_is_cancelled_already_takes_no_token),
	EACH_HANDOFF(b82_cancelled_sleeper_leaves_nothing),
	EACH_HANDOFF(b82_token_of_a_cancelled_waiter_goes_to_the_next),
	EACH_HANDOFF(b82_token_of_the_only_waiter_goes_back_into_the_value),
	EACH_HANDOFF(b82_two_tokens_for_two_waiters_of_whom_one_is_cancelled),
	EACH_HANDOFF(b82_cancelled_waiter_gives_back_the_answer_that_it_was_promised),
	EACH_HANDOFF(random_schedules_lose_no_token_and_leave_nobody_asleep),
};

/* Only one player runs at a time: on one CPU the baton goes round faster. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	stay_on_one_cpu();
	return harness_main(argc, argv, "script of sem", tests, COUNT(tests));
}
