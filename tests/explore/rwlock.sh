# SPDX-License-Identifier: MIT
#
# rwlock.sh - what is explored of the rwlock; read by build.sh
#
#   rwlock_parts      the files of lib/ that are built
#   rwlock_swept      of these, those that are swept
#   rwlock_scenarios  a line each: the arguments of scen_rwlock.c's program
#   rwlock_merging    small ones, explored with and without merging states
#   rwlock_orders     with these every ordered operation is met, and its weakening noticed
#   rwlock_faults     planted faults
rwlock_parts='rwlock.c rwlock_spread.c mutex.c cohort.c' rwlock_swept='rwlock.c rwlock_spread.c'

# In every mode.
rwlock_everywhere() {
	cat <<'LIST'
ru wu -e1 -b0 need:last need:admit need:called need:asleep
ru wu -b1 need:last need:admit
wu wu -e1 -b0 need:grant
wu wu -b1 need:grant
ruru wu -e1 -b0
wuru wuru -b0 need:admit
qu wu -t1 -e1 -b0 need:gaveup
rx tx -t1 -e1 -b0 need:left need:gotup
qu tu -t2 -b1
yu zu -b0 need:refused
rpu wgu -b0 need:upgraded need:downgraded
rpu rpu -b0 need:kept
rmu wu -b0
rpgu wgpu -b0
ru ru wu -p2 -b0 need:admit need:last
ru ru wu -p2 -b1
ru wu wu -p2 -b0 need:grant need:last need:admit
ru wu wu -p1 -e1 -b0
yu zu wu -p3 -b0 need:refused
yu tu wu -t1 -p2 -b0
ru qu wu -t1 -p2 -b0 need:gaveup
ru ru tu -t1 -p2 -b0 need:left
ru qu tu -t2 -p1 -b0 need:gaveup need:left
rpu rpu wu -p2 -b0 need:kept need:upgraded
wgu wu ru -p2 -b0 need:downgraded
wd wd wd -p2 -b0 need:freed
wd ruwd -b0 need:freed need:admit
wd wd td -t1 -p1 -b0
wgsu hD -b1
ru ru wu wu -p1 -b0
LIST
}

# What only some modes can show.
rwlock_special() {
	cat <<'LIST'
phase wu wu wu -p2 -b0 need:promised need:kept_promise
phase wu wu wu ru -p1 -b0 need:promised need:kept_promise need:admit
phase wu wu tu -t1 -p2 -b0 need:promised need:broken
phase wu tu tu -t2 -p1 -b0 need:promised
writers wu wu wu ru -p1 -s1 -b0 need:promised
phase,1 wuwu wu wu -p1 -b0 need:promised need:open
phase wd wd wd wd -p1 -b0 need:promised need:freed
phase,fork:82:1:0 wu ru -b0 need:adopted
phase,1 wuwu wu -b0 need:open need:overtaken
writers,1 wuwuwu wu -b0 need:open need:overtaken
readers,2 wu*4 wu -b0 need:overtaken
phase,1 wuwu wu ru -p1 -b0 need:open need:admit
readers,1 wuwu wu ru -p1 -b0 need:open need:admit
phase,1 wuwu wuzu -b1
phase,barging wuwu wu -b0 need:open need:barge
phase,bounded wuwuwu wu -d1 -b0 need:due need:grant
phase ru ru tu -t1 -p2 -b0 need:look need:self
writers ru ru tu -t1 -p2 -b0 need:look need:self
phase ruru ru tutu -t2 -p1 -b0 need:look
readers rnu wu -b0
readers rnu ru wu -p2 -b0
phase ru*5 wu*5 -p3 -s1 -b0 need:admit
phase,first wu ru wu -p1 -b0 need:entered
phase,node wu tu ru -t1 -p1 -b0
phase,fork:2000000001:0:0 u ru -b0 need:adopted
phase,fork:7:1:0 u wu -b0 need:adopted
phase,fork:7:8d:0 uwu wu -p2 -b0 need:adopted
phase,fork:2:1:0 wu ru -b0 need:adopted
phase,fork:806:8d:0 u ruwu -p2 -b1 need:adopted
phase,fork:21:0:0 uru wu -p2 -b0 need:adopted
writers,fork:2000000007:1:0 u ru wu -p1 -s1 -b0 need:adopted
readers,fork:2000000007:1:0 gu ru wu -p1 -s1 -b0 need:adopted
phase,fork:806:8d:0 u wu ru -p1 -s1 -b0 need:adopted
phase,fork:2000000002:1:3 ru wu wu -p1 -s1 -b0 need:adopted
LIST
}

