# SPDX-License-Identifier: MIT
#
# sysbench mutex: four threads, eight mutexes
packages=sysbench programs=sysbench binds='pthread_mutex_lock pthread_mutex_unlock'

prepare() { :; }

run() {
	timed under sysbench mutex --threads=4 --mutex-num=8 --mutex-loops=100 --mutex-locks="$(amount 2000000 200000)" run >sysbench.log 2>&1
	is events "$(sed -n 's/.*total number of events: *//p' sysbench.log)" "4"
}
