/* SPDX-License-Identifier: MIT
 *
 * stats.c - counting, between the doors and the library
 *
 * Each function makes the library's call, and does the same as it: first it tries, as the call itself would, so that it
 * can be said whether the call had to wait; only a call that has to wait looks at the clock. The address of nlock's object
 * is that of the program's, in which it comes first. A relock of a recursive mutex by its owner does not come here. Objects
 * are told apart by family and address: two that have stood at the same place are one.
 *
 * The table is a fixed one, in memory that is zero before anything runs: counting works before the first constructor and
 * inside malloc, allocates nothing and has no lock. An object claims a free entry near the place that its address gives
 * by a compare-exchange of the key, and keeps it. The counts are relaxed: each is an exact sum once the threads that
 * count are joined. Nothing is read from the object after the call, since it may be gone.
 */
#define STATS_ITSELF
#include "stat_calls.h"
#include "stats_table.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define PROBES 64

struct stat_table stat_table;

/* ---------------------------------------------------------------- the table */

static void count(uint64_t *n, uint64_t more)
{
	__atomic_fetch_add(n, more, __ATOMIC_RELAXED);
}

static void raise_to(uint64_t *most, uint64_t n)
{
	uint64_t seen = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (seen < n && !__atomic_compare_exchange_n(most, &seen, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The program's own call: the first return address on the stack that is not in this module, whose functions all have frame
 * pointers. Asked once for each object. On other machines nothing is known of frames. */
static uintptr_t caller(void)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _end[] __attribute__((visibility("hidden")));
	const uintptr_t *frame = __builtin_frame_address(0);

	while (frame[1] >= (uintptr_t)__ehdr_start && frame[1] < (uintptr_t)_end)
		frame = (const uintptr_t *)frame[0];
	return frame[1];
#else
	return 0;
#endif
}

/* Is the entry this object's, or free and now this object's? */
static bool is_ours(struct stat_object *o, uint64_t key)
{
	uint64_t seen = __atomic_load_n(&o->key, __ATOMIC_RELAXED);

	if (seen)
		return seen == key;
	if (!__atomic_compare_exchange_n(&o->key, &seen, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return seen == key;
	__atomic_store_n(&o->caller, caller(), __ATOMIC_RELAXED);
	return true;
}

static struct stat_object *find(enum stat_family family, const void *object)
{
	uint64_t key = (uint64_t)(uintptr_t)object << 3 | (uint64_t)family;
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 40);

	for (size_t i = 0; i < PROBES; i++) {
		struct stat_object *o = &stat_table.object[(at + i) % STAT_OBJECTS];

		if (is_ours(o, key))
			return o;
	}
	return &stat_table.rest[family];
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void count_wait(struct stat_object *o, uint64_t since)
{
	uint64_t ns = now() - since;

	count(&o->contended, 1);
	count(&o->waited, ns);
	raise_to(&o->longest, ns);
}

/* What a try gave: the object was to be had, or it was not. */
static int tried(struct stat_object *o, int rc)
{
	if (!rc)
		count(&o->acquired, 1);
	return rc;
}

/* What a call gave that had to wait since `since`. */
static int waited(struct stat_object *o, uint64_t since, int rc)
{
	count_wait(o, since);
	return tried(o, rc);
}

/* ---------------------------------------------------------------- mutexes
 *
 * The C library keeps the kind where the overlay leaves it.
 */

static struct stat_object *mutex(const nlock_mutex_t *m)
{
	const pthread_mutex_t *whole = (const void *)m;
	int kind = __atomic_load_n(&whole->__data.__kind, __ATOMIC_RELAXED);

	return find((enum stat_family)(STAT_MUTEX + (kind & 3)), m);
}

int stat_mutex_trylock(nlock_mutex_t *m)
{
	struct stat_object *o = mutex(m);

	return tried(o, nlock_mutex_trylock(m));
}

int stat_mutex_lock(nlock_mutex_t *m)
{
	struct stat_object *o = mutex(m);
	uint64_t since;

	if (!tried(o, nlock_mutex_trylock(m)))
		return 0;
	since = now();
	return waited(o, since, nlock_mutex_lock(m));
}

int stat_mutex_lock_until(nlock_mutex_t *m, int clock, const struct timespec *abs)
{
	struct stat_object *o = mutex(m);
	uint64_t since;

	if (!tried(o, nlock_mutex_trylock(m)))
		return 0;
	since = now();
	return waited(o, since, nlock_mutex_lock_until(m, clock, abs));
}

/* ---------------------------------------------------------------- read-write locks: readers and writers together */

int stat_rwlock_tryrdlock(nlock_rwlock_t *l)
{
	struct stat_object *o = find(STAT_RWLOCK, l);

	return tried(o, nlock_rwlock_tryrdlock(l));
}

int stat_rwlock_trywrlock(nlock_rwlock_t *l)
{
	struct stat_object *o = find(STAT_RWLOCK, l);

	return tried(o, nlock_rwlock_trywrlock(l));
}

int stat_rwlock_rdlock(nlock_rwlock_t *l)
{
	struct stat_object *o = find(STAT_RWLOCK, l);
	uint64_t since;

	if (!tried(o, nlock_rwlock_tryrdlock(l)))
		return 0;
	since = now();
	return waited(o, since, nlock_rwlock_rdlock(l));
}

int stat_rwlock_wrlock(nlock_rwlock_t *l)
{
	struct stat_object *o = find(STAT_RWLOCK, l);
	uint64_t since;

	if (!tried(o, nlock_rwlock_trywrlock(l)))
		return 0;
	since = now();
	return waited(o, since, nlock_rwlock_wrlock(l));
}

int stat_rwlock_rdlock_until(nlock_rwlock_t *l, int clock, const struct timespec *abs)
{
	struct stat_object *o = find(STAT_RWLOCK, l);
	uint64_t since;

	if (!tried(o, nlock_rwlock_tryrdlock(l)))
		return 0;
	since = now();
	return waited(o, since, nlock_rwlock_rdlock_until(l, clock, abs));
}

int stat_rwlock_wrlock_until(nlock_rwlock_t *l, int clock, const struct timespec *abs)
{
	struct stat_object *o = find(STAT_RWLOCK, l);
	uint64_t since;

	if (!tried(o, nlock_rwlock_trywrlock(l)))
		return 0;
	since = now();
	return waited(o, since, nlock_rwlock_wrlock_until(l, clock, abs));
}

/* ---------------------------------------------------------------- semaphores, barriers, condition variables */

int stat_sem_trywait(nlock_sem_t *s)
{
	struct stat_object *o = find(STAT_SEM, s);

	return tried(o, nlock_sem_trywait(s));
}

/* A cancellation point also when there is a token: so it must be one before the try. */
int stat_sem_wait_posix(nlock_sem_t *s, int clock, const struct timespec *abs)
{
	struct stat_object *o = find(STAT_SEM, s);
	uint64_t since;

	pthread_testcancel();
	if (!tried(o, nlock_sem_trywait(s)))
		return 0;
	since = now();
	return waited(o, since, nlock_sem_wait_posix(s, clock, abs));
}

/* The last to come does not wait, but that cannot be known before. One of each round gets NLOCK_BARRIER_SERIAL. */
int stat_barrier_wait(nlock_barrier_t *b)
{
	struct stat_object *o = find(STAT_BARRIER, b);
	uint64_t since = now();
	int rc = nlock_barrier_wait(b);

	waited(o, since, 0);
	return rc;
}

/* The time includes that for the lock. A wait that is cancelled does not come back, and is not counted. */
int stat_cond_wait_any(nlock_cond_t *c, const struct nlock_any_lock *how, void *lock, int clock,
		       const struct timespec *abs)
{
	struct stat_object *o = find(STAT_COND, c);
	uint64_t since = now();

	return waited(o, since, nlock_cond_wait_any(c, how, lock, clock, abs));
}
