# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# apply_aside - applies in the background; the result goes to files
apply_aside() {
	timeout 60 "$USPL_BIN/uspl-apply" --json --wait=30 "$UPDATE" "$TARGET" \
		> "$WORK/result" 2> "$WORK/messages" 3>&- &
	aside=$!
}

steps() {
	local sum aside
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	hold_in old
	apply_aside
	# From outside nobody sees when an attempt has failed; "attempts" tells whether this was
	# long enough.
	! until_true 2 test -s "$WORK/result" || fail "applied under a busy function"
	let_out old
	wait "$aside" || fail "apply: $(cat "$WORK/messages")"
	grep -q '"state": *"applied"' "$WORK/result"
	! grep -q '"attempts": *1[^0-9]' "$WORK/result" || fail "apply did not wait"
	hold_in new
	let_out new
	undo_all "$sum"
	expect_fine
}
