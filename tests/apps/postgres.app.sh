# SPDX-License-Identifier: MIT
#
# postgres: pgbench's transfers by four clients of two threads; the sums of its four tables agree
packages='postgresql postgresql-client' programs='' binds='sem_init sem_wait sem_post' limit=120 heavy=yes cannot='initdb pgbench postgres '

pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)

can() {
	[ -x "$pg/initdb" ] && [ -x "$pg/pgbench" ]
}

prepare() {
	# It refuses to be root.
	chmod 777 .
	# shellcheck disable=SC2046
	must $(as nobody) "$pg/initdb" -D "$PWD/data" -U owner -A trust -E UTF8 --locale=C -N >initdb.log 2>&1
}

sql() {
	"$pg/psql" -X -h "$PWD" -U owner -d postgres -Atc "$1"
}

run() {
	each=$(amount 1000 100)
	cp -Rp "$work/data" data
	# The server uses semaphores in shared memory, pgbench a barrier.
	as=$(as nobody)
	serve server.log "$pg/postgres" -D "$PWD/data" -k "$PWD" -c listen_addresses= -c fsync=off -c shared_buffers=16MB \
		-c logging_collector=off
	as=''
	await sql 'SELECT 1'
	must "$pg/pgbench" -h "$PWD" -U owner -i -q postgres >init.log 2>&1
	timed under "$pg/pgbench" -h "$PWD" -U owner -c 4 -j 2 -t "$each" postgres >bench.log 2>&1
	is 'transactions' "$(sql 'SELECT COUNT(*) FROM pgbench_history')" $((4 * each))
	is 'tables that disagree' "$(sql 'SELECT COUNT(*) FROM (SELECT SUM(abalance) s FROM pgbench_accounts UNION SELECT SUM(tbalance) FROM pgbench_tellers
		UNION SELECT SUM(bbalance) FROM pgbench_branches UNION SELECT SUM(delta) FROM pgbench_history) t')" 1
	kill -INT "$server"
	stopped
}
