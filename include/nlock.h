/* SPDX-License-Identifier: MIT
 *
 * nlock.h - locks on Linux futex2 whose hand-off you choose
 *
 * This header is the manual: it says what each function does and when it fails. nlock(7) adds the order of service,
 * fork, signals, real time and kernel versions; the other man pages add examples.
 *
 *	#include <nlock.h>
 *	cc prog.c -pthread $(pkg-config --cflags --libs nlock)
 *
 *	static nlock_mutex_t m;                 // all zero bytes: valid, unlocked, default attributes
 *
 *	nlock_mutex_lock(&m);
 *	counter++;
 *	nlock_mutex_unlock(&m);
 *
 * Conventions
 *  - A function returns 0 or a positive errno value, as the pthread functions do, unless it says otherwise. It never
 *    touches errno.
 *  - A name that ends in _until takes a clock and an absolute time on it.
 *  - Objects are plain memory: no pointers, no heap, no registration of threads. They may stand
 *    in static storage, on the heap, in shared memory, at different addresses in different
 *    processes. They must not be copied or moved while in use.
 *  - After fork (not _Fork or clone) the child may use, unlock or initialise anew what the forking thread held; threads of
 *    the parent that were waiting for a private object do not count there. Under NLOCK_PLACE_NODE and _FIRST such an object must be
 *    initialised anew; so it must where the child has the number of the process that they were of (a new PID namespace).
 *  - In a signal handler an object that the interrupted thread was working on must not be used, but to post to a semaphore.
 *    Others may, if nlock_features() has been called once before: the first contended call reads the environment and the CPU quota.
 *  - No function here is a cancellation point, but for nlock_cond_wait_any and nlock_sem_wait_posix.
 */
#ifndef NLOCK_H
#define NLOCK_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NLOCK_API __attribute__((visibility("default"), nothrow))
#define NLOCK_API_UNWINDS __attribute__((visibility("default"))) /* an exception, or a cancellation, may pass through */
#define NLOCK_MUST_CHECK __attribute__((warn_unused_result))

/* ------------------------------------------------------------------ attributes
 *
 * One 32-bit word holds three independent choices; combine one of each with "|". Zero is the
 * default of all three: NLOCK_BOUNDED | NLOCK_PLACE_HASH | NLOCK_PRIVATE.
 */
typedef uint32_t nlock_attr_t;

struct timespec;

/* Hand-off: how often may the waiter at the head be overtaken?
 *
 * A release either opens the lock (anyone may take it, also a thread that has just arrived) or
 * grants it (it stays taken, and only the waiter at the head may claim it). The hand-off
 * attribute says when an ordinary unlock grants:
 *
 *   NLOCK_BOUNDED       when the head has been overtaken NLOCK_BOUND_DEFAULT times, or has lost after it has been the
 *                       head for NLOCK_BOUND_NS. The default: throughput of a barging lock, no starvation.
 *   NLOCK_BOUNDED_N(k)  the same with a bound of k overtakings, 0 <= k <= 65535. (Both may grant sooner to a head that
 *                       follows one whose deadline has passed.)
 *   NLOCK_FIFO          always, if anybody waits: a bound of 0. A convoy, once formed, tends to stay (it ends when the others
 *                       lose their CPUs on their way to sleep): every acquisition then costs a context switch.
 *   NLOCK_BARGING       never: convoy avoidance. A waiter may starve.
 *
 * "The waiter at the head" is the thread that the lock has designated to be next: the first to wait when nobody else does;
 * afterwards whoever the kernel finds first in its queue. The kernel queues waiters in order of arrival among equals: a
 * waiter of higher real-time priority goes first, and one that a signal interrupts before it is the head goes to the end.
 * A thread that still watches, or is on its way to sleep, is not in the queue yet; if all waiters are on their way, a
 * release opens the lock whatever it was asked to do, and the thread that it wakes then has no place in line until it runs.
 */
#define NLOCK_BOUNDED      ((nlock_attr_t)0x0u)
#define NLOCK_FIFO         ((nlock_attr_t)0x1u)
#define NLOCK_BARGING      ((nlock_attr_t)0x2u)
#define NLOCK_BOUNDED_N(k) \
	((nlock_attr_t)(0x3u | ((k) < 0 || (k) > 0xffff ? NLOCK_BAD_ATTR : (uint32_t)(k) << 16)))

/* With another hand-off than FIFO or BOUNDED_N(0), for a mutex and for the writers of a rwlock: when the lock needs a new head, prefer a waiter
 * that sleeps on the node on which the lock is released, then one on the nearest node by the distances that the machine states
 * (numa_distance), among equals the oldest. Data that the lock guards then change nodes less often.
 * Here the bound is that of every waiter: of the threads that begin to lock after a waiter has fallen asleep, at most as many as the
 * bound get the lock before it by ordinary unlocks, newcomers and preferred waiters together. Once somebody may have been passed so
 * often, all who sleep then are served, in order of arrival, each by a grant. NLOCK_BARGING prefers for ever. NLOCK_BOUND_NS
 * remains a matter of the head: time makes nobody the head. What is said below about places in the kernel's queue is true here
 * too. On one node nobody is preferred, and what remains is the bound for every waiter.
 * Which node a thread sleeps on is where it ran when it went to sleep. Any placement: nodes here are not where waiters queue.
 * The next writer of a rwlock is called when an owner takes the lock: two threads that write again and again stay on a node only if
 * a third does; of a mutex two are enough. */
#define NLOCK_COHORT ((nlock_attr_t)0x20u)

#define NLOCK_BOUND_DEFAULT 20000   /* overtakings, under NLOCK_BOUNDED */
#define NLOCK_BOUND_NS      1000000 /* nanoseconds at the head, under NLOCK_BOUNDED and NLOCK_BOUNDED_N */

