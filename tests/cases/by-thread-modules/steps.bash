# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# is_between - true while view shows that threads go over one by one
is_between() {
	tool uspl-view --json "$TARGET" && [[ $output == *'"threads_left":'* ]]
}

# killed_between TOOL WHAT - kills an apply or undo while threads go over
killed_between() {
	USPL_WORKER=none "$USPL_BIN/$1" --by-thread --wait=50 "$2" "$TARGET" > "$WORK/said" 2>&1 3>&- &
	local tool=$!
	until_true 60 is_between || fail "no thread goes over by itself: $(< "$WORK/said")" || return
	kill -KILL "$tool"
	wait "$tool" 2> /dev/null || :
	is_between || fail 'it is not left unfinished'
}

# start_quietly - starts the target where its functions can have trampolines
start_quietly() {
	for _ in {1..20}; do
		target_start "$WORK/tree"
		expect_answer x '0 mixed' || return
		apply --check --json
		expect_status 0 || return
		! grep -q '"way":"quiet"' <<< "$output" || return 0
		target_stop
		rm -f "$WORK/tree/requests" "$WORK/tree/answers"
	done
	fail 'no target has room for trampolines'
}

steps() {
	local sum
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	start_quietly
	sum=$(text_sum)
	expect_answer 'run 8' '0 mixed'
	for _ in 1 2; do
		apply --by-thread --json --wait=50
		expect_status 0
		expect_output '"way":"quiet"'
		expect_output '"module":"libinner.so"'
		expect_answer which 10
		undo --by-thread --json --wait=50
		expect_status 0
		expect_answer which 1
	done
	expect_answer stay '0 mixed'
	killed_between uspl-apply "$UPDATE"
	expect_answer which 10
	expect_answer go '0 mixed'
	apply --wait=50
	expect_status 0
	expect_answer which 10
	expect_answer stay '0 mixed'
	killed_between uspl-undo "$ID"
	expect_answer which 1
	# The thread that stays is in the new code already.
	apply --wait=50
	expect_status 0
	expect_answer which 10
	expect_answer go '0 mixed'
	undo --by-thread --wait=50
	expect_status 0
	expect_answer which 1
	expect_answer end '0 mixed'
	[ "$(text_sum)" = "$sum" ] || fail 'the code is not what it was'
	expect_fine
}
