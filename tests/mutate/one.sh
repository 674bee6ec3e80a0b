#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# one.sh NUMBER - builds and judges the mutant on that line of build/mutate/chosen, and adds
# what became of it to build/mutate/results:
#
#     same        the compiler makes the same of it, or nothing at all: no mutant
#     unit        a unit test failed, or took too much time or memory
#     integration an integration test failed
#     SURVIVED    none did
set -u
out=build/mutate
tab=$(printf '\t')
sed -n "$1p" $out/chosen >$out/place.$1
IFS=$tab read -r file line column length text <$out/place.$1
folder=$out/$1
mkdir -p "$folder"
base=$(basename "$file" .c)

verdict() {
    mutated=$(sed -n "${line}p" "$folder/$base.c" | sed 's/^ *//')
    printf '%s\t%s:%s\t%s\n' "$1" "$file" "$line" "$mutated" >>$out/results
    rm -rf "$folder" "$out/place.$1"
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

# The first test that fails is enough. A loop without an end is one that takes more time,
# or more memory, than all tests do.
unit() { # part of a name...
    (ulimit -t 120 -v 20000000 && exec "$folder/unit-tests" -x "$@") >/dev/null 2>&1
}

# Which integration tests know what the file does, as parts of their names.
concerned() {
    case $file in
    */trust.c | */answer.c | */shield.c) echo 'trust_test ready_test a_ready_filter a_partial_filter beat_test clock_test guard_test shield_loss shield_settings' ;;
    */codec.c | */encode.c) echo 'transfer_test persistence_test bulk_test rebuild_import shield_forms hostile_chunk key_test union_test' ;;
    */kinds/* | */form.c) echo 'kind_test fixture library encode_test import_test union_test migration' ;;
    *) echo 'add_test insert_test reserve_test question_test effect_test memory_test large_test settings_test' ;;
    esac
}

awk -v line="$line" -v column="$column" -v len="$length" -v text="$text" \
    'NR == line { $0 = substr($0, 1, column - 1) text substr($0, column + len) } { print }' \
    "$file" >"$folder/$base.c"
compile "$file" "$folder/origin.o" || { echo "$file does not compile" >&2; exit 1; }
compile "$folder/$base.c" "$folder/$base.o" || verdict same
cmp -s "$folder/origin.o" "$folder/$base.o" && verdict same

case $file in
module/core/*)
    # shellcheck disable=SC2086
    $CC -o "$folder/unit-tests" $UNIT "$folder/$base.o" build/plain/libbloom.a -lm || exit 1
    unit "${base%%_*}" || verdict unit
    unit || verdict unit
    rest=$GLUE_OBJECTS
    ;;
*) rest=$(echo "$GLUE_OBJECTS" | tr ' ' '\n' | grep -v "/${file%.c}.o$") ;;
esac

# shellcheck disable=SC2086
$CC -shared -o "$folder/bulwark.so" $rest "$folder/$base.o" build/plain/libbloom.a || exit 1
integration() { # part of a name...
    MODULE=$PWD/$folder/bulwark.so timeout -k 10 600 \
        build/plain/integration-tests -x -j 4 "$@" >"$folder/log" 2>&1
}
[ "$base" != trust ] || integration trust_test || verdict integration
# shellcheck disable=SC2046
integration $(concerned) || verdict integration
verdict SURVIVED
