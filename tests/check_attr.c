/* SPDX-License-Identifier: MIT
 *
 * check_attr.c - tier 1: attributes, policy and deadlines over their whole domains; no threads, no kernel
 */
#include "attr.h"
#include "harness.h"
#include "policy.h"
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- attributes */

static bool is_valid_low[0x10000];

/* The valid low halves, by putting together one of each. */
static int fill_valid(void)
{
	int n = 0;

	for (uint32_t handoff = 0; handoff < 4; handoff++) {
		for (uint32_t rest = 0; rest < 4; rest++) { /* sharing, cohort */
			uint32_t base = handoff | rest << 4;

			if (handoff == 1 && rest & 2)
				continue;
			is_valid_low[base] = is_valid_low[base | 2u << 2] = is_valid_low[base | 3u << 2] = true;
			for (uint32_t node = 0; node < 1023; node++)
				is_valid_low[base | 1u << 2 | node << 6] = true;
			n += 3 + 1023;
		}
	}
	return n;
}

TEST(exactly_the_combinations_of_one_of_each_are_valid)
{
	static const uint32_t high[] = { 0, 1, 2, 7, 100, 0x3ff, 0x7fff, 0x8000, 0xfffe, 0xffff };
	int n = 0;

	must_be(fill_valid(), (4 * 2 + 3 * 2) * (3 + 1023));
	for (int h = 0; h < COUNT(high); h++) {
		for (uint32_t low = 0; low < 0x10000; low++) {
			uint32_t a = high[h] << 16 | low;
			bool want = is_valid_low[low] && ((low & 3) == 3 ? high[h] || !(low & NLOCK_COHORT) : !high[h]);

			n += !high[h] && nl_attr_is_valid(a);
			must(nl_attr_is_valid(a) == want, "attribute word 0x%x", a);
		}
	}
	must_be(n, (4 * 2 + 2 * 2) * (3 + 1023));
}

TEST(every_bound_and_node_in_range_comes_back)
{
	for (int k = 0; k <= 0xffff; k++) {
		nlock_attr_t a = NLOCK_BOUNDED_N(k);

		must(nl_attr_is_valid(a) && nl_attr_limit(a) == (uint32_t)k && nl_policy_limit(a) == (uint32_t)k,
		     "k = %d", k);
		must(nl_attr_is_valid(a | NLOCK_PLACE_NODE(1022) | NLOCK_SHARED), "k = %d", k);
	}
	for (int n = 0; n <= 0x3fe; n++) {
		nlock_attr_t a = NLOCK_PLACE_NODE(n);

		must(nl_attr_is_valid(a) && nl_attr_node(a) == (uint32_t)n, "n = %d", n);
	}
}

TEST(arguments_out_of_range_make_attributes_that_are_never_valid)
{
	static const int bad_k[] = { -1, -2, INT_MIN, 0x10000, 0x10001, 0x20000, INT_MAX };
	static const int bad_n[] = { -1, -2, INT_MIN, 0x3ff, 0x400, 0x401, 0x10000, INT_MAX };

	for (int i = 0; i < COUNT(bad_k); i++) {
		for (int r = 0; r < ROWS; r++)
			must(!nl_attr_is_valid(NLOCK_BOUNDED_N(bad_k[i]) | rows[r].place), "k = %d", bad_k[i]);
	}
	for (int i = 0; i < COUNT(bad_n); i++) {
		for (int r = 0; r < ROWS_HANDOFFS; r++)
			must(!nl_attr_is_valid(NLOCK_PLACE_NODE(bad_n[i]) | rows[r].attr), "n = %d", bad_n[i]);
	}
}

TEST(two_of_one_axis_do_not_hide_a_mistake)
{
	must(!nl_attr_is_valid(NLOCK_FIFO | NLOCK_BOUNDED_N(5) | NLOCK_BAD_ATTR));
	must(!nl_attr_is_valid(NLOCK_PLACE_FIRST | 5u << 6), "a node where none is asked for");
	must(!nl_attr_is_valid(NLOCK_PLACE_NODE(5) | NLOCK_PLACE_FIRST), "two placements");
	must(!nl_attr_is_valid(NLOCK_FIFO | 5u << 16), "a bound where none is asked for");
}

