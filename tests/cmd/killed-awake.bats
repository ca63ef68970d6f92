# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-awake.bats - the tool dies, or is failed by the kernel, while the only thread of the
# process, which never sleeps, maps memory for it and makes its stores: it finds back by itself
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of awake fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

@test "apply is killed where nobody sleeps" {
	SAMPLE=37 crash kill apply start_fresh
}

@test "a system call of apply fails where nobody sleeps" {
	SAMPLE=89 crash fail apply start_fresh
}
