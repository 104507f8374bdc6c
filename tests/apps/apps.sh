#!/bin/sh
# SPDX-License-Identifier: MIT
#
# apps.sh - real programs over nlock: nobody rebuilt them, and they must not notice
#
#   apps.sh [--policy LIST] [--rounds N] [--within S] [--short] [--shared] [NAME...]
#     --policy LIST   of fifo, barging and bounded, with commas; all of them if not given
#     --rounds N      1 to 99 interleaved rounds; 5 if not given
#     --within S      no round of an application begins after so many seconds of it, but the first; 100 if not given. All of them together
#                     then take about three quarters of an hour, and each line says how many rounds there were
#     --short         one round of little work: do they run? Nothing is said of their speed
#     --shared        what processes share is nlock's too (nlock run --shared), as for the semaphores of postgres
#   apps.sh --list      the applications, one a line, with the packages that each needs
#   apps.sh --light     those with little to install, one a line; --heavy: the others
#   apps.sh --packages  what those need, one package a line
#
# Run by "make check" (--short) and "make check-apps", which set srcdir and builddir. Each application is a file NAME.app.sh, which says
# at its top what it needs and has the functions prepare (once, without nlock) and run (once a round, plain and under each policy in turn);
# lib.sh has what they call. A run has a directory of its own, speaks through sockets in it, and whatever still has its working directory
# there afterwards is killed. A run passes if its results are right, if all that it started was finished in time, and if each program
# that it started under nlock was: the dynamic linker's own account of which libraries it initialised is read. The first run of each
# application, which no table shows, also has the linker say to whom it bound the names in `binds`.
#
# Prints a line for each application and policy: result, median and range of the ratio of its time to plain glibc's in the same round,
# and the median of that. Failures leave their output. The last line is "N passed, N failed, N skipped"; exit status 1 if anything failed,
# 77 if nothing could be run.
set -u
LC_ALL=C
export LC_ALL
unset LD_PRELOAD NLOCK_HANDOFF NLOCK_FUTEX NLOCK_RWLOCK NLOCK_PRELOAD_SHARED NLOCK_HASH_SLOTS NLOCK_STATS LD_DEBUG LD_DEBUG_OUTPUT

here=$(cd "$(dirname "$0")" && pwd) || exit 1
self=$here/${0##*/}

usage() {
	echo "apps.sh: $1" >&2
	exit 2
}

applications() {
	for app in "$here"/*.app.sh; do
		app=${app##*/}
		echo "${app%.app.sh}"
	done
}

# ---------------------------------------------------------------- one run, in a process of its own

# apps.sh --run NAME VARIANT DEBUG DIRECTORY
if [ "${1-}" = --run ]; then
	cd "$5" || exit 1
	variant=$3 debug=$4 work=${PWD%/*}
	. "$here/lib.sh"
	. "$here/$2.app.sh"
	trap 'stop_all' EXIT
	trap 'exit 1' HUP INT TERM
	if [ "$variant" = prepare ]; then
		cd "$work" && prepare
	else
		run
	fi
	exit
fi

# ---------------------------------------------------------------- arguments

policies='fifo barging bounded' rounds=5 within=100 size=full shared='' names=''
while [ $# -gt 0 ]; do
	case $1 in
	--policy)
		policies=$(echo "${2-}" | tr , ' ')
		[ -n "$policies" ] || usage '--policy wants a list'
		for policy in $policies; do
			case $policy in fifo | barging | bounded) ;; *) usage "no policy $policy" ;; esac
		done
		shift ;;
	--rounds)
		case ${2-} in [1-9] | [1-9][0-9]) rounds=$2 ;; *) usage '--rounds wants a number from 1 to 99' ;; esac
		shift ;;
	--within)
		case ${2-} in '' | *[!0-9]*) usage '--within wants a number of seconds' ;; esac
		within=$2
		shift ;;
	--short) size=short rounds=1 ;;
	--shared) shared=--shared ;;
	--list | --light | --heavy | --packages)
		applications | while read -r name; do
			heavy=no
			. "$here/$name.app.sh"
			case $1$heavy in
			--list*) echo "$name: $packages" ;;
			--lightno | --heavyyes) echo "$name" ;;
			--packagesno) echo "$packages" | tr ' ' '\n' ;;
			esac
		done | sort -u
		exit ;;
	-*) usage "no option $1" ;;
	*)
		[ -f "$here/$1.app.sh" ] || usage "no application $1; --list shows them"
		names="$names $1" ;;
	esac
	shift
done
[ -n "$names" ] || names=$(applications)
: "${builddir:?run me by make check-apps}"
builddir=$(cd "$builddir" && pwd) || exit 1

# ---------------------------------------------------------------- a directory, and an end to what lives in it

all=$(mktemp -d) || exit 1
chmod 755 "$all"

# inhabitants: the processes that work under $all. None but ours can: the directory is new.
inhabitants() {
	find /proc/[0-9]*/cwd -prune -lname "$all/*" 2>/dev/null | cut -d/ -f3
}

