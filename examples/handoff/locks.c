/* SPDX-License-Identifier: MIT
 *
 * locks.c - see locks.h
 *
 * Every lock() first tries once without waiting and counts a failure: that is the contention of 2002, which
 * counted the requests that did not succeed in user space. A ticket lock cannot try, so there it is a request
 * whose turn had not come.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "locks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <unistd.h>

#include "args.h"
#include "cpu.h"

/* A spinning lock tries again, for a bounded time, before it goes to sleep. */
static bool try_for_a_while(struct lock *l, struct tally *t, bool (*try)(struct lock *))
{
	int64_t end;

	if (!l->patience_ns)
		return false;
	end = now_ns() + l->patience_ns;
	do {
		for (int i = 0; i < 8; i++)
			cpu_pause();
		if (try(l)) {
			t->watched++;
			return true;
		}
	} while (now_ns() < end);
	return false;
}

static void fini_nothing(struct lock *l)
{
	(void)l;
}

/* ------------------------------------------------------------------ e: no lock at all */

static int empty_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	(void)l, (void)kind, (void)setup;
	return 0;
}

static void empty_lock(struct lock *l, struct tally *t)
{
	(void)l, (void)t;
}

static int empty_unlock(struct lock *l)
{
	(void)l;
	return 0;
}

/* A lock that is all in the kernel orders what its owners do, but no tool that looks for data races can see that. These two it
 * sees. */
static void owner_comes(struct lock *l)
{
	(void)atomic_load_explicit(&l->handed, memory_order_acquire);
}

static void owner_goes(struct lock *l)
{
	atomic_fetch_add_explicit(&l->handed, 1, memory_order_release);
}

/* ------------------------------------------------------------------ k: System V semaphore */

/* System V objects are not freed with the process, so that each one made is remembered here, also for a signal
 * handler. A slot is written before its neighbour is used, and holds -1 when there is nothing to remove. */
static volatile sig_atomic_t sems[SEMS_MAX];
static volatile sig_atomic_t sems_used;

void locks_cleanup(void)
{
	for (int i = 0; i < sems_used; i++)
		if (sems[i] >= 0)
			semctl(sems[i], 0, IPC_RMID);
}

static int sysv_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	union {
		int val;
		void *unused;
	} one = { .val = 1 };
	int slot = 0, id;

	(void)kind, (void)setup;
	while (slot < sems_used && sems[slot] >= 0)
		slot++;
	if (slot == SEMS_MAX)
		return ENOSPC;
	id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	if (id < 0)
		return errno;
	sems[slot] = id;
	if (slot == sems_used)
		sems_used = slot + 1;
	l->u.sem = id;
	if (semctl(id, 0, SETVAL, one) == 0)
		return 0;
	sems[slot] = -1;
	semctl(id, 0, IPC_RMID);
	return EIO;
}

static void sysv_fini(struct lock *l)
{
	for (int i = 0; i < sems_used; i++)
		if (sems[i] == l->u.sem)
			sems[i] = -1;
	semctl(l->u.sem, 0, IPC_RMID);
}

/* 0, or EAGAIN with IPC_NOWAIT. Nothing else can be gone on with: the semaphore was removed behind our back. */
static int sysv_op(struct lock *l, short add, short flags)
{
	struct sembuf op = { .sem_num = 0, .sem_op = add, .sem_flg = flags };

	while (semop(l->u.sem, &op, 1) != 0) {
		if (errno == EAGAIN)
			return EAGAIN;
		if (errno != EINTR) {
			fprintf(stderr, "%s: semop: %s\n", program_name, strerror(errno));
			_exit(1);
		}
	}
	return 0;
}

static void sysv_lock(struct lock *l, struct tally *t)
{
	if (sysv_op(l, -1, IPC_NOWAIT) != 0) {
		t->failed++;
		t->sleeps++;
		sysv_op(l, -1, 0);
	}
	owner_comes(l);
}

static int sysv_unlock(struct lock *l)
{
	owner_goes(l);
	return sysv_op(l, 1, 0);
}

