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

steps() {
	local sum
	target_start "$WORK/tree"
	expect_answer start "100 threads, text old"
	until_true 10 all_asleep || fail "not all threads block"
	expect_answer x "0 returned, text old"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	apply_fresh
	expect_answer x "0 returned, text new"
	undo_all "$sum"
	expect_answer x "0 returned, text old"
	until_true 10 all_asleep || fail "not all threads are back in their calls"
	expect_answer x "0 returned, text old"
	expect_fine
}
