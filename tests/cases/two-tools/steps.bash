# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# begin VERSION - lets the target go into the function and stay there
begin() {
	send hold
	receive
	[ "$REPLY" = "holding $1" ] || fail "the target says '$REPLY'"
}

# finish VERSION - lets it out again
finish() {
	send go
	receive
	[ "$REPLY" = "done $1" ] || fail "the target says '$REPLY'"
	ASKED=$((ASKED + 1))
}

# aside RESULT - applies in the background; the result goes to that file, the process is ASIDE
aside() {
	timeout 60 "$USPL_BIN/uspl-apply" --wait=50 "$UPDATE" "$TARGET" > "$WORK/$1" 2>&1 3>&- &
	ASIDE=$!
}

# at_work - true once another tool holds the target's lock
at_work() {
	apply --check --wait=0
	[[ $stderr =~ 'another uspl' ]]
}

steps() {
	local sum first
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	begin old
	aside first
	first=$ASIDE
	until_true 60 at_work || fail "the first does not come to work"
	apply --wait=0.3
	expect_status 1
	expect_message "another uspl is at work on pid $TARGET"
	expect_one_message
	undo --wait=0
	expect_status 1
	expect_message 'another uspl'
	aside second
	finish old
	wait "$first" || fail "the first: $(cat "$WORK/first")"
	wait "$ASIDE" || fail "the second: $(cat "$WORK/second")"
	grep -q '^applied' "$WORK/first"
	grep -q '^already applied' "$WORK/second"
	undo_all "$sum"

	begin old
	aside first
	until_true 60 at_work || fail "it does not come to work"
	pkill -KILL -P "$ASIDE"
	wait "$ASIDE" || :
	finish old
	apply_fresh
	begin new
	finish new
	undo_all "$sum"
	expect_fine
}
