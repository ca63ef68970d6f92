# SPDX-License-Identifier: GPL-3.0-or-later
# late.bats - threads that don't stop in time: what a refusal says of the attempts that were made
# shellcheck disable=SC2030,SC2031 # each test has its own
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of busy-middle fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	! nm -D "$USPL_BIN/uspl" | grep -q __asan_init || skip 'the sanitizer is preloaded first'
	LIBRARY=$BATS_TEST_TMPDIR/late.so
	"$TARGET_CC" -O1 -shared -fPIC -o "$LIBRARY" "$BATS_TEST_DIRNAME/../lib/late.c"
	fixture_start
}

teardown() {
	target_stop
}

# expect_late STOPS MESSAGE OPTION... - apply is refused with that message; when so many stops have
# been asked for, threads stop too late
expect_late() {
	run --separate-stderr env LATE="$1" LD_PRELOAD="$LIBRARY" timeout --kill-after=5 60 \
		"$USPL_BIN/uspl-apply" "${@:3}" "$UPDATE" "$TARGET"
	expect_status 1 || return
	expect_one_message || return
	expect_message "$2" || return
	expect_not_applied
}

@test "a function that was busy in the attempts before the last is named" {
	send hold
	receive
	[ "$REPLY" = 'holding old' ]
	expect_late 5 "'hold' is on the stack of thread $TARGET" --stop --wait=1.5
	ask go
	[ "$REPLY" = 'done old' ]
}

# have_region - the update was applied before: no thread has to map memory for it
have_region() {
	apply
	expect_status 0
	undo
	expect_status 0
}

@test "where no attempt has found one, the attempts are counted, of a stop of all threads" {
	have_region
	expect_late 0 "the threads of pid $TARGET have not all stopped within a second, in 1 attempt\\s+hint: the machine has a load of [0-9.]+ on [0-9]+ processors?; try again" --stop --wait=0
	expect_late 0 'have not all stopped within a second, in [2-9] attempts' --stop --wait=2
}

@test "where all were too long for --max-pause, that is said" {
	have_region
	export LATE_FOR=300
	expect_late 0 'takes more than half of the time' --stop --wait=2 --max-pause=1ms
	apply
	expect_status 0
}
