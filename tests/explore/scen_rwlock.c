/* SPDX-License-Identifier: MIT
 *
 * scen_rwlock.c - the scenarios of the rwlock, and what must hold in them
 *
 *	scen_rwlock PREFERS[,HANDOFF][,spread|,moving][,first|,node|,fork:STATE:SEAT:GATE] PROGRAM... [need:EVENT...] [options of the explorer]
 *
 * PREFERS is phase, readers or writers; HANDOFF as in scen_mutex.c, fifo if not given. fork makes the threads those of a forked
 * child, which finds state, seat and rgate as given (hexadecimal). If the state says that the lock is owned, or has one reader, it is the
 * first thread, whose program begins inside its section.
 * spread: the lock has two slots, opened by the first reader that finds them closed; a thread keeps to one of them. moving: it goes to
 * either, each time.
 * There is one PROGRAM for each thread, a letter for each call:
 *
 *	r  rdlock              w  wrlock               u  unlock
 *	q  rdlock_until        t  wrlock_until         x  rdunlock or wrunlock
 *	y  tryrdlock           z  trywrlock            d  drop a reference, unlock; the last one frees the lock
 *	n  rdlock and unlock inside a read section     g  downgrade
 *	m  the same with tryrdlock                     p  tryupgrade; a reader goes on if it fails
 *	s  say so (store release)  h  wait until somebody has said so; three looks, then the rest is skipped
 *	D  destroy, three tries; 0: free the lock
 *
 * A program may end in *N. A try or timed lock that fails skips to behind the next release. need: as in scen_mutex.c.
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race, exclusion   a writer's section is its own, and its writes are seen by all who come later
 *	asleep            nobody sleeps for ever
 *	phase             fair: the next writer is passed by at most one admission, a waiting reader by at most one writer, and no reader
 *	                  enters while there is a next writer; writers preferred: nor is any admitted then
 *	bound             the next writer is overtaken at most k times where a release could have granted
 *	next              NEXT and what goes with it are set by the holder of the seat alone, and taken by it or for it
 *	seat              who owns the lock has let go of the seat before it releases
 *	count             readers are counted once, as waiting or as active; nobody registers who could enter
 *	told              each step of a gate is owed, made once, and awaited by those to whom it is owed
 *	call              no call into the kernel unless a writer and another thread want the lock at the same time; none in the tries
 *	rest              in the end nothing is left but the phase, which the gate has been told
 *	slots             readers are in slots only while these are lent, then no writer owns, and while they are biased none is next
 *	adopt             a child of a fork counts nobody of its parent's
 *	life              no access after the end
 *	result            ETIMEDOUT only after the deadline; recursion succeeds where it must
 */
#include "scen.h"

#include <ctype.h>
#include <errno.h>
#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/mutex.h"
#include "../../lib/rwlock.h"
#include "../../lib/wait.h"

enum { THREADS = 7, MAX = THREADS + 1, PARENT = 31, PROMISE = 30 };

/* The state, spelled out once more: if it changes, this must be thought about again. */
#define OWNED    0x01ull
#define NEXT     0x02ull
#define ASLEEP   0x04ull
#define DUE      0x08ull
#define FORKED   0x10ull
#define PHASE    0x60ull
#define PROMISED 0x80ull
#define SPREAD   0x100ull
#define BIASED   0x200ull
#define TURNING  0x400ull
#define COUNT    0x3ffffffull
_Static_assert(OWNED == RW_OWNED && NEXT == RW_NEXT && ASLEEP == RW_ASLEEP && DUE == RW_DUE && FORKED == RW_FORKED &&
		       PHASE == RW_PHASE && PROMISED == RW_PROMISED && SPREAD == RW_SPREAD && BIASED == RW_BIASED &&
		       TURNING == RW_TURNING && 1ull << 11 == RW_ONE && 1ull << 37 == RW_WAITER && COUNT == RW_COUNT,
	       "the state has changed");

static const char *program[MAX];
static uint32_t attr = NLOCK_FIFO, limit;
static int prefers;
static bool is_bound_exact = true, has_fork, is_spread, is_moving;
static uint64_t inherited;
static uint32_t inherited_seat, inherited_gate;

