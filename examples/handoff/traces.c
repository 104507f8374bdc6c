/* SPDX-License-Identifier: MIT
 *
 * traces.c - the acquisition histories that Hubertus Franke printed on 6 March 2002, as { how often in a row,
 * task }
 *
 * Three tasks, one lock, -t 2. "up" is FUTEX_UP, where the lock is free while the woken task is on its way;
 * "up_fair" is FUTEX_UP_FAIR, where it is passed on. The post shows one fair history and says that both cases
 * look alike.
 */
#include "published.h"

static const struct run up_r2x1[] = {
	{ 4065, 1 }, { 4522, 0 }, { 1, 2 }, { 953, 1 },  { 1, 2 }, { 2875, 0 }, { 4800, 2 }, { 1, 0 },
	{ 968, 1 },  { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 },    { 1, 0 },
	{ 1, 1 },    { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 },    { 1, 0 },
	{ 1, 1 },    { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 }, { 1, 0 },    { 1, 1 },    { 1, 0 },
	{ 1, 1 },    { 1, 0 },    { 1, 2 }, { 2, 0 },    { 1, 2 }, { 2861, 1 }, { 1, 2 },    { 4868, 0 },
	{ 1, 2 },    { 914, 1 },  { 1, 2 }, { 4829, 0 }, { 1, 2 }, { 963, 1 },  { 1, 2 },    { 4789, 0 },
	{ 1, 2 },    { 966, 1 },  { 1, 2 }, { 4800, 0 }, { 1, 2 }, { 961, 1 },  { 1, 2 },    { 2013, 0 },
	{ 1, 2 },    { 1, 0 },    { 1, 2 }, { 3768, 1 }, { 1, 2 }, { 4832, 0 }, { 1, 2 },    { 955, 1 },
	{ 1, 2 },    { 4813, 0 }, { 1, 2 }, { 982, 1 },  { 1, 2 }, { 1, 1 },    { 1, 2 },    { 4789, 0 },
	{ 1, 2 },    { 1, 0 },    { 1, 2 }, { 1, 0 },    { 1, 2 }, { 969, 1 },  { 1, 2 },    { 4841, 0 },
	{ 1, 2 },    { 967, 1 },  { 1, 2 }, { 4820, 0 }, { 1, 2 }, { 969, 1 },  { 1, 2 },    { 5007, 0 },
	{ 1, 2 },    { 3678, 1 }, { 1, 2 }, { 4756, 0 }, { 1, 2 }, { 978, 1 },
};

static const struct run up_r0x0[] = {
	{ 4593, 1 },  { 1, 2 },     { 16336, 0 }, { 1, 2 },     { 23875, 1 }, { 4, 2 },     { 20110, 0 },
	{ 13298, 1 }, { 11612, 2 }, { 8340, 0 },  { 6732, 1 },  { 13388, 2 }, { 3006, 0 },  { 17121, 1 },
	{ 6726, 2 },  { 13396, 0 }, { 6760, 1 },  { 13375, 2 }, { 4443, 0 },  { 15566, 1 }, { 6730, 2 },
	{ 13421, 0 }, { 3013, 1 },  { 16995, 2 }, { 6715, 0 },  { 13397, 1 }, { 6716, 2 },  { 13407, 0 },
	{ 6743, 1 },  { 13309, 2 }, { 6708, 0 },  { 13374, 1 }, { 3411, 2 },  { 16574, 0 }, { 7016, 1 },
};

static const struct run up_fair[] = {
	{ 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 1 },
	{ 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 2 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const struct trace2002 trace_up_r2x1 = { "FUTEX_UP, r=2 x=1", 1067602, up_r2x1, COUNT(up_r2x1) };
const struct trace2002 trace_up_r0x0 = { "FUTEX_UP, r=0 x=0", 7682404, up_r0x0, COUNT(up_r0x0) };
const struct trace2002 trace_up_fair = { "FUTEX_UP_FAIR", 558617, up_fair, COUNT(up_fair) };
