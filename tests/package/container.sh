#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# container.sh - takes the steps of module/package/Containerfile in a folder with a Debian,
# where no container builder is to be had, and starts what it would start.
#
#     container.sh ROOT ARGUMENT=VALUE...
#
# ROOT/context holds the sources. Knows FROM, ARG, COPY, RUN, USER and ENTRYPOINT as they are
# written there, and nothing more; any other step must be one that does nothing here.
set -eu
root=$1
shift
arguments=$*
user=root entrypoint=

inside() {
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c 'root=$1; shift
        mount --rbind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
        exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
            DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"' sh "$root" "$@"
}

# with_values TEXT: ${NAME} replaced.
with_values() {
    text=$1
    for pair in $arguments; do
        text=$(printf '%s\n' "$text" | sed "s,\${${pair%%=*}},${pair#*=},g")
    done
    printf '%s\n' "$text"
}

# copy SOURCE... TARGET: a folder's contents, as COPY has it.
copy() {
    for target; do :; done
    while [ $# -gt 1 ]; do
        if [ -d "$root/context/$1" ]; then
            mkdir -p "$root$target"
            cp -a "$root/context/$1/." "$root$target"
        else
            case $target in */) mkdir -p "$root$target" ;; *) mkdir -p "$root${target%/*}" ;; esac
            cp -a "$root/context/$1" "$root$target"
        fi
        shift
    done
}

# Each step on one line; comments go.
sed '/^ *#/d; :more; /\\$/ { N; s/\\\n//; b more }' "$root/context/module/package/Containerfile" >"$root.steps"
while read -r step words; do
    words=$(with_values "$words")
    echo "STEP $step $words"
    case $step in
    '' | FROM | VOLUME | EXPOSE | STOPSIGNAL) ;;
    ARG) case " $arguments" in *" ${words%%=*}="*) ;; *) arguments="$arguments $words" ;; esac ;;
    COPY) eval copy "$words" ;;
    RUN) inside sh -c "$words" </dev/null ;;
    USER) user=$words ;;
    ENTRYPOINT) entrypoint=$(echo "$words" | tr -d '[]",') ;;
    *) echo "container.sh: doesn't know $step" >&2; exit 1 ;;
    esac
done <"$root.steps"

# The server answers by a socket, as its user, and shields.
# shellcheck disable=SC2016
inside sh -euc 'user=$1
    setpriv --reuid="$user" --regid="$user" --init-groups $2 --port 0 --unixsocket /data/s &
    cli="$(ls /usr/bin/redis-cli /usr/bin/valkey-cli 2>/dev/null | head -n 1) -s /data/s"
    for _ in 1 2 3 4 5 6 7 8 9 10; do $cli PING && break; sleep 0.5; done
    $cli BF.RESERVE users 0.001 1000 READY
    test "$($cli BF.CHECK users bob)" = absent
    test "$(stat -c %U /data/s)" = "$user"
    ! command -v gcc' sh "$user" "$entrypoint"
