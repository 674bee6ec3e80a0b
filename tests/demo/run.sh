#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the demo and its plot. See README.md.
#
#     tests/demo/run.sh build/plain/demo
set -eu
cd "$(dirname "$0")/../.."

SERVER=${SERVER:-$(deps/get.sh any-server)}
export SERVER
code=0
"$1" || code=$?

if deps/get.sh gnuplot >/dev/null && build/deps/gnuplot/gnuplot tests/demo/plot.gp; then
    echo "Plot: build/demo/database.png   figures: build/demo/runs.csv"
fi
exit $code
