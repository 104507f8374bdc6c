#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_apps.sh - a short run of the real programs that are installed, with nlock under them
#
# Run by "make check"; "make check-apps" does the rest. Programs that are not there are skipped, and named. Those with much to install,
# which take longest too, run under one policy only. First the runner itself is shown applications that go wrong.
apps=${srcdir:?run me by make check}/tests/apps
sh "$apps/self_test.sh" || exit 1
# Lists of names.
# shellcheck disable=SC2046
sh "$apps/apps.sh" --short $(sh "$apps/apps.sh" --light)
light=$?
# shellcheck disable=SC2046
sh "$apps/apps.sh" --short --policy bounded $(sh "$apps/apps.sh" --heavy)
heavy=$?
[ $light -ne 0 ] && [ $light -ne 77 ] && exit $light
[ $heavy -ne 0 ] && [ $heavy -ne 77 ] && exit $heavy
[ $light -eq 0 ] || [ $heavy -eq 0 ] || exit 77
