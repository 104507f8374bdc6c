#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh - planted faults: each must be caught, by the check that it is named for
#
# A fault is one edit of a copy of lib/. An edit that changes nothing (because the code has moved on) is a failure, and so is a
# fault that another check catches first: then the table below no longer says what it claims. "mutants.sh PATTERN" tries the
# faults that match.
. "$(dirname "$0")/build.sh"

# name @ file @ edit (sed) @ check that must fail @ scenario
table() {
	cat <<'TABLE'
head asleep is not woken@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/(void)attr/@asleep@bounded lu lu -b0
no second wake after a call that found nobody@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_ALL)/(void)attr/@asleep@bounded lulu lu lu -p3 -b0
grant to nobody@mutex.c@/^static uint32_t released/,/^}/s/if (head_of(w) == M_HEAD_NONE)/if (!has_waiters(w))/@grant@fifo lu lu lu -p3 -b0
missing acquire@mutex.c@/A3/s/nl_cas_acq/nl_cas_rlx/@race@bounded lu lu -b0
missing release@mutex.c@/A5/s/nl_cas_rel/nl_cas_rlx/@race@bounded lu lu -b0
word read after release@mutex.c@/A5/,/^}/s/if (head_of(w) == M_HEAD_FRONT)/if (head_of(w) == M_HEAD_FRONT \&\& nl_load_rlx(\&m->word) + 1)/@life@bounded ld ld -b0
attributes read after release@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/nl_wake(\&m->word, m->attr, 1, NL_LANE_FRONT)/@life@bounded ld ld -b0
owner's field written after release@mutex.c@/A5/,/^}/s/if (head_of(w) == M_HEAD_FRONT)/nl_own_set(\&m->bypass, 0); &/@race@bounded lu lu -b0
bound off by one@policy.h@s/bypass >= limit/bypass > limit/@bound@1 lulululu lu -b0
waiter that takes an open lock is not counted@mutex.c@/^static bool acquire/,/^}/s/count_overtaking(m, w);//@bound@1 lulu lu lu lu -p2 -b0
due left when the head goes@mutex.h@s/M_GRANT | M_HEAD | M_DUE/M_GRANT | M_HEAD/@head@1 lululu lu -d1 -b0
flag left at count zero@mutex.h@s/return has_waiters(w) ? w : w & M_LOCKED;/return w;/@count@fifo lu tu lu -t1 -p4 -b0
head sleeps in the wrong lane@mutex.c@s/sleep_in(m, self, NL_LANE_FRONT)/sleep_in(m, self, NL_LANE_BACK)/@asleep@bounded lu lu -b0
head is woken in the wrong lane@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/nl_wake(\&m->word, attr, 1, NL_LANE_BACK)/@asleep@bounded lu lu -b0
woken thread does not answer the call@mutex.c@s/!= NL_WOKEN)/!= NL_TIMEDOUT)/@asleep@fifo lu lu lu -p3 -b0
woken thread answers no call, only none@mutex.c@/^static void line_waits/,/^}/s/ || head_of(self->seen) == M_HEAD_CALLED//@asleep@1 lu lu lu -p3 -b0
call not taken back@mutex.c@/^static void call_head/,/^}/s/while (head_of(\*w) == M_HEAD_CALLED)/while (0)/@asleep@fifo lu lu lu -p3 -b1
head whose deadline passes leaves its grant@mutex.c@s/while (!acquire(m, &self)) {/while (self.is_expired || !acquire(m, \&self)) {/@rest@fifo lu tu -t1 -b0
stale read after a wake@mutex.c@s/nl_fresh_rlx(&m->word)/nl_load_rlx(\&m->word)/@asleep@fifo lu lu lu -p3 -b0
newcomer takes a granted lock@mutex.h@s/return !(w & M_LOCKED);/return !(w \& M_LOCKED) || (w \& M_GRANT);/@exclusion@fifo lulu lu -b0
awake head falls asleep unseen@mutex.c@s/w = with_head(self->seen, M_HEAD_FRONT);/w = self->seen;/@asleep@fifo lu lu -b1
a wake where nobody waits@mutex.c@/^static .*int unlock_slow/,/^}/s/ && has_waiters(w))$/)/@call@fifo lf lu -b0
grant of the parent process stays in the child@mutex.c@/^static uint32_t adopt/,/^}/s/w & M_GRANT ? 0 : w & M_LOCKED/w \& M_LOCKED/@adopt@1,fork:2b lu lu -b0
node chosen anew although somebody waits@mutex.c@/^static bool enter/,/^}/s/self->is_head ? nl_wait_enter/true ? nl_wait_enter/@count@fifo,first lu lu lu -p2 -b0
TABLE
}

# try LINE: in a directory of its own; prints one line.
try() {
	IFS=@ read -r name file edit check scenario <<LINE
$1
LINE
	dir=$(mktemp -d ./mutant.XXXXXX) || exit 1
	mkdir "$dir/lib" && cp "$srcdir"/lib/*.[ch] "$dir/lib/" && chmod -R u+w "$dir"
	sed "$edit" "$srcdir/lib/$file" >"$dir/lib/$file"
	if cmp -s "$srcdir/lib/$file" "$dir/lib/$file"; then
		echo "FAIL  $name: the edit changes nothing"
	elif ! build_scenarios "$dir/scen" "$dir/lib" >"$dir/log" 2>&1; then
		echo "FAIL  $name: does not compile"
	else
		# shellcheck disable=SC2086
		timeout 60 "$dir/scen" $scenario -q >"$dir/log" 2>&1
		if grep -q "^FAIL .*: $check: " "$dir/log"; then
			echo "ok    $name: caught by $check ($(sed -n '1s/.*: \([0-9]* executions\).*/\1/p' "$dir/log"))"
		else
			echo "FAIL  $name: $check did not catch it: $(tail -n 1 "$dir/log")"
		fi
	fi
	rm -rf "$dir"
}

try_all() {
	while read -r line; do
		try "$line"
	done
}

build_engine
table | grep -e "${1-.}" >mutants.txt
in_two mutants.txt try_all >mutants.out
cat mutants.out
passed=$(grep -c '^ok' mutants.out)
failed=$(grep -c '^FAIL' mutants.out)
[ $((passed + failed)) -eq "$(wc -l <mutants.txt)" ] || failed=$((failed + 1))
conclude 'planted faults'
