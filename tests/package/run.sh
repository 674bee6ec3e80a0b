#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the packages, the container and `make install` in fresh Debians, beside Debian's
# own servers, which run as their systemd units have it. Ends with "N passed, N failed".
#
# The Debians are folders, by debootstrap; a copy of bookworm with make and gcc builds the
# packages. restrict.sh reads the units, and does what can be done with mounts and
# capabilities; where a folder's own systemd can be started, that does all of it (boot.sh).
set -u
cd "$(dirname "$0")/../.." || exit 1
here=tests/package
logs=$PWD/build/package-logs
passed=0 failed=0 skipped=0 servers=
unset MAKEFLAGS MFLAGS MAKELEVEL

skip() { # fact reason
    skipped=$((skipped + 1))
    echo "skip $1: $2"
}

check() { # fact, then a command that is true
    fact=$1
    shift
    echo "== $fact" >>"$log"
    if "$@" >>"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$fact: FAILED, see $log"
    fi
}

finish() {
    for pid in $servers; do kill "$pid" 2>/dev/null; done
    wait
    rm -rf "$work"
}

# end: what the stages of the test suite end with.
end() {
    printf '%d passed, %d failed' "$passed" "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    printf '\n'
    [ "$failed" -eq 0 ]
    exit
}

# new_root NAME SUITE: sets $root, a fresh copy of a suite, in which no package starts a server.
new_root() {
    root=$work/$1
    cp -a "build/deps/root-$2" "$root"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
}

inside() { $here/inside.sh "$root" "$@"; }
install_packages() { inside apt-get install -y --no-install-recommends "$@"; }

# sources FOLDER: a clone, without git.
sources() {
    mkdir -p "$1"
    git ls-files -z | xargs -0 cp -P --parents -t "$1"
}

build_packages() {
    new_root builder bookworm
    sources "$root/src"
    inside apt-get update && install_packages make gcc libc6-dev && inside make -C /src deb &&
        cp "$root"/src/build/package/bulwark_*.deb "$work/bulwark.deb" &&
        cp "$root"/src/build/package/bulwark-module_*.deb "$work/bulwark-module.deb"
}

# As somebody who isn't root.
a_newcomer() {
    inside useradd -m anna
    sources "$root/home/anna/bulwark"
    cp $here/newcomer.sh "$root/"
    inside chown -R anna: /home/anna
    inside setpriv --reuid=anna --regid=anna --init-groups env HOME=/home/anna \
        /newcomer.sh /home/anna/bulwark $((20000 + $$ % 12000))
}

