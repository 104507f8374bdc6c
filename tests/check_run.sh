#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_run.sh - `nlock run' and the report of --stats
#
# Arguments, what the program sees of them, how it ends, whether the policy is in force, and the figures of a program whose
# figures are known: run_probe.c. top_builddir says where all was built; NLOCK overrides the path of the command.
set -u
LC_ALL=C
export LC_ALL
unset LD_PRELOAD NLOCK_STATS NLOCK_HANDOFF NLOCK_FUTEX NLOCK_RWLOCK NLOCK_PRELOAD_SHARED NLOCK_HASH_SLOTS NLOCK_CONFIGURE

build=$(cd "${top_builddir:-.}" && pwd) || exit 1
nlock=${NLOCK:-$build/tools/nlock}
# What libtool puts there is a script, which takes longer than most of these tests.
if [ -x "$build/tools/.libs/nlock" ] && [ "$nlock" = "$build/tools/nlock" ]; then
	nlock=$build/tools/.libs/nlock
	LD_LIBRARY_PATH=$build/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi
probe=$build/tests/run_probe
modules=$build/.libs
src=${top_srcdir:-${srcdir:-.}}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

. "$(dirname "$0")/tally.sh" || exit 1

# run ARGUMENT...: the exit code in $code, the output in $work/out and $work/err.
run()
{
	timeout 60 "$nlock" run "$@" >"$work/out" 2>"$work/err"
	code=$?
}

is_quiet()
{
	[ ! -s "$work/err" ] || { echo "it said: $(head -n 3 "$work/err")"; return 1; }
}

# One line on standard error, nothing on standard output, exit code 2, and nothing was run.
is_refused()
{
	run "$@" sh -c "echo ran"
	is_code 2 || return 1
	[ "$(wc -l <"$work/err")" -eq 1 ] || { echo "not one line: $(cat "$work/err")"; return 1; }
	grep -q '^nlock: ' "$work/err" || { echo "not ours: $(cat "$work/err")"; return 1; }
	[ ! -s "$work/out" ] || { echo "it printed something: $(head -n 3 "$work/out")"; return 1; }
}

# says PATTERN FILE
says()
{
	grep -Eq -- "$1" "$work/$2" || { echo "no line like '$1' in: $(cat "$work/$2")"; return 1; }
}

# ---------------------------------------------------------------- arguments

refuses_no_program()
{
	run "$@"
	is_code 2 && says '^nlock: which program' err
}

refusals()
{
	test_that 'a missing program is an error' refuses_no_program
	test_that 'a missing program after options is an error' refuses_no_program --policy fifo --legacy
	test_that 'a missing program after -- is an error' refuses_no_program --policy fifo --
	for bad in '' FIFO fair bounded= bounded=-1 bounded=65536 bounded=x 'bounded=1 ' fifo=1 barging,fifo; do
		test_that "--policy '$bad' is an error" is_refused --policy "$bad"
	done
	for bad in '' writer phase_fair 'phase-fair,'; do
		test_that "--rwlock '$bad' is an error" is_refused --rwlock "$bad"
	done
	for bad in '' 0 3 -4 x 1x 99999999999999999999 1073741824; do
		test_that "--hash-slots '$bad' is an error" is_refused --hash-slots "$bad"
	done
	test_that 'an unknown option is an error' is_refused --fast
	test_that 'a short option is an error' is_refused -p fifo
	test_that 'a value for a flag is an error' is_refused --legacy=yes
	test_that 'a value for a flag is an error, in --shared' is_refused --shared=1
	test_that '--stats with an empty name is an error' is_refused --stats=
	test_that '--stats with a file that cannot be written is an error' is_refused --stats="$work/none/file"
	test_that '--stats with a pipe is an error' a_pipe_is_refused --stats
	test_that 'a module that is a pipe is an error' a_pipe_is_refused --preload
	test_that 'a module that is not there is an error' is_refused --preload "$work/none.so"
	test_that 'a module that is no library is an error' is_refused --preload "$src/tests/check_run.sh"
	test_that 'a module that is a program is an error' is_refused --preload "$(command -v sh)"
	test_that "a library that is not nlock's module is an error" a_stranger_is_refused
	test_that 'a module that does not count is an error with --stats' \
		is_refused --stats --preload "$modules/libnlock-preload.so"
	for letter in ' ' ':' "$(printf '\t')" '$'; do
		test_that "a module whose path has a '$letter' in it is an error" bad_path_is_refused "$letter"
	done
}

