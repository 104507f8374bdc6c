/* SPDX-License-Identifier: MIT
 *
 * check_script_barrier.c - tier 2: lib/barrier.c over tests/fake_wait.c, interleaving by interleaving
 *
 * Every transition of the table at the top of lib/barrier.c, and every outcome of a wait at chosen moments. The words that the
 * scripts expect are spelled out below and not taken from lib/barrier.c. A number in a test's name is that of a public fault: B22
 * storage reused while others leave, B23 rounds mixed, B37 spinning without a CPU to spare, B79 a wake taken for proof, B85
 * numbers that come round.
 */
#include "fake_wait.h"
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C, D, E, F };

#define ASLEEP  1u /* in the gate */
#define AWAITED 1u /* in left */
#define ONE     2u

static nlock_barrier_t *b; /* alone in its page */
static nlock_attr_t now_attr;

static int do_wait(void *arg)
{
	return nlock_barrier_wait(arg);
}

static int do_destroy(void *arg)
{
	return nlock_barrier_destroy(arg);
}

/* Destroys, and unmaps at once if that is right. */
static int do_end(void *arg)
{
	int rc = nlock_barrier_destroy(arg);

	return rc ? rc : mprotect(arg, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
}

/* A barrier does not know hand-off: its rows are those that have none. */
static bool has_row(const struct row *row)
{
	return !(row->attr & 3u);
}

static const char *rule(const struct fk_record *r)
{
	if (r->word == &b->gate) {
		if (r->kind < FK_PLACE && r->attr != now_attr)
			return "attributes at the gate that are not the object's";
		if (r->kind == FK_WAIT && !(r->value & ASLEEP))
			return "a sleep at the gate that the gate does not tell";
		if (r->kind == FK_WAKE && r->n != INT_MAX)
			return "a wake at the gate that is not of all";
		return NULL;
	}
	if (r->word != &b->left)
		return "a word that is not the object's";
	if (r->attr != (now_attr & NLOCK_SHARED))
		return "a place for the destroyer, whose wake would read memory";
	if (r->kind == FK_WAIT && (r->value == AWAITED || !(r->value & AWAITED)))
		return "a destroyer that sleeps although nobody is inside, or untold";
	if (r->kind == FK_WAKE && r->n != 1)
		return "a wake of more destroyers than one";
	return NULL;
}

static void begin(nlock_attr_t attr, uint32_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!b)
		b = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(b != MAP_FAILED);
	must(!mprotect(b, page, PROT_READ | PROT_WRITE));
	now_attr = attr;
	fk_begin();
	must_be(nlock_barrier_init(b, count, attr), 0);
	fk.rule = rule;
	fk_forget();
}

/* As after `round` full rounds. */
static void begin_at(uint32_t round, uint32_t count)
{
	begin(0, count);
	b->state = (uint64_t)round << 32;
	b->gate = round * ONE;
	b->left = round * count * ONE;
}

static void words_are(uint32_t round, uint32_t arrived, uint32_t gate, uint32_t left)
{
	must_be(b->state, (uint64_t)round << 32 | arrived);
	must_be(b->gate, gate);
	must_be(b->left, left);
}

static void all_are_ready(void)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	must(!fk.complaint, "%s", fk.complaint);
}

/* Everybody is done, and the words are those of `round` full rounds. */
static void rest(uint32_t round)
{
	all_are_ready();
	words_are(round, 0, round * ONE, round * b->count * ONE);
	must_be(nlock_barrier_destroy(b), 0);
	words_are(round, 0, round * ONE, round * b->count * ONE);
}

