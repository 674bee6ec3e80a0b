#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# all.sh - every test that has to pass, one stage after the other; the last line
# is the sum. A stage that ends without its own "N passed, N failed" has failed.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test-logs
san=address,undefined
passed=0 failed=0 skipped=0
mkdir -p "$logs"

count() { # the number before a word in the last line of a log that counts, or nothing
    grep -E '^[0-9]+ passed, [0-9]+ failed' "$2" | tail -n 1 |
        sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p"
}

stage() { # name command...
    name=$1
    shift
    printf '== %s\n' "$name"
    log=$logs/$(printf '%s' "$name" | tr -c 'a-z0-9\n' '-').log
    "$@" >"$log" 2>&1
    code=$?
    p=$(count passed "$log") f=$(count failed "$log") s=$(count skipped "$log")
    if [ -z "$p" ] || { [ $code -ne 0 ] && [ "${f:-0}" -eq 0 ]; }; then
        f=$((${f:-0} + 1))
    fi
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
    if [ "${f:-0}" -gt 0 ]; then cat "$log"; else tail -n 1 "$log"; fi
}

# Missing things are fetched and built first, so that a failure to do so is seen
# as what it is.
make -s bulwark.so || exit 1
server=${SERVER:-$(deps/get.sh any-server)} || exit 1
deps/get.sh server redis-7.0 || exit 1

stage 'lint' make -s lint
stage 'unit, sanitized' make -s unit SAN=$san
stage 'fuzz corpora, sanitized' make -s replay SAN=$san
stage 'integration' make -s integration SERVER="$server"
stage 'examples' make -s examples SERVER="$server"
stage 'integration, sanitized module' make -s integration SAN=$san
if deps/get.sh arm64; then
    stage 'unit, on emulated arm64' make -s arm64
else
    skipped=$((skipped + 1))
    echo 'unit, on emulated arm64: skipped, no cross compiler to be had'
fi

printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
printf '\n'
[ "$failed" -eq 0 ]
