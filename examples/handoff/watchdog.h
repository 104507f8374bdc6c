/* SPDX-License-Identifier: MIT
 *
 * watchdog.h - no run hangs, and nothing is left behind
 */
#ifndef HANDOFF_WATCHDOG_H
#define HANDOFF_WATCHDOG_H

/* Sees to it that `cleanup` is called when the program is interrupted or terminated, or given up. It must be safe in a signal
 * handler; NULL if there is nothing to do. */
void watchdog_install(void (*cleanup)(void));

/* From now on, ends the program with a message and exit code 1 after `seconds`, unless disarmed first. `what`
 * is for the message. */
void watchdog_arm(double seconds, const char *what);
void watchdog_disarm(void);

/* Ends the program at once, whatever other threads do, with exit code 1. */
__attribute__((noreturn)) void watchdog_give_up(void);

/* In a child process: dies with its parent, and as the parent's signals would have it; leaves to the parent what
 * there is to clean up. */
void watchdog_child(int parent);

#endif
