/* SPDX-License-Identifier: MIT
 *
 * watchdog.c - see watchdog.h
 */
#include "watchdog.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "args.h"

static const int ending[] = { SIGHUP, SIGINT, SIGTERM };

/* Written before the timer is armed, read by its handler. */
static char message[200];

static void clean_nothing(void)
{
}

static void (*cleanup)(void) = clean_nothing;

void watchdog_give_up(void)
{
	cleanup();
	_exit(1);
}

static void on_alarm(int sig)
{
	(void)sig;
	if (write(STDERR_FILENO, message, strlen(message)) < 0)
		watchdog_give_up();
	watchdog_give_up();
}

/* Cleans up and then ends in the way that the signal asks for. */
static void on_ending(int sig)
{
	cleanup();
	signal(sig, SIG_DFL);
	raise(sig);
}

void watchdog_install(void (*at_the_end)(void))
{
	struct sigaction sa = { .sa_handler = on_alarm };

	if (at_the_end)
		cleanup = at_the_end;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = on_ending;
	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
		struct sigaction old;

		/* What the parent wants ignored (nohup) stays ignored. */
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &sa, NULL);
	}
}

void watchdog_arm(double seconds, const char *what)
{
	struct itimerval timer = { .it_value = { .tv_sec = (time_t)ceil(seconds) } };

	snprintf(message, sizeof message, "%s: %s did not end within %.0f s: given up\n", program_name, what,
		 ceil(seconds));
	setitimer(ITIMER_REAL, &timer, NULL);
}

void watchdog_disarm(void)
{
	struct itimerval timer = { .it_value = { .tv_sec = 0 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

void watchdog_child(int parent)
{
	for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
		signal(ending[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}