# Readers in slots. Each entry of a slot makes a state of its own, so the bounds are smaller.
rwlock_spread() {
	cat <<'LIST'
phase,spread ruru wu -p2 -b0 -s3 need:opened need:slotted need:undone
phase,spread ruru wu -p2 -e1 -b1 -s1 need:converted
phase,spread ru ru wu -p2 -b0 -s1 need:converted need:slotted need:unslotted
phase,moving ru ru wu -p2 -b0 -s1 need:converted need:slotted need:elsewhere
phase,spread rxru rpu -p2 -b0 -s1 need:upgraded need:kept
phase,moving rpu rpu -p3 -b0 -s1 need:upgraded need:kept
phase,moving ru rpu wu -p1 -b0 -s1 need:upgraded
phase,spread wgu ru ru -p2 -b0 -s1 need:downgraded
phase,spread ru ru tu -t1 -p1 -b0 -s1 need:left
phase,spread qu ru wu -t1 -p1 -b0 -s1 need:gaveup
phase,moving ru wu wu -p1 -b0 -s1
phase,moving ruru wu wu -p1 -b0 -s0 need:slotted
phase,spread ru wu zu -p2 -b0 -s1 need:refused
phase,spread yu zu ru -p2 -b0 -s1 need:refused
readers,spread rnu ru wu -p1 -b0 -s1 need:slotted
readers,moving ruru wu wu -p1 -b0 -s0
writers,moving ru ru wu -p1 -b0 -s1
writers,moving ruru wu wu -p1 -b0 -s0
phase,moving rnu ru -p2 -b0 -s2 need:slotted
phase,moving rursu hD -b0 -s1 -p3 need:slotted need:freed
phase,moving rsu ruhD -p2 -b0 -s1 need:freed
phase,spread ruwd ruwd wd -p1 -b0 -s1 need:freed
phase,moving ruru ruru wu -p1 -b0 -s0 need:elsewhere
phase,moving ru ru ru wu -p1 -b0 -s0 need:elsewhere
LIST
}

# What must fail, and by which check: recursion while a writer waits, unless readers are preferred; a wake on a node reads memory.
rwlock_wrong() {
	cat <<'LIST'
phase rnu wu -b0 fails:asleep
writers rnu wu -b0 fails:asleep
phase,node wd wd -b0 fails:life
LIST
}

# Larger than can be exhausted: random priorities (PCT), the seed says which.
rwlock_large() {
	for mode in phase readers writers phase,1; do
		echo "$mode ruru wuwu rpgu tuwu quru -t2 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode ruwu wuru wgu qutu yuzu ruru -t2 -e1 -d1 -P4 -r20000 -S${SEED:-1} -b0"
		echo "$mode wd wd ruwd td wd -t1 -P4 -r20000 -S${SEED:-1} -b0"
	done
	for mode in phase,spread readers,moving writers,moving; do
		echo "$mode ruru wuru rpgu tuwu quru ruru -t2 -e1 -P4 -r20000 -S${SEED:-1} -b1"
		echo "$mode ruruwd ruwd ruruwd wd rutd -t1 -P5 -r20000 -S${SEED:-1} -b0"
	done
}

rwlock_scenarios() {
	for mode in phase readers writers; do
		rwlock_everywhere | sed "s/^/$mode /"
	done
	rwlock_special
	rwlock_spread
	rwlock_wrong
	rwlock_large
}

# No two states that differ are taken for one: entering visited states again finds as many.
rwlock_merging() {
	cat <<'LIST'
phase ru wu -b0
phase wu wu -b0 -p2
readers qu wu -t1 -b0 -p2
phase wd wd -b0 -p2
phase,fork:7:1:0 u wu -b0 -p1
phase,spread ruru wu -p1 -b0 -s1
phase,moving ru ru -b0 -p2 -s1
LIST
}

