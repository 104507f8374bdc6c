/* SPDX-License-Identifier: MIT
 *
 * wait.h - the contract of sleeping, and of time
 *
 * The one seam between the primitives and the machine. lib/wait.c implements it on futex2 or the classic futex;
 * tests/fake_wait.c on a script; tests/explore/ on a model. Nothing else in lib/ makes a system call to sleep or
 * wake, reads a clock, or knows how many CPUs there are.
 *
 * A wait word is the first of two 32-bit words, {word, node}, aligned to 8; only wait.c looks at the second.
 * The attributes are passed by value, so that a wake after the object's end needs nothing but its address.
 */
#ifndef NL_WAIT_H
#define NL_WAIT_H

#include <nlock.h>
#include <stdbool.h>
#include <stdint.h>

/* What came of a wait. None of them says anything about the state of the word: look at it. */
enum nl_outcome {
	NL_WOKEN, /* a wake took this thread out of the queue. It may have been meant for an earlier user of the address */
	NL_LOOK,     /* the word differed, a signal came, or the kernel cannot wait: look again */
	NL_TIMEDOUT, /* the deadline has passed, and no wake came first */
	NL_INTR, /* a signal handler has run, and no wake came first: only in a wait that can be cancelled, else NL_LOOK */
};

/* Lanes: a sleeper is in one of the first three, a wake goes to the oldest sleeper in any of its lanes. */
#define NL_LANE_BACK  0x1u /* ordinary waiters, in order of arrival */
#define NL_LANE_FRONT 0x2u /* the head that has been awake and went back to sleep */
#define NL_LANE_ODD   0x4u /* as BACK, every other round of a cohort lock */
#define NL_LANE_ALL   (NL_LANE_BACK | NL_LANE_FRONT | NL_LANE_ODD)

/* A sleeper of a cohort lock is also in the lane of its node. Nodes whose numbers are equal modulo NL_LANE_NODES share one. */
#define NL_LANE_NODES 29u

static inline uint32_t nl_lane_of(uint32_t node)
{
	return 0x8u << node % NL_LANE_NODES;
}

/* What ends a wait besides a wake: an absolute time that has been validated, and the thread's cancellation, if there is
 * something to do then. */
struct nl_deadline {
	clockid_t clock;
	int64_t sec; /* >= 0, saturated; a time before the clock's zero is zero; INT64_MAX is never */
	int64_t nsec;
	void (*abandon)(void *arg); /* or NULL: it cannot be cancelled */
	void *arg;
};

/* Validates: 0, -EINVAL, or -ETIMEDOUT if it has passed already. Not to be cancelled. */
int nl_deadline_set(struct nl_deadline *d, clockid_t clock, const struct timespec *abs);

/* The same, but no time is no deadline, on whatever clock. */
static inline int nl_deadline_or_none(struct nl_deadline *d, clockid_t clock, const struct timespec *abs)
{
	if (abs)
		return nl_deadline_set(d, clock, abs);
	*d = (struct nl_deadline){ CLOCK_MONOTONIC, INT64_MAX, 0, NULL, NULL };
	return 0;
}

/* Acts on a cancellation that has been asked for, if that is not disabled: then it does not return. */
void nl_cancel_point(void);

/* Sleeps in `lane` until woken, if the word is `expected` when the kernel looks; at the latest until `d`, or for ever if
 * d is NULL. A deadline in the past returns NL_TIMEDOUT without a call.
 * A thread that is cancelled here, at any moment in this call, does not return: it calls d->abandon once, in which it is not
 * cancelled again, and unwinds. Whether a wake had taken it out of the queue by then cannot be known. */
enum nl_outcome nl_wait(uint32_t *word, nlock_attr_t attr, uint32_t expected, uint32_t lane,
			const struct nl_deadline *d);

