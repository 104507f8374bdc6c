/* SPDX-License-Identifier: MIT
 *
 * expected.c - see expected.h
 */
#include "expected.h"

#include <math.h>
#include <stddef.h>

#define ANY -INFINITY, INFINITY, false

/* clang-format off */
/* claim, what, lock, over, column, plus, least, most, may_lack, then */
const struct expected expected[] = {
	{ "E1", "throughput f/k", 'f', 'k', NULL, NULL, 3, INFINITY, false, "2002: 3.67" },
	{ "E1", "throughput c/k", 'c', 'k', NULL, NULL, 3, INFINITY, false, "2002: 3.59" },
	{ "E1", "contention of f, %", 'f', 0, "wc", NULL, 0, 0, false, "2002: 0" },
	{ "E1", "contention of c, %", 'c', 0, "wc", NULL, 0, 0, false, "2002: 0" },
	{ "E1", "futex calls of f", 'f', 0, "sleeps", "wakes", 0, 0, true, "" },
	{ "E1", "futex calls of c", 'c', 0, "sleeps", "wakes", 0, 0, true, "" },
	{ "E2", "contention of t, %", 't', 0, "wc", NULL, 80, INFINITY, false, "2002: 99.7" },
	{ "E2", "contention of c, %", 'c', 0, "wc", NULL, -INFINITY, 30, false, "2002: 0.3 to 7.8" },
	{ "E2", "throughput t/c", 't', 'c', NULL, NULL, -INFINITY, 0.5, false, "2002: 0.155 to 0.395, r=x=0" },
	{ "E2", "contention of p, %", 'p', 0, "wc", NULL, ANY, "" },
	{ "E2", "throughput t/p", 't', 'p', NULL, NULL, ANY, "" },
	{ "E2", "throughput f/c, nlock's FIFO", 'f', 'c', NULL, NULL, ANY, "" },
	{ "E3", "mean run of t", 't', 0, "mrun", NULL, -INFINITY, 2, false, "2002: 1.0" },
	{ "E3", "mean run of c", 'c', 0, "mrun", NULL, 2.5, INFINITY, false, "2002: 993" },
	{ "E3", "weighted median run of t", 't', 0, "wrun", NULL, 1, 1, false, "2002: 1" },
	{ "E3", "weighted median run of c", 'c', 0, "wrun", NULL, 5, INFINITY, false, "2002: 4789" },
	{ "E3", "owner changes of t, per acquisition", 't', 0, "chg", NULL, 0.8, INFINITY, false, "2002: 1.0" },
	{ "E3", "owner changes of c, per acquisition", 'c', 0, "chg", NULL, -INFINITY, 0.45, false, "2002: 0.001" },
	{ "E3", "plain median run of c: may well be 1", 'c', 0, "medrun", NULL, ANY, "2002: 1" },
	{ "E3", "mean run of p", 'p', 0, "mrun", NULL, ANY, "" },
	{ "E3", "owner changes of p, per acquisition", 'p', 0, "chg", NULL, ANY, "" },
	{ "E3", "owner changes of f, per acquisition", 'f', 0, "chg", NULL, ANY, "" },
	{ "E4", "context switches an iteration, t", 't', 0, "csw_op", NULL, 0.9, 1.2, false, "2002: about 1" },
	{ "E4", "context switches an iteration, c", 'c', 0, "csw_op", NULL, -INFINITY, 0.3, false, "" },
	{ "E4", "context switches an iteration, p", 'p', 0, "csw_op", NULL, ANY, "" },
	{ "E4", "context switches an iteration, f", 'f', 0, "csw_op", NULL, ANY, "" },
	{ "E5", "throughput c/t", 'c', 't', NULL, NULL, 2, INFINITY, false, "2002: 9.23, 2.53" },
	{ "E5", "throughput c/f, nlock's FIFO", 'c', 'f', NULL, NULL, ANY, "" },
	{ "E5", "contention of t, %: it is bistable", 't', 0, "wc", NULL, ANY, "2002: 99.7" },
	{ "E6", "runs of exactly 1, t", 't', 0, "p1", NULL, 0.99, INFINITY, false, "2002: 0.9999" },
	{ "E6", "runs of exactly 1, c", 'c', 0, "p1", NULL, 0.6, 0.9, false, "2002: 0.790" },
	{ "E6", "runs of 1 or 2, c", 'c', 0, "p1", "p2", 0.9, INFINITY, false, "2002: 1.0" },
	{ "E6", "contention of t, %", 't', 0, "wc", NULL, 99, INFINITY, false, "2002: 100" },
	{ "E6", "contention of c, %", 'c', 0, "wc", NULL, -INFINITY, 30, false, "2002: 12.7" },
	{ "E6", "throughput t/c", 't', 'c', NULL, NULL, 0.2, 0.8, false, "2002: 0.45 to 0.50" },
	{ "E6", "throughput f/c, nlock's FIFO", 'f', 'c', NULL, NULL, ANY, "" },
	{ "E6", "runs of exactly 1, f", 'f', 0, "p1", NULL, ANY, "" },
	{ .claim = NULL },
};
/* clang-format on */

double expected_value(const struct expected *e, const struct measured *m)
{
	double v;

	if (e->over)
		return m->ratio(m->of, e->lock, e->over);
	v = m->value(m->of, e->lock, e->column);
	return e->plus ? v + m->value(m->of, e->lock, e->plus) : v;
}

bool expected_is_note(const struct expected *e)
{
	return isinf(e->least) && isinf(e->most);
}
