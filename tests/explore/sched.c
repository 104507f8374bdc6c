/* SPDX-License-Identifier: MIT
 *
 * sched.c - threads as coroutines, and whose step is next
 *
 * A thread runs on a stack of its own and gives way only inside x_step, that is right before an operation. Between two
 * operations nobody else runs, which loses nothing: only operations can be seen by others, and plain accesses are checked for
 * races by what happens before what, not by when they happened to run.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static char stacks[X_THREADS][X_STACK] __attribute__((aligned(64)));
static ucontext_t booting;

char *x_stack_top(int t)
{
	return stacks[t] + X_STACK;
}

/* ---------------------------------------------------------------- coroutines */

/* The frame of the caller, and all that it needs, is above this. */
static __attribute__((noinline)) char *below_caller(void)
{
	return __builtin_frame_address(0);
}

void x_resume(int t)
{
	w.self = t;
	_longjmp(w.thread[t].context, 1);
}

static void go_to(int t)
{
	struct thread *me = x_me();

	if (t == w.self)
		return;
	if (!_setjmp(me->context)) {
		me->sp = below_caller();
		x_resume(t);
	}
}

static void plan(void);

/* Thread 0: before the others, and after them. It knows what they have done. */
static void frame_of_test(void)
{
	const struct thread *me = &w.thread[0];

	x_test->init();
	for (int t = 1; t <= x_test->threads; t++) {
		w.thread[t].view = me->view;
		w.thread[t].view.clock[t] = 1;
	}
	w.is_running = true;
	plan();
	w.is_running = false;
	for (int t = 1; t <= x_test->threads; t++)
		x_join(&x_me()->view, &w.thread[t].view);
	if (x_test->fini)
		x_test->fini();
	x_leave();
}

void x_end_thread(void)
{
	x_me()->status = DONE;
	x_me()->past = 0;
	plan();
	abort();
}

static void live(void)
{
	struct thread *me = x_me();

	if (!_setjmp(me->context)) {
		me->sp = below_caller();
		setcontext(&booting);
	}
	if (w.self == 0)
		frame_of_test();
	x_test->thread(w.self);
	x_end_thread();
}

static void boot(int t)
{
	static ucontext_t new;

	getcontext(&new);
	new.uc_stack.ss_sp = stacks[t];
	new.uc_stack.ss_size = X_STACK;
	new.uc_link = NULL;
	makecontext(&new, live, 0);
	w.self = t;
	swapcontext(&booting, &new);
}

/* The state from which every execution starts. */
void x_boot(void)
{
	memset(&w, 0, sizeof(w));
	memset(stacks, 0, sizeof(stacks));
	w.now = 1000000000;
	for (int t = 0; t <= x_test->threads; t++)
		boot(t);
	w.self = 0;
}

/* ---------------------------------------------------------------- what may come next */

struct option {
	int thread;
	enum { GOES, IS_WOKEN, IS_SENT_BACK, EXPIRES, IS_CANCELLED } what;
};

/* To take the step away from it would be a preemption. */
static bool is_going_on(const struct thread *t)
{
	return w.self && t->status == READY && !t->is_paused;
}

static bool has_twin_to_wait_for(int t)
{
	return (x_test->twins >> t & 1) && !w.thread[t - 1].has_started;
}

/* The threads that may make a step, the running one first. */
static int goers(struct option *o)
{
	bool is_stuck_with_it = is_going_on(x_me()) && x_opt.preemptions >= 0 && w.preemptions >= x_opt.preemptions;
	int n = 0, first = w.self ? w.self - 1 : 0;

	for (int k = 0; k < x_test->threads; k++) {
		int t = (first + k) % x_test->threads + 1;

		if (w.thread[t].status == READY && !has_twin_to_wait_for(t) && (t == w.self || !is_stuck_with_it))
			o[n++] = (struct option){ t, GOES };
	}
	return n;
}

/* What the world may do to sleepers, within its budgets. */
static int events(struct option *o)
{
	int n = 0;

	for (int i = 0; i < w.sleepers; i++) {
		int t = w.queue[i];

		if (w.strays < x_opt.strays) {
			o[n++] = (struct option){ t, IS_WOKEN };
			o[n++] = (struct option){ t, IS_SENT_BACK };
		}
		if (w.thread[t].is_timed && w.expiries < x_opt.expiries)
			o[n++] = (struct option){ t, EXPIRES };
		if (w.thread[t].may_be_cancelled && w.cancels < x_opt.cancels)
			o[n++] = (struct option){ t, IS_CANCELLED };
	}
	return n;
}

static void unqueue(int t)
{
	int i = 0;

	while (w.queue[i] != t)
		i++;
	w.sleepers--;
	memmove(&w.queue[i], &w.queue[i + 1], (size_t)(w.sleepers - i));
	w.queue[w.sleepers] = 0;
	w.thread[t].status = READY;
}