/* Known from observing. Masks have a bit 1 << t for thread t. */
struct ghost {
	nlock_rwlock_spread_t s;
	uint32_t section;           /* plain: writers write it, readers read it */
	uint32_t refs;              /* plain, under the writer's lock */
	uint32_t said;              /* a word */
	uint32_t sections;          /* how many writer's sections there were */
	uint32_t writer_in;         /* the thread in a writer's section */
	uint32_t readers_in;        /* who is in a reader's section */
	uint32_t owner;             /* by the word */
	uint32_t next;              /* by the word; PARENT */
	uint32_t active, waits;     /* by the word */
	uint32_t twice;             /* active two times */
	uint32_t slots;             /* by the slots: readers that are in */
	uint32_t in_state;          /* by the state */
	uint32_t turner;            /* who turns the slots, by the word */
	uint32_t guard;             /* the turner's is not a reader's */
	uint32_t over;              /* in the state already, still in a slot */
	uint32_t parents;           /* waiting readers of the parent process */
	uint32_t seat;              /* who holds it */
	uint32_t overtaken, phases; /* this next writer, so far */
	uint32_t owed;              /* to whom a step is owed */
	uint32_t owed_by[2];        /* who owes it: of rgate, of wgate */
	uint32_t looks;             /* steps of 4 that are owed, by thread */
	uint32_t inside, writing, crowded, trying;
	uint32_t has_ended, is_foreign;
	uint8_t passed[MAX]; /* writers that a waiting reader has seen go first */
	char held[MAX];      /* 0, r or w */
};

static struct ghost *g;
#define RW (&g->s.rw)

/* ---------------------------------------------------------------- what has been reached, in all executions together */

#define EVENTS(X) \
	X(admit) \
	X(grant) \
	X(open) \
	X(barge) \
	X(last) X(asleep) X(called) X(due) X(gotup) X(left) X(look) X(self) X(gaveup) X(timeout) X(refused) \
		X(promised) X(kept_promise) X(broken) X(upgraded) X(kept) X(downgraded) X(entered) X(adopted) X(late) \
			X(freed) X(opened) X(undone) X(slotted) X(unslotted) X(converted) X(recounted) X(elsewhere)

enum event {
#define X(name) E_##name,
	EVENTS(X)
#undef X
		NEVENTS
};

static const char *const event_names[] = {
#define X(name) #name,
	EVENTS(X)
#undef X
};

static uint64_t events[NEVENTS];
static uint32_t most_overtaken;

static void note(enum event e)
{
	events[e]++;
}

/* ---------------------------------------------------------------- the state as it changes */

static uint32_t popcount(uint32_t mask)
{
	return (uint32_t)__builtin_popcount(mask);
}

/* Each reader is counted once, and so is a guard. */
static void check_sum(void)
{
	X_CHECK("count", g->in_state + g->slots == popcount(g->active) + popcount(g->twice) + g->guard + g->over);
}

static void check_shape(uint64_t v)
{
	X_CHECK("slots", (v & (BIASED | TURNING)) || !g->slots);
	X_CHECK("slots", !(v & BIASED) || !(v & (OWNED | NEXT | TURNING)));
	X_CHECK("slots", !(v & TURNING) == !g->turner && (!(v & TURNING) || active(v)));
	X_CHECK("slots", !(v & SPREAD) == !is_spread);
	X_CHECK("exclusion", !(v & OWNED) || !active(v));
	X_CHECK("next", !(v & (ASLEEP | DUE)) || (v & NEXT));
	X_CHECK("next", !(v & ASLEEP) || (v & OWNED) || active(v));
	g->in_state = (uint32_t)active(v);
	check_sum();
	X_CHECK("count", waiting(v) == popcount(g->waits) + g->parents);
	X_CHECK("next", !(v & NEXT) == !g->next);
	X_CHECK("next", !(v & PROMISED) || (!(v & ASLEEP) && (v & (OWNED | NEXT))));
}

