# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-pending.bats - the tool dies, or is failed, while an update is for a library that comes and
# goes
#
# As in killed.bats, those system calls are tried at which something may change, or with `make
# crash` every single one.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of library-pending fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

# expect_word WORD... - the process answers with one of these
expect_word() {
	local word
	ask hello || return
	for word in "$@"; do
		[ "$REPLY" != "$word hello" ] || return 0
	done
	fail "it says '$REPLY'"
}

# expect_noted_and_forgotten - the next apply is as if nothing had been, and undo forgets all
expect_noted_and_forgotten() {
	expect_untraced || return
	apply
	expect_status 0 && expect_output 'pending for libplugin.so' && expect_word new || return
	undo
	expect_status 0 && expect_word old && expect_not_applied
}

# expect_completed_and_undone - the same where the library is loaded; afterwards it is unloaded
expect_completed_and_undone() {
	expect_untraced || return
	apply
	expect_status 0 && expect_word new || return
	ask 'call x'
	[[ $REPLY = 'new x'* ]] || fail "the library says '$REPLY'" || return
	tool uspl-view --json "$TARGET"
	[[ $output != *pending* ]] || fail 'something is pending' || return
	undo
	expect_status 0 && expect_word old && expect_not_applied || return
	expect_answer unload unloaded
}

# start_loaded - the update is pending, and then the library is loaded
start_loaded() {
	start_fresh && apply && expect_status 0 && expect_answer 'load ./libplugin.so' loaded
}

# kill_noting CALL - apply dies there while it notes the library
kill_noting() {
	start_fresh || return
	inject signal=KILL "$1" uspl-apply "$UPDATE" "$TARGET"
	expect_word old new && expect_noted_and_forgotten || return
	[ "$(wc -l < "/proc/$TARGET/maps")" -le $((MAPS + 12)) ] || fail 'mappings are left behind' || return
	expect_fine
}

# fail_noting CALL - the same, where the call fails
fail_noting() {
	start_fresh || return
	inject "error=${ERRORS[$(($1 % ${#ERRORS[@]}))]}" "$1" uspl-apply "$UPDATE" "$TARGET"
	if [ "$status" = 0 ]; then
		expect_word new
	else
		expect_word old
	fi && expect_noted_and_forgotten && expect_fine
}

# kill_completing CALL - apply dies there while it patches the library that was pending
kill_completing() {
	start_loaded || return
	inject signal=KILL "$1" uspl-apply "$UPDATE" "$TARGET"
	expect_word new && expect_completed_and_undone && expect_fine
}

@test "apply is killed while it notes a library" {
	start_fresh
	SAMPLE=11 choose_calls kill uspl-apply "$UPDATE" "$TARGET"
	for_each_call 'killed' kill_noting
}

@test "a system call fails while apply notes a library" {
	start_fresh
	SAMPLE=23 choose_calls fail uspl-apply "$UPDATE" "$TARGET"
	for_each_call 'failed' fail_noting
}

@test "apply is killed while it completes" {
	start_loaded
	SAMPLE=11 choose_calls kill uspl-apply "$UPDATE" "$TARGET"
	for_each_call 'killed' kill_completing
}
