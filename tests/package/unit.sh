#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# unit.sh - a server and the module under the server's own unit, in a Debian that systemd has
# started (boot.sh): the package's, then that of /usr/local with its drop-in. Without the
# drop-in, which goes, the server doesn't start.
#
#     unit.sh redis|valkey
set -eux
unit=$1-server cli=$1-cli configuration=/etc/$1/$1.conf

start_with() { # FILE
    sed -i '/^loadmodule/d' "$configuration"
    echo "loadmodule $1" >>"$configuration"
    systemctl reset-failed "$unit" || :
    systemctl restart "$unit"
}

# The unit is up when the server has said that it is ready.
shields() {
    "$cli" DEL users
    test "$("$cli" BF.RESERVE users 0.001 1000 READY)" = OK
    test "$("$cli" BF.CHECK users bob)" = absent
    bulwark list | grep users
}

start_with /usr/lib/redis/modules/bulwark.so
shields
start_with /usr/local/lib/redis/modules/bulwark.so
shields
rm -r "/etc/systemd/system/$unit.service.d"
systemctl daemon-reload
if start_with /usr/local/lib/redis/modules/bulwark.so; then exit 1; fi
