/* SPDX-License-Identifier: MIT
 *
 * check_script_cond.c - tier 2: lib/cond.c over tests/fake_wait.c, interleaving by interleaving
 *
 * Every transition of the table at the top of lib/cond.c, every outcome of a wait at chosen moments, and the public faults that
 * condition variables have had, by their numbers in that catalogue. The state that the scripts expect is spelled out below
 * and not taken from lib/cond.c.
 *
 * A to G are players. The script itself signals where nobody has to be stopped in the middle of it.
 */
#include "fake_wait.h"
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C, D, E };

#define WAITER  ((uint64_t)1)
#define INSIDE  ((uint64_t)1 << 22)
#define CALL    ((uint64_t)1 << 44)
#define MOVE    ((uint64_t)1 << 52)
#define WATCHED ((uint64_t)1 << 60)
#define TOLD    ((uint64_t)1 << 61)
#define LEAVING ((uint64_t)1 << 62)
#define TURN    ((uint64_t)1 << 63)
#define OUT     1u
#define STEP    4u
#define EPOCH   ((uint64_t)1 << 58)
#define SENT    ((uint64_t)1 << 59)

static nlock_cond_t *c;            /* alone in its page */
static nlock_mutex_t m, m2, *near; /* near: in the same page */
static nlock_rwlock_t rw;
static struct timespec until;
static int until_clock;
static nlock_attr_t attr_of_c;

/* ---------------------------------------------------------------- the calls, as players make them */

/* The caller gets the mutex, waits, and keeps the mutex for a look at it. */
static int wait_with(nlock_mutex_t *with, bool is_timed)
{
	int rc = nlock_mutex_lock(with);

	if (rc)
		return -rc;
	rc = is_timed ? nlock_cond_wait_until(c, with, until_clock, &until) : nlock_cond_wait(c, with);
	if (nlock_mutex_trylock(with) != EBUSY)
		return -1; /* it does not have it */
	return nlock_mutex_unlock(with) ? -2 : rc;
}

static int do_wait(void *arg)
{
	return wait_with(arg, false);
}

static int do_wait_until(void *arg)
{
	return wait_with(arg, true);
}

/* The same again at once, in one call. */
static int do_wait_twice(void *arg)
{
	int rc = wait_with(arg, false);

	return rc ? rc : wait_with(arg, false);
}

static int unlock_mutex(void *lock)
{
	return nlock_mutex_unlock(lock);
}

static int lock_mutex(void *lock)
{
	return nlock_mutex_lock(lock);
}

static int refuse(void *lock)
{
	(void)lock;
	return EPERM;
}

static int lock_of_the_dead(void *lock)
{
	return nlock_mutex_lock(lock) ? -1 : EOWNERDEAD;
}

static const struct nlock_any_lock as_mutex = { unlock_mutex, lock_mutex }, not_mine = { refuse, lock_mutex },
				   of_the_dead = { unlock_mutex, lock_of_the_dead };
static const struct nlock_any_lock *any_how; /* do_wait_any gives up and takes its lock */
static const struct timespec *how_long;

/* The same with any lock. Cancelled, it keeps the mutex. */
static int do_wait_any(void *arg)
{
	int rc = nlock_mutex_lock(arg);

	if (rc)
		return -rc;
	rc = nlock_cond_wait_any(c, any_how, arg, until_clock, how_long);
	if (nlock_mutex_trylock(arg) != EBUSY)
		return -1;
	return nlock_mutex_unlock(arg) ? -2 : rc;
}

static int do_signal(void *arg)
{
	(void)arg;
	return nlock_cond_signal(c);
}

static int do_broadcast(void *arg)
{
	(void)arg;
	return nlock_cond_broadcast(c);
}

static int do_destroy(void *arg)
{
	(void)arg;
	return nlock_cond_destroy(c);
}

static int do_read_and_wait(void *arg)
{
	int rc = nlock_rwlock_rdlock(&rw);

	(void)arg;
	if (rc)
		return -1;
	rc = nlock_cond_wait_rwlock(c, &rw);
	if (nlock_rwlock_trywrlock(&rw) != EBUSY || nlock_rwlock_tryrdlock(&rw) || nlock_rwlock_rdunlock(&rw))
		return -2;
	return nlock_rwlock_rdunlock(&rw) ? -3 : rc;
}

static int do_write_and_wait(void *arg)
{
	int rc = nlock_rwlock_wrlock(&rw);

	(void)arg;
	if (rc)
		return -1;
	rc = nlock_cond_wait_rwlock_until(c, &rw, until_clock, &until);
	if (nlock_rwlock_tryrdlock(&rw) != EBUSY)
		return -2;
	return nlock_rwlock_wrunlock(&rw) ? -3 : rc;
}

/* ---------------------------------------------------------------- the language of the scripts */

static const char *rule(const struct fk_record *r)
{
	if (r->word == &m.word || r->word == &m2.word || r->word == &rw.rgate || r->word == &rw.wgate ||
	    r->word == &rw.seat.word)
		return NULL;
	if (r->word == &near->word)
		return NULL;
	if (r->word != &c->gate && r->word != &c->gate2)
		return "a word that is nobody's";
	if (r->kind < FK_PLACE && r->attr != attr_of_c)
		return "attributes that are not the object's";
	if (r->kind == FK_WAIT && r->lanes == NL_LANE_BACK && !(c->state & (INSIDE - 1)) &&
	    !(c->state / INSIDE & 0x3fffff))
		return "a wait of a thread that nobody counts";
	if (r->kind == FK_WAIT && r->lanes == NL_LANE_FRONT && !(c->state & LEAVING))
		return "a wait in front of a thread that does not destroy";
	return NULL;
}

static void begin_with(nlock_attr_t attr)
{
	if (!c)
		c = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	must(c != MAP_FAILED);
	fk_begin();
	must_be(nlock_cond_init(c, attr), 0);
	must_be(nlock_mutex_init(&m, 0), 0);
	must_be(nlock_mutex_init(&m2, 0), 0);
	near = (nlock_mutex_t *)(void *)(c + 1);
	must_be(nlock_mutex_init(near, 0), 0);
	must_be(nlock_rwlock_init(&rw, NLOCK_RW_PHASE_FAIR, 0), 0);
	attr_of_c = attr;
	fk.rule = rule;
	fk_forget();
	until = (struct timespec){ 2000, 0 };
	until_clock = CLOCK_MONOTONIC;
	any_how = &as_mutex;
	how_long = NULL;
}

