# SPDX-License-Identifier: GPL-3.0-or-later
# demo.bats - the demonstration says what is true: it stops at the first answer that isn't what it
# tells the reader
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	export USPL_BIN
}

@test "the demonstration runs to its end" {
	run --separate-stderr timeout 120 "$BATS_TEST_DIRNAME/../demo/demo.sh" --plain
	expect_status 0
}
