#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_guard.sh - ulockflex: its integrity guard (claim D6), each of its locks, its options, the shape of what it prints
#
# No figure that was measured is checked, only that it is there. top_builddir says where the program was built; ULOCKFLEX
# overrides its path.

set -u

program=${ULOCKFLEX:-${top_builddir:-.}/examples/handoff/ulockflex}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

locks='e k l t f h c p P s q r w T F H C'
quick='-t 0.02 -i 1 -R 1000'
tab=$(printf '\t')
. "$(dirname "$0")/tally.sh" || exit 1
. "$(dirname "$0")/program.sh" || exit 1

# System V semaphores may be forbidden or used up. Nothing else that is tested here can be missing.
may_lack()
{
	if [ "$code" -eq 77 ] && [ "$1" = k ] && grep -q '^ulockflex: lock k cannot be had here' "$work/err"; then
		cat "$work/err"
		exit 77
	fi
}

# ---------------------------------------------------------------- the guard and the locks

is_caught()
{
	run -T -L "$1" -M "$2"
	may_lack "$1"
	is_code 0 || return 1
	case $1 in
	e) silent='it never is' ;;
	*) silent='the guard is silent' ;;
	esac
	grep -q "^$1  sound: $silent; broken on purpose: found out\$" "$work/out" || { cat "$work/out"; return 1; }
}

# column NAME: that column of the only row of $work/out, which is tsv.
column()
{
	awk -F '\t' -v name="$1" '
		/^#/ { next }
		!n { for (n = NF; n && $n != name; n--) ; if (!n) exit; next }
		{ print $n }' "$work/out"
}

excludes()
{
	# shellcheck disable=SC2086
	run $quick -f tsv "$@"
	may_lack "$2"
	is_code 0 || return 1
	[ "$(column guard_ok)" = yes ] || { echo "guard_ok is '$(column guard_ok)'"; return 1; }
	[ "$(column thput)" != 0 ] || { echo 'nothing was done'; return 1; }
}

guard()
{
	for lock in $locks; do
		test_that "a broken $lock is found out, among threads" is_caught "$lock" thread
		test_that "a broken $lock is found out, among processes" is_caught "$lock" proc
		test_that "$lock excludes threads" excludes -L "$lock" -c 4 -r 0 -x 0
		test_that "$lock excludes processes" excludes -L "$lock" -c 4 -r 0 -x 0 -M proc
	done
	test_that 'a list of locks is run' prints '^ +5 +1 +0\.02 +1 C +3 +0 +0 ' $quick -q -c 5 -r 0 -x 0 -L t,C
	test_that 'a hundred threads are no trouble' excludes -L t -c 100 -r 9 -x 1
	test_that 'more tasks than locks share them' excludes -L f -c 7 -a 3
	test_that 'more locks than tasks are allowed' excludes -L f -c 2 -a 5
	for lock in s q r w; do
		for mode in thread proc; do
			test_that "$lock: readers and writers exclude each other ($mode)" excludes -L $lock -c 4 -s 50 -r 0 -x 0 -M $mode
			test_that "$lock: readers alone are allowed ($mode)" excludes -L $lock -c 4 -s 100 -r 0 -x 0 -M $mode
		done
	done
	test_that 'waits are taken' excludes -L t -W
	for place in none rr compact spread node; do
		test_that "-A $place works" excludes -L c -A "$place"
	done
	test_that 'the self-test takes a list' prints '^self-test passed$' -T -L e,t
	test_that 'a quiet self-test says one line' prints '^self-test passed$' -T -q -L t
}

# ---------------------------------------------------------------- options

