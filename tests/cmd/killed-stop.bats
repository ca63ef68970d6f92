# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-stop.bats - killed.bats once more, with every thread stopped (--stop)
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
	export SWITCH=--stop
}

teardown() {
	target_stop
}

@test "apply --stop is killed" {
	SAMPLE=9 crash kill apply start_fresh
}

@test "apply --stop is killed where the update was before" {
	SAMPLE=5 crash kill apply start_undone
}

@test "undo --stop is killed" {
	SAMPLE=5 crash kill undo start_applied
}

@test "a system call of apply --stop fails" {
	SAMPLE=19 crash fail apply start_fresh
}

@test "a system call of undo --stop fails" {
	SAMPLE=19 crash fail undo start_applied
}

@test "apply --stop is killed, and another command finishes it" {
	SAMPLE=2 crash other apply start_undone
	[ "$INTERRUPTED" -gt 0 ] || fail 'it is never left in the middle'
}

@test "undo --stop is killed, and another command finishes it" {
	SAMPLE=2 crash other undo start_applied
	[ "$INTERRUPTED" -gt 0 ] || fail 'it is never left in the middle'
}
