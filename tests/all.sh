#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# all.sh - every test that has to pass, one stage after the other; the last line is the
# sum. A stage that ends without its own "N passed, N failed" has failed, and shows all
# that it said. What the others said is in build/test-logs.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test-logs
san=address,undefined
passed=0 failed=0 skipped=0
start=$(date +%s)
unset MAKEFLAGS MFLAGS MAKELEVEL # Ours begin anew: on all processors, and silent.
[ ! -t 1 ] || export PROGRESS=/dev/tty
mkdir -p "$logs"
rm -f "$logs"/*.log

# What comes, with the seconds it takes on two processors; all that is waited for is built
# and fetched before the first.
stages() { # announce | run
    $1 5 'lint' lint
    $1 10 'clang'\''s analyzer' analyze
    $1 10 'unit tests, sanitized' unit SAN=$san
    $1 10 'unit tests, under MemorySanitizer' memory
    $1 40 'fuzz corpora, sanitized' replay SAN=$san
    $1 195 'integration' integration SERVER="$server"
    $1 195 'integration, sanitized module' integration SAN=$san BRIEF=1
    $1 10 'threads, under ThreadSanitizer' threads
    $1 60 'examples' examples SERVER="$server"
    $1 15 'unit tests, on emulated arm64' arm64
    $1 30 'unit tests, on emulated s390x, big-endian' s390x
}

announce() { # seconds name target...
    printf '%4d s  %s\n' "$1" "$2"
}

count() { # the number before a word in a stage's last line that counts, or nothing
    echo "$last" | sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p"
}

run() { # seconds name target...
    name=$2
    shift 2
    printf '== %s\n' "$name"
    log=$logs/$(printf '%s' "$name" | tr -c 'a-z0-9\n' '-').log
    began=$(date +%s)
    make -s -j "$(nproc)" "$@" >"$log" 2>&1
    code=$?
    last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    p=$(count passed) f=$(count failed) s=$(count skipped)
    if [ -z "$p" ] || { [ $code -ne 0 ] && [ "${f:-0}" -eq 0 ]; }; then
        f=$((${f:-0} + 1))
    fi
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
    if [ "${f:-0}" -gt 0 ]; then cat "$log"; else grep 'warning:' "$log"; fi
    printf '%s  (%d s)\n' "${last:-It ended without a word.}" $(($(date +%s) - began))
}

# The compilers' warnings and errors are all that is seen of it.
build() {
    make -s -j "$(nproc)" "$@" || exit 1
}

# What is not to be had is skipped by the stage that wants it.
fetch() {
    for what in 'server redis-7.0' clang promtool postgres postgres-17 openssl-tool redis-py redis-py-6.1 redis-py-6.4 \
        valkey-py-6.1 node-redis ioredis guava leveldb arm64 s390x; do
        # shellcheck disable=SC2086
        deps/get.sh $what
    done >"$logs/fetch.log" 2>&1
}

echo 'First what is missing is fetched and built: 1 to 3 minutes, once. Then:'
server=
stages announce
deps/get.sh header && deps/get.sh hiredis || exit 1
fetch &
build bulwark.so bulwark build/plain/guard build/plain/integration-tests
build SAN=$san build/san-address-undefined/bulwark.so build/san-address-undefined/unit-tests
server=${SERVER:-$(deps/get.sh any-server)} || exit 1
wait
printf '== built  (%d s)\n' $(($(date +%s) - start))
stages run

if [ "$skipped" -gt 0 ]; then
    echo 'Skipped, and why:'
    sed -n 's/^skip [^ ]*: //p' "$logs"/*.log | sort | uniq -c
fi
printf 'All of it took %d s.\n' $(($(date +%s) - start))
printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
printf '\n'
[ "$failed" -eq 0 ]
