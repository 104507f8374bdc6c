#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mutants.sh - planted faults: each must be caught, by the check that it is named for
#
# A fault is one edit of a copy of lib/. An edit that changes nothing (because the code has moved on) is a failure, and so is a
# fault that another check catches first: then the table below no longer says what it claims. PATTERN: the faults
# that match.
#
#   mutants.sh [NOUN [PATTERN]]
. "$(dirname "$0")/build.sh"

# try LINE: in a directory of its own; prints one line.
try() {
	IFS=@ read -r name file edit check scenario <<LINE
$1
LINE
	dir=$(mktemp -d ./mutant.XXXXXX) || exit 1
	mkdir "$dir/lib" && cp "$srcdir"/lib/*.[ch] "$dir/lib/" && chmod -R u+w "$dir"
	sed "$edit" "$srcdir/lib/$file" >"$dir/lib/$file"
	if cmp -s "$srcdir/lib/$file" "$dir/lib/$file"; then
		echo "FAIL  $name: the edit changes nothing"
	elif ! build_scenarios "$dir/scen" "$dir/lib" >"$dir/log" 2>&1; then
		echo "FAIL  $name: does not compile"
	else
		# shellcheck disable=SC2086
		timeout 60 "$dir/scen" $scenario -q >"$dir/log" 2>&1
		if grep -q "^FAIL .*: $check: " "$dir/log"; then
			echo "ok    $name: caught by $check ($(sed -n '1s/.*: \([0-9]* executions\).*/\1/p' "$dir/log"))"
		else
			echo "FAIL  $name: $check did not catch it: $(tail -n 1 "$dir/log")"
		fi
	fi
	rm -rf "$dir"
}

try_all() {
	while read -r line; do
		try "$line"
	done
}

build_engine
for noun in ${1:-$nouns}; do
	"${noun}_faults" | grep -e "${2-.}" >mutants.txt
	in_two mutants.txt try_all >mutants.out
	sed "s/^\([^ ]* *\)/\1$noun: /" mutants.out
	passed=$((passed + $(grep -c '^ok' mutants.out)))
	failed=$((failed + $(grep -vc '^ok' mutants.out)))
	[ "$(grep -c . mutants.out)" -eq "$(wc -l <mutants.txt)" ] || failed=$((failed + 1))
done
conclude 'planted faults'
