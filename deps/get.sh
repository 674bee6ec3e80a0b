#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# get.sh - fetch what the project uses but does not carry, into build/.
#
#   deps/get.sh header        build/deps/redismodule.h
#   deps/get.sh hiredis       build/deps/hiredis/{include/hiredis/*.h,lib/libhiredis.a}
#   deps/get.sh arm64         build/deps/arm64/{cc,run}: a compiler for arm64, and what runs
#                             its programs here
#   deps/get.sh gnuplot       build/deps/gnuplot/gnuplot
#   deps/get.sh postgres      build/deps/postgres/{bin/{postgres,initdb},include/libpq-fe.h,lib/libpq.so}
#   deps/get.sh redis-py      build/deps/redis-py/python3: Python with redis-py
#   deps/get.sh node-redis    build/deps/node-redis/node_modules/redis
#   deps/get.sh server NAME   build/servers/NAME/redis-server, redis-cli and friends
#   deps/get.sh servers       all of them; those not to be had are skipped by name
#   deps/get.sh any-server    print the path of a server: the machine's own, or redis-7.0
#   deps/get.sh names         print the NAMEs
#
# Everything but node-redis is a Debian package and comes through apt.sh; that comes through
# the machine's npm, with checksums (node-redis/package-lock.json). What is there already is left alone, without asking the network. A call can be interrupted, or run
# twice at once: work is done in build/deps/tmp, under a lock, and moved into
# place when it is complete.
#
# Ends with 0: there. 1: failed. 2: wrong call. 3: not to be had: the suite has no
# such version, or the mirror no such suite, or only an expired copy of it; for
# node-redis: no node or npm here.
set -eu

names="redis-6.0 redis-7.0 redis-8.0 redis-8.6 valkey-8.0 valkey-8.1 valkey-9.1 redict-7.3"

header_sha256=dcc23952d82cd8f06e4fe6ee32de0b04d437cfe03779963230b3f0dde2c731e0
hiredis_sha256=82ad632d31ee05da13b537c124f819eb88e18851d9cb0c30ae0552084811588c

here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
build=$(dirname "$here")/build
deps=$build/deps
servers=$build/servers
# shellcheck disable=SC2034
apt=$deps/apt  # The private apt's configuration, keys and lists.
tmp=$deps/tmp  # Half-done work. Only the holder of the lock has one.
log=$tmp/log   # What the tools said; shown if they fail.

# The suites a server comes from; the last one has the server, the others what it needs.
suites_of() {
    case $1 in
    redis-6.0) echo bullseye ;;
    redis-7.0) echo bookworm ;;
    redis-8.0 | valkey-8.1) echo trixie ;;
    valkey-8.0 | redict-7.3) echo bookworm bookworm-backports ;;
    valkey-9.1) echo sid ;;
    redis-8.6) echo sid experimental ;;
    *) die 2 "no server is called '$1', only: $names" ;;
    esac
}

# die CODE WORDS: say why, and end.
die() {
    code=$1
    shift
    echo "get.sh: $*" >&2
    exit "$code"
}

# Run a tool quietly; show what it said only if it fails.
quiet() { "$@" >"$log" 2>&1 || { cat "$log" >&2; die 1 "failed: $*"; }; }

# Wait for our turn and start with an empty $tmp. Whatever ends us removes it.
begin() {
    mkdir -p "$deps"
    exec 9>"$deps/lock"
    flock 9
    rm -rf "$tmp"
    mkdir "$tmp"
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 1' HUP INT TERM
    unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
    export LC_ALL=C
}

# with and look_up: apt, for any suite.
# shellcheck source=deps/apt.sh
. "$here/apt.sh"

