/* SPDX-License-Identifier: MIT
 *
 * futex_hash.h - the parts of futex_hash
 */
#ifndef HANDOFF_FUTEX_HASH_H
#define HANDOFF_FUTEX_HASH_H

#include <stdbool.h>

#include "hash_set.h"
#include "tsv.h"

#define HASH_THREADS_MAX 4096u

struct hash_options {
	unsigned threads, futexes, rounds;
	int slots; /* HASH_DEFAULT: leave it to the kernel; 0: the global hash; else so many slots */
	bool shared, silent;
	double seconds;
	enum output output;
};

/* One run; puts the operations a second of each thread into `rates`: 0 or an errno value. `where` gets the threads' futexes if
 * it is not NULL, for them to be printed: their memory is gone by then. */
struct hash_range {
	void *first, *last;
};
int hash_run(const struct hash_options *o, double *rates, struct hash_range *where);

/* Programs' form: a row of a rate, and of what it is over that of the global hash, which is NULL if that was not asked for; one of each for
 * each round. */
void hash_tsv_head(void);
void hash_tsv_row(const struct hash_options *o, enum hash_how how, const double *rates, const double *ratios);

/* The table over slots, private and shared, and that over threads: an exit code. */
int hash_table(const struct hash_options *o);

#endif
