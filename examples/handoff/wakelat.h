/* SPDX-License-Identifier: MIT
 *
 * wakelat.h - the parts of wakelat
 */
#ifndef HANDOFF_WAKELAT_H
#define HANDOFF_WAKELAT_H

#include <stdbool.h>
#include <stddef.h>

#include "metrics.h"
#include "point.h"
#include "tsv.h"

#define SAMPLES_MAX 4096u /* of the rate */

struct wake_options {
	unsigned messages, workers; /* workers of each message thread */
	unsigned operations;
	size_t footprint; /* bytes of each worker's matrices */
	int64_t sleep_ns;
	double seconds, warmup, interval;
	bool no_cpu_locks, pin; /* message thread i to CPU i, the workers to the others */
	int slots;
	enum point_kind kind;
	enum output output;
};

/* What a run found. `rates` are requests a second in stretches of equal length. */
struct wake_results {
	struct wait_hist wakeups, requests; /* ns */
	double rates[SAMPLES_MAX], average;
	unsigned rate_count;
};

/* Prints the rate after each interval. 0 or an errno value. */
int wake_run(const struct wake_options *o, struct wake_results *results);

#endif
