# SPDX-License-Identifier: GPL-3.0-or-later
# trace-stack.bats - the tracer 'stack': depths and sizes are those that the code must have, and gdb
# sees
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	watch_build
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	# What binds a name at its first call takes more stack, for a moment, than what is called.
	export LD_BIND_NOW=1
	watch_target
}

teardown() {
	target_stop
}

# value FILTER - of the json for the target's main thread
value() {
	jq -rs "map(select(.tid == $TARGET))[0] | $1" <<< "$output"
}

# levels THREAD - how many frames of heap_up it has; each has 4096 bytes and a little
expect_levels() {
	[ "$(value '.frames | map(select(.name == "heap_up")) | length')" = "$1" ] || fail "not $1 levels" || return
	[ "$(value '.frames | map(select(.name == "heap_up") | .size >= 4096 and .size < 4352) | all')" = true ] ||
		fail 'their sizes' || return
	# Nothing is missing between two frames, nor above the last one.
	[ "$(value '.depth == (.frames | map(.size) | add)')" = true ] || fail 'the sizes are not the depth'
}

# gdb_depth - how far the stack pointer of the main thread is from its stack's beginning, by gdb
gdb_depth() {
	local sp top
	# shellcheck disable=SC2016
	sp=$(gdb -nx -batch -p "$TARGET" -ex 'printf "sp=%lu\n", $sp' 2> /dev/null | sed -n 's/^sp=//p')
	top=$((16#$(sed -n 's/^[0-9a-f]*-\([0-9a-f]*\) .*\[stack\]$/\1/p' "/proc/$TARGET/maps")))
	echo $((top - sp))
}

@test "a running thread: every frame, its size, and all of them together" {
	# 3 levels of 4 KB and all outside them are within the 16 KB that are copied.
	watch_begin stack --format=json
	expect_answer 'heap 3' 3
	watch_end
	expect_levels 3
	[ "$(value '.frames[-1].name')" = _start ] || fail 'not from the beginning'
	[ "$(value '.frames[0].name')" = burn ] || [ "$(value '.frames[0].name')" = heap_up ] || fail innermost
	[ "$(value '.touched >= .depth and .limit == 8388608')" = true ] || fail touched
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "a sleeping thread, deeper than what is copied of running ones" {
	watch_begin stack --format=json
	expect_answer 'sleep-heap 30' 1
	watch_end
	expect_levels 30
	[ "$(value '.frames | map(.name) | contains(["[cut]"])')" = false ] || fail cut
}

@test "asleep: as deep as gdb sees it" {
	local depth
	depth=$(gdb_depth)
	watch_begin stack --format=json
	expect_answer 'naps 1' 1
	watch_end
	[ "$(value .depth)" -ge "$depth" ] || fail "gdb says $depth"
	tool uspl-trace start --tracer=stack --time=0.3 --format=json "$TARGET"
	[ "$(value .depth)" = "$(gdb_depth)" ] || fail "gdb says $(gdb_depth)"
}

@test "where in each function, as gdb says it" {
	tool uspl-trace start --tracer=stack --time=0.3 "$TARGET"
	# gdb has "function + offset", in decimal, for each return address.
	gdb -nx -batch -p "$TARGET" -ex 'set print symbol-filename off' \
		-ex 'python
f = gdb.newest_frame()
while f:
    print("frame", gdb.execute("info symbol %d" % f.pc(), to_string=True).split(" in section")[0])
    f = f.older()' 2> /dev/null | sed -nE 's/^frame ((serve|main) .*)/\1/p' > "$BATS_TEST_TMPDIR/by_gdb"
	sed -nE 's/^ +[0-9]+\) +[0-9]+ +[0-9]+   (serve|main)\+0x([0-9a-f]+)\/0x[0-9a-f]+$/\1 \2/p' <<< "$output" |
		while read -r name offset; do echo "$name + $((16#$offset))"; done > "$BATS_TEST_TMPDIR/by_us"
	[ "$(wc -l < "$BATS_TEST_TMPDIR/by_us")" = 2 ] || fail 'not both' || return
	diff "$BATS_TEST_TMPDIR/by_gdb" "$BATS_TEST_TMPDIR/by_us" || fail 'gdb sees others'
}

@test "too short to be seen, it has touched the stack" {
	watch_begin stack --freq=1 --format=json
	expect_answer 'once-heap 50' 1
	watch_end
	[ "$(value '.touched >= 50 * 4096 and .touched < 60 * 4096')" = true ] || fail touched
}

@test "threads of their own" {
	watch_begin stack
	expect_answer 'thread-heap 3' 3
	watch_end
	[ "$(grep -cE '^ +[0-9]+\) +[0-9]+ +4[0-9]{3}   heap_up\+0x[0-9a-f]+/0x[0-9a-f]+$' <<< "$output")" = 3 ] || fail levels
	expect_output '# thread [0-9]+ \(target-[0-9]+\): [0-9]+ bytes deep, [0-9]+ touched, of 8192 KB \([0-9.]+ %\)'
	expect_output ' (__)?clone3?\+0x'
}

@test "an alarm at a share of the limit, at once" {
	watch_begin stack --alarm=10
	expect_answer 'heap 3' 3
	! grep -q alarm "$BATS_TEST_TMPDIR/said" || fail 'too early'
	expect_answer 'once-heap 300' 1
	until_true 60 grep -qE '^alarm: thread [0-9]+ \(target-[0-9]+\) has used 1[45]\.[0-9]+ % of its stack' "$BATS_TEST_TMPDIR/said" ||
		fail "no alarm: $(cat "$BATS_TEST_TMPDIR/said")"
	watch_end
	[ "$(grep -c '^alarm' <<< "$stderr")" = 1 ] || fail 'more than one alarm'
}

@test "a stack without a limit" {
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/tree/target" "$BATS_TEST_TMPDIR/run"
	target_start_by "$BATS_TEST_TMPDIR/run" bash -c 'ulimit -s unlimited; exec ./target'
	watch_begin stack --format=json
	expect_answer 'heap 3' 3
	watch_end
	expect_levels 3
	watch_begin stack --alarm=1 --format=json
	expect_answer 'once-heap 300' 1
	watch_end
	[ "$(value '.touched >= 300 * 4096')" = true ] || fail touched
	[[ $stderr != *alarm* ]] || fail 'an alarm without a limit'
}

@test "what can't be" {
	tool uspl-trace start --tracer=stack --alarm=101 "$TARGET"
	expect_status 2
	expect_one_message
}
