/* SPDX-License-Identifier: MIT
 *
 * point.c - see point.h
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "point.h"

#include "sysfutex.h"

const char *const point_names[] = { "futex", "cond", "sem", NULL };

int point_init(struct point *p, enum point_kind kind)
{
	int err = nlock_mutex_init(&p->mutex, NLOCK_BOUNDED);

	p->kind = kind;
	atomic_init(&p->posted, 0);
	if (!err)
		err = nlock_cond_init(&p->cond, NLOCK_PLACE_HASH);
	return err ? err : nlock_sem_init(&p->sem, 0, NLOCK_PLACE_HASH);
}

void point_fini(struct point *p)
{
	nlock_sem_destroy(&p->sem);
	nlock_cond_destroy(&p->cond);
	nlock_mutex_destroy(&p->mutex);
}

static void cond_wait(struct point *p)
{
	nlock_mutex_lock(&p->mutex);
	while (!atomic_load_explicit(&p->posted, memory_order_relaxed))
		nlock_cond_wait(&p->cond, &p->mutex);
	atomic_store_explicit(&p->posted, 0, memory_order_relaxed);
	nlock_mutex_unlock(&p->mutex);
}

static void cond_post(struct point *p)
{
	nlock_mutex_lock(&p->mutex);
	atomic_store_explicit(&p->posted, 1, memory_order_relaxed);
	nlock_mutex_unlock(&p->mutex);
	nlock_cond_signal(&p->cond);
}

/* What was done before a post is seen after the wait, also if another post came in between: hence the exchange there. */
static void futex_wait(struct point *p)
{
	while (!atomic_exchange_explicit(&p->posted, 0, memory_order_acquire))
		sys_futex_wait(&p->posted, 0, false);
}

static void futex_post(struct point *p)
{
	atomic_exchange_explicit(&p->posted, 1, memory_order_release);
	sys_futex_wake(&p->posted, 1, false);
}

void point_wait(struct point *p)
{
	if (p->kind == POINT_FUTEX)
		futex_wait(p);
	else if (p->kind == POINT_COND)
		cond_wait(p);
	else
		nlock_sem_wait(&p->sem);
}

void point_post(struct point *p)
{
	if (p->kind == POINT_FUTEX)
		futex_post(p);
	else if (p->kind == POINT_COND)
		cond_post(p);
	else
		nlock_sem_post(&p->sem);
}
