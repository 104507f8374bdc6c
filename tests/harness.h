/* SPDX-License-Identifier: MIT
 *
 * harness.h - what the test programs share
 *
 * A test is a sentence. A program is a table of them and one call:
 *
 *	ROW_TEST(held_lock_is_busy) { nlock_mutex_t m; must_be(nlock_mutex_init(&m, row->attr), 0); ... }
 *	static const struct test tests[] = { EACH_ROW(held_lock_is_busy) };
 *	int main(int argc, char **argv) { return harness_main(argc, argv, "mutex", tests, COUNT(tests)); }
 *
 * Each test, and each row of one, runs in a process of its own with a time limit, so a hang is a failure and nothing
 * leaks into the next. The runner is Check; where there is none (cross builds) a small one of our own stands in.
 *
 * Verdicts belong to the main thread: must() anywhere else ends the program. Worker threads, and processes, return
 * theirs.
 *
 * Programs whose rows need the kernel call harness_rows() first: rows that cannot be had here are left out and counted.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef HAVE_CHECK
#include <check.h>
#define TEST(sentence) START_TEST(sentence)
#else
typedef struct {
	const char *name;
	void (*fn)(int);
	const char *file;
	int line;
} TTest;
#define TEST(sentence) \
	static void sentence##_fn(int _i); \
	static const TTest sentence##_ttest = { #sentence, sentence##_fn, __FILE__, __LINE__ }; \
	static const TTest *sentence = &sentence##_ttest; \
	static void sentence##_fn(int _i __attribute__((unused)))
#endif

/* A test that is given each row in turn. */
#define ROW_TEST(sentence) \
	static void sentence##_on(const struct row *row); \
	TEST(sentence) \
	{ \
		sentence##_on(harness_row(_i)); \
	} \
	static void sentence##_on(const struct row *row)

enum loop {
	LOOP_ONCE,
	LOOP_ROWS,
	LOOP_CROSS,
	LOOP_CROSS_PRIVATE,
	LOOP_MARKED,
	LOOP_SHARED,
	LOOP_BOUNDED,
	LOOP_COHORT,
	LOOP_HANDOFFS,
	LOOP_PLACES,
	LOOP_NUMA,
	LOOP_FIRST,
	LOOP_HASH,
	LOOP_MORTAL,
};

struct test {
	const TTest *const *body;
	enum loop loop;
	bool is_core; /* also runs with --core */
};

#define TEST_ENTRY(sentence, loop, is_core) \
	{ \
		(const TTest *const *)&(sentence), loop, is_core \
	}

/* Once; for each row; for each hand-off of the plainest placement and each placement of the plainest hand-off; for those of
 * these that are private; for the private rows whose second word names a process; for the shared rows; for each hand-off of
 * the plainest placement alone; for each placement and sharing of the plainest hand-off alone; for those of these whose second
 * word is a node; for placement FIRST; for placement HASH; for the placements under which the next owner may free the lock at
 * once; for the rows with a bound; for those of CROSS whose hand-off can prefer somebody. CORE: also with --core. A row that a test
 * has nothing to say about is left out by a loop, not by a return, which would count it as tested. */
