#!/bin/sh
# SPDX-License-Identifier: MIT
#
# vm.sh - machines with several NUMA nodes, and one without futex2
#
#   vm.sh [--kernel FILE] [--old-kernel FILE] [MACHINE...]
#
#   two    2 nodes of 2 CPUs, a kernel with FUTEX2_NUMA (6.16)
#   four   4 nodes of 1 CPU at uneven distances, the same kernel
#   old    2 nodes of 2 CPUs, Linux 6.1, which has no futex2
#
# Run by "make check-vm", which sets builddir, PROGRAMS (what the machines are given) and VMFLAGS. QEMU emulates them on any x86-64
# machine; nothing is timed. Kernels come from the distribution (kernel.sh), or are named. A machine runs what its list below says,
# one program after the other; each is ended when its time is over, and the machine after an hour and a half. Logs stay in sub/vm.
set -u
LC_ALL=C
export LC_ALL
: "${srcdir:?run me by make check-vm}" "${builddir:?}" "${PROGRAMS:?}"
here=$srcdir/tests/vm
work=$(cd "$builddir" && pwd)/sub/vm
mkdir -p "$work"
. "$srcdir/tests/tally.sh"
. "$here/kernel.sh"

usage() {
	echo 'vm.sh: usage: vm.sh [--kernel FILE] [--old-kernel FILE] [two | four | old]...' >&2
	exit 2
}

# ---------------------------------------------------------------- what a machine is

# memory NODES: as much for each.
memory() {
	node=0
	while [ "$node" -lt "$1" ]; do
		printf ' -object memory-backend-ram,id=m%d,size=%dM' "$node" "$((1536 / $1))"
		node=$((node + 1))
	done
}

hardware() {
	case $1 in
	two | old)
		echo "-smp 4 -m 1536 $(memory 2) -numa node,nodeid=0,cpus=0-1,memdev=m0 -numa node,nodeid=1,cpus=2-3,memdev=m1"
		;;
	four)
		echo "-smp 4 -m 1536 $(memory 4)"
		for node in 0 1 2 3; do
			echo "-numa node,nodeid=$node,cpus=$node,memdev=m$node"
		done
		for pair in 0-1=12 0-2=20 0-3=32 1-2=24 1-3=20 2-3=14; do
			nodes=${pair%=*}
			echo "-numa dist,src=${nodes%-*},dst=${nodes#*-},val=${pair#*=}"
		done
		;;
	esac
}

# run NAME SECONDS [VARIABLE=VALUE] PROGRAM [ARGUMENT...]: a line for init.c.
run() {
	printf '%s' "$1"
	shift
	printf '\t%s' "$@"
	echo
}

# tier NODE OPTION...: the tests of each primitive on the kernel; the rows of NODE are of that node. One about the end of life takes
# single steps, which an emulator is very slow at, in rows that are of no node: the others are those in whose name somebody may.
tier() {
	node=$1
	shift
	for noun in mutex cond rwlock barrier sem; do
		run "$noun-$node" 1500 "NLOCK_TEST_NODE=$node" "check_$noun" --limit 600 "$@"
	done
	run "end_of_life-$node" 1500 "NLOCK_TEST_NODE=$node" check_end_of_life --limit 600 --only _may_ "$@"
}

commands() {
	run nodes 900 check_nodes --limit 600
	run onnode 900 check_numa --limit 600
	run wait 600 check_wait --limit 600
	run once 600 check_once
	run cohort 1800 check_cohort --limit 600
	run example 300 nodes
	case $1 in
	two)
		run first_waiters 1800 two_first_waiters
		run first_waiters-shared 600 two_first_waiters --shared --rounds 2000
		run kernel_chooses 900 two_first_waiters --kernel-chooses --rounds 4000
		run filter 600 check_filter --limit 600 --only filter_that_comes_after
		tier 1 --core
		;;
	four)
		run moving 1800 check_nodes --long --limit 1800 --only while_the_lock_moves --rows 'BOUNDED FIRST PRIVATE'
		tier 0
		for other in 1 2 3; do
			tier "$other" --rows 'NODE('
		done
		;;
	old)
		run filter 600 check_filter --limit 600 --only filter_that_comes_after
		run stress 300 stress
		tier 0
		;;
	esac
}

# What examples/nodes.c prints in each.
example_prints() {
	case $1 in
	two) nodes='0 1' ;;
	four) nodes='0 1 2 3' ;;
	old) echo 'node 0: Operation not supported'; return ;;
	esac
	for node in $nodes; do
		echo "node $node: 2 threads, 20000 turns"
	done
}

# ---------------------------------------------------------------- what it starts with