lintian_is_content() {
    cp "$work"/*.deb "$root/"
    install_packages lintian || return
    inside lintian --allow-root --fail-on error,warning,info,pedantic --pedantic --display-info /bulwark.deb /bulwark-module.deb
}

# start PRODUCT [CONFIGURATION]: under its unit, with a socket in place of a port.
start() {
    socket=/run/$1/test.sock
    rm -f "$root$socket"
    $here/restrict.sh "$root" "$1" --port 0 --unixsocket "$socket" --unixsocketperm 777 &
    servers="$servers $!"
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(say PING)" != PONG ] || return 0
        kill -0 $server 2>/dev/null || return 1
        sleep 0.25
    done
    return 1
}

stop() {
    kill "$server" 2>/dev/null && wait "$server"
}

# say COMMAND...: to the server that was started.
say() { chroot "$root" "$cli" -s "$socket" "$@" 2>/dev/null; }

# The shield at work: what is vouched for is denied, and nothing else.
shields() {
    say DEL users
    say BF.RESERVE users 0.001 1000 LOADING && say BF.ADD users anna && say BF.READY users &&
        [ "$(say BF.CHECK users anna)" = maybe ] && [ "$(say BF.CHECK users bob)" = absent ]
}

program_works() {
    inside bulwark --version && inside bulwark plan 50M 0.001 &&
        inside bulwark list -s "$socket" | grep users
}

files_for_others_are_there() {
    for name in bulwark.py bulwark.mjs alerts.yml dashboard.json; do
        [ -s "$root/usr/share/bulwark/$name" ] || return 1
    done
}
manual_page_is_there() { [ -s "$root/usr/share/man/man1/bulwark.1.gz" ]; }

completes() {
    cp $here/completion.sh "$root/"
    inside /completion.sh "$1"
}

# boots PRODUCT: systemd starts it.
boots() {
    cp $here/unit.sh "$root/"
    $here/boot.sh "$root" /unit.sh "$1"
}

# By the kernel, which maps no code from there.
refused() {
    rm -f "$root/var/log/$1/$1-server.log"
    ! start "$1" && grep 'failed to map segment' "$root/var/log/$1/$1-server.log"
}

set_module() { # PRODUCT FILE: the line that the manual names
    sed -i '/^loadmodule/d' "$root/etc/$1/$1.conf"
    [ -z "$2" ] || echo "loadmodule $2" >>"$root/etc/$1/$1.conf"
}

install_into() { make -s install-module DESTDIR="$root" PREFIX="$1"; }

# No file is left.
install_and_uninstall() {
    mkdir "$work/empty"
    make -s install DESTDIR="$work/empty" PREFIX=/usr/local && make -s uninstall DESTDIR="$work/empty" PREFIX=/usr/local &&
        [ -z "$(find "$work/empty" ! -type d)" ]
}

# in_suite SUITE PRODUCT...: packages beside Debian's servers.
in_suite() {
    suite=$1
    shift
    new_root "$suite" "$suite"
    log=$logs/$suite.log
    cp "$work"/*.deb "$root/"
    inside apt-get update >>"$log" 2>&1
    for product; do check "${suite}_has_$product" install_packages "$product-server"; done
    check "the_packages_are_installed_on_$suite" install_packages /bulwark-module.deb /bulwark.deb
    check "files_for_others_are_there_on_$suite" files_for_others_are_there
    check "${suite}_has_systemd" install_packages systemd
    bootable=$($here/boot.sh "$root" /bin/echo yes 2>&1)
    for product; do beside "$suite" "$product"; done
    check "${suite}_has_shells" install_packages bash-completion zsh fish
    for shell in bash zsh fish; do check "${shell}_of_${suite}_completes" completes $shell; done
    check "the_packages_are_removed_from_$suite" inside apt-get purge -y bulwark bulwark-module
    check "removed_packages_leave_nothing_on_$suite" [ -z "$(find "$root/usr" "$root/etc" -name '*bulwark*')" ]
}

# beside SUITE PRODUCT
beside() {
    name=$2_of_$1
    cli=$2-cli
    set_module "$2" /usr/lib/redis/modules/bulwark.so
    check "${name}_loads_the_package_under_its_unit" start "$2"
    check "${name}_shields" shields
    check "the_program_works_with_$name" program_works
    check "an_upgrade_leaves_${name}_alone" inside apt-get install -y --reinstall /bulwark-module.deb
    check "${name}_shields_after_it" shields
    stop
    set_module "$2" /usr/lib/valkey/modules/bulwark.so
    check "${name}_loads_it_by_valkeys_folder" start "$2"
    stop
    install_into /usr/local >>"$log" 2>&1
    set_module "$2" /usr/local/lib/redis/modules/bulwark.so
    check "${name}_loads_from_usr_local_with_the_drop_in" start "$2"
    stop
    case $bootable in
    yes) check "${name}_starts_with_the_module_by_systemd_itself" boots "$2" ;;
    *) skip "${name}_starts_with_the_module_by_systemd_itself" 'no systemd starts in a folder here' ;;
    esac
    rm -rf "$root/etc/systemd/system/$2-server.service.d"
    check "${name}_may_not_without_the_drop_in" refused "$2"
    make -s uninstall DESTDIR="$root" PREFIX=/usr/local
}

if [ "$(id -u)" != 0 ]; then
    skip packages 'only root can make and enter a Debian'
    end
fi
for suite in bookworm trixie; do
    deps/get.sh root $suite || { skip packages "no Debian $suite to be had"; end; }
done
deps/get.sh nspawn
unshare --mount --pid --fork true || { skip packages 'no namespaces here'; end; }

mkdir -p "$logs"
rm -f "$logs"/*.log
work=$(mktemp -d "$PWD/build/package-test.XXXXXX")
trap finish EXIT
trap 'exit 1' HUP INT TERM

log=$logs/build.log
check a_fresh_debian_12_builds_the_packages build_packages
check anybody_can_do_what_the_readme_says_on_a_fresh_debian_12 a_newcomer
check lintian_has_nothing_to_say lintian_is_content
check what_was_installed_can_be_uninstalled install_and_uninstall
in_suite bookworm redis
in_suite trixie redis valkey
for product in redis valkey; do
    log=$logs/container-$product.log
    new_root "container-$product" trixie
    sources "$root/context"
    check "the_containers_steps_can_be_taken_for_$product" $here/container.sh "$root" PRODUCT=$product
done
end
