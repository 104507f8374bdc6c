#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_report.sh - `nlock report': does it run its experiments, judge rightly, and write a whole page?
#
# Verdicts are tried on tables that are written here, so that nothing depends on the speed of a machine. Of a short run it is only
# asked that it ends, and that the page has what it must have. check_browser.sh looks at that page in a browser.
set -u
LC_ALL=C
export LC_ALL

nlock=${NLOCK:-${top_builddir:-.}/tools/nlock}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tally.sh" || exit 1

# run ARGUMENT...: the exit code in $code, the output in $work/out and $work/err.
run() {
	timeout 500 "$nlock" report "$@" >"$work/out" 2>"$work/err"
	code=$?
}

is_refused() {
	run "$@"
	is_code 2 || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] || { echo "not one line: $(cat "$work/err")"; return 1; }
	[ ! -s "$work/out" ] || { echo "it printed something"; return 1; }
}

# ---------------------------------------------------------------- recorded tables

tab=$(printf '\t')

# entry ID CODE CPUS: the experiment is in the index.
entry() {
	printf '%s\t%s\t%s\t1.0\tcommand\t\n' "$1" "$2" "$3" >>"$d/experiments.tsv"
}

# table ID: from standard input, where blanks separate the fields.
table() {
	tr ' ' "$tab" >"$d/$1.tsv"
	entry "$1" 0 "${cpus:-2.00}"
}

# record: a run on a quiet machine with two CPUs, in which everything that is claimed was seen.
record() {
	rm -rf "$d"
	mkdir "$d"
	printf 'date\tone day\nkernel\tLinux\nnlock\t0.1.0\nprofile\tquick\ncpus\t2\nnodes\t1\n' >"$d/machine.tsv"
	: >"$d/experiments.tsv"
	: >"$d/guard.tsv"
	entry guard 0 2.00
	table release <<-END
		exp claim lock release tried times
		release D1 t ordinary 1000 0
		release D2 t ordinary 1000 1000
		release D1 f ordinary 1000 0
		release D2 f ordinary 1000 1000
		release D3 f open 1000 999
		release D3 f fair 999 0
		release D5 f alone 1000 1000
		release D1 h ordinary 1000 1000
		release D4 h late 998 998
		release D1 c ordinary 1000 990
		release D3 c open 1000 1000
		release D3 c fair 1000 0
		release D5 c alone 1000 1000
	END
	table alone <<-END
		exp lock thput wc sleeps wakes guard_ok
		ulockflex e 300 - - - yes
		ulockflex k 10 0 - - yes
		ulockflex f 100 0 0 0 yes
		ulockflex c 100 0 0 0 yes
	END
	table three <<-END
		exp lock thput wc csw_op mrun wrun medrun chg jain jain_10n jain_1000n guard_ok
		ulockflex t 20 99 1.02 1.0 1 1 0.99 0.99 0.97 0.99 yes
		ulockflex f 60 50 0.3 1.1 1 1 0.9 0.99 0.97 0.99 yes
		ulockflex c 100 12 0.09 6 904 1 0.2 0.9 0.6 0.8 yes
		ulockflex p 100 8 0.1 5 777 1 0.2 0.9 0.6 0.8 yes
	END
	table empty-3 <<-END
		exp lock thput wc guard_ok
		ulockflex t 20 99 yes
		ulockflex f 30 99 yes
		ulockflex c 100 9 yes
	END
	table arrival-3 <<-END
		exp lock thput guard_ok
		ulockflex t 90 yes
		ulockflex c 100 yes
	END
	table hundred <<-END
		exp lock thput wc p1 p2 guard_ok
		ulockflex t 49 100 0.999 0 yes
		ulockflex c 100 10 0.735 0.211 yes
	END
	table waits <<-END
		exp lock wait_p50 wait_p99 wait_max guard_ok
		ulockflex t 1261 2740 9700 yes
		ulockflex h 1 2740 9700 yes
		ulockflex c 0.04 15425 133000 yes
	END
	table spin <<-END
		exp lock thput guard_ok
		ulockflex t 40 yes
		ulockflex T 95 yes
		ulockflex c 100 yes
	END
	table spin-more <<-END
		exp lock thput guard_ok
		ulockflex t 40 yes
		ulockflex T 60 yes
		ulockflex c 100 yes
	END
	table starve <<-END
		exp lock c x wait_mean wait_max hog_rate guard_ok
		starve t 3 20000 61000 66000 40 yes
		starve h 3 20000 61000 66000 40 yes
		starve c 3 20000 872000 2120000 50 yes
		starve p 3 20000 387000 1104000 50 yes
	END
	table skew <<-END
		exp lock c x wait_mean wait_max hog_rate guard_ok
		starve t 1 200 400 500 4000 yes
		starve h 1 200 1300 1500 4900 yes
		starve c 1 200 390000 1250000 5000 yes
		starve p 1 200 77000 573000 5000 yes
	END
	table convoy <<-END
		exp lock r bin thput_before wc_before thput_after wc_after recover guard_ok
		convoy t 100 5000 15000 1 4000 100 - yes
		convoy h 100 5000 15000 1 14000 5 4 yes
		convoy c 100 5000 15000 1 14000 5 1 yes
		exp lock run bin thput wc phase
		convoy_bin t 5 0 15000 1 before
		convoy_bin t 5 1 3000 100 stall
		convoy_bin t 5 2 4000 100 after
	END
	table rwshare <<-END
		exp lock reads thput guard_ok
		rwshare q 0 60000 yes
		rwshare q 100 170000 yes
	END
	for id in db-1 db-4096 db-alone; do
		table $id <<-END
			exp lock thput intact
			minitdb t $([ $id = db-alone ] && echo 100 || echo 60) yes
			minitdb c 100 yes
			minitdb p 100 yes
			minitdb l 50 yes
		END
	done
	table numa-words <<-END
		exp words nodes thput ratio
		futex_numa_words one 1 5000 1
		futex_numa_words each 1 5000 1.02
	END
	table numa-lock <<-END
		exp lock total late guard_ok
		futex_numa raw 8980 0 yes
	END
	table hash <<-END
		exp sort slots threads ratio
		futex_hash private global 2 1
		futex_hash private default 2 0.97
		futex_hash private 2 2 0.95
		futex_hash private 512 2 1
		futex_hash private 8192 2 0.99
	END
	for tasks in 2 3 4 100; do
		for load in 0-10 5-5 7-3 9-1; do
			printf 'exp lock thput guard_ok\nulockflex t 49 yes\nulockflex f 60 yes\nulockflex c 100 yes\n' | table "ols-$tasks-$load"
		done
	done
}

