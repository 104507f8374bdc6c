# SPDX-License-Identifier: MIT
#
# pigz: a file packed by four threads comes back as it was
packages=pigz programs=pigz binds='pthread_mutex_lock pthread_cond_wait'

prepare() {
	matter "$(amount 24000000 6000000)" >matter
}

run() {
	round_trip 'pigz -p4' 'pigz -d'
}
