# SPDX-License-Identifier: GPL-3.0-or-later
# adopt-data.bats - uspl-create --adopt-data: new initial values for processes that still have the
# old ones
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	replace_tree
	cp "$BATS_TEST_DIRNAME/adopt/target.c" "$FIXTURE/tree"
	run make -C "$FIXTURE/tree"
	[ "$status" = 0 ] || fail "the target does not build"
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	update_of raised "s/limit = 8/limit = 16/; $FITS" --adopt-data
	update_of higher "s/limit = 8/limit = 32/; $FITS" --adopt-data --replaces=raised
	update_of without "$FITS" --replaces=raised
}

# What makes the update replace the function that reads them all.
export FITS='s/? 1 : 0/? 2 : 0/'

setup() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	fixture_start
}

teardown() {
	target_stop
}

# expect_limit N - fails unless the limit is that; SAYS is what fits() says of what fits
expect_limit() {
	expect_answer "fits $1" "$SAYS" && expect_answer "fits $(($1 + 1))" 0
}

# refused SED REGEX - create says no, for that reason
refused() {
	diff_from "$FIXTURE/tree/target.c" "$1; $FITS" > "$BATS_TEST_TMPDIR/fix.patch"
	tool uspl-create --source="$FIXTURE/tree" --patch="$BATS_TEST_TMPDIR/fix.patch" --dry-run "${@:3}"
	expect_status 1 && expect_one_message && expect_message "$2"
}

@test "the old value becomes the new one with the functions, and the old one again by undo" {
	SAYS=1 expect_limit 8
	put raised
	expect_status 0
	SAYS=2 expect_limit 16
	take raised
	expect_status 0
	SAYS=1 expect_limit 8
	put raised
	expect_status 0
	SAYS=2 expect_limit 16
	# What the program has made of it since is its own.
	expect_answer 'limit 11' ''
	take raised
	expect_status 0
	SAYS=1 expect_limit 11
	[ "$(text_sum)" = "$SUM" ]
	expect_fine
}

@test "a process that has set it refuses the update, with --check, too" {
	expect_answer 'limit 9' ''
	for option in --check --stop --json; do
		put raised "$option"
		expect_status 1
		expect_message "'limit', whose initial value the update changes, has another value in pid $TARGET"
	done
	expect_one_message
	SAYS=1 expect_limit 9
	expect_in_effect
	expect_answer 'limit 8' ''
	put raised
	expect_status 0
	SAYS=2 expect_limit 16
}

@test "an update that takes its place begins with the old value, and leaves that if it doesn't change it" {
	put raised
	expect_status 0
	put higher --replace
	expect_status 0
	SAYS=2 expect_limit 32
	take higher
	expect_status 0
	SAYS=1 expect_limit 8
	put raised
	put without --replace
	expect_status 0
	SAYS=2 expect_limit 8
	take without
	SAYS=1 expect_limit 8
	expect_in_effect
	[ "$(text_sum)" = "$SUM" ]
	expect_fine
}

@test "it is said what is adopted, and without the option it is refused as ever" {
	refused 's/limit = 8/limit = 16/' "the initial value of 'limit' changes from 8 to 16"
	expect_message 'hint: the variable exists already'
	diff_from "$FIXTURE/tree/target.c" "s/limit = 8/limit = 16/; $FITS" > "$BATS_TEST_TMPDIR/fix.patch"
	tool uspl-create --source="$FIXTURE/tree" --patch="$BATS_TEST_TMPDIR/fix.patch" --dry-run --adopt-data
	expect_status 0
	expect_message "warning: target.c: processes in which 'limit' still has its initial value get the new one"
}

@test "refused: read by a function that stays, not static, pointed to, an address, another size" {
	refused 's/other = 3/other = 4/' "it can't be adopted, since 'shown' reads it, and isn't replaced" --adopt-data
	refused 's/shared = 5/shared = 6/' "it can't be adopted, since it isn't static" --adopt-data
	refused 's/pointed = 7/pointed = 9/' "it can't be adopted, since 'answer' does more with it than read it or set it" --adopt-data
	refused 's/word = "one"/word = "three"/' "it can't be adopted, since its value is an address" --adopt-data
	refused 's/static int limit = 8/static long limit = 8/' "the size of 'limit' changes" --adopt-data
	refused 's/limit = 8/limit = 16/; s/return other/return other + limit/' '' --adopt-data || :
	expect_status 0
}

# dies_at CALL - the tool dies there, and apply completes it; then undo
dies_at() {
	start_fresh && TOOL=(uspl-apply "$FIXTURE/updates/uspl-raised.tar.gz" "$TARGET") || return
	inject signal=KILL "$1" "${TOOL[@]}"
	ask 'fits 17' && [ "$REPLY" = 0 ] || fail "17 fits" || return
	put raised && expect_status 0 && SAYS=2 expect_limit 16 || return
	take raised && expect_status 0 && SAYS=1 expect_limit 8 || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

@test "apply is killed" {
	crash_setup
	start_fresh
	TOOL=(uspl-apply "$FIXTURE/updates/uspl-raised.tar.gz" "$TARGET")
	SAMPLE=3 choose_calls kill "${TOOL[@]}"
	for_each_call 'apply' dies_at
}
