/* SPDX-License-Identifier: MIT
 *
 * scen_sem.c - the scenarios of the semaphore, and what must hold in them
 *
 *	scen_sem HANDOFF,VALUE PROGRAM... [need:EVENT...] [options of the explorer]
 *
 * HANDOFF is fifo, barging, bounded or a number k for BOUNDED_N(k), VALUE the tokens at the beginning; ",node" after them chooses the
 * placement; ",fork:N:M" makes the threads those of a forked child, which finds N waiters of the parent and M more who have been
 * answered and have not claimed. There is one PROGRAM for each thread, a letter for each call:
 *
 *	w  wait                     p  post              P  write a datum, post
 *	t  wait until a deadline    2  post two          R  wait, read the datum
 *	y  trywait                  3  post three        d  drop a reference; the last one frees the semaphore
 *	c  wait as POSIX has it, which may be cancelled: then the thread ends; or be interrupted
 *	u  post, and leave the section that the last wait has entered
 *	D  destroy, which must refuse, or find nobody
 *
 * A program may end in *N: all of it N times. A wait that fails skips to behind the next u, if there is one. Threads whose
 * neighbour to the left does the same start after it: their names do not matter. need: fails unless the event has happened
 * in some execution. need:passed_most means that the bound was reached exactly.
 *
 * What must hold, by the name that a failure begins with:
 *
 *	race     the section is one thread's if there is one token; the datum is seen by who gets a token
 *	asleep   nobody sleeps for ever (the scenarios have tokens for all)
 *	token    value, answers, what is promised and what was taken are always as many as were posted
 *	count    who is inside is counted, promised to or answered, and there are no more of these
 *	shape    tokens in the value only if nobody is counted; no hint about the front without waiters
 *	answer   only who has promised an answer writes one; claimed is not ahead of gate; all is written when a call returns
 *	line     FIFO: a thread never claims what it knows to have been written before it came
 *	bound    else: no more than k times for each waiter that went
 *	call     a wake only by who has written an answer, a wait only by who is registered, none in trywait
 *	rest     in the end the state is the value, and nothing is unclaimed
 *	adopt    a child of a fork counts nobody, and has the tokens that nobody had claimed
 *	life     no access after the end; a wake with a dead address is none, except on a node
 *	result   ETIMEDOUT only after the deadline and without a token, EINTR and a cancellation without one; everything else with one
 */
#include "scen.h"

#include <ctype.h>
#include <errno.h>
#include <nlock.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/wait.h"

enum { THREADS = 7, MAX = THREADS + 1 };

/* The halves of the state, spelled out once more. */
enum {
	VALUE = 0x7fffffff,
	EPOCH_SHIFT = 31,
	WATCHED = 0x1,
	FRONT = 0x2,
	ONE = 0x4,
	COUNT = 0xfffffc,
	PASSED_SHIFT = 24,
};

static const char *program[MAX];
static uint32_t attr, tokens;
static uint32_t limit; /* UINT32_MAX: none */
static uint32_t parent_waits, parent_is_answered;
static bool is_child;
static bool is_disturbed; /* by stray wakes, which give a thread another's turn */

/* Known from observing, not from the semaphore. Masks have a bit 1 << t for thread t. */
struct ghost {
	nlock_sem_t s;
	uint32_t section; /* plain, and checked for races */
	uint32_t datum;   /* the same */
	uint32_t refs;    /* a word */
	uint32_t in;      /* how many are in a section */
	uint32_t posted, taken;
	uint32_t inside;  /* who is registered, has not claimed and has not left */
	uint32_t got;     /* who has taken a token in its call */
	uint32_t calling; /* who is in wait */
	uint32_t trying;
	uint32_t cancelling;
	uint32_t may_wake;
	uint32_t passed, went, in_a_row; /* newcomers that got past; waiters that went; newcomers since the last one */
	uint32_t gate, claimed;          /* as they are */
	uint64_t state;
	uint32_t owed[MAX];    /* answers promised and not written */
	uint32_t in_hand[MAX]; /* tokens found by adopting, not posted yet */
	uint32_t posting[MAX]; /* tokens that this thread was asked to post, and has not */
	uint32_t own[MAX];     /* gate, as this thread wrote it last */
	uint32_t parents, answered; /* of the parent's waiters, as long as they count */
	uint32_t has_ended;
};

static struct ghost *g;

/* ---------------------------------------------------------------- what has been reached, in all executions together */

#define EVENTS(X) \
	X(answer) \
	X(claim) X(pass) X(left) X(owed) X(again) X(front) X(watched) X(timeout) X(refused) X(adopted) X(late) \
		X(freed) X(cancelled) X(returned) X(interrupted)

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
static uint32_t most_in_a_row;

static void note(enum event e)
{
	events[e]++;
}

