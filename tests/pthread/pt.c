/* SPDX-License-Identifier: MIT
 *
 * pt.c - cases, and threads that are seen asleep
 */
#include "pt.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_PER_CASE 30

#define AT_ONCE 8 /* cases: they sleep most of the time */

/* What the children write, and what the parent knows of them. */
static struct line {
	char text[4096];
	char name[200];
	pid_t pid;
} * lines, *line;

static int n_begun, n_told;
static const char *only;

/* ---------------------------------------------------------------- what is said */

void pt_word(const char *word)
{
	size_t n = strlen(line->text);

	snprintf(line->text + n, sizeof(line->text) - n, " %s", word);
}

void pt_number(long n)
{
	char word[24];

	snprintf(word, sizeof(word), "%ld", n);
	pt_word(word);
}

static void says(int rc, bool is_errno_kept)
{
	const char *name = rc ? strerrorname_np(rc) : "0";

	if (name)
		pt_word(name);
	else
		pt_number(rc);
	if (!is_errno_kept)
		pt_word("(errno changed)");
}

int pt_answer(int rc)
{
	says(rc, errno == PT_ERRNO);
	return rc;
}

int pt_answer_errno(int rc)
{
	if (!rc) {
		says(0, errno == PT_ERRNO);
		return 0;
	}
	if (rc != -1)
		pt_word("not -1, but");
	says(errno, true);
	return rc;
}

/* ---------------------------------------------------------------- cases */

static void tell_end(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf(" ... waits for ever");
	else if (WIFSIGNALED(status))
		printf(" ... dies of SIG%s", sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		printf(" ... exits with %d", WEXITSTATUS(status));
}

/* In the order in which they began. */
static void tell_oldest(void)
{
	struct line *l = &lines[n_told++ % AT_ONCE];
	int status = -1;

	if (waitpid(l->pid, &status, 0) != l->pid) {
		perror("check_pthread: waitpid");
		exit(1);
	}
	printf("%s:%s", l->name, l->text);
	tell_end(status);
	printf("\n");
}

void pt_case(const char *subject, const char *sentence, void (*body)(const void *), const void *arg)
{
	char name[sizeof(line->name)];
	pid_t pid;

	snprintf(name, sizeof(name), "%s: %s", subject, sentence);
	if (only && !strstr(name, only))
		return;
	if (n_begun - n_told == AT_ONCE)
		tell_oldest();
	line = &lines[n_begun++ % AT_ONCE];
	line->text[0] = 0;
	strcpy(line->name, name);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		alarm(SECONDS_PER_CASE);
		body(arg);
		_exit(0);
	}
	if (pid < 0) {
		perror("check_pthread: fork");
		exit(1);
	}
	line->pid = pid;
}

int pt_main(int argc, char **argv, void (*const families[])(void))
{
	if (argc == 3 && !strcmp(argv[1], "--only")) {
		only = argv[2];
	} else if (argc != 1) {
		fprintf(stderr, "usage: %s [--only PART-OF-LINE]\n", argv[0]);
		return 2;
	}
	lines = mmap(NULL, sizeof(*lines) * AT_ONCE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lines == MAP_FAILED)
		return 1;
	for (int i = 0; families[i]; i++)
		families[i]();
	while (n_told < n_begun)
		tell_oldest();
	return fflush(stdout) ? 1 : 0;
}

/* ---------------------------------------------------------------- threads */

static void *runs(void *arg)
{
	struct pt_thread *t = arg;

	__atomic_store_n(&t->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	errno = PT_ERRNO;
	t->result = t->call(t->arg);
	t->is_errno_kept = errno == PT_ERRNO;
	__atomic_store_n(&t->is_back, true, __ATOMIC_RELEASE);
	return NULL;
}

void pt_start(struct pt_thread *t, int (*call)(void *), void *arg)
{
	t->call = call;
	t->arg = arg;
	t->tid = 0;
	t->is_back = false;
	if (pthread_create(&t->thread, NULL, runs, t)) {
		perror("check_pthread: pthread_create");
		_exit(1);
	}
}

/* Blocked in a call of the futex family: the kernel shows the number only of a thread that is off its CPU. Where it may
 * not be read, the state has to do. */
static bool is_asleep(pid_t tid)
{
	char path[64], text[256] = "";
	const char *end;
	long nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0) {
		close(fd);
		return sscanf(text, "%ld", &nr) == 1 && (nr == SYS_futex || nr == 449 || nr == 455);
	}
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = 0;
	if (fd >= 0)
		close(fd);
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

bool pt_sees_asleep(struct pt_thread *t)
{
	struct timespec moment = { 0, 10000 };
	pid_t tid;

	while (!__atomic_load_n(&t->is_back, __ATOMIC_ACQUIRE)) {
		tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
		if (tid && is_asleep(tid))
			return true;
		nanosleep(&moment, NULL);
		if (moment.tv_nsec < 150000)
			moment.tv_nsec *= 2;
	}
	return false;
}

void pt_waits(struct pt_thread *t)
{
	if (pt_sees_asleep(t)) {
		pt_word("waits");
		return;
	}
	pt_word("returns");
	says(t->result, t->is_errno_kept);
}

void pt_finish(struct pt_thread *t)
{
	pthread_join(t->thread, NULL);
	says(t->result, t->is_errno_kept);
}

void pt_elsewhere(int (*call)(void *), void *arg)
{
	struct pt_thread t;

	pt_start(&t, call, arg);
	pt_finish(&t);
}

void pt_in_child(int (*call)(void *), void *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		alarm(SECONDS_PER_CASE / 2);
		_exit(call(arg));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		pt_word("dies");
	else
		says(WEXITSTATUS(status), true);
}

/* ---------------------------------------------------------------- times and memory */

struct timespec pt_time(clockid_t clock, enum when when)
{
	struct timespec t;

	clock_gettime(clock, &t);
	switch (when) {
	case WHEN_PAST:
		t.tv_sec -= 1;
		break;
	case WHEN_NEGATIVE:
		t.tv_sec = -1;
		break;
	case WHEN_NSEC_LOW:
		t.tv_nsec = -1;
		break;
	case WHEN_NSEC_HIGH:
		t.tv_nsec = 1000000000;
		break;
	case WHEN_BOTH:
		t = (struct timespec){ -1, -1 };
		break;
	case WHEN_SOON:
		t.tv_nsec += 10000000;
		t.tv_sec += t.tv_nsec / 1000000000;
		t.tv_nsec %= 1000000000;
		break;
	case WHEN_LATE:
		t.tv_sec += 3600;
		break;
	default:
		t.tv_sec = sizeof(time_t) == 8 ? (time_t)INT64_MAX : (time_t)INT32_MAX;
		break;
	}
	return t;
}

void *pt_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return memset(p, 0xa5, size);
}
