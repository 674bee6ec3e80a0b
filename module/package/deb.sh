#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# deb.sh - makes Debian packages of what was built: bulwark-module and bulwark.
#
#     MAINTAINER='Name <mail>' module/package/deb.sh FOLDER
#
# FOLDER has bulwark.so, installed/bulwark and bulwark (the same, as it runs here), and gets
# the packages. Takes dpkg-deb, and of binutils objdump and strip: there where a compiler is.
# Two calls with the same sources make the same bytes.
set -eu
umask 022
cd "$(dirname "$0")/../.."
built=$1

upstream=$(sed -n 's/.*BULWARK_VERSION "\(.*\)".*/\1/p' module/version.h)
version=$(echo "$upstream" | sed 's/-/~/')
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y module/version.h)}
export SOURCE_DATE_EPOCH

# depends FILE...: the packages of the libraries that they are linked with; of libc the
# version whose symbols they use.
depends() {
    for library in $(objdump -p "$@" | sed -n 's/^ *NEEDED *//p' | sort -u); do
        case $library in
        libc.so.6 | libm.so.6 | ld-linux*) ;;
        libssl.so.3 | libcrypto.so.3) echo 'libssl3 (>= 3.0.0)' ;;
        libpq.so.5) echo 'libpq5 (>= 10~)' ;;
        *) echo "deb.sh: no package is known for $library" >&2; exit 1 ;;
        esac
    done | sort -u
    objdump -T "$@" | sed -n 's/.*(\{0,1\}GLIBC_\([0-9.]*\).*/libc6 (>= \1)/p' | sort -Vu | tail -n 1
}

# documents PACKAGE NOTICE...: licence, also of what is inside, and changes.
documents() {
    docs=$root/usr/share/doc/$1
    shift
    mkdir -p "$docs"
    cat LICENSE "$@" >"$docs/copyright"
    cp module/manual/changes.md "$docs/"
    gzip -9n >"$docs/changelog.gz" <<-END
	bulwark ($version) unstable; urgency=medium

	  * Version $upstream. What is new: changes.md.

	 -- $MAINTAINER  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
	END
}

# package NAME FILE...: the folder $root, with a control file that begins as NAME.control and
# depends on what the FILEs need.
package() {
    name=$1
    shift
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$@"
    needs=$(depends "$@" | tr '\n' ',' | sed 's/,$//; s/,/, /g')
    sums=$(cd "$root" && find usr -type f | LC_ALL=C sort | xargs md5sum)
    size=$(du -sk --apparent-size "$root" | cut -f 1)
    maintainer=$(printf '%s' "$MAINTAINER" | sed 's/[\\/&]/\\&/g')
    mkdir "$root/DEBIAN"
    echo "$sums" >"$root/DEBIAN/md5sums"
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@DEPENDS@/$needs/
        s/@SIZE@/$size/; s/@MAINTAINER@/$maintainer/" "module/package/$name.control" >"$root/DEBIAN/control"
    find "$root" -type d -exec chmod 755 {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$built/${name}_${version}_$architecture.deb" >/dev/null
    echo "$built/${name}_${version}_$architecture.deb"
}

# new_root: an empty folder for a package.
new_root() {
    root=$built/root
    rm -rf "$root"
    mkdir "$root"
}

architecture=$(dpkg --print-architecture)
rm -f "$built"/*.deb

new_root
DESTDIR=$root PREFIX=/usr module/package/install.sh install module "$built/bulwark.so" >/dev/null
documents bulwark-module
cp module/package/README.Debian "$root/usr/share/doc/bulwark-module/"
package bulwark-module "$root/usr/lib/redis/modules/bulwark.so"

new_root
DESTDIR=$root PREFIX=/usr module/package/install.sh install program "$built/installed/bulwark" "$built/bulwark" >/dev/null
gzip -9n "$root/usr/share/man/man1/bulwark.1"
documents bulwark build/deps/hiredis/COPYING
package bulwark "$root/usr/bin/bulwark"
rm -r "$root"
