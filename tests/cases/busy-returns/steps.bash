# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# round REQUEST WAIT SUM [unwatched] - applies and undoes while the threads are busy as that request
# says; nothing is mixed. unwatched: there are no breakpoints for the threads' returns
round() {
	local task taker=
	expect_answer "$1" 0
	if [ -n "${4:-}" ]; then
		task=$(ls "/proc/$TARGET/task")
		rm -f "$WORK/taken"
		# shellcheck disable=SC2086 # one word each
		"$WORK/breakpoint" $task > "$WORK/taken" 3>&- &
		taker=$!
		until_true 60 grep -qs ready "$WORK/taken"
	fi
	expect_answer which 3
	apply --json --wait="$2"
	expect_status 0
	expect_output '"functions":'
	expect_answer which 30
	undo --json --wait="$2"
	expect_status 0
	expect_answer which 3
	expect_answer end 0
	[ -z "$taker" ] || kill "$taker"
	[ "$(text_sum)" = "$3" ] || fail "$1: the code is not what it was"
}

steps() {
	local sum
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	start_quietly
	sum=$(text_sum)
	# The waits are limits: a few calls are enough, however slow the machine is.
	round 'run 1 1500000' 30 "$sum"
	round 'run 2 4000' 30 "$sum"
	round 'run 8 3000' 60 "$sum"
	round lock 30 "$sum"
	"$TARGET_CC" -O1 -o "$WORK/breakpoint" "$USPL_TESTS/lib/breakpoint.c"
	round 'run 1 1500000' 30 "$sum" unwatched
	round 'run 8 3000' 60 "$sum" unwatched
	expect_fine
}
