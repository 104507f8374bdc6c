/* SPDX-License-Identifier: MIT
 *
 * check_script_rwlock.c - tier 2: lib/rwlock.c over tests/fake_wait.c, interleaving by interleaving
 *
 * Every transition of the table at the top of lib/rwlock.c, and every outcome of a wait at chosen moments. The states that the
 * scripts expect are spelled out below and not taken from lib/rwlock.h: they are what that table says. b12_ and the like are the
 * numbers of faults that other locks have had.
 *
 * A to E are players. Where nobody has to be able to sleep, the script calls the library itself.
 */
#include "fake_wait.h"
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { A, B, C, D, E };

#define OWNED    0x01ull
#define NEXT     0x02ull
#define ASLEEP   0x04ull
#define DUE      0x08ull
#define FORKED   0x10ull
#define PHASES   0x60ull
#define PROMISED 0x80ull
#define SPREAD   0x100ull
#define BIASED   0x200ull

static nlock_rwlock_t *rw; /* alone in its page */
static struct timespec until;
static clockid_t until_clock;

/* ---------------------------------------------------------------- the calls, as players make them */

static int do_rd(void *arg)
{
	return nlock_rwlock_rdlock(arg);
}

static int do_tryrd(void *arg)
{
	return nlock_rwlock_tryrdlock(arg);
}

static int do_rd_until(void *arg)
{
	return nlock_rwlock_rdlock_until(arg, until_clock, &until);
}

static int do_wr(void *arg)
{
	return nlock_rwlock_wrlock(arg);
}

static int do_trywr(void *arg)
{
	return nlock_rwlock_trywrlock(arg);
}

static int do_wr_until(void *arg)
{
	return nlock_rwlock_wrlock_until(arg, until_clock, &until);
}

static int do_unlock(void *arg)
{
	return nlock_rwlock_unlock(arg);
}

static int do_rdunlock(void *arg)
{
	return nlock_rwlock_rdunlock(arg);
}

static int do_wrunlock(void *arg)
{
	return nlock_rwlock_wrunlock(arg);
}

static int do_downgrade(void *arg)
{
	return nlock_rwlock_downgrade(arg);
}

static int do_upgrade(void *arg)
{
	return nlock_rwlock_tryupgrade(arg);
}

static int (*const read_locks[])(void *) = { do_rd, do_tryrd, do_rd_until };
static int (*const write_locks[])(void *) = { do_wr, do_trywr, do_wr_until };

/* ---------------------------------------------------------------- the language of the scripts */

static void begin_with(int prefers, nlock_attr_t attr)
{
	if (!rw)
		rw = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	must(rw != MAP_FAILED);
	fk_begin();
	fk.may_drop = true;
	must_be(nlock_rwlock_init(rw, prefers, attr), 0);
	fk_forget();
	until = (struct timespec){ 2000, 0 };
	until_clock = CLOCK_MONOTONIC;
}

static void begin(int prefers)
{
	begin_with(prefers, NLOCK_FIFO);
}

/* Everybody is done and the lock is as new, but for the phase. */
static void rest(void)
{
	for (int i = 0; i < FK_PLAYERS; i++)
		must(fk_state(i) == FK_READY, "player %c is not done", 'A' + i);
	must(!fk.complaint, "%s", fk.complaint);
	must_be(rw->state & ~(PHASES | FORKED), 0);
	must_be((rw->state & PHASES) >> 5, rw->rgate & 3);
	must_be(rw->seat.word, 0);
	must_be(nlock_rwlock_destroy(rw), 0);
}

/* The state without phase and FORKED. */
#define state_is(flags, in, on) \
	must_be(rw->state & ~(PHASES | FORKED), (flags) | (uint64_t)(in) << 11 | (uint64_t)(on) << 37)
#define phase_is(n) must_be((rw->state & PHASES) >> 5, (n)&3)

#define ends(who, call, value) \
	do { \
		must_be(fk_call(who, call, rw), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define takes(who, call)    ends(who, call, 0)
#define releases(who, call) ends(who, call, 0)
#define parks(who, call)    must_be(fk_call(who, call, rw), FK_ASLEEP)
#define stops(who, call, at) \
	do { \
		fk_stop_at(who, at); \
		must_be(fk_call(who, call, rw), FK_STOPPED); \
	} while (0)
#define goes_and_ends(who, value) \
	do { \
		must_be(fk_go(who), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define goes_and_parks(who) must_be(fk_go(who), FK_ASLEEP)
#define is_roused_and_ends(who, why, value) \
	do { \
		must_be(fk_rouse(who, why), FK_READY); \
		must_be(fk_result(who), value); \
	} while (0)
#define is_roused_and_parks(who, why) must_be(fk_rouse(who, why), FK_ASLEEP)
#define is(who, state)                must_be(fk_state(who), state)

#define EACH_PREFERENCE(p) for (int p = NLOCK_RW_PHASE_FAIR; p <= NLOCK_RW_PREFER_WRITERS; p++)

/* ---------------------------------------------------------------- nobody waits: T1, T3, T5, T14 */

TEST(uncontended_pairs_make_no_call)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		until.tv_sec = -5;
		for (int i = 0; i < 3; i++) {
			must_be(read_locks[i](rw), 0);
			must_be(read_locks[i](rw), 0);
			state_is(0, 2, 0);
			must_be(do_unlock(rw), 0);
			must_be(do_rdunlock(rw), 0);
			must_be(write_locks[i](rw), 0);
			state_is(OWNED, 0, 0);
			must_be(i ? do_unlock(rw) : do_wrunlock(rw), 0);
			state_is(0, 0, 0);
		}
		must_be(rw->state, 0);
		must_be(fk.n_waits + fk.n_wakes + fk.n_enters, 0);
		rest();
	}
}

TEST(readers_share_and_writers_exclude)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		until.tv_sec = 1;
		takes(A, do_rd);
		takes(B, do_rd);
		ends(C, do_trywr, EBUSY);
		ends(C, do_wr_until, ETIMEDOUT);
		releases(A, do_unlock);
		ends(C, do_trywr, EBUSY);
		releases(B, do_unlock);
		takes(C, do_trywr);
		ends(A, do_tryrd, EBUSY);
		ends(A, do_rd_until, ETIMEDOUT);
		ends(B, do_trywr, EBUSY);
		releases(C, do_unlock);
		must_be(fk.n_waits + fk.n_wakes, 0);
		rest();
	}
}

