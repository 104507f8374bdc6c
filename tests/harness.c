/* SPDX-License-Identifier: MIT
 *
 * harness.c - the runner, system-call filters, and the company of actors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_PER_TEST 120 /* the watchdog's default; a machine that is busy with other things is no failure */
#define SKIPS_MAX        64

/* Sanitizers, which look for these names. Tests end with threads still asleep, for which TSan would wait a second each,
 * and some fork while they have threads. The library has no heap to leak, and a look for leaks at the end of each test
 * costs more than the test. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "atexit_sleep_ms=0:die_after_fork=0";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* ---------------------------------------------------------------- options and state of a run */

enum depth { DEPTH_USUAL, DEPTH_CORE, DEPTH_LONG };

struct skip {
	char test[80];
	char why[160];
};

/* What the processes of the tests tell the runner. */
struct board {
	int n_skipped; /* how many tests said so */
	int n_skips;
	struct skip skip[SKIPS_MAX];
};

static struct board *board;
static uint64_t seed;
static enum depth depth;
static int limit = SECONDS_PER_TEST;
static const char *only_row, *only_test;
static const char *row_name = "";
#ifndef HAVE_CHECK
static const char *test_name = "";
#endif
static bool is_absent[ROWS], has_run[ROWS], was_skipped[ROWS];

int harness_rounds(int usual, int many)
{
	if (depth == DEPTH_LONG)
		return many;
	return depth == DEPTH_CORE && usual > 10 ? usual / 10 : usual;
}

uint64_t harness_seed(void)
{
	return seed;
}

void harness_set_seed(uint64_t s)
{
	seed = s;
}

uint64_t harness_random_start(uint32_t salt)
{
	return (seed + salt + 1) * 0x9e3779b97f4a7c15u | 1;
}

uint32_t harness_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 24);
}

/* The table's rows of NODE(0) stand for a node, which is that of the environment if there is one. What names the kind of placement,
 * row->place, stays. */
static const struct row *row_at(int i)
{
	static struct row moved[ROWS];
	static char name[ROWS][48];
	const char *node = getenv("NLOCK_TEST_NODE"), *place = strstr(rows[i].name, "NODE(0)");

	if (!node || !place)
		return &rows[i];
	snprintf(name[i], sizeof(name[i]), "%.*sNODE(%d)%s", (int)(place - rows[i].name), rows[i].name, atoi(node),
		 place + strlen("NODE(0)"));
	moved[i] = rows[i];
	moved[i].name = name[i];
	moved[i].attr |= NLOCK_PLACE_NODE(atoi(node));
	return &moved[i];
}

const struct row *harness_row(int i)
{
	row_name = row_at(i)->name;
	return row_at(i);
}

void harness_fail(const char *file, int line, const char *what, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (harness_tid() != getpid()) {
		fprintf(stderr, "%s:%d: a verdict outside the main thread: %s%s\n", file, line, what, why);
		abort();
	}
#ifdef HAVE_CHECK
	_ck_assert_failed(file, line, what, "%s: %s%s (seed %llu)", row_name, what, why, (unsigned long long)seed);
#else
	printf("%s:%d: %s: %s: %s%s (seed %llu)\n", file, line, test_name, row_name, what, why,
	       (unsigned long long)seed);
	fflush(stdout);
	_exit(1);
#endif
}

/* `test` is the name of a function that a macro made of the sentence: it has a suffix. Counted per call, told once. */
void harness_skips(const char *test, const char *why)
{
	struct skip *s = &board->skip[board->n_skips];
	int len = (int)strlen(test) - 3;

	__atomic_fetch_add(&board->n_skipped, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < board->n_skips; i++) {
		if (!strcmp(board->skip[i].why, why) && !strncmp(board->skip[i].test, test, (size_t)len))
			return;
	}
	if (board->n_skips == SKIPS_MAX)
		return;
	snprintf(s->why, sizeof(s->why), "%s", why);
	snprintf(s->test, sizeof(s->test), "%.*s", len, test);
	board->n_skips++;
}

/* ---------------------------------------------------------------- rows */

static bool promises(nlock_attr_t place)
{
	if (place == NLOCK_PLACE_HASH)
		return true;
	return nlock_features() & (place == NLOCK_PLACE_MPOL ? NLOCK_HAS_MPOL : NLOCK_HAS_NUMA);
}

