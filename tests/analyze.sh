#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# analyze.sh FILE... - clang's analyzer and clang-tidy (.clang-tidy says what is asked) over
# core and glue. A finding is a failure, but for those that are known and explained here.
#
# CORE and GLUE are the flags that the files are compiled with.
set -u
cd "$(dirname "$0")/.." || exit 1
tidy=build/deps/clang/clang-tidy
out=build/test-logs/analyze
rm -rf "$out"
mkdir -p "$out"

# What the analyzer can't know: the file, the check, and why it isn't so.
known() {
    cat <<-END
	chain.c core.NonNullParamChecker: chain_take_arrays() has given every layer its bits
	adding.c core.NullDereference: with a token there is a generation that it is of
	END
}

# One file a process: with more, clang 14 takes the va_list of one for another's.
for file in "$@"; do
    case $file in
    *_avx2.c) ;; # intrinsics, which it doesn't know
    module/core/*) echo "$file $CORE" ;;
    *) echo "$file $GLUE" ;;
    esac
done | xargs -P "$(nproc)" -L 1 sh -c '
    out=$1 tidy=$2 file=$3
    shift 3
    "$tidy" --quiet "$file" -- "$@" >"$out/$(echo "$file" | tr / -)" 2>&1' sh "$out" "$tidy"

passed=0 failed=0
for log in "$out"/*; do
    found=$(grep -Ei "(warning|error|not found)(:|$)" "$log" | sort -u)
    while read -r file check _; do
        [ -z "$file" ] || found=$(echo "$found" | grep -v "/$file:.*${check%:}")
    done <<-END
	$(known)
	END
    if [ -z "$found" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        cat "$log"
    fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
