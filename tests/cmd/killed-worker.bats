# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# killed-worker.bats - a command that is killed while threads stand still for it: its worker lets
# them go on as if nothing had been
#
# That a target lives whatever befalls the worker itself is what the other killed-*.bats show.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of threads-blocked fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	command -v strace > /dev/null || skip 'strace is not installed'
	cp -r "$FIXTURE/tree" "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	expect_answer start '74 calls, text old'
	expect_undisturbed
}

teardown() {
	target_stop
	[ ! -s "$BATS_TEST_TMPDIR/run/ipc" ] || xargs ipcrm < "$BATS_TEST_TMPDIR/run/ipc"
}

# all_asleep - true when every thread sleeps in its system call
all_asleep() {
	local task
	for task in "/proc/$TARGET"/task/*; do
		[ "$(status_of State "$task")" = S ] || return 1
	done
}

# busiest_thread - of the calls that strace has noted those of the thread that has made most
busiest_thread() {
	awk '{ n[$1]++; line[NR] = $0; of[NR] = $1 }
		END {
			for (tid in n)
				if (n[tid] > n[best])
					best = tid
			for (i = 1; i <= NR; i++)
				if (of[i] == best)
					print line[i]
		}' "$1"
}

# middle_of_stop - leaves in CALL the number of the ptrace call by which apply asks the Nth thread
# to stop
middle_of_stop() {
	strace -f -qq -e trace=ptrace -e signal=none -o "$BATS_TEST_TMPDIR/all" \
		"$USPL_BIN/uspl-apply" --stop "$UPDATE" "$TARGET" > /dev/null || return
	CALL=$(busiest_thread "$BATS_TEST_TMPDIR/all" | grep -n PTRACE_INTERRUPT | sed -n "$1{s/:.*//p;q}")
	[ -n "$CALL" ] || fail "it doesn't stop $1 threads" || return
	undo
	expect_status 0
}

# killed_at CALL TOOL ARG... - the command is killed while it, or its worker, waits for this one of
# its ptrace calls
killed_at() {
	local call=$1 log=$BATS_TEST_TMPDIR/log strace
	rm -f "$log"
	strace -f -qq -e trace=ptrace -e signal=none -e "inject=ptrace:delay_exit=5000000:when=$call" -o "$log" \
		"$USPL_BIN/$2" "${@:3}" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	strace=$!
	until_true 60 has_calls "$log" $((call - 1)) || fail "it doesn't come there: $(cat "$BATS_TEST_TMPDIR/said")" || return
	kill -KILL "$(pgrep -P "$strace")" || fail 'it has ended before' || return
	wait "$strace" 2> /dev/null || :
}

has_calls() {
	[ -e "$1" ] && [ "$(grep -c ptrace "$1")" -ge "$2" ]
}

# expect_undisturbed - no call has returned, nobody is traced, and the text is one of these
expect_undisturbed() {
	until_true 60 all_asleep || fail 'not all threads are back in their calls' || return
	ask x
	[[ $REPLY = '0 returned, text '@(old|new) ]] || fail "it says '$REPLY'" || return
	expect_untraced
}

@test "apply is killed while it stops all threads" {
	local nth
	for nth in 20 60 100; do
		middle_of_stop "$nth"
		killed_at "$CALL" uspl-apply --stop "$UPDATE" "$TARGET"
		# It waits until the worker is done.
		apply --wait=60
		expect_status 0
		expect_undisturbed
		undo
		expect_status 0
		expect_undisturbed
	done
}

# Signals wait until the threads go on: by then the update is in, or the next attempt isn't made.
@test "what the worker says is what has become of the target" {
	local said text
	middle_of_stop 60
	killed_at "$CALL" uspl-apply --stop --wait=600 "$UPDATE" "$TARGET"
	until_true 60 worker_is_gone || fail "it is still there: $(cat "$BATS_TEST_TMPDIR/said")"
	expect_undisturbed
	text=${REPLY##* }
	said=$(< "$BATS_TEST_TMPDIR/said")
	case $said in
	*interrupted*) [ "$text" = old ] ;;
	applied*) [ "$text" = new ] ;;
	*) false ;;
	esac || fail "the text is $text, and it says: $said"
}

# worker_is_gone - true if no tool is at work on the target any more
worker_is_gone() {
	tool uspl-apply --check --wait=0 "$UPDATE" "$TARGET"
	[[ $stderr != *'another uspl'* ]]
}

@test "the exit status and the signals are the worker's" {
	local status=0
	"$USPL_BIN/uspl-apply" "$BATS_TEST_TMPDIR/none.tar.gz" "$TARGET" 2> /dev/null || status=$?
	[ "$status" = 3 ] || fail "it ends with $status"
	"$USPL_BIN/uspl-apply" 2> /dev/null || status=$?
	[ "$status" = 2 ] || fail "it ends with $status"
	USPL_WORKER=none "$USPL_BIN/uspl-apply" --check "$UPDATE" "$TARGET"
}
