# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

steps() {
	target_start "$WORK/tree"
	series_create "$CASE/patches/series"
	[ "${#UPDATES[@]}" = 4 ]
	expect_answer x 1
	use 1
	apply_fresh
	expect_answer x 11
	use 2
	apply_fresh
	expect_answer x 111
	expect_answer x 112
	use 3
	apply_fresh
	expect_answer x 1113
	undo
	expect_status 0
	expect_answer x 114
	expect_fine
}
