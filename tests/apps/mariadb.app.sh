# SPDX-License-Identifier: MIT
#
# mariadb: a short load by eight connections over InnoDB; every row is there, and transfers keep the sum
packages=mariadb-server programs='mariadbd mariadb mariadb-slap mariadb-admin mariadb-install-db'
binds='pthread_mutex_lock pthread_mutex_trylock pthread_cond_wait pthread_cond_timedwait pthread_rwlock_wrlock pthread_once' limit=120 heavy=yes

prepare() {
	must mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db --user="$(id -un)" \
		--innodb-log-file-size=8M --datadir="$PWD/data" >install.log 2>&1
}

sql() {
	mariadb --no-defaults --user=root --socket="$PWD/socket" -N -B -e "$1"
}

# slap FILE N CONNECTIONS: the statements of the file, N times in all.
slap() {
	under mariadb-slap --no-defaults --user=root --socket="$PWD/socket" --create-schema=apps --no-drop --delimiter=';' \
		--query="$1" --number-of-queries="$2" --concurrency="$3" >>slap.log 2>&1
}

run() {
	rows=$(amount 4000 800)
	cp -R "$work/data" data
	serve server.log mariadbd --no-defaults --user="$(id -un)" --datadir="$PWD/data" --socket="$PWD/socket" --skip-networking \
		--pid-file="$PWD/pid" --innodb-log-file-size=8M --innodb-buffer-pool-size=32M --innodb-flush-log-at-trx-commit=0
	await mariadb-admin --no-defaults --user=root --socket="$PWD/socket" ping
	must sql 'CREATE DATABASE apps; CREATE TABLE apps.rows (id INT AUTO_INCREMENT PRIMARY KEY, t VARCHAR(80)) ENGINE=InnoDB;
		CREATE TABLE apps.accounts (id INT PRIMARY KEY, n BIGINT) ENGINE=InnoDB;
		INSERT INTO apps.accounts SELECT seq, 1000 FROM apps.seq_1_to_10'
	timed slap "INSERT INTO apps.rows (t) VALUES (RAND())" "$rows" 8
	timed slap "UPDATE apps.accounts a JOIN (SELECT @f := 1 + FLOOR(RAND() * 10) f, 1 + FLOOR(RAND() * 10) g) r
		SET a.n = a.n + (a.id = r.f) - (a.id = r.g)" "$rows" 8
	is 'rows' "$(sql 'SELECT COUNT(*) FROM apps.rows')" "$rows"
	is 'sum' "$(sql 'SELECT SUM(n) FROM apps.accounts')" 10000
	must mariadb-admin --no-defaults --user=root --socket="$PWD/socket" shutdown
	stopped
}
