# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# round [OPTION]... - applies and undoes, and asks all threads
round() {
	apply "$@" --json
	expect_status 0
	expect_answer all '0 old, 1024 new'
	undo "$@"
	expect_status 0
	expect_answer all '1024 old, 0 new'
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer start ''
	expect_answer all '1024 old, 0 new'
	apply --check --json
	expect_status 0
	expect_output '"threads":1025,'
	round
	round --stop
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was"
	expect_fine
}
