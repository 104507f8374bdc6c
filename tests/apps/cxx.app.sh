# SPDX-License-Identifier: MIT
#
# cxx: the locks of the C++ standard library, from a program that knows nothing of nlock
packages=g++ programs=${CXX:-g++}
binds='pthread_mutex_lock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_cond_wait pthread_cond_clockwait pthread_once'

prepare() {
	must ${CXX:-g++} -std=c++17 -O2 -Wall -Wextra -o cxx_locks "$here/cxx_locks.cpp" -pthread
}

run() {
	timed under "$work/cxx_locks" "$(amount 100000 20000)" >cxx.log 2>&1
	is 'what it said' "$(cat cxx.log)" 'all sums are right'
}
