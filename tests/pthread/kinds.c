/* SPDX-License-Identifier: MIT
 *
 * kinds.c - all the mutexes that there are
 */
#include "kinds.h"

#include <sched.h>

#define NORMAL  PTHREAD_MUTEX_NORMAL
#define REC     PTHREAD_MUTEX_RECURSIVE
#define ERR     PTHREAD_MUTEX_ERRORCHECK
#define ADA     PTHREAD_MUTEX_ADAPTIVE_NP
#define NONE    PTHREAD_PRIO_NONE
#define INHERIT PTHREAD_PRIO_INHERIT
#define PROTECT PTHREAD_PRIO_PROTECT
#define STALLED PTHREAD_MUTEX_STALLED
#define ROBUST  PTHREAD_MUTEX_ROBUST
#define OWN     PTHREAD_PROCESS_PRIVATE
#define ALL     PTHREAD_PROCESS_SHARED

const struct kind kinds[] = {
	{ "static", HOW_STATIC, NORMAL, NONE, STALLED, OWN },
	{ "static recursive", HOW_STATIC, REC, NONE, STALLED, OWN },
	{ "static error-checking", HOW_STATIC, ERR, NONE, STALLED, OWN },
	{ "static adaptive", HOW_STATIC, ADA, NONE, STALLED, OWN },
	{ "without attributes", HOW_NULL, NORMAL, NONE, STALLED, OWN },
	{ "normal", HOW_ATTR, NORMAL, NONE, STALLED, OWN },
	{ "recursive", HOW_ATTR, REC, NONE, STALLED, OWN },
	{ "error-checking", HOW_ATTR, ERR, NONE, STALLED, OWN },
	{ "adaptive", HOW_ATTR, ADA, NONE, STALLED, OWN },
	{ "shared", HOW_ATTR, NORMAL, NONE, STALLED, ALL },
	{ "shared recursive", HOW_ATTR, REC, NONE, STALLED, ALL },
	{ "shared error-checking", HOW_ATTR, ERR, NONE, STALLED, ALL },
	{ "shared adaptive", HOW_ATTR, ADA, NONE, STALLED, ALL },
	{ "robust", HOW_ATTR, NORMAL, NONE, ROBUST, OWN },
	{ "robust recursive", HOW_ATTR, REC, NONE, ROBUST, OWN },
	{ "robust error-checking", HOW_ATTR, ERR, NONE, ROBUST, OWN },
	{ "robust shared", HOW_ATTR, NORMAL, NONE, ROBUST, ALL },
	{ "inheriting", HOW_ATTR, NORMAL, INHERIT, STALLED, OWN },
	{ "inheriting recursive", HOW_ATTR, REC, INHERIT, STALLED, OWN },
	{ "inheriting error-checking", HOW_ATTR, ERR, INHERIT, STALLED, OWN },
	{ "inheriting robust", HOW_ATTR, NORMAL, INHERIT, ROBUST, OWN },
	{ "inheriting shared", HOW_ATTR, NORMAL, INHERIT, STALLED, ALL },
	{ "with a ceiling", HOW_ATTR, NORMAL, PROTECT, STALLED, OWN },
	{ "with a ceiling, recursive", HOW_ATTR, REC, PROTECT, STALLED, OWN },
	{ "with a ceiling, error-checking", HOW_ATTR, ERR, PROTECT, STALLED, OWN },
};
const int n_kinds = COUNT(kinds);

static pthread_mutex_t statics[] = {
	PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
	PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
};

static pthread_mutex_t *made_with(const struct kind *k)
{
	pthread_mutex_t *m = pt_shared(sizeof(*m));
	pthread_mutexattr_t a;
	int rc;

	pthread_mutexattr_init(&a);
	rc = pthread_mutexattr_settype(&a, k->type);
	rc = rc ? rc : pthread_mutexattr_setprotocol(&a, k->protocol);
	rc = rc ? rc : pthread_mutexattr_setrobust(&a, k->robust);
	rc = rc ? rc : pthread_mutexattr_setpshared(&a, k->pshared);
	if (k->protocol == PROTECT) {
		/* a ceiling means something to real-time threads only, and not everybody may be one */
		rc = rc ? rc : pthread_mutexattr_setprioceiling(&a, 10);
		if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
			pt_word("(not real-time)");
	}
	if (rc)
		pt_answer(rc);
	errno = PT_ERRNO;
	rc = pthread_mutex_init(m, k->how == HOW_NULL ? NULL : &a);
	if (rc || errno != PT_ERRNO)
		pt_answer(rc);
	pthread_mutexattr_destroy(&a);
	return m;
}

pthread_mutex_t *kind_make(const struct kind *k)
{
	if (k->how != HOW_STATIC)
		return made_with(k);
	switch (k->type) {
	case REC:
		return &statics[1];
	case ERR:
		return &statics[2];
	case ADA:
		return &statics[3];
	default:
		return &statics[0];
	}
}

int call_lock(void *m)
{
	return pthread_mutex_lock(m);
}

int call_trylock(void *m)
{
	return pthread_mutex_trylock(m);
}

int call_unlock(void *m)
{
	return pthread_mutex_unlock(m);
}

int call_try_and_unlock(void *m)
{
	int rc = pthread_mutex_trylock(m);

	return rc ? rc : pthread_mutex_unlock(m);
}
