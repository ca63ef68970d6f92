# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# made_from STEP - makes the update of that step from the tree as it is, and keeps its path and id
made_from() {
	create "$WORK/tree" "$CASE/step$1.diff" || return
	expect_status 0 || return
	UPDATES[$1]=$UPDATE IDS[$1]=$ID
}

# use STEP - the update that apply and undo mean from now on
use() {
	UPDATE=${UPDATES[$1]} ID=${IDS[$1]}
}

steps() {
	local sum
	declare -a UPDATES IDS
	target_start "$WORK/tree"
	sum=$(text_sum)
	expect_answer tally 1
	made_from 1
	patch -s -p1 -d "$WORK/tree" < "$CASE/step1.diff"
	made_from 2

	use 2
	apply
	expect_status 1
	use 1
	apply_fresh
	expect_answer tally 101011
	use 2
	apply_fresh
	expect_answer tally 1020031

	use 1
	undo
	expect_status 1
	expect_message "'${IDS[2]}' builds on it"
	expect_answer tally 1030051
	use 2
	undo
	expect_status 0
	expect_answer tally 104061
	use 1
	undo_all "$sum"
	expect_answer tally 62
	expect_fine
}
