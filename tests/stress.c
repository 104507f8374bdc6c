/* SPDX-License-Identifier: MIT
 *
 * stress.c - the mutex under load, with noise, signals and a watchdog
 *
 *	stress [--seconds S] [--seed N] [--rows PART-OF-NAME] [--threads T] [--objects N]
 *		T threads, N locks, a random mix of all calls, for S seconds shared among the rows
 *	stress --bound [--count N] ...
 *		how often is the thread at the head overtaken? N contended acquisitions for each bound
 *	stress --victim [--seconds S] ...
 *		a thread that never rests against one that asks now and then
 *	stress --blocked
 *		the CPU time of a thread that is blocked for a second
 *
 * Each row runs in a process of its own. The watchdog only reports: if nobody has acquired anything for
 * WATCHDOG_SECONDS, the row has failed. Exit status: 0, or 1 if anything was violated, or 77 if this machine cannot do
 * what was asked.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHDOG_SECONDS 20
#define THREADS_MAX      64
#define OBJECTS_MAX      64

static double seconds = 2;
static uint64_t seed, count = 10000000;
static const char *only_row = "";
static int n_threads = 8, n_objects = 4;
static enum { MIX, BOUND, VICTIM, BLOCKED } mode = MIX;

/* ---------------------------------------------------------------- what a row works on */

struct object {
	nlock_mutex_t m;
	uint64_t left, right; /* guarded by m: equal outside a section */
} __attribute__((aligned(64)));

struct worker {
	pthread_t thread;
	uint64_t rnd;
	uint64_t acquired, timeouts, busy, bumps;
	uint64_t longest; /* VICTIM: most acquisitions of the hog during one wait */
	int number;
	bool is_done;
} __attribute__((aligned(64)));

static struct object objects[OBJECTS_MAX];
static struct worker workers[THREADS_MAX];
static bool is_over;
static const char *violation; /* the first */
static const struct row *the_row;
static uint64_t share; /* BOUND: acquisitions of one worker */

static void violated(const char *what)
{
	__atomic_store_n(&violation, what, __ATOMIC_RELAXED);
}

static bool goes_on(void)
{
	return !__atomic_load_n(&is_over, __ATOMIC_RELAXED) && !__atomic_load_n(&violation, __ATOMIC_RELAXED);
}

/* Mostly nothing, sometimes a few hundred cycles, seldom the whole time slice. */
static void noise(uint64_t *rnd)
{
	uint32_t r = harness_random(rnd);

	if (r % 64 == 0)
		sched_yield();
	else if (r % 8 == 0)
		for (uint32_t i = r >> 8 & 511; i; i--)
			__asm__ volatile("" ::: "memory");
}

static void section(struct object *o, uint64_t *rnd)
{
	if (o->left != o->right)
		violated("two threads in one section");
	o->left++;
	noise(rnd);
	o->right++;
}

/* ---------------------------------------------------------------- the mix */

static int acquire(struct worker *w, struct object *o)
{
	clockid_t clock = harness_random(&w->rnd) & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
	struct timespec until;

	switch (harness_random(&w->rnd) % 10) {
	case 0:
		return nlock_mutex_trylock(&o->m);
	case 1:
	case 2:
	case 3:
		until = harness_in(clock, harness_random(&w->rnd) % 100000);
		return nlock_mutex_lock_until(&o->m, clock, &until);
	default:
		return nlock_mutex_lock(&o->m);
	}
}

static int release(struct worker *w, struct object *o)
{
	switch (harness_random(&w->rnd) % 10) {
	case 0:
	case 1:
		return nlock_mutex_unlock_fair(&o->m);
	case 2:
		return nlock_mutex_unlock_barging(&o->m);
	default:
		return nlock_mutex_unlock(&o->m);
	}
}

static void use(struct worker *w, struct object *o)
{
	int rc = acquire(w, o);

	w->busy += rc == EBUSY;
	w->timeouts += rc == ETIMEDOUT;
	if (rc == EBUSY || rc == ETIMEDOUT)
		return;
	if (rc)
		violated("an acquisition that failed");
	section(o, &w->rnd);
	if (harness_random(&w->rnd) % 32 == 0) {
		w->bumps++;
		if (nlock_mutex_bump(&o->m))
			violated("a bump that failed");
		section(o, &w->rnd);
		o->left--;
		o->right--;
	}
	if (release(w, o))
		violated("a release that failed");
	__atomic_fetch_add(&w->acquired, 1, __ATOMIC_RELAXED);
}

