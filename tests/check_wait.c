/* SPDX-License-Identifier: MIT
 *
 * check_wait.c - tier 3: lib/wait.c keeps the contract of lib/wait.h on this kernel
 *
 * The wait layer reads placement and sharing only, so the rows of one hand-off do. Sleepers are threads that make one
 * nl_wait and say what came of it; the test sees them asleep in /proc before it goes on.
 */
#include "harness.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECTED 41u
#define SLEEPERS 6

struct sleeper {
	pthread_t thread;
	pid_t tid;
	uint32_t *word;
	nlock_attr_t attr;
	uint32_t lane;
	const struct nl_deadline *deadline;
	enum nl_outcome outcome;
	bool keeps_errno;
};

static struct sleeper sleepers[SLEEPERS];
static uint32_t *word; /* and the node behind it, in a shared page */
static int memory = -1;

static uint32_t *map_word(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void begin(const struct row *row)
{
	memory = memfd_create("word", MFD_CLOEXEC);
	must(memory >= 0 && !ftruncate(memory, 4096));
	word = map_word();
	must(word != NULL);
	must_be(nl_wait_place(word, row->attr), 0);
	*word = EXPECTED;
}

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, harness_tid(), __ATOMIC_RELEASE);
	errno = 4711;
	s->outcome = nl_wait(s->word, s->attr, EXPECTED, s->lane, s->deadline);
	s->keeps_errno = errno == 4711;
	return NULL;
}

static void start(int i, uint32_t *where, nlock_attr_t attr, uint32_t lane, const struct nl_deadline *d)
{
	sleepers[i] = (struct sleeper){ .word = where, .attr = attr, .lane = lane, .deadline = d };
	must_be(pthread_create(&sleepers[i].thread, NULL, sleeper_main, &sleepers[i]), 0);
	while (!__atomic_load_n(&sleepers[i].tid, __ATOMIC_ACQUIRE))
		sched_yield();
}

static bool is_asleep(int i)
{
	return harness_sees_asleep(getpid(), sleepers[i].tid, sleepers[i].word);
}

/* One after the other. */
static void park(int i, const struct row *row, uint32_t lane, const struct nl_deadline *d)
{
	start(i, word, row->attr, lane, d);
	must(is_asleep(i), "sleeper %d does not fall asleep", i);
}

static enum nl_outcome outcome(int i)
{
	must_be(pthread_join(sleepers[i].thread, NULL), 0);
	must(sleepers[i].keeps_errno, "errno was touched");
	return sleepers[i].outcome;
}

static long raw(long nr, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
	long rc = syscall(nr, a, b, c, d, e, f);

	return rc < 0 ? -errno : rc;
}

/* ---------------------------------------------------------------- outcomes */

ROW_TEST(word_that_differs_is_not_slept_on)
{
	begin(row);
	*word = EXPECTED + 1;
	for (int i = 0; i < 100; i++)
		must_be(nl_wait(word, row->attr, EXPECTED, NL_LANE_BACK, NULL), NL_LOOK);
	must_be(nl_wait(word, row->attr, EXPECTED, NL_LANE_FRONT, NULL), NL_LOOK);
}

ROW_TEST(every_value_can_be_waited_for)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };

	begin(row);
	for (int i = 0; i < COUNT(values); i++) {
		struct timespec abs = harness_in(CLOCK_MONOTONIC, 50000);
		struct nl_deadline d;

		*word = values[i];
		must_be(nl_wait(word, row->attr, values[i] ^ 1, NL_LANE_BACK, NULL), NL_LOOK);
		if (!nl_deadline_set(&d, CLOCK_MONOTONIC, &abs))
			must_be(nl_wait(word, row->attr, values[i], NL_LANE_BACK, &d), NL_TIMEDOUT);
	}
}

ROW_TEST(wake_of_nobody_finds_nobody)
{
	begin(row);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
	must_be(nl_wake(word, row->attr, INT_MAX, NL_LANE_BACK), 0);
}

ROW_TEST(woken_sleeper_says_so_and_is_counted)
{
	begin(row);
	park(0, row, NL_LANE_BACK, NULL);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
	must_be(outcome(0), NL_WOKEN);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
}

