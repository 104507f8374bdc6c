/* SPDX-License-Identifier: MIT
 *
 * cells.c - the loads of `nlock bench mutex', and what must come out of them
 *
 * A number in the column `must` says how many times as fast as the reference the default and the barging mutex must
 * be. These were set on a machine with two CPUs, by what the best peers reached there. Where there is none, the best
 * peer of the same run is the mark.
 */
#include "bench.h"
#include "locks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US 1000l

#define CELL(name, body, threads, inside, outside, must, flags, stretch, only) \
	{ \
		name, body, threads, inside, outside, must, flags, stretch, only, NULL, NULL, 0, 0 \
	}

static const struct cell cells[] = {
	CELL("lock-unlock", BODY_PAIR, 1, 0, 0, 1.19, 0, 0, NULL),
	CELL("trylock-unlock", BODY_PAIR_2, 1, 0, 0, 1.3, 0, 0, NULL),

	CELL("t2-0-0", BODY_CONTENDED, 2, 0, 0, 2.5, 0, 0, NULL),
	CELL("t2-0-100ns", BODY_CONTENDED, 2, 0, 100, 1.0, 0, 0, NULL),
	CELL("t2-0-400ns", BODY_CONTENDED, 2, 0, 400, 0.98, 0, 0, NULL),
	CELL("t2-100ns-0", BODY_CONTENDED, 2, 100, 0, 1.5, 0, 0, NULL),
	CELL("t2-100ns-100ns", BODY_CONTENDED, 2, 100, 100, 1.95, 0, 0, NULL),
	CELL("t2-100ns-400ns", BODY_CONTENDED, 2, 100, 400, 1.1, 0, 0, NULL),
	CELL("t2-1us-0", BODY_CONTENDED, 2, 1 * US, 0, 1.5, 0, 0, NULL),
	CELL("t2-1us-1us", BODY_CONTENDED, 2, 1 * US, 1 * US, 2.1, 0, 0, NULL),
	CELL("t2-1us-4us", BODY_CONTENDED, 2, 1 * US, 4 * US, 1.0, 0, 0, NULL),
	CELL("t2-10us-0", BODY_CONTENDED, 2, 10 * US, 0, 1.5, 0, 0, NULL),

	CELL("t8-0-0", BODY_CONTENDED, 8, 0, 0, 0, 0, 0, NULL),
	CELL("t8-0-400ns", BODY_CONTENDED, 8, 0, 400, 0, 0, 0, NULL),
	CELL("t8-100ns-100ns", BODY_CONTENDED, 8, 100, 100, 0, 0, 0, NULL),
	CELL("t8-1us-1us", BODY_CONTENDED, 8, 1 * US, 1 * US, 1.35, CELL_ALL_WAIT, 0, NULL),
	CELL("t8-1us-4us", BODY_CONTENDED, 8, 1 * US, 4 * US, 0, 0, 0, NULL),
	CELL("t8-10us-0", BODY_CONTENDED, 8, 10 * US, 0, 0, 0, 0, NULL),

	/* So many threads need two slices until the scheduler has had its round. */
	CELL("t32-0-0", BODY_CONTENDED, 32, 0, 0, 0, 0, 2, NULL),
	CELL("t32-1us-1us", BODY_CONTENDED, 32, 1 * US, 1 * US, 0, 0, 2, NULL),
	CELL("t32-10us-0", BODY_CONTENDED, 32, 10 * US, 0, 0, 0, 2, NULL),

	CELL("one-cpu-t3", BODY_CONTENDED, 3, 0, 0, 0, CELL_ONE_CPU | CELL_HANDOFF, 0,
	     "bounded,fifo,pthread,nsync,raw-futex"),
	CELL("hog-t8", BODY_TIMED, 8, 1 * US, 10 * US, 0, CELL_HOG | CELL_ALL_WAIT, 4,
	     "bounded,barging,fifo,pthread,nsync"),
};

static const struct cell self_test = CELL("self-test", BODY_CONTENDED, 2, 1000, 0, 0, 0, 1, NULL);

/* ---------------------------------------------------------------- names */

#define THREADS_MAX 1024
#define NS_MAX      10000000l /* longer sections do not fit into a slice */

/* "0", "400ns", "13us". NULL: none of them; else what follows. */
static const char *parse_ns(const char *text, long *ns)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*ns = strtol(text, &end, 10);
	if (end - text > 8)
		return NULL;
	if (!strncmp(end, "us", 2))
		*ns *= US;
	else if (strncmp(end, "ns", 2))
		return *ns == 0 && end - text == 1 ? end : NULL;
	return *ns > 0 && *ns <= NS_MAX ? end + 2 : NULL;
}

