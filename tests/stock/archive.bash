# SPDX-License-Identifier: GPL-3.0-or-later
# archive.bash - helpers: binary and source packages of the same version, fetched from Debian's
# archive
#
# The binary package is unpacked, never installed. What is fetched and built once is kept below
# ${XDG_CACHE_HOME:-$HOME/.cache}/uspl/stock, by package and version: the source (src), the binary
# (bin), the build before the patch (prebuild, by uspl-create) and, for tests/stock/figures, the
# build without uspl (plain).

archive_dir=${BASH_SOURCE[0]%/*}

# versions PACKAGE - the versions that the archive has, the newest first
versions() {
	apt-cache madison "$1" 2> /dev/null | awk -F ' *[|] *' '/Packages$/ { print $2 }'
}

# deb_unpack PACKAGE VERSION DIR - unpacks the binary package to DIR; false if it can't be had
deb_unpack() {
	local fetched status=0
	fetched=$(mktemp -d) || return
	(cd "$fetched" && apt-get -qq -o APT::Sandbox::User=root download "$1=$2") > /dev/null 2>&1 &&
		dpkg-deb -x "$fetched"/*.deb "$3" || status=1
	rm -rf "$fetched"
	return "$status"
}

# stock_unpack BINARY SOURCE VERSION - one version, to $STOCK/bin and $STOCK/src; false if the
# archive lacks either
stock_unpack() {
	STOCK=${XDG_CACHE_HOME:-$HOME/.cache}/uspl/stock/$2_${3#*:}
	[ ! -e "$STOCK/complete" ] || return 0
	rm -rf "$STOCK"
	mkdir -p "$STOCK"
	if deb_unpack "$1" "$3" "$STOCK/bin" && "$archive_dir/../real/source.sh" "$2=$3" "$STOCK/src" > "$STOCK/log" 2>&1; then
		touch "$STOCK/complete"
	else
		rm -rf "$STOCK"
		return 1
	fi
}