ROW_TEST(wake_keeps_to_its_lanes)
{
	begin(row);
	park(0, row, NL_LANE_BACK, NULL);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_FRONT), 0);
	park(1, row, NL_LANE_FRONT, NULL);
	must_be(nl_wake(word, row->attr, 5, NL_LANE_FRONT), 1);
	must_be(outcome(1), NL_WOKEN);
	must(is_asleep(0));
	park(1, row, NL_LANE_FRONT, NULL);
	must_be(nl_wake(word, row->attr, 5, NL_LANE_BACK), 1);
	must_be(outcome(0), NL_WOKEN);
	must(is_asleep(1));
	must_be(nl_wake(word, row->attr, 5, NL_LANE_ALL), 1);
	must_be(outcome(1), NL_WOKEN);
}

ROW_TEST(oldest_sleeper_is_woken_first_whatever_its_lane)
{
	begin(row);
	for (int i = 0; i < SLEEPERS; i++)
		park(i, row, i % 2 ? NL_LANE_FRONT : NL_LANE_BACK, NULL);
	for (int i = 0; i < SLEEPERS; i++) {
		must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
		must_be(outcome(i), NL_WOKEN);
	}
}

ROW_TEST(wake_takes_as_many_as_it_says)
{
	begin(row);
	for (int i = 0; i < 5; i++)
		park(i, row, NL_LANE_BACK, NULL);
	must_be(nl_wake(word, row->attr, 2, NL_LANE_BACK), 2);
	must_be(outcome(0), NL_WOKEN);
	must_be(outcome(1), NL_WOKEN);
	for (int i = 2; i < 5; i++)
		must(is_asleep(i));
	must_be(nl_wake(word, row->attr, INT_MAX, NL_LANE_ALL), 3);
	for (int i = 2; i < 5; i++)
		must_be(outcome(i), NL_WOKEN);
}

/* Where the kernel can: between private words of the plain table. Elsewhere nothing is done. */
ROW_TEST(move_wakes_the_oldest_and_the_rest_sleeps_on_elsewhere)
{
	const bool has_move = nl_wait_features() & NLOCK_HAS_REQUEUE;
	uint32_t *other;

	begin(row);
	other = word + 2;
	must_be(nl_wait_may_move(row->attr, row->attr), has_move && !row->place && !row->is_shared);
	if (row->place || row->is_shared)
		return;
	for (int i = 0; i < 4; i++)
		park(i, row, i == 2 ? NL_LANE_FRONT : NL_LANE_BACK, NULL);
	must(!nl_move(word, EXPECTED + 1, other, 1));
	must_be(nl_move(word, EXPECTED, other, 1), has_move);
	if (!has_move) {
		must_be(nl_wake(word, row->attr, INT_MAX, NL_LANE_ALL), 4);
		for (int i = 0; i < 4; i++)
			must_be(outcome(i), NL_WOKEN);
	} else {
		must_be(outcome(0), NL_WOKEN);
		must_be(nl_wake(word, row->attr, INT_MAX, NL_LANE_ALL), 0);
		must_be(nl_wake(other, row->attr, INT_MAX, NL_LANE_FRONT), 1);
		must_be(outcome(2), NL_WOKEN);
		must_be(nl_wake(other, row->attr, 1, NL_LANE_ALL), 1);
		must_be(outcome(1), NL_WOKEN);
		must_be(nl_wake(other, row->attr, INT_MAX, NL_LANE_BACK), 1);
		must_be(outcome(3), NL_WOKEN);
	}
}

static void nothing(int sig)
{
	(void)sig;
}

ROW_TEST(signal_makes_a_sleeper_look)
{
	struct sigaction sa = { .sa_handler = nothing };

	begin(row);
	must(!sigaction(SIGUSR1, &sa, NULL));
	park(0, row, NL_LANE_BACK, NULL);
	must_be(pthread_kill(sleepers[0].thread, SIGUSR1), 0);
	must_be(outcome(0), NL_LOOK);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
}

/* ---------------------------------------------------------------- deadlines */

static bool has_come(const struct nl_deadline *d)
{
	struct timespec now;

	clock_gettime(d->clock, &now);
	return now.tv_sec > d->sec || (now.tv_sec == d->sec && now.tv_nsec >= d->nsec);
}

