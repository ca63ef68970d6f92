# SPDX-License-Identifier: GPL-3.0-or-later
# watch.bash - helpers: tracers that run while they are attached to the target

# shellcheck source=fixture.bash
source "${BASH_SOURCE[0]%/*}/fixture.bash"

# watch_build - for setup_file: makes the program of tests/cmd/trace-burn
watch_build() {
	WORK=$BATS_FILE_TMPDIR CASE=$USPL_TESTS/cmd/trace-burn
	tree_build -O2
}

# watch_target - for a test: starts it
watch_target() {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/tree/target" "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	SUM=$(text_sum)
}

# watch_target_without_rights - the same without any capability; the tools that observe it are to be
# run by $WITHOUT_RIGHTS
watch_target_without_rights() {
	WITHOUT_RIGHTS='setpriv --inh-caps=-all --bounding-set=-all'
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/tree/target" "$BATS_TEST_TMPDIR/run"
	# shellcheck disable=SC2086
	target_start_by "$BATS_TEST_TMPDIR/run" $WITHOUT_RIGHTS ./target
}

# watch_begin TRACER [OPTION]... - attaches a tracer, and comes back when it is attached; WATCH_BY
# is a command to run it by
watch_begin() {
	# What an earlier one has said must not count for this one.
	rm -f "$BATS_TEST_TMPDIR/seen" "$BATS_TEST_TMPDIR/said"
	# shellcheck disable=SC2086
	timeout --kill-after=5 60 ${WATCH_BY:-} "$USPL_BIN/uspl-trace" start -v --tracer "$@" "$TARGET" \
		> "$BATS_TEST_TMPDIR/seen" 2> "$BATS_TEST_TMPDIR/said" 3>&- &
	WATCHER=$!
	until_true 60 grep -qs 'observing pid' "$BATS_TEST_TMPDIR/said" ||
		fail "the tracer does not begin: $(cat "$BATS_TEST_TMPDIR/said")"
}

# watch_end - ends it as ^C would; what it printed is in $output
watch_end() {
	# timeout passes the signal on.
	kill -TERM "$WATCHER"
	wait "$WATCHER" && status=0 || status=$?
	output=$(< "$BATS_TEST_TMPDIR/seen") stderr=$(< "$BATS_TEST_TMPDIR/said")
	[ -n "$output" ] || fail 'the tracer has printed nothing'
}
