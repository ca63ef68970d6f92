# SPDX-License-Identifier: GPL-3.0-or-later
# process.bash - helpers: the process that is patched, and what can be seen of it from outside
#
# A test has one target: TARGET is its pid, TARGET_DIR the folder it runs in. ask() counts in ASKED
# what it was asked.

# note_failures_only - bats notes the place of every command before it runs it, which takes a
# quarter of a test's processor time: from now on the place is noted when a command has failed
note_failures_only() {
	declare -F bats_debug_trap > /dev/null || return 0
	trap - DEBUG
	trap '[ -n "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || {
		bats_debug_trap "$BASH_SOURCE"
		BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
	}' ERR
}
note_failures_only

# fail MESSAGE - ends the test, and shows what the last tool said
fail() {
	echo "$1"
	[ -z "${output:-}" ] || echo "stdout: $output"
	[ -z "${stderr:-}" ] || echo "stderr: $stderr"
	return 1
}

# until_true SECONDS COMMAND... - waits for an event: until the command succeeds, at most that long
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.02
	done
}

# target_start DIR [ARG...] - starts DIR/target there, with its requests and answers on two FIFOs
target_start() {
	start_in "$1" ./target "${@:2}"
	until_true 60 target_runs || fail "the target did not start"
}

# target_start_by DIR COMMAND... - the same by a command that makes surroundings for it (unshare,
# chroot, a shell) and starts a program called target in them; TARGET is its pid as it is seen from
# here
target_start_by() {
	start_in "$@"
	until_true 60 find_target || fail "the target did not start"
}

# start_in DIR COMMAND... - runs a command there, with two FIFOs; TARGET is its pid
start_in() {
	TARGET_DIR=$1 ASKED=0
	shift
	mkfifo "$TARGET_DIR/requests" "$TARGET_DIR/answers"
	exec {requests}<> "$TARGET_DIR/requests" {answers}<> "$TARGET_DIR/answers"
	(
		cd "$TARGET_DIR" || exit 1
		exec "$@" < requests > answers 2> errors 3>&- {requests}>&- {answers}>&-
	) &
	TARGET=$!
}

# executes FILE - true if the target does: until then it is the shell that has started it
executes() {
	[ "/proc/$TARGET/exe" -ef "$1" ]
}

# handles SIGNAL - true if the target has a handler for it: before that a signal may end it
handles() {
	local caught
	caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$TARGET/status")
	((0x${caught:-0} >> ($(kill -l "$1") - 1) & 1))
}

# find_target - goes down from TARGET, which starts the program, to the program; true if it runs
find_target() {
	local pid=$TARGET
	until [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = target ]; do
		pid=$(pgrep -P "$pid" | head -n 1)
		[ -n "$pid" ] || return 1
	done
	TARGET=$pid
}

# target_runs - true if the process is what was started, and no longer the shell that starts it
target_runs() {
	local task
	for task in "/proc/$TARGET"/task/*; do
		[ "$(readlink "$task/exe")" != "$(realpath "$TARGET_DIR")/target" ] || return 0
	done
	return 1
}

# target_stop - ends the target of this test
target_stop() {
	[ -n "${TARGET:-}" ] || return 0
	kill -KILL "$TARGET" 2> /dev/null || :
	wait "$TARGET" 2> /dev/null || :
	TARGET=
}

# send REQUEST - sends a request and does not wait for the answer
send() {
	echo "$1" >&"$requests"
}

# send_and_block REQUEST - the same, for one whose answer needs another line: returns when the
# target reads that, in a function of its own (the stack pointer in what /proc shows tells it from
# the read of requests)
send_and_block() {
	local idle
	until_true 60 target_reads || fail 'the target does not wait for requests' || return
	idle=$(< "/proc/$TARGET/syscall")
	send "$1"
	until_true 60 target_reads "$idle" || fail "the target does not wait after '$1'"
}

# target_reads [CALL] - true if its main thread sleeps in read, in another one than that which /proc
# has shown as CALL
target_reads() {
	local call
	call=$(< "/proc/$TARGET/syscall") && [[ $call == '0 '* && $call != "${1:-}" ]]
}

# receive - waits for the next answer and leaves it in REPLY
receive() {
	read -r -t "${ANSWER_SECONDS:-60}" REPLY <&"$answers" || fail "the target does not answer"
}

# ask REQUEST - sends a request and leaves the answer in REPLY
ask() {
	send "$1"
	receive || return
	ASKED=$((ASKED + 1))
}

# ask_for_work REQUEST - the same for one that takes a time that nobody knows: waits as long as the
# target works at it
ask_for_work() {
	local used='' before
	send "$1"
	until read -r -t 30 REPLY <&"$answers"; do
		before=$used
		used=$(cut -d ' ' -f 14,15 "/proc/$TARGET/stat") || fail 'the target has ended' || return
		[ "$used" != "$before" ] || fail 'the target neither works nor answers' || return
	done
	ASKED=$((ASKED + 1))
}

# hold_in VERSION - lets the target of tests/cases/busy-middle go into the function and stay there
hold_in() {
	send hold
	receive
	[ "$REPLY" = "holding $1" ] || fail "the target says '$REPLY'"
}

# let_out VERSION - lets it out again
let_out() {
	send go
	receive
	[ "$REPLY" = "done $1" ] || fail "the target says '$REPLY'"
	ASKED=$((ASKED + 1))
}

# expect_answer REQUEST ANSWER - asks, and fails if the answer is another one
expect_answer() {
	ask "$1" || return
	[ "$REPLY" = "$2" ] || fail "the answer to '$1' is '$REPLY', not '$2'"
}

# proc_dir - the folder in /proc that shows the target's memory; not the leader's if the main thread
# has ended
proc_dir() {
	local task
	for task in "/proc/$TARGET" "/proc/$TARGET"/task/*; do
		if [ -n "$(head -c 1 "$task/maps")" ]; then
			echo "$task"
			return
		fi
	done
	return 1
}

# text_sum - a checksum of all code in the target that comes from files, as it lies in memory
text_sum() {
	local dir range start end
	dir=$(proc_dir) || return
	while read -r range _; do
		start=$((16#${range%-*})) end=$((16#${range#*-}))
		dd if="$dir/mem" bs=256K iflag=skip_bytes,count_bytes skip="$start" \
			count=$((end - start)) status=none || return
	done < <(grep ' r-xp .* /' "$dir/maps") | sha256sum
}

# status_of FIELD [TASK_DIR] - a field of the target's /proc status
status_of() {
	sed -n "s/^$1:[[:space:]]*\([^[:space:]]*\).*/\1/p" "${2:-$(proc_dir)}/status"
}

# expect_untraced - fails if any thread of the target is still traced or held; one may end while we
# look
expect_untraced() {
	local found
	[ -d "/proc/$TARGET/task" ] || fail "the target is dead" || return
	found=$(grep -lE '^(TracerPid:\s*[1-9]|State:\s*t)' "/proc/$TARGET"/task/*/status 2> /dev/null) || :
	[ -z "$found" ] || fail "traced or held: $found"
}

# expect_fine - fails if the target died, is traced, or has lost or doubled a request
expect_fine() {
	kill -0 "$TARGET" || fail "the target is dead" || return
	expect_untraced || return
	send count
	receive || return
	[ "$REPLY" = "$ASKED" ] || fail "the target answered $REPLY requests, not $ASKED"
}
