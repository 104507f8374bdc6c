#!/bin/sh
# SPDX-License-Identifier: MIT
#
# explore.sh - T4: the explorer's own calibration, then every scenario at the sizes that are explored completely
#
#   explore.sh [--long] [NOUN [PATTERN]]   NOUN: a primitive, all of them if not given. PATTERN: the scenarios that match
#
# --long: instead, those that are too large for every day, each of up to 10 minutes and 2 GB.
# A line each: executions, steps, states, time. An execution that was cut off at the step limit is a failure, and so is a
# scenario that never reached what it is for (need:). scen_NOUN takes the arguments of a line, and prints the schedule of a failure.
. "$(dirname "$0")/build.sh"

states() {
	# shellcheck disable=SC2086
	"./scen_$noun" $1 -q | sed -n '1s/.*, \([0-9]*\) states.*/\1/p'
}

merge() {
	while read -r args; do
		few=$(states "$args")
		many=$(states "$args -H")
		if [ -n "$few" ] && [ "$few" = "$many" ]; then
			pass "$args: $few states, with and without merging"
		else
			fail "$args: $few states, without merging $many"
		fi
	done
}

# one: reads scenarios, a line each, and prints a line each.
one() {
	while read -r args; do
		want=$(echo "$args" | sed -n 's/.* fails:\([a-z]*\)$/\1/p')
		args=${args% fails:*}
		# shellcheck disable=SC2086
		out=$(timeout "$limit" "./scen_$noun" $args -q 2>&1)
		rc=$?
		if [ -n "$want" ]; then
			case $rc$out in
			1*": $want: "*) pass "$args: fails by $want, as it must" ;;
			*) fail "$args: does not fail by $want: exit status $rc" ;;
			esac
		elif [ $rc -eq 0 ]; then
			printf '%s\n' "$out" | sed -n '1s/ -q:/:/; 1s/^pass/ok   /p'
		else
			printf '%s\n' "${out:-FAIL $args: exit status $rc}" | sed 's/^FAIL/FAIL /; $!d'
		fi
	done
}

size=scenarios limit=300
if [ "${1-}" = --long ]; then
	size=long limit=600
	shift
fi
build_engine
# shellcheck disable=SC2046
$CC litmus.o $(printf '%s.o ' $engine) -o litmus || exit 1
./litmus | sed 's/^pass/ok   /; s/^FAIL/FAIL /' >litmus.out
cat litmus.out
passed=$(grep -c '^ok' litmus.out)
failed=$(grep -vc '^ok' litmus.out)
[ "$passed" -ge 12 ] || failed=$((failed + 1))
: >all.out
for noun in ${1:-$nouns}; do
	build_scenarios "scen_$noun" "$srcdir/lib" || exit 1
	"${noun}_merging" | if [ "$size" = long ]; then cat >/dev/null; else merge; fi >merging.out
	"${noun}_$size" | grep -e "${2-.}" >scenarios.txt
	in_two scenarios.txt one >scen.out
	sed "s/^\([^ ]* *\)/\1$noun /" merging.out scen.out
	passed=$((passed + $(cat merging.out scen.out | grep -c '^ok')))
	failed=$((failed + $(cat merging.out scen.out | grep -vc '^ok')))
	[ "$(grep -c . scen.out)" -eq "$(grep -c . scenarios.txt)" ] || failed=$((failed + 1))
	cat scen.out >>all.out
done
awk '{ for (i = 2; i <= NF; i++) { if ($i ~ /^executions/) e += $(i - 1); if ($i ~ /^steps/) t += $(i - 1); if ($i ~ /^states/) s += $(i - 1) } }
	END { printf "in all %d executions, %d steps, %d states\n", e, t, s }' all.out
conclude "scenarios of ${SEED:+seed $SEED, }every interleaving within their bounds"
