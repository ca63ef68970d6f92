# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	ask guard
	[ "$REPLY" = guarded ] || skip "the kernel has no guard regions"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	apply_fresh
	expect_answer hello 'goodbye, world'
	tool uspl-trace start "$TARGET" -F greet
	expect_status 0
	expect_answer hello 'goodbye, world'
	tool uspl-trace stop "$TARGET"
	expect_status 0
	undo_all "$sum"
	expect_answer hello 'hello, world'
	apply --stop
	expect_status 0
	undo --stop
	expect_status 0
	expect_answer hello 'hello, world'
	expect_fine
}
