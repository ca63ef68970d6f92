# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_quiet - fails unless the last apply or undo did it without a stop of all threads, or said
# that the machine was too busy: threads run too often, or one that had lost its processor in the
# middle of a function was taken for a coroutine
expect_quiet() {
	[ -n "${SWITCH:-}" ] || [[ $output == *'"way":"quiet"'* ]] ||
		[[ $stderr == *'all threads have to be stopped: '*'threads of pid '[0-9]*' '[rw]* ]] ||
		[[ $stderr == *'all threads have to be stopped: functions seem to wait on stacks'* ]] ||
		fail "not the quiet way"
}

# there_and_back NEW [OPTION] - applies and undoes once; NEW is what the functions return then
there_and_back() {
	local new=$1
	shift
	expect_answer 'to new' '0 wrong, now 1 1 1'
	apply -v --json --wait=50 "$@"
	expect_status 0
	[ $# -gt 0 ] || expect_quiet
	expect_answer x "0 wrong, now $new"
	expect_answer 'to old' "0 wrong, now $new"
	undo -v --json --wait=50 "$@"
	expect_status 0
	[ $# -gt 0 ] || expect_quiet
	expect_answer x '0 wrong, now 1 1 1'
}

# switch_often PATCH NEW - makes the update, and applies and undoes it again and again, now and then
# with a stop of all threads
switch_often() {
	local sum
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/$1"
	expect_status 0
	for _ in 1 2; do
		there_and_back "$2"
	done
	there_and_back "$2" --stop
	there_and_back "$2"
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before"
}

steps() {
	target_start "$WORK/tree"
	expect_answer start '0 wrong, now 1 1 1'
	switch_often fix.patch '2 2 2'
	expect_fine
	target_stop
	rm "$WORK/tree/requests" "$WORK/tree/answers"
	target_start "$WORK/tree"
	expect_answer start '0 wrong, now 1 1 1'
	expect_answer 'only libraries' '0 wrong, now 1 1 1'
	switch_often libraries.patch '1 2 2'
	expect_fine
}
