/* SPDX-License-Identifier: MIT
 *
 * check_mutex.c - tier 3: the mutex on this kernel, through <nlock.h> alone
 *
 * No sleeps and no clocks in verdicts: a waiter is started, seen asleep in /proc, and only then comes the next step.
 * The actors are threads, threads with a mapping each, or processes (harness.h). D1 to D5 are claims about hand-off:
 *
 *   D1  who takes the lock right after it was released to a sleeper: under FIFO never the releaser; else the
 *       releaser, if the sleeper was not quicker, which real-time priority for the releaser makes rare
 *   D2  sleepers that came one by one are served in that order
 *   D3  releases of different kinds on one lock: each does what its own policy says
 *   D4  a head that has waited for longer than the time bound gets the lock at the next release
 *   D5  a fair release with nobody waiting leaves the lock free
 *
 * With --long D2 is a thousand rounds. --core is what check_filter runs under each filter.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*const releases_of[])(nlock_mutex_t *) = { nlock_mutex_unlock, nlock_mutex_unlock_fair,
						       nlock_mutex_unlock_barging };

enum { BY_ATTR, FAIR, BARGE };

/* ---------------------------------------------------------------- no system call: D5 */

/* In a child that may only exit. */
static int uncontended(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	nlock_mutex_t *m = arg;
	const struct timespec past = { -1, 0 };
	int bad = 0;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	for (int how = 0; how < 3; how++) {
		bad |= nlock_mutex_lock(m);
		bad |= nlock_mutex_trylock(m) != EBUSY;
		bad |= nlock_mutex_bump(m);
		bad |= releases_of[how](m);
		bad |= nlock_mutex_lock_until(m, CLOCK_MONOTONIC, &past);
		bad |= releases_of[how](m);
		bad |= nlock_mutex_trylock(m);
		bad |= releases_of[how](m);
		bad |= releases_of[how](m) != EPERM;
	}
	bad |= nlock_mutex_destroy(m);
	return bad != 0;
}

/* False: there are no filters to find out with. */
static bool is_seen_to_make_no_call(nlock_mutex_t *m)
{
	int status = harness_child(uncontended, m);

	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
		return false;
	must(!status, "wait status 0x%x", status);
	return true;
}

ROW_TEST(uncontended_calls_make_no_system_call)
{
	nlock_mutex_t m;

	must_be(nlock_mutex_init(&m, row->attr), 0);
	if (!is_seen_to_make_no_call(&m))
		cannot("no system-call filters");
}

/* ---------------------------------------------------------------- exclusion */

/* The load must leave nothing behind. That is looked at here: the child's first contended call would forget waiters that are
 * the parent's. False: it could not be seen whether the lock makes calls now. */
static bool exclusion(const struct row *row, enum kind kind, int n, int rounds)
{
	struct company *c = company_meet(row, n, kind);
	struct scene *s = company_scene(c);
	bool is_seen;

	for (int i = 0; i < n; i++) {
		company_rounds(c, i, rounds);
		company_ask(c, i, DO_WORK);
	}
	for (int i = 0; i < n; i++)
		must_be(company_answer(c, i), 0);
	must_be(s->left, (uint64_t)n * (uint64_t)rounds);
	must_be(s->right, s->left);
	must_be(s->m.word, 0);
	is_seen = is_seen_to_make_no_call(&s->m);
	company_part(c);
	return is_seen;
}

static int some_actors(const struct row *row)
{
	uint64_t rnd = harness_random_start(row->attr);

	return 2 + (int)(harness_random(&rnd) % 7);
}

ROW_TEST(threads_exclude_each_other)
{
	if (!exclusion(row, THREADS, some_actors(row), harness_rounds(400, 20000)))
		cannot("no system-call filters");
}

ROW_TEST(processes_exclude_each_other)
{
	if (!exclusion(row, PROCESSES, some_actors(row), harness_rounds(400, 20000)))
		cannot("no system-call filters");
}

ROW_TEST(mappings_of_one_page_exclude_each_other)
{
	if (!exclusion(row, MAPPINGS, some_actors(row), harness_rounds(400, 20000)))
		cannot("no system-call filters");
}

/* What there is to prefer depends on the machine; nobody is lost anywhere. */
static void cohort_exclusion(nlock_attr_t attr, enum kind kind)
{
	const struct row row = { "COHORT", attr | NLOCK_COHORT, ROW_NO_BOUND, NLOCK_PLACE_HASH, attr & NLOCK_SHARED };

	exclusion(&row, kind, 6, harness_rounds(400, 20000));
}

