# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_busy FUNCTION - fails unless apply refuses because of it, and changes nothing
expect_busy() {
	apply --wait=0.2
	expect_status 1
	expect_message "'$1' is on the stack of thread [0-9]+"
	expect_one_message
	expect_answer_or_wait
	[ "$(text_sum)" = "$SUM" ] || fail "refused, but the code has changed"
}

# expect_answer_or_wait - asks, unless the target waits in the middle of a request
expect_answer_or_wait() {
	[ -n "$WAITS" ] || expect_answer x 1
}

# end_handler - lets the handler return
end_handler() {
	send go
	receive
	[ "$REPLY" = 1 ] || fail "the target says '$REPLY'"
	ASKED=$((ASKED + 1))
}

steps() {
	local kind
	target_start "$WORK/tree"
	SUM=$(text_sum) WAITS=
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	for kind in handler altstack; do
		send "$kind"
		receive
		[ "$REPLY" = inside ] || fail "the target says '$REPLY'"
		WAITS=1
		expect_busy handled
		end_handler
	done
	WAITS=
	for kind in timed crowded last; do
		expect_answer "$kind" 1
		expect_busy "$kind"
		expect_answer leave 1
	done
	apply --json
	expect_status 0
	expect_answer x 2
	undo_all "$SUM"
	expect_fine
}
