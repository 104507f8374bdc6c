/* SPDX-License-Identifier: MIT
 *
 * watchdog.h - no run hangs, and nothing is left behind
 */
#ifndef HANDOFF_WATCHDOG_H
#define HANDOFF_WATCHDOG_H

/* Sees to it that System V semaphores are removed when the program is interrupted or terminated. */
void watchdog_install(void);

/* From now on, ends the program with a message and exit code 1 after `seconds`, unless disarmed first. `what`
 * is for the message. */
void watchdog_arm(double seconds, const char *what);
void watchdog_disarm(void);

/* In a child process: dies with its parent, and as the parent's signals would have it; leaves the parent's
 * semaphores alone. */
void watchdog_child(int parent);

#endif
