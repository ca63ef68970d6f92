# SPDX-License-Identifier: GPL-3.0-or-later
# probe-exit.bats - a user's program at the return of functions: whatever way they are left, and
# whoever waits for it as well
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build probe-exit -O2
	build trace-calls -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
}

teardown() {
	target_stop
}

# put FUNCTION SESSION [OPTION]... - puts a program that records all to its return
put() {
	tool uspl-trace probe --at="$1:exit" --session="$2" "${@:3}" "$TARGET" "$BATS_TEST_DIRNAME/probe/all.c"
}

# probe FUNCTION SESSION [OPTION]... - records what it returns
probe() {
	put "$@"
	expect_status 0
}

# expect_returns SESSION FUNCTION NUMBER - so many are recorded; the output stays
expect_returns() {
	local n
	trace cat --session="$1"
	n=$(grep -c " $2:exit: " <<< "$output" || :)
	[ "$n" = "$3" ] || fail "$n returns of $2 are recorded, not $3"
}

# off SESSION - ends it; nobody is inside
off() {
	tool uspl-trace mark "$TARGET" off --session="$1"
	expect_status 0 || return
	[[ $output != *'still inside'* ]] || fail 'somebody is inside'
}

# expect_clean - the code is as it was, and the process is fine
expect_clean() {
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_fine
}

@test "what a function returns, and what throws or is left doesn't" {
	start probe-exit -O2
	probe catcher a
	expect_answer 'catch 4' 60 # of 20 + 1, -1, 40 + 1, -1
	expect_answer 'leave 100' 100
	expect_returns a catcher 4
	expect_output 'catcher:exit: ret=0x15'
	expect_output 'catcher:exit: ret=0xffffffffffffffff'
	expect_output 'catcher:exit: ret=0x29'
	probe leaver b
	expect_answer 'leave 100' 100
	expect_returns b leaver 1
	probe catcher c --filter='ret > 0x20 && ret < 0x100'
	expect_answer 'catch 4' 60
	expect_returns c catcher 1
	off a
	off b
	off c
	expect_clean
}

@test "functions that end in one another, and several sessions at each" {
	start probe-exit -O2
	probe outer a
	probe leaf c
	probe leaf a
	expect_answer 'catch 10' 300
	expect_returns a outer 5
	expect_returns a leaf 5
	expect_nothing_lost
	# A session that comes between, or a third of one session: what can't be seen is counted.
	probe middle b
	expect_answer 'catch 10' 300
	expect_returns a outer 10
	expect_returns a leaf 5
	expect_output '# 10 calls could not be recorded'
	expect_returns b middle 5
	off b
	probe middle a
	expect_answer 'catch 10' 300
	expect_returns a outer 15
	expect_returns a middle 5
	expect_returns a leaf 5
	expect_output '# 20 calls could not be recorded'
	off a
	expect_answer 'catch 10' 300
	expect_returns c leaf 20
	off c
	expect_clean
}

@test "beside a traced function before it, behind it, and on both sides" {
	start probe-exit -O2
	local order
	for order in 'outer middle' 'middle outer' 'middle leaf' 'leaf middle'; do
		trace start -F "${order% *}"
		probe "${order#* }" a
		expect_answer 'catch 10' 300
		expect_returns a "${order#* }" 5
		off a
		trace stop
	done
	trace start -F outer -F leaf
	probe middle a
	expect_answer 'catch 10' 300
	expect_returns a middle 5
	trace report
	# Half of them throw.
	expect_calls outer 10
	expect_output '# outer: 5 calls were left without a return'
	[[ $output == *'10 calls could not be recorded'* ]] || fail 'nothing is said of the others'
	trace stop
	expect_answer 'catch 10' 300
	expect_returns a middle 10
	off a
	expect_clean
}

