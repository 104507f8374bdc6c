/* SPDX-License-Identifier: MIT
 *
 * kinds.c - see kinds.h
 */
#include "kinds.h"

#include <stdio.h>
#include <string.h>

#include "args.h"

/* Without a lock there is nothing to wait for, and a spinning one has patience, which is no question there. */
bool kind_is_plain(const struct lock_kind *kind)
{
	return kind->letter != 'e' && !kind->spins;
}

static const struct lock_kind *kind_of(const char *word, size_t length, kind_fits *fits)
{
	const struct lock_kind *kind = lock_kind_find(word, length);

	if (!kind || (fits && !fits(kind)))
		args_error("-L does not know the lock '%.*s'", (int)length, word);
	return kind;
}

unsigned kinds_from(const char *list, const struct lock_kind **kinds, kind_fits *fits)
{
	unsigned n = 0;

	for (;;) {
		size_t length = strcspn(list, ",");

		if (n == KINDS_MAX)
			args_error("-L wants at most %u locks", KINDS_MAX);
		kinds[n++] = kind_of(list, length, fits);
		if (!list[length])
			return n;
		list += length + 1;
	}
}

void kinds_help(kind_fits *fits)
{
	for (const struct lock_kind *k = lock_kinds; k->letter; k++)
		if (!fits || fits(k))
			printf("  %c  %-13s %-8s %s\n", k->letter, k->name, k->policy, k->says);
}
