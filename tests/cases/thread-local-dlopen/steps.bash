# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the common way, and then a second update that uses the first one's variables

steps() {
	local sum first
	walk || return
	apply_fresh || return
	expect_answer main 'main 8 312 503 9 m' || return
	sum=$(text_sum)
	first=("$UPDATE" "$ID")
	patch -s -p1 -d "$WORK/tree" < "$CASE/fix.patch"
	create "$WORK/tree" "$CASE/stacked.diff"
	expect_status 0 || return
	apply_fresh || return
	expect_answer main 'main 10 412 513 10 m!' || return
	expect_answer thread 'thread 2 110 510 1 t!' || return
	undo_all "$sum" || return
	expect_answer main 'main 12 512 514 13 m' || return
	UPDATE=${first[0]} ID=${first[1]}
	undo --wait=10
	expect_status 0 || return
	expect_fine
}
