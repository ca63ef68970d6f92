# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# trace SUBCOMMAND [OPTION]... - of the target
trace() {
	tool uspl-trace "$@" "$TARGET"
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0

	trace start --function=longer
	expect_status 0
	apply
	expect_status 1
	expect_message "'nothing' is so short that the next function's first bytes are needed, and that one is traced"
	expect_answer 5 "0 5017"
	trace stop
	expect_status 0
	[ "$(text_sum)" = "$sum" ]

	apply_fresh
	expect_answer 5 "7 5017"
	trace start --function=longer
	expect_status 1
	expect_message "no function of pid .* is to be traced"
	expect_answer 5 "7 5017"
	undo_all "$sum"
	expect_answer 5 "0 5017"
	expect_fine
}