/* A writer owns the lock from now on. */
static void owns(uint32_t t)
{
	X_CHECK("exclusion", !g->owner && !g->active);
	g->owner = t;
	for (uint32_t i = 1; i < MAX; i++) {
		if (!(g->waits & 1u << i))
			continue;
		if (++g->passed[i] > 1 && prefers != NLOCK_RW_PREFER_WRITERS)
			x_fail("phase", "waiting reader T%u has been passed by %u writers", i, g->passed[i]);
	}
}

static void overtake(bool was_open)
{
	note(E_barge);
	if (!was_open || g->next == PARENT)
		return;
	g->overtaken++;
	if (is_bound_exact && g->overtaken > limit)
		x_fail("bound", "the next writer has been overtaken %u times", g->overtaken);
	if (g->overtaken > most_overtaken)
		most_overtaken = g->overtaken;
}

/* OWNED goes up. */
static void taken(uint64_t old, uint64_t v, uint32_t me)
{
	bool was_reader = active(old) > 0;

	if (was_reader) {
		X_CHECK("exclusion", g->active == (old & TURNING ? 0 : 1u << me));
		g->active = 0;
	}
	if ((old & NEXT) && !(v & NEXT)) { /* granted by the last reader, or claimed */
		if (was_reader)
			note(E_last);
		else
			X_CHECK("next", g->next == me);
		owns(g->next);
		g->next = 0;
		return;
	}
	owns(me);
	if (was_reader) {
		note(E_upgraded);
		X_CHECK("phase", !(v & NEXT) || prefers == NLOCK_RW_PREFER_READERS);
	}
	if (v & NEXT)
		overtake(!was_reader);
}

/* OWNED goes down. */
static void given_up(uint64_t old, uint64_t v, uint32_t me)
{
	X_CHECK("exclusion", g->owner == me);
	X_CHECK("seat", g->seat != me);
	g->owner = 0;
	if (active(v)) {
		bool has_new = (old ^ v) & PHASE, stays = active(v) > (has_new ? waiting(old) : 0);

		if (stays) {
			g->active |= 1u << me;
			note(E_downgraded);
		}
		if (has_new) {
			X_CHECK("phase", !(v & NEXT) || prefers != NLOCK_RW_PREFER_WRITERS);
			X_CHECK("told", !g->owed_by[0]);
			g->owed_by[0] = me;
			g->owed |= g->waits;
			g->twice |= g->active & g->waits;
			g->active |= g->waits;
			g->waits = 0;
			g->phases++;
			note(E_admit);
			if ((v & NEXT) && g->phases > 1 && prefers == NLOCK_RW_PHASE_FAIR)
				x_fail("phase", "the next writer is passed by %u admissions", g->phases);
		}
	} else if (v & NEXT) {
		note(E_open);
	}
}

/* The owner's release that leaves OWNED where it is. */
static void granted(uint32_t me)
{
	X_CHECK("exclusion", g->owner == me);
	X_CHECK("seat", g->seat != me);
	X_CHECK("phase", prefers == NLOCK_RW_PREFER_WRITERS || !g->waits);
	note(E_grant);
	g->owner = 0;
	owns(g->next);
	g->next = 0;
}

/* The owner promises the place of the next writer with the seat, or takes that back; or its new holder has come for it. */
static void promised(uint64_t old, uint64_t v, uint32_t me)
{
	X_CHECK("next", g->seat == me);
	if (v & PROMISED) {
		X_CHECK("next", !g->next && (v & NEXT) && g->owner == me);
		g->next = PROMISE;
		g->overtaken = g->phases = 0;
		note(E_promised);
	} else if (!(old & NEXT)) {
		X_CHECK("next", g->owner == PROMISE);
		g->owner = me;
		note(E_kept_promise);
	} else if (v & NEXT) {
		X_CHECK("next", g->next == PROMISE);
		g->next = me;
		note(E_kept_promise);
	} else {
		X_CHECK("next", g->next == PROMISE && g->owner == me);
		g->next = 0;
		note(E_broken);
	}
}

