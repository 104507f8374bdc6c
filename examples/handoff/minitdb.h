/* SPDX-License-Identifier: MIT
 *
 * minitdb.h - a small hash database in memory that its users share, and what can go wrong in it
 *
 * Records hang in chains by the hash of their key; those that are not in use are on a free list. Each chain has a lock, and so has the
 * free list, which is only taken with a chain's held. There are as many records as keys, so the free list never runs dry.
 */
#ifndef HANDOFF_MINITDB_H
#define HANDOFF_MINITDB_H

#include <stdbool.h>
#include <stdint.h>

#include "cell.h"

#define DATA_MAX 100u
#define NOTHING  UINT32_MAX /* where a chain ends */

struct record {
	uint32_t next;
	uint32_t key;
	uint32_t length; /* of the data: 1 to DATA_MAX */
	uint8_t data[DATA_MAX];
};

/* A chain, or the free list. */
struct chain {
	struct cell cell;
	uint32_t first;
};

struct database {
	unsigned keys, chain_count;
	struct chain *chains; /* and the free list behind the last */
	struct record *records;
};

/* What one user did, by whom alone it is written. */
struct user {
	const struct lock_kind *kind;
	struct tally tally;
	uint64_t violations; /* of a guard, or damaged data was read */
	uint64_t stored, deleted, found, traversals;
};

/* How many keys of 1 to `letters` lower-case letters there are; and how to draw one of them: first the number of letters. */
unsigned database_keys(unsigned letters);
uint32_t database_draw(unsigned letters, uint64_t *random);

/* Without the locks: all records free. `chains` and `records` have room. */
void database_init(struct database *db, unsigned keys, unsigned chains, struct chain *at, struct record *records);

/* By any number of users at once. Store writes new data if the key is there already. */
void database_store(struct database *db, struct user *u, uint32_t key, uint64_t random);
void database_delete(struct database *db, struct user *u, uint32_t key);
void database_fetch(struct database *db, struct user *u, uint32_t key);
void database_traverse(struct database *db, struct user *u);

/* When nobody uses it: NULL, or what is wrong. `want` is how many records should be in use. `seen` has room for twice `keys`. */
const char *database_verify(const struct database *db, uint64_t want, bool *seen);

uint32_t database_chain_of(const struct database *db, uint32_t key);

#endif