# verdict ID: in the tables that were written last.
verdict() {
	awk -F"$tab" -v id="$1" '$2 == id { print $3 }' "$d/verdicts.tsv"
}

# judges ID VERDICT
judges() {
	run --page -o "$d"
	is_code 0 || return 1
	[ "$(verdict "$1")" = "$2" ] || { echo "$1: $(grep "$tab$1$tab" "$d/verdicts.tsv"), not $2"; return 1; }
}

all_are_reproduced() {
	record
	for id in A1 A2 A3 A4 A5 A6 A7 D1 D2 D3 D4 D5 D6 E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E15 E16 E17 E19 E20; do
		judges $id reproduced || return 1
	done
	judges E21 'not measured'
}

# changed FILE SED ID VERDICT: with this edit of the recorded tables.
changed() {
	record
	cp "$d/$1" "$work/was"
	sed "$2" "$work/was" >"$d/$1"
	! cmp -s "$work/was" "$d/$1" || { echo "nothing was changed in $1"; return 1; }
	judges "$3" "$4"
}

# busy_and_changed SED ID VERDICT: the same with release.tsv, on a machine that was busy then.
busy_and_changed() {
	record
	cp "$d/release.tsv" "$work/was"
	sed "$1" "$work/was" >"$d/release.tsv"
	cp "$d/experiments.tsv" "$work/index"
	sed 's/^release	0	2.00/release	0	1.59/' "$work/index" >"$d/experiments.tsv"
	! cmp -s "$work/was" "$d/release.tsv" && ! cmp -s "$work/index" "$d/experiments.tsv" || { echo "nothing was changed"; return 1; }
	judges "$2" "$3"
}

no='not reproduced here'

