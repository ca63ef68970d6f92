# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# crowded REQUEST... - starts the target anew, with its neighbourhood full, and makes the requests
crowded() {
	local request
	target_gone
	target_start "$WORK/tree" || return
	for request in fill "$@"; do
		expect_answer "$request" "done" || return
	done
	expect_answer 1 "old 1 1 1"
}

# works - the update is applied, does what it should, and is taken back, twice
works() {
	apply_fresh || return
	expect_answer 2 "new two 12 101 1" || return
	expect_answer 7 "new many 23 102 1" || return
	undo && expect_status 0 || return
	expect_answer 1 "old 1 24 1" || return
	apply_fresh || return
	expect_answer 3 "new three 35 103 1" || return
	undo && expect_status 0 || return
	expect_answer 1 "old 1 36 1" || return
	expect_fine
}

steps() {
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0

	crowded "free a page"
	works
	crowded
	works

	crowded "fill slack"
	apply
	expect_status 1
	expect_message "no page within reach of 'describe' is free for a jump to its new code"
	expect_not_applied
	expect_answer 1 "old 1 2 1"
	expect_fine
}
