# SPDX-License-Identifier: GPL-3.0-or-later
# trace_tool.bash - helpers: uspl-trace on the target, whatever is recorded of it

# shellcheck source=fixture.bash
source "${BASH_SOURCE[0]%/*}/fixture.bash"

# trace SUBCOMMAND [OPTION]... - on the target
trace() {
	tool uspl-trace "$@" "$TARGET"
}

# expect_saved OPTION... - what cat says of the process, and what it says of a file of the same
# records; times differ in their last digit, since the clock's rate is known the better the longer
# it goes
expect_saved() {
	trace cat "$@"
	expect_status 0 || return
	local live=${output//[0-9.]/}
	tool uspl-trace cat "$@" "$BATS_TEST_TMPDIR/saved"
	expect_status 0 || return
	[ "${output//[0-9.]/}" = "$live" ] || fail 'the file says something else than the process'
}
