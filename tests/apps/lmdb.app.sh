# SPDX-License-Identifier: MIT
#
# lmdb: processes that write under its robust mutex, and one after the other is killed while it holds it
packages=liblmdb-dev programs=${CC:-cc} headers=lmdb.h binds='pthread_mutex_lock pthread_mutex_unlock'

prepare() {
	must ${CC:-cc} -O2 -o lmdb_kill "$here/lmdb_kill.c" -llmdb -pthread
}

run() {
	mkdir db
	timed under "$work/lmdb_kill" db "$(amount 6000 600)"
}
