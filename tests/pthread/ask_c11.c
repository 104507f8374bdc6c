/* SPDX-License-Identifier: MIT
 *
 * ask_c11.c - mtx_t, cnd_t, once_flag
 */
#include "pt.h"

#include <string.h>

/* The codes have names of their own. */
static int says(int code)
{
	static const char *const names[] = {
		[thrd_success] = "success", [thrd_busy] = "busy",         [thrd_error] = "error",
		[thrd_nomem] = "nomem",     [thrd_timedout] = "timedout",
	};

	pt_word(code >= 0 && code < COUNT(names) && names[code] ? names[code] : "no such code");
	if (errno != PT_ERRNO)
		pt_word("(errno changed)");
	return code;
}
#define SAYS(call) (errno = PT_ERRNO, says(call))

static const int types[] = {
	mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive, mtx_recursive, 4, 77, -1,
};
static const char *const subjects[] = {
	"mtx plain", "mtx timed", "mtx plain recursive", "mtx timed recursive", "mtx recursive", "mtx 4",
	"mtx 77",    "mtx -1",
};

static int call_mtx_lock(void *m)
{
	return mtx_lock(m);
}

static int call_mtx_lock_twice(void *m)
{
	int rc = mtx_lock(m);

	return rc ? rc : mtx_lock(m);
}

static int call_mtx_trylock(void *m)
{
	return mtx_trylock(m);
}

static int call_mtx_unlock(void *m)
{
	return mtx_unlock(m);
}

/* The answer of another thread is a code of theirs. */
static void elsewhere(int (*call)(void *), void *arg)
{
	struct pt_thread t;

	pt_start(&t, call, arg);
	pthread_join(t.thread, NULL);
	errno = PT_ERRNO;
	says(t.result);
}

static void waits(struct pt_thread *t)
{
	if (pt_sees_asleep(t)) {
		pt_word("waits");
		return;
	}
	errno = PT_ERRNO;
	pt_word("returns");
	says(t->result);
}

static void mutex(const void *type)
{
	mtx_t *m = pt_shared(sizeof(*m));
	struct pt_thread t;

	if (SAYS(mtx_init(m, *(const int *)type)) != thrd_success)
		return;
	SAYS(mtx_lock(m));
	SAYS(mtx_trylock(m));
	elsewhere(call_mtx_trylock, m);
	pt_start(&t, call_mtx_lock, m);
	waits(&t);
	SAYS(mtx_unlock(m));
	SAYS(mtx_unlock(m));
	pthread_join(t.thread, NULL);
	errno = PT_ERRNO;
	says(t.result);
	mtx_destroy(m);
}

static void mutex_again(const void *type)
{
	mtx_t *m = pt_shared(sizeof(*m));
	struct pt_thread t;

	if (SAYS(mtx_init(m, *(const int *)type)) != thrd_success)
		return;
	SAYS(mtx_unlock(m));
	SAYS(mtx_lock(m));
	elsewhere(call_mtx_unlock, m);
	SAYS(mtx_unlock(m));
	pt_start(&t, call_mtx_lock_twice, m);
	waits(&t);
}

struct timed {
	mtx_t *m;
	struct timespec t;
};

static int call_mtx_timedlock(void *arg)
{
	const struct timed *a = arg;

	return mtx_timedlock(a->m, &a->t);
}

static void mutex_times(const void *type)
{
	mtx_t *m = pt_shared(sizeof(*m));

	if (SAYS(mtx_init(m, *(const int *)type)) != thrd_success)
		return;
	for (int w = 0; w < WHENS; w++) {
		struct timed a = { m, pt_time(CLOCK_REALTIME, (enum when)w) };

		if (SAYS(mtx_timedlock(m, &a.t)) == thrd_success)
			mtx_unlock(m);
	}
	SAYS(mtx_lock(m));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timed a = { m, pt_time(CLOCK_REALTIME, (enum when)w) };

		elsewhere(call_mtx_timedlock, &a);
	}
}

