/* SPDX-License-Identifier: MIT
 *
 * wait.c - sleeping and waking on futex2, or on the classic futex(2) where there is none
 *
 * Which calls
 *   Decided once per process, by trying each for its effect before the first use: anything but the one right answer
 *   (ENOSYS, EPERM and EACCES of filters, EINVAL of older kernels) means that it is not here. For words of placement HASH
 *   the two families share one queue, so a filter that arrives later is survived too: the call that it refuses is made
 *   again in the old family, and from then on everywhere. Only EINVAL of a wake says nothing about other calls: it may
 *   come late, and hit memory that is a priority-inheritance mutex by now. The other placements exist only in futex2;
 *   they are always tried there, since the filter may be another thread's.
 *
 * Placement
 *   The kernel must never see "no node" in a NUMA word: it would fill it in with two plain accesses, and two first
 *   waiters on two nodes could then queue in two tables, and one is never woken. So the node is a real one from init
 *   on. Under PLACE_FIRST it changes only in nl_wait_enter, by one compare-exchange of {word, node} whose old word
 *   counts nobody: nobody waits or is about to, and a late wake for an earlier waiter has no sleeper left to miss.
 *   A NUMA wake reads the node, which is memory; that is why these objects must outlive every call on them.
 *
 * Fork
 *   The child of a fork has copies of private objects, but none of the threads that wait on them. In a private object that
 *   is not NUMA the second word, which the kernel does not look at, names the process that the waiters are of; zero is
 *   no process yet. Handlers of pthread_atfork keep up with who we are; _Fork and clone do not call them. Those of others may run
 *   before ours in the child, and unlock and lock there: so from the first of ours, before the fork, until the last, after it, the
 *   kernel is asked each time. (A number can come
 *   again in a new PID namespace, or after all others have been used: the header says what to do then. A count of forks
 *   could not, but two copies of this library would not count alike.)
 *
 * Hash
 *   NLOCK_HASH_SLOTS is read here, and not at the first use: only before the second thread does the kernel answer at once, and this
 *   file is in every program that uses a primitive, also in one that is linked statically. A process may hold several copies of
 *   this library, as under `nlock run'. The second finds what the first was given, and leaves it: asking again would block.
 *   "global" is for good, but it is the user's own word, cannot be meant otherwise, and ends with the process.
 *
 * Cancellation
 *   A wait that can be cancelled is made with the thread asynchronously cancellable, as the C library makes its own: only so is there no
 *   moment between a test and the system call at which a cancellation goes unseen. Between the two switches of the type stands
 *   nothing but the call and what chooses it: no lock, no allocation, no store that matters. When the handler runs the thread may not
 *   have slept yet, or have been taken out of the queue already: the primitive must reckon with each.
 *   The handler is one that is found by setjmp, not by the compiler's tables, which know only of calls (Makefile.am); those
 *   that unwind the frames between are there for every instruction.
 *
 * Failure
 *   A wait that fails in a way nobody foresaw sleeps a millisecond and says "look again": slow, but never a busy loop.
 *   A wake that fails found nobody: the object may be gone, which is allowed.
 *   So a node that the kernel refuses (EINVAL; memory that comes from a machine with more nodes) strands nobody. Who sleeps was
 *   accepted with the node that stands in the object, and that stays until nobody is registered; a wake with it is accepted too. Who is
 *   not accepted does not sleep, but looks every millisecond, and needs no wake.
 */
#define _GNU_SOURCE
#include "wait.h"

#include "atomic.h"
#include "attr.h"
#include "futex2.h"
#include "policy.h"
#include "stats.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000

/* About what a sleep and a wake across CPUs cost: watching that long is never worse than twice the best choice. */
#define WATCH_NS 20000

#define FEATURES_KNOWN 0x80000000u

/* Relaxed: whoever reads a stale value finds the same out again. */
static uint32_t quota = UINT32_MAX;                  /* CPUs */
static uint32_t default_limit = NLOCK_BOUND_DEFAULT; /* of overtakings */
static uint32_t features;                            /* NLOCK_HAS_* and FEATURES_KNOWN; 0 before the first use */

/* ---------------------------------------------------------------- what works here */

