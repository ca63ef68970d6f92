# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# round [OPTION]... - applies and undoes, and asks what the watchers say
round() {
	apply "$@"
	expect_status 0
	expect_answer x 'new, all well'
	undo "$@"
	expect_status 0
	expect_answer x 'old, all well'
}

steps() {
	local i
	target_start "$WORK/tree"
	expect_answer start 'old, all well'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	for ((i = 0; i < 3; i++)); do
		round
		round --stop
	done
	[ "$(status_of TracerPid)" = 0 ] || fail "the target is traced"
}
