# SPDX-License-Identifier: MIT
#
# kernel.sh - where vm.sh gets kernels from
#
# From the distribution that apt is configured for: the address and the key of its own entry, and, for a new kernel, the names of its
# backports or of later releases. apt works in a directory of its own, with lists of its own; nothing is installed.

# apt_aside NAME COMMAND...: apt-get or apt-cache, on the lists of $work/apt/NAME.
apt_aside() {
	aside=$work/apt/$1 program=$2
	shift 2
	"$program" -q -o Dir::State::lists="$aside/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$aside/cache" \
		-o Dir::Etc::sourcelist="$aside/suite.sources" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root "$@"
}

# field NAME: of the first entry that apt is configured with.
field() {
	apt-get indextargets 'Created-By: Packages' 2>/dev/null | sed -n "s/^$1: *//p" | head -n 1
}

# lists_of NAME SUITE: fetches them.
lists_of() {
	entry=$(field Sourcesentry)
	key=$(sed -n 's/^Signed-By: *//p; s/^deb.*signed-by=\([^] ]*\).*/\1/p' "${entry%:*}" 2>/dev/null | head -n 1)
	mkdir -p "$work/apt/$1/lists/partial" "$work/apt/$1/cache/archives/partial"
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n%s\n' "$(field Repo-URI)" "$2" "${key:+Signed-By: $key}" \
		>"$work/apt/$1/suite.sources"
	apt_aside "$1" apt-get update
}

# is_new PACKAGE: is its kernel 6.16 or later?
is_new() {
	version=${1#linux-*-}
	major=${version%%.*} minor=${version#*.}
	minor=${minor%%[!0-9]*}
	[ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 16 ]; }
}

# packages NAME: what the distribution's own choice of a kernel for virtual machines comes to.
packages() {
	apt_aside "$1" apt-cache depends --recurse --important linux-image-cloud-amd64 2>/dev/null |
		grep -E '^linux-(image|binary)-[0-9]' | sort -u
}

# unpack NAME PACKAGE...: leaves $work/NAME.kernel.
unpack() {
	name=$1
	shift
	rm -rf "$work/apt/$name/debs"
	mkdir -p "$work/apt/$name/debs"
	(cd "$work/apt/$name/debs" && apt_aside "$name" apt-get download "$@") || return 1
	for deb in "$work/apt/$name/debs"/*.deb; do
		dpkg-deb -x "$deb" "$work/apt/$name/debs/tree" || return 1
	done
	image=$(find "$work/apt/$name/debs/tree" -name 'vmlinuz*' -type f | head -n 1)
	[ -n "$image" ] && cp "$image" "$work/$name.kernel" && rm -rf "$work/apt/$name/debs"
}

# fetch NAME SUITE: NAME is "new" or "old"; a new kernel has to be 6.16 at least.
fetch() {
	lists_of "$1" "$2" || return 1
	wanted=$(packages "$1")
	[ -n "$wanted" ] || { echo "$2 has no linux-image-cloud-amd64"; return 1; }
	for package in $wanted; do
		[ "$1" = old ] || is_new "$package" || { echo "$2 has $package, which is older than 6.16"; return 1; }
	done
	# shellcheck disable=SC2086
	unpack "$1" $wanted
}

# have_kernel NAME SUITE...: from the first of these that has one; kept for the next run.
have_kernel() {
	[ -s "$work/$1.kernel" ] && return
	command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
	which=$1
	shift
	for suite; do
		fetch "$which" "$suite" && return
	done >"$work/$which.fetch.log" 2>&1
	return 1
}
