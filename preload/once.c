/* SPDX-License-Identifier: MIT
 *
 * once.c - pthread_once
 *
 * The control word is always private and starts as zero: all of them are ours.
 */
#include "host.h"
#include "overlay.h"

struct call {
	void (*init)(void);
};

static void do_call(void *arg)
{
	((const struct call *)arg)->init();
}

NP_EXPORT int DOOR(pthread_, once)(pthread_once_t *o, void (*init)(void))
{
	struct call c = { init };

	return np_is_active() ? nlock_once((nlock_once_t *)o, do_call, &c) : host(pthread_once)(o, init);
}

NP_OLD_NAME(__pthread_once, pthread_once);