TEST(cohort_goes_with_a_handoff_that_can_choose)
{
	must(!nl_attr_is_valid(NLOCK_COHORT | NLOCK_FIFO));
	must(!nl_attr_is_valid(NLOCK_COHORT | NLOCK_BOUNDED_N(0)));
	must(!nl_attr_is_valid(NLOCK_COHORT | NLOCK_FIFO | NLOCK_BARGING), "looks like BOUNDED_N(0)");
	for (int r = 0; r < ROWS; r++) {
		nlock_attr_t a = rows[r].attr | NLOCK_COHORT;

		must_be(nl_attr_is_valid(a), rows[r].bound != 0);
		must(!nl_attr_is_valid(a | NLOCK_BAD_ATTR), "%s", rows[r].name);
		must(nl_policy_is_cohort(a) && nl_attr_has_handoff(a) && !nl_policy_is_cohort(rows[r].attr), "%s",
		     rows[r].name);
		must(nl_policy_limit(a) == rows[r].bound, "%s", rows[r].name);
	}
}

TEST(rows_are_valid_and_differ)
{
	must_be(ROWS, 7 * 4 * 2);
	for (int i = 0; i < ROWS; i++) {
		must(nl_attr_is_valid(rows[i].attr), "%s", rows[i].name);
		must(nl_policy_limit(rows[i].attr) == rows[i].bound, "%s", rows[i].name);
		for (int j = 0; j < i; j++)
			must(rows[i].attr != rows[j].attr && strcmp(rows[i].name, rows[j].name), "%s, %s", rows[i].name,
			     rows[j].name);
	}
}

/* ---------------------------------------------------------------- the object */

TEST(layout_is_abi)
{
	must_be(sizeof(nlock_mutex_t), 16);
	must_be(_Alignof(nlock_mutex_t), 8);
	must_be(offsetof(nlock_mutex_t, word), 0);
	must_be(offsetof(nlock_mutex_t, node), 4);
	must_be(offsetof(nlock_mutex_t, attr), 8);
	must_be(offsetof(nlock_mutex_t, bypass), 12);
	must_be(offsetof(nlock_mutex_t, watched), 14);
	must_be(offsetof(nlock_mutex_t, luck), 15);
	must_be(sizeof(nlock_attr_t), 4);
	must_be(sizeof(((nlock_mutex_t *)0)->word), 4);
}

/* Constant expressions, as the header says. */
static nlock_mutex_t zeroed, by_init = NLOCK_MUTEX_INIT, bounded = NLOCK_MUTEX_INIT_ATTR(NLOCK_BOUNDED);
static nlock_mutex_t fifo = NLOCK_MUTEX_INIT_ATTR(NLOCK_FIFO),
		     barging = NLOCK_MUTEX_INIT_ATTR(NLOCK_BARGING | NLOCK_SHARED);
static nlock_mutex_t seven = NLOCK_MUTEX_INIT_ATTR(NLOCK_BOUNDED_N(7)),
		     most = NLOCK_MUTEX_INIT_ATTR(NLOCK_BOUNDED_N(0xffff));

TEST(static_initialisers_are_what_init_makes)
{
	const struct {
		const nlock_mutex_t *m;
		nlock_attr_t attr;
	} cases[] = {
		{ &zeroed, 0 },
		{ &by_init, 0 },
		{ &bounded, NLOCK_BOUNDED },
		{ &fifo, NLOCK_FIFO },
		{ &barging, NLOCK_BARGING | NLOCK_SHARED },
		{ &seven, NLOCK_BOUNDED_N(7) },
		{ &most, NLOCK_BOUNDED_N(0xffff) },
	};

	for (int i = 0; i < COUNT(cases); i++) {
		nlock_mutex_t m;

		memset(&m, 0xa5, sizeof(m));
		must_be(nlock_mutex_init(&m, cases[i].attr), 0);
		m.node = 0; /* says which process initialised it */
		must(!memcmp(&m, cases[i].m, sizeof(m)), "attribute word 0x%x", cases[i].attr);
	}
}

