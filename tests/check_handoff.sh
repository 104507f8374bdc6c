#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_handoff.sh - futex_numa, futex_hash, wakelat, starve: exit codes, errors, the shape and the sums of what they print
#
# No figure that was measured is checked, only that it is there, and that it agrees with the others. top_builddir says where the
# programs were built.

set -u

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tally.sh" || exit 1
. "$(dirname "$0")/program.sh" || exit 1

# ---------------------------------------------------------------- futex_numa

only_known_lines() {
	gives '^total: [1-9][0-9]*$' "$@" || return 1
	if grep -Evq '^(# [0-9]+ nodes? with|node: (-1|[0-9]+)$|total: [0-9]+$|contenders: [1-9][0-9]*$|late: [1-9])' "$work/out"; then
		cat "$work/out"
		return 1
	fi
}

contenders_are_counted() {
	only_known_lines -s 0.05 -t 1 "$@" || return 1
	has '^contenders: [1-9]'
}

threads_alone_print_no_contenders() {
	only_known_lines -s 0.05 || return 1
	! grep -q '^contenders' "$work/out"
}

a_fixed_node_is_the_only_one() {
	only_known_lines -s 0.05 -t 3 -N0 || return 1
	has '^node: 0$' || return 1
	! grep -E '^node: ' "$work/out" | grep -v '^node: 0$'
}

# The kernel fills in nodes that exist. At the first turn nobody has waited yet, and after it nobody may have.
nodes_are_none_or_exist() {
	only_known_lines -s 0.1 -t 4 -n 100000 -N || return 1
	has '^node: ' || return 1
	sed -n 's/^node: \([0-9]\)/\1/p' "$work/out" | sort -u | while read -r node; do
		[ -d "/sys/devices/system/node/node$node" ] || [ "$node" -eq 0 ] || { echo "node $node?"; return 1; }
	done
}

a_node_that_does_not_exist_is_missing() {
	[ ! -d /sys/devices/system/node/node1023 ] || { echo 'it exists'; exit 77; }
	run -s 0.05 "$@"
	is_code 77 || return 1
	[ ! -s "$work/out" ] && grep -q '^futex_numa: ' "$work/err"
}

nothing_works_on_classic_calls() {
	NLOCK_FUTEX=legacy run -s 0.05 "$@"
	is_code 77 || return 1
	grep -q '^futex_numa: .* not to be had here$' "$work/err"
}

words_are_compared() {
	gives '^one a node / one: [0-9.]+ \([0-9.]+ to [0-9.]+\); published 3\.01 ' --words -s 0.02 -i 2 "$@" || return 1
	has '^one word  +[1-9]' && has '^one a node +[1-9]' || return 1
	grep -q ', 1 node, ' "$work/out" || return 0
	has '^This machine has one node: '
}

