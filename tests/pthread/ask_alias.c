/* SPDX-License-Identifier: MIT
 *
 * ask_alias.c - the other names of the same functions: what old programs import, and what dlsym finds
 *
 * Each is used together with the usual name: one that led elsewhere would meet an object of the other library. The
 * door of names has none of these.
 */
#include "pt.h"

#include <dlfcn.h>

#ifndef PT_DOOR

/* What dlsym finds first, as a function that takes one pointer or two. */
static int by_name(const char *name, void *a, const void *b)
{
	int (*call)(void *, const void *) = (int (*)(void *, const void *))(uintptr_t)dlsym(RTLD_DEFAULT, name);

	return call ? call(a, b) : ENOSYS;
}
#define BY_NAME(name, a, b) (errno = PT_ERRNO, pt_answer(by_name(name, a, b)))

/* An old version of a name, as a program has it that was linked long ago. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define HAS_OLD 1
#define OLD(name, ...) \
	int old_##name(__VA_ARGS__); \
	__asm__(".symver old_" #name "," #name "@GLIBC_2.2.5")
OLD(pthread_mutex_trylock, pthread_mutex_t *);
OLD(pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *);
OLD(pthread_rwlock_rdlock, pthread_rwlock_t *);
OLD(pthread_rwlock_unlock, pthread_rwlock_t *);
OLD(sem_post, sem_t *);
OLD(sem_trywait, sem_t *);
OLD(pthread_once, pthread_once_t *, void (*)(void));
OLD(pthread_barrier_wait, pthread_barrier_t *);
OLD(__pthread_mutexattr_init, pthread_mutexattr_t *);
OLD(__pthread_mutexattr_settype, pthread_mutexattr_t *, int);
OLD(__pthread_mutex_init, pthread_mutex_t *, const pthread_mutexattr_t *);
OLD(__pthread_mutex_destroy, pthread_mutex_t *);
OLD(__pthread_mutex_lock, pthread_mutex_t *);
OLD(__pthread_mutex_trylock, pthread_mutex_t *);
OLD(__pthread_mutex_unlock, pthread_mutex_t *);
OLD(__pthread_once, pthread_once_t *, void (*)(void));
OLD(__pthread_rwlock_init, pthread_rwlock_t *, const pthread_rwlockattr_t *);
OLD(__pthread_rwlock_destroy, pthread_rwlock_t *);
OLD(__pthread_rwlock_rdlock, pthread_rwlock_t *);
OLD(__pthread_rwlock_tryrdlock, pthread_rwlock_t *);
OLD(__pthread_rwlock_wrlock, pthread_rwlock_t *);
OLD(__pthread_rwlock_trywrlock, pthread_rwlock_t *);
OLD(__pthread_rwlock_unlock, pthread_rwlock_t *);
#else
#define HAS_OLD 0
#endif

static int runs;

static void init(void)
{
	runs++;
}

#if HAS_OLD

static void underscored(const void *unused)
{
	static pthread_mutex_t m;
	static pthread_once_t once;
	pthread_mutexattr_t a;

	(void)unused;
	ANSWER(old___pthread_mutexattr_init(&a));
	ANSWER(old___pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE));
	ANSWER(old___pthread_mutex_init(&m, &a));
	ANSWER(old___pthread_mutex_lock(&m));
	ANSWER(pthread_mutex_lock(&m));
	ANSWER(old___pthread_mutex_trylock(&m));
	ANSWER(old___pthread_mutex_destroy(&m));
	ANSWER(old___pthread_mutex_unlock(&m));
	ANSWER(pthread_mutex_unlock(&m));
	ANSWER(old___pthread_mutex_unlock(&m));
	ANSWER(pthread_mutex_unlock(&m));
	ANSWER(old___pthread_mutex_destroy(&m));
	ANSWER(old___pthread_once(&once, init));
	ANSWER(pthread_once(&once, init));
	pt_number(runs);
}

static void underscored_rwlock(const void *unused)
{
	static pthread_rwlock_t l;

	(void)unused;
	ANSWER(old___pthread_rwlock_init(&l, NULL));
	ANSWER(old___pthread_rwlock_rdlock(&l));
	ANSWER(pthread_rwlock_trywrlock(&l));
	ANSWER(old___pthread_rwlock_tryrdlock(&l));
	ANSWER(pthread_rwlock_unlock(&l));
	ANSWER(old___pthread_rwlock_unlock(&l));
	ANSWER(pthread_rwlock_wrlock(&l));
	ANSWER(old___pthread_rwlock_trywrlock(&l));
	ANSWER(old___pthread_rwlock_wrlock(&l));
	ANSWER(old___pthread_rwlock_unlock(&l));
	ANSWER(old___pthread_rwlock_destroy(&l));
}

static void of_old_programs(const void *unused)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_once_t once;
	pthread_barrier_t b;
	struct timespec past = pt_time(CLOCK_REALTIME, WHEN_PAST);
	sem_t s;

	(void)unused;
	ANSWER(pthread_mutex_lock(&m));
	ANSWER(old_pthread_mutex_trylock(&m));
	ANSWER(old_pthread_mutex_timedlock(&m, &past));
	ANSWER(pthread_mutex_unlock(&m));
	ANSWER(old_pthread_mutex_trylock(&m));
	ANSWER(pthread_mutex_trylock(&m));
	ANSWER(pthread_rwlock_wrlock(&l));
	ANSWER(old_pthread_rwlock_rdlock(&l));
	ANSWER(old_pthread_rwlock_unlock(&l));
	ANSWER(pthread_rwlock_trywrlock(&l));
	ANSWER(sem_init(&s, 0, 0));
	ANSWER(old_sem_post(&s));
	ANSWER(sem_trywait(&s));
	ANSWER_ERRNO(old_sem_trywait(&s));
	ANSWER(pthread_barrier_init(&b, NULL, 1));
	ANSWER(old_pthread_barrier_wait(&b));
	ANSWER(old_pthread_once(&once, init));
	ANSWER(pthread_once(&once, init));
	pt_number(runs);
}

#else

static void underscored(const void *unused)
{
	(void)unused;
	(void)init;
	pt_word("this machine has no old versions");
}
#define underscored_rwlock underscored
#define of_old_programs    underscored

#endif

/* What dlsym finds is what the program is linked with. */
static void found_by_dlsym(const void *unused)
{
	static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	static pthread_cond_t c;
	static sem_t s;

	(void)unused;
	ANSWER(pthread_mutex_lock(&m));
	BY_NAME("pthread_mutex_lock", &m, NULL);
	BY_NAME("pthread_mutex_trylock", &m, NULL);
	BY_NAME("pthread_cond_signal", &c, NULL);
	BY_NAME("pthread_mutex_unlock", &m, NULL);
	ANSWER(pthread_mutex_unlock(&m));
	ANSWER(sem_init(&s, 0, 0));
	BY_NAME("sem_post", &s, NULL);
	ANSWER(sem_trywait(&s));
}

void ask_alias(void);
void ask_alias(void)
{
	pt_case("alias", "mutex and once with underscores", underscored, NULL);
	pt_case("alias", "rwlock with underscores", underscored_rwlock, NULL);
	pt_case("alias", "names that dlsym finds", found_by_dlsym, NULL);
	pt_case("alias", "versions of old programs", of_old_programs, NULL);
}

#else

void ask_alias(void);
void ask_alias(void)
{
}

#endif
