# SPDX-License-Identifier: GPL-3.0-or-later
# apply-names.bats - a program that has another name than in its build: what tells that the update
# is for it
#
# The program is that of tests/cases/parameters, whose changed source has enough code to be known
# by.
bats_require_minimum_version 1.5.0

OLD='1 2 3 4 5 6 7 8 1.5 2.5 abc/9 sum 45' NEW='8 7 6 5 4 3 2 1 2.5 1.5 abc/9 sum 90'

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of parameters fix.patch
	mkdir "$FIXTURE/shipped"
	# Another build than the update was made for: no byte of code differs.
	objcopy -S --remove-section=.note.gnu.build-id "$FIXTURE/tree/target" "$FIXTURE/shipped/target-check"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	RUN=$BATS_TEST_TMPDIR/run
	mkdir "$RUN"
	cp "$FIXTURE/shipped/target-check" "$RUN"
}

teardown() {
	target_stop
}

# start_as COMMAND... - starts the program in the background; its file is $RUN/target-check
start_as() {
	start_in "$RUN" "$@"
	until_true 60 runs || fail 'the target did not start'
	SUM=$(text_sum)
}

runs() {
	[ "$(readlink "/proc/$TARGET/exe")" = "$(realpath "$RUN")/target-check" ]
}

# expect_patched NOTE - applies, which says what told that this is the program, and undoes
expect_patched() {
	expect_answer x "$OLD"
	apply
	expect_status 0 || return
	[[ $stderr =~ ^note:\ \'[^\']*/target-check\'\ in\ pid\ $TARGET\ $1$ ]] || fail "not noted: $1" || return
	expect_answer x "$NEW" || return
	apply
	expect_status 0 || return
	expect_output 'already applied' || return
	undo
	expect_status 0 || return
	expect_answer x "$OLD" || return
	[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was before' || return
	expect_fine
}

@test "started by a link that has the name" {
	ln -s target-check "$RUN/target"
	start_as ./target
	expect_patched "was started as 'target', and is another build than the update was made for: its code is the same"
}

@test "started with the name as its argv[0], and a title behind it" {
	start_as bash -c 'exec -a "target: worker process" ./target-check'
	expect_patched "was started as 'target', and is another build .*"
}

@test "neither: its code is enough" {
	start_as ./target-check
	expect_patched "has neither the name nor a build-id of 'target', but its code: ([0-9]+) of the ([0-9]+) functions .*"
}

@test "neither, and another program: refused" {
	cp "$(command -v sleep)" "$RUN/target-check"
	start_as ./target-check 300
	apply
	expect_status 1
	expect_one_message
	expect_message "pid $TARGET runs '.*/target-check' and maps no 'target'"
	[ "$(text_sum)" = "$SUM" ]
}

@test "neither, and too little code to be sure: refused" {
	mkdir "$BATS_TEST_TMPDIR/small"
	BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR/small fixture_of body fix.patch
	objcopy -S --remove-section=.note.gnu.build-id "$BATS_TEST_TMPDIR/small/tree/target" "$RUN/target-check"
	start_as ./target-check
	expect_answer hello 'hello, world'
	apply
	expect_status 1
	expect_message "maps no 'target'"
	expect_untouched
}

@test "a name, but not the code: refused" {
	ln -s target-check "$RUN/target"
	cp "$(command -v sleep)" "$RUN/target-check"
	start_as ./target 300
	apply
	expect_status 1
	expect_one_message
	expect_message "isn't"
}
