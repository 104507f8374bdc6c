# SPDX-License-Identifier: MIT
#
# jemalloc-before: an allocator full of mutexes, before nlock in LD_PRELOAD; threads and forks
packages='libjemalloc2 g++' programs=${CXX:-g++} binds='pthread_mutex_trylock pthread_mutex_lock pthread_mutex_unlock' cannot=libjemalloc.so.2

jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -n 1)

order='$0${LD_PRELOAD:+:$LD_PRELOAD}'

can() {
	[ -n "$jemalloc" ]
}

prepare() {
	must ${CXX:-g++} -std=c++17 -O2 -o cxx_locks "$here/cxx_locks.cpp" -pthread
}

run() {
	timed under sh -c "LD_PRELOAD=\"$order\" "'exec "$@"' "$jemalloc" "$work/cxx_locks" "$(amount 100000 20000)" >cxx.log 2>&1
	is 'what it said' "$(cat cxx.log)" 'all sums are right'
	grep -q 'calling init: .*/libjemalloc' ld.* || fail 'jemalloc was not loaded'
}
