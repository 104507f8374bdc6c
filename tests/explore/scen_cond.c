/* SPDX-License-Identifier: MIT
 *
 * scen_cond.c - the scenarios of the condition variable, and what must hold in them
 *
 *	scen_cond WHERE PROGRAM... [need:EVENT...] [options of the explorer]
 *
 * WHERE is hash or node, the placement; or fork:HEX: the threads are those of a forked child, which finds the state as
 * given. The mutex is the simplest one that keeps a mutex's promises, in few steps: the real one is explored by itself, and
 * is entered here by its public functions only. There is one PROGRAM for each thread, a letter for each deed:
 *
 *	g  take a token: lock, wait while there is none, take, unlock
 *	h  the same until a deadline: gives up then
 *	t  lock, wait once until a deadline whatever may come, unlock; that all sleep until then is right
 *	c  the same as g with any lock, and may be cancelled: then it has the mutex, and unlocks it
 *	n  the same as t with any lock, and may be cancelled
 *	d  pass the door: lock, wait while it is shut, unlock
 *	m  the same with any lock, and may be cancelled
 *	l  lock, look who is waiting, unlock
 *	s  signal                           b  broadcast
 *	p  lock, add a token, unlock, signal   P  the signal before the unlock
 *	q  lock, add a token, unlock, broadcast
 *	o  lock, open the door, unlock, broadcast   O  the broadcast before the unlock
 *	D  lock, open the door, broadcast, unlock, destroy, end the memory
 *	E  lock, open the door, broadcast, destroy, end the memory, unlock
 *	k  lock, look, unlock, signal if somebody was seen to wait
 *	x  as t; if that was no timeout: destroy, end the memory
 *	e  destroy, which must say EBUSY or succeed, as somebody waits or not; before threads that know each other only
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race, exclusion   the mutex is held when a wait returns
 *	asleep            nobody sleeps for ever: a token that nobody takes though somebody waits is a lost signal
 *	count             waiting + inside is the number of threads that registered, or call, and have not left
 *	blocked           waiting + calling are at least the threads that are registered and not released, but for those whom a release
 *	                  under way will reach
 *	signal            a signal that returns has released somebody, or none of those that its caller knew to be blocked is so still
 *	broadcast         none of those that its caller knew to be blocked is so still
 *	timeout           ETIMEDOUT only after the deadline, and not if a wake has taken the thread
 *	call              signal and broadcast make no system call where nobody waits or leaves
 *	moved             who goes to the mutex as one that it counts has been counted
 *	rest              in the end the state is as new
 *	adopt             a child of a fork counts nobody of its parent's, and forgets nobody of its own
 *	life              no access after the end; destroy succeeds right after a broadcast
 *	result            everything else succeeds
 */
#include "atomic.h"
#include "scen.h"

#include <errno.h>
#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/rwlock.h"
#include "../../lib/wait.h"

enum { THREADS = 7, MAX = THREADS + 1 };

/* The state, spelled out once more. */
#define WAITING(s) ((uint32_t)((s)&0x3fffff))
#define INSIDE(s)  ((uint32_t)((s) >> 22 & 0x3fffff))
#define CALLING(s) ((uint32_t)((s) >> 44 & 0xff))
#define WATCHED    ((uint64_t)1 << 60)
#define TOLD       ((uint64_t)1 << 61)
#define EPOCH      ((uint64_t)1 << 58)
#define LEAVING    ((uint64_t)1 << 62)
#define TURN       ((uint64_t)1 << 63)
#define OUT        1u

static const char *program[MAX];
static uint32_t cond_attr;
static uint64_t inherited; /* the state in a child of a fork, or 0 */

enum deed { IDLE, WAITS, SIGNALS, BROADCASTS };