#define ends(who, value) \
	do { \
		must_be(fk_call(who, do_wait, b), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define parks(who) must_be(fk_call(who, do_wait, b), FK_ASLEEP)
#define goes_and_ends(who, value) \
	do { \
		must_be(fk_go(who), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define is(who, state) must_be(fk_state(who), state)

/* ---------------------------------------------------------------- T1 to T5 */

ROW_TEST(round_is_full_when_count_have_come_and_the_last_is_serial)
{
	begin(row->attr, 3);
	parks(A);
	words_are(0, 1, ASLEEP, 0);
	parks(B);
	words_are(0, 2, ASLEEP, 0);
	must_be(nlock_barrier_destroy(b), EBUSY);
	words_are(0, 2, ASLEEP, 0);
	ends(C, NLOCK_BARRIER_SERIAL);
	words_are(1, 0, ONE, ONE);
	is(A, FK_WOKEN);
	is(B, FK_WOKEN);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	must_be(fk.n_waits, 2);
	must_be(fk.n_wakes, 1);
	rest(1);
}

ROW_TEST(barrier_of_one_is_always_serial_and_makes_no_call)
{
	begin(row->attr, 1);
	for (uint32_t i = 1; i <= 5; i++) {
		must_be(nlock_barrier_wait(b), NLOCK_BARRIER_SERIAL);
		words_are(i, 0, i * ONE, i * ONE);
	}
	must_be(fk.n_waits + fk.n_wakes + fk.n_clocks, 0);
	rest(5);
}

/* The watcher is still awake: nothing to wake. */
TEST(round_of_threads_that_are_awake_makes_no_call)
{
	begin(0, 2);
	fk.watch_ns = 100;
	fk_stop_at(A, FK_AT_CLOCK);
	must_be(fk_call(A, do_wait, b), FK_STOPPED);
	ends(B, NLOCK_BARRIER_SERIAL);
	fk_stop_at(A, 0);
	goes_and_ends(A, 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	rest(1);
}

/* On its way to sleep: the kernel compares after the gate was opened. */
TEST(thread_on_its_way_to_sleep_finds_the_gate_open)
{
	begin(0, 2);
	fk_stop_at(A, FK_BEFORE_WAIT);
	must_be(fk_call(A, do_wait, b), FK_STOPPED);
	ends(B, NLOCK_BARRIER_SERIAL);
	must_be(fk_last(FK_WAKE)->result, 0);
	goes_and_ends(A, 0);
	must_be(fk.n_waits, 1);
	rest(1);
}

/* About to say that it sleeps: the exchange fails. */
TEST(thread_about_to_lie_down_finds_the_gate_open)
{
	begin(NLOCK_PLACE_FIRST, 2);
	fk_stop_at(A, FK_BEFORE_ENTER);
	must_be(fk_call(A, do_wait, b), FK_STOPPED);
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	rest(1);
}

/* The node is chosen when nobody of an earlier round is inside, and not otherwise. */
TEST(node_is_chosen_by_the_first_sleeper_only_when_the_others_have_gone)
{
	begin(NLOCK_PLACE_FIRST, 2);
	parks(A);
	must_be(fk.n_enters, 1);
	ends(B, NLOCK_BARRIER_SERIAL);
	parks(C); /* A has been woken and is still inside */
	must_be(fk.n_enters, 1);
	goes_and_ends(A, 0);
	ends(D, NLOCK_BARRIER_SERIAL);
	goes_and_ends(C, 0);
	parks(E);
	must_be(fk.n_enters, 2);
	ends(F, NLOCK_BARRIER_SERIAL);
	goes_and_ends(E, 0);
	rest(3);
}

/* ---------------------------------------------------------------- B23: rounds */

TEST(b23_fast_thread_in_the_next_round_does_not_keep_a_slow_one_in_the_last)
{
	begin(0, 2);
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	parks(B); /* the next round; A has not looked yet */
	words_are(1, 1, ONE | ASLEEP, ONE);
	goes_and_ends(A, 0);
	ends(A, NLOCK_BARRIER_SERIAL);
	goes_and_ends(B, 0);
	rest(2);
}

TEST(b23_twice_as_many_callers_make_two_rounds_with_one_serial_each)
{
	int serials = 0;

	begin(0, 3);
	parks(A);
	parks(B);
	must_be(fk_call(C, do_wait, b), FK_READY);
	parks(D); /* A and B are awake, and have not run */
	parks(E);
	must_be(fk_call(F, do_wait, b), FK_READY);
	for (int i = A; i <= F; i++) {
		if (fk_state(i) == FK_WOKEN)
			must_be(fk_go(i), FK_READY);
		must(!fk_result(i) || fk_result(i) == NLOCK_BARRIER_SERIAL);
		serials += fk_result(i) == NLOCK_BARRIER_SERIAL;
	}
	must_be(serials, 2);
	must_be(fk_result(C), NLOCK_BARRIER_SERIAL);
	must_be(fk_result(F), NLOCK_BARRIER_SERIAL);
	rest(2);
}

/* The slowest thread of round 0 looks when others have filled two more. */
TEST(b23_thread_that_sleeps_through_later_rounds_is_out_all_the_same)
{
	begin(0, 2);
	fk_stop_at(A, FK_BEFORE_WAIT);
	must_be(fk_call(A, do_wait, b), FK_STOPPED);
	ends(B, NLOCK_BARRIER_SERIAL);
	for (int i = 0; i < 5; i++) {
		parks(B);
		ends(C, NLOCK_BARRIER_SERIAL);
		goes_and_ends(B, 0);
	}
	goes_and_ends(A, 0);
	rest(6);
}

/* ---------------------------------------------------------------- B79: what a wait returns proves nothing */

TEST(b79_stray_wakes_and_signals_let_nobody_through)
{
	static const enum nl_outcome outcomes[] = { NL_WOKEN, NL_LOOK };

	for (int i = 0; i < COUNT(outcomes); i++) {
		begin(0, 3);
		parks(A);
		must_be(fk_rouse(A, outcomes[i]), FK_ASLEEP);
		parks(B);
		must_be(fk_rouse(B, outcomes[i]), FK_ASLEEP);
		must_be(fk_rouse(A, outcomes[i]), FK_ASLEEP);
		words_are(0, 2, ASLEEP, 0);
		ends(C, NLOCK_BARRIER_SERIAL);
		goes_and_ends(A, 0);
		goes_and_ends(B, 0);
		rest(1);
	}
}

TEST(b79_destroyer_that_is_woken_for_nothing_sleeps_again)
{
	static const enum nl_outcome outcomes[] = { NL_WOKEN, NL_LOOK };

	for (int i = 0; i < COUNT(outcomes); i++) {
		begin(0, 2);
		parks(A);
		ends(B, NLOCK_BARRIER_SERIAL);
		must_be(fk_call(B, do_destroy, b), FK_ASLEEP);
		must_be(fk_rouse(B, outcomes[i]), FK_ASLEEP);
		goes_and_ends(A, 0);
		is(B, FK_WOKEN);
		goes_and_ends(B, 0);
		rest(1);
	}
}

/* ---------------------------------------------------------------- B22: the end. T6, T7 */

ROW_TEST(b22_destroy_waits_for_threads_that_are_still_leaving)
{
	begin(row->attr, 3);
	parks(A);
	parks(B);
	ends(C, NLOCK_BARRIER_SERIAL);
	must_be(fk_call(C, do_end, b), FK_ASLEEP); /* it may not go yet */
	must_be(b->left, AWAITED - 2 * ONE);
	goes_and_ends(A, 0);
	is(C, FK_ASLEEP);
	must_be(fk.n_wakes, 1);
	goes_and_ends(B, 0); /* the last one out wakes it */
	is(C, FK_WOKEN);
	must_be(fk.n_wakes, 2);
	goes_and_ends(C, 0);
	all_are_ready();
}

/* The last one out has done all but its wake when the memory goes. */
ROW_TEST(b22_memory_may_go_before_the_wake_of_the_last_one_out)
{
	begin(row->attr, 2);
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	fk_stop_at(B, FK_BEFORE_WAIT);
	must_be(fk_call(B, do_end, b), FK_STOPPED);
	fk_stop_at(A, FK_BEFORE_WAKE);
	must_be(fk_go(A), FK_STOPPED);
	goes_and_ends(B, 0); /* finds the word changed, and the memory goes */
	goes_and_ends(A, 0);
	must_be(fk_last(FK_WAKE)->result, 0);
	all_are_ready();
}

TEST(b22_serial_thread_is_inside_until_its_wake_is_done)
{
	begin(0, 2);
	parks(A);
	fk_stop_at(B, FK_AFTER_WAKE);
	must_be(fk_call(B, do_wait, b), FK_STOPPED);
	goes_and_ends(A, 0);
	must_be(fk_call(A, do_end, b), FK_ASLEEP);
	goes_and_ends(B, NLOCK_BARRIER_SERIAL);
	is(A, FK_WOKEN);
	goes_and_ends(A, 0);
	all_are_ready();
}

TEST(destroy_when_all_have_left_makes_no_call)
{
	begin(0, 2);
	must_be(nlock_barrier_destroy(b), 0);
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	fk_forget();
	must_be(nlock_barrier_destroy(b), 0);
	must_be(fk.n_calls, 0);
	rest(1);
}

TEST(leavers_make_no_call_when_nobody_destroys)
{
	begin(0, 2);
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	must_be(fk.n_wakes, 1);
	goes_and_ends(A, 0);
	must_be(fk.n_wakes, 1);
	rest(1);
}

/* ---------------------------------------------------------------- B37: watching */

TEST(b37_only_the_thread_before_the_last_watches_on_two_cpus)
{
	begin(0, 4);
	fk.watch_ns = fk.tick = 1;
	parks(A);
	parks(B);
	must_be(fk.n_clocks, 0);
	parks(C);
	must(fk.n_clocks > 0);
	ends(D, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	goes_and_ends(C, 0);
	rest(1);
}

TEST(b37_nobody_watches_on_one_cpu)
{
	begin(0, 2);
	parks(A);
	must_be(fk.n_clocks, 0);
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	rest(1);
}

TEST(b37_watcher_gives_up_when_its_time_is_over)
{
	begin(0, 2);
	fk.watch_ns = 1000;
	fk.tick = 100;
	parks(A);
	must(fk.n_clocks >= 2 && fk.n_clocks < 20);
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	rest(1);
}

/* ---------------------------------------------------------------- B85: numbers that come round */

TEST(b85_rounds_go_on_when_their_number_comes_round)
{
	static const uint32_t starts[] = { 0x3ffffffeu, 0x7ffffffeu, 0xbffffffeu, 0xfffffffeu };

	for (int i = 0; i < COUNT(starts); i++) {
		begin_at(starts[i], 3);
		for (int k = 0; k < 5; k++) {
			parks(A);
			parks(B);
			ends(C, NLOCK_BARRIER_SERIAL);
			parks(C); /* of the next round already */
			goes_and_ends(A, 0);
			goes_and_ends(B, 0);
			parks(A);
			ends(B, NLOCK_BARRIER_SERIAL);
			goes_and_ends(C, 0);
			goes_and_ends(A, 0);
		}
		rest(starts[i] + 10);
	}
}

TEST(b85_destroy_counts_right_when_the_number_of_calls_comes_round)
{
	begin_at(UINT32_MAX, NLOCK_BARRIER_COUNT_MAX);
	must_be(nlock_barrier_destroy(b), 0);
	begin_at(UINT32_MAX, 2);
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	must_be(fk_call(B, do_destroy, b), FK_ASLEEP);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest(0);
}

/* ---------------------------------------------------------------- fork. T8 */

TEST(child_of_a_fork_does_not_count_the_parents_threads)
{
	for (uint32_t arrived = 0; arrived < 3; arrived++) {
		for (uint32_t inside = 0; inside < 3; inside++) {
			for (uint32_t late = 0; late < 2; late++) {
				uint32_t round = 7 + (arrived != 0);

				begin_at(7, 3);
				b->state += arrived;
				b->gate = (7 - late) * ONE | ASLEEP;
				b->left -= inside * ONE;
				fk.generation++;
				parks(A);
				words_are(round, 1, round * ONE | ASLEEP, round * 3 * ONE);
				parks(B);
				ends(C, NLOCK_BARRIER_SERIAL);
				goes_and_ends(A, 0);
				goes_and_ends(B, 0);
				rest(round + 1);
			}
		}
	}
}

TEST(child_of_a_fork_may_destroy_what_the_parents_threads_wait_at)
{
	begin_at(7, 3);
	b->state += 2;
	b->left -= 2 * ONE;
	fk.generation++;
	must_be(nlock_barrier_destroy(b), 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	rest(8);
}

TEST(shared_barrier_stays_that_of_both_processes)
{
	begin(NLOCK_SHARED, 2);
	parks(A);
	fk.generation++;
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	rest(1);
}

/* ---------------------------------------------------------------- init */

TEST(init_refuses_what_is_no_barrier)
{
	char room[64] __attribute__((aligned(8)));

	begin(0, 2);
	must_be(nlock_barrier_init(b, 0, 0), EINVAL);
	must_be(nlock_barrier_init(b, NLOCK_BARRIER_COUNT_MAX + 1u, 0), EINVAL);
	must_be(nlock_barrier_init(b, UINT32_MAX, 0), EINVAL);
	must_be(nlock_barrier_init((nlock_barrier_t *)(void *)(room + 4), 2, 0), EINVAL);
	for (int i = 0; i < ROWS; i++)
		must_be(nlock_barrier_init(b, 2, rows[i].attr), has_row(&rows[i]) ? 0 : EINVAL);
	must_be(nlock_barrier_init(b, 2, NLOCK_BAD_ATTR), EINVAL);
	fk.place_result = -ENOTSUP;
	must_be(nlock_barrier_init(b, 2, NLOCK_PLACE_FIRST), ENOTSUP);
}

TEST(zero_is_at_rest_and_waits_for_nobody_but_who_is_told)
{
	static const nlock_barrier_t zero;
	nlock_barrier_t x = NLOCK_BARRIER_INIT(2);

	begin(0, 2);
	must_be(x.count, 2);
	x.count = 0;
	must(!memcmp(&x, &zero, sizeof(x)));
	must_be(nlock_barrier_wait(&x), EINVAL);
	must(!memcmp(&x, &zero, sizeof(x)));
	*b = (nlock_barrier_t)NLOCK_BARRIER_INIT(2);
	fk.generation = 5; /* whose it is will be found out */
	parks(A);
	ends(B, NLOCK_BARRIER_SERIAL);
	goes_and_ends(A, 0);
	rest(1);
}

static const struct test tests[] = {
	EACH_PLACE(round_is_full_when_count_have_come_and_the_last_is_serial),
	EACH_PLACE(barrier_of_one_is_always_serial_and_makes_no_call),
	ONCE(round_of_threads_that_are_awake_makes_no_call),
	ONCE(thread_on_its_way_to_sleep_finds_the_gate_open),
	ONCE(thread_about_to_lie_down_finds_the_gate_open),
	ONCE(node_is_chosen_by_the_first_sleeper_only_when_the_others_have_gone),
	ONCE(b23_fast_thread_in_the_next_round_does_not_keep_a_slow_one_in_the_last),
	ONCE(b23_twice_as_many_callers_make_two_rounds_with_one_serial_each),
	ONCE(b23_thread_that_sleeps_through_later_rounds_is_out_all_the_same),
	ONCE(b79_stray_wakes_and_signals_let_nobody_through),
	ONCE(b79_destroyer_that_is_woken_for_nothing_sleeps_again),
	EACH_PLACE(b22_destroy_waits_for_threads_that_are_still_leaving),
	EACH_PLACE(b22_memory_may_go_before_the_wake_of_the_last_one_out),
	ONCE(b22_serial_thread_is_inside_until_its_wake_is_done),
	ONCE(destroy_when_all_have_left_makes_no_call),
	ONCE(leavers_make_no_call_when_nobody_destroys),
	ONCE(b37_only_the_thread_before_the_last_watches_on_two_cpus),
	ONCE(b37_nobody_watches_on_one_cpu),
	ONCE(b37_watcher_gives_up_when_its_time_is_over),
	ONCE(b85_rounds_go_on_when_their_number_comes_round),
	ONCE(b85_destroy_counts_right_when_the_number_of_calls_comes_round),
	ONCE(child_of_a_fork_does_not_count_the_parents_threads),
	ONCE(child_of_a_fork_may_destroy_what_the_parents_threads_wait_at),
	ONCE(shared_barrier_stays_that_of_both_processes),
	ONCE(init_refuses_what_is_no_barrier),
	ONCE(zero_is_at_rest_and_waits_for_nobody_but_who_is_told),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "script_barrier", tests, COUNT(tests));
}
