#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leveldb.sh - LevelDB's own library builds a filter, and asks what the server made of it.
#
# run.sh starts it with the port of a server. Prints a line for each step and fails on a wrong
# answer. The documentation shows the part between [name] and [/name].
. tests/examples/steps.sh
export CPATH="$root/build/deps/leveldb/include" LIBRARY_PATH="$root/build/deps/leveldb/lib"
ln -s "$root/tests/examples/leveldb_filter.cc" .
seq -f key%.0f 10000 >keys.txt
seq -f new%.0f 1000 >new.txt
seq -f nokey%.0f 10000 >strangers.txt

# [roundtrip]
c++ leveldb_filter.cc -lleveldb -o leveldb_filter
./leveldb_filter build <keys.txt >keys.filter
redis-cli -e -X filter BF.IMPORT keys leveldb filter PROVE $(shuf -n 1000 keys.txt) <keys.filter
redis-cli -e -D '' BF.EXPORT keys >keys.out
./leveldb_filter ask keys.out <keys.txt >denied
# [/roundtrip]

expect 'what comes out is what went in' '' cmp keys.filter keys.out
expect 'LevelDB denies none of its keys' '' cat denied
redis-cli BF.READY keys >ready
./leveldb_filter ask keys.filter <strangers.txt >denied
expect 'the server denies as many strangers' "$(wc -l <denied)" answered absent keys strangers.txt
expect '... and the same ones' "$(wc -l <denied)" answered absent keys denied

xargs redis-cli -e BF.MADD keys <new.txt >added
redis-cli -e -D '' BF.EXPORT keys >keys.out
cat keys.txt new.txt >all.txt
expect 'LevelDB denies nothing that was added here' '' ./leveldb_filter ask keys.out <all.txt

redis-cli BF.RESERVE own 0.01 10000 KIND leveldb >reserved
xargs redis-cli -e BF.MADD own <keys.txt >added
redis-cli -e -D '' BF.EXPORT own >own.out
expect 'a filter made here is the one that LevelDB makes' '' cmp keys.filter own.out
