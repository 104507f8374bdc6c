#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_install.sh - what a user gets from "make install"
#
# Run by "make check", which sets srcdir, builddir, MAKE, CC, NL_CXX, NM, READELF and PKG_CONFIG. Installs into a
# directory of its own; then the header must compile alone, the exported names must be those of the header and of the
# symbol map, a program must build with nothing but pkg-config's flags, and the library must be hardened.
set -u
LC_ALL=C
export LC_ALL

: "${srcdir:?run me by make check}" "${builddir:?}" "${MAKE:=make}" "${CC:=cc}" "${NL_CXX:=none}" "${NM:=nm}"
: "${READELF:=readelf}" "${PKG_CONFIG:=pkg-config}"

. "$(dirname "$0")/tally.sh" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# ---------------------------------------------------------------- install

MAKEFLAGS='' MFLAGS=''
export MAKEFLAGS MFLAGS
root=$work/root
check 'make install' "$MAKE" -s -C "$builddir" install DESTDIR="$root"
[ "$failed" -eq 0 ] || finish

pc=$(find "$root" -name nlock.pc)
check 'nlock.pc is installed, once' test -f "$pc"
prefix=$("$PKG_CONFIG" --variable=prefix "$pc")
PKG_CONFIG_LIBDIR=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=''
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
libdir=$root$(PKG_CONFIG_SYSROOT_DIR='' "$PKG_CONFIG" --variable=libdir nlock)
include=$root$(PKG_CONFIG_SYSROOT_DIR='' "$PKG_CONFIG" --variable=includedir nlock)
so=$libdir/libnlock.so
check 'the header is installed' test -f "$include/nlock.h"
check 'the lessons are installed, once' test -s "$(find "$root" -name handoff.md)"

# ---------------------------------------------------------------- the header, alone

cat >"$work/alone.c" <<'END'
#include <nlock.h>
extern nlock_mutex_t planted[3];
nlock_mutex_t planted[3] = { NLOCK_MUTEX_INIT, NLOCK_MUTEX_INIT_ATTR(NLOCK_FIFO | NLOCK_SHARED),
	NLOCK_MUTEX_INIT_ATTR(NLOCK_BOUNDED_N(7)) };
int main(void)
{
	return nlock_mutex_lock(planted) || nlock_mutex_unlock(planted);
}
END
cp "$work/alone.c" "$work/alone.cc"
sed 's/NLOCK_BOUNDED_N(7)/NLOCK_PLACE_FIRST/' "$work/alone.c" >"$work/placed.c"
sed 's/NLOCK_BOUNDED_N(7)/NLOCK_BOUNDED_N(65536)/' "$work/alone.c" >"$work/too-many.c"
echo '#include <nlock.hpp>' >"$work/classes.cc"
for n in 0 1 0x7fffffff 0x80000000; do
	printf '#include <nlock.h>\nnlock_barrier_t planted = NLOCK_BARRIER_INIT(%s);\n' $n >"$work/barrier-$n.c"
done
strict='-Wpedantic -Wall -Wextra -Werror'

# $CC and $strict hold several words each.
# shellcheck disable=SC2086
{
	check 'the header compiles alone as C11' $CC -std=c11 $strict -fsyntax-only -I"$include" "$work/alone.c"
	check 'a static initialiser with a placement does not compile' \
		sh -c "! $CC -std=gnu11 -fsyntax-only -I'$include' '$work/placed.c'"
	check 'nor does one with a bound out of range' \
		sh -c "! $CC -std=gnu11 -fsyntax-only -I'$include' '$work/too-many.c'"
	check 'but one within the range does' $CC -std=gnu11 -fsyntax-only -I"$include" "$work/alone.c"
	for n in 1 0x7fffffff; do
		check "a static barrier for $n compiles" $CC -std=gnu11 $strict -fsyntax-only -I"$include" "$work/barrier-$n.c"
	done
	for n in 0 0x80000000; do
		check "a static barrier for $n does not compile" sh -c "! $CC -std=gnu11 -fsyntax-only -I'$include' '$work/barrier-$n.c'"
	done
	if [ "$NL_CXX" = none ]; then
		skip 'the header in C++: no C++ compiler'
	else
		for std in c++11 c++17; do
			check "the header compiles alone as $std" $NL_CXX -std=$std $strict -fsyntax-only -I"$include" "$work/alone.cc"
			check "the classes compile alone as $std" $NL_CXX -std=$std $strict -fsyntax-only -I"$include" "$work/classes.cc"
		done
	fi
}