#define ONCE(sentence)             TEST_ENTRY(sentence, LOOP_ONCE, false)
#define EACH_ROW(sentence)         TEST_ENTRY(sentence, LOOP_ROWS, false)
#define CROSS_OF_ROWS(sentence)    TEST_ENTRY(sentence, LOOP_CROSS, false)
#define CROSS_OF_PRIVATE(sentence) TEST_ENTRY(sentence, LOOP_CROSS_PRIVATE, false)
#define EACH_MARKED(sentence)      TEST_ENTRY(sentence, LOOP_MARKED, false)
#define EACH_SHARED(sentence)      TEST_ENTRY(sentence, LOOP_SHARED, false)
#define EACH_HANDOFF(sentence)     TEST_ENTRY(sentence, LOOP_HANDOFFS, false)
#define EACH_PLACE(sentence)       TEST_ENTRY(sentence, LOOP_PLACES, false)
#define EACH_NUMA(sentence)        TEST_ENTRY(sentence, LOOP_NUMA, false)
#define EACH_FIRST(sentence)       TEST_ENTRY(sentence, LOOP_FIRST, false)
#define EACH_HASH(sentence)        TEST_ENTRY(sentence, LOOP_HASH, false)
#define EACH_MORTAL(sentence)      TEST_ENTRY(sentence, LOOP_MORTAL, false)
#define CORE_ONCE(sentence)        TEST_ENTRY(sentence, LOOP_ONCE, true)
#define CORE_ROW(sentence)         TEST_ENTRY(sentence, LOOP_ROWS, true)
#define CORE_CROSS(sentence)       TEST_ENTRY(sentence, LOOP_CROSS, true)
#define CORE_PLACE(sentence)       TEST_ENTRY(sentence, LOOP_PLACES, true)
#define CORE_MORTAL(sentence)      TEST_ENTRY(sentence, LOOP_MORTAL, true)
#define CORE_BOUNDED(sentence)     TEST_ENTRY(sentence, LOOP_BOUNDED, true)
#define CORE_COHORT(sentence)      TEST_ENTRY(sentence, LOOP_COHORT, true)

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#if defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifndef HAS_TSAN
#define HAS_TSAN 0
#endif

#define EXIT_CANNOT 77 /* automake: skipped, because this kernel cannot */

/* ---------------------------------------------------------------- verdicts */

/* The message after the condition is optional, and a literal. */
#define must(cond, ...) \
	do { \
		if (!(cond)) \
			harness_fail(__FILE__, __LINE__, #cond, " " __VA_ARGS__); \
	} while (0)

#define must_be(expr, value) \
	do { \
		long long must_got = (long long)(expr), must_want = (long long)(value); \
		if (must_got != must_want) \
			harness_fail(__FILE__, __LINE__, #expr, " is %lld, not %s = %lld", must_got, #value, \
				     must_want); \
	} while (0)

void harness_fail(const char *file, int line, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), noreturn));

/* ---------------------------------------------------------------- programs */

/* How many rounds: `usual` of them, fewer with --core, `many` with --long. */
int harness_rounds(int usual, int many);

/* The run's seed, and numbers drawn from a state that it started. */
uint64_t harness_seed(void);
void harness_set_seed(uint64_t s); /* for programs that do not call harness_main */
uint32_t harness_random(uint64_t *state);
uint64_t harness_random_start(uint32_t salt);

/* Row i of the table. The rows of NODE(0) are those of NODE(n) if the environment says NLOCK_TEST_NODE=n. */
const struct row *harness_row(int i);

/* Asks for each row once: which can this kernel not have? A row that the library refuses although it says that the
 * kernel can is a failure. */
void harness_rows(void);
bool harness_has_row(int i);
int harness_main(int argc, char **argv, const char *name, const struct test *tests, int n);

/* In a test body: this kernel, or this user, cannot do what the test needs. Said at the end of the run. A program of
 * which every test says so exits with EXIT_CANNOT. */
#define cannot(why) \
	do { \
		harness_skips(__func__, why); \
		return; \
	} while (0)
void harness_skips(const char *test, const char *why);

/* ---------------------------------------------------------------- time and /proc */

/* Nanoseconds on the monotonic clock. */
int64_t harness_now(void);

/* `ns` from now on `clock`. */
struct timespec harness_in(clockid_t clock, int64_t ns);

/* Waits until thread tid of process pid is blocked in a futex call on `word` (an address of that process). False if
 * that did not happen in a very long time. */
bool harness_sees_asleep(pid_t pid, pid_t tid, const volatile void *word);

/* One look: is it now? */
bool harness_is_asleep(pid_t pid, pid_t tid, const volatile void *word);

pid_t harness_tid(void);