refusals()
{
	for bad in 0 -1 4097 1x x '' 1.5 99999999999999999999; do
		test_that "-c '$bad' is an error" is_refused -c "$bad"
	done
	for bad in 0 1025 x ''; do
		test_that "-a '$bad' is an error" is_refused -a "$bad"
		test_that "-i '$bad' is an error" is_refused -i "$bad"
	done
	for bad in 0 -1 3601 x '' 1s nan inf; do
		test_that "-t '$bad' is an error" is_refused -t "$bad"
	done
	for bad in -1 1e7 x '' nan inf; do
		test_that "-r '$bad' is an error" is_refused -r "$bad"
		test_that "-x '$bad' is an error" is_refused -x "$bad"
		test_that "-p '$bad' is an error" is_refused -L T -p "$bad"
	done
	for bad in '' , z 'f,' ',f' f,z 'f c' fifoo; do
		test_that "-L '$bad' is an error" is_refused -L "$bad"
	done
	for bad in '' threads 1; do
		test_that "-M '$bad' is an error" is_refused -M "$bad"
		test_that "-A '$bad' is an error" is_refused -A "$bad"
		test_that "-f '$bad' is an error" is_refused -f "$bad"
	done
	for bad in '' 0 x -5 1000001; do
		test_that "-R '$bad' is an error" is_refused -R "$bad"
	done
	for bad in '' x -1 1.5 18446744073709551616; do
		test_that "-S '$bad' is an error" is_refused -S "$bad"
	done
	for bad in '' x -1 101; do
		test_that "-s '$bad' is an error" is_refused -L s -s "$bad"
	done
	for option in c a t i L r x p M A H S R f s; do
		test_that "-$option without an argument is an error" is_refused "-$option"
	done
	test_that 'an unknown option is an error' is_refused -Z
	test_that 'an unknown long option is an error' is_refused --fast
	test_that 'a value for --demo is an error' is_refused --demo=yes
	test_that 'an abbreviated option is an error' is_refused --dem
	test_that 'an argument is an error' is_refused f
	test_that '-p without a spinning lock is an error' is_refused -p 3 -L f,c
	test_that '-s with a lock that cannot share is an error' is_refused -s 10 -L s,f
	test_that 'a history of reads is an error' is_refused -s 100 -L s -H -
	test_that 'a history among tsv is an error' is_refused -f tsv -H -
	test_that 'a history that cannot be written is an error' is_refused -H "$work/no/such/file"
	test_that '-c with the claims is an error' is_refused --claims -c 5
	test_that '-L with the demo is an error' is_refused --demo -L f
	test_that 'claims and demo at once are an error' is_refused --demo --claims
	test_that '-f with the self-test is an error' is_refused -T -f tsv
}

# ---------------------------------------------------------------- output

# shellcheck disable=SC2086
classic_row_is_as_in_2002()
{
	prints '^ +c +a +t +i +L +p +r +x +WC +RC +R +COV +ThPut +mRun +wRun$' $quick -c 2 -L t -r 1 -x 1 || return 1
	row='^ *2 +1 +0\.02 +1 +t +0 +1 +1 +[0-9.]+ +0\.00 +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9]+$'
	grep -Eq "$row" "$work/out" || { echo "no such row: $(cat "$work/out")"; return 1; }
}

# shellcheck disable=SC2086
quiet_means_rows_only()
{
	prints '^ *3 +1 ' $quick -q -L e,t,c || return 1
	[ "$(wc -l <"$work/out")" -eq 3 ] || { cat "$work/out"; return 1; }
}

# shellcheck disable=SC2086
tsv_has_its_columns()
{
	prints '^# nl-handoff v1 host .* kernel .* cpus [0-9]+ nodes [0-9]+ seed 7$' $quick -S 7 -f tsv -W -L e,t,f,c,T || return 1
	want='exp lock strict c a place mode t i r x p thput thput_ci95 wc rc retry csw_op cov jain ff minmean maxmean runs'
	want="$want mrun medrun wrun p1 p2 maxrun chg wait_p50 wait_p90 wait_p99 wait_p999 wait_max bypass_max guard_ok"
	head=$(grep -v '^#' "$work/out" | head -n 1 | tr "$tab" ' ')
	case "$head " in
	"$want "*) ;;
	*) echo "columns are $head"; return 1 ;;
	esac
	awk -F '\t' '/^#/ { next } !n { n = NF } NF != n { bad = 1 } END { exit bad || !n }' "$work/out" || {
		echo 'rows differ in length'
		return 1
	}
}

# shellcheck disable=SC2086
json_is_one_object_a_line()
{
	prints '"lock":"t","strict":"yes","c":3,.*"guard_ok":"yes".*"seed":9}$' $quick -S 9 -f json -L t,c || return 1
	if grep -Evq '^\{"[a-z_]+":("[^"]*"|-?[0-9.e+-]+|null)(,"[a-z0-9_]+":("[^"]*"|-?[0-9.e+-]+|null))*\}$' "$work/out"; then
		cat "$work/out"
		return 1
	fi
}

# shellcheck disable=SC2086
published_numbers_are_printed()
{
	prints '^ f/c .* 0\.108 \(6 March 2002, FAIR/CA\)' $quick -r 0 -x 0 -L t,f,c || return 1
	grep -Eq '^ t/c .* 0\.395 \(5 March 2002, f/c\); 0\.155 \(5 March 2002, f/m\)' "$work/out" || { cat "$work/out"; return 1; }
	prints 'FIFO/CA .* published 0\.108' $quick -L f || return 1
	grep -q '0\.385 to 0\.632, median 0\.49' "$work/out" || { cat "$work/out"; return 1; }
}

