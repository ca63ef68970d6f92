# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# is_between - true while view shows that threads go over one by one
is_between() {
	tool uspl-view --json "$TARGET" && [[ $output == *'"threads_left":'* ]]
}

# expect_all_waited_for REQUEST WHY - with the thread that this makes none goes over by itself: the
# update isn't applied as long as that is inside, and then at one moment
expect_all_waited_for() {
	expect_answer "$1" '1, 0 mixed'
	apply --by-thread -vv --wait=1
	expect_status 1
	[[ $stderr != *'will go over'* ]] || fail "$1: threads go over one by one: $stderr" || return
	[[ $stderr == *"$2"* ]] || fail "$1: another reason: $stderr" || return
	expect_not_applied
	expect_answer which '1, 0 mixed'
	ask return
	apply --by-thread --wait=50
	expect_status 0
	expect_answer which '10, 0 mixed'
	undo --wait=50
	expect_status 0
	expect_answer which '1, 0 mixed'
}

# begin - an apply that runs on in the background, while threads go over
begin() {
	"$USPL_BIN/uspl-apply" --by-thread --json --wait=50 "$UPDATE" "$TARGET" \
		> "$WORK/said" 2> "$WORK/message" 3>&- &
	tool=$!
	until_true 60 is_between || fail "no thread goes over by itself: $(< "$WORK/message")"
}

# end_with STATUS - the apply that was begun ends so
end_with() {
	local ended
	wait "$tool" 2> /dev/null && ended=0 || ended=$?
	[ "$ended" = "$1" ] || fail "status $ended: $(< "$WORK/message")"
}

# meanwhile LEAVE WHAT ANSWER... - while a thread is inside the program is asked that, and LEAVE,
# which ends the call
meanwhile() {
	local leave=$1 tool
	shift
	expect_answer 'stay 1' '1, 0 mixed'
	begin || return
	while [ $# -gt 0 ]; do
		expect_answer "$1" "$2" || return
		shift 2
	done
	ask "$leave"
	[[ $REPLY == *', 0 mixed' ]] || fail "$leave: $REPLY" || return
	end_with 0 || return
	expect_answer which '10, 0 mixed'
	undo --wait=50
	expect_status 0
	expect_answer which '1, 0 mixed'
}

# other_update - of another function; leaves OTHER and OTHER_ID
other_update() {
	local update=$UPDATE id=$ID
	sed 's/return 5;/return 6;/' "$WORK/tree/target.c" > "$WORK/target.c"
	diff -u --label a/target.c --label b/target.c "$WORK/tree/target.c" "$WORK/target.c" > "$WORK/other.patch" || :
	create "$WORK/tree" "$WORK/other.patch"
	expect_status 0 || return
	OTHER=$UPDATE OTHER_ID=$ID UPDATE=$update ID=$id
}

# expect_finished_by TOOL ARG... - a tool dies while threads go over: this one waits for the thread
# that is inside, and brings the switch to its end before it does its own work
expect_finished_by() {
	local tool
	expect_answer 'stay 1' '1, 0 mixed'
	USPL_WORKER=none begin || return
	kill -KILL "$tool"
	wait "$tool" 2> /dev/null || :
	tool "$@"
	expect_status 4 || return
	expect_message 'left in the middle of its switch' || return
	is_between || fail 'it is not left unfinished' || return
	ask return
	tool "$@"
	expect_status 0 || return
	expect_message "the update '$ID', which a command had left in the middle of its switch, is applied to pid $TARGET now" || return
	expect_answer which '10, 0 mixed' || return
	undo --wait=50
	expect_status 0
}

# finished_by_others - each sort of command that changes something else in the process
finished_by_others() {
	other_update
	expect_finished_by uspl-apply --wait=1 "$OTHER" "$TARGET"
	expect_answer 'other code' 6
	expect_finished_by uspl-undo --wait=1 "$OTHER_ID" "$TARGET"
	expect_answer 'other code' 5
	expect_finished_by uspl-trace start --wait=1 --tracer=function -F other "$TARGET"
	expect_finished_by uspl-trace stop --wait=1 "$TARGET"
}

steps() {
	local sum tool pointers='not every thread has a thread pointer of its own'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	start_quietly
	# For its end by pthread_exit the C library loads another one.
	ask 'stay 1'
	ask end
	sum=$(text_sum)
	expect_all_waited_for shared "$pointers"
	expect_all_waited_for other "$pointers"
	expect_all_waited_for none "$pointers"
	expect_all_waited_for lost 'not to be followed'
	expect_all_waited_for handler 'not to be followed'
	expect_all_waited_for park 'return addresses in memory'
	expect_all_waited_for 'stay 33' 'not to be followed'
	meanwhile return born '10, 0 mixed' deeper '10, 0 mixed'
	# Whoever jumps out is outside, and meets the new code.
	meanwhile jump born '10, 0 mixed'
	# A thread that is born where one has ended has its thread pointer.
	meanwhile end
	expect_answer 'stay 1' '1, 0 mixed'
	begin
	ask end
	ask deeper
	[[ $REPLY == *', 0 mixed' ]] || fail "$REPLY"
	end_with 0
	undo --wait=50
	expect_status 0
	finished_by_others
	[ "$(text_sum)" = "$sum" ] || fail 'the code is not what it was'
	expect_answer 'stay 1' '1, 0 mixed'
	begin
	send exec
	end_with 3
	grep -q 'exec' "$WORK/message" || fail "$(< "$WORK/message")"
	is_between && fail 'the new program has the update'
	expect_untraced
}