/* ---------------------------------------------------------------- the words as they change */

static uint32_t sum(const uint32_t of[MAX])
{
	uint32_t n = 0;

	for (int t = 0; t < MAX; t++)
		n += of[t];
	return n;
}

static uint32_t value_of(uint64_t s)
{
	return (uint32_t)s & VALUE;
}

static uint32_t count_of(uint64_t s)
{
	return ((uint32_t)(s >> 32) & COUNT) / ONE;
}

static uint32_t bypass_of(uint64_t s)
{
	return (uint32_t)(s >> 32) >> PASSED_SHIFT;
}

static void check_sums(void)
{
	uint32_t open = g->gate - g->claimed;

	X_CHECK("answer", (int32_t)open >= 0);
	X_CHECK("count", (uint32_t)__builtin_popcount(g->inside) + g->parents + g->answered ==
				 count_of(g->state) + sum(g->owed) + open);
	X_CHECK("token", value_of(g->state) + sum(g->owed) + open + sum(g->in_hand) + g->taken == tokens + g->posted);
	X_CHECK("shape", !value_of(g->state) || !count_of(g->state));
	X_CHECK("shape", count_of(g->state) || !(g->state >> 32 & FRONT));
}

static void gets_token(uint32_t me)
{
	X_CHECK("result", !(g->got & 1u << me) && ((g->calling | g->trying) & 1u << me));
	if (g->cancelling & 1u << me) { /* it must give it back */
		g->in_hand[me]++;
		note(E_returned);
		return;
	}
	g->got |= 1u << me;
	g->taken++;
}

/* A waiter has gone, with a token or without. */
static void goes(uint32_t me)
{
	g->inside &= ~(1u << me);
	g->went++;
	g->in_a_row = 0;
}

static void enters(uint32_t me, uint64_t old, uint64_t v)
{
	X_CHECK("count", (g->calling & 1u << me) && !(g->inside & 1u << me) && !((g->got | g->trying) & 1u << me));
	X_CHECK("adopt", !g->parents && !g->answered);
	X_CHECK("bound", bypass_of(v) == bypass_of(old) || (bypass_of(v) == bypass_of(old) + 1 && bypass_of(old) < limit));
	g->inside |= 1u << me;
}

static void adopts(uint64_t v)
{
	X_CHECK("adopt", is_child && g->parents && !count_of(v) && value_of(v) == value_of(g->state));
	g->parents = 0;
	note(E_adopted);
}

static void posts(uint32_t me, uint32_t into_value, uint32_t promised)
{
	X_CHECK("count", !(g->inside & 1u << me));
	X_CHECK("adopt", !promised || !g->parents);
	if (g->in_hand[me]) {
		X_CHECK("token", g->in_hand[me] == into_value + promised);
		g->in_hand[me] = 0;
	} else {
		X_CHECK("token", g->posting[me] == into_value + promised);
		g->posted += g->posting[me];
		g->posting[me] = 0;
	}
	g->owed[me] += promised;
}

static void wrote_state(uint64_t v, uint32_t me)
{
	uint64_t old = g->state;
	int32_t tokens_more = (int32_t)(value_of(v) - value_of(old)), more = (int32_t)(count_of(v) - count_of(old));

	if ((old ^ v) >> EPOCH_SHIFT & 1) {
		adopts(v);
	} else if (more > 0) {
		X_CHECK("count", more == 1 && !tokens_more);
		enters(me, old, v);
	} else if (more < 0 && (g->inside & 1u << me)) {
		X_CHECK("count", more == -1 && !tokens_more);
		goes(me);
		note(E_left);
	} else if (more < 0 || tokens_more > 0) {
		X_CHECK("token", tokens_more >= 0);
		posts(me, (uint32_t)tokens_more, (uint32_t)-more);
	} else if (tokens_more < 0) {
		X_CHECK("token", tokens_more == -1);
		gets_token(me);
	}
	if (!(old >> 32 & FRONT) && (v >> 32 & FRONT))
		note(E_front);
	if (!(old >> 32 & WATCHED) && (v >> 32 & WATCHED))
		note(E_watched);
	g->state = v;
}

static void wrote_gate(uint32_t v, uint32_t me)
{
	uint32_t n = v - g->gate;

	X_CHECK("answer", n <= g->owed[me]);
	g->owed[me] -= n;
	g->gate = v;
	if (!n)
		return;
	g->own[me] = v;
	g->may_wake |= 1u << me;
	note(E_answer);
}

static void passes(uint32_t me)
{
	if (!limit && !is_disturbed)
		x_fail("line", "T%u claims what was there when it came", me);
	g->inside &= ~(1u << me);
	g->passed++;
	note(E_pass);
	if (++g->in_a_row > most_in_a_row)
		most_in_a_row = g->in_a_row;
	if (limit != UINT32_MAX && !is_disturbed)
		X_CHECK("bound", g->passed <= limit * (g->went + 1));
}