# ---------------------------------------------------------------- names

grep -o '^NLOCK_API[A-Z_]* .*' "$include/nlock.h" | sed 's/(.*//; s/.*[ *]//' | sort >"$work/header"
grep '^NLOCK_API' "$include/nlock.h" | grep -v 'nlock_[a-z0-9_]*(' >"$work/unread"
awk '/^local:/ { on = 0 } on { gsub(/[ \t;]/, ""); if ($0 != "") print } /^global:/ { on = 1 }' "$srcdir/lib/nlock.map" |
	sort >"$work/map"
# "uint32_t nlock_version": what the header says, and the synopses of the pages.
sed -n 's/^NLOCK_API[A-Z_]* //p' "$include/nlock.h" | sed 's/^NLOCK_MUST_CHECK //; s/(.*//' | sort >"$work/prototypes"
awk '/^\.Ft / { type = substr($0, 5) } /^\.F[no] nlock_/ && type { print type, $2; type = "" }' "$top_srcdir"/man/*.[37] |
	sort >"$work/synopses"
check 'the synopses of the pages are those of the header' diff "$work/prototypes" "$work/synopses"
check 'every NLOCK_API line names its function' test ! -s "$work/unread"
check 'the map exports what the header declares' diff "$work/header" "$work/map"

if [ ! -e "$so" ]; then
	skip 'exported names, hardening, linking: built without the shared library'
	finish
fi
# shellcheck disable=SC2086
$NM -D --defined-only "$so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
check 'the library exports what the map says' diff "$work/map" "$work/exported"
if [ -e "$libdir/libnlock.a" ]; then
	# shellcheck disable=SC2086
	$NM -g --defined-only "$libdir/libnlock.a" | awk 'NF == 3 && $3 !~ /^((nlock|nl)_|DW\.ref\.__gcc_personality)/' >"$work/strays"
	check 'the static library keeps to its name space' test ! -s "$work/strays"
fi

# ---------------------------------------------------------------- hardening

"$READELF" -lW "$so" >"$work/segments"
"$READELF" -dW "$so" >"$work/dynamic"
check 'no executable stack' awk '/GNU_STACK/ { seen = 1; if ($7 ~ /E/) bad = 1 } END { exit !seen || bad }' "$work/segments"
check 'no relocations in the text' sh -c "! grep -q TEXTREL '$work/dynamic'"
check 'relocations are read-only' grep GNU_RELRO "$work/segments"
check 'and made at start' grep -E 'BIND_NOW|Flags:.*NOW' "$work/dynamic"
for module in "$so" "$libdir"/nlock/libnlock-preload*.so; do
	[ -e "$module" ] || continue
	"$READELF" -dW "$module" >"$work/module"
	check "$(basename "$module") does not need libnuma" \
		sh -c "grep -q 'NEEDED.*libc' '$work/module' && ! grep 'NEEDED.*numa' '$work/module'"
done
check 'a soname with the interface in it' grep -E 'SONAME.*libnlock\.so\.[0-9]+' "$work/dynamic"

# ---------------------------------------------------------------- a user's program

# build SOURCE PROGRAM [OPTION]: with the flags of pkg-config. --static: from a directory that has no shared library.
# $CC, CFLAGS and pkg-config's answer are lists of words.
# shellcheck disable=SC2046,SC2086
build() {
	dir=$libdir
	[ "${3-}" = --static ] && dir=$work/static
	$CC ${CFLAGS-} ${LDFLAGS-} -o "$2" "$1" -pthread \
		$("$PKG_CONFIG" ${3-} --cflags --libs nlock | sed "s|-L$libdir|-L$dir|g")
}

# What the README shows: the indented block that starts with an include, up to the next line at the margin or a command.
awk '/^    #include/ { on = 1 } /^[^ ]|^    (sudo|cc) / { on = 0 } on' "$srcdir/README" >"$work/readme.c"
counter=$srcdir/examples/counter.c

check 'a program builds with the flags of pkg-config' build "$counter" "$work/shared"
check 'and runs' env LD_LIBRARY_PATH="$libdir" "$work/shared"
check "the README's example builds" build "$work/readme.c" "$work/readme"
check 'and runs' env LD_LIBRARY_PATH="$libdir" "$work/readme"
check 'it needs the library by its soname' sh -c "'$READELF' -dW '$work/shared' | grep 'NEEDED.*libnlock'"
if [ -e "$libdir/libnlock.a" ]; then
	mkdir "$work/static"
	cp "$libdir/libnlock.a" "$work/static"
	check 'a program builds with the static library' build "$counter" "$work/linked" --static
	check 'and runs by itself' "$work/linked"
	cat >"$work/sized.c" <<'END'
#include <nlock.h>
#include <stdio.h>
#include <sys/prctl.h>
int main(void)
{
	static nlock_mutex_t m;
	return nlock_mutex_lock(&m) || printf("%d\n", prctl(78, 2, 0, 0, 0)) < 0 || nlock_mutex_unlock(&m);
}
END
	check 'one that asks nothing about the hash builds' build "$work/sized.c" "$work/sized" --static
	if [ "$("$work/sized")" = 0 ]; then
		check 'and gets the slots that the environment asks for' \
			sh -c "[ \"\$(NLOCK_HASH_SLOTS=8 '$work/sized')\" = 8 ]"
	fi
fi

# ---------------------------------------------------------------- the drop-in, by recompiling

header=$include/nlock-pthread.h
if [ -e "$header" ]; then
	cat >"$work/posix.c" <<'END'
#include <nlock-pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_ready;

static void begin(void)
{
	puts("once");
}

static void *tell(void *arg)
{
	pthread_mutex_lock(&m);
	is_ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	sem_t s;

	if (pthread_once(&once, begin) || sem_init(&s, 0, 1) || sem_wait(&s) || pthread_create(&t, NULL, tell, NULL))
		return 1;
	pthread_mutex_lock(&m);
	while (!is_ready)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return pthread_join(t, NULL);
}
END
	cat >"$work/posix.cc" <<'END'
#include <nlock-pthread.h>
#include <condition_variable>
#include <mutex>
void standard(std::condition_variable &c, std::unique_lock<std::mutex> &l);
void standard(std::condition_variable &c, std::unique_lock<std::mutex> &l)
{
	l.lock();
	c.wait_for(l, std::chrono::seconds(1));
}
int posix(pthread_mutex_t *m);
int posix(pthread_mutex_t *m)
{
	return pthread_mutex_trylock(m);
}
END
	# shellcheck disable=SC2046,SC2086
	build_posix() {
		$CC ${CFLAGS-} ${LDFLAGS-} -D_GNU_SOURCE -o "$work/posix" "$work/posix.c" -pthread \
			$("$PKG_CONFIG" --cflags --libs nlock-pthread) -Wl,-rpath-link,"$libdir"
	}
	# shellcheck disable=SC2086
	{
		for std in c99 c11; do
			check "nlock-pthread.h compiles alone as $std" \
				$CC -std=$std -D_GNU_SOURCE $strict -fsyntax-only -I"$include" "$work/posix.c"
		done
		check 'and with POSIX 2001 alone' \
			$CC -std=c99 -D_POSIX_C_SOURCE=200112L $strict -fsyntax-only -I"$include" "$work/posix.c"
		check 'but not with less' sh -c "! $CC -std=c99 -fsyntax-only -I'$include' '$work/posix.c'"
		if [ "$NL_CXX" != none ]; then
			check 'nlock-pthread.h compiles in C++' $NL_CXX -std=c++17 $strict -I"$include" -c -o "$work/posix.o" "$work/posix.cc"
			$NM -u "$work/posix.o" | awk '{ print $NF }' | grep nlock >"$work/ours"
			check 'and leaves std:: alone' sh -c "echo nlock_pthread_mutex_trylock | diff - '$work/ours'"
		fi
		$NM -D --defined-only "$libdir/libnlock-pthread.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
			sort >"$work/door"
	}
	grep -o '^NLOCK_PTHREAD_API[A-Z_]* .*' "$header" | sed 's/(.*//; s/.*[ *]//' | sort >"$work/declared"
	awk '/^#define [a-z0-9_]+ nlock_pthread_/ { print $3 }' "$header" | sort >"$work/mapped"
	awk '/^local:/ { on = 0 } on { gsub(/[ \t;]/, ""); if ($0 != "") print } /^global:/ { on = 1 }' \
		"$srcdir/preload/preload.map" | grep -v '^__' | grep -v '_np$' | sed 's/^pthread_//; s/^/nlock_pthread_/' | sort >"$work/same"
	check 'nlock-pthread.h maps what it declares' diff "$work/declared" "$work/mapped"
	check 'its library exports that' diff "$work/declared" "$work/door"
	check 'the module for LD_PRELOAD has the same functions' diff "$work/declared" "$work/same"
	check 'a program builds with the flags of pkg-config' build_posix
	check 'and runs' env LD_LIBRARY_PATH="$libdir" "$work/posix"
	check 'the module is installed, and a program runs with it' \
		env LD_PRELOAD="$libdir/nlock/libnlock-preload.so" LD_LIBRARY_PATH="$libdir" "$work/posix"
	LD_PRELOAD="$libdir/nlock/libnlock-preload.so" "$PKG_CONFIG" --version >"$work/loud" 2>&1
	check 'and without a word' sh -c "'$PKG_CONFIG' --version 2>&1 | diff - '$work/loud'"
