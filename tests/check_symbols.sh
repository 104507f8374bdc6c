#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_symbols.sh - what the preload module exports, against the C library that it goes under
#
# Run by "make check", which sets srcdir, builddir, CC, NM and READELF. A family of functions must be interposed whole: each name
# of the C library's that belongs to one is exported by the module, or stands here with a reason. A name that is neither, because
# the C library is newer than this list, fails. Then the module must be hardened, and bring nothing along that shows.
set -u
LC_ALL=C
export LC_ALL

: "${srcdir:?run me by make check}" "${builddir:?}" "${CC:=cc}" "${NM:=nm}" "${READELF:=readelf}"

. "$(dirname "$0")/tally.sh" || exit 1
so=$builddir/.libs/libnlock-preload.so
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# lacks FILE PATTERN: no line matches it, and there are lines.
lacks() {
	test -s "$1" && ! grep -E "$2" "$1"
}

# ---------------------------------------------------------------- names

# names FILE: each name once, whatever its versions.
# shellcheck disable=SC2086
names() {
	$NM -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# Extended regular expressions, and why these are left to the C library.
cat >"$work/reasons" <<'END'
(__)?pthread_(mutex|cond|rwlock|barrier)attr_.*   attribute objects keep the C library's layout: its functions are right
pthread_spin_.*                                   not nlock's: a spin lock has no waiters that sleep
sem_(open|close|unlink)                           named semaphores are the C library's altogether
END

check 'the module is there' test -s "$so"
[ "$failed" -eq 0 ] || finish
# $CC is a list of words.
# shellcheck disable=SC2086
libc=$($CC -print-file-name=libc.so.6)
check 'the C library is there' test -s "$libc"

names "$so" >"$work/exported"
names "$libc" | grep -E '^(__)?(pthread_(mutex|cond|rwlock|barrier|once|spin)|sem_|mtx_|cnd_|call_once$)' >"$work/family"
check 'the C library exports locks' test -s "$work/family"
awk '{ print "^" $1 "$" }' "$work/reasons" >"$work/excused"
comm -23 "$work/family" "$work/exported" | grep -v -E -f "$work/excused" >"$work/unknown"
check "no lock of the C library's is unknown" diff /dev/null "$work/unknown"
comm -13 "$work/family" "$work/exported" >"$work/invented"
check "every name is one of the C library's" diff /dev/null "$work/invented"
grep -E -f "$work/excused" "$work/exported" >"$work/both"
check 'nothing is both exported and excused' diff /dev/null "$work/both"
while read -r pattern reason; do
	check "still there: $pattern ($reason)" grep -q -x -E "$pattern" "$work/family"
done <"$work/reasons"

awk '/^local:/ { on = 0 } on { gsub(/[ \t;]/, ""); if ($0 != "") print } /^global:/ { on = 1 }' "$srcdir/preload/preload.map" |
	sort >"$work/map"
check 'the module exports what its map says' diff "$work/map" "$work/exported"

# ---------------------------------------------------------------- how it is made

"$READELF" -lW "$so" >"$work/segments"
"$READELF" -dW "$so" >"$work/dynamic"
"$READELF" -VW "$so" | sed -n '/Version definition/,/^$/p' >"$work/versions"
"$READELF" -rW "$so" >"$work/relocations"
# shellcheck disable=SC2086
$NM -D --undefined-only "$so" | awk '{ sub(/@.*/, "", $NF); print $NF }' >"$work/needed"
check 'its names have no versions' test ! -s "$work/versions"
check 'no executable stack' awk '/GNU_STACK/ { seen = 1; if ($7 ~ /E/) bad = 1 } END { exit !seen || bad }' "$work/segments"
check 'nothing is both writable and executable' lacks "$work/segments" 'LOAD.* RWE '
check 'no relocations in the text' lacks "$work/dynamic" TEXTREL
check 'relocations are read-only' grep GNU_RELRO "$work/segments"
check 'and made at start' grep -E 'FLAGS_1.*NOW' "$work/dynamic"
check 'it is never unloaded' grep -E 'FLAGS_1.*NODELETE' "$work/dynamic"
check 'thread-local storage that is there from the start' lacks "$work/relocations" 'DTPMOD|DTPOFF|TLSDESC'
check 'it brings no other library of ours' lacks "$work/dynamic" 'NEEDED.*nlock'
check 'it asks for no memory, and not for dlsym' lacks "$work/needed" '^(((m|c|re)alloc|free|posix_memalign|dlv?sym|dlopen|__tls_get_addr))$'
finish
