/* SPDX-License-Identifier: MIT
 *
 * check_cohort.c - tier 3: whom NLOCK_COHORT prefers where there are several NUMA nodes, and how often it lets others be passed
 *
 * A crew of threads, or of processes, each kept on a node, asks for one lock: a mutex, or a rwlock for writing. Its owner does not
 * release before it has seen all the others asleep on it. So every release has the choice among all of them, none opens the
 * lock because nobody is asleep yet, and who asks next asks after all who sleep. What is counted then does not depend on how fast
 * anybody is.
 *
 * vm.sh runs it in its machines; on one node there is nothing to prefer.
 */
#include "harness.h"
#include "nodes.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES_TRIED 8                     /* of a machine that has more */
#define CREW_MAX    (2 * NODES_TRIED + 2) /* two on each node, and those whose place nobody chooses */

/* What is asked of, and how. */
struct lock_kind {
	const char *name;
	bool is_rwlock;
	int prefers;
	nlock_attr_t sharing;
};

/* Two mutexes first. The last one's writers may come past those who wait to be next, so that its share is a matter of speed. */
#define MUTEXES 2
#define STEADY  4
static const struct lock_kind kinds[] = {
	{ "mutex of threads", false, 0, NLOCK_PRIVATE },
	{ "mutex of processes", false, 0, NLOCK_SHARED },
	{ "writing threads", true, NLOCK_RW_PHASE_FAIR, NLOCK_PRIVATE },
	{ "writing processes", true, NLOCK_RW_PHASE_FAIR, NLOCK_SHARED },
	{ "writing threads, readers preferred", true, NLOCK_RW_PREFER_READERS, NLOCK_PRIVATE },
};

struct member {
	pthread_t thread;
	pid_t pid, tid; /* tid is atomic: 0 before it runs there */
	sem_t has_lost; /* somebody else has the lock by now */
	int at, rc;     /* on which of the nodes; what its calls said, and what it can know */
	int last;       /* its last turn; those before the count have numbers below 1 */
	int passed;     /* how often it was, in the call that it makes */
};

/* In memory that processes share. What is not a member's own is guarded by the lock. */
static struct stage {
	union {
		nlock_mutex_t m;
		nlock_rwlock_t rw;
	} lock;
	struct member crew[CREW_MAX];
	int n; /* of them */
	bool is_over;
	int turns, wanted;
	int owner;           /* who had the last turn; -1: nobody yet */
	int changes, stayed; /* how often it was another's turn, and on the same node */
	int most;            /* how often anybody has been passed */
	int came, order[CREW_MAX];
} * st;

static const struct lock_kind *kind;
static struct nodes nodes;
static bool lets_others; /* who has released comes back only when somebody else has the lock */

/* ---------------------------------------------------------------- the lock */

static int init(nlock_attr_t attr)
{
	attr |= kind->sharing;
	return kind->is_rwlock ? nlock_rwlock_init(&st->lock.rw, kind->prefers, attr)
			       : nlock_mutex_init(&st->lock.m, attr);
}

static int lock(void)
{
	return kind->is_rwlock ? nlock_rwlock_wrlock(&st->lock.rw) : nlock_mutex_lock(&st->lock.m);
}

static int unlock(void)
{
	return kind->is_rwlock ? nlock_rwlock_wrunlock(&st->lock.rw) : nlock_mutex_unlock(&st->lock.m);
}

static int destroy(void)
{
	return kind->is_rwlock ? nlock_rwlock_destroy(&st->lock.rw) : nlock_mutex_destroy(&st->lock.m);
}

/* The next writer has a word of its own. */
static bool is_asleep(const struct member *a)
{
	const pid_t tid = __atomic_load_n(&a->tid, __ATOMIC_ACQUIRE);

	if (!tid)
		return false;
	if (!kind->is_rwlock)
		return harness_is_asleep(a->pid, tid, &st->lock.m.word);
	return harness_is_asleep(a->pid, tid, &st->lock.rw.wgate) ||
	       harness_is_asleep(a->pid, tid, &st->lock.rw.seat.word);
}

/* As long as the test may take. */
static void wait_until_asleep(const struct member *a)
{
	const struct timespec moment = { 0, 20000 };

	while (!is_asleep(a))
		nanosleep(&moment, NULL);
}

/* ---------------------------------------------------------------- the crew */

static void (*deed)(struct member *self);

static void *does(void *arg)
{
	struct member *self = arg;

	self->rc = !nodes_stay_on(&nodes, self->at);
	__atomic_store_n(&self->tid, harness_tid(), __ATOMIC_RELEASE);
	deed(self);
	return NULL;
}