void harness_rows(void)
{
	for (int i = 0; i < ROWS; i++) {
		nlock_mutex_t m;
		int rc = nlock_mutex_init(&m, row_at(i)->attr);

		if (rc != (promises(rows[i].place) ? 0 : ENOTSUP)) {
			printf("row %s: init says %s, the features 0x%x\n", row_at(i)->name, strerror(rc),
			       nlock_features());
			exit(1);
		}
		is_absent[i] = rc;
	}
}

bool harness_has_row(int i)
{
	return !is_absent[i];
}

static bool is_numa(const struct row *row)
{
	return row->place == NLOCK_PLACE_NODE(0) || row->place == NLOCK_PLACE_FIRST;
}

static bool is_cross(int i)
{
	return i < ROWS_HANDOFFS || i % ROWS_HANDOFFS == 0;
}

static bool is_wanted(const struct test *t, int i)
{
	if (only_row && !strstr(row_at(i)->name, only_row))
		return false;
	switch (t->loop) {
	case LOOP_CROSS:
		return is_cross(i);
	case LOOP_CROSS_PRIVATE:
		return is_cross(i) && !rows[i].is_shared;
	case LOOP_COHORT:
		return is_cross(i) && rows[i].bound != 0;
	case LOOP_MARKED:
		return !rows[i].is_shared && !is_numa(&rows[i]);
	case LOOP_BOUNDED:
		return rows[i].bound != ROW_NO_BOUND;
	case LOOP_HANDOFFS:
		return i < ROWS_HANDOFFS;
	case LOOP_PLACES:
		return i % ROWS_HANDOFFS == 0;
	case LOOP_NUMA:
		return i % ROWS_HANDOFFS == 0 && is_numa(&rows[i]);
	case LOOP_FIRST:
		return rows[i].place == NLOCK_PLACE_FIRST;
	case LOOP_SHARED:
		return rows[i].is_shared;
	case LOOP_HASH:
		return rows[i].place == NLOCK_PLACE_HASH;
	case LOOP_MORTAL:
		return rows[i].place == NLOCK_PLACE_HASH || rows[i].place == NLOCK_PLACE_MPOL;
	default:
		return true;
	}
}

/* "n ran, m skipped", and for each placement that is missing, why. */
static void report_rows(void)
{
	static const struct {
		nlock_attr_t place;
		const char *why;
	} reasons[] = {
		{ NLOCK_PLACE_NODE(0), "NODE: no FUTEX2_NUMA" },
		{ NLOCK_PLACE_FIRST, "FIRST: no FUTEX2_NUMA" },
		{ NLOCK_PLACE_MPOL, "MPOL: no FUTEX2_MPOL" },
	};
	int ran = 0, skipped = 0, told = 0;

	for (int i = 0; i < ROWS; i++) {
		ran += has_run[i];
		skipped += was_skipped[i];
	}
	if (!ran && !skipped)
		return;
	printf("ROWS: %d ran, %d skipped", ran, skipped);
	for (int i = 0; i < ROWS * COUNT(reasons); i++) {
		int r = i / ROWS;

		if (!was_skipped[i % ROWS] || rows[i % ROWS].place != reasons[r].place || told & 1 << r)
			continue;
		printf("%s%s", told ? ", " : ": ", reasons[r].why);
		told |= 1 << r;
	}
	printf("\n");
}

/* ---------------------------------------------------------------- the runner */

#ifdef HAVE_CHECK

typedef SRunner *runner_t;
static TCase *tcase;

/* In the test's process: it ends with its runner, and its actors with it. */
static void setup(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static runner_t runner_new(const char *name)
{
	Suite *suite = suite_create(name);

	tcase = tcase_create(name);
	tcase_set_timeout(tcase, limit);
	tcase_add_checked_fixture(tcase, setup, NULL);
	suite_add_tcase(suite, tcase);
	return srunner_create(suite);
}

static void runner_add(runner_t *r, const TTest *body, int i)
{
	(void)r;
	_tcase_add_test(tcase, body, 0, 0, i, i + 1);
}

static int runner_finish(runner_t *r)
{
	int failed;

	srunner_run_all(*r, CK_NORMAL);
	failed = srunner_ntests_failed(*r);
	srunner_free(*r);
	return failed;
}

#else

typedef struct {
	int run, failed;
} runner_t;

static runner_t runner_new(const char *name)
{
	(void)name;
	return (runner_t){ 0, 0 };
}

/* In a process group of its own, so that what a test leaves behind can be ended. */
static void runner_add(runner_t *r, const TTest *body, int i)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		alarm((unsigned int)limit);
		test_name = body->name;
		body->fn(i);
		fflush(stdout);
		_exit(0);
	}
	r->run++;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		printf("%s:%d: %s[%d] failed: %s %d\n", body->file, body->line, body->name, i,
		       WIFSIGNALED(status) ? "signal" : "exit",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		r->failed++;
	}
	if (pid > 0)
		kill(-pid, SIGKILL);
}

