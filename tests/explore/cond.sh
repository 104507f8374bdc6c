# SPDX-License-Identifier: MIT
#
# cond.sh - what is explored of the condition variable; read by build.sh
#
#   cond_parts       the files of lib/ that are built; the first is swept
#   cond_scenarios   a line each: the arguments of scen_cond.c's program
#   cond_merging     small ones, explored with and without merging states
#   cond_orders      with these every ordered operation is met, and its weakening noticed
#   cond_faults      planted faults
cond_parts='cond.c cond_locks.c cond_move.c'
cond_swept='cond.c cond_move.c'

# Counter-examples to earlier forms of cond.c stand here too, with what they showed:
#   - a watcher that found its mark gone fell asleep although the signal that had taken the mark would wake nobody: TOLD
#   - a signal's wake found a thread that the gate had released but the wake of all had not reached yet: moving
#   - of two threads of a forked child the later forgot what the first had registered: A6 in adopt
#   - a waiter whose deadline had passed, and which a broadcast had released unseen, counted a later arrival out: T7's mending
cond_scenarios() {
	cat <<'LIST'
hash g p -b0
hash g P -e1 -b0 need:rest
hash g p -b1 need:told
hash g P -b1 -e1 need:watched
hash gg pp -b0 -p3 -s1
hash gg PP -b1 -p3 -s1 need:told
hash h p -t1 -b0 need:expired
hash hh pp -t2 -b0 -p3 -s1 need:spared
hash h P -t1 -e1 -b1 -p3 -s1 need:expired
hash g q -b0
hash d o -b1 -e1 -p3 -s1
hash g g p p -b0 -p2 -s1 need:rest
hash g g P P -b1 -p1 -s1
hash gg p p -b1 -p2 -s1 need:told
hash g g pp -e1 -b0 -p1 -s1
hash g h pp -t1 -b0 -p1 -s1
hash g h p P -t1 -b0 -p1 -s1 need:expired
hash g g q q -b0 -p2 -s1 need:all
hash h g q p -t1 -b0 -p1 -s1 need:spared
hash t t ls ls -t1 -b0 -p1 -s1 need:expired need:sent
hash t t lss -t1 -b0 -p1 -s2 need:sent
hash t t ls ls t -b0 -p1 -s0 need:helped
hash t t ls lb -t1 -b0 -p1 -s1 need:all
hash t lb t -t1 -b0 -p2 -s1 need:mended
hash g g g p p p -b0 -p1 -s0
hash g g h pp p -t1 -b0 -p1 -s0
hash g g h P pp -t1 -e1 -b1 -p0 -s0
hash g g g p pp -w -b0 -p1 -s0
hash d d o -b0 -p2 -s1
hash d d O -e1 -b1 -p1 -s1
hash d D -b0 need:freed need:out
hash d E -b0 need:freed need:out
hash d D -b1 -p3 -s1 need:freed need:out
hash d E -b1 -e1 -p2 -s1 need:freed
hash d d D -b0 -p2 -s1 need:freed need:out
hash d d E -b0 -p2 -s0 need:freed need:out
hash d d d D -b0 -p1 -s0 need:freed need:out
hash x k -t1 -b0 need:freed
hash x k -t1 -b1 -p3 -s2 need:freed
hash t le ls -t1 -b0 -p2 -s1 need:busy
hash t e lb -t1 -b1 -p2 -s1 need:busy
hash s b -b0 need:nobody
node g g p p -b0 -p1 -s1
fork:3 g p -b0 need:adopted
fork:3 g p -b1 need:adopted
fork:800003 pg -b0 need:adopted
fork:1 g h pp -t1 -b0 -p1 -s1 need:adopted
fork:1000000000000001 g g pp -b1 -p1 -s1 need:adopted
fork:1 sg p -b0 -p2 need:adopted
fork:c00002 bg g pp -b0 -p1 -s1 need:adopted
hash d d O -b0 -p2 -s1 need:away
hash d d o -b0 -p2 -s1 need:away
hash d d O -f -b0 -p1 -s1 need:away
hash d d D -e1 -b0 -p1 -s0 need:away need:freed
hash d d E -e1 -b0 -p1 -s0 need:away need:freed need:out
hash t t lb -t2 -e1 -b0 -p1 -s0 need:away
hash t t lb ls -t1 -b0 -p1 -s0 need:away
hash t t lblb -t1 -b0 -p1 -s1 need:away
hash t t lb lb -t1 -b0 -p1 -s0 need:away
hash t t lb t -t1 -b0 -p1 -s0 need:away
hash t t lb tls -e1 -b0 -p0 -s0 need:away
hash d d o l -b0 -p1 -s0 need:away
hash n t O -b0 -p1 -s0 need:all
hash t t O -t2 -b0 -p1 -s0 need:away
hash n t lb -c1 -e1 -b0 -p1 -s0 need:all
fork:400000000000003 t t lb -t1 -b0 -p1 -s1 need:adopted need:away
hash c p -c1 -b0 -p3 need:cancelled
hash c c p p -c2 -b0 -p1 -s1
hash n t ls ls -c1 -t1 -b0 -p1 -s0 need:passed_on
hash n t t ls -c1 -b0 -p1 -s1 need:passed_on
hash n n lss -c2 -b0 -p1 -s1 need:passed_on
hash n t lb ls -c1 -b0 -p1 -s0
hash c g pp -c1 -b1 -p1 -s1 need:cancelled need:watched
hash n t ls -w -c1 -e1 -b0 -p1 -s1
hash m d o -c1 -b0 -p1 -s1
hash m D -c1 -b0 -p2 -s1 need:freed need:cancelled
hash m d D -c1 -b0 -p1 -s0 need:freed need:cancelled
node n t ls -c1 -b0 -p1 -s1 need:passed_on
fork:1 n t ls -c1 -b0 -p1 -s1 need:adopted
LIST
	echo "node d D -b0 fails:life"
	# Larger than can be exhausted: random priorities (PCT), the seed says which.
	echo "hash ggg ghg gg ppp pPp pp -t1 -e1 -P4 -r15000 -S${SEED:-1} -b0"
	echo "hash ggg ghg gg ppp pqp pp -t1 -e1 -P4 -r15000 -S${SEED:-1} -b1"
	echo "hash t t t lsls lsls lb -t3 -e1 -P4 -r15000 -S${SEED:-1} -b0"
	echo "hash dt dt d d D -t2 -e1 -P3 -r15000 -S${SEED:-1} -b1" | sed 's/ dt dt/ d d/'
}