/* Known from observing. Masks have a bit 1 << t for thread t. */
struct ghost {
	nlock_cond_t c;
	nlock_mutex_t m;
	uint32_t section; /* plain, and checked for races */
	uint32_t tokens;  /* the same, under the mutex */
	uint32_t is_open; /* the same */
	uint32_t sections;
	uint32_t in; /* the thread in the section */
	uint32_t has_ended;
	uint32_t is_foreign;
	uint32_t inside;    /* registered or calling, and not out */
	uint32_t blocked;   /* registered and not released */
	uint32_t taken;     /* by a wake, in this wait */
	uint32_t releasing; /* has said that all are released, and not yet moved the gate */
	uint32_t epochs;    /* a bit for each thread: the epoch in which it registered */
	uint32_t mending;   /* took a later arrival's place, and has not released it yet */
	uint32_t mends;     /* how often that has happened */
	uint32_t cancelling; /* does what a cancelled wait does, which makes it a caller besides */
	uint32_t twice;     /* of these: counted a second time, as a caller */
	uint32_t crowded;   /* of the callers: somebody else was inside during the call */
	uint32_t deed[MAX];
	uint32_t waits[MAX];         /* how often it has registered */
	uint32_t known[MAX];         /* whom this thread knows to be blocked */
	uint32_t known_at[MAX][MAX]; /* and in which of their waits */
	uint32_t released[MAX];      /* by this call */
	uint32_t mends_at[MAX];      /* when this call began */
};

static struct ghost *g;

#define EVENTS(X) \
	X(blocked) \
	X(sent) X(all) X(away) X(rest) X(told) X(watched) X(expired) X(spared) X(mended) X(overtaken) X(helped) X(out) \
		X(adopted) X(freed) X(busy) X(nobody) X(cancelled) X(passed_on)

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

static void note(enum event e)
{
	events[e]++;
}

/* ---------------------------------------------------------------- a mutex: locked, and how many wait */

enum { LOCKED = 1, ONE = 0x80 };

static void lock_registered(nlock_mutex_t *m, uint32_t w)
{
	for (;; w = nl_fresh_rlx(&m->word)) {
		X_CHECK("moved", w >= ONE);
		if (w & LOCKED)
			nl_wait(&m->word, 0, w, NL_LANE_BACK, NULL);
		else if (nl_cas_acq(&m->word, &w, w - ONE + LOCKED))
			return;
	}
}

int nlock_mutex_lock(nlock_mutex_t *m)
{
	uint32_t w = 0;

	if (!nl_cas_acq(&m->word, &w, LOCKED))
		lock_registered(m, nl_add_rlx(&m->word, ONE) + ONE);
	return 0;
}

int nlock_mutex_unlock(nlock_mutex_t *m)
{
	if (nl_add_rel(&m->word, (uint32_t)-LOCKED) >= ONE)
		nl_wake(&m->word, 0, 1, NL_LANE_BACK);
	return 0;
}

bool nl_mutex_expect(nlock_mutex_t *m, uint32_t n)
{
	uint32_t w = nl_load_rlx(&m->word);

	do {
		if (!(w & LOCKED))
			return false;
	} while (!nl_cas_rlx(&m->word, &w, w + n * ONE));
	return true;
}

void nl_mutex_lock_expected(nlock_mutex_t *m, bool is_woken)
{
	(void)is_woken;
	lock_registered(m, nl_fresh_rlx(&m->word));
}

/* cond_locks.c knows of rwlocks. No scenario has one. */
int nlock_rwlock_rdlock(nlock_rwlock_t *rw)
{
	(void)rw;
	x_fail("result", "a rwlock");
}

int nlock_rwlock_rdunlock(nlock_rwlock_t *rw)
{
	return nlock_rwlock_rdlock(rw);
}

int nlock_rwlock_wrlock(nlock_rwlock_t *rw)
{
	return nlock_rwlock_rdlock(rw);
}

int nlock_rwlock_wrunlock(nlock_rwlock_t *rw)
{
	return nlock_rwlock_rdlock(rw);
}

int nl_spread_leave(nlock_rwlock_t *rw, bool only_looks)
{
	(void)only_looks;
	return nlock_rwlock_rdlock(rw);
}

