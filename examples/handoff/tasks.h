/* SPDX-License-Identifier: MIT
 *
 * tasks.h - what runs at once in an experiment: started as threads or as processes, let go together, stopped, waited for
 */
#ifndef HANDOFF_TASKS_H
#define HANDOFF_TASKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TASKS_MAX 4096

struct task {
	void (*body)(void *of);
	void *of;
	pthread_t thread;
	pid_t process;
};

/* Starts all, each with its body; does not return if it cannot. Waits for them: 0, or EIO if a process did not
 * end well. */
void tasks_start(struct task *tasks, unsigned n, bool processes);
int tasks_join(struct task *tasks, unsigned n, bool processes);

/* Holds the tasks back until all have come, and tells them when to stop. `shared`: between processes. */
struct gate {
	pthread_barrier_t start; /* the tasks and the one that takes the time */
	atomic_bool stop;
};

int gate_init(struct gate *g, unsigned tasks, bool shared); /* 0 or an errno value */
void gate_fini(struct gate *g);

/* By each task, before it works and while it does. */
void gate_pass(struct gate *g);

static inline bool gate_is_open(struct gate *g)
{
	return !atomic_load_explicit(&g->stop, memory_order_relaxed);
}

/* By the one that takes the time: lets the tasks go and stops them after so many seconds. Returns how many it really were.
 * Or in two steps, to do something in between: gate_go returns the time, and gate_stop takes it. */
double gate_run(struct gate *g, double seconds);
int64_t gate_go(struct gate *g);
double gate_stop(struct gate *g, int64_t since);

/* Sleeps until now_ns() would return `ns`. */
void sleep_until(int64_t ns);

#endif
