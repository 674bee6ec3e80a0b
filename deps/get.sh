#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# get.sh - fetch what the project uses but does not carry, into build/.
#
#   deps/get.sh header        build/deps/redismodule.h
#   deps/get.sh hiredis       build/deps/hiredis/{include/hiredis/*.h,lib/libhiredis.a,lib/libhiredis_ssl.a}
#   deps/get.sh openssl       build/deps/openssl/{include/openssl,lib/libssl.so,lib/libcrypto.so}
#   deps/get.sh libpq         build/deps/libpq/{include/libpq-fe.h,lib/libpq.so}
#   deps/get.sh arm64 | s390x build/deps/NAME/{cc,run}: a compiler for that processor, and what
#                             runs its programs here
#   deps/get.sh clang         build/deps/clang/{clang,clang-tidy,clang-format}, version 14
#   deps/get.sh llvm-cov      build/deps/llvm-cov/{llvm-cov,llvm-profdata}, for that clang
#   deps/get.sh gnuplot       build/deps/gnuplot/gnuplot
#   deps/get.sh promtool      build/deps/promtool/promtool: looks at metrics and alert rules
#   deps/get.sh postgres      build/deps/postgres/bin/{postgres,initdb}
#   deps/get.sh postgres-17 | postgres-18
#                             build/deps/NAME/bin/{postgres,initdb}: of that line
#   deps/get.sh openssl-tool  build/deps/openssl-tool/openssl: makes certificates
#   deps/get.sh debootstrap   build/deps/debootstrap/debootstrap
#   deps/get.sh nspawn        build/deps/nspawn/systemd-nspawn: starts a root below
#   deps/get.sh root SUITE    build/deps/root-SUITE: a minimal Debian, by debootstrap (root only)
#   deps/get.sh guava         build/deps/guava/{java,guava.jar}: java runs a source file, too
#   deps/get.sh leveldb       build/deps/leveldb/{include/leveldb,lib/libleveldb.*}
#   deps/get.sh redis-py      build/deps/redis-py/python3: Python with redis-py
#   deps/get.sh redis-py-6.1 | redis-py-6.4 | valkey-py-6.1
#                             build/deps/NAME/{redis,valkey}: packages, for that Python
#   deps/get.sh node-redis    build/deps/node-redis/node_modules/redis
#   deps/get.sh ioredis       build/deps/ioredis/node_modules/{ioredis,ioredis6}
#   deps/get.sh server NAME   build/servers/NAME/redis-server, redis-cli and friends
#   deps/get.sh server NAME-jemalloc
#                             build/servers/NAME-jemalloc/: the same, built from its source with
#                             its own jemalloc, in some minutes
#   deps/get.sh servers       all that are packages; those not to be had are skipped by name
#   deps/get.sh any-server    print the path of a server: the machine's own, or redis-7.0
#   deps/get.sh names         print the NAMEs
#
# Everything but node-redis and ioredis is a Debian package and comes through apt.sh; those come
# through the machine's npm, with checksums (their package-lock.json). What is there already is
# left alone, without asking the network. A call can be interrupted, or run twice at once:
# work is done in build/deps/tmp, under a lock, and moved into place when it is complete.
#
# Ends with 0: there. 1: failed. 2: wrong call. 3: not to be had: the suite has no
# such version, or the mirror no such suite, or only an expired copy of it; for
# node-redis, ioredis: no node or npm here; for leveldb: no C++ compiler here; for libpq: no
# apt here; for NAME-jemalloc: no make or compiler here, or no jemalloc in the source.
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
    mkdir "$tmp" "$new"
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 1' HUP INT TERM
    unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
    export LC_ALL=C
}

# get PLACE COMMAND...: unless the place is there, have the command fill the folder $new, or
# name another, and say in $said what it is; move that into place. Looked at again when it
# is our turn: another call may have been making it.
get() {
    place=$1 new=$tmp/new
    shift
    [ ! -e "$place" ] || return 0
    begin
    [ ! -e "$place" ] || return 0
    "$@"
    mkdir -p "${place%/*}"
    mv "$new" "$place"
    echo "$said"
}