/* ---------------------------------------------------------------- the words as they change */

static void release_thread(uint32_t t, uint32_t by)
{
	g->blocked &= ~(1u << t);
	g->released[by]++;
}

static void registers(uint64_t v, uint32_t me)
{
	g->epochs = (g->epochs & ~(1u << me)) | (v & EPOCH ? 1u << me : 0);
	X_CHECK("count", !(g->inside & 1u << me));
	g->inside |= 1u << me;
	g->blocked |= 1u << me;
	g->taken &= ~(1u << me);
	g->waits[me]++;
	for (uint32_t t = 1; t < MAX; t++) {
		if (g->deed[t] == SIGNALS || g->deed[t] == BROADCASTS)
			g->crowded |= 1u << t;
	}
	note(E_blocked);
}

static void calls_on(uint64_t old, uint64_t v, uint32_t me)
{
	*(g->cancelling & 1u << me ? &g->twice : &g->inside) |= 1u << me;
	if (CALLING(v) > CALLING(old)) {
		note(WAITING(old) ? E_sent : E_helped);
		return;
	}
	g->releasing |= 1u << me;
	note(v & ~old & TOLD ? E_told : (v ^ old) & EPOCH ? E_away : E_all);
}

static void goes_out(uint64_t v, uint32_t me)
{
	X_CHECK("count", g->inside & 1u << me);
	if (g->twice & 1u << me) {
		g->twice &= ~(1u << me);
		g->releasing &= ~(1u << me);
		return;
	}
	if (g->mending & 1u << me)
		X_CHECK("blocked", g->releasing || !(g->blocked & ~(1u << me)));
	g->mending &= ~(1u << me);
	g->inside &= ~(1u << me);
	g->blocked &= ~(1u << me);
	g->releasing &= ~(1u << me);
	if ((v & LEAVING) && !g->inside)
		note(E_out);
}

/* The sum stays: a release of the rest, an expiry, the end of a watch, a destroyer. */
static void changes_sides(uint64_t old, uint64_t v, uint32_t me)
{
	if (~old & v & LEAVING) {
		X_CHECK("count", !WAITING(v));
	} else if (g->deed[me] == WAITS && WAITING(old) == WAITING(v) + 1 && !(g->mending & 1u << me) &&
		   !(g->releasing & 1u << me)) {
		if (!(g->blocked & 1u << me)) {
			g->mending |= 1u << me;
			g->mends++;
			note(E_mended);
		}
		g->blocked &= ~(1u << me);
	} else if (WAITING(old) != WAITING(v) || !(old & WATCHED)) {
		X_CHECK("count", !WAITING(v));
		g->releasing |= 1u << me;
		note(E_rest);
	}
}

static void adopts(uint64_t old, uint64_t v)
{
	X_CHECK("adopt", g->is_foreign && !g->inside);
	X_CHECK("adopt", v == ((old & TURN) ^ TURN));
	note(E_adopted);
}

static void state_changes(uint64_t old, uint64_t v, uint32_t me)
{
	uint32_t was = WAITING(old) + INSIDE(old), is = WAITING(v) + INSIDE(v);

	if ((old ^ v) & TURN) {
		adopts(old, v);
		return;
	}
	X_CHECK("count", is + 1 >= was && is <= was + 1);
	if (~old & v & WATCHED) {
		X_CHECK("count", !was && is == 1);
		note(E_watched);
	}
	if (~old & v & TOLD)
		X_CHECK("count", (old & WATCHED) && !(v & WATCHED));
	if (is > was && g->deed[me] == WAITS)
		registers(v, me);
	else if (is > was)
		calls_on(old, v, me);
	else if (is < was)
		goes_out(v, me);
	else if (g->deed[me] != IDLE || (v & ~old & LEAVING))
		changes_sides(old, v, me);
	X_CHECK("count", (uint32_t)(__builtin_popcount(g->inside) + __builtin_popcount(g->twice)) == is);
	if (!g->releasing && !g->mending)
		X_CHECK("blocked", WAITING(v) + CALLING(v) >= (uint32_t)__builtin_popcount(g->blocked));
}