static void wrote_claimed(uint32_t v, uint32_t me)
{
	uint32_t n = v - g->claimed;

	g->claimed = v;
	if (!(g->inside & 1u << me)) { /* one that has left, or adopts */
		if (g->answered) {
			X_CHECK("adopt", n == g->answered);
			g->answered = 0;
			g->in_hand[me] += n;
			note(E_adopted);
		} else {
			X_CHECK("answer", n == 1 && (g->calling & 1u << me) && !(g->got & 1u << me));
			g->owed[me] += n;
			note(E_again);
		}
		return;
	}
	X_CHECK("answer", n == 1);
	gets_token(me);
	note(E_claim);
	if (g->gate == g->own[me] && !(g->cancelling & 1u << me))
		passes(me);
	else
		goes(me);
}

static void wrote(const void *p, struct x_pair old, struct x_pair v)
{
	uint32_t me = (uint32_t)x_self();

	(void)old;
	if (p == &g->s.state)
		wrote_state((uint64_t)v.tag << 32 | v.value, me);
	else if (p == &g->s.gate)
		wrote_gate(v.value, me);
	else if (p == &g->s.claimed)
		wrote_claimed(v.value, me);
	else
		return;
	check_sums();
}

static void calls(const char *what)
{
	uint32_t me = 1u << x_self(), may = what[2] == 'k' ? g->may_wake : g->inside; /* "wake" or "wait" */

	if (!(may & me) || (g->trying & me))
		x_fail("call", "T%d makes a call (%s) that nothing calls for", x_self(), what);
	if (what[2] == 'i' && x_is_expired(x_self()))
		note(E_owed);
	if (g->has_ended)
		note(E_late);
}

/* ---------------------------------------------------------------- the calls of a thread */

static void is_done(int t)
{
	X_CHECK("answer", !g->owed[t] && !g->in_hand[t]);
	X_CHECK("token", !g->posting[t]);
	X_CHECK("count", !(g->inside & 1u << t));
	g->may_wake &= ~(1u << t);
	g->calling &= ~(1u << t);
	g->trying &= ~(1u << t);
	g->got &= ~(1u << t);
}

static void cancels(int t)
{
	g->cancelling |= 1u << t;
	note(E_cancelled);
}

static void cancelled(int t)
{
	X_CHECK("result", !(g->got & 1u << t));
	is_done(t);
	g->cancelling &= ~(1u << t);
}

static bool waits(char how, int t)
{
	static const struct timespec then = { 1, 0 };
	bool has_token;
	int rc;

	*(how == 'y' ? &g->trying : &g->calling) |= 1u << t;
	rc = how == 'y' ? nlock_sem_trywait(&g->s)
	     : how == 't' ? nlock_sem_wait_until(&g->s, CLOCK_MONOTONIC, &then)
	     : how == 'c' ? nlock_sem_wait_posix(&g->s, CLOCK_MONOTONIC, NULL)
			  : nlock_sem_wait(&g->s);
	has_token = g->got >> t & 1;
	X_CHECK("result", has_token == !rc);
	if (rc && how == 'c') {
		X_CHECK("result", rc == EINTR);
		note(E_interrupted);
	} else if (rc) {
		X_CHECK("result", how == 'y' ? rc == EAGAIN : how == 't' && rc == ETIMEDOUT && x_is_expired(t));
		note(how == 'y' ? E_refused : E_timeout);
	}
	is_done(t);
	return has_token;
}

static void in_section(void)
{
	X_CHECK("token", ++g->in <= tokens);
	if (tokens == 1)
		X_SET(&g->section, X_GET(&g->section, X_SITE("section", X_RLX)) + 1, X_SITE("section", X_RLX));
}

static void post(uint32_t n, int t)
{
	g->posting[t] = n;
	X_CHECK("result", !(n == 1 ? nlock_sem_post(&g->s) : nlock_sem_post_n(&g->s, n)));
	is_done(t);
}

static void drops(void)
{
	if (x_add(&g->refs, sizeof(g->refs), UINT32_MAX, X_SITE("refs", X_ACQ_REL)) != 1)
		return;
	g->has_ended = 1;
	note(E_freed);
	x_dead(&g->s, sizeof(g->s), X_SITE("free", X_RLX));
}

static void destroys(int t)
{
	int rc = nlock_sem_destroy(&g->s);

	X_CHECK("result", !rc || rc == EBUSY);
	is_done(t);
}

