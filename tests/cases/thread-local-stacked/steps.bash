# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# step N - makes and applies the update of one more diff; keeps it in updates and ids
step() {
	create "$WORK/tree" "$CASE/step$1.diff"
	expect_status 0 || return
	apply_fresh || return
	updates[$1]=$UPDATE ids[$1]=$ID
	patch -s -p1 -d "$WORK/tree" < "$CASE/step$1.diff"
}

# take N - from now on it is about that update
take() {
	UPDATE=${updates[$1]} ID=${ids[$1]}
}

steps() {
	local sum
	local -a updates ids
	target_start "$WORK/tree" || return
	expect_answer main 'main 1' || return
	sum=$(text_sum)
	step 1 || return
	expect_answer main 'main 2, 101, 1' || return
	expect_answer worker 'worker 1, 101, 1' || return
	step 2 || return
	expect_answer main 'main 3, 102, 11, 6' || return
	expect_answer worker 'worker 2, 102, 11, 6' || return
	expect_answer thread 'thread 1, 101, 10, 6' || return
	step 3 || return
	expect_answer main 'main 4, 103, 26, 5!' || return
	expect_answer worker 'worker 3, 103, 26, 5!' || return
	expect_answer thread 'thread 1, 101, 16, 6!' || return

	take 1
	undo
	expect_status 1 || return
	expect_message "${ids[2]}|${ids[3]}" || return
	take 3
	undo --wait=10
	expect_status 0 || return
	expect_answer main 'main 5, 104, 36, 4' || return
	apply_fresh || return
	expect_answer main 'main 6, 105, 49, 3!' || return
	undo --wait=10
	expect_status 0 || return
	take 2
	undo --wait=10
	expect_status 0 || return
	expect_answer main 'main 7, 106, 50' || return
	take 1
	undo_all "$sum" || return
	expect_answer main 'main 8' || return
	expect_fine
}
