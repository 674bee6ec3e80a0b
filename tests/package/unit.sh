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

# A feed's unit: it may read its configuration, reach the server, and write nowhere. No
# PostgreSQL is here, so it says that, and goes on.
feeds() {
    mkdir -p /etc/bulwark
    install -m 600 /dev/stdin /etc/bulwark/users.conf <<-END
	database = host=127.0.0.1 port=1 user=feeder
	filter = users
	table = users
	item = {id}
	END
    systemctl start --no-block bulwark-feed@users
    until systemctl show -p StatusText bulwark-feed@users | grep PostgreSQL; do sleep 0.2; done
    test "$(systemctl show -p ActiveState --value bulwark-feed@users)" = activating
    feed=$(systemctl show -p MainPID --value bulwark-feed@users)
    test "$(stat -c %u "/proc/$feed")" -ne 0
    systemctl stop bulwark-feed@users
    rm -r /etc/bulwark
}

start_with /usr/lib/redis/modules/bulwark.so
shields
feeds
start_with /usr/local/lib/redis/modules/bulwark.so
shields
rm -r "/etc/systemd/system/$unit.service.d"
systemctl daemon-reload
if start_with /usr/local/lib/redis/modules/bulwark.so; then exit 1; fi
