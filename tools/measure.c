/* SPDX-License-Identifier: MIT
 *
 * measure.c - see measure.h
 */
#define _GNU_SOURCE
#include "measure.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

static void sleep_until(int64_t ns)
{
	struct timespec at = to_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

void sleep_ns(int64_t ns)
{
	sleep_until(now_ns() + ns);
}

/* ---------------------------------------------------------------- CPUs */

bool cpus_allowed(struct cpus *c)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	c->n = 0;
	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	if (!sched_getaffinity(0, size, set)) {
		for (unsigned int i = 0; i < CPUS_MAX; i++) {
			if (CPU_ISSET_S(i, size, set))
				c->id[c->n++] = (unsigned short)i;
		}
	}
	CPU_FREE(set);
	return c->n > 0;
}

/* Binds to `n` CPUs from the i-th on. */
static bool bind_to(const struct cpus *c, unsigned int i, unsigned int n)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int rc;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	while (n--)
		CPU_SET_S(c->id[i++ % c->n], size, set);
	rc = sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return rc == 0;
}

bool cpus_pin(const struct cpus *c, unsigned int i)
{
	return bind_to(c, i, 1);
}

bool cpus_bind(const struct cpus *c)
{
	return bind_to(c, 0, c->n);
}

struct spinner {
	pthread_t thread;
	int64_t end;
	int64_t cpu_ns;
};

static void *spin(void *arg)
{
	struct spinner *s = arg;
	struct timespec t;

	while (now_ns() < s->end)
		;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	s->cpu_ns = (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
	return NULL;
}

double cpus_effective(unsigned int threads, int64_t ns)
{
	struct spinner *s = calloc(threads, sizeof(*s));
	int64_t start = now_ns(), cpu_ns = 0;
	unsigned int n;

	if (!s)
		return 0;
	for (n = 0; n < threads; n++) {
		s[n].end = start + ns;
		if (pthread_create(&s[n].thread, NULL, spin, &s[n]))
			break;
	}
	for (unsigned int i = 0; i < n; i++) {
		pthread_join(s[i].thread, NULL);
		cpu_ns += s[i].cpu_ns;
	}
	free(s);
	return (double)cpu_ns / (double)(now_ns() - start);
}

/* ---------------------------------------------------------------- work */

#define CALIBRATION_UNITS  100000ul
#define CALIBRATION_TRIALS 200

static double units_per_ns = 1;

/* One copy for all, never inlined: the speed of such a loop depends on where it lies. */
__attribute__((noinline)) void work_do(unsigned long units)
{
	while (units--)
		__asm__ volatile("" : "+r"(units));
}

/* The fastest trial is the one that nothing has disturbed; the first ones also wake the CPU up. */
void work_calibrate(void)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < CALIBRATION_TRIALS; i++) {
		int64_t start = now_ns(), took;

		work_do(CALIBRATION_UNITS);
		took = now_ns() - start;
		if (took > 0 && took < best)
			best = took;
	}
	units_per_ns = (double)CALIBRATION_UNITS / (double)best;
}

unsigned long work_units(long ns)
{
	double units = (double)ns * units_per_ns;

	return ns > 0 && units < 1 ? 1 : (unsigned long)units;
}

/* ---------------------------------------------------------------- distributions */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(double *values, unsigned int n, double q)
{
	double at = q * (n - 1);
	unsigned int below = (unsigned int)at;

	if (!n)
		return 0;
	qsort(values, n, sizeof(*values), compare_doubles);
	if (below + 1 >= n)
		return values[n - 1];
	return values[below] + (at - below) * (values[below + 1] - values[below]);
}

/* Below two times HIST_STEPS a bucket is a nanosecond; above, the bits after the highest one choose the step. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift, b;

	if (ns < HIST_STEPS)
		return (unsigned int)ns;
	shift = 63 - (unsigned int)__builtin_clzll(ns) - HIST_STEPS_LOG;
	b = shift * HIST_STEPS + (unsigned int)(ns >> shift);
	return b < HIST_BUCKETS ? b : HIST_BUCKETS - 1;
}

static double bucket_middle(unsigned int b)
{
	unsigned int shift = b < 2 * HIST_STEPS ? 0 : b / HIST_STEPS - 1;
	uint64_t low = (uint64_t)(b - shift * HIST_STEPS) << shift;

	return (double)low + (double)((1ull << shift) - 1) / 2;
}

void hist_clear(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

void hist_add(struct hist *h, int64_t ns)
{
	h->n++;
	h->bucket[bucket_of((uint64_t)ns)]++;
	if (ns > h->longest)
		h->longest = ns;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	to->n += from->n;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
	if (from->longest > to->longest)
		to->longest = from->longest;
}

double hist_quantile(const struct hist *h, double q)
{
	double want = q * (double)h->n;
	uint64_t below = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		double middle = bucket_middle(i);

		below += h->bucket[i];
		if (below && (double)below >= want)
			return middle < (double)h->longest ? middle : (double)h->longest;
	}
	return (double)h->longest;
}

/* ---------------------------------------------------------------- a team and its slices */

