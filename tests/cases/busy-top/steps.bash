# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# mapped - the addresses that the process maps; the same mapping may have become several
mapped() {
	awk '{ split($1, a, "-"); if (a[1] != end) { print start "-" end; start = a[1] } end = a[2] }
		END { print start "-" end }' "/proc/$TARGET/maps"
}

steps() {
	local sum maps
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer spin old
	maps=$(mapped)
	apply --wait=0.5
	expect_status 1
	expect_message "'spin'.*thread [0-9]+"
	expect_message spinner
	expect_one_message
	[ "$(text_sum)" = "$sum" ] || fail "refused, but the code has changed"
	[ "$(mapped)" = "$maps" ] || fail "what was mapped stays: $(cat "/proc/$TARGET/maps")"
	expect_answer leave old
	apply_fresh
	expect_answer x new
	undo_all "$sum"
	expect_answer x old
	expect_fine
}
