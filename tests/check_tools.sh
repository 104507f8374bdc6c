#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_tools.sh - the command `nlock': exit codes, errors, the shape of what it prints
#
# No figure is checked, only that it is there. top_builddir says where the command was built, srcdir where the sources are;
# NLOCK overrides the path of the command.

set -u

nlock=${NLOCK:-${top_builddir:-.}/tools/nlock}
src=${top_srcdir:-${srcdir:-.}}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

others='cond rwlock barrier sem once'
. "$(dirname "$0")/tally.sh" || exit 1

# run ARGUMENT...: the command's exit code in $code, its output in $work/out and $work/err.
run()
{
	timeout 300 "$nlock" "$@" >"$work/out" 2>"$work/err"
	code=$?
}

# One line on standard error, nothing on standard output, exit code 2.
is_refused()
{
	run "$@"
	is_code 2 || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] || { echo "not one line: $(cat "$work/err")"; return 1; }
	grep -q '^nlock: ' "$work/err" || { echo "not ours: $(cat "$work/err")"; return 1; }
	[ ! -s "$work/out" ] || { echo "it printed something: $(head -n 3 "$work/out")"; return 1; }
}

# prints PATTERN ARGUMENT...: ends with 0, says nothing on standard error, and some line is like PATTERN.
prints()
{
	pattern=$1
	shift
	run "$@"
	is_code 0 || return 1
	[ ! -s "$work/err" ] || { echo "complained: $(cat "$work/err")"; return 1; }
	grep -Eq -- "$pattern" "$work/out" || { echo "no line like $pattern"; return 1; }
}

refusals()
{
	test_that 'nlock alone is an error' is_refused
	test_that 'an unknown command is an error' is_refused dance
	test_that 'an unknown command with arguments is an error' is_refused --version now
	test_that 'bench alone is an error' is_refused bench
	test_that 'bench of an unknown noun is an error' is_refused bench spoon
	test_that '--cell with all nouns is an error' is_refused bench all --quick --cell t2
	test_that '--locks with all nouns is an error' is_refused bench all --quick --locks nsync
	test_that '--threads with all nouns is an error' is_refused bench all --quick --threads 2
	for noun in $others; do
		test_that "a cell of the mutex is an error in bench $noun" is_refused bench "$noun" --cell t2-0-0
		test_that "a lock of the self-test is an error in bench $noun" is_refused bench "$noun" --locks self-test-open
		test_that "--threads is an error in bench $noun" is_refused bench "$noun" --threads 2
	done
	test_that 'an unknown option of info is an error' is_refused info --xml
	test_that 'an argument of info is an error' is_refused info all
	test_that 'a value for a flag is an error' is_refused info --json=yes
	test_that 'an unknown option of bench is an error' is_refused bench mutex --fast
	test_that 'an abbreviated option is an error' is_refused bench mutex --round 3
	test_that 'a short option is an error' is_refused bench mutex -r 3
	test_that 'an argument of bench mutex is an error' is_refused bench mutex t2-0-0
	test_that 'a missing value is an error' is_refused bench mutex --rounds
	for bad in 0 -1 501 1x x '' ' 1' 99999999999999999999; do
		test_that "--rounds '$bad' is an error" is_refused bench mutex --rounds "$bad"
	done
	for bad in 0 10001 1.5 ''; do
		test_that "--slice '$bad' is an error" is_refused bench mutex --slice "$bad"
	done
	for bad in 0 1025 two ''; do
		test_that "--threads '$bad' is an error" is_refused bench mutex --threads "$bad"
	done
	for bad in t0-0-0 t2-0 t2-0-0-0 t2-0-00 t2-5-0 t2-0ns-0 t2-1s-0 t2-0-11000us t2--1us-0 t1025-0-0 't2-0-0,' '' nothing; do
		test_that "--cell '$bad' is an error" is_refused bench mutex --cell "$bad"
	done
	for bad in '' nothing 'fifo,' self-test-open; do
		test_that "--locks '$bad' is an error" is_refused bench mutex --locks "$bad"
	done
}

help_texts()
{
	test_that 'nlock --help prints its usage' prints '^usage: nlock' --help
	test_that 'nlock info --help prints its usage' prints '^usage: nlock info' info --help
	for noun in mutex $others all; do
		test_that "nlock bench $noun --help prints its usage" prints "^usage: nlock bench $noun" bench "$noun" --help
	done
	test_that 'nlock --version names command and library' \
		prints '^nlock [0-9]+\.[0-9]+\.[0-9]+, library [0-9]+\.[0-9]+\.[0-9]+$' --version
	test_that 'every option is in the manual' all_options_are_in_the_manual
}

