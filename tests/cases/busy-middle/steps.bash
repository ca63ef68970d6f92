# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	hold_in old
	apply --wait=0.5
	expect_status 1
	expect_message "'hold'.*thread $TARGET"
	expect_message 'next_line < wait_for_line < hold'
	expect_one_message
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	expect_not_applied
	let_out old
	apply_fresh
	hold_in new
	let_out new
	undo_all "$sum"
	hold_in old
	let_out old
	expect_fine
}
