# SPDX-License-Identifier: GPL-3.0-or-later
# trace-nops.bats - entries of several NOPs, which are made one so that nobody has to be stopped for
# a jump
bats_require_minimum_version 1.5.0

FIVE='-O2 -fpatchable-function-entry=5'

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	fixture_of ../cmd/trace-nops fix.patch "$FIVE"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
}

teardown() {
	target_stop
}

# expect_quiet - one call of `prepared` is recorded, by a start and a stop without one stop for
# bytes
expect_quiet() {
	trace start -v -F prepared
	expect_status 0 || return
	expect_message 'the NOPs of 1 functions are one each now' || return
	[[ $stderr != *'stop: 1 sites'* ]] || fail 'threads were stopped for it' || return
	expect_answer 6 7 || return
	trace report
	expect_calls prepared 1 || return
	expect_trace_stops
}

# begin_start - a start that waits: a thread stands among the NOPs, which are one now; STARTER is
# the tool
begin_start() {
	fixture_start
	ask bytes
	OWN=$REPLY
	expect_answer stand 1
	"$USPL_BIN/uspl-trace" start -v -F prepared "$TARGET" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	STARTER=$!
	until_true 60 grep -qs '1 threads stand among NOPs' "$BATS_TEST_TMPDIR/said" ||
		fail "it doesn't wait: $(cat "$BATS_TEST_TMPDIR/said")" || return
	expect_answer bytes 6666666690
}

# expect_own - the bytes are the program's own, and all of its code
expect_own() {
	expect_answer bytes "$OWN" || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

@test "of one byte, in front of the function, too, and behind a landing mark" {
	local flags
	for flags in "$FIVE" '-O2 -fpatchable-function-entry=16' '-O2 -fpatchable-function-entry=8,3' "$FIVE -fcf-protection=full"; do
		build trace-nops "$flags"
		rm -rf "$BATS_TEST_TMPDIR/run"
		start trace-nops "$flags"
		expect_quiet || fail "with $flags"
		target_stop
	done
}

@test "a thread that stands among them is waited for" {
	begin_start
	expect_answer leave 42
	wait "$STARTER" || fail "start ends with $?: $(cat "$BATS_TEST_TMPDIR/said")"
	expect_answer 1 2
	trace report
	expect_calls prepared 1
	expect_trace_stops
	expect_own
}

@test "a start that is interrupted while it waits puts the NOPs back" {
	begin_start
	kill -TERM "$STARTER"
	! wait "$STARTER" || fail 'start ends as if nothing had been'
	expect_own
	expect_answer leave 42
	expect_trace_ended
}

@test "a tool that is killed while it waits: no update goes there, and stop puts the NOPs back" {
	export USPL_WORKER=none
	begin_start
	kill -KILL "$STARTER"
	wait "$STARTER" || true
	expect_answer bytes 6666666690
	expect_answer 1 2
	apply
	expect_status 1
	expect_message "the first bytes of 'prepared' are as a 'uspl-trace start' that didn't come to its end has left them"
	expect_message "hint: 'uspl-trace stop $TARGET' puts them back"
	trace stop
	expect_status 0
	expect_own
	expect_answer leave 42
	apply
	expect_status 0
	expect_answer 1 3
	undo
	expect_status 0
	expect_own
	expect_trace_ended
}

@test "where code can't be made writable they are written in stops" {
	fixture_start
	ask lock
	[ "$REPLY" = 1 ] || skip 'the kernel has no memory-deny-write-execute'
	trace start -v -F prepared
	expect_status 0
	expect_message 'all sites are written in stops'
	expect_answer 6 7
	trace report
	expect_calls prepared 1
	expect_trace_stops
}

@test "a child that is born while they are one has a stop of its own" {
	local child sum
	begin_start
	ask fork
	child=$REPLY
	expect_answer leave 42
	wait "$STARTER" || fail "start ends with $?: $(cat "$BATS_TEST_TMPDIR/said")"
	tool uspl-trace stop "$child"
	sum=$(TARGET=$child text_sum)
	kill -KILL "$child"
	expect_status 0
	[ "$sum" = "$SUM" ] || fail "the child's code has changed"
	expect_trace_stops
	expect_own
}
