/* SPDX-License-Identifier: MIT
 *
 * random.h - repeatable random numbers, a stream for each task
 */
#ifndef HANDOFF_RANDOM_H
#define HANDOFF_RANDOM_H

#include <stdint.h>

/* Well mixed starting points from consecutive numbers (the finaliser of splitmix64). */
static inline uint64_t random_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Where the stream of one task begins. Never zero: xorshift would stay there. */
static inline uint64_t random_start(uint64_t seed, unsigned run, unsigned task)
{
	return random_mix(random_mix(seed + run * 0x9e3779b97f4a7c15u) + task + 1) | 1;
}

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Uniform in 0.5 to 1.5 times the mean. */
static inline uint64_t random_around(uint64_t *state, uint64_t mean)
{
	double u = (double)(random_next(state) >> 11) * 0x1p-53;

	return (uint64_t)((0.5 + u) * (double)mean + 0.5);
}

#endif