/* A wake of nobody answers 0, a wait for another value EAGAIN; both, because a filter may let one through. */
static bool has_wait(void)
{
	uint32_t word[2] __attribute__((aligned(8))) = { 0, 0 };

	return nl_futex2_wake(word, NL_LANE_ALL, 0, FUTEX2_U32 | FUTEX2_PRIVATE) == 0 &&
	       nl_futex2_wait(word, 1, NL_LANE_ALL, FUTEX2_U32 | FUTEX2_PRIVATE, NULL, 0) == -EAGAIN;
}

/* An unknown flag is EINVAL; a known one wakes nobody, of node 0. */
static bool has_flag(uint32_t flag)
{
	uint32_t word[2] __attribute__((aligned(8))) = { 0, 0 };

	return nl_futex2_wake(word, NL_LANE_ALL, 0, FUTEX2_U32 | FUTEX2_PRIVATE | flag) == 0;
}

/* The calls that take an array: a wrong value in its first element answers EAGAIN. */
static bool has_pair(bool (*try)(const struct nl_futex_waitv *))
{
	uint32_t word[2] = { 0, 0 };
	struct nl_futex_waitv v[2] = {
		{ 1, (uintptr_t)&word[0], FUTEX2_U32 | FUTEX2_PRIVATE, 0 },
		{ 0, (uintptr_t)&word[1], FUTEX2_U32 | FUTEX2_PRIVATE, 0 },
	};

	return try(v);
}

static bool try_requeue(const struct nl_futex_waitv *v)
{
	return nl_futex2_requeue(v, 0, 0) == -EAGAIN;
}

static bool try_waitv(const struct nl_futex_waitv *v)
{
	return nl_futex2_waitv(v, 1, NULL, 0) == -EAGAIN;
}

/* How many CPUs' worth of time the control group (v2) grants, where it is the root that this process sees; UINT32_MAX for
 * no limit. */
static uint32_t quota_cpus(void)
{
	char text[48], *end;
	unsigned long long time, period;

	if (nl_read_text("/sys/fs/cgroup/cpu.max", text, sizeof(text)) <= 0 || *text < '0' || *text > '9')
		return UINT32_MAX; /* "max 100000": no limit */
	time = strtoull(text, &end, 10);
	period = strtoull(end, NULL, 10);
	return period && time / period < UINT32_MAX ? (uint32_t)(time / period) : UINT32_MAX;
}

/* fifo, barging, bounded or bounded=K. Anything else says nothing. */
static uint32_t limit_in(const char *text)
{
	static const char bounded[] = "bounded=";
	uint32_t k = 0;

	if (text && !strcmp(text, "fifo"))
		return 0;
	if (text && !strcmp(text, "barging"))
		return NL_NO_LIMIT;
	if (!text || strncmp(text, bounded, sizeof(bounded) - 1) || !text[sizeof(bounded) - 1])
		return NLOCK_BOUND_DEFAULT;
	for (text += sizeof(bounded) - 1; *text >= '0' && *text <= '9' && k <= UINT16_MAX; text++)
		k = k * 10 + (uint32_t)(*text - '0');
	return *text || k > UINT16_MAX ? NLOCK_BOUND_DEFAULT : k;
}

/* The environment is not read in set-uid programs. */
static uint32_t probe(void)
{
	const char *mode = secure_getenv("NLOCK_FUTEX");
	uint32_t f = FEATURES_KNOWN;

	nl_store_rlx(&quota, quota_cpus());
	nl_store_rlx(&default_limit, limit_in(secure_getenv("NLOCK_HANDOFF")));

	if (mode && !strcmp(mode, "legacy"))
		return f;
	if (has_pair(try_waitv))
		f |= NLOCK_HAS_WAITV;
	if (!has_wait())
		return f;
	f |= NLOCK_HAS_WAIT;
	if (has_pair(try_requeue))
		f |= NLOCK_HAS_REQUEUE;
	if (has_flag(FUTEX2_NUMA))
		f |= NLOCK_HAS_NUMA;
	if (has_flag(FUTEX2_MPOL))
		f |= NLOCK_HAS_MPOL;
	return f;
}

/* Two threads may probe at once: they find the same. */
static uint32_t known(void)
{
	uint32_t f = nl_load_rlx(&features);

	if (!f) {
		f = probe();
		nl_store_rlx(&features, f);
	}
	return f;
}