verdicts() {
	test_that 'what was seen before is reproduced' all_are_reproduced
	test_that 'a hand-over after which its releaser has it again' changed release.tsv 's/D1	f	ordinary	1000	0/D1	f	ordinary	1000	1/' D1 "$no"
	test_that 'an open lock that its releaser loses' changed release.tsv 's/D1	c	ordinary	1000	990/D1	c	ordinary	1000	989/' D1 "$no"
	test_that 'the same on a busy machine' busy_and_changed 's/D1	c	ordinary	1000	990/D1	c	ordinary	1000	989/' D1 'machine busy'
	test_that 'a broken promise is one on a busy machine too' busy_and_changed 's/D1	t	ordinary	1000	0/D1	t	ordinary	1000	1/' D1 "$no"
	test_that 'somebody out of order' changed release.tsv 's/D2	f	ordinary	1000	1000/D2	f	ordinary	1000	999/' D2 "$no"
	test_that 'a fair release that opens' changed release.tsv 's/c	fair	1000	0/c	fair	1000	1/' D3 "$no"
	test_that 'an open one that does not' changed release.tsv 's/f	open	1000	999/f	open	1000	989/' D3 "$no"
	test_that 'a late waiter who is overtaken' changed release.tsv 's/late	998	998/late	998	997/' D4 "$no"
	test_that 'a turn that makes a system call' changed release.tsv 's/c	alone	1000	1000/c	alone	1000	0/' D5 "$no"
	test_that 'calls that cannot be forbidden' changed release.tsv 's/f	alone	1000	1000/f	alone	0	0/' D5 'not measured'
	test_that 'a slow lock in user space' changed alone.tsv 's/f	100	/f	29	/' E1 "$no"
	test_that 'futex calls without contention' changed alone.tsv 's/f	100	0	0	0/f	100	0	1	0/' E1 "$no"
	test_that 'a FIFO lock that nobody contends' changed three.tsv 's/t	20	99/t	20	79/' E2 "$no"
	test_that 'one that costs too little' changed three.tsv 's/t	20	99/t	51	99/' E2 "$no"
	test_that 'a weighted median of two' changed three.tsv 's/1.0	1	1	0.99/1.0	2	1	0.99/' E3 "$no"
	test_that 'too few context switches' changed three.tsv 's/1.02/0.89/' E4 "$no"
	test_that 'too many' changed three.tsv 's/1.02/1.21/' E4 "$no"
	test_that 'barging that is not twice as fast' changed empty-3.tsv 's/c	100/c	39/' E5 "$no"
	test_that 'too many runs of one' changed hundred.tsv 's/0.735/0.91/' E6 "$no"
	test_that 'a tail that does not cross' changed waits.tsv 's/15425/2739/' E7 "$no"
	test_that 'a fair lock that is faster in one cell' changed ols-3-9-1.tsv 's/t	49/t	149/' E8 reproduced
	test_that 'a cell that was not measured' changed ols-3-9-1.tsv '/^ulockflex	t/d' E8 "$no"
	test_that 'a gain that grows with the tasks' changed spin-more.tsv 's/T	60/T	96/' E9 "$no"
	test_that 'a fair lock that is no better at realistic arrival' changed arrival-3.tsv 's/t	90/t	19/' E10 "$no"
	test_that 'a fair lock that starves somebody' changed starve.tsv 's/61000	66000/61000	90001/' E11 "$no"
	test_that 'an unfair one that starves nobody' changed starve.tsv 's/2120000/131000/' E11 "$no"
	test_that 'a bound that is not kept' changed skew.tsv 's/h	1	200	1300/h	1	200	10100/' E12 "$no"
	test_that 'a convoy that dissolves' changed convoy.tsv 's/4000	100	-/4000	79	-/' E13 "$no"
	test_that 'barging that does not recover' changed convoy.tsv 's/5	1	yes/5	-	yes/' E13 "$no"
	test_that 'bounded hand-off that takes eleven bins to' changed convoy.tsv 's/5	4	yes/5	11	yes/' E13 "$no"
	test_that 'a convoy before the stall is a case for the calmer run' changed convoy.tsv 's/t	100	5000	15000	1/t	100	5000	15000	6/' E13 'not measured'
	test_that 'a database that was damaged' changed db-4096.tsv 's/yes$/no/' E15 "$no"
	test_that 'record locks that are fast' changed db-1.tsv 's/l	50/l	101/' E15 "$no"
	test_that 'readers that gain nothing' changed rwshare.tsv 's/170000/89999/' E17 "$no"
	test_that 'two nodes and few CPUs' changed machine.tsv 's/^nodes	1/nodes	2/' E18 'needs a larger machine'
	test_that 'two nodes and enough of them, but no gain' changed machine.tsv 's/^nodes	1/nodes	2/; s/^cpus	2/cpus	16/; ' E18 'machine busy'
	test_that 'a lost wake-up' changed numa-lock.tsv 's/8980	0/8980	1/' E19 "$no"
	test_that 'a hash that is slower with more slots' changed hash.tsv 's/8192	2	0.99/8192	2	0.89/' E20 "$no"
	test_that 'fairness at a small scale' changed three.tsv 's/0.6	0.8/0.76	0.8/g' E16 "$no"
	test_that 'a value that is not known does not hold' changed three.tsv 's/0.97	/-	/' E16 "$no"
	test_that 'a lock that let two in' changed waits.tsv 's/yes$/no/' D6 "$no"
	test_that 'a self-test that found nothing' changed experiments.tsv 's/^guard	0/guard	1/' D6 "$no"
	test_that 'a busy machine has no verdict' changed experiments.tsv 's/^three	0	2.00/three	0	1.59/' E2 'machine busy'
	test_that 'though all else holds' changed experiments.tsv 's/^three	0	2.00/three	0	1.59/' E1 reproduced
	test_that 'nor does it excuse arithmetic' changed experiments.tsv 's/2.00/0.10/' A1 reproduced
	test_that 'one CPU is too few' changed machine.tsv 's/^cpus	2/cpus	1/' E2 'needs a larger machine'
	test_that 'more than four CPUs are not compared with two' changed machine.tsv 's/^cpus	2/cpus	8/; ' E6 'shown, no verdict'
	test_that 'what did not run is not judged' changed experiments.tsv '/^hundred/d' E6 'not measured'
	test_that 'what printed nothing is not judged' changed hundred.tsv 'd' E6 'not measured'
}

