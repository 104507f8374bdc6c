/* SPDX-License-Identifier: MIT
 *
 * nodes.c - which nodes are near
 *
 * The distances are those that the kernel states in sysfs, one file a node, one number for each node that is online. numa_distance
 * reads the same files; but it allocates and may print, and a process that only uses a shared lock has called no init. So they
 * are read here, by raw calls, the first time that a cohort lock calls a waiter in this process: once, a file a node.
 * Where they cannot be read, or on more nodes than there are lanes, all other nodes are equally far. That is also what a thread
 * is told that comes while another is still reading.
 *
 * Orders
 *   A1  learn: add release           publishes the table to A2
 *   A2  nl_lanes_near: load acquire  pairs with A1
 */
#include "atomic.h"
#include "futex2.h"
#include "wait.h"

#include <stdlib.h>

/* Of different distances as seen from one node; nodes that are farther still are counted to the last. */
#define STEPS 6

#define ALL_NODES (~NL_LANE_ALL)

static uint32_t near[NL_LANE_NODES][STEPS];
static uint32_t state; /* 0 at first; then 1 for each thread that has begun to read, and DONE for each that is done */

#define DONE 0x10000u

static void put(char **at, const char *text)
{
	while (*text)
		*(*at)++ = *text++;
}

/* The file of this node: false if there is none. */
static bool read_node(uint32_t node, char *text, size_t size)
{
	char path[64], *at = path;
	const char digits[] = { (char)('0' + node / 10), (char)('0' + node % 10), '\0' };

	put(&at, "/sys/devices/system/node/node");
	put(&at, node < 10 ? digits + 1 : digits);
	put(&at, "/distance");
	*at = '\0';
	return nl_read_text(path, text, size) > 0;
}

/* The lanes of the nodes in `online` that are at the smallest distance above *least, which becomes it. */
static uint32_t next_step(const char *text, uint32_t online, unsigned long *least)
{
	unsigned long nearest = (unsigned long)-1;
	uint32_t lanes = 0;

	for (uint32_t node = 0; node < NL_LANE_NODES; node++) {
		char *end;
		unsigned long d;

		if (!(online & 1u << node))
			continue;
		d = strtoul(text, &end, 10);
		if (d > *least && d <= nearest && end != text) {
			lanes = (d < nearest ? 0 : lanes) | nl_lane_of(node);
			nearest = d;
		}
		text = end;
	}
	*least = nearest;
	return lanes;
}

/* Every lane is in one step: what no distance is stated for, as of nodes that come later, is in the last. The thread's own node is
 * always the first, even where it should not be the nearest. */
static void learn_node(uint32_t node, const char *text, uint32_t online)
{
	uint32_t rest = ALL_NODES & ~nl_lane_of(node), lanes = nl_lane_of(node), i = 0;
	unsigned long least = 0;

	if (online == 1u << node) /* no other: all are near */
		lanes |= rest, rest = 0;
	nl_store_rlx(&near[node][i++], lanes);
	while (rest && i < STEPS) {
		lanes = next_step(text, online, &least) & rest;
		if (least == (unsigned long)-1 || i == STEPS - 1 || !(rest & ~lanes & online * 0x8u))
			lanes = rest;
		if (lanes)
			nl_store_rlx(&near[node][i++], lanes);
		rest &= ~lanes;
	}
}

static void learn(void)
{
	char text[8 * NL_LANE_NODES];
	uint32_t online = 0;

	for (uint32_t node = 0; node < NL_LANE_NODES; node++)
		online |= read_node(node, text, sizeof(text)) ? 1u << node : 0;
	for (uint32_t node = 0; node < NL_LANE_NODES; node++) {
		if ((online & 1u << node) && read_node(node, text, sizeof(text)))
			learn_node(node, text, online);
	}
}

uint32_t nl_lanes_near(uint32_t node, uint32_t i)
{
	const uint32_t own = nl_lane_of(node);
	uint32_t seen = 0;

	if (!nl_load_rlx(&state) && nl_cas_rlx(&state, &seen, 1)) {
		learn();
		nl_add_rel(&state, DONE); /* A1 */
	}
	if (node < NL_LANE_NODES && nl_load_acq(&state) >= DONE && nl_load_rlx(&near[node][0])) /* A2 */
		return i < STEPS ? nl_load_rlx(&near[node][i]) : 0;
	return i == 0 ? own : i == 1 ? ALL_NODES & ~own : 0;
}
