# SPDX-License-Identifier: MIT
#
# mutex.sh - what is explored of the mutex; read by build.sh
#
#   mutex_parts       the files of lib/ that are built; the first is swept
#   mutex_scenarios   a line each: the arguments of scen_mutex.c's program
#   mutex_merging     small ones, explored with and without merging states
#   mutex_orders      with these every ordered operation is met, and its weakening noticed
#   mutex_faults      planted faults
mutex_parts='mutex.c cohort.c'

# In every mode. -b: how many looks a watcher takes; with none, everybody sleeps as soon as possible.
mutex_everywhere() {
	cat <<'LIST'
lulu lulu -e1 -b0
lulu lulu -e1 -b1
lutu tulu -t1 -e1 -b0
lutu tulu -t1 -b1
lmu lmulu -b0
lflu lblu -e1 -b1
lu lu lu -b0
lu lu lu -b1
lu lu tu -t1 -e1 -p3 -b0
lu lu tu -t1 -e1 -p3 -b1
lu tu tu -t2 -p3 -b0 need:timeout
lulu lu lu -p3 -b0
lu lu yu -e1 -p3 -b1
lu lfyu lu -p3 -b0 need:grant need:refused
lmu lu lu -p3 -b0
lflu lblu lu -p2 -b0 need:grant
lu lu lu -w -p3 -e1 -b1
lu lu lu lu -p2 -e1 -b0
lu lu lu lu -p2 -b1
lu lu lu tu -t1 -p2 -b0
ld ld ld -b0 need:late need:freed
ld ld ld -p3 -b1
ld td yd -t1 -p3 -b0
ld ld ld ld -p2 -b0
lsu wD -b1 need:freed
LIST
}

# What only some modes can show: the bound reached exactly, the time bound, homes, forks.
mutex_special() {
	cat <<'LIST'
1 lulululu lu -b0 need:overtaken
2 lulululu lu -b0 need:overtaken
1 lulu lulu lu -p3 -b0 need:overtaken
2 lulu lulu lu -p3 -b1 need:overtaken
7 lu*9 lu -p4 -b0 need:overtaken
7 lu*9 lu -p3 -b1 need:overtaken
7 lu*4 lu*4 lu -p2 -b0 need:overtaken
100 lu*102 lu -p1 -b0 need:overtaken
100 lu*102 lu -p1 -b1 need:overtaken
0 lulu lulu lu -p2 -b0 need:grant
bounded lulu lu -d1 -b0 need:due
bounded lu lu lu -d1 -p3 -b1 need:due need:grant
2 lulu tulu -t1 -d1 -b1
fifo lulu lu lu -d1 -p2 -b0 need:due
fifo,first lu lu lu -p3 -b0 need:entered
fifo,first lulu lulu -b1 need:entered
1,first lulu tu tu -t1 -p2 -b0 need:entered
1,first lulu tu lu -t1 -e1 -p2 -b0 need:entered
barging,node lu tu lu -t1 -e1 -p3 -b0
fifo,fork:10d ulu lu -b0 need:adopted
fifo,fork:85 ulu lu -b1 need:adopted
1,fork:10d u lu tu -t1 -p2 -b0 need:adopted
1,fork:8b lu lu lu -p2 -b0 need:adopted
1,fork:8b yu lu -b1 need:adopted
barging,fork:88 lulu lu -b1 need:adopted
barging,fork:10d mu lu -b0 need:adopted
2,fork:11f tu lu -t1 -b1 need:adopted
fifo,fork:8c ld ld ld -p2 -b0 need:adopted need:freed
LIST
}

