/* SPDX-License-Identifier: MIT
 *
 * check_numa.c - tier 3: memory on a node, which nodes are taken, and a node that the kernel will not have
 *
 * Runs on one node too; then what there is to say about several is said about one. The worst moment at which a slot can be given
 * back is in check_end_of_life.c.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_NUMA
#include <numa.h>
#endif

#define NODES 1024
#define TYPES 6

static const size_t size_of[TYPES] = {
	[NLOCK_TYPE_MUTEX] = sizeof(nlock_mutex_t),     [NLOCK_TYPE_COND] = sizeof(nlock_cond_t),
	[NLOCK_TYPE_RWLOCK] = sizeof(nlock_rwlock_t),   [NLOCK_TYPE_RWLOCK_SPREAD] = sizeof(nlock_rwlock_spread_t),
	[NLOCK_TYPE_BARRIER] = sizeof(nlock_barrier_t), [NLOCK_TYPE_SEM] = sizeof(nlock_sem_t),
};

/* get_mempolicy(2) */
#define NODE_OF_ADDRESS 3
#define MEMS_ALLOWED    4

static bool has_nodes(void)
{
	return !syscall(SYS_get_mempolicy, NULL, NULL, 0, NULL, 0);
}

static int node_of(void *p)
{
	int node = -1;

	return syscall(SYS_get_mempolicy, &node, NULL, 0, p, NODE_OF_ADDRESS) ? -1 : node;
}

#ifdef HAVE_NUMA
#define HAS_LIBNUMA true

/* As libnuma has it. */
static bool is_allowed(int node)
{
	struct bitmask *mask = numa_get_mems_allowed();
	bool is = node <= numa_max_possible_node() && numa_bitmask_isbitset(mask, (unsigned int)node);

	numa_bitmask_free(mask);
	return is;
}

#else
#define HAS_LIBNUMA false

/* As the library itself has it: no second opinion. */
static bool is_allowed(int node)
{
	unsigned long mask[NODES / (8 * sizeof(long))] = { 0 };
	const int bits = 8 * sizeof(long);

	return !syscall(SYS_get_mempolicy, NULL, mask, NODES + 1, NULL, MEMS_ALLOWED) &&
	       mask[node / bits] >> node % bits & 1;
}
#endif

static int a_node(void)
{
	for (int n = 0; n < NODES; n++) {
		if (is_allowed(n))
			return n;
	}
	return 0;
}

#define needs_nodes() \
	do { \
		if (!has_nodes()) \
			cannot("the kernel has no NUMA calls, or forbids them"); \
	} while (0)

#define needs_libnuma() \
	do { \
		needs_nodes(); \
		if (!HAS_LIBNUMA) \
			cannot("built without libnuma, which is to be compared with"); \
	} while (0)

/* ---------------------------------------------------------------- memory */

TEST(memory_is_zero_in_lines_of_its_own_and_on_its_node)
{
	static const char zero[4096];

	needs_nodes();
	for (int node = 0; node < NODES; node++) {
		for (int type = 0; is_allowed(node) && type < TYPES; type++) {
			char *p, *q;

			must_be(nlock_alloc_onnode((enum nlock_type)type, node, (void **)&p), 0);
			must_be(nlock_alloc_onnode((enum nlock_type)type, node, (void **)&q), 0);
			must_be((uintptr_t)p % 64 + (uintptr_t)q % 64, 0);
			must((size_t)labs(q - p) >= (size_of[type] + 63) / 64 * 64);
			must(!memcmp(p, zero, size_of[type]));
			must_be(node_of(p), node);
			memset(p, 0x5a, size_of[type]);
			must_be(nlock_free_onnode(p), 0);
			must_be(nlock_alloc_onnode((enum nlock_type)type, node, (void **)&p), 0);
			must(!memcmp(p, zero, size_of[type]), "a slot that was used before");
		}
	}
}

/* So many of the smallest fit into one chunk at most: no more can be free before an older one that is. */
#define PER_CHUNK 1024
#define MANY      (4 * PER_CHUNK)

