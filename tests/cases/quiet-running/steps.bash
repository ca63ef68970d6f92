# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# nobody_stopped - true if the last command says so
nobody_stopped() {
	[[ $output == *'"stopped_threads":0,'* ]]
}

steps() {
	local changes=1 unstopped=0 end=$((SECONDS + 60))
	[ -z "${SWITCH:-}" ] || skip "it is about the way that $SWITCH excludes"
	[ "$(nproc)" -gt 1 ] || skip "a thread isn't seen while it waits for the tool's processor"
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_answer start "1/$changes"
	# Where others keep the processors busy the thread has to be stopped now and then.
	until [ $unstopped -ge 3 ]; do
		[ $SECONDS -lt $end ] || fail 'the thread is always stopped'
		apply --json
		expect_status 0
		expect_output '"state":"applied"'
		if nobody_stopped; then unstopped=$((unstopped + 1)); fi
		expect_answer x "2/$((++changes))"
		undo --json
		expect_status 0
		if nobody_stopped; then unstopped=$((unstopped + 1)); fi
		expect_answer x "1/$((++changes))"
	done
	expect_fine
}
