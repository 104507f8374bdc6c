/* SPDX-License-Identifier: MIT
 *
 * tdb_kill.c FILE N - four processes count in a TDB file with mutexes; four more are killed while they hold the chain's
 */
#define _GNU_SOURCE
#include <sys/types.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tdb.h>

enum { WRITERS = 4, VICTIMS = 4 };

static void need(bool ok, const char *what)
{
	if (!ok) {
		printf("FAIL: %s\n", what);
		fflush(stdout);
		_exit(1);
	}
}

static uint64_t count(struct tdb_context *tdb, uint64_t more, bool die)
{
	TDB_DATA key = { (unsigned char *)"counter", 7 }, value;
	uint64_t n = 0;

	need(!tdb_chainlock(tdb, key), "tdb_chainlock");
	if (die)
		kill(getpid(), SIGKILL);
	value = tdb_fetch(tdb, key);
	if (value.dptr)
		memcpy(&n, value.dptr, sizeof(n));
	free(value.dptr);
	n += more;
	value.dptr = (unsigned char *)&n;
	value.dsize = sizeof(n);
	need(!tdb_store(tdb, key, value, 0), "tdb_store");
	need(!tdb_chainunlock(tdb, key), "tdb_chainunlock");
	return n;
}

static void child(struct tdb_context *tdb, uint64_t n, bool die)
{
	if (fork() == 0) {
		need(!tdb_reopen(tdb), "tdb_reopen");
		for (uint64_t i = 0; i < n; i++)
			count(tdb, 1, false);
		if (die)
			count(tdb, 1000000, true);
		tdb_close(tdb);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	uint64_t n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, got;
	int killed = 0, ended = 0, status;
	struct tdb_context *tdb;

	if (!n)
		return 2;
	need(tdb_runtime_check_for_robust_mutexes(), "tdb thinks that there are no robust mutexes");
	tdb = tdb_open(argv[1], 0, TDB_CLEAR_IF_FIRST | TDB_MUTEX_LOCKING | TDB_INCOMPATIBLE_HASH, O_RDWR | O_CREAT,
		       0600);
	need(tdb, "tdb_open");
	for (int i = 0; i < WRITERS; i++)
		child(tdb, n, false);
	for (int i = 0; i < VICTIMS; i++)
		child(tdb, n / 8, true);
	while (wait(&status) > 0) {
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	got = count(tdb, 0, false);
	tdb_close(tdb);
	printf("%d killed, %d ended, counter %lu\n", killed, ended, (unsigned long)got);
	return !(killed == VICTIMS && ended == WRITERS && got == WRITERS * n + VICTIMS * (n / 8));
}