# The C library is one that is always there.
a_stranger_is_refused()
{
	stranger=$(ldd "$probe" 2>/dev/null | sed -n 's/.* => \(.*libc\.so[^ ]*\) .*/\1/p')
	[ -n "$stranger" ] || { echo "ldd does not find the program's C library"; return 77; }
	is_refused --preload "$stranger"
}

bad_path_is_refused()
{
	mkdir -p "$work/a${1}b" && cp "$modules/libnlock-preload.so" "$work/a${1}b/" || return 1
	is_refused --preload "$work/a${1}b/libnlock-preload.so" && says 'cannot preload a file whose path' err
}

# Nobody reads it, or writes to it: opened as a file would be, it would be waited for.
a_pipe_is_refused()
{
	[ -p "$work/pipe" ] || mkfifo "$work/pipe" || return 77
	is_refused "$1=$work/pipe"
}

help_text()
{
	run --help
	is_code 0 && is_quiet && says '^usage: nlock run' out || return 1
	sed -n 's/^  --\([a-z-]*\).*/\1/p' "$work/out" >"$work/options"
	[ "$(wc -l <"$work/options")" -ge 8 ] || { echo 'options are missing'; return 1; }
	while read -r option; do
		grep -q -- "Fl -$option" "$src/man/nlock.1" || { echo "--$option is not in the manual"; return 1; }
	done <"$work/options"
}

# ---------------------------------------------------------------- what the program sees

# sees NAME=VALUE OPTION...
sees()
{
	want=$1
	shift
	run "$@" env
	is_code 0 && is_quiet || return 1
	grep -Fxq -- "$want" "$work/out" || { echo "not $want: $(grep -E '^(NLOCK|LD_)' "$work/out")"; return 1; }
}

sees_no_more()
{
	run env
	is_code 0 && is_quiet || return 1
	! grep '^NLOCK_' "$work/out"
}

sees_old_preload_behind()
{
	(LD_PRELOAD='libm.so.6' && export LD_PRELOAD && sees "LD_PRELOAD=$modules/libnlock-preload.so:libm.so.6")
}

sees_one_module()
{
	run --policy fifo -- "$nlock" run --stats="$work/file" -- env
	is_code 0 && is_quiet && says "^LD_PRELOAD=$modules/libnlock-preload-stats\.so$" out && says '^NLOCK_HANDOFF=fifo$' out
}

sees_file_with_its_path()
{
	(cd "$work" && sees "NLOCK_STATS=$(pwd -P)/report" --stats=report)
}

keeps_arguments()
{
	run --policy fifo -- printf '<%s>' '' 'a b' --policy -- '*'
	is_code 0 || return 1
	[ "$(cat "$work/out")" = '<><a b><--policy><--><*>' ] || { cat "$work/out"; return 1; }
	run printf '<%s>' --stats
	[ "$(cat "$work/out")" = '<--stats>' ] || { cat "$work/out"; return 1; }
}