# is_line VERSION LINE: does a Debian version belong to an upstream line?
is_line() { case ${1#*:} in "$2".*) ;; *) false ;; esac }

# has_sha256 FILE SUM
has_sha256() {
    echo "$2  $1" | sha256sum --check --status || die 1 "$1 has another sha256 than $2"
}

# source_of PACKAGE LINE SUITE: unpack the original tarball of version LINE.* into $tmp/source.
source_of() {
    look_up deb-src "$3"
    version=$(with deb-src "$3" apt-cache showsrc "$1" | sed -n 's/^Version: //p' | head -n 1)
    is_line "$version" "$2" || die 3 "$3 has no source of $1 $2 (it has: ${version:-nothing})"
    mkdir "$tmp/source"
    cd "$tmp"
    quiet with deb-src "$3" apt-get source --download-only "$1=$version"
    tarball=$(echo "$tmp/$1"_*.orig.tar.*[!c])
    # apt unpacks it: xz may not be installed.
    /usr/lib/apt/apt-helper cat-file "$tarball" | tar -x -C "$tmp/source" --strip-components=1
}

get_header() {
    [ ! -f "$deps/redismodule.h" ] || return 0
    begin
    [ ! -f "$deps/redismodule.h" ] || return 0
    source_of redis 7.0 bookworm
    has_sha256 "$tmp/source/src/redismodule.h" $header_sha256
    mv "$tmp/source/src/redismodule.h" "$deps/redismodule.h"
    echo "redismodule.h: redis $version"
}

# Use the compiler's own hiredis if it is 1.0 or newer, static, and fit for a shared object.
system_hiredis() {
    cat >"$tmp/probe.c" <<-END
	#include <hiredis/async.h>
	#include <hiredis/hiredis.h>
	#if HIREDIS_MAJOR < 1
	#error too old
	#endif
	void *calls[] = {redisConnectWithOptions, redisSetPushCallback, redisAsyncConnect};
	END
    archive=$($cc -print-file-name=libhiredis.a)
    $cc -shared -fPIC -Wl,-z,defs "$tmp/probe.c" "$archive" -o "$tmp/probe.so" 2>/dev/null ||
        return
    headers=$($cc -E "$tmp/probe.c" | sed -n 's,^# 1 "\(/.*/hiredis\)/hiredis.h".*,\1,p;T;q')
    [ "$headers" ] || return
    mkdir -p "$tmp/hiredis/include" "$tmp/hiredis/lib"
    ln -s "$headers" "$tmp/hiredis/include/hiredis"
    ln -s "$archive" "$tmp/hiredis/lib/libhiredis.a"
    echo "hiredis: the machine's own, $archive"
}

build_hiredis() {
    source_of hiredis 1.2 trixie
    has_sha256 "$tarball" $hiredis_sha256
    mkdir -p "$tmp/hiredis/include/hiredis" "$tmp/hiredis/lib"
    cd "$tmp/source"
    quiet make static CC="$cc" OPTIMIZATION="-O2 -fPIC"
    cp -R hiredis.h async.h read.h sds.h alloc.h sockcompat.h adapters \
        "$tmp/hiredis/include/hiredis"
    cp libhiredis.a "$tmp/hiredis/lib"
    echo "hiredis: $version"
}

get_hiredis() {
    [ ! -d "$deps/hiredis" ] || return 0
    begin
    [ ! -d "$deps/hiredis" ] || return 0
    cc=${CC:-cc}
    system_hiredis || build_hiredis
    mv "$tmp/hiredis" "$deps/hiredis"
}

# The machine's own cross compiler and emulator, as links: cc and run.
system_arm64() {
    compiler=$(command -v aarch64-linux-gnu-gcc) &&
        emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || return
    echo 'int main(void) { return 0; }' >"$tmp/probe.c"
    "$compiler" -static "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || return
    write_arm64 "$compiler" "$emulator" ""
    echo "arm64: the machine's own, $compiler and $emulator"
}

# write_arm64 COMPILER EMULATOR SETTINGS: programs are linked statically, so that they
# need nothing of a foreign system.
write_arm64() {
    printf '#!/bin/sh\n%sexec %s -static "$@"\n' "$3" "$1" >"$tmp/arm64/cc"
    printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$tmp/arm64/run"
    chmod +x "$tmp/arm64/cc" "$tmp/arm64/run"
}

# unpack_tools NAME PATTERN PACKAGES: with what they need, into $tmp/NAME/root. With
# nothing installed, apt names all of it; what the pattern matches is enough, and libc
# is the machine's. Sets $root and $settings for where it will be.
unpack_tools() {
    look_up deb bookworm
    # shellcheck disable=SC2086
    packages=$(with deb bookworm apt-get install --simulate $3 2>"$log" |
        sed -nE "s,^Inst (($2)[^ ]*) \\(([^ ]*).*,\\1=\\3,p" | grep -v '^libc6=')
    [ "$packages" ] || { cat "$log" >&2; die 1 "apt finds no way to install $3"; }
    mkdir "$tmp/debs"
    cd "$tmp/debs"
    # shellcheck disable=SC2086
    quiet with deb bookworm apt-get download $packages
    for deb in *.deb; do dpkg-deb -x "$deb" "$tmp/$1/root"; done
    root=$deps/$1/root
    libraries=$(cd "$tmp/$1/root" && find usr/lib lib -type f -name '*.so*' -exec dirname {} \; 2>/dev/null |
        sort -u | sed "s,^,$root/," | tr '\n' ':')
    settings="LD_LIBRARY_PATH=${libraries%:}; export LD_LIBRARY_PATH
"
}

unpack_arm64() {
    unpack_tools arm64 'gcc|cpp|binutils|lib|linux-libc|qemu' \
        'gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static'
    write_arm64 "$root/usr/bin/aarch64-linux-gnu-gcc" "$root/usr/bin/qemu-aarch64-static" \
        "$settings"
    echo "arm64: gcc and qemu of bookworm"
}

get_arm64() {
    [ ! -d "$deps/arm64" ] || return 0
    begin
    [ ! -d "$deps/arm64" ] || return 0
    mkdir "$tmp/arm64"
    system_arm64 || unpack_arm64
    mv "$tmp/arm64" "$deps/arm64"
}

get_gnuplot() {
    [ ! -d "$deps/gnuplot" ] || return 0
    begin
    [ ! -d "$deps/gnuplot" ] || return 0
    mkdir "$tmp/gnuplot"
    if program=$(command -v gnuplot) && "$program" -e 'set terminal pngcairo' 2>/dev/null; then
        settings=
    else
        unpack_tools gnuplot 'lib|gnuplot|fonts-dejavu' 'gnuplot-nox fonts-dejavu-core'
        program=$root/usr/bin/gnuplot-nox
        # A machine without a font can't write on pictures.
        cat >"$tmp/gnuplot/fonts.conf" <<-END
		<fontconfig>
		  <dir>$root/usr/share/fonts</dir> <dir>/usr/share/fonts</dir>
		  <cachedir>$deps/gnuplot/fonts</cachedir>
		</fontconfig>
		END
        settings="${settings}FONTCONFIG_FILE=$deps/gnuplot/fonts.conf; export FONTCONFIG_FILE
"
    fi
    printf '#!/bin/sh\n%sexec %s "$@"\n' "$settings" "$program" >"$tmp/gnuplot/gnuplot"
    chmod +x "$tmp/gnuplot/gnuplot"
    mv "$tmp/gnuplot" "$deps/gnuplot"
    echo "gnuplot: $program"
}

# The machine's own PostgreSQL: the newest server that it has, and a libpq to link with.
system_postgres() {
    for program in "$(command -v postgres)" /usr/lib/postgresql/*/bin/postgres; do
        [ ! -x "$program" ] || server=$(readlink -f "$program")
    done
    [ "${server-}" ] && [ -x "${server%/*}/initdb" ] || return
    headers=$(pg_config --includedir) && libraries=$(pg_config --libdir) || return
    cat >"$tmp/probe.c" <<-END
	#include <libpq-fe.h>
	int main(void) { return PQlibVersion() < 100000; }
	END
    ${CC:-cc} -I"$headers" "$tmp/probe.c" -L"$libraries" -lpq -o "$tmp/probe" 2>/dev/null &&
        "$tmp/probe" || return
    write_postgres "${server%/*}" ''
    for header in libpq-fe.h postgres_ext.h pg_config_ext.h; do
        ln -s "$headers/$header" "$tmp/postgres/include/"
    done
    ln -s "$libraries"/libpq.so* "$tmp/postgres/lib/"
    echo "postgres: the machine's own, $("$server" --version)"
}

# write_postgres PROGRAMS LIBRARIES: the wrappers. The programs find their own files
# relative to where they are, so that the folder can be moved or copied.
write_postgres() {
    mkdir -p "$tmp/postgres/bin" "$tmp/postgres/include" "$tmp/postgres/lib"
    for program in postgres initdb; do
        cat >"$tmp/postgres/bin/$program" <<-END
		#!/bin/sh
		here=\${0%/*}/..
		$2exec "$1/$program" "\$@"
		END
        chmod +x "$tmp/postgres/bin/$program"
    done
}

# Only what the programs and libpq are linked with: without LLVM, which compiles long queries.
unpack_postgres() {
    unpack_tools postgres 'lib[^l]|libl[^l]|zlib|postgresql' 'postgresql-15 libpq-dev'
    # shellcheck disable=SC2016
    write_postgres '$here/usr/lib/postgresql/15/bin' \
        'LD_LIBRARY_PATH=$here/lib; export LD_LIBRARY_PATH
'
    cd "$tmp/postgres"
    mkdir usr usr/lib usr/share "$tmp/all"
    mv root/usr/lib/postgresql usr/lib/
    mv root/usr/share/postgresql usr/share/
    rm -r usr/lib/postgresql/15/lib/bitcode
    for header in libpq-fe.h postgres_ext.h pg_config_ext.h; do
        mv "root/usr/include/postgresql/$header" include/
    done
    find root/usr/lib root/lib -maxdepth 2 -name '*.so*' ! -type d -exec cp -P {} "$tmp/all" \;
    LD_LIBRARY_PATH=$tmp/all ldd usr/lib/postgresql/15/bin/postgres \
        usr/lib/postgresql/15/bin/initdb "$tmp/all/libpq.so.5" |
        sed -nE "s,^\s*([^/ ]+) => $tmp/all/.*,\1,p" | sort -u >"$tmp/linked"
    while read -r library; do cp -L "$tmp/all/$library" lib/; done <"$tmp/linked"
    cp -L "$tmp/all/libpq.so.5" lib/
    ln -s libpq.so.5 lib/libpq.so
    rm -r root
    quiet bin/postgres --version
    quiet bin/initdb --version
    echo "postgres: $(bin/postgres --version), bookworm"
}

get_postgres() {
    [ ! -d "$deps/postgres" ] || return 0
    begin
    [ ! -d "$deps/postgres" ] || return 0
    mkdir "$tmp/postgres"
    system_postgres || { rm -rf "$tmp/postgres/"*; unpack_postgres; }
    mv "$tmp/postgres" "$deps/postgres"
}

# The machine's Python if it can use the package, else Debian's.
get_redis_py() {
    [ ! -d "$deps/redis-py" ] || return 0
    begin
    [ ! -d "$deps/redis-py" ] || return 0
    mkdir "$tmp/redis-py"
    program=$(command -v python3 || :)
    unpack_tools redis-py 'python3-[^m]' python3-redis
    settings=
    if ! PYTHONPATH=$tmp/redis-py/root/usr/lib/python3/dist-packages \
        "${program:-false}" -c 'import redis' 2>"$log"; then
        rm -r "$tmp/redis-py/root" "$tmp/debs"
        unpack_tools redis-py 'lib|python|media-types' 'python3-redis python3-minimal'
        settings=$(echo "$settings" | sed "s,$root,\$root,g")
        program=\$root/usr/bin/python3.11
    fi
    cat >"$tmp/redis-py/python3" <<-END
	#!/bin/sh
	root=\$(dirname "\$(readlink -f "\$0")")/root
	$settings
	PYTHONPATH=\$root/usr/lib/python3/dist-packages
	export PYTHONPATH
	exec $program "\$@"
	END
    chmod +x "$tmp/redis-py/python3"
    mv "$tmp/redis-py" "$deps/redis-py"
    echo "redis-py: $("$deps/redis-py/python3" -c 'import redis; print(redis.__version__)'), $program"
}

get_node_redis() {
    [ ! -d "$deps/node-redis" ] || return 0
    for program in node npm; do
        command -v $program >/dev/null || die 3 "no $program here"
    done
    major=$(node -p 'process.versions.node.split(".")[0]')
    [ "$major" -ge 20 ] || die 3 "node-redis wants node 20, here is $major"
    begin
    [ ! -d "$deps/node-redis" ] || return 0
    mkdir "$tmp/node-redis"
    cp "$here/node-redis/package.json" "$here/node-redis/package-lock.json" "$tmp/node-redis"
    cd "$tmp/node-redis"
    quiet npm ci --ignore-scripts --no-audit --no-fund
    mv "$tmp/node-redis" "$deps/node-redis"
    echo "node-redis: $(cd "$deps/node-redis" && node -p 'require("redis/package.json").version')"
}

# keep_libraries: copy from $tmp/root to lib/ what the programs in bin/ are linked with,
# and what libc or a module may open at run time.
keep_libraries() {
    mkdir "$tmp/all"
    (
        cd "$tmp/root"
        find . -maxdepth 4 -path '*/lib/*-linux-*' -name '*.so*' ! -type d -exec cp -P {} ../all \;
    )
    loader=$(cd "$tmp/all" && echo ld*.so.[0-9])
    cp -L "$tmp/all/$loader" lib/
    for program in bin/*; do
        "$tmp/all/$loader" --library-path "$tmp/all" --list "$program"
    done | sed -nE 's,^\s*([^/ ]+) => .*,\1,p' | sort -u >"$tmp/linked"
    while read -r library; do cp -L "$tmp/all/$library" lib/; done <"$tmp/linked"
    for library in libgcc_s libm libpthread libdl librt libresolv libnss_files libnss_dns; do
        cp -L "$tmp/all/$library".so.[0-9] lib/
    done
}

# unpack_server NAME: into $tmp/server, with every library it needs and its own loader.
#
#     redis-server     a wrapper: exec lib/ld-linux-*.so.* --library-path lib bin/...-server
#     redis-cli ...    likewise
#     bin/  lib/       the packages' programs; all shared libraries in one folder
#     version          of the package
unpack_server() {
    suites=$(suites_of "$1")
    suite=${suites##* } product=${1%-*} line=${1##*-}
    look_up deb "$suites"
    wanted="$product-server/$suite $product-tools/$suite"
    version=$(with deb "$suites" apt-cache madison "$product-server" |
        sed -nE "s,^.*\| *(.*) \|.* $suite/main .*,\1,p;T;q")
    is_line "$version" "$line" || die 3 "$suite has no $1 (it has: ${version:-nothing})"

    # With nothing installed, apt names all that the server needs; the libraries are enough.
    # shellcheck disable=SC2086
    packages=$(with deb "$suites" apt-get install --simulate $wanted 2>"$log" |
        sed -nE "s,^Inst ((lib|lua-|zlib|$product-)[^ ]*) \(([^ ]*).*,\1=\3,p")
    [ "$packages" ] || { cat "$log" >&2; die 1 "apt finds no way to install $wanted"; }
    mkdir "$tmp/debs" "$tmp/server" "$tmp/server/bin" "$tmp/server/lib"
    cd "$tmp/debs"
    # shellcheck disable=SC2086
    quiet with deb "$suites" apt-get download $packages
    for deb in *.deb; do dpkg-deb -x "$deb" "$tmp/root"; done
    cd "$tmp/server"
    cp -P "$tmp"/root/usr/bin/"$product"-* bin/
    keep_libraries
    for program in bin/*; do
        wrapper=redis-${program#bin/*-}
        cat >"$wrapper" <<-END
		#!/bin/sh
		self=\$0
		[ -L "\$self" ] && self=\$(readlink -f "\$self")
		case \$self in /*) ;; *) self=\$PWD/\$self ;; esac
		here=\${self%/*}
		exec "\$here/lib/$loader" \${SERVER_PRELOAD:+--preload "\$SERVER_PRELOAD"} \\
		    --library-path "\$here/lib" "\$here/$program" "\$@"
		END
        chmod +x "$wrapper"
    done
    echo "$version" >version
    quiet ./redis-server --version
}

get_server() {
    suites_of "$1" >/dev/null
    [ ! -d "$servers/$1" ] || return 0
    begin
    [ ! -d "$servers/$1" ] || return 0
    unpack_server "$1"
    mkdir -p "$servers"
    mv "$tmp/server" "$servers/$1"
    echo "$1: $version from $suite"
}

# One after the other, each in a process of its own: a missing server doesn't stop the rest.
get_servers() {
    worst=0
    for name in $names; do
        code=0
        sh "$0" server "$name" || code=$?
        case $code in
        0) ;;
        3) echo "$name: skipped, not to be had" >&2 ;;
        *) worst=$code ;;
        esac
    done
    exit $worst
}

any_server() {
    for program in redis-server valkey-server; do
        path=$(command -v $program) || continue
        major=$("$path" --version 2>/dev/null | sed -nE 's/.*v=([0-9]+)\..*/\1/p')
        [ "${major:-0}" -lt 6 ] || { echo "$path"; return; }
    done
    get_server redis-7.0 >&2
    echo "$servers/redis-7.0/redis-server"
}

case $#:${1-} in
1:header) get_header ;;
1:hiredis) get_hiredis ;;
1:arm64) get_arm64 ;;
1:gnuplot) get_gnuplot ;;
1:postgres) get_postgres ;;
1:redis-py) get_redis_py ;;
1:node-redis) get_node_redis ;;
2:server) get_server "$2" ;;
1:servers) get_servers ;;
1:any-server) any_server ;;
1:names) echo "$names" ;;
*) die 2 "usage: deps/get.sh header | hiredis | arm64 | gnuplot | postgres | redis-py | node-redis | server NAME | servers | any-server | names" ;;
esac