static void registers(uint32_t me)
{
	X_CHECK("next", !g->next && g->seat == me);
	g->next = me;
	g->overtaken = g->phases = 0;
}

static void sleeper(uint64_t old, uint64_t v, uint32_t me, uint32_t next)
{
	if (~old & v & ASLEEP) {
		X_CHECK("next", next == me);
		X_CHECK("told", !g->owed_by[1]);
		note(E_asleep);
	} else if (old & ~v & ASLEEP) {
		if (next == me) {
			note(E_gotup);
			return;
		}
		X_CHECK("told", !g->owed_by[1]);
		g->owed_by[1] = me;
		g->owed |= 1u << next;
		note(E_called);
	}
	if (~old & v & DUE) {
		X_CHECK("next", next == me);
		note(E_due);
	}
}

static void comes_in(uint32_t me)
{
	X_CHECK("exclusion", !g->owner);
	g->twice |= g->active & 1u << me;
	g->active |= 1u << me;
}

static void goes_out(uint32_t me)
{
	X_CHECK("count", g->active & 1u << me);
	if (g->twice & 1u << me)
		g->twice &= ~(1u << me);
	else
		g->active &= ~(1u << me);
}

/* Readers that come and go, one at a time. */
static void reader(uint64_t old, uint64_t v, uint32_t me)
{
	int64_t in = (int64_t)(active(v) - active(old)), on = (int64_t)(waiting(v) - waiting(old));
	uint32_t bit = 1u << me;

	X_CHECK("count", in >= -1 && in <= 1 && on >= -1 && on <= 1);
	if (on > 0) {
		X_CHECK("count", !(g->waits & bit) && !in);
		X_CHECK("count", (v & OWNED) || ((v & NEXT) && prefers != NLOCK_RW_PREFER_READERS));
		g->waits |= bit;
		g->passed[me] = 0;
	} else if (on < 0) {
		X_CHECK("count", (g->waits & bit) && in >= 0);
		g->waits &= ~bit;
		note(in ? E_self : E_gaveup);
	}
	if (in > 0) {
		X_CHECK("phase", !(v & NEXT) || prefers == NLOCK_RW_PREFER_READERS);
		comes_in(me);
	} else if (in < 0) {
		goes_out(me);
		if (v & (BIASED | TURNING))
			note(E_elsewhere);
	}
}

static void leaves(uint64_t v, uint32_t me)
{
	X_CHECK("next", g->next == me);
	X_CHECK("next", (v & OWNED) || active(v));
	g->next = 0;
	note(E_left);
	if (waiting(v) && !(v & OWNED))
		g->looks |= 1u << me;
}

/* What the parent's threads have left goes, at once. */
static void adopts(uint64_t old, uint64_t v)
{
	X_CHECK("adopt", g->is_foreign && !g->waits);
	X_CHECK("adopt", !((old ^ v) & (OWNED | COUNT << 8)));
	X_CHECK("adopt", !(v & (NEXT | ASLEEP | DUE | PROMISED)) && !waiting(v) && phase_of(v) == (inherited_gate & 3));
	g->parents = g->next = 0;
}

/* The turner begins, moves counts, or ends. True: that is all. */
static bool turns(uint64_t old, uint64_t v, uint32_t me)
{
	if (~old & v & TURNING) {
		X_CHECK("slots", !g->turner && active(v) == active(old) + 1);
		g->turner = me;
		g->guard = (old & BIASED) != 0;
		if (!g->guard)
			comes_in(me);
		return true;
	}
	if (old & v & TURNING) {
		if (g->turner == me)
			g->over += (uint32_t)(active(v) - active(old));
		return g->turner == me;
	}
	if (!(old & TURNING))
		return false;
	X_CHECK("slots", g->turner == me && !g->over && active(v) == active(old) - g->guard);
	note(v & BIASED ? E_opened : g->guard ? E_converted : E_undone);
	g->turner = g->guard = 0;
	return !(v & OWNED);
}

