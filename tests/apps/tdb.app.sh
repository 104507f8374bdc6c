# SPDX-License-Identifier: MIT
#
# tdb: processes under its robust and error-checking mutexes, and one after the other is killed while it holds one
packages=libtdb-dev programs=${CC:-cc} headers=tdb.h binds='pthread_mutex_lock pthread_mutex_unlock'

prepare() {
	must ${CC:-cc} -O2 -o tdb_kill "$here/tdb_kill.c" -ltdb -pthread
}

run() {
	timed under "$work/tdb_kill" file.tdb "$(amount 20000 2000)"
}
