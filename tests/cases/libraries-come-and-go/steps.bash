# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)
# shellcheck disable=SC2153 # create leaves UPDATE and ID

ROUNDS=${ROUNDS:-6}

# mappings - how many the target has but for those of the libraries that come and go
mappings() {
	grep -vcE '/(one|other)\.so$' "/proc/$TARGET/maps"
}

# trace_once - a trace of all modules begins and ends
trace_once() {
	tool uspl-trace start --module='*' "$TARGET"
	expect_status 0 || return
	expect_answer hello "$1" || return
	tool uspl-trace stop "$TARGET"
	expect_status 0 || return
	# As long as a thread is in a call that was traced the memory stays.
	until_true 60 is_left
}

# is_left - nothing of the trace is there any more
is_left() {
	tool uspl-trace stop "$TARGET"
	[ "$status" = 1 ] && [[ $stderr = *'is not traced'* ]]
}

# expect_left_alone - after the standstill nothing was written to code that may have gone since
expect_left_alone() {
	[[ $stderr != *'not all is put in order'* && $stderr != *'keep the way through the trampolines'* ]] ||
		fail 'the library is written to while its threads run'
}

# update_library_once - what is there of the library is patched, or noted for the time when it is
update_library_once() {
	tool uspl-apply -v "$LIBRARY" "$TARGET"
	expect_status 0 || return
	expect_left_alone || return
	[[ $output = *applied* || $output = *pending* ]] || fail "it says '$output'" || return
	tool uspl-undo -v "$LIBRARY_ID" "$TARGET"
	expect_status 0 || return
	expect_left_alone
}

steps() {
	local round update id before
	create "$WORK/tree" "$CASE/library.diff"
	expect_status 0
	LIBRARY=$UPDATE LIBRARY_ID=$ID
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	target_start "$WORK/tree"
	expect_answer start 0
	until_true 60 expect_answer turns many
	for ((round = 0; round < ROUNDS; round++)); do
		trace_once 'hello, world'
		apply
		expect_status 0
		expect_answer hello 'goodbye, world'
		trace_once 'goodbye, world'
		undo
		expect_status 0
		expect_answer hello 'hello, world'
		# What stays of an update that was there once stays for the next time.
		[ "$round" -gt 0 ] || before=$(mappings)
	done
	# Stacks and heaps of threads may come, each trace's memory must not.
	[ "$(mappings)" -le $((before + 12)) ] || fail "$(mappings) mappings, it had $before after the first round"
	for ((round = 0; round < ROUNDS; round++)); do
		update_library_once
	done
	expect_answer stop '0 wrong'
	expect_answer hello 'hello, world'
	expect_fine
}
