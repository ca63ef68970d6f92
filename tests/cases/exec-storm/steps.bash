# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_alive - fails if the process has ended, or is held
expect_alive() {
	kill -0 "$TARGET" || fail "the target is dead" || return
	expect_untraced
}

steps() {
	local round sum
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	for ((round = 0; round < 30; round++)); do
		SWITCH=
		[ $((round % 2)) = 0 ] || SWITCH=--stop
		apply --wait=0.2
		case $status in
		0 | 1 | 3) ;;
		*) fail "status $status" ;;
		esac
		expect_alive
	done
	touch "$WORK/tree/calm"
	expect_answer x old
	sum=$(text_sum)
	apply_fresh
	expect_answer x new
	undo_all "$sum"
	expect_answer x old
	expect_fine
}
