# SPDX-License-Identifier: MIT
#
# xz: a file packed by four threads comes back as it was
packages=xz-utils programs=xz binds='pthread_mutex_lock pthread_cond_wait'

prepare() {
	matter "$(amount 12000000 3000000)" >matter
}

run() {
	round_trip 'xz -T4 --block-size=262144 -1' 'xz -dT4'
}
