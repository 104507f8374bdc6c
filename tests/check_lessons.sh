#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_lessons.sh - convoy, rwshare, minitdb, release: exit codes, errors, the shape and the sums of what it prints
#
# No figure that was measured is checked, only that it is there, and that it agrees with the others. top_builddir says where the
# programs were built.

set -u

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tally.sh" || exit 1
. "$(dirname "$0")/program.sh" || exit 1

# ---------------------------------------------------------------- convoy

# A row for each lock, and its strip: a character for each bin, unless there was no stall.
convoy_has_rows() {
	locks=$1 bins=$2
	shift 2
	gives '^ L policy +turns/ms wait% +turns/ms wait%  kept  in bins$' -L "$locks" "$@" || return 1
	for lock in $(echo "$locks" | tr , ' '); do
		has "^ $lock (strict|queued|bounded|barges) +([0-9.]+|-) +([0-9.]+|-) +([0-9.]+|-) +([0-9.]+|-) +([0-9.]+|-) +([0-9]+|-)$" || return 1
		has "^ $lock (done +[0-9]|there was no stall in this run)" || return 1
	done
	awk -v bins="$bins" '/^ [a-zP] done / && length($0) != 11 + bins { print "not so many bins: " $0; exit 1 }' "$work/out"
}

# Bins are numbered from 0, the stall is one stretch of them, and a turn that waited was a turn.
bins_are_in_order() {
	gives_tables "convoy 2 convoy_bin 64" -f tsv -L t,c -t 0.064 -b 2 -s 4 -r 20 -i 2 || return 1
	awk -F '\t' '
		$1 == "convoy_bin" {
			if ($4 != n % 32) { print "bin " $4; exit 1 }
			if (n++ % 32 == 0) phases = ""
			if ($7 != last || n % 32 == 1) phases = phases " " $7
			last = $7
			if ($6 != "-" && ($6 < 0 || $6 > 100)) { print "wc " $6; exit 1 }
			if (n % 32 == 0 && phases !~ /^ before( stall( after)?)?$/) { print phases; exit 1 }
		}' "$work/out"
}

# A lock whose requests all had to wait, from the stall to the end, is not out of its convoy.
who_waits_has_not_recovered() {
	gives '^convoy' -f tsv -c 8 -r 100 -x 1 -L t,c -t 0.2 -i 1 || return 1
	awk -F'\t' '$1 == "exp" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == "convoy" && $at["wc_after"] == 100 && $at["recover"] != "-" { print "all wait, recovered: " $0; bad = 1 }
		$1 == "convoy" && $at["wc_after"] < 20 && $at["thput_after"] > $at["thput_before"] && $at["recover"] == "-" {
			print "none waits, not recovered: " $0; bad = 1 }
		END { exit bad }' "$work/out"
}

# The claim is tried, whatever comes out.
claim_has_a_verdict() {
	gives '^E13: (reproduced|not reproduced here \(.*\)( - machine busy)?)$' --claim -t 0.08 -b 2 -i 1 -s 2 || return 1
	[ "$(grep -Ec '^   (yes|NO ) ' "$work/out")" -eq 5 ] || { cat "$work/out"; return 1; }
	for lock in t h c; do
		has "^ $lock (strict|bounded|barges) " || return 1
	done
}

sweep_has_rows() {
	gives '^     r   wait% before ' --sweep -t 0.032 -b 2 -i 1 -s 2 "$@" || return 1
	[ "$(grep -Ec '^ *[0-9]+ +.* (yes|no) +(yes|no|-)$' "$work/out")" -eq 10 ] || { cat "$work/out"; return 1; }
	has '^(No convoy stayed, so H is not known\.|H, read off the first convoy: )'
}

