#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cluster.sh - what a fill over a cluster costs: the program, and each node.
#
#   tests/bench/cluster.sh MASTERS PARTS [ITEMS] [RUNS]
#
# Starts so many nodes without replicas (1 master and 0 parts: a server that is no cluster),
# fills a filter from a file of decimal numbers, and prints a line for each run: items a second
# (without the settling, which is 0), microseconds of processor time an item that the program
# and all servers took, and bytes on the wire an item. SERVER and PROGRAM name other binaries.
set -eu

masters=$1 parts=$2 items=${3:-10000000} runs=${4:-3}
root=$(CDPATH='' cd -- "$(dirname "$0")/../.." && pwd)
server=${SERVER:-$("$root/deps/get.sh" any-server)}
program=${PROGRAM:-$root/bulwark}
directory=$(mktemp -d)
pids=

# shellcheck disable=SC2086
clean() {
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    wait
    rm -rf "$directory"
}
trap clean EXIT
trap 'exit 1' INT TERM

cli() {
    "$(dirname "$server")/redis-cli" -p "$@"
}

# user and system time, in ticks
ticks() {
    total=0
    for pid in "$@"; do
        total=$((total + $(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f12,13 | tr ' ' '+')))
    done
    echo "$total"
}

# Seconds that ended children have used between two looks by `times`.
children() {
    sed -n 's/[ms]/ /g; 2p; 4p' "$1" | awk '{ now = $1 * 60 + $2 + $3 * 60 + $4
        used = now - used } END { print used }'
}

# A node's bus is 10000 above, and must be below the ports of outgoing connections.
base=$((12000 + $$ % 500 * 20))
ports=
i=0
while [ "$i" -lt "$masters" ]; do
    port=$((base + i))
    mkdir "$directory/$port"
    cluster=no
    [ "$parts" = 0 ] || cluster=yes
    "$server" --port "$port" --bind 127.0.0.1 --dir "$directory/$port" --save '' \
        --cluster-enabled "$cluster" --loadmodule "$root/bulwark.so" >"$directory/$port/log" &
    pids="$pids $!"
    ports="$ports $port"
    i=$((i + 1))
done
for port in $ports; do
    until cli "$port" PING >/dev/null 2>&1; do
        grep -h 'Could not\|Failed' "$directory"/*/log && exit 1
        sleep 0.1
    done
done

option=
if [ "$parts" != 0 ]; then
    option="-c --parts $parts"
    i=0
    for port in $ports; do
        first=$((16384 * i / masters)) i=$((i + 1))
        cli "$port" CLUSTER ADDSLOTSRANGE "$first" $((16384 * i / masters - 1)) >/dev/null
        cli "$port" CLUSTER SET-CONFIG-EPOCH "$i" >/dev/null
        cli "$port" CLUSTER MEET 127.0.0.1 "$base" >/dev/null
    done
    for port in $ports; do
        until cli "$port" CLUSTER INFO | grep -q cluster_state:ok; do sleep 0.1; done
        until [ "$(cli "$port" CLUSTER SLOTS | grep -c '^127')" -ge "$masters" ]; do sleep 0.1; done
    done
fi

seq "$items" >"$directory/items"
hertz=$(getconf CLK_TCK)
echo "masters parts      items/s   us/item: program  servers   bytes/item   load"
while [ "$runs" -gt 0 ]; do
    runs=$((runs - 1))
    # shellcheck disable=SC2086
    before=$(ticks $pids)
    load=$(cut -d' ' -f1 /proc/loadavg)
    times >"$directory/times"
    # shellcheck disable=SC2086
    "$program" fill users -p "$base" $option --settle 0 --json --from "$directory/items" \
        >"$directory/out" 2>"$directory/err" || { cat "$directory/err"; exit 1; }
    times >>"$directory/times"
    # shellcheck disable=SC2086
    after=$(ticks $pids)
    seconds=$(sed 's/.*"seconds":\([0-9.]*\).*/\1/' "$directory/out")
    bytes=$(sed 's/.*"bytes_sent":\([0-9]*\).*/\1/' "$directory/out")
    awk -v m="$masters" -v p="$parts" -v n="$items" -v s="$seconds" -v b="$bytes" \
        -v u="$(children "$directory/times")" -v v=$((after - before)) -v hz="$hertz" -v load="$load" 'BEGIN {
        printf "%7d %5d %12.0f %18.3f %8.3f %12.1f %6s\n",
            m, p, n / s, u * 1e6 / n, v / hz * 1e6 / n, b / n, load }'
done
