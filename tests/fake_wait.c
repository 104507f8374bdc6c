/* SPDX-License-Identifier: MIT
 *
 * fake_wait.c - lib/wait.h on a script
 *
 * One baton, handed on by semaphores: all state here belongs to whoever runs.
 */
#include "fake_wait.h"

#include "atomic.h"
#include "attr.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000

struct player {
	pthread_t thread;
	bool is_hired;
	sem_t turn;
	enum fk_state state;
	int (*call)(void *);
	void *arg;
	int result;
	jmp_buf end; /* where a cancelled call goes */
	unsigned int stops;
	/* in nl_wait */
	uint32_t *word;
	uint32_t lane;
	uint64_t since;
	enum nl_outcome outcome;
	/* of the call */
	bool has_waited, has_deadline, is_late, may_be_cancelled;
	bool is_cancelled; /* and has not come to a cancellation point yet */
	struct nl_deadline deadline;
};

struct fk_world fk;

static struct player players[FK_PLAYERS];
static sem_t script;
static uint64_t arrivals;
static __thread int self = FK_SCRIPT;

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void complain(const char *what)
{
	if (!fk.complaint)
		fk.complaint = what;
}

/* ---------------------------------------------------------------- players */

/* Gives the turn back to the script until it lets this player go on. */
static void suspend(enum fk_state state)
{
	struct player *p = &players[self];

	p->state = state;
	sem_post(&script);
	wait_for(&p->turn);
}

static void *play(void *arg)
{
	struct player *p = arg;

	self = (int)(p - players);
	for (;;) {
		wait_for(&p->turn);
		p->result = setjmp(p->end) ? FK_CANCELLED : p->call(p->arg);
		p->state = FK_READY;
		sem_post(&script);
	}
	return NULL;
}

/* Runs player p until it gives the turn back. */
static enum fk_state run(struct player *p)
{
	p->state = FK_STOPPED; /* out of the queue, in any case */
	sem_post(&p->turn);
	wait_for(&script);
	return p->state;
}

static void hire(struct player *p)
{
	p->is_hired = true;
	if (sem_init(&p->turn, 0, 0) || pthread_create(&p->thread, NULL, play, p)) {
		perror("fake_wait: no player");
		abort();
	}
}

enum fk_state fk_call(int who, int (*call)(void *), void *arg)
{
	struct player *p = &players[who];

	if (!p->is_hired)
		hire(p);
	if (p->state != FK_READY) {
		complain("the script lets a player call who is not ready");
		return p->state;
	}
	p->call = call;
	p->arg = arg;
	p->has_waited = p->has_deadline = p->is_late = p->may_be_cancelled = false;
	return run(p);
}

enum fk_state fk_go(int who)
{
	struct player *p = &players[who];

	if (p->state != FK_STOPPED && p->state != FK_WOKEN) {
		complain("the script lets a player go on who is neither stopped nor woken");
		return p->state;
	}
	return run(p);
}

enum fk_state fk_rouse(int who, enum nl_outcome why)
{
	struct player *p = &players[who];

	if (p->state != FK_ASLEEP || (why == NL_TIMEDOUT && !p->has_deadline) ||
	    (why == NL_INTR && !p->may_be_cancelled)) {
		complain("the script rouses a player who is not asleep, has no deadline to miss, or does not want to "
			 "know");
		return p->state;
	}
	p->outcome = why;
	p->is_late |= why == NL_TIMEDOUT || why == NL_INTR;
	return run(p);
}

bool fk_may_cancel(int who)
{
	return players[who].state == FK_READY || players[who].may_be_cancelled;
}

enum fk_state fk_cancel(int who)
{
	struct player *p = &players[who];

	if (!fk_may_cancel(who)) {
		complain("the script cancels a player who is where it cannot be");
		return p->state;
	}
	p->is_cancelled = true;
	return p->state == FK_READY ? FK_READY : run(p);
}

void fk_stop_at(int who, unsigned int where)
{
	players[who].stops = where;
}