/* What the compiler is to refuse must not compile; tests/check_install.sh can try that. Here: what it is to make of the
 * rest. */
TEST(zero_is_the_default_of_all_three_axes)
{
	must_be(NLOCK_BOUNDED | NLOCK_PLACE_HASH | NLOCK_PRIVATE, 0);
	must_be(nl_policy_limit(0), NLOCK_BOUND_DEFAULT);
}

TEST(library_and_header_are_of_one_version)
{
	nlock_stats_t s;

	must_be(nlock_version(), NLOCK_VERSION);
	must_be(nlock_stats(&s), nlock_features() & NLOCK_HAS_STATS ? 0 : ENOTSUP);
}

/* In a child that has not looked at the environment yet. */
static int has_bound(void *arg)
{
	const struct {
		const char *says;
		uint32_t bound;
	} cases[] = {
		{ "fifo", 0 },
		{ "barging", UINT32_MAX },
		{ "bounded", NLOCK_BOUND_DEFAULT },
		{ "bounded=0", 0 },
		{ "bounded=7", 7 },
		{ "bounded=00012", 12 },
		{ "bounded=65535", 65535 },
		{ "bounded=65536", NLOCK_BOUND_DEFAULT },
		{ "bounded=4294967303", NLOCK_BOUND_DEFAULT },
		{ "bounded=99999999999999999999999999", NLOCK_BOUND_DEFAULT },
		{ "bounded=", NLOCK_BOUND_DEFAULT },
		{ "bounded=-1", NLOCK_BOUND_DEFAULT },
		{ "bounded= 1", NLOCK_BOUND_DEFAULT },
		{ "bounded=1x", NLOCK_BOUND_DEFAULT },
		{ "bounded7", NLOCK_BOUND_DEFAULT },
		{ "FIFO", NLOCK_BOUND_DEFAULT },
		{ "", NLOCK_BOUND_DEFAULT },
	};
	int i = *(int *)arg;

	if (i == COUNT(cases))
		return 2;
	if (setenv("NLOCK_HANDOFF", cases[i].says, 1))
		return 1;
	if (nlock_bound() != cases[i].bound || nl_policy_limit(0) != cases[i].bound)
		return 1;
	return nl_policy_limit(NLOCK_FIFO) || nl_policy_limit(NLOCK_BOUNDED_N(5)) != 5 ||
	       nl_policy_limit(NLOCK_BARGING) != NL_NO_LIMIT;
}

TEST(environment_says_what_the_default_bound_is)
{
	int i = 0, status;

	while ((status = harness_child(has_bound, &i)) == 0)
		i++;
	must_be(status, 2 << 8);
	must_be(i, 17);
}

TEST(suggested_slots_are_eight_for_each_object_that_can_be_slept_on)
{
	const struct {
		uint32_t threads, locks, slots;
	} cases[] = {
		{ 0, 0, 2 },
		{ 0, 7, 2 },
		{ 1, 1, 8 },
		{ 1, 1000, 8 },
		{ 1000, 2, 16 },
		{ 80, 1024, 1024 },
		{ 64, 64, 512 },
		{ 65, 65, 1024 },
		{ UINT32_MAX, 1u << 28, 1u << 31 },
		{ UINT32_MAX, UINT32_MAX, 1u << 31 },
	};

	for (int i = 0; i < COUNT(cases); i++)
		must_be(nlock_hash_fit(cases[i].threads, cases[i].locks), cases[i].slots);
}

/* ---------------------------------------------------------------- policy */

static const uint32_t some_bypass[] = { 0,         1,   2,    6,    7,      8,      99,      100,
					101,       999, 1000, 1001, 0xfffe, 0xffff, 0x10000, UINT32_MAX - 1,
					UINT32_MAX };