TEST(users_of_a_cohort_lock_exclude_each_other)
{
	cohort_exclusion(NLOCK_BOUNDED, THREADS);
	cohort_exclusion(NLOCK_BOUNDED_N(1), THREADS);
	cohort_exclusion(NLOCK_BOUNDED_N(7), THREADS);
	cohort_exclusion(NLOCK_BARGING, THREADS);
	cohort_exclusion(NLOCK_BOUNDED_N(1) | NLOCK_SHARED, PROCESSES);
}

ROW_TEST(signals_during_work_change_nothing)
{
	struct company *c = company_meet(row, 4, THREADS);
	int rounds = harness_rounds(300, 10000), busy = 4;

	for (int i = 0; i < 4; i++) {
		company_rounds(c, i, rounds);
		company_ask(c, i, DO_WORK);
	}
	while (busy) {
		busy = 0;
		for (int i = 0; i < 4; i++) {
			if (company_has_answered(c, i))
				continue;
			company_signal(c, i);
			busy++;
		}
		sched_yield();
	}
	for (int i = 0; i < 4; i++)
		must_be(company_answer(c, i), 0);
	must_be(company_scene(c)->left, (uint64_t)4 * (uint64_t)rounds);
	company_part(c);
}

/* ---------------------------------------------------------------- hand-off: D1 to D4 */

/* The actor waits for the lock and keeps it until it is told to unlock: a trylock that succeeds has got past it. */
static void hold_and_park(struct company *c)
{
	must_be(nlock_mutex_lock(&company_scene(c)->m), 0);
	company_park(c, 0, DO_LOCK);
}

/* Lets the actor have its turn. */
static void let_pass(struct company *c)
{
	must_be(company_answer(c, 0), 0);
	must_be(company_tell(c, 0, DO_UNLOCK), 0);
}

/* Releases, and tries to take the lock again at once. True: got past the sleeper (and gave it back). */
static bool gets_past(struct company *c, int how)
{
	nlock_mutex_t *m = &company_scene(c)->m;
	int rc;

	must_be(releases_of[how](m), 0);
	rc = nlock_mutex_trylock(m);
	must(!rc || rc == EBUSY);
	if (!rc)
		must_be(nlock_mutex_unlock_fair(m), 0);
	return !rc;
}

/* Who was handed the lock was never got past. Whoever was not, nearly always, if the scheduler kept it from running
 * meanwhile; but that is the scheduler's to say, so here it is once. check_script.c does without one. */
static bool as_often(int taken, int opened)
{
	return opened ? taken >= 1 && taken <= opened : !taken;
}

ROW_TEST(releaser_gets_past_a_sleeper_unless_it_hands_over)
{
	struct company *c = company_meet(row, 1, THREADS);
	int rounds = harness_rounds(row < rows + ROWS_HANDOFFS ? 1000 : 100, 1000), taken = 0;

	company_yields_to_caller(c, 0);
	for (int i = 0; i < rounds; i++) {
		hold_and_park(c);
		taken += gets_past(c, BY_ATTR);
		let_pass(c);
	}
	must(as_often(taken, row->bound ? rounds : 0), "%d of %d", taken, rounds);
	company_part(c);
}

/* All park one by one behind the main thread. With FIFO the ordinary unlock will do; else each release says that it is
 * fair. */
static void arrival_order(const struct row *row, enum kind kind, int n, int rounds)
{
	enum deed deed = row->bound ? DO_VISIT_FAIR : DO_VISIT;
	struct company *c = company_meet(row, n, kind);
	struct scene *s = company_scene(c);
	int wrong = 0;

	for (int r = 0; r < rounds; r++) {
		must_be(nlock_mutex_lock(&s->m), 0);
		s->came = 0;
		for (int i = 0; i < n; i++)
			company_park(c, i, deed);
		must_be(row->bound ? nlock_mutex_unlock_fair(&s->m) : nlock_mutex_unlock(&s->m), 0);
		for (int i = 0; i < n; i++)
			must_be(company_answer(c, i), 0);
		must_be(s->came, n);
		for (int i = 0; i < n; i++)
			wrong += s->order[i] != i;
	}
	must(!wrong, "%d of %d out of order", wrong, n * rounds);
	company_part(c);
}

ROW_TEST(waiters_are_served_in_order_of_arrival)
{
	arrival_order(row, THREADS, 32, harness_rounds(row->bound ? 4 : 20, 1000));
}

ROW_TEST(waiting_processes_are_served_in_order_of_arrival)
{
	arrival_order(row, PROCESSES, row->bound ? 6 : 32, harness_rounds(row->bound ? 4 : 20, 1000));
}

