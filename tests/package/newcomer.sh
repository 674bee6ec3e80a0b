#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# newcomer.sh - what README tells a newcomer to type, in a clone, on a fresh Debian with the
# packages that it names. The server that `make run` starts shields, and ends when it is told.
#
#     newcomer.sh CLONE PORT
set -eu
cd "$1"
make run PORT="$2" >run.log 2>&1 &
run=$!
until grep -q '^Ctrl-C ends it' run.log; do
    kill -0 $run || { cat run.log; exit 1; }
    sleep 0.2
done
cat run.log
sed -n 's/^    \(.*redis-cli -p .*\)/\1/p' run.log | sh | grep '^maybe'
kill $run
wait $run || :
make bulwark
./bulwark plan 50M 0.001
