# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# round [OPTION]... - applies and undoes, and asks what threads and handlers see
round() {
	apply "$@"
	expect_status 0
	expect_answer 2 '0 amiss'
	undo "$@"
	expect_status 0
	expect_answer 1 '0 amiss'
}

steps() {
	local i sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer start ''
	expect_answer 1 '0 amiss'
	for ((i = 0; i < 3; i++)); do
		round
		round --stop
	done
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was"
	expect_fine
}
