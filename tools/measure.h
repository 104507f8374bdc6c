/* SPDX-License-Identifier: MIT
 *
 * measure.h - the means of measuring: CPUs, calibrated work, distributions, and a team of threads
 *
 * A slice is the unit of measurement: the threads of a team, which live as long as the team, run one body together.
 *
 *	WARM	all have been let go; nothing counts yet. Without it the stretch in which the first thread is
 *		still alone would count, and with a slow lock that is most of the operations.
 *	COUNT	the window. The main thread, which sleeps meanwhile, reads all counters at both of its ends.
 *	STOP	each thread leaves its loop after the operation that it is in.
 *
 * A thread that does not leave is reported, never waited for without limit.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000

/* Two cache lines: neighbours are fetched in pairs on common machines. */
#define OWN_LINES __attribute__((aligned(128)))

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

void sleep_ns(int64_t ns);

/* ---------------------------------------------------------------- CPUs */

#define CPUS_MAX 8192

struct cpus {
	unsigned int n;
	unsigned short id[CPUS_MAX];
};

/* The CPUs that the calling thread may use. */
bool cpus_allowed(struct cpus *c);

/* Binds the calling thread to the i-th of them, counted round and round. */
bool cpus_pin(const struct cpus *c, unsigned int i);

/* Binds the calling thread to all of them. */
bool cpus_bind(const struct cpus *c);

/* What the machine really gives: CPU time per time while `threads` threads spin for `ns`. */
double cpus_effective(unsigned int threads, int64_t ns);

/* ---------------------------------------------------------------- work */

/* Finds out how much work a nanosecond is. Once, before work_units. */
void work_calibrate(void);

/* So much work takes about `ns` on an undisturbed CPU. */
unsigned long work_units(long ns);

void work_do(unsigned long units);

static inline void work(unsigned long units)
{
	if (units)
		work_do(units);
}

/* ---------------------------------------------------------------- distributions */

/* The q-quantile of n values, interpolated; puts them in order. */
double quantile(double *values, unsigned int n, double q);

/* Times in nanoseconds, to 3 %: HIST_STEPS buckets for every doubling. */
#define HIST_STEPS_LOG 5
#define HIST_STEPS     (1u << HIST_STEPS_LOG)
#define HIST_BUCKETS   (HIST_STEPS * (41 - HIST_STEPS_LOG))

struct hist {
	uint64_t n;
	int64_t longest;
	uint32_t bucket[HIST_BUCKETS];
};

void hist_clear(struct hist *h);
void hist_add(struct hist *h, int64_t ns);
void hist_merge(struct hist *to, const struct hist *from);
double hist_quantile(const struct hist *h, double q);

/* ---------------------------------------------------------------- a team and its slices */

enum phase { PHASE_WARM, PHASE_COUNT, PHASE_STOP };

/* What the lock under test protects, and so belongs to its owner. If it fails to exclude, `counter` falls behind. */
struct guarded {
	unsigned long counter;
	unsigned int last;       /* who owned it last */
	unsigned long run_start; /* the counter when that one got it */
	unsigned long longest;   /* the longest run of one owner in the window */
	unsigned long changes;   /* of owner; also read by the main thread */
	bool times_handoffs; /* `noted` gets the ns from change to change, where the last owner stayed for one operation */
	int64_t changed_at;
	struct hist *noted; /* what an owner notes down in the window */
};

struct worker {
	struct team *team;
	void *object; /* under test */
	struct guarded *guarded;
	unsigned int id, threads;
	unsigned long inside, outside; /* units of work */
	int64_t stall;                 /* ns that it sleeps inside once, first of all */
	struct hist *waits;
	long arg;               /* of the cell */
	unsigned long failures; /* of calls that cannot fail, and of what must hold */
	OWN_LINES unsigned long ops;
	unsigned long reads;         /* those among ops that leave the guarded counter alone */
	OWN_LINES char scratch[128]; /* for locks that need memory of each thread; zeroed before each slice */
};

typedef void body_fn(struct worker *w);

struct team {
	unsigned int n;
	struct worker *workers;
	pthread_t *threads;
	const struct cpus *pin_to; /* or NULL */
	body_fn *body;
	pthread_mutex_t gate; /* what follows is under it */
	pthread_cond_t go, done;
	unsigned long turn; /* slices begun */
	unsigned int running;
	bool quit;
	OWN_LINES uint32_t phase;
};

/* What happened in a window, or up to one end of it. */
struct sample {
	double ns, ops, changes, cpu_ns, switches;
};

bool team_open(struct team *t, unsigned int n, const struct cpus *pin_to);

/* One slice. Returns how many threads are stuck `patience` ns after its end; then the team is unusable. */
unsigned int team_slice(struct team *t, body_fn *body, int64_t warm, int64_t count, int64_t patience, struct sample *s);

void team_close(struct team *t);

static inline uint32_t phase_now(const struct worker *w)
{
	return __atomic_load_n(&w->team->phase, __ATOMIC_RELAXED);
}

/* A counter with one writer that others may read. */
static inline void publish(unsigned long *counter, unsigned long value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

#endif
