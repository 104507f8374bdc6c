#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cross.sh - other machines
#
#   cross.sh [MACHINE...]   aarch64, riscv64   T1 and T2 under qemu-user (which knows no futex2: the kernel tiers would skip)
#                           i686               everything, run natively: futex2 on 32 bits. Where the kernel runs no 32-bit
#                                              programs, T1 and T2 under qemu-user
#
# Run by "make check-cross", which sets builddir and MAKE. Needs gcc-MACHINE-linux-gnu and qemu-user. The tests use their own
# runner instead of Check. The libraries for i686 are fetched with apt-get and unpacked in the build directory; the system is
# left alone. A machine that cannot be done is skipped with the reason.
set -u
LC_ALL=C
export LC_ALL
: "${builddir:?run me by make check-cross}" "${MAKE:=make}"
MAKEFLAGS='' MFLAGS=''
export MAKEFLAGS MFLAGS
jobs=$(nproc 2>/dev/null || echo 2)
sub=$(cd "$builddir" && pwd)/sub
apt=$sub/apt
ran=0 failed=0 skipped=0

# ---------------------------------------------------------------- what is fetched

# apt_aside LISTS ARGUMENT...: apt-get with lists and a cache of its own.
apt_aside() {
	lists=$apt/$1
	shift
	mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
	apt-get -q -o Dir::State::lists="$lists/lists" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root "$@"
}

# The libraries of 32-bit x86, unpacked in $sub/i386.
fetch_i386() {
	[ -d "$sub/i386/usr/include" ] && return
	set -- i386 -o APT::Architecture=i386 -o APT::Architectures=i386 -o Dir::State::status=/dev/null
	apt_aside "$@" update || echo 'some lists could not be read'
	mkdir -p "$apt/i386-debs" "$sub/i386"
	(cd "$apt/i386-debs" && apt_aside "$@" download libnuma-dev libnuma1) || return 1
	for deb in "$apt"/i386-debs/*.deb; do
		dpkg-deb -x "$deb" "$sub/i386" || return 1
	done
}

# ---------------------------------------------------------------- a machine

skip() {
	skipped=$((skipped + 1))
	echo "SKIP: $1"
}

# report NAME STATUS: what came of a machine's log.
report() {
	if [ "$2" -eq 0 ]; then
		echo "ok    $1: $(sed -n 's/^# PASS: *//p' "$sub/$1.log" | tail -1) test programs passed"
	else
		failed=$((failed + 1))
		echo "FAIL  $1: see $sub/$1.log, which ends"
		tail -n 20 "$sub/$1.log" | sed 's/^/      /'
	fi
	cat "$sub/$1"/tests/*.log 2>/dev/null | grep -E '^(ROWS|SKIP):' | sort -u | sed 's/^/      /'
}

# configured NAME HOST OPTION...: configure and build, in $sub/NAME.
configured() {
	name=$1 host=$2
	shift 2
	rm -rf "${sub:?}/$name"
	mkdir "$sub/$name"
	cd "$sub/$name" &&
		PKG_CONFIG_LIBDIR=$sub/none ../source/configure -q --host="$host" CC="$host-gcc" --enable-werror \
			--without-check "$@" &&
		"$MAKE" -s -j "$jobs" all
}

# emulated NAME HOST EMULATOR. The programs are static: qemu-i386 7.2 hangs in a fork of one that is not.
emulated() {
	command -v "$2-gcc" >/dev/null 2>&1 || { skip "$1: gcc-$2 is not installed"; return; }
	command -v "$3" >/dev/null 2>&1 || { skip "$1: qemu-user is not installed"; return; }
	ran=$((ran + 1))
	(
		configured "$1" "$2" --disable-tools &&
			"$MAKE" -s -j "$jobs" check TESTS= LDFLAGS=-all-static &&
			"$MAKE" -s check-portable LDFLAGS=-all-static LOG_COMPILER="$3"
	) >"$sub/$1.log" 2>&1 </dev/null
	report "$1" $?
}

runs_32_bits() {
	printf 'int main(void) { return 0; }\n' >"$sub/try.c"
	"$1-gcc" -static -o "$sub/try" "$sub/try.c" && "$sub/try"
}

native32() {
	host=i686-linux-gnu
	command -v $host-gcc >/dev/null 2>&1 || { skip "i686: gcc-$host is not installed"; return; }
	if ! runs_32_bits $host 2>/dev/null; then
		skip 'i686: T3: this kernel runs no 32-bit programs'
		emulated i686 $host qemu-i386
		return
	fi
	fetch_i386 >"$sub/i686-libs.log" 2>&1 ||
		{ skip "i686: the libraries could not be had ($sub/i686-libs.log)"; return; }
	libs=$sub/i386/usr/lib/i386-linux-gnu
	# The programs find the 32-bit C library where the cross compiler keeps it.
	LD_LIBRARY_PATH=$libs:/usr/$host/lib
	export LD_LIBRARY_PATH
	ran=$((ran + 1))
	(
		configured i686 $host CPPFLAGS="-I$sub/i386/usr/include" \
			LDFLAGS="-L$libs -Wl,-rpath-link,$libs -Wl,--dynamic-linker=/usr/$host/lib/ld-linux.so.2" &&
			"$MAKE" -s -j "$jobs" check TESTS= && "$MAKE" -s check
	) >"$sub/i686.log" 2>&1 </dev/null
	report i686 $?
	unset LD_LIBRARY_PATH
}

mkdir -p "$apt"
rm -rf "$sub/source"
version=$(sed -n 's/^VERSION = //p' "$builddir/Makefile")
{ "$MAKE" -s -C "$builddir" distdir && mv "$builddir/nlock-$version" "$sub/source"; } >"$sub/source.log" 2>&1 ||
	{ echo "FAIL  make distdir"; cat "$sub/source.log"; exit 1; }
[ $# -gt 0 ] || set -- aarch64 riscv64 i686
for one; do
	case $one in
	aarch64 | riscv64) emulated "$one" "$one-linux-gnu" "qemu-$one" ;;
	i686) native32 ;;
	*) echo "cross.sh: no machine is called $one" >&2; exit 2 ;;
	esac
done
echo "ROWS: $ran machines ran, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$ran" -gt 0 ] || exit 77