futex_numa() {
	begin futex_numa
	common 'c t s n N L A i f' 'c t s n L A i f'
	test_that 'futex_numa: -N x is an error' is_refused -Nx
	test_that 'futex_numa: -N with a blank before the number is an error' is_refused -N 0
	test_that 'futex_numa: -N-1 is an error' is_refused -N-1
	test_that 'futex_numa: nothing to do is an error' is_refused -t 0 -c 0
	for bad in -1 1025 1.5 ''; do
		test_that "futex_numa: -c '$bad' is an error" is_refused -c "$bad"
		test_that "futex_numa: -t '$bad' is an error" is_refused -t "$bad"
	done
	for bad in 0 -1 3601 nan ''; do
		test_that "futex_numa: -s '$bad' is an error" is_refused -s "$bad"
	done
	test_that 'futex_numa: a second in nanoseconds is an error' is_refused -n 1000000000
	test_that 'futex_numa: contenders of an nlock_mutex are an error' is_refused -L hash -c 1
	test_that 'futex_numa: -L node without a node is an error' is_refused -L node -N
	test_that 'futex_numa: -L first with a node is an error' is_refused -L first -N0
	test_that 'futex_numa: -i without --words is an error' is_refused -i 3
	test_that 'futex_numa: -t with --words is an error' is_refused --words -t 2
	test_that 'futex_numa: --words without contenders is an error' is_refused --words -c 0
	test_that 'futex_numa: threads alone print no contenders' threads_alone_print_no_contenders
	test_that 'futex_numa: contenders are counted' contenders_are_counted -c 3
	test_that 'futex_numa: contenders on a node are counted' contenders_are_counted -c 3 -N0
	test_that 'futex_numa: no threads is none' gives '^total: 0$' -s 0.05 -t 0 -c 2
	test_that 'futex_numa: a fixed node is the only one' a_fixed_node_is_the_only_one
	test_that 'futex_numa: nodes are none, or exist' nodes_are_none_or_exist
	test_that 'futex_numa: thirty threads that do not sleep exclude each other' only_known_lines -s 0.2 -t 30 -n 0 -N
	for lock in 'hash' 'first' 'node -N0'; do
		# shellcheck disable=SC2086
		test_that "futex_numa: -L $lock excludes" only_known_lines -s 0.05 -t 5 -n 1000 -L $lock
	done
	for place in none rr compact spread node; do
		test_that "futex_numa: -A $place works" only_known_lines -s 0.05 -A $place
	done
	test_that 'futex_numa: a node that does not exist is missing' a_node_that_does_not_exist_is_missing -N1023
	test_that 'futex_numa: and so for nlock' a_node_that_does_not_exist_is_missing -L node -N1023
	test_that 'futex_numa: nothing works on classic calls' nothing_works_on_classic_calls
	test_that 'futex_numa: no words either' nothing_works_on_classic_calls --words
	test_that 'futex_numa: but nlock does' env NLOCK_FUTEX=legacy "$program" -s 0.05 -L hash
	test_that 'futex_numa: words are compared' words_are_compared
	test_that 'futex_numa: tsv is in form' gives_tables 'futex_numa 1' -f tsv -s 0.05 -c 2 -N
	test_that 'futex_numa: so it is without a node' gives_tables 'futex_numa 1' --format=tsv -s 0.05 -L hash
	test_that 'futex_numa: so it is of words' gives_tables 'futex_numa_words 2' --words -f tsv -s 0.02 -i 2
	test_that 'futex_numa: words of many contenders are compared' words_are_compared -c 7
}

# ---------------------------------------------------------------- futex_hash