what_it_sees()
{
	test_that 'without options there is the module and nothing else' sees_no_more
	test_that 'the module of the build tree is taken' sees "LD_PRELOAD=$modules/libnlock-preload.so"
	test_that '--preload chooses the module' \
		sees "LD_PRELOAD=$modules/libnlock-preload-stats.so" --preload "$modules/libnlock-preload-stats.so"
	test_that 'what was preloaded before comes behind' sees_old_preload_behind
	test_that 'of two commands, one inside the other, there is one module' sees_one_module
	for policy in fifo barging bounded bounded=0 bounded=65535; do
		test_that "--policy $policy reaches it" sees "NLOCK_HANDOFF=$policy" --policy "$policy"
		test_that "--policy=$policy reaches it" sees "NLOCK_HANDOFF=$policy" "--policy=$policy"
	done
	test_that 'of two policies the last counts' sees NLOCK_HANDOFF=barging --policy fifo --policy barging
	for rwlock in readers writers phase-fair; do
		test_that "--rwlock $rwlock reaches it" sees "NLOCK_RWLOCK=$rwlock" --rwlock "$rwlock"
	done
	test_that '--shared reaches it' sees NLOCK_PRELOAD_SHARED=1 --shared
	test_that '--legacy reaches it' sees NLOCK_FUTEX=legacy --legacy
	test_that '--hash-slots reaches it' hash_slots_reach_it
	test_that '--stats reaches it' sees NLOCK_STATS=- --stats
	test_that '--stats=FILE reaches it as a whole path' sees_file_with_its_path
	test_that 'its arguments are its own' keeps_arguments
}

hash_slots_reach_it()
{
	"$nlock" info --json | grep -q '"hash_slots_1_thread": null' && { echo 'no private hash here'; return 77; }
	sees NLOCK_HASH_SLOTS=16 --hash-slots 16 || return 1
	run --hash-slots 4 "$nlock" info
	says '^private hash, 2 threads +4$' out || return 1
	sees NLOCK_HASH_SLOTS=global --hash-slots global || return 1
	run --hash-slots global "$nlock" run --hash-slots 8 "$nlock" info
	says '^private hash, 2 threads +8$' out
}

# ---------------------------------------------------------------- how it ends

ends_with()
{
	want=$1
	shift
	run "$@"
	is_code "$want" && is_quiet
}

complains_and_ends_with()
{
	want=$1
	shift
	run "$@"
	is_code "$want" && says '^nlock: ' err
}

how_it_ends()
{
	test_that "the program's exit status is passed through" ends_with 7 -- sh -c 'exit 7'
	test_that 'so is 0' ends_with 0 true
	test_that 'a signal ends it as it would without nlock' a_signal_ends_it
	test_that 'it has the number of the process that nlock had' keeps_its_number
	test_that 'a program that is not there is 127' complains_and_ends_with 127 -- no-such-program-anywhere
	test_that 'a path that is not there is 127' complains_and_ends_with 127 -- "$work/none"
	test_that 'a file that is no program is 126' complains_and_ends_with 126 -- "$src/man/nlock.1"
	test_that 'a pipe is 126' a_pipe_is_no_program
	test_that 'a directory is 126' complains_and_ends_with 126 -- "$work"
	test_that 'a static program is run, with a line that says so' a_static_one_is_run
	test_that 'a set-user-ID program is run, with a line that says so' a_secure_one_is_run
	test_that 'a set-user-ID program that is linked with the module finds no NLOCK_STATS' a_secure_one_says_nothing
}

a_pipe_is_no_program()
{
	[ -p "$work/program" ] || mkfifo "$work/program" || return 77
	complains_and_ends_with 126 -- "$work/program"
}

# The shell may say so, too.
a_signal_ends_it()
{
	# shellcheck disable=SC2016
	run sh -c 'kill -TERM $$'
	is_code 143
}

keeps_its_number()
{
	# shellcheck disable=SC2016
	sh -c 'echo $$; exec "$@"' sh "$nlock" run sh -c 'echo $$' >"$work/out"
	[ "$(wc -l <"$work/out")" -eq 2 ] && [ "$(sort -u "$work/out" | wc -l)" -eq 1 ] || { cat "$work/out"; return 1; }
}

a_static_one_is_run()
{
	echo 'int main(void) { return 5; }' >"$work/static.c"
	# CC may be several words.
	# shellcheck disable=SC2086
	${CC:-cc} -static -o "$work/static" "$work/static.c" 2>/dev/null || { echo 'cannot link statically'; return 77; }
	run "$work/static"
	is_code 5 && says '^nlock: .*linked statically$' err
}