/* Without our own bit. */
uint32_t nl_wait_features(void)
{
	return known() & ~FEATURES_KNOWN;
}

uint32_t nl_default_limit(void)
{
	known();
	return nl_load_rlx(&default_limit);
}

/* Is this an error that the call never has where it works? Then somebody does not let us make it. */
static bool is_refused(long rc)
{
	return rc < 0 && rc != -EAGAIN && rc != -EINTR && rc != -ETIMEDOUT && rc != -EFAULT;
}

/* From now on the old family, everywhere. */
static void give_up_futex2(void)
{
	nl_store_rlx(&features, FEATURES_KNOWN);
}

/* ---------------------------------------------------------------- attributes to flags: the one place */

/* Where the old family does not reach. */
static bool is_placed(nlock_attr_t attr)
{
	return (attr & A_PLACE) != NLOCK_PLACE_HASH;
}

/* The kernel reads the second word too. */
static bool is_numa(nlock_attr_t attr)
{
	return (attr & A_PLACE) == A_PLACE_NODE || (attr & A_PLACE) == NLOCK_PLACE_FIRST;
}

/* A function of the attributes alone, so that wait and wake on one object cannot differ. */
static uint32_t flags_of(nlock_attr_t attr)
{
	uint32_t flags = FUTEX2_U32;

	if (!(attr & A_SHARED))
		flags |= FUTEX2_PRIVATE;
	if (is_numa(attr))
		flags |= FUTEX2_NUMA;
	if ((attr & A_PLACE) == NLOCK_PLACE_MPOL)
		flags |= FUTEX2_MPOL;
	return flags;
}

/* The same for the old family, where privacy is a bit of the operation. */
static int op_of(nlock_attr_t attr, int op)
{
	return attr & A_SHARED ? op : op | NL_OP_PRIVATE;
}

/* ---------------------------------------------------------------- time */

/* Saturates. */
static int64_t seconds_to_ns(int64_t sec, int64_t nsec)
{
	return sec > INT64_MAX / NSEC_PER_SEC - 1 ? INT64_MAX : sec * NSEC_PER_SEC + nsec;
}

/* Neither call below touches errno: the clocks exist, and the time is on the stack. */
int64_t nl_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return seconds_to_ns(t.tv_sec, t.tv_nsec);
}

/* By comparing, not subtracting: deadlines may be anywhere. */
static bool is_past(const struct nl_deadline *d)
{
	struct timespec now;

	clock_gettime(d->clock, &now);
	if ((int64_t)now.tv_sec != d->sec)
		return now.tv_sec > d->sec;
	return now.tv_nsec >= d->nsec;
}

