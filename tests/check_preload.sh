#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_preload.sh - when the preload module is at work, and when it steps aside
#
# Run by "make check", which sets builddir and CC. Locks are used before any constructor, in one, and after main; between processes
# that have the module, with and without taking over what they share; with the module loaded twice; and under ThreadSanitizer,
# which must see the locks itself and be told so in one line.
set -u
LC_ALL=C
export LC_ALL

: "${builddir:?run me by make check}" "${CC:=cc}"

. "$(dirname "$0")/tally.sh" || exit 1
so=$(cd "$builddir" && pwd)/.libs/libnlock-preload.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset NLOCK_PRELOAD_SHARED NLOCK_RWLOCK

# compile NAME [OPTION...]: $CC is a list of words.
# shellcheck disable=SC2086
compile() {
	name=$1
	shift
	$CC -O1 -D_GNU_SOURCE -o "$work/$name" "$work/$name.c" -pthread "$@"
}

# says WANTED COMMAND...: prints this and nothing else, on either stream, and ends well. It is stopped if it hangs.
says() {
	wanted=$1
	shift
	timeout 120 env "$@" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
	printf '%s\n' "$wanted" | diff - "$work/said"
}

says_nothing() {
	timeout 120 env "$@" >"$work/said" 2>&1 && [ ! -s "$work/said" ] && return
	cat "$work/said"
	return 1
}

# ---------------------------------------------------------------- from the first moment to the last

cat >"$work/always.c" <<'END'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, robust;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct timespec past = { 1, 0 };
static int inits;

static void init(void)
{
	inits++;
}

static int times_out(pthread_mutex_t *m)
{
	return !pthread_mutex_lock(m) && pthread_cond_timedwait(&cond, m, &past) == ETIMEDOUT && !pthread_mutex_unlock(m);
}

static int counts(int is_shared)
{
	sem_t s;

	return !sem_init(&s, is_shared, 1) && !sem_wait(&s) && sem_trywait(&s) == -1 && errno == EAGAIN && !sem_post(&s) &&
	       !sem_destroy(&s);
}

static void use(const char *when)
{
	pthread_mutexattr_t a;
	int ok = times_out(&normal) && times_out(&recursive) && times_out(&checking) && counts(0) && counts(1);

	ok = ok && !pthread_mutex_lock(&recursive) && !pthread_mutex_lock(&recursive) && times_out(&recursive);
	ok = ok && !pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive);
	ok = ok && pthread_mutex_unlock(&recursive) == EPERM && pthread_mutex_unlock(&checking) == EPERM;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	ok = ok && !pthread_mutex_init(&robust, &a) && times_out(&robust) && !pthread_mutex_destroy(&robust);
	ok = ok && !pthread_rwlock_rdlock(&rwlock) && !pthread_rwlock_rdlock(&rwlock) && !pthread_rwlock_unlock(&rwlock) &&
	     !pthread_rwlock_unlock(&rwlock) && !pthread_rwlock_wrlock(&rwlock) && pthread_rwlock_rdlock(&rwlock) == EDEADLK &&
	     !pthread_rwlock_unlock(&rwlock);
	ok = ok && !pthread_once(&once, init) && inits == 1;
	dprintf(STDERR_FILENO, "%s %s\n", when, ok ? "works" : "fails");
}

static void early(void)
{
	use("early");
}

static void (*at_first)(void) __attribute__((section(".preinit_array"), used)) = early;

static __attribute__((constructor(101))) void begin(void)
{
	use("begin");
}

static __attribute__((destructor)) void end(void)
{
	use("end");
}

int main(void)
{
	use("main");
	return 0;
}
END

all='early works
begin works
main works
end works'
check 'a program that uses locks early and late is built' compile always
check 'it works without the module' says "$all" "$work/always"
check 'and with it' says "$all" LD_PRELOAD="$so" "$work/always"
check 'and on the classic futex' says "$all" NLOCK_FUTEX=legacy LD_PRELOAD="$so" "$work/always"
check 'and with shared objects taken over' says "$all" NLOCK_PRELOAD_SHARED=1 LD_PRELOAD="$so" "$work/always"
check 'its locks are the module'"'"'s' sh -c "LD_DEBUG=bindings LD_PRELOAD='$so' '$work/always' 2>&1 |
	grep 'binding file $work/always.* to $so.*pthread_mutex_lock'"
cp "$so" "$work/again.so"
check 'and with two of the module' says "$all" LD_PRELOAD="$so $work/again.so" "$work/always"

# ---------------------------------------------------------------- between processes

