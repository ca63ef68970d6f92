# SPDX-License-Identifier: GPL-3.0-or-later
# killed-pending.bats - the tool dies, or is failed, while an update is for a library that comes and goes
#
# As in killed.bats, every EVERYth system call is tried, or with `make crash` every single one.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of library-pending fix.patch
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

@test "apply is killed while it notes a library" {
	local call maps
	count_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	maps=$(wc -l < "/proc/$TARGET/maps")
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		expect_word old new && expect_noted_and_forgotten || fail "call $call"
	done
	[ "$(wc -l < "/proc/$TARGET/maps")" -le $((maps + 8)) ] || fail 'mappings are left behind'
	expect_fine
}

@test "a system call fails while apply notes a library" {
	local call
	count_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		inject error=ENOMEM "$call" uspl-apply "$UPDATE" "$TARGET"
		if [ "$status" = 0 ]; then
			expect_word new || fail "call $call"
		else
			expect_word old || fail "call $call"
		fi
		expect_noted_and_forgotten || fail "call $call"
	done
	expect_fine
}

@test "apply is killed while it completes" {
	local call
	apply
	expect_answer 'load ./libplugin.so' loaded
	count_calls uspl-apply "$UPDATE" "$TARGET"
	undo
	expect_answer unload unloaded
	for ((call = FIRST; call <= LAST; call += ${EVERY:-23})); do
		apply
		expect_answer 'load ./libplugin.so' loaded
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		expect_word new && expect_completed_and_undone || fail "call $call"
	done
	expect_fine
}