# The lines of the history must follow one another, and add up to what its head says.
# shellcheck disable=SC2086
history_adds_up()
{
	run $quick -c 3 -L t,c -H "$work/history"
	is_code 0 || return 1
	awk '
		/^# acquisitions/ { if (next_one != want) bad = 1; want = $3 + 0; next_one = 0; last = -1; histories++ }
		/^#/ { next }
		!/^[0-9]+ (\[ [0-9]+ \])?: [0-9]+$/ { print "odd line: " $0; bad = 1 }
		{ id = $NF; if ($1 != next_one || id == last || id > 2) { print "out of order: " $0; bad = 1 }
		  next_one += NF == 5 ? $3 : 1; last = id }
		END { if (bad || histories != 2 || next_one != want || !want) { print "does not add up"; exit 1 } }' "$work/history"
}

# shellcheck disable=SC2086
strips_are_plain_in_a_pipe()
{
	# On a very busy machine a fiftieth of a second may not be enough for a hundred acquisitions.
	prints '^t  (each   1 [0-2]{100}|fewer than 100 acquisitions)$' $quick -c 3 -L t || return 1
	if grep -q "$(printf '\033')" "$work/out"; then
		echo 'there is an escape sequence'
		return 1
	fi
}

# shellcheck disable=SC2086
write_error_is_noticed()
{
	timeout 300 "$program" $quick -L e >/dev/full 2>"$work/err"
	code=$?
	is_code 1 || return 1
	grep -q '^ulockflex: cannot write' "$work/err" || { cat "$work/err"; return 1; }
}

help_names_every_lock()
{
	prints '^Usage: ulockflex' --help || return 1
	for lock in $locks; do
		grep -q "^  $lock  " "$work/out" || { echo "$lock is not in it"; return 1; }
	done
	grep -q '^  strict ' "$work/out" && grep -q '^  queued ' "$work/out"
}

# shellcheck disable=SC2086
names_are_as_good_as_letters()
{
	for pair in e=empty t=ticket f=fifo h=bounded c=barging p=pthread P=adaptive s=rwlock T=spin-ticket F=spin-fifo; do
		run $quick -q -L "${pair#*=}"
		is_code 0 || return 1
		grep -q " ${pair%=*} " "$work/out" || { echo "${pair#*=} is not ${pair%=*}"; return 1; }
	done
}

every_claim_has_a_verdict()
{
	run --claims -t 0.02 -R 1000
	is_code 0 || return 1
	grep -q '^[0-6] of [56] claims reproduced here$' "$work/out" || { echo 'no count'; return 1; }
	for claim in E1 E2 E3 E4 E5 E6; do
		grep -Eq "^$claim: (reproduced|not reproduced here \(|no verdict)" "$work/out" || { echo "none for $claim"; return 1; }
	done
	head -n 1 "$work/out" | grep -q 'effective [0-9.]*' || { echo 'no effective CPUs'; return 1; }
}

demo_shows_what_it_promises()
{
	run --demo -t 0.02 -R 1000
	is_code 0 || return 1
	for lock in k f t h c p; do
		[ $lock = k ] && grep -q '^ulockflex: lock k cannot be had here' "$work/err" && continue
		grep -Eq "^ *3 +1 +0\.02 +3 $lock " "$work/out" || { echo "no row for $lock"; return 1; }
	done
	for lock in t c; do
		grep -Eq "^$lock  (each   1 [0-2]{100}|fewer than 100 acquisitions)\$" "$work/out" ||
			{ echo "no strip for $lock"; return 1; }
	done
	grep -q '0\.108  6 March 2002' "$work/out" && grep -q '0\.385 \.\. 0\.632  OLS 2002' "$work/out"
}

output()
{
	test_that 'the classic row is as in 2002' classic_row_is_as_in_2002
	test_that 'quiet means rows only' quiet_means_rows_only
	test_that 'tsv has its columns' tsv_has_its_columns
	test_that 'json is one object a line' json_is_one_object_a_line
	test_that 'the published numbers are printed' published_numbers_are_printed
	test_that 'a history adds up' history_adds_up
	# shellcheck disable=SC2086
	test_that 'a history goes to standard output' prints '^0 (\[ [0-9]+ \])?: [0-2]$' $quick -q -L t -H -
	test_that 'strips are plain in a pipe' strips_are_plain_in_a_pipe
	test_that 'an error in writing is noticed' write_error_is_noticed
	test_that 'help names every lock' help_names_every_lock
	test_that 'version is told' prints '^ulockflex, with nlock [0-9]+\.[0-9]+\.[0-9]+$' --version
	test_that 'names are as good as letters' names_are_as_good_as_letters
	test_that 'every claim has a verdict' every_claim_has_a_verdict
	test_that 'the demo shows what it promises' demo_shows_what_it_promises
}

[ -x "$program" ] || { echo "no program at $program"; exit 1; }
guard
refusals
output
finish
