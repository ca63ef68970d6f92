# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-both.bats - a function is traced and patched, and a tool that brings or takes the one or
# the other dies, or is failed by the kernel, at any of its system calls: the process goes on, and
# both can be taken away, in either order
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

# trace SUBCOMMAND - on the function that the update changes
trace() {
	local what=()
	[ "$1" != start ] || what=(-F greet)
	tool uspl-trace "$1" "$TARGET" "${what[@]}"
}

# start_traced - a process of which that function is traced
start_traced() {
	start_fresh && trace start && expect_status 0
}

# start_traced_then_applied, start_applied_then_traced - and patched, whichever came first
start_traced_then_applied() {
	start_traced && apply && expect_status 0
}

start_applied_then_traced() {
	start_applied && trace start && expect_status 0
}

# trace_stops - stops, and takes the memory as well; true too if nothing is traced, or an update is
# in the way
trace_stops() {
	trace stop
	[[ $output != *'still in calls'* ]] || { ask hello && trace stop; }
	[ "$status" -le 1 ] || fail "stop: status $status"
}

# expect_both_go STEP... - whatever was left, the steps (stop, apply, undo) succeed, and in the end
# the process is as it was at first
expect_both_go() {
	local step
	expect_untraced && expect_old_or_new || return
	for step; do
		case $step in
		stop) trace_stops ;;
		apply) apply && expect_status 0 && expect_answer hello 'goodbye, world' ;;
		undo) undo && expect_status 0 && expect_answer hello 'hello, world' ;;
		esac || return
	done
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	trace start
	expect_status 0 && expect_answer hello 'hello, world' && trace_stops && expect_fine
}

# expect_both_mended CALL - by one order of leaving or the other
expect_both_mended() {
	case $(($1 % 3)) in
	0) expect_both_go stop apply undo stop ;;
	1) expect_both_go apply stop undo stop ;;
	2) expect_both_go apply undo stop ;;
	esac
}

# kill_both CALL, fail_both CALL - the tool of TOOL dies there, or is failed
kill_both() {
	"$STATE" && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_both_mended "$1"
}

fail_both() {
	"$STATE" && tool_args || return
	inject "error=${ERRORS[$(($1 % ${#ERRORS[@]}))]}" "$1" "${TOOL[@]}"
	[ "$status" != 2 ] && [ "$status" -le 3 ] || fail "status $status" || return
	expect_both_mended "$1"
}

# crash_both HOW TRIED STATE - as crash() does where only one of the two is there
crash_both() {
	TRIED=$2 STATE=$3
	"$STATE" && tool_args && choose_calls "$1" "${TOOL[@]}" || return
	for_each_call "$TRIED, ${1}ed, $STATE" "${1}_both"
}

@test "apply to a traced function is killed" {
	SAMPLE=29 crash_both kill apply start_traced
}

@test "undo of a traced function is killed" {
	SAMPLE=19 crash_both kill undo start_traced_then_applied
}

@test "undo of a function that was patched first and traced then is killed" {
	SAMPLE=5 crash_both kill undo start_applied_then_traced
}

@test "uspl-trace start on a patched function is killed" {
	SAMPLE=31 crash_both kill start start_applied
}

@test "uspl-trace stop on a function that was patched while it was traced is killed" {
	SAMPLE=19 crash_both kill stop start_traced_then_applied
}

@test "uspl-trace stop on a function that was patched first is killed" {
	SAMPLE=19 crash_both kill stop start_applied_then_traced
}

@test "a system call of apply to a traced function fails" {
	SAMPLE=19 crash_both fail apply start_traced
}

@test "a system call of uspl-trace stop on a patched function fails" {
	SAMPLE=41 crash_both fail stop start_applied_then_traced
}
