#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_apps.sh - a short run of the real programs that are installed, with nlock under them
#
# Run by "make check"; "make check-apps" does the rest. Programs that are not there are skipped, and named. First the runner itself is
# shown applications that go wrong.
: "${srcdir:?run me by make check}"
sh "$srcdir/tests/apps/self_test.sh" || exit 1
exec sh "$srcdir/tests/apps/apps.sh" --short