# give_rights FILE: set-user-ID, to somebody else.
give_rights()
{
	[ "$(id -u)" -eq 0 ] || { echo 'only root can give a file away'; return 77; }
	chown 65534 "$1" && chmod 4755 "$1" && chmod 755 "$work" || return 1
	"$1" secure >/dev/null 2>&1 || { echo 'the kernel gives no rights to files here'; return 77; }
}

a_secure_one_is_run()
{
	cp "$probe" "$work/secure" || return 1
	give_rights "$work/secure" || return
	run --stats="$work/report" "$work/secure" secure
	is_code 0 && says '^nlock: .*with more rights than its caller' err || return 1
	[ ! -s "$work/report" ] || { echo 'and yet there is a report'; return 1; }
}

# The dynamic linker would not preload the module, so it is linked. First without rights, to see that it would report.
a_secure_one_says_nothing()
{
	chmod 777 "$work"
	# shellcheck disable=SC2086
	${CC:-cc} ${CFLAGS:-} -o "$work/linked" "$src/tests/run_probe.c" -pthread -Wl,--no-as-needed \
		"$modules/libnlock-preload-stats.so" "-Wl,-rpath,$modules" 2>"$work/err" || { cat "$work/err"; return 1; }
	NLOCK_STATS=$work/before "$work/linked" secure
	[ -s "$work/before" ] || { echo 'it does not even report without rights'; return 1; }
	give_rights "$work/linked" || return
	NLOCK_STATS=$work/after "$work/linked" secure || return 1
	[ ! -e "$work/after" ] || { echo 'it reports'; return 1; }
}

# ---------------------------------------------------------------- the policy is in force

# passes LIMIT OPTION...: the sleeper was overtaken at most so often.
passes()
{
	limit=$1
	shift
	for _ in 1 2 3 4 5; do
		run "$@" "$probe" hand-off
		is_code 0 || return 1
		[ "$(cat "$work/out")" -le "$limit" ] || { echo "overtaken $(cat "$work/out") times"; return 1; }
	done
}

# grants TEST OPTION...: the library says how many it made.
grants()
{
	want=$1
	shift
	run --stats "$@" "$probe" hand-off
	is_code 0 && says '^  hand-off: ' err || return 1
	got=$(sed -n 's/^  hand-off: \([0-9]*\) grants.*/\1/p' "$work/err")
	test "$got" "${want%% *}" "${want##* }" || { echo "$got grants"; return 1; }
}

policies()
{
	test_that 'under fifo the one that sleeps comes first' passes 0 --policy fifo
	test_that 'and on the classic futex' passes 0 --policy fifo --legacy
	test_that 'a bound of 0 is the same' passes 0 --policy bounded=0
	test_that 'under a bound of 3 it comes fourth at the latest' passes 3 --policy bounded=3
	test_that 'under fifo there is a grant' grants '-ge 1' --policy fifo
	test_that 'under barging there is none' grants '-eq 0' --policy barging
}

# ---------------------------------------------------------------- statistics

# figures FILE: "kind: objects acquired contended" for each line of the table of kinds.
figures()
{
	sed -n '/^  kind /,/^  hand-off/s/^  \([a-z -]*[a-z]\)  *\([0-9]\{1,\}\)  *\([0-9]\{1,\}\)  *\([0-9]\{1,\}\) .*/\1: \2 \3 \4/p' "$work/$1"
}

# The condition variable's mutex may or may not have to be waited for, so only contention of one kind is known. There are no
# objects but those of the program: the C library's own do not pass our doors.
counts_are_exact()
{
	run --stats="$work/report" "$probe" count
	is_code 0 && is_quiet || return 1
	[ ! -s "$work/out" ] || { echo 'it printed something'; return 1; }
	says "^nlock: process [0-9]+, run_probe$" report || return 1
	figures report | sed 's/^\(mutex: 3 1006\) .*/\1/' >"$work/got"
	cat >"$work/want" <<END
mutex: 3 1006
recursive mutex: 1 1 0
error-checking mutex: 1 1 0
adaptive mutex: 1 1 0
rwlock: 1 11 0
semaphore: 1 7 0
condition variable: 1 1 1
barrier: 1 2 2
END
	diff "$work/want" "$work/got"
}

