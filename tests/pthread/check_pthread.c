/* SPDX-License-Identifier: MIT
 *
 * check_pthread.c - what a pthread library says, to be compared
 *
 * See pt.h. check_pthread.sh runs it and compares.
 */
#include "pt.h"

#include <string.h>

void ask_mutex(void);
void ask_cond(void);
void ask_rwlock(void);
void ask_barrier(void);
void ask_sem(void);
void ask_once(void);
void ask_c11(void);
void ask_alias(void);
int sem_other_side(const char *name);

int main(int argc, char **argv)
{
	static void (*const families[])(void) = {
		ask_mutex, ask_cond, ask_rwlock, ask_barrier, ask_sem, ask_once, ask_c11, ask_alias, NULL,
	};

	if (argc == 3 && !strcmp(argv[1], "--other-side"))
		return sem_other_side(argv[2]);
	return pt_main(argc, argv, families);
}
