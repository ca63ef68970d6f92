# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum child
	target_start "$WORK/tree"
	expect_answer x old
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	apply_fresh
	expect_answer x new
	ask fork
	child=$REPLY
	expect_answer x new
	tool uspl-view --json --id="$ID"
	expect_output "\"pid\": *${child}[^0-9]"
	expect_output "\"pid\": *${TARGET}[^0-9]"
	tool uspl-undo "$ID"
	expect_status 0
	expect_answer x old
	[ "$(text_sum)" = "$sum" ] || fail "the parent's code is not as it was before"
	expect_fine
}