# sweep: twice, because a process may be forked between the look and the blow.
sweep() {
	for blow in 1 2; do
		left=$(inhabitants)
		# shellcheck disable=SC2086
		[ -z "$left" ] || kill -KILL $left 2>/dev/null
	done
}

# portrait: where everybody in the run is, for a run that did not end.
portrait() {
	for pid in $(inhabitants); do
		echo "---- process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-100)"
		if command -v gdb >/dev/null 2>&1; then
			timeout 20 gdb -p "$pid" -batch -ex 'thread apply all backtrace 8' 2>/dev/null </dev/null | grep -E '^(Thread|#)'
		else
			cat "/proc/$pid"/task/*/syscall 2>/dev/null | cut -d' ' -f1-5 | sort | uniq -c
		fi
	done
}

leave() {
	[ -z "${dog-}" ] || kill "$dog" 2>/dev/null
	sweep
	rm -rf "$all"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM PIPE

# bounded SECONDS COMMAND...: the command, in a session of its own; a portrait and 124 if it was not done in time.
bounded() {
	limit=$1
	shift
	rm -f "$all/late"
	setsid "$@" &
	it=$!
	(
		trap 'kill $nap; exit' TERM
		sleep "$limit" >/dev/null 2>&1 &
		nap=$!
		wait $nap
		: >"$all/late"
		echo "not done after $limit s"
		portrait
		sweep
	) &
	dog=$!
	wait $it
	code=$?
	[ -f "$all/late" ] || kill $dog 2>/dev/null
	wait $dog 2>/dev/null
	dog=''
	[ -f "$all/late" ] && return 124
	left=$(inhabitants)
	if [ -n "$left" ] && [ $code -eq 0 ]; then
		echo "left running: $(for pid in $left; do tr '\0' ' ' <"/proc/$pid/cmdline"; done 2>/dev/null)"
		code=1
	fi
	sweep
	return $code
}

# ---------------------------------------------------------------- what is needed

nlock=$builddir/tools/nlock module=$builddir/.libs/libnlock-preload.so
for file in "$nlock" "$module"; do
	[ -f "$file" ] && continue
	echo "FAIL: apps: $file was not built"
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
done
# kind FILE: class, byte order and machine of an ELF file.
kind() {
	od -An -tx1 -j4 -N2 "$1"
	od -An -tx1 -j18 -N2 "$1"
}
if [ "$(kind "$module")" != "$(kind "$(readlink -f "$(command -v env)")")" ]; then
	echo "SKIP: apps: the programs here are for another kind of machine than the module"
	echo '0 passed, 0 failed, 1 skipped'
	exit 77
fi
# Programs that do not run as root must be able to read it.
cp "$module" "$all/libnlock-preload.so" && chmod 755 "$all/libnlock-preload.so" || exit 1
module=$all/libnlock-preload.so
export module nlock size shared here

# lacks: what of its needs is missing.
lacks() {
	for program in $programs; do
		command -v "$program" >/dev/null 2>&1 || printf '%s ' "$program"
	done
	for header in ${headers-}; do
		printf '#include <%s>\n' "$header" | ${CC:-cc} -E - >/dev/null 2>&1 || printf '%s ' "$header"
	done
	can || printf '%s ' "${cannot-}"
}

# ---------------------------------------------------------------- the account of the dynamic linker

# interposed VARIANT: each program that the run started initialised the module before itself; none of a plain run did. One process may
# have been several programs.
interposed() {
	set -- "$1" "$now"/ld.*
	if [ ! -f "$2" ]; then
		echo "nothing was started, or the dynamic linker gave no account"
		return 1
	fi
	variant=$1
	shift
	awk -v wanted="$([ "$variant" = plain ] || echo yes)" '
		FNR == 1 { has = "" }
		/calling init: .*\/libnlock-preload\.so/ { has = "yes" }
		/initialize program: / {
			if (has != wanted) { print (wanted ? "not under nlock: " : "under nlock: ") $NF; bad = 1 }
			has = ""; n++
		}
		END { if (!n) print "no program was started"; exit bad || !n }' "$@"
}

# bound: the names in $binds were bound to the module.
bound() {
	for symbol in $binds; do
		grep -h "to .*/libnlock-preload\.so \[0\]: normal symbol .$symbol'" "$now"/ld.* >/dev/null && continue
		echo "$symbol was not bound to the module"
		return 1
	done
}