else
	skip 'the drop-in: it is not built here'
fi

# ---------------------------------------------------------------- the rest

check 'the command is installed, and runs from where it is' env LD_LIBRARY_PATH="$libdir" "$root$prefix/bin/nlock" info
check 'an experiment is installed, and runs from where it is' \
	sh -c "LD_LIBRARY_PATH='$libdir' \$(find '$root' -path '*/nlock/ulockflex') -c 2 -t 0.01 -i 1 -L f"
check 'an experiment is installed, and runs from where it is' \
	sh -c "LD_LIBRARY_PATH='$libdir' \$(find '$root' -path '*/nlock/ulockflex') -c 2 -t 0.01 -i 1 -L f"
if [ -n "$(find "$root" -name 'libnlock-preload.so')" ]; then
	for option in --legacy --stats; do
		check "nlock run $option finds its module beside the command, wherever that was moved" \
			env LD_LIBRARY_PATH="$libdir" "$root$prefix/bin/nlock" run $option sh -c "
				case \$LD_PRELOAD in '$root'/*libnlock-preload*) ;; *) echo \"\$LD_PRELOAD\"; exit 1 ;; esac"
	done
else
	skip 'nlock run: the module was not built'
fi
for page in "$top_srcdir"/man/*.[1-9]; do
	page=${page##*/}
	check "the page $page is installed" sh -c "find '$root' -name '$page*' | grep -q ."
done
check 'uninstall leaves nothing' sh -c "'$MAKE' -s -C '$builddir' uninstall DESTDIR='$root' && ! find '$root' ! -type d | grep ."
finish
