# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# there_and_back [OPTION] - applies and undoes once. On a busy machine the moment at which nobody is
# inside may be long in coming.
there_and_back() {
	expect_answer 'to new' '0 wrong, now old'
	apply --json --wait=50 "$@"
	expect_status 0
	expect_answer x '0 wrong, now new'
	expect_answer 'to old' '0 wrong, now new'
	undo --wait=50 "$@"
	expect_status 0
	expect_answer x '0 wrong, now old'
}

steps() {
	local sum
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_answer start '0 wrong, now old'
	for _ in {1..20}; do
		there_and_back
	done
	for _ in {1..3}; do
		there_and_back --stop
		there_and_back
	done
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before"
	expect_fine
}
