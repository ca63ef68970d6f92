# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# shellcheck source=../../lib/series.bash
source "$USPL_TESTS/lib/series.bash"

# expect_wrong_base MESSAGE HINT - fails unless apply refuses, so
expect_wrong_base() {
	local sum
	sum=$(text_sum)
	apply
	expect_status 1 || return
	expect_message "$1" || return
	expect_message "hint: $2" || return
	expect_one_message || return
	[ "$(text_sum)" = "$sum" ]
}

# create_after TREE - the second update by itself, said to come after the first one
create_after() {
	tool uspl-create --source="$1" --patch="$CASE/patches/two.patch" --output="$WORK" --id=second --after="${UPDATES[1]}"
}

# by_itself - the second one, made with --after: it must be made from the tree with the first one's
# patch
by_itself() {
	create_after "$WORK/tree"
	expect_status 1 || return
	expect_message "the update 'step-1' is said to come before this one, but its patch isn't in the tree" || return
	expect_message "hint: apply its patch to the source first" || return
	cp -r "$WORK/tree" "$WORK/patched"
	patch -s -p1 -d "$WORK/patched" < "$CASE/patches/one.patch"
	create_after "$WORK/patched"
	expect_status 0 || return
	UPDATES+=("${output##*$'\n'}") IDS+=(second)
	use 4
	expect_wrong_base "on top of 'step-1', which isn't applied: 'weigh' " "apply 'step-1' first"
}

steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/alone.patch"
	expect_status 0
	local alone=$UPDATE alone_id=$ID
	series_create "$CASE/patches/series"
	expect_answer x '2 4'

	use 2
	expect_wrong_base "on top of 'step-1', which isn't applied: 'weigh' " "apply 'step-1' first"
	use 3
	expect_wrong_base "on top of 'step-1', which isn't applied: .*bring" "apply 'step-1' first"
	by_itself
	use 1
	apply_fresh
	expect_answer x '120 4'
	UPDATE=$alone ID=$alone_id
	expect_wrong_base "the update 'step-1' has changed 'weigh', and this one was made without it: " "undo 'step-1' first"
	use 4
	apply_fresh
	expect_answer x '210 4'
	undo
	expect_status 0
	use 2
	apply_fresh
	expect_answer x '240 4'
	use 3
	apply_fresh
	expect_answer x '270 310'
	expect_fine
}