/* The bound by attribute; a fair release always; a barging one never, though the head may have been quick enough by
 * itself. */
ROW_TEST(mixed_releases_follow_each_its_own_policy)
{
	struct company *c = company_meet(row, 1, THREADS);
	uint64_t rnd = harness_random_start(row->attr);
	int opened = 0, taken = 0;

	company_yields_to_caller(c, 0);
	for (int i = 0; i < harness_rounds(150, 3000); i++) {
		int how = (int)(harness_random(&rnd) % 3);
		bool grants = how == FAIR || (how == BY_ATTR && !row->bound), past;

		hold_and_park(c);
		past = gets_past(c, how);
		must(!grants || !past, "release %d", how);
		opened += !grants;
		taken += past;
		let_pass(c);
	}
	must(as_often(taken, opened), "%d of %d", taken, opened);
	company_part(c);
}

/* The main thread gets past a head again and again: until the bound, and no further. The head is kept from running, or it
 * would be late before it is overtaken 20,000 times. */
ROW_TEST(head_is_overtaken_no_more_often_than_the_bound_says)
{
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	company_yields_to_caller(c, 0);
	for (int i = 0; i < harness_rounds(20, 1000); i++) {
		hold_and_park(c);
		for (uint32_t n = 0;; n++) {
			must_be(nlock_mutex_unlock(m), 0);
			if (nlock_mutex_trylock(m))
				break;
			must(n < row->bound, "%u overtakings", n + 1);
		}
		let_pass(c);
	}
	company_part(c);
}

/* The actor has been at the head for longer than the bound, has lost, and sleeps again. False: it did not lose. */
static bool loses_late(struct company *c)
{
	nlock_mutex_t *m = &company_scene(c)->m;
	int64_t since;

	hold_and_park(c);
	for (since = harness_now(); harness_now() <= since + NLOCK_BOUND_NS;)
		sched_yield();
	must_be(nlock_mutex_unlock_barging(m), 0);
	if (nlock_mutex_trylock(m)) {
		let_pass(c);
		return false;
	}
	must(company_sees_asleep(c, 0));
	return true;
}

ROW_TEST(victim_gets_the_lock_at_the_first_release_after_the_time_bound)
{
	struct company *c = company_meet(row, 1, THREADS);
	int n = 0, taken = 0;

	company_yields_to_caller(c, 0);
	for (int i = 0; i < 200 && n < 5; i++) {
		if (!loses_late(c))
			continue;
		n++;
		taken += gets_past(c, BY_ATTR);
		let_pass(c);
	}
	must(n > 0, "the head never lost");
	must(as_often(taken, row->bound == ROW_NO_BOUND ? n : 0), "%d of %d", taken, n);
	company_part(c);
}

/* A grant was due and was made. The next waiter is overtaken again as if nothing had been. */
ROW_TEST(fairness_ends_after_the_grant)
{
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;
	int n = 0, taken = 0, rounds = 20;
	bool is_seen;

	company_yields_to_caller(c, 0);
	for (int i = 0; i < rounds; i++) {
		if (loses_late(c)) {
			n++;
			must_be(nlock_mutex_unlock(m), 0);
			let_pass(c);
		}
		hold_and_park(c);
		taken += gets_past(c, BY_ATTR);
		let_pass(c);
	}
	must(n > 0, "the head never lost");
	must(as_often(taken, row->bound ? rounds : 0), "%d of %d", taken, rounds);
	must_be(m->word, 0);
	is_seen = is_seen_to_make_no_call(m);
	company_part(c);
	if (!is_seen)
		cannot("no system-call filters");
}

ROW_TEST(bump_gives_way_to_the_waiter_and_comes_back)
{
	struct company *c = company_meet(row, 3, THREADS);
	struct scene *s = company_scene(c);

	must_be(nlock_mutex_lock(&s->m), 0);
	must_be(nlock_mutex_bump(&s->m), 0);
	must_be(company_tell(c, 0, DO_TRYLOCK), EBUSY);
	company_park(c, 0, DO_VISIT);
	must_be(nlock_mutex_bump(&s->m), 0);
	must_be(s->came, 1);
	must_be(s->order[0], 0);
	must_be(company_answer(c, 0), 0);
	must_be(company_tell(c, 0, DO_TRYLOCK), EBUSY);
	company_park(c, 1, DO_VISIT);
	company_park(c, 2, DO_VISIT);
	must_be(nlock_mutex_bump(&s->m), 0);
	must(s->came >= 2 && s->order[1] == 1);
	must_be(nlock_mutex_unlock_fair(&s->m), 0);
	must_be(company_answer(c, 1), 0);
	must_be(company_answer(c, 2), 0);
	company_part(c);
}