/* ---------------------------------------------------------------- waiting: T2, T4, T6, T7, T11, T12 */

TEST(writer_release_admits_all_waiting_readers)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_rd);
		parks(C, do_rd_until);
		state_is(OWNED, 0, 2);
		releases(A, do_unlock);
		state_is(0, 2, 0);
		phase_is(1);
		must_be(fk.n_wakes, 1);
		is(B, FK_WOKEN);
		is(C, FK_WOKEN);
		goes_and_ends(C, 0);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		releases(C, do_unlock);
		rest();
	}
}

TEST(last_reader_grants_to_the_next_writer)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_rd);
		takes(B, do_rd);
		parks(C, do_wr);
		state_is(NEXT | ASLEEP, 2, 0);
		releases(A, do_unlock);
		state_is(NEXT | ASLEEP, 1, 0);
		must_be(fk.n_wakes, 0);
		releases(B, do_unlock);
		state_is(OWNED, 0, 0);
		must_be(fk.n_wakes, 1);
		ends(A, do_trywr, EBUSY);
		ends(A, do_tryrd, EBUSY);
		goes_and_ends(C, 0);
		must_be(rw->seat.word, 0);
		releases(C, do_unlock);
		rest();
	}
}

TEST(writers_go_in_order_of_arrival)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_wr);
		parks(C, do_wr);
		parks(D, do_wr);
		releases(A, do_unlock);
		goes_and_ends(B, 0);
		is(C, FK_WOKEN);
		goes_and_parks(C);
		state_is(OWNED | NEXT | ASLEEP, 0, 0);
		releases(B, do_unlock);
		goes_and_ends(C, 0);
		goes_and_parks(D);
		releases(C, do_unlock);
		goes_and_ends(D, 0);
		releases(D, do_unlock);
		rest();
	}
}

/* The lock came free while the writer was on its way. */
TEST(writer_on_its_way_takes_what_has_come_free)
{
	begin(NLOCK_RW_PHASE_FAIR);
	fk.watch_ns = fk.tick = 1;
	takes(A, do_wr);
	stops(B, do_wr, FK_BEFORE_ENTER);
	state_is(OWNED | NEXT, 0, 0);
	releases(A, do_unlock);
	state_is(OWNED, 0, 0);
	must_be(fk.n_wakes, 0);
	goes_and_ends(B, 0);
	must_be(fk.n_waits, 0);
	releases(B, do_unlock);
	rest();
}

