# SPDX-License-Identifier: GPL-3.0-or-later
# killed.bats - the tool dies, or is failed by the kernel, at any of its system calls: the process notices nothing
#
# `make crash` takes every single call; here are those at which something may change (tests/lib/inject.bash).
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
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

@test "apply is killed" {
	SAMPLE=17 crash kill apply start_fresh
}

@test "apply is killed where the update was before" {
	SAMPLE=17 crash kill apply start_undone
}

@test "undo is killed" {
	SAMPLE=17 crash kill undo start_applied
}

@test "a system call of apply fails" {
	SAMPLE=37 crash fail apply start_fresh
}

@test "a system call of apply fails where the update was before" {
	SAMPLE=37 crash fail apply start_undone
}

@test "a system call of undo fails" {
	SAMPLE=37 crash fail undo start_applied
}

# count_held TOOL ARG... - leaves in HELD the numbers of calls from the one on by which the tool makes the gates hold
#
# Only those of kinds that come equally often each time: what is asked about the threads is asked again when they have run.
count_held() {
	local close
	trace_calls "$@"
	close=$(grep -nE '^pwrite64\([^,]+, "\\[23]", 1, ' "$TRACE" | head -1 | cut -d: -f1)
	[ -n "$close" ] || fail "the gates were not closed" || return
	mapfile -t HELD < <(grep -nE '^(ptrace|pwrite64)\(' "$TRACE" | cut -d: -f1 | awk -v first="$close" '$1 >= first')
}

# expect_interrupted - the update is half switched at some of the calls that were tried
expect_interrupted() {
	local call interrupted=0
	for call in "${HELD[@]:0:5}"; do
		"$STATE" && tool_args || return
		inject signal=KILL "$call" "${TOOL[@]}"
		tool uspl-view --json --id="$ID" "$TARGET"
		[[ $output != *'"interrupted"'* ]] || interrupted=$((interrupted + 1))
		expect_old_or_new && expect_mended || fail "call $call" || return
	done
	[ "$interrupted" -gt 1 ] || fail "only $interrupted times was it left half switched"
}

@test "apply is killed while the gates hold, and view says so" {
	TRIED=apply STATE=start_undone
	start_undone
	tool_args
	count_held "${TOOL[@]}"
	expect_interrupted
}

@test "undo is killed while the gates hold, and view says so" {
	TRIED=undo STATE=start_applied
	start_applied
	tool_args
	count_held "${TOOL[@]}"
	expect_interrupted
}

@test "no other update is applied on top of one that was left half switched" {
	local update=$UPDATE id=$ID
	start_undone
	count_held uspl-apply "$UPDATE" "$TARGET"
	undo
	inject signal=KILL "${HELD[1]}" uspl-apply "$UPDATE" "$TARGET"
	create "$FIXTURE/tree" "$BATS_TEST_DIRNAME/../cases/body/fix.patch"
	apply
	expect_status 1
	expect_message 'left in the middle of its switch'
	expect_one_message
	UPDATE=$update ID=$id
	expect_mended
}

@test "an update that was there before isn't loaded a second time because it could not be read" {
	local read
	start_undone
	trace_calls uspl-apply "$UPDATE" "$TARGET"
	read=$(sed '/^pwrite64(/q' "$TRACE" | grep -n '^pread64(.*goodbye, %s.*, 4096, ' | tail -1 | cut -d: -f1)
	[ -n "$read" ] || fail 'it was not compared'
	undo
	# Memory that can't be read may have been unmapped, and mapped anew: it is read once more.
	inject error=EIO "$read" uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	expect_answer hello 'goodbye, world'
	undo
	TIMES=8 inject error=EIO "$read" uspl-apply "$UPDATE" "$TARGET"
	expect_status 3
	expect_message 'cannot read 4096 bytes'
	expect_answer hello 'hello, world'
	expect_mended
}

# is_loaded - true if view says that the update is there, and no more
is_loaded() {
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output = *'"loaded"'* ]]
}

@test "what was loaded and never used is unmapped when another update comes" {
	local call id=$ID
	start_fresh
	SAMPLE=3 choose_calls kill uspl-apply "$UPDATE" "$TARGET"
	for call in "${CALLS[@]}"; do
		start_fresh
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		! is_loaded || break
	done
	is_loaded || fail "it was never only loaded"
	create "$FIXTURE/tree" "$BATS_TEST_DIRNAME/../cases/body/fix.patch"
	apply
	expect_status 0
	expect_answer hello 'goodbye, world'
	tool uspl-view --json "$TARGET"
	[[ $output != *"$id"* ]] || fail "it is still there"
	undo
	expect_status 0
	expect_fine
}
