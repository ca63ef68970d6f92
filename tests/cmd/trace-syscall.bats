# SPDX-License-Identifier: GPL-3.0-or-later
# trace-syscall.bats - the tracer 'syscall': calls, results and durations are those that the program
# makes, and strace sees
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
}

# count FILTER - how many lines of json meet it
count() {
	jq -s "map(select($1)) | length" <<< "$output"
}

@test "every call, its result and its caller" {
	watch_begin syscall --format=json
	expect_answer 'kernel 200' 200
	watch_end
	[ "$(count '.name == "getppid" and .caller == "ask_kernel" and .result > 0')" = 200 ] || fail getppid
	[ "$(count '.name == "lseek" and .caller == "ask_kernel" and .result == 0')" = 200 ] || fail lseek
	[ "$(count '.name == "openat" and .caller == "ask_kernel" and .result >= 0')" = 1 ] || fail openat
	[ "$(count '.name == "clock_nanosleep" and .duration_ns >= 2000000 and .result == 0')" = 1 ] || fail nanosleep
	# It waits for the next request.
	[ "$(count '.name == "read" and .result == null')" = 1 ] || fail read
	[[ $stderr != *'could not be kept'* ]] || fail lost
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "threads that are made meanwhile, and processors that they change" {
	watch_begin syscall --summary
	expect_answer 'askers 100' 400
	watch_end
	[ "$(awk '/getppid <- ask_kernel/ { print $1, $2 }' <<< "$output")" = '400 0' ] || fail getppid
	[ "$(awk '/ close <- ask_kernel/ { print $1, $2 }' <<< "$output")" = '4 0' ] || fail close
	[[ $output != *'could not be kept'* ]] || fail lost
	expect_fine
}

@test "errors, and a threshold" {
	watch_begin syscall --threshold=1ms
	expect_answer 'kernel 50' 50
	watch_end
	expect_output ' us  clock_nanosleep = 0 <- ask_kernel'
	[[ $output != *getppid* ]] || fail 'short calls are printed'
	watch_begin syscall
	expect_answer 'missing 3' 3
	watch_end
	[ "$(grep -c 'openat = ENOENT <- look_in_vain' <<< "$output")" = 3 ] || fail openat
}

@test "folded chains" {
	watch_begin syscall --format=folded
	expect_answer 'kernel 10' 10
	watch_end
	expect_output 'target-[0-9]+;_start;.*;main;serve;answer;ask_kernel;.*nanosleep;(__internal_syscall_cancel;)?clock_nanosleep ([2-9]|[1-9][0-9]+)[0-9]{6}'
}

@test "no call is changed by it: what strace counts is what the program makes" {
	local counted=$BATS_TEST_TMPDIR/counted
	watch_begin syscall --summary
	timeout 60 strace -f -c -e trace=getppid,lseek -o "$counted" -p "$TARGET" 3>&- 2> "$BATS_TEST_TMPDIR/strace" &
	local strace=$!
	until_true 60 grep -q attached "$BATS_TEST_TMPDIR/strace"
	expect_answer 'askers 50' 200
	kill -INT "$(pgrep -P "$strace")"
	wait "$strace" || :
	watch_end
	[ "$(awk '$NF == "getppid" { print $4 }' "$counted")" = 200 ] || fail 'strace has counted otherwise'
	[ "$(awk '/getppid <- ask_kernel/ { print $1 }' <<< "$output")" = 200 ] || fail getppid
	expect_fine
}

@test "what can't be" {
	tool uspl-trace start --tracer=syscall --summary --format=json "$TARGET"
	expect_status 2
	tool uspl-trace start --tracer=syscall --stack=61 "$TARGET"
	expect_status 2
	expect_one_message
}

@test "tracefs is mounted nowhere" {
	WATCH_BY=$BATS_TEST_TMPDIR/without-tracefs
	cat > "$WATCH_BY" <<- 'EOF'
		#!/bin/sh
		exec unshare --mount sh -c 'umount --all-targets --lazy /sys/kernel/tracing 2> /dev/null
			! mountpoint -q /sys/kernel/tracing && [ ! -e /sys/kernel/tracing/events ] && exec "$@"' sh "$@"
	EOF
	chmod +x "$WATCH_BY"
	watch_begin syscall --format=json
	expect_answer 'kernel 20' 20
	watch_end
	[ "$(count '.name == "getppid" and .caller == "ask_kernel" and .result > 0')" = 20 ] || fail getppid
}
