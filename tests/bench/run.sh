#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - both benchmarks, one after the other, and the plots. See README.md.
#
#     tests/bench/run.sh build/plain
set -eu
cd "$(dirname "$0")/../.."
programs=$1

SERVER=${SERVER:-$(deps/get.sh any-server)}
export SERVER
"$programs/core-bench"
"$programs/server-bench"

# Pauses depend on the server's allocator and on who frees: all that are there.
servers=$(for name in $(deps/get.sh names); do
    [ ! -x "build/servers/$name/redis-server" ] || echo "build/servers/$name/redis-server"
done)
[ "$servers" ] && [ "${QUICK:-0}" = 0 ] || servers=$SERVER
# shellcheck disable=SC2086
"$programs/pause-bench" $servers