# No two states that differ are taken for one: entering visited states again finds as many.
cond_merging() {
	cat <<'LIST'
hash g p -b0 -p2 -s1
hash h p -t1 -b0 -p1 -s1
hash n t ls -c1 -b0 -p0 -s0
hash d D -b0 -p1 -s0
fork:3 g p -b0 -p1 -s1
LIST
}

# Three waiters, one with a deadline that passes, and three signals by two threads.
cond_long() {
	cat <<'LIST'
hash g g h pp p -t1 -b0 -p2 -s0
hash g g h pp p -t1 -b0 -p1 -s1
LIST
}

# Together they reach every ordered operation.
cond_orders() {
	cat <<'LIST'
hash d D -b0 -p2 -s1
hash d d D -b0 -p1 -s1
hash t lb t -t1 -b0 -p2 -s2
fork:1 g h pp -t1 -b0 -p1 -s1
hash t t O -t2 -b0 -p2 -s2
hash n t O -b0 -p2 -s2
LIST
}

# name @ file @ edit (sed) @ check that must fail @ scenario
cond_faults() {
	cat <<'TABLE'
signal wakes nobody@cond.c@s/if (!nl_wake(nl_cond_gate(c, s), c->attr, 1, NL_LANE_BACK))/if (0)/@blocked@hash g p -b0
signal whose wake found nobody leaves it at that@cond.c@/^static .*signal_slow/,/^}/s/		mine |= release_rest(c);/		;/@blocked@hash g p -b0
gate is not moved@cond.c@/^static void move_gate/,/^}/s/nl_add_rel(gate, G_ONE)/(void)0/@blocked@hash g q -b0
those asleep are not woken@cond.c@/^static void move_gate/,/^}/s/if (may_sleep)/if (0)/@asleep@hash g q -b0
broadcast wakes one@cond.c@s/c->attr, INT_MAX, NL_LANE_BACK/c->attr, 1, NL_LANE_BACK/@asleep@node d d o -b0 -p1 -s0
gate is read after the mutex is given up@cond.c@s/	nlock_mutex_unlock(m);/&\n	self->gate = nl_load_acq(nl_cond_gate(c, self->epoch));/@asleep@hash g p -b0
waiter registers after it has given the mutex up@cond.c@/^static int wait_with/,/^}/{/^	nl_cond_enter(c, self);/d;s/^	nlock_mutex_unlock(m);/&\n	nl_cond_enter(c, self);/}@signal@hash g p -b0
watcher that was told falls asleep@cond.c@s/return s & C_TOLD;/return false;/@asleep@hash g p -b1
watcher sleeps with its mark on@cond.c@/^static bool watch/,/^}/s/while ((s & C_WATCHED) \&\&/while (0 \&\&/@asleep@hash g p -b1
a second waiter leaves the mark of the first@cond.c@s/v = (s & ~C_WATCHED) + C_WAITER;/v = s + C_WAITER;/@asleep@hash g g pp -b1 -p1 -s0
mark of a watcher that is gone stays@cond.c@s/self->mine = v \& C_WATCHED ? C_WATCHED | C_TOLD : 0/self->mine = 0/@rest@hash g p -b1
place of a later arrival is not given back@cond.c@/^static bool count_out/,/^}/s/	self->mine |= release_rest(c);/	;/@blocked@hash t lb t -t1 -b0 -p2 -s1
expired waiter does not look at the gate@cond.c@/^static bool count_out/,/^}/s/	if (!is_released(c, self))/	if (1)/@blocked@hash t lb t -t1 -b0 -p2 -s1
expired waiter takes a signal with it@cond.c@/^static int sleep_until_released/,/^}/s/case NL_WOKEN:/case NL_WOKEN:\n			if (self->d) return count_out(c, self, 0) ? ETIMEDOUT : 0;/@timeout@hash h p P -t1 -e1 -b0 -p1 -s0
signal does not help another one@cond.c@s/return !(s & (C_WAITING | C_CALLING));/return !(s \& C_WAITING);/@signal@hash t t ls ls t -b0 -p1 -s0
waiter stays counted after a stray wake@cond.c@s/s -= s & (C_COUNTS - C_WAITING) ? C_INSIDE : C_WAITER/s -= s \& (C_COUNTS - C_WAITING) ? C_INSIDE : 0/@count@hash g P -e1 -b0
interrupted waiter registers again@cond.c@/^static int sleep_until_released/,/^}/s/			break;/			nl_cas64_rlx(\&c->state, \&(uint64_t){ nl_load64_rlx(\&c->state) }, nl_load64_rlx(\&c->state) + 1); break;/@count@hash g P -e1 -b0
destroy does not wait@cond.c@s/while (!((g = nl_load_acq(gate)) & G_OUT))/while (!((g = nl_load_acq(gate)) \& G_OUT) \&\& 0)/@count@hash d D -b0
destroy takes those who wait for gone@cond.c@/^int nlock_cond_destroy/,/^}/s/if (waiting(s))/if (0)/@count@hash t le ls -t1 -b0 -p2 -s1
last one out says nothing@cond.c@s/nl_add_rel(nl_cond_gate(c, v), G_OUT); /(void)0; /@asleep@hash d D -b0
last one out wakes nobody@cond.c@s/nl_wake(nl_cond_gate(c, v), attr, 1, NL_LANE_FRONT)/(void)attr/@asleep@hash d D -b0
attributes read after the end@cond.c@s/nl_wake(nl_cond_gate(c, v), attr, 1, NL_LANE_FRONT)/nl_wake(nl_cond_gate(c, v), c->attr, 1, NL_LANE_FRONT)/@life@hash d D -b0
signaller looks again after it has left@cond.c@/^static .*int signal_slow/,/^}/s/	nl_cond_leave(c, NULL, mine);/	nl_cond_leave(c, NULL, mine); if (nl_load64_rlx(\&c->state) == 1) return 1;/@life@hash x k -t1 -b0
parent's waiters are waited for@cond.c@/^static uint64_t adopt/,/^}/s/(s & C_TURN) ^ C_TURN)/s ^ C_TURN)/@adopt@fork:3 g p -b0
late helper forgets a waiter@cond.h@s/#define C_TURN    ((uint64_t)1 << 63)/#define C_TURN    ((uint64_t)0)/@count@fork:1 g sg pp -b0 -p2 -s1
signal while others move the gate wakes one@cond.c@s/(s & (C_WATCHED | C_MOVING | C_SENT))/(s \& C_WATCHED)/@blocked@hash t t ls lb -t1 -b0 -p1 -s0
cancelled waiter does not pass the signal on@cond.c@/^void nl_cond_abandon/,/^}/s/	nlock_cond_signal(c);/	;/@signal@hash n t ls ls -c1 -t1 -b0 -p1 -s0
cancelled waiter leaves before it signals@cond.c@/^void nl_cond_abandon/,/^}/{s/	nlock_cond_signal(c);/	nl_cond_leave(c, self, self->mine);/;t;s/	nl_cond_leave(c, self, self->mine);/	nlock_cond_signal(c);/}@life@hash m D -c1 -b0 -p2 -s1
cancelled waiter stays counted@cond.c@/^void nl_cond_abandon/,/^}/s/	nl_cond_leave(c, self, self->mine);/	(void)self;/@count@hash c p -c1 -b0 -p1
cancelled waiter does not take its lock@cond_locks.c@/^static void abandon/,/^}/s/	w->how->lock(w->lock);/	;/@rest@hash c p -c1 -b0 -p1
any lock is given up before the waiter registers@cond_locks.c@/^static int wait_with/,/^}/{/nl_cond_enter/d;s/	rc = w->how->unlock(w->lock);/&\n	nl_cond_enter(w->c, \&w->self);/}@signal@hash c p -b0 -p1
waiters are counted by the mutex after they may go@cond_move.c@/^bool nl_cond_send/,/^}/{s/is_counted = m \&\& nl_mutex_expect(m, (uint32_t)n);/is_counted = m != NULL;/;s/^	s = nl_cond_leave/	if (is_counted) nl_mutex_expect(m, (uint32_t)n);\n&/}@moved@hash d d O -b0 -p1 -s0
open mutex is moved to@cond_move.c@s/is_counted = m && nl_mutex_expect(m, (uint32_t)n);/is_counted = m; if (m) nl_mutex_expect(m, (uint32_t)n);/@moved@hash d d o -b0 -p1 -s0
all are moved and nobody is woken@cond_move.c@s/return nl_wait_cpus() > 1 ? 2 : 1;/return 0;/@asleep@hash d d o l -b0 -p3 -s0
sent away before the gate moves@cond_move.c@/^void nl_cond_await/,/^}/s/while ((g = nl_load_acq(gate)) == self->gate)/while ((g = nl_load_acq(gate)) == self->gate \&\& 0)/@rest@hash t t O -t2 -b0 -p1 -s0
moved waiter goes to the mutex as a newcomer@cond.c@/^static int wait_with/,/^}/s/if (self->is_counted)/if (0)/@rest@hash d d O -b0 -p1 -s0
destroy leaves those that were moved asleep@cond.c@/^int nlock_cond_destroy/,/^}/s/if (s & C_SENT)/if (0)/@asleep@hash d d E -b0 -p1 -s0
who moves them does not look for a destroyer@cond_move.c@s/if (is_counted && (s & C_LEAVING) && (s & C_SENT))/if (0)/@asleep@hash d d lb xx -b0 -p1 -s0
those who come later sleep at the same gate@cond.h@/^static inline uint32_t .nl_cond_gate/,/^}/s/return .*;/return (void)state, \&c->gate;/@blocked@hash t t lb tls -b0 -p1 -s0
signal wakes one while some are away@cond.c@s/(s & (C_WATCHED | C_MOVING | C_SENT))/(s \& (C_WATCHED | C_MOVING))/@blocked@hash tt t t Ols -b0 -p1 -s0
woken by mistake while some are away is not counted out@cond.c@/^static int sleep_until_released/,/^}/s/count_out(c, self, C_SENT);/;/@rest@hash tt t t OO -e1 -b0 -p1 -s0
any lock is moved to the mutex that was named first@cond_move.c@s/	nl_store_rlx(&c->mutex, MIXED);/	;/@rest@hash n t O -b0 -p1 -s0
mark of the process is looked for before the state is@cond.c@/A6/s/nl_load64_acq/nl_load64_rlx/@adopt@fork:1 g h pp -t1 -b0 -p1 -s1
TABLE
}
