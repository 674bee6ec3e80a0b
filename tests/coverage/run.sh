#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh SERVER... - which lines and branches of core and glue the tests reach: unit tests,
# the fuzzers' corpora, and the integration tests of the module on each server of that name.
# The last lines are the sums; it fails if they are less than they have to be.
#
# The counts are kept in mapped files, which all processes of a module share: kill -9 loses
# none, nor does a child that saves.
set -u
cd "$(dirname "$0")/../.." || exit 1
built=build/coverage
tests=build/plain/integration-tests
profiles=$built/profiles
tools=build/deps/llvm-cov
rm -rf "$profiles"
mkdir -p "$profiles"
export LLVM_PROFILE_FILE="$PWD/$profiles/%c%m.profraw"
export MODULE="$PWD/$built/bulwark.so" PROGRAM="$PWD/bulwark"

stage() { # name command...
    name=$1
    shift
    printf '%-44s ' "$name"
    "$@" >"$built/log" 2>&1 || cp "$built/log" "$built/log.$(date +%s)"
    grep -E '^[0-9]+ passed, [0-9]+ failed' "$built/log" || echo "it ended without a word: $built/log.*"
}

# Not those of the program, which is not what is looked at.
of_the_module() {
    for folder in tests/integration/commands tests/integration/shield tests/integration/persistence \
        tests/integration/replication tests/integration/compatibility tests/integration/torture; do
        ls $folder
    done | sed -n 's/^\(.*_test\)\.c$/^\1[.]c:/p' >"$built/files"
    "$tests" -l | grep -f "$built/files"
}

stage 'unit tests' "$built/unit-tests" -j 2
for target in codec foreign forms chain; do
    stage "corpus of $target" "$built/$target-fuzz" "tests/fuzz/corpus/$target"
done
SERVER=build/servers/redis-7.0/redis-server stage 'corpus of commands' build/plain/commands-fuzz tests/fuzz/corpus/commands
for server in "$@"; do
    # shellcheck disable=SC2046
    SERVER=$PWD/build/servers/$server/redis-server stage "integration tests on $server" "$tests" -j 6 $(of_the_module)
done
SERVER=build/servers/redis-7.0-jemalloc/redis-server stage 'active defragmentation' "$tests" defrag_test

$tools/llvm-profdata merge -o "$built/profile" "$profiles"/*.profraw || exit 1
set -- "$built/unit-tests"
for object in "$built/bulwark.so" "$built"/*-fuzz; do set -- "$@" -object "$object"; done
$tools/llvm-cov show -instr-profile "$built/profile" -show-branches=count \
    -ignore-filename-regex='/(tests|client)/' "$@" >"$built/shown" || exit 1
awk -f tests/coverage/table.awk tests/coverage/README.md "$built/shown"