static void wrote_slot(uint64_t old, uint64_t v, uint32_t me)
{
	uint32_t n = (uint32_t)old >> 1, k = (uint32_t)v >> 1;

	if (g->turner == me) {
		X_CHECK("count", (v & 1) ? n == k : !k && g->over == n);
		g->over -= n - k;
	} else if (k > n) {
		X_CHECK("slots", k == n + 1 && (old & 1));
		note(E_slotted);
		comes_in(me);
	} else {
		X_CHECK("slots", k == n - 1);
		note(E_unslotted);
		goes_out(me);
	}
	g->slots += k - n;
	check_sum();
}

static void wrote_state(uint64_t old, uint64_t v, uint32_t me)
{
	uint32_t next = g->next;

	if (old == v)
		return;
	if (((old | v) & TURNING) && turns(old, v, me)) {
		if (old & ~v & TURNING)
			sleeper(old, v, me, next);
		check_shape(v);
		return;
	}
	if ((old ^ v) & FORKED) {
		adopts(old, v);
		check_shape(v);
		return;
	}
	if (g->is_foreign)
		X_CHECK("adopt", !(~old & v & (NEXT | ASLEEP)) && waiting(v) <= waiting(old));
	if ((old ^ v) & PROMISED)
		promised(old, v, me);
	else if (~old & v & OWNED)
		taken(old, v, me);
	else if (old & ~v & OWNED)
		given_up(old, v, me);
	else if (~old & v & NEXT)
		registers(me);
	else if ((old & ~v & NEXT) && me != g->next)
		granted(me);
	else if (old & ~v & NEXT)
		leaves(v, me);
	else
		reader(old, v, me);
	sleeper(old, v, me, next);
	check_shape(v);
}

static void wrote_gate(int which, uint32_t step, uint32_t me)
{
	uint32_t whose = which ? g->owed & ~(g->active | g->waits) : g->owed & g->active;

	if (!step)
		return;
	if (!which && step == 4) {
		X_CHECK("told", g->looks & 1u << me);
		g->looks &= ~(1u << me);
		note(E_look);
		return;
	}
	X_CHECK("told", step == 1 && g->owed_by[which] == me);
	g->owed_by[which] = 0;
	g->owed &= ~whose;
}

static void wrote_seat(struct x_pair old, struct x_pair v, uint32_t me)
{
	bool had = (old.value & (M_LOCKED | M_GRANT)) == M_LOCKED, has = (v.value & (M_LOCKED | M_GRANT)) == M_LOCKED;

	if (old.tag != v.tag && g->is_foreign) {
		X_CHECK("adopt", !g->parents && !g->next && !v.value);
		g->is_foreign = g->seat = 0;
		note(E_adopted);
	} else if (has && !had) {
		g->seat = me;
	} else if (had && !has) {
		g->seat = 0;
	}
}

static uint64_t whole(struct x_pair p)
{
	return (uint64_t)p.tag << 32 | p.value;
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self();

	if (p == &g->s.slot[0].word || p == &g->s.slot[1].word)
		wrote_slot(whole(old), whole(v), me);
	else if (p == &RW->state)
		wrote_state(whole(old), whole(v), me);
	else if (p == &RW->rgate)
		wrote_gate(0, v.value - old.value, me);
	else if (p == &RW->wgate)
		wrote_gate(1, v.value - old.value, me);
	else if (p == &RW->seat.word)
		wrote_seat(old, v, me);
}

static void enters(uint32_t seen, uint32_t v)
{
	if (g->seat == (uint32_t)x_self()) /* else it is the seat's */
		X_CHECK("next", seen == v && !x_asleep_on(&RW->wgate) && !g->owed_by[1]);
	note(E_entered);
}

static void calls(const char *what)
{
	uint32_t me = 1u << x_self();

	if (!(g->crowded & me) || ((g->trying & me) && !is_spread))
		x_fail("call", "T%d makes a call (%s) that nothing calls for", x_self(), what);
	if (g->has_ended)
		note(E_late);
}

/* ---------------------------------------------------------------- the calls of a thread */

static void arrives(int t, bool writes)
{
	uint32_t me = 1u << t, others = g->inside & ~me;

	g->inside |= me;
	if (writes)
		g->writing |= me;
	if (!(g->writing & me))
		others &= g->writing;
	if (others)
		g->crowded |= others | me;
}

