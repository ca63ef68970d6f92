# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-by-thread.bats - the tool dies before the first thread has gone over by itself, and the
# next one lets threads go over
#
# From then on only the code counts that is to be left. A thread that has come to the other one must
# not be sent back in the middle of its call.
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of by-thread-strange fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

# stay_in_old, stay_in_new - a process with a thread inside the one code or the other
stay_in_old() {
	start_fresh && expect_answer 'stay 1' '1, 0 mixed'
}

stay_in_new() {
	start_fresh && apply --by-thread && expect_status 0 && expect_answer 'stay 1' '10, 0 mixed'
}

# is_between - true while threads go over one by one
is_between() {
	tool uspl-view --json "$TARGET" && [[ $output == *'"threads_left":'* ]]
}

# choose_before_first TOOL WHAT - some of the calls from the record that says SWITCHING on to the
# byte by which threads begin to go over
choose_before_first() {
	local tracer
	trace_calls "$1" --by-thread --wait=50 "$2" "$TARGET" &
	tracer=$!
	until_true 60 is_between || fail 'no thread goes over by itself' || return
	ask return
	wait "$tracer" || return
	TRACE=$BATS_TEST_TMPDIR/trace
	# The selector and the commit byte are written one byte at a time.
	mapfile -t CALLS < <(awk '
		/^pwrite64\([^,]+, "\\[24]\\0\\0\\0", 4, / { on = 1 }
		on && /^(pwrite64|ptrace)\(/ { print NR }
		on && /^pwrite64\([^,]+, "[^"]*", 1, / { last = ++n }
		n == 12 { exit }' "$TRACE")
	[ "${#CALLS[@]}" -gt 12 ] || fail "only ${#CALLS[@]} calls switch it" || return
	mapfile -t CALLS < <(printf '%s\n' "${CALLS[@]}" | awk -v step=$((${#CALLS[@]} / 4)) 'NR % step == 0')
}

# expect_unmixed REQUEST - the program answers it, and no call has met both codes
expect_unmixed() {
	ask "$1"
	[[ $REPLY == *', 0 mixed' ]] || fail "$1: '$REPLY'"
}

# attempts - how many the command that runs in the background has made
attempts() {
	grep -c '^stop: attempt' "$BATS_TEST_TMPDIR/message" || :
}

# has_looked_since COUNT - it has made three more
has_looked_since() {
	[ "$(attempts)" -ge $(($1 + 3)) ]
}

# go_on_with TOOL WHAT CAME - the next command lets threads go over; then one comes, which gets that
# answer, and stays in the code that is to come while the command looks again; then all leave
go_on_with() {
	local tool before
	"$USPL_BIN/$1" -vv --by-thread --wait=50 "$2" "$TARGET" > /dev/null 2> "$BATS_TEST_TMPDIR/message" 3>&- &
	tool=$!
	until_true 60 is_between || fail "no thread goes over: $(< "$BATS_TEST_TMPDIR/message")" || return
	expect_answer 'stay 1' "$3, 0 mixed" || return
	before=$(attempts)
	until_true 60 has_looked_since "$before" || fail 'it does not look again' || return
	expect_unmixed deeper && expect_unmixed return || return
	wait "$tool" || fail "$(< "$BATS_TEST_TMPDIR/message")"
}

# expect_mended_unmixed - the next apply and undo make all of it good
expect_mended_unmixed() {
	expect_untraced && apply && expect_status 0 && expect_answer which '10, 0 mixed' || return
	undo && expect_status 0 && expect_answer which '1, 0 mixed' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

# kill_apply CALL, kill_undo CALL - it dies there with a thread inside
kill_apply() {
	stay_in_old || return
	inject signal=KILL "$1" uspl-apply --by-thread --wait=50 "$UPDATE" "$TARGET"
	expect_untraced && go_on_with uspl-apply "$UPDATE" 10 && expect_answer which '10, 0 mixed' &&
		expect_mended_unmixed
}

kill_undo() {
	stay_in_new || return
	inject signal=KILL "$1" uspl-undo --by-thread --wait=50 "$ID" "$TARGET"
	expect_untraced && go_on_with uspl-undo "$ID" 1 && expect_answer which '1, 0 mixed' &&
		expect_mended_unmixed
}

@test "an undo that dies before the first thread goes over, and another" {
	stay_in_new
	choose_before_first uspl-undo "$ID"
	for_each_call 'undo, killed' kill_undo
}

@test "an apply that dies before the first thread goes over, and another" {
	stay_in_old
	choose_before_first uspl-apply "$UPDATE"
	for_each_call 'apply, killed' kill_apply
}
