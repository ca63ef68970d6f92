# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	expect_answer 1 'old 2'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	for round in 1 2; do
		apply_fresh
		expect_answer 1 'new no 2!'
		expect_answer 1 'new no 2!!'
		expect_answer labels 1
		ask add
		expect_answer 2 'new no 9!'
		expect_answer labels 2
		ask drop
		expect_answer labels 1
		undo_all "$sum"
		expect_answer labels 0
		expect_answer 1 'old 2'
	done
	expect_fine
}
