#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# inside.sh - a command in a folder with a Debian, as root. What it leaves running ends with it.
#
#     inside.sh ROOT COMMAND...
set -eu
# shellcheck disable=SC2016
exec unshare --mount --pid --fork --kill-child sh -c 'root=$1; shift
    mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
    exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' sh "$@"