static void *mixer(void *arg)
{
	struct worker *w = arg;

	while (goes_on()) {
		use(w, &objects[harness_random(&w->rnd) % (uint32_t)n_objects]);
		noise(&w->rnd);
	}
	__atomic_store_n(&w->is_done, true, __ATOMIC_RELAXED);
	return NULL;
}

/* ---------------------------------------------------------------- bound and victim */

/* Ordinary calls only, all on one lock: what the bound speaks of. Half of the workers hardly rest, half are polite. */
static void *contender(void *arg)
{
	struct worker *w = arg;
	struct object *o = &objects[0];

	while (goes_on() && w->acquired < share) {
		if (nlock_mutex_lock(&o->m))
			violated("an acquisition that failed");
		section(o, &w->rnd);
		if (nlock_mutex_unlock(&o->m))
			violated("a release that failed");
		__atomic_fetch_add(&w->acquired, 1, __ATOMIC_RELAXED);
		if (w->number % 2)
			noise(&w->rnd);
	}
	__atomic_store_n(&w->is_done, true, __ATOMIC_RELAXED);
	return NULL;
}

/* Worker 0 never rests; the others are its victims, and count how often it gets the lock while they wait. */
static void *hog_or_victim(void *arg)
{
	struct worker *w = arg;
	struct object *o = &objects[0];

	while (goes_on()) {
		uint64_t before = __atomic_load_n(&workers[0].acquired, __ATOMIC_RELAXED);

		if (nlock_mutex_lock(&o->m))
			violated("an acquisition that failed");
		before = __atomic_load_n(&workers[0].acquired, __ATOMIC_RELAXED) - before;
		section(o, &w->rnd);
		if (nlock_mutex_unlock(&o->m))
			violated("a release that failed");
		__atomic_fetch_add(&w->acquired, 1, __ATOMIC_RELAXED);
		if (!w->number)
			continue;
		w->longest = before > w->longest ? before : w->longest;
		for (int i = 0; i < 20; i++)
			noise(&w->rnd);
	}
	__atomic_store_n(&w->is_done, true, __ATOMIC_RELAXED);
	return NULL;
}

/* ---------------------------------------------------------------- watching over a row */

static void nothing(int sig)
{
	(void)sig;
}

static uint64_t all_acquired(void)
{
	uint64_t n = 0;

	for (int i = 0; i < n_threads; i++)
		n += __atomic_load_n(&workers[i].acquired, __ATOMIC_RELAXED);
	return n;
}