enum fk_state fk_state(int who)
{
	return players[who].state;
}

int fk_result(int who)
{
	return players[who].result;
}

uint32_t fk_lane(int who)
{
	return players[who].lane;
}

bool fk_has_deadline(int who)
{
	return players[who].has_deadline;
}

int fk_asleep(void)
{
	int n = 0;

	for (int i = 0; i < FK_PLAYERS; i++)
		n += players[i].state == FK_ASLEEP;
	return n;
}

void fk_forget(void)
{
	fk.n_enters = fk.n_waits = fk.n_wakes = fk.n_clocks = fk.n_calls = 0;
}

void fk_begin(void)
{
	static bool has_begun;

	if (!has_begun && sem_init(&script, 0, 0))
		abort();
	has_begun = true;
	memset(&fk, 0, sizeof(fk));
	fk.now = fk.realtime = (int64_t)1000 * NSEC_PER_SEC;
	fk.default_limit = NLOCK_BOUND_DEFAULT;
	for (int i = 0; i < FK_PLAYERS; i++) {
		if (players[i].state != FK_READY)
			complain("a player is still busy with the last script");
		players[i].stops = 0;
		players[i].is_cancelled = false;
	}
}

static void stop(unsigned int where)
{
	struct player *p = &players[self < 0 ? 0 : self];

	if (self < 0 || !(p->stops & where))
		return;
	if (where != FK_AT_CLOCK)
		p->stops &= ~where;
	suspend(FK_STOPPED);
}

/* ---------------------------------------------------------------- the record and the rules */

const struct fk_record *fk_last(enum fk_kind kind)
{
	for (int i = fk.n_calls; i-- > 0 && i >= fk.n_calls - FK_CALLS;) {
		if (fk.calls[i % FK_CALLS].kind == kind)
			return &fk.calls[i % FK_CALLS];
	}
	return NULL;
}

/* Attributes belong to the word for its life. */
static void check_attr(const struct fk_record *r)
{
	for (int i = fk.n_calls; i-- > 0 && i >= fk.n_calls - FK_CALLS;) {
		const struct fk_record *other = &fk.calls[i % FK_CALLS];

		if (other->word != r->word || other->kind == FK_ADOPT) /* which names no attributes */
			continue;
		if (other->kind < FK_PLACE && other->attr != r->attr)
			complain("two calls on one word with different attributes");
		return;
	}
}

static struct fk_record *note(struct fk_record r)
{
	const char *why = fk.rule ? fk.rule(&r) : NULL;
	struct fk_record *kept = &fk.calls[fk.n_calls % FK_CALLS];

	if (why)
		complain(why);
	if ((uintptr_t)r.word % (r.attr ? 8 : 4))
		complain("a word that is not aligned");
	if (r.kind < FK_PLACE)
		check_attr(&r);
	*kept = r;
	fk.n_calls++;
	return kept;
}

/* ---------------------------------------------------------------- lib/wait.h */

static int64_t time_on(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? fk.realtime : fk.now;
}

static bool is_past(const struct nl_deadline *d)
{
	int64_t now = time_on(d->clock);

	if (now / NSEC_PER_SEC != d->sec)
		return now / NSEC_PER_SEC > d->sec;
	return now % NSEC_PER_SEC >= d->nsec;
}

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

/* One of the three for all; and the node's, for a line of a cohort lock. */
static bool is_lane(nlock_attr_t attr, uint32_t lane)
{
	uint32_t node = lane & ~NL_LANE_ALL;

	lane &= NL_LANE_ALL;
	if (node)
		return (attr & NLOCK_COHORT) && node == nl_lane_of(nl_wait_node()) &&
		       (lane == NL_LANE_BACK || lane == NL_LANE_ODD);
	return lane == NL_LANE_FRONT || lane == NL_LANE_BACK;
}