ROW_TEST(timeout_is_never_early_on_either_clock)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	static const int64_t ns[] = { 1000, 50001, 999999, 2000000 };

	begin(row);
	for (int i = 0; i < COUNT(ns) * 2; i++) {
		struct timespec abs = harness_in(clocks[i % 2], ns[i / 2]);
		struct nl_deadline d;

		if (nl_deadline_set(&d, clocks[i % 2], &abs))
			continue;
		must_be(nl_wait(word, row->attr, EXPECTED, NL_LANE_BACK, &d), NL_TIMEDOUT);
		must(has_come(&d));
	}
}

ROW_TEST(endless_deadlines_do_not_run_out)
{
	static const int64_t endless[] = { INT64_MAX, INT64_MAX / 1000000000, INT64_MAX / 1000000000 - 1, INT64_MAX / 2,
					   INT32_MAX };

	begin(row);
	for (int i = 0; i < COUNT(endless); i++) {
		struct nl_deadline d = { .clock = i % 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC,
					 .sec = endless[i],
					 .nsec = 999999999 };

		park(0, row, NL_LANE_BACK, &d);
		must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
		must_be(outcome(0), NL_WOKEN);
	}
}

/* In a child that dies of any futex call. */
static int wait_for_the_past(void *arg)
{
	const struct filter f = { .answer = ANSWER_KILL, .calls = harness_futex_calls, .n_calls = N_FUTEX_CALLS };
	const struct row *row = arg;
	static const struct nl_deadline past[] = { { .clock = CLOCK_MONOTONIC, .sec = 0, .nsec = 0 },
						   { .clock = CLOCK_REALTIME, .sec = 0, .nsec = 0 },
						   { .clock = CLOCK_MONOTONIC, .sec = 0, .nsec = 1 },
						   { .clock = CLOCK_REALTIME, .sec = 1000000000, .nsec = 5 } };

	nl_wait_features();
	if (harness_filter(&f))
		return EXIT_CANNOT;
	for (int i = 0; i < COUNT(past); i++) {
		if (nl_wait(word, row->attr, EXPECTED, NL_LANE_BACK, &past[i]) != NL_TIMEDOUT)
			return 1;
	}
	return 0;
}

ROW_TEST(deadline_in_the_past_makes_no_call)
{
	int status;

	begin(row);
	status = harness_child(wait_for_the_past, (void *)(uintptr_t)row);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
		cannot("no system-call filters");
	must_be(status, 0);
}

/* ---------------------------------------------------------------- sharing and placement */

ROW_TEST(shared_words_meet_through_two_mappings_and_private_ones_do_not)
{
	uint32_t *other;

	begin(row);
	other = map_word();
	must(other != NULL && other != word);
	park(0, row, NL_LANE_BACK, NULL);
	must_be(nl_wake(other, row->attr, 1, NL_LANE_ALL), row->is_shared);
	if (!row->is_shared)
		must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
	must_be(outcome(0), NL_WOKEN);
}

static int wake_from_child(void *arg)
{
	const struct row *row = arg;

	return nl_wake(word, row->attr, 1, NL_LANE_ALL);
}

ROW_TEST(shared_words_meet_across_processes)
{
	int status;

	begin(row);
	park(0, row, NL_LANE_BACK, NULL);
	status = harness_child(wake_from_child, (void *)(uintptr_t)row);
	must(WIFEXITED(status));
	must_be(WEXITSTATUS(status), row->is_shared);
	if (!row->is_shared)
		must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
	must_be(outcome(0), NL_WOKEN);
}

ROW_TEST(kernel_never_sees_a_numa_word_without_a_node)
{
	uint32_t seen = 1;

	begin(row);
	must(word[1] < 1024, "node %u", word[1]);
	*word = 1;
	must(nl_wait_enter(word, row->attr, &seen, 41));
	must_be(*word, 41);
	must(word[1] < 1024, "node %u", word[1]);
}

ROW_TEST(entering_is_one_compare_exchange)
{
	uint32_t seen = 7;

	begin(row);
	must(!nl_wait_enter(word, row->attr, &seen, 9));
	must_be(seen, EXPECTED);
	must_be(*word, EXPECTED);
	must(nl_wait_enter(word, row->attr, &seen, 9));
	must_be(*word, 9);
}

/* A wake may come after the object's end: it must do no harm, and there is nobody to find. */
ROW_TEST(wake_of_memory_that_is_gone_finds_nobody)
{
	begin(row);
	must(!mprotect(word, 4096, PROT_NONE));
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
	must(!munmap(word, 4096));
	errno = 4711;
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
	must_be(errno, 4711);
}

