/* SPDX-License-Identifier: MIT
 *
 * hash_set.c - see hash_set.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "hash_set.h"

#include <nlock.h>

#include "args.h"
#include "published.h"
#include "sysfutex.h"

const char *const hash_how_names[] = { "-", "nlock", "prctl" };

int hash_set(int slots, enum hash_how *how)
{
	int err;

	*how = HOW_NOT;
	if (slots == HASH_DEFAULT)
		return 0;
	*how = HOW_NLOCK;
	err = slots ? nlock_hash_set_slots((uint32_t)slots) : nlock_hash_use_global();
	if (err || nlock_hash_slots() == slots)
		return err;
	*how = HOW_PRCTL;
	return (int)-sys_hash_set((unsigned)slots);
}

int hash_slots_from(const char *arg)
{
	uint64_t n = args_integer('b', arg, 0, HASH_SLOTS_MAX);

	if (n == 1 || (n & (n - 1)))
		args_error("-b wants 0 or a power of two from 2 on, not '%s'", arg);
	return (int)n;
}

void hash_print(FILE *out, int slots, enum hash_how how)
{
	long now = sys_hash_slots();

	if (now <= 0)
		fprintf(out, "Futex hashing: global hash");
	else if (slots > 0)
		fprintf(out, "Futex hashing: %ld hash buckets", now);
	else
		fprintf(out, "Futex hashing: auto resized to %ld buckets", now);
	fprintf(out, "%s%s\n", how == HOW_NOT ? "" : ", set by ", how == HOW_NOT ? "" : hash_how_names[how]);
}