# Cohort locks: a waiter that is near is preferred, and nobody is passed more often than the bound.
mutex_cohort() {
	cat <<'LIST'
1,cohort:01 lulululu lu -b0 need:overtaken
2,cohort:01 lulululu lu -b0 need:overtaken
1,cohort:010 lulu lu lulu -p2 -b0 need:overtaken need:ended
1,cohort:xxx lulu lu lulu -p2 -b0 need:near need:ended need:overtaken
1,cohort:010 lflu lu lu -p3 -b1 need:near need:ended need:overtaken
2,cohort:010 lululu lu lflulu -p2 -b0 need:near need:ended need:overtaken
2,cohort:0100 lulu lu lulu lulu -p1 -b0 need:near need:ended need:overtaken
1,cohort:010 lulu lu lflu -e1 -p2 -b0 need:near
1,cohort:010 lflu tu lulu -t1 -p1 -d1 -b0 need:timeout need:ended
2,cohort:0120 lflu lu lu lulu -p1 -b0 need:near need:ended
1,cohort:00011 lu lu lu lu lu -p1 -b0 need:ended need:overtaken
barging,cohort:010 lulu lu lflu -p2 -b0 need:near
bounded,cohort:010 lulu lu lulu -d1 -p2 -b0 need:due
2,cohort:010 lflu lu lmu -p2 -b0
1,cohort:010 ld ld ld -p3 -b1 need:freed
1,cohort:0101 ld ld td yd -t1 -p2 -b0 need:freed
LIST
}

# A broadcast counts waiters before they come, and moves them. In every mode.
mutex_crowds() {
	cat <<'LIST'
lau vu vu -p3 -s1 -b0 need:expected need:moved
lau vu vu -p2 -s1 -b1 need:moved
lau vu vu vu -p2 -s0 -b0 need:moved
lAu vu vu vu -p2 -s0 -b0 need:moved
lu a vu vu -p2 -s1 -b0 need:moved
lu a vu vu -p1 -s1 -b1 need:moved
lau vu vu -e1 -p2 -s1 -b0 need:moved
lau vu vu vu -e1 -p1 -s0 -b0 need:moved
lau Vu Vu -t1 -p2 -s1 -b0 need:moved
lau vu vu lu -p2 -s0 -b0 need:joined
lau vu vu lu -p1 -s1 -b1 need:joined
lau vu vu lu lu -p1 -s0 -b0 need:joined
lau vu vu tu -t1 -p2 -s0 -b0 need:moved
lau vu vu -f -p2 -s1 -b0 need:moved
laf vb vu lu -p1 -s0 -b0 need:moved
lau vmu vu yu -p1 -s0 -b0 need:moved
lad vd vd -p3 -s1 -b0 need:freed need:moved
ld a vd vd -p2 -s1 -b0 need:freed need:moved
LIST
}

# The bound of a crowd reached exactly; the child of a fork.
mutex_crowds_special() {
	cat <<'LIST'
1 lau vu vu lulu -p2 -s0 -b0 need:passed need:moved
2 lau vu vu lululu -p1 -s0 -b0 need:passed need:moved
1 lau vulu vu lulu -p1 -s0 -b1 need:passed need:moved
1 lau vu vu lulu -d1 -p1 -s0 -b0 need:moved
1,fork:10d au vu vu -p2 -s1 -b0 need:adopted need:moved
fifo,fork:8d au vu vu -p2 -s1 -b0 need:adopted need:moved
barging,fork:8b a vu vu lu -p1 -s0 -b0 need:adopted
LIST
}

# What must fail, and by which check: a wake by priority is not in order of arrival; a wake on a node reads memory, so that such an object may
# not go as early as others.
mutex_wrong() {
	cat <<'LIST'
fifo lu lu lu lu -w -p2 -b1 fails:order
1,node ld ld -b0 fails:life
LIST
}

# Larger than can be exhausted: random priorities (PCT), the seed says which.
mutex_large() {
	for mode in fifo 1 barging; do
		echo "$mode lulu lulu lulu tulu lulu -t1 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode lulu tulu yulu lflu lulu lulu -t1 -e1 -d1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode lu lflu lu lmu tu lblu yu -t1 -e1 -P3 -r20000 -S${SEED:-1} -b0"
		echo "$mode lulu lulu lulu lulu lulu lulu lulu -P5 -r20000 -S${SEED:-1} -b0"
		echo "$mode lAulu vulu vulu vulu Vu lulu tulu -t2 -e1 -P5 -r20000 -S${SEED:-1} -b0"
		echo "$mode lulu a vulu vulu vulu yulu lfyu -P5 -r20000 -S${SEED:-1} -b1"
	done
	for mode in 1,cohort:0101010 3,cohort:0120121; do
		echo "$mode lulu lulu lulu tulu lulu lulu lulu -t1 -P5 -r20000 -S${SEED:-1} -b0"
		echo "$mode lulu lfyu lulu lulu lmu lulu lulu -e1 -P5 -r20000 -S${SEED:-1} -b1"
	done
}