static int runner_finish(runner_t *r)
{
	printf("%d tests, %d failed\n", r->run, r->failed);
	return r->failed;
}

#endif

static int add_all(runner_t *r, const struct test *tests, int n)
{
	int added = 0;

	for (int t = 0; t < n; t++) {
		const TTest *body = *tests[t].body;

		if ((depth == DEPTH_CORE && !tests[t].is_core) || (only_test && !strstr(body->name, only_test)))
			continue;
		if (tests[t].loop == LOOP_ONCE) {
			runner_add(r, body, 0);
			added++;
			continue;
		}
		for (int i = 0; i < ROWS; i++) {
			if (!is_wanted(&tests[t], i))
				continue;
			was_skipped[i] |= is_absent[i];
			if (is_absent[i])
				continue;
			has_run[i] = true;
			runner_add(r, body, i);
			added++;
		}
	}
	return added;
}

static void report(void)
{
	for (int i = 0; i < board->n_skips; i++)
		printf("SKIP: %s: %s\n", board->skip[i].test, board->skip[i].why);
	report_rows();
	fflush(stdout);
}

static void usage(const char *name)
{
	fprintf(stderr,
		"check_%s: usage: check_%s [--core | --long] [--limit SECONDS] [--seed N] [--rows PART-OF-NAME]"
		" [--only PART-OF-NAME]\n",
		name, name);
	exit(2);
}

static void options(int argc, char **argv, const char *name)
{
	seed = (uint64_t)harness_now() ^ (uint64_t)getpid() << 32;
	if (getenv("NLOCK_SEED"))
		seed = strtoull(getenv("NLOCK_SEED"), NULL, 0);
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--core"))
			depth = DEPTH_CORE;
		else if (!strcmp(argv[i], "--long"))
			depth = DEPTH_LONG;
		else if (!value)
			usage(name);
		else if (!strcmp(argv[i], "--limit"))
			limit = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--rows"))
			only_row = argv[++i];
		else if (!strcmp(argv[i], "--only"))
			only_test = argv[++i];
		else
			usage(name);
	}
	if (limit < 1)
		usage(name);
}

int harness_main(int argc, char **argv, const char *name, const struct test *tests, int n)
{
	runner_t runner;
	int added, failed;

	options(argc, argv, name);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	printf("check_%s --seed %llu\n", name, (unsigned long long)seed);
	runner = runner_new(name);
	added = add_all(&runner, tests, n);
	failed = runner_finish(&runner);
	report();
	if (failed || !added)
		return 1;
	return board->n_skipped >= added ? EXIT_CANNOT : 0;
}

int harness_child(int (*body)(void *), void *arg)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		status = body(arg);
		/* a sanitizer makes a call of its own before _exit, and body may have forbidden all */
		syscall(SYS_exit_group, status);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* ---------------------------------------------------------------- time and /proc */

int64_t harness_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct timespec harness_in(clockid_t clock, int64_t ns)
{
	struct timespec t;

	clock_gettime(clock, &t);
	ns += t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000);
	t.tv_nsec = (long)(ns % 1000000000);
	return t;
}

pid_t harness_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* The raw call: musl's function always says ENOSYS. */
int harness_schedule(pid_t tid, int policy, int priority)
{
	const struct sched_param p = { .sched_priority = priority };

	return (int)syscall(SYS_sched_setscheduler, tid, policy, &p);
}

static bool reads(pid_t pid, pid_t tid, const char *file, char *line, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	line[n] = 0;
	return true;
}

static bool is_wait(long nr)
{
	for (int i = 0; i < N_FUTEX_CALLS; i++) {
		if (harness_futex_calls[i] == nr)
			return true;
	}
	return false;
}

