#!/bin/sh
# SPDX-License-Identifier: MIT
#
# lint.sh - the mechanical rules of HACKING, so that no reviewer has to be a machine
#
#   lint.sh               checks the tree that this script stands in; prints "file:line: rule"; exit 1 if it printed any
#   lint.sh --self-test   breaks a copy of the tree, one rule after the other, and wants each to be noticed
#
# Comments are taken away before the code is judged: they may speak of anything. Needs sh and awk; uses git and
# mandoc where they are there.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1

# Tiers T1, T2 and T4 look inside the library; everything else outside lib/ sees <nlock.h> alone.
inside='tests/check_attr.c tests/check_wait.c tests/check_script tests/fake_wait. tests/explore/'

in_git() {
	git rev-parse --show-toplevel >/dev/null 2>&1 && [ "$(git rev-parse --show-toplevel)" = "$(pwd -P)" ]
}

# Every file that a person wrote, one a line: what git would keep, or, in an unpacked release, what has a source's name. Build
# trees are passed over, wherever they stand.
sources() {
	if in_git; then
		git ls-files -co --exclude-standard
	else
		find . \( -name .git -o -name autom4te.cache -o -name build-aux -o -name sub -o -name '_*' -o -name build \) -prune -o -type f \
			\( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.sed' -o -name '*.map' -o -name '*.[1-9]' \
			-o -name '*.am' -o -name '*.ac' -o -name '*.pc.in' -o -name quickstart -o -path ./.ci/run \
			-o -name '[A-Z][A-Z]*[A-Z]' \) ! -name 'config.*' -print | sed 's|^\./||'
	fi | while read -r f; do
		[ -f "$f" ] && [ ! -f "${f%%/*}/config.status" ] && echo "$f"
	done | sort
}

# ---------------------------------------------------------------- rules about single lines of any text

text_rules='
function say(rule) { printf "%s:%d: %s\n", FILENAME, FNR, rule }
FNR == 1 { spdx = 0; wants = FILENAME ~ /\.(c|h|cpp|hpp|sh|ac|am|map|[1-9])$|^quickstart$|^\.ci\/run$/ }
FNR <= 3 && /SPDX-License-Identifier: MIT/ { spdx = 1 }
FNR == 3 && wants && !spdx { say("no SPDX-License-Identifier: MIT in the first lines") }
/[ \t\r]$/ { say("trailing blank") }
/(^|[^A-Za-z0-9_.$)}\/-])\/(work|home|root|tmp)($|[^A-Za-z0-9_-])/ && !/mktemp|TMPDIR/ { say("absolute path of one machine") }
'

# ---------------------------------------------------------------- rules about C

