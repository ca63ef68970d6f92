# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# guards - how many mappings of the target are an update's guards
guards() {
	grep -c ' ---p 00000000 00:00 0 $' "$(proc_dir)/maps" || :
}

# dozes - true when the target sleeps in the function
dozes() {
	apply --check
	[ "$status" = 1 ]
}

steps() {
	local sum before
	target_start "$WORK/tree"
	sum=$(text_sum)
	before=$(guards)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer x 'old x'
	send doze
	until_true 60 dozes
	# By the stopless way the code stays mapped if the thread, woken to tell its unwinder, isn't
	# asleep again in time.
	apply --stop --wait=0.3
	expect_status 1
	expect_message "'work\(char const\*\)' is on the stack of .*: .* < work\(char const\*\)( \[[^<]*)? < "
	[ "$(guards)" = "$before" ] || fail "the new code is still mapped"
	send up
	receive
	ASKED=$((ASKED + 1))
	expect_answer y 'old y'
	apply_fresh
	[ "$(guards)" -gt "$before" ] || fail "the new code is not seen"
	expect_answer z 'new z'
	undo_all "$sum"
	expect_answer z 'old z'
	expect_fine
}
