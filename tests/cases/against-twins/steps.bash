# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# create_against FILE - makes the update, matched ahead with that file
create_against() {
	tool uspl-create --source="$WORK/tree" --patch="$CASE/fix.patch" --against="$1" --output="$WORK"
	UPDATE=${output##*$'\n'} ID=$(basename "${output##*$'\n'}" .tar.gz)
	ID=${ID#uspl-}
}

steps() {
	local sum
	cp "$WORK/tree/target" "$WORK/shipped"
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 1
	expect_message "'target' as it is built before the patch could not be patched: 'down' can't be told apart: 2 places"
	expect_message 'hint: an update made with .uspl-create --against=FILE. may know which it is'
	expect_one_message
	ask_all before

	create_against "$WORK/shipped"
	expect_status 0
	walk_applied "$sum"
}
