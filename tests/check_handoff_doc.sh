#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_handoff_doc.sh - doc/handoff.md: does each command of the page run, and print what the page shows?
#
# A command is an indented line that begins with "$ "; what is indented below it is what the page shows of its output. Runs are made
# short, so no number is compared, only the shape of lines: each that is shown must be among those printed, in the same order, where
# numbers, strips and the name of the kernel stand for any other. "..." is for lines left out.
set -u
LC_ALL=C
export LC_ALL

page=${top_srcdir:?run me by make check}/doc/handoff.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/tally.sh" || exit 1

# Commands are as after ./quickstart, which builds in build.
mkdir "$work/home" && ln -s "$(cd "${top_builddir:-.}" && pwd)" "$work/home/build" || exit 1

# cut_out: NUMBER.command and NUMBER.shown for each command of the page.
cut_out() {
	awk -v dir="$work" '
		/^    \$ / { n++; done = 0; print substr($0, 7) >(dir "/" n ".command"); printf "" >(dir "/" n ".shown"); next }
		/^    / { if (!n || done) { print "indented, and no output: " $0; bad = 1 } else print substr($0, 5) >(dir "/" n ".shown") }
		{ done = /^[^ ]/ || (done && !/^    /) }
		END { exit bad || !n }' "$page"
}

# One short run each, and the report makes but two of its experiments. What is given twice counts as given last.
shorten() {
	sed -E 's/ -t [0-9.]+/ -t 0.05/g; s/ -n [0-9]+$/ -n 3/; s/report --quick/& --seconds 0.01 --only guard,three/
		s,handoff/ulockflex,& -i 1,g; s,handoff/convoy,& -i 1 -t 0.16,'
}

# A run that is too short, or was disturbed, has no strip and says so instead: that counts as its first line.
shape() {
	sed -E 's/  not done when the hogs stopped//
		s/^# [A-Z][a-z]+ [^,]*,/# KERNEL,/
		s/^ ([A-Za-z]) (done .*|there was no stall.*)/\1 STRIP/
		s/[0-9A-Za-z.+]{100}/STRIP/
		s/ \[ [0-9]+ \]: / : /
		s/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/#/g
		s/(^| )-( |$)/\1#\2/g
		s/(^| )-( |$)/\1#\2/g
		s/ +/ /g; s/^ //; s/ $//
		s/^([A-Za-z]) fewer than # acquisitions$/\1 each # STRIP/
		/^each # STRIP$/d; /^(waited|stall) /d' "$1" | uniq
}

# shows NUMBER: the lines of .shown are, by their shape, among those of .out.
shows() {
	shape "$work/$1.shown" | grep -vx '\.\.\.' | grep . | uniq >"$work/want"
	shape "$work/$1.out" >"$work/have"
	[ -s "$work/want" ] || return 0
	awk 'NR == FNR { want[++n] = $0; next }
		i < n && $0 == want[i + 1] { i++ }
		END { if (i < n) { print "no such line, or not there: " want[i + 1]; exit 1 } }' "$work/want" "$work/have" && return
	head -n 40 "$work/$1.out"
	return 1
}

# runs NUMBER: as it stands, but shorter.
runs() {
	shorten <"$work/$1.command" >"$work/short"
	(cd "$work/home" && timeout 300 sh "$work/short") >"$work/$1.out" 2>"$work/$1.err"
	code=$?
	[ "$code" -ne 77 ] || { cat "$work/$1.err"; return 77; }
	[ "$code" -eq 0 ] || { echo "exit code $code: $(cat "$work/$1.err")"; return 1; }
	shows "$1"
}

# The pictures that the page points to are drawn under these titles.
figures_have_these_titles() {
	grep -E '^Pictures?: ' "$page" | grep -o '"[^"]*"' | tr -d '"' | sort -u >"$work/titles"
	[ -s "$work/titles" ] || { echo 'the page points to no picture'; return 1; }
	while read -r title; do
		grep -qF "$title" "$top_srcdir/tools/lesson_figures.c" || { echo "no picture $title"; return 1; }
	done <"$work/titles"
}

lessons_are_whole() {
	for part in Question 'What you see' Why Exercise Answer; do
		[ "$(grep -c "^\*\*$part\.\*\*" "$page")" -eq "$(grep -c '^## [1-9]\. ' "$page")" ] || { echo "a lesson without: $part"; return 1; }
	done
}

test_that 'what is indented is a command or its output' cut_out
[ -e "$work/1.command" ] || finish
test_that 'each lesson has all its parts' lessons_are_whole
test_that 'the pictures that it points to exist' figures_have_these_titles
n=1
while [ -e "$work/$n.command" ]; do
	[ "$(cat "$work/$n.command")" = ./quickstart ] || test_that "$(cat "$work/$n.command")" runs $n
	n=$((n + 1))
done
finish