/* ------------------------------------------------------------------ l: a byte of a file */

/* All locks are bytes of one file without a name. A record lock belongs to an open file, so each task opens it for itself, at its first
 * request, and what a process inherits is forgotten. */
static int lock_file = -1;
static off_t bytes_used;
static pthread_key_t opened;

static void close_own(void *own)
{
	close((int)(intptr_t)own - 1);
}

static void forget_own(void)
{
	pthread_setspecific(opened, NULL);
}

static int open_own(void)
{
	intptr_t own = (intptr_t)pthread_getspecific(opened);
	char path[64];
	int fd;

	if (own)
		return (int)own - 1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", lock_file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		pthread_setspecific(opened, (void *)(intptr_t)(fd + 1)); /* NULL is none */
	return fd;
}

static int record_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	(void)kind, (void)setup;
	if (lock_file < 0) {
		int err = pthread_key_create(&opened, close_own);

		err = err ? err : pthread_atfork(NULL, NULL, forget_own);
		if (err)
			return err;
		lock_file = memfd_create("locks", MFD_CLOEXEC);
	}
	if (lock_file < 0 || open_own() < 0)
		return errno;
	l->u.byte = bytes_used++;
	return 0;
}

/* 0, or EAGAIN with F_OFD_SETLK. Nothing else can be gone on with. */
static int record_op(struct lock *l, int command, short type)
{
	struct flock range = { .l_type = type, .l_whence = SEEK_SET, .l_start = l->u.byte, .l_len = 1 };
	int own = open_own();

	while (own < 0 || fcntl(own, command, &range) != 0) {
		if (own >= 0 && (errno == EAGAIN || errno == EACCES))
			return EAGAIN;
		if (own < 0 || errno != EINTR) {
			fprintf(stderr, "%s: a record lock: %s\n", program_name, strerror(errno));
			_exit(1);
		}
	}
	return 0;
}

static void record_lock(struct lock *l, struct tally *t)
{
	if (record_op(l, F_OFD_SETLK, F_WRLCK) != 0) {
		t->failed++;
		t->sleeps++;
		record_op(l, F_OFD_SETLKW, F_WRLCK);
	}
	owner_comes(l);
}

static int record_unlock(struct lock *l)
{
	owner_goes(l);
	return record_op(l, F_OFD_SETLK, F_UNLCK);
}

/* ------------------------------------------------------------------ p, P: pthread */

static int mutex_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	pthread_mutexattr_t a;
	int err = pthread_mutexattr_init(&a);

	if (err)
		return err;
	if (setup->shared)
		err = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	if (!err && kind->letter == 'P')
		err = pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
#else
	if (kind->letter == 'P')
		err = ENOTSUP;
#endif
	if (!err)
		err = pthread_mutex_init(&l->u.mutex, &a);
	pthread_mutexattr_destroy(&a);
	return err;
}

static void mutex_fini(struct lock *l)
{
	pthread_mutex_destroy(&l->u.mutex);
}

static bool mutex_try(struct lock *l)
{
	return pthread_mutex_trylock(&l->u.mutex) == 0;
}

static void mutex_lock(struct lock *l, struct tally *t)
{
	if (mutex_try(l))
		return;
	t->failed++;
	pthread_mutex_lock(&l->u.mutex);
}

static int mutex_unlock(struct lock *l)
{
	return pthread_mutex_unlock(&l->u.mutex);
}

/* ------------------------------------------------------------------ s: pthread reader-writer lock */

static int rwlock_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	pthread_rwlockattr_t a;
	int err = pthread_rwlockattr_init(&a);

	(void)kind;
	if (err)
		return err;
	if (setup->shared)
		err = pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (!err)
		err = pthread_rwlock_init(&l->u.rwlock, &a);
	pthread_rwlockattr_destroy(&a);
	return err;
}

static void rwlock_fini(struct lock *l)
{
	pthread_rwlock_destroy(&l->u.rwlock);
}

static void rwlock_wrlock(struct lock *l, struct tally *t)
{
	if (pthread_rwlock_trywrlock(&l->u.rwlock) == 0)
		return;
	t->failed++;
	pthread_rwlock_wrlock(&l->u.rwlock);
}