TEST(what_was_free_is_given_out_again_for_the_same_type_and_node_only)
{
	static void *had[TYPES][MANY];
	void *p;

	needs_nodes();
	for (int t = 0; t < TYPES; t++) {
		for (int i = 0; i < MANY; i++)
			must_be(nlock_alloc_onnode((enum nlock_type)t, a_node(), &had[t][i]), 0);
	}
	for (int t = 0; t < TYPES; t++) {
		must_be(nlock_free_onnode(had[t][MANY / 2]), 0);
		for (int other = 0; other < TYPES; other++) {
			bool has_it = false;

			for (int i = 0; i < PER_CHUNK; i++) {
				must_be(nlock_alloc_onnode((enum nlock_type)other, a_node(), &p), 0);
				has_it |= p == had[t][MANY / 2];
			}
			must(has_it == (other == t), "type %d in place of %d", other, t);
		}
	}
}

TEST(what_cannot_be_is_refused)
{
	static const int bad_node[] = { -1, INT_MIN, NODES, NODES + 1, INT_MAX }, bad_type[] = { -1, TYPES, INT_MAX };
	nlock_mutex_t *m = NULL, on_stack;
	void *p = &on_stack;

	errno = 77;
	for (int i = 0; i < COUNT(bad_node); i++)
		must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, bad_node[i], &p), EINVAL);
	for (int i = 0; i < COUNT(bad_type); i++)
		must_be(nlock_alloc_onnode((enum nlock_type)bad_type[i], a_node(), &p), EINVAL);
	must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, a_node(), NULL), EINVAL);
	must_be(nlock_free_onnode(NULL), 0);
	must_be(nlock_free_onnode(&on_stack), EINVAL);
	if (!has_nodes()) {
		must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, 0, &p), ENOTSUP);
	} else {
		must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, a_node(), (void **)&m), 0);
		for (int off = -200; off < 65536; off++)
			must(off % 64 == 0 || nlock_free_onnode((char *)m + off) == EINVAL, "offset %d", off);
		must_be(nlock_free_onnode(m + 64 / sizeof(*m)), EINVAL);
		must_be(nlock_free_onnode(m), 0);
		must_be(nlock_free_onnode(m), EINVAL);
	}
	must(p == &on_stack && errno == 77);
}

TEST(memory_is_had_for_exactly_the_nodes_that_libnuma_allows)
{
	void *p;

	needs_libnuma();
	for (int node = 0; node < NODES; node++)
		must(nlock_alloc_onnode(NLOCK_TYPE_SEM, node, &p) == (is_allowed(node) ? 0 : EINVAL), "node %d", node);
}

TEST(memory_that_cannot_be_bound_is_not_given_out)
{
	static const long call = SYS_mbind;
	const struct filter f = { .answer = ANSWER_ERRNO, .error = EPERM, .calls = &call, .n_calls = 1 };
	void *p;

	needs_nodes();
	if (harness_filter(&f))
		cannot("no system-call filters");
	must_be(nlock_alloc_onnode(NLOCK_TYPE_COND, a_node(), &p), ENOTSUP);
}

/* ---------------------------------------------------------------- threads, and fork */

#define WORKERS 4
#define HELD    40

static bool must_stop;

/* A slot that is given to two shows as a mutex that is locked already. 0: none was. */
static void *comes_and_goes(void *arg)
{
	nlock_mutex_t *m[HELD] = { NULL };
	uint64_t rnd = harness_random_start((uint32_t)(intptr_t)arg);

	for (int round = 0; round < harness_rounds(20000, 400000); round++) {
		nlock_mutex_t **at = &m[harness_random(&rnd) % HELD];

		if (__atomic_load_n(&must_stop, __ATOMIC_RELAXED))
			break;
		if (*at && (nlock_mutex_unlock(*at) || nlock_free_onnode(*at)))
			return "free";
		if (*at) {
			*at = NULL;
			continue;
		}
		if (nlock_alloc_onnode(NLOCK_TYPE_MUTEX, a_node(), (void **)at))
			return "alloc";
		if (nlock_mutex_trylock(*at))
			return "given to two";
	}
	return NULL;
}

static void set_to_work(pthread_t *t)
{
	for (int i = 0; i < WORKERS; i++)
		must_be(pthread_create(&t[i], NULL, comes_and_goes, (void *)(intptr_t)i), 0);
}

static void come_home(pthread_t *t)
{
	void *wrong;

	for (int i = 0; i < WORKERS; i++) {
		must_be(pthread_join(t[i], &wrong), 0);
		must(!wrong, "%s", (char *)wrong);
	}
}