/* ---------------------------------------------------------------- deadlines */

#define SECOND 1000000000

ROW_TEST(past_deadline_gives_up_at_once)
{
	static const struct timespec past[] = { { 0, 0 },  { 0, 1 },          { 1, 0 },
						{ -1, 0 }, { -1, 999999999 }, { LONG_MIN, 0 } };
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	for (int held = 1; held >= 0; held--) {
		if (held)
			must_be(nlock_mutex_lock(m), 0);
		for (int i = 0; i < COUNT(past); i++) {
			company_deadline(c, 0, i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, past[i]);
			must_be(company_tell(c, 0, DO_VISIT_UNTIL), held ? ETIMEDOUT : 0);
			must(company_keeps_errno(c, 0));
		}
		if (held)
			must_be(nlock_mutex_unlock(m), 0);
	}
	company_part(c);
}

ROW_TEST(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had)
{
	static const struct timespec bad[] = {
		{ 0, -1 }, { 0, 1000000000 }, { -1, -1 }, { 5, LONG_MAX }, { 5, LONG_MIN }
	};
	static const clockid_t clocks[] = { CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC_COARSE, -1,
					    INT_MAX };
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	for (int held = 1; held >= 0; held--) {
		if (held)
			must_be(nlock_mutex_lock(m), 0);
		for (int i = 0; i < COUNT(bad); i++) {
			company_deadline(c, 0, CLOCK_MONOTONIC, bad[i]);
			must_be(company_tell(c, 0, DO_VISIT_UNTIL), held ? EINVAL : 0);
			company_deadline(c, 0, clocks[i], harness_in(CLOCK_MONOTONIC, SECOND));
			must_be(company_tell(c, 0, DO_VISIT_UNTIL), held ? EINVAL : 0);
			must(company_keeps_errno(c, 0));
		}
		if (held)
			must_be(nlock_mutex_unlock(m), 0);
	}
	must_be(nlock_mutex_lock(m), 0);
	must_be(nlock_mutex_lock_until(m, CLOCK_MONOTONIC, NULL), EINVAL);
	must_be(nlock_mutex_unlock(m), 0);
	must_be(nlock_mutex_lock_until(m, CLOCK_MONOTONIC, NULL), 0);
	must_be(nlock_mutex_unlock(m), 0);
	company_part(c);
}

