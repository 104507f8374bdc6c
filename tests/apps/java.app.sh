# SPDX-License-Identifier: MIT
#
# java: monitors, java.util.concurrent and a small heap, under two collectors; the sums are right
packages=openjdk-17-jdk-headless programs='java javac' binds='pthread_mutex_lock pthread_mutex_trylock pthread_cond_wait sem_wait' limit=120 heavy=yes

prepare() {
	must javac -d . "$here/Locks.java"
}

run() {
	for collector in UseG1GC UseParallelGC; do
		timed under java -XX:+$collector -XX:ParallelGCThreads=2 -Xmx48m -cp "$work" Locks "$(amount 60000 10000)" >java.log 2>&1
		is 'what it said' "$(grep -v '^collections' java.log)" 'all sums are right'
		grep -q '^collections: [1-9]' java.log || fail "nothing was collected"
	done
}
