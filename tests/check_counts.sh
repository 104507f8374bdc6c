#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_counts.sh - how many instructions the operations take that no other thread disturbs, and how these grow with the waiters
#
# Run by "make check", which sets builddir, and by hand with "show" for the table. Callgrind counts instructions: the same number each
# time, whatever else the machine does. An operation is counted by taking the total of 1000 from that of 2000, so the start of the
# program falls out; one turn of the loop around it is in. The most that each may take is what gcc 12 makes of it at -O2, and a
# fifth; these are of x86-64 alone, and of a build that is optimised. That they grow with nothing is asked on every machine.
set -u
LC_ALL=C
export LC_ALL

: "${srcdir:=.}" "${builddir:=.}"
. "$(dirname "$0")/tally.sh" || exit 1
program=$builddir/tests/count
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The case, and the most instructions that it may take.
most='
mutex-bounded=24
mutex-fifo=24
mutex-barging=24
mutex-shared=24
mutex-try=24
rwlock-read=80
rwlock-write=42
sem-pair=50
cond-signal=14
cond-broadcast=14
once-done=22
'

# total OPTIONS ARGUMENT...: of a whole run of the program; OPTIONS are words for callgrind.
# shellcheck disable=SC2086
total() {
	options=$1
	shift
	valgrind --tool=callgrind --callgrind-out-file=/dev/null $options "$program" "$@" >"$work/out" 2>"$work/err" &&
		awk '/Collected *:/ { print $NF; found = 1 } END { exit !found }' "$work/err" && return
	cat "$work/err"
	return 1
}

# each CASE: instructions of one operation, in $each.
each() {
	one=$(total '' "$1" 1000) && two=$(total '' "$1" 2000) && again=$(total '' "$1" 1000) || { echo "$one $two"; return 1; }
	[ "$one" = "$again" ] || { echo "$one instructions, and then $again"; return 1; }
	[ $(((two - one) % 1000)) -eq 0 ] || { echo "$((two - one)) instructions for 1000 operations: not each took the same"; return 1; }
	each=$(((two - one) / 1000))
}

takes_at_most() {
	each "$1" || return
	[ "$each" -gt 0 ] && [ "$each" -le "$2" ] || { echo "$each instructions, more than $2"; return 1; }
}

# waiting CASE FUNCTION N: instructions in FUNCTION for each of N waiters, in $waiting.
waiting() {
	sum=$(total "--max-threads=1100 --toggle-collect=$2" waiters "$1" "$3") || { echo "$sum"; return 1; }
	waiting=$((sum / $3))
}

# Ten waiters have paid what is paid once. A list that is walked would cost a hundred times as much with a thousand.
does_not_grow() {
	waiting "$1" "$2" 10 || return
	ten=$waiting
	waiting "$1" "$2" 1000 || return
	[ "$ten" -gt 0 ] && [ "$waiting" -gt 0 ] && [ "$waiting" -le $((2 * ten)) ] ||
		{ echo "$ten instructions for each of 10 waiters, $waiting for each of 1000"; return 1; }
}

# ---------------------------------------------------------------- for people

show() {
	echo "Instructions of an operation that no other thread disturbs, and of the C library's"
	"$program" list | grep -v '^c-' | while read -r name; do
		each "$name" || exit 1
		ours=$each theirs=-
		! "$program" list | grep -qx "c-$name" || { each "c-$name" && theirs=$each; }
		printf '%-16s %6s %6s\n' "$name" "$ours" "$theirs"
	done
	echo "Instructions for each of 1, 10, 100 and 1000 waiters, in lock and in unlock"
	for name in mutex-fifo mutex-bounded mutex-barging; do
		for function in nlock_mutex_lock nlock_mutex_unlock; do
			printf '%-16s %-20s' "$name" "$function"
			for n in 1 10 100 1000; do
				waiting "$name" "$function" "$n" || exit 1
				printf ' %6s' "$waiting"
			done
			echo
		done
	done
}

command -v valgrind >/dev/null || { echo 'SKIP: no valgrind to count with'; exit 77; }
if [ "${1:-}" = show ]; then
	show
	exit
fi
if [ "$(uname -m)" = x86_64 ] && "$program" optimised; then
	for line in $most; do
		test_that "${line%=*} takes at most ${line#*=} instructions" takes_at_most "${line%=*}" "${line#*=}"
	done
else
	skip 'how many instructions an operation may take is known of x86-64 and optimised builds'
fi
for of in mutex-fifo mutex-barging; do
	for function in nlock_mutex_lock nlock_mutex_unlock; do
		test_that "$function of $of takes no more with 1000 waiters than with 10" does_not_grow "$of" "$function"
	done
done
finish