# Together they reach every ordered operation.
rwlock_orders() {
	cat <<'LIST'
phase wu wu wu -p2 -b0
phase ru wu -b0
phase wu wu -b0
phase,1 wuwu wu -b0
phase,barging wuwu wu -b0
readers rpu wgu -b0
readers rpu ru -b0
writers wgu tu ru -t1 -p3 -s0 -b0
phase wd ruwd -b0
phase wd wd wd -p2 -b0
phase ru ru tu -t1 -p2 -b0
phase wsu hD -b0
phase wsu wuhD -b0
phase ru*5 wu*5 -p3 -s1 -b0
writers,fork:2000000007:1:0 u ru wu -p1 -s1 -b0
phase,fork:7:1:0 u wu wu -p1 -s1 -b0
phase,spread ruru wu -p2 -b0 -s1
phase,spread wuru ru -p2 -b0 -s1
phase,moving ru ru wu -p2 -b0 -s1
phase,moving rursu hD -b0 -s1 -p3
phase,moving ruru ruru wu -p1 -b0 -s1
LIST
}

# name @ file @ edit (sed) @ check that must fail @ scenario
rwlock_faults() {
	cat <<'TABLE'
next writer is not called@rwlock.c@s/else if (w & ~v & RW_ASLEEP)/else if (0)/@asleep@phase ru wu -b0
admitted readers are not woken@rwlock.c@s/nl_wake(&rw->rgate, attr, INT_MAX, NL_LANE_ALL)/(void)attr/@asleep@phase ru wu -b0
one admitted reader is woken@rwlock.c@s/attr, INT_MAX, NL_LANE_ALL/attr, 1, NL_LANE_ALL/@asleep@phase ru ru wu -p2 -b0
admission is not told@rwlock.c@s/call_readers(rw, attr, GATE_TOLD)/call_readers(rw, attr, GATE_LOOK)/@told@phase ru wu -b0
admitted reader does not wait to be told@rwlock.c@/^static int wait_turn/,/^}/s/d = NULL;/return 0;/@race@phase ru wu -b0
last reader lets the lock fall free@rwlock.h@/^static inline uint64_t without_reader/,/^}/s/return !active(w) .*$/return w;/@next@phase ru wu -b0
next writer leaves what it was granted@rwlock.c@/^static bool leave(/,/^}/s/!(w & RW_NEXT) || is_free(w)/is_free(w)/@rest@phase wu tu -t1 -b0
next writer does not wait for its call@rwlock.c@/^static bool get_up/,/^}/s/return false;/return true;/@told@phase ru tu -t1 -b0
leaving writer forgets the readers that it kept out@rwlock.c@s/if (waiting(w) && !(w & RW_OWNED))/if (0)/@asleep@phase ru ru tu -t1 -p2 -b0
expired reader leaves though it was admitted@rwlock.c@s/if (phase_of(w) == phase)/if (phase_of(w) + 4 > phase)/@count@phase qu wu -t1 -b0
grant is found and not acquired@rwlock.c@/A3/s/nl_load64_acq/nl_load64_rlx/@race@phase ru wu -b1
missing acquire of a writer@rwlock.c@/^static bool take/,/^}/s/nl_cas64_acq/nl_cas64_rlx/@race@phase wu ru -b0
missing release of a reader@rwlock.c@/A5, A6/s/nl_cas64_rel/nl_cas64_rlx/@race@phase ru wu -b0
step without release@rwlock.c@/A7/s/nl_add_rel/nl_add_rlx/@life@phase wd wd -b0
new readers pass the next writer@rwlock.h@/^static inline bool may_read/,/^}/s/!(w & RW_NEXT) ||/true ||/@phase@phase ru ru wu -p2 -b0
waiting readers go although writers are preferred@rwlock.h@/^static inline bool may_admit/,/^}/s/!(w & RW_NEXT) ||/true ||/@phase@writers wu wu ru -p2 -b0
upgrade past other readers@rwlock.c@s/active(w) > 1 || (w & RW_TURNING) || !may_read/(w \& RW_TURNING) || !may_read/@exclusion@phase rpu ru -b0
upgrade past the next writer@rwlock.c@s/(w & RW_TURNING) || !may_read(rw, w)/(w \& RW_TURNING)/@phase@phase rpu wu -b0
downgrade forgets the waiting readers@rwlock.h@s/return may_admit(rw, w) ? admitted(v) : v;/return v;/@asleep@phase wgu ru -b0
bound off by one@policy.h@s/bypass >= limit/bypass > limit/@bound@phase,1 wuwuwu wu -b0
overtaking is not counted@rwlock.c@/^static bool take/,/^}/s/count_overtaking(rw, \*w);//@bound@phase,1 wuwuwu wu -b0
owner keeps the seat@rwlock.c@/^static .*int write_slow/,/^}/s/nlock_mutex_unlock(&rw->seat);/if (rc) nlock_mutex_unlock(\&rw->seat);/@seat@phase wu wu -b0
promise that nobody came for stays@rwlock.c@/^static void pass_seat/,/^}/s/w & ~(RW_NEXT | RW_PROMISED))/w)/@rest@phase wu wu tu -t1 -p2 -b0
promised writer waits for a grant that it has@rwlock.c@/^static bool register_next/,/^}/s/w & RW_PROMISED ? w & ~RW_PROMISED : w | RW_NEXT/(w \& ~RW_PROMISED) | RW_NEXT/@next@phase wu wu wu -p2 -b0
grant takes the promise away@rwlock.c@s/return w & ~RW_WRITER;/return w \& ~(RW_WRITER | RW_PROMISED);/@next@phase wu wu wu -p2 -b0
state read after the release@rwlock.c@/A5, A6/,/^}/s/if ((w ^ v) & RW_PHASE)/if (nl_load64_rlx(\&rw->state) \&\& (w ^ v) \& RW_PHASE)/@life@phase wd wd -b0
attributes read after the step@rwlock.c@/^static void call_next/,/^}/s/nl_wake(&rw->wgate, attr/nl_wake(\&rw->wgate, rw->attr/@life@phase wd wd -b0
parent's next writer stays in the child@rwlock.h@/^static inline uint64_t without_parents/,/^}/s/RW_WRITER | RW_PROMISED/RW_PROMISED/@adopt@phase,fork:7:1:0 u wu -b0
parent's seat stays taken in the child@rwlock.c@s/nl_wait_adopt(&rw->seat.word, &seat, 0)/nl_wait_adopt(\&rw->seat.word, \&seat, seat)/@adopt@phase,fork:7:1:0 u wu -b0
admission of the parent's is awaited in the child@rwlock.h@/^static inline uint64_t without_parents/,/^}/s/(uint64_t)(gate & 3)/(w ? 1ull : gate)/@adopt@phase,fork:7:0:0 u ru -b0
slot stays open while it is emptied@rwlock_spread.c@s/n & -S_ENTRY/n \& (-S_ENTRY | S_OPEN)/@count@phase,spread ruru wu -p2 -b0 -s1
slots are emptied without a guard@rwlock.c@s/(w ^ RW_LENT) + RW_ONE/w ^ RW_LENT/@slots@phase,spread ru ru wu -p2 -b0 -s1
slot is emptied before the state counts it@rwlock_spread.c@s/count(n) != added \&\&/false \&\&/@count@phase,spread ru ru wu -p2 -b0 -s1
reader takes the guard for itself@rwlock_spread.c@s/active(w) > !!(w \& RW_TURNING)/active(w)/@slots@phase,moving ruru ru wu -p2 -b0 -s0
reader is told that nobody reads after one look@rwlock_spread.c@s/if (entries == before)/if (true)/@result@phase,moving ru ru wu -p2 -b0 -s1
writer takes a lock that is biased@rwlock.h@s/(RW_OWNED | RW_BIASED)/RW_OWNED/@slots@phase,spread ruru wu -p2 -b0 -s1
writer is next while readers are in slots@rwlock.c@s/else if (!(w & RW_BIASED) \&\&/else if (/@slots@phase,spread ruru wu -p2 -b0 -s1
opener does not look for a next writer@rwlock_spread.c@s/while (!(w & RW_NEXT) \&\& !waiting(w))/while (true)/@slots@phase,spread ruru wu -p2 -b0 -s1
upgrade while slots are turned@rwlock.c@s/(w & RW_TURNING) ||//@exclusion@phase,spread rurpu zu -p2 -b0 -s1
guard goes and nobody is called@rwlock.h@/^static inline uint64_t without_guard/,/^}/s/return .*/return (w \& ~RW_TURNING) - RW_ONE;/@next@phase,moving ru wu wu -p1 -b0 -s1
missing release of a reader in a slot@rwlock_spread.c@/A6/s/nl_cas64_rel/nl_cas64_rlx/@race@phase,spread ruru wu -p2 -b0 -s1
missing acquire of a reader in a slot@rwlock_spread.c@/A1/s/nl_cas64_acq/nl_cas64_rlx/@race@phase,spread wuru ru -p2 -b0 -s1
child forgets late what it has forgotten@rwlock.c@s/mine ^ RW_FORKED/mine/@count@phase,fork:2000000001:0:0 u ru -b0
TABLE
}