TEST(grant_meets_a_writer_on_its_way_to_sleep)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_rd);
	stops(B, do_wr, FK_BEFORE_WAIT);
	state_is(NEXT | ASLEEP, 1, 0);
	releases(A, do_unlock);
	state_is(OWNED, 0, 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

TEST(admission_meets_a_reader_on_its_way_to_sleep)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	stops(B, do_rd, FK_BEFORE_WAIT);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* The next writer watches, and needs no call. */
TEST(release_to_a_writer_that_watches_makes_no_call)
{
	begin(NLOCK_RW_PHASE_FAIR);
	fk.watch_ns = 100;
	fk.tick = 1;
	takes(A, do_wr);
	stops(B, do_wr, FK_AT_CLOCK);
	must_be(fk_go(B), FK_STOPPED); /* has registered, and watches */
	state_is(OWNED | NEXT, 0, 0);
	releases(A, do_unlock);
	must_be(fk.n_wakes, 0);
	fk_stop_at(B, 0);
	goes_and_ends(B, 0);
	must_be(fk.n_waits, 0);
	releases(B, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- who goes first */

TEST(phase_fair_lock_lets_readers_and_writers_take_turns)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_wr);
	parks(C, do_rd);
	releases(A, do_unlock);
	state_is(NEXT | ASLEEP, 1, 0);
	is(B, FK_ASLEEP);
	goes_and_ends(C, 0);
	ends(D, do_tryrd, EBUSY);
	parks(D, do_rd);
	releases(C, do_unlock);
	state_is(OWNED, 0, 1);
	is(D, FK_ASLEEP);
	goes_and_ends(B, 0);
	parks(C, do_wr);
	releases(B, do_unlock);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	phase_is(2);
	rest();
}

TEST(preferred_writers_go_before_waiting_readers)
{
	begin(NLOCK_RW_PREFER_WRITERS);
	takes(A, do_wr);
	parks(C, do_rd);
	parks(B, do_wr);
	releases(A, do_unlock);
	state_is(OWNED, 0, 1);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

TEST(preferred_readers_enter_past_a_waiting_writer)
{
	begin(NLOCK_RW_PREFER_READERS);
	takes(A, do_rd);
	parks(B, do_wr);
	takes(C, do_rd);
	releases(A, do_unlock);
	takes(D, do_tryrd);
	releases(C, do_unlock);
	is(B, FK_ASLEEP);
	releases(D, do_unlock);
	goes_and_ends(B, 0);
	parks(C, do_rd);
	parks(A, do_wr);
	releases(B, do_unlock);
	goes_and_ends(C, 0);
	is(A, FK_ASLEEP);
	releases(C, do_unlock);
	goes_and_ends(A, 0);
	releases(A, do_unlock);
	rest();
}

TEST(b15_reader_may_lock_twice_if_readers_are_preferred)
{
	begin(NLOCK_RW_PREFER_READERS);
	takes(A, do_rd);
	parks(B, do_wr);
	takes(A, do_rd);
	takes(A, do_tryrd);
	state_is(NEXT | ASLEEP, 3, 0);
	for (int i = 0; i < 3; i++) {
		is(B, FK_ASLEEP);
		releases(A, do_unlock);
	}
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

TEST(b15_reader_that_locks_twice_past_a_writer_blocks_otherwise)
{
	for (int p = 0; p < 2; p++) {
		begin(p ? NLOCK_RW_PREFER_WRITERS : NLOCK_RW_PHASE_FAIR);
		takes(A, do_rd);
		takes(A, do_rd);
		parks(B, do_wr);
		ends(A, do_tryrd, EBUSY);
		parks(A, do_rd_until);
		is_roused_and_ends(A, NL_TIMEDOUT, ETIMEDOUT);
		releases(A, do_unlock);
		releases(A, do_unlock);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- hand-off: T13, T5, T8 */

TEST(release_opens_or_grants_as_the_policy_says)
{
	EACH_PREFERENCE(p)
	{
		begin_with(p, NLOCK_BOUNDED_N(1));
		takes(A, do_wr);
		parks(B, do_wr);
		releases(A, do_unlock);
		state_is(NEXT, 0, 0);
		is(B, FK_WOKEN);
		takes(A, do_trywr);
		must_be(rw->bypass, 1);
		goes_and_parks(B);
		state_is(OWNED | NEXT | ASLEEP, 0, 0);
		releases(A, do_unlock);
		state_is(OWNED, 0, 0);
		ends(A, do_trywr, EBUSY);
		goes_and_ends(B, 0);
		must_be(rw->bypass, 0);
		releases(B, do_unlock);
		rest();
	}
}

TEST(next_writer_takes_an_open_lock_that_nobody_wants)
{
	begin_with(NLOCK_RW_PHASE_FAIR, NLOCK_BARGING);
	takes(A, do_wr);
	parks(B, do_wr);
	releases(A, do_unlock);
	state_is(NEXT, 0, 0);
	ends(C, do_tryrd, EBUSY); /* what has been opened is the writers' */
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

TEST(open_lock_admits_readers_if_they_are_preferred)
{
	begin_with(NLOCK_RW_PREFER_READERS, NLOCK_BARGING);
	takes(A, do_wr);
	parks(B, do_wr);
	releases(A, do_unlock);
	takes(C, do_tryrd);
	goes_and_parks(B);
	releases(C, do_unlock);
	state_is(OWNED, 0, 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

TEST(victim_gets_the_lock_after_the_time_bound)
{
	begin_with(NLOCK_RW_PHASE_FAIR, NLOCK_BOUNDED);
	takes(A, do_wr);
	parks(B, do_wr);
	releases(A, do_unlock);
	takes(A, do_wr);
	fk.now += NLOCK_BOUND_NS + 1;
	goes_and_parks(B);
	state_is(OWNED | NEXT | ASLEEP | DUE, 0, 0);
	releases(A, do_unlock);
	state_is(OWNED, 0, 0);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- downgrade, upgrade: T17, T18 */

TEST(downgrade_keeps_the_lock_and_admits_waiting_readers)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_rd);
		releases(A, do_downgrade);
		state_is(0, 2, 0);
		goes_and_ends(B, 0);
		releases(A, do_rdunlock);
		releases(B, do_unlock);
		rest();
	}
}

TEST(downgrade_never_lets_a_writer_between)
{
	EACH_PREFERENCE(p)
	{
		bool waits = p == NLOCK_RW_PREFER_WRITERS;

		begin(p);
		takes(A, do_wr);
		parks(B, do_wr);
		parks(C, do_rd);
		releases(A, do_downgrade);
		state_is(NEXT | ASLEEP, waits ? 1 : 2, waits);
		is(B, FK_ASLEEP);
		if (!waits) {
			goes_and_ends(C, 0);
			releases(C, do_unlock);
		}
		ends(D, do_tryrd, p == NLOCK_RW_PREFER_READERS ? 0 : EBUSY); /* also against downgrade */
		if (p == NLOCK_RW_PREFER_READERS)
			releases(D, do_unlock);
		releases(A, do_unlock);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		if (waits) {
			goes_and_ends(C, 0);
			releases(C, do_unlock);
		}
		rest();
	}
}

TEST(upgrade_needs_to_be_alone)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_rd);
		takes(B, do_rd);
		ends(A, do_upgrade, EBUSY);
		ends(B, do_upgrade, EBUSY);
		releases(B, do_unlock);
		takes(A, do_upgrade);
		state_is(OWNED, 0, 0);
		ends(B, do_tryrd, EBUSY);
		releases(A, do_downgrade);
		parks(C, do_wr);
		ends(A, do_upgrade, p == NLOCK_RW_PREFER_READERS ? 0 : EBUSY);
		releases(A, do_unlock);
		goes_and_ends(C, 0);
		releases(C, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- deadlines: T9, T10, T15, T16 */

TEST(reader_that_gives_up_leaves_nothing)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_rd_until);
		must(fk_has_deadline(B));
		is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
		state_is(OWNED, 0, 0);
		releases(A, do_unlock);
		must_be(fk.n_wakes, 0);
		rest();
	}
}

/* The deadline passes and the admission has been made, but not told: it owns, and waits for what it is owed. */
TEST(b31_reader_whose_deadline_passes_as_it_is_admitted_owns_the_lock)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_rd_until);
	stops(A, do_unlock, FK_BEFORE_WAKE);
	state_is(0, 1, 0);
	is_roused_and_ends(B, NL_TIMEDOUT, 0);
	goes_and_ends(A, 0);
	releases(B, do_unlock);
	rest();
}

TEST(b31_writer_whose_deadline_passes_as_it_is_granted_the_lock_owns_it)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_rd);
	parks(B, do_wr_until);
	stops(A, do_unlock, FK_BEFORE_WAKE);
	state_is(OWNED, 0, 0);
	is_roused_and_ends(B, NL_TIMEDOUT, 0);
	releases(B, do_unlock);
	goes_and_ends(A, 0);
	rest();
}

TEST(writer_that_gives_up_lets_the_readers_in_that_it_kept_out)
{
	for (int p = 0; p < 2; p++) {
		begin(p ? NLOCK_RW_PREFER_WRITERS : NLOCK_RW_PHASE_FAIR);
		takes(A, do_rd);
		parks(B, do_wr_until);
		parks(C, do_rd);
		parks(D, do_rd);
		state_is(NEXT | ASLEEP, 1, 2);
		is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
		state_is(0, 1, 2);
		is(C, FK_WOKEN);
		is(D, FK_WOKEN);
		goes_and_ends(C, 0);
		goes_and_ends(D, 0);
		state_is(0, 3, 0);
		releases(A, do_unlock);
		releases(C, do_unlock);
		releases(D, do_unlock);
		rest();
	}
}