#define LOCK_PI   6
#define UNLOCK_PI 7

/* Another thread waits for the priority-inheritance mutex that the word has become. */
static void *pi_waiter(void *arg)
{
	const struct sleeper *s = arg;
	uintptr_t flag = s->attr & NLOCK_SHARED ? 0 : 128;

	__atomic_store_n(&sleepers[0].tid, harness_tid(), __ATOMIC_RELEASE);
	if (raw(harness_futex_calls[N_FUTEX2_CALLS], (uintptr_t)word, LOCK_PI | flag, 0, 0, 0, 0))
		return NULL;
	raw(harness_futex_calls[N_FUTEX2_CALLS], (uintptr_t)word, UNLOCK_PI | flag, 0, 0, 0, 0);
	return arg;
}

/* To a late wake the kernel then says EINVAL, which is not a word about the call. */
ROW_TEST(wake_of_memory_that_is_another_kind_of_mutex_now_changes_nothing)
{
	uintptr_t flag = row->is_shared ? 0 : 128;
	uint32_t before = nlock_features();
	void *end;

	begin(row);
	*word = (uint32_t)harness_tid();
	sleepers[0] = (struct sleeper){ .word = word, .attr = row->attr };
	if (raw(harness_futex_calls[N_FUTEX2_CALLS], (uintptr_t)word, UNLOCK_PI | flag, 0, 0, 0, 0))
		cannot("no priority-inheritance futexes");
	*word = (uint32_t)harness_tid();
	must_be(pthread_create(&sleepers[0].thread, NULL, pi_waiter, &sleepers[0]), 0);
	while (!__atomic_load_n(&sleepers[0].tid, __ATOMIC_ACQUIRE))
		sched_yield();
	must(is_asleep(0));
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 0);
	must_be(nlock_features(), before);
	must_be(raw(harness_futex_calls[N_FUTEX2_CALLS], (uintptr_t)word, UNLOCK_PI | flag, 0, 0, 0, 0), 0);
	must_be(pthread_join(sleepers[0].thread, &end), 0);
	must(end != NULL);
}

TEST(placement_refuses_what_cannot_be)
{
	bool has_numa = nl_wait_features() & NLOCK_HAS_NUMA, has_mpol = nl_wait_features() & NLOCK_HAS_MPOL;
	uint32_t pair[2] __attribute__((aligned(8))) = { 0, 0xffffffff };
	uint32_t *sealed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(sealed != MAP_FAILED);
	must_be(nl_wait_place(pair, NLOCK_PLACE_NODE(0)), has_numa ? 0 : -ENOTSUP);
	must_be(nl_wait_place(pair, NLOCK_PLACE_FIRST), has_numa ? 0 : -ENOTSUP);
	must_be(nl_wait_place(pair, NLOCK_PLACE_MPOL), has_mpol ? 0 : -ENOTSUP);
	must_be(nl_wait_place(pair, NLOCK_PLACE_HASH), 0);
	must_be(nl_wait_place(sealed, NLOCK_PLACE_NODE(0)), has_numa ? -EFAULT : -ENOTSUP);
	must_be(nl_wait_place(sealed, NLOCK_PLACE_FIRST), has_numa ? -EFAULT : -ENOTSUP);
	must_be(nl_wait_place(pair, NLOCK_PLACE_NODE(1023)), has_numa ? -EINVAL : -ENOTSUP);
}

/* ---------------------------------------------------------------- what works here */

#define U32_PRIVATE 0x82u

/* The test's own probes: what the library says must not be less than what works, or rows would be left out. */
TEST(features_are_what_raw_calls_find)
{
	uint32_t pair[2] __attribute__((aligned(8))) = { 1, 0 };
	const char *mode = getenv("NLOCK_FUTEX");
	uint32_t want = 0;

	if (mode && !strcmp(mode, "legacy")) {
		must_be(nl_wait_features(), 0);
		return;
	}
	if (raw(454, (uintptr_t)pair, 1, 0, U32_PRIVATE, 0, 0) == 0 &&
	    raw(455, (uintptr_t)pair, 0, 1, U32_PRIVATE, 0, 0) == -EAGAIN) {
		want |= NLOCK_HAS_WAIT;
		if (raw(454, (uintptr_t)pair, 1, 0, U32_PRIVATE | 4, 0, 0) == 0)
			want |= NLOCK_HAS_NUMA;
		if (raw(454, (uintptr_t)pair, 1, 0, U32_PRIVATE | 8, 0, 0) == 0)
			want |= NLOCK_HAS_MPOL;
	}
	must_be(nl_wait_features() & (NLOCK_HAS_WAIT | NLOCK_HAS_NUMA | NLOCK_HAS_MPOL), want);
}

