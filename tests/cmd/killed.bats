# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed.bats - the tool dies, or is failed by the kernel, at any of its system calls: the process
# notices nothing
#
# `make crash` takes every single call; here are those at which something may change
# (tests/lib/inject.bash).
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

@test "apply is killed" {
	SAMPLE=17 crash kill apply start_fresh
}

@test "apply is killed where the update was before" {
	SAMPLE=17 crash kill apply start_undone
}

@test "undo is killed" {
	SAMPLE=17 crash kill undo start_applied
}

@test "apply is killed, and another command finishes it" {
	SAMPLE=7 crash other apply start_undone
	[ "$INTERRUPTED" -gt 0 ] || fail 'it is never left in the middle'
}

@test "undo is killed, and another command finishes it" {
	SAMPLE=7 crash other undo start_applied
	[ "$INTERRUPTED" -gt 0 ] || fail 'it is never left in the middle'
}

@test "a system call of apply fails" {
	SAMPLE=37 crash fail apply start_fresh
}

@test "a system call of apply fails where the update was before" {
	SAMPLE=37 crash fail apply start_undone
}

@test "a system call of undo fails" {
	SAMPLE=37 crash fail undo start_applied
}

# count_held TOOL ARG... - leaves in HELD the numbers of calls from the one on by which the tool
# makes the trampolines hold
#
# Only those of kinds that come equally often each time: what is asked about the threads is asked
# again when they have run.
count_held() {
	local close
	trace_calls "$@"
	close=$(grep -nE '^pwrite64\([^,]+, "\\[23]", 1, ' "$TRACE" | head -1 | cut -d: -f1)
	[ -n "$close" ] || fail "the gates were not closed" || return
	mapfile -t HELD < <(grep -nE '^(ptrace|pwrite64)\(' "$TRACE" | cut -d: -f1 | awk -v first="$close" '$1 >= first')
}

# expect_interrupted - the update is half switched at some of the calls that were tried
expect_interrupted() {
	local call interrupted=0
	for call in "${HELD[@]:0:5}"; do
		"$STATE" && tool_args || return
		inject signal=KILL "$call" "${TOOL[@]}"
		tool uspl-view --json --id="$ID" "$TARGET"
		[[ $output != *'"interrupted"'* ]] || interrupted=$((interrupted + 1))
		expect_old_or_new && expect_mended || fail "call $call" || return
	done
	[ "$interrupted" -gt 1 ] || fail "only $interrupted times was it left half switched"
}

@test "apply is killed while the gates hold, and view says so" {
	TRIED=apply STATE=start_undone
	start_undone
	tool_args
	count_held "${TOOL[@]}"
	expect_interrupted
}

@test "undo is killed while the gates hold, and view says so" {
	TRIED=undo STATE=start_applied
	start_applied
	tool_args
	count_held "${TOOL[@]}"
	expect_interrupted
}

# other_update - an update of another function of the same program; leaves OTHER and OTHER_ID
other_update() {
	local update=$UPDATE id=$ID
	sed 's/"?"/"!"/' "$FIXTURE/tree/target.c" > "$BATS_TEST_TMPDIR/target.c"
	diff -u --label a/target.c --label b/target.c "$FIXTURE/tree/target.c" "$BATS_TEST_TMPDIR/target.c" \
		> "$BATS_TEST_TMPDIR/other.patch" || :
	create "$FIXTURE/tree" "$BATS_TEST_TMPDIR/other.patch"
	expect_status 0 || return
	OTHER=$UPDATE OTHER_ID=$ID UPDATE=$update ID=$id
}

# leave_half_switched - the tool TRIED dies where it leaves the update in the middle of its switch;
# STATE is the process before
leave_half_switched() {
	"$STATE" && tool_args && count_held "${TOOL[@]}" || return
	if [ "$TRIED" = apply ]; then undo; else apply; fi
	expect_status 0 || return
	inject signal=KILL "${HELD[1]}" "${TOOL[@]}"
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output = *'"interrupted"'* ]] || fail 'it is not left in the middle'
}

# expect_completed WHAT - the last command has said that it has decided what was left, and done its
# own work
expect_completed() {
	expect_status 0 || return
	[[ $stderr = *"note: the update '$ID', which a command had left in the middle of its switch, is $1 pid $TARGET now"* ]] ||
		fail "it says: $stderr" || return
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output != *'"interrupted"'* ]] || fail 'it is still in the middle'
}

