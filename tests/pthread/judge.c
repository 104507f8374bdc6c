/* SPDX-License-Identifier: MIT
 *
 * judge.c - sentences, processes, verdicts
 */
#include "judge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed;
static volatile int at_round;

void judge_round(int round)
{
	at_round = round;
}

static void tell(const char *what)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "%s (round %d, seed %llu)\n", what, at_round, (unsigned long long)seed);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(2);
}

void judge_fails(const char *file, int line, const char *what)
{
	char text[250];

	snprintf(text, sizeof(text), "%s:%d: %s", file, line, what);
	tell(text);
	_exit(1);
}

static void out_of_time(int sig)
{
	(void)sig;
	tell("it hangs");
	_exit(1);
}

uint64_t judge_seed(void)
{
	return seed;
}

uint32_t judge_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 24);
}

void judge_dawdle(uint64_t *state, uint32_t most)
{
	for (volatile uint32_t n = judge_random(state) % (most + 1); n; n--)
		;
}

/* 0: it ended well. */
static int ends(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

void judge_in_child(void (*body)(void *), void *arg)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		alarm(60);
		body(arg);
		_exit(0);
	}
	must(ends(pid) == 0);
}

static int run(const struct judged *t, bool is_long, unsigned int limit)
{
	struct sigaction sa = { .sa_handler = out_of_time };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		sigaction(SIGALRM, &sa, NULL);
		alarm(limit);
		t->body(is_long ? t->many : t->usual);
		_exit(0);
	}
	status = ends(pid);
	if (status)
		printf("FAILED: %s: %s %d\n", t->sentence, WIFSIGNALED(status) ? "signal" : "exit",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return status;
}

int judge_main(int argc, char **argv, const struct judged *tests, int n)
{
	unsigned int limit = 0;
	const char *only = "";
	bool is_long = false;
	int passed = 0, failed = 0;

	seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--long")) {
			is_long = true;
		} else if (i + 1 < argc && !strcmp(argv[i], "--seed")) {
			seed = strtoull(argv[++i], NULL, 0);
		} else if (i + 1 < argc && !strcmp(argv[i], "--only")) {
			only = argv[++i];
		} else if (i + 1 < argc && !strcmp(argv[i], "--limit")) {
			limit = (unsigned int)atoi(argv[++i]);
		} else {
			fprintf(stderr, "usage: %s [--long] [--seed N] [--only PART] [--limit SECONDS]\n", argv[0]);
			return 2;
		}
	}
	printf("--seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < n; i++) {
		if (!strstr(tests[i].sentence, only))
			continue;
		if (run(&tests[i], is_long, limit ? limit : is_long ? 1200 : 120))
			failed++;
		else
			passed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}
