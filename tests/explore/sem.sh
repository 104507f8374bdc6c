# SPDX-License-Identifier: MIT
#
# sem.sh - what is explored of the semaphore; read by build.sh
#
#   sem_parts       the files of lib/ that are built; the first is swept
#   sem_scenarios   a line each: the arguments of scen_sem.c's program
#   sem_merging     small ones, explored with and without merging states
#   sem_orders      with these every ordered operation is met, and its weakening noticed
#   sem_faults      planted faults
sem_parts='sem.c'

# In every mode, each after its mode and a comma.
sem_everywhere() {
	cat <<'LIST'
1 wuwu wuwu -e1 -b0
1 wuwu wuwu -b1
1 wu wu wu -e1 -p2 -b0
1 wu wu tu -t1 -p2 -b0
1 wu yu tu -t1 -p2 -s1 -b1
1 wuwu wu wu -p2 -s1 -b0
0 R P -e1 -b0 need:answer
0 R P -b1
0 w w 2 -b0 need:claim
0 w w 3 -e1 -p2 -s1 -b1
0 w w w 2 p -p1 -s0 -b0
0 w w p p -w -p2 -s1 -b0
0 t p p -t1 -e1 -p2 -s1 -b0 need:timeout
0 t w 2 -t1 -p3 -b0 need:left
0 t w p p -t1 -p2 -s1 -b0 need:owed
0 wd p -b0 need:late need:freed
0 wd wd 2 -p3 -b0 need:late
0 wd wd pp -p2 -b0 need:late
0 wd td 3 -t1 -p2 -s2 -b0 need:freed
2 wu wu wu -p2 -b0
0 c p -c1 -b0 need:cancelled need:returned
0 c w 2 -c1 -b0 -p2 -s2 need:returned
0 c w p p -c1 -b0 -p2 -s1 need:again
0 c w p p -c1 -e1 -b0 -p1 -s1 need:interrupted
0 cd wd 2 -c1 -b0 -p2 -s1 need:freed
LIST
}

# What only some modes can show: the bound reached exactly, getting past, forks, nodes.
sem_special() {
	cat <<'LIST'
1,1 wuwuwu wu -b0 need:passed_most need:front
2,1 wu*4 wu -p4 -b0 need:passed_most
2,1 wu*4 wu wu -p1 -s1 -b0 need:passed_most
7,1 wu*9 wu -p2 -b0 need:passed_most
1,1 wuwu wu wu -p2 -s1 -b0 need:passed_most
bounded,1 wu*3 wu -b0 need:pass
barging,1 wu*3 wu -b0 need:pass
fifo,1 wu*4 wu -b0 need:claim
fifo,0 pw w p -b0
1,0 pwpw w p -p2 -s1 -b0 need:pass
fifo,0 w t 2 p -t1 -p2 -s2 -b0 need:again
fifo,0 t w w p p p -t1 -p1 -s1 -b0
fifo,0 t wp w 3 -t1 -p2 -s1 -b0 need:again
barging,0 t wp w 3 -t1 -p2 -s1 -b0 need:again
fifo,1 wu wu wu -p2 -b1 need:watched
1,1,node wuwu wuwu -b0
fifo,0 c c w 3 -c2 -b0 -p1 -s1 need:returned
fifo,0 c t w pp p -c1 -t1 -b0 -p1 -s0 need:cancelled
1,0 c c 2 -c1 -e1 -b1 -p1 -s1 need:interrupted
1,1 wu cu wu -c1 -b0 -p2 -s1 need:cancelled
fifo,0,fork:1:1 c w p -c1 -p1 -s1 -b0 need:adopted
fifo,0,fork:1:0 w p -b0 need:adopted
1,0,fork:1:0 w t p p -t1 -p2 -s1 -b0 need:adopted
fifo,0,fork:0:1 w p -b0 need:adopted
barging,0,fork:0:2 wp w -p3 -b0 need:adopted
fifo,0,fork:1:1 ww p -b0 need:adopted
fifo,0,fork:1:1 w w p -p2 -s2 -b0 need:adopted
fifo,0,fork:2:1 w w p -p2 -s1 -b0 need:adopted
barging,0,fork:2:0 wp w p p -p1 -s1 -b0 need:adopted
fifo,0,fork:1:1 D D w -p2 -s1 -b0 need:adopted
LIST
}

