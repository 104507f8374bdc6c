#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sweep.sh - the weakening sweep: is each memory order needed?
#
# Every operation of lib/mutex.c that is not relaxed is made relaxed, one at a time, at run time. Some scenario must fail. A
# site whose weakening nobody notices must be explained in the file: "survives the sweep", with its tag, under Orders.
. "$(dirname "$0")/build.sh"

# Together they reach every ordered operation.
scenarios() {
	cat <<'LIST'
bounded lulu lulu -b0
fifo lulu lulu -b1
1 lulu yulu -b1
fifo lu tu lu -t1 -p2 -b0
2 lflu lblu lu -p2 -b0
barging lmu lu lu -p2 -b0
bounded ld ld ld -p2 -b0
bounded lsu wD -b0
LIST
}

# tag FILE:LINE: the tag that stands there.
tag() {
	sed -n "${1#*:}s|.*/\* \(A[0-9]*\) \*/.*|\1|p" "$srcdir/lib/${1%%:*}"
}

build_engine
build_scenarios sweep "$srcdir/lib" || exit 1
scenarios >sweep.txt
while read -r args; do
	# shellcheck disable=SC2086
	./sweep $args -q -L || echo "site mutex.c:0 the-code-as-it-is-fails-in-$args"
done <sweep.txt | awk '$1 == "site" && $2 ~ /^mutex\.c:/ && $3 != "rlx" { print $2, $3 }' | sort -u >sites.txt
while read -r at order; do
	caught=
	while [ -z "$caught" ] && read -r args; do
		# shellcheck disable=SC2086
		caught=$(./sweep $args -q "-W$at=rlx" | sed -n 's/^FAIL .* -q[^:]*[^ ]*: \([a-z]*\): .*/\1/p' | grep -v '^explorer$')
	done <sweep.txt
	label=$(tag "$at")
	if [ -n "$caught" ]; then
		pass "${label:-?} $at $order -> rlx: caught by $caught in: $args"
	elif [ -n "$label" ] && grep -q "^ \* *$label survives the sweep" "$srcdir/lib/${at%%:*}"; then
		pass "$label $at $order -> rlx: survives, see lib/${at%%:*}"
	else
		fail "${label:-?} $at $order -> rlx: nobody notices, and nothing explains it"
	fi
done <sites.txt
# Every tagged operation must have been met.
[ "$(grep -c . sites.txt)" -ge "$(grep -c '/\* A[0-9]* \*/' "$srcdir/lib/mutex.c")" ] || fail 'an order that no scenario reaches'
conclude 'orders weakened'
