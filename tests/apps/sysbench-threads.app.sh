# SPDX-License-Identifier: MIT
#
# sysbench threads: four threads take one lock, yielding under it; every event is counted
packages=sysbench programs=sysbench binds='pthread_mutex_lock pthread_mutex_unlock'

prepare() { :; }

run() {
	events=$(amount 20000 3000)
	timed under sysbench threads --threads=4 --thread-locks=1 --thread-yields=20 --time=0 --events="$events" run >sysbench.log 2>&1
	is events "$(sed -n 's/.*total number of events: *//p' sysbench.log)" "$events"
}