TEST(no_slot_is_given_to_two_threads)
{
	pthread_t t[WORKERS];

	needs_nodes();
	set_to_work(t);
	come_home(t);
}

static int allocates(void *arg)
{
	void *p[3];

	(void)arg;
	for (int i = 0; i < 3; i++) {
		if (nlock_alloc_onnode(NLOCK_TYPE_MUTEX, a_node(), &p[i]))
			return 1;
	}
	for (int i = 0; i < 3; i++) {
		if (nlock_mutex_trylock(p[i]) || nlock_free_onnode(p[i]))
			return 2;
	}
	return 0;
}

#define FULL 16 /* chunks */

/* From now on whoever allocates looks through chunks that are full, with the lock held: so it is held most of the time, and at nearly
 * every fork. Only the oldest has room. A slot that does not follow the one before is the first of the next chunk. */
static void make_the_search_long(void)
{
	static char *had[FULL * PER_CHUNK];
	int n = 0, a_chunk = 0;

	do {
		must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, a_node(), (void **)&had[n]), 0);
		if (!a_chunk && n && had[n] != had[n - 1] + 64)
			a_chunk = n;
		n++;
	} while (!a_chunk || n < FULL * a_chunk);
	for (int i = 0; i < WORKERS * HELD + 3; i++)
		must_be(nlock_free_onnode(had[i]), 0);
}

TEST(child_of_a_fork_may_allocate_whatever_other_threads_were_doing)
{
	pthread_t t[WORKERS];

	needs_nodes();
	make_the_search_long();
	set_to_work(t);
	for (int i = 0; i < harness_rounds(50, 2000); i++)
		must_be(harness_child(allocates, NULL), 0);
	__atomic_store_n(&must_stop, true, __ATOMIC_RELAXED);
	come_home(t);
}

/* ---------------------------------------------------------------- placement */

TEST(lock_is_placed_on_exactly_the_nodes_that_libnuma_allows)
{
	nlock_mutex_t m;

	needs_libnuma();
	if (!(nlock_features() & NLOCK_HAS_NUMA))
		cannot("no FUTEX2_NUMA");
	for (int node = 0; node < NODES; node++)
		must(nlock_mutex_init(&m, NLOCK_PLACE_NODE(node)) == (is_allowed(node) ? 0 : EINVAL), "node %d", node);
}

TEST(where_the_allowed_nodes_are_a_secret_those_that_exist_are_taken)
{
	static const long call = SYS_get_mempolicy;
	const struct filter f = { .answer = ANSWER_ERRNO, .error = EPERM, .calls = &call, .n_calls = 1 };
	int node = a_node();
	nlock_mutex_t m;

	if (!(nlock_features() & NLOCK_HAS_NUMA))
		cannot("no FUTEX2_NUMA");
	if (harness_filter(&f))
		cannot("no system-call filters");
	must_be(nlock_mutex_init(&m, NLOCK_PLACE_NODE(node)), 0);
	must_be(nlock_mutex_init(&m, NLOCK_PLACE_NODE(1022)), EINVAL);
}

/* ---------------------------------------------------------------- a node that the kernel will not have
 *
 * As if the memory came from a machine with more nodes: every call says EINVAL. A thread that waits must get on all the same.
 */
#define NO_SUCH_NODE 1023

static struct everything {
	nlock_mutex_t m;
	nlock_cond_t c;
	nlock_rwlock_t rw;
	nlock_barrier_t b;
	nlock_sem_t s;
	bool is_ready;
} all;

static bool are_made(nlock_attr_t place)
{
	if (nlock_mutex_init(&all.m, place) || nlock_cond_init(&all.c, place) ||
	    nlock_rwlock_init(&all.rw, NLOCK_RW_PHASE_FAIR, place) || nlock_barrier_init(&all.b, 2, place) ||
	    nlock_sem_init(&all.s, 0, place))
		return false;
	all.m.node = all.c.node = all.rw.rnode = all.rw.wnode = all.rw.seat.node = all.b.node = all.s.node =
		NO_SUCH_NODE;
	return true;
}