cat >"$work/share.c" <<'END'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 3
#define ROUNDS 200

struct shared {
	pthread_mutex_t m, recursive;
	pthread_cond_t c;
	pthread_rwlock_t rw;
	pthread_barrier_t b;
	sem_t turn[PROCESSES];
	int next, counted, written, rounds;
};

static int make(struct shared *s)
{
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_rwlockattr_t rw;
	pthread_barrierattr_t b;
	int bad = 0;

	pthread_mutexattr_init(&m);
	pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
	bad |= pthread_mutex_init(&s->m, &m);
	pthread_mutexattr_settype(&m, PTHREAD_MUTEX_RECURSIVE);
	bad |= pthread_mutex_init(&s->recursive, &m);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	bad |= pthread_cond_init(&s->c, &c);
	pthread_rwlockattr_init(&rw);
	pthread_rwlockattr_setpshared(&rw, PTHREAD_PROCESS_SHARED);
	bad |= pthread_rwlock_init(&s->rw, &rw);
	pthread_barrierattr_init(&b);
	pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
	bad |= pthread_barrier_init(&s->b, &b, PROCESSES);
	for (int i = 0; i < PROCESSES; i++)
		bad |= sem_init(&s->turn[i], 1, i == 0);
	return bad;
}

static int run(struct shared *s, int me)
{
	int bad = 0;

	for (int i = 0; i < ROUNDS; i++) {
		bad |= pthread_mutex_lock(&s->m);
		while (s->next % PROCESSES != me)
			bad |= pthread_cond_wait(&s->c, &s->m);
		s->next++;
		bad |= pthread_cond_broadcast(&s->c) | pthread_mutex_unlock(&s->m);
		bad |= pthread_mutex_lock(&s->recursive) | pthread_mutex_lock(&s->recursive);
		s->counted++;
		bad |= pthread_mutex_unlock(&s->recursive) | pthread_mutex_unlock(&s->recursive);
		bad |= pthread_rwlock_wrlock(&s->rw);
		s->written++;
		bad |= pthread_rwlock_unlock(&s->rw) | pthread_rwlock_rdlock(&s->rw) | pthread_rwlock_unlock(&s->rw);
		bad |= sem_wait(&s->turn[me]) | sem_post(&s->turn[(me + 1) % PROCESSES]);
		if (pthread_barrier_wait(&s->b) == PTHREAD_BARRIER_SERIAL_THREAD)
			s->rounds++;
	}
	return bad != 0;
}

int main(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int bad = make(s), status;

	for (int i = 0; i < PROCESSES; i++) {
		if (fork() == 0)
			_exit(run(s, i));
	}
	while (wait(&status) > 0)
		bad |= status;
	printf("%d %d %d %d\n", s->next, s->counted, s->written, s->rounds);
	return bad != 0;
}
END

check 'a program of several processes is built' compile share
check 'it works without the module' says '600 600 600 200' "$work/share"
check 'and with it' says '600 600 600 200' LD_PRELOAD="$so" "$work/share"
check 'and with its objects taken over' says '600 600 600 200' NLOCK_PRELOAD_SHARED=1 LD_PRELOAD="$so" "$work/share"

cat >"$work/met.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP };

struct shared {
	pthread_mutex_t m[4];
	pthread_cond_t c;
};

static int make(struct shared *s)
{
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	int bad = 0;

	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	bad |= pthread_cond_init(&s->c, &c);
	for (int i = 0; i < 4; i++) {
		pthread_mutexattr_init(&m);
		pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
		pthread_mutexattr_settype(&m, types[i]);
		bad |= pthread_mutex_init(&s->m[i], &m);
	}
	return bad;
}

static void say(int rc)
{
	printf("%s ", rc ? strerrorname_np(rc) : "0");
}

static void use(struct shared *s, pthread_mutex_t *m)
{
	const struct timespec past = { 1, 0 };

	say(pthread_mutex_lock(m));
	say(pthread_cond_timedwait(&s->c, m, &past));
	say(pthread_mutex_unlock(m));
	say(pthread_mutex_trylock(m));
	say(pthread_mutex_unlock(m));
	say(pthread_mutex_timedlock(m, &past));
	say(pthread_mutex_unlock(m));
	puts("");
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	struct shared *s;

	if (fd < 0 || ftruncate(fd, sizeof(*s)))
		return 1;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return 1;
	if (!strcmp(argv[1], "make"))
		return make(s);
	for (int i = 0; i < 4; i++)
		use(s, &s->m[i]);
	return 0;
}
END