TEST(ordinary_release_grants_exactly_from_the_bound_on)
{
	for (int64_t k = 0; k <= 0xffff; k++) {
		nlock_attr_t a = NLOCK_BOUNDED_N(k);

		for (int64_t bypass = k < 2 ? 0 : k - 2; bypass < k + 3; bypass++)
			must(nl_policy_grants(a, NL_BY_ATTR, (uint32_t)bypass, false) == (bypass >= k),
			     "k %d, bypass %d", (int)k, (int)bypass);
	}
	for (int i = 0; i < ROWS; i++) {
		for (int b = 0; b < COUNT(some_bypass); b++) {
			bool want = rows[i].bound != ROW_NO_BOUND && some_bypass[b] >= rows[i].bound;

			if (some_bypass[b] != UINT32_MAX || rows[i].bound != ROW_NO_BOUND)
				must(nl_policy_grants(rows[i].attr, NL_BY_ATTR, some_bypass[b], false) == want,
				     "%s, bypass %u", rows[i].name, some_bypass[b]);
		}
	}
}

TEST(barging_never_grants_however_often_it_overtakes)
{
	must(!nl_policy_grants(NLOCK_BARGING, NL_BY_ATTR, UINT32_MAX - 1, false));
	must(!nl_policy_grants(NLOCK_BARGING, NL_BY_ATTR, UINT32_MAX, false));
}

TEST(caller_overrides_the_attribute)
{
	for (int i = 0; i < ROWS; i++) {
		for (int b = 0; b < COUNT(some_bypass); b++) {
			for (int due = 0; due < 2; due++) {
				must(nl_policy_grants(rows[i].attr, NL_FAIR, some_bypass[b], due), "%s", rows[i].name);
				must(!nl_policy_grants(rows[i].attr, NL_BARGE, some_bypass[b], due), "%s",
				     rows[i].name);
			}
		}
	}
}

TEST(due_head_is_granted_by_every_ordinary_release)
{
	for (int i = 0; i < ROWS; i++) {
		for (int b = 0; b < COUNT(some_bypass); b++)
			must(nl_policy_grants(rows[i].attr, NL_BY_ATTR, some_bypass[b], true), "%s", rows[i].name);
	}
}

TEST(head_is_due_after_the_time_bound_unless_there_is_no_bound)
{
	const struct {
		int64_t ns;
		bool is_due;
	} cases[] = {
		{ 0, false },
		{ 1, false },
		{ -1, false },
		{ INT64_MIN, false },
		{ NLOCK_BOUND_NS - 1, false },
		{ NLOCK_BOUND_NS, false },
		{ NLOCK_BOUND_NS + 1, true },
		{ INT64_MAX, true },
	};

	for (int i = 0; i < ROWS; i++) {
		for (int c = 0; c < COUNT(cases); c++)
			must(nl_policy_is_due(rows[i].attr, cases[c].ns) ==
				     (cases[c].is_due && rows[i].bound != ROW_NO_BOUND),
			     "%s, %lld ns", rows[i].name, (long long)cases[c].ns);
	}
}

TEST(next_head_is_called_early_only_where_every_release_grants)
{
	for (int i = 0; i < ROWS; i++)
		must(nl_policy_calls_early(rows[i].attr) == (rows[i].bound == 0), "%s", rows[i].name);
}

/* ---------------------------------------------------------------- deadlines */

#define BILLION 1000000000

#define SEC_MAX ((time_t)(sizeof(time_t) == 8 ? INT64_MAX : INT32_MAX))
#define SEC_MIN ((time_t)(sizeof(time_t) == 8 ? INT64_MIN : INT32_MIN))

static const struct {
	struct timespec abs;
	int want;
	int64_t sec, nsec; /* where want is not EINVAL */
} extremes[] = {
	{ { 0, 0 }, -ETIMEDOUT, 0, 0 },
	{ { 0, 1 }, -ETIMEDOUT, 0, 1 },
	{ { -1, 0 }, -ETIMEDOUT, 0, 0 },
	{ { -1, BILLION - 1 }, -ETIMEDOUT, 0, 0 },
	{ { SEC_MIN, 0 }, -ETIMEDOUT, 0, 0 },
	{ { SEC_MIN, BILLION - 1 }, -ETIMEDOUT, 0, 0 },
	{ { INT32_MIN, 0 }, -ETIMEDOUT, 0, 0 },
	{ { SEC_MAX, 0 }, 0, SEC_MAX, 0 },
	{ { SEC_MAX, BILLION - 1 }, 0, SEC_MAX, BILLION - 1 },
	{ { INT32_MAX, BILLION - 1 }, 0, INT32_MAX, BILLION - 1 },
	{ { 0, -1 }, -EINVAL, 0, 0 },
	{ { 0, BILLION }, -EINVAL, 0, 0 },
	{ { 0, LONG_MAX }, -EINVAL, 0, 0 },
	{ { 0, LONG_MIN }, -EINVAL, 0, 0 },
	{ { -1, -1 }, -EINVAL, 0, 0 },
	{ { -1, BILLION }, -EINVAL, 0, 0 },
	{ { SEC_MAX, BILLION }, -EINVAL, 0, 0 },
	{ { SEC_MAX, -1 }, -EINVAL, 0, 0 },
	{ { SEC_MIN, LONG_MIN }, -EINVAL, 0, 0 },
};