/* Waits for an event, and is not on its way to a CPU. */
static bool is_blocked(pid_t pid, pid_t tid)
{
	char line[256];
	const char *end;

	if (!reads(pid, tid, "stat", line, sizeof(line)))
		return false;
	end = strrchr(line, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* The kernel answers with a call only if the thread is off its CPU and stays in the same state meanwhile: it is in its queue, or
 * has been woken by another CPU and not yet been put in line there, which the state after it tells. Where the file of the call
 * cannot be read, the state has to do. */
bool harness_is_asleep(pid_t pid, pid_t tid, const volatile void *word)
{
	unsigned long long address;
	char line[256];
	long nr;

	if (!reads(pid, tid, "syscall", line, sizeof(line)))
		return is_blocked(pid, tid);
	return sscanf(line, "%ld %llx", &nr, &address) == 2 && is_wait(nr) && address == (uintptr_t)word &&
	       is_blocked(pid, tid);
}

bool harness_sees_asleep(pid_t pid, pid_t tid, const volatile void *word)
{
	int64_t end = harness_now() + (int64_t)limit * 1000000000 / 2;
	struct timespec moment = { 0, 10000 };

	/* Between two looks it sleeps: a yield would cost the caller its turn after them. Longer and longer, for busy
	 * machines. */
	while (!harness_is_asleep(pid, tid, word)) {
		if (harness_now() > end)
			return false;
		nanosleep(&moment, NULL);
		if (moment.tv_nsec < 150000)
			moment.tv_nsec *= 2;
	}
	return true;
}

/* ---------------------------------------------------------------- system-call filters */

#if defined(__x86_64__)
#define ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH_HERE AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH_HERE AUDIT_ARCH_AARCH64
#elif defined(__arm__)
#define ARCH_HERE AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_HERE AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH_HERE AUDIT_ARCH_PPC64LE
#else
#define ARCH_HERE 0
#endif

#ifdef SYS_futex
#define CLASSIC_1 SYS_futex
#else
#define CLASSIC_1 SYS_futex_time64
#endif
#ifdef SYS_futex_time64
#define CLASSIC_2 SYS_futex_time64
#else
#define CLASSIC_2 CLASSIC_1
#endif

const long harness_futex_calls[N_FUTEX_CALLS] = { 449, 454, 455, 456, CLASSIC_1, CLASSIC_2 };

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, field)))
#define UPPER(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, field) + 4))
#define SKIP_IF(v, n)  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), (n), 0)
#define SKIP_NOT(v, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (v), 0, (n))
#define ANSWER(v)      BPF_STMT(BPF_RET | BPF_K, (v))

static uint32_t answer_of(const struct filter *f)
{
	switch (f->answer) {
	case ANSWER_KILL:
		return SECCOMP_RET_KILL_PROCESS;
	case ANSWER_NOTIFY:
		return SECCOMP_RET_USER_NOTIF;
	default:
		return SECCOMP_RET_ERRNO | (uint32_t)f->error;
	}
}

/* The program: the numbers are compared in turn, and the first that fits jumps behind the instruction that answers for
 * the rest. Words are little-endian halves, as on every machine named above. */
int harness_filter(const struct filter *f)
{
	struct sock_filter code[32];
	unsigned short n = 0;
	uint64_t address = (uintptr_t)f->address;
	unsigned int flags = 0;
	long rc;

	code[n++] = (struct sock_filter)LOAD(arch);
	code[n++] = (struct sock_filter)SKIP_IF(ARCH_HERE, 1);
	code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)LOAD(nr);
	for (int i = 0; i < f->n_calls; i++)
		code[n++] = (struct sock_filter)SKIP_IF((uint32_t)f->calls[i], (uint8_t)(f->n_calls - i));
	code[n++] = (struct sock_filter)ANSWER(f->spares_calls ? answer_of(f) : SECCOMP_RET_ALLOW);
	if (f->spares_calls) {
		code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	} else if (f->address) {
		code[n++] = (struct sock_filter)LOAD(args[0]);
		code[n++] = (struct sock_filter)SKIP_NOT((uint32_t)address, 3);
		code[n++] = (struct sock_filter)UPPER(args[0]);
		code[n++] = (struct sock_filter)SKIP_NOT((uint32_t)(address >> 32), 1);
		code[n++] = (struct sock_filter)ANSWER(answer_of(f));
		code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
	} else {
		code[n++] = (struct sock_filter)ANSWER(answer_of(f));
	}
	if (!ARCH_HERE)
		return -ENOTSUP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (f->answer == ANSWER_NOTIFY)
		flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	if (f->is_for_all_threads)
		flags |= SECCOMP_FILTER_FLAG_TSYNC;
	rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &(struct sock_fprog){ n, code });
	return rc < 0 ? -errno : (int)rc;
}

/* ---------------------------------------------------------------- the company */

