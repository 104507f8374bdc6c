/* SPDX-License-Identifier: MIT
 *
 * atomic.h - the seam: what lib/atomic.h and lib/wait.h offer, led into the explorer
 *
 * Forced (-include) on a file of lib/, this header takes lib/atomic.h's include guard and its names. Each use becomes a site of
 * its own, with file, line and order. The functions of wait.h keep their declarations and are called through macros for
 * the same reason; futex.c implements them.
 */
#ifndef NL_ATOMIC_H
#define NL_ATOMIC_H

#include "explore.h"

#include "../../lib/wait.h"

enum nl_outcome x_wait(uint32_t *p, nlock_attr_t attr, uint32_t expected, uint32_t lane, const struct nl_deadline *d,
		       struct x_site *s);
int x_wake(uint32_t *p, nlock_attr_t attr, int n, uint32_t lanes, struct x_site *s);
bool x_move(uint32_t *from, uint32_t expected, uint32_t *to, int n, struct x_site *s);
bool x_enter(uint32_t *p, nlock_attr_t attr, uint32_t *seen, uint32_t v, struct x_site *s);
bool x_is_foreign(const uint32_t *p, nlock_attr_t attr, struct x_site *s);
bool x_adopt(uint32_t *p, uint32_t *seen, uint32_t v, struct x_site *s);

#define nl_load_rlx(p)       x_load(p, sizeof(*(p)), X_SITE("load " #p, X_RLX))
#define nl_load_acq(p)       x_load(p, sizeof(*(p)), X_SITE("load " #p, X_ACQ))
#define nl_store_rlx(p, v)   x_store(p, sizeof(*(p)), v, X_SITE("store " #p, X_RLX))
#define nl_fresh_rlx(p)      x_add(p, sizeof(*(p)), 0, X_SITE("fresh " #p, X_RLX))
#define nl_load8_rlx(p)     nl_load_rlx(p)
#define nl_store8_rlx(p, v) nl_store_rlx(p, v)

#define nl_cas_rlx(p, seen, v) x_cas(p, seen, v, X_SITE("cas " #v, X_RLX))
#define nl_cas_acq(p, seen, v) x_cas(p, seen, v, X_SITE("cas " #v, X_ACQ))
#define nl_cas_rel(p, seen, v) x_cas(p, seen, v, X_SITE("cas " #v, X_REL))

/* Not in lib/atomic.h: what planted faults make of the next one. */
#define nl_add_rlx(p, n)          x_add(p, sizeof(*(p)), n, X_SITE("add " #p, X_RLX))
#define nl_add_rel(p, n)          x_add(p, sizeof(*(p)), n, X_SITE("add " #p, X_REL))
#define nl_add_acqrel(p, n)       x_add(p, sizeof(*(p)), n, X_SITE("add " #p, X_ACQ_REL))

#define nl_load64_rlx(p)            x_load64(p, X_SITE("load " #p, X_RLX))
#define nl_load64_acq(p)            x_load64(p, X_SITE("load " #p, X_ACQ))
#define nl_store64_rlx(p, v)        x_store64(p, v, X_SITE("store " #p, X_RLX))
#define nl_fresh64_rlx(p)           x_fresh64(p, X_SITE("fresh " #p, X_RLX))
#define nl_cas64_rlx(p, seen, v)    x_cas64(p, seen, v, X_SITE("cas " #v, X_RLX))
#define nl_cas64_acq(p, seen, v)    x_cas64(p, seen, v, X_SITE("cas " #v, X_ACQ))
#define nl_cas64_rel(p, seen, v)    x_cas64(p, seen, v, X_SITE("cas " #v, X_REL))
#define nl_cas64_acqrel(p, seen, v) x_cas64(p, seen, v, X_SITE("cas " #v, X_ACQ_REL))

#define nl_own_get(p)    X_GET(p, X_SITE("get " #p, X_RLX))
#define nl_own_set(p, v) X_SET(p, v, X_SITE("set " #p, X_RLX))
#define nl_pause()       x_pause()

#define nl_wait(p, attr, expected, lane, d) x_wait(p, attr, expected, lane, d, X_SITE("wait " #lane, X_RLX))
#define nl_wake(p, attr, n, lanes)          x_wake(p, attr, n, lanes, X_SITE("wake " #lanes, X_RLX))
#define nl_move(from, expected, to, n)      x_move(from, expected, to, n, X_SITE("move to " #to, X_RLX))
#define nl_wait_enter(p, attr, seen, v)     x_enter(p, attr, seen, v, X_SITE("enter " #v, X_RLX))
#define nl_wait_is_foreign(p, attr)         x_is_foreign(p, attr, X_SITE("is foreign?", X_RLX))
#define nl_wait_adopt(p, seen, v)           x_adopt(p, seen, v, X_SITE("adopt " #v, X_RLX))

#endif
