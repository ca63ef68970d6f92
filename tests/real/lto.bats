# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# lto.bats - memcached as a distribution ships it that optimises at the link: built with the flags
# of dpkg-buildflags, stripped, and patched under load

load real

# configure_with_lto - as Debian's tools configure a package that asks for it, and Ubuntu's all
configure_with_lto() {
	(
		cd "$BATS_FILE_TMPDIR/src" || exit
		eval "$(DEB_BUILD_MAINT_OPTIONS='hardening=+all optimize=+lto' dpkg-buildflags --export=sh)"
		[[ $LDFLAGS = *-flto* ]] && ./configure --enable-sasl
	) > "$BATS_FILE_TMPDIR/configure.log" 2>&1 ||
		fail "the source can't be configured: $(tail -n 5 "$BATS_FILE_TMPDIR/configure.log")"
}

# ship - builds it in a copy, and strips what came of it
ship() {
	cp -a "$BATS_FILE_TMPDIR/src" "$BATS_FILE_TMPDIR/built" &&
		make -C "$BATS_FILE_TMPDIR/built" -j"$(nproc)" memcached > "$BATS_FILE_TMPDIR/build.log" 2>&1 ||
		fail "make failed: $(tail -n 5 "$BATS_FILE_TMPDIR/build.log")" || return
	strip -o "$BATS_FILE_TMPDIR/shipped" "$BATS_FILE_TMPDIR/built/memcached"
}

# Fetches and builds; false also if it gave up.
prepare() {
	need_header event.h libevent-dev && need_header sasl/sasl.h libsasl2-dev && source_unpack memcached &&
		configure_with_lto && ship && build_keeper
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

@test "memcached optimised at the link, stripped: no request fails, no connection drops, no key is lost" {
	local version
	server_start ../shipped -u "$(id -un)" -s "$BATS_FILE_TMPDIR/socket" -t 8 -c 512
	version=$("$BATS_FILE_TMPDIR/keeper" ask "$SOCKET" version)

	tool uspl-create --source="$BATS_FILE_TMPDIR/src" --patch="$here/memcached.patch" --target=memcached \
		--build='make memcached' --against="$BATS_FILE_TMPDIR/shipped" --id=lto --output="$BATS_TEST_TMPDIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=lto
	keeper_start memcached 120
	apply_and_undo version "$version" "$version patched"
	apply_and_undo version "$version" "$version patched"
	keeper_stop
	kill -0 "$TARGET"
}