# The programs and the shared libraries that they name, and that of thread cancellation, which the C library asks for by itself.
archive() {
	rm -rf "$work/root"
	mkdir -p "$work/root/bin" "$work/root/lib"
	ln -s lib "$work/root/lib64"
	for program in $PROGRAMS; do
		cp "$builddir/$program" "$work/root/bin/" || return 1
	done
	for program in $PROGRAMS; do
		ldd "$builddir/$program" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[ \t]*\(\/[^ ]*\) .*/\1/p'
	done | sort -u >"$work/libraries"
	while read -r library; do
		cp -L "$library" "$work/root/lib/" || return 1
	done <"$work/libraries"
	mv "$work/root/bin/init" "$work/root/init"
}

# ---------------------------------------------------------------- a run

# boot MACHINE KERNEL: its console is left in MACHINE.log.
boot() {
	commands "$1" >"$work/root/commands"
	"$builddir/tests/vm/pack" "$work/root" >"$work/$1.archive" || return 1
	# shellcheck disable=SC2046
	timeout 5400 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -nodefaults -no-user-config -display none -serial stdio \
		-no-reboot $(hardware "$1") -kernel "$2" -initrd "$work/$1.archive" -append 'console=ttyS0 panic=-1 quiet' \
		</dev/null >"$work/console" 2>&1 &
	emulator=$!
	wait "$emulator"
	tr -d '\r' <"$work/console" >"$work/$1.log"
}

# said NAME MACHINE: what the program printed.
said() {
	sed -n "/^@@@ begin $1\$/,/^@@@ end $1 /p" "$work/$2.log" | sed '1d; $d'
}

# The verdict on a program, for test_that.
ended_well() {
	status=$(sed -n "s/^@@@ end $1 //p" "$work/$2.log")
	case $status in
	'exit 0') return 0 ;;
	'exit 77')
		said "$1" "$2" | sed -n 's/^SKIP: //p' | tail -n 1
		return 77
		;;
	'') echo "it did not come to its end: see $work/$2.log" ;;
	time) echo "not done in the time that it had: see $work/$2.log" ;;
	*) echo "$status: see $work/$2.log, where it says"; said "$1" "$2" | grep -v '^$' | tail -n 12 ;;
	esac
	return 1
}

example_has_printed_that() {
	said example "$1" | grep '^node' >"$work/example"
	example_prints "$1" | cmp -s - "$work/example" || { cat "$work/example"; return 1; }
}

came_to_its_end() {
	grep -q '^@@@ done$' "$work/$1.log" && ! grep -qE 'Kernel panic|Oops|BUG:' "$work/$1.log" && return
	tail -n 5 "$work/$1.log"
	return 1
}

# try MACHINE KERNEL
# An emulator of several threads may let a CPU run an instruction that the kernel has patched over, which ends that kernel: "Oops:
# int3". It patches most as it starts. So a machine may fail twice before its first program.
try() {
	began=$(date +%s)
	boot "$1" "$2"
	for again in 1 2; do
		grep -q '^@@@ begin' "$work/$1.log" && break
		echo "$1: its kernel has not come as far as the first program; started again ($again): $(grep -E 'Oops|panic' "$work/$1.log" | head -n 1)"
		boot "$1" "$2"
	done
	echo "$1: $(($(date +%s) - began)) s"
	test_that "$1 comes to its end" came_to_its_end "$1"
	while read -r one_of_them _; do
		test_that "$1: $one_of_them" ended_well "$one_of_them" "$1"
		said "$one_of_them" "$1" | grep -E '^(ROWS|COUNT|SKIP):' | sed "s/^/      $one_of_them: /"
	done <"$work/root/commands"
	test_that "$1: example prints what it has to" example_has_printed_that "$1"
}

# ---------------------------------------------------------------- the machines asked for

machine() {
	kernel=$new which=new
	[ "$1" != old ] || kernel=$old which=old
	release=$(field Release)
	if [ -n "$kernel" ]; then
		:
	elif [ $which = new ] && have_kernel new "$release-backports" trixie-backports testing; then
		kernel=$work/new.kernel
	elif [ $which = old ] && have_kernel old bookworm; then
		kernel=$work/old.kernel
	fi
	if [ -z "$kernel" ]; then
		skip "$1: no kernel is named, and none to be had: $(tail -n 1 "$work/$which.fetch.log" 2>/dev/null)"
	else
		try "$1" "$kernel"
	fi
}

# It is in a process group of its own, and would outlive us.
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; exit 1' HUP INT TERM
new='' old=''
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) new=${2-} ;;
	--old-kernel) old=${2-} ;;
	*) break ;;
	esac
	[ -r "${2-}" ] || usage
	shift 2
done
[ $# -gt 0 ] || set -- two four old
for one; do
	case $one in
	two | four | old) ;;
	*) usage ;;
	esac
done
for tool in qemu-system-x86_64 ldd timeout; do
	command -v $tool >/dev/null 2>&1 || { echo "SKIP: $tool is not installed"; exit 77; }
done
archive || exit 1
for one; do
	machine "$one"
done
[ "$passed" -gt 0 ] || [ "$failed" -gt 0 ] || exit 77
finish