/* Each wait is for what the main thread does next. */
static void *waits_for_all(void *arg)
{
	int rc = nlock_barrier_wait(&all.b) > 0;

	(void)arg;
	rc |= nlock_mutex_lock(&all.m);
	while (!all.is_ready)
		rc |= nlock_cond_wait(&all.c, &all.m);
	rc |= nlock_mutex_unlock(&all.m);
	rc |= nlock_barrier_wait(&all.b) > 0;
	rc |= nlock_rwlock_wrlock(&all.rw) | nlock_rwlock_wrunlock(&all.rw);
	rc |= nlock_barrier_wait(&all.b) > 0;
	rc |= nlock_barrier_wait(&all.b) > 0;
	rc |= nlock_rwlock_rdlock(&all.rw) | nlock_rwlock_rdunlock(&all.rw);
	rc |= nlock_sem_wait(&all.s);
	return (void *)(intptr_t)rc;
}

/* An object as it stands while nobody waits. The first that is counted in it changes it. */
struct image {
	const uint32_t *object;
	size_t words;
	uint32_t was[64];
};

static struct image image_of(const void *object, size_t size)
{
	struct image i = { .object = object, .words = size / sizeof(uint32_t) };

	memcpy(i.was, object, size);
	return i;
}

static bool has_changed(const struct image *i)
{
	for (size_t w = 0; w < i->words; w++) {
		if (__atomic_load_n(&i->object[w], __ATOMIC_RELAXED) != i->was[w])
			return true;
	}
	return false;
}

/* The other is counted. It is not asleep in a futex call, since it is refused. */
static void see_it_wait(const struct image *i)
{
	const struct timespec moment = { 0, 100000 };

	while (!has_changed(i))
		nanosleep(&moment, NULL); /* between two looks; the harness ends what takes too long */
}

#define IMAGE(o) image_of(&(o), sizeof(o))

static void hold_for_writing_while_the_other_comes(void)
{
	struct image held;

	must_be(nlock_rwlock_wrlock(&all.rw), 0);
	held = IMAGE(all.rw);
	must(nlock_barrier_wait(&all.b) <= 0);
	see_it_wait(&held);
	must_be(nlock_rwlock_wrunlock(&all.rw), 0);
}

static void do_all_that_is_waited_for(const struct image *quiet_cond, const struct image *quiet_sem)
{
	struct image held;

	must_be(nlock_mutex_lock(&all.m), 0);
	held = IMAGE(all.m);
	must(nlock_barrier_wait(&all.b) <= 0);
	see_it_wait(&held);
	must_be(nlock_mutex_unlock(&all.m), 0);
	see_it_wait(quiet_cond);
	must_be(nlock_mutex_lock(&all.m), 0);
	all.is_ready = true;
	must_be(nlock_cond_signal(&all.c), 0);
	must_be(nlock_mutex_unlock(&all.m), 0);
	hold_for_writing_while_the_other_comes();
	must(nlock_barrier_wait(&all.b) <= 0);
	hold_for_writing_while_the_other_comes();
	see_it_wait(quiet_sem);
	must_be(nlock_sem_post(&all.s), 0);
}

ROW_TEST(who_waits_gets_on_where_the_kernel_refuses_the_node)
{
	for (int round = 0; round < harness_rounds(20, 500); round++) {
		struct image cond, sem;
		pthread_t t;
		void *bad;

		memset(&all, 0, sizeof(all));
		must(are_made(row->place | (row->is_shared ? NLOCK_SHARED : NLOCK_PRIVATE)));
		cond = IMAGE(all.c);
		sem = IMAGE(all.s);
		must_be(pthread_create(&t, NULL, waits_for_all, NULL), 0);
		do_all_that_is_waited_for(&cond, &sem);
		must_be(pthread_join(t, &bad), 0);
		must(!bad);
	}
}

static const struct test tests[] = {
	CORE_ONCE(memory_is_zero_in_lines_of_its_own_and_on_its_node),
	ONCE(what_was_free_is_given_out_again_for_the_same_type_and_node_only),
	CORE_ONCE(what_cannot_be_is_refused),
	ONCE(memory_is_had_for_exactly_the_nodes_that_libnuma_allows),
	ONCE(memory_that_cannot_be_bound_is_not_given_out),
	ONCE(no_slot_is_given_to_two_threads),
	ONCE(child_of_a_fork_may_allocate_whatever_other_threads_were_doing),
	ONCE(lock_is_placed_on_exactly_the_nodes_that_libnuma_allows),
	ONCE(where_the_allowed_nodes_are_a_secret_those_that_exist_are_taken),
	EACH_NUMA(who_waits_gets_on_where_the_kernel_refuses_the_node),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "numa", tests, COUNT(tests));
}