static void gate_changes(uint32_t old, uint32_t v, uint32_t me, uint32_t whose)
{
	if (g->is_foreign || ((old ^ v) & OUT))
		return;
	for (uint32_t t = 1; t < MAX; t++) {
		if (g->blocked & whose & 1u << t)
			release_thread(t, me);
	}
	g->releasing &= ~(1u << me);
	g->mending &= ~(1u << me);
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self();

	if (p == &g->c.state) {
		state_changes((uint64_t)old.tag << 32 | old.value, (uint64_t)v.tag << 32 | v.value, me);
	} else if (p == &g->c.gate) {
		gate_changes(old.value, v.value, me, ~g->epochs);
		if (old.tag != v.tag)
			g->is_foreign = 0;
	} else if (p == &g->c.gate2) {
		gate_changes(old.value, v.value, me, g->epochs);
	}
}

static void knows(int t)
{
	g->known[t] = g->blocked;
	memcpy(g->known_at[t], g->waits, sizeof(g->waits));
}

/* A wake of one is for those that were there while the signal was being made. */
static void woken(int t)
{
	uint32_t me = (uint32_t)x_self();

	if (!(g->inside & 1u << t) || g->deed[t] != WAITS || !(g->blocked & 1u << t))
		return;
	if (g->known_at[me][t] != g->waits[t] && (g->known[me] & g->blocked))
		note(E_overtaken);
	g->taken |= 1u << t;
	release_thread((uint32_t)t, me);
	knows(t); /* in whose place it may be, if it is cancelled */
}

static void calls(const char *what)
{
	uint32_t me = (uint32_t)x_self(), deed = g->deed[me];

	if ((deed == SIGNALS || deed == BROADCASTS) && !(g->crowded & 1u << me))
		x_fail("call", "T%u makes a call (%s) though nobody waits", me, what);
}

/* ---------------------------------------------------------------- the deeds of a thread */

static void enters_section(int t)
{
	X_CHECK("exclusion", !g->in);
	g->in = (uint32_t)t;
	g->sections++;
	X_SET(&g->section, X_GET(&g->section, X_SITE("section", X_RLX)) + 1, X_SITE("section", X_RLX));
	knows(t);
}

static void locks(int t)
{
	X_CHECK("result", !nlock_mutex_lock(&g->m));
	enters_section(t);
}

static void leaves_section(int t)
{
	X_CHECK("exclusion", g->in == (uint32_t)t);
	knows(t);
	g->in = 0;
}

static void unlocks(int t)
{
	leaves_section(t);
	X_CHECK("result", !nlock_mutex_unlock(&g->m));
}

static int lock_any(void *m)
{
	return nlock_mutex_lock(m);
}

static int unlock_any(void *m)
{
	return nlock_mutex_unlock(m);
}

/* From here on the thread is a caller of signal, too. */
static void cancels(int t)
{
	g->cancelling |= 1u << t;
	g->crowded |= 1u << t;
	g->deed[t] = SIGNALS;
	g->released[t] = 0;
	g->mends_at[t] = g->mends;
	note(E_cancelled);
	if ((g->taken & 1u << t) && (g->blocked & ~(1u << t)))
		note(E_passed_on);
}

static void unlocks(int t);
static void judge(int t, bool is_broadcast);

/* Those who were blocked when a wake chose this thread must have had the signal instead. */
static void cancelled(int t)
{
	X_CHECK("count", !(g->inside & 1u << t) && !(g->twice & 1u << t));
	if (g->taken & 1u << t)
		judge(t, false);
	g->cancelling &= ~(1u << t);
	g->crowded &= ~(1u << t);
	g->deed[t] = IDLE;
	g->released[t] = g->mends_at[t] = 0;
	enters_section(t);
	unlocks(t);
}

