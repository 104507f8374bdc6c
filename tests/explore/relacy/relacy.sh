#!/bin/sh
# SPDX-License-Identifier: MIT
#
# relacy.sh - T4 once more, by other hands: the smallest scenarios of the mutex under Relacy Race Detector
#
# The explorer beside this is our own, and so are its mistakes. Relacy is an independent implementation of the same idea:
# another scheduler, another model of memory. Every fault that is planted here must be found, so that "right" means
# something. srcdir is the top of the source tree, CXX the C++ compiler, RELACY_INCLUDE where Relacy is if the compiler
# does not know, SEED the number of the first random execution. Everything is built in the current directory.
: "${srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${CXX:=g++}" "${SEED:=0}"
set -u
LC_ALL=C
export LC_ALL
passed=0 failed=0
# Relacy's own text, and C compiled as C++, give warnings that say nothing about nlock.
flags="-O1 -std=gnu++20 -fpermissive -w -I. -I$srcdir/include -I$srcdir/lib ${RELACY_INCLUDE:+-I$RELACY_INCLUDE}"

pass() {
	passed=$((passed + 1))
	printf 'ok    %s\n' "$1"
}

fail() {
	failed=$((failed + 1))
	printf 'FAIL  %s\n' "$1"
}

# As suite.cpp takes them, behind the code.
scenarios() {
	for mode in fifo 1 barging; do
		for how in '' ' watch'; do
			echo "$mode 2x2 random 100000 from:$SEED$how"
			echo "$mode 2x2 context 2$how"
			echo "$mode 2x1 full 0$how"
		done
		echo "$mode 2x2 context 2 watch interrupt"
	done
	for mode in fifo 1; do
		echo "$mode 3x1 random 100000 from:$SEED"
		echo "$mode 3x1 random 100000 from:$SEED watch interrupt"
		echo "$mode 3x1 context 2"
		echo "$mode 3x1 context 3 watch"
	done
	echo "1 2x3 random 100000 from:$SEED"
	echo "1 3x2 random 100000 from:$SEED"
	echo "fifo 3x1 random 100000 from:$SEED free"
	echo "1 2x1 full 0 free"
}

# name @ edit (sed) of mutex.c @ how Relacy must call it @ scenario
table() {
	cat <<'TABLE'
fast lock without acquire@s/nl_cas_acq(&m->word, &w, M_LOCKED) ? 0 : lock_slow/nl_cas_rlx(\&m->word, \&w, M_LOCKED) ? 0 : lock_slow/@DATA RACE@1 2x1 full 0
barging without acquire@/A2 \*\//s/nl_cas_acq/nl_cas_rlx/@DATA RACE@1 2x2 random 100000
waiter acquires without acquire@/A3 \*\//s/nl_cas_acq/nl_cas_rlx/@DATA RACE@1 2x1 full 0
fast unlock without release@/A4 \*\//s/nl_cas_rel/nl_cas_rlx/@DATA RACE@1 2x1 full 0
slow unlock without release@/A5 \*\//s/nl_cas_rel/nl_cas_rlx/@DATA RACE@1 2x1 full 0
head asleep is not woken@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/(void)attr/@DEADLOCK@1 2x1 full 0
nobody is woken after a call in vain@s/nl_wake(&m->word, attr, 1, NL_LANE_ALL)/(void)attr/@DEADLOCK@1 3x1 random 100000
call in vain is not taken back@/^static bool call_head/,/^}/s/while (head_of(\*w) == M_HEAD_CALLED)/while (0)/@DEADLOCK@fifo 3x1 random 100000
head sleeps in the wrong lane@s/sleep_in(m, self, NL_LANE_FRONT)/sleep_in(m, self, NL_LANE_BACK)/@DEADLOCK@1 2x1 full 0
stale read after a wake@s/nl_fresh_rlx(&m->word)/nl_load_rlx(\&m->word)/@DEADLOCK@fifo 3x1 random 100000
object read after the release@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/nl_wake(\&m->word, m->attr, 1, NL_LANE_FRONT)/@DATA RACE@1 2x1 full 0 free
word read after the release@/A5/,/^}/s/if (head_of(w) == M_HEAD_FRONT)/if (head_of(w) == M_HEAD_FRONT \&\& nl_load_rlx(\&m->word) + 1)/@DATA RACE@1 2x1 full 0 free
release never grants@s/? w | M_GRANT : w & ~M_LOCKED/? w \& ~M_LOCKED : w \& ~M_LOCKED/@USER ASSERT FAILED@1 2x3 random 100000
TABLE
}

# add FILE: a namespace for it in codes.h.
add() {
	codes=$((codes + 1))
	printf 'namespace code_%d {\ntypedef seam::mutex nlock_mutex_t;\nvoid nl_mutex_count_overtaking(nlock_mutex_t *);\n#include "%s"\n#include "%s"\n}\n' \
		"$codes" "$srcdir/lib/cohort.c" "$1" >>codes.h
}

# write_codes: the true mutex.c, and one for each line of the table.
write_codes() {
	codes=-1
	: >codes.h
	add "$srcdir/lib/mutex.c"
	while IFS=@ read -r name edit _; do
		sed "$edit" "$srcdir/lib/mutex.c" >"relacy_$((codes + 1)).c" || exit 1
		cmp -s "$srcdir/lib/mutex.c" "relacy_$((codes + 1)).c" && fail "$name: the edit changes nothing"
		add "relacy_$((codes + 1)).c"
	done <table.txt
	{
		echo 'static const code codes[] = {'
		for i in $(seq 0 "$codes"); do echo "CODE(code_$i),"; done
		echo '};'
	} >>codes.h
}

if ! command -v "${CXX%% *}" >/dev/null; then
	echo "SKIP: there is no C++ compiler $CXX"
	exit 77
fi
if ! echo '#include <relacy/relacy.hpp>' | $CXX ${RELACY_INCLUDE:+-I"$RELACY_INCLUDE"} -E -x c++ - >/dev/null 2>&1; then
	echo "SKIP: relacy-dev is not installed"
	exit 77
fi
table >table.txt
write_codes
# shellcheck disable=SC2086
$CXX $flags "$srcdir/tests/explore/relacy/suite.cpp" -o suite || exit 1

scenarios >scenarios.txt
while read -r args; do
	# shellcheck disable=SC2086
	if out=$(timeout 60 ./suite 0 $args 2>&1); then
		pass "$args: ${out#right: }"
	else
		fail "$args: ${out:-no answer}"
	fi
done <scenarios.txt
i=0
while IFS=@ read -r name _ how scenario; do
	i=$((i + 1))
	# shellcheck disable=SC2086
	out=$(timeout 60 ./suite $i $scenario 2>&1)
	case $?:$out in
	"1:$how"*) pass "$name: found, ${out%%;*}" ;;
	*) fail "$name: not found as $how: $out" ;;
	esac
done <table.txt
echo "ROWS: $((passed + failed)) ran, $failed failed, 0 skipped: scenarios and planted faults under Relacy, from number $SEED on"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