convoy() {
	begin convoy
	quick='-t 0.08 -b 2 -i 1 -r 20 -s 2'
	common 'c r x t i b s L A R S f' 'c r x t i b s L A R S f'
	for bad in 1 0 257 -1 ''; do
		test_that "convoy: -c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in '' ',' e T t,nothing; do
		test_that "convoy: -L '$bad' is an error" is_refused -L "$bad"
	done
	for option in stall format; do
		test_that "convoy: --$option alone is an error" is_refused --$option
	done
	test_that 'convoy: too few bins are an error' is_refused -t 0.03 -b 2
	test_that 'convoy: too many bins are an error' is_refused -t 3 -b 2
	test_that 'convoy: --claim with --sweep is an error' is_refused --claim --sweep
	test_that 'convoy: --claim with a list of locks is an error' is_refused --claim -L t
	test_that 'convoy: --claim in tsv is an error' is_refused --claim -f tsv
	test_that 'convoy: --sweep with -r is an error' is_refused --sweep -r 3
	test_that 'convoy: --sweep of two locks is an error' is_refused --sweep -L t,c
	for lock in k t f h c p P s; do
		# shellcheck disable=SC2086
		test_that "convoy: $lock has its row and its strip" convoy_has_rows $lock 40 $quick
	done
	test_that 'convoy: a list of locks' convoy_has_rows t,f,h,c 16 -t 0.08 -b 5 -i 2 --stall=10
	test_that 'convoy: a strip has at most 100 characters' convoy_has_rows t 100 -t 0.2 -b 1 -i 1
	test_that 'convoy: an empty loop ends too' convoy_has_rows t,c 40 -t 0.08 -b 2 -i 1 -r 0 -x 0 -s 2
	for place in none compact spread node; do
		# shellcheck disable=SC2086
		test_that "convoy: -A $place works" convoy_has_rows h 40 $quick -A $place
	done
	test_that 'convoy: bins are in order' bins_are_in_order
	test_that 'convoy: who waits has not recovered' who_waits_has_not_recovered
	test_that 'convoy: the claim has a verdict' claim_has_a_verdict
	test_that 'convoy: the sweep has its rows' sweep_has_rows
	test_that 'convoy: the sweep is of another lock too' sweep_has_rows -L c
	test_that 'convoy: the sweep is in form' gives_tables 'convoy_sweep 10' --sweep -f tsv -t 0.032 -b 2 -i 1 -s 2
}

# ---------------------------------------------------------------- rwshare

# A row for each share, all of whose throughputs are there, and one of ratios.
shares_have_rows() {
	fields=$1 tasks=$2
	shift 2
	gives "  \\| 2002, $tasks tasks\$" -t 0.005 -i 1 "$@" || return 1
	for share in 0 20 40 60 80 100 100/0; do
		[ "$(grep -Ec "^ *$share( +[1-9][0-9.]*|  *0\\.[0-9]+){$fields}  \\|( +[1-9][0-9.]*){2}\$" "$work/out")" -eq 1 ] || {
			echo "no row of $share"
			cat "$work/out"
			return 1
		}
	done
}

rwshare() {
	begin rwshare
	common 'c r x t i L M A R S f' 'c r x t i L M A R S f'
	for bad in 0 4097 -1 ''; do
		test_that "rwshare: -c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in '' ',' c f t,s e; do
		test_that "rwshare: -L '$bad' is an error" is_refused -L "$bad"
	done
	test_that 'rwshare: its table has its rows' shares_have_rows 4 2
	test_that 'rwshare: so it has of processes' shares_have_rows 4 2 -M proc
	test_that 'rwshare: so it has of one lock and many tasks' shares_have_rows 1 4 -L q -c 20
	test_that 'rwshare: so it has of an empty loop' shares_have_rows 2 3 -L r,rw-writers -c 3 -r 0 -x 0
	test_that 'rwshare: tsv is in form' gives_tables 'rwshare 24' -f tsv -t 0.005 -i 2
	test_that 'rwshare: so it is of processes' gives_tables 'rwshare 6' --format tsv -t 0.005 -i 1 -M proc -L w
}

# ---------------------------------------------------------------- minitdb

# A row for each lock; the database was intact after each of its runs.
database_is_intact() {
	locks=$1
	shift
	gives '^ L policy +seconds +ops/s over c +WC csw/op +intact$' -i 2 -L "$locks" "$@" || return 1
	for lock in $(echo "$locks" | tr , ' '); do
		has "^ $lock (strict|queued|bounded|barges|phases) +[0-9.]+ +[0-9]+ +([0-9.]+|-) +[0-9.]+ +[0-9.]+  yes\$" || return 1
	done
	has '^  fcntl +1\.69 +13\.30 +1\.84$'
}

