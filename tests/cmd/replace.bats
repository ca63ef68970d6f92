# SPDX-License-Identifier: GPL-3.0-or-later
# replace.bats - uspl-apply --replace: an update takes the place of others, in one switch
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
	fixture_start
}

teardown() {
	target_stop
}

# start_stack - the process works in four threads, and has both updates of the stack
start_stack() {
	expect_answer 'start 4' '' || return
	put step-1 && expect_status 0 && put step-2 && expect_status 0 || return
	expect_version 233 alone2
}

# expect_clean - no thread has seen two versions, and the process is as it was
expect_clean() {
	expect_answer load 'works, 0 mixed' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

@test "it takes the place of a stack, functions that it leaves alone go back, and undo leaves the program's own" {
	start_stack
	put cumulative --replace
	expect_status 0
	expect_output 'in the place of step-1 step-2'
	expect_version 344 alone
	expect_in_effect cumulative
	take cumulative
	expect_status 0
	expect_version 11 alone
	expect_in_effect
	expect_clean
}

@test "with all functions of the stack no thread is stopped" {
	start_stack
	put full --replace --json
	expect_status 0
	expect_output '"replaced": *\["step-1","step-2"\]'
	expect_output '"way": *"quiet"'
	expect_version 455 alone5
	expect_in_effect full
	take full
	expect_status 0
	expect_version 11 alone
	expect_clean
}

@test "by the stop-all way it is the same" {
	SWITCH=--stop
	start_stack
	put full --replace --json
	expect_status 0
	expect_output '"way": *"full stop"'
	expect_version 455 alone5
	expect_in_effect full
	take full
	expect_status 0
	expect_version 11 alone
	expect_clean
}

@test "once more after undo, and the old ones again after that" {
	start_stack
	put full --replace
	expect_status 0
	put full --replace
	expect_status 0
	expect_output '^already applied full'
	take full
	put step-1
	expect_status 0
	put step-2
	expect_status 0
	expect_version 233 alone2
	put full --replace
	expect_status 0
	expect_version 455 alone5
	take full
	expect_status 0
	expect_version 11 alone
	expect_in_effect
	expect_clean
}

@test "in a process that has none of them it is an update like others; without --replace it is refused where they are" {
	put full --replace --json
	expect_status 0
	[[ $output != *replaced* ]]
	expect_version 455 alone5
	take full
	start_stack
	put full
	expect_status 1
	expect_one_message
	expect_message "the update takes the place of 'step-1', which is applied"
	expect_message "hint: apply it with '--replace'"
	expect_version 233 alone2
	expect_in_effect step-1 step-2
}

@test "--check says what it would do, and changes nothing" {
	start_stack
	put cumulative --replace --check --json
	expect_status 0
	expect_output '"state": *"ready"'
	put cumulative --replace --check
	expect_status 0
	expect_version 233 alone2
	expect_in_effect step-1 step-2
	put cumulative --replace
	expect_status 0
	expect_version 344 alone
}

@test "an update that doesn't say whose place it takes, what is no list, one beneath another that stays" {
	start_stack
	put step-2 --replace
	expect_status 2
	expect_message "the update 'step-2' doesn't say which updates it replaces"
	put full --replace=step-1,
	expect_status 2
	expect_message "'--replace=step-1,' is not a list of updates' ids"
	put full --replace=step-1
	expect_status 1
	expect_one_message
	expect_message "the update 'step-2' builds on 'step-1', and isn't one that is replaced"
	expect_version 233 alone2
	put full --replace=step-2,step-1,nowhere
	expect_status 0
	expect_version 455 alone5
	expect_in_effect full
}

@test "an update of other functions stays, whenever it came" {
	update_of other 's/return shape + 0;/return shape + 40;/'
	put other
	expect_status 0
	start_stack
	put full --replace
	expect_status 0
	expect_answer shaped 41
	expect_in_effect full other
	take other
	expect_status 0
	expect_answer shaped 1
	put other
	expect_status 0
	take full
	expect_status 0
	expect_answer shaped 41
	expect_in_effect other
	take other
	expect_version 11 alone
	expect_clean
}

@test "one that is in effect beside others doesn't take their place afterwards" {
	update_of beside 's/return shape + 0;/return shape + 40;/' --replaces=step-1
	put beside
	expect_status 0
	put step-1
	expect_status 0
	put beside --replace
	expect_status 1
	expect_one_message
	expect_message "nothing of the update 'beside' is to be switched on in the place of 'step-1'"
	expect_version 122 alone2
}

@test "three squashed: in a process without them, and in the place of them" {
	tool uspl-create --source="$FIXTURE/tree" --output="$FIXTURE/updates" --id=squashed --squash \
		"$FIXTURE/updates/uspl-step-1.tar.gz" "$FIXTURE/updates/uspl-step-2.tar.gz"
	expect_status 0
	put squashed
	expect_status 0
	expect_version 233 alone2
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	fixture_start
	start_stack
	put squashed --replace --json
	expect_status 0
	expect_output '"way": *"quiet"'
	expect_version 233 alone2
	expect_in_effect squashed
	tool uspl-view --id=squashed "$TARGET"
	expect_output 'in the place of step-1 step-2'
	take squashed
	expect_status 0
	expect_version 11 alone
	expect_clean
}

@test "while its functions are traced" {
	start_stack
	tool uspl-trace start "$TARGET" -F whole -F lone
	expect_status 0
	put cumulative --replace
	expect_status 0
	expect_version 344 alone
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_version 344 alone
	tool uspl-trace start "$TARGET" -F whole -F lone
	expect_status 0
	take cumulative
	expect_status 0
	expect_version 11 alone
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_version 11 alone
	expect_clean
}

# state_hook NUMBER CODE - a hook that does that to the shape where the process lacks the number
state_hook() {
	echo "static void shape_$1(void) { if (USPL_STATE_BEFORE(shape) < $1) shape = $2; }"
	echo "USPL_APPLY(shape_$1);"
}

# stated ID SED NUMBER [OPTION...] - an update whose hooks, on stdin, bring the shape to a number
stated() {
	{ echo '#include <uspl/hook.h>'; echo "USPL_STATE(shape, $3);"; cat; } > "$BATS_TEST_TMPDIR/end"
	update_of "$1" "$2
\$r $BATS_TEST_TMPDIR/end" "${@:4}"
}

@test "states: hooks see what the replaced updates have done, and do the rest; their own undo hooks don't run" {
	stated first "$(version 1 2)" 1 <<< "$(state_hook 1 'shape * 10'; echo 'static void back(void) { shape = -1; } USPL_UNDO(back);')"
	stated both "$(version 1 3)" 2 --replaces=first <<< "$(state_hook 1 'shape * 10'; state_hook 2 'shape + 5')"
	put both
	expect_status 0
	expect_answer shaped 15
	take both
	expect_answer shaped 15
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	fixture_start
	put first
	expect_status 0
	expect_answer shaped 10
	put both --replace
	expect_status 0
	expect_answer whole 233
	expect_answer shaped 15
	tool uspl-view --json "$TARGET"
	expect_output '"states": *\["shape=2"\]'
	tool uspl-view --file="$FIXTURE/updates/uspl-both.tar.gz"
	expect_output 'states: +shape=2'
}

@test "states: one that the new update lacks, or has with a lower number, is refused" {
	stated second "$(version 1 2)" 2 <<< "$(state_hook 2 'shape + 5')"
	stated lower 's/return shape + 0;/return shape + 40;/' 1 <<< "$(state_hook 1 'shape * 10')"
	put second
	expect_status 0
	put full --replace=second
	expect_status 1
	expect_one_message
	expect_message "the update 'second' has the state 'shape', which 'full' doesn't know, whose place it takes"
	put lower --replace=second
	expect_status 1
	expect_message "the update 'second' has left the state 'shape' with the number 2, and 'lower' only knows it with 1"
	put lower
	expect_status 1
	expect_message "and 'lower' only knows it with 1"
	expect_answer whole 122
	expect_answer shaped 6
	take second
	put lower
	expect_status 0
	expect_answer shaped 100
}
