# SPDX-License-Identifier: MIT
#
# program.sh - how the tests of examples/handoff ask a program, whose path is in $program. After tally.sh; they make the directory $work.

# run ARGUMENT...: the exit code in $code, the output in $work/out and $work/err.
run() {
	timeout 300 "$program" "$@" >"$work/out" 2>"$work/err"
	code=$?
}

# One line on standard error, nothing on standard output, exit code 2.
is_refused() {
	run "$@"
	is_code 2 || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] || { echo "not one line: $(cat "$work/err")"; return 1; }
	grep -q "^$(basename "$program"): " "$work/err" || { echo "not ours: $(cat "$work/err")"; return 1; }
	[ ! -s "$work/out" ] || { echo "it printed something: $(head -n 3 "$work/out")"; return 1; }
}

# prints PATTERN ARGUMENT...: ends with 0, says nothing on standard error, and some line is like PATTERN.
prints() {
	pattern=$1
	shift
	run "$@"
	is_code 0 || return 1
	[ ! -s "$work/err" ] || { echo "complained: $(cat "$work/err")"; return 1; }
	has "$pattern"
}

# has PATTERN: some line of the last output is like it.
has() {
	grep -Eq -- "$1" "$work/out" || { echo "no line like $1 in: $(cat "$work/out")"; return 1; }
}
