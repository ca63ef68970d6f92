# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	apply_fresh
	hold_in new
	undo --wait=0.5
	expect_status 1
	expect_message "'hold'.*thread $TARGET"
	expect_one_message
	expect_applied
	let_out new
	undo_all "$sum"
	hold_in old
	apply --wait=0.5
	expect_status 1
	expect_not_applied
	let_out old
	expect_fine
}
