# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# eight TEXT - the text eight times
eight() {
	echo "$1 $1 $1 $1 $1 $1 $1 $1"
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_answer start "$(eight 1/1)"
	apply_fresh
	expect_answer x "$(eight 2/2)"
	undo_all "$sum"
	expect_answer x "$(eight 1/3)"
	expect_fine
}