static char *put_ns(char *to, size_t size, long ns)
{
	if (ns == 0)
		snprintf(to, size, "0");
	else if (ns % US == 0)
		snprintf(to, size, "%ldus", ns / US);
	else
		snprintf(to, size, "%ldns", ns);
	return to;
}

/* Contended, and nothing special about it: it makes sense with any number of threads. */
static bool cell_is_plain(const struct cell *c)
{
	return c->body == BODY_CONTENDED && !(c->flags & (CELL_ONE_CPU | CELL_HOG));
}

static bool is_shape_of(const struct cell *a, unsigned int threads, const struct cell *b)
{
	return cell_is_plain(a) && a->threads == threads && a->inside == b->inside && a->outside == b->outside;
}

static struct cell cell_with_threads(const struct cell *c, unsigned int threads)
{
	struct cell new = { .body = BODY_CONTENDED, .threads = threads, .inside = c->inside, .outside = c->outside };
	char inside[24], outside[24];

	for (unsigned int i = 0; i < LENGTH(cells); i++) {
		if (is_shape_of(&cells[i], threads, c))
			return cells[i];
	}
	new.stretch = threads > 16 ? 2 : 1;
	snprintf(new.name, sizeof(new.name), "t%u-%s-%s", threads, put_ns(inside, sizeof(inside), c->inside),
		 put_ns(outside, sizeof(outside), c->outside));
	return new;
}

static bool with_threads(const struct cell *c, unsigned int threads, struct cell *out)
{
	*out = cell_with_threads(c, threads);
	return cell_is_plain(c);
}

static bool cell_parse(const char *name, struct cell *c)
{
	struct cell shape = { .body = BODY_CONTENDED };
	unsigned long threads;
	char *end;
	const char *at;

	if (name[0] != 't' || !isdigit((unsigned char)name[1]))
		return false;
	threads = strtoul(name + 1, &end, 10);
	if (threads < 1 || threads > THREADS_MAX || *end != '-')
		return false;
	at = parse_ns(end + 1, &shape.inside);
	if (!at || *at != '-')
		return false;
	at = parse_ns(at + 1, &shape.outside);
	if (!at || *at)
		return false;
	*c = cell_with_threads(&shape, (unsigned int)threads);
	return true;
}

/* ---------------------------------------------------------------- comparisons */

#define WITHIN      (1 / 1.03) /* equal, for all that can be measured */
#define FAIR_MUTEX  0.083      /* of the reference: parking_lot's FairMutex at t8-1us-1us */
#define BEST_PEER   0.95
#define OF_BARGING  0.9
#define OF_SPINNING 0.8

static void add_pairs(struct list *l, const struct cell *c)
{
	if (c->body == BODY_PAIR)
		add_at_least(l, "bounded", "limit-call", WITHIN);
	add_at_least(l, "fifo", "barging", WITHIN);
}

/* Where barging does not starve anybody, there is nothing to be better than: the report looks. */
static void add_waits(struct list *l)
{
	add_at_most(l, "bounded", "barging", MEASURE_WAIT_P999, 0.1);
	add_at_most(l, "bounded", "barging", MEASURE_WAIT_MAX, 0.1);
}

static void add_contended(struct list *l, const struct cell *c, unsigned int cpus)
{
	if (c->must == 0) {
		add_beside_best_peer(l, "bounded", BEST_PEER);
		add_beside_best_peer(l, "barging", BEST_PEER);
	}
	add_at_least(l, "bounded", "barging", OF_BARGING);
	if (c->threads <= cpus && c->inside <= 1 * US)
		add_at_least(l, "fifo", "ck-mcs", OF_SPINNING);
	if (!strcmp(c->name, "t8-1us-1us"))
		add_at_least(l, "fifo", "pthread", 2 * FAIR_MUTEX);
	if (c->flags & CELL_ALL_WAIT)
		add_waits(l);
}

static void add_targets(struct list *l, const struct cell *c, unsigned int cpus)
{
	if (c->body < BODY_CONTENDED)
		add_pairs(l, c);
	else if (c->flags & CELL_HANDOFF)
		add_at_most(l, "fifo", "raw-futex", MEASURE_HANDOFF, 1.2);
	else if (c->flags & CELL_HOG)
		add_waits(l);
	else
		add_contended(l, c, cpus);
}

const struct noun noun_mutex = {
	.name = "mutex",
	.subjects = mutex_subjects,
	.cells = cells,
	.cell_count = LENGTH(cells),
	.add_targets = add_targets,
	.parse_cell = cell_parse,
	.with_threads = with_threads,
	.self_test = &self_test,
};
