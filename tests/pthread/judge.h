/* SPDX-License-Identifier: MIT
 *
 * judge.h - programs that judge a pthread library, whichever it is
 *
 * A test is a sentence, a process and a time limit: a hang is a failure. The last line is "N passed, M failed". No test asks which
 * library it runs on; all must pass on the C library's own.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "pt.h"

struct judged {
	const char *sentence;
	void (*body)(int rounds);
	int usual, many; /* rounds, and with --long */
};

/* Options: --long, --seed N, --only PART, --limit SECONDS. */
int judge_main(int argc, char **argv, const struct judged *tests, int n);

/* A verdict, from any thread: prints and ends the process. */
#define must(cond) ((cond) ? (void)0 : judge_fails(__FILE__, __LINE__, #cond))
void judge_fails(const char *file, int line, const char *what) __attribute__((noreturn));

/* What a round is at, for the message. */
void judge_round(int round);

/* A child process does it; it must end well. */
void judge_in_child(void (*body)(void *), void *arg);

/* From the seed; each thread its own state. */
uint64_t judge_seed(void);
uint32_t judge_random(uint64_t *state);

/* Works for a moment: up to `most` steps. */
void judge_dawdle(uint64_t *state, uint32_t most);

#endif
