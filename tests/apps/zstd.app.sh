# SPDX-License-Identifier: MIT
#
# zstd: a file packed by four threads comes back as it was
packages=zstd programs=zstd binds='pthread_mutex_lock pthread_cond_wait'

prepare() {
	matter "$(amount 40000000 10000000)" >matter
}

run() {
	round_trip 'zstd -q -T4 -B524288 -8' 'zstd -q -d'
}