mutex_scenarios() {
	for mode in fifo 0 1 2 bounded barging; do
		mutex_everywhere | sed "s/^/$mode /"
		mutex_crowds | sed "s/^/$mode /"
	done
	mutex_special
	mutex_crowds_special
	mutex_cohort
	mutex_wrong
	mutex_large
}

# No two states that differ are taken for one: entering visited states again finds as many.
mutex_merging() {
	cat <<'LIST'
fifo lu lu -b1
fifo lu tu -t1 -b0
1 lu lu -e1 -b0
fifo,first lu lu -b0
1 ld ld -b0
1 lsu wD -b0
1,fork:10d u lu -b0
fifo lulu lulu -b0 -p2
1,cohort:01 lulu lu -b0
1 lau vu -b0
fifo lau vu vu -b0 -p1 -s1
LIST
}

# Together they reach every ordered operation.
mutex_orders() {
	cat <<'LIST'
bounded lulu lulu -b0
fifo lulu lulu -b1
1 lulu yulu -b1
fifo lu tu lu -t1 -p2 -b0
2 lflu lblu lu -p2 -b0
barging lmu lu lu -p2 -b0
bounded ld ld ld -p2 -b0
bounded lsu wD -b0
1 lau vu vu lu -p1 -s1 -b0
LIST
}

