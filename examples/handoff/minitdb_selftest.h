/* SPDX-License-Identifier: MIT
 *
 * minitdb_selftest.h - a check that cannot fail is none
 */
#ifndef HANDOFF_MINITDB_SELFTEST_H
#define HANDOFF_MINITDB_SELFTEST_H

/* Damages a database in each way that database_verify knows, and prints what it says: an exit code. */
int database_selftest(void);

#endif
