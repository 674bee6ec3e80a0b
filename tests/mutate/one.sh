#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# one.sh NUMBER - builds and judges the mutant on that line of build/mutate/chosen, and adds
# what became of it to build/mutate/results, with the integration test that noticed it:
#
#     same        the compiler makes the same of it, or nothing at all: no mutant
#     unit        a unit test failed, or took too much time or memory
#     integration an integration test failed, and failed again
#     SURVIVED    none did
set -u
out=build/mutate
tab=$(printf '\t')
folder=$out/$1
mkdir -p "$folder"
sed -n "$1p" $out/chosen >"$folder/place"
IFS=$tab read -r file line column length text <"$folder/place"
base=$(basename "$file" .c)

verdict() {
    mutated=$(awk -v line="$line" 'NR == line { sub(/^ */, ""); print }' "$folder/$base.c")
    printf '%s\t%s:%s\t%s\t%s\n' "$1" "$file" "$line" "$mutated" "${failed:-}" >>$out/results
    rm -rf "$folder"
    exit 0
}

compile() { # from to
    case $file in
    module/core/*_avx2.c) flags="$CORE -mavx2 -mbmi2" ;;
    module/core/*) flags=$CORE ;;
    *) flags=$GLUE ;;
    esac
    # shellcheck disable=SC2086
    $CC $flags -g0 -w -iquote "$(dirname "$file")" -c -o "$2" "$1" 2>/dev/null
}

# What the compiler makes of the file as it is, once for all its mutants.
origin() {
    origin=$out/origin/$(echo "$file" | tr / -).o
    [ -e "$origin" ] && return
    mkdir -p $out/origin
    compile "$file" "$folder/origin.o" && mv "$folder/origin.o" "$origin"
}

# The tests of the file come first. A loop without an end is one that takes more time, or
# more memory, than all tests do.
unit() {
    part=${base%%_*}
    "$folder/unit-tests" -l "$part" >/dev/null 2>&1 || part=
    (
        ulimit -t 120
        ulimit -v 20000000
        [ -z "$part" ] || "$folder/unit-tests" -x "$part" || exit
        exec "$folder/unit-tests" -x
    ) >/dev/null 2>&1
}

# Which integration tests know what the file does, as parts of their names.
concerned() {
    case $file in
    */trust.c | */answer.c | */shield.c) echo 'trust_test ready_test a_ready_filter a_partial_filter beat_test clock_test guard_test shield_loss shield_settings' ;;
    */encode.c) echo 'encode_test import_test union_test' ;;
    */codec.c | */union.c) echo 'transfer_test persistence_test bulk_test rebuild_import shield_forms hostile_chunk key_test union_test' ;;
    */kinds/* | */form.c) echo 'kind_test fixture library encode_test import_test union_test migration' ;;
    *) echo 'add_test insert_test reserve_test question_test effect_test memory_test large_test settings_test' ;;
    esac
}

# A run that ends badly and names no test (a full disk, a crash of the test program) says
# nothing about the mutant. After three of them nothing would: 255 ends xargs, too.
passes() { # part of a name...
    for _ in 1 2 3; do
        failed=
        "$tests" -x -j 4 "$@" >"$folder/log" 2>&1 && return
        failed=$(sed -n 's/^FAIL //p' "$folder/log" | head -n 1)
        [ -z "$failed" ] || return 1
    done
    echo "$file:$line: three runs failed, and no test did:" >&2
    tail -n 20 "$folder/log" >&2
    exit 255
}

# A test of real servers may fail because the machine is busy: it has to fail twice. If it
# doesn't, the others are asked again.
integration() { # part of a name...
    for _ in 1 2 3; do
        passes "$@" && return
        passes "$failed" || return
    done
}

awk -v line="$line" -v column="$column" -v len="$length" -v text="$text" \
    'NR == line { $0 = substr($0, 1, column - 1) text substr($0, column + len) } { print }' \
    "$file" >"$folder/$base.c"
origin || { echo "$file does not compile" >&2; exit 1; }
compile "$folder/$base.c" "$folder/$base.o" || verdict same
[ -n "${UNCHANGED:-}" ] || ! cmp -s "$origin" "$folder/$base.o" || verdict same

rest=$(echo "$GLUE_OBJECTS" | tr ' ' '\n' | grep -v "/${file%.c}.o$")
case $file in
module/core/*)
    # shellcheck disable=SC2086
    $CC -o "$folder/unit-tests" $UNIT "$folder/$base.o" build/plain/libbloom.a -lm || exit 1
    unit || verdict unit
    ;;
esac

# shellcheck disable=SC2086
$CC -shared -o "$folder/bulwark.so" $rest "$folder/$base.o" build/plain/libbloom.a || exit 1
export MODULE="$PWD/$folder/bulwark.so"
tests=build/plain/integration-tests
[ "$base" != trust ] || integration trust_test || verdict integration
# shellcheck disable=SC2046
integration $(concerned) || verdict integration
verdict SURVIVED
