/* SPDX-License-Identifier: MIT
 *
 * check_barrier.c - tier 3: the barrier on this kernel, through <nlock.h> alone
 *
 * No sleeps and no clocks in verdicts. A barrier knows no hand-off, so its rows are the placements and sharings. Workers
 * are threads, or processes over a shared page; they hand back what they found wrong as a number, 0 for nothing. With --long the
 * rounds are a million.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

/* What may be wrong. */
enum { BAD_RESULT = 1, BAD_DATA = 2, BAD_SERIAL = 4, BAD_ERRNO = 8 };

/* In a page of its own. All but the barriers is plain: they order it. */
struct arena {
	nlock_barrier_t b;
	int n, rounds;
	int did[2][MOST];
	int serials;
	int next_id; /* atomic */
};

static size_t page(void)
{
	return ((size_t)sysconf(_SC_PAGESIZE) + sizeof(struct arena)) & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
}

static struct arena *arena(const struct row *row, int n, int rounds)
{
	int how = row->is_shared ? MAP_SHARED : MAP_PRIVATE;
	struct arena *a = mmap(NULL, page(), PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	must(a != MAP_FAILED);
	must_be(nlock_barrier_init(&a->b, (uint32_t)n, row->attr), 0);
	a->n = n;
	a->rounds = rounds;
	return a;
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

/* One call; what was wrong with it. *is_serial */
static int one_wait(nlock_barrier_t *b, bool *is_serial)
{
	int rc;

	errno = 1234;
	rc = nlock_barrier_wait(b);
	*is_serial = rc == NLOCK_BARRIER_SERIAL;
	return (rc && !*is_serial ? BAD_RESULT : 0) | (errno == 1234 ? 0 : BAD_ERRNO);
}

/* ---------------------------------------------------------------- rounds: B23 */

/* Two rounds each time. Before the first everybody writes; after it everybody reads, and the serial thread, which nothing else
 * keeps apart from a second one, counts itself; after the other, everybody reads that. Slots take turns. */
static int do_rounds(struct arena *a, int me)
{
	int bad = 0;

	for (int r = 1; r <= a->rounds; r++) {
		bool is_serial, dummy;

		a->did[r % 2][me] = r;
		bad |= one_wait(&a->b, &is_serial);
		for (int i = 0; i < a->n; i++)
			bad |= a->did[r % 2][i] == r ? 0 : BAD_DATA;
		if (is_serial)
			a->serials++;
		bad |= one_wait(&a->b, &dummy);
		bad |= a->serials == r ? 0 : BAD_SERIAL;
	}
	return bad;
}

static void *round_worker(void *arg)
{
	struct arena *a = arg;

	return (void *)(intptr_t)do_rounds(a, __atomic_fetch_add(&a->next_id, 1, __ATOMIC_RELAXED));
}

static void end(struct arena *a)
{
	must_be(nlock_barrier_destroy(&a->b), 0);
	must(!munmap(a, page()));
}

static void rounds_of_threads(const struct row *row, int n, int rounds)
{
	struct arena *a = arena(row, n, rounds);
	pthread_t t[MOST];
	void *bad;

	for (int i = 0; i < n; i++)
		must_be(pthread_create(&t[i], NULL, round_worker, a), 0);
	for (int i = 0; i < n; i++) {
		must_be(pthread_join(t[i], &bad), 0);
		must_be((intptr_t)bad, 0);
	}
	must_be(a->serials, rounds);
	end(a);
}

ROW_TEST(two_threads_meet_again_and_again)
{
	rounds_of_threads(row, 2, harness_rounds(2000, 500000));
}

ROW_TEST(many_threads_meet_again_and_again)
{
	static const int sizes[] = { 3, 5, 16, MOST };

	for (int i = 0; i < COUNT(sizes); i++)
		rounds_of_threads(row, sizes[i], harness_rounds(600 / sizes[i], 500000));
}

ROW_TEST(processes_meet_again_and_again)
{
	int n = 4, status;
	struct arena *a;
	pid_t child[4];

	if (!row->is_shared)
		return;
	a = arena(row, n, harness_rounds(300, 50000));
	for (int i = 0; i < n; i++) {
		child[i] = fork();
		must(child[i] >= 0);
		if (!child[i])
			_exit(do_rounds(a, i));
	}
	for (int i = 0; i < n; i++) {
		must_be(waitpid(child[i], &status, 0), child[i]);
		must_be(status, 0);
	}
	must_be(a->serials, a->rounds);
	end(a);
}

/* Each thread through a mapping of its own. */
ROW_TEST(mappings_of_one_page_meet)
{
	int fd = memfd_create("barrier", 0), n = 3;
	struct arena *a[3];
	pthread_t t[3];
	void *bad;

	if (!row->is_shared)
		return;
	if (HAS_TSAN)
		cannot("the thread sanitizer does not know that mappings are of one page");
	must(fd >= 0 && !ftruncate(fd, (off_t)page()));
	for (int i = 0; i < n; i++) {
		a[i] = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		must(a[i] != MAP_FAILED);
	}
	must_be(nlock_barrier_init(&a[0]->b, (uint32_t)n, row->attr), 0);
	a[0]->n = n;
	a[0]->rounds = harness_rounds(300, 20000);
	for (int i = 0; i < n; i++)
		must_be(pthread_create(&t[i], NULL, round_worker, a[i]), 0);
	for (int i = 0; i < n; i++) {
		must_be(pthread_join(t[i], &bad), 0);
		must_be((intptr_t)bad, 0);
	}
	must_be(a[0]->serials, a[0]->rounds);
	for (int i = n; i-- > 0;) {
		if (!i)
			must_be(nlock_barrier_destroy(&a[i]->b), 0);
		must(!munmap(a[i], page()));
	}
	close(fd);
}

/* ---------------------------------------------------------------- a crew: threads that call once each time that they are told */

enum errand { TO_WAIT, SERIAL_ENDS_IT, FIRST_ENDS_IT, TO_LEAVE };

struct crew {
	int n;
	pthread_t thread[MOST];
	sem_t go, done;
	enum errand errand;
	struct arena *a;
	int first, serials, bad; /* atomic */
};

static void end_it(struct crew *c)
{
	struct arena *a = c->a;

	if (nlock_barrier_destroy(&a->b) || munmap(a, page()))
		__atomic_fetch_or(&c->bad, BAD_RESULT, __ATOMIC_RELAXED);
}

static void *hand(void *arg)
{
	struct crew *c = arg;
	bool is_serial;

	for (;;) {
		wait_for(&c->go);
		if (c->errand == TO_LEAVE)
			return NULL;
		__atomic_fetch_or(&c->bad, one_wait(&c->a->b, &is_serial), __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->serials, is_serial, __ATOMIC_RELAXED);
		if (c->errand == SERIAL_ENDS_IT
			    ? is_serial
			    : c->errand == FIRST_ENDS_IT && !__atomic_fetch_add(&c->first, 1, __ATOMIC_RELAXED))
			end_it(c);
		sem_post(&c->done);
	}
}

static void hire(struct crew *c, int n)
{
	memset(c, 0, sizeof(*c));
	c->n = n;
	must(!sem_init(&c->go, 0, 0) && !sem_init(&c->done, 0, 0));
	for (int i = 0; i < n; i++)
		must_be(pthread_create(&c->thread[i], NULL, hand, c), 0);
}

/* All of them run the errand once. How many were serial. */
static int run(struct crew *c, enum errand errand)
{
	c->errand = errand;
	c->first = c->serials = 0;
	for (int i = 0; i < c->n; i++)
		sem_post(&c->go);
	for (int i = 0; i < c->n; i++)
		wait_for(&c->done);
	must_be(c->bad, 0);
	return c->serials;
}

static void dismiss(struct crew *c)
{
	c->errand = TO_LEAVE;
	for (int i = 0; i < c->n; i++)
		sem_post(&c->go);
	for (int i = 0; i < c->n; i++)
		must_be(pthread_join(c->thread[i], NULL), 0);
	must(!sem_destroy(&c->go) && !sem_destroy(&c->done));
}

ROW_TEST(twice_as_many_callers_make_two_rounds)
{
	static struct crew c;

	for (int n = 1; n <= 5; n += 2) {
		hire(&c, 2 * n);
		c.a = arena(row, n, 0);
		for (int i = 0; i < harness_rounds(100, 5000); i++)
			must_be(run(&c, TO_WAIT), 2);
		dismiss(&c);
		end(c.a);
	}
}

/* B22: a leaver that touched it once more would fault. */
static void ends_of_life(const struct row *row, enum errand errand)
{
	static const int sizes[] = { 2, 3, 9 };
	static struct crew c;

	for (int k = 0; k < COUNT(sizes); k++) {
		hire(&c, sizes[k]);
		for (int i = 0; i < harness_rounds(200, 20000); i++) {
			c.a = arena(row, sizes[k], 0);
			must_be(run(&c, errand), 1);
		}
		dismiss(&c);
	}
}

ROW_TEST(serial_thread_may_destroy_and_unmap_at_once)
{
	ends_of_life(row, SERIAL_ENDS_IT);
}

ROW_TEST(first_thread_to_return_may_destroy_and_unmap_at_once)
{
	ends_of_life(row, FIRST_ENDS_IT);
}

/* ---------------------------------------------------------------- a sleeper */

struct sleeper {
	nlock_barrier_t *b;
	pthread_t thread;
	pid_t tid; /* atomic */
	int rc;
	bool has_returned;
};

static void *sleeps(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, harness_tid(), __ATOMIC_RELEASE);
	s->rc = nlock_barrier_wait(s->b);
	s->has_returned = true;
	pthread_testcancel();
	return NULL;
}

static void see_asleep(struct sleeper *s)
{
	must(harness_sees_asleep(getpid(), s->tid, &s->b->gate));
}

static void park(struct sleeper *s, nlock_barrier_t *b)
{
	*s = (struct sleeper){ .b = b };
	must_be(pthread_create(&s->thread, NULL, sleeps, s), 0);
	while (!__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	see_asleep(s);
}

static void join(struct sleeper *s)
{
	must_be(pthread_join(s->thread, NULL), 0);
	must(s->has_returned);
	must_be(s->rc, 0);
}

ROW_TEST(those_who_come_early_sleep_and_keep_it_from_being_destroyed)
{
	struct arena *a = arena(row, 3, 0);
	struct sleeper s[2];

	must_be(nlock_barrier_destroy(&a->b), 0);
	must_be(nlock_barrier_init(&a->b, 3, row->attr), 0);
	for (int i = 0; i < 2; i++) {
		park(&s[i], &a->b);
		must_be(nlock_barrier_destroy(&a->b), EBUSY);
	}
	must_be(nlock_barrier_wait(&a->b), NLOCK_BARRIER_SERIAL);
	must_be(nlock_barrier_destroy(&a->b), 0);
	for (int i = 0; i < 2; i++)
		join(&s[i]);
	end(a);
}

static int signals; /* atomic */

static void count_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

ROW_TEST(signals_let_nobody_through)
{
	const struct sigaction sa = { .sa_handler = count_signal };
	struct arena *a = arena(row, 2, 0);
	struct sleeper s;

	must(!sigaction(SIGUSR1, &sa, NULL));
	park(&s, &a->b);
	for (int i = 1; i <= 10; i++) {
		must_be(pthread_kill(s.thread, SIGUSR1), 0);
		while (__atomic_load_n(&signals, __ATOMIC_RELAXED) < i)
			sched_yield();
		see_asleep(&s);
	}
	must_be(nlock_barrier_wait(&a->b), NLOCK_BARRIER_SERIAL);
	join(&s);
	end(a);
}

TEST(wait_is_no_cancellation_point)
{
	struct arena *a = arena(&rows[0], 2, 0);
	struct sleeper s;
	void *value;

	park(&s, &a->b);
	must_be(pthread_cancel(s.thread), 0);
	see_asleep(&s);
	must_be(nlock_barrier_wait(&a->b), NLOCK_BARRIER_SERIAL);
	must_be(pthread_join(s.thread, &value), 0);
	must(s.has_returned && value == PTHREAD_CANCELED);
	end(a);
}

/* ---------------------------------------------------------------- fork */

static int child_meets_itself(void *arg)
{
	struct sleeper s;
	nlock_barrier_t *b = arg;

	for (int i = 0; i < 50; i++) {
		park(&s, b);
		if (nlock_barrier_wait(b) != NLOCK_BARRIER_SERIAL)
			return 1;
		join(&s);
	}
	return nlock_barrier_destroy(b);
}

static int child_meets_the_parent(void *arg)
{
	return nlock_barrier_wait(arg) != NLOCK_BARRIER_SERIAL;
}

/* One of the parent's threads waits there. In the child it does not. */
ROW_TEST(child_of_a_fork_finds_a_private_barrier_at_rest)
{
	struct arena *a;
	struct sleeper s;

	if (row->is_shared || row->place == NLOCK_PLACE_NODE(0) || row->place == NLOCK_PLACE_FIRST)
		return;
	if (HAS_TSAN)
		cannot("the thread sanitizer forbids threads in the child of a program with threads");
	a = arena(row, 2, 0);
	park(&s, &a->b);
	must_be(harness_child(child_meets_itself, &a->b), 0);
	must_be(nlock_barrier_wait(&a->b), NLOCK_BARRIER_SERIAL);
	join(&s);
	end(a);
}

ROW_TEST(child_of_a_fork_meets_the_parent_at_a_shared_barrier)
{
	struct arena *a;
	struct sleeper s;

	if (!row->is_shared)
		return;
	a = arena(row, 2, 0);
	park(&s, &a->b);
	must_be(harness_child(child_meets_the_parent, &a->b), 0);
	join(&s);
	end(a);
}

/* ---------------------------------------------------------------- no system call */

/* In a child that may only exit. */
static int meets_alone(void *arg)
{
	static const long exits[] = { SYS_exit_group };
	const struct filter f = { .answer = ANSWER_KILL, .calls = exits, .n_calls = 1, .spares_calls = true };
	int bad = 0;

	if (harness_filter(&f))
		return EXIT_CANNOT;
	for (int i = 0; i < 100; i++)
		bad |= nlock_barrier_wait(arg) != NLOCK_BARRIER_SERIAL;
	bad |= nlock_barrier_destroy(arg);
	return bad != 0;
}

ROW_TEST(barrier_of_one_makes_no_system_call)
{
	struct arena *a = arena(row, 1, 0);
	int status = harness_child(meets_alone, &a->b);

	if (status == EXIT_CANNOT << 8)
		cannot("no system-call filters");
	must_be(status, 0);
	end(a);
}

/* ---------------------------------------------------------------- objects */

/* Every function's errors. */
ROW_TEST(bad_objects_counts_and_attributes_are_refused)
{
	static const uint32_t bad[] = { NLOCK_BAD_ATTR, NLOCK_COHORT, 0x40, 0x10000, NLOCK_PLACE_FIRST | 0x40 };
	static const uint32_t handoffs[] = { NLOCK_FIFO, NLOCK_BARGING, NLOCK_BOUNDED_N(0), NLOCK_BOUNDED_N(7) };
	char bytes[64] __attribute__((aligned(8))) = { 0 };
	nlock_barrier_t *b = (nlock_barrier_t *)(void *)bytes;

	errno = 1234;
	must_be(nlock_barrier_init(b, 0, row->attr), EINVAL);
	must_be(nlock_barrier_init(b, NLOCK_BARRIER_COUNT_MAX + 1u, row->attr), EINVAL);
	must_be(nlock_barrier_init(b, UINT32_MAX, row->attr), EINVAL);
	for (int off = 1; off < 8; off++)
		must_be(nlock_barrier_init((nlock_barrier_t *)(void *)(bytes + off), 2, row->attr), EINVAL);
	for (int i = 0; i < COUNT(bad); i++)
		must_be(nlock_barrier_init(b, 2, bad[i]), EINVAL);
	for (int i = 0; i < COUNT(handoffs); i++)
		must_be(nlock_barrier_init(b, 2, row->attr | handoffs[i]), EINVAL);
	must_be(nlock_barrier_wait(b), EINVAL);
	must_be(nlock_barrier_init(b, NLOCK_BARRIER_COUNT_MAX, row->attr), 0);
	must_be(nlock_barrier_destroy(b), 0);
	must_be(errno, 1234);
}

ROW_TEST(numa_objects_need_writable_memory_and_a_node_that_can_be)
{
	void *sealed = mmap(NULL, page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	nlock_barrier_t b;

	must(sealed != MAP_FAILED);
	if (row->place != NLOCK_PLACE_NODE(0) && row->place != NLOCK_PLACE_FIRST)
		return;
	must_be(nlock_barrier_init(sealed, 2, row->attr), EFAULT);
	if (row->place == NLOCK_PLACE_NODE(0))
		must_be(nlock_barrier_init(&b, 2, row->attr | NLOCK_PLACE_NODE(1023)), EINVAL);
}

ROW_TEST(init_reads_nothing_of_what_was_there)
{
	struct arena *a = arena(row, 2, 0);
	struct sleeper s;

	for (int fill = 0; fill < 256; fill += 51) {
		memset(&a->b, fill, sizeof(a->b));
		must_be(nlock_barrier_init(&a->b, 2, row->attr), 0);
		park(&s, &a->b);
		must_be(nlock_barrier_wait(&a->b), NLOCK_BARRIER_SERIAL);
		join(&s);
		must_be(nlock_barrier_destroy(&a->b), 0);
	}
	end(a);
}

TEST(static_barrier_is_zero_but_for_its_count)
{
	static nlock_barrier_t b = NLOCK_BARRIER_INIT(2);
	nlock_barrier_t x = NLOCK_BARRIER_INIT(NLOCK_BARRIER_COUNT_MAX), zero;
	struct sleeper s;

	memset(&zero, 0, sizeof(zero));
	must_be(x.count, NLOCK_BARRIER_COUNT_MAX);
	x.count = 0;
	must(!memcmp(&x, &zero, sizeof(x)));
	must_be(nlock_barrier_wait(&zero), EINVAL);
	must_be(nlock_barrier_destroy(&zero), 0);
	for (int i = 0; i < 10; i++) {
		park(&s, &b);
		must_be(nlock_barrier_wait(&b), NLOCK_BARRIER_SERIAL);
		join(&s);
	}
	must_be(nlock_barrier_destroy(&b), 0);
}

static const struct test tests[] = {
	CORE_PLACE(two_threads_meet_again_and_again),
	CORE_PLACE(many_threads_meet_again_and_again),
	CORE_PLACE(twice_as_many_callers_make_two_rounds),
	CORE_PLACE(serial_thread_may_destroy_and_unmap_at_once),
	CORE_PLACE(first_thread_to_return_may_destroy_and_unmap_at_once),
	CORE_PLACE(those_who_come_early_sleep_and_keep_it_from_being_destroyed),
	EACH_PLACE(signals_let_nobody_through),
	ONCE(wait_is_no_cancellation_point),
	EACH_PLACE(child_of_a_fork_finds_a_private_barrier_at_rest),
	EACH_PLACE(barrier_of_one_makes_no_system_call),
	EACH_PLACE(bad_objects_counts_and_attributes_are_refused),
	EACH_PLACE(numa_objects_need_writable_memory_and_a_node_that_can_be),
	EACH_PLACE(init_reads_nothing_of_what_was_there),
	CORE_ONCE(static_barrier_is_zero_but_for_its_count),
	EACH_PLACE(processes_meet_again_and_again),
	EACH_PLACE(mappings_of_one_page_meet),
	EACH_PLACE(child_of_a_fork_meets_the_parent_at_a_shared_barrier),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "barrier", tests, COUNT(tests));
}
