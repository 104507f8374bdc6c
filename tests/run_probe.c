/* SPDX-License-Identifier: MIT
 *
 * run_probe.c - a program that uses pthreads, for check_run.sh to run under nlock
 *
 *	run_probe count		uses each kind of object so often
 *	run_probe hand-off	prints how often main overtook a thread that sleeps on its lock; at most 1000 times
 *	run_probe fork		the parent locks one lock 10 times, a child that does not exec another 3 times
 *	run_probe many		locks each of 20000 locks, twice
 *	run_probe going-on	ends while three threads lock and unlock
 *	run_probe closing	locks once and closes standard error
 *	run_probe replacing F	locks once and has the file F in place of standard error and of all that is open
 *	run_probe leaving D	locks once and makes the directory D its root, where there is nothing
 *	run_probe secure	ends with 0 if the kernel has it run with more rights than its caller, else with 1
 *
 * It knows nothing of nlock. Its locks are static and have names, which the statistics must find.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PASSES 1000

static pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cold_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rw_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t signal_cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t cond_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static bool is_signalled; /* under cond_lock */

static atomic_int tid; /* of the second thread, once it runs */
static atomic_bool has_it;

/* Every call here must succeed. */
static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "run_probe: %s: %s\n", what, strerror(rc > 0 ? rc : errno));
	exit(3);
}

#define MUST(call) must(call, #call)

/* ---------------------------------------------------------------- seeing a thread asleep */

