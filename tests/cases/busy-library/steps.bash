# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer begin 0
	apply --wait=0.5
	expect_status 1
	expect_message "'wait_for'.*thread [0-9]+"
	expect_message 'hint: .*wait longer with --wait'
	expect_one_message
	expect_answer finish 1
	apply_fresh
	expect_answer x 2
	undo_all "$sum"
	expect_answer x 1
	expect_fine
}
