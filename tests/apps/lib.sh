# SPDX-License-Identifier: MIT
#
# lib.sh - what the applications call. In a run: $variant is plain or the policy, $size full or short, $work the directory that prepare
# filled; the working directory is the run's own, and empty.

servers='' settings='' as=''

# What `nlock run' would set, found out once: the time that it takes to start is not the application's.
case $variant in
plain | prepare) ;;
*) settings=$("$nlock" run --policy "$variant" ${shared:+"$shared"} --preload "$module" -- env | grep -E '^(LD_PRELOAD|NLOCK_[A-Z_]*)=') || exit 1 ;;
esac

# beneath COMMAND...: becomes the command, under nlock unless the run is a plain one, and by way of $as.
beneath() {
	# Neither a path of ours nor a policy has blanks in it.
	# shellcheck disable=SC2086
	exec $as env $settings "LD_DEBUG=$debug" "LD_DEBUG_OUTPUT=$PWD/ld" "$@"
}

under() {
	(beneath "$@")
}

# serve LOG COMMAND...: starts a server under nlock, $server.
serve() {
	log=$1
	shift
	(beneath "$@") >"$log" 2>&1 </dev/null &
	server=$!
	servers="$servers $server"
}

# await COMMAND...: until it succeeds, for 30 s at most; not longer than the server lives, which must have the module by then.
await() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 600 ] || ! kill -0 "$server" 2>/dev/null; then
			echo "FAIL: waited in vain for: $*"
			exit 1
		fi
		sleep 0.05
	done
	[ "$variant" = plain ] || grep -q libnlock-preload "/proc/$server/maps" || fail 'the server is not under nlock'
}

# stopped [STATUS]: waits for the server to end, as it has been asked to, with that exit status.
stopped() {
	wait "$server"
	status=$?
	servers=${servers% "$server"}
	is 'exit status of the server' $status "${1-0}"
}

stop_all() {
	# shellcheck disable=SC2086
	[ -z "$servers" ] || kill -TERM $servers 2>/dev/null
	[ -z "$servers" ] || wait
}

# timed COMMAND...: its time counts. The command must succeed.
timed() {
	before=$(date +%s%N)
	"$@" || fail "$* ended with $?"
	echo $(($(cat took) + $(date +%s%N) - before)) >took
}

fail() {
	echo "FAIL: $*"
	exit 1
}

must() {
	"$@" || fail "$*"
}

# is WHAT GOT WANTED
is() {
	[ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# amount FULL SHORT
amount() {
	if [ "$size" = short ]; then echo "$2"; else echo "$1"; fi
}

# as NAME: what is to be put before a command that refuses to be root.
as() {
	[ "$(id -u)" -ne 0 ] || echo "setpriv --reuid=$1 --regid=$(id -g "$1") --clear-groups"
}

# matter BYTES: text that is the same everywhere and packs as text does.
matter() {
	awk 'BEGIN { for (n = 1; ; n++) { x = (x * 1103 + 12345) % 2147483; print n, x, x % 97 ? "the lock is taken" : "the lock is free", x * n } }' |
		head -c "$1"
}

# round_trip PACK UNPACK: with $threads in both, $work/matter comes back as it was.
round_trip() {
	# shellcheck disable=SC2086
	timed_pipe "$1" "$work/matter" packed
	timed_pipe "$2" packed unpacked
	[ -s packed ] && [ "$(wc -c <packed)" -lt "$(wc -c <"$work/matter")" ] || fail 'nothing was packed'
	must cmp "$work/matter" unpacked
}

timed_pipe() {
	# The command is a list of words.
	# shellcheck disable=SC2086
	timed under $1 <"$2" >"$3"
}
