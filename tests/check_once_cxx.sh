#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_once_cxx.sh - a C++ exception may leave nlock_once, which is then as if it had not been called
#
# Run by "make check", which sets srcdir, builddir, NL_CXX. Needs a C++ compiler; the header and the library of the build tree.
set -u
LC_ALL=C
export LC_ALL

: "${srcdir:?run me by make check}" "${builddir:?}" "${NL_CXX:=none}"
if [ "$NL_CXX" = none ]; then
	echo 'SKIP: no C++ compiler'
	exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

cat >"$work/once.cc" <<'CODE'
#include <nlock.h>
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>

static nlock_once_t once = NLOCK_ONCE_INIT;
static std::atomic<int> runs, caught;
static std::atomic<bool> is_in, may_throw;
static int datum;

static void init(void *arg)
{
	if (runs++ == 0) {
		is_in = true;
		while (!may_throw)
			std::this_thread::yield();
		throw std::runtime_error("not today");
	}
	*static_cast<int *>(arg) = 42;
}

static void call()
{
	try {
		if (nlock_once(&once, init, &datum) || datum != 42)
			caught = -100;
	} catch (const std::runtime_error &) {
		caught++;
	}
}

int main()
{
	std::thread first(call);
	while (!is_in)
		std::this_thread::yield();
	std::thread second(call), third(call);
	may_throw = true;
	first.join();
	second.join();
	third.join();
	std::printf("%d runs, %d caught\n", runs.load(), caught.load());
	return !(runs == 2 && caught == 1 && datum == 42);
}
CODE
lib=$builddir/.libs/libnlock.a
[ -f "$lib" ] || lib="$builddir/.libs/libnlock.so -Wl,-rpath,$builddir/.libs"
# shellcheck disable=SC2086
if ! $NL_CXX -std=c++11 -O2 -I"$srcdir/include" "$work/once.cc" $lib -pthread -o "$work/once" 2>"$work/log"; then
	sed 's/^/      /' "$work/log"
	echo 'FAIL  the program does not build'
	exit 1
fi
for mode in '' legacy; do
	if out=$(NLOCK_FUTEX=$mode timeout 60 "$work/once"); then
		echo "ok    an exception leaves it uncalled, and the next calls it${mode:+ ($mode)}: $out"
	else
		echo "FAIL  ${mode:-futex2}: $out"
		exit 1
	fi
done
