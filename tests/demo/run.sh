#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the demo and its plot. See README.md.
#
#     tests/demo/run.sh build/plain/demo/demo
#     tests/demo/run.sh build/plain/demo/feed-demo feed
set -eu
cd "$(dirname "$0")/../.."

SERVER=${SERVER:-$(deps/get.sh any-server)}
export SERVER
code=0
"$1" || code=$?

plot=tests/demo/plot.gp made='Plot: build/demo/database.png   figures: build/demo/runs.csv'
[ "${2-}" != feed ] || plot=tests/demo/feed/plot.gp made='Plot: build/demo/feed.png   figures: build/demo/feed.csv'
if deps/get.sh gnuplot >/dev/null && build/deps/gnuplot/gnuplot $plot; then
    echo "$made"
fi
exit $code
