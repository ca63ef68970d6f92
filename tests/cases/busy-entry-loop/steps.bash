# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer spin spinning
	apply --wait=3
	expect_status 1
	expect_message "'spin'.*thread [0-9]+"
	expect_one_message
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	expect_answer leave left
	apply_fresh
	expect_answer x new
	undo_all "$sum"
	expect_answer x old
	expect_fine
}
