# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# gdb_names_all - true if the target's stack, as gdb shows it with the names from view, has new code
# and old code
gdb_names_all() {
	run gdb -nx -batch -p "$TARGET" -ex "add-symbol-file $WORK/symbols" -ex bt
	[[ $output =~ brand_new\ .*wait_here\ .*answer\ .*main\  ]]
}

steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	apply_fresh

	tool uspl-view --perf-map "$TARGET"
	expect_output "[0-9a-f]+ [0-9a-f]+ brand_new \\[uspl $ID\\]"
	expect_output "[0-9a-f]+ [0-9a-f]+ wait_here \\[uspl $ID\\]"

	tool uspl-view --symbols="$WORK/symbols" "$TARGET"
	expect_status 0
	send wait
	until_true 60 gdb_names_all || fail "gdb does not name the new code"
	send "go on"
	receive
	[ "$REPLY" = "done go on" ]
	ASKED=$((ASKED + 1))
	undo
	expect_status 0
	expect_fine
}
