# SPDX-License-Identifier: MIT
#
# gdb: itself over nlock, it starts a program over nlock, stops it in a thread, and lets it end
packages='gdb g++' programs="gdb ${CXX:-g++}" binds='pthread_mutex_lock pthread_rwlock_rdlock pthread_cond_wait pthread_once' limit=240 heavy=yes

prepare() {
	must ${CXX:-g++} -std=c++17 -O1 -g -o cxx_locks "$here/cxx_locks.cpp" -pthread
}

run() {
	timed under gdb -nx -batch -ex 'break initialiser::throws' -ex run -ex backtrace -ex 'info threads' -ex delete -ex continue \
		--args "$work/cxx_locks" "$(amount 4000 400)" >gdb.log 2>&1
	grep -q 'initialiser::throws (this=' gdb.log || fail 'it did not stop'
	is 'what it said' "$(grep -c '^all sums are right' gdb.log)" 1
	is 'how it ended' "$(grep -c 'exited normally' gdb.log)" 1
}