static void begin(void)
{
	begin_with(0);
}

static void no_complaint(void)
{
	must(!fk.complaint, "%s", fk.complaint);
}

/* Everybody is done and the object is as new. */
static void rest(void)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	no_complaint();
	must_be(c->state & ~(TURN | EPOCH), 0);
	must_be((c->gate | c->gate2) & OUT, 0);
	must_be(near->word, 0);
	must_be(m.word, 0);
	must_be(m2.word, 0);
	must_be(nlock_cond_destroy(c), 0);
}

#define state_is(v)    must_be(c->state, v)
#define is(who, state) must_be(fk_state(who), state)

#define parks(who, call) must_be(fk_call(who, call, &m), FK_ASLEEP)

/* Stops at a place that the call comes by. */
#define stops(who, call, at) \
	do { \
		fk_stop_at(who, at); \
		must_be(fk_call(who, call, &m), FK_STOPPED); \
	} while (0)

#define ends(who, call, value) \
	do { \
		must_be(fk_call(who, call, &m), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)

#define goes_and_ends(who, value) \
	do { \
		must_be(fk_go(who), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)

#define is_roused_and_ends(who, why, value) \
	do { \
		must_be(fk_rouse(who, why), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)

/* ---------------------------------------------------------------- nobody waits */

TEST(signal_and_broadcast_of_nobody_make_no_call)
{
	begin();
	must_be(nlock_cond_signal(c), 0);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk.n_calls, 0);
	must_be(fk.n_clocks, 0);
	must_be(c->gate, 0);
	rest();
}

TEST(arguments_that_are_none_change_nothing_b77)
{
	static const struct {
		int clock;
		struct timespec abs;
		bool has_abs;
	} bad[] = {
		{ CLOCK_BOOTTIME, { 1, 0 }, true },          { -1, { 1, 0 }, true },
		{ CLOCK_MONOTONIC, { 1, -1 }, true },        { CLOCK_MONOTONIC, { 1, 1000000000 }, true },
		{ CLOCK_REALTIME, { 1, 2000000000 }, true }, { CLOCK_REALTIME, { 1, 0 }, false },
	};

	begin();
	must_be(nlock_mutex_lock(&m), 0);
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_cond_wait_until(c, &m, bad[i].clock, bad[i].has_abs ? &bad[i].abs : NULL), EINVAL);
	must_be(nlock_mutex_trylock(&m), EBUSY);
	must_be(nlock_mutex_unlock(&m), 0);
	must_be(nlock_cond_wait(c, &m), EPERM);
	must_be(nlock_cond_wait_until(c, &m, CLOCK_MONOTONIC, &until), EPERM);
	state_is(0);
	must_be(fk.n_calls, 0);
	rest();
}

TEST(init_refuses_what_does_not_apply)
{
	static const nlock_attr_t bad[] = { NLOCK_FIFO,   NLOCK_BARGING,  NLOCK_BOUNDED_N(1), NLOCK_BOUNDED_N(0),
					    NLOCK_COHORT, NLOCK_BAD_ATTR, 0x10000u,           0x40u };
	nlock_cond_t pair[2];

	begin();
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_cond_init(&pair[0], bad[i]), EINVAL);
	must_be(nlock_cond_init((nlock_cond_t *)(uintptr_t)((char *)&pair[0] + 4), 0), EINVAL);
	fk.rule = NULL;
	fk.place_result = -ENOTSUP;
	must_be(nlock_cond_init(&pair[0], NLOCK_PLACE_NODE(0)), ENOTSUP);
	fk.place_result = -EFAULT;
	must_be(nlock_cond_init(&pair[0], NLOCK_PLACE_FIRST), EFAULT);
}

/* ---------------------------------------------------------------- T1, T2, T5, T6 */

TEST(signal_wakes_the_one_that_sleeps)
{
	begin();
	parks(A, do_wait);
	state_is(WAITER);
	must_be(m.word, 0);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	state_is(INSIDE);
	must_be(fk.n_wakes, 1);
	must_be(fk_last(FK_WAKE)->n, 1);
	must_be(fk_last(FK_WAKE)->lanes, NL_LANE_BACK);
	goes_and_ends(A, 0);
	rest();
}

TEST(each_signal_releases_one_in_order_of_arrival)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait_until);
	parks(C, do_wait);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	is(B, FK_ASLEEP);
	must_be(nlock_cond_signal(c), 0);
	is(B, FK_WOKEN);
	is(C, FK_ASLEEP);
	state_is(WAITER + 2 * INSIDE);
	goes_and_ends(B, 0);
	goes_and_ends(A, 0);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(C, 0);
	must_be(nlock_cond_signal(c), 0);
	must_be(fk.n_wakes, 3);
	rest();
}

TEST(b06_signal_between_giving_up_the_mutex_and_sleeping_is_seen)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_mutex_lock(&m), 0);
	must_be(nlock_cond_signal(c), 0);
	must_be(nlock_mutex_unlock(&m), 0);
	must_be(c->gate, STEP);
	goes_and_ends(A, 0);
	rest();
}

