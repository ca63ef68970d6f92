# SPDX-License-Identifier: GPL-3.0-or-later
# openssl.bats - libcrypto as Debian ships it is patched from its source package; its build takes
# long

load ../real/libraries

setup() {
	library_setup
}

teardown() {
	target_stop
}

@test "OpenSSL: two functions of libcrypto" {
	local version
	# Of the second one, binary and source were both kept.
	source_of openssl openssl=3.0.20-1~deb12u2
	stock_of libssl3 crypto
	export DEB_BUILD_MAINT_OPTIONS='hardening=+all future=+lfs'
	# As debian/rules does it.
	configure_in "$SRC" ./Configure shared --prefix=/usr --openssldir=/usr/lib/ssl \
		--libdir="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" no-idea no-mdc2 no-rc5 no-zlib no-ssl3 \
		enable-unit-test no-ssl3-method enable-rfc3779 enable-cms no-capieng no-rdrand \
		enable-ec_nistp_64_gcc_128 debian-amd64
	client_start crypto "$SRC/include"
	ask x
	version=${REPLY%%:*}
	tool uspl-create --source="$SRC" --patch="$BATS_TEST_DIRNAME/openssl.patch" --id=openssl --output="$DIR" \
		--build="make -j$(nproc) build_generated libcrypto.so"
	expect_status 0
	UPDATE=${lines[-1]} ID=openssl
	expect_in_update OpenSSL_version_num X509_verify_cert_error_string
	library_patched "$version: certificate has expired, works" "$((version + 1)): too old a certificate, works"
}