the_hottest_is_named()
{
	run --stats "$probe" count
	is_code 0 || return 1
	line=$(sed -n '/^  contended /{n;p;}' "$work/err")
	printf '%s\n' "$line" |
		grep -Eq '^ +1 +1002 .* mutex hot_lock in run_probe, first used by [a-z]+\+0x[0-9a-f]+ in run_probe$' ||
		{ echo "the first line is: $line"; return 1; }
}

a_stripped_one_has_offsets()
{
	cp "$probe" "$work/stripped" || return 1
	strip "$work/stripped" 2>/dev/null || { echo 'cannot strip'; return 77; }
	run --stats "$work/stripped" count
	is_code 0 && says ' mutex stripped\+0x[0-9a-f]+, first used by stripped\+0x[0-9a-f]+$' err
}

# separate [LINKER-OPTION...]: $work/apart/bare is the probe without symbols, which are in $work/apart/bare.debug, and names that file.
separate()
{
	command -v objcopy >/dev/null 2>&1 || { echo 'no objcopy'; return 77; }
	rm -rf "$work/apart"
	mkdir "$work/apart" && build_apart whole "$@" && strip -o "$work/apart/bare" "$work/apart/whole" &&
		keep_symbols whole bare.debug && link_symbols
}

# build_apart NAME [LINKER-OPTION...]
build_apart()
{
	name=$1
	shift
	# shellcheck disable=SC2086
	${CC:-cc} ${CFLAGS:-} -o "$work/apart/$name" "$src/tests/run_probe.c" -pthread "$@" 2>"$work/err" || { cat "$work/err"; return 1; }
}

# keep_symbols FROM DEBUG-FILE
keep_symbols()
{
	objcopy --only-keep-debug "$work/apart/$1" "$work/apart/$2"
}

# The link holds a checksum of the debug file as it is now.
link_symbols()
{
	(cd "$work/apart" && objcopy --remove-section=.gnu_debuglink bare && objcopy --add-gnu-debuglink=bare.debug bare)
}

has_names()
{
	run --stats "$work/apart/bare" count
	is_code 0 && says ' mutex hot_lock in bare, first used by [a-z]+\+0x[0-9a-f]+ in bare$' err
}

has_no_names()
{
	run --stats "$work/apart/bare" count
	is_code 0 && says ' mutex bare\+0x[0-9a-f]+, first used by bare\+0x[0-9a-f]+$' err
}

linked_names()
{
	separate "$@" || return
	has_names || { echo 'beside it'; return 1; }
	mkdir "$work/apart/.debug" && mv "$work/apart/bare.debug" "$work/apart/.debug/" || return 1
	has_names || { echo 'in .debug'; return 1; }
	rm "$work/apart/.debug/bare.debug"
	has_no_names || { echo 'nowhere'; return 1; }
}

# Each is a file like any other, and the link is right; it belongs to something else.
names_of_another_build()
{
	separate -Wl,--build-id=0x0123456789abcdef && build_apart other -Wl,--build-id=0x0123456789abcdee &&
		keep_symbols other bare.debug && link_symbols || return
	has_no_names || { echo 'another build ID'; return 1; }
	build_apart other -Wl,--build-id=none && keep_symbols other bare.debug && link_symbols || return 1
	has_no_names || { echo 'no build ID'; return 1; }
	cp "$work/apart/bare" "$work/apart/bare.debug"
	has_no_names || { echo 'no symbols'; return 1; }
	head -c 100 "$work/apart/whole" >"$work/apart/bare.debug"
	has_no_names || { echo 'cut off'; return 1; }
}

names_of_a_changed_file()
{
	separate -Wl,--build-id=none && has_names || return
	echo >>"$work/apart/bare.debug"
	has_no_names
}

