/* SPDX-License-Identifier: MIT
 *
 * check_nodes.c - tier 3: what shows only where there are several NUMA nodes, and what a kernel without futex2 answers
 *
 * vm.sh runs it in its machines. On a machine of one node it says what it did not try.
 */
#include "harness.h"
#include "nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_PER_NODE 2
#define TURNS_A_ROUND    10

static struct nodes nodes;

static bool has_numa(void)
{
	return nlock_features() & NLOCK_HAS_NUMA;
}

/* ---------------------------------------------------------------- which nodes are taken */

/* An object of each kind: what does its init say of the attribute? All must say the same. */
static int every_init(nlock_attr_t attr)
{
	nlock_rwlock_t rw;
	nlock_mutex_t m;
	nlock_cond_t c;
	nlock_barrier_t b;
	nlock_sem_t s;
	int rc = nlock_mutex_init(&m, attr);

	must_be(nlock_rwlock_init(&rw, NLOCK_RW_PHASE_FAIR, attr), rc);
	must_be(nlock_cond_init(&c, attr), rc);
	must_be(nlock_barrier_init(&b, 2, attr), rc);
	must_be(nlock_sem_init(&s, 0, attr), rc);
	return rc;
}

TEST(nodes_that_exist_are_taken)
{
	if (!has_numa())
		cannot("no FUTEX2_NUMA");
	for (int i = 0; i < nodes.n; i++)
		must_be(every_init(NLOCK_PLACE_NODE(nodes.node[i])), 0);
}

TEST(nodes_that_do_not_exist_are_refused)
{
	if (!has_numa())
		cannot("no FUTEX2_NUMA");
	for (int node = nodes_possible(); node <= 1023; node++)
		must_be(every_init(NLOCK_PLACE_NODE(node)), EINVAL);
}