/* What NLOCK_BOUNDED means in this process: NLOCK_BOUND_DEFAULT; or what the environment variable NLOCK_HANDOFF says, which is read once,
 * and not in set-uid programs: fifo is 0, barging is UINT32_MAX (no bound), bounded=K is K, 0 to 65535; bounded, and anything
 * else, is the default. It does not change what the other three mean. Who releases a shared object decides. */
NLOCK_API uint32_t nlock_bound(void);

/* Placement: in which of the kernel's hash tables do waiters queue?
 *
 *   NLOCK_PLACE_HASH     the process's private hash (Linux 6.17) or the global one. Always works.
 *   NLOCK_PLACE_NODE(n)  the global table of NUMA node n, 0 <= n <= 1022, for ever.
 *   NLOCK_PLACE_FIRST    the global table of the node of the first waiter; chosen anew each time
 *                        that a thread starts to wait and nobody else does.
 *   NLOCK_PLACE_MPOL     the table of the node that the memory policy of the object's own mapping
 *                        prefers, if it has one. The policy must not change while anybody waits, and
 *                        kernels before 6.18.21 and 6.19.11 have a fault here (CVE-2026-23415):
 *                        ask for it only where you know both.
 *
 * All but HASH need futex2, also later: a filter that forbids it while somebody sleeps leaves that thread asleep.
 * NODE and FIRST need Linux 6.16, an object aligned to 8 bytes, and have a stronger rule for
 * the end of life, see nlock_mutex_destroy; not in memory from nlock_alloc_onnode. They never use the private hash.
 * Placement is where waiters queue, not where the object's memory is: that is the caller's, see nlock_alloc_onnode.
 */
#define NLOCK_PLACE_HASH ((nlock_attr_t)0x0u)
#define NLOCK_PLACE_NODE(n) \
	((nlock_attr_t)(0x4u | ((n) < 0 || (n) > 0x3fe ? NLOCK_BAD_ATTR : (uint32_t)(n) << 6)))
#define NLOCK_PLACE_FIRST ((nlock_attr_t)0x8u)
#define NLOCK_PLACE_MPOL  ((nlock_attr_t)0xcu)

/* Sharing: a PRIVATE object is used by the threads of one process through one mapping. A SHARED one may be used by
 * several processes, or through several mappings of its page; under another placement than HASH each of them must be able
 * to use futex2, and under MPOL the mappings must have the same policy.
 * nlock offers no robust locks. A process that is killed inside any call on a shared lock, unlock included, or while it holds
 * it, may leave it locked, granted to nobody, or open with the other waiters asleep for ever; then only trylock and
 * lock_until are sure to return. */
#define NLOCK_PRIVATE ((nlock_attr_t)0x00u)
#define NLOCK_SHARED  ((nlock_attr_t)0x10u)

/* Never valid: what the macros above yield for an argument out of range, so that init can refuse it. */
#define NLOCK_BAD_ATTR 0xffc0u

/* ------------------------------------------------------------------ mutex
 *
 * Mutual exclusion, no recursion, no owner check: the thread that locks is the one that unlocks,
 * or passes that duty on to another with proper synchronization. Everything done before an unlock is
 * visible after the next lock.
 */
typedef struct nlock_mutex {
	uint32_t word __attribute__((aligned(8)));   /* private; state and count of waiters */
	uint32_t node;                               /* private; where waiters queue, or whose they are */
	nlock_attr_t attr;                           /* private; constant after init */
	uint16_t bypass;                             /* private; the owner's */
	uint8_t watched, luck;                       /* private; hints */
} nlock_mutex_t;

/* Static initialisers. INIT_ATTR takes hand-off and sharing; placement other than HASH asks the kernel and therefore needs
 * nlock_mutex_init: here it does not compile ("array is negative"). The argument is a constant expression. */
#define NLOCK_MUTEX_INIT { 0, 0, 0, 0, 0, 0 }
#define NLOCK_NO_COHORT(a) (((a) & NLOCK_COHORT) && (((a) & 3u) == 1u || ((a) & 0xffff0003u) == 3u)) /* private */
#define NLOCK_MUTEX_INIT_ATTR(a) \
	{ 0, 0, (a) + 0u * sizeof(char[((a) & (0xcu | NLOCK_BAD_ATTR)) || NLOCK_NO_COHORT(a) ? -1 : 1]), 0, 0, 0 }

/* Makes *m an unlocked mutex with the given attributes. Reads nothing of what was there before.
 * Nobody may be using *m.
 *   EINVAL   attr is not a valid word (two hand-offs or two placements together may look like a third); m is not aligned
 *            to 8 bytes; NODE(n) with a node that this process cannot have
 *   ENOTSUP  the placement is not to be had: the kernel is too old, a filter forbids it, or NLOCK_FUTEX=legacy
 *   EFAULT   NODE or FIRST on memory that cannot be written */
NLOCK_API NLOCK_MUST_CHECK int nlock_mutex_init(nlock_mutex_t *m, nlock_attr_t attr);

/* Ends the life of *m: 0, or EBUSY if it is locked or has waiters (then it stays as it is).
 * Calling it is optional; nothing is freed.
 *
 * When may the memory go? Placement HASH and MPOL: as soon as the caller holds or has held the lock and knows that
 * nobody else will ask for it again. A thread that is still inside its unlock does not matter: after its release
 * it does not touch the object (it may still make a wake call with its address: harmless, but a thread that waits for
 * something else at that address by then may be woken for nothing, as every futex user must expect).
 * Placement NODE and FIRST: only when every call on *m has returned, because such a wake call reads the object. */
NLOCK_API int nlock_mutex_destroy(nlock_mutex_t *m);

/* Locks *m, waiting as long as it takes. 0, always. A thread that finds nobody waiting, or is next, watches the lock for a
 * short bounded time before it sleeps; not where the process may use less than two CPUs, by affinity or by the quota of the
 * root of control groups (v2) that it sees, which is read once. */
