# SPDX-License-Identifier: GPL-3.0-or-later
# machine.bats - processors without XSAVE, older kernels, and kernels that don't let everybody write
# through protections
#
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
# tests/lib/machine.c answers for the other kernel; tests/kernels boots real ones.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	watch_build
	mv "$BATS_FILE_TMPDIR/tree" "$BATS_FILE_TMPDIR/burn"
	fixture_of quiet-running fix.patch
	gcc -O2 -o "$BATS_FILE_TMPDIR/machine" "$USPL_TESTS/lib/machine.c"
	export MACHINE=$BATS_FILE_TMPDIR/machine
}

setup() {
	# The machine follows each process that a command starts, and waits for it.
	export USPL_KEEPER=none
	source "$BATS_TEST_DIRNAME/../lib/shadow.bash"
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	"$MACHINE" no-xsave true || skip 'no filter of system calls can be set up here'
}

teardown() {
	target_stop
}

# version_is N - fails unless the running thread and the next call see version N
version_is() {
	ask status
	[[ $REPLY == "$1"/* ]] || fail "the thread sees '$REPLY', not version $1"
}

# expect_both_ways - a program with a thread that runs and one that sleeps is patched and put back,
# in both ways
expect_both_ways() {
	local way
	fixture_start
	ask start
	SUM=$(text_sum)
	for way in '' --stop; do
		TOOL_BY="$MACHINE $1" SWITCH=$way
		version_is 1 || return
		apply
		expect_status 0 || return
		version_is 2 || return
		expect_applied || return
		expect_untraced || return
		undo
		expect_status 0 || return
		expect_not_applied || return
		version_is 1 || return
		expect_untraced || return
		[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	done
	TOOL_BY=
	expect_fine
}

# expect_traced_once FUNCTION... - functions are traced, and the code put back
expect_traced_once() {
	local name
	tool uspl-trace start "$TARGET"
	expect_status 0 || return
	until_true 60 ran_traced "$@" || fail "not all of $* are in the report" || return
	tool uspl-trace stop "$TARGET"
	expect_status 0 || return
	expect_untraced || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
}

# ran_traced FUNCTION... - true if the report has them all
ran_traced() {
	local name
	tool uspl-trace report "$TARGET"
	for name; do
		[[ $output == *" $name"$'\n'* || $output == *" $name" ]] || return
	done
}

# expect_traced_as_ever TRAITS - while the only thread sleeps, and with one that runs
expect_traced_as_ever() {
	fixture_start
	TOOL_BY="$MACHINE $1"
	expect_traced_once || return
	ask start
	expect_traced_once version || return
	TOOL_BY=
	expect_fine
}

@test "no XSAVE: patched and put back" {
	expect_both_ways no-xsave
}

@test "no XSAVE: traced" {
	expect_traced_as_ever no-xsave
}

@test "neither XSAVE nor FXSAVE: refused, and the target is untouched" {
	fixture_start
	TOOL_BY="$MACHINE no-xsave,no-fxsave"
	apply
	expect_status 1
	expect_one_message
	expect_message 'neither XSAVE nor FXSAVE: the kernel doesn.t give the extended state of thread [0-9]+'
	TOOL_BY=
	expect_not_applied
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "only a tracer writes through protections: patched and put back" {
	expect_both_ways force=ptrace
}

@test "only a tracer writes through protections: traced" {
	expect_traced_as_ever force=ptrace
}

@test "/proc/PID/mem writes through protections for nobody: patched and put back" {
	expect_both_ways force=never
}

@test "/proc/PID/mem writes through protections for nobody: traced" {
	expect_traced_as_ever force=never
}

@test "a processor that fetches a part of what is stored: every thread stands still when code is written" {
	fixture_start
	ask start
	SUM=$(text_sum)
	export USPL_FETCH=pieces
	apply -v --json
	expect_status 0
	expect_output '"way":"full stop"'
	expect_message 'all threads have to be stopped: this processor may fetch a part of what is stored'
	version_is 2
	undo --json
	expect_status 0
	expect_output '"way":"full stop"'
	version_is 1
	tool uspl-trace start -v "$TARGET"
	expect_status 0
	expect_message 'all sites are written in stops: this processor may fetch a part of what is stored'
	until_true 60 ran_traced version
	tool uspl-trace stop -v "$TARGET"
	expect_status 0
	expect_message 'all sites are written in stops: this processor'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "a process with a shadow stack: no thread is left to itself in a call made for us" {
	can_show_features
	fixture_start
	ask start
	SUM=$(text_sum)
	with_features 'shstk wrss ' uspl-apply -v "$UPDATE" "$TARGET"
	expect_status 0
	expect_message 'thread .* of pid .* is led: it has a shadow stack'
	version_is 2
	undo
	expect_status 0
	version_is 1
	with_features '' uspl-apply -v "$UPDATE" "$TARGET"
	expect_status 0
	[[ $stderr != *'is led'* ]] || fail "led without a shadow stack: $stderr"
	version_is 2
	undo
	expect_status 0
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

# burn_start - starts the program that makes system calls
burn_start() {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/burn/target" "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	WATCH_BY="$MACHINE before-5.13"
}

# count FILTER - how many lines of json meet it
count() {
	jq -s "map(select($1)) | length" <<< "$output"
}

@test "before 5.13: system calls of all threads, new ones too, and of no child" {
	burn_start
	watch_begin syscall --format=json
	expect_answer 'kernel 50' 50
	expect_answer 'askers 25' 100
	expect_answer 'child 40' 40
	watch_end
	[ "$(count '.name == "getppid" and .caller == "ask_kernel"')" = 150 ] || fail getppid
	expect_fine
}

@test "before 5.13: switches and wake-ups, of no child either" {
	burn_start
	watch_begin sched --format=json
	expect_answer 'naps 20' 20
	expect_answer 'child 40' 40
	watch_end
	[[ $stderr != *'sums only'* ]] || fail 'only sums'
	[ "$(count '.why == "blocked" and .syscall == "clock_nanosleep" and .function == "napper"')" = 20 ] || fail naps
	[ "$(jq -rs 'map(.tid // empty) | unique | length' <<< "$output")" = 1 ] || fail 'a child is among the threads'
	watch_begin wakeup --format=json
	expect_answer 'naps 20' 20
	watch_end
	expect_fine
}
