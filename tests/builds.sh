#!/bin/sh
# SPDX-License-Identifier: MIT
#
# builds.sh - the tests again, built in other ways
#
#   builds.sh check [BUILD...]     the test programs, in these builds:
#                                  gcc    warnings are errors, statistics on
#                                  clang  warnings are errors
#                                  asan   gcc, AddressSanitizer and UndefinedBehaviorSanitizer
#                                  tsan   clang, ThreadSanitizer (gcc 12 miscompiles such tests)
#   builds.sh stress [BUILD...]    load, noise and signals, in gcc, asan and tsan. The first also counts overtakings, sets a
#                                  victim against a thread that never rests, and weighs a blocked waiter
#
# STRESS_SECONDS (20) is how long each build is stressed.
#
# Run by "make check-sanitizers" and "make stress", which set srcdir, builddir and MAKE. Each build is configured in a directory
# of its own, from what "make dist" would ship; a file that is missing there is noticed. A build whose compiler is not there
# is skipped, and says so.
set -u
LC_ALL=C
export LC_ALL
: "${builddir:?run me by make check-sanitizers}" "${srcdir:?}" "${MAKE:=make}" "${CLANG:=clang}" "${STRESS_SECONDS:=20}"
MAKEFLAGS='' MFLAGS=''
export MAKEFLAGS MFLAGS
jobs=$(nproc 2>/dev/null || echo 2)
sub=$(cd "$builddir" && pwd)/sub
ran=0 failed=0 skipped=0

# The shadow memory of a sanitizer of some age does not fit where newer kernels put things.
aslr=''
setarch "$(uname -m)" -R true 2>/dev/null && aslr="setarch $(uname -m) -R"

ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

fresh_source() {
	version=$(sed -n 's/^VERSION = //p' "$builddir/Makefile")
	mkdir -p "$sub"
	chmod -R u+w "$sub/source" 2>/dev/null
	rm -rf "$sub/source"
	"$MAKE" -s -C "$builddir" distdir >"$sub/source.log" 2>&1 &&
		mv "$builddir/nlock-$version" "$sub/source"
}

# A release holds what git keeps.
is_complete() {
	git -C "$srcdir" ls-files >"$sub/kept" 2>/dev/null || return 0
	while read -r f; do
		[ ! -e "$srcdir/$f" ] || [ -e "$sub/source/$f" ] || echo "FAIL  the release lacks $f"
	done <"$sub/kept" >"$sub/lacks"
	cat "$sub/lacks"
	[ ! -s "$sub/lacks" ]
}

# works CC SANITIZER: can it link and run a program?
works() {
	command -v "$1" >/dev/null 2>&1 || return 1
	printf 'int main(void) { return 0; }\n' >"$sub/try.c"
	"$1" ${2:+-fsanitize=$2} -o "$sub/try" "$sub/try.c" >/dev/null 2>&1 && $aslr "$sub/try" >/dev/null 2>&1
}

# ---------------------------------------------------------------- in a build's directory

configure_with() {
	cc=$1 what=$2
	shift 2
	../source/configure -q CC="$cc" --enable-werror ${what:+--enable-sanitizer=$what} "$@"
}

do_check() {
	"$MAKE" -s -j "$jobs" all && "$MAKE" -s -j "$jobs" check TESTS= && $aslr "$MAKE" -s check
}

do_stress() {
	"$MAKE" -s -j "$jobs" tests/stress || return
	set -- "--seconds $STRESS_SECONDS" "--seconds $STRESS_SECONDS --threads 3 --objects 1"
	[ "$name" = gcc ] && set -- "$@" --bound "--victim --seconds $STRESS_SECONDS" --blocked
	status=0
	for options; do
		# Several words.
		# shellcheck disable=SC2086
		$aslr tests/stress $options || status=1
	done
	return $status
}

# ---------------------------------------------------------------- a build

# build NAME CC SANITIZER OPTION...
build() {
	name=$1
	if ! works "$2" "$3"; then
		skipped=$((skipped + 1))
		echo "SKIP: $name: a program made by $2${3:+ with -fsanitize=$3} does not link and run here"
		return
	fi
	ran=$((ran + 1))
	rm -rf "${sub:?}/$name"
	mkdir "$sub/$name"
	log=$sub/$name.$job.log started=$(date +%s)
	shift
	if (cd "$sub/$name" && configure_with "$@" && "do_$job") >"$log" 2>&1 </dev/null; then
		echo "ok    $name: $(($(date +%s) - started)) s"
	else
		failed=$((failed + 1))
		echo "FAIL  $name: see $log, which ends"
		tail -n 20 "$log" | sed 's/^/      /'
	fi
	cat "$sub/$name"/tests/*.log "$log" 2>/dev/null | grep -E '^(ROWS|SKIP):' | sort -u | sed 's/^/      /'
}

build_called() {
	case $1 in
	gcc) build gcc gcc '' --enable-stats ;;
	clang) build clang "$CLANG" '' ;;
	asan) build asan gcc address,undefined --disable-shared CFLAGS='-g -O1' ;;
	tsan) build tsan "$CLANG" thread --disable-shared CFLAGS='-g -O1' ;;
	*) echo "builds.sh: no build is called $1" >&2; exit 2 ;;
	esac
}

job=${1-}
case $job:$# in
check:1) set -- check gcc clang asan tsan ;;
stress:1) set -- stress gcc asan tsan ;;
check:* | stress:*) ;;
*) echo "builds.sh: check or stress, not '$job'" >&2; exit 2 ;;
esac
shift
fresh_source || { echo "FAIL  make distdir"; cat "$sub/source.log"; exit 1; }
is_complete || failed=1
for one; do
	build_called "$one"
done
echo "ROWS: $ran builds ran, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$ran" -gt 0 ] || exit 77