static bool writes(const char *directory, const char *file, const char *text)
{
	char path[128];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

#define CGROUPS  "/sys/fs/cgroup"
#define CONFINED CGROUPS "/nlock-check-numa"

/* Ends as this program with --confined: the library may have asked for the nodes long ago. */
static int confined_to(void *arg)
{
	char first[16], other[16];
	const struct nodes *known = arg;

	snprintf(first, sizeof(first), "%d", known->node[0]);
	snprintf(other, sizeof(other), "%d", known->node[known->n - 1]);
	writes(CGROUPS, "cgroup.subtree_control", "+cpuset");
	if ((mkdir(CONFINED, 0755) && errno != EEXIST) || !writes(CONFINED, "cpuset.mems", first) ||
	    !writes(CONFINED, "cgroup.procs", "0"))
		return EXIT_CANNOT;
	execl("/proc/self/exe", "check_nodes", "--confined", first, other, (char *)NULL);
	return 1;
}

/* The exit code: 0 if what is allowed is taken, and what is not is refused. */
static int confined(const char *allowed, const char *forbidden)
{
	const nlock_attr_t good = NLOCK_PLACE_NODE(atoi(allowed)), bad = NLOCK_PLACE_NODE(atoi(forbidden));
	nlock_mutex_t m;

	return nlock_mutex_init(&m, good) ? 2 : nlock_mutex_init(&m, bad) == EINVAL ? 0 : 3;
}

TEST(nodes_that_the_cpuset_does_not_allow_are_refused)
{
	int status;

	if (!has_numa() || nodes.n < 2)
		cannot("one NUMA node only, or no FUTEX2_NUMA");
	status = harness_child(confined_to, &nodes);
	rmdir(CONFINED);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
		cannot("no cpuset can be made here");
	must(!status, "wait status 0x%x: exit 2: the node that is allowed is refused; 3: the other is not", status);
}

/* ---------------------------------------------------------------- a lock that moves */

struct mover {
	pthread_t thread;
	sem_t turn;
	int cpu;
	int rc;
};

static nlock_mutex_t m;
static struct sleeper sleeper[SLEEPERS_MAX];
static struct mover mover[SLEEPERS_MAX];
static bool is_over; /* atomic: nobody begins another turn */

/* The node word is private; a test may look. */
static uint32_t home(void)
{
	return __atomic_load_n(&m.node, __ATOMIC_RELAXED);
}

static void start(int i, void *(*body)(void *), int cpu)
{
	mover[i].cpu = cpu;
	sleeper[i] = (struct sleeper){ 0, 0 };
	must_be(pthread_create(&mover[i].thread, NULL, body, &mover[i]), 0);
}

static void *visits(void *arg)
{
	struct mover *self = arg;

	self->rc = !nodes_run_on(self->cpu);
	__atomic_store_n(&sleeper[self - mover].tid, harness_tid(), __ATOMIC_RELEASE);
	self->rc |= nlock_mutex_lock(&m) || nlock_mutex_unlock(&m);
	return NULL;
}

static void park_visitor(int i, int cpu)
{
	pid_t tid;

	start(i, visits, cpu);
	while (!(tid = __atomic_load_n(&sleeper[i].tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	must(harness_sees_asleep(getpid(), tid, &m.word));
}

/* The first waiter brings it to its own node, and those that come later, from other nodes, leave it there. */
ROW_TEST(lock_moves_to_the_node_of_its_first_waiter)
{
	must_be(nlock_mutex_init(&m, row->attr), 0);
	for (int first = 0; first < nodes.n; first++) {
		must_be(nlock_mutex_lock(&m), 0);
		for (int i = 0; i < nodes.n; i++) {
			park_visitor(i, nodes.cpu[(first + i) % nodes.n]);
			must_be(home(), nodes.node[first]);
		}
		must_be(nlock_mutex_unlock(&m), 0);
		for (int i = 0; i < nodes.n; i++) {
			pthread_join(mover[i].thread, NULL);
			must_be(mover[i].rc, 0);
		}
	}
	must_be(nlock_mutex_destroy(&m), 0);
}

static int moves;  /* guarded by the lock; atomic for the main thread */
static int wanted; /* moves, or rounds */
static uint32_t last_home;

static void count_move(void)
{
	if (home() != last_home)
		__atomic_store_n(&moves, moves + 1, __ATOMIC_RELAXED);
	last_home = home();
}

/* The main thread's part: all come to an end, or there is a moment at which nobody can wake anybody. */
static void watch_over(const struct row *row, int n)
{
	const struct timespec moment = { 0, 2000000 };

	while (!nodes_all_done(sleeper, n) || !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		must(!nodes_left_asleep(sleeper, n, &m.word), "after %d moves; word 0x%x, node %u", moves, m.word,
		     m.node);
		nanosleep(&moment, NULL);
	}
	for (int i = 0; i < n; i++) {
		pthread_join(mover[i].thread, NULL);
		must_be(mover[i].rc, 0);
	}
	must_be(nlock_mutex_destroy(&m), 0);
	printf("COUNT: %s: moved %d times, nobody lost\n", row->name, moves);
}

static void begin(const struct row *row, int n, void *(*body)(void *))
{
	must_be(nlock_mutex_init(&m, row->attr), 0);
	moves = 0;
	for (int i = 0; i < n; i++) {
		must_be(sem_init(&mover[i].turn, 0, 0), 0);
		start(i, body, nodes.cpu[i % nodes.n]);
	}
}

/* Each, when it is its turn, becomes the first waiter of the one before, which releases as soon as the word says that somebody waits:
 * the waiter may still be on its way to sleep on the new node. Who has the lock gives the turn to one of another node. Done, for
 * the while, is who has released and waits for its turn: nobody but the one in turn is to be woken by the lock then. */
static void *is_followed(void *arg)
{
	struct mover *self = arg;
	struct sleeper *me = &sleeper[self - mover];
	uint64_t rnd = harness_random_start((uint32_t)(self - mover));
	uint32_t alone;

	self->rc = !nodes_run_on(self->cpu);
	__atomic_store_n(&me->tid, harness_tid(), __ATOMIC_RELEASE);
	while (!sem_wait(&self->turn) && !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		nodes_not_done(me);
		self->rc |= nlock_mutex_lock(&m);
		count_move();
		alone = __atomic_load_n(&m.word, __ATOMIC_RELAXED);
		if (moves >= wanted || self->rc) {
			__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
			for (int i = 0; i < nodes.n; i++)
				sem_post(&mover[i].turn);
		} else {
			sem_post(&mover[((self - mover) + 1 + harness_random(&rnd) % (uint32_t)(nodes.n - 1)) % nodes.n]
					  .turn);
			while (__atomic_load_n(&m.word, __ATOMIC_RELAXED) == alone)
				sched_yield();
		}
		self->rc |= nlock_mutex_unlock(&m);
		nodes_done(me);
	}
	return NULL;
}

ROW_TEST(nobody_is_lost_while_the_lock_moves)
{
	wanted = harness_rounds(500, 100000);
	begin(row, nodes.n, is_followed);
	for (int i = 0; i < nodes.n; i++)
		nodes_done(&sleeper[i]);
	sem_post(&mover[0].turn);
	watch_over(row, nodes.n);
}

static pthread_barrier_t at_rest;

/* It yields so that others run into the lock: where CPUs are emulated one by one, they would seldom meet. */
static int one_turn(uint64_t *rnd)
{
	int rc = nlock_mutex_lock(&m);

	count_move();
	if (harness_random(rnd) % 2)
		sched_yield();
	rc |= nlock_mutex_unlock(&m);
	for (uint32_t pause = harness_random(rnd) % 2048; pause; pause--)
		__asm__ volatile("" ::: "memory");
	return rc;
}

/* A convoy may last. So after some turns all let go of the lock, and the next first waiter moves it. */
static void *contends(void *arg)
{
	struct mover *self = arg;
	struct sleeper *me = &sleeper[self - mover];
	uint64_t rnd = harness_random_start((uint32_t)(self - mover));

	self->rc = !nodes_run_on(self->cpu);
	__atomic_store_n(&me->tid, harness_tid(), __ATOMIC_RELEASE);
	for (int round = 0; round < wanted; round++) {
		nodes_not_done(me);
		for (int turn = 0; turn < TURNS_A_ROUND; turn++)
			self->rc |= one_turn(&rnd);
		nodes_done(me);
		pthread_barrier_wait(&at_rest);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

ROW_TEST(nobody_is_lost_while_all_nodes_contend)
{
	const int n = nodes.n * THREADS_PER_NODE;

	must(n <= SLEEPERS_MAX);
	wanted = harness_rounds(50, 1000);
	must_be(pthread_barrier_init(&at_rest, NULL, (unsigned int)n), 0);
	begin(row, n, contends);
	watch_over(row, n);
}

/* ---------------------------------------------------------------- a kernel without them */

TEST(kernel_without_futex2_has_no_placement)
{
	static const nlock_attr_t places[] = { NLOCK_PLACE_NODE(0), NLOCK_PLACE_NODE(1), NLOCK_PLACE_FIRST,
					       NLOCK_PLACE_MPOL };

	if (nlock_features() & NLOCK_HAS_WAIT)
		cannot("this kernel has futex2");
	for (int i = 0; i < COUNT(places); i++) {
		must_be(every_init(places[i]), ENOTSUP);
		must_be(every_init(places[i] | NLOCK_SHARED), ENOTSUP);
	}
	must_be(every_init(NLOCK_PLACE_HASH), 0);
}

TEST(kernel_without_a_private_hash_says_so)
{
	if (nlock_features() & NLOCK_HAS_HASH)
		cannot("this kernel has a private hash");
	must(nlock_hash_slots() < 0);
	must_be(nlock_hash_set_slots(16), ENOTSUP);
}

/* The last ones need several nodes. */
#define MOVING 3
static const struct test tests[] = {
	ONCE(nodes_that_exist_are_taken),
	ONCE(nodes_that_do_not_exist_are_refused),
	ONCE(nodes_that_the_cpuset_does_not_allow_are_refused),
	ONCE(kernel_without_futex2_has_no_placement),
	ONCE(kernel_without_a_private_hash_says_so),
	EACH_FIRST(lock_moves_to_the_node_of_its_first_waiter),
	EACH_FIRST(nobody_is_lost_while_the_lock_moves),
	EACH_FIRST(nobody_is_lost_while_all_nodes_contend),
};

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--confined"))
		return confined(argv[2], argv[3]);
	nodes_find(&nodes);
	harness_rows();
	if (nodes.n < 2)
		printf("SKIP: a lock that moves: one NUMA node only\n");
	return harness_main(argc, argv, "nodes", tests, COUNT(tests) - (nodes.n < 2 ? MOVING : 0));
}
