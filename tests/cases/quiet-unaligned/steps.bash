# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_way - fails unless the last apply or undo did it without a stop of all threads, or said why
# not
expect_way() {
	[ -n "${SWITCH:-}" ] || [[ $output == *'"way":"quiet"'* ]] || [[ $stderr == *'all threads have to be stopped: '* ]] ||
		fail "it took the full stop without need"
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	ask_all before
	create "$WORK/tree" "$CASE/fix.patch"
	for _ in 1 2 3; do
		apply --json -v
		expect_status 0
		expect_functions
		expect_way
		ask_all patched
		undo --json -v
		expect_status 0
		expect_way
		[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before"
		ask_all undone
	done
	expect_fine
}
