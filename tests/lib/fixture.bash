# SPDX-License-Identifier: GPL-3.0-or-later
# fixture.bash - one small program and one finished update for all tests of a file in tests/cmd
#
# The program is that of tests/cases/body, or of another case; $FIXTURE holds it in tree/, and
# $UPDATE, $ID are the update.

# shellcheck source=case.bash
source "${BASH_SOURCE[0]%/*}/case.bash"

# fixture_of CASE PATCH [CFLAGS] - for setup_file: builds a case's program and the update in the
# file's own folder
fixture_of() {
	FIXTURE=$BATS_FILE_TMPDIR WORK=$BATS_FILE_TMPDIR CASE=$USPL_TESTS/cases/$1
	tree_build "${3:--O2}" || return
	create "$FIXTURE/tree" "$CASE/$2"
	expect_status 0 || return
	export FIXTURE UPDATE ID
}

# fixture_make - the same with the usual program
fixture_make() {
	fixture_of body fix.patch
}

# fixture_start - for setup: starts the program, with its libraries, in a folder of the test's own
fixture_start() {
	mkdir "$BATS_TEST_TMPDIR/run"
	find "$FIXTURE/tree" -maxdepth 1 \( -name target -o -name '*.so' \) -exec cp {} "$BATS_TEST_TMPDIR/run" \;
	target_start "$BATS_TEST_TMPDIR/run"
	# Once it answers, all of its libraries are there.
	send count && receive || return
	SUM=$(text_sum)
}

# expect_update_works - applies, looks, takes back: the program answers as it should, and is as it
# was
expect_update_works() {
	SUM=$(text_sum)
	expect_answer hello 'hello, world' || return
	apply
	expect_status 0 || return
	expect_applied || return
	expect_answer hello 'goodbye, world' || return
	undo
	expect_status 0 || return
	expect_not_applied || return
	expect_untouched
}

# expect_refused STATUS REGEX - apply says no with one such message, and the program is as it was
expect_refused() {
	SUM=$(text_sum)
	apply
	expect_status "$1" || return
	expect_one_message || return
	expect_message "$2" || return
	expect_not_applied || return
	expect_untouched
}

# helper_build NAME - compiles a helper program of tests/lib; prints its path
helper_build() {
	"$TARGET_CC" -o "$BATS_TEST_TMPDIR/$1" "$USPL_TESTS/lib/$1.c"
	echo "$BATS_TEST_TMPDIR/$1"
}

# helper_start COMMAND... - starts a helper that says a line when it is ready (left in REPLY) and
# ends with its stdin
helper_start() {
	coproc HELPER { exec "$@" 3>&-; }
	read -r -t 10 REPLY <&"${HELPER[0]}" || fail "'$1' does not say that it is ready"
}

# helper_stop - lets the helper end
helper_stop() {
	[ -n "${HELPER_PID:-}" ] || return 0
	kill -KILL "$HELPER_PID" 2> /dev/null || :
	wait "$HELPER_PID" 2> /dev/null || :
}

# expect_untouched - fails unless the target runs on with the old code
expect_untouched() {
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_answer hello 'hello, world' || return
	expect_fine
}
