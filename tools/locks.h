/* SPDX-License-Identifier: MIT
 *
 * locks.h - the mutexes of locks.c, for cells.c, which has their loads and targets
 */
#ifndef LOCKS_H
#define LOCKS_H

#include "bench.h"

extern const struct subject mutex_subjects[];

#endif
