# SPDX-License-Identifier: GPL-3.0-or-later
# libraries.bash - helpers: a library as Debian ships it, in a small program that uses it, and the
# library's source package
#
# The program is libclient.c. Everything lies in the test's own folder: source in $SRC, the unpacked
# binary package in $STOCK.

# shellcheck source=real.bash
load ../real/real

# library_setup - for setup: the folders of a test
library_setup() {
	DIR=$BATS_TEST_TMPDIR SRC=$BATS_TEST_TMPDIR/src STOCK=$BATS_TEST_TMPDIR/stock
}

# source_of PACKAGE[=VERSION]... - unpacks the first of these that can be had to $SRC; skips the
# test if there is none
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

# stock_of PACKAGE NAME - unpacks the binary package of the source's version to $STOCK; LIBS is
# where its libNAME.so lies
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

# client_start NAME INCLUDE_DIR - builds the program against the stock library, and starts it with
# that
client_start() {
	mkdir "$DIR/run" || return
	ln -sf "$(basename "$LIBS"/lib"$1".so.*.*)" "$LIBS/lib$1.so"
	gcc -O2 "-DUSE_${1^^}" -I"$2" -o "$DIR/run/target" "$here/libclient.c" -L"$LIBS" -l"$1" -Wl,-rpath="$LIBS"
	target_start "$DIR/run"
	grep -q "$LIBS/lib$1.so" "/proc/$TARGET/maps" || fail "the program doesn't use the stock library"
}

# library_patched OLD NEW - the whole way with an update in UPDATE: what the program answers before
# and after
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
