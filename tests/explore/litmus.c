/* SPDX-License-Identifier: MIT
 *
 * litmus.c - is the explorer's memory the C11 one? Small shapes whose outcomes the standard decides
 *
 * Each shape has an outcome that C11 (with the repairs of RC11) allows or forbids; the explorer must reach the allowed ones and
 * none of the forbidden. Two allowed ones it is known not to reach; if that changes, explore.c is to say so.
 */
#include "explore.h"

#include <string.h>

struct shape {
	const char *name;
	const char *says; /* what is expected of the outcome */
	bool is_reached;
	int threads;
	void (*thread)(int t);
	bool (*outcome)(void);
};

/* Two words and what was read from them. */
static uint32_t *x, *y, *r;
static const struct shape *shape;

#define LOAD(p, o)     x_load(p, sizeof(*(p)), X_SITE("load " #p, o))
#define STORE(p, v, o) x_store(p, sizeof(*(p)), v, X_SITE("store " #p, o))
#define ADD(p, v, o)   x_add(p, sizeof(*(p)), v, X_SITE("add " #p, o))
#define FENCE(o)       x_fence(X_SITE("fence", o))

/* Store buffering: may both miss the other's store? */
static void sb(int t)
{
	STORE(t == 1 ? x : y, 1, X_RLX);
	r[t] = LOAD(t == 1 ? y : x, X_RLX);
}

static void sb_fences(int t)
{
	STORE(t == 1 ? x : y, 1, X_RLX);
	FENCE(X_SC);
	r[t] = LOAD(t == 1 ? y : x, X_RLX);
}

static void sb_sc(int t)
{
	STORE(t == 1 ? x : y, 1, X_SC);
	r[t] = LOAD(t == 1 ? y : x, X_SC);
}

static bool both_missed(void)
{
	return !r[1] && !r[2];
}

/* Message passing: may the flag be seen and the message not? */
static void mp(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		STORE(y, 1, X_REL);
	} else {
		r[1] = LOAD(y, X_ACQ);
		r[2] = LOAD(x, X_RLX);
	}
}

static void mp_relaxed(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		STORE(y, 1, X_RLX);
	} else {
		r[1] = LOAD(y, X_RLX);
		r[2] = LOAD(x, X_RLX);
	}
}

static void mp_no_acquire(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		STORE(y, 1, X_REL);
	} else {
		r[1] = LOAD(y, X_RLX);
		r[2] = LOAD(x, X_RLX);
	}
}

static void mp_fences(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		FENCE(X_REL);
		STORE(y, 1, X_RLX);
	} else {
		r[1] = LOAD(y, X_RLX);
		FENCE(X_ACQ);
		r[2] = LOAD(x, X_RLX);
	}
}

static bool flag_without_message(void)
{
	return r[1] && !r[2];
}

/* A release sequence: the flag is counted up by a third thread, relaxed. */
static void release_sequence(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		STORE(y, 1, X_REL);
	} else if (t == 2) {
		ADD(y, 1, X_RLX);
	} else {
		r[1] = LOAD(y, X_ACQ) == 2;
		r[2] = LOAD(x, X_RLX);
	}
}

/* ... or overwritten by a plain store of a third thread, which ends it. */
static void broken_sequence(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
		STORE(y, 1, X_REL);
	} else if (t == 2) {
		if (LOAD(y, X_RLX) == 1)
			STORE(y, 2, X_RLX);
	} else {
		r[1] = LOAD(y, X_ACQ) == 2;
		r[2] = LOAD(x, X_RLX);
	}
}

/* Independent reads of independent writes: may two readers disagree about the order? */
static void iriw(int t, bool is_sc)
{
	uint32_t *mine = t % 2 ? x : y, *other = t % 2 ? y : x;

	if (t <= 2 && is_sc) {
		STORE(mine, 1, X_SC);
	} else if (t <= 2) {
		STORE(mine, 1, X_REL);
	} else {
		r[2 * t - 6] = is_sc ? LOAD(mine, X_SC) : LOAD(mine, X_ACQ);
		r[2 * t - 5] = is_sc ? LOAD(other, X_SC) : LOAD(other, X_ACQ);
	}
}

static void iriw_acquire(int t)
{
	iriw(t, false);
}

