/* SPDX-License-Identifier: MIT
 *
 * once.c - an initialiser that runs once
 *
 * Promise
 *   When a call returns 0, one call of init has returned, and all that it did is visible. Two never run at the same time in one
 *   process. If init is left by unwinding, it has not been called. In the child of a fork, neither has one that was
 *   running in the parent. Nobody sleeps for ever while init gets on. A call after completion is one load.
 *   After the store that completes, only a wake call with the address is made.
 *
 * Word
 *   DONE     init has returned. Then the word is DONE, and never changes again.
 *   RUNNING  a thread of the process whose number stands in PROCESS is in init.
 *   WAITERS  some thread of it sleeps here, or is about to. Set only by such a thread, on RUNNING.
 *   PROCESS  22 bits: whose RUNNING and WAITERS are. A child of a fork has another number than its parent.
 *   Zero: not begun.
 *
 * States                         who may change it
 *   0                            any thread: T1
 *   RUNNING of this process      who is in init: T3, T4; any other: T2
 *   RUNNING of another process   any thread: T1
 *   DONE                         nobody
 *
 * Transitions
 *   T1   not begun, or another process's -> RUNNING   begin   by the thread that calls init next
 *   T2   RUNNING -> RUNNING WAITERS                   begin   by who has to wait, before it sleeps
 *   T3   RUNNING (WAITERS) -> DONE                    end     init has returned
 *   T4   RUNNING (WAITERS) -> 0                       end     init was left by unwinding
 *
 * Nobody sleeps for ever
 *   A thread sleeps only on RUNNING WAITERS of its own process. T3 and T4 change that, and wake all if WAITERS was set. After T4 the
 *   first of them makes T1; the others set WAITERS again.
 *
 * Orders
 *   A1  nlock_once, begin: load acquire  pairs with A3: sees what init did
 *   A2  begin: CAS acquire               pairs with A3 of T4: init sees what an unfinished run has left behind
 *       A2 survives the sweep: the coroutines of the explorer cannot be unwound.
 *   A3  end: CAS release                 publishes what init did
 *   Relaxed and why: T2 hands nothing on.
 *
 * Checked by tests/explore. That a fork makes a running init unbegun is glibc's rule.
 */
#include "atomic.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <nlock.h>

_Static_assert(sizeof(nlock_once_t) == 4 && _Alignof(nlock_once_t) == 4, "the size is ABI");

#define O_DONE    0x1u
#define O_RUNNING 0x2u
#define O_WAITERS 0x4u
#define O_PROCESS 0x8u /* times the number of the process */

/* No attributes: private, and where any object of the default kind queues. */
#define PLAIN ((nlock_attr_t)0)

struct run {
	nlock_once_t *o;
	bool has_returned;
};

/* T1: true. False: done. */
static bool begin(nlock_once_t *o)
{
	const uint32_t running = nl_wait_process() * O_PROCESS | O_RUNNING;
	uint32_t seen;

	while ((seen = nl_load_acq(&o->word)) != O_DONE) { /* A1 */
		if ((seen & ~O_WAITERS) != running) {
			if (nl_cas_acq(&o->word, &seen, running)) /* A2 */
				return true;
		} else if (seen == (running | O_WAITERS) || nl_cas_rlx(&o->word, &seen, running | O_WAITERS)) {
			nl_wait(&o->word, PLAIN, running | O_WAITERS, NL_LANE_BACK, NULL);
			nl_fresh_rlx(&o->word);
		}
	}
	return false;
}

/* T3, T4. Also called by the unwinder. After A3 the object may be gone. */
static void end(struct run *r)
{
	uint32_t *word = &r->o->word, seen = nl_load_rlx(word);

	while (!nl_cas_rel(word, &seen, r->has_returned ? O_DONE : 0)) /* A3 */
		;
	if (seen & O_WAITERS)
		nl_wake(word, PLAIN, INT_MAX, NL_LANE_ALL);
}

static __attribute__((noinline, cold)) void once_slow(nlock_once_t *o, void (*init)(void *), void *arg)
{
	if (begin(o)) {
		struct run r __attribute__((cleanup(end))) = { o, false };

		init(arg);
		r.has_returned = true;
	}
}

int nlock_once(nlock_once_t *o, void (*init)(void *), void *arg)
{
	if (!o || (uintptr_t)o % _Alignof(nlock_once_t) || !init)
		return EINVAL;
	if (nl_load_acq(&o->word) != O_DONE) /* A1 */
		once_slow(o, init, arg);
	return 0;
}