all_options_are_in_the_manual()
{
	for noun in info 'bench mutex' 'bench cond' 'bench all'; do
		# shellcheck disable=SC2086
		run $noun --help
		sed -n 's/^  --\([a-z-]*\).*/\1/p' "$work/out" >"$work/options"
		[ -s "$work/options" ] || { echo "the help of $noun has none"; return 1; }
		while read -r option; do
			grep -q -- "Fl -$option" "$src/man/nlock.1" || { echo "--$option is not"; return 1; }
		done <"$work/options"
	done
}

write_error_is_noticed()
{
	[ -c /dev/full ] || { echo 'there is no /dev/full'; return 1; }
	"$nlock" bench mutex --list >/dev/full 2>"$work/err"
	code=$?
	is_code 1
}

# ---------------------------------------------------------------- info

keys='version library_version kernel legacy default_bound backend futex_wait futex_requeue futex_waitv futex2_numa futex2_mpol statistics
hash_slots_1_thread hash_slots_2_threads hash_slots_most hash_asked nodes nodes_allowed cpus_online cpus_allowed cpu_list cpus_effective cpu_quota'

# Each member on a line of its own, in order, with a value that JSON knows.
json_has_all_members()
{
	run info --json
	is_code 0 || return 1
	value='("[^"]*"|true|false|null|-?[0-9]+(\.[0-9]+)?)'
	{
		echo '^\{$'
		for key in $keys; do
			echo "^  \"$key\": $value,?\$"
		done
		echo '^\}$'
	} >"$work/want"
	[ "$(wc -l <"$work/want")" -eq "$(wc -l <"$work/out")" ] || { echo 'more or fewer members than known'; return 1; }
	paste -d '\n' "$work/want" "$work/out" | while read -r want && IFS= read -r got; do
		printf '%s\n' "$got" | grep -Eq -- "$want" || { echo "'$got' is not like $want"; return 1; }
	done || return 1
	[ "$(grep -c ',$' "$work/out")" -eq "$(($(wc -l <"$work/out") - 3))" ] || { echo 'a comma too many or too few'; return 1; }
}

legacy_is_reported()
{
	NLOCK_FUTEX=legacy
	export NLOCK_FUTEX
	prints '^NLOCK_FUTEX=legacy +in force' info || return 1
	grep -Eq '^sleeps and wakes by +classic futex$' "$work/out" || { echo 'not the classic futex'; return 1; }
	! grep -E '^(futex_|FUTEX2_).* works?$' "$work/out" || { echo 'and yet futex2 calls work'; return 1; }
	prints '"legacy": true' info --json
}

# hash_is ASKED SLOTS-OF-ONE-THREAD WHAT-CAME-OF-IT: the first and the last are of the text, the slots of both forms.
hash_is()
{
	NLOCK_HASH_SLOTS=$1
	export NLOCK_HASH_SLOTS
	prints "^NLOCK_HASH_SLOTS +'$1': $3\$" info || { grep NLOCK_HASH "$work/out"; return 1; }
	grep -Eq "^private hash, 1 thread +$2(:.*)?\$" "$work/out" || { grep '^private' "$work/out"; return 1; }
	prints "\"hash_slots_1_thread\": $2,\$" info --json && grep -Eq "^  \"hash_asked\": \"'$1': $3\",\$" "$work/out"
}

# More than there may be are as many as there may be.
hash_is_clamped()
{
	most=$(sed -n 's/^private hash, most *//p' "$work/info")
	[ "$most" -ge 16 ] && hash_is 4294967295 "$most" "there are $most"
}

hash_is_global()
{
	hash_is global 0 'the global hash, for good' || return 1
	prints '^private hash, 2 threads +0: .*for good$' info && prints '^private hash, most +[1-9]' info
}

# What it was: not there, or nothing that the library knows.
hash_without_asking()
{
	for bad in '' 0 x 8x 08x -8 ' 8' 4294967296 99999999999999999999 GLOBAL; do
		hash_is "$bad" 0 'says nothing, or nothing that can be had' || return 1
	done
	unset NLOCK_HASH_SLOTS
	prints '^NLOCK_HASH_SLOTS +not set$' info && prints '"hash_asked": null' info --json
}

hash()
{
	grep -Eq '^private hash, most +[1-9]' "$work/info" || { test_that 'the private hash' no_hash; return; }
	for n in 2 8 16; do
		test_that "NLOCK_HASH_SLOTS=$n is heard" hash_is "$n" "$n" "there are $n"
	done
	test_that 'a number between is rounded up' hash_is 3 4 'there are 4'
	test_that 'too many are as many as may be' hash_is_clamped
	test_that 'global is for good' hash_is_global
	test_that 'anything else says nothing' hash_without_asking
}

no_hash()
{
	echo 'no private hash here'
	return 77
}