# script FILE: what stands on the input, as a program.
script() {
    { echo '#!/bin/sh'; cat; } >"$1"
    chmod +x "$1"
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

make_header() {
    source_of redis 7.0 bookworm
    new=$tmp/source/src/redismodule.h
    has_sha256 "$new" $header_sha256
    said="redismodule.h: redis $version"
}

# Use the compiler's own hiredis if it is 1.0 or newer, static, fit for a shared object, and
# has TLS.
system_hiredis() {
    cat >"$tmp/probe.c" <<-END
	#include <hiredis/async.h>
	#include <hiredis/hiredis.h>
	#include <hiredis/hiredis_ssl.h>
	#if HIREDIS_MAJOR < 1
	#error too old
	#endif
	void *calls[] = {redisConnectWithOptions, redisSetPushCallback, redisAsyncConnect,
	    redisCreateSSLContextWithOptions};
	END
    archive=$($cc -print-file-name=libhiredis.a)
    archive_tls=$($cc -print-file-name=libhiredis_ssl.a)
    # shellcheck disable=SC2086
    $cc -shared -fPIC -Wl,-z,defs "$tmp/probe.c" $openssl "$archive_tls" "$archive" \
        -lssl -lcrypto -o "$tmp/probe.so" 2>/dev/null || return
    headers=$($cc -E "$tmp/probe.c" | sed -n 's,^# 1 "\(/.*/hiredis\)/hiredis.h".*,\1,p;T;q')
    [ "$headers" ] || return
    mkdir "$new/include" "$new/lib"
    ln -s "$headers" "$new/include/hiredis"
    ln -s "$archive" "$archive_tls" "$new/lib/"
    notice=/usr/share/doc/libhiredis-dev/copyright
    [ ! -e $notice ] || ln -s $notice "$new/COPYING"
    said="hiredis: the machine's own, $archive"
}

build_hiredis() {
    source_of hiredis 1.2 trixie
    has_sha256 "$tarball" $hiredis_sha256
    mkdir -p "$new/include/hiredis" "$new/lib"
    cd "$tmp/source"
    quiet make static USE_SSL=1 OPENSSL_PREFIX="$deps/openssl" CC="$cc" OPTIMIZATION="-O2 -fPIC"
    cp -R hiredis.h hiredis_ssl.h async.h read.h sds.h alloc.h sockcompat.h adapters \
        "$new/include/hiredis"
    cp libhiredis.a libhiredis_ssl.a "$new/lib"
    cp COPYING "$new"
    said="hiredis: $version"
}

make_hiredis() {
    cc=${CC:-cc}
    openssl="-I$deps/openssl/include -L$deps/openssl/lib"
    system_hiredis || build_hiredis
}

# A hiredis without TLS is one of an older clone.
get_hiredis() {
    sh "$0" openssl
    [ -e "$deps/hiredis/lib/libhiredis_ssl.a" ] || rm -rf "$deps/hiredis"
    get "$deps/hiredis" make_hiredis
}

# The machine's own OpenSSL, 1.1.1 or newer.
system_openssl() {
    cat >"$tmp/probe.c" <<-END
	#include <openssl/ssl.h>
	#if OPENSSL_VERSION_NUMBER < 0x10101000L
	#error too old
	#endif
	int main(void) { return SSL_CTX_new(TLS_client_method()) == 0; }
	END
    $cc "$tmp/probe.c" -lssl -lcrypto -o "$tmp/probe" 2>/dev/null && "$tmp/probe" || return
    headers=$($cc -E "$tmp/probe.c" | sed -n 's,^# 1 "\(/.*/openssl\)/ssl.h".*,\1,p;T;q')
    [ "$headers" ] || return
    mkdir "$new/include" "$new/lib"
    ln -s "$headers" "$new/include/openssl"
    for library in libssl libcrypto; do
        ln -s "$($cc -print-file-name=$library.so)" "$new/lib/$library.so"
    done
    said="openssl: the machine's own, $headers"
}

unpack_openssl() {
    unpack_libraries 'libssl3|libssl-dev' libssl-dev libssl libcrypto
    mv root/usr/include/openssl include/
    mv root/usr/include/*-linux-*/openssl/* include/openssl/
    rm -r root
    said="openssl: libssl-dev of bookworm"
}

make_openssl() {
    cc=${CC:-cc}
    system_openssl || unpack_openssl
}

# The machine's own libpq.
system_libpq() {
    headers=$(pg_config --includedir 2>/dev/null || pkg-config --variable=includedir libpq 2>/dev/null) &&
        libraries=$(pg_config --libdir 2>/dev/null || pkg-config --variable=libdir libpq 2>/dev/null) || return
    cat >"$tmp/probe.c" <<-END
	#include <libpq-fe.h>
	int main(void) { return PQlibVersion() < 100000; }
	END
    $cc -I"$headers" "$tmp/probe.c" -L"$libraries" -lpq -o "$tmp/probe" 2>/dev/null &&
        "$tmp/probe" || return
    mkdir "$new/include" "$new/lib"
    for header in libpq-fe.h postgres_ext.h pg_config_ext.h; do
        ln -s "$headers/$header" "$new/include/"
    done
    ln -s "$libraries/libpq.so" "$new/lib/"
    said="libpq: the machine's own, $libraries/libpq.so"
}

# Without the OpenSSL that it is linked with: a program has only one.
unpack_libpq() {
    command -v apt-get >/dev/null || die 3 "no libpq here, and no apt that would fetch it"
    unpack_libraries 'lib[^c]|libc[^6]|zlib' libpq-dev libpq
    for header in libpq-fe.h postgres_ext.h pg_config_ext.h; do
        mv "root/usr/include/postgresql/$header" include/
    done
    rm -r root lib/libssl.* lib/libcrypto.*
    said="libpq: libpq-dev of bookworm"
}

make_libpq() {
    cc=${CC:-cc}
    system_libpq || unpack_libpq
}

get_libpq() {
    sh "$0" openssl
    get "$deps/libpq" make_libpq
}

# unpack_tools PATTERN PACKAGES: with what they need, into $new/root. With nothing
# installed, apt names all of it; what the pattern matches is enough, and libc is the
# machine's. Sets $root, and $settings: what a script says before it runs one of them.
unpack_tools() {
    look_up deb bookworm
    # shellcheck disable=SC2086
    packages=$(with deb bookworm apt-get install --simulate $2 2>"$log" |
        sed -nE "s,^Inst (($1)[^ ]*) \\(([^ ]*).*,\\1=\\3,p" | grep -v '^libc6=')
    [ "$packages" ] || { cat "$log" >&2; die 1 "apt finds no way to install $2"; }
    unpack bookworm "$packages" "$new/root"
    root=$place/root
    libraries=$(cd "$new/root" && find usr/lib lib -type f -name '*.so*' -exec dirname {} \; 2>/dev/null |
        sort -u | sed "s,^,$root/," | tr '\n' ':')
    settings="LD_LIBRARY_PATH=${libraries%:}; export LD_LIBRARY_PATH"
}

# unpack SUITES PACKAGES FOLDER
unpack() {
    mkdir "$tmp/debs"
    cd "$tmp/debs"
    # shellcheck disable=SC2086
    quiet with deb "$1" apt-get download $2
    for deb in *.deb; do dpkg-deb -x "$deb" "$3"; done
    cd "$tmp"
    rm -r debs
}

# What Debian calls the processor in names of compilers, of emulators, and of packages.
names_of() {
    case $1 in
    arm64) triplet=aarch64-linux-gnu qemu=qemu-aarch64 ;;
    s390x) triplet=s390x-linux-gnu qemu=qemu-s390x ;;
    esac
}

# foreign_scripts COMPILER EMULATOR: cc and run. Programs are linked statically, so that
# they need nothing of a foreign system.
foreign_scripts() {
    script "$new/cc" <<-END
	$settings
	exec $1 -static "\$@"
	END
    script "$new/run" <<-END
	exec $2 "\$@"
	END
}

# The machine's own cross compiler and emulator.
system_foreign() {
    compiler=$(command -v "$triplet-gcc") &&
        emulator=$(command -v "$qemu-static" || command -v "$qemu") || return
    echo 'int main(void) { return 0; }' >"$tmp/probe.c"
    "$compiler" -static "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || return
    settings=
    foreign_scripts "$compiler" "$emulator"
    said="$1: the machine's own, $compiler and $emulator"
}

unpack_foreign() {
    unpack_tools 'gcc|cpp|binutils|lib|linux-libc|qemu' \
        "gcc-$triplet libc6-dev-$1-cross qemu-user-static"
    find "$new/root/usr/bin" -name 'qemu-*' ! -name "$qemu-static" -delete
    foreign_scripts "$root/usr/bin/$triplet-gcc" "$root/usr/bin/$qemu-static"
    said="$1: gcc and qemu of bookworm"
}

make_foreign() {
    names_of "$1"
    system_foreign "$1" || unpack_foreign "$1"
}

# Other versions lay out some lines differently, and find other things.
system_clang() {
    for program in clang clang-tidy clang-format; do
        found=$(command -v $program-14 || command -v $program) &&
            "$found" --version | grep -q 'version 14\.' || return
        ln -s "$found" "$new/$program"
    done
    echo 'int main(void) { return 0; }' >"$tmp/probe.c"
    "$new/clang" -fsanitize=memory "$tmp/probe.c" -o "$tmp/probe" 2>/dev/null || return
    said="clang: the machine's own, $found"
}

unpack_clang() {
    rm -f "${new:?}"/*
    unpack_tools 'lib[^c]|libc[^6]|clang|llvm' \
        'clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev'
    for program in clang clang-tidy clang-format; do
        script "$new/$program" <<-END
		$settings
		exec $root/usr/lib/llvm-14/bin/$program "\$@"
		END
    done
    said="clang: 14 of bookworm"
}

make_clang() {
    system_clang || unpack_clang
}

# It reads what a clang of the same version writes.
make_llvm_cov() {
    settings='' folder=/usr/lib/llvm-14/bin
    if [ ! -x $folder/llvm-cov ] || [ ! -x $folder/llvm-profdata ]; then
        unpack_tools 'lib[^c]|libc[^6]|llvm' llvm-14
        folder=$root$folder
    fi
    for program in llvm-cov llvm-profdata; do
        script "$new/$program" <<-END
		$settings
		exec $folder/$program "\$@"
		END
    done
    said="llvm-cov: $folder"
}

make_gnuplot() {
    settings=
    if ! program=$(command -v gnuplot) || ! "$program" -e 'set terminal pngcairo' 2>/dev/null; then
        unpack_tools 'lib|gnuplot|fonts-dejavu' 'gnuplot-nox fonts-dejavu-core'
        program=$root/usr/bin/gnuplot-nox
        # A machine without a font can't write on pictures.
        cat >"$new/fonts.conf" <<-END
		<fontconfig>
		  <dir>$root/usr/share/fonts</dir> <dir>/usr/share/fonts</dir>
		  <cachedir>$place/fonts</cachedir>
		</fontconfig>
		END
        settings="$settings
FONTCONFIG_FILE=$place/fonts.conf; export FONTCONFIG_FILE"
    fi
    script "$new/gnuplot" <<-END
	$settings
	exec $program "\$@"
	END
    said="gnuplot: $program"
}

# A program that needs nothing but libc: what its package wants is for the server beside it.
make_promtool() {
    if program=$(command -v promtool); then
        ln -s "$program" "$new/promtool"
    else
        look_up deb bookworm
        unpack bookworm prometheus "$tmp/root"
        mv "$tmp/root/usr/bin/promtool" "$new/"
    fi
    quiet "$new/promtool" --version
    said="promtool: $("$new/promtool" --version 2>&1 | head -n 1)"
}

# The machine's own PostgreSQL: the newest server that it has.
system_postgres() {
    for program in "$(command -v postgres)" /usr/lib/postgresql/*/bin/postgres; do
        [ ! -x "$program" ] || server=$(readlink -f "$program")
    done
    [ "${server-}" ] && [ -x "${server%/*}/initdb" ] || return
    postgres_scripts "${server%/*}" ''
    said="postgres: the machine's own, $("$server" --version)"
}

# postgres_scripts PROGRAMS SETTINGS. The programs find their own files relative to where
# they are, so that the folder can be moved or copied.
postgres_scripts() {
    mkdir -p "$new/bin" "$new/lib"
    for program in postgres initdb; do
        script "$new/bin/$program" <<-END
		here=\${0%/*}/..
		$2
		exec "$1/$program" "\$@"
		END
    done
}

# Only what the programs are linked with: without LLVM, which compiles long queries.
unpack_postgres() {
    unpack_tools 'lib[^l]|libl[^l]|zlib|postgresql' postgresql-15
    # shellcheck disable=SC2016
    postgres_scripts '$here/usr/lib/postgresql/15/bin' \
        'LD_LIBRARY_PATH=$here/lib; export LD_LIBRARY_PATH'
    cd "$new"
    mkdir usr usr/lib usr/share
    mv root/usr/lib/postgresql usr/lib/
    mv root/usr/share/postgresql usr/share/
    rm -r usr/lib/postgresql/15/lib/bitcode
    gather_libraries root
    LD_LIBRARY_PATH=$tmp/all ldd usr/lib/postgresql/15/bin/postgres \
        usr/lib/postgresql/15/bin/initdb | keep_linked
    rm -r root
    quiet bin/postgres --version
    quiet bin/initdb --version
    said="postgres: $(bin/postgres --version), bookworm"
}

make_postgres() {
    system_postgres || { rm -rf "${new:?}"/*; unpack_postgres; }
}

# make_postgres_line LINE SUITE: with all its libraries and its own loader. initdb starts the
# postgres beside it, so that both are scripts where the programs were.
make_postgres_line() {
    look_up deb "$2"
    version=$(with deb "$2" apt-cache madison "postgresql-$1" | sed -nE "s,^.*\| *(.*) \|.* $2/main .*,\1,p;T;q")
    is_line "$version" "$1" || die 3 "$2 has no postgresql-$1 (it has: ${version:-nothing})"
    packages=$(with deb "$2" apt-get install --simulate "postgresql-$1=$version" 2>"$log" |
        sed -nE 's,^Inst ((lib[^l]|libl[^l]|zlib|postgresql)[^ ]*) \(([^ ]*).*,\1=\3,p')
    [ "$packages" ] || { cat "$log" >&2; die 1 "apt finds no way to install postgresql-$1"; }
    unpack "$2" "$packages" "$tmp/root"
    cd "$new"
    programs=usr/lib/postgresql/$1/bin
    mkdir -p bin lib "$programs" usr/share
    mv "$tmp/root/usr/lib/postgresql/$1/lib" "usr/lib/postgresql/$1/"
    mv "$tmp/root/usr/share/postgresql" usr/share/
    rm -rf "usr/lib/postgresql/$1/lib/bitcode"
    mv "$tmp/root/$programs/postgres" "$tmp/root/$programs/initdb" bin/
    keep_libraries
    for program in postgres initdb; do
        mv "bin/$program" "$programs/$program.real"
        script "$programs/$program" <<-END
		here=\${0%/*}
		exec "\$here/../../../../../lib/$loader" --library-path "\$here/../../../../../lib" \\
		    "\$here/$program.real" "\$@"
		END
    done
    # shellcheck disable=SC2016
    postgres_scripts "\$here/$programs" ''
    quiet bin/postgres --version
    quiet bin/initdb --version
    said="postgres-$1: $version from $2"
}

# Of a machine's own, or bookworm's, which is a script and its tables.
make_debootstrap() {
    settings=
    if ! program=$(command -v debootstrap); then
        unpack_tools debootstrap debootstrap
        program=$root/usr/sbin/debootstrap
        settings="DEBOOTSTRAP_DIR=$root/usr/share/debootstrap; export DEBOOTSTRAP_DIR"
    fi
    script "$new/debootstrap" <<-END
	$settings
	exec $program "\$@"
	END
    said="debootstrap: $program"
}

make_openssl_tool() {
    settings=
    if ! program=$(command -v openssl); then
        unpack_tools 'libssl|openssl' openssl
        program=$root/usr/bin/openssl
        settings="$settings; OPENSSL_CONF=$root/etc/ssl/openssl.cnf; export OPENSSL_CONF"
    fi
    script "$new/openssl" <<-END
	$settings
	exec $program "\$@"
	END
    said="openssl-tool: $program"
}

make_nspawn() {
    settings=
    if ! program=$(command -v systemd-nspawn); then
        unpack_tools 'lib[^p]|libp[^e]|systemd-container' systemd-container
        program=$root/usr/bin/systemd-nspawn
    fi
    script "$new/systemd-nspawn" <<-END
	$settings
	exec $program "\$@"
	END
    said="nspawn: $program"
}

# make_root SUITE: with the keys and the mirror of our own apt, and how it reaches the network.
make_root() {
    [ "$(id -u)" = 0 ] || die 3 "only root can make a system's root folder"
    command -v wget >/dev/null || die 3 "debootstrap needs wget"
    look_up deb "$1"
    cat "$apt"/keys/*.gpg >"$tmp/keys.gpg"
    mkdir "$tmp/probe" "$tmp/root"
    mknod "$tmp/probe/null" c 1 3 2>/dev/null || die 3 "this machine lets nobody make devices"
    quiet "$deps/debootstrap/debootstrap" --variant=minbase --keyring="$tmp/keys.gpg" \
        "$1" "$tmp/root" "$uri"
    for type in deb deb-src; do echo "$type $uri $1 main"; done >"$tmp/root/etc/apt/sources.list"
    grep '^Acquire::' "$apt/apt.conf" >"$tmp/root/etc/apt/apt.conf.d/network" || :
    rm -f "$tmp"/root/var/cache/apt/archives/*.deb
    new=$tmp/root
    said="root-$1: Debian $(cat "$new/etc/debian_version")"
}

get_root() {
    sh "$0" debootstrap
    get "$deps/root-$1" make_root "$1"
}

# Java from 11 on runs a source file if it has the compiler in it.
can_use_guava() { # java jar
    cat >"$tmp/Probe.java" <<-END
	class Probe {
	    public static void main(String[] args) {
	        com.google.common.hash.BloomFilter.create(com.google.common.hash.Funnels.longFunnel(), 1, .5);
	    }
	}
	END
    "$1" -cp "$2" "$tmp/Probe.java" >"$log" 2>&1
}

system_guava() {
    program=$(command -v java) && jar=$(readlink -f /usr/share/java/guava.jar) &&
        can_use_guava "$program" "$jar" || return
    ln -s "$program" "$new/java"
    ln -s "$jar" "$new/guava.jar"
    said="guava: the machine's own, $jar"
}

# Debian's headless runtime has the compiler, too. Its links to /etc stay within the folder.
unpack_guava() {
    rm -f "${new:?}"/*
    unpack_tools 'openjdk|libguava-java|zlib|libstdc|libgcc' 'openjdk-17-jre-headless libguava-java'
    find "$new/root/usr/lib/jvm" -type l -lname '/*' | while read -r link; do
        ln -sf "$root$(readlink "$link")" "$link"
    done
    script "$new/java" <<-END
	$settings
	exec $root/usr/lib/jvm/java-17-*/bin/java "\$@"
	END
    ln -s root/usr/share/java/guava.jar "$new/guava.jar"
    said="guava: libguava-java and openjdk-17 of bookworm"
}

make_guava() {
    system_guava || unpack_guava
}

system_leveldb() {
    cat >"$tmp/probe.cc" <<-END
	#include <leveldb/filter_policy.h>
	int main() { delete leveldb::NewBloomFilterPolicy(10); }
	END
    c++ "$tmp/probe.cc" -lleveldb -o "$tmp/probe" 2>/dev/null || return
    headers=$(c++ -E "$tmp/probe.cc" | sed -n 's,^# 1 "\(/.*/leveldb\)/filter_policy.h".*,\1,p;T;q')
    [ "$headers" ] || return
    ln -s "$headers" "$new/include/leveldb"
    ln -s "$(c++ -print-file-name=libleveldb.so)" "$new/lib/libleveldb.so"
    said="leveldb: the machine's own, $headers"
}

unpack_leveldb() {
    look_up deb bookworm
    unpack bookworm libleveldb-dev "$tmp/root"
    mv "$tmp/root/usr/include/leveldb" "$new/include/"
    mv "$tmp"/root/usr/lib/*-linux-*/libleveldb.a "$new/lib/"
    said="leveldb: libleveldb-dev of bookworm"
}

make_leveldb() {
    command -v c++ >/dev/null || die 3 "no C++ compiler here"
    mkdir "$new/include" "$new/lib"
    system_leveldb || unpack_leveldb
}

# The machine's Python if it can use the package, else Debian's.
make_redis_py() {
    program=$(command -v python3 || :)
    unpack_tools 'python3-[^m]' python3-redis
    settings=
    if ! PYTHONPATH=$new/root/usr/lib/python3/dist-packages \
        "${program:-false}" -c 'import redis' 2>"$log"; then
        rm -r "$new/root"
        unpack_tools 'lib|python|media-types' 'python3-redis python3-minimal'
        settings=$(echo "$settings" | sed "s,$root,\$root,g")
        program=\$root/usr/bin/python3.11
    fi
    script "$new/python3" <<-END
	root=\$(dirname "\$(readlink -f "\$0")")/root
	$settings
	PYTHONPATH=\$root/usr/lib/python3/dist-packages
	export PYTHONPATH
	exec $program "\$@"
	END
    said="redis-py: $("$new/python3" -c 'import redis; print(redis.__version__)'), $program"
}

can_use_node() {
    for program in node npm; do
        command -v $program >/dev/null || die 3 "no $program here"
    done
    major=$(node -p 'process.versions.node.split(".")[0]')
    [ "$major" -ge 20 ] || die 3 "node-redis wants node 20, here is $major"
}

# make_python_package SUITE PACKAGE LINE: pure Python.
make_python_package() {
    look_up deb "$1"
    version=$(with deb "$1" apt-cache madison "$2" | sed -nE "s,^.*\| *(.*) \|.* $1/main .*,\1,p;T;q")
    is_line "$version" "$3" || die 3 "$1 has no $2 $3 (it has: ${version:-nothing})"
    unpack "$1" "$2=$version" "$tmp/root"
    mv "$tmp"/root/usr/lib/python3/dist-packages/*/ "$new"
    said="$2: $version from $1"
}

# make_node_package NAME: what its lock file says.
make_node_package() {
    can_use_node
    cp "$here/$1/package.json" "$here/$1/package-lock.json" "$new"
    cd "$new"
    quiet npm ci --ignore-scripts --no-audit --no-fund
    said="$1: as its lock file says"
}

# gather_libraries ROOT: all shared libraries of a system, into $tmp/all.
gather_libraries() {
    mkdir "$tmp/all"
    find "$1" -maxdepth 4 -path '*/lib/*-linux-*' -name '*.so*' ! -type d \
        -exec cp -P {} "$tmp/all" \;
}

# keep_linked: of those, copy what ldd names on the input to lib/.
keep_linked() {
    sed -nE "s,^\s*([^/ ]+) => $tmp/all/.*,\1,p" | sort -u >"$tmp/linked"
    while read -r library; do cp -L "$tmp/all/$library" lib/; done <"$tmp/linked"
}

# unpack_libraries PATTERN PACKAGE LIBRARY...: those of a -dev package of bookworm, and what
# they are linked with but for libc, into lib/; leaves the rest in root/, to take headers from.
unpack_libraries() {
    unpack_tools "$1" "$2"
    shift 2
    cd "$new"
    mkdir include lib
    gather_libraries root
    for library; do
        soname=$(basename "$tmp/all/$library".so.[0-9])
        cp -L "$tmp/all/$soname" lib/
        ln -s "$soname" "lib/$library.so"
        LD_LIBRARY_PATH=$tmp/all ldd "lib/$soname"
    done | keep_linked
}

# keep_libraries: what the programs in bin/ are linked with, and what libc or a module may
# open at run time, to lib/. Sets $loader.
keep_libraries() {
    gather_libraries "$tmp/root"
    loader=$(cd "$tmp/all" && echo ld*.so.[0-9])
    cp -L "$tmp/all/$loader" lib/
    for program in bin/*; do
        "$tmp/all/$loader" --library-path "$tmp/all" --list "$program"
    done | keep_linked
    for library in libgcc_s libm libpthread libdl librt libresolv libnss_files libnss_dns; do
        cp -L "$tmp/all/$library".so.[0-9] lib/
    done
}

# make_server NAME: with every library it needs and its own loader.
#
#     redis-server     a wrapper: exec lib/ld-linux-*.so.* --library-path lib bin/...-server
#     redis-cli ...    likewise
#     bin/  lib/       the packages' programs; all shared libraries in one folder
#     version          of the package
make_server() {
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
    unpack "$suites" "$packages" "$tmp/root"
    cd "$new"
    mkdir bin lib
    cp -P "$tmp"/root/usr/bin/"$product"-* bin/
    keep_libraries
    for program in bin/*; do
        script "redis-${program#bin/*-}" <<-END
		self=\$0
		[ -L "\$self" ] && self=\$(readlink -f "\$self")
		case \$self in /*) ;; *) self=\$PWD/\$self ;; esac
		here=\${self%/*}
		exec "\$here/lib/$loader" \${SERVER_PRELOAD:+--preload "\$SERVER_PRELOAD"} \\
		    --library-path "\$here/lib" "\$here/$program" "\$@"
		END
    done
    echo "$version" >version
    quiet ./redis-server --version
    said="$1: $version from $suite"
}

# make_jemalloc_server NAME: from the source, with the jemalloc that it brings. Debian's
# own servers are linked with the system's, which can't tell what is fragmented.
make_jemalloc_server() {
    suites=$(suites_of "$1")
    for program in make "${CC:-cc}"; do
        command -v "$program" >/dev/null || die 3 "no $program here"
    done
    source_of "${1%-*}" "${1##*-}" "${suites##* }"
    cd "$tmp/source"
    [ -d deps/jemalloc ] || die 3 "the source of $1 $version has no jemalloc"
    quiet make -j "$(nproc)" MALLOC=jemalloc BUILD_TLS=no USE_SYSTEMD=no
    for program in server cli check-aof check-rdb; do
        cp "src/${1%-*}-$program" "$new/redis-$program"
    done
    echo "$version" >"$new/version"
    quiet "$new/redis-server" --version
    said="$1-jemalloc: $version, built from source"
}

get_server() {
    name=${1%-jemalloc}
    suites_of "$name" >/dev/null
    case $1 in
    *-jemalloc) get "$servers/$1" make_jemalloc_server "$name" ;;
    *) get "$servers/$1" make_server "$1" ;;
    esac
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
1:header) get "$deps/redismodule.h" make_header ;;
1:hiredis) get_hiredis ;;
1:openssl) get "$deps/openssl" make_openssl ;;
1:libpq) get_libpq ;;
1:arm64 | 1:s390x) get "$deps/$1" make_foreign "$1" ;;
1:clang) get "$deps/clang" make_clang ;;
1:llvm-cov) get "$deps/llvm-cov" make_llvm_cov ;;
1:gnuplot) get "$deps/gnuplot" make_gnuplot ;;
1:promtool) get "$deps/promtool" make_promtool ;;
1:postgres) get "$deps/postgres" make_postgres ;;
1:postgres-17) get "$deps/$1" make_postgres_line 17 trixie ;;
1:postgres-18) get "$deps/$1" make_postgres_line 18 sid ;;
1:openssl-tool) get "$deps/$1" make_openssl_tool ;;
1:nspawn) get "$deps/$1" make_nspawn ;;
1:debootstrap) get "$deps/debootstrap" make_debootstrap ;;
2:root) get_root "$2" ;;
1:guava) get "$deps/guava" make_guava ;;
1:leveldb) get "$deps/leveldb" make_leveldb ;;
1:redis-py) get "$deps/redis-py" make_redis_py ;;
1:redis-py-6.1) get "$deps/$1" make_python_package trixie python3-redis 6.1 ;;
1:redis-py-6.4) get "$deps/$1" make_python_package sid python3-redis 6.4 ;;
1:valkey-py-6.1) get "$deps/$1" make_python_package sid python3-valkey 6.1 ;;
1:node-redis | 1:ioredis) get "$deps/$1" make_node_package "$1" ;;
2:server) get_server "$2" ;;
1:servers) get_servers ;;
1:any-server) any_server ;;
1:names) echo "$names" ;;
*) die 2 "usage: deps/get.sh NAME, as listed at its top" ;;
esac
