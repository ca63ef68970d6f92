# SPDX-License-Identifier: GPL-3.0-or-later
# trace-sample.bats - the tracer 'sample': its shares are those that the program measures of itself
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

# seen REGEX - how many samples lie in folded chains like that
seen() {
	grep -E -- "$1" <<< "$output" | awk '{ n += $NF } END { print n + 0 }'
}

# cpu_ms - processor time that the target has used
cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$TARGET/stat"
}

# expect_share PERCENT - `often` has that share of what is in it and in `seldom`
expect_share() {
	local often all
	often=$(seen ';often(;| )') all=$((often + $(seen ';seldom(;| )')))
	[ "$all" -ge 100 ] || fail "only $all samples" || return
	local off=$((100 * often / all - $1))
	[ "${off#-}" -le 10 ] ||
		fail "$often of $all samples are in 'often', the program says $1 %"
}

# threads_made_meanwhile - four of them, while the tracer is attached
threads_made_meanwhile() {
	local before used
	before=$(cpu_ms)
	watch_begin sample --format=folded
	ask 'threads 300'
	watch_end
	used=$(($(cpu_ms) - before))
	expect_share "$REPLY"
	[ "$(grep -oE '^target-[0-9]+;[^ ]*often' <<< "$output" | sed 's/;.*//' | sort -u | wc -l)" = 4 ] ||
		fail 'not all threads are seen'
	# On a virtual machine, time that its host takes away isn't counted as used, but the timer
	# goes on; twice would be twice.
	[ "$(seen .)" -le $((used * 3 / 2 + 20)) ] || fail "$(seen .) samples in $used ms"
	expect_fine
}

@test "shares of two functions, in one thread" {
	watch_begin sample --format=folded
	ask 'burn 1000'
	watch_end
	expect_share "$REPLY"
	# The whole chain, from the start of the program.
	[ "$(seen '^target-[0-9]+;_start;.*;main;.*;often;burn( |;)')" -gt 0 ] || fail 'no whole chain'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "shares in threads that are made meanwhile; nothing is seen twice" {
	threads_made_meanwhile
}

@test "the same without the rights of root, when a timer goes with each thread" {
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	watch_target_without_rights
	WATCH_BY=$WITHOUT_RIGHTS
	threads_made_meanwhile
}

@test "every level of a deep chain" {
	watch_begin sample --format=folded
	ask 'deep 300'
	watch_end
	local whole
	whole=$(seen 'answer;(deeper;){21}burn( |;)')
	[ "$whole" -ge 50 ] || fail "only $whole samples with all 21 levels"
	[ "$(seen '(deeper;){22}')" = 0 ] || fail 'too many levels'
}

@test "text and json" {
	watch_begin sample --freq=500
	ask 'burn 500'
	watch_end
	expect_output '^# tracer: sample, pid [0-9]+ \(target\): [0-9]+ samples in [0-9.]+ s, 500 a second'
	expect_output '[0-9]+\.[0-9]+% +[0-9]+\.[0-9]+%  burn'
	expect_output ' 100\.00% +0\.00%  _start'
	watch_begin sample --format=json
	ask 'burn 300'
	watch_end
	[ "$(jq -s 'map(select(.stack and .stack[-1] == "burn") | .samples) | add > 0' <<< "$output")" = true ] || fail json
}

@test "it ends with its time, and with the process" {
	tool uspl-trace start --tracer=sample --time=0.3s "$TARGET"
	expect_status 0
	watch_begin sample
	target_stop
	wait "$WATCHER" || fail "status $?"
}

@test "code of a library that is loaded meanwhile; and the process ends with it" {
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libburn.so" - <<- 'C'
		volatile unsigned long burned;
		void burn_in_library(void) { for (int i = 0; i < 800000000; i++) burned += i; }
	C
	watch_begin sample --format=folded
	expect_answer 'library 1' 1
	watch_end
	[ "$(seen ';answer;burn_in_library( |;)')" -gt 50 ] || fail 'the library is not seen'
	target_stop
	rm -r "$TARGET_DIR"
	watch_target
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libburn.so" - <<- 'C'
		volatile unsigned long burned;
		void burn_in_library(void) { for (int i = 0; i < 20000000; i++) burned += i; __builtin_trap(); }
	C
	watch_begin sample --format=folded
	send 'library 1'
	wait "$WATCHER" || fail "status $?: $(cat "$BATS_TEST_TMPDIR/said")"
	output=$(< "$BATS_TEST_TMPDIR/seen")
	[ "$(seen .)" -gt 0 ] || fail 'nothing is seen'
}

@test "a stack deeper than what is copied is said to be cut" {
	watch_begin sample --format=folded --stack=1
	ask 'deep 300'
	watch_end
	[ "$(seen '^target-[0-9]+;\[cut\];.*(deeper;)+')" -gt 0 ] || fail 'no chain is cut'
	expect_message 'stacks were deeper than what is copied .1 KB'
}

@test "what can't be" {
	tool uspl-trace start --tracer=sample "$TARGET" "$TARGET"
	expect_status 2
	expect_message "'sample' observes one process at a time"
	tool uspl-trace start --tracer=sample --format=chrome "$TARGET"
	expect_status 1
	expect_message "hint: it has 'text', 'json', 'folded'"
	tool uspl-trace start --tracer=sample --stack=61 "$TARGET"
	expect_status 2
	tool uspl-trace start --tracer=sample --freq=20000 "$TARGET"
	expect_status 2
	expect_message "'--freq=20000' is more than 10000"
	tool uspl-trace start --tracer=sample --notrace=x "$TARGET"
	expect_status 2
	tool uspl-trace start --tracer=sample 999999999
	expect_status 3
}
