# SPDX-License-Identifier: GPL-3.0-or-later
# libraries.bats - zlib and expat as Debian ships them, stripped, in a small program that uses them: patched from their source packages
#
# The program was built without any of uspl, and runs before the update is made.

load real

setup() {
	DIR=$BATS_TEST_TMPDIR SRC=$BATS_TEST_TMPDIR/src STOCK=$BATS_TEST_TMPDIR/stock
	export BATS_TEST_TIMEOUT=600
}

teardown() {
	target_stop
}

# source_of PACKAGE[=VERSION]... - unpacks the first of these that can be had to $SRC; skips the test if there is none
source_of() {
	local package reason status
	for package in "$@"; do
		status=0
		reason=$("$here/source.sh" "$package" "$SRC") || status=$?
		[ "$status" = 77 ] || break
	done
	[ "$status" != 77 ] || skip "$reason"
	[ "$status" = 0 ] || fail "source.sh ended with status $status: $reason"
}

# stock_of PACKAGE NAME - unpacks the binary package of the source's version to $STOCK; LIBS is where its libNAME.so lies
stock_of() {
	local package
	package=$1=$(dpkg-parsechangelog -l "$SRC/debian/changelog" -S Version)
	(cd "$DIR" && apt-get -qq -o APT::Sandbox::User=root download "$package") > "$DIR/apt.log" 2>&1 ||
		skip "the package $package can't be had: $(tail -n 1 "$DIR/apt.log")"
	dpkg-deb -x "$DIR"/"$1"_*.deb "$STOCK"
	LIBS=$(dirname "$(find "$STOCK" -name "lib$2.so.*" -type f)")
}

# configure_in DIR COMMAND... - configures the source there with the flags of Debian packages
configure_in() {
	(
		cd "$1" && shift || exit
		eval "$(dpkg-buildflags --export=sh)"
		"$@"
	) > "$DIR/configure.log" 2>&1 || fail "the source can't be configured: $(tail -n 5 "$DIR/configure.log")"
}

# client_start NAME INCLUDE_DIR - builds the program against the stock library, and starts it with that
client_start() {
	mkdir "$DIR/run"
	ln -sf "$(basename "$LIBS"/lib"$1".so.*.*)" "$LIBS/lib$1.so"
	gcc -O2 "-DUSE_${1^^}" -I"$2" -o "$DIR/run/target" "$here/libclient.c" -L"$LIBS" -l"$1" -Wl,-rpath="$LIBS"
	target_start "$DIR/run"
	grep -q "$LIBS/lib$1.so" "/proc/$TARGET/maps" || fail "the program doesn't use the stock library"
}

# library_patched OLD NEW - the whole way with an update in UPDATE: what the program answers before and after
library_patched() {
	local sum
	sum=$(text_sum)
	for _ in 1 2; do
		expect_answer x "$1"
		apply
		expect_status 0
		echo "$output"
		expect_applied
		expect_answer x "$2"
		undo
		expect_status 0
		expect_answer x "$1"
		[ "$(text_sum)" = "$sum" ] || fail 'the code differs from what it was before'
	done
	expect_untraced
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