/* It was called, and did not come before the next writer. */
TEST(called_reader_that_is_late_waits_for_one_writer)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_rd);
	parks(B, do_wr_until);
	parks(C, do_rd);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	parks(D, do_wr);
	goes_and_parks(C);
	state_is(NEXT | ASLEEP, 1, 1);
	releases(A, do_unlock);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

TEST(next_writer_that_gives_up_leaves_the_seat_to_another)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_wr_until);
		parks(C, do_wr);
		parks(D, do_wr_until);
		is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
		goes_and_parks(C);
		state_is(OWNED | NEXT | ASLEEP, 0, 0);
		is_roused_and_ends(D, NL_TIMEDOUT, ETIMEDOUT);
		releases(A, do_unlock);
		goes_and_ends(C, 0);
		releases(C, do_unlock);
		rest();
	}
}

TEST(next_writer_that_was_called_and_loses_gives_up_at_its_deadline)
{
	begin_with(NLOCK_RW_PHASE_FAIR, NLOCK_BARGING);
	takes(A, do_wr);
	parks(B, do_wr_until);
	releases(A, do_unlock);
	takes(C, do_wr);
	goes_and_parks(B);
	is_roused_and_ends(B, NL_TIMEDOUT, ETIMEDOUT);
	state_is(OWNED, 0, 0);
	releases(C, do_unlock);
	rest();
}

TEST(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had)
{
	begin(NLOCK_RW_PHASE_FAIR);
	for (int held = 0; held < 2; held++) {
		if (held)
			takes(A, do_wr);
		until = (struct timespec){ 2000, 1000000000 };
		for (int i = 0; i < 2; i++) {
			ends(B, do_rd_until, held ? EINVAL : 0);
			if (!held)
				releases(B, do_unlock);
			ends(B, do_wr_until, held ? EINVAL : 0);
			if (!held)
				releases(B, do_unlock);
			until.tv_nsec = 0;
			until_clock = i ? CLOCK_MONOTONIC : CLOCK_BOOTTIME;
		}
	}
	must_be(nlock_rwlock_rdlock_until(rw, CLOCK_MONOTONIC, NULL), EINVAL);
	must_be(nlock_rwlock_wrlock_until(rw, CLOCK_MONOTONIC, NULL), EINVAL);
	state_is(OWNED, 0, 0);
	releases(A, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- the place of the next writer goes with the seat */

TEST(writer_in_the_queue_is_next_before_it_wakes_up)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_wr);
	parks(C, do_wr); /* for the seat */
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	is(C, FK_WOKEN);
	state_is(OWNED | NEXT | PROMISED, 0, 0);
	parks(A, do_rd);
	releases(B, do_unlock); /* one phase of readers, and nobody else gets into it */
	goes_and_ends(A, 0);
	state_is(NEXT | PROMISED, 1, 0);
	must_be(nlock_rwlock_tryrdlock(rw), EBUSY);
	releases(A, do_unlock);
	state_is(OWNED | PROMISED, 0, 0); /* granted, though it has not come yet */
	must_be(nlock_rwlock_tryrdlock(rw), EBUSY);
	must_be(nlock_rwlock_trywrlock(rw), EBUSY);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

TEST(promised_writer_comes_before_its_turn_and_waits)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_wr);
	parks(C, do_wr);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	goes_and_parks(C);
	state_is(OWNED | NEXT | ASLEEP, 0, 0);
	releases(B, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

TEST(promise_meets_a_writer_on_its_way_to_sleep)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_wr);
	stops(C, do_wr_until, FK_BEFORE_WAIT);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	state_is(OWNED | NEXT | PROMISED, 0, 0);
	releases(B, do_unlock);
	state_is(OWNED | PROMISED, 0, 0);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- cohort locks: whom an owner gives the seat */

#define COHORT_OF_TWO (NLOCK_BOUNDED_N(2) | NLOCK_COHORT)
#define ON(node)      nl_lane_of(node)

/* A owns the lock, B is next, and C is at the head of those who queue. Behind it D sleeps, which is on a node of its own, and E. */
static void writers_on_two_nodes(int prefers)
{
	begin_with(prefers, COHORT_OF_TWO);
	fk.nodes = 2;
	fk.node[D] = 1;
	takes(A, do_wr);
	parks(B, do_wr);
	parks(C, do_wr);
	must_be(fk_lane(C), NL_LANE_FRONT);
	parks(D, do_wr);
	must_be(fk_lane(D), NL_LANE_BACK | ON(1));
	parks(E, do_wr);
	must_be(fk_lane(E), NL_LANE_BACK | ON(0));
}

/* The one who owned the lock has released it, and this one, which was next, has it by now. */
#define succeeds(from, to) \
	do { \
		releases(from, do_unlock); \
		goes_and_ends(to, 0); \
	} while (0)

/* E and B are called before D, and C, which is as near, no more. */
TEST(near_writer_is_the_next_one_within_the_bound_of_those_who_queue)
{
	EACH_PREFERENCE(p)
	{
		writers_on_two_nodes(p);
		succeeds(A, B);
		goes_and_parks(C); /* is next: it was at the head */
		must_be(rw->seat.bypass, 0);
		succeeds(B, C);
		is(E, FK_WOKEN);
		is(D, FK_ASLEEP);
		goes_and_parks(E);
		must_be(rw->seat.bypass, 1);
		parks(B, do_wr);
		succeeds(C, E);
		is(B, FK_WOKEN);
		is(D, FK_ASLEEP);
		goes_and_parks(B);
		must_be(rw->seat.bypass, 2);
		parks(C, do_wr);
		must_be(fk_lane(C), NL_LANE_ODD | ON(0));
		succeeds(E, B);
		is(D, FK_WOKEN);
		is(C, FK_ASLEEP);
		goes_and_parks(D);
		succeeds(B, D);
		is(C, FK_WOKEN);
		goes_and_parks(C);
		must_be(rw->seat.bypass, 0);
		succeeds(D, C);
		releases(C, do_unlock);
		rest();
	}
}

