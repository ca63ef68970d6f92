# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# other_ask REQUEST - asks the second process
other_ask() {
	echo "$1" >&"$other_requests"
	read -r -t 20 REPLY <&"$other_answers" || fail "the second process does not answer"
}

# other_start - starts the second process, in a copy of the tree
other_start() {
	local first=$TARGET
	mkdir "$WORK/other"
	cp "$WORK/tree/target" "$WORK/other"
	other_requests=$requests other_answers=$answers
	target_start "$WORK/other"
	OTHER=$first
}

cleanup() {
	[ -z "${OTHER:-}" ] || kill -KILL "$OTHER"
}

steps() {
	target_start "$WORK/tree"
	expect_answer x old
	other_start
	create "$WORK/tree" "$CASE/fix.patch"
	tool uspl-apply --json "$UPDATE" "$TARGET" 4194999 "$OTHER"
	expect_status 3
	expect_message 4194999
	expect_process "$TARGET" applied
	expect_process 4194999 failed
	expect_process "$OTHER" applied
	expect_answer x new
	other_ask x
	[ "$REPLY" = new ] || fail "the second process answers '$REPLY'"
	tool uspl-undo "$ID"
	expect_status 0
	[ "${#lines[@]}" = 2 ] || fail "not one line for each process"
	expect_answer x old
	other_ask x
	[ "$REPLY" = old ] || fail "the second process answers '$REPLY'"
	expect_fine
}
