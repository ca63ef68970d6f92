# SPDX-License-Identifier: GPL-3.0-or-later
# trace-calls.bats - calls in odd places, counted by the program that makes them, and by uspl-trace
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-calls -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace-calls -O2
}

teardown() {
	target_stop
}

# gone - how many records were overwritten, as the last tool said
gone() {
	local n
	n=$(sed -n 's/^# \([0-9]*\) older records.*/\1/p' <<< "$output")
	echo "${n:-0}"
}

# unsure - how many were being recorded when it looked, or seemed to be
unsure() {
	local n
	n=$(sed -n 's/^# \([0-9]*\) calls were being recorded.*/\1/p' <<< "$output")
	echo "${n:-0}"
}

# kept - how many calls cat has printed: a line that ends a call, or is all of it
kept() {
	grep -cE '\(\);$|/\* .* \*/$| <- ' <<< "$output"
}

# storm_run SIGNALS OPTION... - signals in traced code and traced handlers: every call is a record,
# or is said to be gone
storm_run() {
	trace start -F pulse -F on_blast "${@:2}"
	expect_status 0 || return
	ask_for_work "storm $1" || return
	trace cat
	expect_status 0 || return
	[[ $output != *'could not be recorded'* ]] || fail 'calls could not be recorded' || return
	[ $(($(kept) + $(gone) + $(unsure))) = "$REPLY" ] ||
		fail "$(kept) kept, $(gone) gone, $(unsure) unsure, of $REPLY calls" || return
	expect_trace_stops
}

# cycle - true if each thread's lines of the function tracer go swing, tick, tock, swing, ...
# without a gap
cycle() {
	awk '!/^#/ {
		n = split($1, at, "-"); thread = at[n]; name = $(NF - 2)
		if (thread in last && next_of[last[thread]] != name) { print "after " last[thread] ": " $0; bad = 1 }
		last[thread] = name
	}
	BEGIN { next_of["swing"] = "tick"; next_of["tick"] = "tock"; next_of["tock"] = "swing" }
	END { exit bad }' <<< "$output"
}

@test "a storm of signals: graph" {
	storm_run "${STORM:-3000}"
}

@test "a storm of signals: function" {
	storm_run "${STORM:-3000}" --tracer=function --buffer=64
}

@test "what is read from a process at full speed is in order, and without a gap" {
	trace start --tracer=function -F swing -F tick -F tock --buffer=64
	expect_status 0
	expect_answer swing 3
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		trace cat
		expect_status 0
		[ "$(kept)" -gt 1000 ] || fail 'there is next to nothing in it'
		cycle || fail 'calls are missing or in disorder'
	done
	ask halt
	trace cat
	cycle || fail 'calls are missing or in disorder'
	[ $(($(kept) + $(gone))) = $((3 * REPLY)) ] || fail "not all of 3 times $REPLY calls"
	expect_trace_stops
}

# ticks_in_swing N - true if so many threads have called swing, and it tick
ticks_in_swing() {
	trace cat --format=folded
	expect_status 0 && [ "$(grep -c 'swing;tick ' <<< "$output")" -ge "$1" ]
}

@test "the same with durations" {
	trace start -F swing -F tick -F tock --buffer=64
	expect_answer swing 3
	# The third thread may have to wait for a processor.
	until_true 60 ticks_in_swing 3 || fail 'tick is not in swing'
	[[ $output != *'tick;'* && $output != *'tock;'* && $output != *'swing;swing'* ]] || fail 'calls in the wrong place'
	ask halt
	trace cat
	[ $(($(kept) + $(gone))) = $((3 * REPLY)) ] || fail "not all of 3 times $REPLY calls"
	expect_trace_stops
}

@test "stacks as small as can be" {
	trace start
	expect_answer 'tiny 50' 1000
	trace report
	expect_calls tiny $((50 * 21))
	expect_nothing_lost
	expect_trace_stops
}

@test "signal handlers on a stack of their own" {
	trace start
	expect_answer 'alt 100' 100
	trace report
	expect_calls on_alt 100
	expect_calls tiny 400
	expect_nothing_lost
	expect_trace_stops
}

@test "threads that end, and are cancelled, inside traced calls" {
	# Its first time loads a library.
	expect_answer 'cancel 1' 1
	SUM=$(text_sum)
	trace start
	expect_answer 'quit 20' 20
	expect_answer 'cancel 20' 20
	expect_answer 'tiny 1' 20
	trace report
	expect_calls tiny 21
	expect_nothing_lost
	expect_trace_stops
	trace start --tracer=function
	expect_answer 'quit 20' 20
	expect_answer 'tiny 1' 20
	trace cat
	[ "$(grep -c ': quitter <- ' <<< "$output")" = 220 ] || fail 'calls that never return are missing'
	expect_trace_stops
}

@test "the allocator" {
	# Standard input and output get their buffers.
	expect_answer 'heap 1' 1
	trace start --module='libc.so*' -F malloc -F free
	expect_status 0
	expect_answer 'heap 500' 500
	trace report
	expect_calls malloc 500
	expect_calls free 500
	expect_trace_stops
	trace start --module='libc.so*' -F __libc_malloc -N cfree
	expect_answer 'heap 500' 500
	trace report
	expect_calls malloc 500
	[ -z "$(calls free)" ] || fail 'free was not asked for'
	expect_trace_stops
	trace start --module='*'
	expect_answer 'heap 500' 500
	expect_answer 'tiny 5' 100
	expect_trace_stops
}

@test "threads of a process that may not map memory" {
	[ "$(id -u)" = 0 ] || skip 'only root can suspend a filter'
	expect_answer park 3
	expect_answer confine 0
	trace start -F tiny
	expect_status 0
	expect_answer unpark 0
	trace report
	expect_calls tiny 631
	expect_nothing_lost
	expect_trace_stops
}

@test "a process that has taken most addresses" {
	expect_answer take 2
	trace start
	expect_status 0
	expect_answer 'heap 1' 1
	expect_answer 'tiny 50' 1000
	trace report
	expect_calls answer 2
	expect_calls tiny 1050
	expect_nothing_lost
	expect_trace_stops
}

@test "before main" {
	target_stop
	rm "$TARGET_DIR"/requests "$TARGET_DIR"/answers
	EARLY=1 target_start "$TARGET_DIR"
	SUM=$(text_sum)
	trace start -F early
	expect_status 0
	send go
	expect_answer early 10
	trace report
	expect_calls early 10
	expect_nothing_lost
	expect_trace_stops
}

@test "exec ends tracing, and who follows" {
	trace start -F tiny
	timeout 60 "$USPL_BIN/uspl-trace" cat --follow "$TARGET" > "$BATS_TEST_TMPDIR/out" &
	local follower=$!
	expect_answer 'tiny 2' 40
	until_true 60 grep -q tiny "$BATS_TEST_TMPDIR/out"
	send exec
	wait "$follower" || fail "cat --follow ends with status $?"
	[ "$(grep -c 'tiny()' "$BATS_TEST_TMPDIR/out")" -ge 2 ] || fail 'records are missing'
	ASKED=0
	expect_answer 'tiny 2' 40
	trace cat
	expect_status 1
	expect_message 'is not traced'
	trace start -F tiny
	expect_answer 'tiny 2' 40
	trace report
	expect_calls tiny 42
	expect_trace_stops
}
