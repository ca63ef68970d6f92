# SPDX-License-Identifier: GPL-3.0-or-later
# cancelled.bats - ^C, SIGTERM or SIGHUP while a tool is at work: the process is as it was, with
# status 1, or all is done, with status 0
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	# Its function waits for a line as long as the test likes.
	fixture_of two-tools fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	source "$BATS_TEST_DIRNAME/../lib/inject.bash"
	fixture_start
	MAPS=$(wc -l < "/proc/$TARGET/maps")
}

teardown() {
	target_stop
}

# expect_version VERSION - the process has that one, and nobody holds it
expect_version() {
	expect_untraced && hold_in "$1" && let_out "$1"
}

# at_work - true once another tool holds the target's lock; it notes signals by then
at_work() {
	apply --check --wait=0
	[[ $stderr =~ 'another uspl' ]]
}

# expect_interrupted SIGNAL TOOL ARG... - the tool, which waits for the function, gets the signal
# and gives up
expect_interrupted() {
	local signal=$1 aside
	shift
	timeout --foreground 60 "$USPL_BIN/$1" --wait=50 "${@:2}" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	aside=$!
	until_true 60 at_work || fail 'the tool does not come to work' || return
	kill "-$signal" "$(pgrep -P "$aside")" || return
	status=0
	wait "$aside" || status=$?
	stderr=$(< "$BATS_TEST_TMPDIR/said") output=''
	BATS_RUN_COMMAND="$1, $signal"
	expect_status 1 && expect_message "pid $TARGET: interrupted( while 'hold' was busy)?"
}

@test "apply that waits for a busy function is interrupted: nothing of it is left" {
	local signal
	hold_in old
	for signal in INT TERM HUP; do
		expect_interrupted "$signal" uspl-apply "$UPDATE" "$TARGET"
		[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was'
	done
	let_out old
	expect_not_applied
	[ "$(wc -l < "/proc/$TARGET/maps")" -le $((MAPS + 4)) ] || fail 'mappings are left behind'
	apply
	expect_status 0
	expect_version new
	expect_fine
}

@test "undo that waits for a busy function is interrupted: the update stays" {
	apply
	expect_status 0
	hold_in new
	expect_interrupted INT uspl-undo "$ID" "$TARGET"
	let_out new
	expect_applied
	undo_all "$SUM"
	expect_version old
	expect_fine
}

# signal_at WHERE SIGNAL TOOL ARG... - the tool gets the signal at its first look at the process's
# memory, in the middle of its writes to it, or when it says what it has done
signal_at() {
	local signal=$2 calls
	case $1 in
	first) mapfile -t calls < <(grep -nE '/mem>?", O_RD' "$TRACE" | head -n 1) ;;
	middle) mapfile -t calls < <(grep -n '^pwrite64(' "$TRACE") ;;
	said) mapfile -t calls < <(grep -n '^write(1<' "$TRACE" | head -n 1) ;;
	esac
	[ "${#calls[@]}" -gt 0 ] || fail 'there is no such call' || return
	shift 2
	inject "signal=$signal" "${calls[${#calls[@]} / 2]%%:*}" "$@"
}

# expect_said_and_done BEFORE AFTER - by its status the tool has done nothing, or all
expect_said_and_done() {
	case $status in
	0) expect_version "$2" ;;
	1) expect_message 'interrupted' && expect_version "$1" ;;
	*) fail "status $status" ;;
	esac
}

@test "apply and undo get a signal at any of their steps" {
	command -v strace > /dev/null || skip 'strace is not installed'
	trace_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	signal_at first INT uspl-apply "$UPDATE" "$TARGET"
	expect_status 1
	expect_message "pid $TARGET: interrupted"
	expect_version old
	signal_at middle HUP uspl-apply "$UPDATE" "$TARGET"
	expect_said_and_done old new
	apply
	expect_status 0
	trace_calls uspl-undo "$ID" "$TARGET"
	apply
	signal_at first TERM uspl-undo "$ID" "$TARGET"
	expect_status 1
	expect_message "pid $TARGET: interrupted"
	expect_version new
	signal_at middle INT uspl-undo "$ID" "$TARGET"
	expect_said_and_done new old
	expect_fine
}

@test "start and stop of tracing get a signal in the middle" {
	command -v strace > /dev/null || skip 'strace is not installed'
	trace_calls uspl-trace start "$TARGET"
	tool uspl-trace stop "$TARGET"
	signal_at middle INT uspl-trace start "$TARGET"
	expect_said_and_done old old
	tool uspl-trace start "$TARGET"
	trace_calls uspl-trace stop "$TARGET"
	tool uspl-trace start "$TARGET"
	signal_at middle TERM uspl-trace stop "$TARGET"
	expect_said_and_done old old
	tool uspl-trace stop "$TARGET"
	[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was'
	tool uspl-trace start "$TARGET"
	expect_status 0
	expect_version old
	expect_fine
}

# Of apply and undo, which work on several at once, fleet.bats asks it.
@test "of several processes that are traced those that come after ^C are left alone" {
	local tool
	command -v strace > /dev/null || skip 'strace is not installed'
	trace_calls uspl-trace start "$TARGET"
	tool uspl-trace stop "$TARGET"
	signal_at said INT uspl-trace start "$TARGET" "$$"
	expect_status 1
	expect_message "pid $$: interrupted$"
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_fine
}
