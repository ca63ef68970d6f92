# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_sent_back COMMAND... - the command refuses with the reason, and the program goes on
expect_sent_back() {
	tool "$@"
	expect_status 1 || return
	expect_one_message || return
	expect_message "thread $TARGET of pid $TARGET has its system calls sent back to itself" || return
	[ "$(text_sum)" = "$SUM" ] || fail "refused, but the code has changed" || return
	expect_not_applied && expect_answer own 42 && expect_answer hello 'hello, world'
}

steps() {
	local deny=$WORK/deny.so
	target_start "$WORK/tree"
	SUM=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	expect_answer own -38
	ask dispatch
	[ "$REPLY" = on ] || skip 'the kernel has no syscall user dispatch'
	expect_answer own 42
	expect_sent_back uspl-apply "$UPDATE" "$TARGET"
	expect_sent_back uspl-apply --stop "$UPDATE" "$TARGET"
	"$TARGET_CC" -shared -fPIC -O -o "$deny" "$USPL_TESTS/lib/deny.c"
	DENY=dispatch LD_PRELOAD=$deny expect_sent_back uspl-apply "$UPDATE" "$TARGET"
	expect_answer thread 0
	apply_fresh
	expect_answer hello 'goodbye, world'
	expect_answer own 42
	undo_all "$SUM"
	DENY=dispatch LD_PRELOAD=$deny apply
	expect_status 0
	expect_answer hello 'goodbye, world'
	undo_all "$SUM"
	expect_answer own 42
	expect_answer hello 'hello, world'
	expect_fine
}
