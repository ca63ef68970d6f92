# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

cleanup() {
	[ -z "${FIRST:-}" ] || kill -KILL "$FIRST"
	[ -z "${FIRST:-}" ] || wait "$FIRST" 2> /dev/null || :
}

# walk_one WORD - the program that runs now: its name is WORD once it is patched
walk_one() {
	local sum
	sum=$(text_sum)
	apply_fresh
	expect_answer x "$1 new"
	undo_all "$sum"
	expect_fine
}

steps() {
	target_start "$WORK/tree"
	expect_answer x 'first old'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	walk_one first
	FIRST=$TARGET
	target_start "$WORK/tree/more"
	expect_answer x 'second old'
	walk_one SECOND
	# What was made for one of them only is no good for the other.
	tool uspl-create --source="$WORK/tree" --output="$WORK" --patch="$CASE/fix.patch" --target=more/target
	expect_status 0
	tool uspl-apply "${output##*$'\n'}" "$FIRST"
	expect_status 1
	expect_message "'name' isn't the code"
}
