# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum i
	target_start "$WORK/tree" || return
	sum=$(text_sum)
	expect_answer start 1 || return
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0 || return
	for i in {1..8}; do
		apply --wait=30
		expect_status 0 || return
		expect_answer "$i" 2 || return
		undo --wait=30
		expect_status 0 || return
		expect_answer "$i" 1 || return
	done
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before" || return
	expect_fine
}