static void iriw_sc(int t)
{
	iriw(t, true);
}

static bool readers_disagree(void)
{
	return r[0] && !r[1] && r[2] && !r[3];
}

/* Coherence: may a word be seen to go back? */
static void corr(int t)
{
	if (t == 1) {
		STORE(x, 1, X_RLX);
	} else {
		r[1] = LOAD(x, X_RLX);
		r[2] = LOAD(x, X_RLX);
	}
}

/* A read-modify-write reads the newest value: may two counts be one? */
static void two_counts(int t)
{
	r[t] = ADD(x, 1, X_RLX);
}

static bool is_one_count(void)
{
	return r[1] == r[2];
}

/* Load buffering: may both read what the other stores later? */
static void lb(int t)
{
	r[t] = LOAD(t == 1 ? x : y, X_RLX);
	STORE(t == 1 ? y : x, 1, X_RLX);
}

static bool both_foresaw(void)
{
	return r[1] && r[2];
}

/* 2+2W: may both first stores come last in their words' orders? */
static void two_plus_two(int t)
{
	STORE(t == 1 ? x : y, 1, X_RLX);
	STORE(t == 1 ? y : x, 2, X_RLX);
}

static bool both_first_are_last(void)
{
	return LOAD(x, X_RLX) == 1 && LOAD(y, X_RLX) == 1;
}

static const struct shape shapes[] = {
	{ "SB relaxed", "allowed", true, 2, sb, both_missed },
	{ "SB with SC fences", "forbidden", false, 2, sb_fences, both_missed },
	{ "SB with SC accesses", "forbidden", false, 2, sb_sc, both_missed },
	{ "MP release/acquire", "forbidden", false, 2, mp, flag_without_message },
	{ "MP relaxed", "allowed", true, 2, mp_relaxed, flag_without_message },
	{ "MP without acquire", "allowed", true, 2, mp_no_acquire, flag_without_message },
	{ "MP with fences", "forbidden", false, 2, mp_fences, flag_without_message },
	{ "IRIW release/acquire", "allowed", true, 4, iriw_acquire, readers_disagree },
	{ "IRIW with SC accesses", "forbidden", false, 4, iriw_sc, readers_disagree },
	{ "release sequence, RMW", "forbidden", false, 3, release_sequence, flag_without_message },
	{ "release sequence, ended", "allowed", true, 3, broken_sequence, flag_without_message },
	{ "CoRR", "forbidden", false, 2, corr, flag_without_message },
	{ "RMWs are atomic", "forbidden", false, 2, two_counts, is_one_count },
	{ "LB relaxed", "allowed by C11, out of reach", false, 2, lb, both_foresaw },
	{ "2+2W relaxed", "allowed, out of reach", false, 2, two_plus_two, both_first_are_last },
};

static void init(void)
{
	x = x_new(sizeof(*x));
	y = x_new(sizeof(*y));
	r = x_new(5 * sizeof(*r));
	STORE(x, 0, X_RLX);
	STORE(y, 0, X_RLX);
}

static void fini(void)
{
	if (shape->outcome())
		x_fail("reached", "%s", shape->name);
}

static bool is_as_expected(const struct shape *s, struct x_options o)
{
	struct x_test test = {
		.name = s->name, .threads = s->threads, .init = init, .thread = s->thread, .fini = fini
	};
	struct x_result result;
	bool is_right;

	shape = s;
	test.has_fences = true;
	o.traces = false;
	x_explore(&test, &o, &result);
	is_right = result.has_failed == s->is_reached && (!result.has_failed || !strcmp(result.property, "reached"));
	printf("%s litmus %s: %s, %s (%llu executions)\n", is_right ? "pass" : "FAIL", s->name, s->says,
	       result.has_failed ? result.property : "not reached", (unsigned long long)result.executions);
	return is_right;
}

int main(int argc, char **argv)
{
	struct x_options o = x_defaults;
	int wrong = 0;

	for (int i = 1; i < argc; i++) {
		if (!x_option(&o, argv[i])) {
			fprintf(stderr, "litmus: unknown option %s\n", argv[i]);
			x_usage(stderr);
			return 2;
		}
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		wrong += !is_as_expected(&shapes[i], o);
	return wrong != 0;
}