# name @ file @ edit (sed) @ check that must fail @ scenario
mutex_faults() {
	cat <<'TABLE'
head asleep is not woken@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/(void)attr/@asleep@bounded lu lu -b0
no second wake after a call that found nobody@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_ALL)/(void)attr/@asleep@bounded lulu lu lu -p3 -b0
head that leaves during the release is not replaced@mutex.c@s/has_called = call_head(m, &w);/call_head(m, \&w), has_called = true;/@crowd@fifo lau vu vu tu -t1 -p2 -s0 -b0
grant to nobody@mutex.c@/^static uint32_t released/,/^}/s/if (head_of(w) == M_HEAD_NONE)/if (!has_waiters(w))/@grant@fifo lu lu lu -p3 -b0
missing acquire@mutex.c@/A3/s/nl_cas_acq/nl_cas_rlx/@race@bounded lu lu -b0
missing release@mutex.c@/A5/s/nl_cas_rel/nl_cas_rlx/@race@bounded lu lu -b0
word read after release@mutex.c@/A5/,/^}/s/if (head_of(w) == M_HEAD_FRONT)/if (head_of(w) == M_HEAD_FRONT \&\& nl_load_rlx(\&m->word) + 1)/@life@bounded ld ld -b0
attributes read after release@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/nl_wake(\&m->word, m->attr, 1, NL_LANE_FRONT)/@life@bounded ld ld -b0
owner's field written after release@mutex.c@/A5/,/^}/s/if (head_of(w) == M_HEAD_FRONT)/nl_own_set(\&m->bypass, 0); &/@race@bounded lu lu -b0
bound off by one@policy.h@s/bypass >= limit/bypass > limit/@bound@1 lulululu lu -b0
waiter that takes an open lock is not counted@mutex.c@/^static bool acquire/,/^}/s/if (overtakes(m, w))/if (false)/@bound@1 lulu lu lu lu -p2 -b0
due left when the head goes@mutex.h@s/M_GRANT | M_HEAD | M_DUE/M_GRANT | M_HEAD/@head@1 lululu lu -d1 -b0
flag left at count zero@mutex.h@s/return has_waiters(w) ? w : w & M_LOCKED;/return w;/@count@fifo lu tu lu -t1 -p4 -b0
head sleeps in the wrong lane@mutex.c@s/sleep_in(m, self, NL_LANE_FRONT)/sleep_in(m, self, NL_LANE_BACK)/@asleep@bounded lu lu -b0
head is woken in the wrong lane@mutex.c@s/nl_wake(&m->word, attr, 1, NL_LANE_FRONT)/nl_wake(\&m->word, attr, 1, NL_LANE_BACK)/@asleep@bounded lu lu -b0
woken thread does not answer the call@mutex.c@/^static void line_waits/,/^}/s/== NL_WOKEN)/== NL_TIMEDOUT)/@asleep@fifo lu lu lu -p3 -b0
woken thread answers no call, only none@mutex.c@/^static void answer/,/^}/s/ || head_of(self->seen) == M_HEAD_CALLED//@asleep@1 lu lu lu -p3 -b0
call not taken back@mutex.c@/^static bool call_head/,/^}/s/while (head_of(\*w) == M_HEAD_CALLED)/while (0)/@asleep@fifo lu lu lu -p3 -b1
head whose deadline passes leaves its grant@mutex.c@s/while (!acquire(m, self)) {/while (self->is_expired || !acquire(m, self)) {/@rest@fifo lu tu -t1 -b0
stale read after a wake@mutex.c@s/nl_fresh_rlx(&m->word)/nl_load_rlx(\&m->word)/@asleep@fifo lu lu lu -p3 -b0
newcomer takes a granted lock@mutex.h@s/return !(w & M_LOCKED);/return !(w \& M_LOCKED) || (w \& M_GRANT);/@exclusion@fifo lulu lu -b0
awake head falls asleep unseen@mutex.c@s/w = with_head(self->seen, M_HEAD_FRONT);/w = self->seen;/@asleep@fifo lu lu -b1
a wake where nobody waits@mutex.c@/^static .*int unlock_slow/,/^}/s/ && has_waiters(w))$/)/@call@fifo lf lu -b0
grant of the parent process stays in the child@mutex.c@/^static uint32_t adopt/,/^}/s/w & M_GRANT ? 0 : w & M_LOCKED/w \& M_LOCKED/@adopt@1,fork:8b lu lu -b0
overtakings by the preferred are not counted@cohort.c@s/if (farther \&\& !has_one/if (false \&\& !has_one/@bound@1,cohort:0100 lflu lu lflu lu -p2 -b0
those who came after the call are not counted@cohort.c@s/!has_one_waiter(nl_fresh_rlx(&m->word))/!has_one_waiter(nl_load_rlx(\&m->word))/@bound@1,cohort:010 lulu lu lulu -p3 -b1
head forgets the overtakings of the others@mutex.c@s/if (!nl_policy_is_cohort(m->attr) || !has_waiters(w))/if (true)/@bound@1,cohort:010 lulu lu lulu -p2 -b0
round does not end@mutex.c@s/nl_cohort_end_round(m);/(void)m;/@bound@1,cohort:000 lulu lulu lulu -p2 -b0
new round is served before the old one@cohort.c@s/line_of(w ^ M_ROUND)/line_of(w)/@bound@1,cohort:0100 lflulu lu lulu lu -p2 -b0
round is ended though nobody waits@cohort.c@s/while (has_waiters(w) \&\& !nl_cas/while (!nl_cas/@count@1,cohort:00 lulu tu -t1 -b0
newcomers who overtake a crowd are not counted@mutex.c@s/ || has_crowd(\*w))/)/@crowd@1 lau vu vu lulu -p2 -s0 -b0
crowd is never called@mutex.c@/^static bool leaves_out_call/,/^}/s/ \&\& nl_own_get.*;/;/@crowd@1 lau vu vu lulu -p2 -s0 -b0
mark of a crowd outlives a call@mutex.c@s/M_HEAD_CALLED) & ~M_CROWD));/M_HEAD_CALLED)));/@crowd@fifo lau vu vu -p2 -s1 -b0
expected waiter that was woken does not answer@mutex.c@s/if (is_woken)/if (false)/@asleep@fifo lau vu vu -p2 -s1 -b0
expected waiter takes itself for the head@mutex.c@s/= { .seen = nl_fresh_rlx(&m->word) };/= { .seen = nl_fresh_rlx(\&m->word), .is_head = true };/@grant@fifo lau vu vu -p2 -s1 -b0
waiters are expected at an open lock@mutex.c@/^bool nl_mutex_expect/,/^}/s/if (is_open(w))/if (false)/@crowd@1 lu a vu vu -p2 -s1 -b0
those expected in a child are added to the parent's@mutex.c@/^bool nl_mutex_expect/,/^}/s/adopt(m, nl_load_rlx(&m->word))/nl_load_rlx(\&m->word)/@adopt@1,fork:8d au vu vu -p2 -s1 -b0
node chosen anew although somebody waits@mutex.c@/^static bool enter/,/^}/s/self->is_head ? nl_wait_enter/true ? nl_wait_enter/@count@fifo,first lu lu lu -p2 -b0
TABLE
}
