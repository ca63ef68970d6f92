# SPDX-License-Identifier: GPL-3.0-or-later
# trace.bash - helpers: a program that is traced, and what is expected of what was recorded

# shellcheck source=trace_tool.bash
source "${BASH_SOURCE[0]%/*}/trace_tool.bash"

# build PROGRAM FLAG... - makes BATS_FILE_TMPDIR/PROGRAM/FLAGS/tree/target
build() {
	WORK=$BATS_FILE_TMPDIR/$1/$(tr -d ' ' <<< "${*:2}") CASE=$BATS_TEST_DIRNAME/$1
	mkdir -p "$WORK"
	tree_build "${*:2}"
}

# start PROGRAM FLAG... - starts one of them
start() {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/$1/$(tr -d ' ' <<< "${*:2}")/tree/target" "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	SUM=$(text_sum)
}

# start_stripped PROGRAM FLAG... - the same, without its symbols
start_stripped() {
	mkdir "$BATS_TEST_TMPDIR/run"
	strip -o "$BATS_TEST_TMPDIR/run/target" "$BATS_FILE_TMPDIR/$1/$(tr -d ' ' <<< "${*:2}")/tree/target"
	target_start "$BATS_TEST_TMPDIR/run"
	SUM=$(text_sum)
}

# expect_trace_stops - stops; as soon as nobody is in traced calls, nothing of it is left
expect_trace_stops() {
	trace stop
	expect_status 0 || return
	if [[ $output == *'still in calls'* ]]; then
		ask work
		trace stop
		expect_status 0 || return
	fi
	[[ $output != *'still in calls'* ]] || fail 'somebody stays in traced calls' || return
	expect_trace_ended
}

# expect_trace_gone - nothing of a session that was stopped is left, whatever the target is waiting
# for
expect_trace_gone() {
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	trace stop
	expect_status 1 || return
	expect_message 'is not traced'
}

# expect_trace_ended - the same, and the target is fine
expect_trace_ended() {
	expect_trace_gone && expect_fine
}

# calls FUNCTION - how many calls of it the report has
calls() {
	awk -v name="$1" '$NF == name { print $1 }' <<< "$output"
}

# expect_calls FUNCTION NUMBER
expect_calls() {
	[ "$(calls "$1")" = "$2" ] || fail "$1 was called '$(calls "$1")' times, not $2"
}

# expect_nothing_lost - fails if cat or report said that calls weren't recorded, or records
# overwritten
expect_nothing_lost() {
	[[ $output != *'could not be recorded'* && $output != *overwritten* ]] || fail 'records are lost'
}
