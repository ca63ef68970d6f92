# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# in_read - the threads that sleep in read(), but for the main thread, which reads our requests
in_read() {
	grep -s -l '^0 ' "/proc/$TARGET"/task/*/syscall | grep -v "/task/$TARGET/"
}

# all_asleep - true when the hundred sleep
all_asleep() {
	[ "$(in_read | wc -l)" = 100 ]
}

# run_counts - how often each of them has run
run_counts() {
	# shellcheck disable=SC2016 # awk's own
	in_read | sed 's/syscall$/schedstat/' | xargs awk '{ print FILENAME, $3 }'
}

steps() {
	local counts
	[ -z "${SWITCH:-}" ] || skip "it is about the way that $SWITCH excludes"
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_answer start '0 say old, 0 say new'
	until_true 60 all_asleep || fail "not all threads sleep"
	counts=$(run_counts)
	apply --check --json
	expect_status 0
	expect_output '"threads":102,.*"stopped_threads":[01],"way":"quiet"'
	[ "$(run_counts)" = "$counts" ] || fail "the check has woken a thread"
	apply --json
	expect_status 0
	expect_output '"stopped_threads": *[01],.*"way": *"quiet"'
	[ "$(run_counts)" = "$counts" ] || fail "apply has woken a thread"
	undo --check
	expect_status 0
	expect_output ': 1 function, (no thread has to be stopped, calls would wait|1 of 102 threads stood still for) [0-9]+ us$'
	[ "$(run_counts)" = "$counts" ] || fail "the check has woken a thread"
	undo --json
	expect_status 0
	expect_output '"way": *"quiet"'
	[ "$(run_counts)" = "$counts" ] || fail "undo has woken a thread"
	apply
	expect_status 0
	[ "$(run_counts)" = "$counts" ] || fail "the second apply has woken a thread"
	undo --check --stop --json
	expect_status 0
	expect_output '"stopped_threads":102,"way":"full stop"'
	expect_answer wake '0 say old, 100 say new'
	until_true 60 all_asleep || fail "not all threads sleep again"
	undo
	expect_status 0
	expect_answer wake '100 say old, 0 say new'
	expect_fine
}
