# SPDX-License-Identifier: GPL-3.0-or-later
# killed.bats - the tool dies, or is failed by the kernel, at any of its system calls: the process notices nothing
#
# The system calls of one whole run are counted with strace; then every EVERYth of them, from the first that touches the process on, is
# the one at which the tool is killed or gets an error. `make crash` takes every single one.
# shellcheck disable=SC2030,SC2031 # status is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	source "$BATS_TEST_DIRNAME/../lib/inject.bash"
	command -v strace > /dev/null || skip 'strace is not installed'
	fixture_start
}

teardown() {
	target_stop
}

# expect_old_or_new - the process answers, with the old function or with the new one
expect_old_or_new() {
	ask hello || return
	[ "$REPLY" = 'hello, world' ] || [ "$REPLY" = 'goodbye, world' ] || fail "it says '$REPLY'"
}

# expect_applies_and_undoes - whatever was left, the next apply and undo make it good
expect_applies_and_undoes() {
	apply
	expect_status 0 && expect_answer hello 'goodbye, world' || return
	undo
	expect_status 0 && expect_answer hello 'hello, world' && expect_untraced
}

# expect_no_growth FROM - the process has hardly more mappings than FROM
expect_no_growth() {
	local now
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $(($1 + 8)) ] || fail "the process has $now mappings, it had $1"
}

@test "apply is killed" {
	local call maps
	count_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	maps=$(wc -l < "/proc/$TARGET/maps")
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		expect_untraced && expect_old_or_new && expect_applies_and_undoes || fail "call $call"
	done
	expect_no_growth "$maps"
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "undo is killed" {
	local call
	apply
	count_calls uspl-undo "$ID" "$TARGET"
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		apply
		inject signal=KILL "$call" uspl-undo "$ID" "$TARGET"
		expect_untraced && expect_old_or_new && expect_applies_and_undoes || fail "call $call"
	done
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

# expect_true_status - the status is 0, 1 or 3, and says the truth about the process
expect_true_status() {
	case $status in
	0) expect_answer hello "$1" ;;
	1 | 3) expect_answer hello "$2" ;;
	*) fail "status $status" ;;
	esac
}

# count_close TOOL ARG... - leaves in CLOSE the number of the call by which the tool makes the gates hold. The process must
# have been patched before, so that the tool finds it as it will find it the next time
count_close() {
	trace_calls "$@"
	CLOSE=$(grep -nE '^pwrite64\([0-9]+, "\\[23]", 1, ' "$TRACE" | head -1 | cut -d: -f1)
	[ -n "$CLOSE" ] || fail "the gates were not closed"
}

# note_interrupted - counts in INTERRUPTED the times that the tool has left the update half switched
note_interrupted() {
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output != *'"interrupted"'* ]] || INTERRUPTED=$((INTERRUPTED + 1))
}

@test "apply is killed while the gates hold" {
	local call INTERRUPTED=0
	apply
	undo
	count_close uspl-apply "$UPDATE" "$TARGET"
	undo
	for ((call = CLOSE - 1; call <= CLOSE + 12; call += ${EVERY:-3})); do
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		expect_untraced && expect_old_or_new && note_interrupted
		expect_applies_and_undoes || fail "call $call"
	done
	[ "$INTERRUPTED" -gt 1 ] || fail "only $INTERRUPTED times was it left half switched"
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "no other update is applied on top of one that was left half switched" {
	local update=$UPDATE id=$ID
	apply
	undo
	count_close uspl-apply "$UPDATE" "$TARGET"
	undo
	inject signal=KILL $((CLOSE + 1)) uspl-apply "$UPDATE" "$TARGET"
	create "$FIXTURE/tree" "$BATS_TEST_DIRNAME/../cases/body/fix.patch"
	apply
	expect_status 1
	expect_message 'left in the middle of its switch'
	expect_one_message
	UPDATE=$update ID=$id
	expect_applies_and_undoes
	expect_fine
}

@test "undo is killed while the gates hold" {
	local call INTERRUPTED=0
	apply
	undo
	apply
	count_close uspl-undo "$ID" "$TARGET"
	for ((call = CLOSE - 1; call <= CLOSE + 12; call += ${EVERY:-3})); do
		apply
		inject signal=KILL "$call" uspl-undo "$ID" "$TARGET"
		expect_untraced && expect_old_or_new && note_interrupted
		expect_applies_and_undoes || fail "call $call"
	done
	[ "$INTERRUPTED" -gt 1 ] || fail "only $INTERRUPTED times was it left half switched"
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "a system call of apply fails" {
	local call error
	count_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		error=EIO
		[ $((call % 2)) = 0 ] || error=ENOMEM
		inject "error=$error" "$call" uspl-apply "$UPDATE" "$TARGET"
		expect_true_status 'goodbye, world' 'hello, world' || fail "call $call"
		expect_untraced && expect_applies_and_undoes || fail "call $call"
	done
	expect_fine
}

@test "a system call of undo fails" {
	local call
	apply
	count_calls uspl-undo "$ID" "$TARGET"
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		apply
		inject error=EIO "$call" uspl-undo "$ID" "$TARGET"
		expect_true_status 'hello, world' 'goodbye, world' || fail "call $call"
		expect_untraced && expect_applies_and_undoes || fail "call $call"
	done
	expect_fine
}
