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
