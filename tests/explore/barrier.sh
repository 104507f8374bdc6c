# SPDX-License-Identifier: MIT
#
# barrier.sh - what is explored of the barrier; read by build.sh. See mutex.sh for the form
barrier_parts='barrier.c'

barrier_scenarios() {
	cat <<'LIST'
1 www -b0
1 ww ww -b0
2 w w -b0 need:slept
2 w w -b1
2 wwww wwww -b0 -p3
2 www www -b1
2 ww ww -e2 -b0
2 ww ww -e1 -b1
2 w w w w -p1 -b0 need:swapped
2 w w w w -p0 -b1
3 w w w -b0
3 w w w -b1
3 ww ww ww -p2 -b0
3 ww ww ww -p2 -b1
3 w w w -e1 -p3 -b0
4 w w w w -p1 -b0
2 S S -b0 need:freed need:raced need:awaited
2 S S -b1 need:freed need:raced
2 S S -e1 -b0 need:late
2 O O -b0 need:freed need:raced need:awaited need:late
2 O O -b1 need:freed need:late
2 wS wS -b0 need:freed
2 wwO wwO -b0 -p3
2,node S S -b0 need:freed need:late
2,node O O -b1 need:freed need:late
3 S S S -p3 -b0 need:freed need:late
3 wS wS wS -p2 -b0
3,node S S S -p3 -b1
4 S S S S -p1 -b0
2,first ww ww -b0 need:moved
2,first www www -e1 -p3 -b0 need:moved
2,first wwS wwS -p3 -b0 need:moved need:freed
2,first w w w w -p0 -b0 need:moved
3,first ww ww ww -p2 -b0 need:moved
2,round:ffffffff ww ww -b0
2,round:7fffffff ww ww -b1
3,round:ffffffff wS wS wS -p2 -b0
2,fork:000 w w -b0 need:adopted
2,fork:100 w w -b0 need:adopted
2,fork:011 w w -b0 need:adopted
2,fork:112 S S -p3 -b1 need:adopted need:freed
2,fork:001 d -b0
1,fork:001 w w -b0 need:adopted
1,fork:012 ww w -p3 -b0 need:adopted
3,fork:211 w w w -p0 -b0 need:adopted
2,fork:111 ww ww -p2 -b0 need:adopted
2 wwww wwww -e2 -P4 -r20000 -b1
3 wwS wwS wwS -e2 -P4 -r20000 -b1
2 w w w w w w -e2 -P4 -r20000 -b0
4 wS wS wS wS -e1 -P4 -r20000 -b0
7 w w w w w w w -e1 -P5 -r5000 -b0
LIST
}

# No two states that differ are taken for one: entering visited states again finds as many.
barrier_merging() {
	cat <<'LIST'
2 w w -b0
2 w w -b1
2 S S -b0 -p2
2,first w w -b0
2,fork:001 w w -b0 -p1
LIST
}

# Together they reach every ordered operation.
barrier_orders() {
	cat <<'LIST'
2 w w -b0
2 ww ww -b1
2,first ww ww -b0
3 w w w -p2 -b0
2 S S -b0
2 O O -b0
1,fork:001 w w -b0
2,fork:100 w w -b0
LIST
}

# name @ file @ edit (sed) @ check that must fail @ scenario
barrier_faults() {
	cat <<'TABLE'
sleepers are not woken@barrier.c@s/nl_wake(&b->gate, b->attr, INT_MAX, NL_LANE_ALL)/(void)0/@asleep@2 w w -b0
one sleeper of two is woken@barrier.c@s/INT_MAX, NL_LANE_ALL/1, NL_LANE_ALL/@asleep@3 w w w -b0
a wake where nobody sleeps@barrier.c@/^static void open_gate/,/^}/s/if (gate & B_ASLEEP)$/if (true)/@call@2 w w -b1
gate is opened before the round is full@barrier.c@s/missing = b->count - arrived_of(s) - 1/missing = b->count - arrived_of(s) - (arrived_of(s) ? 2 : 1)/@round@3 w w w -b0
gate is stored, not counted@barrier.c@/^static void open_gate/,/^}/s/(gate & ~B_ASLEEP) + B_ONE/B_ONE/@gate@2 ww ww -b0
a parity instead of a number@barrier.c@/^static inline bool is_over/,/^}/s/behind == 0 || behind > B_LATE/!(behind \& B_ONE)/@gate@2 w w w w -p1 -b0
openings are looked at as if each were of its round@barrier.c@/^static inline bool is_over/,/^}/s/behind == 0 || behind > B_LATE/behind == 0/@gate@2 w w w w -p1 -b0
waiter looks once@barrier.c@/^static void wait_for(/,/^}/s/while (!is_over/if (!is_over/;/^static void wait_for(/,/^}/s/continue;/return;/@race@2 w w -e1 -b0
a wake is taken for the opening@barrier.c@s/nl_fresh_rlx(&b->gate);/return;/@race@2 w w -e1 -b0
missing acquire@barrier.c@/A3/s/nl_load_acq/nl_load_rlx/@race@2 w w -b0
missing release@barrier.c@/A2/s/nl_cas_rel/nl_cas_rlx/@race@2 w w -b0
arrivals hand nothing on@barrier.c@/A1/s/nl_cas64_acqrel/nl_cas64_rlx/@race@2 w w -b0
destroy does not wait@barrier.c@/^int nlock_barrier_destroy/,/^}/s/wait_for_leavers(b);/;/@left@2 S S -b0
destroyer is not woken@barrier.c@/^static void leave/,/^}/s/nl_wake(.*);/(void)attr;/@asleep@2 S S -b0
destroyer is woken by the last but one@barrier.c@s/(B_AWAITED - B_ONE)  /(B_AWAITED - 2 * B_ONE)/@asleep@2 S S -b0
destroyer is woken on its node@barrier.c@s/nl_attr_unplaced(b->attr)/b->attr/@life@2,node O O -b0
attributes are read after leaving@barrier.c@/^static void leave/,/^}/s/nl_wake(&b->left, attr,/nl_wake(\&b->left, nl_attr_unplaced(b->attr) | (b->attr \& NLOCK_BAD_ATTR),/@life@2 O O -b0
gate is looked at after leaving@barrier.c@/^int nlock_barrier_wait/,/^}/s/	leave(b);/	leave(b), nl_load_rlx(\&b->gate);/@life@2 O O -b0
child counts what had arrived at the parent@barrier.c@/^static .*void adopt/,/^}/s/if (arrived_of(s) && /if (false \&\& /@round@2,fork:100 w w -b0
child counts who had left the parent@barrier.c@/^static .*void adopt/,/^}/s/if (left != left_before(b, round) && /if (false \&\& /@asleep@2,fork:001 d -b0
adopting takes ASLEEP away@barrier.c@s/nl_wait_adopt(&b->gate, &gate, round \* B_ONE | (gate & B_ASLEEP));/nl_wait_adopt(\&b->gate, \&gate, round * B_ONE);/@asleep@2,fork:100 w w -b0
adopting does not ask again@barrier.c@/^static .*void adopt/,/^}/s/if (!nl_wait_is_foreign(&b->gate, b->attr))/if (false)/@left@2,fork:100 w w -b0
TABLE
}