NLOCK_API int nlock_mutex_lock(nlock_mutex_t *m);

/* Locks *m if it is free: 0, or EBUSY. Makes no system call and never waits. A lock that has been
 * granted is not free; one that has been opened is, whoever waits for it. */
NLOCK_API NLOCK_MUST_CHECK int nlock_mutex_trylock(nlock_mutex_t *m);

/* Locks *m, waiting at the latest until `abs` on `clock` (CLOCK_MONOTONIC or CLOCK_REALTIME).
 *   0          locked; also when the deadline passed at the same moment
 *   ETIMEDOUT  not locked. A time in the past, also a negative one, makes one attempt and never blocks
 *   EINVAL     not locked: another clock, abs is NULL, or abs->tv_nsec not in 0 .. 999999999. Looked at only if the
 *              lock could not be had at once
 * Never returns before the deadline without the lock, but for EINVAL; never returns EINTR. */
NLOCK_API NLOCK_MUST_CHECK int nlock_mutex_lock_until(nlock_mutex_t *m, int clock, const struct timespec *abs);

/* Unlocks *m, which the caller holds. All three return 0, or EPERM if *m was found not to be
 * owned by anybody (a mutex owned by another thread cannot be told from the caller's own).
 *   unlock          opens or grants as the hand-off attribute says
 *   unlock_fair     grants, if there is a head (opens, if nobody waits or all are on their way to sleep)
 *   unlock_barging  opens
 * They may be mixed freely on one lock, release by release. */
NLOCK_API int nlock_mutex_unlock(nlock_mutex_t *m);
NLOCK_API int nlock_mutex_unlock_fair(nlock_mutex_t *m);
NLOCK_API int nlock_mutex_unlock_barging(nlock_mutex_t *m);

/* Gives way: if anybody waits, unlock_fair and then lock; else nothing. The caller holds *m before and after. For a long
 * holder that wants to let others in. 0, or EPERM as unlock (then nothing was locked). */
NLOCK_API int nlock_mutex_bump(nlock_mutex_t *m);

/* ------------------------------------------------------------------ condition variable
 *
 * Threads wait here, with a mutex or a rwlock given up, until another thread says that something has changed. There may be
 * wake-ups for nothing, so wait in a loop that looks at what was waited for:
 *
 *	nlock_mutex_lock(&m);
 *	while (!ready)
 *		nlock_cond_wait(&c, &m);
 *	nlock_mutex_unlock(&m);
 *
 * A thread is blocked from the moment at which the lock that it gave up can be had by others. A signal releases at least one
 * of the threads that are blocked then, a broadcast all of them; with the lock held or not. Who begins to wait after a
 * signal has returned is not released by it. A signal that has chosen a thread is not lost if that thread's deadline
 * passes or a signal handler interrupts it. Which of several blocked threads a signal releases is the kernel's choice:
 * among equals who has slept longest, but one of higher real-time priority goes first, and one that has been
 * interrupted has lost its place.
 *
 * No order is made between a signal and a wait that returns: what the threads tell each other goes by the lock.
 * The lock may be another one each time; that threads wait with different ones at the same time is allowed too.
 * The sharing and placement of the two objects need not be the same.
 */
typedef struct nlock_cond {
	uint64_t state __attribute__((aligned(8)));  /* private; who waits, who is about to leave */
	uint32_t gate, node;                         /* private; where waiters sleep */
	nlock_attr_t attr;                           /* private; constant after init */
	uint8_t luck, spare[3];                      /* private; luck: a hint */
	uint32_t gate2, mutex;                       /* private; for a broadcast that moves waiters to their mutex */
} nlock_cond_t;

/* All bytes zero: nobody waits, default attributes. */
#define NLOCK_COND_INIT { 0, 0, 0, 0, 0, { 0 }, 0, 0 }

/* Makes *c a condition variable for which nobody waits. Reads nothing of what was there before. Nobody may be using *c.
 * attr is a placement and a sharing; NLOCK_PLACE_FIRST here means the node of the thread that makes this call, for good.
 *   EINVAL   attr is not a valid word, or asks for a hand-off: nothing is handed over here; c is not aligned to 8 bytes;
 *            NODE(n) with a node that this process cannot have
 *   ENOTSUP  the placement is not to be had, see nlock_mutex_init
 *   EFAULT   NODE or FIRST on memory that cannot be written */
NLOCK_API NLOCK_MUST_CHECK int nlock_cond_init(nlock_cond_t *c, nlock_attr_t attr);

/* Ends the life of *c: 0, or EBUSY if somebody is blocked (then it stays as it is; it never waits for a blocked thread).
 * Allowed as soon as nobody is blocked and nobody will wait again, in particular right after a broadcast, with or without
 * the lock: it waits for those that have been released, or are still inside a signal or broadcast, to let go of *c. They
 * all run, none of them needs a lock for that. One thread calls it. Nothing is freed.
 *
 * When may the memory go? After destroy has returned 0, or when every call on *c has returned. Under NODE and FIRST:
 * only when every call on *c has returned, because a last wake call may read the object.
 * The locks are not touched by destroy, and a released thread takes its lock after it has let go of *c. */
NLOCK_API int nlock_cond_destroy(nlock_cond_t *c);

/* Gives *m up and blocks, as one step; when released, locks *m again, however long that takes, and returns. The caller
 * holds *m before and after, whatever the result.
 *   0      released, or woken for nothing
 *   EPERM  *m is owned by nobody; nothing was done (a mutex owned by another thread cannot be told from the caller's own)
 * Never returns EINTR: a signal handler runs, and the thread goes on waiting. A thread that finds nobody else waiting
 * watches for a short bounded time before it sleeps; not where the process may use less than two CPUs. */
NLOCK_API int nlock_cond_wait(nlock_cond_t *c, nlock_mutex_t *m);

