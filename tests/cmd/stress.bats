# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# stress.bats - some rounds of tests/stress: `make stress` makes thousands

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
}

@test "a program that does everything at once is patched, traced and unpatched, and tools are killed" {
	ROUNDS=8 SEED=7 KILLS=30 run "$BATS_TEST_DIRNAME/../stress/run"
	[ "$status" = 0 ] || fail "$output"
	[[ ${lines[-1]} =~ ^[0-9]+\ passed,\ 0\ failed$ ]] || fail "$output"
	[[ $output =~ 8\ rounds,\ [1-9] ]] || fail "no tool was killed: $output"
}

# A tool that dies before the first thread has gone over leaves old and new code both to be looked
# at; threads that are in the new one by then must not be sent back.
@test "threads go over one by one, and tools are killed in the middle of that" {
	USPL_WORKER=none SORT=8 ROUNDS=12 SEED=3 KILLS=70 run "$BATS_TEST_DIRNAME/../stress/run"
	[ "$status" = 0 ] || fail "$output"
	[[ $output =~ 12\ rounds,\ [1-9] ]] || fail "no tool was killed: $output"
}