static bool has_come(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

ROW_TEST(timed_out_waiter_was_not_early_and_leaves_nothing)
{
	struct company *c = company_meet(row, 2, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	must_be(nlock_mutex_lock(m), 0);
	for (int i = 0; i < 8; i++) {
		clockid_t clock = i & 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
		struct timespec head = harness_in(clock, 700000 + i * 100001), second = harness_in(clock, 300000);

		company_deadline(c, 0, clock, head);
		company_deadline(c, 1, clock, second);
		company_ask(c, 0, DO_LOCK_UNTIL);
		company_ask(c, 1, DO_LOCK_UNTIL);
		must_be(company_answer(c, 1), ETIMEDOUT);
		must(has_come(clock, &second));
		must_be(company_answer(c, 0), ETIMEDOUT);
		must(has_come(clock, &head));
		must(company_keeps_errno(c, 0) && company_keeps_errno(c, 1));
		must_be(nlock_mutex_destroy(m), EBUSY);
	}
	must_be(nlock_mutex_unlock(m), 0);
	must_be(nlock_mutex_destroy(m), 0);
	company_part(c);
}

ROW_TEST(timed_waiters_are_served_like_the_others)
{
	static const int64_t far[] = { (int64_t)3600 * SECOND, (int64_t)100000 * SECOND };
	struct company *c = company_meet(row, 3, THREADS);
	struct scene *s = company_scene(c);

	company_deadline(c, 0, CLOCK_MONOTONIC, harness_in(CLOCK_MONOTONIC, far[0]));
	company_deadline(c, 1, CLOCK_REALTIME, harness_in(CLOCK_REALTIME, far[1]));
	company_deadline(c, 2, CLOCK_MONOTONIC,
			 (struct timespec){ sizeof(time_t) == 8 ? (time_t)INT64_MAX : INT32_MAX, 999999999 });
	must_be(nlock_mutex_lock(&s->m), 0);
	for (int i = 0; i < 3; i++)
		company_park(c, i, DO_VISIT_UNTIL);
	must_be(nlock_mutex_unlock_fair(&s->m), 0);
	for (int i = 0; i < 3; i++) {
		must_be(company_answer(c, i), 0);
		must(company_keeps_errno(c, i));
	}
	must_be(s->order[0], 0);
	company_part(c);
}

/* ---------------------------------------------------------------- signals, cancellation */

ROW_TEST(interrupted_waiters_wait_on)
{
	struct company *c = company_meet(row, 2, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	company_deadline(c, 1, CLOCK_REALTIME, harness_in(CLOCK_REALTIME, (int64_t)3600 * SECOND));
	must_be(nlock_mutex_lock(m), 0);
	company_park(c, 0, DO_VISIT);
	company_park(c, 1, DO_VISIT_UNTIL);
	for (int i = 0; i < 100; i++) {
		company_signal(c, i & 1);
		must(company_sees_asleep(c, i & 1));
	}
	must_be(nlock_mutex_unlock_fair(m), 0);
	for (int i = 0; i < 2; i++) {
		must_be(company_answer(c, i), 0);
		must(company_keeps_errno(c, i));
	}
	company_part(c);
}

static nlock_mutex_t *in_handler;

static void locks_another(int sig)
{
	(void)sig;
	if (nlock_mutex_lock(in_handler) || nlock_mutex_unlock(in_handler))
		abort();
}

ROW_TEST(handler_may_wait_for_another_lock_while_its_thread_waits)
{
	struct company *c = company_meet(row, 1, THREADS);
	struct sigaction sa = { .sa_handler = locks_another };
	nlock_mutex_t *m = &company_scene(c)->m, other;

	must_be(nlock_mutex_init(&other, row->attr), 0);
	in_handler = &other;
	must(!sigaction(SIGUSR1, &sa, NULL));
	must_be(nlock_mutex_lock(m), 0);
	must_be(nlock_mutex_lock(&other), 0);
	company_park(c, 0, DO_VISIT);
	company_signal(c, 0);
	must(harness_sees_asleep(getpid(), company_tid(c, 0), &other));
	must_be(nlock_mutex_unlock_fair(&other), 0);
	must(company_sees_asleep(c, 0));
	must_be(nlock_mutex_unlock_fair(m), 0);
	must_be(company_answer(c, 0), 0);
	must_be(nlock_mutex_destroy(&other), 0);
	company_part(c);
}

struct lone {
	nlock_mutex_t m;
	pid_t tid;
	int result;
};

static void *lone_waiter(void *arg)
{
	struct lone *l = arg;

	__atomic_store_n(&l->tid, harness_tid(), __ATOMIC_RELEASE);
	l->result = nlock_mutex_lock(&l->m);
	if (!l->result)
		l->result = nlock_mutex_unlock(&l->m);
	pthread_testcancel();
	return NULL;
}

static void park_lone(struct lone *l, pthread_t *t)
{
	l->tid = 0;
	l->result = -1;
	must_be(pthread_create(t, NULL, lone_waiter, l), 0);
	while (!__atomic_load_n(&l->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	must(harness_sees_asleep(getpid(), l->tid, &l->m));
}

ROW_TEST(cancelled_waiter_gets_the_lock_and_is_cancelled_later)
{
	static struct lone l;
	pthread_t t;
	void *end;

	must_be(nlock_mutex_init(&l.m, row->attr), 0);
	must_be(nlock_mutex_lock(&l.m), 0);
	park_lone(&l, &t);
	must_be(pthread_cancel(t), 0);
	must(harness_sees_asleep(getpid(), l.tid, &l.m));
	must_be(nlock_mutex_unlock_fair(&l.m), 0);
	must_be(pthread_join(t, &end), 0);
	must(end == PTHREAD_CANCELED && !l.result);
	must_be(nlock_mutex_destroy(&l.m), 0);
}

/* ---------------------------------------------------------------- fork */

static bool must_be_initialised_anew(const struct row *row)
{
	return row->place == NLOCK_PLACE_NODE(0) || row->place == NLOCK_PLACE_FIRST;
}

struct inheritance {
	const struct row *row;
	struct lone *l;
};

static int child_unlocks(void *arg)
{
	const struct inheritance *i = arg;
	nlock_mutex_t *m = &i->l->m;
	int bad = 0;

	if (must_be_initialised_anew(i->row))
		bad |= nlock_mutex_init(m, i->row->attr) || nlock_mutex_lock(m);
	for (int how = 0; how < 3; how++)
		bad |= releases_of[how](m) || nlock_mutex_lock(m) || nlock_mutex_bump(m);
	return bad || nlock_mutex_unlock(m) || nlock_mutex_destroy(m);
}

static int child_initialises(void *arg)
{
	const struct inheritance *i = arg;
	nlock_mutex_t *m = &i->l->m;

	if (nlock_mutex_init(m, i->row->attr) || nlock_mutex_lock(m) || nlock_mutex_unlock(m))
		return 1;
	return nlock_mutex_destroy(m);
}

/* The child's lock counts a waiter that the child does not have. */
ROW_TEST(child_of_a_fork_may_unlock_or_initialise_what_the_parent_held)
{
	static struct lone l; /* private memory: the child has a copy */
	struct inheritance i = { row, &l };
	pthread_t t;

	must_be(nlock_mutex_init(&l.m, row->attr), 0);
	must_be(nlock_mutex_lock(&l.m), 0);
	must_be(harness_child(child_unlocks, &i), 0);
	must_be(harness_child(child_initialises, &i), 0);
	park_lone(&l, &t);
	must_be(harness_child(child_unlocks, &i), 0);
	must_be(harness_child(child_initialises, &i), 0);
	must_be(nlock_mutex_unlock_fair(&l.m), 0);
	must_be(pthread_join(t, NULL), 0);
	must_be(l.result, 0);
	must_be(nlock_mutex_destroy(&l.m), 0);
}

static int child_passes_on(void *arg)
{
	return nlock_mutex_unlock(arg);
}

/* Of a shared lock the child has the same one: its unlock serves the parent's waiter. */
ROW_TEST(shared_lock_may_be_unlocked_by_the_child_of_a_fork)
{
	struct company *c = company_meet(row, 2, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	must_be(nlock_mutex_lock(m), 0);
	company_park(c, 0, DO_VISIT);
	company_park(c, 1, DO_VISIT);
	must_be(harness_child(child_passes_on, m), 0);
	must_be(company_answer(c, 0), 0);
	must_be(company_answer(c, 1), 0);
	company_part(c);
}

static nlock_mutex_t atfork_lock;
static bool atfork_stop;

static void prepare(void)
{
	if (nlock_mutex_lock(&atfork_lock))
		abort();
}

static void let_go(void)
{
	if (nlock_mutex_unlock(&atfork_lock))
		abort();
}

static void *hammer(void *arg)
{
	while (!__atomic_load_n(&atfork_stop, __ATOMIC_RELAXED)) {
		if (nlock_mutex_lock(&atfork_lock) || nlock_mutex_unlock(&atfork_lock))
			abort();
	}
	return arg;
}

static int child_works(void *arg)
{
	nlock_mutex_t *m = arg;

	for (int i = 0; i < 100; i++) {
		if (nlock_mutex_lock(m) || nlock_mutex_unlock(m))
			return 1;
	}
	return nlock_mutex_destroy(m);
}

/* The usual idiom, while others contend: lock before, unlock on both sides after. */
ROW_TEST(lock_held_across_a_fork_works_on_both_sides)
{
	pthread_t t[2];

	must_be(nlock_mutex_init(&atfork_lock, row->attr), 0);
	must_be(pthread_atfork(prepare, let_go, let_go), 0);
	for (int i = 0; i < 2; i++)
		must_be(pthread_create(&t[i], NULL, hammer, NULL), 0);
	for (int i = 0; i < harness_rounds(20, 500); i++)
		must_be(harness_child(child_works, &atfork_lock), 0);
	__atomic_store_n(&atfork_stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		must_be(pthread_join(t[i], NULL), 0);
	must_be(nlock_mutex_destroy(&atfork_lock), 0);
}

/* ---------------------------------------------------------------- objects */

TEST(zeroed_memory_is_a_mutex)
{
	static const nlock_mutex_t by_init = NLOCK_MUTEX_INIT;
	struct company *c = company_meet(&rows[0], 4, THREADS);
	struct scene *s = company_scene(c);

	must(!memcmp(&by_init, &(nlock_mutex_t){ 0 }, sizeof(by_init)));
	memset(&s->m, 0, sizeof(s->m));
	for (int i = 0; i < 4; i++) {
		company_rounds(c, i, 300);
		company_ask(c, i, DO_WORK);
	}
	for (int i = 0; i < 4; i++)
		must_be(company_answer(c, i), 0);
	must_be(s->left, 1200);
	company_part(c);
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	nlock_mutex_t m;

	for (int fill = 0; fill < 256; fill += 51) {
		memset(&m, fill, sizeof(m));
		must_be(nlock_mutex_init(&m, row->attr), 0);
		must_be(nlock_mutex_destroy(&m), 0);
		must_be(nlock_mutex_trylock(&m), 0);
		must_be(nlock_mutex_unlock(&m), 0);
	}
}

ROW_TEST(bad_objects_and_attributes_are_refused)
{
	static const uint32_t bad[] = { NLOCK_BAD_ATTR,
					0x40,
					0x10000,
					NLOCK_FIFO | 0x10000,
					NLOCK_PLACE_FIRST | 0x40,
					NLOCK_FIFO | NLOCK_COHORT,
					NLOCK_BOUNDED_N(0) | NLOCK_COHORT };
	char bytes[32] __attribute__((aligned(8)));

	for (int off = 1; off < 8; off++)
		must_be(nlock_mutex_init((nlock_mutex_t *)(void *)(bytes + off), row->attr), EINVAL);
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_mutex_init((nlock_mutex_t *)(void *)bytes, bad[i]), EINVAL);
	must_be(nlock_mutex_init((nlock_mutex_t *)(void *)bytes, row->attr | NLOCK_BAD_ATTR), EINVAL);
}

ROW_TEST(numa_objects_need_writable_memory_and_a_node_that_can_be)
{
	void *sealed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	nlock_mutex_t m;

	must(sealed != MAP_FAILED);
	must_be(nlock_mutex_init(sealed, row->attr), EFAULT);
	if (row->place == NLOCK_PLACE_NODE(0))
		must_be(nlock_mutex_init(&m, row->attr | NLOCK_PLACE_NODE(1023)), EINVAL);
}

ROW_TEST(lock_that_nobody_owns_cannot_be_unlocked)
{
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	for (int i = 0; i < 3; i++) {
		must_be(company_tell(c, 0, DO_UNLOCK), EPERM);
		must(company_keeps_errno(c, 0));
		must_be(company_tell(c, 0, DO_UNLOCK_FAIR), EPERM);
		must_be(company_tell(c, 0, DO_UNLOCK_BARGING), EPERM);
		must_be(company_tell(c, 0, DO_BUMP), EPERM);
		must(company_keeps_errno(c, 0));
		must_be(nlock_mutex_lock(m), 0);
		must_be(nlock_mutex_unlock(m), 0);
	}
	company_part(c);
}

ROW_TEST(destroy_refuses_what_is_locked_or_waited_for)
{
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;

	must_be(nlock_mutex_lock(m), 0);
	must_be(company_tell(c, 0, DO_DESTROY), EBUSY);
	must(company_keeps_errno(c, 0));
	company_park(c, 0, DO_VISIT);
	must_be(nlock_mutex_destroy(m), EBUSY);
	must_be(nlock_mutex_unlock_fair(m), 0);
	must_be(company_answer(c, 0), 0);
	must_be(nlock_mutex_destroy(m), 0);
	company_part(c);
}

ROW_TEST(contended_calls_leave_errno_alone)
{
	struct company *c = company_meet(row, 2, THREADS);

	must_be(company_tell(c, 0, DO_LOCK), 0);
	company_park(c, 1, DO_LOCK);
	must_be(company_tell(c, 0, DO_TRYLOCK), EBUSY);
	must(company_keeps_errno(c, 0));
	must_be(company_tell(c, 0, DO_UNLOCK_FAIR), 0);
	must(company_keeps_errno(c, 0));
	must_be(company_answer(c, 1), 0);
	must(company_keeps_errno(c, 1));
	company_park(c, 0, DO_LOCK);
	must_be(company_tell(c, 1, DO_UNLOCK), 0);
	must(company_keeps_errno(c, 1));
	must_be(company_answer(c, 0), 0);
	must(company_keeps_errno(c, 0));
	must_be(company_tell(c, 0, DO_UNLOCK_BARGING), 0);
	company_part(c);
}

/* ---------------------------------------------------------------- real time */

struct urgent {
	nlock_mutex_t m;
	pid_t tid;
	int refused, result;
	long switches; /* that it made of its own will while it waited */
};

static void *urgent_waiter(void *arg)
{
	struct urgent *u = arg;
	struct rusage before, after;

	u->refused = harness_schedule(0, SCHED_FIFO, 10) ? errno : 0;
	getrusage(RUSAGE_THREAD, &before);
	__atomic_store_n(&u->tid, harness_tid(), __ATOMIC_RELEASE);
	if (u->refused)
		return NULL;
	u->result = nlock_mutex_lock(&u->m);
	getrusage(RUSAGE_THREAD, &after);
	u->switches = after.ru_nvcsw - before.ru_nvcsw;
	if (!u->result)
		u->result = nlock_mutex_unlock(&u->m);
	return NULL;
}

/* One CPU, an ordinary owner, a real-time waiter: the waiter must let the owner run. The kernel would not throttle
 * it into a voluntary switch. */
ROW_TEST(realtime_waiter_sleeps_so_that_an_ordinary_owner_can_run)
{
	static struct urgent u;
	cpu_set_t set;
	pthread_t t;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
	must_be(nlock_mutex_init(&u.m, row->attr), 0);
	must_be(nlock_mutex_lock(&u.m), 0);
	must_be(pthread_create(&t, NULL, urgent_waiter, &u), 0);
	while (!__atomic_load_n(&u.tid, __ATOMIC_ACQUIRE))
		sched_yield();
	if (u.refused) {
		must_be(pthread_join(t, NULL), 0);
		cannot("no permission for real-time scheduling");
	}
	must(harness_sees_asleep(getpid(), u.tid, &u.m));
	must_be(nlock_mutex_unlock(&u.m), 0);
	must_be(pthread_join(t, NULL), 0);
	must_be(u.result, 0);
	must(u.switches > 0, "it never let go of its CPU");
	must_be(nlock_mutex_destroy(&u.m), 0);
}

/* ---------------------------------------------------------------- statistics */

ROW_TEST(statistics_count_what_happened)
{
	struct company *c = company_meet(row, 1, THREADS);
	nlock_mutex_t *m = &company_scene(c)->m;
	nlock_stats_t before, after;

	if (nlock_stats(&before)) {
		company_part(c);
		cannot("built without --enable-stats");
	}
	must_be(nlock_mutex_lock(m), 0);
	company_park(c, 0, DO_VISIT);
	must_be(nlock_mutex_unlock_fair(m), 0);
	must_be(company_answer(c, 0), 0);
	must_be(nlock_stats(&after), 0);
	must_be(after.grants, before.grants + 1);
	must_be(after.wakes, before.wakes + 1);
	must_be(after.woken, before.woken + 1);
	must(after.sleeps > before.sleeps);
	must_be(after.barges, before.barges);
	must_be(after.waited, before.waited);
	must_be(after.timeouts, before.timeouts);
	company_part(c);
}

static const struct test tests[] = {
	CROSS_OF_ROWS(uncontended_calls_make_no_system_call),
	CORE_ROW(threads_exclude_each_other),
	EACH_SHARED(processes_exclude_each_other),
	EACH_SHARED(mappings_of_one_page_exclude_each_other),
	ONCE(users_of_a_cohort_lock_exclude_each_other),
	CROSS_OF_ROWS(signals_during_work_change_nothing),
	EACH_ROW(releaser_gets_past_a_sleeper_unless_it_hands_over),
	CORE_ROW(waiters_are_served_in_order_of_arrival),
	EACH_SHARED(waiting_processes_are_served_in_order_of_arrival),
	CORE_ROW(mixed_releases_follow_each_its_own_policy),
	CORE_BOUNDED(head_is_overtaken_no_more_often_than_the_bound_says),
	CORE_ROW(victim_gets_the_lock_at_the_first_release_after_the_time_bound),
	EACH_HANDOFF(fairness_ends_after_the_grant),
	CORE_CROSS(bump_gives_way_to_the_waiter_and_comes_back),
	EACH_HANDOFF(past_deadline_gives_up_at_once),
	EACH_HANDOFF(bad_deadline_is_refused_only_if_the_lock_is_not_to_be_had),
	CORE_CROSS(timed_out_waiter_was_not_early_and_leaves_nothing),
	CORE_CROSS(timed_waiters_are_served_like_the_others),
	CORE_CROSS(interrupted_waiters_wait_on),
	EACH_HANDOFF(handler_may_wait_for_another_lock_while_its_thread_waits),
	EACH_HANDOFF(cancelled_waiter_gets_the_lock_and_is_cancelled_later),
	CROSS_OF_PRIVATE(child_of_a_fork_may_unlock_or_initialise_what_the_parent_held),
	EACH_SHARED(shared_lock_may_be_unlocked_by_the_child_of_a_fork),
	EACH_HANDOFF(lock_held_across_a_fork_works_on_both_sides),
	CORE_ONCE(zeroed_memory_is_a_mutex),
	CROSS_OF_ROWS(init_reads_nothing_of_what_was_there),
	EACH_PLACE(bad_objects_and_attributes_are_refused),
	EACH_NUMA(numa_objects_need_writable_memory_and_a_node_that_can_be),
	EACH_HANDOFF(lock_that_nobody_owns_cannot_be_unlocked),
	EACH_HANDOFF(destroy_refuses_what_is_locked_or_waited_for),
	CORE_CROSS(contended_calls_leave_errno_alone),
	EACH_HANDOFF(realtime_waiter_sleeps_so_that_an_ordinary_owner_can_run),
	EACH_HANDOFF(statistics_count_what_happened),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "mutex", tests, COUNT(tests));
}