# ---------------------------------------------------------------- a short run

runs_shortly() {
	run -o "$work/run" --seconds 0.01 --only "$1"
	is_code 0 || return 1
	[ -s "$work/run/index.html" ] || { echo "no page"; return 1; }
	grep -q "^The page is $work/run/index.html$" "$work/out" || { echo "it does not say where the page is"; return 1; }
}

keeps_the_others() {
	runs_shortly alone || return 1
	[ "$(cut -f1 "$work/run/experiments.tsv" | tr '\n' ' ')" = 'guard alone three empty-3 waits convoy starve skew ' ] ||
		{ cat "$work/run/experiments.tsv"; return 1; }
}

is_well_formed() {
	command -v xmllint >/dev/null || { echo "no xmllint"; return 77; }
	xmllint --noout --nonet "$page"
}

# Nothing is fetched and nothing runs; links lead to files beside it, or into it.
asks_for_nothing() {
	! grep -Eio '(src|href)="[^"]*"|url\([^)]*\)|@import|<script[^>]*| on[a-z]+="[^"]*"' "$page" |
		grep -Ev '^href="(data:,|#[a-z]+|[a-z0-9-]+\.tsv)"$'
}

figures_have_names() {
	for id in owners runs waits cost scale convoy speed victim matrix; do
		grep -q "<svg role=\"img\" [^>]*aria-labelledby=\"$id-t $id-d\"" "$page" &&
			grep -Eq "<title id=\"$id-t\">[A-Z][^<]+</title>" "$page" && grep -Eq "<desc id=\"$id-d\">.{20,}</desc>" "$page" ||
			{ echo "$id has no title or no text"; return 1; }
	done
	[ "$(grep -c '<svg ' "$page")" -eq 9 ] || { echo "$(grep -c '<svg ' "$page") pictures"; return 1; }
}

# Numbers of the four documents; the last lines and the first of the histories.
seed_numbers='243718 217001 2002852 242040 1979992 306140 774175 0.141423 0.049231 0.154154 0.033284 0.018406 0.028083 0.437084
99.42 93.67 0.01 99.98 0.29 99.71 7.79 16154935 16202472 48584991 48680560 8980 3386265 3266560 1972069 821565 1580497 277900
1555482 150450 590144 585067 1556023 150382 1559643 306403 1412543 1441627 2629.85 2656.85 1538674.22 1539273.79'
# Of the paper: table 3, and figure 6 for two tasks and a hundred.
ols_numbers='1003.69 1482.08 76.40 751.18 431.42 67.60 593.00 111.45 41.50 67165 69219 77104 92343 118647 167676 60904 64614 73360 88897
116063 171917 108178 89063 89196 89726 91780 167974 56299 62163 62097 66801 77766 171652'

has_the_published_numbers() {
	for n in $seed_numbers $ols_numbers; do
		grep -q "[>( ]${n}[< )]" "$page" || { echo "$n is missing"; return 1; }
	done
	for line in '1067602 \[ 4065 \]: 1' '1085814 \[ 2 \]: 0' '1159959 \[ 978 \]: 1' '7682404 \[ 4593 \]: 1' '8021600 \[ 7016 \]: 1' '558631 : 2'; do
		grep -Eq "$line\$" "$page" || { echo "$line is missing"; return 1; }
	done
}