/* The same, at the latest until `abs` on `clock` (CLOCK_MONOTONIC or CLOCK_REALTIME). The deadline is for being released:
 * to lock *m again may take longer.
 *   0          released, or woken for nothing; also when the deadline passed at the same moment
 *   ETIMEDOUT  the deadline has passed, and no signal was used up. A time in the past, also a negative one, gives *m up
 *              and takes it back, without blocking in between
 *   EINVAL     another clock, abs is NULL, or abs->tv_nsec not in 0 .. 999999999; nothing was done
 *   EPERM      as wait
 * Never returns ETIMEDOUT before the deadline. */
NLOCK_API NLOCK_MUST_CHECK int nlock_cond_wait_until(nlock_cond_t *c, nlock_mutex_t *m, int clock,
						     const struct timespec *abs);

/* Releases at least one of the threads that are blocked, if there are any. 0, always. With nobody blocked it is a load, and
 * makes no system call. It may release more than one, if those that it is for are still on their way to sleep. Not to
 * be called from a signal handler that may have interrupted a call on the same object. */
NLOCK_API int nlock_cond_signal(nlock_cond_t *c);

/* Releases all threads that are blocked. 0, always. A thread that waits again at once has nothing to do with this broadcast
 * any more, and takes nobody's place in it. */
NLOCK_API int nlock_cond_broadcast(nlock_cond_t *c);

/* After fork: in the child nobody waits, and a private object (not NODE or FIRST: those must be initialised anew) may be used
 * at once. A SHARED one goes on as before. A process that is killed while it waits on a shared object stays counted: a
 * signal may go to it for nothing, and destroy says EBUSY or waits for it; the object must then be abandoned.
 *
 * Counts: as many threads as Linux can have may wait. A waiter that is kept from running right before it sleeps, while others
 * wait and are released by exactly 2^31 broadcasts, or a multiple of it, sleeps through the last one. */

/* ------------------------------------------------------------------ reader-writer lock
 *
 * Any number of readers or one writer. What a writer did is visible to all who lock after it; what a reader read, it read before
 * the next writer. No owner check: who locks unlocks, or passes that duty on, as with the mutex.
 */
typedef struct nlock_rwlock {
	uint64_t state __attribute__((aligned(8)));  /* private; who is in, who waits */
	uint32_t rgate, rnode;                       /* private; where readers sleep */
	uint32_t wgate, wnode;                       /* private; where the next writer sleeps */
	nlock_attr_t attr;                           /* private; constant after init */
	uint16_t prefers, bypass;                    /* private; constant after init; the owner's */
	nlock_mutex_t seat;                          /* private; whose turn it is to be the next writer */
} nlock_rwlock_t;

/* Who goes first? The next writer is the one at the head of those that wait. The others queue behind it; a writer that takes the
 * lock makes the first of them the next writer, at once, unless readers are preferred or all are on their way to sleep.
 *
 *   PHASE_FAIR      readers and writers in turn. A reader that comes while a writer waits waits for that writer, and the
 *                   writer's release lets all waiting readers in before the next writer. So a writer that is next waits for the
 *                   readers that are in and at most one more admission of readers; a reader waits for one writer. Bound
 *                   by attribute: writers that take an opened lock may pass the next writer, see hand-off. The default.
 *   PREFER_READERS  a reader enters whenever no writer is in, and waiting readers go before waiting writers. Readers that
 *                   overlap for ever starve writers.
 *   PREFER_WRITERS  as PHASE_FAIR, but a writer's release hands over to the next writer if there is one. Writers that follow each
 *                   other for ever starve readers.
 *
 * May a thread lock for reading what it has locked for reading already? Under PREFER_READERS always. Under the others it may wait
 * for a writer that waits for it: for ever. nlock_rwlock_tryrdlock says EBUSY then.
 *
 * Hand-off is that of writers: an unlock that finds no reader to let in opens the lock for writers or grants it to the next writer, as
 * the attribute says; the last reader always grants. The place of the next writer is given on in order of arrival whatever the
 * attribute says, unless readers are preferred. Under NLOCK_PLACE_FIRST readers queue on the node on which the lock was
 * initialised. */
#define NLOCK_RW_PHASE_FAIR     0 /* readers and writers in turn */
#define NLOCK_RW_PREFER_READERS 1 /* readers first */
#define NLOCK_RW_PREFER_WRITERS 2 /* writers first */

/* Static initialisers, the second of a preference and of attributes with placement HASH: see the mutex's. */
#define NLOCK_RWLOCK_INIT { 0, 0, 0, 0, 0, 0, 0, 0, NLOCK_MUTEX_INIT }
#define NLOCK_RWLOCK_INIT_ATTR(prefers, a) \
	{ 0, 0, 0, 0, 0, (a), (prefers) + 0u * sizeof(char[(prefers) < 0 || (prefers) > 2 ? -1 : 1]), 0, \
	  NLOCK_MUTEX_INIT_ATTR(a) }

/* For what is almost only read, by several CPUs at the same time: a lock with slots, in which readers count themselves each near its
 * own CPU, while no writer comes. A writer that comes closes the slots first, which is work, and after 256 readers one opens them
 * again. Used by the functions below on &x.rw, which do what they say whatever the preference and the attributes, but that
 * trywrlock, tryupgrade and destroy may say EBUSY while another thread opens or closes the slots, and that trywrlock and
 * tryupgrade may have to wake a writer that has gone to sleep meanwhile. Zeroed memory, or nlock_rwlock_init on &x.rw, is a
 * lock that leaves its slots alone. */
#define NLOCK_READER_SLOTS 8
typedef struct nlock_rwlock_spread {
	nlock_rwlock_t rw __attribute__((aligned(64)));
	uint32_t mask, after;                        /* private; constant after init */
	uint32_t left;                               /* private; readers until it may pay */
	struct {
		uint64_t word __attribute__((aligned(64)));
	} slot[NLOCK_READER_SLOTS];                  /* private; readers that are in */
} nlock_rwlock_spread_t;

