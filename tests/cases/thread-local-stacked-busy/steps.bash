# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# refused TOOL - the thread is in the way
refused() {
	"$1" --wait=0.5
	expect_status 1 || return
	expect_message "'bump'.*thread [0-9]+" || return
	expect_one_message
}

steps() {
	local sum
	local -a first
	target_start "$WORK/tree" || return
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/step1.diff"
	expect_status 0 || return
	apply_fresh || return
	expect_answer ask 'first 1' || return
	first=("$UPDATE" "$ID")
	patch -s -p1 -d "$WORK/tree" < "$CASE/step1.diff"
	create "$WORK/tree" "$CASE/step2.diff"
	expect_status 0 || return

	expect_answer hold held || return
	refused apply || return
	expect_answer ask 'first 2' || return
	expect_answer leave 'first 1' || return
	apply_fresh || return
	expect_answer ask 'second 3' || return

	expect_answer hold held || return
	refused undo || return
	expect_answer leave 'second 1' || return
	undo --wait=10
	expect_status 0 || return
	expect_answer ask 'first 4' || return
	UPDATE=${first[0]} ID=${first[1]}
	undo_all "$sum" || return
	expect_answer ask old || return
	expect_fine
}
