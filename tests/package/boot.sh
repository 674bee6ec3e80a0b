#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# boot.sh - a command in a folder with a Debian that systemd has started, as root. Ends as
# the command does, and with it all that systemd started. Its network is its own.
#
#     boot.sh ROOT COMMAND...
#
# ROOT has systemd; no word of the command has spaces or quotes.
set -eu
root=$1
shift
cat >"$root/etc/systemd/system/boot-test.service" <<END
[Unit]
DefaultDependencies=no
Requires=sysinit.target
After=sysinit.target
[Service]
Type=oneshot
ExecStart=$*
ExecStopPost=/bin/sh -c 'systemctl --no-block exit \$EXIT_STATUS'
StandardOutput=file:/boot-test.log
StandardError=inherit
END
code=0
timeout 120 build/deps/nspawn/systemd-nspawn --quiet --register=no --keep-unit --private-network \
    --boot --directory="$root" systemd.unit=boot-test.service </dev/null >"$root.console" 2>&1 || code=$?
cat "$root/boot-test.log" || cat "$root.console"
rm -f "$root/boot-test.log" "$root/etc/systemd/system/boot-test.service"
exit $code
