# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer start '12 wait'
	expect_answer late '0 are back'
	apply --stop
	expect_status 0
	expect_answer x new
	undo --stop
	expect_status 0
	expect_answer x old
	expect_answer end 'all well'
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was"
	expect_fine
}