/* Wakes up to n (>= 1) sleepers of `lanes`, oldest first, and returns how many. Zero means that nobody was asleep
 * there; more, that so many threads will return NL_WOKEN. Everything before the call comes before its look at the queue. */
int nl_wake(uint32_t *word, nlock_attr_t attr, int n, uint32_t lanes);

/* May sleepers of words with these attributes be moved from one to the other? Both are private and in the plain table. */
bool nl_wait_may_move(nlock_attr_t from, nlock_attr_t to);

/* Wakes up to n sleepers of *from, if it is `expected` when the kernel looks, and moves all others, of every lane, to *to: as one
 * step for whoever sleeps, wakes or is woken. They keep their lanes. `to` is an address, and need not be memory any more. False:
 * it cannot be done here, and nothing was. Everything before the call comes before its look at the queue. */
bool nl_move(uint32_t *from, uint32_t expected, uint32_t *to, int n);

/* The compare-exchange by which the first waiter registers: *seen counts nobody, v counts one. The one moment at which an
 * object may change its node, because the exchange itself proves that nobody is registered. Relaxed. */
bool nl_wait_enter(uint32_t *word, nlock_attr_t attr, uint32_t *seen, uint32_t v);

/* Does a private object still belong to the process that this one was forked from? Then the waiters that it counts are
 * not here, except under a NUMA placement, where it cannot be told. */
bool nl_wait_is_foreign(const uint32_t *word, nlock_attr_t attr);

/* The compare-exchange by which this process makes such an object its own. Relaxed. */
bool nl_wait_adopt(uint32_t *word, uint32_t *seen, uint32_t v);

/* The number of this process: not zero, at most 22 bits. */
uint32_t nl_wait_process(void);

/* Prepares the node word for attr's placement: 0, -EINVAL, -ENOTSUP, -EFAULT. */
int nl_wait_place(uint32_t *word, nlock_attr_t attr);

/* Nodes have smaller numbers; attr.h has room for as many. */
#define NL_NODES 1024

/* May this process have memory of the node, as far as can be known? Where it is forbidden to ask, of every one. */
bool nl_wait_allows(uint32_t node);

/* Slots of the private hash: 0 for none, or -errno where the kernel knows of none. */
int nl_wait_slots(void);

/* Asks for n slots, or as near as may be had; 0: for the global hash, for good. 0, -EBUSY, -ENOMEM, -ENOTSUP. */
int nl_wait_set_slots(uint32_t n);

/* Nanoseconds on the monotonic clock. */
int64_t nl_now(void);

/* How many CPUs this process may use, by affinity and quota: at least 1. */
uint32_t nl_wait_cpus(void);

/* The CPU that this thread runs on, or any number: a hint. */
uint32_t nl_wait_cpu(void);

/* The NUMA node that this thread runs on: a hint, it may move at once. */
uint32_t nl_wait_node(void);

/* The lanes of the nodes that are nearest to `node`, next nearest, and so on: i = 0, 1 .., each node in one of them. Zero when
 * there are no more. Nodes at the same distance are in it together. */
uint32_t nl_lanes_near(uint32_t node, uint32_t i);

/* How long a lone waiter may watch before it sleeps, in nanoseconds: 0 where only one CPU is to be had. */
int64_t nl_watch_ns(void);

/* Is watching worth while on this object, going by how it went before? `luck` is the object's own: 0 at first, relaxed, and
 * right to have any value. Where several watches in a row were in vain, only one in many is tried: a watcher that waits for
 * a thread that needs the same CPU keeps it away. False where nobody may watch. */
bool nl_watch_try(uint8_t *luck);

/* What came of it. */
void nl_watch_tell(uint8_t *luck, bool has_paid);

/* What NLOCK_BOUNDED means in this process: NLOCK_BOUND_DEFAULT, unless the environment says otherwise. */
uint32_t nl_default_limit(void);

/* NLOCK_HAS_* bits that depend on futex calls; probes on first use. */
uint32_t nl_wait_features(void);

#endif
