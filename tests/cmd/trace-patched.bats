# SPDX-License-Identifier: GPL-3.0-or-later
# trace-patched.bats - a function that is traced is patched, and a patched one traced, in any order
# of coming and going
#
# shellcheck disable=SC2030,SC2031 # status is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
	mkdir "$BATS_FILE_TMPDIR/busy" "$BATS_FILE_TMPDIR/spin" "$BATS_FILE_TMPDIR/parked"
	(BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR/busy && fixture_of busy-middle fix.patch && keep)
	(BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR/spin && fixture_of threads-spinning fix.patch '-O2 -DWORKERS=8' && keep)
	(BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR/parked && fixture_of parked fix.patch && keep)
}

# keep - notes the fixture for take
keep() {
	declare -p FIXTURE UPDATE ID | sed 's/^declare -x/declare -gx/' > "$FIXTURE/fixture"
}

# take NAME - makes another fixture than the usual one the test's
take() {
	# shellcheck source=/dev/null
	source "$BATS_FILE_TMPDIR/$1/fixture"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
}

teardown() {
	target_stop
}

# trace SUBCOMMAND [OPTION]... - on the target
trace() {
	tool uspl-trace "$@" "$TARGET"
}

# calls FUNCTION - how many calls of it there are by the report
calls() {
	trace report
	expect_status 0 || return
	awk -v name="$1" '$NF == name { print $1 }' <<< "$output"
}

# expect_traced N - greet has been called as often since the start
expect_traced() {
	local seen
	seen=$(calls greet)
	[ "$seen" = "$1" ] || fail "greet was called '$seen' times, not $1"
}

# start_trace [OPTION]...
start_trace() {
	trace start "$@" -F greet
	expect_status 0 || return
	SAID=0
}

# stop_trace - stops, and takes the memory as well
stop_trace() {
	trace stop
	expect_status 0 || return
	if [[ $output == *'still in calls'* ]]; then
		ask hello
		trace stop
		expect_status 0
	fi
}

# say WORD [traced] - the program says hello or goodbye; if it is traced, the call is seen
say() {
	expect_answer hello "$1, world" || return
	[ -z "${2:-}" ] || expect_traced $((++SAID))
}

# patch, unpatch - apply and undo, both good
patch() {
	apply "$@"
	expect_status 0 && expect_applied
}
unpatch() {
	undo "$@"
	expect_status 0 && expect_not_applied
}

