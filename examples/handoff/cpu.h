/* SPDX-License-Identifier: MIT
 *
 * cpu.h - the few things that the experiments ask of the machine itself: the time, a pause, work that takes time, and
 * what the scheduler did
 */
#ifndef HANDOFF_CPU_H
#define HANDOFF_CPU_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Tells the CPU that this is a waiting loop. */
static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Busy work: `loops` rounds of nothing. Never inlined, so that what is calibrated is what is used. */
void busy_loop(uint64_t loops);

/* How many rounds of busy_loop make a microsecond here, at least 1. */
uint64_t busy_calibrate(void);

/* Of the calling thread so far. */
uint64_t context_switches(void);

#endif
