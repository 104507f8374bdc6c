#!/bin/sh
# SPDX-License-Identifier: MIT
#
# explore.sh - T4: the explorer's own calibration, then every scenario of the mutex at the sizes that are explored completely
#
# A line each: executions, steps, states, time. An execution that was cut off at the step limit is a failure, and so is a
# scenario that never reached what it is for (need:).
. "$(dirname "$0")/build.sh"

# In every mode. -b: how many looks a watcher takes; with none, everybody sleeps as soon as possible.
everywhere() {
	cat <<'LIST'
lulu lulu -e1 -b0
lulu lulu -b1
lutu tulu -t1 -e1 -b0
lutu tulu -t1 -b1
lmu lmulu -b0
lflu lblu -e1 -b1
lu tu lu -t1 -e1 -p3 -b0
lu tu lu -t1 -e1 -p2 -b1
lulu lu lu -p3 -b0
lu lu yu -e1 -p3 -b1
lmu lu lu -p3 -b0
lflu lblu lu -p2 -b0
lu lu lu -w -p3 -e1 -b1
lu lu lu lu -p2 -e1 -b0
lu lu tu lu -t1 -p2 -b0
ld ld ld -p3 -b1
ld td yd -t1 -p3 -b0
ld ld ld ld -p2 -b0
LIST
}

# What only some modes can show: the bound reached exactly, the time bound, homes, forks, ends.
special() {
	cat <<'LIST'
1 lulululu lu -b0 need:overtaken
2 lulululu lu -b0 need:overtaken
1 lulu lulu lu -p3 -b0 need:overtaken
7 lu*9 lu -p3 -b0 need:overtaken
100 lu*102 lu -p2 -b0 need:overtaken
0 lulu lulu lu -p2 -b0 need:grant
bounded lulu lu -d1 -b0 need:due
2 lulu tulu -t1 -d1 -b1
fifo,first lu lu lu -p3 -b0 need:entered
1,first lulu tu tu -t1 -p2 -b0 need:entered
barging,node lu tu lu -t1 -e1 -p3 -b0
fifo,fork:4d ulu lu -b0 need:adopted
1,fork:2b lu lu lu -p2 -b0 need:adopted
barging,fork:28 lulu lu -b1 need:adopted
bounded lsu wD -b0 need:freed
fifo lsu wD -b1 need:freed
LIST
}

# Larger than can be exhausted: random priorities (PCT), the seed says which.
large() {
	for mode in fifo 1 barging; do
		echo "$mode lulu lulu lulu tulu lulu -t1 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode lu lflu lu lmu tu lblu yu -t1 -e1 -P3 -r20000 -S${SEED:-1} -b0"
	done
}

all() {
	for mode in fifo 0 1 2 bounded barging; do
		everywhere | sed "s/^/$mode /"
	done
	special
	large
}

# one: reads scenarios, a line each, and prints a line each.
one() {
	while read -r args; do
		# shellcheck disable=SC2086
		out=$(timeout 300 ./scen $args -q 2>&1)
		rc=$?
		if [ $rc -eq 0 ]; then
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
./litmus >litmus.out || failed=1
sed 's/^pass/ok   /; s/^FAIL/FAIL /' litmus.out
all >scenarios.txt
in_two scenarios.txt one >scen.out
cat scen.out
passed=$(cat litmus.out scen.out | grep -c -E '^(pass|ok)')
failed=$((failed + $(grep -c '^FAIL' scen.out)))
[ "$(grep -c . scen.out)" -eq "$(grep -c . scenarios.txt)" ] || failed=$((failed + 1))
awk '{ for (i = 2; i <= NF; i++) { if ($i ~ /^executions/) e += $(i - 1); if ($i ~ /^steps/) t += $(i - 1); if ($i ~ /^states/) s += $(i - 1) } }
	END { printf "in all %d executions, %d steps, %d states\n", e, t, s }' scen.out
conclude "scenarios of ${SEED:+seed $SEED, }every interleaving within their bounds"
