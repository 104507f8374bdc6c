/* SPDX-License-Identifier: MIT
 *
 * lesson_profile.c - which experiments `nlock report' runs
 *
 * The letters of the locks are ulockflex's: its --help explains them. Each ratio is formed within one experiment, whose locks take
 * turns. The tasks of 2002 were processes: so they are here, too, where a claim of then is tried that does not also hold of threads.
 * An experiment that is added here is run; what is concluded from it and how it is shown stands in the other files.
 */
#include "lesson.h"

#define FLEX "ulockflex", "-f tsv -t %T "

/* clang-format off */
const struct experiment experiments[] = {
	{ "guard", "ulockflex", "-T -q", { 1, 1 }, { 3, 3 }, "locks that let two in on purpose: are they caught?" },
	{ "release", "release", "-f tsv -n 200 -c 4", { 1, 1 }, { 6, 6 }, "single releases, while the waiters are asleep for sure" },
	{ "alone", FLEX "-c 1 -r 0 -x 0 -L e,k,f,c,p", { 0.1, 0.5 }, { 4, 16 }, "one task alone: what a lock costs without contention" },
	{ "three", FLEX "-M proc -c 3 -r 2 -x 1 -L k,t,f,h,c,p -H %H", { 0.3, 1.5 }, { 13, 58 }, "three processes, 2 us outside and 1 us inside: the histories of 2002" },
	{ "empty-2", FLEX "-c 2 -r 0 -x 0 -L k,t,f,c,p", { 0.1, 1 }, { 4, 32 }, "two tasks in an empty loop: 5 March 2002" },
	{ "empty-3", FLEX "-c 3 -r 0 -x 0 -L k,t,f,c,p", { 0.2, 1 }, { 7, 32 }, "three tasks in an empty loop: the command of 6 March 2002" },
	{ "empty-100", FLEX "-c 100 -r 0 -x 0 -L k,t,f,c,p", { 0.2, 1 }, { 8, 36 }, "a hundred tasks in an empty loop: 5 March 2002" },
	{ "arrival-3", FLEX "-M proc -c 3 -r 10 -x 1 -L k,t,f,c,p", { 0.2, 1 }, { 7, 32 }, "three processes at realistic arrival: 5 March 2002" },
	{ "arrival-100", FLEX "-c 100 -r 10 -x 1 -L k,t,f,c,p", { 0.2, 1 }, { 8, 36 }, "a hundred tasks at realistic arrival: 5 March 2002" },
	{ "hundred", FLEX "-c 100 -r 9 -x 1 -L t,f,h,c,p", { 0.3, 2 }, { 11, 64 }, "a hundred tasks, 9 us outside and 1 us inside: local fairness" },
	{ "waits", FLEX "-M proc -c 100 -r 9 -x 1 -L t,f,h,c,p -W", { 0.3, 2 }, { 11, 64 }, "a hundred processes, and the time of each wait" },
	{ "spin", FLEX "-c %P -r 2 -x 1 -L t,T,f,c,C", { 0.2, 1 }, { 7, 32 }, "as many tasks as CPUs, and locks that spin" },
	{ "spin-more", FLEX "-c %Q -r 2 -x 1 -L t,T,f,c,C", { 0.2, 1 }, { 7, 32 }, "twice as many tasks as CPUs, and locks that spin" },
	{ "threads", FLEX "-c 3 -r 2 -x 1 -L t,c,p", { 0.2, 1 }, { 5, 20 }, "three threads in place of processes" },
	{ "convoy", "convoy", "-f tsv -c 8 -r 100 -x 1 -t 0.4 -L t,f,h,c", { 0.4, 0.4 }, { 9, 9 }, "one owner stalls once: a convoy is born" },
	{ "convoy-400", "convoy", "-f tsv -c 8 -r 400 -x 1 -t 0.4 -L t,f,h,c", { 0.4, 0.4 }, { 9, 9 }, "the same with fewer requests, where 100 us convoys by itself" },
	{ "convoy-sweep", "convoy", "-f tsv --sweep -t 0.4", { 0, 0.4 }, { 0, 22 }, "for how rare a request does a convoy stay?" },
	{ "starve", "starve", "-f tsv -t %T -L t,f,h,c,p", { 3, 6 }, { 15, 25 }, "one victim, three hogs that sleep with the lock" },
	{ "skew", "starve", "-f tsv --skew spin -t %T -L t,f,h,c,p", { 3, 6 }, { 8, 14 }, "one victim, one hog that works with the lock" },
	{ "rwshare", "rwshare", "-f tsv -t %T", { 0.05, 0.2 }, { 8, 30 }, "reader-writer locks by the share of reads: OLS 2002, figure 6" },
	{ "rwshare-3", "rwshare", "-f tsv -t %T -c 3", { 0, 0.2 }, { 0, 30 }, "the same with three tasks" },
	{ "rwshare-4", "rwshare", "-f tsv -t %T -c 4", { 0, 0.2 }, { 0, 30 }, "the same with four" },
	{ "rwshare-100", "rwshare", "-f tsv -t %T -c 100", { 0, 0.2 }, { 0, 34 }, "the same with a hundred" },
	{ "db-1", "minitdb", "-f tsv -c 6 -n 1000 -k 3 -H 1 -L t,f,h,c,p,l -M proc", { 1, 1 }, { 14, 14 }, "a database with one chain: OLS 2002, table 3" },
	{ "db-4096", "minitdb", "-f tsv -c 6 -n 5000 -k 3 -H 4096 -L t,f,h,c,p,l -M proc", { 1, 1 }, { 14, 14 }, "a database with 4096 chains" },
	{ "db-alone", "minitdb", "-f tsv -c 1 -n 3000 -k 3 -H 1 -L t,f,h,c,p,l -M proc", { 1, 1 }, { 6, 6 }, "a database that one process has for itself" },
	{ "numa-lock", "futex_numa", "-f tsv -t 2 -n 50000 -s %T -N", { 1, 1 }, { 1, 1 }, "the lock of 2023, whose waiters queue on a node" },
	{ "numa-words", "futex_numa", "-f tsv --words -s %T", { 0.2, 0.5 }, { 2, 5 }, "contenders on one word and on one a node" },
	{ "hash", "futex_hash", "--format tsv --table -r %T", { 0.05, 0.2 }, { 8, 26 }, "the size of the private hash" },
	{ "wake-global", "wakelat", "-f tsv -t 64 -r %T -i %T -w 0.5 -b 0", { 2, 5 }, { 3, 6 }, "schbench, global hash" },
	{ "wake", "wakelat", "-f tsv -t 64 -r %T -i %T -w 0.5", { 2, 5 }, { 3, 6 }, "schbench, private hash" },
	{ "rate-global", "wakelat", "-f tsv -L -m 4 -M auto -t 64 -n 0 -r %T -i %T -w 0.5 -b 0", { 2, 5 }, { 3, 6 }, "schbench's rate, global hash" },
	{ "rate", "wakelat", "-f tsv -L -m 4 -M auto -t 64 -n 0 -r %T -i %T -w 0.5", { 2, 5 }, { 3, 6 }, "schbench's rate, private hash" },
	{ "ols-2-0-10", FLEX "-c 2 -r 0 -x 10 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, two tasks" },
	{ "ols-2-5-5", FLEX "-c 2 -r 5 -x 5 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, two tasks" },
	{ "ols-2-7-3", FLEX "-c 2 -r 7 -x 3 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, two tasks" },
	{ "ols-2-9-1", FLEX "-c 2 -r 9 -x 1 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, two tasks" },
	{ "ols-3-0-10", FLEX "-c 3 -r 0 -x 10 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, three tasks" },
	{ "ols-3-5-5", FLEX "-c 3 -r 5 -x 5 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, three tasks" },
	{ "ols-3-7-3", FLEX "-c 3 -r 7 -x 3 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, three tasks" },
	{ "ols-3-9-1", FLEX "-c 3 -r 9 -x 1 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, three tasks" },
	{ "ols-4-0-10", FLEX "-c 4 -r 0 -x 10 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, four tasks" },
	{ "ols-4-5-5", FLEX "-c 4 -r 5 -x 5 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, four tasks" },
	{ "ols-4-7-3", FLEX "-c 4 -r 7 -x 3 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, four tasks" },
	{ "ols-4-9-1", FLEX "-c 4 -r 9 -x 1 -L k,t,f,c", { 0.1, 0.5 }, { 3, 13 }, "OLS 2002, four tasks" },
	{ "ols-100-0-10", FLEX "-c 100 -r 0 -x 10 -L k,t,f,c", { 0.1, 0.5 }, { 3, 14 }, "OLS 2002, a hundred tasks" },
	{ "ols-100-5-5", FLEX "-c 100 -r 5 -x 5 -L k,t,f,c", { 0.1, 0.5 }, { 3, 14 }, "OLS 2002, a hundred tasks" },
	{ "ols-100-7-3", FLEX "-c 100 -r 7 -x 3 -L k,t,f,c", { 0.1, 0.5 }, { 3, 14 }, "OLS 2002, a hundred tasks" },
	{ "ols-100-9-1", FLEX "-c 100 -r 9 -x 1 -L k,t,f,c", { 0.1, 0.5 }, { 3, 14 }, "OLS 2002, a hundred tasks" },
	{ "ols-1000-0-10", FLEX "-c 1000 -r 0 -x 10 -L k,t,f,c", { 0, 0.5 }, { 0, 22 }, "OLS 2002, a thousand tasks" },
	{ "ols-1000-5-5", FLEX "-c 1000 -r 5 -x 5 -L k,t,f,c", { 0, 0.5 }, { 0, 22 }, "OLS 2002, a thousand tasks" },
	{ "ols-1000-7-3", FLEX "-c 1000 -r 7 -x 3 -L k,t,f,c", { 0, 0.5 }, { 0, 22 }, "OLS 2002, a thousand tasks" },
	{ "ols-1000-9-1", FLEX "-c 1000 -r 9 -x 1 -L k,t,f,c", { 0, 0.5 }, { 0, 22 }, "OLS 2002, a thousand tasks" },
};
/* clang-format on */
const size_t experiment_count = sizeof experiments / sizeof experiments[0];