one_cpu_is_one_cpu()
{
	run info
	cpu=$(sed -n 's/^CPU list *\([0-9]*\).*/\1/p' "$work/out")
	timeout 60 taskset -c "$cpu" "$nlock" info >"$work/out" 2>"$work/err"
	code=$?
	is_code 0 || return 1
	grep -Eq '^CPUs allowed +1$' "$work/out" || { grep '^CPUs' "$work/out"; return 1; }
	timeout 60 taskset -c "$cpu" "$nlock" bench mutex --quick --cell 't2-0-0' --csv >"$work/out" 2>"$work/err"
	code=$?
	is_code 0 || return 1
	! grep -q ',ck-' "$work/out" || { echo 'two threads spin for ever on one CPU'; return 1; }
	for pair in 'rwlock readers-2' 'barrier t2'; do
		timeout 60 taskset -c "$cpu" "$nlock" bench "${pair% *}" --quick --cell "${pair#* }" --csv >"$work/out" 2>"$work/err"
		code=$?
		is_code 0 || return 1
		! grep -Eq ',ck(-[a-z]*)?,' "$work/out" || { echo "two threads of $pair spin for ever on one CPU"; return 1; }
	done
}

info()
{
	test_that 'info ends well' prints '^nlock ' info
	cp "$work/out" "$work/info"
	for label in nlock library kernel 'NLOCK_FUTEX=legacy' 'default bound' 'sleeps and wakes by' 'futex_wait, futex_wake' futex_requeue \
		futex_waitv FUTEX2_NUMA FUTEX2_MPOL statistics 'private hash, 1 thread' 'private hash, 2 threads' 'private hash, most' NLOCK_HASH_SLOTS 'node list' \
		'node list, allowed' 'CPUs online' 'CPUs allowed' 'CPU list' 'effective CPUs' 'cgroup CPU quota'; do
		test_that "info says: $label" grep -Eq "^$label +[^ ]" "$work/info"
	done
	test_that 'info --json is one object with all members' json_has_all_members
	test_that 'the environment can forbid futex2, and info says so' legacy_is_reported
	hash
	test_that 'with one CPU it says so, and nothing spins for ever' one_cpu_is_one_cpu
}

# ---------------------------------------------------------------- bench

columns=27

every_line_has_all_columns()
{
	awk -F, -v n="$columns" 'NF != n { print "line " NR " has " NF " columns"; bad = 1 } END { exit bad }' "$work/out"
}

# locks_of NOUN: those that are in every cell that has more than one thread, and in every build.
locks_of()
{
	case $1 in
	mutex) echo 'bounded fifo pthread' ;;
	rwlock) echo 'phase-fair prefer-readers prefer-writers pthread pthread-2' ;;
	sem) echo 'bounded fifo pthread pthread-2' ;;
	*) echo 'nlock pthread pthread-2' ;;
	esac
}

# The lines go to $work/csv, for those that come after.
all_cells_run()
{
	noun=$1
	run bench "$noun" --quick --csv
	is_code 0 || return 1
	[ ! -s "$work/err" ] || { echo "complained: $(cat "$work/err")"; return 1; }
	every_line_has_all_columns || return 1
	awk -F, -v noun="$noun" 'NR > 1 && $27 != noun { print "a line of " $27; bad = 1 } END { exit bad }' "$work/out" || return 1
	cp "$work/out" "$work/csv"
	run bench "$noun" --list
	sed -n '2,/^locks/s/^  \([a-z0-9-]*\)$/\1/p' "$work/out" >"$work/cells"
	[ -s "$work/cells" ] || { echo 'the list is empty'; return 1; }
	while read -r cell; do
		for lock in $(locks_of "$noun"); do
			grep -q "^$cell,.*,$lock,pthread,rate," "$work/csv" || { echo "no $lock in $cell"; return 1; }
		done
	done <"$work/cells"
}

# In all cells together: on a machine that is busy enough, a tiny slice may pass without one. Longer ones may not.
operations_were_made()
{
	for slice in 20 200; do
		none=$(awk -F, 'NR > 1 { ops[$6] += $17 } END { for (lock in ops) if (!(ops[lock] > 0)) print lock }' "$work/csv")
		[ -n "$none" ] || return 0
		run bench "$1" --quick --slice "$slice" --locks "$(echo $none | tr ' ' ',')" --csv
		is_code 0 || return 1
		cp "$work/out" "$work/csv"
	done
	echo "none by" $none
	return 1
}

quick_gives_no_verdict()
{
	awk -F, 'NR > 1 && $16 != "" && $16 != "-" { print "\"" $16 "\" in " $1; bad = 1 } END { exit bad || NR < 2 }' "$work/csv"
}

