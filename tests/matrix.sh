#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# matrix.sh - the integration tests on every supported server, one after the
# other. A server that its suite no longer has is left out by name.
set -u
tests=$1
shift
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0

for name in $(deps/get.sh names); do
    server=build/servers/$name/redis-server
    if [ ! -x "$server" ]; then
        printf '%-12s not to be had\n' "$name"
        continue
    fi
    log=build/test-logs/matrix-$name.log
    mkdir -p build/test-logs
    if SERVER=$server MODULE=$PWD/bulwark.so "$tests" "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$log"
    fi
    printf '%-12s %-28s %s\n' "$name" "$(cat "build/servers/$name/version")" "$(tail -n 1 "$log")"
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