@test "six sessions, and not a seventh" {
	start probe-exit -O2
	local session n=0
	for session in a b c d e f; do
		probe leaf "$session"
	done
	put leaf g
	expect_status 1
	expect_message 'at most 6 sessions of a process can wait for returns at once'
	expect_answer 'catch 10' 300
	for session in c a f; do
		expect_returns "$session" leaf $((n += 5))
		off "$session"
		expect_answer 'catch 10' 300
	done
	expect_returns e leaf 20
	off e
	off b
	off d
	expect_clean
}

@test "taken out while a function is inside" {
	start probe-exit -O2
	probe waiter a
	send_and_block 'wait 4'
	tool uspl-trace mark "$TARGET" off --session=a
	expect_output '1 thread is still inside of probes'
	send on
	receive
	[ "$REPLY" = 5 ] || fail "the answer is $REPLY"
	ASKED=$((ASKED + 1))
	off a
	expect_clean
}

@test "switched off while a user's program is at work: it is waited for" {
	start probe-exit -O2
	local off
	tool uspl-trace probe --at=held --session=a "$TARGET" "$BATS_TEST_DIRNAME/probe/held.c"
	expect_status 0
	ask hold
	"$USPL_BIN/uspl-trace" mark "$TARGET" off --session=a > "$BATS_TEST_TMPDIR/off" 2>&1 3>&- &
	off=$!
	# Nobody enters any more, and the thread is inside: until it leaves, nobody says that all is
	# gone.
	until_true 60 code_is_back
	kill -0 "$off" 2> /dev/null || grep -q '1 thread still inside' "$BATS_TEST_TMPDIR/off" || fail "it wasn't waited for"
	ask release
	wait "$off" || fail 'off fails'
	# A machine with much else to do may have let it give up before.
	! grep -q 'still inside' "$BATS_TEST_TMPDIR/off" || off a
	tool uspl-trace mark "$TARGET" off --session=a
	expect_status 1
	expect_clean
}

# code_is_back - nothing leads to a probe
code_is_back() {
	[ "$(text_sum)" = "$SUM" ]
}

@test "threads that end, small stacks, other stacks, signals" {
	start trace-calls -O2
	expect_answer 'cancel 1' 1 # its first time loads a library
	SUM=$(text_sum)
	probe tiny a
	probe on_alt b
	probe quitter c
	expect_answer 'tiny 50' 1000
	expect_returns a tiny $((50 * 21))
	expect_answer 'alt 100' 100
	expect_returns b on_alt 100
	expect_answer 'quit 20' 20
	expect_answer 'cancel 20' 20
	expect_returns c quitter 0
	probe pulse c
	ask 'storm 1000'
	off a
	off b
	off c
	expect_clean
}

@test "a tool that is killed leaves a target that goes on" {
	start probe-exit -O2
	local delay
	for delay in 0.002 0.005 0.01 0.02 0.03 0.05; do
		timeout -s KILL "$delay" "$USPL_BIN/uspl-trace" probe --at='leaf:exit' --session=a "$TARGET" "$BATS_TEST_DIRNAME/probe/all.c" > /dev/null 2>&1 || :
		expect_answer 'catch 10' 300
		timeout -s KILL "$delay" "$USPL_BIN/uspl-trace" mark "$TARGET" off --session=a > /dev/null 2>&1 || :
		expect_answer 'catch 10' 300
	done
	tool uspl-trace mark "$TARGET" off --session=a
	probe leaf a
	expect_answer 'catch 10' 300
	trace cat --session=a
	[ "$(grep -c 'leaf:exit: ' <<< "$output")" -ge 5 ] || fail 'returns are missing'
	off a
	expect_answer 'catch 10' 300
	expect_clean
}

@test "what can't be" {
	start trace-calls -O2
	put _setjmp a --module='libc*'
	expect_status 1
	expect_message 'it returns twice, looks at its caller, or has no call frame information'
	put nosuch a
	expect_status 1
	expect_message "there is no function 'nosuch:exit'"
	expect_clean
}
