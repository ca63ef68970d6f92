# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_answer start '0 wrong, 1'
	for _ in {1..10}; do
		apply
		expect_status 0
		expect_answer x '0 wrong, 2'
		undo
		expect_status 0
		expect_answer x '0 wrong, 1'
	done
	expect_fine
}
