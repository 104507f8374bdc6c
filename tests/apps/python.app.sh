# SPDX-License-Identifier: MIT
#
# python: CPython's own tests of threads, locks, queues and pools
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

run() {
	python=$(cat "$work/python")
	# shellcheck disable=SC2046
	timed under "$python" -m test -v --timeout 200 $(amount test_concurrent_futures '-m LockTests -m ConditionTests -m SemaphoreTests -m CQueueTest
		-m TestForkInThread -m ThreadRunningTests') test_threading test_queue test_thread >tests.log 2>&1
	grep -q '^== Tests result: SUCCESS' tests.log || fail 'a test of CPython'
	tests=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' tests.log | awk '{ n += $1 } END { print n + 0 }')
	[ "$tests" -ge "$(amount 300 50)" ] || fail "only $tests tests ran"
}
