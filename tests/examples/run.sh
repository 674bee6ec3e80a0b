#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the documentation's examples, each with a server of its own on a free port; and the
# helpers of module/client/ with every client that they are for (tests/clients/).
#
#     MODULE=/path/bulwark.so PROGRAM=/path/bulwark SERVER=/path/redis-server \
#         tests/examples/run.sh /path/guard
#
# The argument is guard.c, compiled. What can't be fetched is skipped by name.
set -u
cd "$(dirname "$0")/../.." || exit 1
guard=$1
passed=0 failed=0 skipped=0
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill $pid 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

# Starts a server on a port that nobody else has: $pid, $port.
serve() {
    for port in $(awk "BEGIN { srand($$ + $passed); while (n++ < 20) print 20000 + int(12000 * rand()) }"); do
        : >"$dir/log"
        "$SERVER" --port "$port" --bind 127.0.0.1 --dir "$dir" --save '' --loadmodule "$MODULE" \
            >"$dir/log" 2>&1 &
        pid=$!
        tries=0
        while [ $((tries += 1)) -le 600 ] && kill -0 $pid 2>/dev/null; do
            grep -qi 'ready to accept connections' "$dir/log" && return 0
            sleep 0.1
        done
        kill $pid 2>/dev/null
        wait $pid
    done
    cat "$dir/log" >&2
    return 1
}

example() { # name command...
    echo "$1"
    shift
    if serve && timeout 300 "$@" "$port"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $*"
    fi
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    pid=
}

# Servers for tests/clients/, which a test that fails may leave in any state.
serve_clients() {
    rm -f "$dir/servers"
    build/deps/redis-py/python3 tests/clients/servers.py "$dir/servers" &
    pid=$!
    while [ ! -e "$dir/servers" ]; do
        kill -0 $pid 2>/dev/null || return 1
        sleep 0.1
    done
    set -a
    # shellcheck source=/dev/null
    . "$dir/servers"
    set +a
}

end_clients() {
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    pid=
}

client() { # name command...
    echo "$1"
    shift
    if { [ "$pid" ] || serve_clients; } && timeout 300 "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $*"
        end_clients
    fi
}

python_client() { # name module [folder]
    if [ -z "${3-}" ] || needs "$3" 1; then
        client "The Python helper, $1" build/deps/redis-py/python3 tests/clients/clients.py \
            "$2" ${3:+"build/deps/$3"}
    fi
}

# needs NAME EXAMPLES: fetches what examples need, or skips them.
needs() {
    # shellcheck disable=SC2086
    deps/get.sh $1 && return 0
    [ $? -eq 3 ] || { failed=$((failed + $2)); return 1; }
    for _ in $(seq "$2"); do echo "skip example: no $1 to be had"; done
    skipped=$((skipped + $2))
    return 1
}

example 'C, hiredis' "$guard"
if needs redis-py 3; then
    example 'Python, the helper with redis-py' build/deps/redis-py/python3 tests/examples/shield.py
    example 'Python, redis-py: drop-in' build/deps/redis-py/python3 tests/examples/drop_in.py
    example 'Transcripts' build/deps/redis-py/python3 tests/examples/transcripts.py
fi
if needs node-redis 2; then
    example 'Node, the helper with node-redis' node tests/examples/shield.mjs
    example 'Node, node-redis: drop-in' node tests/examples/drop_in.mjs
fi
if needs 'server redis-7.0' 2; then # for its redis-cli
    if needs guava 1; then example 'Java, Guava' sh tests/examples/guava.sh; fi
    if needs leveldb 1; then example 'C++, LevelDB' sh tests/examples/leveldb.sh; fi
fi
if needs redis-py 4; then
    python_client redis-py redis
    for name in redis-py-6.1 redis-py-6.4; do python_client $name redis $name; done
    python_client valkey-py-6.1 valkey valkey-py-6.1
    if needs node-redis 1; then client 'The Node helper, node-redis' node tests/clients/clients.mjs node-redis; fi
    if needs ioredis 2; then
        for name in ioredis ioredis6; do client "The Node helper, $name" node tests/clients/clients.mjs $name; done
    fi
    end_clients
fi

printf '%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
printf '\n'
[ "$failed" -eq 0 ]
