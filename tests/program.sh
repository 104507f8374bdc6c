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

dir=${top_builddir:-.}/examples/handoff

# begin NAME: from here on it is asked.
begin() {
	program=$dir/$1
	[ -x "$program" ] || { echo "no program at $program"; exit 1; }
}

# may_lack: what this kernel cannot do is told by 77 and a line, and is no failure.
may_lack() {
	[ "$code" -eq 77 ] || return 0
	cat "$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] || return 1
	exit 77
}

# gives PATTERN ARGUMENT...: like prints, on a kernel that can.
gives() {
	pattern=$1
	shift
	run "$@"
	may_lack
	is_code 0 || return 1
	[ ! -s "$work/err" ] || { echo "complained: $(cat "$work/err")"; return 1; }
	has "$pattern"
}

# every_option_is_in_the_help LETTERS: each after a blank and a hyphen.
every_option_is_in_the_help() {
	prints "^Usage: $(basename "$program")" --help || return 1
	for letter in $1; do
		grep -Eq -- "(^| )-${letter}[[, ]" "$work/out" || { echo "-$letter is not"; return 1; }
	done
	has '^Exit code: '
}

write_error_is_noticed() {
	timeout 300 "$program" --help >/dev/full 2>"$work/err"
	code=$?
	is_code 1 || return 1
	grep -q ': cannot write' "$work/err" || { cat "$work/err"; return 1; }
}

# common OPTIONS WITH-ARGUMENT: what is true of each program.
common() {
	who=$(basename "$program")
	test_that "$who: every option is in its help" every_option_is_in_the_help "$1"
	test_that "$who: version is told" prints "^$who, with nlock [0-9]+\\.[0-9]+\\.[0-9]+\$" --version
	test_that "$who: an error in writing is noticed" write_error_is_noticed
	for option in $2; do
		test_that "$who: -$option without an argument is an error" is_refused "-$option"
		test_that "$who: -$option x is an error" is_refused "-$option" x
	done
	test_that "$who: an unknown option is an error" is_refused -Z
	test_that "$who: an unknown long option is an error" is_refused --fast
	test_that "$who: an abbreviated option is an error" is_refused --hel
	test_that "$who: a value for --help is an error" is_refused --help=yes
	test_that "$who: an argument is an error" is_refused 3
}

# gives_tables 'TABLE ROWS ...' ARGUMENT...: tsv.h's form, and of each table that many rows. guard_ok and intact are yes wherever they are.
gives_tables() {
	tables=$1
	shift
	gives '^# nl-handoff v1 host [^ ]+ kernel [^ ]+ cpus [1-9][0-9]* nodes [1-9][0-9]* seed (-|[0-9]+)$' "$@" || return 1
	awk -F '\t' -v want="$tables" '
		function bad(why) { print why ": line " NR ": " $0; failed = 1; exit 1 }
		NR == 1 && !/^# nl-handoff v1/ { bad("not the first line") }
		/^#/ { next }
		/\t(\t|$)/ || / / { bad("an empty field, or a blank") }
		$1 == "exp" { for (heads = NF; heads; heads--) name[heads] = $heads; heads = NF; next }
		NF != heads { bad("not the fields of its head") }
		{ rows[$1]++ }
		{ for (i = 2; i <= NF; i++) if ((name[i] == "guard_ok" || name[i] == "intact") && $i != "yes") bad(name[i]) }
		END {
			if (failed) exit 1
			n = split(want, w, " ")
			for (i = 1; i < n; i += 2) { if (rows[w[i]] != w[i + 1]) { print w[i], "has", rows[w[i]] + 0, "rows"; exit 1 }; seen++ }
			for (r in rows) found++
			exit found != seen
		}' "$work/out"
}