/* A failure would be "too many readers", and there are not that many tasks. */
static void rwlock_rdlock(struct lock *l, struct tally *t)
{
	if (pthread_rwlock_tryrdlock(&l->u.rwlock) == 0)
		return;
	t->failed++;
	if (pthread_rwlock_rdlock(&l->u.rwlock) != 0)
		abort();
}

static int rwlock_unlock(struct lock *l)
{
	return pthread_rwlock_unlock(&l->u.rwlock);
}

/* ------------------------------------------------------------------ q, r, w: nlock's reader-writer lock */

static int nlock_rw_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	return nlock_rwlock_init(&l->u.nlock_rw, kind->prefers, setup->shared ? NLOCK_SHARED : NLOCK_PRIVATE);
}

static void nlock_rw_fini(struct lock *l)
{
	nlock_rwlock_destroy(&l->u.nlock_rw);
}

static void nlock_rw_wrlock(struct lock *l, struct tally *t)
{
	if (nlock_rwlock_trywrlock(&l->u.nlock_rw) == 0)
		return;
	t->failed++;
	nlock_rwlock_wrlock(&l->u.nlock_rw);
}

/* As with pthread's. */
static void nlock_rw_rdlock(struct lock *l, struct tally *t)
{
	if (nlock_rwlock_tryrdlock(&l->u.nlock_rw) == 0)
		return;
	t->failed++;
	if (nlock_rwlock_rdlock(&l->u.nlock_rw) != 0)
		abort();
}

static int nlock_rw_rdunlock(struct lock *l)
{
	return nlock_rwlock_rdunlock(&l->u.nlock_rw);
}

static int nlock_rw_wrunlock(struct lock *l)
{
	return nlock_rwlock_wrunlock(&l->u.nlock_rw);
}

/* ------------------------------------------------------------------ f, c, h: nlock */

static int nlock_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	if (kind->spins)
		l->patience_ns = setup->patience_ns;
	return nlock_mutex_init(&l->u.nlock, kind->attr | (setup->shared ? NLOCK_SHARED : NLOCK_PRIVATE));
}

static void nlock_fini(struct lock *l)
{
	nlock_mutex_destroy(&l->u.nlock);
}

static bool nlock_try(struct lock *l)
{
	return nlock_mutex_trylock(&l->u.nlock) == 0;
}

static void nlock_lock(struct lock *l, struct tally *t)
{
	if (nlock_try(l))
		return;
	t->failed++;
	if (!try_for_a_while(l, t, nlock_try))
		nlock_mutex_lock(&l->u.nlock);
}

static int nlock_unlock(struct lock *l)
{
	return nlock_mutex_unlock(&l->u.nlock);
}

/* ------------------------------------------------------------------ t: strict ticket FIFO */

static int strict_init(struct lock *l, const struct lock_kind *kind, const struct lock_setup *setup)
{
	if (kind->spins)
		l->patience_ns = setup->patience_ns;
	ticket_init(&l->u.ticket, setup->slots, setup->tasks, setup->shared);
	return 0;
}

static void strict_lock(struct lock *l, struct tally *t)
{
	struct ticket_trip trip = ticket_acquire(&l->u.ticket, l->patience_ns);

	t->failed += trip.waited;
	t->watched += trip.watched;
	t->sleeps += trip.sleeps;
}

static bool strict_try(struct lock *l)
{
	return ticket_try(&l->u.ticket);
}

static int strict_unlock(struct lock *l)
{
	ticket_release(&l->u.ticket);
	return 0;
}

/* ------------------------------------------------------------------ the table */

#define EMPTY   .init = empty_init, .fini = fini_nothing, .lock = empty_lock, .unlock = empty_unlock
#define SYSV    .init = sysv_init, .fini = sysv_fini, .lock = sysv_lock, .unlock = sysv_unlock
#define RECORD  .init = record_init, .fini = fini_nothing, .lock = record_lock, .unlock = record_unlock
#define PTHREAD .init = mutex_init, .fini = mutex_fini, .lock = mutex_lock, .unlock = mutex_unlock, .trylock = mutex_try
#define NLOCK \
	.init = nlock_init, .fini = nlock_fini, .lock = nlock_lock, .unlock = nlock_unlock, .trylock = nlock_try, \
	.is_nlock = true