/* Whom it prefers is asked of the node of who takes the lock. */
TEST(node_of_the_new_owner_says_who_is_near)
{
	EACH_PREFERENCE(p)
	{
		writers_on_two_nodes(p);
		fk.node[C] = 1; /* it has been moved in its sleep */
		succeeds(A, B);
		goes_and_parks(C);
		succeeds(B, C);
		is(D, FK_WOKEN);
		is(E, FK_ASLEEP);
		goes_and_parks(D);
		must_be(rw->seat.bypass, 1);
		succeeds(C, D);
		goes_and_parks(E);
		succeeds(D, E);
		releases(E, do_unlock);
		rest();
	}
}

/* Readers are of no node, nor is the next writer where it sleeps. */
TEST(readers_of_all_nodes_are_let_in_at_once)
{
	EACH_PREFERENCE(p)
	{
		begin_with(p, COHORT_OF_TWO);
		fk.nodes = 2;
		fk.node[C] = fk.node[D] = 1;
		takes(A, do_wr);
		parks(B, do_rd);
		parks(C, do_rd);
		must_be(fk_lane(C), NL_LANE_BACK);
		releases(A, do_unlock);
		must_be(fk.n_wakes, 1);
		goes_and_ends(B, 0);
		goes_and_ends(C, 0);
		parks(D, do_wr);
		must_be(fk_lane(D), NL_LANE_BACK);
		releases(B, do_unlock);
		succeeds(C, D);
		releases(D, do_unlock);
		rest();
	}
}

TEST(cohort_that_has_nothing_to_choose_is_refused)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		must_be(nlock_rwlock_init(rw, p, NLOCK_FIFO | NLOCK_COHORT), EINVAL);
		must_be(nlock_rwlock_init(rw, p, NLOCK_BOUNDED_N(0) | NLOCK_COHORT), EINVAL);
		must_be(nlock_rwlock_init(rw, p, NLOCK_BOUNDED_N(1) | NLOCK_COHORT), 0);
		must_be(nlock_rwlock_init(rw, p, NLOCK_BARGING | NLOCK_COHORT), 0);
		must_be(nlock_rwlock_init(rw, p, NLOCK_COHORT), 0);
		rest();
	}
}

/* ---------------------------------------------------------------- wakes that mean nothing */

TEST(b12_stray_wakes_change_nothing_and_all_is_read_again)
{
	static const enum nl_outcome why[] = { NL_WOKEN, NL_LOOK };

	EACH_PREFERENCE(p)
	{
		begin(p);
		takes(A, do_wr);
		parks(B, do_rd);
		parks(C, do_wr);
		parks(D, do_wr);
		for (int i = 0; i < COUNT(why); i++) {
			is_roused_and_parks(B, why[i]);
			is_roused_and_parks(C, why[i]);
			state_is(OWNED | NEXT | ASLEEP, 0, 1);
		}
		must_be(fk.n_wakes, 0);
		/* the state has changed in between: B finds out by itself */
		stops(A, do_unlock, FK_BEFORE_WAKE);
		if (p == NLOCK_RW_PREFER_WRITERS) {
			is_roused_and_ends(C, NL_LOOK, 0);
			goes_and_ends(A, 0);
			releases(C, do_unlock);
			goes_and_ends(D, 0);
			releases(D, do_unlock);
			goes_and_ends(B, 0);
			releases(B, do_unlock);
		} else {
			is_roused_and_ends(B, NL_LOOK, 0);
			goes_and_ends(A, 0);
			releases(B, do_unlock);
			goes_and_ends(C, 0);
			releases(C, do_unlock);
			goes_and_ends(D, 0);
			releases(D, do_unlock);
		}
		rest();
	}
}

/* ---------------------------------------------------------------- B11: every way to win a phase change has the same duties */

/* Whoever of B and C has been woken has its turn, until nobody is. */
static void let_pass(void)
{
	for (int i = B; i <= C;) {
		if (fk_state(i) != FK_WOKEN) {
			i++;
			continue;
		}
		goes_and_ends(i, 0);
		releases(i, do_unlock);
		i = B;
	}
}

/* B waits to write, the lock has been opened, and A wins it in this way; or, where readers must wait, after B. */
static void wins(int prefers, int how)
{
	bool writes = how >= 3;

	begin_with(prefers, NLOCK_BARGING);
	takes(A, do_wr);
	parks(B, do_wr);
	releases(A, do_unlock);
	is(B, FK_WOKEN);
	if (!writes && prefers != NLOCK_RW_PREFER_READERS) {
		let_pass();
		takes(A, read_locks[how]);
	} else {
		takes(A, writes ? write_locks[how - 3] : read_locks[how]);
		goes_and_parks(B);
	}
	if (writes)
		parks(C, do_rd);
	releases(A, do_unlock);
	let_pass();
	rest();
}

TEST(b11_whoever_wins_a_phase_change_serves_those_who_sleep)
{
	EACH_PREFERENCE(p)
	{
		for (int how = 0; how < 6; how++)
			wins(p, how);
	}
}

/* ---------------------------------------------------------------- B13: the last reader is the one whose own step says so */

TEST(b13_exactly_one_of_two_leaving_readers_is_the_last)
{
	for (int first = A; first <= B; first++) {
		begin(NLOCK_RW_PHASE_FAIR);
		takes(A, do_rd);
		takes(B, do_rd);
		parks(C, do_wr);
		releases(first, do_unlock);
		must_be(fk.n_wakes, 0);
		state_is(NEXT | ASLEEP, 1, 0);
		stops(A + B - first, do_unlock, FK_BEFORE_WAKE);
		state_is(OWNED, 0, 0);
		goes_and_ends(A + B - first, 0);
		must_be(fk.n_wakes, 1);
		goes_and_ends(C, 0);
		releases(C, do_unlock);
		rest();
	}
}

/* ---------------------------------------------------------------- end of life */

static void end_of_life(void)
{
	must_be(mprotect(rw, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE), 0);
}

static void new_life(void)
{
	must_be(mprotect(rw, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE), 0);
}