# What must fail, and by which check: a wake on a node reads memory, so that such an object may not go as early as others.
sem_wrong() {
	cat <<'LIST'
1,0,node wd p -b0 fails:life
LIST
}

# Larger than can be exhausted: random priorities (PCT), the seed says which.
sem_large() {
	for mode in fifo 1 barging; do
		echo "$mode,1 wuwu wuwu wuwu tuwu wuwu -t1 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode,0 w t w w 2 p 2 -t1 -P4 -r20000 -S${SEED:-1} -b0"
		echo "$mode,2 wuwu tuwu yuwu wuwu wuwu wuwu -t1 -e1 -P4 -r20000 -S${SEED:-1} -b0"
		echo "$mode,0 c w t c w 2 3 -t1 -c2 -P4 -r20000 -S${SEED:-1} -b0"
		echo "$mode,0 wd wd wd wd 2 2 -t1 -P5 -r20000 -S${SEED:-1} -b0"
	done
}

sem_scenarios() {
	for mode in fifo 1 2 barging; do
		sem_everywhere | sed "s/^/$mode,/"
	done
	sem_special
	sem_wrong
	sem_large
}

# No two states that differ are taken for one: entering visited states again finds as many.
sem_merging() {
	cat <<'LIST'
fifo,0 w p -b0
1,1 wu wu -b0
fifo,0 t p -t1 -b0
fifo,0 wd p -b0
fifo,0 c p -c1 -b0
fifo,0,fork:0:1 w -b0
LIST
}

# Together they reach every ordered operation.
sem_orders() {
	cat <<'LIST'
fifo,1 wuwu wuwu -b0
fifo,0 R P -b0
fifo,0 w t 2 p -t1 -p2 -s1 -b0
fifo,0,fork:1:0 w p -b0
fifo,0,fork:0:1 w w p -p2 -s1 -b0
fifo,0 wd p -b0
LIST
}