static void destroyed(const void *type)
{
	mtx_t *m = pt_shared(sizeof(*m));

	if (SAYS(mtx_init(m, *(const int *)type)) != thrd_success)
		return;
	mtx_destroy(m);
	SAYS(mtx_lock(m));
	SAYS(mtx_trylock(m));
	SAYS(mtx_unlock(m));
}

/* ---------------------------------------------------------------- cnd_t */

static struct {
	mtx_t m;
	cnd_t c;
	int goes;
} party;

static int call_cnd_wait(void *unused)
{
	int rc = mtx_lock(&party.m);

	(void)unused;
	while (rc == thrd_success && !__atomic_load_n(&party.goes, __ATOMIC_RELAXED))
		rc = cnd_wait(&party.c, &party.m);
	mtx_unlock(&party.m);
	return rc;
}

static void meet(const void *type)
{
	struct pt_thread t[3];

	if (SAYS(mtx_init(&party.m, *(const int *)type)) != thrd_success)
		return;
	SAYS(cnd_init(&party.c));
	for (int i = 0; i < COUNT(t); i++) {
		pt_start(&t[i], call_cnd_wait, NULL);
		waits(&t[i]);
	}
	__atomic_store_n(&party.goes, 1, __ATOMIC_RELAXED);
	SAYS(cnd_signal(&party.c));
	SAYS(cnd_broadcast(&party.c));
	for (int i = 0; i < COUNT(t); i++) {
		pthread_join(t[i].thread, NULL);
		errno = PT_ERRNO;
		says(t[i].result);
	}
	cnd_destroy(&party.c);
	mtx_destroy(&party.m);
}

static void times(const void *type)
{
	if (SAYS(mtx_init(&party.m, *(const int *)type)) != thrd_success)
		return;
	SAYS(cnd_init(&party.c));
	SAYS(cnd_signal(&party.c));
	SAYS(mtx_lock(&party.m));
	for (int w = 0; w <= WHEN_SOON; w++) {
		struct timespec t = pt_time(CLOCK_REALTIME, (enum when)w);

		SAYS(cnd_timedwait(&party.c, &party.m, &t));
		elsewhere(call_mtx_trylock, &party.m);
	}
	SAYS(mtx_unlock(&party.m));
}

static int call_cancelled_cnd_wait(void *unused)
{
	pthread_cancel(pthread_self());
	return call_cnd_wait(unused);
}

static void is_cancelled(const void *type)
{
	struct pt_thread t;
	void *value;

	if (SAYS(mtx_init(&party.m, *(const int *)type)) != thrd_success)
		return;
	SAYS(cnd_init(&party.c));
	pt_start(&t, call_cancelled_cnd_wait, NULL);
	pthread_join(t.thread, &value);
	pt_word(value == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	elsewhere(call_mtx_trylock, &party.m);
}

/* ---------------------------------------------------------------- call_once */

static once_flag flag = ONCE_FLAG_INIT;
static int runs;

static void init(void)
{
	runs++;
}

static void once(const void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++)
		call_once(&flag, init);
	pt_number(runs);
}

static const struct {
	const char *sentence;
	void (*body)(const void *);
} cases[] = {
	{ "locked, tried, tried and waited for by another, unlocked twice", mutex },
	{ "unlocked when unlocked, by another, locked twice", mutex_again },
	{ "timedlock when free and when held", mutex_times },
	{ "used after it was destroyed", destroyed },
	{ "cnd waited at by three, signal, broadcast", meet },
	{ "cnd timedwait: past, negative, bad, bad, bad, soon, each time tried by another", times },
	{ "cnd wait with a cancellation pending", is_cancelled },
};

void ask_c11(void);
void ask_c11(void)
{
	for (int k = 0; k < COUNT(types); k++) {
		for (int i = 0; i < COUNT(cases); i++)
			pt_case(subjects[k], cases[i].sentence, cases[i].body, &types[k]);
	}
	pt_case("call_once", "three times", once, NULL);
}
