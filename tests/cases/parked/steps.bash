# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	local way sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	for way in mapped allocated own jump; do
		expect_answer "$way" 'old parked'
		apply --wait=0.3
		expect_status 1
		expect_message "'part'"
		expect_message 'no thread is on'
		expect_one_message
		apply --check
		expect_status 1
		expect_output "stack that no thread is on now: 'part'"
		expect_answer end 'old finished'
		apply
		expect_status 0
		undo_all "$sum"
	done
	send main
	receive
	[ "$REPLY" = aside ] || fail "the target says '$REPLY'"
	apply --wait=0.3
	expect_status 1
	expect_message "'part_main'"
	send go
	receive
	[ "$REPLY" = 'old finished' ] || fail "the target says '$REPLY'"
	ASKED=$((ASKED + 1))
	apply_fresh
	undo_all "$sum"
	expect_fine
}
