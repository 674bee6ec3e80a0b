# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# steps.sh - for guava.sh and leveldb.sh: a folder to work in, with the programs that a
# reader of the manual would have, and steps that are shown. $1 is the port of a server.
set -eu
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/bin"
PATH=$work/bin:$PATH
cat >"$work/bin/redis-cli" <<END
#!/bin/sh
exec "$root/build/servers/redis-7.0/redis-cli" -p $1 "\$@"
END
chmod +x "$work/bin/redis-cli"
cd "$work"

# expect FACT OUTPUT COMMAND...: the output's lines, joined by blanks.
expect() {
    fact=$1 wanted=$2
    shift 2
    got=$("$@" 2>&1 | tr -s '\n' ' ') || :
    if [ "${got% }" = "$wanted" ]; then
        echo "  ok  $fact: ${wanted:-nothing}"
    else
        echo "  NOT $fact: ${got% }, wanted $wanted"
        exit 1
    fi
}

state_of() { redis-cli BF.INFO "$1" FULL | sed -n '/^State$/{n;p}'; }

# How many items of a file a filter answers with this word.
answered() { # word key file
    xargs redis-cli BF.MCHECK "$2" <"$3" | grep -cx "$1" || :
}
