#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# restrict.sh - a server in a folder with a Debian, under what its systemd unit allows.
#
#     restrict.sh ROOT redis|valkey OPTION...
#
# Of the unit and its drop-ins: User, Group, ExecStart, NoExecPaths, ExecPaths, ProtectSystem,
# ReadWritePaths, ReadWriteDirectories, PrivateTmp, RuntimeDirectory, NoNewPrivileges and
# CapabilityBoundingSet. Not what takes systemd itself: filters of system calls, private
# users, MemoryDenyWriteExecute. OPTIONs are added to the command.
set -eu
if [ "${RESTRICTED-}" = '' ]; then
    RESTRICTED=1 exec unshare --mount "$0" "$@"
fi
root=$1 unit=$2-server.service
shift 2

# setting NAME: the values that it is given, all of them.
setting() {
    cat "$root/lib/systemd/system/$unit" "$root/etc/systemd/system/$unit.d"/*.conf 2>/dev/null |
        sed -n "s/^$1=//p" | tr '\n' ' '
}

# open_path OPTIONS PATH: unless it isn't there, which a - before it allows.
open_path() {
    path=$(realpath -m "$root/${2#-}")
    case $path in "$root"/*) ;; *) path=$root$path ;; esac
    [ -e "$path" ] || { [ "$2" != "${2#-}" ]; return; }
    mount --bind "$path" "$path"
    mount -o "remount,bind,$1" "$path"
}

user=$(setting User) user=${user% }
ids=$(sed -n "s/^$user:[^:]*:\([0-9]*\):\([0-9]*\):.*/\1:\2/p" "$root/etc/passwd")
runtime=$(setting RuntimeDirectory)
install -d -o "${ids%:*}" -g "${ids#*:}" "$root/run/${runtime% }"

[ "$(setting NoExecPaths)" = '/ ' ] && [ "$(setting ProtectSystem)" = 'strict ' ]
mount --bind "$root" "$root"
mount -o remount,bind,ro,noexec "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,noexec tmpfs "$root/tmp"
for path in $(setting ExecPaths); do open_path ro,exec "$path"; done
for path in "/run/${runtime% }" $(setting ReadWritePaths) $(setting ReadWriteDirectories); do
    open_path rw,noexec "$path"
done

# shellcheck disable=SC2046
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid \
    chroot --userspec="$ids" "$root" $(setting ExecStart) "$@"
