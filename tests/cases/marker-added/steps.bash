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

# expect_marked_apply - applies while the old code's marker is on, unless the function begins with
# it
expect_marked_apply() {
	mark on app:old
	apply
	if [ "$status" = 1 ]; then
		grep -q -- -O2 "$WORK/tree/config.mk" || fail 'it does not begin with its marker' || return
		expect_message "'twice' begins with a marker that is on" || return
		expect_message "hint: 'uspl-trace mark [0-9]+ off' ends its session" || return
		# Wherever its jump is.
		tool uspl-trace start -F twice "$TARGET"
		expect_status 0 || return
		apply
		expect_status 1 || return
		expect_message "'twice' begins with a marker that is on" || return
		tool uspl-trace stop "$TARGET"
		mark off
		apply
	fi
	expect_status 0 || return
	expect_answer 5 11 || return
	mark off
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
	expect_status 0
	expect_answer 5 10
	mark off
	expect_status 0
	[ "$(text_sum)" = "$sum" ] || fail "the target's code has changed"
	expect_marked_apply
	expect_records
	undo
	expect_status 0
	expect_fine
}