static void goes(int t)
{
	g->inside &= ~(1u << t);
	g->writing &= ~(1u << t);
	g->crowded &= ~(1u << t);
}

static void reads(void)
{
	(void)X_GET(&g->section, X_SITE("section", X_RLX));
}

static void enters_section(int t, char mode)
{
	X_CHECK("told", !(g->owed & 1u << t));
	X_CHECK("seat", g->seat != (uint32_t)t);
	X_CHECK("exclusion", !g->writer_in);
	g->held[t] = mode;
	if (mode == 'r') {
		X_CHECK("exclusion", g->active & 1u << t);
		g->readers_in |= 1u << t;
		reads();
		return;
	}
	X_CHECK("exclusion", !g->readers_in && g->owner == (uint32_t)t);
	g->writer_in = (uint32_t)t;
	g->sections++;
	X_SET(&g->section, X_GET(&g->section, X_SITE("section", X_RLX)) + 1, X_SITE("section", X_RLX));
}

static void leaves_section(int t)
{
	X_CHECK("exclusion", g->held[t] == 'r' ? g->readers_in & 1u << t : g->writer_in == (uint32_t)t);
	if (g->held[t] == 'r') {
		reads();
		g->readers_in &= ~(1u << t);
	} else {
		g->writer_in = 0;
	}
	g->held[t] = 0;
}

static int lock_by(char how)
{
	static const struct timespec then = { 1, 0 };

	switch (how) {
	case 'r':
		return nlock_rwlock_rdlock(RW);
	case 'q':
		return nlock_rwlock_rdlock_until(RW, CLOCK_MONOTONIC, &then);
	case 'y':
		return nlock_rwlock_tryrdlock(RW);
	case 'w':
		return nlock_rwlock_wrlock(RW);
	case 't':
		return nlock_rwlock_wrlock_until(RW, CLOCK_MONOTONIC, &then);
	default:
		return nlock_rwlock_trywrlock(RW);
	}
}

static bool locks(char how, int t)
{
	bool is_try = how == 'y' || how == 'z', is_timed = how == 'q' || how == 't';
	int rc;

	arrives(t, strchr("wtz", how) != NULL);
	if (is_try)
		g->trying |= 1u << t;
	rc = lock_by(how);
	g->trying &= ~(1u << t);
	if (rc) {
		X_CHECK("result", is_try ? rc == EBUSY : is_timed && rc == ETIMEDOUT && x_is_expired(t));
		X_CHECK("count", !(g->waits & 1u << t) && g->next != (uint32_t)t && g->seat != (uint32_t)t);
		note(is_try ? E_refused : E_timeout);
		goes(t);
		return false;
	}
	enters_section(t, strchr("rqy", how) ? 'r' : 'w');
	return true;
}

static void end_of_life(void)
{
	g->has_ended = 1;
	note(E_freed);
	x_dead(&g->s, sizeof(g->s), X_SITE("free", X_RLX));
}

static void unlocks(char how, int t)
{
	bool is_last = false, is_writer = g->held[t] == 'w';
	int rc;

	if (how == 'd') { /* by writers, or by readers that know of each other by other means */
		uint32_t n = X_GET(&g->refs, X_SITE("refs", X_RLX)) - 1;

		X_SET(&g->refs, n, X_SITE("refs", X_RLX));
		is_last = !n;
	}
	leaves_section(t);
	rc = how != 'x' ? nlock_rwlock_unlock(RW) : is_writer ? nlock_rwlock_wrunlock(RW) : nlock_rwlock_rdunlock(RW);
	X_CHECK("result", !rc);
	goes(t);
	if (is_last)
		end_of_life();
}

/* Nothing, if an upgrade before it has failed. */
static void downgrades(int t)
{
	if (g->held[t] == 'r')
		return;
	leaves_section(t);
	X_CHECK("result", !nlock_rwlock_downgrade(RW));
	enters_section(t, 'r');
}

