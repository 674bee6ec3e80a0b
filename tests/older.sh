#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# older.sh - an earlier build of the module, which a master or a replica may still run.
#
#   tests/older.sh DIRECTORY/NAME.so HEADER      HEADER: redismodule.h
#
# It is built from the repository's history. Where that isn't at hand (an archive, a shallow
# clone) nothing is built, and the tests that want it are skipped.
set -eu

out=$1
header=$(realpath "$2")
name=$(basename "$out" .so)
case $name in
before-libraries) commit=553e537b9c5580bf9afa864cae1fa034b7ca2dc7 ;; # three kinds, no BF.MERGE
before-beats) commit=ac4686d389754aaa8106fc6d9f3f7b164dcbef46 ;;     # no BF.BEAT, no BF.ADRIFT
*) echo "older.sh: no build is called $name" >&2 && exit 2 ;;
esac

git cat-file -e "$commit^{commit}" 2>/dev/null || {
    echo "older.sh: no $name: its commit is not here"
    exit 0
}
tree=$(dirname "$out")/$name
rm -rf "$tree"
mkdir -p "$tree"
git archive "$commit" | tar -x -C "$tree"
# Nothing of this build's own options: the header's path is all that it is told.
env -u MAKEFLAGS -u MAKELEVEL make -s -C "$tree" bulwark.so REDISMODULE_H="$header" >"$tree.log" 2>&1 || {
    cat "$tree.log" >&2
    exit 1
}
mv "$tree/bulwark.so" "$out"
rm -rf "$tree" "$tree.log"
