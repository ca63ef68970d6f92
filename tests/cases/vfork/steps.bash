# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_shared - fails unless the last tool has refused because of the child
expect_shared() {
	expect_status 1 || return
	expect_one_message || return
	expect_message "runs in the memory of pid .* without being a thread of it.*hint: .*vfork"
}

steps() {
	local sum child
	target_start "$WORK/tree"
	expect_answer hello 'hello, world'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer begin begun
	child=$(pgrep -P "$TARGET")
	sum=$(text_sum)
	apply --wait=0.2
	expect_shared
	tool uspl-apply --wait=0.2 "$UPDATE" "$child"
	expect_shared
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	expect_answer end ended
	expect_not_applied
	apply_fresh
	expect_answer hello 'goodbye, world'
	expect_answer begin begun
	undo --wait=0.2
	expect_shared
	expect_answer hello 'goodbye, world'
	expect_answer end ended
	undo_all "$sum"
	expect_answer hello 'hello, world'
	expect_fine
}
