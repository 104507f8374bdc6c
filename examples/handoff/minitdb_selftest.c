/* SPDX-License-Identifier: MIT
 *
 * minitdb_selftest.c - see minitdb_selftest.h
 *
 * Each fault is put into a fresh database by hand, without chance, and must be found by its name. One that is sound must be found sound.
 */
#include "minitdb_selftest.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "minitdb.h"

#define KEYS   26u
#define CHAINS 4u

static struct chain chains[CHAINS + 1];
static struct record records[KEYS];
static bool seen[2 * KEYS];
static struct user user;

/* A chain that has two records at least: of 26 keys in 4 chains there is one. */
static struct chain *long_chain(struct database *db)
{
	for (unsigned i = 0; i < CHAINS; i++)
		if (chains[i].first != NOTHING && db->records[chains[i].first].next != NOTHING)
			return &chains[i];
	return &chains[0];
}

static struct record *first_of(struct database *db, const struct chain *c)
{
	return &db->records[c->first];
}

static uint64_t plant_nothing(struct database *db, uint64_t want)
{
	(void)db;
	return want;
}

static uint64_t plant_wrong_chain(struct database *db, uint64_t want)
{
	struct chain *from = long_chain(db), *to = from == chains ? from + 1 : chains;
	uint32_t number = from->first;

	from->first = records[number].next;
	records[number].next = to->first;
	to->first = number;
	return want;
}

static uint64_t plant_loop(struct database *db, uint64_t want)
{
	struct chain *c = long_chain(db);

	records[first_of(db, c)->next].next = c->first;
	return want;
}

static uint64_t plant_two_places(struct database *db, uint64_t want)
{
	chains[CHAINS].first = long_chain(db)->first;
	return want;
}

static uint64_t plant_wild_link(struct database *db, uint64_t want)
{
	first_of(db, long_chain(db))->next = KEYS;
	return want;
}

static uint64_t plant_lost_record(struct database *db, uint64_t want)
{
	struct chain *c = long_chain(db);

	c->first = first_of(db, c)->next;
	return want - 1;
}

static uint64_t plant_damage(struct database *db, uint64_t want)
{
	struct record *r = first_of(db, long_chain(db));

	r->length = DATA_MAX;
	r->data[DATA_MAX / 2]++;
	return want;
}

static uint64_t plant_wild_key(struct database *db, uint64_t want)
{
	first_of(db, long_chain(db))->key = KEYS;
	return want;
}

static uint64_t plant_key_twice(struct database *db, uint64_t want)
{
	struct record *r = first_of(db, long_chain(db));

	r->key = records[r->next].key;
	return want;
}

static uint64_t plant_wrong_count(struct database *db, uint64_t want)
{
	(void)db;
	return want + 1;
}

static const struct fault {
	const char *name;                                      /* that database_verify gives it; NULL: none */
	uint64_t (*plant)(struct database *db, uint64_t want); /* returns how many records there should be */
} faults[] = {
	{ NULL, plant_nothing },
	{ "a record is in the wrong chain", plant_wrong_chain },
	{ "a record is in two places, or a chain bites its tail", plant_loop },
	{ "a record is in two places, or a chain bites its tail", plant_two_places },
	{ "a link leads nowhere", plant_wild_link },
	{ "a record is lost", plant_lost_record },
	{ "the data of a record are damaged", plant_damage },
	{ "a record has a key that there cannot be", plant_wild_key },
	{ "a key is there twice", plant_key_twice },
	{ "not as many records as were stored and not deleted", plant_wrong_count },
};

/* Two thirds of the keys are there, after some have been deleted again. */
static uint64_t make(struct database *db)
{
	memset(chains, 0, sizeof chains);
	memset(records, 0, sizeof records);
	database_init(db, KEYS, CHAINS, chains, records);
	user = (struct user){ .kind = lock_kind_find("e", 1) };
	for (uint32_t key = 0; key < KEYS; key++)
		database_store(db, &user, key, 1000 + key);
	for (uint32_t key = 0; key < KEYS; key += 3)
		database_delete(db, &user, key);
	return user.stored - user.deleted;
}

static bool is_found(const struct fault *f)
{
	struct database db;
	uint64_t want = f->plant(&db, make(&db));
	const char *wrong = database_verify(&db, want, seen);
	bool same = f->name ? wrong && !strcmp(wrong, f->name) : !wrong;

	printf("%s: %s\n", f->name ? f->name : "sound",
	       same    ? f->name ? "found out" : "nothing is found"
	       : wrong ? wrong
		       : "NOT FOUND OUT");
	return same && !user.violations;
}

int database_selftest(void)
{
	bool passed = true;

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		passed = is_found(&faults[i]) && passed;
	printf("%s\n", passed ? "self-test passed" : "SELF-TEST FAILED");
	return passed ? EXIT_DONE : EXIT_VIOLATION;
}
