/* SPDX-License-Identifier: MIT
 *
 * check_filter.c - tier 3: system-call filters that forbid futex2, and NLOCK_FUTEX=legacy
 *
 * A filter that was there from the start: the other test programs, which stand beside this one, are run under it. One
 * that comes after the first use: in this process.
 */
#include "harness.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- from the start */

static const struct set {
	const char *name;
	long calls[4];
	int n;
} sets[] = {
	{ "449 454 455 456", { 449, 454, 455, 456 }, 4 },
	{ "449", { 449 }, 1 },
	{ "454", { 454 }, 1 },
	{ "455", { 455 }, 1 },
	{ "456", { 456 }, 1 },
};

/* The child's part: never returns. */
static void become(const char *program, const char *const *options, const struct filter *f, bool legacy)
{
	char path[PATH_MAX], option[] = "--seed", seed[24], *argv[12] = { path, option, seed };
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int argc = 3;

	if (n < 0)
		_exit(1);
	path[n] = 0;
	dirname(path);
	strncat(path, "/", sizeof(path) - strlen(path) - 1);
	strncat(path, program, sizeof(path) - strlen(path) - 1);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)harness_seed());
	while (*options)
		argv[argc++] = (char *)(uintptr_t)*options++;
	if (legacy)
		setenv("NLOCK_FUTEX", "legacy", 1);
	if (f && harness_filter(f)) {
		perror("check_filter: no filter");
		_exit(EXIT_CANNOT);
	}
	execv(path, argv);
	perror(path);
	_exit(1);
}

/* Tells what a program said: its last lines if all is well, else all. */
static void tell(const char *heading, FILE *from, bool all)
{
	char line[512];

	printf("  %s:\n", heading);
	while (fgets(line, sizeof(line), from)) {
		if (all || !strncmp(line, "ROWS:", 5) || !strncmp(line, "SKIP:", 5) || strstr(line, "Checks:") ||
		    strstr(line, "tests,"))
			printf("      %s", line);
	}
	fflush(stdout);
}

/* Runs a program under a filter (or none). */
static void run(const char *heading, const char *program, const char *const *options, const struct filter *f,
		bool legacy)
{
	FILE *said = tmpfile();
	char title[128];
	int status = -1;
	pid_t pid;

	must(said != NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		dup2(fileno(said), STDOUT_FILENO);
		dup2(fileno(said), STDERR_FILENO);
		become(program, options, f, legacy);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid);
	rewind(said);
	snprintf(title, sizeof(title), "%s %s", heading, program);
	tell(title, said, status);
	fclose(said);
	must(!status, "%s: wait status 0x%x", title, status);
}

static const char *const core[] = { "--core", NULL };
static const char *const core_fifo[] = { "--core", "--rows", "FIFO ", NULL };

static bool has_filters(void)
{
	static const long none[1];
	const struct filter f = { .answer = ANSWER_ERRNO, .calls = none, .n_calls = 0 };

	return !harness_filter(&f);
}

/* All calls at once, then, if wanted, each alone. */
static void refuse_with(const char *name, int error, bool also_alone)
{
	if (!has_filters())
		cannot("no system-call filters");
	for (int i = 0; i < (also_alone ? COUNT(sets) : 1); i++) {
		const struct filter f = {
			.answer = ANSWER_ERRNO, .error = error, .calls = sets[i].calls, .n_calls = sets[i].n
		};
		char heading[64];

		snprintf(heading, sizeof(heading), "%s for %s,", name, sets[i].name);
		run(heading, "check_wait", core, &f, false);
		run(heading, "check_mutex", i ? core_fifo : core, &f, false);
		if (!i)
			run(heading, "check_end_of_life", core, &f, false);
	}
}

TEST(calls_that_do_not_exist_are_done_without)
{
	refuse_with("ENOSYS", ENOSYS, true);
}

TEST(calls_that_are_not_permitted_are_done_without)
{
	refuse_with("EPERM", EPERM, true);
}

TEST(calls_that_are_denied_access_are_done_without)
{
	refuse_with("EACCES", EACCES, false);
}

