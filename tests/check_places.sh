#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_places.sh - the preload library in odd places, beside other tools, and where it must not listen
#
# Small programs are built here and run. top_builddir says where the library was built, srcdir where the sources are.

set -u
LC_ALL=C
export LC_ALL
unset LD_PRELOAD NLOCK_HANDOFF NLOCK_FUTEX NLOCK_RWLOCK NLOCK_PRELOAD_SHARED

here=$(cd "${top_builddir:-.}" && pwd) || exit 1
src=$(cd "${srcdir:-.}" && pwd) || exit 1
preload=$here/.libs/libnlock-preload.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tally.sh" || exit 1

# build OUTPUT ARGUMENT...
build()
{
	out=$1
	shift
	# shellcheck disable=SC2086
	${CC:-cc} -O1 -g -I"$src/tests/pthread" -I"$src/include" -pthread -o "$work/$out" "$@" || { echo "no $out"; exit 1; }
}

# says_zero COMMAND...: every line that it prints ends in 0, it gets to its end, and complains of nothing.
says_zero()
{
	timeout 60 "$@" >"$work/out" 2>"$work/err" || { echo "exit $?"; tail -n 5 "$work/out" "$work/err"; return 1; }
	if [ -s "$work/err" ]; then
		echo "it complained:"
		head -n 5 "$work/err"
		return 1
	fi
	grep -v ' 0$' "$work/out" && return 1
	grep -q '^destructor of the program 0$' "$work/out" || { echo 'it did not get to the end:'; cat "$work/out"; return 1; }
}

# has TOOL: or the test is left out.
has()
{
	command -v "$1" >/dev/null 2>&1 && return
	echo "$1 is not installed"
	exit 77
}

# ---------------------------------------------------------------- places

everywhere()
{
	for where in "place" "place $work/libplace.so" "place_linked" "place_malloc" "place_malloc $work/libplace.so"; do
		# shellcheck disable=SC2086
		says_zero env "$@" "$work/"$where || { echo "in $where"; return 1; }
	done
}

# ---------------------------------------------------------------- secure starts

# A program with a set-user-ID bit, linked with the library, started by somebody else.
secure_start_reads_nothing()
{
	[ "$(id -u)" = 0 ] || { echo 'only root can make such a program'; exit 77; }
	has setpriv
	chmod 755 "$work"
	[ "$(NLOCK_FUTEX=legacy "$work/secure")" = 'plain classic' ] || { echo 'NLOCK_FUTEX has no effect'; return 1; }
	case $("$work/secure") in
	'plain futex2') ;;
	'plain classic') echo 'this kernel has no futex2'; exit 77 ;;
	*) echo 'odd'; return 1 ;;
	esac
	cp "$work/secure" "$work/secure_suid"
	chmod 4755 "$work/secure_suid"
	as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	answer=$(NLOCK_FUTEX=legacy $as_nobody "$work/secure_suid")
	case $answer in
	'secure futex2') ;;
	plain*) echo 'the set-user-ID bit has no effect here'; exit 77 ;;
	*) echo "$answer"; return 1 ;;
	esac
}

# ---------------------------------------------------------------- other tools

# It does not know futex2, and says so where it is asked about it; with the classic futex it has nothing to say.
works_under_valgrind()
{
	has valgrind
	env LD_PRELOAD="$preload" valgrind -q --error-exitcode=9 "$work/place" "$work/libplace.so" >"$work/out" 2>&1 ||
		{ echo "exit status $?"; tail -n 5 "$work/out"; return 1; }
	says_zero env LD_PRELOAD="$preload" NLOCK_FUTEX=legacy valgrind -q --error-exitcode=9 "$work/place" "$work/libplace.so"
}

works_under_gdb()
{
	has gdb
	timeout 60 gdb -nx -batch -ex "set exec-wrapper env LD_PRELOAD=$preload" -ex 'set debuginfod enabled off' \
		-ex 'break use_others' -ex run -ex 'info sharedlibrary' -ex 'bt 3' -ex 'delete' -ex continue \
		--args "$work/place" >"$work/out" 2>&1 || { tail -n 5 "$work/out"; return 1; }
	grep -q 'libnlock-preload' "$work/out" || { echo 'it was not preloaded'; return 1; }
	grep -q 'exited normally' "$work/out" || { tail -n 5 "$work/out"; return 1; }
}

steps_aside_for_tsan()
{
	has clang
	clang -fsanitize=thread -O1 -pthread -o "$work/raced" "$src/tests/pthread/raced.c" 2>"$work/err" ||
		{ echo "clang has no ThreadSanitizer: $(head -n 1 "$work/err")"; exit 77; }
	timeout 60 "$work/raced" >/dev/null 2>&1 || { echo 'ThreadSanitizer does not run here, even without nlock'; exit 77; }
	LD_PRELOAD=$preload timeout 60 "$work/raced" >"$work/out" 2>"$work/err" || { echo "exit $?"; tail "$work/err"; return 1; }
	[ "$(cat "$work/out")" = 2000 ] || { cat "$work/out"; return 1; }
	[ "$(wc -l <"$work/err")" -eq 1 ] && grep -q nlock "$work/err" || { echo 'not one line:'; head "$work/err"; return 1; }
}

[ -f "$preload" ] || { echo "no $preload"; exit 1; }
build libplace.so -fPIC -shared "$src/tests/pthread/place_lib.c"
build place "$src/tests/pthread/place.c"
build place_linked "$src/tests/pthread/place.c" "$work/libplace.so" -Wl,--no-as-needed -Wl,-rpath,"$work"
build place_malloc -fno-builtin -DWITH_MALLOC "$src/tests/pthread/place.c"
build secure "$src/tests/pthread/secure.c" -L"$here/.libs" -lnlock-pthread -lnlock -Wl,-rpath,"$here/.libs"
cp "$preload" "$work/one.so"
cp "$preload" "$work/two.so"

test_that 'the C library alone passes' everywhere NOTHING=
test_that 'it works in odd places' everywhere LD_PRELOAD="$preload"
test_that 'it works in odd places on the classic futex, handing over' everywhere LD_PRELOAD="$preload" NLOCK_FUTEX=legacy \
	NLOCK_HANDOFF=fifo
test_that 'two copies of it do no harm' everywhere LD_PRELOAD="$work/one.so:$work/two.so"
test_that 'a secure start reads no environment' secure_start_reads_nothing
test_that 'it works under valgrind' works_under_valgrind
test_that 'it works under gdb' works_under_gdb
test_that 'it steps aside for ThreadSanitizer, and says so' steps_aside_for_tsan

finish
