# SPDX-License-Identifier: GPL-3.0-or-later
# by-thread.bats - --by-thread: what the update and its record say, and where it is refused; the
# switch itself is in tests/cases/by-thread
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	fixture_start
}

teardown() {
	target_stop
}

# record_version - which version of the layout the update's record in the target has
record_version() {
	local range start
	while read -r range _; do
		start=$((16#${range%-*}))
		[ "$(dd if="/proc/$TARGET/mem" bs=8 iflag=skip_bytes count=1 skip="$start" status=none | tr '\0' ' ')" = SPLREGN1 ] || continue
		dd if="/proc/$TARGET/mem" bs=4 iflag=skip_bytes count=1 skip=$((start + 8)) status=none | od -An -tu4 | tr -d ' '
		return
	done < <(grep -E ' r--p 0+ 00:00 0 *$' "/proc/$TARGET/maps")
}

@test "the author's word: in the manifest, and in the record" {
	hooked plain "$CHANGE" <<< ''
	tar -xzOf "$UPDATE" uspl-plain/manifest.json | grep -q '"format": 4' || fail 'not format 4'
	! tar -xzOf "$UPDATE" uspl-plain/manifest.json | grep -q by_thread || fail 'it is said by itself'
	apply
	expect_status 0
	[ "$(record_version)" = 8 ] || fail "the record is of version $(record_version)"
	undo
	expect_status 0
	hooked agreed "$CHANGE" --by-thread <<< ''
	expect_status 0
	tar -xzOf "$UPDATE" uspl-agreed/manifest.json | grep -q '"format": 7' || fail 'not format 7'
	tar -xzOf "$UPDATE" uspl-agreed/manifest.json | grep -q '"by_thread": true' || fail 'it is not said'
	apply
	expect_status 0
	[ "$(record_version)" = 11 ] || fail "the record is of version $(record_version)"
	expect_applied
	undo
	expect_status 0
	expect_answer pair '3 7'
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "the operator's word: in the record" {
	hooked plain "$CHANGE" <<< ''
	apply --by-thread
	expect_status 0
	[ "$(record_version)" = 11 ] || fail "the record is of version $(record_version)"
	expect_applied
	undo --by-thread
	expect_status 0
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "not with --stop, nor in another's place" {
	hooked plain "$CHANGE" <<< ''
	apply --by-thread --stop
	expect_status 2
	expect_one_message
	expect_message '--by-thread and --stop'
	apply --by-thread --replace
	expect_status 2
	expect_one_message
	expect_message '--by-thread and --replace'
	undo --by-thread --stop
	expect_status 2
	expect_message '--by-thread and --stop'
}

@test "not with hooks" {
	hooked acts "$CHANGE" <<- 'END'
		static void acts(void) { note("acts"); }
		USPL_POST_APPLY(acts);
	END
	expect_status 0
	apply --by-thread
	expect_status 1
	expect_one_message
	expect_message "the update 'acts' has hooks, which all threads meet in one instant"
	expect_not_applied
	hooked agreed "$CHANGE" --by-thread <<- 'END'
		static void acts(void) { note("acts"); }
		USPL_POST_APPLY(acts);
	END
	expect_status 1
	expect_one_message
	expect_message 'the update has hooks, which all threads meet in one instant'
}

@test "not with initial values that change" {
	tool uspl-create --by-thread --adopt-data --patch=/dev/null
	expect_status 2
	expect_one_message
	expect_message '--by-thread and --adopt-data'
}
