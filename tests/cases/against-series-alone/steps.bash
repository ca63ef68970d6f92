# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

steps() {
	local sum
	cp "$WORK/tree/target" "$WORK/shipped"
	target_start "$WORK/tree"
	sum=$(text_sum)
	series_create "$CASE/patches/series" --against="$WORK/shipped"
	[ "${#UPDATES[@]}" = 4 ]
	expect_answer abc 'old 1 6 3'
	use 1
	apply_fresh
	expect_answer abc 'first: 2 6 3'
	use 2
	apply_fresh
	expect_answer abc 'first: 103 6 3'
	use 3
	apply_fresh
	expect_answer abc 'first: 104 7 4'
	undo_each 3 2 1
	[ "$(text_sum)" = "$sum" ]
	expect_answer abc 'old 5 6 3'
	expect_fine
}