TEST(b04_waiter_registers_before_the_mutex_can_be_had)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	state_is(WAITER);
	must_be(fk_last(FK_WAIT)->value, 0);
	must_be(m.word, 0);
	must_be(nlock_cond_broadcast(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(signal_that_finds_all_on_their_way_releases_all_of_them)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	stops(B, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

/* ---------------------------------------------------------------- T3 */

TEST(broadcast_releases_sleepers_and_those_on_their_way)
{
	begin();
	parks(A, do_wait);
	stops(B, do_wait, FK_BEFORE_WAIT);
	parks(C, do_wait_until);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk_last(FK_WAKE)->n, INT_MAX);
	is(A, FK_WOKEN);
	is(C, FK_WOKEN);
	state_is(3 * INSIDE);
	goes_and_ends(B, 0);
	goes_and_ends(C, 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(b03_a_thread_that_waits_again_takes_nobodys_place)
{
	begin();
	parks(A, do_wait_twice);
	parks(B, do_wait);
	stops(C, do_wait, FK_BEFORE_WAIT);
	parks(D, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk_go(A), FK_ASLEEP);
	is(B, FK_WOKEN);
	is(D, FK_WOKEN);
	goes_and_ends(C, 0);
	goes_and_ends(B, 0);
	goes_and_ends(D, 0);
	is(A, FK_ASLEEP);
	state_is(WAITER);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

/* ---------------------------------------------------------------- later arrivals */

TEST(b01_signals_to_those_on_their_way_are_not_taken_by_a_later_one)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	must_be(nlock_cond_signal(c), 0);
	parks(B, do_wait);
	is_roused_and_ends(B, NL_WOKEN, 0);
	parks(C, do_wait);
	must_be(nlock_cond_signal(c), 0);
	is(C, FK_WOKEN);
	goes_and_ends(A, 0);
	goes_and_ends(C, 0);
	rest();
}

TEST(b02_late_waiter_does_not_take_the_signal_of_an_earlier_one)
{
	begin();
	parks(A, do_wait);
	must_be(nlock_cond_signal(c), 0);
	parks(B, do_wait);
	is(B, FK_ASLEEP);
	goes_and_ends(A, 0);
	state_is(WAITER);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(b02_interrupted_sleeper_that_was_signalled_returns_and_the_late_one_stays)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	parks(B, do_wait);
	goes_and_ends(A, 0);
	is(B, FK_ASLEEP);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

/* The second signal finds that nobody is counted as waiting, but the first has not made its wake yet: if it left it at that, a
 * later arrival that the kernel puts in front could take it. */
TEST(b02_signal_during_another_one_makes_sure_of_its_own_thread)
{
	begin();
	parks(A, do_wait);
	stops(D, do_signal, FK_BEFORE_WAKE);
	state_is(2 * INSIDE + CALL);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	parks(B, do_wait);
	goes_and_ends(D, 0);
	goes_and_ends(A, 0);
	if (fk_state(B) == FK_ASLEEP)
		must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(broadcast_during_a_signal_releases_the_one_that_it_is_for)
{
	begin();
	parks(A, do_wait);
	stops(D, do_signal, FK_BEFORE_WAKE);
	must_be(nlock_cond_broadcast(c), 0);
	is(A, FK_WOKEN);
	goes_and_ends(D, 0);
	goes_and_ends(A, 0);
	rest();
}

/* A has been released by the gate and sleeps still, in front of C: a signal for C must not be satisfied with A. */
TEST(signal_is_not_taken_by_a_sleeper_that_a_broadcast_has_released)
{
	begin();
	parks(A, do_wait);
	stops(D, do_broadcast, FK_BEFORE_WAKE);
	must_be(c->gate, STEP);
	state_is(2 * INSIDE + MOVE);
	stops(C, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(C, 0);
	goes_and_ends(D, 0);
	goes_and_ends(A, 0);
	rest();
}

/* ---------------------------------------------------------------- T7: deadlines */

TEST(deadline_that_passes_is_told_and_leaves_nothing)
{
	begin();
	parks(A, do_wait_until);
	must(fk_has_deadline(A));
	is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
	state_is(0);
	must_be(nlock_cond_signal(c), 0);
	must_be(fk.n_wakes, 0);
	rest();
}

TEST(deadline_in_the_past_gives_the_mutex_up_and_makes_no_call)
{
	static const struct timespec past[] = { { 0, 0 }, { -5, 0 }, { 1000, 0 } };

	for (int i = 0; i < COUNT(past); i++) {
		begin();
		until = past[i];
		fk.watch_ns = 100;
		ends(A, do_wait_until, ETIMEDOUT);
		must_be(fk_asleep(), 0);
		rest();
	}
}

TEST(b09_signal_that_meets_a_deadline_goes_to_the_other_waiter)
{
	begin();
	parks(A, do_wait_until);
	parks(B, do_wait);
	stops(D, do_signal, FK_BEFORE_WAKE);
	is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
	goes_and_ends(D, 0);
	is(B, FK_WOKEN);
	goes_and_ends(B, 0);
	rest();
}

TEST(b09_signal_that_meets_the_deadline_of_the_only_waiter_is_told_as_success)
{
	begin();
	parks(A, do_wait_until);
	stops(D, do_signal, FK_BEFORE_WAKE);
	is_roused_and_ends(A, NL_TIMEDOUT, 0);
	goes_and_ends(D, 0);
	rest();
}

TEST(b82_wait_that_was_signalled_returns_though_its_deadline_has_passed)
{
	begin();
	parks(A, do_wait_until);
	parks(B, do_wait);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	fk.now += (int64_t)5000 * 1000000000;
	goes_and_ends(A, 0);
	is(B, FK_ASLEEP);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(deadline_after_a_broadcast_is_no_timeout)
{
	begin();
	parks(A, do_wait_until);
	stops(D, do_broadcast, FK_BEFORE_WAKE);
	is_roused_and_ends(A, NL_TIMEDOUT, 0);
	goes_and_ends(D, 0);
	rest();
}

/* A was released by a broadcast without knowing, and must not count the later arrival out for itself. */
TEST(deadline_after_a_broadcast_does_not_cost_a_later_arrival_its_place)
{
	begin();
	parks(A, do_wait_until);
	stops(D, do_broadcast, FK_BEFORE_WAKE);
	parks(B, do_wait);
	is_roused_and_ends(A, NL_TIMEDOUT, 0);
	must_be(c->state & (INSIDE - 1), 1);
	goes_and_ends(D, 0);
	if (fk_state(B) == FK_ASLEEP)
		must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(b76_mutex_is_had_again_after_every_kind_of_end)
{
	static const struct {
		enum nl_outcome why;
		int rc;
	} ways[] = { { NL_WOKEN, 0 }, { NL_TIMEDOUT, ETIMEDOUT } };

	for (int i = 0; i < COUNT(ways); i++) {
		begin();
		parks(A, do_wait_until);
		must_be(nlock_mutex_lock(&m), 0);
		fk_rouse(A, ways[i].why); /* must wait for the mutex */
		is(A, FK_ASLEEP);
		must(!fk_has_deadline(A), "a deadline for the mutex");
		fk.complaint = NULL; /* that it has changed within one call, as it must */
		must_be(nlock_mutex_unlock(&m), 0);
		goes_and_ends(A, ways[i].rc);
		rest();
	}
}

/* ---------------------------------------------------------------- interruptions and strays */

TEST(b78_interrupted_waiter_keeps_its_registration)
{
	begin();
	parks(A, do_wait);
	must_be(fk_rouse(A, NL_LOOK), FK_ASLEEP);
	state_is(WAITER);
	fk_stop_at(A, FK_BEFORE_WAIT);
	must_be(fk_rouse(A, NL_LOOK), FK_STOPPED);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(b79_stray_wake_is_a_wakeup_for_nothing_and_the_counts_stay_right)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait);
	is_roused_and_ends(A, NL_WOKEN, 0);
	state_is(WAITER);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(b79_stray_wake_during_a_signal_does_not_cost_the_other_waiter_its_place)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait);
	stops(D, do_signal, FK_BEFORE_WAKE);
	is_roused_and_ends(A, NL_WOKEN, 0);
	goes_and_ends(D, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(wakes_whose_count_is_a_lie_lose_nobody)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait);
	fk.lie = FK_ZERO;
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

/* ---------------------------------------------------------------- T8: watching */

TEST(watcher_is_released_without_a_system_call)
{
	begin();
	fk.watch_ns = 100;
	fk_stop_at(A, FK_AT_CLOCK);
	must_be(fk_call(A, do_wait, &m), FK_STOPPED);
	state_is(WATCHED + WAITER);
	must_be(nlock_cond_signal(c), 0);
	state_is(TOLD + INSIDE);
	fk_stop_at(A, 0);
	goes_and_ends(A, 0);
	must_be(fk.n_wakes, 0);
	must_be(fk.n_waits, 0);
	rest();
}

TEST(watcher_that_was_told_does_not_sleep)
{
	begin();
	fk.watch_ns = 100;
	fk.tick = 1000;
	stops(A, do_wait, FK_AT_CLOCK);
	must_be(nlock_cond_broadcast(c), 0);
	fk_stop_at(A, 0);
	goes_and_ends(A, 0);
	must_be(fk.n_waits, 0);
	rest();
}

TEST(watcher_sleeps_when_its_time_is_over)
{
	begin();
	fk.watch_ns = 100;
	fk.tick = 1000;
	parks(A, do_wait);
	state_is(WAITER);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(second_waiter_does_not_watch_and_ends_the_watch_of_the_first)
{
	begin();
	fk.watch_ns = 100;
	stops(A, do_wait, FK_AT_CLOCK);
	parks(B, do_wait);
	state_is(2 * WAITER);
	must_be(nlock_cond_signal(c), 0);
	is(B, FK_WOKEN);
	fk.tick = 1000;
	fk_stop_at(A, 0);
	must_be(fk_go(A), FK_ASLEEP);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

/* ---------------------------------------------------------------- T9, T10: destroy */

TEST(b24_destroy_does_not_wait_for_one_that_is_blocked)
{
	begin();
	parks(A, do_wait);
	must_be(nlock_cond_destroy(c), EBUSY);
	state_is(WAITER);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(b17_destroy_right_after_a_broadcast_waits_for_those_it_released)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	parks(D, do_destroy);
	state_is(LEAVING + 2 * INSIDE);
	must_be(fk_lane(D), NL_LANE_FRONT);
	goes_and_ends(B, 0);
	is(D, FK_ASLEEP);
	goes_and_ends(A, 0);
	is(D, FK_WOKEN);
	goes_and_ends(D, 0);
	rest();
}

/* The last one out is stopped before its wake: the page may go, and the wake is for an address only. */
TEST(b17_last_one_out_does_not_touch_memory_that_has_gone)
{
	long page = sysconf(_SC_PAGESIZE);

	begin();
	parks(A, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	fk_stop_at(A, FK_BEFORE_WAKE);
	parks(D, do_destroy);
	must_be(fk_go(A), FK_STOPPED);
	must_be(fk_rouse(D, NL_LOOK), FK_READY);
	must_be(fk_result(D), 0);
	state_is(0);
	must_be(mprotect(c, (size_t)page, PROT_NONE), 0);
	goes_and_ends(A, 0);
	must_be(mprotect(c, (size_t)page, PROT_READ | PROT_WRITE), 0);
	rest();
}

TEST(b17_destroy_waits_for_a_signal_that_is_still_inside)
{
	begin();
	parks(A, do_wait);
	stops(B, do_signal, FK_AFTER_WAKE);
	goes_and_ends(A, 0);
	parks(D, do_destroy);
	goes_and_ends(B, 0);
	goes_and_ends(D, 0);
	rest();
}

TEST(destroy_that_sees_the_last_one_leave_does_not_sleep)
{
	begin();
	parks(A, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	stops(D, do_destroy, FK_BEFORE_WAIT);
	goes_and_ends(A, 0);
	goes_and_ends(D, 0);
	rest();
}

/* ---------------------------------------------------------------- the mutex */

TEST(b42_each_waiter_gets_its_own_mutex_back)
{
	begin();
	parks(A, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk_call(B, do_wait, &m2), FK_ASLEEP);
	goes_and_ends(A, 0);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

/* b40, b41, b43, b45: nobody is moved to another queue, so the mutex may have any attributes; lib/wait.h has no call for it. */
TEST(b41_broadcast_does_not_mind_what_the_mutex_is)
{
	static const nlock_attr_t of_mutex[] = { 0, NLOCK_SHARED, NLOCK_PLACE_NODE(0), NLOCK_FIFO };

	for (int i = 0; i < COUNT(of_mutex); i++) {
		begin_with(i % 2 ? 0 : NLOCK_SHARED);
		fk.rule = NULL;
		must_be(nlock_mutex_init(&m, of_mutex[i]), 0);
		fk.rule = rule;
		parks(A, do_wait);
		parks(B, do_wait);
		must_be(nlock_mutex_lock(&m), 0);
		must_be(nlock_cond_broadcast(c), 0);
		must_be(nlock_mutex_unlock(&m), 0);
		goes_and_ends(A, 0);
		goes_and_ends(B, 0);
		rest();
	}
}

/* ---------------------------------------------------------------- the rwlock */

TEST(rwlock_is_given_up_and_had_again_in_the_same_mode)
{
	begin();
	parks(A, do_read_and_wait);
	parks(B, do_write_and_wait);
	parks(C, do_read_and_wait);
	state_is(3 * WAITER);
	must_be(nlock_rwlock_wrlock(&rw), 0);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(nlock_rwlock_wrunlock(&rw), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	goes_and_ends(C, 0);
	must_be(nlock_rwlock_destroy(&rw), 0);
	rest();
}

TEST(writer_whose_deadline_passes_has_the_rwlock_again)
{
	begin();
	parks(B, do_write_and_wait);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	must_be(nlock_rwlock_destroy(&rw), 0);
	rest();
}

TEST(rwlock_that_nobody_holds_is_refused)
{
	begin();
	must_be(nlock_cond_wait_rwlock(c, &rw), EPERM);
	must_be(nlock_cond_wait_rwlock_until(c, &rw, CLOCK_MONOTONIC, &until), EPERM);
	must_be(nlock_rwlock_rdlock(&rw), 0);
	must_be(nlock_cond_wait_rwlock_until(c, &rw, CLOCK_MONOTONIC, NULL), EINVAL);
	must_be(nlock_cond_wait_rwlock_until(c, &rw, CLOCK_BOOTTIME, &until), EINVAL);
	must_be(nlock_rwlock_rdunlock(&rw), 0);
	must_be(fk.n_calls, 0);
	rest();
}

/* ---------------------------------------------------------------- counts at their ends */

TEST(b85_gate_that_wraps_releases_as_any_other)
{
	for (int how = 0; how < 2; how++) {
		begin();
		c->gate = (uint32_t)-STEP;
		parks(A, do_wait);
		stops(B, do_wait, FK_BEFORE_WAIT);
		must_be(how ? nlock_cond_broadcast(c) : nlock_cond_signal(c), 0);
		if (!how)
			must_be(nlock_cond_broadcast(c), 0);
		must_be(c->gate, 0);
		goes_and_ends(B, 0);
		goes_and_ends(A, 0);
		rest();
	}
}

TEST(b85_two_broadcasts_are_not_taken_for_none)
{
	begin();
	stops(A, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_broadcast(c), 0);
	parks(B, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(c->gate, 2 * STEP);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

/* As if so many others were in the middle of it. */
TEST(signal_at_the_maximum_of_calls_releases_all)
{
	begin();
	parks(A, do_wait);
	parks(B, do_wait);
	c->state += 255 * (CALL + INSIDE);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	is(B, FK_WOKEN);
	c->state -= 255 * (CALL + INSIDE);
	state_is(2 * INSIDE);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(movers_at_their_maximum_stay_there_until_nobody_is_inside)
{
	begin();
	parks(A, do_wait);
	c->state += 62 * (MOVE + INSIDE);
	must_be(nlock_cond_broadcast(c), 0);
	state_is(63 * MOVE + 63 * INSIDE);
	c->state -= 62 * INSIDE;
	parks(B, do_wait);
	goes_and_ends(A, 0);
	must_be(nlock_cond_signal(c), 0);
	is(B, FK_WOKEN);
	state_is(63 * MOVE + INSIDE);
	goes_and_ends(B, 0);
	rest();
}

TEST(waiters_at_their_maximum_carry_into_nothing)
{
	const uint64_t most = INSIDE - 1;

	begin();
	c->state = most - 1;
	parks(A, do_wait);
	state_is(most);
	c->state -= most - 1;
	must_be(nlock_cond_broadcast(c), 0);
	state_is(INSIDE);
	goes_and_ends(A, 0);
	rest();
}

/* ---------------------------------------------------------------- T13, T14: moved to the mutex */

enum { MUTEX_LOCKED = 1, MUTEX_CROWD = 0x40, MUTEX_ONE = 0x80 };

#define waits_near(who, call) must_be(fk_call(who, call, near), FK_ASLEEP)

static void begin_near(void)
{
	begin();
	fk.features = NLOCK_HAS_REQUEUE;
}

/* A, B and C sleep, and a broadcast is made with the mutex held. */
static void moves_three(void)
{
	fk.may_drop = true; /* B's deadline, by the wait for the mutex */
	waits_near(A, do_wait);
	waits_near(B, do_wait_until);
	waits_near(C, do_wait);
	must_be(nlock_mutex_lock(near), 0);
	must_be(nlock_cond_broadcast(c), 0);
	state_is(EPOCH + SENT + 3 * INSIDE);
	must_be(near->word, MUTEX_LOCKED + MUTEX_CROWD + 3 * MUTEX_ONE);
	is(A, FK_WOKEN);
	is(B, FK_ASLEEP);
	is(C, FK_ASLEEP);
}

/* One after the other. */
static void all_come_by(int first, int second, int third)
{
	const int order[] = { first, second, third };

	must_be(nlock_mutex_unlock(near), 0);
	for (int i = 0; i < COUNT(order); i++) {
		is(order[i], FK_WOKEN);
		goes_and_ends(order[i], 0);
	}
}

TEST(b40_broadcast_with_the_mutex_held_wakes_one_and_moves_the_rest)
{
	begin_near();
	moves_three();
	must_be(fk.n_wakes, 0);
	must_be(fk_go(A), FK_ASLEEP);
	state_is(EPOCH + SENT + 2 * INSIDE);
	all_come_by(A, B, C);
	state_is(EPOCH);
	rest();
}

/* And who waits after that sleeps at the other gate, and comes back to the first. */
TEST(epochs_take_turns)
{
	begin_near();
	for (int i = 0; i < 3; i++) {
		waits_near(A, do_wait);
		waits_near(B, do_wait);
		must_be(nlock_mutex_lock(near), 0);
		must_be(nlock_cond_broadcast(c), 0);
		state_is((i % 2 ? 0 : EPOCH) + SENT + 2 * INSIDE);
		must_be(fk_last(FK_MOVE)->word == (i % 2 ? &c->gate2 : &c->gate), 1);
		must_be(fk_go(A), FK_ASLEEP);
		must_be(nlock_mutex_unlock(near), 0);
		goes_and_ends(A, 0);
		goes_and_ends(B, 0);
	}
	rest();
}

TEST(open_mutex_counts_nobody_and_all_are_woken)
{
	begin_near();
	waits_near(A, do_wait);
	waits_near(B, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	must(!fk_last(FK_MOVE), "moved to an open mutex");
	must_be(near->word, 0);
	is(B, FK_WOKEN);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(move_that_is_refused_wakes_all_and_they_stay_counted)
{
	begin_near();
	waits_near(A, do_wait);
	waits_near(B, do_wait);
	must_be(nlock_mutex_lock(near), 0);
	fk_stop_at(D, FK_BEFORE_WAKE);
	must_be(fk_call(D, do_broadcast, NULL), FK_STOPPED);
	fk.features = 0;
	goes_and_ends(D, 0);
	is(B, FK_WOKEN);
	must_be(near->word, MUTEX_LOCKED + MUTEX_CROWD + 2 * MUTEX_ONE);
	must_be(fk_go(A), FK_ASLEEP);
	must_be(fk_go(B), FK_ASLEEP);
	must_be(nlock_mutex_unlock(near), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(one_on_its_way_to_sleep_goes_to_the_mutex_by_itself)
{
	begin_near();
	waits_near(A, do_wait);
	fk_stop_at(B, FK_BEFORE_WAIT);
	must_be(fk_call(B, do_wait, near), FK_STOPPED);
	must_be(nlock_mutex_lock(near), 0);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk_last(FK_MOVE)->result, 1);
	must_be(fk_go(B), FK_ASLEEP);
	must_be(near->word, MUTEX_LOCKED + MUTEX_CROWD + 2 * MUTEX_ONE);
	must_be(fk_go(A), FK_ASLEEP);
	must_be(nlock_mutex_unlock(near), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(deadline_or_signal_of_one_that_was_moved_leaves_it_counted_and_is_no_timeout)
{
	begin_near();
	moves_three();
	must_be(fk_rouse(B, NL_TIMEDOUT), FK_ASLEEP);
	must_be(fk_rouse(C, NL_LOOK), FK_ASLEEP);
	must_be(near->word, MUTEX_LOCKED + MUTEX_CROWD + 3 * MUTEX_ONE);
	must_be(fk_go(A), FK_ASLEEP);
	state_is(EPOCH);
	all_come_by(A, B, C);
	rest();
}

/* The destroyer holds the mutex: none of them could have it before destroy returns. */
TEST(b24_destroy_lets_those_that_were_moved_go_on_to_wait_for_the_mutex)
{
	begin_near();
	moves_three();
	must_be(fk_call(D, do_destroy, NULL), FK_ASLEEP);
	is(B, FK_WOKEN);
	is(C, FK_WOKEN);
	must_be(fk_go(A), FK_ASLEEP);
	must_be(fk_go(B), FK_ASLEEP);
	is(D, FK_ASLEEP);
	must_be(fk_go(C), FK_ASLEEP);
	is(D, FK_WOKEN);
	goes_and_ends(D, 0);
	must_be(near->word / MUTEX_ONE, 3);
	all_come_by(A, B, C);
	rest();
}

/* Destroy comes before they have been moved: then who moves them wakes them. */
TEST(b24_destroy_during_a_move_waits_for_the_end_of_it)
{
	begin_near();
	waits_near(A, do_wait);
	waits_near(B, do_wait);
	must_be(nlock_mutex_lock(near), 0);
	fk_stop_at(E, FK_BEFORE_WAKE);
	must_be(fk_call(E, do_broadcast, NULL), FK_STOPPED);
	must_be(fk_call(D, do_destroy, NULL), FK_ASLEEP);
	goes_and_ends(E, 0);
	is(B, FK_WOKEN);
	must_be(fk_go(A), FK_ASLEEP);
	must_be(fk_go(B), FK_ASLEEP);
	goes_and_ends(D, 0);
	must_be(nlock_mutex_unlock(near), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

/* It would be a waiter of the wrong mutex, or of none. */
static void is_not_moved(int (*call)(void *), void *with)
{
	begin_near();
	waits_near(A, do_wait);
	must_be(fk_call(B, call, with), FK_ASLEEP);
	must_be(nlock_mutex_lock(near), 0);
	must_be(nlock_cond_broadcast(c), 0);
	must(!fk_last(FK_MOVE), "moved");
	must_be(near->word, MUTEX_LOCKED);
	must_be(nlock_mutex_unlock(near), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(b42_waiters_with_different_locks_are_not_moved)
{
	is_not_moved(do_wait, &m2);
	is_not_moved(do_wait_any, near);
	is_not_moved(do_read_and_wait, NULL);
}

TEST(signal_while_some_are_away_releases_all_who_came_later)
{
	begin_near();
	moves_three();
	must_be(nlock_mutex_unlock(near), 0);
	goes_and_ends(A, 0);
	goes_and_ends(B, 0);
	is(C, FK_WOKEN);
	waits_near(D, do_wait);
	state_is(EPOCH + SENT + INSIDE + WAITER);
	must_be(nlock_cond_signal(c), 0);
	state_is(EPOCH + SENT + 2 * INSIDE);
	goes_and_ends(D, 0);
	goes_and_ends(C, 0);
	rest();
}

/* ---------------------------------------------------------------- T11: the child of a fork */

TEST(child_of_a_fork_counts_nobody_of_its_parents)
{
	for (int how = 0; how < 4; how++) {
		begin();
		c->state = 3 * WAITER + 2 * INSIDE + CALL + MOVE;
		fk.generation++;
		if (how == 0) {
			must_be(nlock_cond_destroy(c), 0);
		} else if (how == 1) {
			must_be(nlock_cond_signal(c), 0);
			must_be(fk.n_wakes, 0);
		} else if (how == 2) {
			must_be(nlock_cond_broadcast(c), 0);
			must_be(fk.n_wakes, 0);
		} else {
			parks(A, do_wait);
			must_be(c->state & ~TURN, WAITER);
			must_be(nlock_cond_signal(c), 0);
			goes_and_ends(A, 0);
		}
		must_be(c->state, TURN);
		rest();
	}
}

TEST(shared_object_counts_those_of_all_processes)
{
	begin_with(NLOCK_SHARED);
	parks(A, do_wait);
	fk.generation++;
	must_be(nlock_cond_destroy(c), EBUSY);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	fk.generation--; /* the mutex is private */
	goes_and_ends(A, 0);
	rest();
}

/* ---------------------------------------------------------------- the table */

/* ---------------------------------------------------------------- any lock, and cancellation */

/* Its call has ended, and it has the mutex, which the script gives up for it. */
#define has_been_cancelled(who) \
	do { \
		is(who, FK_READY); \
		must_be(fk_result(who), FK_CANCELLED); \
		must_be(nlock_mutex_trylock(&m), EBUSY); \
		must_be(nlock_mutex_unlock(&m), 0); \
	} while (0)

TEST(any_lock_is_given_up_and_had_again)
{
	begin();
	parks(A, do_wait_any);
	must_be(m.word, 0);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	how_long = &until;
	parks(B, do_wait_any);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	until_clock = CLOCK_REALTIME;
	until.tv_sec = 1;
	ends(C, do_wait_any, ETIMEDOUT);
	rest();
}

TEST(any_lock_whose_unlock_fails_is_not_locked_and_nobody_is_counted)
{
	begin();
	any_how = &not_mine;
	ends(A, do_wait_any, EPERM);
	state_is(0);
	any_how = &as_mutex;
	parks(B, do_wait_any);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(what_any_lock_says_comes_before_a_timeout)
{
	begin();
	any_how = &of_the_dead;
	how_long = &until;
	parks(A, do_wait_any);
	is_roused_and_ends(A, NL_TIMEDOUT, EOWNERDEAD);
	parks(A, do_wait_any);
	must_be(nlock_cond_broadcast(c), 0);
	goes_and_ends(A, EOWNERDEAD);
	rest();
}

TEST(bad_arguments_with_any_lock_change_nothing)
{
	static const struct timespec bad = { 5, 1000000000 };

	begin();
	how_long = &bad;
	ends(A, do_wait_any, EINVAL);
	how_long = &until;
	until_clock = CLOCK_BOOTTIME;
	ends(A, do_wait_any, EINVAL);
	must_be(fk.n_waits, 0);
	how_long = NULL; /* then the clock is nothing */
	parks(A, do_wait_any);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(interruption_does_not_end_a_wait_with_any_lock)
{
	begin();
	parks(A, do_wait_any);
	must_be(fk_rouse(A, NL_INTR), FK_ASLEEP);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(A, 0);
	rest();
}

TEST(b82_cancelled_sleeper_leaves_nothing_and_has_the_mutex)
{
	begin();
	parks(A, do_wait_any);
	must_be(fk_cancel(A), FK_READY);
	state_is(0);
	has_been_cancelled(A);
	rest();
}

TEST(b82_thread_that_is_cancelled_already_does_not_wait)
{
	begin();
	must_be(fk_cancel(A), FK_READY);
	must_be(fk_call(A, do_wait_any, &m), FK_READY);
	must_be(fk.n_waits, 0);
	must_be(c->state, 0);
	has_been_cancelled(A);
	rest();
}

TEST(b82_signal_that_a_cancelled_waiter_has_taken_goes_to_the_next)
{
	begin();
	parks(A, do_wait_any);
	parks(B, do_wait);
	parks(C, do_wait);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	must_be(fk_cancel(A), FK_READY);
	is(B, FK_WOKEN);
	is(C, FK_ASLEEP);
	has_been_cancelled(A);
	goes_and_ends(B, 0);
	must_be(nlock_cond_signal(c), 0);
	goes_and_ends(C, 0);
	rest();
}

TEST(b82_signal_that_a_cancelled_waiter_has_taken_finds_one_on_its_way_to_sleep)
{
	begin();
	parks(A, do_wait_any);
	stops(B, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	must_be(fk_cancel(A), FK_READY);
	has_been_cancelled(A);
	goes_and_ends(B, 0);
	rest();
}

TEST(b82_signal_to_one_that_is_cancelled_before_it_sleeps_releases_the_other)
{
	begin();
	stops(A, do_wait_any, FK_BEFORE_WAIT);
	stops(B, do_wait, FK_BEFORE_WAIT);
	must_be(nlock_cond_signal(c), 0);
	must_be(fk_cancel(A), FK_READY);
	has_been_cancelled(A);
	goes_and_ends(B, 0);
	rest();
}

TEST(b82_cancellation_in_the_middle_of_a_signal_loses_nobody)
{
	begin();
	parks(A, do_wait_any);
	parks(B, do_wait);
	stops(D, do_signal, FK_BEFORE_WAKE);
	must_be(fk_cancel(A), FK_READY);
	is(B, FK_WOKEN);
	has_been_cancelled(A);
	goes_and_ends(D, 0);
	goes_and_ends(B, 0);
	rest();
}

TEST(b82_broadcast_releases_the_others_of_a_cancelled_waiter)
{
	begin();
	parks(A, do_wait_any);
	parks(B, do_wait);
	must_be(nlock_cond_broadcast(c), 0);
	must_be(fk_cancel(A), FK_READY);
	has_been_cancelled(A);
	goes_and_ends(B, 0);
	rest();
}

TEST(b82_cancelled_waiter_lets_go_before_it_waits_for_the_mutex)
{
	begin();
	parks(A, do_wait_any);
	must_be(nlock_mutex_trylock(&m), 0);
	must_be(nlock_cond_signal(c), 0);
	is(A, FK_WOKEN);
	parks(D, do_destroy);
	must_be(fk_cancel(A), FK_ASLEEP);
	goes_and_ends(D, 0);
	must_be(nlock_mutex_unlock(&m), 0);
	must_be(fk_go(A), FK_READY);
	has_been_cancelled(A);
	rest();
}

static const struct test tests[] = {
	ONCE(signal_and_broadcast_of_nobody_make_no_call),
	ONCE(arguments_that_are_none_change_nothing_b77),
	ONCE(init_refuses_what_does_not_apply),
	ONCE(signal_wakes_the_one_that_sleeps),
	ONCE(each_signal_releases_one_in_order_of_arrival),
	ONCE(b06_signal_between_giving_up_the_mutex_and_sleeping_is_seen),
	ONCE(b04_waiter_registers_before_the_mutex_can_be_had),
	ONCE(signal_that_finds_all_on_their_way_releases_all_of_them),
	ONCE(broadcast_releases_sleepers_and_those_on_their_way),
	ONCE(b03_a_thread_that_waits_again_takes_nobodys_place),
	ONCE(b01_signals_to_those_on_their_way_are_not_taken_by_a_later_one),
	ONCE(b02_late_waiter_does_not_take_the_signal_of_an_earlier_one),
	ONCE(b02_interrupted_sleeper_that_was_signalled_returns_and_the_late_one_stays),
	ONCE(b02_signal_during_another_one_makes_sure_of_its_own_thread),
	ONCE(broadcast_during_a_signal_releases_the_one_that_it_is_for),
	ONCE(signal_is_not_taken_by_a_sleeper_that_a_broadcast_has_released),
	ONCE(deadline_that_passes_is_told_and_leaves_nothing),
	ONCE(deadline_in_the_past_gives_the_mutex_up_and_makes_no_call),
	ONCE(b09_signal_that_meets_a_deadline_goes_to_the_other_waiter),
	ONCE(b09_signal_that_meets_the_deadline_of_the_only_waiter_is_told_as_success),
	ONCE(b82_wait_that_was_signalled_returns_though_its_deadline_has_passed),
	ONCE(deadline_after_a_broadcast_is_no_timeout),
	ONCE(deadline_after_a_broadcast_does_not_cost_a_later_arrival_its_place),
	ONCE(b76_mutex_is_had_again_after_every_kind_of_end),
	ONCE(b78_interrupted_waiter_keeps_its_registration),
	ONCE(b79_stray_wake_is_a_wakeup_for_nothing_and_the_counts_stay_right),
	ONCE(b79_stray_wake_during_a_signal_does_not_cost_the_other_waiter_its_place),
	ONCE(wakes_whose_count_is_a_lie_lose_nobody),
	ONCE(watcher_is_released_without_a_system_call),
	ONCE(watcher_that_was_told_does_not_sleep),
	ONCE(watcher_sleeps_when_its_time_is_over),
	ONCE(second_waiter_does_not_watch_and_ends_the_watch_of_the_first),
	ONCE(b24_destroy_does_not_wait_for_one_that_is_blocked),
	ONCE(b17_destroy_right_after_a_broadcast_waits_for_those_it_released),
	ONCE(b17_last_one_out_does_not_touch_memory_that_has_gone),
	ONCE(b17_destroy_waits_for_a_signal_that_is_still_inside),
	ONCE(destroy_that_sees_the_last_one_leave_does_not_sleep),
	ONCE(b42_each_waiter_gets_its_own_mutex_back),
	ONCE(b41_broadcast_does_not_mind_what_the_mutex_is),
	ONCE(rwlock_is_given_up_and_had_again_in_the_same_mode),
	ONCE(writer_whose_deadline_passes_has_the_rwlock_again),
	ONCE(rwlock_that_nobody_holds_is_refused),
	ONCE(b85_gate_that_wraps_releases_as_any_other),
	ONCE(b85_two_broadcasts_are_not_taken_for_none),
	ONCE(signal_at_the_maximum_of_calls_releases_all),
	ONCE(movers_at_their_maximum_stay_there_until_nobody_is_inside),
	ONCE(waiters_at_their_maximum_carry_into_nothing),
	ONCE(b40_broadcast_with_the_mutex_held_wakes_one_and_moves_the_rest),
	ONCE(epochs_take_turns),
	ONCE(open_mutex_counts_nobody_and_all_are_woken),
	ONCE(move_that_is_refused_wakes_all_and_they_stay_counted),
	ONCE(one_on_its_way_to_sleep_goes_to_the_mutex_by_itself),
	ONCE(deadline_or_signal_of_one_that_was_moved_leaves_it_counted_and_is_no_timeout),
	ONCE(b24_destroy_lets_those_that_were_moved_go_on_to_wait_for_the_mutex),
	ONCE(b24_destroy_during_a_move_waits_for_the_end_of_it),
	ONCE(b42_waiters_with_different_locks_are_not_moved),
	ONCE(signal_while_some_are_away_releases_all_who_came_later),
	ONCE(child_of_a_fork_counts_nobody_of_its_parents),
	ONCE(shared_object_counts_those_of_all_processes),
	ONCE(any_lock_is_given_up_and_had_again),
	ONCE(any_lock_whose_unlock_fails_is_not_locked_and_nobody_is_counted),
	ONCE(what_any_lock_says_comes_before_a_timeout),
	ONCE(bad_arguments_with_any_lock_change_nothing),
	ONCE(interruption_does_not_end_a_wait_with_any_lock),
	ONCE(b82_cancelled_sleeper_leaves_nothing_and_has_the_mutex),
	ONCE(b82_thread_that_is_cancelled_already_does_not_wait),
	ONCE(b82_signal_that_a_cancelled_waiter_has_taken_goes_to_the_next),
	ONCE(b82_signal_that_a_cancelled_waiter_has_taken_finds_one_on_its_way_to_sleep),
	ONCE(b82_signal_to_one_that_is_cancelled_before_it_sleeps_releases_the_other),
	ONCE(b82_cancellation_in_the_middle_of_a_signal_loses_nobody),
	ONCE(b82_broadcast_releases_the_others_of_a_cancelled_waiter),
	ONCE(b82_cancelled_waiter_lets_go_before_it_waits_for_the_mutex),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "script_cond", tests, COUNT(tests));
}
