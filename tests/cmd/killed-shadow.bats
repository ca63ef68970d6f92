# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-shadow.bats - apply and undo of an update with shadow variables die at their system calls,
# while threads use them: nothing is wrong, and the next undo frees all
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree '-O2' shadow || return
	create "$FIXTURE/tree" "$CASE/fix.patch"
	expect_status 0 || return
	export UPDATE ID
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	crash_setup
}

teardown() {
	target_stop
}

# start_used - a process with the update, all of whose objects have more data, and threads at work
start_used() {
	start_applied && ask all && expect_answer tally 5000 && ask work
}

# expect_freed - the process is as if there had been no update
expect_freed() {
	expect_untraced && ask rest && ask all && expect_answer wrong 0 && expect_answer tally 0 || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

# apply_dies_at CALL - then apply and undo do all of it
apply_dies_at() {
	start_fresh && ask work && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_untraced && apply --wait=30 && expect_status 0 && ask all || return
	undo --wait=30 && expect_status 0 && expect_freed
}

# undo_dies_at CALL - then undo completes it
undo_dies_at() {
	start_used && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	undo --wait=30 && expect_status 0 && expect_freed
}

@test "apply is killed" {
	TRIED=apply
	start_fresh
	tool_args
	SAMPLE=15 choose_calls kill "${TOOL[@]}"
	for_each_call "apply" apply_dies_at
}

@test "undo is killed" {
	TRIED=undo
	start_used
	tool_args
	SAMPLE=15 choose_calls kill "${TOOL[@]}"
	for_each_call "undo" undo_dies_at
}
