# SPDX-License-Identifier: GPL-3.0-or-later
# trace-parked.bats - stop, and the end of probes, while stacks that no thread is on wait in such
# calls, or were left in one for good
#
# shellcheck disable=SC2030,SC2031 # output is bats' own
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-parked -O2 -std=c++20
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/shadow.bash"
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace-parked -O2 -std=c++20
}

teardown() {
	target_stop
}

# trace_all - traces what runs on the stacks
trace_all() {
	trace start -F run -F deep -F yield -F jumper -F leaver -F step -F 'count*'
	expect_status 0
}

# expect_off [N] - stops; nobody is inside; N or more calls were made to return without it
expect_off() {
	trace stop --json
	expect_status 0 || return
	[ "$(jq -c '[.state, .inside, .parked]' <<< "$output")" = '["off",0,false]' ] || fail "$output" || return
	[ "$(jq .put_back <<< "$output")" -ge "${1:-0}" ] || fail "$output"
}

# expect_taken [N] - the same; nothing of it is left
expect_taken() {
	expect_off "$@" || return
	expect_trace_ended
}

@test "coroutines that wait in traced calls: all of it goes at once, and they return right" {
	local way
	for way in mapped heap own jump; do
		trace_all
		expect_answer "$way" 0
		expect_taken 7
		expect_answer go 6
	done
}

@test "coroutines that were left for good" {
	local way
	for way in mapped heap own jump; do
		trace_all
		expect_answer "$way" 0
		expect_answer go 6
		[ "$way" != heap ] || expect_answer free 6
		expect_taken
		[ "$way" = heap ] || expect_answer again 6
	done
}

@test "calls that a thread's end or longjmp has left, and coroutines without a stack" {
	trace_all
	expect_answer thread 0
	expect_answer counter 2
	expect_taken
	expect_answer counter 5
}

@test "a stack that isn't understood keeps the memory; --force leads its calls back before it takes it" {
	trace_all
	expect_answer hidden 0
	trace stop
	expect_status 0
	expect_output "a stack that no thread is on may lead back into calls that were traced, and isn't understood"
	tool uspl-trace status --json
	[ "$(jq -r "select(.pid == $TARGET) | .state" <<< "$output")" = draining ] || fail status
	trace stop --json
	[ "$(jq -c '[.state, .inside, .parked]' <<< "$output")" = '["draining",1,true]' ] || fail "$output"
	trace stop --force
	expect_status 0
	expect_output '[0-9]+ calls on stacks that no thread is on .*: made to return without the tracer'
	expect_trace_ended
	expect_answer go 6
}

@test "in a process with a shadow stack they are left alone, --force or not" {
	can_show_features
	trace_all
	expect_answer hidden 0
	for force in '' --force; do
		with_features 'shstk ' uspl-trace stop --json $force "$TARGET"
		expect_status 0
		[ "$(jq -c '[.state, .put_back, .parked]' <<< "$output")" = '["draining",0,true]' ] || fail "$output"
	done
	trace stop --force
	expect_status 0
	expect_trace_ended
	expect_answer go 6
}

# probe SESSION - a program at the return of deep
probe() {
	tool uspl-trace probe --at=deep:exit --session="$1" "$TARGET" "$BATS_TEST_DIRNAME/probe/all.c"
	expect_status 0
}

# off SESSION - it ends, although calls wait that it waits for
off() {
	tool uspl-trace mark "$TARGET" off --session="$1"
	expect_status 0
	expect_output '6 calls on stacks that no thread is on .*: made to return without probes'
	[[ $output != *'memory stays'* ]] || fail 'the memory stays'
}

@test "coroutines that wait in calls whose return probes wait for" {
	local way
	for way in mapped own; do
		probe a
		probe b
		expect_answer "$way" 0
		off a
		off b
		expect_answer go 6
	done
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "coroutines that wait in calls that are traced and whose return a probe waits for, whichever ends first" {
	local first
	for first in trace probe; do
		probe a
		trace start -F deep
		expect_status 0
		expect_answer own 0
		if [ "$first" = trace ]; then
			expect_off 6
			off a
		else
			off a
			expect_off 6
		fi
		expect_answer go 6
	done
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "a stack that isn't understood keeps the memory of probes, unless it is taken by force" {
	probe a
	expect_answer hidden 0
	tool uspl-trace mark "$TARGET" off --session=a
	expect_status 0
	expect_output "a stack that no thread is on may lead back into probes, and isn't understood"
	tool uspl-trace mark "$TARGET" off --session=a --force
	expect_status 0
	expect_output '[0-9]+ calls on stacks that no thread is on .*: made to return without probes'
	tool uspl-trace mark "$TARGET" off --session=a
	expect_status 1
	expect_message 'no marker of pid [0-9]+ is on'
	expect_answer go 6
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}