c_rules='
function say(rule) { printf "%s:%d: %s\n", FILENAME, FNR, rule }
function base(path) { sub(/.*\//, "", path); return path }

# Sets code (the line without comments and without what stands in quotes) and noted (does it carry a comment?).
function strip(line,   c, two, i, n) {
	noted = in_comment
	if (!in_comment && line !~ /\/[*\/]|["\047]/) { code = line; return }
	code = ""
	n = length(line)
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1); two = substr(line, i, 2)
		if (in_comment) {
			noted = 1
			if (two == "*/") { in_comment = 0; i++ }
		} else if (quote != "") {
			if (c == "\\") i++
			else if (c == quote) { quote = ""; code = code c }
		} else if (two == "/*") { in_comment = 1; noted = 1; i++ }
		else if (two == "//") { noted = 1; break }
		else { if (c == "\"" || c == "\047") quote = c; code = code c }
	}
	quote = ""
	sub(/[ \t]+$/, "", code)
}

function width(s,   i, n, w) {
	for (i = 1; i <= length(s); i++) w = substr(s, i, 1) == "\t" ? w - w % 8 + 8 : w + 1
	return w
}

function layer(name) {
	if (name ~ /^(atomic|futex2|attr)\.h$/) return 1
	if (name ~ /^(wait|policy|spin|mutex|stats)\.h$/ || name ~ /^(wait|nodes)\.c$/) return 2
	return 3
}

function finish_file(   share, most) {
	if (file == "") return
	share = noted_lines * 100 / (lines ? lines : 1)
	if (file == "include/nlock.h" && share <= 50) printf "%s:1: only %d %% of the lines carry a comment; more than 50 wanted\n", file, share
	if (file ~ /^lib\/.*\.c$/ && share <= 20) printf "%s:1: only %d %% of the lines carry a comment; more than 20 wanted\n", file, share
	most = file ~ /\/rwlock\.c$/ ? 400 : file ~ /\/mutex\.c$/ ? 330 : 300
	if (file ~ /^lib\/(mutex|rwlock(_spread)?|cohort|cond(_locks|_move)?|barrier|sem|once)\.c$/ && code_lines > most)
		printf "%s:1: %d lines of code in one file of a primitive; at most %d\n", file, code_lines, most
	if (file ~ /^examples\/[^\/]*\.c$/ && all_lines > 60) printf "%s:1: an example of %d lines; at most 60\n", file, all_lines
	if (file == "include/nlock.h" && exported > 60) printf "%s:1: %d exported functions; at most 60\n", file, exported
	for (t in used) if (!(t in defined)) printf "%s:%d: order tag %s is not in the Orders table of this file\n", file, used[t], t
	for (t in defined) if (!(t in used)) printf "%s:%d: order tag %s is in the table, but nowhere in the code\n", file, defined[t], t
}

FNR == 1 {
	finish_file()
	file = FILENAME; name = base(file)
	in_lib = file ~ /^lib\//
	in_preload = file ~ /^preload\//
	in_wall = in_lib || file ~ /^include\//
	may_call = name ~ /^(futex2\.h|wait\.c|system\.c|onnode\.c|nodes\.c)$/
	may_place = name ~ /^(nlock\.h|attr\.h|wait\.c|system\.c)$/
	sees_lib = in_lib
	n = split(inside, where, " ")
	for (i = 1; i <= n; i++) if (index(file, where[i]) == 1) sees_lib = 1
	lines = code_lines = noted_lines = all_lines = exported = in_comment = in_head = in_orders = in_function = 0
	quote = ""
	split("", used); split("", defined)
	if ($0 ~ /^\/\*/) in_head = 1
}

{
	all_lines++
	strip($0)
	if ($0 !~ /^[ \t]*$/) { lines++; if (noted) noted_lines++ }
	if (code !~ /^[ \t]*$/) { code_lines++; if (in_lib) lib_lines++ }
}

# The Orders table: the part of the head comment from its heading to the next one.
in_head {
	if ($0 ~ /^ \* ?Orders/) in_orders = 1
	else if ($0 ~ /^ \* ?[A-Z]/ || $0 ~ /\*\//) in_orders = 0
	if (in_orders) {
		rest = $0
		sub(/^ \*[ \t]*/, "", rest)
		while (match(rest, /^A[0-9]+[ ,]+/)) {
			tag = substr(rest, 1, RLENGTH); rest = substr(rest, RLENGTH + 1)
			gsub(/[ ,]/, "", tag)
			defined[tag] = FNR
		}
	}
	if ($0 ~ /\*\//) in_head = 0
}

(in_lib || in_preload) && name != "atomic.h" && code !~ /^[ \t]*$/ {
	rest = $0; tags = 0
	while (match(rest, /\/\* *A[0-9]+[^*]*\*\//)) {
		note = substr(rest, RSTART + 2, RLENGTH - 4); rest = substr(rest, RSTART + RLENGTH)
		while (match(note, /^[ ,]*A[0-9]+/)) {
			tag = substr(note, 1, RLENGTH); note = substr(note, RLENGTH + 1)
			gsub(/[ ,]/, "", tag)
			used[tag] = FNR; tags++
		}
	}
	if (code ~ /nl_[a-z0-9_]*_(acq|rel|acqrel|sc)[ \t]*\(|__ATOMIC_(ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|CONSUME)/ && !tags)
		say("an ordered operation without a tag, /* A1 */, on its line")
}

code ~ /^[ \t]*#[ \t]*include/ {
	match($0, /[<"][^>"]*[>"]/)
	target = substr($0, RSTART + 1, RLENGTH - 2)
	if (target ~ /\.\.\// && !(sees_lib && !in_lib)) say("an include that climbs out of its directory")
	if (file == "include/nlock.h" && target !~ /^(stdint|time|sys\/types)\.h$/) say("nlock.h includes stdint.h, time.h and sys/types.h, and nothing else")
	if (base(target) in lib_header && target !~ /^(sys|linux|asm)\//) {
		if (!sees_lib) say("<nlock.h> is all that may be seen of the library here, not " target)
		if (in_lib && layer(base(target)) > layer(name)) say("an include that points upwards")
	}
	if (in_lib && target ~ /\.c$/) say("a source file is included")
	if (in_wall && target ~ /stdatomic/) say("atomics are spelt in atomic.h only")
	if (in_preload && target ~ /stdatomic/) say("an atomic operation in preload/ names its order")
	next
}

in_wall && !may_call && code ~ /(^|[^A-Za-z0-9_])(syscall[ \t]*\(|errno([^A-Za-z0-9_]|$)|FUTEX2_)/ {
	say("syscall, errno and FUTEX2_ belong in futex2.h, wait.c and system.c (and errno in onnode.c)")
}
in_lib && code ~ /(^|[^A-Za-z0-9_])((m|c|re)alloc|aligned_alloc|free|v?(f|d|s|sn)?printf|puts|fputs|perror|_?exit|_Exit|abort)[ \t]*\(/ {
	say("nothing in lib/ prints, exits or allocates")
}
# What runs under any program, at any moment: inside its malloc, in a signal handler, while the loader holds its lock.
in_preload && code ~ /(^|[^A-Za-z0-9_])((m|c|re)alloc|aligned_alloc|free|v?(f|d|s|sn)?printf|puts|fputs|perror|_?exit|_Exit|abort|dlv?sym|dlopen|getenv)[ \t]*\(/ {
	say("nothing in preload/ prints, exits or allocates, or asks the loader; its environment is secure_getenv")
}
# Their order is written nowhere.
in_preload && code ~ /__sync_|_Atomic/ { say("an atomic operation in preload/ names its order") }
in_wall && !may_place && code ~ /(^|[^A-Za-z0-9_])(NLOCK_PLACE_|NLOCK_SHARED|A_PLACE|A_SHARED|A_NODE)/ {
	say("placement and sharing are read in attr.h, wait.c and system.c only")
}
in_wall && name != "atomic.h" && code ~ /__atomic_|__sync_|_Atomic/ {
	say("atomics are spelt in atomic.h only")
}

file == "include/nlock.h" && code ~ /^NLOCK_API/ { exported++ }

code ~ /^\{/ && before !~ /^(class|namespace)/ { in_function = FNR }
code !~ /^[ \t]*$/ { before = code }
code ~ /^\}/ {
	if (in_function && FNR - in_function + 1 > 50) printf "%s:%d: a function of %d lines; at most 50\n", FILENAME, in_function, FNR - in_function + 1
	in_function = 0
}
in_function && match(code, /^\t\t\t\t+/) && substr(code, RLENGTH + 1) ~ /^(\} )?(if|for|while|do|switch|else)([^A-Za-z0-9_]|$)/ {
	say("nested " RLENGTH " deep; at most 3")
}
width(code) > 120 { say("code wider than 120 columns") }

END {
	finish_file()
	if (lib_lines > 3200) printf "lib:1: %d lines of code in all; at most 3200\n", lib_lines
}
'

# ---------------------------------------------------------------- rules about the tree

generated='(^|/)(configure|aclocal\.m4|Makefile|Makefile\.in|config\.(h|h\.in|log|status|guess|sub)|libtool|ltmain\.sh|nlock(-pthread)?\.pc)$'
generated="$generated"'|(^|/)(autom4te\.cache|build-aux|build|\.libs|\.deps)/|\.(o|lo|la|a|so|log|trs|tar\.(gz|xz))$'

version_in_configure() {
	sed -n 's/^m4_define(\[nl_\(major\|minor\|patch\)\], \[\([0-9]*\)\]).*/\2/p' configure.ac | tr '\n' .
}

version_in_header() {
	awk '$1 == "#define" && $2 ~ /^NLOCK_VERSION_(MAJOR|MINOR|PATCH)$/ { printf "%s.", $3 }' include/nlock.h
}

tree_rules() {
	if in_git; then
		git ls-files | grep -E "$generated" | sed 's/$/:1: a generated file is kept by git/'
	fi
	[ "$(version_in_configure)" = "$(version_in_header)" ] ||
		echo "include/nlock.h:1: version $(version_in_header) here, $(version_in_configure) in configure.ac"
	if command -v mandoc >/dev/null 2>&1; then
		for page in man/*.[1-9]; do
			[ -f "$page" ] && mandoc -T lint -W warning "$page" | sed 's/^mandoc: //'
		done
	fi
}

lint() {
	sources >"$work/files"
	lib_headers=$(sed -n 's|^lib/\(.*\.h\)$|\1|p' "$work/files" | tr '\n' ' ')
	xargs awk "$text_rules" <"$work/files" >"$work/found"
	grep -E '\.(c|h|cpp|hpp)$' "$work/files" | xargs awk -v inside="$inside" -v headers="$lib_headers" \
		'BEGIN { n = split(headers, h, " "); for (i = 1; i <= n; i++) lib_header[h[i]] = 1 }'"$c_rules" >>"$work/found" ||
		echo "tests/lint.sh:1: awk failed" >>"$work/found"
	tree_rules >>"$work/found"
	sort -t: -k1,1 -k2,2n "$work/found"
	[ -s "$work/found" ] && return 1
	echo "lint: $(wc -l <"$work/files") files, nothing to say"
}

# ---------------------------------------------------------------- the rules, tried

# plant FILE RULE SED-SCRIPT: FILE, edited, must bring RULE up where it was not before.
plant() {
	planted=$((planted + 1))
	cp "$copy/$1" "$work/kept"
	sed "$3" "$work/kept" >"$copy/$1"
	if cmp -s "$work/kept" "$copy/$1"; then
		echo "FAIL: nothing was planted in $1 for: $2"
		missed=$((missed + 1))
	elif ! sh "$copy/tests/lint.sh" | sort | comm -13 "$work/before" - | grep -F "$1:" | grep -q "$2"; then
		echo "FAIL: not noticed in $1: $2"
		missed=$((missed + 1))
	fi
	cp "$work/kept" "$copy/$1"
}

self_test() {
	copy=$work/tree planted=0 missed=0
	mkdir "$copy"
	sources | while read -r f; do
		mkdir -p "$copy/$(dirname "$f")"
		cp "$f" "$copy/$f"
	done
	sh "$copy/tests/lint.sh" | sort >"$work/before"
	m=lib/mutex.c dir=home
	t=$(printf '\t')
	plant $m 'syscall, errno' "\$a int planted(void) { return errno; }"
	plant $m 'syscall, errno' "\$a int planted(void) { return syscall(455); }"
	plant $m 'prints, exits or allocates' "\$a void *planted(void) { return malloc(1); }"
	plant $m 'prints, exits or allocates' "\$a void planted(void) { if (1) abort(); }"
	plant lib/wait.c 'prints, exits or allocates' "\$a void planted(void) { printf(\"x\"); }"
	plant $m 'placement and sharing' "\$a int planted = NLOCK_SHARED;"
	plant $m 'atomics are spelt' "\$a void planted(int *p) { __atomic_store_n(p, 1, 0); }"
	plant $m 'atomics are spelt' "\$a #include <stdatomic.h>"
	plant $m 'without a tag' 's|(nl_cas_acq.*/\* A1 \*/|&|; s|/\* A1 \*/||'
	plant $m 'not in the Orders table' 's|/\* A1 \*/|/* A99 */|'
	plant preload/rwlock.c 'without a tag' 's|/\* A3 \*/||'
	plant preload/cond.c 'without a tag' 's|/\* A2 \*/||'
	plant preload/cond.c 'not in the Orders table' 's|/\* A1 \*/|/* A99 */|'
	plant preload/cond.c 'nowhere in the code' 's|^ \*   A1 |&x\n *   A98  nobody\n *       |'
	plant preload/mutex.c 'without a tag' "\$a int planted(int *p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }"
	plant preload/mutex.c 'names its order' "\$a int planted(int *p) { return __sync_fetch_and_add(p, 1); }"
	plant preload/mutex.c 'names its order' "\$a #include <stdatomic.h>"
	plant $m 'nowhere in the code' 's|^ \*   A1 |&x\n *   A98  nobody\n *       |'
	plant lib/attr.h 'points upwards' "\$a #include \"wait.h\""
	plant $m 'nested 4 deep' "\$a void planted(void)\n{\n$t$t$t${t}if (1)\n}"
	plant $m 'a function of' "\$a void planted(void)\n{$(printf '\\n;%.0s' $(seq 60))\n}"
	plant $m 'lines of code in one file' "\$a $(printf '\\n;%.0s' $(seq 400))"
	plant lib/rwlock_spread.c 'lines of code in one file' "\$a $(printf '\\n;%.0s' $(seq 400))"
	plant $m 'carry a comment' "\$a $(printf '\\n;%.0s' $(seq 2000))"
	plant lib/wait.h 'wider than 120' "\$a int x = $(printf '1234567890%.0s' $(seq 12));"
	plant include/nlock.h 'carry a comment' "\$a $(printf '\\n;%.0s' $(seq 400))"
	plant include/nlock.h 'exported functions' "\$a $(printf '\\nNLOCK_API int f(void);%.0s' $(seq 61))"
	plant include/nlock.h 'nothing else' "\$a #include <pthread.h>"
	plant include/nlock.h 'in configure.ac' 's/NLOCK_VERSION_MINOR [0-9]*/NLOCK_VERSION_MINOR 99/'
	plant tools/nlock.c 'all that may be seen' "\$a #include \"attr.h\""
	plant preload/mutex.c 'all that may be seen' "\$a #include \"attr.h\""
	plant preload/mutex.c 'nothing in preload/' "\$a void *planted(void) { return dlsym(0, 0); }"
	plant preload/start.c 'nothing in preload/' "\$a char *planted(void) { return getenv(\"x\"); }"
	plant examples/counter.c 'climbs out' "\$a #include \"../lib/attr.h\""
	plant examples/counter.c 'an example of' "\$a $(printf '\\n;%.0s' $(seq 61))"
	plant $m 'SPDX' 's/SPDX/XPDS/'
	plant $m 'trailing blank' '$a int x; '
	plant $m 'absolute path' "\$a char *p = \"/$dir/me\";"
	rm -f "$work/found"
	# Comments may speak of anything.
	printf '/* syscall( errno FUTEX2_ NLOCK_SHARED __atomic_load nl_cas_acq( */\n' >>"$copy/$m"
	if sh "$copy/tests/lint.sh" | sort | comm -13 "$work/before" - | grep '^[^:]*:[0-9]*: '; then
		echo "FAIL: a comment set off a rule"
		missed=$((missed + 1))
	fi
	planted=$((planted + 1))
	echo "$((planted - missed)) passed, $missed failed"
	[ "$missed" -eq 0 ]
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
case ${1-} in
'') lint ;;
--self-test) self_test ;;
*) echo "lint.sh: only --self-test may be given" >&2; exit 2 ;;
esac