static void upgrades(int t)
{
	int rc;

	arrives(t, true);
	leaves_section(t);
	g->trying |= 1u << t;
	rc = nlock_rwlock_tryupgrade(RW);
	g->trying &= ~(1u << t);
	X_CHECK("result", !rc || rc == EBUSY);
	if (rc)
		note(E_kept);
	enters_section(t, rc ? 'r' : 'w');
}

/* A second time, while it is in. */
static void nests(char how, int t)
{
	int rc;

	X_CHECK("result", g->held[t] == 'r');
	rc = how == 'n' ? nlock_rwlock_rdlock(RW) : nlock_rwlock_tryrdlock(RW);
	X_CHECK("result", !rc || (how == 'm' && rc == EBUSY && prefers != NLOCK_RW_PREFER_READERS));
	if (rc)
		note(E_refused);
	else
		X_CHECK("result", !nlock_rwlock_unlock(RW));
}

static bool hears(void)
{
	for (int i = 0; i < 3; i++) {
		if (x_load(&g->said, sizeof(g->said), X_SITE("heard?", X_ACQ)))
			return true;
		x_pause();
	}
	return false;
}

static void destroys(void)
{
	for (int i = 0; i < 3; i++) {
		if (!nlock_rwlock_destroy(RW)) {
			end_of_life();
			return;
		}
		x_pause();
	}
}

/* One letter; returns the place of the next. */
static const char *call(const char *p, int t)
{
	x_note("-- %c", *p);
	if (strchr("rqywtz", *p)) {
		if (!locks(*p, t))
			return p + strcspn(p, "uxd") + 1;
	} else if (*p == 'g') {
		downgrades(t);
	} else if (*p == 'p') {
		upgrades(t);
	} else if (*p == 'n' || *p == 'm') {
		nests(*p, t);
	} else if (*p == 's') {
		x_store(&g->said, sizeof(g->said), 1, X_SITE("say", X_REL));
	} else if (*p == 'h') {
		if (!hears())
			return p + strlen(p);
	} else if (*p == 'D') {
		destroys();
	} else {
		unlocks(*p, t);
	}
	return p + 1;
}

/* Between two calls a thread knows nothing but where it is in its program. */
static void thread(int t)
{
	for (const char *p = program[t]; *p;) {
		p = call(p, t);
		x_forget((uint32_t)(p - program[t]));
	}
}

/* Thread 1 is the one that has forked. */
static void inherit(void)
{
	x_store64(&RW->state, inherited, X_SITE("inherit", X_RLX));
	x_store(&RW->rgate, sizeof(RW->rgate), inherited_gate, X_SITE("inherit", X_RLX));
	x_store(&RW->seat.word, sizeof(RW->seat.word), inherited_seat, X_SITE("inherit", X_RLX));
	x_set_tag(&RW->seat.word, 1);
	g->is_foreign = 1;
	g->parents = (uint32_t)waiting(inherited);
	g->next = inherited & NEXT ? PARENT : 0;
	if (inherited & OWNED) {
		g->owner = g->writer_in = 1;
		g->held[1] = 'w';
	} else if (active(inherited)) {
		g->active = g->readers_in = 1u << 1;
		g->held[1] = 'r';
	}
	if (g->held[1])
		arrives(1, g->held[1] == 'w');
}

static void init(void)
{
	g = x_new(sizeof(*g));
	if (nlock_rwlock_init(RW, prefers, attr))
		x_fail("result", "init");
	if (is_spread) { /* with fewer slots than in real life */
		x_store64(&RW->state, SPREAD, X_SITE("spread", X_RLX));
		g->s.mask = 1;
	}
	for (int t = 1; t < MAX; t++)
		g->refs += program[t] && strchr(program[t], 'd');
	x_store(&g->said, sizeof(g->said), 0, X_SITE("say", X_RLX));
	if (has_fork)
		inherit();
}

