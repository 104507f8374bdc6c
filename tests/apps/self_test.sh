#!/bin/sh
# SPDX-License-Identifier: MIT
#
# self_test.sh - apps.sh, with applications that go wrong in every way: each must be found out
#
# Run by tests/check_apps.sh, with builddir set.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here/apps.sh" "$here/lib.sh" "$work/"
ran=0 failed=0

cat >"$work/locks.c" <<END
#include <pthread.h>
int main(void)
{
	static pthread_mutex_t m;
	return pthread_mutex_lock(&m) || pthread_mutex_unlock(&m);
}
END

# plant NAME WANTED SETTINGS RUN: the application must bring up the line WANTED.
plant() {
	ran=$((ran + 1))
	cat >"$work/$1.app.sh" <<END
packages=none programs=\${CC:-cc} $3
prepare() {
	must \${CC:-cc} -O0 -o locks "\$here/locks.c" -pthread
}
run() {
	timed under "\$work/locks"
	$4
}
END
	sh "$work/apps.sh" --short --policy fifo "$1" >"$work/said" 2>&1
	code=$?
	case $2 in *passed*) wanted=0 ;; '^SKIP'*) wanted=77 ;; *) wanted=1 ;; esac
	if [ $code -ne $wanted ] || ! grep -q "$2" "$work/said"; then
		failed=$((failed + 1))
		echo "FAIL: $1: exit status $code, wanted $wanted and: $2"
		sed 's/^/      /' "$work/said"
	fi
}

plant right '^right  *fifo  *passed' '' ':'
plant wrong '^FAIL: sum: 1, not 2' '' 'is sum 1 2'
plant crashes '^FAIL: .* ended with 139' '' '[ $variant = plain ] || timed under sh -c "kill -SEGV \$\$"'
plant broken '^FAIL: broken: not even without nlock' '' 'fail always'
plant escapes '^not under nlock: ' '' 'under env -u LD_PRELOAD "$work/locks"'
plant unbound '^sem_clockwait was not bound' binds=sem_clockwait ':'
plant hangs '^not done after 1 s' limit=1 '[ $variant = plain ] || under sleep 1000'
plant stays '^left running: sleep 1000' '' '[ $variant = plain ] || under sh -c "sleep 1000 &"'
plant missing '^SKIP: missing: not here: no_such_program' 'programs=no_such_program' ':'
plant without_server '^FAIL: waited in vain' '' 'serve log false; await false'
echo "$((ran - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
