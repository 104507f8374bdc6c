/* SPDX-License-Identifier: MIT
 *
 * check_script.c - tier 2: lib/mutex.c over tests/fake_wait.c, interleaving by interleaving
 *
 * Every transition of the table at the top of lib/mutex.c, and every outcome of a wait at chosen moments. A bug that
 * was found anywhere becomes a script here before it is mended. The words that the scripts expect are spelled out
 * below and not taken from lib/mutex.c: they are what that table says.
 *
 * A, B, C, D are players. Where nobody has to be able to sleep, the script calls the library itself: it is the hog, the
 * newcomer, the stranger.
 */
#include "fake_wait.h"
#include "harness.h"
#include "mutex.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C, D };

#define LOCKED 0x01u
#define GRANT  0x02u
#define CALLED 0x04u
#define AWAKE  0x08u
#define FRONT  0x0cu
#define HEAD   0x0cu
#define DUE    0x10u
#define ROUND  0x20u
#define CROWD  0x40u
#define ONE    0x80u

static nlock_mutex_t *m; /* alone in its page */
static const struct row *now_row;
static struct timespec until;
static clockid_t until_clock;

/* ---------------------------------------------------------------- the calls, as players make them */

static int do_lock(void *arg)
{
	return nlock_mutex_lock(arg);
}

static int do_trylock(void *arg)
{
	return nlock_mutex_trylock(arg);
}

static int do_lock_until(void *arg)
{
	return nlock_mutex_lock_until(arg, until_clock, &until);
}

static int do_unlock(void *arg)
{
	return nlock_mutex_unlock(arg);
}

static int do_unlock_fair(void *arg)
{
	return nlock_mutex_unlock_fair(arg);
}

static int do_unlock_barging(void *arg)
{
	return nlock_mutex_unlock_barging(arg);
}

static int do_bump(void *arg)
{
	return nlock_mutex_bump(arg);
}

/* As one whom a broadcast has counted: moved or on its way, or woken by it. */
static int do_come(void *arg)
{
	nl_mutex_lock_expected(arg, false);
	return 0;
}

static int do_come_woken(void *arg)
{
	nl_mutex_lock_expected(arg, true);
	return 0;
}

static int (*const releases_of[])(void *) = { do_unlock, do_unlock_fair, do_unlock_barging };

enum { BY_ATTR, FAIR, BARGE }; /* indexes of it */

/* What the policy says of a release, in the test's own words. */
static bool grants(int how, uint32_t bypass)
{
	if (how != BY_ATTR)
		return how == FAIR;
	return now_row->bound != ROW_NO_BOUND && bypass >= now_row->bound;
}

/* FIFO calls its next head early where there is a CPU to watch on. */
static bool calls_early(void)
{
	return now_row->bound == 0 && fk.watch_ns;
}

/* ---------------------------------------------------------------- the language of the scripts */

static const char *rule(const struct fk_record *r)
{
	if (r->kind < FK_PLACE && r->attr != now_row->attr)
		return "attributes that are not the object's";
	if (r->word != &m->word)
		return "a word that is not the object's";
	if (r->kind == FK_WAIT && !(r->value & LOCKED))
		return "a wait on a lock that is open";
	if (r->kind == FK_WAIT && r->value < ONE)
		return "a wait on a word that counts no waiter";
	if (r->kind == FK_WAIT && r->lanes == NL_LANE_FRONT && (r->value & (HEAD | GRANT)) != FRONT)
		return "a wait in front on a word that does not say so";
	if (r->kind == FK_WAKE && r->n != 1)
		return "a wake of more than one";
	return NULL;
}

static void begin(const struct row *row)
{
	if (!m)
		m = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	must(m != MAP_FAILED);
	now_row = row;
	fk_begin();
	must_be(nlock_mutex_init(m, row->attr), 0);
	fk.rule = rule;
	fk_forget();
	until = (struct timespec){ 2000, 0 };
	until_clock = CLOCK_MONOTONIC;
}

/* The same where watching is possible, but over at once. */
static void begin_with_cpus(const struct row *row, bool can_watch)
{
	begin(row);
	fk.watch_ns = fk.tick = can_watch;
}

/* Everybody is done and the lock is as new. */
static void rest(void)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	must(!fk.complaint, "%s", fk.complaint);
	must_be(m->word, 0);
	must_be(nlock_mutex_destroy(m), 0);
}

#define word_is(flags, waiters) must_be(m->word, (flags) | (uint32_t)(waiters)*ONE)

