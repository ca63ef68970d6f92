# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# begin VERSION - lets the target go into the function and stay there
begin() {
	send hold
	receive
	[ "$REPLY" = "holding $1" ] || fail "the target says '$REPLY'"
}

# finish VERSION - lets it out again
finish() {
	send go
	receive
	[ "$REPLY" = "done $1" ] || fail "the target says '$REPLY'"
	ASKED=$((ASKED + 1))
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	begin old
	apply --wait=0.5
	expect_status 1
	expect_message "'hold'.*thread $TARGET"
	expect_message 'next_line < wait_for_line < hold'
	expect_one_message
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	expect_not_applied
	finish old
	apply_fresh
	begin new
	finish new
	undo_all "$sum"
	begin old
	finish old
	expect_fine
}