/* False: the team is done for. */
static bool next_turn(struct team *t, unsigned long *seen)
{
	bool quit;

	pthread_mutex_lock(&t->gate);
	while (t->turn == *seen && !t->quit)
		pthread_cond_wait(&t->go, &t->gate);
	*seen = t->turn;
	quit = t->quit;
	pthread_mutex_unlock(&t->gate);
	return !quit;
}

static void turn_done(struct team *t)
{
	pthread_mutex_lock(&t->gate);
	if (--t->running == 0)
		pthread_cond_signal(&t->done);
	pthread_mutex_unlock(&t->gate);
}

static void *member(void *arg)
{
	struct worker *w = arg;
	struct team *t = w->team;
	unsigned long seen = 0;

	if (t->pin_to && !cpus_pin(t->pin_to, w->id))
		w->failures++;
	while (next_turn(t, &seen)) {
		t->body(w);
		turn_done(t);
	}
	return NULL;
}

static bool start_members(struct team *t)
{
	for (unsigned int i = 0; i < t->n; i++) {
		struct worker *w = &t->workers[i];

		memset(w, 0, sizeof(*w));
		w->team = t;
		w->id = i;
		w->threads = t->n;
		w->waits = calloc(1, sizeof(*w->waits));
		if (!w->waits || pthread_create(&t->threads[i], NULL, member, w)) {
			free(w->waits);
			t->n = i;
			return false;
		}
	}
	return true;
}

bool team_open(struct team *t, unsigned int n, const struct cpus *pin_to)
{
	pthread_condattr_t attr;

	memset(t, 0, sizeof(*t));
	t->workers = aligned_alloc(__alignof__(struct worker), n * sizeof(*t->workers));
	t->threads = calloc(n, sizeof(*t->threads));
	if (!t->workers || !t->threads) {
		free(t->workers);
		free(t->threads);
		return false;
	}
	t->n = n;
	t->pin_to = pin_to;
	pthread_mutex_init(&t->gate, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->go, NULL);
	pthread_cond_init(&t->done, &attr);
	pthread_condattr_destroy(&attr);
	if (start_members(t))
		return true;
	team_close(t);
	return false;
}

void team_close(struct team *t)
{
	pthread_mutex_lock(&t->gate);
	t->quit = true;
	pthread_cond_broadcast(&t->go);
	pthread_mutex_unlock(&t->gate);
	for (unsigned int i = 0; i < t->n; i++) {
		pthread_join(t->threads[i], NULL);
		free(t->workers[i].waits);
	}
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->go);
	pthread_mutex_destroy(&t->gate);
	free(t->threads);
	free(t->workers);
}

/* Asked thread by thread: that is exact also while the thread runs. The sum for the process lags by a tick. */
static double cpu_ns_of(pthread_t thread)
{
	struct timespec t;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec * NSEC_PER_SEC + (double)t.tv_nsec;
}

/* Everything as it is now, for the difference of two of them. First the clock and the operations, close together. */
static struct sample look(const struct team *t)
{
	struct sample s = { .ns = (double)now_ns() };
	struct rusage u;

	for (unsigned int i = 0; i < t->n; i++)
		s.ops += (double)__atomic_load_n(&t->workers[i].ops, __ATOMIC_RELAXED);
	if (t->workers[0].guarded)
		s.changes = (double)__atomic_load_n(&t->workers[0].guarded->changes, __ATOMIC_RELAXED);
	getrusage(RUSAGE_SELF, &u);
	for (unsigned int i = 0; i < t->n; i++)
		s.cpu_ns += cpu_ns_of(t->threads[i]);
	s.switches = (double)(u.ru_nvcsw + u.ru_nivcsw);
	return s;
}

static void let_go(struct team *t, body_fn *body)
{
	pthread_mutex_lock(&t->gate);
	for (unsigned int i = 0; i < t->n; i++)
		t->workers[i].ops = t->workers[i].reads = 0;
	t->body = body;
	t->phase = PHASE_WARM;
	t->running = t->n;
	t->turn++;
	pthread_cond_broadcast(&t->go);
	pthread_mutex_unlock(&t->gate);
}

static unsigned int wait_for_members(struct team *t, int64_t until)
{
	struct timespec at = to_timespec(until);
	unsigned int stuck;

	pthread_mutex_lock(&t->gate);
	while (t->running && pthread_cond_timedwait(&t->done, &t->gate, &at) != ETIMEDOUT)
		;
	stuck = t->running;
	pthread_mutex_unlock(&t->gate);
	return stuck;
}

static void set_phase(struct team *t, enum phase phase)
{
	__atomic_store_n(&t->phase, phase, __ATOMIC_RELAXED);
}

unsigned int team_slice(struct team *t, body_fn *body, int64_t warm, int64_t count, int64_t patience, struct sample *s)
{
	struct sample from, to;

	let_go(t, body);
	sleep_ns(warm);
	set_phase(t, PHASE_COUNT);
	from = look(t);
	sleep_until((int64_t)from.ns + count);
	to = look(t);
	set_phase(t, PHASE_STOP);
	*s = (struct sample){ to.ns - from.ns, to.ops - from.ops, to.changes - from.changes, to.cpu_ns - from.cpu_ns,
			      to.switches - from.switches };
	return wait_for_members(t, now_ns() + patience);
}