@test "an update that was left half applied is completed by the apply of another one" {
	TRIED=apply STATE=start_undone
	other_update
	leave_half_switched
	tool uspl-apply --check "$OTHER" "$TARGET"
	expect_status 1
	expect_message 'left in the middle of its switch'
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output = *'"interrupted"'* ]] || fail '--check has changed something'
	tool uspl-apply "$OTHER" "$TARGET"
	expect_completed 'applied to'
	expect_answer hello 'goodbye, world'
	expect_answer something '!'
	tool uspl-undo "$OTHER_ID" "$TARGET"
	expect_status 0
	expect_answer something '?'
	# Those of the other one stay as well.
	MAPS=$((MAPS + 8))
	expect_mended
}

@test "an update that was left half undone is completed by the undo of another one" {
	TRIED=undo STATE=start_applied
	other_update
	leave_half_switched
	# Which isn't there: nothing is changed for it.
	tool uspl-undo "$OTHER_ID" "$TARGET"
	expect_status 1
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output = *'"interrupted"'* ]] || fail 'a command that did nothing has changed something'
	tool uspl-apply "$OTHER" "$TARGET"
	expect_completed 'undone in'
	expect_answer hello 'hello, world'
	expect_answer something '!'
	tool uspl-undo "$OTHER_ID" "$TARGET"
	expect_status 0
	MAPS=$((MAPS + 8))
	expect_mended
}

@test "an update that was left half applied is completed before the process is traced" {
	TRIED=apply STATE=start_undone
	leave_half_switched
	tool uspl-trace start "$TARGET" -F greet
	expect_completed 'applied to'
	expect_answer hello 'goodbye, world'
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_mended
}

# start_traced - one with the update, whose function is traced
start_traced() {
	start_applied || return
	tool uspl-trace start "$TARGET" -F greet
	expect_status 0
}

@test "an update that was left half undone while it was traced is completed before the trace ends" {
	local from_end found=''
	start_traced
	choose_calls kill uspl-undo "$ID" "$TARGET"
	for from_end in {1..40}; do
		apply
		inject signal=KILL "${CALLS[-from_end]}" uspl-undo "$ID" "$TARGET"
		tool uspl-view --json --id="$ID" "$TARGET"
		[[ $output != *'"interrupted"'* ]] || found=yes
		[ -z "$found" ] || break
	done
	[ -n "$found" ] || fail 'it is never left in the middle'
	tool uspl-trace stop "$TARGET"
	expect_completed 'undone in'
	expect_answer hello 'hello, world'
	expect_mended
}

@test "an update that was there before isn't loaded a second time because it could not be read" {
	local read
	start_undone
	trace_calls uspl-apply "$UPDATE" "$TARGET"
	read=$(sed '/^pwrite64(/q' "$TRACE" | grep -n '^pread64(.*goodbye, %s.*, 4096, ' | tail -1 | cut -d: -f1)
	[ -n "$read" ] || fail 'it was not compared'
	undo
	# Memory that can't be read may have been unmapped, and mapped anew: it is read once more.
	inject error=EIO "$read" uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	expect_answer hello 'goodbye, world'
	undo
	TIMES=8 inject error=EIO "$read" uspl-apply "$UPDATE" "$TARGET"
	expect_status 3
	expect_message 'cannot read 4096 bytes'
	expect_answer hello 'hello, world'
	expect_mended
}

# is_loaded - true if view says that the update is there, and no more
is_loaded() {
	tool uspl-view --json --id="$ID" "$TARGET"
	[[ $output = *'"loaded"'* ]]
}

@test "what was loaded and never used is unmapped when another update comes" {
	local call id=$ID
	start_fresh
	SAMPLE=3 choose_calls kill uspl-apply "$UPDATE" "$TARGET"
	for call in "${CALLS[@]}"; do
		start_fresh
		inject signal=KILL "$call" uspl-apply "$UPDATE" "$TARGET"
		! is_loaded || break
	done
	is_loaded || fail "it was never only loaded"
	create "$FIXTURE/tree" "$BATS_TEST_DIRNAME/../cases/body/fix.patch"
	apply
	expect_status 0
	expect_answer hello 'goodbye, world'
	tool uspl-view --json "$TARGET"
	[[ $output != *"$id"* ]] || fail "it is still there"
	undo
	expect_status 0
	expect_fine
}