/* The size is the process's own: in a child. */
static int sizes_hash(void *arg)
{
	const int none = nlock_hash_slots() < 0 ? ENOTSUP : 0;

	(void)arg;
	if (nlock_hash_set_slots(0) != EINVAL)
		return 1;
	for (uint32_t n = 1; n <= 16; n++) {
		uint32_t slots = 2;

		while (slots < n)
			slots *= 2;
		if (nlock_hash_set_slots(n) != none || (!none && nlock_hash_slots() != (int)slots))
			return 2;
	}
	if (nlock_hash_set_slots(UINT32_MAX) != none)
		return 3;
	if (!none && (nlock_hash_slots() < 16 || (nlock_hash_slots() & (nlock_hash_slots() - 1))))
		return 4;
	if (none)
		return EXIT_CANNOT;
	if (nlock_hash_use_global() || nlock_hash_use_global() != EBUSY)
		return 5;
	return nlock_hash_set_slots(4) != EBUSY || nlock_hash_slots() != 0 ? 6 : 0;
}

/* The child of one that uses the global hash for good. */
static int sizes_hash_anew(void *arg)
{
	(void)arg;
	return nlock_hash_slots() != 0 || nlock_hash_set_slots(8) || nlock_hash_slots() != 8;
}

static int forks_after_global(void *arg)
{
	(void)arg;
	if (nlock_hash_slots() < 0)
		return nlock_hash_use_global() == ENOTSUP ? EXIT_CANNOT : 1;
	if (nlock_hash_set_slots(16) || nlock_hash_use_global())
		return 2;
	return harness_child(sizes_hash_anew, NULL) ? 3 : nlock_hash_set_slots(8) != EBUSY;
}

TEST(child_of_a_fork_has_the_choice_of_hash_again)
{
	int status;

	if (HAS_TSAN)
		cannot("ThreadSanitizer has started a thread of its own in the child");
	status = harness_child(forks_after_global, NULL);
	if (status == EXIT_CANNOT << 8)
		cannot("no private hash");
	must_be(status, 0);
}

TEST(hash_has_as_many_slots_as_are_asked_for)
{
	int status = harness_child(sizes_hash, NULL);

	if (status == EXIT_CANNOT << 8)
		cannot("no private hash");
	must_be(status, 0);
}

ROW_TEST(features_do_not_change_with_use)
{
	uint32_t before = nlock_features();

	begin(row);
	park(0, row, NL_LANE_BACK, NULL);
	must_be(nl_wake(word, row->attr, 1, NL_LANE_ALL), 1);
	must_be(outcome(0), NL_WOKEN);
	must_be(nlock_features(), before);
}

/* ---------------------------------------------------------------- time and CPUs */

TEST(clock_of_the_library_is_the_monotonic_one)
{
	int64_t before = harness_now(), now = nl_now(), after = harness_now();

	must(before <= now && now <= after);
}

TEST(watching_in_vain_is_given_up_but_for_a_try_now_and_then)
{
	uint8_t luck = 0;
	int tries = 0;

	if (!nl_watch_ns())
		cannot("one CPU: nobody watches");
	while (nl_watch_try(&luck) && tries < 100) {
		nl_watch_tell(&luck, false);
		tries++;
	}
	must(tries >= 1 && tries < 10, "%d tries in vain", tries);
	for (tries = 0; tries < 1000 && !nl_watch_try(&luck); tries++)
		;
	must(tries >= 10 && tries < 1000, "tried again after %d", tries);
	nl_watch_tell(&luck, true);
	must_be(luck, 0);
	must(nl_watch_try(&luck));
}

TEST(nobody_watches_on_one_cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
	must_be(nl_watch_ns(), 0);
}

/* ---------------------------------------------------------------- nodes */

