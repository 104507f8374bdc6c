/* SPDX-License-Identifier: MIT
 *
 * lmdb_kill.c DIRECTORY N - four processes count in an LMDB file; four more are killed inside a transaction
 *
 * The writers share a robust, process-shared mutex that LMDB keeps in its lock file. Who gets it after an owner was killed finds
 * EOWNERDEAD, and what the dead one had not committed is not there. At the end the counter is what was committed.
 */
#define _GNU_SOURCE
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, VICTIMS = 4 };

static void need(int rc, const char *what)
{
	if (rc) {
		printf("FAIL: %s: %s\n", what, mdb_strerror(rc));
		fflush(stdout);
		_exit(1);
	}
}

static MDB_env *open_env(const char *dir)
{
	MDB_env *env;

	need(mdb_env_create(&env), "mdb_env_create");
	need(mdb_env_set_mapsize(env, 1 << 24), "mdb_env_set_mapsize");
	need(mdb_env_open(env, dir, MDB_NOSYNC, 0600), "mdb_env_open");
	return env;
}

/* The counter, and `more` added to it in the same transaction. With `die`, the process ends while it owns the mutex. */
static unsigned long count(MDB_env *env, unsigned long more, int die)
{
	MDB_val key = { 7, "counter" }, value;
	unsigned long n = 0;
	MDB_txn *txn;
	MDB_dbi dbi;
	int rc;

	need(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
	need(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
	rc = mdb_get(txn, dbi, &key, &value);
	if (rc != MDB_NOTFOUND) {
		need(rc, "mdb_get");
		memcpy(&n, value.mv_data, sizeof(n));
	}
	n += more;
	value.mv_size = sizeof(n);
	value.mv_data = &n;
	need(mdb_put(txn, dbi, &key, &value, 0), "mdb_put");
	if (die)
		kill(getpid(), SIGKILL);
	need(mdb_txn_commit(txn), "mdb_txn_commit");
	return n;
}

/* An environment must not be taken over a fork: each child opens its own. */
static pid_t child(const char *dir, unsigned long n, int die)
{
	pid_t pid = fork();

	if (pid == 0) {
		MDB_env *env = open_env(dir);

		for (unsigned long i = 0; i < n; i++)
			count(env, 1, 0);
		if (die)
			count(env, 1000000, 1);
		mdb_env_close(env);
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, got;
	int killed = 0, ended = 0, status;
	MDB_env *env;

	if (!n)
		return 2;
	for (int i = 0; i < WRITERS; i++)
		child(argv[1], n, 0);
	for (int i = 0; i < VICTIMS; i++)
		child(argv[1], n / 8, 1);
	while (wait(&status) > 0) {
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	env = open_env(argv[1]);
	got = count(env, 0, 0);
	mdb_env_close(env);
	printf("%d killed, %d ended, counter %lu\n", killed, ended, got);
	return !(killed == VICTIMS && ended == WRITERS && got == WRITERS * n + VICTIMS * (n / 8));
}
