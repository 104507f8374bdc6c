# SPDX-License-Identifier: MIT
#
# python: CPython's own tests of threads and locks; in short those of locks, queues and forks in threads. Those of pools take minutes, and
# mostly sleep
packages="python3 libpython3.$(/usr/bin/python3 -c 'import sys; print(sys.version_info[1])' 2>/dev/null || echo 11)-testsuite"
programs=python3 binds='pthread_mutex_lock pthread_cond_timedwait pthread_cond_signal sem_clockwait sem_post' limit=240
cannot='test.test_threading '

# The first python3 that has its tests with it.
python=''
for each in python3 /usr/bin/python3; do
	[ -n "$python" ] || ! "$each" -c 'import test.test_threading, test.test_queue, test.test_concurrent_futures' 2>/dev/null || python=$each
done

can() {
	[ -n "$python" ]
}

prepare() {
	"$python" -c 'import sys; print(sys.executable)' >python
}

# What a shell starts in the background ignores SIGINT, which the tests of interrupt_main want.
run() {
	python=$(cat "$work/python")
	# shellcheck disable=SC2046
	timed under "$python" -m test -v --timeout 200 -i InterruptMainTests $(amount '' 'test_queue -m LockTests -m ConditionTests -m SemaphoreTests -m CQueueTest
		-m TestForkInThread -m ThreadRunningTests') test_threading test_thread >tests.log 2>&1
	grep -q '^== Tests result: SUCCESS' tests.log || fail 'a test of CPython'
	tests=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' tests.log | awk '{ n += $1 } END { print n + 0 }')
	[ "$tests" -ge "$(amount 200 50)" ] || fail "only $tests tests ran"
}
