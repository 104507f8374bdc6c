/* SPDX-License-Identifier: MIT
 *
 * cpu.c - see cpu.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu.h"

#include <sys/resource.h>

__attribute__((noinline)) void busy_loop(uint64_t loops)
{
	while (loops--)
		__asm__ volatile("" : "+r"(loops));
}

/* The fastest of many short measurements: what disturbs a measurement only makes it slower. */
uint64_t busy_calibrate(void)
{
	const uint64_t loops = 100000;
	int64_t best = INT64_MAX;

	for (int i = 0; i < 200; i++) {
		int64_t start = now_ns(), took;

		busy_loop(loops);
		took = now_ns() - start;
		best = took > 0 && took < best ? took : best;
	}
	return best < (int64_t)(loops * 1000) ? loops * 1000 / (uint64_t)best : 1;
}

uint64_t context_switches(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) == 0 ? (uint64_t)(u.ru_nvcsw + u.ru_nivcsw) : 0;
}
