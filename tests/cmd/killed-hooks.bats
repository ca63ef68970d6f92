# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-hooks.bats - apply and undo of an update with hooks die at their system calls: the next
# command runs the hooks that are due, and none runs twice
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree || return
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	hooked full "$CHANGE" < <(full_hooks)
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

APPLY='pre_apply check_apply apply post_apply'
UNDO='pre_undo check_undo undo post_undo'

# expect_log_like REGEX - what hooks have written, in all
expect_log_like() {
	ask log || return
	[[ $REPLY =~ ^$1$ ]] || fail "the hooks ran as '$REPLY', not '$1'"
}

# expect_whole - the pair is one of the two, and no thread is held
expect_whole() {
	expect_untraced && ask pair || return
	[ "$REPLY" = '3 7' ] || [ "$REPLY" = '6 14' ] || fail "the pair is '$REPLY'"
}

# apply_dies_at CALL - then apply completes, whatever was begun
apply_dies_at() {
	start_fresh && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_whole && apply && expect_status 0 && expect_answer pair '6 14' || return
	expect_log_like "((pre_apply )?(check_apply )?fail_apply )?$APPLY" || return
	undo && expect_status 0 && expect_answer pair '3 7' || return
	expect_log_like "((pre_apply )?(check_apply )?fail_apply )?$APPLY $UNDO" || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

# apply_dies_and_undo CALL - undo finds whatever was begun
apply_dies_and_undo() {
	start_fresh && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	undo
	expect_whole && expect_answer pair '3 7' || return
	expect_log_like "|(pre_apply )?(check_apply )?fail_apply|$APPLY $UNDO" || return
	expect_fine
}

# undo_dies_at CALL - then undo completes
undo_dies_at() {
	start_applied && tool_args || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_whole && undo && expect_status 0 && expect_answer pair '3 7' || return
	expect_log_like "$APPLY ((pre_undo )?(check_undo )?fail_undo )?$UNDO" || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

@test "apply is killed" {
	TRIED=apply
	start_fresh
	tool_args
	SAMPLE=15 choose_calls kill "${TOOL[@]}"
	for_each_call "apply" apply_dies_at
}

@test "apply is killed, and undone" {
	TRIED=apply
	start_fresh
	tool_args
	SAMPLE=25 choose_calls kill "${TOOL[@]}"
	for_each_call "apply" apply_dies_and_undo
}

@test "undo is killed" {
	TRIED=undo
	start_applied
	tool_args
	SAMPLE=15 choose_calls kill "${TOOL[@]}"
	for_each_call "undo" undo_dies_at
}