TEST(deadlines_are_validated_and_saturate)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };

	for (int i = 0; i < COUNT(extremes); i++) {
		for (int c = 0; c < 2; c++) {
			struct nl_deadline d;
			int rc = nl_deadline_set(&d, clocks[c], &extremes[i].abs);

			must(rc == extremes[i].want, "case %d: %d", i, rc);
			if (rc == -EINVAL)
				continue;
			must(d.clock == clocks[c] && d.sec == extremes[i].sec && d.nsec == extremes[i].nsec, "case %d",
			     i);
		}
	}
}

TEST(no_clock_but_two_is_taken)
{
	static const clockid_t bad[] = { 2, 3, 4, 5, 6, 7, 8, 9, 11, -1, -2, INT_MAX, INT_MIN, 100 };
	struct nl_deadline d;

	for (int i = 0; i < COUNT(bad); i++) {
		for (int e = 0; e < COUNT(extremes); e++)
			must(nl_deadline_set(&d, bad[i], &extremes[e].abs) == -EINVAL, "clock %d", (int)bad[i]);
	}
	must_be(nl_deadline_set(&d, CLOCK_MONOTONIC, NULL), -EINVAL);
	must_be(nl_deadline_set(&d, CLOCK_REALTIME, NULL), -EINVAL);
}

TEST(deadline_of_now_has_passed_and_one_of_later_has_not)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	struct nl_deadline d;

	for (int c = 0; c < 2; c++) {
		struct timespec now = harness_in(clocks[c], 0), later = harness_in(clocks[c], (int64_t)3600 * BILLION);

		must_be(nl_deadline_set(&d, clocks[c], &now), -ETIMEDOUT);
		must_be(nl_deadline_set(&d, clocks[c], &later), 0);
		must(d.sec == later.tv_sec && d.nsec == later.tv_nsec);
	}
}

static const struct test tests[] = {
	ONCE(exactly_the_combinations_of_one_of_each_are_valid),
	ONCE(every_bound_and_node_in_range_comes_back),
	ONCE(arguments_out_of_range_make_attributes_that_are_never_valid),
	ONCE(two_of_one_axis_do_not_hide_a_mistake),
	ONCE(cohort_goes_with_a_handoff_that_can_choose),
	ONCE(rows_are_valid_and_differ),
	ONCE(layout_is_abi),
	ONCE(static_initialisers_are_what_init_makes),
	ONCE(zero_is_the_default_of_all_three_axes),
	ONCE(environment_says_what_the_default_bound_is),
	ONCE(library_and_header_are_of_one_version),
	ONCE(suggested_slots_are_eight_for_each_object_that_can_be_slept_on),
	ONCE(ordinary_release_grants_exactly_from_the_bound_on),
	ONCE(barging_never_grants_however_often_it_overtakes),
	ONCE(caller_overrides_the_attribute),
	ONCE(due_head_is_granted_by_every_ordinary_release),
	ONCE(head_is_due_after_the_time_bound_unless_there_is_no_bound),
	ONCE(next_head_is_called_early_only_where_every_release_grants),
	ONCE(deadlines_are_validated_and_saturate),
	ONCE(no_clock_but_two_is_taken),
	ONCE(deadline_of_now_has_passed_and_one_of_later_has_not),
};

int main(int argc, char **argv)
{
	return harness_main(argc, argv, "attr", tests, COUNT(tests));
}
