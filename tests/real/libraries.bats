# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# libraries.bats - zlib and expat as Debian ships them, stripped, in a small program that uses them:
# patched from their source packages
#
# The program was built without any of uspl, and runs before the update is made.

load libraries

setup_file() {
	export BATS_TEST_TIMEOUT=1500
}

setup() {
	library_setup
}

teardown() {
	target_stop
}

@test "zlib: a getter, and inflate()" {
	local name version
	source_of zlib
	stock_of zlib1g z
	# As debian/rules does it, for the machine's own architecture alone.
	configure_in "$SRC" env CFLAGS="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS) \
		-Wall -D_REENTRANT -O3 -DUNALIGNED_OK" ./configure --shared --prefix=/usr
	client_start z "$SRC"
	name=$(sed -n 's/^SHAREDLIBV=//p' "$SRC/Makefile") version=${name#libz.so.}
	tool uspl-create --source="$SRC" --patch="$here/zlib.patch" --build="make $name" --id=zlib --output="$DIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=zlib
	expect_in_update inflate zlibVersion
	library_patched "$version: incorrect header check, works" "$version patched: no header, works"
}

@test "expat: messages, and the parser's main function" {
	local version
	need autoreconf autoconf || skip "$SKIP_REASON"
	# Of the second one, binary and source were both kept.
	source_of expat expat=2.5.0-1+deb12u2
	stock_of libexpat1 expat
	configure_in "$SRC/expat" env CFLAGS="$(dpkg-buildflags --get CFLAGS) -Wall" sh -c \
		'./buildconf.sh && ./configure --prefix=/usr --without-docbook --without-xmlwf --without-examples --without-tests'
	client_start expat "$SRC/expat/lib"
	ask x
	version=${REPLY%%:*}
	tool uspl-create --source="$SRC/expat" --patch="$here/expat.patch" --build='make -C lib libexpat.la' \
		--id=expat --output="$DIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=expat
	expect_in_update doContent XML_ErrorString
	library_patched "$version: mismatched tag at 8, works" "$version: another end tag was due at 6, works"
}