only_what_was_asked_for()
{
	run bench mutex --quick --csv --locks fifo --cell 't2-0-0,t3-2us-500ns'
	is_code 0 || return 1
	want='t2-0-0 fifo
t2-0-0 pthread
t2-0-0 pthread-2
t3-2us-500ns fifo
t3-2us-500ns pthread
t3-2us-500ns pthread-2'
	got=$(awk -F, 'NR > 1 && $7 == "pthread" { print $1, $6 }' "$work/out")
	[ "$got" = "$want" ] || { echo "$got"; return 1; }
}

threads_are_set()
{
	run bench mutex --quick --csv --threads 3 --locks fifo
	is_code 0 || return 1
	awk -F, 'NR > 1 && ($2 != 3 || $1 !~ /^t3-/) { print $1 " has " $2; bad = 1 }
		END { if (NR < 10) { print "only " NR " lines"; bad = 1 } exit bad }' "$work/out"
}

unpinned_says_so()
{
	run bench mutex --quick --csv --unpinned --locks fifo --cell t2-0-0
	is_code 0 || return 1
	awk -F, 'NR > 1 && $5 != "unpinned" { print $5; bad = 1 } END { exit bad || NR < 2 }' "$work/out"
}

the_last_option_wins()
{
	run bench mutex --quick --rounds 3 --slice 1 --csv --locks fifo --cell t2-0-0
	is_code 0 || return 1
	awk -F, 'NR > 1 && ($9 > 3 || $10 != 1) { print $9 " rounds of " $10 " ms"; bad = 1 } END { exit bad || NR < 2 }' "$work/out"
}

# has_figure NOUN CELL LOCK MEASURE: there is a line with this figure itself, against no base.
has_figure()
{
	run bench "$1" --quick --csv --cell "$2"
	is_code 0 || return 1
	grep -q "^$2,.*,$3,none,$4," "$work/out" || { echo "no $4 of $3"; return 1; }
}

# What the self-test says of each fault. No line may say anything else.
faults_are_noticed()
{
	run bench "$1" --self-test
	is_code 0 || { cat "$work/out"; return 1; }
	[ -s "$work/out" ] || { echo 'it has none'; return 1; }
	! grep -v '^self-test-[a-z]*: noticed$' "$work/out"
}

all_nouns_are_in_one_table()
{
	run bench all --quick --slice 1 --rounds 1 --csv
	is_code 0 || return 1
	every_line_has_all_columns || return 1
	[ "$(grep -c '^cell,' "$work/out")" -eq 1 ] || { echo 'not one header line'; return 1; }
	for noun in mutex $others; do
		grep -q ",$noun\$" "$work/out" || { echo "no line of $noun"; return 1; }
	done
}

bench()
{
	for noun in mutex $others; do
		test_that "all cells of $noun run, and every line has all columns" all_cells_run "$noun"
		test_that "a quick run of $noun gives no verdict" quick_gives_no_verdict
		test_that "every lock of $noun made operations" operations_were_made "$noun"
		test_that "faults of $noun are noticed" faults_are_noticed "$noun"
	done
	test_that 'bench all is one table of all nouns' all_nouns_are_in_one_table
	test_that 'broadcast: switches are counted for each waiter' has_figure cond broadcast-8-held nlock switches
	test_that 'barrier: switches are counted' has_figure barrier t4 nlock switches
	test_that 'rwlock: the readers that pass a writer are counted' has_figure rwlock t8-writes-10 phase-fair passed
	test_that 'the table says what a broadcast to 8 must reach' \
		prints '^  nlock .*<= 1\.20 +-.*switches per waiter' bench cond --quick --cell broadcast-8-held
	test_that 'the table says that watching is allowed for' \
		prints '^  nlock : pthread .*<= 1\.00 +-.*CPU time, after 20\.0 us for watching' bench cond --quick --cell ping-pong
	test_that 'the table has a head for each cell' prints '^t2-0-0: 2 threads, .*effective CPUs' bench mutex --quick --cell t2-0-0
	test_that 'the table shows targets' prints '^  bounded .*>= 2\.50 +-' bench mutex --quick --cell t2-0-0
	test_that 'the table ends with a count of verdicts' prints '^targets: 0 ok, 0 MISS, [0-9]+ without' \
		bench mutex --quick --cell t2-0-0
	test_that '--cell and --locks choose' only_what_was_asked_for
	test_that '--threads sets the threads of all contended cells' threads_are_set
	test_that '--unpinned is reported' unpinned_says_so
	test_that '--rounds and --slice count after --quick' the_last_option_wins
}

[ -x "$nlock" ] || { echo "no command at $nlock"; exit 1; }
[ -r "$src/man/nlock.1" ] || { echo "no manual at $src/man/nlock.1"; exit 1; }
refusals
help_texts
test_that 'an error in writing the output is noticed' write_error_is_noticed
info
bench
finish
