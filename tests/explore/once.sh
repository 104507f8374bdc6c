# SPDX-License-Identifier: MIT
#
# once.sh - what is explored of once; read by build.sh
#
#   once_parts, once_scenarios, once_merging, once_orders, once_faults: as in mutex.sh
once_parts='once.c'

# fork: words that a parent may have left: another process's RUNNING, with waiters or without.
once_scenarios() {
	cat <<LIST
o
oo o -e1 need:waited need:woke
o o o -e2 need:waited need:woke
oo oo oo need:waited
o o o o -p2 -e1 need:woke
od od need:freed need:late
od od od -p4 -e1 need:late
fork:12 oo o -e1 need:anew need:waited
fork:16 o o o need:anew need:woke
fork:16 od od od -p3 need:anew need:late
o o o o o o -e1 -P4 -r20000 -S${SEED:-1}
LIST
}

once_merging() {
	cat <<'LIST'
o o
o o -e1
od od
fork:16 o o
LIST
}

once_orders() {
	cat <<'LIST'
o o
oo o
od od
fork:16 o o
LIST
}

# name @ file @ edit (sed) @ the check that must catch it @ scenario
once_faults() {
	cat <<'TABLE'
missing acquire where it is done@once.c@/^int nlock_once/,/^}/s/nl_load_acq/nl_load_rlx/@race@o o
missing acquire after waiting@once.c@/^static bool begin/,/^}/s/nl_load_acq/nl_load_rlx/@race@o o
missing release@once.c@/A3 \*/s/nl_cas_rel/nl_cas_rlx/@race@o o
no wake@once.c@s/^	if (seen & O_WAITERS)$/	if (0)/@asleep@o o
wake of one@once.c@s/INT_MAX, NL_LANE_ALL/1, NL_LANE_ALL/@asleep@o o o
a wake where nobody waits@once.c@s/^	if (seen & O_WAITERS)$/	if (nl_load_rlx(word))/@life@od od
waiter does not say so@once.c@s/nl_cas_rlx(&o->word, &seen, running | O_WAITERS)) {/true) {/@steps@o o
two run it@once.c@s/if ((seen & ~O_WAITERS) != running)/if (seen != (running | O_WAITERS))/@once@o o
waits for the parent's thread@once.c@s/if ((seen & ~O_WAITERS) != running)/if (!(seen \& O_RUNNING))/@word@fork:12 o o
completed before it has returned@once.c@s/^		init(arg);/		end(\&r);\n		init(arg);/@word@o o
not completed@once.c@s/r->has_returned ? O_DONE : 0/0/@word@o
word looked at after completion@once.c@s/^	if (seen & O_WAITERS)$/	if (nl_load_rlx(word) != O_DONE || (seen \& O_WAITERS))/@life@od od
waiters of the parent are kept@once.c@s/nl_cas_acq(&o->word, &seen, running)) /nl_cas_acq(\&o->word, \&seen, running | (seen \& O_WAITERS))) /@word@fork:16 o o
TABLE
}
