# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-modules.bats - killed.bats once more, with an update of a program and two libraries, in
# threads that nap
#
# All three switch together, whenever the tool dies and whatever the next one does.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of quiet-modules fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

OLD='0 wrong, now 1 1 1' NEW='0 wrong, now 2 2 2'

# begin - a process with threads that call all three
begin() {
	start_fresh && expect_answer nap "$OLD"
}

# begin_applied - one with the update
begin_applied() {
	begin && apply && expect_status 0 && expect_answer 'to old' "$NEW"
}

# expect_together - all are old or all are new, and no thread has seen them mixed since it was said
# which way it goes
expect_together() {
	ask x || return
	[ "$REPLY" = "$OLD" ] || [ "$REPLY" = "$NEW" ] || fail "it says '$REPLY'"
}

# expect_mended_together - the next apply and undo make it good, and leave no more behind than they
# always do
expect_mended_together() {
	local now
	expect_untraced || return
	apply
	expect_status 0 && expect_answer 'to old' "$NEW" || return
	undo
	expect_status 0 && expect_answer x "$OLD" || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $((MAPS + 36)) ] || fail "the process has $now mappings, it had $MAPS" || return
	expect_fine
}

# kill_switching CALL - apply dies there, and the next one goes on to the new code
kill_switching() {
	begin && expect_answer 'to new' "$OLD" || return
	inject signal=KILL "$1" uspl-apply "$UPDATE" "$TARGET"
	expect_untraced && expect_together || return
	apply
	expect_status 0 && expect_answer x "$NEW" && expect_mended_together
}

# kill_switching_back CALL - undo dies there, and the next one goes on to the old code
kill_switching_back() {
	begin_applied || return
	inject signal=KILL "$1" uspl-undo "$ID" "$TARGET"
	expect_untraced && expect_together || return
	if [ "$REPLY" = "$NEW" ]; then
		undo
		expect_status 0 && expect_answer x "$OLD" || return
	fi
	expect_answer 'to new' "$OLD" && expect_mended_together
}

# choose_switching HOW TOOL ARG... - of the calls to try, those from the first record on that says
# SWITCHING: what comes before is that of an update of one module, and in killed.bats. A handful of
# them, far apart; with EVERY all that it chooses.
choose_switching() {
	local from
	choose_calls "$@" || return
	from=$(grep -nE '^pwrite64\([^,]+, "\\[24]\\0\\0\\0", 4, ' "$TRACE" | head -1 | cut -d: -f1)
	[ -n "$from" ] || fail 'it was not switched in the quiet way' || return
	mapfile -t CALLS < <(printf '%s\n' "${CALLS[@]}" | awk -v from="$from" '$1 >= from')
	[ -z "${EVERY:-}" ] || return 0
	[ "${#CALLS[@]}" -gt 20 ] || fail "only ${#CALLS[@]} calls switch it" || return
	mapfile -t CALLS < <(printf '%s\n' "${CALLS[@]}" | awk -v step=$((${#CALLS[@]} / 5)) 'NR % step == 1')
}

@test "apply to three modules is killed" {
	begin
	choose_switching kill uspl-apply "$UPDATE" "$TARGET"
	for_each_call 'killed' kill_switching
}

@test "undo in three modules is killed" {
	begin_applied
	choose_switching kill uspl-undo "$ID" "$TARGET"
	for_each_call 'killed' kill_switching_back
}