/* Makes *s an unlocked lock. Nobody may be using it.
 *   EINVAL, ENOTSUP, EFAULT   as nlock_rwlock_init; EINVAL also if s is not aligned to 64 bytes */
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_spread_init(nlock_rwlock_spread_t *s, int prefers, nlock_attr_t attr);

/* Makes *rw an unlocked lock. Nobody may be using it.
 *   EINVAL, ENOTSUP, EFAULT   as nlock_mutex_init; EINVAL also if prefers is none of the three above */
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_init(nlock_rwlock_t *rw, int prefers, nlock_attr_t attr);

/* Ends the life of *rw: 0, or EBUSY if it is held or waited for (then it stays as it is). Optional; nothing is freed. When the memory
 * may go: as with nlock_mutex_destroy, if the caller holds or has held the lock in any mode and knows that nobody else will
 * ask for it again, nor is asking, nor holds it; a thread that is still inside its unlock or downgrade does not matter. */
NLOCK_API int nlock_rwlock_destroy(nlock_rwlock_t *rw);

/* Locks for reading.
 *   0          locked
 *   EAGAIN     not locked: 33,554,432 readers have the lock or wait for it. All three may say so
 *   EBUSY      tryrdlock: a writer has the lock, or waits and goes first. It makes no system call and never waits
 *   ETIMEDOUT  rdlock_until, and
 *   EINVAL     rdlock_until: as nlock_mutex_lock_until. A reader that is let in as its deadline passes has the lock: 0 */
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_rdlock(nlock_rwlock_t *rw);
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_tryrdlock(nlock_rwlock_t *rw);
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_rdlock_until(nlock_rwlock_t *rw, int clock, const struct timespec *abs);

/* Locks for writing. wrlock: 0, always. trywrlock: 0, or EBUSY if anybody has the lock or it has been granted; one that has been
 * opened it takes, whoever waits. wrlock_until: 0, ETIMEDOUT or EINVAL as nlock_mutex_lock_until; a writer that gives up lets those
 * readers in that it kept out. The next writer watches for a short bounded time before it sleeps; nobody else does. */
NLOCK_API int nlock_rwlock_wrlock(nlock_rwlock_t *rw);
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_trywrlock(nlock_rwlock_t *rw);
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_wrlock_until(nlock_rwlock_t *rw, int clock, const struct timespec *abs);

/* Unlocks what the caller holds, in whichever mode; the other two say which. 0, or EPERM if nobody holds it in that mode. In the
 * child of a fork, what threads of the parent held, or had just been handed, stays held there, but for what the forking
 * thread itself unlocks: initialise the lock anew, or fork while holding it for writing. */
NLOCK_API int nlock_rwlock_unlock(nlock_rwlock_t *rw);
NLOCK_API int nlock_rwlock_rdunlock(nlock_rwlock_t *rw);
NLOCK_API int nlock_rwlock_wrunlock(nlock_rwlock_t *rw);

/* Turns the caller's write lock into a read lock, with no writer between, and lets waiting readers in (under PREFER_WRITERS only if
 * no writer waits). 0, or EPERM if it is not locked for writing. Never waits. */
NLOCK_API int nlock_rwlock_downgrade(nlock_rwlock_t *rw);

/* Turns the caller's read lock into a write lock, with no writer between, if there is no other reader and no writer is next (under
 * PREFER_READERS one may be). Never waits, so two that try cannot wait for each other.
 *   EBUSY   not done: the caller still holds the read lock
 *   EPERM   it is not locked for reading */
NLOCK_API NLOCK_MUST_CHECK int nlock_rwlock_tryupgrade(nlock_rwlock_t *rw);

/* The same as nlock_cond_wait and nlock_cond_wait_until, with a rwlock that the caller holds once, for reading or for writing; it
 * is held in the same mode again afterwards. Several readers may wait. Who changes what they wait for does so as a writer.
 *   EPERM      nobody holds *rw; nothing was done
 *   EAGAIN     the lock was held for reading and is not held now: see nlock_rwlock_rdlock. It takes 33,554,432 readers
 *   the rest   as there */
NLOCK_API int nlock_cond_wait_rwlock(nlock_cond_t *c, nlock_rwlock_t *rw);
NLOCK_API NLOCK_MUST_CHECK int nlock_cond_wait_rwlock_until(nlock_cond_t *c, nlock_rwlock_t *rw, int clock,
							    const struct timespec *abs);

/* How to give up a lock of any kind, which the caller holds, and to take it again: 0 or a positive errno value. */
struct nlock_any_lock {
	int (*unlock)(void *lock);
	int (*lock)(void *lock);
};

/* The same as nlock_cond_wait_until (abs NULL: for ever, on whatever clock), with a lock of any kind, and a cancellation point (also
 * when there is no need to block). In this order: the caller is registered; how->unlock(lock); it blocks; *c is let go of, whatever
 * happens to it then; how->lock(lock).
 *   0          released, or woken for nothing
 *   ETIMEDOUT  the deadline has passed
 *   EINVAL     another clock, or abs->tv_nsec not in 0 .. 999999999; nothing was done
 *   what unlock returns, if that is not 0: then nobody was released in this thread's place, and lock was not called
 *   what lock returns, if that is not 0, in preference to ETIMEDOUT
 * Never EINTR. A thread that is cancelled before it is registered holds its lock. One that is cancelled while it is blocked lets go of *c;
 * passes the signal on, if it may have been released by one, so that another thread may wake for nothing; calls how->lock(lock), and
 * ignores what that returns; then the unwinding goes on. A signal is not lost. The two functions must not unwind. While the thread is
 * blocked it can be cancelled at any instruction, so a signal handler that interrupts it then must be safe for that. */