# What the system has there must not be touched: the command runs where another directory is mounted on it.
names_of_the_system()
{
	separate -Wl,--build-id=0x0123456789abcdef || return
	mkdir -p "$work/debug/.build-id/01" "$work/debug$work/apart" || return 1
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nexec unshare -m sh -c "mount --bind %s /usr/lib/debug && exec \\"\\$@\\"" sh %s "$@"\n' \
		"$work/debug" "$nlock" >"$work/elsewhere"
	chmod +x "$work/elsewhere"
	"$work/elsewhere" run true 2>/dev/null || { echo 'nothing can be mounted on /usr/lib/debug here'; return 77; }
	mv "$work/apart/bare.debug" "$work/debug/.build-id/01/23456789abcdef.debug"
	has_no_names || { echo 'without that directory'; return 1; }
	(nlock=$work/elsewhere && has_names) || { echo 'by its build ID'; return 1; }
	mv "$work/debug/.build-id/01/23456789abcdef.debug" "$work/debug$work/apart/bare.debug"
	(nlock=$work/elsewhere && has_names) || { echo 'by its path'; return 1; }
}

# The system's Python is stripped, and exports the variable that its interpreter's lock is in. The threads take turns for as long as it
# takes until one of them had to wait for the mutex inside.
a_real_program_is_named()
{
	[ -x /usr/bin/python3 ] || { echo 'no /usr/bin/python3'; return 77; }
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		run --stats /usr/bin/python3 -c '
import sys, threading
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=lambda: [None for _ in range(200000)]) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()'
		is_code 0 || return 1
		says ' mutex _PyRuntime(\+0x[0-9a-f]+)? in [a-z0-9._-]*python' err >"$work/why" && return 0
	done
	grep -Eq '^ +[0-9]+ .* mutex .*, first used by ' "$work/err" || { echo 'nobody had to wait'; return 77; }
	cat "$work/why"
	return 1
}

# reports FILE: "process: acquisitions of mutexes", sorted.
reports()
{
	awk '/^nlock: process/ { name = $4 } /^  mutex / { print name ": " $3 }' "$work/$1" | sort
}

