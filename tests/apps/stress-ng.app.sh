# SPDX-License-Identifier: MIT
#
# stress-ng: its stressors for threads, mutexes and semaphores, which check what they do
packages=stress-ng programs=stress-ng binds='pthread_mutex_lock pthread_mutex_unlock sem_trywait sem_timedwait sem_post'

prepare() { :; }

run() {
	timed under stress-ng --temp-path "$PWD" --verify --metrics-brief --pthread 1 --pthread-max 64 --pthread-ops "$(amount 6000 1000)" >pthread.log 2>&1
	# These do not always end well when they are given a number of rounds, without nlock either.
	must under stress-ng --temp-path "$PWD" --verify --metrics-brief --mutex 1 --mutex-procs 4 --sem 1 --sem-procs 4 \
		--timeout "$(amount 2 1)" >mutex.log 2>&1
	for stressor in pthread mutex sem; do
		grep -qE "metrc?:? .* $stressor +[1-9]" pthread.log mutex.log || fail "$stressor did nothing"
	done
	is 'successful runs' "$(cat pthread.log mutex.log | grep -c 'successful run completed')" 2
}
