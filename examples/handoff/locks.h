/* SPDX-License-Identifier: MIT
 *
 * locks.h - the locks that the experiments compare, behind one table
 *
 * The letters are those of 2002 where there was one. What a letter stands for today, and who gets the lock when
 * it is released, is in the table in locks.c, from which --help is printed.
 */
#ifndef HANDOFF_LOCKS_H
#define HANDOFF_LOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <nlock.h>

#include "ticket.h"

#define LOCKS_MAX 1024 /* of ulockflex */
#define SEMS_MAX  8192 /* System V semaphores of one program */

struct lock {
	union {
		nlock_mutex_t nlock;
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
		nlock_rwlock_t nlock_rw;
		struct ticket_lock ticket;
		int sem;    /* id of a System V set of one */
		off_t byte; /* of a file */
	} u;
	int64_t patience_ns;     /* of a spinning lock; 0: none */
	_Atomic uint32_t handed; /* of locks that are in the kernel */
};

struct lock_setup {
	bool shared;    /* between processes */
	unsigned tasks; /* that will ask for it, at most */
	int64_t patience_ns;
	struct ticket_slot *slots; /* ticket_slots(tasks) of them, for each lock its own; NULL if it needs none */
};

/* What one task's requests went through; only that task writes it. */
struct tally {
	uint64_t asked;
	uint64_t failed;  /* not had at the first attempt; counted once a request */
	uint64_t watched; /* of these: had by spinning, without going to sleep */
	uint64_t sleeps;  /* times asleep in the kernel; only for locks that can tell */
};

struct lock_kind {
	char letter;
	const char *name;
	const char *policy; /* "strict", "queued", "barges", "bounded" or "-"; "phases", "readers", "writers" */
	const char *says;   /* for --help */
	bool spins;         /* uses patience_ns */
	bool counts_sleeps; /* in its tally */
	bool is_nlock;      /* nlock_stats speaks of it */
	bool has_slots;     /* needs lock_setup's */
	nlock_attr_t attr;  /* if it is one of nlock's */
	int prefers;        /* if it is nlock's reader-writer lock */
	int (*init)(struct lock *l, const struct lock_kind *kind,
		    const struct lock_setup *setup); /* 0 or an errno value */
	void (*fini)(struct lock *l);
	void (*lock)(struct lock *l, struct tally *t);
	int (*unlock)(struct lock *l);   /* 0, or an errno value: the lock was not held */
	bool (*trylock)(struct lock *l); /* one attempt, without waiting; NULL if it has none */
	/* Shared mode; NULL if it has none. */
	void (*rdlock)(struct lock *l, struct tally *t);
	int (*rdunlock)(struct lock *l);
};

/* By letter or by name; NULL if there is no such lock. */
const struct lock_kind *lock_kind_find(const char *word, size_t length);

/* All of them, ended by one with letter 0. */
extern const struct lock_kind lock_kinds[];

/* Removes the System V semaphores that still exist: they would outlive the process. Safe in a signal handler. */
void locks_cleanup(void);

#endif