child_has_its_own_report()
{
	run --stats="$work/report" "$probe" fork
	is_code 0 && is_quiet || return 1
	[ "$(reports report)" = 'run_probe: 10
run_probe: 3' ] || { cat "$work/report"; return 1; }
	[ "$(sed -n 's/^nlock: process \([0-9]*\),.*/\1/p' "$work/report" | sort -u | wc -l)" -eq 2 ] ||
		{ echo 'not of two processes'; return 1; }
}

all_programs_report()
{
	echo 'of another run' >"$work/report"
	# shellcheck disable=SC2016
	run --stats="$work/report" sh -c '"$1" fork; "$1" secure; exit 4' sh "$probe"
	is_code 4 && is_quiet || return 1
	[ "$(reports report)" = 'run_probe: 1
run_probe: 10
run_probe: 3' ] || { cat "$work/report"; return 1; }
	! grep -q 'of another run' "$work/report" || { echo 'what was in the file is still there'; return 1; }
}

closed_standard_error_is_reached()
{
	run --stats "$probe" closing
	is_code 0 || return 1
	[ "$(reports err)" = 'run_probe: 1' ] || { cat "$work/err"; return 1; }
}

replaced_standard_error_gets_nothing()
{
	run --stats "$probe" replacing "$work/other"
	is_code 0 && is_quiet || return 1
	[ ! -s "$work/other" ] || { echo 'the report is in a file of the program'; return 1; }
}

# The directory is empty and nobody may write there, so only what was opened before can be written.
a_new_root_does_not_matter()
{
	mkdir -p "$work/empty"
	run --stats="$work/report" "$probe" leaving "$work/empty"
	[ "$code" -ne 3 ] || ! grep -q 'chroot.*not permitted' "$work/err" || { echo 'may not change the root'; return 77; }
	is_code 0 && is_quiet || return 1
	[ "$(reports report)" = 'run_probe: 1' ] || { echo 'the report is missing'; return 1; }
	[ -z "$(ls -A "$work/empty")" ] || { echo 'something was made there'; return 1; }
}

# By the variable alone; the command would refuse it.
a_pipe_is_not_waited_for()
{
	[ -p "$work/pipe" ] || mkfifo "$work/pipe" || return 77
	run --preload "$modules/libnlock-preload-stats.so" env "NLOCK_STATS=$work/pipe" "$probe" closing
	is_code 0 && is_quiet
}

exit_status_is_its_own()
{
	for stats in --stats "--stats=$work/report"; do
		run "$stats" sh -c '"$1" count; exit 9' sh "$probe"
		is_code 9 || return 1
	done
	# The reader is gone by the time of the report.
	timeout 60 sh -c '{ "$1" run --stats "$2" count 2>&1; echo $? >"$3"; } | true' sh "$nlock" "$probe" "$work/status"
	[ "$(cat "$work/status")" -eq 0 ] || { echo "with a broken pipe it ends with $(cat "$work/status")"; return 1; }
}

# The sums hold all the same.
a_full_table_says_so()
{
	run --stats="$work/report" "$probe" many
	is_code 0 && is_quiet || return 1
	[ "$(reports report)" = 'run_probe: 40000' ] || { cat "$work/report"; return 1; }
	says '^  the table was full: [1-9][0-9]* calls ' report || return 1
	objects=$(figures report | sed -n 's/^mutex: \([0-9]*\) .*/\1/p')
	left=$(sed -n 's/^  the table was full: \([0-9]*\) .*/\1/p' "$work/report")
	[ "$objects" -le 16384 ] && [ $((2 * objects + left)) -eq 40000 ] || { echo "$objects objects, $left left"; return 1; }
}

# The threads never stop. Whatever they hold, main ends, and the report comes.
ends_while_others_go_on()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		run --stats="$work/report" "$probe" going-on
		is_code 0 && is_quiet && says '^  mutex +1 ' report || return 1
	done
}

nothing_without_locks()
{
	run --stats="$work/report" true
	is_code 0 && is_quiet || return 1
	[ ! -s "$work/report" ] || { cat "$work/report"; return 1; }
}

the_plain_module_has_no_trace()
{
	nm "$modules/libnlock-preload.so" 2>/dev/null >"$work/names" || { echo 'no nm'; return 77; }
	! grep -E ' (stat_|nl_stats)' "$work/names" || return 1
	! grep -q NLOCK_STATS "$modules/libnlock-preload.so" || { echo 'NLOCK_STATS is in it'; return 1; }
}

statistics()
{
	test_that 'each kind of object is counted exactly' counts_are_exact
	test_that 'the most contended lock is named, and who used it first' the_hottest_is_named
	test_that 'a stripped program has offsets instead of names' a_stripped_one_has_offsets
	test_that 'unless there is the debug file that it names' linked_names -Wl,--build-id
	test_that 'also one without a build ID' linked_names -Wl,--build-id=none
	test_that 'the debug file of another build is not believed' names_of_another_build
	test_that 'nor one that was changed since' names_of_a_changed_file
	test_that 'a debug file is found where the system keeps them' names_of_the_system
	test_that 'the lock of a program from the distribution is named' a_real_program_is_named
	test_that 'a child of fork begins at zero and reports too' child_has_its_own_report
	test_that 'every program that is started reports, into one file, which is new' all_programs_report
	test_that 'a program that closes standard error reports there all the same' closed_standard_error_is_reached
	test_that 'a file that took the number of standard error gets no report' replaced_standard_error_gets_nothing
	test_that 'a program that changes its root reports to the file that it had' a_new_root_does_not_matter
	test_that 'a pipe that nobody reads is not waited for' a_pipe_is_not_waited_for
	test_that 'the report does not change how the program ends' exit_status_is_its_own
	test_that 'objects for which there is no room are counted together' a_full_table_says_so
	test_that 'the report comes while other threads go on' ends_while_others_go_on
	test_that 'a program that uses no lock has no report' nothing_without_locks
	test_that 'the module that does not count has nothing of all this' the_plain_module_has_no_trace
}

[ -x "$nlock" ] || { echo "no command at $nlock"; exit 1; }
[ -x "$probe" ] || { echo "no program at $probe"; exit 1; }
test_that 'the help names every option, and so does the manual' help_text
refusals
what_it_sees
how_it_ends
policies
statistics
finish