# The average is that of the threads' lines, which are rounded.
summary_is_that_of_the_threads() {
	gives '^Averaged [1-9][0-9]* operations/sec \(\+- [0-9]+\.[0-9]{2}%\), total secs = 0\.05$' -r 0.05 -t 3 "$@" || return 1
	has "^# Running 'futex/hash' benchmark:\$" || return 1
	awk '
		/^\[thread/ { sum += $(NF - 2); n++ }
		/^Averaged/ { mean = $2 }
		END { if (n != 3 || mean - sum / n > 2 || sum / n - mean > 2) { print n, sum / n, mean; exit 1 } }' "$work/out"
}

says_in_its_summary() {
	summary_is_that_of_the_threads -f 7 || return 1
	has '^Run summary \[PID [0-9]+\]: 3 threads, each operating on 7 \[private\] futexes for 0\.05 secs\.$' || return 1
	has '^\[thread  2\] futexes: 0x[0-9a-f]+ \.\.\. 0x[0-9a-f]+ \[ [1-9][0-9]* ops/sec \]$' || return 1
	has '^Futex hashing: (global hash|auto resized to [0-9]+ buckets)$'
}

shared_are_not_called_private() {
	summary_is_that_of_the_threads -f 1 "$1" || return 1
	has ' each operating on 1 futexes for ' && has '^\[thread  0\] futex: 0x[0-9a-f]+ \['
}

silent_prints_no_threads() {
	gives '^Averaged ' -r 0.05 "$1" || return 1
	! grep -q '^\[thread' "$work/out"
}

table_has_its_rows() {
	gives '^futexes +slots set by +ops/s +ratio +least +most +published$' --table -r 0.005 -i 2 "$@" || return 1
	awk '/^(private|shared) / && $2 != "futexes," { print $1, $2, $3 }' "$work/out" >"$work/rows"
	for sort in private shared; do
		for row in 'default -' 'global nlock' '2 nlock' '16 nlock' '256 (nlock|prctl)' '512 (nlock|prctl)' \
			'1024 (nlock|prctl)' '8192 (nlock|prctl)'; do
			echo "$sort $row"
		done
	done >"$work/want"
	[ "$(wc -l <"$work/rows")" -eq 16 ] || { cat "$work/out"; return 1; }
	paste -d '|' "$work/want" "$work/rows" | while IFS='|' read -r line; do
		row=${line##*|} want=${line%|*}
		printf '%s\n' "$row" | grep -Exq "$want" || { echo "'$row' is not $want"; return 1; }
	done || return 1
	# The global hash divided by itself.
	[ "$(grep -Ec '^(private|shared) +global .* 1\.000 +1\.000 +1\.000$' "$work/out")" -eq 2 ] || { cat "$work/out"; return 1; }
	for ratio in 0.196 0.906 0.924 0.991 0.965 0.417 0.176 0.097; do
		grep -Eq "^ *(private|shared|[0-9]+) .* $ratio  " "$work/out" || { echo "$ratio is not published"; return 1; }
	done
}

# Besides the sixteen rows, those of fewer threads, whose number depends on the CPUs.
table_is_in_form() {
	gives '^futex_hash	private	global	' --table --format tsv -r 0.005 -i 2 || return 1
	gives_tables "futex_hash $(grep -c '^futex_hash' "$work/out")" --table --format tsv -r 0.005 -i 2 || return 1
	[ "$(grep -c '^futex_hash' "$work/out")" -ge 16 ]
}

futex_hash() {
	begin futex_hash
	common 't f b s r q i' 't f b r i'
	for bad in 1 3 -2 2097152 1e3 ''; do
		test_that "futex_hash: -b '$bad' is an error" is_refused -b "$bad"
	done
	for bad in 0 -1 nan 3601 ''; do
		test_that "futex_hash: -r '$bad' is an error" is_refused -r "$bad"
	done
	for bad in 0 4097 ''; do
		test_that "futex_hash: -t '$bad' is an error" is_refused -t "$bad"
	done
	test_that 'futex_hash: -f 0 is an error' is_refused -f 0
	test_that 'futex_hash: -i without the table is an error' is_refused -i 3
	for option in '-b 16' -s -q --shared --silent; do
		# shellcheck disable=SC2086
		test_that "futex_hash: $option with the table is an error" is_refused --table $option
	done
	test_that 'futex_hash: the summary is that of the threads' says_in_its_summary
	for option in -s --shared; do
		test_that "futex_hash: with $option they are not called private" shared_are_not_called_private $option
	done
	for option in -q --silent; do
		test_that "futex_hash: $option prints no threads" silent_prints_no_threads $option
	done
	test_that 'futex_hash: -b 0 is the global hash' gives '^Futex hashing: global hash, set by nlock$' -r 0.02 -b 0
	test_that 'futex_hash: a small number is set by nlock' gives '^Futex hashing: 16 hash buckets, set by nlock$' -r 0.02 -b 16
	test_that 'futex_hash: any number is what it is' gives '^Futex hashing: 65536 hash buckets, set by ' -r 0.02 -b 65536
	test_that 'futex_hash: the table has its rows' table_has_its_rows
	test_that 'futex_hash: --format xml is an error' is_refused --format xml
	test_that 'futex_hash: -q with --format is an error' is_refused -q --format tsv
	test_that 'futex_hash: tsv is in form' gives_tables 'futex_hash 1' --format tsv -r 0.02 -t 3 -f 5
	test_that 'futex_hash: so it is of set slots' gives_tables 'futex_hash 1' --format tsv -r 0.02 -b 16
	test_that 'futex_hash: so it is of the table' table_is_in_form
	test_that 'futex_hash: so it has with more threads than CPUs' table_has_its_rows -t 9 -f 3
}

# ---------------------------------------------------------------- wakelat

# Three blocks, each with percentiles that do not fall.
percentiles_are_in_order() {
	gives '^average rps: [0-9]+\.[0-9]{2}$' -w 0 "$@" || return 1
	has '^Wakeup Latencies percentiles \(usec\) runtime [0-9.]+ \(s\) \([0-9]+ total samples\)$' || return 1
	has '^Request Latencies percentiles \(usec\) runtime ' && has '^RPS percentiles \(requests\) runtime ' || return 1
	has '^current rps: [0-9]+\.[0-9]{2}$' && has '^Futex hashing: ' || return 1
	awk '
		/percentiles/ { blocks++; last = -1 }
		/th:/ { lines++; if ($NF != "-" && $NF + 0 < last) bad = 1; if ($NF != "-") last = $NF + 0 }
		END { if (blocks != 3 || lines != 11 || bad) { print blocks, lines, bad; exit 1 } }' "$work/out" || {
		cat "$work/out"
		return 1
	}
}

# The first sample counts from the first interval on, and a run has ten of each.
intervals_are_told() {
	percentiles_are_in_order -r 0.2 -i 0.1 -n 0 || return 1
	[ "$(grep -c '^current rps: ' "$work/out")" -ge 1 ] && has '^RPS .*\(20 total samples\)$'
}

published_is_told() {
	prints '^published: private over global hash 1\.010 \(-t 64, ' -r 0.01 -w 0 -n 0 || return 1
	has '^published: private over global hash 1\.000 \(-L -m 4 -M auto -t 64 -n 0, '
}

wakelat() {
	begin wakelat
	common 'm t r w i s n F L M P b f' 'm t r w i s n F M P b f'
	for bad in 0 257 -1 ''; do
		test_that "wakelat: -m '$bad' is an error" is_refused -m "$bad"
	done
	for bad in 0 -1 nan 3601 ''; do
		test_that "wakelat: -r '$bad' is an error" is_refused -r "$bad"
		test_that "wakelat: -i '$bad' is an error" is_refused -i "$bad"
	done
	for bad in 1 3 ''; do
		test_that "wakelat: -b '$bad' is an error" is_refused -b "$bad"
	done
	test_that 'wakelat: -F without work is an error' is_refused -n 0 -F 64
	for point in futex cond sem; do
		test_that "wakelat: percentiles are in order, sleeping on $point" percentiles_are_in_order -r 0.1 -P $point
		test_that "wakelat: the first line of 2025 works, sleeping on $point" \
			percentiles_are_in_order -t 64 -r 0.05 -i 5 -F 4 -P $point
		test_that "wakelat: the second line of 2025 works, sleeping on $point" \
			percentiles_are_in_order -L -m 4 -M auto -t 64 -n 0 -r 0.05 -i 5 -P $point
		test_that "wakelat: so does one worker that never sleeps in its request, sleeping on $point" \
			percentiles_are_in_order -t 1 -n 0 -s 0 -r 0.05 -P $point
	done
	test_that 'wakelat: intervals are told' intervals_are_told
	test_that 'wakelat: a run of a millisecond ends' percentiles_are_in_order -r 0.001 -m 3 -t 5
	test_that 'wakelat: the global hash can be asked for' gives '^Futex hashing: global hash, set by ' -r 0.02 -w 0 -n 0 -b 0
	test_that 'wakelat: tsv is in form' gives_tables 'wakelat 1' -f tsv -r 0.05 -w 0 -n 0 -i 0.01
	test_that 'wakelat: what was published is told' published_is_told
}

# ---------------------------------------------------------------- starve

# A row for each lock, whose median is no longer than its worst wait. The hogs had the lock at least once.
starve_has_rows() {
	locks=$1
	shift
	gives '^ L policy +times +mean ms +median +worst worst/turn +hogs/s$' -t 0.5 -i 3 -L "$locks" "$@" || return 1
	for lock in $(echo "$locks" | tr , ' '); do
		has "^ $lock (strict|queued|bounded|barges) +[0-9]+ +([0-9.]+|-) " || return 1
	done
	awk '/^ [a-zP] / && $1 != "L" { n++; if ($5 + 0 > $6 + 0 || $8 + 0 <= 0 || $3 > 3) bad = 1 }
		END { exit bad || !n }' "$work/out" || { cat "$work/out"; return 1; }
}

starve() {
	begin starve
	common 'c x r i t L A f' 'c x r i t L A f'
	for bad in 0 1025 -1 ''; do
		test_that "starve: -c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in "" "," e T 't,' nothing; do
		test_that "starve: -L '$bad' is an error" is_refused -L "$bad"
	done
	test_that 'starve: --skew of what is an error' is_refused --skew dance
	test_that 'starve: --skew alone is an error' is_refused --skew
	test_that 'starve: an abbreviated --skew is an error' is_refused --ske spin
	for lock in k t f h c p P s; do
		test_that "starve: $lock, hogs that sleep" starve_has_rows $lock -x 500
		test_that "starve: $lock, one hog that spins" starve_has_rows $lock --skew spin
	done
	test_that 'starve: a list of locks' starve_has_rows t,f,h,c,p -x 100 -r 50 -c 5
	test_that 'starve: one hog that sleeps' starve_has_rows t,c --skew=sleep -x 50
	test_that 'starve: -f xml is an error' is_refused -f xml
	test_that 'starve: tsv is in form' gives_tables 'starve 4' -f tsv -t 0.3 -i 2 -x 100 -L k,t,c,p
	test_that 'starve: so it is of hogs that spin' gives_tables 'starve 1' --format tsv -t 0.3 -i 2 --skew spin -L h
}

futex_numa
futex_hash
wakelat
starve
finish