/* The caller holds the mutex. False: the deadline has passed. */
static bool waits(int t, bool is_timed, bool is_any)
{
	static const struct nlock_any_lock any = { unlock_any, lock_any };
	static const struct timespec then = { 1, 0 };
	int rc;

	leaves_section(t);
	g->deed[t] = WAITS;
	if (is_any)
		rc = nlock_cond_wait_any(&g->c, &any, &g->m, CLOCK_MONOTONIC, is_timed ? &then : NULL);
	else if (is_timed)
		rc = nlock_cond_wait_until(&g->c, &g->m, CLOCK_MONOTONIC, &then);
	else
		rc = nlock_cond_wait(&g->c, &g->m);
	g->deed[t] = IDLE;
	enters_section(t);
	X_CHECK("count", !(g->inside & 1u << t));
	if (rc) {
		X_CHECK("result", is_timed && rc == ETIMEDOUT);
		X_CHECK("timeout", x_is_expired(t) && !(g->taken & 1u << t));
		note(E_expired);
	} else if (is_timed && x_is_expired(t)) {
		note(E_spared);
	}
	return !rc;
}

static bool is_still_blocked(int t, int k)
{
	return (g->known[t] & g->blocked & 1u << k) && g->known_at[t][k] == g->waits[k];
}

static void judge(int t, bool is_broadcast)
{
	if (g->releasing || g->mending || g->mends != g->mends_at[t])
		return; /* somebody else is about to release all */
	for (int k = 1; k < MAX; k++) {
		if (is_still_blocked(t, k) && (is_broadcast || !g->released[t]))
			x_fail(is_broadcast ? "broadcast" : "signal", "T%d is still blocked", k);
	}
}

static void signals(int t, bool is_broadcast)
{
	uint32_t nobody = !g->inside;

	g->deed[t] = is_broadcast ? BROADCASTS : SIGNALS;
	g->released[t] = 0;
	g->mends_at[t] = g->mends;
	g->crowded &= ~(1u << t);
	if (!nobody)
		g->crowded |= 1u << t;
	X_CHECK("result", !(is_broadcast ? nlock_cond_broadcast(&g->c) : nlock_cond_signal(&g->c)));
	if (!(g->crowded & 1u << t))
		note(E_nobody);
	judge(t, is_broadcast);
	g->deed[t] = IDLE;
	g->released[t] = g->mends_at[t] = 0;
	g->crowded &= ~(1u << t);
}

#define GET(field)    X_GET(&g->field, X_SITE(#field, X_RLX))
#define SET(field, v) X_SET(&g->field, v, X_SITE(#field, X_RLX))

static void takes_token(int t, bool is_timed, bool is_any)
{
	locks(t);
	while (!GET(tokens)) {
		if (!waits(t, is_timed, is_any)) {
			unlocks(t);
			return;
		}
	}
	SET(tokens, g->tokens - 1);
	unlocks(t);
}

static void passes_door(int t, bool is_any)
{
	locks(t);
	while (!GET(is_open))
		waits(t, false, is_any);
	unlocks(t);
}

static void puts_token(int t, char how)
{
	locks(t);
	SET(tokens, GET(tokens) + 1);
	if (how == 'P')
		signals(t, false);
	unlocks(t);
	if (how != 'P')
		signals(t, how == 'q');
}

static void end_of_life(int t)
{
	int rc = nlock_cond_destroy(&g->c);

	if (rc)
		x_fail("life", "T%d: destroy says %d though all have been released", t, rc);
	g->has_ended = 1;
	note(E_freed);
	x_dead(&g->c, sizeof(g->c), X_SITE("free", X_RLX));
}

static void opens_door(int t, char how)
{
	locks(t);
	SET(is_open, 1);
	if (how != 'o')
		signals(t, true);
	if (how == 'E')
		end_of_life(t);
	unlocks(t);
	if (how == 'o')
		signals(t, true);
	if (how == 'D')
		end_of_life(t);
}

static void signals_who_waits(int t)
{
	bool is_seen;

	locks(t);
	is_seen = g->blocked;
	unlocks(t);
	if (is_seen)
		signals(t, false);
}