# Each fault has its line, and the last line says so.
faults_are_found() {
	gives '^self-test passed$' -T || return 1
	[ "$(grep -c ': found out$' "$work/out")" -eq 9 ] && has '^sound: nothing is found$'
}

minitdb() {
	begin minitdb
	common 'c n H k i L M A S f T' 'c n H k i L M A S f'
	for bad in 0 257 -1 ''; do
		test_that "minitdb: -c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in 0 8001 -1 1.5; do
		test_that "minitdb: -H '$bad' is an error" is_refused -H "$bad"
	done
	for bad in 0 4; do
		test_that "minitdb: -k $bad is an error" is_refused -k $bad
	done
	for bad in '' ',' e T t,nothing; do
		test_that "minitdb: -L '$bad' is an error" is_refused -L "$bad"
	done
	test_that 'minitdb: -T with anything else is an error' is_refused -T -c 3
	test_that 'minitdb: planted faults are found' faults_are_found
	for lock in k l t f h c p P s q; do
		for mode in thread proc; do
			test_that "minitdb: $lock, one chain ($mode)" database_is_intact $lock -n 1000 -M $mode
			test_that "minitdb: $lock, many chains ($mode)" database_is_intact $lock -n 1000 -H 64 -k 1 -M $mode
		done
	done
	test_that 'minitdb: a list of locks' database_is_intact t,f,h,c,p -n 2000
	test_that 'minitdb: low contention, as in 2002' database_is_intact c,l -n 1000 -H 4096 -k 3
	test_that 'minitdb: one worker has nobody to wait for' database_is_intact t,c,k -n 1000 -c 1
	test_that 'minitdb: a single operation is a run' database_is_intact h -n 1 -c 1
	test_that 'minitdb: forty workers' database_is_intact h,c -n 200 -c 40 -k 1
	for place in none compact spread node; do
		test_that "minitdb: -A $place works" database_is_intact h -n 500 -A $place
	done
	test_that 'minitdb: tsv is in form' gives_tables 'minitdb 3' -f tsv -n 1000 -L t,c,p -i 2
	test_that 'minitdb: so it is of processes' gives_tables 'minitdb 1' --format tsv -n 1000 -L f -i 1 -M proc
}

# ---------------------------------------------------------------- release

# releases_are WHAT AWK ARGUMENT...: rows of the table for which AWK, a condition on claim, lock, how, tried and times, does not hold.
releases_are() {
	what=$1
	shift
	gives '^release	' -f tsv -L t,f,h,c,p -n 20 -c 5 "$@" || return 1
	awk -F '\t' "\$1 == \"release\" { claim = \$2; lock = \$3; how = \$4; tried = \$5; times = \$6; if (!($what)) { print; bad = 1 } }
		END { exit bad }" "$work/out"
}

release() {
	begin release
	common 'n c L f' 'n c L f'
	for bad in 0 65 -1 ''; do
		test_that "release: -c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in '' ',' e T k s t,nothing; do
		test_that "release: -L '$bad' is an error" is_refused -L "$bad"
	done
	test_that 'release: a row of each claim and lock that it is about' gives_tables 'release 17' -f tsv -n 3
	test_that 'release: the same for people' prints '^ D4  h  late +[0-3] +[0-3]$' -n 3 -L h
	test_that 'release: what was handed over is not had again' releases_are 'claim != "D1" || lock !~ /[tf]/ || times == 0'
	test_that 'release: nor after a fair release of any lock' releases_are 'how != "fair" || times == 0'
	test_that 'release: who fell asleep first has it first' releases_are 'claim != "D2" || times == tried'
	test_that 'release: so it is with as many as there may be' releases_are 'claim != "D2" || times == tried' -n 2 -c 64
	test_that 'release: who is late is served' releases_are 'claim != "D4" || times == tried'
	test_that 'release: alone, it makes no system call' releases_are 'claim != "D5" || times == tried'
	test_that 'release: never more often than it was tried' releases_are 'times <= tried && tried <= 20'
}

convoy
rwshare
minitdb
release
finish
