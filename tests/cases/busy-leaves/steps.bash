# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# can_watch - true if breakpoints of another thread are to be had, and are met
can_watch() {
	[ -x "$WORK/breakpoint" ] || "$TARGET_CC" -O1 -o "$WORK/breakpoint" "$USPL_TESTS/lib/breakpoint.c" || return
	"$WORK/breakpoint"
}

# expect_attempts MOST - fails unless the last apply has waited, and needed few attempts
expect_attempts() {
	local attempts
	attempts=$(grep -oE '"attempts": *[0-9]+' <<< "$output" | grep -oE '[0-9]+')
	[ "$attempts" -gt 1 ] || fail "$way: apply did not wait"
	! can_watch || [ "$attempts" -le "$1" ] || fail "$way: $attempts attempts, more than $1"
}

# alone - true once the target has only its main thread
alone() {
	[ "$(find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]
}

# apply_to_busy WAY - applies while threads are inside, which leave once a first attempt was made
apply_to_busy() {
	local tool
	expect_answer "$1" ok || return
	# What an earlier one has said must not count for this one.
	rm -f "$WORK/said"
	"$USPL_BIN/uspl-apply" -v --json --wait=50 "$UPDATE" "$TARGET" > "$WORK/out" 2> "$WORK/said" 3>&- &
	tool=$!
	until_true 60 grep -qs 'attempt 1,' "$WORK/said" || fail "$1: apply makes no attempt" || return
	expect_answer leave ok || return
	wait "$tool" || fail "$1: $(cat "$WORK/said")" || return
	output=$(cat "$WORK/out")
}

steps() {
	local sum way
	target_start "$WORK/tree"
	# The thread that ends needs libgcc: it is linked, so that no code is added later.
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	# An attempt now and then in case that the return goes unseen.
	for way in return recurse jump end crowd; do
		apply_to_busy "$way"
		expect_attempts 12
		undo_all "$sum"
	done
	way=again
	expect_answer again ok
	apply --json --wait=50
	expect_status 0
	undo --json --wait=50
	expect_status 0
	expect_answer stop ok
	until_true 60 alone || fail "the threads do not end"
	expect_fine
}