struct actor {
	sem_t go, done;
	bool has_answered;
	int number, result, error, rounds;
	enum deed deed;
	pid_t pid, tid;
	pthread_t thread;
	struct scene *scene; /* as the actor sees it */
	clockid_t clock;
	struct timespec until;
	struct company *company;
};

struct company {
	enum kind kind;
	int n, memory; /* memory: a descriptor */
	const struct row *row;
	struct scene *scene;
	struct actor actor[COMPANY_MAX];
};

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static struct scene *view(const struct company *c)
{
	void *p = mmap(NULL, sizeof(struct scene), PROT_READ | PROT_WRITE, MAP_SHARED, c->memory, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The section: whoever is in it alone finds left and right equal. */
static int section(struct scene *s)
{
	int bad = s->left != s->right;

	s->left++;
	s->right++;
	return bad;
}

static int visit(struct actor *a, int (*unlock)(nlock_mutex_t *))
{
	struct scene *s = a->scene;
	int rc = nlock_mutex_lock(&s->m);

	if (rc)
		return rc;
	s->order[s->came++ % COMPANY_MAX] = (uint16_t)a->number;
	return section(s) ? -1 : unlock(&s->m);
}

static int visit_until(struct actor *a)
{
	struct scene *s = a->scene;
	int rc = nlock_mutex_lock_until(&s->m, a->clock, &a->until);

	if (rc)
		return rc;
	s->order[s->came++ % COMPANY_MAX] = (uint16_t)a->number;
	return section(s) ? -1 : nlock_mutex_unlock(&s->m);
}

/* One acquisition by a random call. 0: has the lock. */
static int acquire_somehow(nlock_mutex_t *m, uint64_t *rnd)
{
	struct timespec until;
	clockid_t clock;

	switch (harness_random(rnd) % 8) {
	case 0:
		return nlock_mutex_trylock(m);
	case 1:
	case 2:
		clock = harness_random(rnd) & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
		until = harness_in(clock, harness_random(rnd) % 60000);
		return nlock_mutex_lock_until(m, clock, &until);
	default:
		return nlock_mutex_lock(m);
	}
}

static int release_somehow(nlock_mutex_t *m, uint64_t *rnd)
{
	switch (harness_random(rnd) % 8) {
	case 0:
		return nlock_mutex_unlock_fair(m);
	case 1:
		return nlock_mutex_unlock_barging(m);
	default:
		return nlock_mutex_unlock(m);
	}
}

/* Counts sections by hand too: left must be the sum of what all actors counted. */
static int work(struct actor *a)
{
	uint64_t rnd = harness_random_start((uint32_t)a->number);
	struct scene *s = a->scene;
	int done = 0;

	while (done < a->rounds) {
		int rc = acquire_somehow(&s->m, &rnd);

		if (rc == EBUSY || rc == ETIMEDOUT)
			continue;
		if (rc || section(s))
			return 1;
		if (harness_random(&rnd) % 16 == 0 && nlock_mutex_bump(&s->m))
			return 1;
		if (release_somehow(&s->m, &rnd))
			return 1;
		done++;
	}
	return 0;
}

static int perform(struct actor *a)
{
	nlock_mutex_t *m = &a->scene->m;

	switch (a->deed) {
	case DO_LOCK:
		return nlock_mutex_lock(m);
	case DO_TRYLOCK:
		return nlock_mutex_trylock(m);
	case DO_LOCK_UNTIL:
		return nlock_mutex_lock_until(m, a->clock, &a->until);
	case DO_UNLOCK:
		return nlock_mutex_unlock(m);
	case DO_UNLOCK_FAIR:
		return nlock_mutex_unlock_fair(m);
	case DO_UNLOCK_BARGING:
		return nlock_mutex_unlock_barging(m);
	case DO_BUMP:
		return nlock_mutex_bump(m);
	case DO_DESTROY:
		return nlock_mutex_destroy(m);
	case DO_VISIT:
		return visit(a, nlock_mutex_unlock);
	case DO_VISIT_FAIR:
		return visit(a, nlock_mutex_unlock_fair);
	case DO_VISIT_UNTIL:
		return visit_until(a);
	case DO_WORK:
		return work(a);
	default:
		return 0;
	}
}

#define ERRNO_UNTOUCHED 4711

static void *actor_main(void *arg)
{
	struct actor *a = arg;
	bool goes_on = true;

	a->pid = getpid();
	a->tid = harness_tid();
	a->scene = a->company->kind == THREADS ? a->company->scene : view(a->company);
	a->result = a->scene ? 0 : ENOMEM;
	while (goes_on && a->scene) {
		__atomic_store_n(&a->has_answered, true, __ATOMIC_RELEASE);
		sem_post(&a->done);
		wait_for(&a->go);
		goes_on = a->deed != DO_LEAVE;
		errno = ERRNO_UNTOUCHED;
		a->result = perform(a);
		a->error = errno;
	}
	sem_post(&a->done);
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

/* A process that outlives the test would keep its locks. */
static bool actor_start(struct actor *a)
{
	if (a->company->kind != PROCESSES)
		return !pthread_create(&a->thread, NULL, actor_main, a);
	a->pid = fork();
	if (a->pid)
		return a->pid > 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	actor_main(a);
	_exit(0);
}

struct company *company_meet(const struct row *row, int n, enum kind kind)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct company *c;

	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(c != MAP_FAILED && n <= COMPANY_MAX);
	c->kind = kind;
	c->row = row;
	c->n = n;
	c->memory = memfd_create("scene", MFD_CLOEXEC);
	must(c->memory >= 0 && !ftruncate(c->memory, sizeof(struct scene)));
	c->scene = view(c);
	must(c->scene != NULL);
	must_be(nlock_mutex_init(&c->scene->m, row->attr), 0);
	must(!sigaction(SIGUSR1, &sa, NULL));
	for (int i = 0; i < n; i++) {
		struct actor *a = &c->actor[i];

		a->number = i;
		a->company = c;
		must(!sem_init(&a->go, 1, 0) && !sem_init(&a->done, 1, 0));
		must(actor_start(a));
	}
	for (int i = 0; i < n; i++)
		must_be(company_answer(c, i), 0);
	return c;
}

struct scene *company_scene(struct company *c)
{
	return c->scene;
}

void company_ask(struct company *c, int i, enum deed deed)
{
	c->actor[i].deed = deed;
	__atomic_store_n(&c->actor[i].has_answered, false, __ATOMIC_RELAXED);
	sem_post(&c->actor[i].go);
}

int company_answer(struct company *c, int i)
{
	wait_for(&c->actor[i].done);
	return c->actor[i].result;
}

bool company_has_answered(struct company *c, int i)
{
	return __atomic_load_n(&c->actor[i].has_answered, __ATOMIC_ACQUIRE);
}

bool company_keeps_errno(struct company *c, int i)
{
	return c->actor[i].error == ERRNO_UNTOUCHED;
}

int company_tell(struct company *c, int i, enum deed deed)
{
	company_ask(c, i, deed);
	return company_answer(c, i);
}

bool company_sees_asleep(struct company *c, int i)
{
	const struct actor *a = &c->actor[i];

	return harness_sees_asleep(a->pid, a->tid, &a->scene->m);
}

void company_park(struct company *c, int i, enum deed deed)
{
	company_ask(c, i, deed);
	must(company_sees_asleep(c, i), "actor %d does not fall asleep", i);
}

void company_deadline(struct company *c, int i, clockid_t clock, struct timespec abs)
{
	c->actor[i].clock = clock;
	c->actor[i].until = abs;
}

void company_rounds(struct company *c, int i, int n)
{
	c->actor[i].rounds = n;
}

void company_signal(struct company *c, int i)
{
	must(!syscall(SYS_tgkill, c->actor[i].pid, c->actor[i].tid, SIGUSR1));
}

pid_t company_tid(struct company *c, int i)
{
	return c->actor[i].tid;
}

bool company_yields_to_caller(struct company *c, int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
	must(!sched_setaffinity(c->actor[i].tid, sizeof(set), &set));
	if (!harness_schedule(0, SCHED_FIFO, 1))
		return true;
	must(!harness_schedule(c->actor[i].tid, SCHED_IDLE, 0));
	return false;
}

void company_part(struct company *c)
{
	for (int i = 0; i < c->n; i++) {
		int status = 0;

		must_be(company_tell(c, i, DO_LEAVE), 0);
		if (c->kind != PROCESSES)
			must_be(pthread_join(c->actor[i].thread, NULL), 0);
		else
			must(waitpid(c->actor[i].pid, &status, 0) == c->actor[i].pid && !status);
	}
	must_be(nlock_mutex_destroy(&c->scene->m), 0);
	must_be(c->scene->m.word, 0);
	close(c->memory);
	munmap(c->scene, sizeof(struct scene));
	munmap(c, sizeof(*c));
}
