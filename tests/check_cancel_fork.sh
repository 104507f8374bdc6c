#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_cancel_fork.sh - cancellation, forks and handlers that post, through both doors
#
#   check_cancel_fork.sh          some rounds
#   check_cancel_fork.sh --long   10^5 cancellations and 10^4 forks a door; the short form on the C library too
#
# top_builddir says where the programs were built. A failure prints its seed; --seed N of the programs takes it back.

set -u
LC_ALL=C
export LC_ALL
unset LD_PRELOAD NLOCK_HANDOFF NLOCK_FUTEX NLOCK_RWLOCK NLOCK_PRELOAD_SHARED

here=${top_builddir:-.}
preload=$here/.libs/libnlock-preload.so
long=${1-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# run WHAT PROGRAM OPTIONS [VARIABLE=VALUE]...
run()
{
	what=$1 path=$here/tests/pthread/$2 options=$3
	shift 3
	# shellcheck disable=SC2086
	env "$@" "$path" $options >"$work/out" 2>&1
	code=$?
	counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$work/out")
	if [ -z "$counts" ]; then
		counts='0 1'
	elif [ $code -ne 0 ] && [ "${counts#* }" = 0 ]; then
		counts="${counts% *} 1"
	fi
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
	[ $code -eq 0 ] && return
	echo "FAILED: $path $options, $what: exit $code"
	cat "$work/out"
}

[ -f "$preload" ] || { echo "no $preload"; exit 1; }
for program in check_cancel check_fork; do
	run 'preloaded' $program "$long" LD_PRELOAD="$preload"
	run 'compiled with nlock-pthread.h' ${program}_door "$long"
	run 'preloaded, FIFO' $program '' LD_PRELOAD="$preload" NLOCK_HANDOFF=fifo
	run 'preloaded, barging, classic futex' $program '' LD_PRELOAD="$preload" NLOCK_HANDOFF=barging NLOCK_FUTEX=legacy
	[ "$long" != --long ] || run 'the C library alone' $program ''
done
run 'preloaded, shared objects too' check_cancel "$long --only shared" LD_PRELOAD="$preload" NLOCK_PRELOAD_SHARED=1

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
