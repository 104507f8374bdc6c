# SPDX-License-Identifier: MIT
#
# node: workers that meet at Atomics.wait, and the pool that hashes and reads files
packages=nodejs programs=node binds='pthread_mutex_lock pthread_cond_wait pthread_cond_signal pthread_once' limit=120 heavy=yes

prepare() {
	matter 2000000 >matter
	sha256sum <matter | cut -d' ' -f1 >digest
}

run() {
	timed under node "$here/workers.js" "$work/matter" "$(amount 40 8)" >node.log 2>&1
	is 'what it said' "$(cat node.log)" "$(cat "$work/digest") all sums are right"
}
