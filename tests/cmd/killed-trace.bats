# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-trace.bats - uspl-trace and uspl-view die, are failed by the kernel, or get a signal, at
# any of their system calls: the process goes on, and the next stop cleans up
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	# With libgcc the process has an unwinder, which is told of the thunks, and has to forget
	# them, once.
	fixture_of body fix.patch '-O2 -Wl,--no-as-needed -lgcc_s'
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/crash.bash"
	crash_setup
}

teardown() {
	target_stop
}

# start_traced - a process whose functions are traced
start_traced() {
	start_fresh || return
	tool uspl-trace start "$TARGET"
	expect_status 0
}

# start_inside - the same, and its thread waits in calls that were traced, of two modules
start_inside() {
	start_fresh || return
	# The pages of libc's code that are changed once are mappings of their own from then on.
	MAPS=$((MAPS + 4))
	tool uspl-trace start --module='*target*' --module='libc.so*' -F next_line -F answer -F fgets -F read "$TARGET"
	expect_status 0 && expect_output "[4-9] functions" && expect_answer hello 'hello, world'
}

# expect_stopped - the process answers; after a stop it can be traced anew, and in the end its code
# is as it was, and nothing of what a session had mapped is left
expect_stopped() {
	local now
	expect_untraced && expect_answer hello 'hello, world' || return
	tool uspl-trace stop "$TARGET"
	[ "$status" -le 1 ] || fail "stop: status $status" || return
	tool uspl-trace start "$TARGET"
	expect_status 0 && expect_answer hello 'hello, world' || return
	tool uspl-trace stop "$TARGET"
	expect_status 0 && expect_answer hello 'hello, world' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $((MAPS + 4)) ] || fail "the process has $now mappings, it had $MAPS" || return
	expect_fine
}

# kill_trace CALL, fail_trace CALL - uspl-trace SUBCOMMAND dies there, or is failed
kill_trace() {
	"$STATE" || return
	inject signal=KILL "$1" uspl-trace "$SUBCOMMAND" ${TRACER_OPTION:+"$TRACER_OPTION"} "$TARGET"
	expect_stopped
}

fail_trace() {
	"$STATE" || return
	inject "error=${ERRORS[$(($1 % ${#ERRORS[@]}))]}" "$1" uspl-trace "$SUBCOMMAND" ${TRACER_OPTION:+"$TRACER_OPTION"} "$TARGET"
	case $status in
	0 | 1 | 3) expect_stopped ;;
	*) fail "status $status" ;;
	esac
}

# signal_trace CALL - uspl-trace SUBCOMMAND gets ^C or SIGTERM there: it has done all, or says that
# it was interrupted
signal_trace() {
	local signals=(INT TERM)
	"$STATE" || return
	inject "signal=${signals[$(($1 % 2))]}" "$1" uspl-trace "$SUBCOMMAND" ${TRACER_OPTION:+"$TRACER_OPTION"} "$TARGET"
	case $status in
	0) expect_stopped ;;
	1) expect_message 'interrupted' && expect_stopped ;;
	*) fail "status $status" ;;
	esac
}

# crash_trace HOW SUBCOMMAND STATE - as crash() does for apply and undo
crash_trace() {
	SUBCOMMAND=$2 STATE=$3
	"$STATE" && choose_calls "$1" uspl-trace "$SUBCOMMAND" ${TRACER_OPTION:+"$TRACER_OPTION"} "$TARGET" || return
	for_each_call "$SUBCOMMAND, ${1}ed" "${1}_trace"
}

@test "uspl-trace start is killed" {
	SAMPLE=37 crash_trace kill start start_fresh
}

@test "uspl-trace start is killed, of a tracer that adds up" {
	local TRACER_OPTION
	for TRACER_OPTION in --tracer=profile --tracer=coverage; do
		SAMPLE=71 crash_trace kill start start_fresh
	done
}

@test "uspl-trace stop is killed" {
	SAMPLE=61 crash_trace kill stop start_inside
}

@test "a system call of uspl-trace start fails" {
	SAMPLE=97 crash_trace fail start start_fresh
}

@test "a system call of uspl-trace stop fails" {
	SAMPLE=97 crash_trace fail stop start_inside
}

@test "uspl-trace start gets a signal" {
	SAMPLE=149 crash_trace signal start start_fresh
}

@test "uspl-trace stop gets a signal" {
	SAMPLE=127 crash_trace signal stop start_traced
}

# expect_threadless SUBCOMMAND MESSAGE - it can't make the thread of ours that holds others for
# short, and says so
expect_threadless() {
	local call
	trace_calls uspl-trace "$1" "$TARGET"
	call=$(grep -n '^clone3\?(' "$TRACE" | cut -d: -f1)
	[ -n "$call" ] || fail 'no thread was made' || return
	"$STATE" && inject error=EAGAIN "$call" uspl-trace "$1" "$TARGET"
	expect_status 3 && expect_one_message || return
	expect_message "$2: cannot make a thread: Resource temporarily unavailable" && expect_untraced
}

