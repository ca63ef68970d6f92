# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_words PARENT CHILD - fails unless the two answer that
expect_words() {
	expect_answer x "$1" || return
	expect_answer child "$2"
}

steps() {
	local sum child
	target_start "$WORK/tree"
	ask fork
	child=$REPLY
	expect_words old old
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	apply_fresh
	expect_words new old
	tool uspl-view --json
	[[ ! $output =~ \"pid\":\ *${child}[^0-9] ]] || fail "view says that the child has the update"
	tool uspl-apply --json "$UPDATE" "$child"
	expect_status 0
	expect_process "$child" applied
	expect_words new new
	undo_all "$sum"
	expect_words old new
	apply_fresh
	expect_words new new
	tool uspl-undo "$ID"
	expect_status 0
	[ "${#lines[@]}" = 2 ] || fail "not one line for each process"
	expect_words old old
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before"
	expect_fine
}