static bool read_task(const char *file, char *line, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", atomic_load(&tid), file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, line, size - 1);
		close(fd);
	}
	line[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The kernel names the call, whose first argument is an address inside the object. Where it does not, the state has to do. */
static bool is_asleep_on(const void *object, size_t size)
{
	unsigned long long address;
	char line[256];
	const char *end;
	long nr;

	if (read_task("syscall", line, sizeof(line)))
		return sscanf(line, "%ld %llx", &nr, &address) == 2 && address - (uintptr_t)object < size;
	if (!read_task("stat", line, sizeof(line)))
		return false;
	end = strrchr(line, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* check_run.sh gives us only so long. */
static void see_asleep_on(const void *object, size_t size)
{
	const struct timespec moment = { 0, 50000 };

	while (!atomic_load(&tid) || !is_asleep_on(object, size))
		nanosleep(&moment, NULL);
}

static void start(pthread_t *t, void *(*run)(void *))
{
	atomic_store(&tid, 0);
	MUST(pthread_create(t, NULL, run, NULL));
}

static void say_who(void)
{
	atomic_store(&tid, (int)syscall(SYS_gettid));
}

/* ---------------------------------------------------------------- count */

static void use(pthread_mutex_t *m, int n)
{
	for (int i = 0; i < n; i++)
		MUST(pthread_mutex_lock(m));
	for (int i = 0; i < n; i++)
		MUST(pthread_mutex_unlock(m));
}

static void *lock_once(void *arg)
{
	say_who();
	use(&hot_lock, 1);
	return arg;
}

static void *wait_once(void *arg)
{
	MUST(pthread_mutex_lock(&cond_lock));
	say_who();
	while (!is_signalled)
		MUST(pthread_cond_wait(&signal_cond, &cond_lock));
	MUST(pthread_mutex_unlock(&cond_lock));
	return arg;
}

static void *meet(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

static void use_two_threads(void)
{
	pthread_t t;

	MUST(pthread_mutex_lock(&hot_lock));
	start(&t, lock_once);
	see_asleep_on(&hot_lock, sizeof(hot_lock));
	MUST(pthread_mutex_unlock(&hot_lock));
	MUST(pthread_join(t, NULL));
	start(&t, wait_once);
	see_asleep_on(&signal_cond, sizeof(signal_cond));
	MUST(pthread_mutex_lock(&cond_lock));
	is_signalled = true;
	MUST(pthread_cond_signal(&signal_cond));
	MUST(pthread_mutex_unlock(&cond_lock));
	MUST(pthread_join(t, NULL));
	MUST(pthread_barrier_init(&barrier, NULL, 2));
	start(&t, meet);
	meet(NULL);
	MUST(pthread_join(t, NULL));
}

/* What check_run.sh expects: hot_lock 1002 times, of which one had to wait; and so on. */
static int count(void)
{
	for (int i = 0; i < 1000; i++)
		use(&hot_lock, 1);
	use(&cold_lock, 1);
	use(&recursive_lock, 5); /* locked once, four times again */
	use(&checking_lock, 1);
	use(&adaptive_lock, 1);
	for (int i = 0; i < 10; i++) {
		MUST(pthread_rwlock_rdlock(&rw_lock));
		MUST(pthread_rwlock_unlock(&rw_lock));
	}
	MUST(pthread_rwlock_wrlock(&rw_lock));
	MUST(pthread_rwlock_unlock(&rw_lock));
	MUST(sem_init(&sem, 0, 7));
	for (int i = 0; i < 7; i++)
		MUST(sem_wait(&sem));
	use_two_threads();
	return 0;
}

/* ---------------------------------------------------------------- hand-off */

static void *take(void *arg)
{
	say_who();
	MUST(pthread_mutex_lock(&hot_lock));
	atomic_store(&has_it, true);
	MUST(pthread_mutex_unlock(&hot_lock));
	return arg;
}

/* Lets go and asks again at once. Under FIFO the sleeper comes first; under a bound of k, after k overtakings at most. */
static int hand_off(void)
{
	int passes = 0;
	pthread_t t;

	MUST(pthread_mutex_lock(&hot_lock));
	start(&t, take);
	see_asleep_on(&hot_lock, sizeof(hot_lock));
	for (; passes < MOST_PASSES; passes++) {
		MUST(pthread_mutex_unlock(&hot_lock));
		MUST(pthread_mutex_lock(&hot_lock));
		if (atomic_load(&has_it))
			break;
	}
	MUST(pthread_mutex_unlock(&hot_lock));
	MUST(pthread_join(t, NULL));
	printf("%d\n", passes);
	return 0;
}

/* ---------------------------------------------------------------- fork */

static int fork_once(void)
{
	int status;
	pid_t child;

	for (int i = 0; i < 10; i++)
		use(&hot_lock, 1);
	child = fork();
	if (child < 0)
		must(-1, "fork");
	if (!child) {
		for (int i = 0; i < 3; i++)
			use(&cold_lock, 1);
		return 0;
	}
	if (waitpid(child, &status, 0) != child)
		must(-1, "waitpid");
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* ---------------------------------------------------------------- many, going-on */

static int many(void)
{
	static pthread_mutex_t locks[20000];

	for (int i = 0; i < 2 * 20000; i++)
		use(&locks[i % 20000], 1);
	return 0;
}

static void *go_on(void *arg)
{
	for (;;)
		use(&hot_lock, 1);
	return arg;
}

static int going_on(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&t, NULL, go_on, NULL));
	for (int i = 0; i < 1000; i++)
		use(&hot_lock, 1);
	return 0;
}

/* ---------------------------------------------------------------- standard error */

static int closing(void)
{
	use(&hot_lock, 1);
	return fclose(stderr);
}

static int replacing(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0666);

	use(&hot_lock, 1);
	if (fd < 0)
		must(-1, path);
	for (int other = STDERR_FILENO; other < 1024; other++) {
		if (other != fd && fcntl(other, F_GETFD) >= 0 && dup2(fd, other) < 0)
			must(-1, "dup2");
	}
	return 0;
}

static int secure(void)
{
	use(&hot_lock, 1);
	return getauxval(AT_SECURE) ? 0 : 1;
}

static int leaving(const char *directory)
{
	MUST(pthread_mutex_lock(&hot_lock));
	MUST(chroot(directory));
	MUST(chdir("/"));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = { { "count", count },       { "hand-off", hand_off }, { "fork", fork_once }, { "many", many },
		      { "going-on", going_on }, { "closing", closing },   { "secure", secure } };

	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	}
	if (argc == 3 && !strcmp(argv[1], "replacing"))
		return replacing(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "leaving"))
		return leaving(argv[2]);
	fputs("usage: run_probe count | hand-off | fork | many | going-on | closing | replacing FILE | leaving "
	      "DIRECTORY | "
	      "secure\n",
	      stderr);
	return 2;
}