# name @ file @ edit (sed) @ the check that must catch it @ scenario
sem_faults() {
	cat <<'TABLE'
no wake after an answer@sem.c@/^static void answer/,/^}/s/if (found < (int)k)/if (0)/@asleep@fifo,0 w p -b0
one wake for many answers@sem.c@/^static void answer/,/^}/s/(int)k - found, NL_LANE_ALL/1, NL_LANE_ALL/@asleep@fifo,0 w w 2 -b0
answer promised and not written@sem.c@s/nl_add_rel(&s->gate, k);/(void)k;/@call@fifo,0 w p -b0
missing acquire in take@sem.c@/A1 \*/s/nl_cas64_acq/nl_cas64_rlx/@race@fifo,1 wu wu -b0
missing release in post@sem.c@/A2 \*/s/nl_cas64_rel/nl_cas64_rlx/@race@fifo,1 wu wu -b0
missing release in answer@sem.c@/A3 \*/s/nl_add_rel/nl_add_rlx/@race@fifo,0 R P -b0
missing acquire in claim@sem.c@/^static bool has_claimed/,/^}/s/nl_load_acq/nl_load_rlx/@race@fifo,0 R P -b0
post looks again for waiters after its token is out@sem.c@s/^	if (k)$/	if (k || waiters_in(nl_load64_rlx(\&s->state)))/@life@fifo,0 wd p -b0
attributes read after the answer@sem.c@s/nl_wake(&s->gate, attr, (int)k - found/nl_wake(\&s->gate, s->attr, (int)k - found/@life@fifo,0 wd p -b0
token in the answer and in the value@sem.c@s/ + (n - k);/ + n;/@token@fifo,0 w p -b0
post promises and does not take off the count@sem.c@s/k ? without(seen, k) \& ~S_FRONT : seen/seen/@answer@fifo,0 w p -b0
two claim one answer@sem.c@/^static bool claim/,/^}/s/while ((int32_t)(written - c) > 0)/while ((int32_t)(written - c) >= 0)/@answer@fifo,0 w w p p -p2 -b0
who leaves does not pass the answer on@sem.c@/^static bool leave/,/^}/s/if (claim(s, nl_fresh_rlx(&s->gate)))/if (0)/@asleep@fifo,0 w t 2 p -t1 -p2 -s2 -b0
who leaves does not see the newest gate@sem.c@/^static bool leave/,/^}/s/nl_fresh_rlx(&s->gate)/nl_load_rlx(\&s->gate)/@asleep@fifo,0 t w w p p p -t1 -p1 -s1 -b0
who leaves takes an answer along@sem.c@/^static bool leave/,/^}/s/^		answer(s, s->attr, 1, false);/		(void)answer;/@answer@fifo,0 w t 2 p -t1 -p2 -s2 -b0
leaves although an answer is owed@sem.c@/^static bool leave/,/^}/s/return false;/return true;/@count@fifo,0 t p p -t1 -p3 -b0
cancelled waiter leaves before it looks for an answer@sem.c@/^static void abandon/,/^}/s/	self->over = ECANCELED;/&\n	if (leave(self->s))\n		return;/@asleep@fifo,0 c t w pp p -c1 -t1 -b0 -p1 -s0
cancelled waiter keeps its token@sem.c@/^static void abandon/,/^}/s/		post(self->s, 1);/		;/@answer@fifo,0 c p -c1 -b0
cancelled waiter just goes@sem.c@/^static void abandon/,/^}/s/	if (wait_or_leave(self->s, self) == 0)/	if (0)/@count@fifo,0 c p -c1 -b0
cancelled waiter goes although an answer is owed@sem.c@/^static void abandon/,/^}/s/	if (wait_or_leave(self->s, self) == 0)/	if (leave(self->s))\n		return;\n	if (0)/@count@fifo,0 c p -c1 -b0
cancelled waiter does not reckon with a wake@sem.c@/^static void abandon/,/^}/s/	self->was_woken = self->may_pass = true;/	;/@asleep@fifo,0 w c p p -w -c1 -b0 -p2 -s1
newcomer claims what was there before it@sem.c@s/if ((!is_ours \&\& !self->may_pass) ||/if (/@line@fifo,0 w pw p -b0
bound off by one@policy.h@s/bypass >= limit/bypass > limit/@bound@1,1 wuwuwu wu -b0
newcomers are not counted@sem.c@s/^			w += S_PASSED;/			w += 0;/@bound@1,1 wuwuwu wu -b0
who was woken may not claim@sem.c@s/self->was_woken = self->may_pass = true;/self->was_woken = true;/@asleep@fifo,1 wu wu wu -p3 -b0
gate looked at after registering@sem.c@/^static bool enter/,/^}/s/^	return false;/	self->came = nl_load_rlx(\&s->gate);\n	return false;/@asleep@fifo,0 w p -b0
hint about the front left at count zero@sem.c@/^static uint64_t without/,/^}/s/return s & S_COUNT ? s : s & ~S_FRONT;/return s;/@shape@fifo,0 t p p -t1 -e1 -p3 -b0
watcher leaves its mark@sem.c@/^static bool take/,/^}/s/(\*seen - 1) & ~S_WATCHED/*seen - 1/@rest@fifo,0 R P -b1
waiters of the parent are answered@sem.c@/^static inline int post/,/^}/s/seen = adopt(s);/(void)adopt;/@adopt@fifo,0,fork:1:0 p p -b0
child takes its own waiters for the parent's@sem.c@/A8 \*/s/nl_load64_acq/nl_load64_rlx/@adopt@fifo,0,fork:1:0 w p -b0
tokens of the parent's waiters are lost@sem.c@/^static .*uint64_t adopt/,/^}/s/lost += written - c;/lost = 0;/@answer@fifo,0,fork:0:1 w p -b0
same epoch@sem.c@s/(~seen & S_EPOCH)/(seen \& S_EPOCH)/@adopt@fifo,0,fork:1:0 w p -b0
TABLE
}
