/* SPDX-License-Identifier: MIT
 *
 * minitdb_database.c - see minitdb.h
 *
 * Nothing here trusts a chain to end: a walk gives up after as many records as there are, so that a lock that lets two in at once ends
 * in a verdict and not in a loop.
 */
#include "minitdb.h"

#include <stddef.h>

#include "random.h"

/* ------------------------------------------------------------------ keys and data */

unsigned database_keys(unsigned letters)
{
	unsigned keys = 0, of_length = 1;

	while (letters--) {
		of_length *= 26;
		keys += of_length;
	}
	return keys;
}

uint32_t database_draw(unsigned letters, uint64_t *random)
{
	unsigned length = 1 + (unsigned)(random_next(random) % letters);
	unsigned shorter = database_keys(length - 1);

	return shorter + (uint32_t)(random_next(random) % (database_keys(length) - shorter));
}

uint32_t database_chain_of(const struct database *db, uint32_t key)
{
	return (uint32_t)(random_mix(key) % db->chain_count);
}

/* The data say themselves whether they are whole. */
static void write_data(struct record *r, uint64_t random)
{
	r->length = 1 + (uint32_t)(random % DATA_MAX);
	for (uint32_t i = 0; i < r->length; i++)
		r->data[i] = (uint8_t)(random / DATA_MAX + i + r->length);
}

static bool data_is_whole(const struct record *r)
{
	if (r->length < 1 || r->length > DATA_MAX)
		return false;
	for (uint32_t i = 1; i < r->length; i++)
		if (r->data[i] != (uint8_t)(r->data[0] + i))
			return false;
	return true;
}

/* ------------------------------------------------------------------ under locks */

static struct chain *free_list(struct database *db)
{
	return &db->chains[db->chain_count];
}

static unsigned long enter(struct chain *c, struct user *u)
{
	return cell_enter(&c->cell, u->kind, &u->tally, &u->violations);
}

static void leave(struct chain *c, struct user *u, unsigned long section)
{
	cell_leave(&c->cell, u->kind, section, &u->violations);
}

/* A record's number, or NOTHING. Adds a violation where there cannot be one. */
static uint32_t checked(const struct database *db, struct user *u, uint32_t number)
{
	if (number == NOTHING || number < db->keys)
		return number;
	u->violations++;
	return NOTHING;
}

/* Where the link to the record of this key is, or the link that ends the chain. By the owner of the chain. */
static uint32_t *find(struct database *db, struct user *u, struct chain *c, uint32_t key)
{
	uint32_t *link = &c->first;

	for (unsigned i = 0; i < db->keys; i++) {
		uint32_t number = checked(db, u, *link);

		if (number == NOTHING || db->records[number].key == key)
			return link;
		link = &db->records[number].next;
	}
	u->violations++;
	return link;
}

static uint32_t take_free(struct database *db, struct user *u)
{
	struct chain *list = free_list(db);
	unsigned long section = enter(list, u);
	uint32_t number = checked(db, u, list->first);

	if (number == NOTHING)
		u->violations++;
	else
		list->first = db->records[number].next;
	leave(list, u, section);
	return number;
}

static void give_back(struct database *db, struct user *u, uint32_t number)
{
	struct chain *list = free_list(db);
	unsigned long section = enter(list, u);

	db->records[number].next = list->first;
	list->first = number;
	leave(list, u, section);
}

/* At the head of its chain, whose owner this is. */
static void insert(struct database *db, struct user *u, struct chain *c, uint32_t key, uint64_t random)
{
	uint32_t number = take_free(db, u);
	struct record *r = &db->records[number];

	if (number == NOTHING)
		return;
	r->key = key;
	r->next = c->first;
	write_data(r, random);
	c->first = number;
	u->stored++;
}

void database_store(struct database *db, struct user *u, uint32_t key, uint64_t random)
{
	struct chain *c = &db->chains[database_chain_of(db, key)];
	unsigned long section = enter(c, u);
	uint32_t number = checked(db, u, *find(db, u, c, key));

	if (number == NOTHING)
		insert(db, u, c, key, random);
	else
		write_data(&db->records[number], random);
	leave(c, u, section);
}