static void waits_and_destroys(int t)
{
	bool was_signalled;

	locks(t);
	was_signalled = waits(t, true, false);
	unlocks(t);
	if (was_signalled)
		end_of_life(t);
}

/* Somebody may be waiting, whom destroy must leave in peace. */
static void destroys(int t)
{
	uint32_t known;
	int rc;

	locks(t);
	known = g->blocked;
	rc = nlock_cond_destroy(&g->c);
	X_CHECK("result", rc == 0 || rc == EBUSY);
	if (known & g->blocked)
		X_CHECK("result", rc == EBUSY);
	if (rc)
		note(E_busy);
	unlocks(t);
}

static void deed(char what, int t)
{
	x_note("-- %c", what);
	if (strchr("ghc", what))
		takes_token(t, what == 'h', what == 'c');
	else if (what == 'd' || what == 'm')
		passes_door(t, what == 'm');
	else if (what == 't' || what == 'n')
		locks(t), waits(t, true, what == 'n'), unlocks(t);
	else if (what == 'k')
		signals_who_waits(t);
	else if (what == 'x')
		waits_and_destroys(t);
	else if (what == 'l')
		locks(t), unlocks(t);
	else if (what == 's' || what == 'b')
		signals(t, what == 'b');
	else if (strchr("pPq", what))
		puts_token(t, what);
	else if (what == 'e')
		destroys(t);
	else
		opens_door(t, what);
}

static void thread(int t)
{
	for (const char *p = program[t]; *p;) {
		deed(*p++, t);
		x_forget((uint32_t)(p - program[t]));
	}
}

static void init(void)
{
	g = x_new(sizeof(*g));
	if (nlock_cond_init(&g->c, cond_attr))
		x_fail("result", "init");
	nl_store_rlx(&g->m.word, 0);
	if (!inherited)
		return;
	x_store64(&g->c.state, inherited, X_SITE("inherit", X_RLX));
	x_set_tag(&g->c.gate, 1);
	g->is_foreign = 1;
}

static void fini(void)
{
	X_CHECK("exclusion", g->section == g->sections && !g->in);
	X_CHECK("rest", !x_load(&g->m.word, sizeof(g->m.word), X_SITE("mutex at rest", X_RLX)));
	if (g->has_ended)
		return;
	if (!g->is_foreign)
		X_CHECK("rest", !(x_load64(&g->c.state, X_SITE("state at rest", X_RLX)) & ~(TURN | EPOCH)));
	X_CHECK("rest", !(x_load(&g->c.gate, sizeof(g->c.gate), X_SITE("gate at rest", X_RLX)) & OUT));
	X_CHECK("rest", !(x_load(&g->c.gate2, sizeof(g->c.gate2), X_SITE("gate at rest", X_RLX)) & OUT));
	X_CHECK("rest", !nlock_cond_destroy(&g->c));
}

/* ---------------------------------------------------------------- the command line */

static struct x_test test = {
	.init = init, .thread = thread, .fini = fini, .wrote = wrote, .calls = calls, .woken = woken,
	.cancels = cancels, .cancelled = cancelled
};

static void set_where(const char *arg)
{
	if (!strncmp(arg, "fork:", 5))
		inherited = strtoull(arg + 5, NULL, 16);
	else if (!strcmp(arg, "node"))
		cond_attr = NLOCK_PLACE_NODE(0);
	else if (strcmp(arg, "hash"))
		scen_usage("WHERE is hash, node or fork:HEX");
}

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	if (t == MAX || arg[strspn(arg, "ghtcndmlsbpPqoODEekx")])
		return NULL;
	program[t] = arg;
	if (strpbrk(arg, "DEx"))
		test.has_ends = true;
	if (strpbrk(arg, "htxcnm"))
		test.may_doze = true;
	return program[t];
}

static const struct scen scen = {
	.name = "scen_cond",
	.usage = "WHERE PROGRAM...",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.set = set_where,
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