/* A has released, and is about to make its wake call; B, which it served, has left and freed the lock. */
static void dies_before_the_wake(int prefers, int (*owns)(void *), int (*waits)(void *))
{
	begin(prefers);
	takes(A, owns);
	parks(B, waits);
	stops(A, do_unlock, FK_BEFORE_WAKE);
	is_roused_and_ends(B, NL_LOOK, 0);
	releases(B, do_unlock);
	end_of_life();
	goes_and_ends(A, 0);
	new_life();
	rest();
}

TEST(b17_unlock_does_not_touch_the_lock_after_its_last_step)
{
	EACH_PREFERENCE(p)
	{
		dies_before_the_wake(p, do_wr, do_wr);
		dies_before_the_wake(p, do_wr, do_rd);
		dies_before_the_wake(p, do_rd, do_wr);
	}
}

TEST(b18_grant_is_the_last_step_whatever_its_receiver_does)
{
	static const nlock_attr_t attrs[] = { NLOCK_FIFO, NLOCK_BOUNDED_N(1), NLOCK_BOUNDED };

	for (int i = 0; i < COUNT(attrs); i++) {
		begin_with(NLOCK_RW_PHASE_FAIR, attrs[i]);
		takes(A, do_wr);
		parks(B, do_wr);
		stops(A, do_unlock, FK_BEFORE_WAKE);
		is_roused_and_ends(B, NL_LOOK, 0);
		releases(B, do_wrunlock);
		end_of_life();
		goes_and_ends(A, 0);
		new_life();
		rest();
	}
}

/* Whom a step is owed does not leave before it has been made: here the step is made, so the stop must be inside the wake. */
TEST(granted_writer_stays_until_it_has_been_called)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_rd);
	parks(B, do_wr);
	rw->state = OWNED; /* as the last reader leaves it, before its step */
	is_roused_and_parks(B, NL_LOOK);
	is_roused_and_parks(B, NL_WOKEN);
	rw->wgate++;
	is_roused_and_ends(B, NL_LOOK, 0);
	releases(B, do_unlock);
	rest();
}

TEST(admitted_reader_stays_until_it_has_been_told)
{
	begin(NLOCK_RW_PHASE_FAIR);
	takes(A, do_wr);
	parks(B, do_rd_until);
	rw->state = 0x20 | 1 << 11; /* admitted in phase 1, not told */
	is_roused_and_parks(B, NL_TIMEDOUT);
	must(!fk_has_deadline(B));
	is_roused_and_parks(B, NL_LOOK);
	rw->rgate++;
	is_roused_and_ends(B, NL_LOOK, 0);
	releases(B, do_unlock);
	rest();
}

/* ---------------------------------------------------------------- B86: limits, and what wraps */

#define MOST 0x2000000ull /* readers that are in or wait */

TEST(b86_readers_beyond_the_limit_are_refused_and_nothing_carries)
{
	EACH_PREFERENCE(p)
	{
		int won = 0;

		begin(p);
		rw->state = (MOST - 1) << 11;
		for (int i = 0; i < 64; i++) {
			int rc = read_locks[i % 3](rw);

			must(!rc || rc == EAGAIN);
			won += !rc;
		}
		must_be(won, 1);
		state_is(0, MOST, 0);
		ends(A, do_trywr, EBUSY);
		until.tv_sec = 1;
		ends(A, do_wr_until, ETIMEDOUT);
		state_is(0, MOST, 0);
		rw->state = OWNED | (MOST - 1) << 37;
		parks(A, do_rd);
		ends(B, do_rd, EAGAIN);
		ends(B, do_rd_until, EAGAIN);
		state_is(OWNED, 0, MOST);
		must_be(do_downgrade(rw), 0);
		state_is(0, MOST + 1, 0);
		goes_and_ends(A, 0);
		rw->state &= PHASES;
		rest();
	}
}

TEST(gates_and_phases_may_wrap)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		rw->rgate = rw->wgate = UINT32_MAX - 4;
		rw->state = 3 << 5;
		for (int i = 0; i < 10; i++) {
			takes(A, do_wr);
			parks(B, do_rd);
			releases(A, do_unlock);
			goes_and_ends(B, 0);
			parks(C, do_wr);
			releases(B, do_unlock);
			goes_and_ends(C, 0);
			releases(C, do_unlock);
		}
		must_be(rw->rgate, 5);
		must_be(rw->wgate, 5);
		rest();
	}
}

/* ---------------------------------------------------------------- errors */

TEST(lock_that_nobody_holds_so_cannot_be_released_so)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		ends(A, do_unlock, EPERM);
		ends(A, do_rdunlock, EPERM);
		ends(A, do_wrunlock, EPERM);
		ends(A, do_downgrade, EPERM);
		ends(A, do_upgrade, EPERM);
		takes(A, do_rd);
		ends(A, do_wrunlock, EPERM);
		ends(A, do_downgrade, EPERM);
		must_be(nlock_rwlock_destroy(rw), EBUSY);
		releases(A, do_rdunlock);
		takes(A, do_wr);
		ends(A, do_rdunlock, EPERM);
		ends(A, do_upgrade, EPERM);
		must_be(nlock_rwlock_destroy(rw), EBUSY);
		parks(B, do_rd);
		must_be(nlock_rwlock_destroy(rw), EBUSY);
		releases(A, do_wrunlock);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		rest();
	}
}

TEST(init_refuses_what_it_does_not_know)
{
	begin(NLOCK_RW_PHASE_FAIR);
	must_be(nlock_rwlock_init(rw, -1, 0), EINVAL);
	must_be(nlock_rwlock_init(rw, 3, 0), EINVAL);
	must_be(nlock_rwlock_init(rw, 0, NLOCK_BAD_ATTR), EINVAL);
	must_be(nlock_rwlock_init((nlock_rwlock_t *)(void *)((char *)rw + 4), 0, 0), EINVAL);
	fk.place_result = -ENOTSUP;
	must_be(nlock_rwlock_init(rw, 0, NLOCK_PLACE_FIRST), ENOTSUP);
	fk.place_result = 0;
	rest();
}

