# SPDX-License-Identifier: MIT
#
# build.sh - what explore.sh, mutants.sh and sweep.sh have in common; sourced, not run
#
# srcdir is the top of the source tree, CC the compiler; both may be unset. Everything is built in the current directory.
set -u
LC_ALL=C
export LC_ALL
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${CC:=gcc}"
here=$srcdir/tests/explore
flags="-O2 -g -std=gnu11 -U_FORTIFY_SOURCE -I$srcdir/include"
engine="explore search sched memory state futex"
passed=0 failed=0

# Each has a file of this name here, which says what is explored, and a scen_NOUN.c.
nouns='mutex sem once barrier rwlock cond'
for noun in $nouns; do
	# shellcheck disable=SC1090
	. "$here/$noun.sh"
done

# build_engine: the explorer, its calibration and the scenarios, without the code under test.
build_engine() {
	for f in $engine litmus scen $(printf 'scen_%s ' $nouns); do
		# shellcheck disable=SC2086
		$CC $flags -c "$here/$f.c" -o "$f.o" || exit 1
	done
}

# build_scenarios PROGRAM LIB: the parts of $noun from the directory LIB, as they are, with the explorer's atomic.h in front.
build_scenarios() {
	built=''
	eval "set -- \"\$1\" \"\$2\" \$${noun}_parts"
	program=$1 lib=$2
	shift 2
	for part; do
		# shellcheck disable=SC2086
		$CC $flags -I"$lib" -I"$srcdir/lib" -include "$here/atomic.h" -c "$lib/$part" -o "$program.$part.o" || return
		built="$built $program.$part.o"
	done
	# shellcheck disable=SC2086,SC2046
	$CC $built "scen_$noun.o" scen.o $(printf '%s.o ' $engine) -o "$program"
}

pass() {
	passed=$((passed + 1))
	printf 'ok    %s\n' "$1"
}

fail() {
	failed=$((failed + 1))
	printf 'FAIL  %s\n' "$1"
}

# in_two FILE COMMAND...: feeds the lines of FILE, one each, to two copies of COMMAND, and prints what they print.
in_two() {
	list=$1
	shift
	awk 'NR % 2' "$list" | "$@" >half.1 &
	awk 'NR % 2 == 0' "$list" | "$@" >half.2
	wait
	cat half.1 half.2
}

# conclude WHAT: the totals; fails if anything did or nothing ran.
conclude() {
	echo "ROWS: $((passed + failed)) ran, $failed failed, 0 skipped: $1"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