void x_wake_up(int t, enum nl_outcome why)
{
	unqueue(t);
	w.thread[t].outcome = why;
}

static void happen(struct option o)
{
	struct thread *t = &w.thread[o.thread];

	x_trace(NULL, "T%d %s", o.thread,
		o.what == IS_WOKEN	 ? "gets a stray wake-up"
		: o.what == EXPIRES	 ? "'s deadline passes"
		: o.what == IS_CANCELLED ? "is cancelled"
					 : "gets a signal");
	w.strays += o.what == IS_WOKEN || o.what == IS_SENT_BACK;
	w.expiries += o.what == EXPIRES;
	w.cancels += o.what == IS_CANCELLED;
	t->is_expired |= o.what == EXPIRES;
	t->is_cancelled = o.what == IS_CANCELLED;
	x_wake_up(o.thread, o.what == IS_WOKEN	       ? NL_WOKEN
			    : o.what == EXPIRES	       ? NL_TIMEDOUT
			    : t->may_be_cancelled      ? NL_INTR
						       : NL_LOOK);
	if (x_test->strayed)
		x_test->strayed(o.thread);
}

/* ---------------------------------------------------------------- PCT: priorities, and a few random points at which they change */

enum { CHANGES = 16 };
static int changes[CHANGES];

void x_draw_priorities(void)
{
	for (int t = 1; t <= x_test->threads; t++)
		w.thread[t].priority = (int)(x_random() % 1000) + 1;
	for (int i = 0; i < x_opt.depth && i < CHANGES; i++)
		changes[i] = 1 + (int)(x_random() % (x_res->longest > 50 ? (unsigned int)x_res->longest : 50));
}

static int pick_by_priority(const struct option *o, int ngoers, int n)
{
	int best = 0;

	for (int i = 0; i < x_opt.depth && i < CHANGES; i++) {
		if (changes[i] == w.steps && w.self)
			x_me()->priority = -i;
	}
	if (n == 1)
		return 0;
	if (n > ngoers && x_random() % 8 == 0)
		return x_record(n, ngoers + (int)(x_random() % (unsigned int)(n - ngoers)));
	for (int i = 1; i < ngoers; i++) {
		if (w.thread[o[i].thread].priority > w.thread[o[best].thread].priority)
			best = i;
	}
	return x_record(n, best);
}

/* ---------------------------------------------------------------- the next step */

static void all_asleep(struct option *o, int *n)
{
	char who[64] = "";
	int len = 0;

	*n = 0;
	for (int i = 0; i < w.sleepers; i++) {
		int t = w.queue[i];

		if (x_test->may_doze && (w.thread[t].is_timed || w.thread[t].may_be_cancelled))
			o[(*n)++] = (struct option){ t, w.thread[t].is_timed ? EXPIRES : IS_CANCELLED };
		len += snprintf(who + len, sizeof(who) - (size_t)len, " T%d%s", t,
				w.thread[t].is_timed ? " (till its deadline)" : "");
	}
	if (!*n)
		x_fail("asleep", "nobody is left to wake%s", who);
}

static struct option next(void)
{
	struct option o[5 * X_THREADS];
	int ngoers, n;

	for (;;) {
		n = ngoers = goers(o);
		if (ngoers)
			n += events(o + n);
		else if (w.sleepers)
			all_asleep(o, &n);
		else
			return (struct option){ 0, GOES };
		if (x_is_exhaustive() && !x_is_new() && !x_opt.no_pruning) {
			x_res->pruned++;
			x_leave();
		}
		n = x_opt.depth && x_opt.runs && !x_opt.replay && ngoers ? pick_by_priority(o, ngoers, n)
									 : x_decide(n, false);
		if (o[n].what == GOES)
			return o[n];
		happen(o[n]);
	}
}

static void plan(void)
{
	struct option o;

	x_res->steps++;
	if (++w.steps > x_res->longest)
		x_res->longest = w.steps;
	if (w.steps > x_opt.steps)
		x_fail("steps", "more than %d steps: threads keep each other busy", x_opt.steps);
	o = next();
	if (is_going_on(x_me()) && o.thread != w.self)
		w.preemptions++;
	x_me()->is_paused = false;
	if (!w.thread[o.thread].has_started)
		w.thread[o.thread].has_started = w.thread[o.thread].is_chosen = true;
	go_to(o.thread);
}

void x_step(void)
{
	if (!w.is_running)
		return;
	if (x_me()->is_chosen)
		x_me()->is_chosen = false;
	else
		plan();
}

void x_pause(void)
{
	x_me()->is_paused = w.is_running;
}

void x_forget(uint32_t state)
{
	x_me()->past = state;
	x_me()->rounds = 0;
	x_me()->is_expired = false;
}

int x_self(void)
{
	return w.self;
}