ROW_TEST(attributes_are_the_objects_in_every_call)
{
	begin_with(NLOCK_RW_PHASE_FAIR, row->attr);
	takes(A, do_rd);
	parks(B, do_wr);
	parks(C, do_wr);
	parks(D, do_rd);
	releases(A, do_unlock);
	goes_and_ends(B, 0);
	releases(B, do_unlock);
	goes_and_ends(D, 0);
	releases(D, do_unlock);
	goes_and_ends(C, 0);
	releases(C, do_unlock);
	for (int i = 0; i < fk.n_calls; i++)
		must(fk.calls[i].kind == FK_ADOPT || fk.calls[i].attr == row->attr);
	rest();
}

/* ---------------------------------------------------------------- readers in slots */

/* The first reader opens the slots. */
static nlock_rwlock_spread_t *begin_spread(int prefers)
{
	nlock_rwlock_spread_t *s;

	begin(prefers);
	s = (void *)rw;
	must_be(nlock_rwlock_spread_init(s, prefers, NLOCK_FIFO), 0);
	s->left = s->after = 0;
	fk_forget();
	return s;
}

static uint32_t in_slot(const nlock_rwlock_spread_t *s, int i)
{
	return (uint32_t)s->slot[i].word >> 1;
}

static void rest_spread(const nlock_rwlock_spread_t *s)
{
	must_be(nlock_rwlock_destroy(rw), 0);
	for (int i = 0; i < NLOCK_READER_SLOTS; i++)
		must_be((uint32_t)s->slot[i].word, 0);
	must_be(rw->state & ~PHASES, SPREAD);
	rw->state &= ~SPREAD;
	rest();
}

TEST(readers_count_themselves_in_slots_until_a_writer_comes)
{
	EACH_PREFERENCE(p)
	{
		nlock_rwlock_spread_t *s = begin_spread(p);

		takes(A, do_rd);
		state_is(SPREAD | BIASED, 1, 0);
		for (fk.cpu = 0; fk.cpu < 10; fk.cpu++)
			must_be(read_locks[fk.cpu % 3](rw), 0);
		state_is(SPREAD | BIASED, 1, 0);
		must_be(in_slot(s, 0) + in_slot(s, 1), 4);
		for (int i = 2; i < 8; i++)
			must_be(in_slot(s, i), 1);
		must_be(fk.n_calls, 0);
		ends(B, do_trywr, EBUSY);
		state_is(SPREAD, 11, 0);
		for (int i = 0; i < 8; i++)
			must_be(s->slot[i].word & UINT32_MAX, 0);
		parks(B, do_wr);
		state_is(SPREAD | NEXT | ASLEEP, 11, 0);
		for (int i = 0; i < 10; i++)
			must_be(do_rdunlock(rw), 0);
		must_be(fk.n_wakes, 0);
		releases(A, do_unlock);
		goes_and_ends(B, 0);
		releases(B, do_unlock);
		rest_spread(s);
	}
}

TEST(reader_leaves_by_any_slot_or_as_an_ordinary_one)
{
	nlock_rwlock_spread_t *s = begin_spread(NLOCK_RW_PHASE_FAIR);

	takes(A, do_rd);
	fk.cpu = 3;
	takes(B, do_rd);
	fk.cpu = 6;
	releases(A, do_unlock); /* takes what B has left in slot 3 */
	must_be(in_slot(s, 3), 0);
	state_is(SPREAD | BIASED, 1, 0);
	releases(B, do_unlock);
	state_is(SPREAD | BIASED, 0, 0);
	ends(A, do_unlock, EPERM);
	ends(A, do_rdunlock, EPERM);
	ends(A, do_wrunlock, EPERM);
	ends(A, do_upgrade, EPERM);
	must_be(fk.n_calls, 0);
	rest_spread(s);
}

TEST(reader_in_a_slot_may_upgrade_if_it_is_alone)
{
	nlock_rwlock_spread_t *s = begin_spread(NLOCK_RW_PHASE_FAIR);

	takes(A, do_rd);
	takes(B, do_rd);
	releases(A, do_unlock);
	ends(A, do_tryrd, 0);
	ends(B, do_upgrade, EBUSY);
	releases(A, do_unlock);
	takes(B, do_upgrade);
	state_is(SPREAD | OWNED, 0, 0);
	takes(B, do_downgrade);
	releases(B, do_unlock);
	rest_spread(s);
}

TEST(slots_stay_closed_until_so_many_readers_have_come)
{
	nlock_rwlock_spread_t *s = begin_spread(NLOCK_RW_PHASE_FAIR);
	int n = 0;

	must_be(nlock_rwlock_spread_init(s, 0, NLOCK_FIFO), 0);
	for (int round = 0; round < 2; round++) {
		for (n = 0; !(rw->state & BIASED) && n < 100000; n++)
			must_be(do_rd(rw) || do_unlock(rw), 0);
		must_be(n, 257);
		must_be(do_wr(rw) || do_unlock(rw), 0);
		state_is(SPREAD, 0, 0);
	}
	rest_spread(s);
}

TEST(full_slot_sends_readers_the_ordinary_way)
{
	nlock_rwlock_spread_t *s = begin_spread(NLOCK_RW_PHASE_FAIR);

	must_be(do_rd(rw), 0);
	s->slot[0].word += 2ull << 20;
	must_be(do_rd(rw), 0);
	state_is(SPREAD | BIASED, 2, 0);
	ends(A, do_trywr, EBUSY);
	state_is(SPREAD, 2 + (1 << 20), 0);
	rw->state = SPREAD;
	rest_spread(s);
}

/* Held by slot in the parent: held in the child, by whoever it was. */
TEST(child_of_a_fork_finds_the_readers_that_were_in_slots)
{
	nlock_rwlock_spread_t *s = begin_spread(NLOCK_RW_PHASE_FAIR);

	takes(A, do_rd);
	takes(B, do_rd);
	releases(A, do_unlock);
	fk.generation = 7;
	ends(A, do_trywr, EBUSY);
	state_is(SPREAD, 1, 0);
	releases(A, do_unlock);
	takes(A, do_wr);
	releases(A, do_unlock);
	rest_spread(s);
}