static uint32_t step_of(uint32_t node, uint32_t other)
{
	uint32_t i = 0;

	while (!(nl_lanes_near(node, i) & nl_lane_of(other)))
		must(nl_lanes_near(node, i++) != 0, "node %u is in no step of node %u", other, node);
	return i;
}

TEST(each_node_is_in_one_step_of_distance_and_ones_own_is_in_the_first)
{
	for (uint32_t node = 0; node < 70; node++) {
		uint32_t all = 0, i = 0;

		for (; nl_lanes_near(node, i); i++) {
			must(!(all & nl_lanes_near(node, i)), "node %u, step %u", node, i);
			all |= nl_lanes_near(node, i);
		}
		must_be(all, ~NL_LANE_ALL);
		must_be(step_of(node, node), 0);
		must_be(nl_lanes_near(node, i + 1), 0);
	}
	must(nl_wait_node() < 1024);
}

/* What the kernel states of one node: how many numbers. */
static int distances_from(int node, int distance[64])
{
	char path[80];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance", node);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (n < 64 && fscanf(f, "%d", &distance[n]) == 1)
		n++;
	fclose(f);
	return n;
}

static void steps_follow_distances(int a, const int online[], const int distance[], int n)
{
	const uint32_t here = (uint32_t)online[a];

	for (int i = 0; i < n * n; i++) {
		int b = i / n, c = i % n;

		if (b != a && c != a && distance[b] < distance[c])
			must(step_of(here, (uint32_t)online[b]) <= step_of(here, (uint32_t)online[c]));
	}
	must_be(nl_lanes_near(here, 1) != 0, n > 1);
}

TEST(nearer_nodes_are_in_earlier_steps)
{
	int online[64], n = 0, distance[64];

	for (int node = 0; node < 64; node++) {
		if (distances_from(node, distance))
			online[n++] = node;
	}
	if (!n || online[n - 1] >= (int)NL_LANE_NODES)
		cannot("no distances in sysfs, or more nodes than lanes");
	for (int a = 0; a < n; a++) {
		must_be(distances_from(online[a], distance), n);
		steps_follow_distances(a, online, distance, n);
	}
}

static const struct test tests[] = {
	ONCE(each_node_is_in_one_step_of_distance_and_ones_own_is_in_the_first),
	ONCE(nearer_nodes_are_in_earlier_steps),
	CORE_PLACE(word_that_differs_is_not_slept_on),
	EACH_PLACE(every_value_can_be_waited_for),
	CORE_PLACE(wake_of_nobody_finds_nobody),
	CORE_PLACE(woken_sleeper_says_so_and_is_counted),
	CORE_PLACE(wake_keeps_to_its_lanes),
	CORE_PLACE(oldest_sleeper_is_woken_first_whatever_its_lane),
	CORE_PLACE(wake_takes_as_many_as_it_says),
	CORE_PLACE(move_wakes_the_oldest_and_the_rest_sleeps_on_elsewhere),
	CORE_PLACE(signal_makes_a_sleeper_look),
	CORE_PLACE(timeout_is_never_early_on_either_clock),
	CORE_PLACE(endless_deadlines_do_not_run_out),
	EACH_PLACE(deadline_in_the_past_makes_no_call),
	CORE_PLACE(shared_words_meet_through_two_mappings_and_private_ones_do_not),
	EACH_PLACE(shared_words_meet_across_processes),
	EACH_NUMA(kernel_never_sees_a_numa_word_without_a_node),
	EACH_PLACE(entering_is_one_compare_exchange),
	EACH_PLACE(wake_of_memory_that_is_gone_finds_nobody),
	EACH_PLACE(wake_of_memory_that_is_another_kind_of_mutex_now_changes_nothing),
	CORE_ONCE(placement_refuses_what_cannot_be),
	CORE_ONCE(features_are_what_raw_calls_find),
	CORE_PLACE(features_do_not_change_with_use),
	CORE_ONCE(hash_has_as_many_slots_as_are_asked_for),
	ONCE(child_of_a_fork_has_the_choice_of_hash_again),
	ONCE(clock_of_the_library_is_the_monotonic_one),
	ONCE(watching_in_vain_is_given_up_but_for_a_try_now_and_then),
	ONCE(nobody_watches_on_one_cpu),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "wait", tests, COUNT(tests));
}
