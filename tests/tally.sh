# SPDX-License-Identifier: MIT
#
# tally.sh - how the tests in sh try, count and report; they read it before they try anything. They make the directory $work.

passed=0 failed=0 skipped=0

# test_that NAME COMMAND...: a test is a sentence, and a function that says why it failed, or why this machine cannot (77).
test_that() {
	name=$1
	shift
	why=$("$@" 2>&1)
	case $? in
	0) passed=$((passed + 1)) ;;
	77) skip "$name: $why" ;;
	*) failed=$((failed + 1)); printf 'FAILED: %s: %s\n' "$name" "$why" ;;
	esac
}

# check WHAT COMMAND...: the command must succeed. Its output is shown if it does not.
check() {
	what=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		passed=$((passed + 1))
		echo "ok    $what"
	else
		failed=$((failed + 1))
		echo "FAIL  $what: $*"
		sed 's/^/      /' "$work/out"
	fi
}

skip() {
	skipped=$((skipped + 1))
	printf 'SKIP: %s\n' "$1"
}

# is_code WANTED: of the command that left $code and $work/err.
is_code() {
	[ "$code" -eq "$1" ] && return 0
	echo "exit code $code, not $1: $(head -n 3 "$work/err")"
	return 1
}

# finish: the last line of a test, and its exit status. One that tried nothing has not passed.
finish() {
	echo "$passed passed, $skipped skipped, $failed failed"
	[ "$failed" -eq 0 ] && [ "$((passed + skipped))" -gt 0 ]
	exit
}
