/* SPDX-License-Identifier: MIT
 *
 * suite.cpp - lib/mutex.c under Relacy Race Detector
 *
 *	suite CODE MODE THREADSxROUNDS SEARCH LIMIT [watch] [interrupt] [free] [from:N] [verbose]
 *
 * CODE says which mutex.c: 0 is that of lib/, the others have a fault planted. MODE is fifo, barging, bounded or a
 * number. SEARCH is random (LIMIT executions from number N on; the number is the seed), context (every execution with
 * at most LIMIT preemptions) or full (every execution).
 * watch: a waiter looks once before it sleeps, and FIFO calls early; interrupt: a sleeper may return without a wake;
 * free: who comes last ends the mutex's life at once.
 * Relacy finds deadlocks, livelocks and data races; the rest is asserted here. Exit status 1 is a fault found, 3 a
 * scenario in which nobody slept.
 */
#include "seam.h"

#include <inttypes.h>
#include <ostream>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One mutex.c: a namespace each, so that all share the compilation of the rest. */
struct code {
	int (*init)(seam::mutex *m, nlock_attr_t attr);
	int (*lock)(seam::mutex *m);
	int (*unlock)(seam::mutex *m);
	int (*destroy)(seam::mutex *m);
};

/* clang-format off */
#define CODE(space) \
	{ space::nlock_mutex_init, space::nlock_mutex_lock, space::nlock_mutex_unlock, space::nlock_mutex_destroy }
/* clang-format on */

/* relacy.sh writes it: the namespaces, and a table "codes" of them. */
#include "codes.h"

static const code *tested;
static nlock_attr_t mode;
static int rounds;
static bool frees;

template <int N> struct suite : rl::test_suite<suite<N>, N> {
	seam::mutex m;
	rl::var<int> sections, to_come; /* the mutex protects them: Relacy finds every access that it does not order */

	void before()
	{
		seam::sleepers = 0;
		memset(seam::ticks, 0, sizeof(seam::ticks));
		sections($) = 0;
		to_come($) = N;
		RL_ASSERT(tested->init(&m, mode) == 0);
	}

	/* The bound: only a release that found nobody to call may open a lock whose limit is zero, and is overtaken once. */
	void section()
	{
		const uint32_t limit = nl_policy_limit(mode);

		sections($) = sections($).load() + 1;
		RL_ASSERT(m.bypass <= (limit ? limit : 1));
	}

	void thread(unsigned)
	{
		bool last = false;

		for (int i = 1; i <= rounds; i++) {
			RL_ASSERT(tested->lock(&m) == 0);
			section();
			if (i == rounds) {
				to_come($) = to_come($).load() - 1;
				last = to_come($).load() == 0;
			}
			RL_ASSERT(tested->unlock(&m) == 0);
		}
		if (last && frees) {
			RL_ASSERT(tested->destroy(&m) == 0);
			m.end();
		}
	}

	void after()
	{
		RL_ASSERT(sections($).load() == N * rounds);
		RL_ASSERT(seam::sleepers == 0);
		RL_ASSERT(frees || m.word.debug_value() == 0);
	}
};

static nlock_attr_t mode_of(const char *name)
{
	if (!strcmp(name, "fifo"))
		return NLOCK_FIFO;
	if (!strcmp(name, "barging"))
		return NLOCK_BARGING;
	if (!strcmp(name, "bounded"))
		return NLOCK_BOUNDED;
	return NLOCK_BOUNDED_N(atoi(name));
}

static void set_search(rl::test_params *p, const char *name, const char *limit)
{
	p->iteration_count = UINT64_MAX;
	p->execution_depth_limit = 4000;
	if (!strcmp(name, "random")) {
		p->search_type = rl::random_scheduler_type;
		p->iteration_count = strtoull(limit, NULL, 10);
	} else if (!strcmp(name, "context")) {
		p->search_type = rl::fair_context_bound_scheduler_type;
		p->context_bound = atoi(limit);
	} else {
		p->search_type = rl::fair_full_search_scheduler_type;
	}
}

static bool set_option(const char *name, rl::test_params *p, bool *verbose)
{
	if (!strcmp(name, "watch"))
		seam::watch_ns = 2;
	else if (!strcmp(name, "interrupt"))
		seam::interruptions = true;
	else if (!strcmp(name, "free"))
		frees = true;
	else if (!strcmp(name, "verbose"))
		*verbose = true;
	else if (!strncmp(name, "from:", 5) && p->search_type == rl::random_scheduler_type)
		p->initial_state = name + 5;
	else
		return false;
	return true;
}

static bool run(rl::test_params &p, int threads)
{
	switch (threads) {
	case 2:
		return rl::simulate<suite<2>>(p);
	case 3:
		return rl::simulate<suite<3>>(p);
	default:
		fprintf(stderr, "suite: 2 or 3 threads\n");
		exit(2);
	}
}

/* Every scenario makes its head sleep; with three threads there must have been others behind it, too. */
static bool was_contended(int threads)
{
	return seam::woken[1] && (threads < 3 || seam::woken[0]);
}

static int report(const rl::test_params &p, bool is_right, int threads)
{
	const char *verdict = !is_right                ? rl::test_result_str(p.test_result)
			      : was_contended(threads) ? "right"
						       : "nobody slept";

	printf("%s: %" PRIu64 " executions; %" PRIu64 " woken behind, %" PRIu64 " in front, %" PRIu64 " wakes in vain, "
	       "%" PRIu64 " interrupted\n",
	       verdict, (uint64_t)p.stop_iteration, seam::woken[0], seam::woken[1], seam::nobody, seam::interrupted);
	return !is_right ? 1 : was_contended(threads) ? 0 : 3;
}

int main(int argc, char **argv)
{
	const int some = sizeof(codes) / sizeof(codes[0]);
	rl::test_params p;
	std::ostream nowhere(NULL); /* not a string: Relacy would let that grow in its own memory */
	bool verbose = false, is_right;
	int threads = 0;

	if (argc < 6 || atoi(argv[1]) < 0 || atoi(argv[1]) >= some || sscanf(argv[3], "%dx%d", &threads, &rounds) != 2)
		return 2;
	tested = &codes[atoi(argv[1])];
	mode = mode_of(argv[2]);
	set_search(&p, argv[4], argv[5]);
	for (int i = 6; i < argc; i++) {
		if (!set_option(argv[i], &p, &verbose))
			return 2;
	}
	if (p.search_type == rl::random_scheduler_type)
		p.iteration_count += strtoull(p.initial_state.c_str(), NULL, 10);
	p.progress_stream = &nowhere;
	if (!verbose)
		p.output_stream = &nowhere;
	is_right = run(p, threads);
	return report(p, is_right, threads);
}
