# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer join together
	apply --wait=0.2
	expect_status 1
	expect_one_message
	expect_message "in the memory of pid $TARGET"
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	expect_not_applied
	expect_answer part alone
	apply_fresh
	expect_answer hello 'goodbye, world'
	undo_all "$sum"
	expect_answer hello 'hello, world'
	expect_fine
}