# The ratio of 6 March 2002 for the semaphore, and a number of this machine beside it.
has_ratios_beside() {
	grep -q '<td>243718</td><td>0.122</td><td class="w">k/p</td><td class="here">[0-9.]*</td>' "$page" || { grep 243718 "$page"; return 1; }
}

# Times and shares of the recorded tables, beside those of the paper: 1003.69 / 593.00 and 100 / 50; 167676 / 67165 and 170000 / 60000.
has_the_paper_beside() {
	record
	run --page -o "$d"
	is_code 0 || return 1
	for row in \
		'w">fcntl</td><td>1003.69</td><td>1482.08</td><td>76.40</td><td>1.693</td><td>13.298</td><td>1.841</td><td class="w">l</td><td class="here">2.000</td><td class="here">2.000</td><td class="here">2.000<' \
		'w">-</td><td>&#8211;</td><td>&#8211;</td><td>&#8211;</td><td>&#8211;</td><td>&#8211;</td><td>&#8211;</td><td class="w">t</td><td class="here">1.667</td><td class="here">1.667</td><td class="here">1.000<' \
		'>2</td><td>100</td><td>167676</td><td>2.496</td><td>171917</td><td>2.823</td><td class="here">&#8211;</td><td class="here">2.833<' \
		'>3</td><td>100</td><td>168008</td><td>1.899</td><td>172016</td><td>2.613</td><td class="here">&#8211;</td><td class="here">&#8211;<' \
		'leaves 0.50 of the throughput.* leaves 0.77. Here, with one chain: t/p 0.600, f/p &#8211;'; do
		grep -q "$row" "$d/index.html" || { echo "no $row"; grep -E 'fcntl<|>167676<|~30' "$d/index.html"; return 1; }
	done
}

# What is asked of outside may fail; then the page comes all the same, and the exit code says it.
says_what_failed() {
	d=$work/bad
	record
	entry three 1 2.00
	run --page -o "$d"
	is_code 0 || return 1
	grep -q '<td>1</td><td>1.0</td><td>2.00</td>' "$d/index.html" || { echo "the exit code is not in the page"; return 1; }
}

# A program that is killed has failed, and what was measured before stays.
is_interrupted() {
	"$nlock" report -o "$work/cut" --seconds 60 --only guard,alone >"$work/out" 2>"$work/err" &
	pid=$!
	until grep -q '^2 of 2' "$work/out"; do
		kill -0 $pid 2>/dev/null || break
	done
	kill -INT $pid 2>/dev/null || kill -TERM $pid
	wait $pid
	code=$?
	[ $code -gt 128 ] || { echo "exit code $code"; return 1; }
	grep -q '^missing: alone' "$work/out" || { cat "$work/out"; return 1; }
	[ -s "$work/cut/index.html" ] && [ "$(cut -f1 "$work/cut/experiments.tsv")" = guard ] || { cat "$work/cut/experiments.tsv"; return 1; }
}

refusals() {
	test_that 'an argument is an error' is_refused now
	test_that 'an unknown option is an error' is_refused --slow
	test_that 'a long name with one dash is an error' is_refused -quick
	test_that 'a short name with two is an error' is_refused --o dir
	test_that '-o without a directory is an error' is_refused -o
	test_that 'an empty directory is an error' is_refused -o ''
	test_that 'an unknown experiment is an error' is_refused --only alone,spoon
	test_that 'none is an error' is_refused --only ''
	for bad in 0 -1 61 x '' nan inf; do
		test_that "--seconds '$bad' is an error" is_refused --seconds "$bad"
	done
	test_that '--page runs nothing' is_refused --page --full
}

cannot_write() {
	run --page -o "$work/nowhere"
	is_code 1 || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] || { cat "$work/err"; return 1; }
}

page=$work/run/index.html
d=$work/recorded
refusals
test_that 'a page of nothing is an error' cannot_write
verdicts
test_that 'what failed is in the page' says_what_failed
test_that "the paper's database and readers stand beside those here" has_the_paper_beside
test_that 'a short run makes a page' runs_shortly guard,alone,empty-3,three,waits,convoy,starve,skew
test_that 'of a later run the other results stay' keeps_the_others
[ -s "$page" ] || finish
test_that 'the page is well-formed' is_well_formed
test_that 'it asks the network for nothing' asks_for_nothing
test_that 'each picture has a title and a text' figures_have_names
test_that 'every published number is there' has_the_published_numbers
test_that "and this machine's ratio beside it" has_ratios_beside
test_that 'interrupted, it keeps what it has and says what is missing' is_interrupted
finish
