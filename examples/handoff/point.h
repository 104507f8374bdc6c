/* SPDX-License-Identifier: MIT
 *
 * point.h - where one thread sleeps until another posts, in three ways
 *
 * A post that comes first is kept; a second one may be lost in the first.
 */
#ifndef HANDOFF_POINT_H
#define HANDOFF_POINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <nlock.h>

enum point_kind { POINT_FUTEX, POINT_COND, POINT_SEM };
extern const char *const point_names[]; /* ended by NULL; the index is the enum's */

struct point {
	enum point_kind kind;
	_Atomic uint32_t posted; /* the futex; or protected by the mutex */
	nlock_mutex_t mutex;
	nlock_cond_t cond;
	nlock_sem_t sem;
};

int point_init(struct point *p, enum point_kind kind); /* 0 or an errno value */
void point_fini(struct point *p);

/* By its thread, and by any other. A wake-up call is made in any case, as schbench does, unless nlock knows that nobody sleeps. */
void point_wait(struct point *p);
void point_post(struct point *p);

#endif