#define ends(who, call, value) \
	do { \
		must_be(fk_call(who, call, m), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define takes(who)         ends(who, do_lock, 0)
#define releases(who, how) ends(who, how, 0)

#define parks(who, call, in) \
	do { \
		must_be(fk_call(who, call, m), FK_ASLEEP); \
		must_be(fk_lane(who), in); \
	} while (0)

#define stops(who, call, at) \
	do { \
		fk_stop_at(who, at); \
		must_be(fk_call(who, call, m), FK_STOPPED); \
	} while (0)

/* Goes on from a stop or a wake-up: and returns; or sleeps (again). */
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
#define is_roused_and_parks(who, why, in) \
	do { \
		must_be(fk_rouse(who, why), FK_ASLEEP); \
		must_be(fk_lane(who), in); \
	} while (0)

#define is(who, state) must_be(fk_state(who), state)

#define last_wake_was(in, found) \
	do { \
		must(fk_last(FK_WAKE) != NULL, "no wake"); \
		must_be(fk_last(FK_WAKE)->lanes, in); \
		must_be(fk_last(FK_WAKE)->result, found); \
	} while (0)

/* ---------------------------------------------------------------- nobody waits: T1, T8 */

ROW_TEST(uncontended_lock_and_unlock_make_no_call)
{
	begin(row);
	for (int how = 0; how < 3; how++) {
		must_be(nlock_mutex_lock(m), 0);
		word_is(LOCKED, 0);
		must_be(nlock_mutex_bump(m), 0);
		word_is(LOCKED, 0);
		must_be(releases_of[how](m), 0);
		must_be(nlock_mutex_trylock(m), 0);
		must_be(nlock_mutex_trylock(m), EBUSY);
		must_be(releases_of[how](m), 0);
		until.tv_sec = -5;
		must_be(do_lock_until(m), 0);
		must_be(releases_of[how](m), 0);
		word_is(0, 0);
	}
	must_be(fk.n_calls, 0);
	must_be(fk.n_clocks, 0);
	must_be(m->bypass, 0);
	rest();
}

ROW_TEST(fair_release_with_nobody_waiting_leaves_the_lock_free)
{
	begin(row);
	takes(A);
	releases(A, do_unlock_fair);
	word_is(0, 0);
	takes(B);
	releases(B, do_unlock);
	must_be(fk.n_calls, 0);
	rest();
}

/* ---------------------------------------------------------------- entering: T3, T4 */

ROW_TEST(first_waiter_is_the_head_and_the_others_stand_in_line)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	must_be(fk.n_enters, 1);
	parks(C, do_lock, NL_LANE_BACK);
	word_is(LOCKED | FRONT, 2);
	parks(D, do_lock, NL_LANE_BACK);
	word_is(LOCKED | FRONT, 3);
	must_be(fk.n_enters, 1);
	must_be(fk.n_waits, 3);
	must_be(fk.n_wakes, 0);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

ROW_TEST(lock_released_before_the_first_waiter_has_entered_is_taken_without_a_sleep)
{
	begin(row);
	takes(A);
	stops(B, do_lock, FK_BEFORE_ENTER);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	word_is(LOCKED, 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(of_two_first_waiters_one_is_the_head)
{
	begin(row);
	takes(A);
	stops(B, do_lock, FK_BEFORE_ENTER);
	parks(C, do_lock, NL_LANE_FRONT);
	goes_and_parks(B, NL_LANE_BACK);
	word_is(LOCKED | FRONT, 2);
	releases(A, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* The head has entered and not slept. One that is about to watch says AWAKE, and needs no wake. */
ROW_TEST(release_to_a_head_that_is_awake_makes_no_wake)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		takes(A);
		stops(B, do_lock, FK_AFTER_ENTER);
		word_is(LOCKED | (row->bound ? FRONT : AWAKE), 1);
		releases(A, releases_of[how]);
		word_is(grants(how, 0) ? LOCKED | GRANT | AWAKE : AWAKE, 1);
		must_be(fk.n_wakes, row->bound ? 1 : 0);
		goes_and_ends(B, 0);
		word_is(LOCKED, 0);
		must_be(fk.n_waits, row->bound ? 1 : 0);
		releases(B, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- releasing: T9, T10 */

ROW_TEST(release_opens_or_grants_as_the_policy_says)
{
	for (int how = 0; how < 3; how++) {
		bool granted;

		begin(row);
		granted = grants(how, 0);
		takes(A);
		parks(B, do_lock, NL_LANE_FRONT);
		releases(A, releases_of[how]);
		word_is(granted ? LOCKED | GRANT | AWAKE : AWAKE, 1);
		must_be(fk.n_wakes, 1);
		last_wake_was(NL_LANE_FRONT, 1);
		is(B, FK_WOKEN);
		must_be(nlock_mutex_trylock(m), granted ? EBUSY : 0); /* D1 */
		if (!granted) {
			must_be(m->bypass, 1);
			must_be(nlock_mutex_unlock_barging(m), 0);
			must_be(fk.n_wakes, 1);
		}
		goes_and_ends(B, 0);
		word_is(LOCKED, 0);
		must_be(m->bypass, 0);
		releases(B, do_unlock);
		rest();
	}
}

ROW_TEST(granted_lock_cannot_be_taken_by_trylock)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_fair);
	word_is(LOCKED | GRANT | AWAKE, 1);
	ends(C, do_trylock, EBUSY);
	until.tv_sec = 1;
	ends(C, do_lock_until, ETIMEDOUT);
	word_is(LOCKED | GRANT | AWAKE, 1);
	parks(D, do_lock, NL_LANE_BACK);
	word_is(LOCKED | GRANT | AWAKE, 2);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

ROW_TEST(granted_lock_cannot_be_unlocked_by_the_one_that_granted_it)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_fair);
	for (int how = 0; how < 3; how++)
		ends(A, releases_of[how], EPERM);
	ends(A, do_bump, EPERM);
	must_be(nlock_mutex_destroy(m), EBUSY);
	word_is(LOCKED | GRANT | AWAKE, 1);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(newcomer_takes_an_open_lock_past_the_head)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_barging);
	takes(C);
	word_is(LOCKED | AWAKE, 1);
	must_be(m->bypass, 1);
	releases(C, do_unlock_fair);
	must_be(fk.n_wakes, 1);
	goes_and_ends(B, 0);
	must_be(m->bypass, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(head_that_loses_sleeps_in_front)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	releases(A, do_unlock_barging);
	is(B, FK_WOKEN);
	is(C, FK_ASLEEP);
	takes(D);
	goes_and_parks(B, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 2);
	must_be(m->bypass, 1);
	releases(D, do_unlock_fair);
	last_wake_was(NL_LANE_FRONT, 1);
	is(B, FK_WOKEN);
	is(C, FK_ASLEEP);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* The head has said FRONT and is on its way: the release turns FRONT back, and the kernel's comparison sends the head
 * back. */
ROW_TEST(release_meets_a_head_on_its_way_to_sleep)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		takes(A);
		stops(B, do_lock, FK_BEFORE_WAIT);
		word_is(LOCKED | FRONT, 1);
		releases(A, releases_of[how]);
		last_wake_was(NL_LANE_FRONT, 0);
		goes_and_ends(B, 0);
		must_be(fk.n_waits, 1);
		releases(B, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- calling the next head: T6, T7, T12 */

/* B owns, C and D sleep in line, nobody is at the head, except that FIFO has called C already. */
static void line_of_two(void)
{
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	parks(D, do_lock, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	fk_forget();
	goes_and_ends(B, 0);
	word_is(LOCKED | (calls_early() ? CALLED : 0), 2);
	is(C, calls_early() ? FK_WOKEN : FK_ASLEEP);
	is(D, FK_ASLEEP);
	must_be(fk.n_wakes, calls_early());
}

static void fifo_calls_the_next_head_while_it_owns_with(const struct row *row, bool cpus)
{
	begin_with_cpus(row, cpus);
	line_of_two();
	if (calls_early()) {
		last_wake_was(NL_LANE_BACK, 1);
		goes_and_parks(C, NL_LANE_FRONT);
		word_is(LOCKED | FRONT, 2);
	}
	releases(B, do_unlock_fair);
	must_be(fk.n_wakes, calls_early() ? 2 : 1);
	goes_and_ends(C, 0);
	releases(C, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

ROW_TEST(fifo_calls_the_next_head_while_it_owns)
{
	fifo_calls_the_next_head_while_it_owns_with(row, false);
	fifo_calls_the_next_head_while_it_owns_with(row, true);
}

ROW_TEST(woken_waiter_answers_the_call)
{
	for (int i = 0; i < 6; i++) {
		int how = i % 3;
		bool granted;

		begin_with_cpus(row, i >= 3);
		granted = grants(how, 0);
		line_of_two();
		releases(B, releases_of[how]);
		must_be(fk.n_wakes, 1);
		last_wake_was(NL_LANE_BACK, 1);
		word_is(CALLED | (granted ? LOCKED | GRANT : 0), 2);
		must_be(nlock_mutex_trylock(m), granted ? EBUSY : 0);
		if (!granted) {
			goes_and_parks(C, NL_LANE_FRONT);
			word_is(LOCKED | FRONT, 2);
			must_be(m->bypass, 1);
			must_be(nlock_mutex_unlock_fair(m), 0);
		}
		goes_and_ends(C, 0);
		is(D, calls_early() ? FK_WOKEN : FK_ASLEEP);
		releases(C, do_unlock_fair);
		goes_and_ends(D, 0);
		releases(D, do_unlock);
		rest();
	}
}

/* The called one has not run yet; release follows release, and no further call is made for it. */
static void one_call_is_enough_until_it_is_answered_with(const struct row *row, bool cpus)
{
	begin_with_cpus(row, cpus);
	line_of_two();
	releases(B, do_unlock_barging);
	must_be(fk.n_wakes, 1);
	for (int i = 0; i < 5; i++) {
		takes(A);
		releases(A, do_unlock_barging);
	}
	must_be(fk.n_wakes, 1);
	is(D, FK_ASLEEP);
	must_be(m->bypass, 5);
	goes_and_ends(C, 0);
	must_be(m->bypass, 0);
	releases(C, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

ROW_TEST(one_call_is_enough_until_it_is_answered)
{
	one_call_is_enough_until_it_is_answered_with(row, false);
	one_call_is_enough_until_it_is_answered_with(row, true);
}

/* C has entered, and is on its way to sleep: registered, and found by no wake. B owns. */
static void one_on_its_way(void)
{
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	stops(C, do_lock, FK_BEFORE_WAIT);
	word_is(LOCKED | FRONT, 2);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	word_is(LOCKED, 1);
	fk_forget();
}

ROW_TEST(call_that_finds_nobody_opens_and_wakes_again)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		one_on_its_way();
		releases(B, releases_of[how]);
		word_is(0, 1);
		must_be(fk.n_wakes, 2);
		must_be(fk.calls[0].lanes, NL_LANE_BACK);
		must_be(fk.calls[0].result, 0);
		last_wake_was(NL_LANE_ALL, 0);
		goes_and_ends(C, 0);
		word_is(LOCKED, 0);
		releases(C, do_unlock);
		rest();
	}
}

ROW_TEST(waiter_that_falls_asleep_during_the_call_is_woken_after_the_release)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		one_on_its_way();
		stops(B, releases_of[how], FK_AFTER_WAKE);
		word_is(LOCKED | CALLED, 1);
		goes_and_parks(C, NL_LANE_BACK);
		word_is(LOCKED | CALLED, 1);
		goes_and_ends(B, 0);
		last_wake_was(NL_LANE_ALL, 1);
		word_is(0, 1);
		goes_and_ends(C, 0);
		releases(C, do_unlock);
		rest();
	}
}

ROW_TEST(waiter_that_comes_before_the_second_wake_takes_the_open_lock)
{
	begin(row);
	one_on_its_way();
	stops(B, do_unlock, FK_BEFORE_WAKE);
	word_is(LOCKED | CALLED, 1);
	fk_stop_at(B, FK_BEFORE_WAKE);
	must_be(fk_go(B), FK_STOPPED);
	word_is(0, 1);
	goes_and_ends(C, 0);
	goes_and_ends(B, 0);
	last_wake_was(NL_LANE_ALL, 0);
	releases(C, do_unlock);
	rest();
}

/* The late wake, meant for whoever was on the way, hits the head of a later time. */
ROW_TEST(late_wake_finds_a_later_head_and_harms_nobody)
{
	begin(row);
	one_on_its_way();
	stops(B, do_unlock, FK_BEFORE_WAKE);
	fk_stop_at(B, FK_BEFORE_WAKE);
	must_be(fk_go(B), FK_STOPPED);
	goes_and_ends(C, 0);
	parks(D, do_lock, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	goes_and_ends(B, 0);
	last_wake_was(NL_LANE_ALL, 1);
	goes_and_parks(D, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	releases(C, do_unlock);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- the bound */

/* The script is the hog. How often does it get past B, which sleeps in front? */
static uint32_t overtakings(bool head_runs, uint32_t enough)
{
	uint32_t n = 0;

	must_be(nlock_mutex_lock(m), 0);
	parks(B, do_lock, NL_LANE_FRONT);
	for (;;) {
		must_be(nlock_mutex_unlock(m), 0);
		if (n == enough || nlock_mutex_trylock(m))
			break;
		n++;
		must_be(m->bypass, n);
		if (head_runs)
			goes_and_parks(B, NL_LANE_FRONT);
	}
	goes_and_ends(B, 0);
	must_be(m->bypass, 0);
	releases(B, do_unlock);
	rest();
	return n;
}

ROW_TEST(bound_of_k_is_exact)
{
	const uint32_t enough = 2 * NLOCK_BOUND_DEFAULT;

	for (int head_runs = 0; head_runs < 2; head_runs++) {
		begin(row);
		must_be(overtakings(head_runs, enough), row->bound == ROW_NO_BOUND ? enough : row->bound);
	}
}

ROW_TEST(waiter_in_line_that_takes_an_open_lock_overtakes_the_head)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	releases(A, do_unlock_barging);
	is_roused_and_ends(C, NL_LOOK, 0);
	word_is(LOCKED | AWAKE, 1);
	must_be(m->bypass, 1);
	goes_and_parks(B, NL_LANE_FRONT);
	releases(C, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(called_head_starts_with_no_overtakings)
{
	begin(row);
	takes(A);
	parks(B, do_lock_until, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	releases(A, do_unlock_barging);
	takes(A);
	goes_and_parks(B, NL_LANE_FRONT);
	must_be(m->bypass, 1);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED, 1);
	releases(A, do_unlock_barging);
	must_be(m->bypass, 0);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* D4. `late`: how long B has been at the head when it loses. */
static void lose_after(int64_t late)
{
	must_be(nlock_mutex_lock(m), 0);
	parks(B, do_lock, NL_LANE_FRONT);
	fk.now += late;
	must_be(nlock_mutex_unlock_barging(m), 0);
	must_be(nlock_mutex_trylock(m), 0);
	goes_and_parks(B, NL_LANE_FRONT);
}

ROW_TEST(due_head_is_granted_at_the_next_release)
{
	begin(row);
	lose_after(NLOCK_BOUND_NS + 1);
	word_is(LOCKED | FRONT | (row->bound == ROW_NO_BOUND ? 0 : DUE), 1);
	must_be(nlock_mutex_unlock(m), 0);
	must_be(nlock_mutex_trylock(m), row->bound == ROW_NO_BOUND ? 0 : EBUSY);
	if (row->bound == ROW_NO_BOUND)
		must_be(nlock_mutex_unlock_fair(m), 0);
	goes_and_ends(B, 0);
	word_is(LOCKED, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(head_is_not_due_at_the_bound_itself)
{
	begin(row);
	lose_after(NLOCK_BOUND_NS);
	word_is(LOCKED | FRONT, 1);
	must_be(nlock_mutex_unlock_fair(m), 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(caller_may_open_the_lock_past_a_due_head)
{
	begin(row);
	lose_after(NLOCK_BOUND_NS + 1);
	must_be(nlock_mutex_unlock_barging(m), 0);
	must_be(nlock_mutex_trylock(m), 0);
	must_be(nlock_mutex_unlock_fair(m), 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(fairness_ends_after_the_grant)
{
	begin(row);
	lose_after(NLOCK_BOUND_NS + 1);
	must_be(nlock_mutex_unlock_fair(m), 0);
	goes_and_ends(B, 0);
	word_is(LOCKED, 0);
	parks(C, do_lock, NL_LANE_FRONT);
	releases(B, do_unlock);
	must_be(nlock_mutex_trylock(m), row->bound ? 0 : EBUSY);
	if (row->bound) {
		must_be(m->bypass, 1);
		must_be(nlock_mutex_unlock_fair(m), 0);
	}
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	word_is(0, 0);
	fk_forget();
	must_be(nlock_mutex_lock(m), 0);
	must_be(nlock_mutex_unlock(m), 0);
	must_be(fk.n_calls, 0);
	rest();
}

/* D3: a model of one head and a hog, release by release. */
ROW_TEST(mixed_releases_follow_each_its_own_policy)
{
	uint64_t rnd = harness_random_start(row->attr);
	uint32_t bypass = 0;

	begin(row);
	must_be(nlock_mutex_lock(m), 0);
	parks(B, do_lock, NL_LANE_FRONT);
	for (int i = 0; i < 400; i++) {
		int how = (int)(harness_random(&rnd) % 3);

		must_be(releases_of[how](m), 0);
		must_be(nlock_mutex_trylock(m), grants(how, bypass) ? EBUSY : 0);
		if (!grants(how, bypass)) {
			must_be(m->bypass, ++bypass);
			if (harness_random(&rnd) & 1 && fk_state(B) == FK_WOKEN)
				goes_and_parks(B, NL_LANE_FRONT);
			continue;
		}
		goes_and_ends(B, 0);
		bypass = 0;
		releases(B, do_unlock);
		must_be(nlock_mutex_lock(m), 0);
		parks(B, do_lock, NL_LANE_FRONT);
	}
	must_be(nlock_mutex_unlock_fair(m), 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(count_of_overtakings_does_not_wrap)
{
	begin(row);
	must_be(nlock_mutex_lock(m), 0);
	parks(B, do_lock, NL_LANE_FRONT);
	m->bypass = UINT16_MAX - 1;
	for (int i = 0; i < 3; i++) {
		must_be(nlock_mutex_unlock_barging(m), 0);
		must_be(nlock_mutex_trylock(m), 0);
		must_be(m->bypass, UINT16_MAX);
	}
	must_be(nlock_mutex_unlock(m), 0);
	must_be(nlock_mutex_trylock(m), row->bound == ROW_NO_BOUND ? 0 : EBUSY);
	if (row->bound == ROW_NO_BOUND)
		must_be(nlock_mutex_unlock(m), 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- deadlines: T13 and what comes before it */

/* A has released to B in front and not woken it yet; B's time is up. */
static void head_times_out_after(int how)
{
	takes(A);
	parks(B, do_lock_until, NL_LANE_FRONT);
	stops(A, releases_of[how], FK_BEFORE_WAKE);
	word_is(grants(how, 0) ? LOCKED | GRANT | AWAKE : AWAKE, 1);
	is_roused_and_ends(B, NL_TIMEDOUT, 0);
	word_is(LOCKED, 0);
	goes_and_ends(A, 0);
	last_wake_was(NL_LANE_FRONT, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(timed_out_head_with_a_grant_owns_the_lock)
{
	begin(row);
	head_times_out_after(FAIR);
}

ROW_TEST(timed_out_head_takes_an_open_lock)
{
	begin(row);
	head_times_out_after(BARGE);
	begin(row);
	head_times_out_after(BY_ATTR);
}

ROW_TEST(timed_out_waiter_in_line_takes_an_open_lock)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	releases(A, do_unlock_barging);
	is_roused_and_ends(C, NL_TIMEDOUT, 0);
	word_is(LOCKED | AWAKE, 1);
	must_be(m->bypass, 1);
	releases(C, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(timed_out_waiter_in_line_leaves_a_grant_alone)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	is_roused_and_ends(C, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED | GRANT | AWAKE, 1);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(timed_out_waiter_in_line_leaves_the_head_alone)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	is_roused_and_ends(C, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED | FRONT, 1);
	is(B, FK_ASLEEP);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(timed_out_head_leaves_and_the_next_is_called)
{
	begin(row);
	takes(A);
	parks(B, do_lock_until, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED, 1);
	must_be(fk.n_wakes, 0);
	releases(A, do_unlock);
	last_wake_was(NL_LANE_BACK, 1);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(last_waiter_leaving_clears_all_flags)
{
	begin(row);
	must_be(nlock_mutex_lock(m), 0);
	parks(B, do_lock_until, NL_LANE_FRONT);
	fk.now += NLOCK_BOUND_NS + 1;
	must_be(nlock_mutex_unlock_barging(m), 0);
	must_be(nlock_mutex_trylock(m), 0);
	goes_and_parks(B, NL_LANE_FRONT);
	word_is(LOCKED | FRONT | (row->bound == ROW_NO_BOUND ? 0 : DUE), 1);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED, 0);
	fk_forget();
	must_be(nlock_mutex_unlock(m), 0);
	must_be(fk.n_calls, 0);
	rest();
}

/* The owner calls; the only waiter's time is up before it can be woken. */
static void last_waiter_leaving_clears_the_call_with(const struct row *row, bool cpus)
{
	begin_with_cpus(row, cpus);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	if (calls_early())
		fk_stop_at(B, FK_BEFORE_WAKE);
	must_be(fk_go(B), calls_early() ? FK_STOPPED : FK_READY);
	if (!calls_early())
		stops(B, do_unlock, FK_BEFORE_WAKE);
	word_is(LOCKED | CALLED, 1);
	is_roused_and_ends(C, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED, 0);
	goes_and_ends(B, 0);
	word_is(calls_early() ? LOCKED : 0, 0);
	if (calls_early())
		releases(B, do_unlock);
	rest();
}

ROW_TEST(last_waiter_leaving_clears_the_call)
{
	last_waiter_leaving_clears_the_call_with(row, false);
	last_waiter_leaving_clears_the_call_with(row, true);
}

/* Woken is not timed out: the called one answers first, and may leave only then. */
ROW_TEST(called_waiter_whose_time_is_up_answers_and_leaves)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_barging);
	must_be(nlock_mutex_trylock(m), 0);
	is(C, FK_WOKEN);
	fk.now += (int64_t)5000 * 1000000000;
	goes_and_ends(C, ETIMEDOUT);
	word_is(LOCKED, 0);
	must_be(nlock_mutex_unlock(m), 0);
	rest();
}

ROW_TEST(called_waiter_whose_time_is_up_owns_what_was_granted)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	is(C, FK_WOKEN);
	fk.now += (int64_t)5000 * 1000000000;
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(past_deadline_makes_one_attempt)
{
	begin(row);
	takes(A);
	fk_forget();
	for (int i = 0; i < 4; i++) {
		static const struct timespec past[] = { { 0, 0 }, { 1, 5 }, { -1, 999999999 }, { 1000, 0 } };

		until = past[i];
		until_clock = i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
		fk.watch_ns = 1000000;
		ends(B, do_lock_until, ETIMEDOUT);
		word_is(LOCKED, 0);
	}
	must_be(fk.n_calls, 0);
	releases(A, do_unlock);
	ends(B, do_lock_until, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(deadline_that_passes_during_the_watch_is_noticed)
{
	begin(row);
	until = (struct timespec){ 1000, 10000 };
	fk.watch_ns = 20000;
	takes(A);
	stops(B, do_lock_until, FK_AT_CLOCK);
	for (int i = 0; i < 10 && fk_state(B) == FK_STOPPED; i++) {
		fk.now += 15000;
		fk_go(B);
	}
	is(B, FK_READY);
	must_be(fk_result(B), ETIMEDOUT);
	word_is(LOCKED, 0);
	fk_stop_at(B, 0);
	releases(A, do_unlock);
	rest();
}

ROW_TEST(bad_deadlines_are_looked_at_only_if_the_lock_is_not_to_be_had)
{
	static const struct timespec bad[] = { { 5, -1 }, { 5, 1000000000 }, { -1, -1 } };

	begin(row);
	for (int i = 0; i < COUNT(bad); i++) {
		until = bad[i];
		ends(B, do_lock_until, 0);
		ends(C, do_lock_until, EINVAL);
		word_is(LOCKED, 0);
		releases(B, do_unlock);
	}
	until = (struct timespec){ 2000, 0 };
	until_clock = CLOCK_BOOTTIME;
	ends(B, do_lock_until, 0);
	ends(C, do_lock_until, EINVAL);
	must_be(nlock_mutex_lock_until(m, CLOCK_MONOTONIC, NULL), EINVAL);
	releases(B, do_unlock);
	must_be(nlock_mutex_lock_until(m, CLOCK_MONOTONIC, NULL), 0);
	must_be(nlock_mutex_unlock(m), 0);
	must_be(fk.n_calls, 0);
	rest();
}

ROW_TEST(deadline_stays_the_same_through_a_thousand_interruptions)
{
	begin(row);
	until = (struct timespec){ 1234, 567890123 };
	until_clock = CLOCK_REALTIME;
	takes(A);
	parks(B, do_lock_until, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	for (int i = 0; i < 1000; i++) {
		is_roused_and_parks(B, NL_LOOK, NL_LANE_FRONT);
		is_roused_and_parks(C, NL_LOOK, NL_LANE_BACK);
	}
	must(fk_has_deadline(B) && fk_has_deadline(C));
	is_roused_and_ends(C, NL_TIMEDOUT, ETIMEDOUT);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	releases(A, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- outcomes that prove nothing */

ROW_TEST(interrupted_waiter_stays_registered_as_it_was)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	for (int i = 0; i < 10; i++) {
		is_roused_and_parks(B, NL_LOOK, NL_LANE_FRONT);
		is_roused_and_parks(C, NL_LOOK, NL_LANE_BACK);
		word_is(LOCKED | FRONT, 2);
	}
	must_be(fk.n_enters, 1);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(stray_wake_does_not_claim_a_grant)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	stops(A, do_unlock_fair, FK_BEFORE_WAKE);
	is_roused_and_parks(C, NL_WOKEN, NL_LANE_BACK);
	word_is(LOCKED | GRANT | AWAKE, 2);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(stray_wake_of_the_head_is_slept_off)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	is_roused_and_parks(B, NL_WOKEN, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(stray_wake_makes_a_head_at_worst)
{
	begin(row);
	takes(A);
	parks(B, do_lock_until, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK);
	parks(D, do_lock, NL_LANE_BACK);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED, 2);
	is_roused_and_parks(D, NL_WOKEN, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 2);
	releases(A, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* C was called and granted to; D answers in its place. C must not be lost: it finds no head and is one. */
static void stray_wake_that_answers_for_another_lose_with(const struct row *row, bool cpus)
{
	begin_with_cpus(row, cpus);
	line_of_two();
	releases(B, do_unlock_fair);
	is(C, FK_WOKEN);
	word_is(LOCKED | GRANT | CALLED, 2);
	is_roused_and_ends(D, NL_WOKEN, 0);
	word_is(LOCKED, 1);
	goes_and_parks(C, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	releases(D, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(stray_wake_that_answers_for_another_loses_nobody)
{
	stray_wake_that_answers_for_another_lose_with(row, false);
	stray_wake_that_answers_for_another_lose_with(row, true);
}

/* ---------------------------------------------------------------- watching
 *
 * Under FIFO a newcomer registers first and watches as the head; else it watches first, while nobody is registered.
 */

static void go_on_watching(int who)
{
	for (int i = 0; i < 8 && fk_state(who) == FK_STOPPED; i++)
		fk_go(who);
	fk_stop_at(who, 0);
}

ROW_TEST(watcher_takes_the_lock_without_a_sleep)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		fk.watch_ns = 20000;
		takes(A);
		stops(B, do_lock, FK_AT_CLOCK);
		must_be(fk_go(B), FK_STOPPED);
		must_be(fk_go(B), FK_STOPPED);
		if (row->bound)
			word_is(LOCKED, 0);
		else
			word_is(LOCKED | AWAKE, 1);
		releases(A, releases_of[how]);
		go_on_watching(B);
		is(B, FK_READY);
		must_be(fk_result(B), 0);
		must_be(fk.n_enters, row->bound ? 0 : 1);
		must_be(fk.n_waits + fk.n_wakes, 0);
		must_be(m->watched, 0);
		releases(B, do_unlock);
		rest();
	}
}

ROW_TEST(first_waiter_does_not_watch_where_that_was_in_vain)
{
	begin(row);
	fk.watch_ns = 20000;
	fk.in_vain = true;
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	must_be(m->watched, 0);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* The clock would stop it if it watched. */
ROW_TEST(head_that_loses_does_not_watch_where_that_was_in_vain)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_barging);
	takes(D);
	fk.watch_ns = 20000;
	fk.in_vain = true;
	goes_and_parks(B, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	must_be(m->bypass, 1);
	releases(D, do_unlock_fair);
	last_wake_was(NL_LANE_FRONT, 1);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(watcher_sleeps_in_front_when_its_budget_ends)
{
	begin(row);
	fk.watch_ns = 20000;
	takes(A);
	stops(B, do_lock, FK_AT_CLOCK);
	for (int i = 0; i < 100; i++)
		must_be(fk_go(B), FK_STOPPED);
	must_be(fk.n_waits, 0);
	fk.now += 20000;
	go_on_watching(B);
	is(B, FK_ASLEEP);
	must_be(fk_lane(B), NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	must_be(m->watched, 0);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* Time stands still: who watches now would watch for ever. */
ROW_TEST(nobody_watches_where_others_wait)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	fk.watch_ns = 20000;
	parks(C, do_lock, NL_LANE_BACK);
	fk.watch_ns = 0;
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(one_watches_and_a_second_does_not)
{
	if (!row->bound)
		return; /* nobody watches before it registers */
	begin(row);
	fk.watch_ns = 20000;
	takes(A);
	stops(B, do_lock, FK_AT_CLOCK);
	must_be(fk_go(B), FK_STOPPED);
	must_be(m->watched, 1);
	parks(C, do_lock, NL_LANE_FRONT);
	go_on_watching(B);
	is(B, FK_ASLEEP);
	must_be(fk_lane(B), NL_LANE_BACK);
	word_is(LOCKED | FRONT, 2);
	must_be(m->watched, 0);
	releases(A, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock_fair);
	fk.tick = 20000;
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* Of a watcher that died, in another process, the hint is left. It costs one waiter its watch. */
ROW_TEST(hint_of_a_watcher_that_died_does_not_last)
{
	begin(row);
	m->watched = 1;
	takes(A);
	fk.watch_ns = fk.tick = 20000;
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	must_be(m->watched, row->bound ? 0 : 1);
	releases(B, do_unlock);
	rest();
}

/* While the one waiter is on its way to claim, a newcomer does not fall asleep behind it. */
ROW_TEST(newcomer_watches_a_grant_to_the_only_waiter)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_fair);
	word_is(LOCKED | GRANT | AWAKE, 1);
	fk.watch_ns = 20000;
	stops(C, do_lock, FK_AT_CLOCK);
	must_be(fk_go(C), FK_STOPPED);
	word_is(LOCKED | GRANT | AWAKE, 1);
	goes_and_ends(B, 0);
	fk.now += 20000;
	go_on_watching(C);
	if (fk_state(C) == FK_STOPPED) { /* FIFO: it watches again, as the head */
		fk.now += 20000;
		go_on_watching(C);
	}
	is(C, FK_ASLEEP);
	must_be(fk_lane(C), NL_LANE_FRONT);
	releases(B, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- fork: T14
 *
 * The child has the word, and none of the threads that it counts.
 */

static void in_child(const struct row *row, uint32_t word)
{
	begin(row);
	fk.generation = 7;
	m->word = word;
}

ROW_TEST(child_of_a_fork_unlocks_without_looking_for_the_parents_waiters)
{
	static const uint32_t flags[] = { 0, CALLED, AWAKE, FRONT, FRONT | DUE };

	for (int f = 0; f < COUNT(flags); f++) {
		for (int how = 0; how < 3; how++) {
			in_child(row, LOCKED | flags[f] | 3 * ONE);
			must_be(releases_of[how](m), 0);
			word_is(0, 0);
			must_be(fk.n_wakes + fk.n_waits, 0);
			must_be(m->node, 7);
			rest();
		}
	}
}

ROW_TEST(child_of_a_fork_waits_for_its_own_owner)
{
	in_child(row, LOCKED | FRONT | 3 * ONE);
	m->watched = 1;
	parks(B, do_lock, NL_LANE_FRONT);
	word_is(LOCKED | FRONT, 1);
	must_be(m->watched, 0);
	must_be(nlock_mutex_unlock(m), 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(child_of_a_fork_finds_free_what_was_granted_to_a_thread_of_the_parent)
{
	in_child(row, LOCKED | GRANT | AWAKE | 2 * ONE);
	must_be(nlock_mutex_unlock(m), EPERM);
	rest();
	in_child(row, LOCKED | GRANT | AWAKE | 2 * ONE);
	takes(B);
	word_is(LOCKED, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(bump_in_the_child_of_a_fork_gives_way_to_nobody)
{
	in_child(row, LOCKED | FRONT | 3 * ONE);
	must_be(nlock_mutex_bump(m), 0);
	word_is(LOCKED, 0);
	must_be(nlock_mutex_unlock(m), 0);
	must_be(fk.n_waits + fk.n_wakes, 0);
	rest();
}

/* ---------------------------------------------------------------- end of life */

static void forbid(bool forbidden)
{
	must(!mprotect(m, (size_t)sysconf(_SC_PAGESIZE), forbidden ? PROT_NONE : PROT_READ | PROT_WRITE));
}

/* The release has happened when the wake that follows it is made; from there on the object may be gone. */
ROW_TEST(unlock_reads_nothing_after_the_release)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		takes(A);
		parks(B, do_lock, NL_LANE_FRONT);
		stops(A, releases_of[how], FK_BEFORE_WAKE);
		must(m->word != (LOCKED | FRONT | ONE));
		forbid(true);
		goes_and_ends(A, 0);
		forbid(false);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		rest();
	}
}

ROW_TEST(unlock_that_found_nobody_reads_nothing_after_the_release)
{
	for (int how = 0; how < 3; how++) {
		begin(row);
		one_on_its_way();
		stops(B, releases_of[how], FK_BEFORE_WAKE);
		word_is(LOCKED | CALLED, 1);
		fk_stop_at(B, FK_BEFORE_WAKE);
		must_be(fk_go(B), FK_STOPPED);
		word_is(0, 1);
		forbid(true);
		goes_and_ends(B, 0);
		forbid(false);
		goes_and_ends(C, 0);
		releases(C, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- bump, init, destroy, misuse */

ROW_TEST(bump_gives_way_to_a_waiter_and_gets_back_in_line)
{
	begin(row);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(A, do_bump, NL_LANE_BACK);
	word_is(LOCKED | GRANT | AWAKE, 2);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	is(A, FK_WOKEN);
	goes_and_ends(A, 0);
	word_is(LOCKED, 0);
	releases(A, do_unlock);
	rest();
}

ROW_TEST(bump_with_nobody_waiting_does_nothing)
{
	begin(row);
	takes(A);
	ends(A, do_bump, 0);
	word_is(LOCKED, 0);
	must_be(fk.n_calls, 0);
	releases(A, do_unlock);
	rest();
}

ROW_TEST(lock_that_nobody_owns_cannot_be_unlocked)
{
	begin(row);
	for (int how = 0; how < 3; how++)
		must_be(releases_of[how](m), EPERM);
	must_be(nlock_mutex_bump(m), EPERM);
	word_is(0, 0);
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	releases(A, do_unlock_barging);
	for (int how = 0; how < 3; how++)
		must_be(releases_of[how](m), EPERM);
	must_be(nlock_mutex_bump(m), EPERM);
	word_is(AWAKE, 1);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

ROW_TEST(destroy_refuses_what_is_locked_or_waited_for)
{
	begin(row);
	takes(A);
	must_be(nlock_mutex_destroy(m), EBUSY);
	parks(B, do_lock, NL_LANE_FRONT);
	must_be(nlock_mutex_destroy(m), EBUSY);
	releases(A, do_unlock_barging);
	word_is(AWAKE, 1);
	must_be(nlock_mutex_destroy(m), EBUSY);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	must_be(nlock_mutex_destroy(m), 0);
	rest();
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	nlock_mutex_t fresh;

	begin(row);
	memset(&fresh, 0, sizeof(fresh));
	fresh.attr = row->attr;
	for (int fill = 0; fill < 256; fill += 85) {
		memset(m, fill, sizeof(*m));
		must_be(nlock_mutex_init(m, row->attr), 0);
		must(!memcmp(m, &fresh, sizeof(fresh)), "filled with 0x%x", fill);
	}
	rest();
}

ROW_TEST(init_says_what_the_wait_layer_says)
{
	static const int why[] = { EINVAL, ENOTSUP, EFAULT };

	begin(row);
	for (int i = 0; i < COUNT(why); i++) {
		fk.place_result = -why[i];
		must_be(nlock_mutex_init(m, row->attr), why[i]);
	}
	fk.place_result = 0;
	must_be(nlock_mutex_init(m, NLOCK_BAD_ATTR), EINVAL);
	must_be(nlock_mutex_init((nlock_mutex_t *)(void *)((char *)m + 4), row->attr), EINVAL);
	rest();
}

ROW_TEST(idle_lock_is_as_new)
{
	nlock_mutex_t fresh;

	begin(row);
	fresh = *m;
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock_until, NL_LANE_BACK);
	is_roused_and_ends(C, NL_TIMEDOUT, ETIMEDOUT);
	releases(A, do_unlock_barging);
	takes(A);
	goes_and_parks(B, NL_LANE_FRONT);
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	must(!memcmp(m, &fresh, sizeof(fresh)));
	rest();
}

/* Tens of millions of waiters: the count does not run into the flags, nor out of the word. */
ROW_TEST(count_near_its_maximum_keeps_to_its_bits)
{
	const uint32_t most = UINT32_MAX / ONE;

	begin(row);
	m->word = LOCKED | FRONT | (most - 2) * ONE;
	parks(C, do_lock, NL_LANE_BACK);
	word_is(LOCKED | FRONT, most - 1);
	parks(D, do_lock_until, NL_LANE_BACK);
	word_is(LOCKED | FRONT, most);
	is_roused_and_ends(D, NL_TIMEDOUT, ETIMEDOUT);
	word_is(LOCKED | FRONT, most - 1);
	must_be(nlock_mutex_unlock_fair(m), 0);
	word_is(LOCKED | GRANT | AWAKE, most - 1);
	m->word = LOCKED | ONE; /* all have gone but C */
	must_be(nlock_mutex_unlock(m), 0);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- cohort locks: T6 by nodes, T15 */

/* ---------------------------------------------------------------- crowds: T16 */

ROW_TEST(waiters_are_expected_at_a_locked_mutex_only)
{
	begin(row);
	must(!nl_mutex_expect(m, 2));
	word_is(0, 0);
	takes(A);
	must(nl_mutex_expect(m, 2));
	word_is(LOCKED | CROWD, 2);
	parks(B, do_come, NL_LANE_BACK);
	parks(C, do_come, NL_LANE_BACK);
	word_is(LOCKED | CROWD, 2);
	must_be(fk.n_enters, 0);
	releases(A, do_unlock_fair);
	word_is(LOCKED | GRANT | CALLED, 2);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* B and C are expected; C comes late. */
ROW_TEST(newcomers_overtake_a_crowd_as_often_as_the_bound_says_before_it_has_a_head)
{
	const uint32_t most = row->bound == ROW_NO_BOUND ? 3 : row->bound;

	begin(row);
	takes(A);
	must(nl_mutex_expect(m, 2));
	parks(B, do_come, NL_LANE_BACK);
	for (uint32_t i = 0; i < most; i++) {
		must_be(nlock_mutex_unlock(m), 0);
		word_is(CROWD, 2);
		must_be(nlock_mutex_trylock(m), 0);
		must_be(m->bypass, i + 1);
	}
	parks(C, do_come, NL_LANE_BACK);
	must_be(nlock_mutex_unlock(m), 0);
	word_is(row->bound == ROW_NO_BOUND ? CROWD : row->bound ? CALLED : LOCKED | GRANT | CALLED, 2);
	is(B, FK_WOKEN);
	is(C, row->bound ? FK_WOKEN : FK_ASLEEP);
	goes_and_ends(B, 0);
	must_be(m->bypass, 0);
	releases(B, do_unlock_fair);
	is(C, FK_WOKEN);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

ROW_TEST(woken_one_of_a_crowd_is_its_head_if_there_is_none)
{
	begin(row);
	takes(A);
	must(nl_mutex_expect(m, 3));
	parks(B, do_come, NL_LANE_BACK);
	parks(C, do_come_woken, NL_LANE_FRONT);
	word_is(LOCKED | FRONT | CROWD, 3);
	parks(D, do_come_woken, NL_LANE_BACK);
	releases(A, do_unlock_fair);
	goes_and_ends(C, 0);
	releases(C, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock_fair);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	rest();
}

/* Nobody has been moved yet as A unlocks, and B is moved, in whose place C was woken. */
ROW_TEST(crowd_that_comes_after_the_release_finds_the_lock_open)
{
	begin(row);
	takes(A);
	must(nl_mutex_expect(m, 2));
	releases(A, do_unlock);
	word_is(row->bound ? CROWD : 0, 2);
	ends(C, do_come_woken, 0);
	parks(B, do_come, NL_LANE_BACK);
	releases(C, do_unlock);
	is(B, FK_WOKEN);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

#define COHORT_ROW(h, k) \
	{ \
#h " COHORT HASH PRIVATE", NLOCK_##h | NLOCK_COHORT, k, NLOCK_PLACE_HASH, false \
	}

static const struct row cohort_of_two = COHORT_ROW(BOUNDED_N(2), 2), cohort_of_any = COHORT_ROW(BARGING, ROW_NO_BOUND),
			cohort_by_default = COHORT_ROW(BOUNDED, NLOCK_BOUND_DEFAULT);

#define ON(node) nl_lane_of(node)

/* B, on node b, owns the lock; C on node c sleeps, and D on node d behind it. */
static void line_on_nodes(const struct row *row, uint32_t nodes, uint32_t b, uint32_t c, uint32_t d)
{
	begin(row);
	fk.nodes = nodes;
	fk.node[B] = b;
	fk.node[C] = c;
	fk.node[D] = d;
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK | ON(c));
	parks(D, do_lock, NL_LANE_BACK | ON(d));
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
}

/* `first` and then `second` have their turn, of C and D. */
static void are_served(int first, int second)
{
	is(first, FK_WOKEN);
	is(second, FK_ASLEEP);
	goes_and_ends(first, 0);
	releases(first, do_unlock);
	goes_and_ends(second, 0);
	releases(second, do_unlock);
	rest();
}

TEST(cohort_lock_calls_a_waiter_of_the_releasing_node_first)
{
	line_on_nodes(&cohort_of_two, 2, 1, 0, 1);
	releases(B, do_unlock);
	last_wake_was(ON(1), 1);
	word_is(CALLED, 2);
	must_be(m->bypass, 1);
	are_served(D, C);
}

TEST(cohort_lock_calls_the_nearest_next)
{
	line_on_nodes(&cohort_of_two, 3, 2, 0, 1);
	releases(B, do_unlock);
	last_wake_was(ON(1), 1);
	must_be(m->bypass, 1);
	are_served(D, C);
	line_on_nodes(&cohort_of_two, 3, 1, 0, 2); /* both are equally far */
	releases(B, do_unlock);
	last_wake_was(ON(0) | ON(2), 1);
	must_be(m->bypass, 0);
	are_served(C, D);
}

TEST(cohort_lock_on_one_node_prefers_nobody)
{
	line_on_nodes(&cohort_of_two, 1, 0, 0, 0);
	releases(B, do_unlock);
	last_wake_was(~NL_LANE_ALL, 1);
	must_be(m->bypass, 0);
	are_served(C, D);
}

TEST(cohort_lock_that_has_one_waiter_overtakes_nobody)
{
	begin(&cohort_of_two);
	fk.nodes = 2;
	takes(A);
	parks(B, do_lock, NL_LANE_FRONT);
	parks(C, do_lock, NL_LANE_BACK | ON(0));
	releases(A, do_unlock_fair);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	last_wake_was(ON(0), 1);
	must_be(m->bypass, 0);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* C is passed by D and by A; then it has its turn before D, who came back in the new round. */
TEST(round_ends_when_the_bound_is_reached_and_its_waiters_are_served_first)
{
	line_on_nodes(&cohort_of_two, 2, 0, 1, 0);
	releases(B, do_unlock);
	goes_and_ends(D, 0);
	parks(A, do_lock, NL_LANE_BACK | ON(0));
	must_be(m->bypass, 1);
	releases(D, do_unlock);
	is(A, FK_WOKEN);
	word_is(LOCKED | GRANT | CALLED | ROUND, 2);
	goes_and_ends(A, 0);
	parks(D, do_lock, NL_LANE_ODD | ON(0));
	releases(A, do_unlock);
	last_wake_was(NL_LANE_BACK, 1);
	word_is(LOCKED | GRANT | CALLED | ROUND, 2);
	is(C, FK_WOKEN);
	goes_and_ends(C, 0);
	must_be(m->bypass, 2);
	parks(B, do_lock, NL_LANE_ODD | ON(0));
	releases(C, do_unlock); /* all of the old round have had their turn */
	last_wake_was(ON(0), 1);
	must_be(m->bypass, 0);
	word_is(CALLED | ROUND, 2);
	are_served(D, B);
}

TEST(newcomers_count_for_all_who_wait)
{
	line_on_nodes(&cohort_of_two, 2, 0, 1, 0);
	releases(B, do_unlock); /* D is called: 1 */
	must_be(nlock_mutex_trylock(m), 0);
	must_be(m->bypass, 2);
	word_is(LOCKED | CALLED | ROUND, 2);
	must_be(nlock_mutex_unlock(m), 0);
	word_is(LOCKED | GRANT | CALLED | ROUND, 2);
	must_be(nlock_mutex_trylock(m), EBUSY);
	are_served(D, C);
}

TEST(barging_cohort_lock_prefers_for_ever)
{
	line_on_nodes(&cohort_of_any, 2, 0, 1, 0);
	for (int i = 0; i < 100; i++) {
		int from = i % 2 ? D : B, to = i % 2 ? B : D;

		releases(from, do_unlock);
		last_wake_was(ON(0), 1);
		word_is(CALLED, 2);
		goes_and_ends(to, 0);
		parks(from, do_lock, NL_LANE_BACK | ON(0));
		must_be(m->bypass, i + 1);
	}
	releases(B, do_unlock);
	are_served(D, C);
}

TEST(cohort_lock_whose_default_is_fifo_prefers_nobody)
{
	begin(&cohort_by_default);
	line_on_nodes(&cohort_by_default, 2, 1, 0, 1);
	fk.default_limit = 0;
	releases(B, do_unlock);
	last_wake_was(NL_LANE_BACK | NL_LANE_ODD, 1);
	word_is(LOCKED | GRANT | CALLED, 2);
	are_served(C, D);
}

TEST(round_is_over_when_nobody_waits)
{
	line_on_nodes(&cohort_of_two, 2, 0, 1, 0);
	releases(B, do_unlock);
	must_be(nlock_mutex_trylock(m), 0);
	word_is(LOCKED | CALLED | ROUND, 2);
	must_be(nlock_mutex_unlock(m), 0);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	goes_and_ends(C, 0);
	must_be(m->word, LOCKED);
	must_be(m->bypass, 0);
	releases(C, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- anything at all */

static bool owns[FK_PLAYERS], bumps[FK_PLAYERS];
static int (*const acquires_of[])(void *) = { do_lock, do_lock, do_lock_until, do_trylock };

static int owners(void)
{
	int n = 0;

	for (int i = 0; i < FK_PLAYERS; i++)
		n += owns[i];
	return n;
}

/* A call of player i has come this far. */
static void settle(int i, bool was_release)
{
	if (fk_state(i) != FK_READY)
		return;
	if (was_release)
		must_be(fk_result(i), 0);
	else
		must(!fk_result(i) || (!bumps[i] && (fk_result(i) == EBUSY || fk_result(i) == ETIMEDOUT)), "result %d",
		     fk_result(i));
	if (!was_release && !fk_result(i))
		owns[i] = true;
	bumps[i] = false;
	must(owners() <= 1, "%d owners", owners());
}

static bool is_releasing[FK_PLAYERS];

static void start_call(int i, uint64_t *rnd)
{
	uint32_t r = harness_random(rnd);
	bool release = owns[i];
	int (*call)(void *) = acquires_of[r % 4];

	bumps[i] = release && r % 8 == 0;
	if (release)
		call = bumps[i] ? do_bump : releases_of[r % 3];
	owns[i] = false;
	is_releasing[i] = release && !bumps[i];
	fk_stop_at(i, harness_random(rnd) & (fk.watch_ns ? 0x3f : 0x1f));
	fk_call(i, call, m);
	settle(i, is_releasing[i]);
}

static void rouse_somehow(int i, uint64_t *rnd)
{
	uint32_t r = harness_random(rnd) % 8;

	if (r == 0)
		fk_rouse(i, NL_LOOK);
	else if (r == 1)
		fk_rouse(i, NL_WOKEN);
	else if (r == 2 && fk_has_deadline(i))
		fk_rouse(i, NL_TIMEDOUT);
	settle(i, is_releasing[i]);
}

static void step(int i, uint64_t *rnd)
{
	fk.now += harness_random(rnd) % 4096;
	switch (fk_state(i)) {
	case FK_READY:
		start_call(i, rnd);
		break;
	case FK_ASLEEP:
		rouse_somehow(i, rnd);
		break;
	default:
		fk_go(i);
		settle(i, is_releasing[i]);
	}
}

/* Nobody starts anything new, and no sleeper is roused by luck: everybody must come to an end all the same. */
static void wind_down(int n)
{
	for (int idle = 0; idle < n;) {
		idle = 0;
		for (int i = 0; i < n; i++) {
			fk_stop_at(i, 0);
			if (fk_state(i) == FK_STOPPED || fk_state(i) == FK_WOKEN) {
				fk.now += 1000;
				fk_go(i);
				settle(i, is_releasing[i]);
			} else if (fk_state(i) == FK_READY && owns[i]) {
				owns[i] = false;
				releases(i, do_unlock);
			} else {
				idle++;
			}
		}
	}
	must(!fk_asleep(), "%d sleep for ever, word 0x%x", fk_asleep(), m->word);
}

static void random_schedules(const struct row *row, enum fk_lie lie)
{
	uint64_t rnd = harness_random_start(row->attr + 100 * lie);

	for (int round = 0; round < harness_rounds(40, 4000); round++) {
		int n = 2 + (int)(harness_random(&rnd) % 5);

		begin(row);
		fk.lie = lie;
		fk.watch_ns = harness_random(&rnd) & 1 ? 3000 : 0;
		fk.tick = 500;
		for (int i = 0; i < 150; i++)
			step((int)(harness_random(&rnd) % (uint32_t)n), &rnd);
		wind_down(n);
		rest();
	}
}

ROW_TEST(random_schedules_exclude_and_leave_nobody_asleep)
{
	random_schedules(row, FK_TRUTH);
}

ROW_TEST(kernel_that_never_says_whom_it_woke_does_no_harm)
{
	random_schedules(row, FK_ZERO);
}

static const struct test tests[] = {
	EACH_ROW(uncontended_lock_and_unlock_make_no_call),
	EACH_HANDOFF(fair_release_with_nobody_waiting_leaves_the_lock_free),
	EACH_ROW(first_waiter_is_the_head_and_the_others_stand_in_line),
	EACH_HANDOFF(lock_released_before_the_first_waiter_has_entered_is_taken_without_a_sleep),
	EACH_HANDOFF(of_two_first_waiters_one_is_the_head),
	EACH_HANDOFF(release_to_a_head_that_is_awake_makes_no_wake),
	EACH_ROW(release_opens_or_grants_as_the_policy_says),
	EACH_HANDOFF(granted_lock_cannot_be_taken_by_trylock),
	EACH_HANDOFF(granted_lock_cannot_be_unlocked_by_the_one_that_granted_it),
	EACH_HANDOFF(newcomer_takes_an_open_lock_past_the_head),
	EACH_HANDOFF(head_that_loses_sleeps_in_front),
	EACH_HANDOFF(release_meets_a_head_on_its_way_to_sleep),
	EACH_HANDOFF(fifo_calls_the_next_head_while_it_owns),
	EACH_HANDOFF(woken_waiter_answers_the_call),
	EACH_HANDOFF(one_call_is_enough_until_it_is_answered),
	EACH_HANDOFF(call_that_finds_nobody_opens_and_wakes_again),
	EACH_HANDOFF(waiter_that_falls_asleep_during_the_call_is_woken_after_the_release),
	EACH_HANDOFF(waiter_that_comes_before_the_second_wake_takes_the_open_lock),
	EACH_HANDOFF(late_wake_finds_a_later_head_and_harms_nobody),
	EACH_ROW(bound_of_k_is_exact),
	EACH_HANDOFF(waiter_in_line_that_takes_an_open_lock_overtakes_the_head),
	EACH_HANDOFF(called_head_starts_with_no_overtakings),
	EACH_HANDOFF(due_head_is_granted_at_the_next_release),
	EACH_HANDOFF(head_is_not_due_at_the_bound_itself),
	EACH_HANDOFF(caller_may_open_the_lock_past_a_due_head),
	EACH_HANDOFF(fairness_ends_after_the_grant),
	EACH_HANDOFF(mixed_releases_follow_each_its_own_policy),
	EACH_HANDOFF(count_of_overtakings_does_not_wrap),
	EACH_HANDOFF(timed_out_head_with_a_grant_owns_the_lock),
	EACH_HANDOFF(timed_out_head_takes_an_open_lock),
	EACH_HANDOFF(timed_out_waiter_in_line_takes_an_open_lock),
	EACH_HANDOFF(timed_out_waiter_in_line_leaves_a_grant_alone),
	EACH_HANDOFF(timed_out_waiter_in_line_leaves_the_head_alone),
	EACH_HANDOFF(timed_out_head_leaves_and_the_next_is_called),
	EACH_HANDOFF(last_waiter_leaving_clears_all_flags),
	EACH_HANDOFF(last_waiter_leaving_clears_the_call),
	EACH_HANDOFF(called_waiter_whose_time_is_up_answers_and_leaves),
	EACH_HANDOFF(called_waiter_whose_time_is_up_owns_what_was_granted),
	EACH_HANDOFF(past_deadline_makes_one_attempt),
	EACH_HANDOFF(deadline_that_passes_during_the_watch_is_noticed),
	EACH_HANDOFF(bad_deadlines_are_looked_at_only_if_the_lock_is_not_to_be_had),
	EACH_HANDOFF(deadline_stays_the_same_through_a_thousand_interruptions),
	EACH_HANDOFF(interrupted_waiter_stays_registered_as_it_was),
	EACH_HANDOFF(stray_wake_does_not_claim_a_grant),
	EACH_HANDOFF(stray_wake_of_the_head_is_slept_off),
	EACH_HANDOFF(stray_wake_makes_a_head_at_worst),
	EACH_HANDOFF(stray_wake_that_answers_for_another_loses_nobody),
	EACH_HANDOFF(watcher_takes_the_lock_without_a_sleep),
	EACH_HANDOFF(watcher_sleeps_in_front_when_its_budget_ends),
	EACH_HANDOFF(first_waiter_does_not_watch_where_that_was_in_vain),
	EACH_HANDOFF(head_that_loses_does_not_watch_where_that_was_in_vain),
	EACH_HANDOFF(nobody_watches_where_others_wait),
	EACH_HANDOFF(one_watches_and_a_second_does_not),
	EACH_HANDOFF(hint_of_a_watcher_that_died_does_not_last),
	EACH_HANDOFF(newcomer_watches_a_grant_to_the_only_waiter),
	EACH_MARKED(child_of_a_fork_unlocks_without_looking_for_the_parents_waiters),
	EACH_HANDOFF(child_of_a_fork_waits_for_its_own_owner),
	EACH_HANDOFF(child_of_a_fork_finds_free_what_was_granted_to_a_thread_of_the_parent),
	EACH_HANDOFF(bump_in_the_child_of_a_fork_gives_way_to_nobody),
	EACH_ROW(unlock_reads_nothing_after_the_release),
	EACH_HANDOFF(unlock_that_found_nobody_reads_nothing_after_the_release),
	EACH_HANDOFF(bump_gives_way_to_a_waiter_and_gets_back_in_line),
	EACH_HANDOFF(bump_with_nobody_waiting_does_nothing),
	EACH_HANDOFF(lock_that_nobody_owns_cannot_be_unlocked),
	EACH_HANDOFF(destroy_refuses_what_is_locked_or_waited_for),
	EACH_ROW(init_reads_nothing_of_what_was_there),
	EACH_HANDOFF(init_says_what_the_wait_layer_says),
	EACH_HANDOFF(idle_lock_is_as_new),
	EACH_HANDOFF(count_near_its_maximum_keeps_to_its_bits),
	EACH_HANDOFF(waiters_are_expected_at_a_locked_mutex_only),
	EACH_HANDOFF(newcomers_overtake_a_crowd_as_often_as_the_bound_says_before_it_has_a_head),
	EACH_HANDOFF(woken_one_of_a_crowd_is_its_head_if_there_is_none),
	EACH_HANDOFF(crowd_that_comes_after_the_release_finds_the_lock_open),
	ONCE(cohort_lock_calls_a_waiter_of_the_releasing_node_first),
	ONCE(cohort_lock_calls_the_nearest_next),
	ONCE(cohort_lock_on_one_node_prefers_nobody),
	ONCE(cohort_lock_that_has_one_waiter_overtakes_nobody),
	ONCE(round_ends_when_the_bound_is_reached_and_its_waiters_are_served_first),
	ONCE(newcomers_count_for_all_who_wait),
	ONCE(barging_cohort_lock_prefers_for_ever),
	ONCE(cohort_lock_whose_default_is_fifo_prefers_nobody),
	ONCE(round_is_over_when_nobody_waits),
	EACH_HANDOFF(random_schedules_exclude_and_leave_nobody_asleep),
	EACH_HANDOFF(kernel_that_never_says_whom_it_woke_does_no_harm),
};

/* Only one player runs at a time: on one CPU the baton goes round ten times as fast. */
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
	return harness_main(argc, argv, "script", tests, COUNT(tests));
}
