/* SPDX-License-Identifier: MIT
 *
 * selftest.c - the guard itself is tested: a check that cannot fail is none
 *
 * Two tasks and one schedule, forced and not left to chance: A enters its section and stays there until B has
 * been in its own. With a sound lock B cannot, so A gives up after a while and the guard must be silent. Then
 * the lock is broken on purpose: B asks for another lock than A. Now B does get in, and the guard must speak.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "modes.h"
#include "region.h"
#include "watchdog.h"

#define SOUND_NS  50000000    /* how long A waits in vain for B; longer only makes the test slower */
#define BROKEN_NS 10000000000 /* B comes long before */

enum { A_IS_IN = 1, B_HAS_BEEN = 2 };

static void wait_for_step(struct region *rg, int step, int64_t ns)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int64_t end = now_ns() + ns;

	while (atomic_load(&rg->step) < step && now_ns() < end)
		nanosleep(&nap, NULL);
}

/* Of the two cells only the first one's guard is used. The second one's lock is what B takes instead if the
 * lock is to be broken: then its cell pointer says so. */
static void selftest_body(struct worker *w)
{
	struct region *rg = w->region;
	struct guard *guard = &rg->cells[0].guard;
	bool is_a = w->id == 0, is_broken = rg->workers[1].cell != rg->cells;
	unsigned long section;

	if (!is_a)
		wait_for_step(rg, A_IS_IN, BROKEN_NS);
	rg->kind->lock(&w->cell->lock, &w->write);
	section = guard_enter(guard, &w->violations);
	if (is_a) {
		atomic_store(&rg->step, A_IS_IN);
		wait_for_step(rg, B_HAS_BEEN, is_broken ? BROKEN_NS : SOUND_NS);
	}
	guard_leave(guard, section, &w->violations);
	if (!is_a)
		atomic_store(&rg->step, B_HAS_BEEN);
	w->violations += rg->kind->unlock(&w->cell->lock) != 0;
}

/* Puts the number of violations into *found: 0, or what region_make says, or an errno value. */
static int try_lock(const struct config *cf, const struct lock_kind *kind, bool broken, uint64_t *found)
{
	struct region *rg;
	int err = region_make(&rg, cf, kind, 0);

	if (err)
		return err;
	rg->workers[0].cell = &rg->cells[0];
	rg->workers[1].cell = &rg->cells[broken];
	watchdog_arm(60, "the self-test");
	region_start(rg, selftest_body);
	err = region_join(rg);
	watchdog_disarm();
	*found = rg->workers[0].violations + rg->workers[1].violations + !guard_is_whole(&rg->cells[0].guard, 2);
	region_free(rg);
	return err;
}

static int selftest_lock(const struct options *o, const struct config *cf, const struct lock_kind *kind)
{
	bool has_lock = kind->letter != 'e';
	uint64_t sound = 0, broken = 0;
	int err = has_lock ? try_lock(cf, kind, false, &sound) : 0;

	if (!err)
		err = try_lock(cf, kind, true, &broken);
	if (err > 0) {
		fprintf(stderr, "ulockflex: the self-test of lock %c failed: %s\n", kind->letter, strerror(err));
		return EXIT_VIOLATION;
	}
	if (err) {
		fprintf(stderr, "ulockflex: lock %c cannot be had here: %s\n", kind->letter, strerror(-err));
		return EXIT_MISSING;
	}
	if (!o->quiet)
		printf("%c  sound: %s; broken on purpose: %s\n", kind->letter,
		       !has_lock ? "it never is"
		       : sound   ? "FALSE ALARM"
				 : "the guard is silent",
		       broken ? "found out" : "NOT FOUND OUT");
	return sound || !broken ? EXIT_VIOLATION : EXIT_DONE;
}

int mode_selftest(const struct options *o)
{
	struct config cf = o->config;
	int worst = EXIT_DONE;

	cf.tasks = 2;
	cf.locks = 2;
	for (unsigned k = 0; k < cf.kind_count; k++) {
		int code = selftest_lock(o, &cf, cf.kinds[k]);

		if (code == EXIT_VIOLATION || worst == EXIT_DONE)
			worst = code;
	}
	if (worst == EXIT_DONE)
		printf("self-test passed\n");
	else
		printf("%s\n", worst == EXIT_MISSING ? "self-test incomplete" : "SELF-TEST FAILED");
	return worst;
}
