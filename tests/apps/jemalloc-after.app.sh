# SPDX-License-Identifier: MIT
#
# jemalloc-after: the same, after nlock
. "$here/jemalloc-before.app.sh"
order='${LD_PRELOAD:+$LD_PRELOAD:}$0'