static void fini(void)
{
	uint64_t v;

	X_CHECK("exclusion", g->section == g->sections);
	if (g->has_ended)
		return;
	v = x_load64(&RW->state, X_SITE("state at rest", X_RLX));
	X_CHECK("rest", !(v & ~(PHASE | FORKED | SPREAD | (is_spread ? BIASED : 0))));
	X_CHECK("rest", !g->slots && !g->turner);
	X_CHECK("rest", phase_of(v) == (x_load(&RW->rgate, 4, X_SITE("gate at rest", X_RLX)) & 3) || g->is_foreign);
	X_CHECK("rest", !x_load(&RW->seat.word, 4, X_SITE("seat at rest", X_RLX)) || g->is_foreign);
	X_CHECK("rest", !nlock_rwlock_destroy(RW));
	X_CHECK("told", !g->owed && !g->owed_by[0] && !g->owed_by[1] && !g->looks);
}

/* ---------------------------------------------------------------- the command line */

static uint32_t cpu(void)
{
	return is_moving ? (uint32_t)x_choose(2) : (uint32_t)x_self() & 1;
}

static struct x_test test = {
	.init = init, .thread = thread, .fini = fini, .wrote = wrote, .enters = enters, .calls = calls, .cpu = cpu
};

static void set_one(const char *word)
{
	char *end;

	if (!strcmp(word, "phase")) {
		prefers = NLOCK_RW_PHASE_FAIR;
	} else if (!strcmp(word, "readers")) {
		prefers = NLOCK_RW_PREFER_READERS;
	} else if (!strcmp(word, "writers")) {
		prefers = NLOCK_RW_PREFER_WRITERS;
	} else if (isdigit((unsigned char)*word)) {
		limit = (uint32_t)atoi(word);
		attr = NLOCK_BOUNDED_N((int)limit);
	} else if (!strcmp(word, "barging")) {
		attr = NLOCK_BARGING;
		is_bound_exact = false;
	} else if (!strcmp(word, "bounded")) {
		attr = NLOCK_BOUNDED;
		limit = NLOCK_BOUND_DEFAULT;
	} else if (!strcmp(word, "spread")) {
		is_spread = true;
	} else if (!strcmp(word, "moving")) {
		is_spread = is_moving = true;
	} else if (!strcmp(word, "first")) {
		attr |= NLOCK_PLACE_FIRST;
	} else if (!strcmp(word, "node")) {
		attr |= NLOCK_PLACE_NODE(0);
	} else if (!strncmp(word, "fork:", 5)) {
		has_fork = true;
		inherited = strtoull(word + 5, &end, 16);
		inherited_seat = (uint32_t)strtoul(*end ? end + 1 : end, &end, 16);
		inherited_gate = (uint32_t)strtoul(*end ? end + 1 : end, &end, 16);
	} else if (strcmp(word, "fifo")) {
		scen_usage("the first argument makes no sense");
	}
}

static void set_mode(const char *arg)
{
	char words[128];

	snprintf(words, sizeof(words), "%s", arg);
	for (char *w = strtok(words, ","); w; w = strtok(NULL, ","))
		set_one(w);
}

/* Locks and releases take turns; what is between must be in place. */
static bool makes_sense(const char *p, bool has_lock)
{
	for (; *p; p++) {
		bool takes = strchr("rqywtz", *p), releases = strchr("uxd", *p);

		if (!strchr("rqywtzuxdnmgpshD", *p) || (takes && has_lock) ||
		    ((releases || strchr("nmgp", *p)) && !has_lock))
			return false;
		has_lock = (has_lock || takes) && !releases;
	}
	return !has_lock;
}

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	arg = scen_unrolled(arg);
	if (t == MAX || !makes_sense(arg, t == 1 && ((inherited & OWNED) || active(inherited))))
		return NULL;
	program[t] = arg;
	if (strpbrk(arg, "dD"))
		test.has_ends = true;
	return program[t];
}

static bool has_reached(void)
{
	return most_overtaken == limit;
}

static const struct scen scen = {
	.name = "scen_rwlock",
	.usage = "PREFERS[,HANDOFF][,spread|,moving][,first|,node|,fork:STATE:SEAT:GATE] PROGRAM...",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.set = set_mode,
	.has_reached = has_reached,
	.reached = "overtaken",
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
