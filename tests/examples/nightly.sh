#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nightly.sh - what cron runs: a new generation, built by Java. guava.sh runs it. It needs
# guava.jar, BuildFilter.java and a program `snapshot`.

# [nightly]
set -e
token=$(redis-cli -e BF.REBUILD ids START KIND guava ENCODE int64 \
    ERROR 0.001 CAPACITY 1200000 REPLACE 3600)

snapshot >ids.txt # all ids, one a line; what is added from START on is in both filters
java -cp guava.jar BuildFilter.java 1200000 0.001 ids.txt ids.bloom
count=$(wc -l <ids.txt)

redis-cli -e -X filter BF.REBUILD ids IMPORT "$token" filter ITEMS "$count" <ids.bloom
redis-cli -e BF.REBUILD ids CHECK "$token" $(shuf -n 1000 ids.txt) >answers
if grep -qvx 1 answers; then # Java and the server disagree about the bytes of an id
    redis-cli -e BF.REBUILD ids ABORT "$token"
    exit 1
fi
redis-cli -e BF.REBUILD ids COMMIT "$token" "$count"
# [/nightly]
