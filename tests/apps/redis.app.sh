# SPDX-License-Identifier: MIT
#
# redis: its allocator, threads that sync a file and free what is dropped, and a forked child that writes; no increment is lost
packages='redis-server redis-tools' programs='redis-server redis-benchmark redis-cli'
binds='pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_cond_signal'

prepare() { :; }

cli() {
	redis-cli -s socket "$@"
}

has_saved() {
	cli info persistence | grep -q 'rdb_bgsave_in_progress:0'
}

run() {
	n=$(amount 300000 50000)
	serve server.log redis-server --port 0 --unixsocket "$PWD/socket" --save '' --dir "$PWD" --appendonly yes --appendfsync everysec
	await cli ping
	timed under redis-benchmark -s "$PWD/socket" -n "$n" -c 32 --threads 2 -P 4 -q -t set,lpush,incr >benchmark.log 2>&1
	is 'increments' "$(cli get counter:__rand_int__)" "$n"
	is 'items pushed' "$(cli llen mylist)" "$n"
	must cli bgsave
	await has_saved
	is 'the child saved' "$(cli info persistence | tr -d '\r' | sed -n 's/^rdb_last_bgsave_status://p')" ok
	must cli flushall async
	is 'keys' "$(cli dbsize)" 0
	cli shutdown nosave
	stopped
}
