# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# round [OPTION]... - applies and undoes, and asks all threads
round() {
	apply --wait=60 "$@" --json
	expect_status 0 || return
	expect_output '"way": *"(quiet|full stop)"' || return
	echo "# $(grep -oE '"(stop_us|attempts|stopped_threads|way)": *[^,}]*' <<< "$output" | xargs)"
	expect_answer all '0 old, 64 new' || return
	undo --wait=60 "$@"
	expect_status 0 || return
	expect_answer all '64 old, 0 new'
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer start ''
	expect_answer all '64 old, 0 new'
	round
	round --stop
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was"
	[ "$(find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 | wc -l)" = 65 ] || fail 'a thread is gone'
	expect_fine
}
