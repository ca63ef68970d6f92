# SPDX-License-Identifier: GPL-3.0-or-later
# crash.bash - helpers: apply and undo die, or are failed by the kernel, at their system calls, and
# the process notices nothing
#
# Every try has a process of its own, in the state in which the calls were counted. SWITCH=--stop
# makes it the stop-all way.

# shellcheck source=fixture.bash
source "${BASH_SOURCE[0]%/*}/fixture.bash"
# shellcheck source=inject.bash
source "${BASH_SOURCE[0]%/*}/inject.bash"

# crash_setup - for setup
crash_setup() {
	command -v strace > /dev/null || skip 'strace is not installed'
}

# start_fresh - a process that uspl has never touched
start_fresh() {
	target_stop
	rm -rf "$BATS_TEST_TMPDIR/run"
	fixture_start
	MAPS=$(wc -l < "/proc/$TARGET/maps")
}

# start_applied - one with the update
start_applied() {
	start_fresh && apply && expect_status 0
}

# start_undone - one that had it: its code is there, and used again
start_undone() {
	start_applied && undo && expect_status 0
}

# expect_old_or_new - the process answers, with the old function or with the new one
expect_old_or_new() {
	ask hello || return
	[ "$REPLY" = 'hello, world' ] || [ "$REPLY" = 'goodbye, world' ] || fail "it says '$REPLY'"
}

# expect_mended - whatever was left, the next apply and undo make it good, and leave no more behind
# than they always do: the mappings of the update's code, eight at most
expect_mended() {
	local now
	expect_untraced || return
	apply
	expect_status 0 && expect_answer hello 'goodbye, world' || return
	undo
	expect_status 0 && expect_answer hello 'hello, world' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $((MAPS + 12)) ] || fail "the process has $now mappings, it had $MAPS" || return
	expect_fine
}

# tool_args - leaves in TOOL the tool that is tried, and its arguments; TRIED is apply or undo, or
# start or stop of tracing
tool_args() {
	case $TRIED in
	start) TOOL=(uspl-trace start "$TARGET" -F greet) ;;
	stop) TOOL=(uspl-trace stop "$TARGET") ;;
	apply) TOOL=(uspl-apply ${SWITCH:+"$SWITCH"} "$UPDATE" "$TARGET") ;;
	undo) TOOL=(uspl-undo ${SWITCH:+"$SWITCH"} "$ID" "$TARGET") ;;
	esac
}

# kill_at CALL - the tool dies there
kill_at() {
	"$STATE" && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_untraced && expect_old_or_new && expect_mended
}

# fail_at CALL - the call fails there, with one error after the other: the status is true
fail_at() {
	local before='hello, world' after='goodbye, world'
	"$STATE" && tool_args || return
	[ "$TRIED" = apply ] || before='goodbye, world' after='hello, world'
	inject "error=${ERRORS[$(($1 % ${#ERRORS[@]}))]}" "$1" "${TOOL[@]}"
	case $status in
	0) expect_answer hello "$after" ;;
	1 | 3) expect_answer hello "$before" ;;
	*) fail "status $status" ;;
	esac && expect_mended
}

# other_at CALL - the tool dies there; a command that changes something else in the process finishes
# what it has left, and does its own work
other_at() {
	"$STATE" && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output != *'"interrupted"'* ]] || INTERRUPTED=$((INTERRUPTED + 1))
	tool uspl-trace start "$TARGET" -F greet
	expect_status 0 || return
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output != *'"interrupted"'* ]] || fail 'it is still in the middle' || return
	expect_old_or_new || return
	tool uspl-trace stop "$TARGET"
	expect_status 0 && expect_mended
}

# crash HOW TRIED STATE - HOW is kill, other or fail, TRIED apply or undo, STATE what makes the
# process
crash() {
	TRIED=$2 STATE=$3 INTERRUPTED=0
	"$STATE" && tool_args && choose_calls "${1/other/kill}" "${TOOL[@]}" || return
	for_each_call "$TRIED, ${1}ed, $STATE" "${1}_at"
}