TEST(calls_that_find_everything_invalid_are_done_without)
{
	refuse_with("EINVAL", EINVAL, false);
}

static const char *const nothing_special[] = { NULL };

TEST(legacy_mode_passes_all)
{
	run("NLOCK_FUTEX=legacy,", "check_wait", nothing_special, NULL, true);
	run("NLOCK_FUTEX=legacy,", "check_mutex", nothing_special, NULL, true);
	run("NLOCK_FUTEX=legacy,", "check_end_of_life", nothing_special, NULL, true);
}

/* The other primitives stand on the same wait.c: once by choice, once because there is no futex2. */
static void passes_on_futex1(const char *program)
{
	const struct filter f = {
		.answer = ANSWER_ERRNO, .error = ENOSYS, .calls = sets[0].calls, .n_calls = sets[0].n
	};

	run("NLOCK_FUTEX=legacy,", program, nothing_special, NULL, true);
	if (!has_filters())
		cannot("no system-call filters");
	run("ENOSYS for all,", program, nothing_special, &f, false);
}

TEST(cond_passes_on_futex1)
{
	passes_on_futex1("check_cond");
}

TEST(rwlock_passes_on_futex1)
{
	passes_on_futex1("check_rwlock");
}

TEST(barrier_passes_on_futex1)
{
	passes_on_futex1("check_barrier");
}

TEST(sem_passes_on_futex1)
{
	passes_on_futex1("check_sem");
}

TEST(once_passes_on_futex1)
{
	passes_on_futex1("check_once");
}

/* Under a filter that kills at the first futex2 call. */
TEST(legacy_mode_makes_no_futex2_call)
{
	const struct filter f = { .answer = ANSWER_KILL, .calls = sets[0].calls, .n_calls = sets[0].n };

	if (!has_filters())
		cannot("no system-call filters");
	run("NLOCK_FUTEX=legacy, or die,", "check_wait", core, &f, true);
	run("NLOCK_FUTEX=legacy, or die,", "check_mutex", core, &f, true);
}

/* ---------------------------------------------------------------- after the first use */

/* Waiters that fell asleep before the filter came are woken after it, and new ones sleep. False: there are no filters. */
static bool filter_comes(const struct row *row, const struct set *set, int error)
{
	const struct filter f = { .answer = ANSWER_ERRNO,
				  .error = error,
				  .calls = set->calls,
				  .n_calls = set->n,
				  .is_for_all_threads = true };
	struct company *c = company_meet(row, 4, THREADS);
	struct scene *s = company_scene(c);
	int rc;

	must_be(nlock_mutex_lock(&s->m), 0);
	for (int i = 0; i < 3; i++)
		company_park(c, i, DO_VISIT_FAIR);
	rc = harness_filter(&f);
	if (rc < 0)
		return false;
	must_be(rc, 0);
	company_park(c, 3, DO_VISIT_FAIR);
	must_be(nlock_mutex_unlock_fair(&s->m), 0);
	for (int i = 0; i < 4; i++) {
		must_be(company_answer(c, i), 0);
		must_be(s->order[i], i);
	}
	for (int i = 0; i < 4; i++) {
		company_rounds(c, i, harness_rounds(300, 20000));
		company_ask(c, i, DO_WORK);
	}
	for (int i = 0; i < 4; i++)
		must_be(company_answer(c, i), 0);
	must_be(s->left, 4 * (uint64_t)harness_rounds(300, 20000) + 4);
	must_be(nlock_mutex_lock(&s->m), 0);
	company_park(c, 0, DO_VISIT);
	must_be(nlock_mutex_unlock_fair(&s->m), 0);
	must_be(company_answer(c, 0), 0);
	company_part(c);
	return true;
}

struct late {
	const struct row *row;
	const struct set *set;
	int error;
};

static int late_child(void *arg)
{
	const struct late *l = arg;

	return filter_comes(l->row, l->set, l->error) ? 0 : EXIT_CANNOT;
}

