#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_browser.sh - the page of `nlock report' in chromium: on a phone and on a desk, on light and dark paper, and printed
#
#   check_browser.sh [DIR]    takes the page that is in DIR; without it, that of a short run. By `make check-browser', which leaves the
#                             screenshots in sub/browser for somebody to look at
#
# Wrong are: what the console says, what is asked of the network, a picture without title and text, anything that sticks out of its
# picture or of the page.
set -u
LC_ALL=C
export LC_ALL

nlock=${NLOCK:-${top_builddir:-.}/tools/nlock}
shots=${SHOTS:-.}
. "$(dirname "$0")/tally.sh" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo 'SKIP: no chromium'; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
dir=${1-}
if [ -z "$dir" ]; then
	dir=$work/run
	check 'a short run makes a page' timeout 500 "$nlock" report -o "$dir" --seconds 0.02
fi
[ -s "$dir/index.html" ] || { echo "FAIL  there is no page in $dir"; exit 1; }
check 'the page is right in a browser' timeout 300 python3 "$(dirname "$0")/browser.py" "$browser" "$dir/index.html" "$shots"
echo "screenshots and the printed page: $shots"
finish
