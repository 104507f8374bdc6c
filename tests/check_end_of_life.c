/* SPDX-License-Identifier: MIT
 *
 * check_end_of_life.c - tier 3: the next owner frees the lock while the releaser is still inside unlock
 *
 * nlock.h promises this for placement HASH and MPOL. The worst moments are hit exactly. First, a system-call filter
 * stops the releaser at its wake call, when the lock is released already; the next owner takes the lock, unlocks it
 * and unmaps it; then the call goes on, with an address at which there is nothing, or somebody else's memory. Second,
 * the releaser is traced instruction by instruction, and the memory goes right after the one that releases.
 * In memory from nlock_alloc_onnode the same holds under every placement; there the next owner gives the slot back, and it
 * becomes another lock.
 */
#include "harness.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*const releases_of[])(nlock_mutex_t *) = { nlock_mutex_unlock, nlock_mutex_unlock_fair,
						       nlock_mutex_unlock_barging };

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static nlock_mutex_t *new_lock(const struct row *row)
{
	int how = (row->is_shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS;
	void *p = mmap(NULL, page(), PROT_READ | PROT_WRITE, how, -1, 0);

	if (p == MAP_FAILED || nlock_mutex_init(p, row->attr))
		return NULL;
	return p;
}

/* ---------------------------------------------------------------- hands: threads that do one thing at a time */

struct hand {
	pthread_t thread;
	sem_t go, done;
	int (*job)(struct hand *);
	nlock_mutex_t *m;
	bool is_watched; /* its futex calls on m stop until the main thread lets them go on */
	int listener;    /* where these are told of */
	int how, result;
	pid_t tid;
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static void *hand_main(void *arg)
{
	struct hand *h = arg;
	const struct filter f = {
		.answer = ANSWER_NOTIFY, .calls = harness_futex_calls, .n_calls = N_FUTEX_CALLS, .address = h->m
	};

	h->tid = harness_tid();
	if (h->is_watched)
		h->listener = harness_filter(&f);
	for (;;) {
		sem_post(&h->done);
		wait_for(&h->go);
		if (!h->job)
			return NULL;
		h->result = h->job(h);
	}
}

static void hire(struct hand *h, nlock_mutex_t *m, bool is_watched)
{
	memset(h, 0, sizeof(*h));
	h->m = m;
	h->is_watched = is_watched;
	must(!sem_init(&h->go, 0, 0) && !sem_init(&h->done, 0, 0));
	must_be(pthread_create(&h->thread, NULL, hand_main, h), 0);
	wait_for(&h->done);
}

static void ask(struct hand *h, int (*job)(struct hand *))
{
	h->job = job;
	sem_post(&h->go);
}

static int answer(struct hand *h)
{
	wait_for(&h->done);
	return h->result;
}

static void dismiss(struct hand *h)
{
	h->job = NULL;
	sem_post(&h->go);
	must_be(pthread_join(h->thread, NULL), 0);
	if (h->is_watched)
		close(h->listener);
}

static int takes(struct hand *h)
{
	return nlock_mutex_lock(h->m);
}

static int releases(struct hand *h)
{
	return releases_of[h->how](h->m);
}

/* The last user of the lock. */
static int uses_and_unmaps(struct hand *h)
{
	int rc = nlock_mutex_lock(h->m);

	if (!rc)
		rc = nlock_mutex_unlock(h->m);
	if (!rc)
		rc = nlock_mutex_destroy(h->m);
	return rc ? rc : munmap(h->m, page());
}

/* The memory goes to somebody who fills it with ones, the value that a NUMA wake would overwrite. */
static int uses_and_reuses(struct hand *h)
{
	int rc = uses_and_unmaps(h);
	void *p = h->m;

	if (rc || mmap(p, page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
		return -1;
	memset(p, 0xff, page());
	return 0;
}

static bool is_all_ones(const nlock_mutex_t *m)
{
	const unsigned char *p = (const unsigned char *)m;

	for (size_t i = 0; i < page(); i++) {
		if (p[i] != 0xff)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- stopping at a call */

union notification {
	struct seccomp_notif call;
	struct seccomp_notif_resp reply;
	char room[512]; /* a later kernel may say more */
};

/* Waits until the hand makes a futex call on the lock: its ticket. */
static uint64_t stopped(struct hand *h)
{
	union notification n;

	do {
		memset(&n, 0, sizeof(n));
	} while (ioctl(h->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) && errno == EINTR);
	must(n.call.id, "no call came");
	return n.call.id;
}

static void lets_go_on(struct hand *h, uint64_t ticket)
{
	union notification n;

	memset(&n, 0, sizeof(n));
	n.reply.id = ticket;
	n.reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	must(!ioctl(h->listener, SECCOMP_IOCTL_NOTIF_SEND, &n));
}

static void nothing(int sig)
{
	(void)sig;
}

static void begin(void)
{
	struct sigaction sa = { .sa_handler = nothing };

	must(!sigaction(SIGUSR1, &sa, NULL));
}

/* ---------------------------------------------------------------- the worst moment */

/* A releases to B, who sleeps. A stops at the wake; a signal makes B look, and B finds itself the owner. */
static void free_during_the_wake(const struct row *row, int how, int (*last_user)(struct hand *))
{
	nlock_mutex_t *m = new_lock(row);
	struct hand a, b;
	uint64_t ticket;

	must(m != NULL);
	hire(&a, m, true);
	if (a.listener < 0)
		cannot("no notification by system-call filters");
	hire(&b, m, false);
	ask(&a, takes);
	must_be(answer(&a), 0);
	ask(&b, last_user);
	must(harness_sees_asleep(getpid(), b.tid, m));
	a.how = how;
	ask(&a, releases);
	ticket = stopped(&a);
	must_be(pthread_kill(b.thread, SIGUSR1), 0);
	must_be(answer(&b), 0);
	lets_go_on(&a, ticket);
	must_be(answer(&a), 0);
	must(last_user != uses_and_reuses || is_all_ones(m), "the late wake wrote to memory");
	dismiss(&a);
	dismiss(&b);
	if (last_user == uses_and_reuses)
		munmap(m, page());
}

ROW_TEST(next_owner_may_unmap_the_lock_while_the_releaser_wakes)
{
	begin();
	for (int how = 0; how < 3; how++)
		free_during_the_wake(row, how, uses_and_unmaps);
}

ROW_TEST(next_owner_may_reuse_the_memory_while_the_releaser_wakes)
{
	begin();
	for (int how = 0; how < 3; how++)
		free_during_the_wake(row, how, uses_and_reuses);
}

static int uses_and_gives_back(struct hand *h)
{
	int rc = nlock_mutex_lock(h->m);

	if (!rc)
		rc = nlock_mutex_unlock(h->m);
	if (!rc)
		rc = nlock_mutex_destroy(h->m);
	return rc ? rc : nlock_free_onnode(h->m);
}

/* The slot, given out again; all that lies around it is given out too, and filled with ones, as far as a wake could reach. */
static bool becomes_another(nlock_mutex_t *m, const struct row *row)
{
	void *p = NULL;

	for (int i = 0; i < 2000 && p != m; i++) {
		if (nlock_alloc_onnode(NLOCK_TYPE_MUTEX, 0, &p))
			return false;
		if (p != m)
			memset(p, 0xff, 64);
	}
	return p == m && !nlock_mutex_init(m, row->attr) && !nlock_mutex_lock(m);
}

#define AROUND 512

static void give_back_during_the_wake(const struct row *row, int how)
{
	unsigned char before[AROUND];
	nlock_mutex_t *m;
	struct hand a, b;
	uint64_t ticket;
	void *p;

	for (int i = 0; i < 40; i++)
		must_be(nlock_alloc_onnode(NLOCK_TYPE_MUTEX, 0, &p), 0);
	m = p;
	must_be(nlock_mutex_init(m, row->attr), 0);
	hire(&a, m, true);
	if (a.listener < 0)
		cannot("no notification by system-call filters");
	hire(&b, m, false);
	ask(&a, takes);
	must_be(answer(&a), 0);
	ask(&b, uses_and_gives_back);
	must(harness_sees_asleep(getpid(), b.tid, m));
	a.how = how;
	ask(&a, releases);
	ticket = stopped(&a);
	must_be(pthread_kill(b.thread, SIGUSR1), 0);
	must_be(answer(&b), 0);
	must(becomes_another(m, row));
	memcpy(before, (char *)m - AROUND / 2, AROUND);
	lets_go_on(&a, ticket);
	must_be(answer(&a), 0);
	must(!memcmp(before, (char *)m - AROUND / 2, AROUND), "the late wake wrote to a stranger");
	must_be(nlock_mutex_unlock(m), 0);
	dismiss(&a);
	dismiss(&b);
}

ROW_TEST(slot_may_become_another_lock_while_the_releaser_wakes)
{
	void *p;

	if (nlock_alloc_onnode(NLOCK_TYPE_MUTEX, 0, &p) == ENOTSUP)
		cannot("no memory on nodes");
	begin();
	for (int how = 0; how < 3; how++)
		give_back_during_the_wake(row, how);
}

/* Bit 0 of the word: owned or granted. */
static bool is_open(const nlock_mutex_t *m)
{
	return !(__atomic_load_n(&m->word, __ATOMIC_RELAXED) & 1);
}

/* B owns the lock, C is registered and held back just before it sleeps. B releases: it finds nobody to wake, opens the
 * lock, and stops at the wake that follows. C's sleep fails, since the word has changed; C takes it and frees it. */
static void free_during_the_second_wake(const struct row *row, int how)
{
	nlock_mutex_t *m = new_lock(row);
	struct hand a, b, c;
	uint64_t late, sleep;

	must(m != NULL);
	hire(&a, m, false);
	hire(&b, m, true);
	hire(&c, m, true);
	if (b.listener < 0 || c.listener < 0)
		cannot("no notification by system-call filters");
	ask(&a, takes);
	must_be(answer(&a), 0);
	ask(&b, takes);
	lets_go_on(&b, stopped(&b));
	must(harness_sees_asleep(getpid(), b.tid, m));
	ask(&c, uses_and_unmaps);
	sleep = stopped(&c);
	a.how = 1;
	ask(&a, releases);
	must_be(answer(&a), 0);

	/* B may look for a successor as it acquires, does so as it releases, and wakes once more after that. */
	b.how = how;
	ask(&b, releases);
	for (late = stopped(&b); !is_open(m); late = stopped(&b))
		lets_go_on(&b, late);
	lets_go_on(&c, sleep);
	must_be(answer(&c), 0);
	lets_go_on(&b, late);
	wait_for(&b.done); /* of takes, and now of releases */
	must_be(answer(&b), 0);
	dismiss(&a);
	dismiss(&b);
	dismiss(&c);
}

ROW_TEST(next_owner_may_unmap_the_lock_while_the_releaser_looks_for_sleepers)
{
	begin();
	for (int how = 0; how < 3; how++)
		free_during_the_second_wake(row, how);
}

/* ---------------------------------------------------------------- instruction by instruction
 *
 * The lock is in a file without a name. A child process holds it; some of its threads wait. The child's first thread
 * releases the lock, one step at a time, until this process sees the release in its own mapping. Then the waiters have
 * their turn, and the file is cut to nothing: whoever touches it now, in any process, gets SIGBUS.
 */

#define STEPS_MAX 2000000
#define TRY_AGAIN 2 /* the one that was to give up did so before all was ready */

enum scene_kind {
	NOBODY,   /* nobody waits */
	IN_FRONT, /* one sleeps, at the head */
	IN_BACK,  /* one sleeps, and there is no head: the releaser calls it first */
	NEARLY, /* one is for ever on its way to sleep: the releaser finds nobody, and wakes again after the release */
	N_SCENES,
};

struct plot {
	const struct row *row;
	enum scene_kind scene;
	int how, memory;
	nlock_mutex_t *m; /* in the mapping of whoever reads this */
};

struct backstage { /* shared by both processes, and stays */
	pid_t tid[2];
	bool has_left[2], cannot_trace;
};

static struct backstage *backstage;

struct extra {
	nlock_mutex_t *m;
	int number;
	bool gives_up;     /* after a moment */
	bool never_sleeps; /* a filter says that a signal came, each time */
};

static void *extra_main(void *arg)
{
	const struct extra *e = arg;
	const struct filter interrupted = { .answer = ANSWER_ERRNO,
					    .error = EINTR,
					    .calls = harness_futex_calls,
					    .n_calls = N_FUTEX_CALLS,
					    .address = e->m };
	struct timespec soon = harness_in(CLOCK_MONOTONIC, 30000000);
	int rc;

	if (e->never_sleeps && harness_filter(&interrupted))
		return NULL;
	__atomic_store_n(&backstage->tid[e->number], harness_tid(), __ATOMIC_RELEASE);
	rc = e->gives_up ? nlock_mutex_lock_until(e->m, CLOCK_MONOTONIC, &soon) : nlock_mutex_lock(e->m);
	if (!rc)
		rc = nlock_mutex_unlock(e->m);
	if (rc == (e->gives_up ? ETIMEDOUT : 0))
		__atomic_store_n(&backstage->has_left[e->number], true, __ATOMIC_RELEASE);
	return NULL;
}

/* From bit 7 on the word counts who waits. */
static bool are_registered(const nlock_mutex_t *m, uint32_t n)
{
	int64_t end = harness_now() + (int64_t)10 * 1000000000;

	while (__atomic_load_n(&m->word, __ATOMIC_RELAXED) >> 7 != n && harness_now() < end)
		sched_yield();
	return __atomic_load_n(&m->word, __ATOMIC_RELAXED) >> 7 == n;
}

/* One more waiter; false: it does not come to where it should. */
static bool cast_extra(struct extra *e)
{
	pthread_t t;

	if (pthread_create(&t, NULL, extra_main, e))
		return false;
	while (!__atomic_load_n(&backstage->tid[e->number], __ATOMIC_ACQUIRE))
		sched_yield();
	return e->never_sleeps ? are_registered(e->m, 2)
			       : harness_sees_asleep(getpid(), backstage->tid[e->number], e->m);
}

/* To get one waiter in line and none at the head, one is at the head first, and gives up. */
static bool sets_the_scene(const struct plot *p, nlock_mutex_t *m)
{
	static struct extra stays = { .number = 0 }, gives_up = { .number = 1, .gives_up = true };

	stays.m = gives_up.m = m;
	stays.never_sleeps = p->scene == NEARLY;
	if (nlock_mutex_init(m, p->row->attr) || nlock_mutex_lock(m))
		return false;
	if (p->scene >= IN_BACK && !cast_extra(&gives_up))
		return false;
	if (p->scene != NOBODY && !cast_extra(&stays))
		return false;
	while (p->scene >= IN_BACK && !__atomic_load_n(&backstage->has_left[1], __ATOMIC_ACQUIRE))
		sched_yield();
	return true;
}

static int traced_child(void *arg)
{
	const struct plot *p = arg;
	nlock_mutex_t *m = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, p->memory, 0);

	if (m == MAP_FAILED || !sets_the_scene(p, m))
		return TRY_AGAIN;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		backstage->cannot_trace = true;
		return EXIT_CANNOT;
	}
	raise(SIGSTOP);
	return releases_of[p->how](m);
}

/* Owned, and not granted to the head: bits 0 and 1 of the word. */
static bool is_owned(const nlock_mutex_t *m)
{
	return (__atomic_load_n(&m->word, __ATOMIC_RELAXED) & 3) == 1;
}

/* True: the child has just released the lock. False: this machine makes no single steps. A release that ends, or goes on,
 * without releasing is a fault of the lock. */
static bool steps_to_the_release(pid_t pid, const nlock_mutex_t *m)
{
	int status;

	for (int i = 0; is_owned(m); i++) {
		must(i < STEPS_MAX, "no release in %d steps", i);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL)) {
			must(!i, "step %d: %s", i, strerror(errno));
			return false;
		}
		must(waitpid(pid, &status, 0) == pid);
		must(WIFSTOPPED(status), "the release ended after %d steps, wait status 0x%x", i, status);
	}
	return true;
}

/* The waiter may sleep through the grant, since the wake has not been made: a signal makes it look. */
static void let_the_waiter_pass(pid_t pid)
{
	const struct timespec moment = { 0, 100000 };

	while (!__atomic_load_n(&backstage->has_left[0], __ATOMIC_ACQUIRE)) {
		syscall(SYS_tgkill, pid, backstage->tid[0], SIGUSR1);
		nanosleep(&moment, NULL);
	}
}

/* The child's wait status after the file is gone; -1: no steps can be made here. */
static int release_stepwise(struct plot *p)
{
	pid_t pid;
	int status = -1;

	memset(backstage, 0, sizeof(*backstage));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		_exit(traced_child(p));
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	if (backstage->cannot_trace)
		return -1;
	if (WIFEXITED(status))
		return status;
	must(WIFSTOPPED(status), "wait status 0x%x", status);
	if (!steps_to_the_release(pid, p->m)) {
		kill(pid, SIGKILL);
		return -1;
	}
	if (p->scene != NOBODY)
		let_the_waiter_pass(pid);
	must(!ftruncate(p->memory, 0));
	must(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	must(waitpid(pid, &status, 0) == pid);
	if (WIFSTOPPED(status)) { /* the signal that it died of */
		kill(pid, SIGKILL);
		must(WIFSTOPPED(status) && WSTOPSIG(status) != SIGBUS,
		     "scene %d, release %d: the lock was touched after it", p->scene, p->how);
	}
	return status;
}

ROW_TEST(nothing_is_touched_after_the_instruction_that_releases)
{
	begin();
	if (HAS_TSAN)
		cannot("ThreadSanitizer does not survive single steps");
	backstage = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(backstage != MAP_FAILED);
	for (int i = 0; i < 3 * N_SCENES; i++) {
		struct plot p = { row, i / 3, i % 3, memfd_create("lock", MFD_CLOEXEC), NULL };
		int status;

		must(p.memory >= 0 && !ftruncate(p.memory, (off_t)page()));
		p.m = mmap(NULL, page(), PROT_READ | PROT_WRITE, MAP_SHARED, p.memory, 0);
		must(p.m != MAP_FAILED);
		for (int tries = 0; tries < 20; tries++) {
			status = release_stepwise(&p);
			if (!WIFEXITED(status) || WEXITSTATUS(status) != TRY_AGAIN)
				break;
		}
		if (status == -1)
			cannot("no tracing, or no single steps");
		must(!status, "scene %d, release %d: wait status 0x%x", p.scene, p.how, status);
		munmap(p.m, page());
		close(p.memory);
	}
}

/* ---------------------------------------------------------------- by luck, often */

#define USERS 3

struct shared {
	nlock_mutex_t m;
	int users; /* guarded by it */
};

static struct shared *object;
static pthread_barrier_t round_begins;
static const struct row *the_row;
static int n_rounds;

/* Whoever is the last to have used the object frees it; the others may still be inside unlock. */
static int use(struct shared *s, uint64_t *rnd)
{
	bool is_last;

	for (uint32_t i = harness_random(rnd) % 300; i; i--)
		__asm__ volatile("" ::: "memory");
	if (nlock_mutex_lock(&s->m))
		return 1;
	is_last = !--s->users;
	if (harness_random(rnd) % 4 == 0)
		sched_yield();
	if (releases_of[harness_random(rnd) % 3](&s->m))
		return 1;
	return is_last && munmap(s, page());
}

static void *user_main(void *arg)
{
	int i = (int)(intptr_t)arg, bad = 0;
	uint64_t rnd = harness_random_start((uint32_t)i);

	for (int r = 0; r < n_rounds; r++) {
		if (i == 0) {
			object = (struct shared *)(void *)new_lock(the_row);
			if (object)
				object->users = USERS;
		}
		pthread_barrier_wait(&round_begins);
		bad |= !object || use(object, &rnd);
		pthread_barrier_wait(&round_begins);
	}
	return (void *)(intptr_t)bad;
}

ROW_TEST(last_user_may_free_the_lock_thousands_of_times)
{
	pthread_t t[USERS];
	void *bad;

	the_row = row;
	n_rounds = harness_rounds(300, 20000);
	must_be(pthread_barrier_init(&round_begins, NULL, USERS), 0);
	for (int i = 0; i < USERS; i++)
		must_be(pthread_create(&t[i], NULL, user_main, (void *)(intptr_t)i), 0);
	for (int i = 0; i < USERS; i++) {
		must_be(pthread_join(t[i], &bad), 0);
		must(!bad);
	}
}

static const struct test tests[] = {
	CORE_MORTAL(next_owner_may_unmap_the_lock_while_the_releaser_wakes),
	EACH_MORTAL(next_owner_may_reuse_the_memory_while_the_releaser_wakes),
	EACH_ROW(slot_may_become_another_lock_while_the_releaser_wakes),
	CORE_MORTAL(next_owner_may_unmap_the_lock_while_the_releaser_looks_for_sleepers),
	EACH_HASH(nothing_is_touched_after_the_instruction_that_releases),
	CORE_MORTAL(last_user_may_free_the_lock_thousands_of_times),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "end_of_life", tests, COUNT(tests));
}
