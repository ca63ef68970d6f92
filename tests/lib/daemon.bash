# SPDX-License-Identifier: GPL-3.0-or-later
# daemon.bash - helpers: uspl-watch at work on a fleet (fleet.bash), its pid is WATCH

# watch_start - starts the service, and waits until it listens; skips the test where the kernel
# tells of no executions
watch_start() {
	rm -f "$BATS_TEST_TMPDIR/watch.out"
	"$USPL_BIN/uspl-watch" > "$BATS_TEST_TMPDIR/watch.out" 2> "$BATS_TEST_TMPDIR/watch.err" 3>&- &
	WATCH=$!
	until_true 60 watch_began || fail "the watch does not begin: $(cat "$BATS_TEST_TMPDIR/watch.err")" || return
	! grep -q 'tells nothing of new processes\|not permitted' "$BATS_TEST_TMPDIR/watch.err" ||
		skip 'the kernel tells nothing of new processes here'
	kill -0 "$WATCH" || fail "the watch has ended: $(cat "$BATS_TEST_TMPDIR/watch.err")"
}

# watch_began - true once it watches, or has ended
watch_began() {
	grep -qs '^watching' "$BATS_TEST_TMPDIR/watch.out" || ! kill -0 "$WATCH" 2> /dev/null
}

# watch_end - ends it; it must end well
watch_end() {
	local rc=0
	kill -TERM "$WATCH"
	wait "$WATCH" || rc=$?
	WATCH=
	[ "$rc" = 0 ] || fail "the watch ends with $rc: $(cat "$BATS_TEST_TMPDIR/watch.err")"
}

# says N WORDS... - true if process N answers with these words
says() {
	tell "$1" hello && hear "$1" && [ "$REPLY" = "$2" ]
}

# expect_comes N WORDS - process N must come to answer with these words, by itself
expect_comes() {
	until_true 60 says "$1" "$2" || fail "process $1 says '$REPLY', not '$2'; $(cat "$BATS_TEST_TMPDIR/watch.err")"
}

# asked REGEX - true if the watch says that of itself
asked() {
	tool uspl-watch --status
	[[ $status = 0 && $output =~ $1 ]]
}
