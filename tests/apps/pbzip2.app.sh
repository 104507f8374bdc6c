# SPDX-License-Identifier: MIT
#
# pbzip2: a file packed by four threads comes back as it was
packages=pbzip2 programs=pbzip2 binds='pthread_mutex_lock pthread_cond_wait'

prepare() {
	matter "$(amount 6000000 1500000)" >matter
}

run() {
	round_trip 'pbzip2 -p4 -b2 -c' 'pbzip2 -d -p4 -c'
}
