/* SPDX-License-Identifier: MIT
 *
 * stats.h - counting what the contended paths do, when built with --enable-stats; nothing otherwise
 *
 * The fields are those of nlock_stats_t. One set per process: the counts shared by all locks cost a cache line that moves,
 * which is why a normal build has none.
 */
#ifndef NL_STATS_H
#define NL_STATS_H

#include <nlock.h>

#ifdef NL_STATS
#include "atomic.h"
extern nlock_stats_t nl_stats __attribute__((visibility("hidden")));
#define NL_COUNT(field, n)   nl_count_rlx(&nl_stats.field, (uint64_t)(n))
#define NL_HIGHEST(field, n) nl_highest_rlx(&nl_stats.field, (uint64_t)(n))
#else
#define NL_COUNT(field, n)   ((void)(n))
#define NL_HIGHEST(field, n) ((void)(n))
#endif

#endif
