#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the soak and its plots. See README.md.
#
#     tests/soak/run.sh build/plain/soak
set -eu
cd "$(dirname "$0")/../.."

SERVER=${SERVER:-$(deps/get.sh any-server)}
export SERVER
rm -rf build/soak
mkdir -p build/soak
code=0
"$1" || code=$?

if deps/get.sh gnuplot >/dev/null; then
    build/deps/gnuplot/gnuplot tests/soak/plot.gp 2>build/soak/gnuplot.log || cat build/soak/gnuplot.log
fi
printf '\nFigures: build/soak/*.csv   plots: build/soak/*.svg\n'
exit $code
