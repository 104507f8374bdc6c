#!/bin/sh
# SPDX-License-Identifier: MIT
#
# explore.sh - T4: the explorer's own calibration, then every scenario of the mutex at the sizes that are explored completely
#
# A line each: executions, steps, states, time. An execution that was cut off at the step limit is a failure, and so is a
# scenario that never reached what it is for (need:). "explore.sh PATTERN" runs the scenarios that match; ./scen takes the
# arguments of a line, and prints the schedule of a failure.
. "$(dirname "$0")/build.sh"

# In every mode. -b: how many looks a watcher takes; with none, everybody sleeps as soon as possible.
everywhere() {
	cat <<'LIST'
lulu lulu -e1 -b0
lulu lulu -e1 -b1
lutu tulu -t1 -e1 -b0
lutu tulu -t1 -b1
lmu lmulu -b0
lflu lblu -e1 -b1
lu lu lu -b0
lu lu lu -b1
lu lu tu -t1 -e1 -p3 -b0
lu lu tu -t1 -e1 -p3 -b1
lu tu tu -t2 -p3 -b0 need:timeout
lulu lu lu -p3 -b0
lu lu yu -e1 -p3 -b1
lu lfyu lu -p3 -b0 need:grant need:refused
lmu lu lu -p3 -b0
lflu lblu lu -p2 -b0 need:grant
lu lu lu -w -p3 -e1 -b1
lu lu lu lu -p2 -e1 -b0
lu lu lu lu -p2 -b1
lu lu lu tu -t1 -p2 -b0
ld ld ld -b0 need:late need:freed
ld ld ld -p3 -b1
ld td yd -t1 -p3 -b0
ld ld ld ld -p2 -b0
lsu wD -b1 need:freed
LIST
}

# What only some modes can show: the bound reached exactly, the time bound, homes, forks.
special() {
	cat <<'LIST'
1 lulululu lu -b0 need:overtaken
2 lulululu lu -b0 need:overtaken
1 lulu lulu lu -p3 -b0 need:overtaken
2 lulu lulu lu -p3 -b1 need:overtaken
7 lu*9 lu -p4 -b0 need:overtaken
7 lu*9 lu -p3 -b1 need:overtaken
7 lu*4 lu*4 lu -p2 -b0 need:overtaken
100 lu*102 lu -p1 -b0 need:overtaken
100 lu*102 lu -p1 -b1 need:overtaken
0 lulu lulu lu -p2 -b0 need:grant
bounded lulu lu -d1 -b0 need:due
bounded lu lu lu -d1 -p3 -b1 need:due need:grant
2 lulu tulu -t1 -d1 -b1
fifo lulu lu lu -d1 -p2 -b0 need:due
fifo,first lu lu lu -p3 -b0 need:entered
fifo,first lulu lulu -b1 need:entered
1,first lulu tu tu -t1 -p2 -b0 need:entered
1,first lulu tu lu -t1 -e1 -p2 -b0 need:entered
barging,node lu tu lu -t1 -e1 -p3 -b0
fifo,fork:4d ulu lu -b0 need:adopted
fifo,fork:25 ulu lu -b1 need:adopted
1,fork:4d u lu tu -t1 -p2 -b0 need:adopted
1,fork:2b lu lu lu -p2 -b0 need:adopted
1,fork:2b yu lu -b1 need:adopted
barging,fork:28 lulu lu -b1 need:adopted
barging,fork:4d mu lu -b0 need:adopted
2,fork:5f tu lu -t1 -b1 need:adopted
fifo,fork:2c ld ld ld -p2 -b0 need:adopted need:freed
LIST
}

# What must fail, and by which check: a wake by priority is not in order of arrival; a wake on a node reads memory, so that such an object may
# not go as early as others.
wrong() {
	cat <<'LIST'
fifo lu lu lu lu -w -p2 -b1 fails:order
1,node ld ld -b0 fails:life
LIST
}

# Larger than can be exhausted: random priorities (PCT), the seed says which.
large() {
	for mode in fifo 1 barging; do
		echo "$mode lulu lulu lulu tulu lulu -t1 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode lulu tulu yulu lflu lulu lulu -t1 -e1 -d1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode lu lflu lu lmu tu lblu yu -t1 -e1 -P3 -r20000 -S${SEED:-1} -b0"
		echo "$mode lulu lulu lulu lulu lulu lulu lulu -P5 -r20000 -S${SEED:-1} -b0"
	done
}

all() {
	for mode in fifo 0 1 2 bounded barging; do
		everywhere | sed "s/^/$mode /"
	done
	special
	wrong
	large
}

# No two states that differ are taken for one: entering visited states again finds as many.
merging() {
	cat <<'LIST'
fifo lu lu -b1
fifo lu tu -t1 -b0
1 lu lu -e1 -b0
fifo,first lu lu -b0
1 ld ld -b0
1 lsu wD -b0
1,fork:4d u lu -b0
fifo lulu lulu -b0 -p2
LIST
}

states() {
	# shellcheck disable=SC2086
	./scen $1 -q | sed -n '1s/.*, \([0-9]*\) states.*/\1/p'
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
		out=$(timeout 300 ./scen $args -q 2>&1)
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

build_engine
build_scenarios scen "$srcdir/lib" || exit 1
# shellcheck disable=SC2046
$CC litmus.o $(printf '%s.o ' $engine) -o litmus || exit 1
./litmus | sed 's/^pass/ok   /; s/^FAIL/FAIL /' >litmus.out
merging | merge >merging.out
cat litmus.out merging.out
all | grep -e "${1-.}" >scenarios.txt
in_two scenarios.txt one >scen.out
cat scen.out
passed=$(cat litmus.out merging.out scen.out | grep -c '^ok')
failed=$(cat litmus.out merging.out scen.out | grep -vc '^ok')
[ "$(grep -c . litmus.out)" -ge 12 ] || failed=$((failed + 1))
[ "$(grep -c . scen.out)" -eq "$(grep -c . scenarios.txt)" ] || failed=$((failed + 1))
awk '{ for (i = 2; i <= NF; i++) { if ($i ~ /^executions/) e += $(i - 1); if ($i ~ /^steps/) t += $(i - 1); if ($i ~ /^states/) s += $(i - 1) } }
	END { printf "in all %d executions, %d steps, %d states\n", e, t, s }' scen.out
conclude "scenarios of ${SEED:+seed $SEED, }every interleaving within their bounds"