# start_entries - a fresh target of which the entries of all functions are traced: some of them take
# more than one store
start_entries() {
	start_fresh
	tool uspl-trace start --tracer=function "$TARGET"
	expect_status 0
}

@test "uspl-trace start and stop can't make a thread: they say so, and the next one can" {
	STATE=start_fresh
	start_fresh
	expect_threadless start "cannot trace pid [0-9]+"
	[ "$(text_sum)" = "$SUM" ] || fail 'the code is not as it was'
	expect_stopped
	STATE=start_entries
	start_entries
	expect_threadless stop "cannot stop tracing pid [0-9]+"
	expect_answer hello 'hello, world'
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_stopped
}

# stop_failing REQUEST ERROR CHOICE - uspl-trace stop, of which the call of ptrace fails whose line
# in TRACE is what CHOICE prints, one with that request. A thread that isn't back asleep yet is
# looked at in a stop, by more calls: if the call is another one then, all is done anew
stop_failing() {
	local tries=20
	status=99
	while [ "$status" = 99 ]; do
		((tries-- > 0)) || fail 'it goes another way each time' || return
		start_traced && trace_calls uspl-trace stop "$TARGET" && start_traced || return
		BEFALL_REQUEST=$1 inject "error=$2" "$("${@:3}")" uspl-trace stop "$TARGET"
	done
}

# seize_at N - the last but Nth time that it holds a thread
seize_at() {
	grep -n '^ptrace(PTRACE_SEIZE' "$TRACE" | tail -n "$1" | head -n 1 | cut -d: -f1
}

# expect_stop_goes_on N - from the last but Nth time on that it holds a thread, uspl-trace stop
# can't hold any: it says what stays, and the next one takes that
expect_stop_goes_on() {
	local request=0x4206 now # PTRACE_SEIZE
	TIMES=1000000 stop_failing "$request" EPERM seize_at "$1" || return
	expect_status 3 && expect_message 'nothing is traced any more, but memory stays mapped' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	tool uspl-trace stop "$TARGET"
	expect_status 0 || return
	tool uspl-trace stop "$TARGET"
	expect_status 1 && expect_message 'is not traced' || return
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $((MAPS + 4)) ] || fail "the process has $now mappings, it had $MAPS" || return
	expect_answer hello 'hello, world' && expect_fine
}

@test "uspl-trace stop can't unmap what was mapped: it says so, and the next one does" {
	expect_stop_goes_on 1
	expect_stop_goes_on 2
}

# forgetting_calls - where the registers of a thread are read that works for it: first those at the
# end of the first system call that is made by the thread whose stack is looked at first; then all,
# for a thread that is had in another way the next time
forgetting_calls() {
	awk '/^ptrace\(/ { line[++n] = NR; read[n] = /^ptrace\(PTRACE_GETREGS,/ }
		/^ptrace\(PTRACE_GETREGSET, .*NT_X86_XSTATE/ && before ~ /^pread64\(/ { found = n }
		{ before = $0 }
		END {
			if (read[found + 8])
				print line[found + 8]
			for (i = n; i > 0; i--)
				if (read[i])
					print line[i]
		}' "$TRACE"
}

# forget_fails CALL - a process is traced, and stop fails there and at the next one: true if that
# has kept a part of the session, which the next stop takes
forget_fails() {
	start_traced || return
	BEFALL_REQUEST=12 TIMES=2 inject error=EIO "$1" uspl-trace stop "$TARGET" # PTRACE_GETREGS
	[[ $stderr == *'nothing is traced any more, but memory stays mapped'* ]] || return
	expect_status 3 && expect_untraced || return
	tool uspl-trace stop "$TARGET"
	expect_status 0
}

# A thread that is called back in the middle of what it does for us leaves a part's record as it was
# then: to be written to. The thread that takes part in telling the unwinder is the one whose stack
# is looked at first.
@test "uspl-trace stop loses a thread that forgets the thunks: it says so, and the next one finds the part" {
	local call calls now found=
	start_traced
	trace_calls uspl-trace stop "$TARGET"
	calls=$(forgetting_calls)
	for call in $calls $calls $calls; do
		if forget_fails "$call"; then
			found=$call
			break
		fi
	done
	[ -n "$found" ] || fail 'no failure has kept a part that the next one finds'
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le $((MAPS + 4)) ] || fail "the process has $now mappings, it had $MAPS"
	expect_answer hello 'hello, world'
	expect_fine
}

# view_at CALL - uspl-view dies there
view_at() {
	inject signal=KILL "$1" uspl-view "$TARGET"
	expect_untraced && expect_answer hello 'goodbye, world' && expect_applied
}

@test "uspl-view is killed" {
	start_applied
	choose_calls fail uspl-view "$TARGET"
	for_each_call 'view, killed' view_at
	expect_fine
}