static void meet(const struct lock_kind *k, nlock_attr_t attr, void (*d)(struct member *))
{
	kind = k;
	deed = d;
	if (!st)
		st = mmap(NULL, sizeof(*st), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(st != MAP_FAILED);
	memset(st, 0, sizeof(*st));
	st->owner = -1;
	must_be(init(attr), 0);
	must_be(lock(), 0);
}

/* One more, who asks and falls asleep. */
static void joins(int at)
{
	struct member *a = &st->crew[st->n++];
	pid_t pid = getpid();

	a->at = at;
	must_be(sem_init(&a->has_lost, 1, 0), 0);
	if (kind->sharing == NLOCK_SHARED) {
		pid = fork();
		must(pid >= 0);
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			does(a);
			_exit(0);
		}
	}
	a->pid = pid;
	if (kind->sharing == NLOCK_PRIVATE)
		must_be(pthread_create(&a->thread, NULL, does, a), 0);
	wait_until_asleep(a);
}

static void part(void)
{
	for (int i = 0; i < st->n; i++) {
		struct member *a = &st->crew[i];
		int status = 0;

		if (kind->sharing == NLOCK_SHARED)
			must_be(waitpid(a->pid, &status, 0), a->pid);
		else
			must_be(pthread_join(a->thread, NULL), 0);
		must(!status && !a->rc, "%s: member %d: status %d, calls %d", kind->name, i, status, a->rc);
	}
	must_be(destroy(), 0);
}

/* ---------------------------------------------------------------- they contend */

/* Who has had no turn since the last one of `self` was asleep when that one ended. Self has asked after it, and passes them now. */
static void count_turn(struct member *self)
{
	const int i = (int)(self - st->crew);

	for (struct member *a = st->crew; a < st->crew + st->n; a++) {
		if (a->last < self->last && ++a->passed > st->most)
			st->most = a->passed;
	}
	if (st->owner >= 0 && st->owner != i) {
		st->changes++;
		st->stayed += self->at == st->crew[st->owner].at;
	}
	self->passed = 0;
	self->last = ++st->turns;
	st->owner = i;
}

/* True: there is another. */
static bool takes_a_turn(struct member *self)
{
	self->rc |= lock();
	if (lets_others && st->owner >= 0)
		self->rc |= sem_post(&st->crew[st->owner].has_lost);
	if (!st->is_over)
		count_turn(self);
	st->is_over |= st->turns == st->wanted || self->rc;
	if (st->is_over) {
		st->owner = -1;
		self->rc |= unlock();
		return false;
	}
	for (int i = 0; i < st->n; i++) {
		if (&st->crew[i] != self)
			wait_until_asleep(&st->crew[i]);
	}
	self->rc |= unlock();
	return true;
}

static void contends(struct member *self)
{
	while (takes_a_turn(self)) {
		while (lets_others && sem_wait(&self->has_lost) && errno == EINTR)
			;
	}
}

/* `per_node` on each of the two nodes that are farthest apart by number; they come in turn from one and from the other. */
static void contend(const struct lock_kind *k, nlock_attr_t attr, int per_node, int turns)
{
	meet(k, attr, contends);
	st->wanted = turns;
	for (int i = 0; i < 2 * per_node; i++)
		joins(i % 2 ? nodes.n - 1 : 0);
	for (int i = 0; i < st->n; i++)
		st->crew[i].last = i - st->n;
	must_be(unlock(), 0);
	part();
}

static int share(void)
{
	return st->changes ? 100 * st->stayed / st->changes : 0;
}

static void says(const char *what, int bound)
{
	printf("COUNT: %s, %s, 2 nodes with %d: %d turns, %d changes, %d %% stay on the node; passed at most %d times "
	       "of %d\n",
	       kind->name, what, st->n / 2, st->turns, st->changes, share(), st->most, bound);
}

/* Those who contend for a mutex are two on a node: of them one is always asleep when the other releases. The next writer is chosen
 * already when the one before it takes the lock: so there have to be three. */
static int enough(const struct lock_kind *k)
{
	return k->is_rwlock ? 3 : 2;
}

TEST(lock_stays_on_the_node_within_the_bound_of_those_who_wait)
{
	const int turns = harness_rounds(300, 5000);

	lets_others = true;
	for (int k = 0; k < STEADY; k++) {
		contend(&kinds[k], NLOCK_BOUNDED_N(20) | NLOCK_COHORT, enough(&kinds[k]), turns);
		says("COHORT", 20);
		must(share() > 80, "%s: %d %%", kind->name, share());
		must(st->most <= 20, "%s: somebody was passed %d times", kind->name, st->most);
		must(st->most > 10, "%s: nobody was passed more than %d times: is it counted?", kind->name, st->most);
	}
}

/* What the same count says where nobody is preferred. */
TEST(lock_that_prefers_nobody_does_not_stay)
{
	const int turns = harness_rounds(100, 1000);

	lets_others = true;
	for (int k = 0; k < STEADY; k++) {
		contend(&kinds[k], NLOCK_FIFO, enough(&kinds[k]), turns);
		says("FIFO", 0);
		must(share() < 50, "%s: %d %%", kind->name, share());
		must_be(st->most, 0);
	}
}