static void check_deadline(struct player *p, const struct nl_deadline *d)
{
	if (d && (d->sec < 0 || d->nsec < 0 || d->nsec >= NSEC_PER_SEC))
		complain("a deadline that is no time");
	if (!d && (p->is_late || fk.may_drop)) /* it waits for what it is owed */
		p->has_deadline = false;
	if (p->has_waited && p->has_deadline != (d != NULL && d->sec < INT64_MAX))
		complain("a deadline that came or went within a call");
	if (p->has_deadline && d &&
	    (d->clock != p->deadline.clock || d->sec != p->deadline.sec || d->nsec != p->deadline.nsec))
		complain("a deadline that changed within a call");
	p->has_waited = true;
	p->has_deadline = d != NULL && d->sec < INT64_MAX;
	if (d)
		p->deadline = *d;
}

void nl_cancel_point(void)
{
	if (self >= 0 && players[self].is_cancelled) {
		players[self].is_cancelled = false;
		longjmp(players[self].end, 1);
	}
}

/* As wait.c does: there is no telling what has become of the wait. */
static void may_be_cancelled(struct player *p, const struct nl_deadline *d)
{
	if (!p->may_be_cancelled || !p->is_cancelled)
		return;
	p->is_cancelled = p->may_be_cancelled = false;
	p->is_late = true; /* it may drop its deadline */
	d->abandon(d->arg);
	longjmp(p->end, 1);
}

enum nl_outcome nl_wait(uint32_t *word, nlock_attr_t attr, uint32_t expected, uint32_t lane,
			const struct nl_deadline *d)
{
	struct player *p = &players[self < 0 ? 0 : self];

	if (self < 0) {
		fprintf(stderr, "fake_wait: the script itself would sleep\n");
		abort();
	}
	fk.n_waits++;
	note((struct fk_record){ FK_WAIT, self, word, attr, expected, lane, 0, 0, NULL });
	if (!is_lane(attr, lane))
		complain("a wait in a lane that is none");
	check_deadline(p, d);
	if (d && is_past(d)) {
		p->is_late = true;
		return NL_TIMEDOUT;
	}
	p->may_be_cancelled = d && d->abandon;
	stop(FK_BEFORE_WAIT);
	may_be_cancelled(p, d);
	if (nl_load_rlx(word) == expected) {
		p->word = word;
		p->lane = lane;
		p->since = ++arrivals;
		suspend(FK_ASLEEP);
		may_be_cancelled(p, d);
	} else {
		p->outcome = NL_LOOK;
	}
	p->may_be_cancelled = false;
	return p->outcome;
}

static struct player *oldest(const uint32_t *word, uint32_t lanes)
{
	struct player *best = NULL;

	for (int i = 0; i < FK_PLAYERS; i++) {
		struct player *p = &players[i];

		if (p->state == FK_ASLEEP && p->word == word && (p->lane & lanes) && (!best || p->since < best->since))
			best = p;
	}
	return best;
}

/* Nothing here touches *word: it may be gone. */
int nl_wake(uint32_t *word, nlock_attr_t attr, int n, uint32_t lanes)
{
	struct fk_record *r = note((struct fk_record){ FK_WAKE, self, word, attr, 0, lanes, n, 0, NULL });
	struct player *p;

	fk.n_wakes++;
	if (!lanes || ((lanes & ~NL_LANE_ALL) && !(attr & NLOCK_COHORT)))
		complain("a wake of lanes that are none");
	if (n < 1)
		complain("a wake of fewer than one");
	stop(FK_BEFORE_WAKE);
	while (r->result < n && (p = oldest(word, lanes))) {
		p->state = FK_WOKEN;
		p->outcome = NL_WOKEN;
		r->result++;
	}
	n = fk.lie == FK_ZERO ? 0 : r->result;
	stop(FK_AFTER_WAKE);
	return n;
}

bool nl_wait_may_move(nlock_attr_t from, nlock_attr_t to)
{
	return !((from | to) & (A_PLACE | A_SHARED)) && (fk.features & NLOCK_HAS_REQUEUE);
}

