#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - builds the module, starts a server with it, shows the shield, and leaves the
# server in the foreground until Ctrl-C. The server's data is gone afterwards.
#
#     PORT=7000 SERVER=/path/to/redis-server tests/run.sh
#
# One line a step. What the tools say goes to build/run.log, and is shown if one fails.
set -u
cd "$(dirname "$0")/.." || exit 1
port=${PORT:-6379}
log=build/run.log
dir=
mkdir -p build
: >$log

stop() { # what is wrong, then advice, a line each
    printf '\n' >&2
    printf '%s\n' "$@" >&2
    exit 1
}

step() { # what is done, advice if it fails, command...
    step=$1 advice=$2
    shift 2
    echo "$step"
    "$@" >>$log 2>&1 && return
    tail -n 20 $log >&2
    stop "This step failed: $step" "$advice" "Everything that was said is in $log."
}

# What listens on the port: "server" if it speaks RESP, "stranger" if not, or nothing.
listener() {
    # shellcheck disable=SC2016
    timeout 5 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 0
        printf "PING\r\n" >&3
        IFS= read -r -t 2 line <&3
        case $line in [+-]*) echo server ;; *) echo stranger ;; esac' - "$port" 2>/dev/null
    [ $? -ne 124 ] || echo stranger
}

case $port in
'' | *[!0-9]* | 0* | ??????*) stop "PORT=$port is not a port." "Choose a number: make run PORT=7000" ;;
esac
case $(listener) in
server) stop "Another server has port $port." "Choose another port: make run PORT=7000" ;;
stranger)
    stop "Port $port is taken, by a program that doesn't speak RESP." \
        "Choose another port: make run PORT=7000"
    ;;
esac
: "${CC:=gcc}"
command -v "${CC%% *}" >/dev/null ||
    stop "There is no C compiler called ${CC%% *}." \
        "On Debian and Ubuntu: apt-get install gcc libc6-dev" \
        "Another compiler: make run CC=clang"

offline='Is there a network, and does apt-get update work? Packages come from the mirror that this
machine uses, and stay below build/.'
[ -f "${REDISMODULE_H:-build/deps/redismodule.h}" ] ||
    step "Fetching the module API's header" "$offline
Without a network: make run REDISMODULE_H=/path/to/redismodule.h (of Redis 7.0)" \
        deps/get.sh header
step 'Building bulwark.so' 'If headers of the C library are missing (Debian, Ubuntu): apt-get install libc6-dev' \
    make -s -j "$(nproc)" CC="$CC" bulwark.so

if [ -z "${SERVER:-}" ]; then
    any_server() { deps/get.sh any-server >build/run.server; }
    step 'Looking for a server (redis-7.0 is fetched if there is none)' "$offline
With a server of your own: make run SERVER=/path/to/redis-server" any_server
    SERVER=$(cat build/run.server)
fi
cli=$(dirname "$SERVER")/redis-cli
[ -x "$cli" ] || cli=$(command -v redis-cli || command -v valkey-cli) || {
    step 'Fetching redis-cli' "$offline" deps/get.sh server redis-7.0
    cli=build/servers/redis-7.0/redis-cli
}

ask() { timeout 10 "$cli" -h 127.0.0.1 -p "$port" --no-raw "$@"; }
show() {
    printf '> %s\n' "$*"
    ask "$@"
}

echo "Starting the server on 127.0.0.1:$port"
dir=$(mktemp -d)
"$SERVER" --port "$port" --bind 127.0.0.1 --dir "$dir" --save '' \
    --loadmodule "$PWD/bulwark.so" >"$dir/log" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; wait $pid 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 0' HUP INT TERM
until grep -qi 'ready to accept connections' "$dir/log"; do
    kill -0 $pid 2>/dev/null || {
        cat "$dir/log" >&2
        stop "The server did not start: $SERVER" "Its last lines are above."
    }
    sleep 0.1
done
echo

show BF.RESERVE users 0.001 1000000 LOADING
show BF.MADD users 1 2 3
show BF.CHECK users 4
show BF.READY users
show BF.CHECK users 4
show SET user:1 Anna
show BF.GUARD users user:1 1
show BF.GUARD users user:2 2
show BF.GUARD users user:4 4

cat <<END

The server is on 127.0.0.1:$port. Try it from another terminal:
    $cli -p $port BF.GUARD users user:3 3
Ctrl-C ends it, and its data is gone.
END
wait $pid
