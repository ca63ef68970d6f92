# SPDX-License-Identifier: GPL-3.0-or-later
# trace-sites.bats - a hundred thousand sites of both kinds are switched while threads run through
# them all
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-sites -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace-sites -O2
}

teardown() {
	target_stop
}

# trace_all [OPTION]... - traces them
trace_all() {
	trace start -F 'room*' -F 'plain*' "$@"
}

# expect_off - stops, and again as long as somebody is in a traced call; the threads leave each at
# once
expect_off() {
	until_true 60 is_off || fail 'somebody stays in traced calls' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

is_off() {
	trace stop
	[[ $status = 0 && $output != *'still in calls'* ]]
}

# begin_switch SUBCOMMAND [OPTION]... - begins a switch, and returns when some of its sites have
# been written; SWITCHER is the tool
begin_switch() {
	rm -f "$BATS_TEST_TMPDIR/said"
	"$USPL_BIN/uspl-trace" "$1" -v "${@:2}" "$TARGET" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	SWITCHER=$!
	until_true 60 grep -qs 'stop: [0-9]* sites' "$BATS_TEST_TMPDIR/said" ||
		fail "nothing is switched: $(cat "$BATS_TEST_TMPDIR/said")"
}

@test "on, and off: how many, and how long it took" {
	trace_all --buffer=16384
	expect_status 0
	expect_output "^tracing pid $TARGET: 100000 functions, stopped [0-9]+ us, switched in [0-9]+ us\$"
	expect_answer all 100000
	"$USPL_BIN/uspl-trace" report "$TARGET" > "$BATS_TEST_TMPDIR/report"
	! grep -E 'overwritten|could not be recorded' "$BATS_TEST_TMPDIR/report" || fail 'records are lost'
	[ "$(awk '$NF ~ "^(room|plain)[0-9]+$" { n += $1 == 1 } END { print n }' "$BATS_TEST_TMPDIR/report")" = 100000 ] ||
		fail 'not each function was called once'
	trace stop
	expect_status 0
	expect_output "^stopped tracing pid $TARGET: 100000 functions, stopped [0-9]+ us, switched in [0-9]+ us"
	expect_answer all 100000
	expect_trace_ended
}

@test "again and again, while threads call them" {
	expect_answer begin 2
	for _ in 1 2; do
		trace_all
		expect_status 0
		expect_answer rounds 0
		expect_off
		expect_answer rounds 0
	done
	expect_answer end 0
	expect_fine
}

@test "threads and children that are born in the midst of it" {
	local born
	for born in 'begin 2' 'fork 0'; do
		begin_switch start -F 'room*' -F 'plain*'
		# shellcheck disable=SC2086 # a request and its answer
		expect_answer $born
		wait "$SWITCHER" || fail "start ends with status $?: $(cat "$BATS_TEST_TMPDIR/said")"
		expect_answer fork 0
		expect_off
	done
	expect_answer rounds 0
	expect_answer end 0
	expect_fine
}

@test "some of them, then others" {
	expect_answer begin 2
	trace start -F 'room*7' -F 'plain1*'
	expect_status 0
	expect_output ': 16111 functions,'
	expect_answer rounds 0
	expect_off
	trace start -F 'room*' -F 'plain*' -N '*5'
	expect_status 0
	expect_output ': 90000 functions,'
	expect_answer rounds 0
	expect_off
	expect_answer end 0
}

@test "a tool that is killed in the midst of it leaves sites of both kinds, and stop ends that" {
	expect_answer begin 2
	for _ in 1 2; do
		begin_switch start -F 'room*' -F 'plain*'
		kill -KILL "$SWITCHER" || true # it may have come to its end
		wait "$SWITCHER" || true
		expect_answer rounds 0
		expect_off
		expect_answer rounds 0
	done
	expect_answer end 0
	expect_fine
}

@test "the program is killed in the midst of it" {
	expect_answer begin 2
	begin_switch start -F 'room*' -F 'plain*'
	kill -KILL "$TARGET"
	wait "$TARGET" 2> /dev/null || true
	ended=0
	wait "$SWITCHER" || ended=$?
	((ended == 0 || ended == 3)) || fail "status $ended: $(cat "$BATS_TEST_TMPDIR/said")"
	[[ $ended = 0 || $(grep -c '^uspl-trace: ' "$BATS_TEST_TMPDIR/said") = 1 ]] ||
		fail "not one message: $(cat "$BATS_TEST_TMPDIR/said")"
}
