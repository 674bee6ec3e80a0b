#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guava.sh - Java with Guava builds a filter, the server answers for it, and gives it back.
#
# run.sh starts it with the port of a server. Prints a line for each step and fails on a wrong
# answer. The documentation shows the parts between [name] and [/name]. In a filter that is
# nearly empty no step meets a false maybe.
. tests/examples/steps.sh
ln -s "$root/build/deps/guava/java" bin/java
ln -s "$root"/build/deps/guava/guava.jar "$root"/tests/examples/*Filter.java "$root"/tests/examples/nightly.sh .
seq 1 10000 >ids.txt

# [import]
java -cp guava.jar BuildFilter.java 1200000 0.001 ids.txt ids.bloom
redis-cli -e -X filter BF.IMPORT ids guava filter ENCODE int64 PROVE $(shuf -n 1000 ids.txt) <ids.bloom
# [/import]

expect 'every id is there' 10000 answered maybe ids ids.txt
expect 'nobody has vouched for it yet' unknown redis-cli BF.CHECK ids 10001
redis-cli BF.READY ids >ready
expect 'no other id is there' absent redis-cli BF.CHECK ids 10001
expect 'what is no number gets an error' "ERR item 'one' can't be encoded as int64" redis-cli BF.CHECK ids one
expect 'the wrong encoding is noticed' "ERR item '1' is not in the data" \
    redis-cli -X filter BF.IMPORT wrong guava filter PROVE 1 <ids.bloom
expect '... and nothing is made' 0 redis-cli EXISTS wrong

# [export]
redis-cli -e -D '' BF.EXPORT ids >ids.out
java -cp guava.jar ReadFilter.java ids.out ids.txt 10001 more.bloom >said
# [/export]

expect 'what comes out is what went in' '' cmp ids.bloom ids.out
expect 'Guava finds every id, and one to add' 'true true' cat said
redis-cli -X filter BF.IMPORT more guava filter ENCODE int64 <more.bloom >imported
expect 'its filter covers the old one' 1 redis-cli BF.COVERS more ids
expect '... and not the other way round' 0 redis-cli BF.COVERS ids more
expect 'the union' 1 redis-cli BF.MERGE ids more
expect '... has the id that Guava added' maybe redis-cli BF.CHECK ids 10001

# A table of which a row has gone; and a row that is written after the snapshot.
grep -vx 5000 ids.txt >table
cat >bin/snapshot <<'END'
#!/bin/sh
cat table
redis-cli -e BF.INSERT ids NOCREATE ITEMS 20001 >late
echo 20001 >>table
END
chmod +x bin/snapshot

# Add, commit, add again, while a job is under way.
writer() {
    id=30000
    while [ -e night ]; do
        id=$((id + 1))
        redis-cli -e BF.INSERT ids NOCREATE ITEMS $id >first
        echo $id >>table
        redis-cli -e BF.INSERT ids NOCREATE ITEMS $id >again
    done
}
touch night
writer &
sh nightly.sh >said
rm night
wait $!
expect 'after a night the filter is vouched for' ready state_of ids
expect 'a row that has gone is absent' absent redis-cli BF.CHECK ids 5000
expect 'a row that no snapshot had is there' maybe redis-cli BF.CHECK ids 20001
expect 'and so is every other, whenever it came' "$(wc -l <table)" answered maybe ids table

redis-cli DEL ids >deleted
sh nightly.sh >said
expect 'a filter that was lost comes back' "$(wc -l <table)" answered maybe ids table
expect '... and denies' absent redis-cli BF.CHECK ids 5000

rm BuildFilter.java
sed 's/longFunnel/integerFunnel/; s/Long::valueOf/Integer::valueOf/' "$root/tests/examples/BuildFilter.java" >BuildFilter.java
expect 'a job that builds with another funnel' stopped sh -c 'sh nightly.sh >said || echo stopped'
expect '... has changed nothing' "$(wc -l <table)" answered maybe ids table