/* Who has released comes back at once, as a newcomer. Of a rwlock newcomers count for the next writer alone, and not for those
 * who are counted here. */
TEST(newcomers_are_within_the_bound_too)
{
	static const int bounds[] = { 1, 7, 100 };
	const int turns = harness_rounds(300, 5000);

	lets_others = false;
	for (int k = 0; k < MUTEXES; k++) {
		for (int b = 0; b < COUNT(bounds); b++) {
			contend(&kinds[k], NLOCK_BOUNDED_N(bounds[b]) | NLOCK_COHORT, 2, turns);
			says("COHORT, newcomers", bounds[b]);
			must(st->most <= bounds[b], "%s: passed %d times, bound %d", kind->name, st->most, bounds[b]);
			must(st->most > 0, "%s: is it counted?", kind->name);
		}
	}
}

/* ---------------------------------------------------------------- they come once */

static void visits(struct member *self)
{
	self->rc |= lock();
	st->order[st->came++] = (int)(self - st->crew);
	self->rc |= unlock();
}

static int distance(int from, int to)
{
	return nodes_distance(nodes.node[st->crew[from].at], nodes.node[st->crew[to].at]);
}

/* Of the members that have not come by turn t, the nearest to the one that came before; of equals the first to fall asleep. */
static int nearest(int t)
{
	const int before = st->order[t - 1];
	bool has_come[CREW_MAX] = { false };
	int best = -1;

	for (int i = 0; i < t; i++)
		has_come[st->order[i]] = true;
	for (int i = 0; i < st->n; i++) {
		if (!has_come[i] && (best < 0 || distance(before, i) < distance(before, best)))
			best = i;
	}
	return best;
}

static int to_near[NODES_TRIED]; /* how often it was the own node, the nearest other, and so on */

/* The how-nearest node of all is it? */
static int step(int from, int to, int n)
{
	int nearer = 0;

	for (int i = 0; i < n; i++)
		nearer += nodes_distance(nodes.node[from], nodes.node[i]) <
			  nodes_distance(nodes.node[from], nodes.node[to]);
	return nearer;
}

/* The first to come is the one on node `first`, whom nobody chooses; of writers so is the second. Two on each node come after it in
 * random order, and sleep when the lock is released. */
static void they_come(const struct lock_kind *k, int n, int first, uint64_t *rnd)
{
	const int unchosen = k->is_rwlock ? 2 : 1;
	int at[2 * NODES_TRIED];

	meet(k, NLOCK_BARGING | NLOCK_COHORT, visits);
	joins(first);
	if (k->is_rwlock)
		joins((int)(harness_random(rnd) % (uint32_t)n));
	for (int i = 0; i < 2 * n; i++) {
		int other = (int)(harness_random(rnd) % (uint32_t)(i + 1));

		at[i] = at[other];
		at[other] = i % n;
	}
	for (int i = 0; i < 2 * n; i++)
		joins(at[i]);
	must_be(unlock(), 0);
	part();
	for (int t = 0; t < unchosen; t++)
		must_be(st->order[t], t);
	for (int t = unchosen; t < st->n; t++) {
		must(st->order[t] == nearest(t), "%s: turn %d is that of member %d on node %d, not of %d", kind->name,
		     t, st->order[t], nodes.node[st->crew[st->order[t]].at], nearest(t));
		to_near[step(st->crew[st->order[t - 1]].at, st->crew[st->order[t]].at, n)]++;
	}
}

TEST(nearest_who_waits_is_next_and_of_equals_the_oldest)
{
	const int n = nodes.n < NODES_TRIED ? nodes.n : NODES_TRIED, rounds = harness_rounds(3, 50);
	uint64_t rnd = harness_random_start(0);

	if (nodes_distance(nodes.node[0], nodes.node[1]) < 0)
		cannot("the kernel states no distances");
	for (int k = 0; k < COUNT(kinds); k++) {
		memset(to_near, 0, sizeof(to_near));
		for (int i = 0; i < n * rounds; i++)
			they_come(&kinds[k], n, i % n, &rnd);
		printf("COUNT: %s, %d nodes: always to the nearest that waited: own node %d, then by distance",
		       kind->name, n, to_near[0]);
		for (int i = 1; i < n; i++)
			printf(" %d", to_near[i]);
		printf("\n");
		must(to_near[0] > 0 && to_near[1] > 0);
	}
}

static const struct test tests[] = {
	CORE_ONCE(nearest_who_waits_is_next_and_of_equals_the_oldest),
	CORE_ONCE(lock_stays_on_the_node_within_the_bound_of_those_who_wait),
	CORE_ONCE(lock_that_prefers_nobody_does_not_stay),
	CORE_ONCE(newcomers_are_within_the_bound_too),
};

int main(int argc, char **argv)
{
	nodes_find(&nodes);
	if (nodes.n < 2) {
		printf("SKIP: one node\n");
		return EXIT_CANNOT;
	}
	return harness_main(argc, argv, "cohort", tests, COUNT(tests));
}
