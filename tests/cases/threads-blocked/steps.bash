# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# all_asleep - true when every thread sleeps in its system call
all_asleep() {
	local task
	for task in "/proc/$TARGET"/task/*; do
		[ "$(status_of State "$task")" = S ] || return 1
	done
}

# The target writes down what System V objects it has made, as options of ipcrm.
cleanup() {
	[ ! -s "$WORK/tree/ipc" ] || xargs ipcrm < "$WORK/tree/ipc"
}

# expect_undisturbed TEXT - fails if a call has returned, or if the target answers with another text
expect_undisturbed() {
	expect_answer x "0 returned, text $1"
	until_true 60 all_asleep || fail "not all threads are back in their calls"
	expect_answer x "0 returned, text $1"
}

steps() {
	local sum
	target_start "$WORK/tree"
	expect_answer start "74 calls, text old"
	until_true 60 all_asleep || fail "not all threads block"
	expect_undisturbed old
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	apply_fresh
	expect_undisturbed new
	undo_all "$sum"
	expect_undisturbed old
	# A stop of all threads can't hide that they had done a part: docs/limitations.md.
	[ -n "${SWITCH:-}" ] || expect_answer partial '0 returned'

	apply --stop
	expect_status 0
	expect_undisturbed new
	undo --stop
	expect_status 0
	expect_undisturbed old
	expect_fine
}
