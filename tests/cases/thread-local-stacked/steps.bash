# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum first
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/step1.diff"
	expect_status 0
	apply_fresh
	expect_answer main 'main 1, 101, 1'
	patch -s -p1 -d "$WORK/tree" < "$CASE/step1.diff"
	first=("$UPDATE" "$ID")

	create "$WORK/tree" "$CASE/step2.diff"
	expect_status 0
	apply
	expect_status 1
	expect_message "'bump' isn't the code that the update was made from"
	expect_not_applied
	expect_answer main 'main 2, 102, 2'

	UPDATE=${first[0]} ID=${first[1]}
	undo_all "$sum"
	expect_answer main 'main 3'
	expect_fine
}
