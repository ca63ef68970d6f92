# SPDX-License-Identifier: GPL-3.0-or-later
# mark-owners.bats - probes, the tracer and an update at one function's entry come and go in any
# order
#
# shellcheck disable=SC2030,SC2031 # what a test sets is used in that test
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
	mkdir "$BATS_FILE_TMPDIR/spin"
	(BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR/spin && fixture_of threads-spinning fix.patch '-O2 -DWORKERS=8' &&
		declare -p FIXTURE UPDATE ID | sed 's/^declare -x/declare -gx/' > "$FIXTURE/fixture")
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	declare -gA ON=() SINCE=()
	FUNCTION=greet WORD=hello HITS=0
}

teardown() {
	target_stop
}

# come OWNER, go OWNER - one of: trace, update, entry and exit (probes of the function's entry and
# return)
come() {
	case $1 in
		trace) tool uspl-trace start "$TARGET" -F "$FUNCTION" ;;
		update) apply && WORD=goodbye ;;
		entry*) tool uspl-trace probe --at="$FUNCTION" --session="$1" "$TARGET" "$BATS_TEST_DIRNAME/probe/all.c" ;;
		*) tool uspl-trace probe --at="$FUNCTION:exit" --session="$1" "$TARGET" "$BATS_TEST_DIRNAME/probe/all.c" ;;
	esac
	expect_status 0 || return
	ON[$1]=1 SINCE[$1]=$HITS
}
go() {
	expect_hits "$1" || return
	case $1 in
		trace) tool uspl-trace stop "$TARGET" ;;
		update) undo && WORD=hello ;;
		*) tool uspl-trace mark "$TARGET" off --session="$1" ;;
	esac
	expect_status 0 || return
	unset "ON[$1]"
	[ -z "$HITS" ] || [[ $output != *'still in'* ]] || fail 'somebody stays inside'
}

# trace_is_gone - nobody is in traced calls any more, and their memory is unmapped
trace_is_gone() {
	tool uspl-trace stop "$TARGET"
	[[ $stderr == *'is not traced'* ]]
}

# hits OWNER - how often it has seen a call of the function
hits() {
	if [ "$1" = trace ]; then
		tool uspl-trace report "$TARGET"
		expect_status 0 || return
		awk -v name="$FUNCTION" '$NF == name { n = $1 } END { print n + 0 }' <<< "$output"
	else
		tool uspl-trace cat --session="$1" "$TARGET"
		expect_status 0 || return
		grep -c " $FUNCTION\(:exit\)\?: " <<< "$output" || :
	fi
}

# expect_hits OWNER - it has seen all calls since it came, once. Where HITS is empty they aren't
# counted
expect_hits() {
	local seen
	[ "$1" != update ] && [ -n "$HITS" ] || return 0
	seen=$(hits "$1")
	[ "$seen" = $((HITS - SINCE[$1])) ] || fail "$1 has seen $seen calls, not $((HITS - SINCE[$1]))"
}

# call - the function is called, and does what it is to do
call() {
	expect_answer hello "$WORD, world" || return
	((++HITS))
}

# expect_as_before - nothing of anybody is left
expect_as_before() {
	call && expect_fine || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

# orders WORD... - all orders of the words, one on a line
orders() {
	[ $# -gt 0 ] || { echo && return; }
	local i
	for ((i = 1; i <= $#; i++)); do
		orders "${@:1:i-1}" "${@:i+1}" | sed "s/^/${!i} /"
	done
}

# in_orders TURN OWNER... - they come in all orders, and go each time in that which stands TURN
# lines further down
in_orders() {
	local turn=$1 coming going owner
	shift
	fixture_start
	while read -r coming && read -r going <&4; do
		echo "coming: $coming; going: $going"
		for owner in $coming; do
			come "$owner" && call || return
		done
		for owner in $going; do
			go "$owner" && call || return
		done
	done < <(orders "$@") 4< <((orders "$@" && orders "$@") | tail -n +"$((turn + 1))")
	expect_as_before
}

@test "tracer, update and a probe of the entry: first come, first gone" {
	in_orders 0 trace update entry
}

@test "tracer, update and a probe of the entry: in other orders" {
	in_orders 3 trace update entry
}

@test "tracer, update and a probe of the return: in other orders" {
	in_orders 4 trace update exit
}

@test "five of them, and every thread stopped for the update" {
	SWITCH=--stop
	fixture_start
	local owner
	for owner in entry trace exit update entry2; do
		come "$owner"
		call
	done
	for owner in exit trace update entry2 entry; do
		go "$owner"
		call
	done
	for owner in update entry2 entry exit trace; do
		come "$owner"
		call
	done
	for owner in entry2 update entry trace exit; do
		go "$owner"
		call
	done
	expect_as_before
}

# eight TEXT - the text eight times
eight() {
	echo "$1 $1 $1 $1 $1 $1 $1 $1"
}

# turns TURN... - each is "come OWNER" or "go OWNER"; the threads have the function that they should
# have after each
turns() {
	local turn
	for turn in "$@"; do
		echo "$turn"
		# shellcheck disable=SC2086 # two words
		$turn || return
		[[ $turn != *update ]] || ((++CHANGES))
		expect_answer x "$(eight "$([ -z "${ON[update]:-}" ] && echo 1 || echo 2)/$CHANGES")" || return
	done
}

@test "while eight threads call the function all the time" {
	# shellcheck source=/dev/null
	source "$BATS_FILE_TMPDIR/spin/fixture"
	FUNCTION=version HITS='' CHANGES=1
	fixture_start
	expect_answer start "$(eight 1/1)"
	turns 'come trace' 'come entry' 'come update' 'go trace' 'go update' 'go entry'
	# Threads that were in probes all the time have old words on their stacks, which count as
	# calls.
	until_true 60 trace_is_gone
	turns 'come exit' 'come update' 'come trace' 'go exit' 'go update' 'go trace'
	until_true 60 trace_is_gone
	expect_fine
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

# leave_half_done - apply is killed at one of its last calls that leaves it in the middle of its
# switch
leave_half_done() {
	local from_end
	# From then on its code is there, and the calls are the same each time.
	apply && undo
	choose_calls kill uspl-apply "$UPDATE" "$TARGET"
	for from_end in {1..20}; do
		undo
		inject signal=KILL "${CALLS[-from_end]}" uspl-apply "$UPDATE" "$TARGET"
		tool uspl-view --json "$TARGET"
		[[ $output != *'"interrupted"'* ]] || return 0
	done
	fail 'it is never left half done'
}

@test "an update is left in the middle of its switch: that is completed before its function's probes come or go" {
	# shellcheck source=../lib/crash.bash
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
	fixture_start
	come entry
	leave_half_done
	HITS=''
	come entry2
	[[ $stderr = *"the update '$ID', which a command had left in the middle of its switch, is applied to pid $TARGET now"* ]]
	WORD=goodbye
	expect_answer hello 'goodbye, world'
	expect_answer hello 'goodbye, world'
	go entry
	go entry2
	expect_answer hello 'goodbye, world'
	undo
	expect_status 0
	WORD=hello
	expect_answer hello 'hello, world'
	expect_fine
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}