ROW_TEST(filter_that_comes_after_the_first_use_is_survived)
{
	static const int errors[] = { ENOSYS, EPERM, EACCES, EINVAL };
	uint64_t rnd = harness_random_start(row->attr);
	uint32_t first = harness_random(&rnd);

	for (int i = 0; i < COUNT(sets); i++) {
		struct late l = { row, &sets[i], errors[(first + (uint32_t)i) % COUNT(errors)] };
		int status = harness_child(late_child, &l);

		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
			cannot("no system-call filters");
		must(!status, "filter for %s, wait status 0x%x", sets[i].name, status);
	}
}

/* ---------------------------------------------------------------- a broadcast that cannot move its waiters any more */

enum { CROWD = 6 };

struct crowd {
	nlock_cond_t c;
	nlock_mutex_t m;
	bool is_released; /* guarded by m, as is what follows */
	int through;
	pid_t tid[CROWD];
};

struct member {
	struct crowd *crowd;
	pid_t *tid;
};

static void *waits_in_crowd(void *arg)
{
	const struct member *self = arg;
	struct crowd *k = self->crowd;

	nlock_mutex_lock(&k->m);
	__atomic_store_n(self->tid, harness_tid(), __ATOMIC_RELEASE);
	while (!k->is_released)
		nlock_cond_wait(&k->c, &k->m);
	k->through++;
	nlock_mutex_unlock(&k->m);
	return NULL;
}

/* They fall asleep before the filter comes, and the mutex is held. */
static int broadcasts_under_late_filter(void *arg)
{
	const struct late *l = arg;
	const struct filter f = { .answer = ANSWER_ERRNO,
				  .error = l->error,
				  .calls = l->set->calls,
				  .n_calls = l->set->n,
				  .is_for_all_threads = true };
	struct crowd k = { .c = NLOCK_COND_INIT };
	struct member member[CROWD];
	pthread_t thread[CROWD];

	for (int i = 0; i < CROWD; i++) {
		member[i] = (struct member){ &k, &k.tid[i] };
		if (pthread_create(&thread[i], NULL, waits_in_crowd, &member[i]))
			return 1;
		while (!__atomic_load_n(&k.tid[i], __ATOMIC_ACQUIRE))
			sched_yield();
		if (!harness_sees_asleep(getpid(), k.tid[i], &k.c.gate))
			return 2;
	}
	nlock_mutex_lock(&k.m);
	if (harness_filter(&f))
		return EXIT_CANNOT;
	k.is_released = true;
	if (nlock_cond_broadcast(&k.c) || nlock_mutex_unlock(&k.m))
		return 3;
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
	return k.through != CROWD || nlock_cond_destroy(&k.c) || nlock_mutex_destroy(&k.m) ? 4 : 0;
}

TEST(broadcast_whose_move_is_refused_wakes_all)
{
	static const int errors[] = { ENOSYS, EPERM, EACCES, EINVAL };

	for (int i = 0; i < COUNT(sets) * COUNT(errors); i++) {
		struct late l = { NULL, &sets[i / COUNT(errors)], errors[i % COUNT(errors)] };
		int status = harness_child(broadcasts_under_late_filter, &l);

		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT)
			cannot("no system-call filters");
		must(!status, "filter for %s, wait status 0x%x", l.set->name, status);
	}
}

static const struct test tests[] = {
	ONCE(calls_that_do_not_exist_are_done_without),
	ONCE(calls_that_are_not_permitted_are_done_without),
	ONCE(calls_that_are_denied_access_are_done_without),
	ONCE(calls_that_find_everything_invalid_are_done_without),
	ONCE(legacy_mode_passes_all),
	ONCE(cond_passes_on_futex1),
	ONCE(rwlock_passes_on_futex1),
	ONCE(barrier_passes_on_futex1),
	ONCE(sem_passes_on_futex1),
	ONCE(once_passes_on_futex1),
	ONCE(legacy_mode_makes_no_futex2_call),
	EACH_HASH(filter_that_comes_after_the_first_use_is_survived),
	ONCE(broadcast_whose_move_is_refused_wakes_all),
};

int main(int argc, char **argv)
{
	harness_rows();
	return harness_main(argc, argv, "filter", tests, COUNT(tests));
}
