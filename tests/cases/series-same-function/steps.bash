# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	series_create "$CASE/patches/series"
	[ "${#UPDATES[@]}" = 3 ]

	use 2
	apply
	expect_status 1
	expect_answer tally 1
	use 1
	apply_fresh
	expect_answer tally 1002
	use 2
	apply_fresh
	expect_answer tally 2004

	use 1
	undo
	expect_status 1
	expect_message "'${IDS[2]}' builds on it"
	use 2
	undo
	expect_status 0
	expect_answer tally 1005
	use 1
	undo_all "$sum"
	expect_answer tally 6
	expect_fine
}