#define STRICT \
	.init = strict_init, .fini = fini_nothing, .lock = strict_lock, .unlock = strict_unlock, \
	.trylock = strict_try, .has_slots = true
#define RWLOCK \
	.init = rwlock_init, .fini = rwlock_fini, .lock = rwlock_wrlock, .unlock = rwlock_unlock, \
	.rdlock = rwlock_rdlock, .rdunlock = rwlock_unlock
#define NLOCK_RW \
	.init = nlock_rw_init, .fini = nlock_rw_fini, .lock = nlock_rw_wrlock, .unlock = nlock_rw_wrunlock, \
	.rdlock = nlock_rw_rdlock, .rdunlock = nlock_rw_rdunlock

const struct lock_kind lock_kinds[] = {
	{ 'e', "empty", "-", "no lock: what the loop itself costs", EMPTY },
	{ 'k', "sysv", "strict", "System V semaphore, two system calls a turn", SYSV, .counts_sleeps = true },
	{ 'l', "fcntl", "barges", "record lock on a byte of a file, two system calls a turn", RECORD,
	  .counts_sleeps = true },
	{ 't', "ticket", "strict", "ticket lock, a futex word for each waiter", STRICT, .counts_sleeps = true },
	{ 'f', "fifo", "queued", "nlock, NLOCK_FIFO", NLOCK, .attr = NLOCK_FIFO },
	{ 'h', "bounded", "bounded", "nlock, NLOCK_BOUNDED, its default", NLOCK, .attr = NLOCK_BOUNDED },
	{ 'c', "barging", "barges", "nlock, NLOCK_BARGING: convoy avoidance", NLOCK, .attr = NLOCK_BARGING },
	{ 'p', "pthread", "barges", "pthread_mutex_t, default kind", PTHREAD },
	{ 'P', "adaptive", "barges", "pthread_mutex_t, adaptive kind (spins as the C library likes)", PTHREAD },
	{ 's', "rwlock", "barges", "pthread_rwlock_t; -s PCT of the requests are for reading", RWLOCK },
	{ 'q', "rw-phases", "phases", "nlock_rwlock_t, NLOCK_RW_PHASE_FAIR", NLOCK_RW, .prefers = NLOCK_RW_PHASE_FAIR },
	{ 'r', "rw-readers", "readers", "nlock_rwlock_t, NLOCK_RW_PREFER_READERS", NLOCK_RW,
	  .prefers = NLOCK_RW_PREFER_READERS },
	{ 'w', "rw-writers", "writers", "nlock_rwlock_t, NLOCK_RW_PREFER_WRITERS", NLOCK_RW,
	  .prefers = NLOCK_RW_PREFER_WRITERS },
	{ 'T', "spin-ticket", "strict", "as t, but watches its turn for -p microseconds first", STRICT, .spins = true,
	  .counts_sleeps = true },
	{ 'F', "spin-fifo", "queued", "as f, but tries for -p microseconds first; while it tries, it barges", NLOCK,
	  .spins = true, .attr = NLOCK_FIFO },
	{ 'H', "spin-bounded", "bounded", "as h, but tries for -p microseconds first", NLOCK, .spins = true,
	  .attr = NLOCK_BOUNDED },
	{ 'C', "spin-barging", "barges", "as c, but tries for -p microseconds first", NLOCK, .spins = true,
	  .attr = NLOCK_BARGING },
	{ .letter = 0 },
};

const struct lock_kind *lock_kind_find(const char *word, size_t length)
{
	for (const struct lock_kind *k = lock_kinds; k->letter; k++) {
		if (length == 1 && *word == k->letter)
			return k;
		if (length == strlen(k->name) && !strncmp(word, k->name, length))
			return k;
	}
	return NULL;
}
