# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# mappings - where the process has memory, and how it may use it
mappings() {
	cut -d' ' -f1,2 "/proc/$TARGET/maps"
}

# there_and_back N - applies and undoes so often
there_and_back() {
	for _ in $(seq "$1"); do
		apply
		expect_status 0
		expect_answer x '5 3'
		undo
		expect_status 0
		expect_answer x '3 2'
	done
}

steps() {
	local before
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	there_and_back 3
	before=$(mappings)
	there_and_back 5
	[ "$(mappings)" = "$before" ] || fail "the mappings have changed: $(diff <(echo "$before") <(mappings))"
	expect_fine
}
