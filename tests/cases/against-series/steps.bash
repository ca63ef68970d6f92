# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

# apply_next DOWN UP - the update is applied; the twins answer so then
apply_next() {
	apply_fresh || return
	expect_answer 1 "$1" || return
	expect_answer 0 "$2"
}

# create_second - the second update of the series once more, by itself, from the tree with the first
# one's patch in it
create_second() {
	rm -rf "$WORK/patched"
	cp -r "$WORK/tree" "$WORK/patched"
	patch -s -p1 -d "$WORK/patched" < "$CASE/patches/less.patch"
	tool uspl-create --source="$WORK/patched" --patch="$CASE/patches/even-less.patch" --output="$WORK" --id=second \
		--against="$WORK/shipped" "$@"
}

steps() {
	local sum
	cp "$WORK/tree/target" "$WORK/shipped"
	target_start "$WORK/tree"
	sum=$(text_sum)
	series_create "$CASE/patches/series" --against="$WORK/shipped"
	[ "${#UPDATES[@]}" = 4 ]
	expect_answer 1 16
	use 1
	apply_next 14 16
	use 2
	apply_next 13 16
	use 3
	apply_next 13 115
	undo_each 3 2 1
	[ "$(text_sum)" = "$sum" ]
	expect_answer 1 16

	create_second
	expect_status 1
	expect_message "'.*/shipped' doesn't match the source: 'down' "
	create_second --after="${UPDATES[1]}"
	expect_status 0
	UPDATES[2]=${output##*$'\n'} IDS[2]=second
	use 1
	apply_next 14 16
	use 2
	apply_next 13 16
	expect_fine
}
