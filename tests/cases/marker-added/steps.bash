# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# mark VERB [GLOB] - on the target
mark() {
	tool uspl-trace mark "$TARGET" "$@"
}

# expect_records - the new code's markers record what it does
expect_records() {
	mark on
	expect_status 0 || return
	expect_answer 7 15 || return
	expect_answer -3 -5 || return
	tool uspl-trace cat "$TARGET"
	expect_output 'app:old: x=7' || return
	expect_output 'app:added: x=7 name=odd half=3.5' || return
	expect_output 'app:weigh: second=7' || return
	expect_output 'app:cold: negative: -3' || return
	[ "$(grep -c app:weigh: <<< "$output")" = 4 ] || fail 'hits of app:weigh' || return
	mark off
	expect_status 0
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	mark list
	[[ $output = *app:old* && $output != *app:added* ]] || fail 'markers before the update'
	walk_applied "$sum"
	apply
	expect_status 0
	expect_records
	mark on app:added
	undo
	expect_status 1
	expect_message 'markers of pid [0-9]+ are on'
	mark off
	undo
	expect_status 0
	[ "$(text_sum)" = "$sum" ] || fail "the target's code has changed"
	apply
	expect_status 0
	expect_records
	undo
	expect_status 0
	expect_fine
}