void database_delete(struct database *db, struct user *u, uint32_t key)
{
	struct chain *c = &db->chains[database_chain_of(db, key)];
	unsigned long section = enter(c, u);
	uint32_t *link = find(db, u, c, key), number = checked(db, u, *link);

	if (number != NOTHING) {
		*link = db->records[number].next;
		give_back(db, u, number);
		u->deleted++;
	}
	leave(c, u, section);
}

void database_fetch(struct database *db, struct user *u, uint32_t key)
{
	struct chain *c = &db->chains[database_chain_of(db, key)];
	unsigned long section = enter(c, u);
	uint32_t number = checked(db, u, *find(db, u, c, key));

	if (number != NOTHING) {
		u->violations += !data_is_whole(&db->records[number]);
		u->found++;
	}
	leave(c, u, section);
}

static void traverse_chain(struct database *db, struct user *u, struct chain *c)
{
	unsigned long section = enter(c, u);
	uint32_t number = checked(db, u, c->first);
	unsigned n = 0;

	for (; number != NOTHING && n <= db->keys; n++) {
		u->violations += !data_is_whole(&db->records[number]);
		number = checked(db, u, db->records[number].next);
	}
	u->violations += n > db->keys;
	leave(c, u, section);
}

/* Chain by chain, so that others can go on meanwhile. */
void database_traverse(struct database *db, struct user *u)
{
	for (unsigned i = 0; i < db->chain_count; i++)
		traverse_chain(db, u, &db->chains[i]);
	u->traversals++;
}

/* ------------------------------------------------------------------ alone */

void database_init(struct database *db, unsigned keys, unsigned chains, struct chain *at, struct record *records)
{
	*db = (struct database){ .keys = keys, .chain_count = chains, .chains = at, .records = records };
	for (unsigned i = 0; i < chains; i++)
		at[i].first = NOTHING;
	at[chains].first = 0;
	for (unsigned i = 0; i < keys; i++)
		records[i].next = i + 1 < keys ? i + 1 : NOTHING;
}

static const char *verify_record(const struct database *db, unsigned chain, const struct record *r)
{
	if (r->key >= db->keys)
		return "a record has a key that there cannot be";
	if (database_chain_of(db, r->key) != chain)
		return "a record is in the wrong chain";
	return data_is_whole(r) ? NULL : "the data of a record are damaged";
}

static const char *note_key(const struct database *db, uint32_t key, bool *seen)
{
	bool twice = seen[db->keys + key];

	seen[db->keys + key] = true;
	return twice ? "a key is there twice" : NULL;
}

/* Adds to *count the records of a chain, or of the free list, which is the one behind the last chain. */
static const char *verify_chain(const struct database *db, unsigned chain, bool *seen, uint64_t *count)
{
	uint32_t number = db->chains[chain].first;

	while (number != NOTHING) {
		const char *wrong = NULL;

		if (number >= db->keys)
			return "a link leads nowhere";
		if (seen[number])
			return "a record is in two places, or a chain bites its tail";
		if (chain < db->chain_count)
			wrong = verify_record(db, chain, &db->records[number]);
		if (!wrong && chain < db->chain_count)
			wrong = note_key(db, db->records[number].key, seen);
		if (wrong)
			return wrong;
		seen[number] = true;
		++*count;
		number = db->records[number].next;
	}
	return NULL;
}

const char *database_verify(const struct database *db, uint64_t want, bool *seen)
{
	uint64_t used = 0, unused = 0;
	const char *wrong = NULL;

	for (unsigned i = 0; i < 2 * db->keys; i++)
		seen[i] = false;
	for (unsigned i = 0; !wrong && i < db->chain_count; i++)
		wrong = verify_chain(db, i, seen, &used);
	if (!wrong)
		wrong = verify_chain(db, db->chain_count, seen, &unused);
	if (wrong)
		return wrong;
	if (used + unused != db->keys)
		return "a record is lost";
	return used == want ? NULL : "not as many records as were stored and not deleted";
}
