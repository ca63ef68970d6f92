# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	series_create "$CASE/patches/series"
	[ "${#UPDATES[@]}" = 4 ]
	expect_answer tally 1

	use 1
	apply_fresh
	expect_answer tally 11
	use 2
	apply_fresh
	expect_answer tally 1021
	use 3
	apply_fresh
	expect_answer tally 3031

	undo
	expect_status 0
	expect_not_applied
	expect_answer tally 4041
	use 2
	undo
	expect_status 0
	expect_not_applied
	expect_answer tally 51
	use 1
	undo_all "$sum"
	expect_answer tally 52
	expect_fine
}
