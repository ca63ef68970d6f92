# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local sum ways=
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer start ''
	expect_answer all '24 old, 0 new'
	# On a machine that others use a thread may not get a processor in time: one of five is
	# enough.
	until [[ $ways = *'"quiet"'* ]]; do
		[ "$(wc -w <<< "$ways")" -lt 5 ] || fail "all threads are stopped each time: $ways" || return
		apply --wait=60 --json
		expect_status 0
		ways+=" $(grep -oE '"way": *"[^"]*"' <<< "$output" | tr -d ' ')"
		expect_answer all '0 old, 24 new'
		undo --wait=60
		expect_status 0
		expect_answer all '24 old, 0 new'
	done
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was"
	expect_fine
}