/* The oldest are woken, the rest goes on sleeping at *to, which is not touched: it may be gone. */
bool nl_move(uint32_t *from, uint32_t expected, uint32_t *to, int n)
{
	struct fk_record *r = note((struct fk_record){ FK_MOVE, self, from, 0, expected, NL_LANE_ALL, n, 0, to });
	struct player *p;

	stop(FK_BEFORE_WAKE);
	if (!(fk.features & NLOCK_HAS_REQUEUE) || nl_load_rlx(from) != expected)
		return false;
	for (; (p = oldest(from, NL_LANE_ALL)); r->result++) {
		if (r->result >= n) {
			p->word = to;
			continue;
		}
		p->state = FK_WOKEN;
		p->outcome = NL_WOKEN;
	}
	stop(FK_AFTER_WAKE);
	return true;
}

bool nl_wait_enter(uint32_t *word, nlock_attr_t attr, uint32_t *seen, uint32_t v)
{
	struct fk_record *r = note((struct fk_record){ FK_ENTER, self, word, attr, v, 0, 0, 0, NULL });
	bool done;

	fk.n_enters++;
	stop(FK_BEFORE_ENTER);
	done = nl_cas_rlx(word, seen, v);
	r->result = done;
	stop(FK_AFTER_ENTER);
	return done;
}

static bool is_marked(nlock_attr_t attr)
{
	uint32_t place = attr & A_PLACE;

	return !(attr & A_SHARED) && place != A_PLACE_NODE && place != NLOCK_PLACE_FIRST;
}

bool nl_wait_is_foreign(const uint32_t *word, nlock_attr_t attr)
{
	return is_marked(attr) && word[1] != fk.generation;
}

bool nl_wait_adopt(uint32_t *word, uint32_t *seen, uint32_t v)
{
	struct fk_record *r = note((struct fk_record){ FK_ADOPT, self, word, 0, v, 0, 0, 0, NULL });
	bool done = word[1] != fk.generation && nl_cas_rlx(word, seen, v);

	r->result = done;
	if (done)
		word[1] = fk.generation;
	return done;
}

int nl_wait_place(uint32_t *word, nlock_attr_t attr)
{
	note((struct fk_record){ FK_PLACE, self, word, attr, 0, 0, 0, fk.place_result, NULL });
	if (!fk.place_result)
		word[1] = is_marked(attr) ? fk.generation : nl_attr_node(attr);
	return fk.place_result;
}

int64_t nl_now(void)
{
	int64_t now;

	fk.n_clocks++;
	stop(FK_AT_CLOCK);
	now = fk.now;
	fk.now += fk.tick;
	return now;
}

uint32_t nl_wait_process(void)
{
	return fk.generation + 1;
}

uint32_t nl_wait_cpu(void)
{
	return fk.cpu;
}

uint32_t nl_wait_node(void)
{
	return fk.node[self < 0 ? FK_PLAYERS : self];
}

uint32_t nl_lanes_near(uint32_t node, uint32_t i)
{
	uint32_t lanes = i <= node ? nl_lane_of(node - i) : 0;

	if (fk.nodes < 2)
		return i ? 0 : ~NL_LANE_ALL;
	return node + i < fk.nodes ? lanes | nl_lane_of(node + i) : lanes;
}

uint32_t nl_wait_cpus(void)
{
	return fk.watch_ns ? 2 : 1;
}

int64_t nl_watch_ns(void)
{
	fk.n_clocks++;
	return fk.watch_ns;
}

bool nl_watch_try(uint8_t *luck)
{
	(void)luck;
	return nl_watch_ns() != 0 && !fk.in_vain;
}

void nl_watch_tell(uint8_t *luck, bool has_paid)
{
	(void)luck;
	(void)has_paid;
}

uint32_t nl_default_limit(void)
{
	return fk.default_limit;
}

uint32_t nl_wait_features(void)
{
	return fk.features;
}

/* There is no private hash here. */
int nl_wait_slots(void)
{
	return -EINVAL;
}

int nl_wait_set_slots(uint32_t n)
{
	(void)n;
	return -ENOTSUP;
}
