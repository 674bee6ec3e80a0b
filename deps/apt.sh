# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# apt.sh - apt for us alone: any Debian suite, no root, nothing of the system changed.
#
# Read by get.sh, which sets $apt (the folder for configuration, keys and lists),
# $tmp and $log, and has die. The mirror is the one that this machine's sources
# name; signatures are checked as apt always does.
#
# For unusual machines: DEBIAN_MIRROR=uri and DEBIAN_KEYRING=file.gpg replace
# what is found in /etc/apt and /usr/share/keyrings.

# The Debian archive among this machine's sources: the first with a Debian suite.
mirror() {
    suites='(old)*stable|testing|unstable|sid|bullseye|bookworm|trixie|forky'
    found=$(apt-get update --print-uris |
        sed -nE "s,^'(.*)/dists/($suites)/InRelease'.*,\1,p;T;q")
    [ "$found" ] || die 1 "no Debian mirror in this machine's apt sources (see DEBIAN_MIRROR)"
    echo "$found"
}

# Write the configuration: nothing of the system's but how to reach the network.
configure_apt() {
    rm -rf "$apt/keys"
    mkdir -p "$apt/keys" "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/state/status"
    cat >"$apt/apt.conf" <<-END
	$(apt-config dump | grep -E '^Acquire::(https?|ftp|mirror|Retries|Check-Valid-Until)\>' || :)
	Dir::Etc { Main "/dev/null"; Parts "/dev/null"; SourceParts "/dev/null";
	    Preferences "/dev/null"; PreferencesParts "/dev/null";
	    Trusted "/dev/null"; TrustedParts "$apt/keys"; };
	Dir::State "$apt/state";
	Dir::State::Status "$apt/state/status";
	Dir::Cache "$apt/cache";
	Dir::Cache { PkgCache ""; SrcPkgCache ""; };
	APT::Sandbox::User "root";
	APT::Install-Recommends "false";
	APT::Get::List-Cleanup "false";
	APT::Update::Error-Mode "any";
	Acquire::Languages "none";
	Acquire::GzipIndexes "true";
	Acquire::PDiffs "false";
	END
    keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
    if [ -f "$keyring" ]; then
        cp -L "$keyring" "$apt/keys/machine.gpg"
    else
        cp -L /etc/apt/trusted.gpg.d/* "$apt/keys/"
    fi
}

# with TYPE SUITES COMMAND...: run an apt command that sees only these suites.
with() {
    sources=$tmp/$(echo "$1 $2" | tr ' ' -).list
    for each in $2; do
        echo "$1 [arch=$(dpkg --print-architecture)] $uri $each main"
    done >"$sources"
    shift 2
    APT_CONFIG=$apt/apt.conf "$@" -o Dir::Etc::SourceList="$sources"
}

# look_up TYPE SUITES: fetch the indexes. A suite signed with keys that are too new
# for this machine is tried again with the keys of a suite that can be trusted.
look_up() {
    [ "${uri-}" ] || { configure_apt; uri=${DEBIAN_MIRROR:-$(mirror)}; }
    with "$1" "$2" apt-get update >"$log" 2>&1 && return
    if grep -q NO_PUBKEY "$log"; then
        for trusted in bookworm trixie sid; do
            fetch_keys $trusted && with "$1" "$2" apt-get update >"$log" 2>&1 && return
        done
    fi
    cat "$log" >&2
    grep -q "does not have a Release file" "$log" && die 3 "this mirror lacks a suite of: $2"
    grep -q "Release file .* is expired" "$log" && die 3 "this mirror is out of date in: $2"
    die 1 "can't read the indexes of $2"
}

# Add the Debian keys that a suite's own keyring package holds.
fetch_keys() {
    (
        cd "$tmp"
        with deb "$1" apt-get update && with deb "$1" apt-get download debian-archive-keyring &&
            dpkg-deb -x debian-archive-keyring_*.deb keyring &&
            cp -L keyring/usr/share/keyrings/debian-archive-keyring.gpg "$apt/keys/$1.gpg" &&
            rm -r debian-archive-keyring_*.deb keyring
    ) >/dev/null 2>&1
}
