# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/doze.diff"
	expect_status 0
	apply_fresh
	send doze
	create "$WORK/tree" "$CASE/other.diff"
	expect_status 0
	apply --wait=0.5
	expect_status 0
	send 'awake and '
	receive
	ASKED=$((ASKED + 1))
	[ "$REPLY" = 'awake and new' ] || fail "the sleeper answers '$REPLY'"
	expect_answer x new
	expect_fine
}