/* ---------------------------------------------------------------- fork: T19 */

/* The child has of the parent's threads nothing but what the state says. */
TEST(child_of_a_fork_counts_none_of_the_waiters)
{
	EACH_PREFERENCE(p)
	{
		begin(p);
		rw->state = OWNED | NEXT | ASLEEP | DUE | 3ull << 37;
		rw->seat.word = 0x8d;
		fk.generation = 7;
		must_be(do_unlock(rw), 0);
		must_be(rw->state, FORKED);
		must_be(fk.n_wakes, 0);
		must_be(rw->seat.word, 0);
		takes(A, do_wr);
		parks(B, do_wr);
		parks(C, do_rd);
		must_be(rw->state & FORKED, FORKED);
		releases(A, do_unlock);
		let_pass();
		rest();
	}
}

TEST(child_of_a_fork_keeps_what_the_parents_threads_held)
{
	begin(NLOCK_RW_PHASE_FAIR);
	rw->state = NEXT | 2 << 11 | 1ull << 37;
	rw->seat.word = 1;
	fk.generation = 7;
	ends(A, do_trywr, EBUSY);
	must_be(rw->state, FORKED | 2 << 11);
	takes(A, do_rd);
	for (int i = 0; i < 3; i++)
		releases(A, do_unlock);
	takes(A, do_wr);
	releases(A, do_unlock);
	rest();
}

TEST(child_of_a_fork_does_not_wait_for_what_the_parent_was_about_to_tell)
{
	begin(NLOCK_RW_PHASE_FAIR);
	rw->state = OWNED | 1 << 5; /* rgate says 0 */
	fk.generation = 7;
	parks(A, do_rd);
	phase_is(0);
	must_be(do_unlock(rw), 0);
	goes_and_ends(A, 0);
	releases(A, do_unlock);
	rest();
}

static const struct test tests[] = {
	ONCE(uncontended_pairs_make_no_call),
	ONCE(readers_share_and_writers_exclude),
	ONCE(writer_release_admits_all_waiting_readers),
	ONCE(last_reader_grants_to_the_next_writer),
	ONCE(writers_go_in_order_of_arrival),
	ONCE(writer_in_the_queue_is_next_before_it_wakes_up),
	ONCE(promised_writer_comes_before_its_turn_and_waits),
	ONCE(promise_meets_a_writer_on_its_way_to_sleep),
	ONCE(near_writer_is_the_next_one_within_the_bound_of_those_who_queue),
	ONCE(node_of_the_new_owner_says_who_is_near),
	ONCE(readers_of_all_nodes_are_let_in_at_once),
	ONCE(cohort_that_has_nothing_to_choose_is_refused),
	ONCE(writer_on_its_way_takes_what_has_come_free),
	ONCE(grant_meets_a_writer_on_its_way_to_sleep),
	ONCE(admission_meets_a_reader_on_its_way_to_sleep),
	ONCE(release_to_a_writer_that_watches_makes_no_call),
	ONCE(phase_fair_lock_lets_readers_and_writers_take_turns),
	ONCE(preferred_writers_go_before_waiting_readers),
	ONCE(preferred_readers_enter_past_a_waiting_writer),
	ONCE(b15_reader_may_lock_twice_if_readers_are_preferred),
	ONCE(b15_reader_that_locks_twice_past_a_writer_blocks_otherwise),
	ONCE(release_opens_or_grants_as_the_policy_says),
	ONCE(next_writer_takes_an_open_lock_that_nobody_wants),
	ONCE(open_lock_admits_readers_if_they_are_preferred),
	ONCE(victim_gets_the_lock_after_the_time_bound),
	ONCE(downgrade_keeps_the_lock_and_admits_waiting_readers),
	ONCE(downgrade_never_lets_a_writer_between),
	ONCE(upgrade_needs_to_be_alone),
	ONCE(reader_that_gives_up_leaves_nothing),
	ONCE(b31_reader_whose_deadline_passes_as_it_is_admitted_owns_the_lock),
	ONCE(b31_writer_whose_deadline_passes_as_it_is_granted_the_lock_owns_it),
	ONCE(writer_that_gives_up_lets_the_readers_in_that_it_kept_out),
	ONCE(called_reader_that_is_late_waits_for_one_writer),
	ONCE(next_writer_that_gives_up_leaves_the_seat_to_another),
	ONCE(next_writer_that_was_called_and_loses_gives_up_at_its_deadline),
	ONCE(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had),
	ONCE(b12_stray_wakes_change_nothing_and_all_is_read_again),
	ONCE(b11_whoever_wins_a_phase_change_serves_those_who_sleep),
	ONCE(b13_exactly_one_of_two_leaving_readers_is_the_last),
	ONCE(b17_unlock_does_not_touch_the_lock_after_its_last_step),
	ONCE(b18_grant_is_the_last_step_whatever_its_receiver_does),
	ONCE(granted_writer_stays_until_it_has_been_called),
	ONCE(admitted_reader_stays_until_it_has_been_told),
	ONCE(b86_readers_beyond_the_limit_are_refused_and_nothing_carries),
	ONCE(gates_and_phases_may_wrap),
	ONCE(lock_that_nobody_holds_so_cannot_be_released_so),
	ONCE(init_refuses_what_it_does_not_know),
	EACH_ROW(attributes_are_the_objects_in_every_call),
	ONCE(readers_count_themselves_in_slots_until_a_writer_comes),
	ONCE(reader_leaves_by_any_slot_or_as_an_ordinary_one),
	ONCE(reader_in_a_slot_may_upgrade_if_it_is_alone),
	ONCE(slots_stay_closed_until_so_many_readers_have_come),
	ONCE(full_slot_sends_readers_the_ordinary_way),
	ONCE(child_of_a_fork_finds_the_readers_that_were_in_slots),
	ONCE(child_of_a_fork_counts_none_of_the_waiters),
	ONCE(child_of_a_fork_keeps_what_the_parents_threads_held),
	ONCE(child_of_a_fork_does_not_wait_for_what_the_parent_was_about_to_tell),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "script_rwlock", tests, COUNT(tests));
}
