#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh - puts module and program where servers and shells look for them, and takes
# them away again.
#
#     DESTDIR= PREFIX=/usr module/package/install.sh install module FILE
#     DESTDIR= PREFIX=/usr module/package/install.sh install program FILE RUNS
#
# FILE is installed; RUNS is the same program as it runs here, and prints manual page and
# completions. `uninstall` in place of `install` wants neither, and removes what would be there.
# No server's configuration is changed: the lines it needs are printed. Debian's units let a
# server execute what is in /usr/lib only; for another PREFIX there are drop-ins. PREFIX is
# written into those: so it is a path without what systemd or sed would read otherwise.
set -eu
umask 022
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.."

action=$1 part=$2 file=${3-/dev/null}
DESTDIR=${DESTDIR-}
while [ "$PREFIX" != "${PREFIX%/}" ]; do PREFIX=${PREFIX%/}; done
case $PREFIX/ in
*[!A-Za-z0-9._+/-]* | *//* | */../* | */./* | [!/]* | /)
    echo "install.sh: PREFIX is a path such as /usr/local, of letters, digits and . _ + -: not '$PREFIX'" >&2
    exit 2
    ;;
esac
modules=$PREFIX/lib/redis/modules
share=$PREFIX/share

# place MODE TARGET: what stands on the input. A server that has the old file open keeps it.
place() {
    target=$DESTDIR$2
    [ "$action" = install ] || { rm -f "$target"; return; }
    mkdir -p "${target%/*}"
    cat >"$target.new"
    chmod "$1" "$target.new"
    mv -f "$target.new" "$target"
}

# drop FOLDER...: those of ours that are empty.
drop() {
    [ "$action" = uninstall ] || return 0
    for folder; do rmdir "$DESTDIR$folder" 2>/dev/null || :; done
}

# A file of that name whose first line isn't ours is somebody else's.
drop_ins() {
    read -r ours <module/package/drop-in.conf
    for unit in redis-server redis-server@ valkey-server valkey-server@ redict-server redict-server@; do
        folder=/etc/systemd/system/$unit.service.d
        [ ! -e "$DESTDIR$folder/bulwark.conf" ] || read -r found <"$DESTDIR$folder/bulwark.conf" || :
        if [ "${found-$ours}" != "$ours" ]; then
            echo "$folder/bulwark.conf isn't ours, and stays as it is" >&2
            unset found
            continue
        fi
        sed "s,@MODULES@,$modules," module/package/drop-in.conf | place 644 "$folder/bulwark.conf"
        drop "$folder"
    done
}

# Redis loads no module that isn't executable.
module() {
    place 755 "$modules/bulwark.so" <"$file"
    valkey=$PREFIX/lib/valkey/modules
    rm -f "$DESTDIR$valkey/bulwark.so"
    if [ "$action" = install ]; then
        mkdir -p "$DESTDIR$valkey"
        ln -s ../../redis/modules/bulwark.so "$DESTDIR$valkey/bulwark.so"
    fi
    drop "$modules" "${modules%/*}" "$valkey" "${valkey%/*}"
    case $modules/ in /usr/lib/* | /lib/*) ;; *) drop_ins ;; esac
}

program() {
    zsh=site-functions
    [ "$PREFIX" != /usr ] || zsh=vendor-completions
    place 755 "$PREFIX/bin/bulwark" <"$file"
    printed "$share/man/man1/bulwark.1" --man
    printed "$share/bash-completion/completions/bulwark" --completion bash
    printed "$share/zsh/$zsh/_bulwark" --completion zsh
    printed "$share/fish/vendor_completions.d/bulwark.fish" --completion fish
    sed "s,@BIN@,$PREFIX/bin," module/package/bulwark-feed@.service |
        place 644 "$PREFIX/lib/systemd/system/bulwark-feed@.service"
    drop "$PREFIX/lib/systemd/system" "$PREFIX/lib/systemd"
    for extra in python/bulwark.py node/bulwark.mjs prometheus/alerts.yml grafana/dashboard.json; do
        place 644 "$share/bulwark/${extra##*/}" <"module/client/$extra"
    done
    drop "$share/bulwark"
}

# printed TARGET OPTION...: what `bulwark help` prints.
printed() {
    target=$1
    shift
    [ "$action" = uninstall ] || text=$("$runs" help "$@")
    printf '%s\n' "${text-}" | place 644 "$target"
}

say_how_to_load() {
    cat <<-END
	The module is $modules/bulwark.so. No configuration was changed; a server
	loads it with this line in its own (on Debian /etc/redis/redis.conf or
	/etc/valkey/valkey.conf), and after a restart:

	    loadmodule $modules/bulwark.so

	END
    case $modules/ in /usr/lib/* | /lib/*) ;; *) cat <<-END ;; esac
	/etc/systemd/system/*.service.d/bulwark.conf lets Debian's units execute it. Before
	the restart: systemctl daemon-reload

	END
}

say_what_is_missing() {
    missing=$(ldd "$file" | sed -n 's/ => not found//p' | tr -d '\t' | tr '\n' ' ')
    [ -z "$missing" ] || echo "bulwark doesn't run here without ${missing}(Debian: apt-get install libssl3 libpq5)"
}

case $action:$part in
install:module) module; say_how_to_load ;;
install:program) runs=$PWD/$4; program; say_what_is_missing ;;
uninstall:module) module ;;
uninstall:program) program ;;
*) echo "usage: install.sh install | uninstall module | program FILE [RUNS]" >&2; exit 2 ;;
esac
