/* SPDX-License-Identifier: MIT
 *
 * pt.h - what the programs share that ask a pthread library questions
 *
 * A case is a sentence and a function that makes calls. What these answer is printed behind the sentence, in order, as
 * names of errno values:
 *
 *	mutex, recursive: locked twice, unlocked three times: 0 0 0 0 EPERM
 *
 * Nothing is judged here: the same program runs on the host's library and on ours, and the lines are compared. So no line may
 * hold what differs from run to run. Each case has a process of its own; one that dies, or that nothing releases,
 * says so in its line.
 *
 * With PT_DOOR the names are those of <nlock-pthread.h>.
 */
#ifndef PT_H
#define PT_H

#ifdef PT_DOOR
#include <nlock-pthread.h>
#else
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#endif

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define PT_ERRNO 4711 /* what errno is before a call */

/* The answer of a call that returns it, and whether errno was left alone. */
#define ANSWER(call) (errno = PT_ERRNO, pt_answer(call))

/* Of one that returns -1 and sets errno. */
#define ANSWER_ERRNO(call) (errno = PT_ERRNO, pt_answer_errno(call))

void pt_case(const char *subject, const char *sentence, void (*body)(const void *), const void *arg);
int pt_answer(int rc);
int pt_answer_errno(int rc);
void pt_word(const char *word);
void pt_number(long n);

/* Runs the cases of each family; --only PART leaves out those without PART in their line. */
int pt_main(int argc, char **argv, void (*const families[])(void));

/* ---------------------------------------------------------------- other threads */

struct pt_thread {
	pthread_t thread;
	int (*call)(void *);
	void *arg;
	int result;
	bool is_errno_kept, is_back;
	pid_t tid;
};

/* Starts a thread that makes the call. */
void pt_start(struct pt_thread *t, int (*call)(void *), void *arg);

/* Sees it blocked, or back: true if it is blocked. */
bool pt_sees_asleep(struct pt_thread *t);

/* The same as a word of the answer: "waits", or "returns" and what. */
void pt_waits(struct pt_thread *t);

/* Joins it, and adds what the call said. */
void pt_finish(struct pt_thread *t);

/* What another thread, which then ends, is told. */
void pt_elsewhere(int (*call)(void *), void *arg);

/* Makes the call in a child process; the answer is added here. */
void pt_in_child(int (*call)(void *), void *arg);

/* ---------------------------------------------------------------- times */

enum when {
	WHEN_PAST,
	WHEN_NEGATIVE,
	WHEN_NSEC_LOW,
	WHEN_NSEC_HIGH,
	WHEN_BOTH,
	WHEN_SOON,
	WHEN_LATE,
	WHEN_HUGE,
	WHENS
};

struct timespec pt_time(clockid_t clock, enum when when);

/* Memory that processes share, not zero. */
void *pt_shared(size_t size);

#endif