NLOCK_API_UNWINDS int nlock_cond_wait_any(nlock_cond_t *c, const struct nlock_any_lock *how, void *lock, int clock,
					  const struct timespec *abs);

/* ------------------------------------------------------------------ barrier
 *
 * `count` threads wait for each other, again and again. What each of them did before its call is visible to all of them after it.
 */
typedef struct nlock_barrier {
	uint64_t state __attribute__((aligned(8)));  /* private; the round, and how many have arrived in it */
	uint32_t gate, node;                         /* private; where threads sleep */
	nlock_attr_t attr;                           /* private; constant after init */
	uint32_t count;                              /* private; constant after init */
	uint32_t left;                               /* private; who has left, where destroy sleeps */
	uint8_t luck, spare;                         /* private; luck: a hint */
	uint16_t tag;                                /* yours: nlock sets it to zero in init, and does not look at it */
} nlock_barrier_t;

#define NLOCK_BARRIER_SERIAL (-1) /* what one thread of each round gets from nlock_barrier_wait */
#define NLOCK_BARRIER_COUNT_MAX 0x7fffffff

/* Static initialiser, with the default attributes, for n threads: a constant expression from 1 to NLOCK_BARRIER_COUNT_MAX, else it
 * does not compile. Memory that is all zero is a barrier that has not been told for how many: nlock_barrier_wait says EINVAL. */
#define NLOCK_BARRIER_INIT(n) \
	{ 0, 0, 0, 0, (n) + 0u * sizeof(char[(n) >= 1 && (n) <= NLOCK_BARRIER_COUNT_MAX ? 1 : -1]), 0, 0, 0, 0 }

/* Makes *b a barrier for `count` threads. Reads nothing of what was there before. Nobody may be using *b.
 *   EINVAL   count is 0, or more than NLOCK_BARRIER_COUNT_MAX; attr is not a valid word, or has a hand-off: nothing is handed
 *            over here; *b is not aligned to 8 bytes; NODE(n) with a node that this process cannot have
 *   ENOTSUP  the placement is not to be had: the kernel is too old, a filter forbids it, or NLOCK_FUTEX=legacy
 *   EFAULT   NODE or FIRST on memory that cannot be written
 * Under FIRST the table is that of the node of the first thread of a round to go to sleep, if by then all threads of
 * earlier rounds had returned; else it stays as it was. */
NLOCK_API NLOCK_MUST_CHECK int nlock_barrier_init(nlock_barrier_t *b, uint32_t count, nlock_attr_t attr);

/* Ends the life of *b, also right after nlock_barrier_wait has returned, in whichever thread: it waits until the others, which have been
 * released, have left too. They are held up by nothing but the scheduler. Nobody may call nlock_barrier_wait any more.
 *   0        *b is at rest, and nobody touches it again: its memory may go, under every placement. (A wake call with an
 *            address in it may still be made: harmless, as for the mutex.) Until destroy has returned 0, the memory must stay
 *   EBUSY    threads wait for others that have not come. It stays as it is */
NLOCK_API int nlock_barrier_destroy(nlock_barrier_t *b);

/* Waits until `count` calls, this one included, have been made since the last round was full. Any number of threads may call: those
 * beyond count make up the next round.
 *   NLOCK_BARRIER_SERIAL   to one of them, the last to come; it is free to go on at once
 *   0                      to the others
 *   EINVAL                 the memory is all zero
 * There is no time limit, and never EINTR: a signal handler runs, and the thread waits on. A handler must not use the barrier that its
 * thread waits at. A thread for which fewer threads are still missing than there are CPUs (affinity, cgroup quota) watches
 * for a short bounded time before it sleeps; on one CPU none does.
 *
 * After a fork, threads of the parent that were waiting at a private barrier do not count in the child: there it is at rest, with
 * the same count. Under NLOCK_PLACE_NODE and _FIRST it must be initialised anew. At a SHARED barrier parent and child meet. There a
 * process that is killed inside a call may leave the others waiting for ever, in wait and in destroy. */
NLOCK_API int nlock_barrier_wait(nlock_barrier_t *b);

/* ------------------------------------------------------------------ semaphore
 *
 * A number of tokens. A post adds one, a wait takes one and waits until there is one to take; who posts need not have waited.
 * Everything done before a post is visible after the wait that takes its token.
 *
 * A token that is posted while threads wait goes to them and not into the value: from then on neither trywait nor value sees
 * it. Which of them gets it is the kernel's choice: the longest asleep, among equals (see Hand-off above); but one that is still
 * on its way to sleep may be quicker. May a thread that comes afterwards get past them, before any of them runs? That is what the
 * hand-off says here:
 *
 *   NLOCK_FIFO          no. A thread that posts and then waits goes behind those who were there. (What it may get is a token
 *                       whose post has not returned when it comes.)
 *   NLOCK_BOUNDED_N(k)  k times at most, for each waiter that goes with a token or at its deadline; 255 times if k is larger
 *   NLOCK_BOUNDED       255 times. There is no bound in time
 *   NLOCK_BARGING       always
 *
 * NLOCK_PLACE_FIRST places a semaphore on the node of the thread that calls init, for good.
 */
typedef struct nlock_sem {
	uint64_t state __attribute__((aligned(8)));  /* private; tokens and waiters */
	uint32_t gate, node;                         /* private; where waiters sleep, and on which node or whose they are */
	nlock_attr_t attr;                           /* private; constant after init */
	uint32_t claimed;                            /* private; of the tokens given to waiters */
} nlock_sem_t;

/* The most tokens there can be. Of waiters there can be 4194303, more than there can be threads. */
#define NLOCK_SEM_VALUE_MAX 0x7fffffff