# expect_as_before - nothing of it is left
expect_as_before() {
	say hello && expect_fine || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

@test "traced, patched; the update leaves first" {
	fixture_start
	start_trace
	say hello traced
	patch
	say goodbye traced
	unpatch
	say hello traced
	stop_trace
	expect_as_before
}

@test "traced, patched; the trace leaves first" {
	fixture_start
	start_trace
	say hello traced
	patch
	say goodbye traced
	stop_trace
	say goodbye
	unpatch
	expect_as_before
}

@test "patched, traced; the update leaves first" {
	fixture_start
	patch
	say goodbye
	start_trace
	say goodbye traced
	unpatch
	say hello traced
	stop_trace
	expect_as_before
}

@test "patched, traced; the trace leaves first" {
	fixture_start
	patch
	say goodbye
	start_trace
	say goodbye traced
	stop_trace
	say goodbye
	unpatch
	expect_as_before
}

@test "both come and go again and again, with every thread stopped or not" {
	fixture_start
	local tracer stop
	for tracer in graph function profile count; do
		for stop in '' --stop; do
			# shellcheck disable=SC2086 # no argument if it is empty
			{
				start_trace --tracer="$tracer"
				patch $stop
				unpatch $stop
				patch $stop
				stop_trace
				say goodbye
				start_trace --tracer="$tracer"
				unpatch $stop
				say hello
				patch $stop
				say goodbye
				stop_trace
				unpatch $stop
				expect_as_before
			}
		done
	done
}

# eight TEXT - the text eight times
eight() {
	echo "$1 $1 $1 $1 $1 $1 $1 $1"
}

@test "while eight threads call the function all the time" {
	take spin
	fixture_start
	expect_answer start "$(eight 1/1)"
	local i n=1
	for i in 1 2 3 4 5 6; do
		trace start
		expect_status 0
		apply
		expect_status 0
		((++n))
		expect_answer x "$(eight 2/$n)"
		((i % 2)) || { trace stop && expect_status 0; }
		undo
		expect_status 0
		((++n))
		expect_answer x "$(eight 1/$n)"
		((i % 2)) && { trace stop && expect_status 0; }
		until_true 60 trace_is_gone
	done
	expect_fine
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

# trace_is_gone - nobody is in traced calls any more (as who waits for a line is), and their memory
# is unmapped
trace_is_gone() {
	ask x
	trace stop
	[[ $stderr == *'is not traced'* ]]
}

@test "a function that waits within traced calls is busy, and free when it has returned" {
	take busy
	fixture_start
	trace start
	expect_status 0
	send hold
	receive
	[ "$REPLY" = 'holding old' ]
	apply --wait=0
	expect_status 1
	expect_message "'hold'"
	apply --wait=0 --stop
	expect_status 1
	expect_message "'hold'"
	send go
	receive
	[ "$REPLY" = 'done old' ]
	ASKED=$((ASKED + 1))
	apply
	expect_status 0
	send hold
	receive
	[ "$REPLY" = 'holding new' ]
	undo --wait=0
	expect_status 1
	trace stop
	expect_status 0
	[[ $output != *'still in calls'* ]] || fail 'the memory stays'
	undo --wait=0
	expect_status 1
	send go
	receive
	[ "$REPLY" = 'done new' ]
	ASKED=$((ASKED + 1))
	undo
	expect_status 0
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "functions of programs built with -pg, whose profiler's calls are gone" {
	local flags
	for flags in '-O2 -pg' '-O2 -pg -mfentry' '-O2 -pg -fno-pie -no-pie'; do
		WORK=$BATS_TEST_TMPDIR/${flags// /} CASE=$USPL_TESTS/cases/body
		mkdir "$WORK"
		tree_build "$flags"
		create "$WORK/tree" "$CASE/fix.patch"
		expect_status 0
		target_start "$WORK/tree"
		start_trace
		expect_output 'quietened [0-9]+ calls of mcount'
		SUM=$(text_sum)
		patch
		say goodbye traced
		stop_trace
		say goodbye
		unpatch
		say hello
		patch
		say goodbye
		unpatch
		say hello
		expect_fine
		target_stop
	done
}

@test "the old function waits on a stack that no thread is on, behind a call that is traced" {
	take parked
	fixture_start
	local way
	for way in mapped own; do
		trace start -F deeper -F leave
		expect_status 0
		expect_answer "$way" 'old parked'
		apply --wait=0
		expect_status 1
		expect_message "'part'"
		expect_message 'no thread is on'
		trace stop
		expect_status 0
		expect_output 'calls? on stacks that no thread is on .*: made to return without the tracer'
		apply --wait=0
		expect_status 1
		expect_message "'part'"
		expect_answer end 'old finished'
		apply
		expect_status 0
		undo
		expect_status 0
	done
	expect_fine
}

@test "the main stack waits in a traced call, and a coroutine answers meanwhile" {
	take parked
	fixture_start
	trace start -F part_main -F answer
	expect_status 0
	send main
	receive
	[ "$REPLY" = aside ] || fail "the target says '$REPLY'"
	trace stop
	expect_status 0
	expect_output 'calls on stacks that no thread is on .*: made to return without the tracer'
	[[ $output != *'memory stays'* ]] || fail 'the memory stays'
	send go
	receive
	[ "$REPLY" = 'old finished' ] || fail "the answer is '$REPLY'"
	ASKED=$((ASKED + 1))
	trace stop
	expect_status 1
	expect_message 'is not traced'
	expect_fine
}
