# SPDX-License-Identifier: GPL-3.0-or-later
# usdt.bats - probes in the form of sys/sdt.h, of a program of our own and of Debian's
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	build usdt -O2
	build usdt -O0
	build trace-cxx -O2
}

# build PROGRAM FLAG... - makes BATS_FILE_TMPDIR/PROGRAM/FLAGS/tree/target
build() {
	WORK=$BATS_FILE_TMPDIR/$1/$(tr -d ' ' <<< "${*:2}") CASE=$BATS_TEST_DIRNAME/$1
	mkdir -p "$WORK"
	tree_build "${*:2}"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
}

teardown() {
	target_stop
}

# start PROGRAM FLAG... - starts one of them
start() {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/$1/$(tr -d ' ' <<< "${*:2}")/tree/target" "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	SUM=$(text_sum)
}

# mark VERB [GLOB] [OPTION]... - on the target
mark() {
	tool uspl-trace mark "$TARGET" "$@"
}

# expect_hits NAME NUMBER - so many records of the probe are there
expect_hits() {
	local hits
	tool uspl-trace cat "$TARGET"
	hits=$(grep -c " $1\(:\|\$\)" <<< "$output")
	[ "$hits" = "$2" ] || fail "$1 was hit $hits times, not $2"
}

# expect_clean - switches all off: the code is as it was, and the process is fine
expect_clean() {
	mark off
	expect_status 0 || return
	[[ $output != *'still inside'* ]] || fail 'somebody stays in a probe' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_fine
}

# expect_places - arguments are found wherever they are
expect_places() {
	mark on 'test:*'
	expect_status 0 || return
	expect_answer places 93 || return
	tool uspl-trace cat "$TARGET"
	expect_output 'test:registers: arg1=100 arg2=-4 arg3=-2 arg4=-1 arg5=-3 arg6=7' || return
	expect_output 'test:memory: arg1=22 arg2=33 arg3=44 arg4=0\.5' || return
	expect_output 'test:used: arg1=30465 arg2=2 arg3=3 arg4=4 arg5=5 arg6=119' || return
	expect_output 'test:indexed: arg1=33 arg2=22' || return
	expect_clean
}

@test "arguments wherever they are: -O2" {
	start usdt -O2
	expect_places
}

@test "arguments wherever they are: -O0" {
	start usdt -O0
	expect_places
}

@test "the program goes on as it did, whatever stands around the probe" {
	start usdt -O2
	mark on 'test:before*' --filter 'arg1 < 50'
	expect_answer 'around 100' 2750
	expect_hits test:before_branch 50
	expect_hits test:before_load 2
	expect_answer 'around 3' 77
	expect_clean
	expect_answer 'around 3' 77
}

@test "a semaphore says that somebody listens, as long as somebody does" {
	start usdt -O2
	expect_answer 'heard 5' 0
	mark on test:heard
	mark on test:heard --session=second
	expect_answer 'heard 5' 5
	expect_hits test:heard 5
	mark off
	expect_answer 'heard 5' 5
	mark on
	mark off --session=second
	expect_answer 'heard 5' 5
	expect_clean
	expect_answer 'heard 5' 0
}

@test "a probe that something leads into right behind is left out, with the reason" {
	start usdt -O2
	mark list test:no_room
	expect_output "test:no_room \(1 arguments\): 1 can't be switched on: a branch leads behind it"
	mark on test:no_room
	expect_status 1
	expect_message "no probe can be put to marker 'test:no_room': a branch leads behind it"
	expect_answer 'no_room 3' -1
	mark on 'test:*'
	expect_output "left out: 1 sites; marker 'test:no_room'"
	expect_answer 'no_room 3' -1
	expect_clean
}

@test "the probes of libstdc++: each exception that is thrown and caught" {
	start trace-cxx -O2
	mark list 'libstdcxx:*'
	[[ $output == *libstdcxx:throw* ]] || skip 'this libstdc++ has no probes'
	mark on 'libstdcxx:*'
	expect_status 0
	expect_answer throw -10
	tool uspl-trace cat "$TARGET"
	local thrown caught
	thrown=$(grep -c libstdcxx:throw <<< "$output")
	caught=$(grep -c libstdcxx:catch <<< "$output")
	[ "$thrown" -ge 1 ] && [ "$caught" -ge "$thrown" ] || fail "$thrown thrown, $caught caught"
	expect_answer throw -10
	expect_hits libstdcxx:throw $((2 * thrown))
	expect_clean
}

@test "the probes of python3" {
	local program
	program=$(readlink -f /usr/bin/python3) || skip 'no python3'
	readelf -n "$program" | grep -q 'Provider: python' || skip 'this python3 has no probes'
	mkdir "$BATS_TEST_TMPDIR/run"
	start_in "$BATS_TEST_TMPDIR/run" "$program" -u -c '
import sys, gc
for line in sys.stdin:
    for i in range(int(line)):
        gc.collect()
    print(line.strip())
'
	send 1
	receive
	mark on 'python:gc*'
	expect_status 0
	send 5
	receive
	[ "$REPLY" = 5 ] || fail "the answer is '$REPLY'"
	expect_hits python:gc__start 5
	expect_hits python:gc__done 5
	expect_output 'python:gc__start: arg1=2'
	mark off
	expect_status 0
	send 2
	receive
	[ "$REPLY" = 2 ] || fail "the answer is '$REPLY'"
}
