# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# apply_and_undo - a tool has left return addresses, and is still there
apply_and_undo() {
	expect_answer call 1
	expect_answer look some
	apply --wait=1
	expect_status 0
	expect_answer call 2
	undo --wait=1
	expect_status 0
	expect_answer call 1
}

steps() {
	local sum parent
	target_start "$WORK/tree"
	sum=$(text_sum)
	expect_answer call 1
	expect_answer look none
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	tool uspl-trace start "$TARGET" -F step
	expect_status 0
	apply_and_undo
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_answer look none
	tool uspl-trace probe --at=step:exit --session=a "$TARGET" "$USPL_TESTS/cmd/probe/all.c"
	expect_status 0
	apply_and_undo
	tool uspl-trace mark "$TARGET" off --session=a
	expect_status 0
	[ "$(text_sum)" = "$sum" ] || fail 'the code is not what it was'
	expect_fine
	tool uspl-trace start "$TARGET" -F step
	expect_status 0
	expect_answer call 1
	ask fork
	parent=$TARGET TARGET=$REPLY
	apply_and_undo
	expect_fine
	kill -KILL "$TARGET"
	TARGET=$parent
}
