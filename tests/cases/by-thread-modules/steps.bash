# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../by-thread/steps.bash
source "$USPL_TESTS/cases/by-thread/steps.bash"

steps() {
	local sum
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	start_quietly
	expect_answer x '0 mixed'
	sum=$(text_sum)
	expect_answer 'run 8' '0 mixed'
	for _ in 1 2; do
		apply --by-thread --json --wait=50
		expect_status 0
		expect_output '"way":"quiet"'
		expect_output '"module":"libinner.so"'
		expect_answer which 10
		undo --by-thread --json --wait=50
		expect_status 0
		expect_answer which 1
	done
	expect_answer stay '0 mixed'
	begin_and_die uspl-apply "$UPDATE" KILL
	expect_answer which 10
	expect_answer go '0 mixed'
	apply --wait=50
	expect_status 0
	expect_answer which 10
	expect_answer stay '0 mixed'
	begin_and_die uspl-undo "$ID" KILL
	expect_answer which 1
	# The thread that stays is in the new code already.
	apply --wait=50
	expect_status 0
	expect_answer which 10
	expect_answer go '0 mixed'
	undo --by-thread --wait=50
	expect_status 0
	expect_answer which 1
	expect_answer end '0 mixed'
	[ "$(text_sum)" = "$sum" ] || fail 'the code is not what it was'
	expect_fine
}
