/* SPDX-License-Identifier: MIT
 *
 * kinds.h - all the mutexes that there are
 */
#ifndef KINDS_H
#define KINDS_H

#include "pt.h"

enum how { HOW_STATIC, HOW_NULL, HOW_ATTR };

struct kind {
	const char *name;
	enum how how;
	int type, protocol, robust, pshared;
};

extern const struct kind kinds[];
extern const int n_kinds;

/* A new mutex of the kind; what its init said is added if it is not 0. */
pthread_mutex_t *kind_make(const struct kind *k);

int call_lock(void *m);
int call_trylock(void *m);
int call_unlock(void *m);
int call_try_and_unlock(void *m);

#endif
