# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# hold_target - stops the target as a user would, and waits until it stands
hold_target() {
	kill -STOP "$TARGET"
	until_true 60 stands || fail "the target does not stop"
}

# stands - true while the target is stopped
stands() {
	[ "$(status_of State)" = T ]
}

steps() {
	local sum
	target_start "$WORK/tree"
	expect_answer x old
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	hold_target
	apply_fresh
	stands || fail "the target goes on after apply"
	kill -CONT "$TARGET"
	expect_answer x new
	hold_target
	undo_all "$sum"
	stands || fail "the target goes on after undo"
	kill -CONT "$TARGET"
	expect_answer x old
	expect_fine
}
