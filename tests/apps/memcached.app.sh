# SPDX-License-Identifier: MIT
#
# memcached: four threads serve eight clients; everything set is there, and a file comes back as it was
packages='memcached libmemcached-tools' programs='memcached memcslap memccp memccat memcstat'
binds='pthread_mutex_lock pthread_mutex_trylock pthread_cond_wait pthread_cond_signal'

prepare() {
	matter 300000 >matter
}

is_up() {
	memcstat --servers="$PWD/socket" | grep -q uptime
}

run() {
	each=$(amount 20000 3000)
	# -u: it refuses to be root without a user.
	serve server.log memcached -s "$PWD/socket" -t 4 -u "$(id -un)" -m 256
	await is_up
	timed under memcslap --servers="$PWD/socket" --concurrency=8 --execute-number="$each" --test=set >slap.log 2>&1
	cp "$work/matter" matter
	must memccp --servers="$PWD/socket" matter
	memccat --servers="$PWD/socket" matter >back || fail "memccat ended with $?"
	# memccat ends what it shows with a new line.
	must cmp -n 300000 matter back
	is 'values set' "$(memcstat --servers="$PWD/socket" | sed -n 's/.*cmd_set: *//p')" $((8 * each + 1))
	kill -INT "$server"
	stopped
}