/* A negative time is as past as zero is, and the kernel would refuse it. */
int nl_deadline_set(struct nl_deadline *d, clockid_t clock, const struct timespec *abs)
{
	if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
		return -EINVAL;
	if (!abs || abs->tv_nsec < 0 || abs->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*d = (struct nl_deadline){ clock, abs->tv_sec, abs->tv_nsec, NULL, NULL };
	if (d->sec < 0)
		d->sec = d->nsec = 0;
	return is_past(d) ? -ETIMEDOUT : 0;
}

/* Affinity is asked of the process, that is of its first thread: a program whose other threads are pinned to a CPU each still
 * has more than one. */
static uint32_t usable_cpus(void)
{
	uint32_t most = nl_load_rlx(&quota), cpus = 2;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (nl_syscall(SYS_sched_getaffinity, (uintptr_t)getpid(), sizeof(set), (uintptr_t)&set, 0, 0, 0) > 0)
		cpus = (uint32_t)CPU_COUNT(&set);
	return cpus < most ? cpus : most;
}

/* Affinity may change while the program runs, so the answer is not kept for long. The quota is read once. */
uint32_t nl_wait_cpus(void)
{
	static uint32_t asked, cpus;
	uint32_t n = nl_load_rlx(&asked);

	nl_store_rlx(&asked, n + 1);
	if (n % 4096 == 0) {
		known();
		nl_store_rlx(&cpus, usable_cpus());
	}
	return nl_load_rlx(&cpus) ? nl_load_rlx(&cpus) : 1;
}

uint32_t nl_wait_cpu(void)
{
	return (uint32_t)sched_getcpu();
}

int64_t nl_watch_ns(void)
{
	return nl_wait_cpus() > 1 ? WATCH_NS : 0;
}

/* luck: how many watches in a row were in vain; from IN_VAIN on, how many have been left out since. */
#define IN_VAIN  3
#define LEFT_OUT 64

bool nl_watch_try(uint8_t *luck)
{
	uint8_t n = nl_load8_rlx(luck);

	if (!nl_watch_ns())
		return false;
	if (n < IN_VAIN)
		return true;
	nl_store8_rlx(luck, n < IN_VAIN + LEFT_OUT ? (uint8_t)(n + 1) : IN_VAIN - 1);
	return false;
}

void nl_watch_tell(uint8_t *luck, bool has_paid)
{
	uint8_t n = nl_load8_rlx(luck);

	if (has_paid && n)
		nl_store8_rlx(luck, 0);
	else if (!has_paid && n < IN_VAIN)
		nl_store8_rlx(luck, (uint8_t)(n + 1));
}

/* ---------------------------------------------------------------- sleeping and waking */

/* One attempt; 0 or -errno. A refused futex2 call is made again in the old family. */
static long wait_once(uint32_t *word, nlock_attr_t attr, uint32_t expected, uint32_t lane, const struct nl_deadline *d)
{
	struct nl_timespec abs, *at = NULL;
	int clock = d ? d->clock : CLOCK_MONOTONIC;
	long rc;

	if (d && seconds_to_ns(d->sec, d->nsec) < INT64_MAX) { /* beyond what the kernel can count is for ever */
		abs = (struct nl_timespec){ d->sec, d->nsec };
		at = &abs;
	}
	if (is_placed(attr) || (known() & NLOCK_HAS_WAIT)) {
		rc = nl_futex2_wait(word, expected, lane, flags_of(attr), at, clock);
		if (is_placed(attr) || !is_refused(rc))
			return rc;
		give_up_futex2();
	}
	return nl_futex1_wait(word, op_of(attr, NL_OP_WAIT_BITSET) | (clock == CLOCK_REALTIME ? NL_OP_REALTIME : 0),
			      expected, at, lane);
}

void nl_cancel_point(void)
{
	pthread_testcancel();
}

/* The same, as a cancellation point: in the call alone, and in what little there is around it, the thread may be cancelled at
 * any instruction. The first use, which opens a file, must be over by then. */
static long wait_cancellable(uint32_t *word, nlock_attr_t attr, uint32_t expected, uint32_t lane,
			     const struct nl_deadline *d)
{
	int type;
	long rc;

	known();
	pthread_cleanup_push(d->abandon, d->arg);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	rc = wait_once(word, attr, expected, lane, d);
	pthread_setcanceltype(type, &type);
	pthread_cleanup_pop(0);
	return rc;
}

/* Every deadline is compared here first: an expired timer costs the kernel more than a sleep and a wake. */
enum nl_outcome nl_wait(uint32_t *word, nlock_attr_t attr, uint32_t expected, uint32_t lane,
			const struct nl_deadline *d)
{
	const bool is_cancellable = d && d->abandon;

	if (d && is_past(d))
		return NL_TIMEDOUT;
	NL_COUNT(sleeps, 1);
	switch ((is_cancellable ? wait_cancellable : wait_once)(word, attr, expected, lane, d)) {
	case 0:
		return NL_WOKEN;
	case -ETIMEDOUT:
		if (is_past(d))
			return NL_TIMEDOUT;
		nl_nap(); /* the time was cut to 32 bits */
		return NL_LOOK;
	case -EAGAIN: /* the word was not `expected` */
		return NL_LOOK;
	case -EINTR: /* the place in the queue is lost */
		return is_cancellable ? NL_INTR : NL_LOOK;
	default:
		nl_nap(); /* see Failure above */
		return NL_LOOK;
	}
}

/* The object may be gone: EFAULT means that there is nobody to wake. */
int nl_wake(uint32_t *word, nlock_attr_t attr, int n, uint32_t lanes)
{
	bool is_classic = !is_placed(attr) && !(known() & NLOCK_HAS_WAIT);
	long rc = 0;

	if (!is_classic) {
		rc = nl_futex2_wake(word, lanes, n, flags_of(attr));
		is_classic = !is_placed(attr) && is_refused(rc);
		if (is_classic && rc != -EINVAL)
			give_up_futex2();
	}
	if (is_classic)
		rc = nl_futex1_wake(word, op_of(attr, NL_OP_WAKE_BITSET), n, lanes);
	rc = rc < 0 ? 0 : rc;
	NL_COUNT(wakes, 1);
	NL_COUNT(woken, rc);
	return (int)rc;
}

bool nl_wait_may_move(nlock_attr_t from, nlock_attr_t to)
{
	return !((from | to) & (A_PLACE | A_SHARED)) && (known() & NLOCK_HAS_REQUEUE);
}

/* A refused call has done nothing. The two families share one queue: those who sleep can still be woken. */
bool nl_move(uint32_t *from, uint32_t expected, uint32_t *to, int n)
{
	const uint32_t flags = flags_of(NLOCK_PRIVATE);
	const struct nl_futex_waitv pair[2] = {
		{ expected, (uintptr_t)from, flags, 0 },
		{ 0, (uintptr_t)to, flags, 0 },
	};
	long rc;

	if (!(known() & NLOCK_HAS_REQUEUE))
		return false;
	rc = nl_futex2_requeue(pair, n, INT_MAX);
	if (is_refused(rc))
		give_up_futex2();
	NL_COUNT(wakes, 1);
	return rc >= 0;
}

/* ---------------------------------------------------------------- placement */

/* The two words as the kernel sees them, and as one for the exchange. */
union pair {
	uint32_t half[2]; /* word, node */
	uint64_t both;
};

static bool cas_pair(uint32_t *word, uint32_t *seen, uint32_t second, uint32_t v, uint32_t new_second)
{
	union pair old = { .half = { *seen, second } }, new = { .half = { v, new_second } };
	bool done = nl_cas_pair_rlx((nl_pair *)word, &old.both, new.both);

	*seen = old.half[0];
	return done;
}

/* The raw call: not every C library has the function. */
uint32_t nl_wait_node(void)
{
	uint32_t node = 0;

	return nl_syscall(SYS_getcpu, 0, (uintptr_t)&node, 0, 0, 0, 0) ? 0 : node;
}

bool nl_wait_enter(uint32_t *word, nlock_attr_t attr, uint32_t *seen, uint32_t v)
{
	/* elsewhere the second word is constant */
	if ((attr & A_PLACE) != NLOCK_PLACE_FIRST)
		return nl_cas_rlx(word, seen, v);
	return cas_pair(word, seen, nl_load_rlx(&word[1]), v, nl_wait_node());
}

/* ---------------------------------------------------------------- fork */

static uint32_t process; /* who we are; 0: not asked yet */
static uint64_t forks;   /* that are under way: we may be the child already */

static uint32_t this_process(void)
{
	uint32_t known_as = nl_get_rlx(&forks) ? 0 : nl_load_rlx(&process);

	return known_as ? known_as : (uint32_t)getpid();
}

static void begin_fork(void)
{
	nl_count_rlx(&forks, 1);
}

static void end_fork_in_parent(void)
{
	nl_count_rlx(&forks, (uint64_t)-1);
}

/* Those that other threads of the parent have begun do not end here. */
static void end_fork_in_child(void)
{
	nl_store_rlx(&process, (uint32_t)getpid());
	nl_store64_rlx(&forks, 0);
}

uint32_t nl_wait_process(void)
{
	return this_process();
}

bool nl_wait_is_foreign(const uint32_t *word, nlock_attr_t attr)
{
	return !(attr & A_SHARED) && !is_numa(attr) && nl_load_rlx(&word[1]) != this_process();
}

bool nl_wait_adopt(uint32_t *word, uint32_t *seen, uint32_t v)
{
	uint32_t from = nl_load_rlx(&word[1]);

	return from != this_process() && cas_pair(word, seen, from, v, this_process());
}

/* ---------------------------------------------------------------- the private hash */

/* Kernels before 6.16 do not know the request, and 6.16 has it switched off: -EINVAL. */
int nl_wait_slots(void)
{
	return (int)nl_syscall(SYS_prctl, NL_PR_FUTEX_HASH, NL_PR_FUTEX_HASH_GET_SLOTS, 0, 0, 0, 0);
}

/* -EBUSY: the global hash, for good. Whatever the kernel says besides these means that there is no such hash here, or that we may
 * not ask. */
static int ask_for_slots(uint32_t slots)
{
	long rc = nl_syscall(SYS_prctl, NL_PR_FUTEX_HASH, NL_PR_FUTEX_HASH_SET_SLOTS, slots, 0, 0, 0);

	return rc == -EBUSY || rc == -ENOMEM || !rc ? (int)rc : -ENOTSUP;
}

/* What the kernel takes: a power of two. More slots than `most` are memory for nothing. */
static uint32_t slots_for(uint32_t n)
{
	const uint32_t most = nl_wait_cpus() > 2 ? 8 * nl_wait_cpus() : 16;
	uint32_t slots = 2;

	while (slots < n && slots < most)
		slots *= 2;
	return slots;
}

int nl_wait_set_slots(uint32_t n)
{
	return ask_for_slots(n ? slots_for(n) : 0);
}

/* Digits, as nlock_hash_set_slots takes them. Anything else is 0 and says nothing, and so does 0. */
static uint32_t slots_in(const char *text)
{
	uint64_t n = 0;

	for (; *text >= '0' && *text <= '9' && n <= UINT32_MAX; text++)
		n = n * 10 + (uint64_t)(*text - '0');
	return *text || n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* The environment is not read in set-uid programs. What the kernel cannot do, or not any more, is left alone. */
static void size_hash(void)
{
	const char *text = secure_getenv("NLOCK_HASH_SLOTS");
	uint32_t n = text ? slots_in(text) : 0;

	if (text && !strcmp(text, "global"))
		nl_wait_set_slots(0);
	else if (n && nl_wait_slots() != (int)slots_for(n))
		nl_wait_set_slots(n);
}

/* ---------------------------------------------------------------- the constructor */

/* Early, so that our handlers begin before those of the program, and are done before the program unlocks. Other libraries may be
 * earlier. */
static __attribute__((constructor(101))) void start(void)
{
	nl_store_rlx(&process, (uint32_t)getpid());
	pthread_atfork(begin_fork, end_fork_in_parent, end_fork_in_child);
	size_hash();
}

/* ---------------------------------------------------------------- init */

/* Not by libnuma, see onnode.c. In a container the call is often forbidden. */
#define MEMS_ALLOWED 4

bool nl_wait_allows(uint32_t node)
{
	const uint32_t bits = 8 * sizeof(long);
	unsigned long mask[NL_NODES / (8 * sizeof(long))] = { 0 };

	if (node >= NL_NODES)
		return false;
	if (nl_syscall(SYS_get_mempolicy, 0, (uintptr_t)mask, NL_NODES + 1, 0, MEMS_ALLOWED, 0))
		return true;
	return mask[node / bits] >> node % bits & 1;
}

/* Under NODE and FIRST the raw getcpu call stores the node itself, and says EFAULT where a store of ours would be a signal.
 * Then the placement is tried, with a wake of nobody: a filter may have come since it was probed, and a node may not exist. One
 * that exists but is not allowed would work; it is refused all the same, since the process was told to keep away from it. */
int nl_wait_place(uint32_t *word, nlock_attr_t attr)
{
	uint32_t pair[2] __attribute__((aligned(8))) = { 0, nl_attr_node(attr) };
	uint32_t needs = is_numa(attr) ? NLOCK_HAS_NUMA : NLOCK_HAS_MPOL;
	long rc = 0;

	if (is_placed(attr) && !(known() & needs))
		return -ENOTSUP;
	if ((attr & A_PLACE) == A_PLACE_NODE && !nl_wait_allows(nl_attr_node(attr)))
		return -EINVAL;
	if (is_numa(attr))
		rc = nl_syscall(SYS_getcpu, 0, (uintptr_t)&word[1], 0, 0, 0, 0);
	if (rc)
		return (int)rc;
	if (is_placed(attr))
		rc = nl_futex2_wake(pair, NL_LANE_ALL, 0, flags_of(attr & ~A_SHARED));
	if (rc)
		return rc == -EINVAL && (attr & A_NODE) ? -EINVAL : -ENOTSUP;
	if ((attr & A_PLACE) == A_PLACE_NODE)
		word[1] = pair[1];
	else if (!is_numa(attr))
		word[1] = attr & A_SHARED ? 0 : this_process();
	return 0;
}
