#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the benchmarks, one after the other, and the plots. See README.md.
#
#     tests/bench/run.sh build/plain
set -eu
cd "$(dirname "$0")/../.."
programs=$1
quick=${QUICK:-0}

SERVER=${SERVER:-$(deps/get.sh any-server)}
export SERVER
"$programs/core-bench"
"$programs/server-bench"
"$programs/kinds-bench"
"$programs/guard-bench"

# What is not to be had is skipped by name.
for name in postgres postgres-17 redis-py; do
    deps/get.sh "$name" >/dev/null || true
done
"$programs/fill-bench"
"$programs/writer-bench"

# Pauses depend on the server's allocator and on who frees: all that are there.
servers=$SERVER
if [ "$quick" = 0 ]; then
    for name in $(deps/get.sh names); do
        other=build/servers/$name/redis-server
        [ ! -x "$other" ] || [ "$other" -ef "$SERVER" ] || servers="$servers $other"
    done
fi
# shellcheck disable=SC2086
"$programs/pause-bench" $servers

if deps/get.sh gnuplot >/dev/null; then
    build/deps/gnuplot/gnuplot tests/bench/plot.gp 2>build/bench/gnuplot.log || cat build/bench/gnuplot.log
fi
printf '\nFigures: build/bench/*.csv   plots: build/bench/*.svg\n'
