# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-replace.bats - a tool dies, or is failed, while an update takes the place of others: the
# process is as before or has the new one, and the next command completes what was begun
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	replace_tree
	stack_of "$(version 1 2); s/\"alone\"/\"alone2\"/" "$(version 2 3)"
	update_of cumulative "$(version 1 4)" --replaces=step-1 --replaces=step-2
	update_of full "$(version 1 5); s/\"alone\"/\"alone5\"/" --replaces=step-1 --replaces=step-2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	crash_setup
}

teardown() {
	target_stop
}

# start_stack - a fresh process that works in four threads, and has both updates of the stack
start_stack() {
	start_fresh && expect_answer 'start 4' '' || return
	put step-1 && expect_status 0 && put step-2 && expect_status 0
}

# tool_of UPDATE - leaves in TOOL the command that is tried
tool_of() {
	TOOL=(uspl-apply ${SWITCH:+"$SWITCH"} --replace "$FIXTURE/updates/uspl-$1.tar.gz" "$TARGET")
}

# expect_one_of OLD NEW - all functions are of one version, this one or the other
expect_one_of() {
	expect_untraced && ask whole || return
	[ "$REPLY" = "$1" ] || [ "$REPLY" = "$2" ] || fail "it says '$REPLY'" || return
	expect_answer load 'works, 0 mixed'
}

# expect_end ID WHOLE LONE - the same command completes it; undo leaves the program's own
expect_end() {
	"${REPEAT[@]}" && expect_status 0 || return
	expect_version "$2" "$3" && expect_in_effect "$1" || return
	take "$1" && expect_status 0 && expect_version 11 alone && expect_in_effect || return
	expect_answer load 'works, 0 mixed' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

# dies_at CALL - the tool dies there, and the same command is given again
dies_at() {
	start_stack && tool_of "$TRIED" || return
	inject "${HOW:-signal=KILL}" "$1" "${TOOL[@]}"
	expect_one_of 233 "$WHOLE" || return
	REPEAT=(put "$TRIED" --replace)
	expect_end "$TRIED" "$WHOLE" "$LONE"
}

# fails_at CALL - the call fails with one error after the other
fails_at() {
	HOW=error=${ERRORS[$(($1 % ${#ERRORS[@]}))]} dies_at "$1"
}

# undone_at CALL - the tool dies there, and what it was to bring is undone: it is gone or was never
# there
undone_at() {
	start_stack && tool_of "$TRIED" || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_one_of 233 "$WHOLE" || return
	take "$TRIED"
	if [ "$status" = 0 ]; then
		ask whole && [[ $REPLY = 11 || $REPLY = 233 ]] || fail "it says '$REPLY'" || return
	fi
	expect_one_of 11 233 || return
	[ "$REPLY" != 'works, 0 mixed' ] || ask whole || return
	[ "$REPLY" = 11 ] || { take step-2 && expect_status 0 && take step-1 && expect_status 0; } || return
	expect_version 11 alone && expect_in_effect || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

# old_undone_at CALL - the tool dies there, and the newest of the old ones is undone
old_undone_at() {
	start_stack && tool_of "$TRIED" || return
	inject signal=KILL "$1" "${TOOL[@]}"
	expect_one_of 233 "$WHOLE" || return
	take step-2
	expect_status 0 || return
	expect_one_of 122 "$WHOLE"
	tool uspl-view --json "$TARGET"
	[[ $output != *'"interrupted"'* ]] || fail 'it is still in the middle' || return
	expect_fine
}

# crash_replace UPDATE WHOLE LONE KIND SAMPLE STEPS - tries the calls of the command
crash_replace() {
	TRIED=$1 WHOLE=$2 LONE=$3
	start_stack && tool_of "$1" && SAMPLE=$5 choose_calls "$4" "${TOOL[@]}" || return
	for_each_call "replace by $1" "$6"
}

@test "a replacement without a stop is killed" {
	crash_replace full 455 alone5 kill "${DENSE:-9}" dies_at
}

@test "a replacement that stops all is killed" {
	crash_replace cumulative 344 alone kill "${DENSE:-9}" dies_at
}

@test "a replacement is killed, and undone" {
	crash_replace cumulative 344 alone kill 23 undone_at
	crash_replace full 455 alone5 kill 23 undone_at
}

@test "a replacement is killed, and an old update is undone" {
	crash_replace cumulative 344 alone kill 23 old_undone_at
	crash_replace full 455 alone5 kill 23 old_undone_at
}

@test "a system call of a replacement fails" {
	crash_replace cumulative 344 alone fail 41 fails_at
	crash_replace full 455 alone5 fail 41 fails_at
}

# start_quiet - the same without threads of its own, so that a tool does the same each time
start_quiet() {
	start_fresh && put step-1 && expect_status 0 && put step-2 && expect_status 0
}

# switched_only - a replacement that can hold no thread any more when all has switched: its entries
# keep the way through their trampolines
switched_only() {
	local tries=20
	status=99
	while [ "$status" = 99 ]; do
		((tries-- > 0)) || fail 'it goes another way each time' || return
		start_quiet && tool_of full && trace_calls "${TOOL[@]}" && start_quiet && tool_of full || return
		BEFALL_REQUEST=0x4206 TIMES=1000000 inject error=EPERM \
			"$(grep -n '^ptrace(PTRACE_SEIZE' "$TRACE" | tail -n 1 | cut -d: -f1)" "${TOOL[@]}"
	done
	expect_status 0 && expect_version 455 alone5 && expect_in_effect full! step-1 step-2
}

# expect_undone - after an undo the program is as it was
expect_undone() {
	expect_status 0 && expect_version 11 alone && expect_in_effect || return
	[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was' || return
	expect_fine
}

@test "entries of a replacement can't be made direct: the next command does it" {
	switched_only
	put full --replace
	expect_status 0
	expect_in_effect full
	take full
	expect_undone
}

@test "entries of a replacement can't be made direct: undo does it first" {
	switched_only
	take full
	expect_undone
}

@test "entries of a replacement can't be made direct, nor later: all is left as it is" {
	switched_only
	# No call of ptrace (101) works.
	ASAN_OPTIONS=$NO_LEAKS run --separate-stderr timeout --kill-after=5 60 \
		"$BATS_FILE_TMPDIR/befall" 1 101 1 1000000 -1 "$USPL_BIN/uspl-undo" full "$TARGET"
	expect_status 1
	expect_message 'has been left in the middle of its switch'
	expect_version 455 alone5
	take full
	expect_undone
}

# A trampoline of the new update has the jump to a replaced one for what was there before.
@test "undo waits for a thread that is at the beginning of a trampoline of a replacement" {
	local preempt=$BATS_TEST_TMPDIR/preempt whole place worker
	"$TARGET_CC" -o "$preempt" "$USPL_TESTS/lib/preempt.c"
	switched_only
	tool uspl-view --json "$TARGET"
	whole=$(grep -o '"name":"whole","old":"[^"]*"' <<< "$output" | head -n 1 | cut -d'"' -f8)
	place=$("$preempt" "$TARGET" "$TARGET" "$whole")
	put full --replace
	expect_status 0
	expect_answer 'start 1' ''
	worker=$(find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 ! -name "$TARGET" -printf '%f\n')
	"$preempt" "$TARGET" "$worker" "$whole" "$place"
	take full --wait=1
	expect_status 1
	expect_message "'whole' is on the stack of thread $worker"
	kill -CONT "$TARGET"
	take full
	expect_undone
	expect_answer load 'works, 0 mixed'
}
