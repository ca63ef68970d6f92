# SPDX-License-Identifier: GPL-3.0-or-later
# trace-sched.bats - the tracers 'sched' and 'wakeup': as many switches, and as long waits, as the
# scheduler counts itself
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	watch_build
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	watch_target
}

teardown() {
	target_stop
	[ -z "${RIVAL:-}" ] || kill "$RIVAL"
}

# count FILTER - how many lines of json meet it
count() {
	jq -s "map(select($1)) | length" <<< "$output"
}

# switches WORD - voluntary or nonvoluntary switches of the target so far, when it waits for a
# request
switches() {
	until_true 60 grep -q '^State:[[:space:]]*S' "/proc/$TARGET/status"
	status_of "$1_ctxt_switches"
}

# delay_us - how long the target has waited for a processor so far, in microseconds
delay_us() {
	awk '{ print int($2 / 1000) }' "/proc/$TARGET/schedstat"
}

# rival_start - the target shares one processor with a program that never sleeps
rival_start() {
	taskset -cp 0 "$TARGET" > /dev/null
	taskset -c 0 bash -c 'while :; do :; done' 3>&- &
	RIVAL=$!
}

@test "blocked: in which system call, by which function, as often as the scheduler counts" {
	local before after blocked
	before=$(switches voluntary)
	watch_begin sched --format=json
	expect_answer 'naps 20' 20
	after=$(switches voluntary)
	watch_end
	blocked=$(count '.why == "blocked"')
	[ "$blocked" = $((after - before)) ] ||
		fail "$blocked of $((after - before)) that the scheduler says: $output"
	[ "$(count '.why == "blocked" and .syscall == "clock_nanosleep" and .function == "napper" and .duration_ns > 0')" = 20 ] ||
		fail naps
	# It waits for the next request.
	[ "$(count '.back == false and .syscall == "read"')" = 1 ] || fail read
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "preempted, and how long it waited, as the scheduler counts" {
	local before after delay waits
	rival_start
	before=$(switches nonvoluntary)
	watch_begin sched --format=json
	delay=$(delay_us)
	ask 'burn 200'
	after=$(switches nonvoluntary)
	delay=$(($(delay_us) - delay))
	watch_end
	[ "$after" -gt "$before" ] || skip 'it was not preempted'
	[ "$(count '.why == "preempted"')" = $((after - before)) ] || fail "the scheduler says $((after - before))"
	# It reads the clock all the time.
	[ "$(count '.why == "preempted" and (.function == "burn" or .function == "[vdso]")')" -gt 0 ] || fail 'not in burn'
	waits=$(jq -s 'map(.waking_ns // (if .why == "preempted" then .duration_ns else 0 end)) | add / 1000 | floor' <<< "$output")
	[ "$waits" -ge $((delay * 9 / 10 - 1000)) ] && [ "$waits" -le $((delay * 11 / 10 + 1000)) ] ||
		fail "$waits us, and the scheduler says $delay"
	expect_fine
}

@test "sums, and lines" {
	watch_begin sched --summary
	expect_answer 'naps 10' 10
	watch_end
	expect_output ' BLOCKED +us +PREEMPTED'
	[ "$(awk -v tid="$TARGET" '$1 == tid { print ($2 >= 11 && $3 >= 10000) }' <<< "$output")" = 1 ] || fail sums
	watch_begin sched --threshold=500us
	expect_answer 'naps 3' 3
	watch_end
	[ "$(grep -cE '(us|-)  blocked in clock_nanosleep <- napper$' <<< "$output")" = 3 ] || fail lines
}

@test "wake-ups, and the longest" {
	rival_start
	watch_begin wakeup --format=json
	expect_answer 'naps 20' 20
	watch_end
	# What it waited for when the tracer came isn't among them, and a thread whose time has come
	# before it has left the processor needn't be woken.
	[ "$(count ".tid == $TARGET and .wakeups > 15 and .wakeups <= 20 and .max_ns >= .avg_ns")" = 1 ] || fail wakeups
	watch_begin wakeup
	expect_answer 'naps 5' 5
	watch_end
	expect_output "$TARGET target +[3-5] +[0-9.]+ +[0-9.]+ +[0-9.]+ +0  in clock_nanosleep <- napper"
}

@test "wake-ups in a container, where the kernel's tracepoints have other ids" {
	local inner
	unshare --mount --pid --fork true || skip 'no namespace can be made here'
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/tree/target" "$BATS_TEST_TMPDIR/run"
	target_start_by "$BATS_TEST_TMPDIR/run" unshare --mount --pid --fork --mount-proc sh -c './target; true'
	inner=$(awk '/NSpid/ { print $NF }' "/proc/$TARGET/status")
	nsenter --target "$TARGET" --pid --mount timeout --kill-after=5 60 "$USPL_BIN/uspl-trace" start -v \
		--tracer wakeup --format=json "$inner" > "$BATS_TEST_TMPDIR/seen" 2> "$BATS_TEST_TMPDIR/said" 3>&- &
	WATCHER=$!
	until_true 60 grep -qs 'observing pid' "$BATS_TEST_TMPDIR/said" || fail 'the tracer does not begin'
	expect_answer 'naps 20' 20
	# nsenter passes no signal on: the tool is its grandchild, below timeout.
	kill -TERM "$(pgrep -P "$(pgrep -P "$WATCHER")")"
	wait "$WATCHER" && status=0 || status=$?
	output=$(< "$BATS_TEST_TMPDIR/seen") stderr=$(< "$BATS_TEST_TMPDIR/said")
	expect_status 0
	[ "$(count ".tid == $inner and .wakeups > 15 and .wakeups <= 20")" = 1 ] || fail wakeups
}

@test "threads that are made meanwhile" {
	watch_begin sched --format=json
	expect_answer 'askers 10' 40
	watch_end
	[ "$(count '.syscall == "clock_nanosleep" and .function == "ask_kernel"')" = 4 ] || fail naps
	[ "$(jq -rs 'map(select(.syscall == "clock_nanosleep") | .tid) | unique | length' <<< "$output")" = 4 ] || fail threads
}

@test "where perf events are refused: sums by /proc, and it says so" {
	local before after
	WATCH_BY="$(helper_build refuse) perf_event_open"
	before=$(switches voluntary)
	watch_begin sched --format=json
	expect_answer 'naps 200' 200
	after=$(switches voluntary)
	watch_end
	expect_message '# sums only, by /proc: perf events are refused: cannot open a perf event: Operation not permitted'
	[ "$(count ".tid == $TARGET and .blocked == $((after - before)) and .ran_ns > 0")" = 1 ] || fail blocked
	[ "$(count '.asleep // [] | map(.function == "nanosleep" and .caller == "napper" and .looks > 0) | any')" = 1 ] || fail places
	watch_begin sched
	expect_answer 'askers 10' 40
	watch_end
	expect_output '# tracer: sched, pid [0-9]+, by /proc'
	expect_output "$TARGET +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+  target"
	# shellcheck disable=SC2086
	run --separate-stderr $WATCH_BY "$USPL_BIN/uspl-trace" start --tracer=wakeup "$TARGET"
	expect_status 3
	expect_one_message
	expect_fine
}

@test "without the rights of root: what isn't known is said, or it is refused" {
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	watch_target_without_rights
	WATCH_BY=$WITHOUT_RIGHTS
	watch_begin sched
	expect_answer 'naps 5' 5
	watch_end
	[ "$(grep -c ' us  .* blocked in ' <<< "$output")" -ge 5 ] || fail naps
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ]; then
		expect_output '# where in the program is not known'
	fi
	expect_output '# system calls and wake-ups are not known'
	for tracer in wakeup syscall; do
		# shellcheck disable=SC2086
		run --separate-stderr timeout 60 $WATCH_BY "$USPL_BIN/uspl-trace" start --tracer="$tracer" --time=1 "$TARGET"
		expect_status 3
		expect_one_message
		expect_message 'hint: it takes '
	done
	watch_begin sample --format=folded
	expect_answer 'deep 200' 200
	watch_end
	expect_output 'target-[0-9]+;_start;.*;answer;deeper;.*;burn [0-9]+'
	expect_fine
}

@test "what can't be" {
	tool uspl-trace start --tracer=sched --summary --format=json "$TARGET"
	expect_status 2
	tool uspl-trace start --tracer=wakeup --format=folded "$TARGET"
	expect_status 1
	expect_message "hint: it has 'text', 'json'"
}
