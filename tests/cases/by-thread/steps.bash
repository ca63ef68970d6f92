# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# is_between [PID] - true while view shows that threads go over one by one
is_between() {
	tool uspl-view --json "${1:-$TARGET}" && [[ $output == *'"threads_left":'* ]]
}

# begin_and_die TOOL WHAT SIGNAL - sends the signal to an apply or undo while threads go over;
# leaves its status in $status and its message in $stderr
begin_and_die() {
	USPL_WORKER=none "$USPL_BIN/$1" --by-thread --json --wait=50 "$2" "$TARGET" \
		> "$WORK/said" 2> "$WORK/message" 3>&- &
	local tool=$! ended
	until_true 60 is_between || fail "no thread goes over by itself: $(< "$WORK/message")" || return
	kill "-$3" "$tool"
	wait "$tool" 2> /dev/null && ended=0 || ended=$?
	is_between || fail 'it is not left unfinished' || return
	status=$ended output=$(< "$WORK/said") stderr=$(< "$WORK/message")
}

# there_and_back OLD NEW - applies and undoes while the threads are busy
there_and_back() {
	ask 'aim 10'
	apply --by-thread --json --wait=50
	expect_status 0
	expect_output '"way":"quiet"'
	expect_answer which 10
	ask held
	echo "# apply: a nap was late by at most $REPLY" >&3
	expect_answer x '0 mixed, 0 back'
	ask 'aim 1'
	undo --by-thread --json --wait=50
	expect_status 0
	expect_answer which 1
	ask held
	echo "# undo: a nap was late by at most $REPLY" >&3
	expect_answer 'aim 0' '0 mixed, 0 back'
}

# busy_threads - sixteen of them, that no hold finds outside at one moment
busy_threads() {
	expect_answer 'run 16 1000000' '0 mixed, 0 back'
	apply --json --wait=2
	expect_status 1
	expect_output '"error":"busy"'
	expect_answer which 1
	there_and_back
	expect_answer signals '0 mixed, 0 back'
	there_and_back
	expect_answer end '0 mixed, 0 back'
}

# stays_inside - a thread that doesn't leave: all others come back when the time is over
stays_inside() {
	ask 'run 4 20000'
	ask signals
	ask stay
	apply -v --by-thread --json --wait=3
	expect_status 1
	expect_output '"error":"busy"'
	expect_answer which 1
	expect_not_applied
	ask go
	apply --by-thread --wait=50
	expect_status 0
	ask stay
	undo -v --by-thread --json --wait=3
	expect_status 1
	expect_output '"error":"busy"'
	expect_answer which 10
	expect_applied
	ask go
	undo --by-thread --wait=50
	expect_status 0
	expect_answer end '0 mixed, 0 back'
}

# dies_between - what a killed or interrupted command leaves, and how the next one ends it
dies_between() {
	local child
	ask 'run 4 20000'
	ask signals
	ask stay
	begin_and_die uspl-apply "$UPDATE" KILL
	expect_answer which 10
	tool uspl-view "$TARGET"
	expect_output 'by thread, [1-9] left'
	# All others come back.
	apply -v --wait=3
	expect_status 1
	expect_answer which 1
	expect_not_applied
	begin_and_die uspl-apply "$UPDATE" TERM
	[ "$status" = 4 ] || fail "the status is $status"
	[[ $stderr =~ [1-9]' thread'.*' in the old code, and all others in the new code' ]] || fail 'another message'
	expect_output '"error":"unfinished"'
	# The thread that stays is in the old code already.
	undo --wait=50
	expect_status 0
	expect_answer which 1
	expect_not_applied
	begin_and_die uspl-apply "$UPDATE" KILL
	ask fork
	child=$REPLY
	expect_answer child '10, 0 mixed'
	is_between "$child" || fail 'the child is not unfinished'
	tool uspl-apply --wait=50 "$UPDATE" "$child"
	expect_status 0
	! is_between "$child" || fail 'the child is unfinished'
	expect_answer child '10, 0 mixed'
	kill -KILL "$child"
	ask go
	apply --wait=50
	expect_status 0
	expect_answer which 10
	expect_applied
	ask stay
	begin_and_die uspl-undo "$ID" KILL
	expect_answer which 1
	ask fork
	child=$REPLY
	expect_answer child '1, 0 mixed'
	tool uspl-undo --wait=50 "$ID" "$child"
	expect_status 0
	expect_answer child '1, 0 mixed'
	kill -KILL "$child"
	ask go
	undo --wait=50
	expect_status 0
	expect_answer end '0 mixed, 0 back'
}

steps() {
	local sum
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	start_quietly
	sum=$(text_sum)
	busy_threads
	stays_inside
	dies_between
	[ "$(text_sum)" = "$sum" ] || fail 'the code is not what it was'
	expect_fine
}
