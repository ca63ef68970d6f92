# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# stock.bats - the binary that Debian ships, stripped and never prepared, is patched from its source
# package under load

load real

# binary_unpack PACKAGE - unpacks the package itself, without installing it, to
# $BATS_FILE_TMPDIR/stock; gives up if it can't be had
binary_unpack() {
	(cd "$BATS_FILE_TMPDIR" && apt-get -qq -o APT::Sandbox::User=root download "$1") > "$BATS_FILE_TMPDIR/apt.log" 2>&1 ||
		give_up "the package $1 can't be had: $(tail -n 1 "$BATS_FILE_TMPDIR/apt.log")" || return
	dpkg-deb -x "$BATS_FILE_TMPDIR"/"$1"_*.deb "$BATS_FILE_TMPDIR/stock"
}

# configure_as_debian - as debian/rules does it, with the package's own options and flags
configure_as_debian() {
	local options
	read -ra options < <(sed -n 's/^[[:space:]]*dh_auto_configure -- //p' "$BATS_FILE_TMPDIR/src/debian/rules") ||
		fail "debian/rules doesn't say how the source is configured"
	(
		cd "$BATS_FILE_TMPDIR/src" || exit
		eval "$(DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --export=sh)"
		autoreconf -fi && ./configure --prefix=/usr "${options[@]}"
	) > "$BATS_FILE_TMPDIR/configure.log" 2>&1 ||
		fail "the source can't be configured: $(tail -n 5 "$BATS_FILE_TMPDIR/configure.log")"
}

# Fetches the binary and the source of the same version; false also if it gave up.
prepare() {
	need autoreconf autoconf && need_header event.h libevent-dev && need_header sasl/sasl.h libsasl2-dev &&
		need_header openssl/ssl.h libssl-dev && binary_unpack memcached && source_unpack memcached &&
		configure_as_debian && build_keeper
}

setup_file() {
	export BATS_TEST_TIMEOUT=1500
	prepare || [ -n "${SKIP_REASON:-}" ]
}

setup() {
	unless_given_up
}

teardown() {
	all_stop
}

@test "stock memcached: stripped, as shipped, running before the update was made" {
	local version
	server_start ../stock/usr/bin/memcached -u "$(id -un)" -s "$BATS_FILE_TMPDIR/socket" -t 8 -c 512
	[[ $(readelf -SW "$BATS_FILE_TMPDIR/stock/usr/bin/memcached") != *.symtab* ]] || skip 'the package is not stripped'
	version=$("$BATS_FILE_TMPDIR/keeper" ask "$SOCKET" version)

	tool uspl-create --source="$BATS_FILE_TMPDIR/src" --patch="$here/memcached.patch" --target=memcached \
		--build=make --id=stock --output="$BATS_TEST_TMPDIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=stock
	keeper_start memcached 120
	apply_and_undo version "$version" "$version patched"
	apply_and_undo version "$version" "$version patched"
	keeper_stop
	kill -0 "$TARGET"
}