can='0 ETIMEDOUT 0 0 0 0 0 '
cannot='EINVAL EINVAL EINVAL EINVAL EINVAL EINVAL EINVAL '
can="$can
$can
$can
$can"
cannot="$cannot
$cannot
$cannot
$cannot"
check 'programs that meet in a file are built' compile met
check 'one makes' says_nothing "$work/met" make "$work/theirs"
check 'one that takes over uses what the C library has made' says "$can" NLOCK_PRELOAD_SHARED=1 LD_PRELOAD="$so" "$work/met" use "$work/theirs"
check 'and then the C library again' says "$can" "$work/met" use "$work/theirs"
check 'one that takes over makes' says_nothing NLOCK_PRELOAD_SHARED=1 LD_PRELOAD="$so" "$work/met" make "$work/ours"
check 'it can be used by another' says "$can" NLOCK_PRELOAD_SHARED=1 LD_PRELOAD="$so" "$work/met" use "$work/ours"
check 'and by one that does not take over' says "$can" LD_PRELOAD="$so" "$work/met" use "$work/ours"
check 'one without the module is told that it cannot' says "$cannot" "$work/met" use "$work/ours"

# ---------------------------------------------------------------- handlers of fork that run before the module's

cat >"$work/prepared.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int over;

static void lock_all(void)
{
	pthread_mutex_lock(&m);
	pthread_rwlock_wrlock(&rw);
	usleep(10000); /* so that others wait: without them nothing is shown */
}

static void unlock_all(void)
{
	pthread_rwlock_unlock(&rw);
	pthread_mutex_unlock(&m);
}

/* The first handler lets go, and the second locks: who waited in the parent is not here. */
static void let_go(void)
{
	alarm(20);
	unlock_all();
	pthread_mutex_lock(&m);
	pthread_rwlock_wrlock(&rw);
	unlock_all();
}

static void early(void)
{
	pthread_atfork(lock_all, unlock_all, let_go);
}

static void (*at_first)(void) __attribute__((section(".preinit_array"), used)) = early;

static void *hammer(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
	}
	return arg;
}

int main(void)
{
	pthread_t t[4];
	int status = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, hammer, NULL);
	for (int i = 0; i < 10 && !status; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, &status, 0);
	}
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	puts(status ? "a child hung" : "all children got on");
	return status != 0;
}
END

check 'a program whose handlers of fork come first is built' compile prepared
check 'its children get on' says 'all children got on' LD_PRELOAD="$so" "$work/prepared"
check 'and where locks are handed over' says 'all children got on' NLOCK_HANDOFF=fifo LD_PRELOAD="$so" "$work/prepared"

# ---------------------------------------------------------------- a program that locks itself in before it first waits

cat >"$work/late.c" <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

/* Whoever opens a file now, or makes a call of the new family (454 to 456), is killed. */
static int lock_in(void)
{
	struct sock_filter calls[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 454, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 456, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(calls) / sizeof(*calls), calls };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	struct timespec t;
	sem_t s;

	(void)argv;
	if (argc > 1 && lock_in())
		return 77;
	clearenv();
	sem_init(&s, 0, 0);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	puts(sem_timedwait(&s, &t) == -1 && errno == ETIMEDOUT ? "timed out" : "did not");
	return 0;
}
END

check 'a program that locks itself in is built' compile late
"$work/late" in >/dev/null 2>&1
if [ $? -eq 77 ]; then
	skipped=$((skipped + 1))
	echo 'SKIP: a program that locks itself in: no seccomp here'
else
	check 'what it asked for was seen before' says 'timed out' NLOCK_FUTEX=legacy LD_PRELOAD="$so" "$work/late" in
fi

# ---------------------------------------------------------------- under ThreadSanitizer

cat >"$work/race.c" <<'END'
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

static void *count(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&m);
		n++;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;

	if (pthread_create(&a, NULL, count, NULL) || pthread_create(&b, NULL, count, NULL) || pthread_join(a, NULL) ||
	    pthread_join(b, NULL))
		return 1;
	printf("%d\n", n);
	return 0;
}
END

aside='nlock: this program runs under ThreadSanitizer: its locks are left to it
2000'
if compile race -fsanitize=thread >"$work/out" 2>&1 && says 2000 "$work/race" >"$work/out" 2>&1; then
	check 'under ThreadSanitizer the module steps aside, and says so' says "$aside" LD_PRELOAD="$so" "$work/race"
else
	skip "ThreadSanitizer: no program of it runs here: $(head -n 1 "$work/out")"
fi

finish
