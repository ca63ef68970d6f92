# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# aside RESULT [COMMAND...] - applies in the background, run by that command; the result goes to
# that file, the process is ASIDE
aside() {
	timeout 60 "${@:2}" "$USPL_BIN/uspl-apply" --wait=50 "$UPDATE" "$TARGET" > "$WORK/$1" 2>&1 3>&- &
	ASIDE=$!
}

# apart COMMAND... - two tools that are run so, one of them with a /proc of its own, as in a
# container: one waits for the other
apart() {
	local first
	hold_in old
	# shellcheck disable=SC2016 # for the shell in there, which goes on to be the tool
	aside first "$@" unshare --mount --propagation private sh -c 'mount -t proc proc /proc && exec "$0" "$@"'
	first=$ASIDE
	until_true 60 at_work "$@" || fail "a tool with another /proc isn't seen at work"
	let_out old
	wait "$first" || fail "the first: $(cat "$WORK/first")"
	undo
	expect_status 0
}

# at_work [COMMAND...] - true once another tool holds the target's lock
at_work() {
	run --separate-stderr timeout 60 "$@" "$USPL_BIN/uspl-apply" --check --wait=0 "$UPDATE" "$TARGET"
	[[ $stderr =~ 'another uspl' ]]
}

steps() {
	local sum first
	target_start "$WORK/tree"
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	REFUSE=$WORK/refuse
	"$TARGET_CC" -o "$REFUSE" "$USPL_TESTS/lib/refuse.c"
	hold_in old
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
	let_out old
	wait "$first" || fail "the first: $(cat "$WORK/first")"
	wait "$ASIDE" || fail "the second: $(cat "$WORK/second")"
	grep -q '^applied' "$WORK/first"
	grep -q '^already applied' "$WORK/second"
	undo_all "$sum"

	hold_in old
	aside first
	until_true 60 at_work || fail "it does not come to work"
	pkill -KILL -P "$ASIDE"
	wait "$ASIDE" || :
	let_out old
	apply_fresh
	hold_in new
	let_out new
	undo_all "$sum"

	if unshare --mount true 2> /dev/null; then
		apart env
		# Linux before 6.9
		apart "$REFUSE" pidfd_open
		[ "$(text_sum)" = "$sum" ] || fail "the code has changed"
	fi
	expect_fine
}
