#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - starts a server with the module, shows the main job, and leaves the
# server in the foreground until Ctrl-C. Its data is gone afterwards.
#
#     PORT=7000 SERVER=/path/to/redis-server tests/run.sh
set -eu
cd "$(dirname "$0")/.."

server=${SERVER:-$(deps/get.sh any-server)}
cli=$(dirname "$server")/redis-cli
[ -x "$cli" ] || cli=$(command -v redis-cli || command -v valkey-cli) ||
    { deps/get.sh server redis-7.0 >&2 && cli=build/servers/redis-7.0/redis-cli; }

answers() { "$cli" -p "$1" ping 2>/dev/null | grep -q .; }

port=${PORT:-6379}
if [ -z "${PORT:-}" ]; then
    while answers "$port"; do port=$((port + 1)); done
elif answers "$port"; then
    echo "Port $port is taken: choose another with PORT=..." >&2
    exit 1
fi

dir=$(mktemp -d)
"$server" --port "$port" --bind 127.0.0.1 --dir "$dir" --save '' \
    --loadmodule "$PWD/bulwark.so" >"$dir/log" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || :; wait $pid 2>/dev/null || :; rm -rf "$dir"' EXIT
trap 'exit 0' HUP INT TERM
until answers "$port"; do
    kill -0 $pid 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
    sleep 0.1
done

show() {
    printf '> %s\n' "$*"
    "$cli" -p "$port" --no-raw "$@"
}
show BF.RESERVE seen 0.001 1000000
show BF.MADD seen anna bob anna
show BF.EXISTS seen bob
show BF.EXISTS seen carol
show BF.INFO seen SIZE

cat <<END

The server is on 127.0.0.1:$port. Try it from another terminal:
    $cli -p $port BF.EXISTS seen anna
Ctrl-C ends it.
END
wait $pid
