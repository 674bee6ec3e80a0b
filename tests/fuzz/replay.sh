#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# replay.sh FOLDER [option ...] - each fuzz target in the folder, on its corpus; the last
# line is the sum. With -runs=N or -seconds=N it goes on to inputs of its own. The live
# target takes SERVER and MODULE from the environment, as the integration tests do.
set -u
folder=$1
shift
passed=0 failed=0
for target in codec foreign forms chain commands client stream; do
    corpus=$(dirname "$0")/corpus/$target
    out=$("$folder/$target-fuzz" "$@" "$corpus" 2>&1)
    last=$(printf '%s\n' "$out" | grep -E '^[0-9]+ passed, [0-9]+ failed$' | tail -n 1)
    printf '%s: %s\n' "$target" "${last:-it ended without a word}"
    case $last in
    *' 0 failed') ;;
    *) printf '%s\n' "$out" ;;
    esac
    [ "$last" ] || last='0 passed, 1 failed'
    p=${last%% *} f=${last#*, }
    passed=$((passed + p)) failed=$((failed + ${f%% *}))
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