# try NAME VARIANT DEBUG: one run. Its time in nanoseconds is in $now/took.
try() {
	rm -rf "$now" && mkdir "$now" && chmod 777 "$now" || return 1
	echo 0 >"$now/took"
	bounded "$limit_of_run" sh "$self" --run "$1" "$2" "$3" "$now" >"$now/out" 2>&1 </dev/null &&
		{ [ "$2" = prepare ] || interposed "$2" >>"$now/out" 2>&1; } &&
		case $3 in *bindings*) bound >>"$now/out" 2>&1 ;; esac
	code=$?
	if [ $code -ne 0 ]; then
		echo "---- $1, $2, did not pass; the ends of its logs:"
		for log in "$now/out" "$now"/*.log; do
			[ -s "$log" ] && echo "---- ${log##*/}" && tr '\r' '\n' <"$log" | tail -n 60 | cut -c1-200
		done
		echo "----"
	fi
	return $code
}

# ---------------------------------------------------------------- rounds and their times

# turn ROUND: the variants, each round beginning with another.
turn() {
	# shellcheck disable=SC2086
	set -- $(($1 % $(echo plain $policies | wc -w))) plain $policies
	by=$1
	shift
	while [ "$by" -gt 0 ]; do
		first=$1
		shift
		set -- "$@" "$first"
		by=$((by - 1))
	done
	echo "$@"
}

# ratios POLICY: of the lines "ROUND VARIANT NANOSECONDS".
ratios() {
	awk -v policy="$1" '
		function sort(a, n,   i, j, t) {
			for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
		}
		function median(a, n) { return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
		$2 == "plain" { plain[$1] = $3; all[++m] = $3 / 1e9 }
		$2 == policy { mine[$1] = $3 }
		END {
			for (r in mine) if (plain[r]) ratio[++n] = mine[r] / plain[r]
			if (!n) exit
			sort(ratio, n); sort(all, m)
			printf "%5.2f  (%.2f to %.2f, %d rounds; plain %.2f s)", median(ratio, n), ratio[1], ratio[n], n, median(all, m)
		}' "$work/times"
}

# application NAME: all of its rounds. What is printed goes to the log, with the lines of the table among it.
application() {
	name=$1
	headers='' binds=pthread_mutex_lock limit=60 cannot='' heavy=no
	can() { :; }
	. "$here/$name.app.sh"
	missing=$(lacks)
	if [ -n "$missing" ]; then
		echo "SKIP: $name: not here: $missing(of the packages $packages)"
		skipped=$((skipped + 1))
		return
	fi
	work=$all/$name now=$all/$name/now limit_of_run=$limit
	mkdir "$work" && chmod 755 "$work"
	: >"$work/times"
	begun=$(date +%s)
	# shellcheck disable=SC2086
	set -- $policies
	if ! try "$name" prepare none || ! try "$name" plain files; then
		echo "FAIL: $name: not even without nlock"
		failed=$((failed + 1))
		return
	fi
	bad=''
	[ "$size" = short ] || try "$name" "$1" files,bindings || bad=" $1"
	round=1
	while [ $round -le "$rounds" ]; do
		for variant in $(turn $round); do
			case "$bad " in *" $variant "*) continue ;; esac
			[ "$size$variant" = shortplain ] && continue
			account=files
			[ "$size$variant" = "short$1" ] && account=files,bindings
			if try "$name" "$variant" $account; then
				echo "$round $variant $(cat "$now/took")" >>"$work/times"
			else
				bad="$bad $variant"
			fi
		done
		round=$((round + 1))
		[ $(($(date +%s) - begun)) -lt "$within" ] || break
	done
	for variant in plain "$@"; do
		verdict=passed
		case "$bad " in *" $variant "*) verdict=FAILED ;; esac
		[ "$variant$verdict" = plainpassed ] && continue
		if [ $verdict = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
		printf '%-18s %-8s %s %s\n' "$name" "$variant" $verdict "$([ "$size" = short ] || ratios "$variant")" | tee -a "$all/table"
	done
	rm -rf "$work"
}

passed=0 failed=0 skipped=0
: >"$all/table"
all_begun=$(date +%s) nth=0
for name in $names; do
	nth=$((nth + 1))
	[ "$size" = short ] ||
		echo "---- $name, $nth of $(echo $names | wc -w), after $((($(date +%s) - all_begun) / 60)) minutes"
	application "$name"
done
echo
if [ "$size" = full ]; then
	echo "application        policy   result  ratio  (range)"
	cat "$all/table"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
