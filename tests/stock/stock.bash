# SPDX-License-Identifier: GPL-3.0-or-later
# stock.bash - helpers: programs as Debian ships them, and the source packages that they were built
# from
#
# stock/archive.bash says what is kept.

load ../real/real
load archive

# A whole package is built the first time.
export TOOL_SECONDS=1500

# stock_prepare BINARY SOURCE VERSION... - the first of these versions that the archive has both of;
# gives up if none
stock_prepare() {
	local binary=$1 source=$2 version missing
	shift 2
	for version in "$@"; do
		stock_unpack "$binary" "$source" "$version" || continue
		missing=$(cd "$STOCK/src" && dpkg-checkbuilddeps 2>&1) ||
			give_up "${missing##*error: } (apt-get build-dep $source)" || return
		export STOCK
		return 0
	done
	give_up "the archive has no version of $binary with its source: ${*:-none}"
}

# create_stock PATCH... - makes an update of the stock program; TARGET_NAME is its path in the
# build, ID its id
create_stock() {
	tool uspl-create --source="$STOCK/src" --prebuild="$STOCK/prebuild" --target="$TARGET_NAME" --id="$ID" \
		--output="$BATS_TEST_TMPDIR" "$@"
	expect_status 0 || return
	UPDATE=${lines[-1]}
}
