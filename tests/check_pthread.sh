#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_pthread.sh - the drop-in answers what the C library answers
#
#   check_pthread.sh          both doors whole; shared objects taken over, other hand-offs and the classic futex where they matter
#   check_pthread.sh --long   all of them whole
#
# The record is what pthread/check_pthread says without nlock, on this machine and now. Against it are held, line by line, the same
# program under the preload library and the one compiled with <nlock-pthread.h>. What may differ is listed in
# pthread/differences.txt, and its reasons are in nlock(7). top_builddir says where the programs were built, srcdir where the sources are.

set -u
LC_ALL=C
export LC_ALL
unset LD_PRELOAD NLOCK_HANDOFF NLOCK_FUTEX NLOCK_RWLOCK NLOCK_PRELOAD_SHARED

here=${top_builddir:-.}
list=${srcdir:-.}/tests/pthread/differences.txt
preload=$here/.libs/libnlock-preload.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# record NAME PROGRAM [VARIABLE=VALUE]... [-- ARGUMENT...]: runs it, in the background.
record()
{
	name=$1 program=$here/tests/pthread/$2
	shift 2
	timeout 600 env "$@" "$program" ${only:+--only "$only"} >"$work/$name" 2>"$work/$name.err" &
}

# The list as lines: when, case, theirs, ours. An entry without one of these, or without a reason, is an error.
entries()
{
	awk '
		function flush() {
			if (!n) return
			if (!("case" in e) || !("theirs" in e) || !("ours" in e) || !("why" in e)) { print "incomplete" ; bad = 1 }
			printf "%s\t%s\t%s\t%s\n", ("when" in e) ? e["when"] : "always", e["case"], e["theirs"], e["ours"]
			n = 0
			split("", e)
		}
		/^#/ { next }
		/^$/ { flush(); next }
		{ key = $1; sub(/^[^ ]+ +/, ""); e[key] = $0; n++ }
		END { flush(); exit bad }' "$list"
}

# compare NAME: the lines of the record with those of NAME. How many were alike, and what was not as it should be.
compare()
{
	awk -F '\t' -v wanted="$2" -v whole="$3" '
		# The answer stands behind the last colon.
		function cut_line(line,   i) {
			for (i = length(line); i > 0 && substr(line, i, 1) != ":"; i--) ;
			subject = substr(line, 1, i - 1)
			answer = substr(line, i + 2)
		}
		FILENAME ~ /entries$/ {
			if ($1 != "always" && $1 != wanted) next
			pattern[++n] = "^(" $2 ")$"; own[n] = $1 != "always"; theirs[n] = $3; ours[n] = $4
			next
		}
		{ cut_line($0) }
		FILENAME ~ /record$/ { told[subject] = answer; lines++; next }
		!(subject in told) { print "not in the record: " $0; bad++; next }
		{
			seen[subject] = 1
			if (told[subject] == answer) { good++; next }
			for (i = 1; i <= n; i++)
				if (subject ~ pattern[i] && theirs[i] == told[subject] && ours[i] == answer) break
			if (i <= n) { used[i] = 1; good++; next }
			print subject ":"; print "	C library: " told[subject]; print "	nlock:     " answer
			bad++
		}
		END {
			for (s in told) if (!(s in seen)) { print "not answered: " s; bad++ }
			for (i = 1; i <= n; i++)
				if (!(i in used) && (whole == 1 || own[i])) { print "listed as a difference, and is none: " pattern[i]; bad++ }
			if (!lines) { print "the record is empty"; bad++ }
			print good + 0, bad + 0 >"'"$work"'/count"
		}' "$work/entries" "$4" "$work/$1"
}

# judge NAME WHEN WHOLE RECORD
judge()
{
	if [ -s "$work/$1.err" ]; then
		echo "FAILED: $1: it complained:"
		head -n 5 "$work/$1.err"
		failed=$((failed + 1))
	fi
	compare "$@" >"$work/$1.out"
	read -r good bad <"$work/count"
	passed=$((passed + good))
	failed=$((failed + bad))
	[ "$bad" -eq 0 ] && return
	echo "FAILED: $1: $bad lines differ:"
	head -n 60 "$work/$1.out"
}

[ -f "$preload" ] || { echo "no $preload"; exit 1; }
tr '\n' ' ' <"${srcdir:-.}/man/nlock.7" >"$work/manual"
sed -n 's/^why  *.//p' "$list" | sort -u | while read -r why; do
	grep -qF "$why" "$work/manual" || echo "$why"
done >"$work/untold"
if [ -s "$work/untold" ]; then
	echo 'FAILED: nlock(7) does not have these reasons:'
	cat "$work/untold"
	failed=$((failed + 1))
fi
entries >"$work/entries" || { echo "FAILED: an entry of differences.txt is incomplete"; exit 1; }

# part_of RECORD: those of its lines in whose sentence $only stands.
part_of()
{
	awk -v only="$only" '{ s = $0; sub(/:[^:]*$/, "", s) } index(s, only)' "$work/$1.record"
}

only=
record all.record check_pthread
record preload check_pthread LD_PRELOAD="$preload"
wait
grep -v '^alias' "$work/all.record" >"$work/door.record"
[ "${1-}" = --long ] || only=shared
record shared check_pthread LD_PRELOAD="$preload" NLOCK_PRELOAD_SHARED=1
part_of all >"$work/shared.record"
only=
record door check_pthread_door
wait
judge preload always 1 "$work/all.record"
judge door always 1 "$work/door.record"
judge shared shared 0 "$work/shared.record"

[ "${1-}" = --long ] || only=wait
record fifo check_pthread LD_PRELOAD="$preload" NLOCK_HANDOFF=fifo
record barging check_pthread LD_PRELOAD="$preload" NLOCK_HANDOFF=barging
wait
record legacy check_pthread LD_PRELOAD="$preload" NLOCK_FUTEX=legacy
record legacy-fifo check_pthread_door NLOCK_HANDOFF=fifo NLOCK_FUTEX=legacy
wait
for way in fifo barging legacy legacy-fifo; do
	from=all
	[ "$way" = legacy-fifo ] && from=door
	part_of $from >"$work/$way.record"
	judge "$way" always 0 "$work/$way.record"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