/* Makes *s a semaphore of `value` tokens. Reads nothing of what was there before. Nobody may be using *s. Zeroed memory is
 * a semaphore without tokens, of the default attributes.
 *   EINVAL   value is above NLOCK_SEM_VALUE_MAX; attr is not a valid word; s is not aligned to 8 bytes; NODE(n) with a node
 *            that this process cannot have
 *   ENOTSUP, EFAULT   as nlock_mutex_init */
NLOCK_API NLOCK_MUST_CHECK int nlock_sem_init(nlock_sem_t *s, uint32_t value, nlock_attr_t attr);

/* Ends the life of *s: 0, or EBUSY if threads are waiting (then it stays as it is). Calling it is optional; nothing is freed.
 *
 * When may the memory go? Placement HASH and MPOL: as soon as every wait on *s has returned and the caller knows that every post has
 * been waited for, because it has taken the last token itself, or has heard it of those who did. A thread that is still inside
 * its post does not matter: once its token can be taken, or its last waiter can go, it does not touch *s (it may
 * still make a wake call with the address, as nlock_mutex_destroy says).
 * Placement NODE and FIRST: only when every call on *s has returned. */
NLOCK_API int nlock_sem_destroy(nlock_sem_t *s);

/* Takes a token, waiting as long as it takes. 0, always; never EINTR. A thread that finds nobody waiting watches for a short
 * bounded time before it sleeps; not where the process may use less than two CPUs. */
NLOCK_API int nlock_sem_wait(nlock_sem_t *s);

/* Takes a token if there is one: 0, or EAGAIN. Makes no system call and never waits. A token that was posted to waiters is
 * theirs, under every hand-off. */
NLOCK_API NLOCK_MUST_CHECK int nlock_sem_trywait(nlock_sem_t *s);

/* Takes a token, waiting at the latest until `abs` on `clock` (CLOCK_MONOTONIC or CLOCK_REALTIME).
 *   0          has a token; also when the deadline passed at the same moment
 *   ETIMEDOUT  has none. A time in the past, also a negative one, makes one attempt and never blocks
 *   EINVAL     has none: another clock, abs is NULL, or abs->tv_nsec not in 0 .. 999999999. Looked at only if there was no
 *              token at once
 * Never returns before the deadline without a token; never EINTR. It returns later if a post has already promised it a token and
 * was then kept from running. */
NLOCK_API NLOCK_MUST_CHECK int nlock_sem_wait_until(nlock_sem_t *s, int clock, const struct timespec *abs);

/* The same (abs NULL: for ever, on whatever clock), but a cancellation point, also when there is a token at once; and
 *   EINTR      has none: a signal handler has run while the thread slept. (One installed with SA_RESTART is no reason, but for a wait
 *              with a deadline on the classic futex)
 * A thread that is cancelled in its sleep has no token, and none is lost: one that was on its way to it goes to another waiter, or
 * back into the value. If a post has promised it one, it first waits until that post, which waits for nobody, has got on; a token that
 * is put back where there are NLOCK_SEM_VALUE_MAX by then is dropped. While it sleeps it can be cancelled at any instruction, so a signal
 * handler that interrupts it then must be safe for that. */
NLOCK_API_UNWINDS int nlock_sem_wait_posix(nlock_sem_t *s, int clock, const struct timespec *abs);

/* Adds one token, or n at once. 0, or EOVERFLOW if there would then be more than NLOCK_SEM_VALUE_MAX (nothing is added, not
 * even to waiters). n = 0 does nothing. Both never wait, and may be called in a signal handler, also on a semaphore that the
 * interrupted thread is waiting for or posting to. */
NLOCK_API int nlock_sem_post(nlock_sem_t *s);
NLOCK_API int nlock_sem_post_n(nlock_sem_t *s, uint32_t n);

/* How many tokens there are to be taken: 0 if anybody waits. It may be another number by the time it is read. */
NLOCK_API uint32_t nlock_sem_value(const nlock_sem_t *s);

/* ------------------------------------------------------------------ once
 *
 * An initialiser that runs once, whoever comes first.
 */
typedef struct nlock_once {
	uint32_t word;                               /* private; where it stands, and whose it is */
} nlock_once_t;

#define NLOCK_ONCE_INIT { 0 }

/* Calls init(arg) if no call on *o has completed yet; returns 0 when one has, this one or another's. Everything that init did is
 * visible then. Threads that come meanwhile wait; there is no deadline, and no hand-off to choose. Without contention, and ever after,
 * it makes no system call.
 *   EINVAL   o is NULL or not aligned to 4 bytes; init is NULL
 *
 * If init does not return, because of a C++ exception, pthread_exit or a cancellation, it has not been called: of those who wait one
 * calls init again. (The exception goes on to the caller. What longjmp out of init does is undefined.) nlock_once itself is
 * no cancellation point; init may contain some. A call of nlock_once on *o from inside init waits for itself, for ever.
 * *o belongs to one process. In the child of a fork an init that another thread was in is one that has not been called; one that
 * the forking thread is in itself goes on in both, and its other threads must not come before it has completed.
 * The memory of *o may go when nobody will call any more and each call has returned, or has completed init. In a
 * signal handler it must not be used. */
NLOCK_API_UNWINDS int nlock_once(nlock_once_t *o, void (*init)(void *), void *arg);

/* ------------------------------------------------------------------ memory on a node
 *
 * Where an object's memory is and where its waiters queue are two things: this is about the first, placement about the second.
 */
enum nlock_type {
	NLOCK_TYPE_MUTEX,         /* nlock_mutex_t */
	NLOCK_TYPE_COND,          /* nlock_cond_t */
	NLOCK_TYPE_RWLOCK,        /* nlock_rwlock_t */
	NLOCK_TYPE_RWLOCK_SPREAD, /* nlock_rwlock_spread_t */
	NLOCK_TYPE_BARRIER,       /* nlock_barrier_t */
	NLOCK_TYPE_SEM,           /* nlock_sem_t */
};

