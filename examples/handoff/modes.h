/* SPDX-License-Identifier: MIT
 *
 * modes.h - what ulockflex does besides an ordinary run; each returns an exit code
 */
#ifndef HANDOFF_MODES_H
#define HANDOFF_MODES_H

#include "options.h"

/* -T: does the guard speak when a lock is broken, and only then? */
int mode_selftest(const struct options *o);

/* --claims: E1 to E6. A claim that does not hold here is reported and is no failure: the machine may be busy or
 * small. */
int mode_claims(const struct options *o);

/* --demo: the experiment of 2002 in a quarter of a minute, in words. */
int mode_demo(const struct options *o);

#endif
