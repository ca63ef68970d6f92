# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local first sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/step1.diff"
	expect_status 0
	first=$ID
	apply_fresh
	expect_answer 'twice 4' 80
	patch -s -p1 -d "$WORK/tree" < "$CASE/step1.diff"
	create "$WORK/tree" "$CASE/step2.diff"
	expect_status 0
	apply_fresh
	expect_answer 'twice 4' 800
	expect_answer 'thrice 4' 12
	undo
	expect_status 0
	ID=$first
	undo_all "$sum"
	expect_answer 'twice 4' 8
	expect_fine
}