/* Gives *object memory for one object of the type, on NUMA node `node`: zeroed, that is, valid with the default attributes (but a
 * barrier must be initialised), in cache lines of its own. Private: after a fork parent and child have a copy each, so it is
 * no place for objects that processes share.
 *   EINVAL   there is no such type; object is NULL; the node does not exist, has no memory, or is not allowed to this process
 *   ENOMEM   no memory
 *   ENOTSUP  the kernel has no NUMA calls, or a filter forbids them
 * On anything but 0 *object is left alone. Takes a lock, and may make system calls: not in a signal handler. */
NLOCK_API NLOCK_MUST_CHECK int nlock_alloc_onnode(enum nlock_type type, int node, void **object);

/* Gives the memory back, for another object of the same type on the same node; it is never unmapped. So objects that stand here may go
 * under every placement when those of placement HASH may: a wake call that is still made does no harm. Nobody may
 * use the object any more; whether anybody does is not looked at. NULL is nothing to do.
 *   EINVAL   it is not memory from nlock_alloc_onnode, or has been given back already; nothing was done */
NLOCK_API int nlock_free_onnode(void *object);

/* ------------------------------------------------------------------ the library and the kernel */

#define NLOCK_VERSION_MAJOR 0
#define NLOCK_VERSION_MINOR 1
#define NLOCK_VERSION_PATCH 0
#define NLOCK_VERSION ((NLOCK_VERSION_MAJOR << 16) | (NLOCK_VERSION_MINOR << 8) | NLOCK_VERSION_PATCH)

/* The version of the library that is running, in the form of NLOCK_VERSION. */
NLOCK_API uint32_t nlock_version(void);

/* What works here, found by trying it once. With the environment variable NLOCK_FUTEX=legacy no futex2 call
 * is made, except on an object of another placement than HASH that another process initialised, and the first five are
 * absent (it is ignored in set-uid programs). */
#define NLOCK_HAS_WAIT    0x01u /* futex_wait and futex_wake (Linux 6.7), else the classic futex(2) is used */
#define NLOCK_HAS_REQUEUE 0x02u /* futex_requeue (6.7) */
#define NLOCK_HAS_WAITV   0x04u /* futex_waitv (5.16) */
#define NLOCK_HAS_NUMA    0x08u /* FUTEX2_NUMA (6.16) */
#define NLOCK_HAS_MPOL    0x10u /* FUTEX2_MPOL (6.16) */
#define NLOCK_HAS_HASH    0x20u /* the private hash can be asked for (6.16; usable from 6.17) */
#define NLOCK_HAS_STATS   0x40u /* built with --enable-stats */
NLOCK_API uint32_t nlock_features(void);

/* The number of slots of this process's private hash: 0 when it uses the global one, or a negative errno
 * value when the kernel has no private hash. */
NLOCK_API int nlock_hash_slots(void);

/* Asks for n slots for this process's private hash: n is rounded up to a power of two, at least 2 and at most the larger of 16 and 8 for
 * each CPU that the process may use. It stays so until it is asked for again; a forked child begins with the kernel's own choice.
 * If there are other threads the call may block for tens of milliseconds: not for a path that is in a hurry. NODE and FIRST do not
 * use the private hash. nlock makes this call nowhere else, except before main for who sets NLOCK_HASH_SLOTS in the environment.
 *   EINVAL   n is 0
 *   EBUSY    the process uses the global hash for good
 *   ENOMEM   no memory
 *   ENOTSUP  the kernel has no private hash (before 6.17), or a filter forbids it */
NLOCK_API NLOCK_MUST_CHECK int nlock_hash_set_slots(uint32_t n);

/* Lets the waiters of this process queue in the kernel's global hash, from now on and for good: nothing undoes it, but a forked child or
 * a program that is executed begins anew. May block as nlock_hash_set_slots. nlock makes this call nowhere else, except
 * before main where the environment says NLOCK_HASH_SLOTS=global.
 *   EBUSY             it has been done already
 *   ENOMEM, ENOTSUP   as nlock_hash_set_slots */
NLOCK_API NLOCK_MUST_CHECK int nlock_hash_use_global(void);

/* Suggests a number of slots for `threads` threads that contend for `locks` objects of placement HASH: 8 for each object that can be slept
 * on at the same time, which is the smaller of the two, rounded up to a power of two; at least 2, at most 2^31. A function of its
 * arguments alone: it asks for nothing, and nlock_hash_set_slots may give less. nlock_hash(3) has the reason. */
NLOCK_API uint32_t nlock_hash_fit(uint32_t threads, uint32_t locks);

/* Process-wide counts of what the contended paths of all locks did, when the library was built with --enable-stats. One
 * acquisition may count as waited and as barge. */
typedef struct nlock_stats {
	uint64_t grants;   /* acquisitions by a grant */
	uint64_t barges;   /* acquisitions of an open lock past the head; with NLOCK_COHORT past anybody who waits, and calls of a
	                    * waiter that is near and may not be the oldest */
	uint64_t waited;   /* acquisitions of an open lock by a thread that had waited */
	uint64_t sleeps;   /* wait calls made: times a thread went to sleep, or tried to */
	uint64_t wakes;    /* wake calls made */
	uint64_t woken;    /* threads that these woke */
	uint64_t timeouts; /* waiters that gave up: at their deadline, or, of a semaphore, interrupted or cancelled */
	uint64_t bypass_max; /* most overtakings that one head has suffered; counted up to 65535, and together with those of a
	                      * head before it that gave up at its deadline */
} nlock_stats_t;

/* Copies the counts to *s: 0, or ENOTSUP if the library does not count; then *s is left alone. */
NLOCK_API NLOCK_MUST_CHECK int nlock_stats(nlock_stats_t *s);

#ifdef __cplusplus
}
#endif

#endif