static bool all_done(void)
{
	for (int i = 0; i < n_threads; i++) {
		if (!__atomic_load_n(&workers[i].is_done, __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

static void hang(const char *when)
{
	printf("FAIL %s: nobody has come forward for %d s %s; words", the_row->name, WATCHDOG_SECONDS, when);
	for (int i = 0; i < n_objects; i++)
		printf(" 0x%x", __atomic_load_n(&objects[i].m.word, __ATOMIC_RELAXED));
	printf(" (seed %llu)\n", (unsigned long long)seed);
	fflush(stdout);
	_exit(1);
}

/* Signals, and the watchdog, until the time is over or all are done; then until all have come to an end. In a run by
 * count there is no time. */
static void watch(int64_t ns)
{
	uint64_t rnd = harness_random_start(4711), last = 0;
	int64_t start = harness_now(), progress = start;

	while (!all_done()) {
		const struct timespec moment = { 0, 200000 };
		int64_t now = harness_now();
		uint64_t n = all_acquired();

		if (ns && now - start > ns)
			__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
		if (n != last)
			progress = now;
		last = n;
		if (now - progress > (int64_t)WATCHDOG_SECONDS * 1000000000)
			hang(is_over ? "at the end" : "under load");
		if (mode == MIX)
			pthread_kill(workers[harness_random(&rnd) % (uint32_t)n_threads].thread, SIGUSR1);
		nanosleep(&moment, NULL);
	}
}

static void run_workers(const struct row *row, void *(*body)(void *), int64_t ns)
{
	struct sigaction sa = { .sa_handler = nothing };

	the_row = row;
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < n_objects; i++) {
		if (nlock_mutex_init(&objects[i].m, row->attr))
			violated("an init that failed");
	}
	for (int i = 0; i < n_threads; i++) {
		workers[i].number = i;
		workers[i].rnd = harness_random_start((uint32_t)i);
		if (pthread_create(&workers[i].thread, NULL, body, &workers[i])) {
			perror("stress: no thread");
			_exit(1);
		}
	}
	watch(ns);
	for (int i = 0; i < n_threads; i++)
		pthread_join(workers[i].thread, NULL);
}

/* Nothing may be left behind, and what the locks guarded must add up. */
static void check_rest(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < n_objects; i++) {
		sum += objects[i].left;
		if (objects[i].left != objects[i].right)
			violated("a section that was not whole");
		if (nlock_mutex_destroy(&objects[i].m))
			violated("a lock that is not at rest");
	}
	if (sum != all_acquired())
		violated("sections that do not add up");
}

static int verdict(const struct row *row)
{
	const char *what = __atomic_load_n(&violation, __ATOMIC_RELAXED);

	if (what)
		printf("FAIL %s: %s (seed %llu)\n", row->name, what, (unsigned long long)seed);
	return what != NULL;
}

/* ---------------------------------------------------------------- one row, in a process of its own */

static int mix_row(const struct row *row, int64_t ns)
{
	uint64_t timeouts = 0, busy = 0, bumps = 0;

	run_workers(row, mixer, ns);
	check_rest();
	for (int i = 0; i < n_threads; i++) {
		timeouts += workers[i].timeouts;
		busy += workers[i].busy;
		bumps += workers[i].bumps;
	}
	printf("%-28s %10llu acquired %8llu timed out %8llu busy %7llu bumps\n", row->name,
	       (unsigned long long)all_acquired(), (unsigned long long)timeouts, (unsigned long long)busy,
	       (unsigned long long)bumps);
	return verdict(row);
}

static int bound_row(const struct row *row, int64_t ns)
{
	nlock_stats_t s = { 0 };

	(void)ns;
	n_objects = 1;
	share = count / (uint64_t)n_threads + 1;
	run_workers(row, contender, 0);
	check_rest();
	if (nlock_stats(&s)) {
		printf("%-28s %10llu acquired; overtakings were not counted\n", row->name,
		       (unsigned long long)all_acquired());
		return verdict(row);
	}
	if (row->bound != ROW_NO_BOUND && s.bypass_max > row->bound)
		violated("a head was overtaken more often than the bound allows");
	printf("%-28s %10llu acquired, %llu by grants, %llu past a head; most overtakings of one head %llu\n",
	       row->name, (unsigned long long)all_acquired(), (unsigned long long)s.grants,
	       (unsigned long long)s.barges, (unsigned long long)s.bypass_max);
	return verdict(row);
}

static int victim_row(const struct row *row, int64_t ns)
{
	uint64_t least = UINT64_MAX, longest = 0;

	n_objects = 1;
	run_workers(row, hog_or_victim, ns);
	check_rest();
	for (int i = 1; i < n_threads; i++) {
		least = workers[i].acquired < least ? workers[i].acquired : least;
		longest = workers[i].longest > longest ? workers[i].longest : longest;
	}
	if (!least && row->bound != ROW_NO_BOUND)
		violated("a victim never got in");
	printf("%-28s hog %10llu, victim at least %8llu; most by the hog during one wait %llu\n", row->name,
	       (unsigned long long)workers[0].acquired, (unsigned long long)least, (unsigned long long)longest);
	return verdict(row);
}

static void *blocked(void *arg)
{
	struct worker *w = arg;
	struct rusage r;

	w->is_done = nlock_mutex_lock(&objects[0].m) || nlock_mutex_unlock(&objects[0].m);
	getrusage(RUSAGE_THREAD, &r);
	w->acquired = (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
		      (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
	return NULL;
}

/* R92: less than 50 ms of CPU time in a second. `acquired` is that time, in microseconds. */
static int blocked_row(const struct row *row, int64_t ns)
{
	const struct timespec second = { 1, 0 };

	(void)ns;
	if (nlock_mutex_init(&objects[0].m, row->attr) || nlock_mutex_lock(&objects[0].m) ||
	    pthread_create(&workers[0].thread, NULL, blocked, &workers[0]))
		violated("a start that failed");
	clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL);
	if (nlock_mutex_unlock(&objects[0].m) || pthread_join(workers[0].thread, NULL) || workers[0].is_done)
		violated("an end that failed");
	if (workers[0].acquired >= 50000)
		violated("a blocked thread uses the CPU");
	printf("%-28s blocked for 1 s: %llu us of CPU time\n", row->name, (unsigned long long)workers[0].acquired);
	return verdict(row);
}

/* ---------------------------------------------------------------- all rows */

static bool is_wanted(int i)
{
	if (!strstr(harness_row(i)->name, only_row))
		return false;
	if (mode == MIX)
		return true;
	if (mode == BLOCKED)
		return i % ROWS_HANDOFFS == 0;
	return i < ROWS_HANDOFFS;
}

static int run_row(int i, int64_t ns)
{
	static int (*const body[])(const struct row *, int64_t) = { mix_row, bound_row, victim_row, blocked_row };
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		status = body[mode](harness_row(i), ns);
		fflush(stdout);
		_exit(status);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
		printf("FAIL %s: signal %d (seed %llu)\n", harness_row(i)->name, WTERMSIG(status),
		       (unsigned long long)seed);
	return status ? 1 : 0;
}

static int run_rows(void)
{
	int wanted = 0, ran = 0, skipped = 0, failed = 0;

	for (int i = 0; i < ROWS; i++)
		wanted += is_wanted(i);
	for (int i = 0; i < ROWS; i++) {
		if (!is_wanted(i))
			continue;
		if (!harness_has_row(i)) {
			skipped++;
			continue;
		}
		ran++;
		failed += run_row(i, (int64_t)(seconds * 1e9 / wanted));
	}
	printf("ROWS: %d ran, %d skipped%s\n", ran, skipped, skipped ? ": no FUTEX2_NUMA or FUTEX2_MPOL" : "");
	if (failed || ran + skipped == 0)
		return 1;
	if (!ran) {
		printf("SKIP: %s: no row of it can be had here\n", only_row);
		return EXIT_CANNOT;
	}
	if (mode == BOUND && !(nlock_features() & NLOCK_HAS_STATS)) {
		printf("SKIP: overtakings: built without --enable-stats\n");
		return EXIT_CANNOT;
	}
	return 0;
}

static void usage(void)
{
	fprintf(stderr, "stress: usage: stress [--bound | --victim | --blocked] [--seconds S] [--count N] [--seed N] "
			"[--rows PART]"
			" [--threads T] [--objects N]\n");
	exit(2);
}

static double number(const char *s, double least, double most)
{
	char *end = NULL;
	double d = s ? strtod(s, &end) : 0;

	if (!s || end == s || *end || !(d >= least && d <= most))
		usage();
	return d;
}

static void options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--bound"))
			mode = BOUND;
		else if (!strcmp(argv[i], "--victim"))
			mode = VICTIM;
		else if (!strcmp(argv[i], "--blocked"))
			mode = BLOCKED;
		else if (!strcmp(argv[i], "--seconds") && ++i)
			seconds = number(value, 0.01, 1e6);
		else if (!strcmp(argv[i], "--count") && ++i)
			count = (uint64_t)number(value, 1, 1e15);
		else if (!strcmp(argv[i], "--seed") && ++i)
			seed = strtoull(value ? value : "", NULL, 0);
		else if (!strcmp(argv[i], "--threads") && ++i)
			n_threads = (int)number(value, 2, THREADS_MAX);
		else if (!strcmp(argv[i], "--objects") && ++i)
			n_objects = (int)number(value, 1, OBJECTS_MAX);
		else if (!strcmp(argv[i], "--rows") && value)
			only_row = argv[++i];
		else
			usage();
	}
}

int main(int argc, char **argv)
{
	seed = (uint64_t)harness_now() ^ (uint64_t)getpid() << 32;
	options(argc, argv);
	harness_rows();
	harness_set_seed(seed);
	printf("stress --seed %llu\n", (unsigned long long)seed);
	return run_rows();
}