/* Of thread tid, 0: the caller. 0, or -1 and errno. */
int harness_schedule(pid_t tid, int policy, int priority);

/* ---------------------------------------------------------------- system-call filters */

enum answer { ANSWER_ERRNO, ANSWER_KILL, ANSWER_NOTIFY };

struct filter {
	enum answer answer;
	int error;         /* of ANSWER_ERRNO */
	const long *calls; /* the numbers */
	int n_calls;
	const volatile void *address; /* only if the first argument is this; NULL: whatever it is */
	bool is_for_all_threads;
	bool spares_calls; /* the answer is for all calls but these */
};

/* Installs the filter on this thread, or on all of this process. Returns a descriptor for ANSWER_NOTIFY, else 0, or
 * -errno. */
int harness_filter(const struct filter *f);

#define N_FUTEX2_CALLS 4
#define N_FUTEX_CALLS  6
extern const long harness_futex_calls[N_FUTEX_CALLS]; /* waitv, wake, wait, requeue; then the classic ones */

/* Runs `body` in a child process and returns its wait status; the body's result is the exit code. */
int harness_child(int (*body)(void *), void *arg);

/* ---------------------------------------------------------------- a company of actors
 *
 * Threads or processes that do what they are told, one deed at a time, to the mutex of a scene. Each deed is one call
 * of the library, made by the actor; its result and errno come back. Only sem_t is used to talk to them.
 */
#define COMPANY_MAX 40

/* What stands in the page that the actors share. All but the mutex is guarded by it. */
struct scene {
	nlock_mutex_t m;
	uint64_t left, right; /* always equal, except inside a section */
	uint32_t came;        /* how many have been in order[] */
	uint16_t order[COMPANY_MAX];
};

enum kind {
	THREADS,   /* one mapping */
	MAPPINGS,  /* threads, each through a mapping of its own */
	PROCESSES, /* each with a mapping of its own */
};

enum deed {
	DO_LOCK,
	DO_TRYLOCK,
	DO_LOCK_UNTIL,
	DO_UNLOCK,
	DO_UNLOCK_FAIR,
	DO_UNLOCK_BARGING,
	DO_BUMP,
	DO_DESTROY,
	DO_VISIT,       /* lock, sign order[], unlock */
	DO_VISIT_FAIR,  /* the same with unlock_fair */
	DO_VISIT_UNTIL, /* lock_until, and if that succeeded as VISIT */
	DO_WORK,        /* `rounds` sections with a random mix of calls; result: 0, or 1 if exclusion failed */
	DO_LEAVE,
};

struct company;

struct company *company_meet(const struct row *row, int n, enum kind kind);

/* The caller's own view of the scene. */
struct scene *company_scene(struct company *c);

/* Tells actor i what to do, without waiting for it. */
void company_ask(struct company *c, int i, enum deed deed);

/* Waits until it is done: the call's result. */
int company_answer(struct company *c, int i);
bool company_keeps_errno(struct company *c, int i); /* did the deed leave errno as it was? */
bool company_has_answered(struct company *c, int i);

int company_tell(struct company *c, int i, enum deed deed);

/* Asks, and waits until actor i sleeps on the mutex. */
void company_park(struct company *c, int i, enum deed deed);
bool company_sees_asleep(struct company *c, int i);

void company_deadline(struct company *c, int i, clockid_t clock, struct timespec abs);
void company_rounds(struct company *c, int i, int rounds);

/* Sends a signal to actor i. The handler, installed in every actor for SIGUSR1, does nothing and does not restart
 * calls. */
void company_signal(struct company *c, int i);
pid_t company_tid(struct company *c, int i);

/* Puts the caller and actor i on one CPU, the caller first: actor i, when it is woken, does not run before the caller
 * sleeps, unless the kernel thinks that it has been kept from running for too long. False: real-time scheduling is not
 * permitted; it may run. */
bool company_yields_to_caller(struct company *c, int i);

/* Everybody leaves; the mutex must be at rest. */
void company_part(struct company *c);

#endif
