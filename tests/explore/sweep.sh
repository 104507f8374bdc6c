#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sweep.sh - the weakening sweep: is each memory order needed?
#
# Every operation of a primitive that is not relaxed is made relaxed, one at a time, at run time. Some scenario must fail. A
# site whose weakening nobody notices must be explained in the file: "survives the sweep", with its tag, under Orders.
. "$(dirname "$0")/build.sh"

# tag FILE:LINE: the tag that stands there.
tag() {
	sed -n "${1#*:}s|.*/\* \(A[0-9]*\) \*/.*|\1|p" "$srcdir/lib/${1%%:*}"
}

# sweep: each operation in $file of $noun.
sweep() {
	while read -r args; do
		# shellcheck disable=SC2086
		./sweep $args -q -L || echo "site $file:0 the-code-as-it-is-fails-in-$args"
	done <sweep.txt | awk -v file="$file" '$1 == "site" && index($2, file ":") == 1 && $3 != "rlx" { print $2, $3 }' | sort -u >sites.txt
	while read -r at order; do
		caught=
		while [ -z "$caught" ] && read -r args; do
			# shellcheck disable=SC2086
			caught=$(./sweep $args -q "-W$at=rlx" | sed -n 's/^FAIL .* -q[^:]*[^ ]*: \([a-z]*\): .*/\1/p' | grep -v '^explorer$')
		done <sweep.txt
		label=$(tag "$at")
		if [ -n "$caught" ]; then
			pass "$noun ${label:-?} $at $order -> rlx: caught by $caught in: $args"
		elif [ -n "$label" ] && grep -q "^ \* *$label survives the sweep" "$srcdir/lib/${at%%:*}"; then
			pass "$noun $label $at $order -> rlx: survives, see lib/${at%%:*}"
		else
			fail "$noun ${label:-?} $at $order -> rlx: nobody notices, and nothing explains it"
		fi
	done <sites.txt
	# Every tagged operation must have been met.
	[ "$(grep -c . sites.txt)" -ge "$(grep -c '/\* A[0-9]* \*/' "$srcdir/lib/$file")" ] || fail "$noun: an order that no scenario reaches"
}

build_engine
for noun in ${1:-$nouns}; do
	build_scenarios sweep "$srcdir/lib" || exit 1
	"${noun}_orders" >sweep.txt
	eval "swept=\${${noun}_swept:-$noun.c}"
	for file in $swept; do
		sweep
	done
done
conclude 'orders weakened'
