# SPDX-License-Identifier: MIT
#
# valgrind: memcheck, which does not know the calls of futex2, finds nothing wrong with the locks of C++ over nlock
packages='valgrind g++' programs="valgrind ${CXX:-g++}" binds='pthread_mutex_lock pthread_rwlock_rdlock pthread_cond_wait pthread_once' limit=240 heavy=yes

prepare() {
	must ${CXX:-g++} -std=c++17 -O1 -g -o cxx_locks "$here/cxx_locks.cpp" -pthread
}

run() {
	timed under valgrind --error-exitcode=9 --fair-sched=yes "$work/cxx_locks" "$(amount 4000 400)" >valgrind.log 2>&1
	is 'what it said' "$(grep -c '^all sums are right' valgrind.log)" 1
	is 'what memcheck said' "$(grep -c 'ERROR SUMMARY: 0 errors' valgrind.log)" "$(grep -c 'ERROR SUMMARY' valgrind.log)"
}
