# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# mappings - a checksum of what the target maps, and with which rights
mappings() {
	sha256sum < "/proc/$TARGET/maps"
}

# expect_unchanged - fails if the code or the mappings are not what they were when SUM and MAPS were
# taken
expect_unchanged() {
	[ "$(text_sum)" = "$SUM" ] || fail "the code has changed"
	[ "$(mappings)" = "$MAPS" ] || fail "the mappings have changed"
	expect_untraced
}

# alone - true once the target has only its main thread
alone() {
	[ "$(find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]
}

steps() {
	local plain
	target_start "$WORK/tree"
	plain=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	SUM=$plain MAPS=$(mappings)
	apply --check
	expect_status 0
	expect_output "^$ID can be applied to pid $TARGET: 2 functions, (1 thread stood still for|no thread has to be stopped, calls would wait) [0-9]+ us$"
	[ -z "$stderr" ] || fail "it complains"
	apply --check --json
	expect_status 0
	expect_process "$TARGET" ready
	expect_output '"threads":1,"stop_us":[0-9]+,"blockers":\[\]'
	expect_unchanged

	# Nobody can stop a process and look at it in half a microsecond.
	apply --check --max-pause=0.001ms
	expect_status 1
	expect_output "can't be applied"
	expect_message 'may stand still'
	apply --json --wait=0.2 --max-pause=0.001ms
	expect_status 1
	expect_output '"error":"pause"'
	expect_message 'may stand still'
	expect_one_message
	[ "$(text_sum)" = "$SUM" ] || fail "the code has changed"
	expect_not_applied
	MAPS=$(mappings)

	hold_in old
	apply --check
	expect_status 1
	expect_output "can't be applied to pid $TARGET now: 1 of 1 thread is in the way"
	expect_output "thread $TARGET \(target\): 'hold' in .*next_line < wait_for_line < hold"
	expect_message "'hold'.*thread $TARGET"
	expect_one_message
	let_out old
	expect_answer start ok
	MAPS=$(mappings)
	apply --check --json
	expect_status 1
	expect_process "$TARGET" busy
	expect_output '"thread":"looper","function":"loop","chain":"[^"]*loop < [^"]*","proven":true,"outermost":true'
	expect_message 'first of its thread'
	expect_unchanged
	expect_answer stop ok
	until_true 60 alone || fail "the thread does not end"

	apply_fresh
	SUM=$(text_sum) MAPS=$(mappings)
	apply --check
	expect_status 0
	expect_output 'already applied'
	undo --check
	expect_status 0
	expect_output "^$ID can be undone in pid $TARGET: 2 functions"
	expect_unchanged
	hold_in new
	undo --check --json
	expect_status 1
	expect_output '"function":"hold"'
	let_out new
	expect_unchanged
	undo --wait=0 --max-pause=0.001ms
	expect_status 1
	expect_message 'may stand still'
	expect_unchanged
	undo_all "$plain"
	apply --max-pause=20
	expect_status 0
	undo_all "$plain"
	expect_fine
}