/* One letter; returns the place of the next. */
static const char *call(const char *p, int t)
{
	const char *u = strchr(p, 'u');

	x_note("-- %c", *p);
	if (strchr("wtycR", *p)) {
		if (!waits(*p, t))
			return u ? u + 1 : p + 1;
		if (*p == 'R')
			X_CHECK("result", X_GET(&g->datum, X_SITE("datum", X_RLX)) == 1);
		else if (u)
			in_section();
	} else if (*p == 'P') {
		X_SET(&g->datum, 1, X_SITE("datum", X_RLX));
		post(1, t);
	} else if (*p == 'd') {
		drops();
	} else if (*p == 'D') {
		destroys(t);
	} else {
		g->in -= *p == 'u';
		post(isdigit((unsigned char)*p) ? (uint32_t)(*p - '0') : 1, t);
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

/* Of the parent's threads there is nothing but what the words say. */
static void inherit(void)
{
	g->parents = parent_waits;
	g->answered = parent_is_answered;
	g->state = tokens | (uint64_t)(parent_waits * ONE + (parent_waits ? FRONT : 0)) << 32;
	g->gate = parent_is_answered;
	x_store64(&g->s.state, g->state, X_SITE("inherit", X_RLX));
	x_store(&g->s.gate, sizeof(g->s.gate), g->gate, X_SITE("inherit", X_RLX));
	x_set_tag(&g->s.gate, 1);
	for (int t = 0; t < MAX; t++)
		g->own[t] = g->gate;
	g->posted = parent_is_answered;
}

static void init(void)
{
	g = x_new(sizeof(*g));
	if (nlock_sem_init(&g->s, tokens, attr))
		x_fail("result", "init");
	g->state = tokens;
	for (int t = 1; t < MAX; t++)
		g->refs += program[t] && strchr(program[t], 'd');
	if (is_child)
		inherit();
}

static void fini(void)
{
	uint64_t state;

	X_CHECK("rest", !sum(g->owed) && !g->inside);
	if (g->has_ended)
		return;
	state = x_load64(&g->s.state, X_SITE("state at rest", X_RLX));
	X_CHECK("rest", value_of(state) == tokens + g->posted - g->taken - g->answered);
	if (g->parents || g->answered)
		return;
	X_CHECK("rest", (state & ~((uint64_t)1 << EPOCH_SHIFT)) == value_of(state));
	X_CHECK("rest", nlock_sem_value(&g->s) == value_of(state));
	X_CHECK("rest", !nlock_sem_destroy(&g->s));
}

/* ---------------------------------------------------------------- the command line */

static struct x_test test = { .init = init,
			      .thread = thread,
			      .fini = fini,
			      .wrote = wrote,
			      .calls = calls,
			      .cancels = cancels,
			      .cancelled = cancelled };

static void set_handoff(const char *arg)
{
	size_t len = strcspn(arg, ",");
	char *end;

	if (isdigit((unsigned char)*arg)) {
		limit = (uint32_t)atoi(arg);
		attr = NLOCK_BOUNDED_N((int)limit);
	} else if (!strncmp(arg, "fifo", len)) {
		attr = NLOCK_FIFO;
	} else if (!strncmp(arg, "barging", len)) {
		attr = NLOCK_BARGING;
		limit = UINT32_MAX;
	} else if (!strncmp(arg, "bounded", len)) {
		attr = NLOCK_BOUNDED;
		limit = 255;
	} else {
		scen_usage("HANDOFF is fifo, barging, bounded or a number");
	}
	if (arg[len] != ',')
		scen_usage("after the hand-off: the value");
	tokens = (uint32_t)strtoul(arg + len + 1, &end, 10);
	if (!strncmp(end, ",fork:", 6)) {
		is_child = true;
		parent_waits = (uint32_t)strtoul(end + 6, &end, 10);
		parent_is_answered = (uint32_t)strtoul(end + 1, &end, 10);
	} else if (!strcmp(end, ",node")) {
		attr |= NLOCK_PLACE_NODE(0);
	} else if (*end) {
		scen_usage("after the value: node or fork");
	}
}

static const char *add_program(const char *arg)
{
	int t = test.threads + 1;

	arg = scen_unrolled(arg);
	if (t == MAX || arg[strspn(arg, "wtycRpPu23dD")])
		return NULL;
	program[t] = arg;
	if (strchr(arg, 'd'))
		test.has_ends = true;
	return program[t];
}

static bool has_reached(void)
{
	return most_in_a_row == limit;
}

static void parsed(const struct x_options *o)
{
	is_disturbed = o->strays > 0;
}

static const struct scen scen = {
	.parsed = parsed,
	.name = "scen_sem",
	.usage = "HANDOFF,VALUE[,node|,fork:N:M] PROGRAM...",
	.test = &test,
	.add = add_program,
	.event_names = event_names,
	.events = events,
	.n_events = NEVENTS,
	.set = set_handoff,
	.has_reached = has_reached,
	.reached = "passed_most",
};

int main(int argc, char **argv)
{
	return scen_main(&scen, argc, argv);
}
