# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

# change N WANTED - applies the N-th update; the answer is as wanted then
change() {
	use "$1"
	apply_fresh && expect_answer 5 "$2"
}

# keeps N BUILDER - fails unless the N-th update can't be undone, because of the other
keeps() {
	use "$1"
	undo
	expect_status 1 && expect_message "'${IDS[$2]}' builds on it"
}

# take_back N WANTED - undoes the N-th update
take_back() {
	use "$1"
	undo
	expect_status 0 && expect_answer 5 "$2"
}

# refuse_neighbour - the second function can't be changed while the first one is
refuse_neighbour() {
	use 2
	apply
	expect_status 1 || return
	expect_message "the first bytes of 'same' are part of the jump that update '${IDS[1]}' .*'nothing'" || return
	expect_message "hint: undo '${IDS[1]}' first"
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	series_create "$CASE/patches/series"
	expect_answer 5 "0 5"

	change 1 "7 5"
	refuse_neighbour
	expect_answer 5 "7 5"
	change 3 "8 5"
	keeps 1 3
	take_back 3 "7 5"
	take_back 1 "0 5"
	[ "$(text_sum)" = "$sum" ]

	change 2 "0 6"
	change 1 "7 6"
	keeps 2 1
	change 3 "8 6"
	take_back 3 "7 6"
	take_back 1 "0 6"
	use 2
	undo_all "$sum"
	expect_answer 5 "0 5"
	expect_fine
}
