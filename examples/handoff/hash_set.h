/* SPDX-License-Identifier: MIT
 *
 * hash_set.h - the option -b of those experiments that choose the size of the process's hash
 */
#ifndef HANDOFF_HASH_SET_H
#define HANDOFF_HASH_SET_H

#include <stdio.h>

#define HASH_SLOTS_MAX (1u << 20) /* 64 MiB of the kernel's memory */

enum hash_how { HOW_NOT, HOW_NLOCK, HOW_PRCTL };
extern const char *const hash_how_names[];

/* Gives the process so many slots, which cannot be taken back if it is 0. nlock_hash_set_slots stops at a sensible number; above
 * it the kernel is asked itself, and *how says which it was. 0 or an errno value. */
int hash_set(int slots, enum hash_how *how);

/* The option's value: 0, or a power of two. */
int hash_slots_from(const char *arg);

/* The line that says what the hash is at the end of a run for which `slots` were asked. */
void hash_print(FILE *out, int slots, enum hash_how how);

#endif
