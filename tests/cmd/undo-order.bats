# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# undo-order.bats - updates that have nothing to do with each other are undone in any order
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	local name
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	replace_tree
	for name in head tail; do
		update_of "$name" "/^KEPT int $name(void)\$/,/^}/s/return 1;/return 2;/"
	done
	update_of whole 's/tail() + 0;/tail() + 100;/'
	update_of lone 's/"alone"/"alone2"/'
	update_of shaped 's/return shape + 0;/return shape + 1;/'
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	fixture_start
}

teardown() {
	target_stop
}

# expect_new [NAME...] - the process answers as with these updates, and has no others
expect_new() {
	local whole=11 lone=alone shaped=1 name
	for name; do
		case $name in
		head) whole=$((whole + 10)) ;;
		tail) whole=$((whole + 1)) ;;
		whole) whole=$((whole + 100)) ;;
		lone) lone=alone2 ;;
		shaped) shaped=2 ;;
		esac
	done
	expect_answer whole "$whole" && expect_answer lone "$lone" && expect_answer shaped "$shaped" &&
		expect_in_effect "$(printf '%s\n' "$@" | sort | xargs)"
}

# surely put|take NAME - a command that finds the machine too busy says so, and changes nothing
surely() {
	local tries
	for ((tries = 0; tries < 5; tries++)); do
		"$@"
		[[ $status = 1 && $stderr == *'when the machine is less busy'* ]] || break
	done
	expect_status 0
}

# orders - applies all five in the order of the first argument, undoes them in that of the second
orders() {
	local name have='' rest
	for name in $1; do
		surely put "$name" || return
		have+=" $name"
		# shellcheck disable=SC2086 # a list
		expect_new $have || return
	done
	for name in $2; do
		surely take "$name" || return
		rest=''
		for kept in $have; do
			[ "$kept" = "$name" ] || rest+=" $kept"
		done
		have=$rest
		# shellcheck disable=SC2086 # a list
		expect_new $have || return
	done
	[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was'
}

@test "five updates of other functions, undone from the first, from the last, and crosswise" {
	orders 'head tail whole lone shaped' 'head tail whole lone shaped'
	orders 'shaped lone whole tail head' 'head tail whole lone shaped'
	orders 'whole shaped head lone tail' 'lone head tail shaped whole'
	orders 'tail lone shaped whole head' 'whole tail shaped head lone'
	expect_fine
}

@test "the same by the stop-all way, with calls all the time" {
	expect_answer 'start 4' ''
	SWITCH=--stop
	orders 'lone head whole shaped tail' 'whole lone tail shaped head'
	orders 'head tail whole lone shaped' 'tail shaped head lone whole'
	expect_fine
}
