# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# trace.bats - uspl-trace on processes that weren't prepared for it: what is recorded is what
# happened, and nothing else changes
#
# shellcheck disable=SC2030,SC2031 # SUM is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace -O2
	build trace -O2 -fpatchable-function-entry=5
	build trace -O0
	build trace -O3 -fno-pie -no-pie
	build trace-cxx -O2
	build trace-dlopen -O2
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/shadow.bash"
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
}

teardown() {
	target_stop
}

# counted_run FLAG... - every call that is made is in the report, once; then all is as before
counted_run() {
	start trace "$@"
	trace start
	expect_status 0 || return
	expect_answer 'work 100' 700 || return
	trace report
	expect_status 0 || return
	expect_calls outer 100 || return
	expect_calls middle 100 || return
	expect_calls leaf 400 || return
	expect_nothing_lost || return
	expect_trace_stops
}

# expect_quiet CFLAGS - a program built with -pg gets rid of its profiler's calls, is traced, and
# stays quiet
expect_quiet() {
	build trace "$@"
	start trace "$@"
	trace list
	expect_output ' outer .calls mcount, until it is traced'
	trace list --json
	[ "$(jq -c 'select(.name == "outer") | [.profiled, .traceable]' <<< "$output")" = '[true,true]' ] || fail list
	trace start -N '*mcount*'
	expect_status 0
	expect_output 'quietened [0-9]+ calls of mcount'
	expect_answer 'work 10' 70
	trace report
	expect_calls outer 10
	expect_calls leaf 40
	[ -z "$(calls mcount)" ] || fail 'mcount is still called'
	trace stop
	expect_status 0
	ask 'work 1'
	trace stop
	trace list
	[[ $output = *' outer'* && $output != *'calls mcount'* ]] || fail 'what is quietened stays so'
	trace start -N '*mcount*'
	expect_status 0
	[[ $output != *quietened* ]] || fail 'there was something left to quieten'
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
}

# stripped_run FLAG... - a stripped program: functions that are called, pointed to, and only jumped
# to are traced
stripped_run() {
	local original base name addr
	local -A at=()
	original=$BATS_FILE_TMPDIR/trace/$(tr -d ' ' <<< "$*")/tree/target
	base=$(readelf -Wl "$original" | awk '$1 == "LOAD" { print $3; exit }')
	while read -r addr _ name; do
		at[$name]=$(printf 'target+0x%x' $((16#$addr - base)))
	done < <(nm --defined-only "$original")
	start_stripped trace "$@"
	trace start
	expect_status 0 || return
	expect_answer 'work 10' 70 || return
	expect_answer 'threads 20' 1120 || return
	expect_answer 'storm 5' 1 || return
	expect_answer 'jump 5' 5 || return
	expect_answer coroutine 147 || return
	expect_answer 'child 3' 7 || return
	trace report
	expect_calls "${at[work_in_thread]}" 8 || return
	expect_calls "${at[switcher]}" 1 || return
	expect_calls "${at[outer]}" 191 || return
	expect_calls "${at[answer]}" 6 || return
	[ "$(calls "${at[on_alarm]}")" -ge 5 ] || fail 'the signal handler was not seen' || return
	expect_nothing_lost || return
	expect_trace_stops
}

@test "every call is counted: -O2" {
	counted_run -O2
}

@test "every call is counted: with room left by the compiler" {
	counted_run -O2 -fpatchable-function-entry=5
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
}

@test "every call is counted: -O0" {
	counted_run -O0
}

@test "every call is counted: -O3 -fno-pie" {
	counted_run -O3 -fno-pie -no-pie
}

@test "the graph" {
	start trace -O2
	trace start -F outer -F middle -F leaf
	expect_status 0
	expect_output 'tracing pid [0-9]+: 3 functions, stopped [0-9]+ us'
	expect_answer 'work 1' 7
	trace cat
	expect_status 0
	local graph
	graph=$(sed -n '/^#/d; s/^[^|]*|  //p' <<< "$output")
	[ "$graph" = 'outer() {
  middle() {
    leaf();
    leaf();
    leaf();
  } /* middle */
  leaf();
} /* outer */' ] || fail "the graph is '$graph'"
	expect_nothing_lost
	trace cat --depth=1
	[ "$(grep -c outer <<< "$output")" = 1 ] && [[ $output != *middle* ]] || fail 'depth'
	expect_trace_stops
}

@test "the function tracer" {
	start trace -O2
	trace start --tracer=function --function='*er' --function=middle --notrace=jumper
	expect_status 0
	expect_answer 'work 2' 14
	trace cat
	expect_status 0
	expect_output "target-$TARGET +\[[0-9?]+\] +[0-9.]+: outer <- "
	expect_output "target-$TARGET +\[[0-9?]+\] +[0-9.]+: middle <- outer"
	[ "$(grep -c 'middle <- outer' <<< "$output")" = 2 ] || fail 'calls of middle'
	[[ $output != *leaf* ]] || fail 'leaf was not asked for'
	expect_nothing_lost
	expect_trace_stops
}

@test "the function tracer has the processor of each call" {
	start trace -O2
	local cpu
	cpu=$(taskset -pc "$TARGET" | grep -o '[0-9]*$')
	taskset -pc "$cpu" "$TARGET"
	trace start --tracer=function -F leaf
	expect_answer 'work 10' 70
	trace cat
	[ "$(grep -c "\[$(printf %03d "$cpu")\]" <<< "$output")" = 40 ] || fail "not all calls are on $cpu"
	trace cat --format=json
	[ "$(jq -s "map(select(.cpu == $cpu)) | length" <<< "$output")" = 40 ] || fail json
	expect_trace_stops
}

@test "a limited depth" {
	start trace -O2
	trace start --depth=2 -F outer -F middle -F leaf -F jumper
	expect_answer 'work 50' 350
	expect_answer 'jump 20' 20
	trace report
	expect_calls outer 50
	expect_calls middle 50
	expect_calls leaf 50
	expect_nothing_lost
	expect_trace_stops
	trace start --tracer=function --depth=2
	expect_status 2
	expect_message 'sees no returns'
	trace start --depth=501
	expect_status 2
}

@test "chosen threads" {
	start trace -O2
	trace start --tid="$TARGET" -F outer -F leaf
	expect_status 0
	expect_answer 'threads 100' 5600
	expect_answer 'work 10' 70
	trace report
	expect_calls outer 10
	expect_calls leaf 40
	expect_nothing_lost
	expect_trace_stops
	trace start --tracer=function --tid=1
	expect_status 3
	expect_message 'pid [0-9]+ has no thread 1'
	trace start --tid=all
	expect_status 2
	local -a many=()
	for _ in {1..65}; do
		many+=(--tid="$TARGET")
	done
	trace start "${many[@]}"
	expect_status 1
	expect_message 'more than 64 threads'
	expect_fine
}

@test "threads that exist, and new ones" {
	start trace -O2
	trace start -F outer -F leaf
	expect_answer 'threads 100' 5600
	expect_answer 'threads 100' 5600
	trace report
	expect_calls outer 1600
	expect_calls leaf 6400
	expect_nothing_lost
	expect_trace_stops
}

@test "one thread after the other" {
	start trace -O2
	trace start -F outer -F leaf
	expect_answer 'threads 30' 1680
	trace cat --per-thread
	expect_status 0
	[ "$(grep -c '^# thread ' <<< "$output")" = 8 ] || fail 'threads'
	awk '/^# thread/ { thread = $3 } !/^#/ && $2 != thread ")" { exit 1 }' <<< "$output" || fail 'threads are mixed'
	[ "$(grep -c 'leaf();' <<< "$output")" = 960 ] || fail 'leaves'
	trace cat --per-thread --format=json
	expect_status 2
	trace cat --per-thread --follow
	expect_status 2
	expect_message "'--per-thread' is for text"
	expect_trace_stops
}

@test "signals in traced code, with traced handlers" {
	start trace -O2
	trace start --buffer=65536
	expect_answer 'storm 300' 1
	trace report
	expect_nothing_lost
	local alarms
	alarms=$(calls on_alarm)
	[ "$alarms" -ge 300 ] || fail "$alarms handlers were seen"
	expect_calls leaf "$alarms"
	expect_trace_stops
}

@test "a call that returns into a function's first bytes: the function isn't traced" {
	start trace -O2
	trace list
	expect_output 'none +target +0x[0-9a-f]+ +through: a call returns into its first bytes'
	trace start
	expect_answer through 7
	expect_trace_stops
}

@test "a thread waits in a system call among a function's first bytes: the function isn't traced" {
	start trace -O2
	expect_answer rest 1
	trace list
	expect_output 'none +target +0x[0-9a-f]+ +ask_kernel: a system call is among its first bytes'
	trace start
	expect_answer 'work 10' 70
	expect_trace_stops
}

@test "longjmp out of traced calls" {
	start trace -O2
	trace start
	expect_answer 'jump 50' 50
	expect_answer 'work 10' 70
	trace report
	expect_calls outer 10
	expect_trace_stops
}

@test "backtrace() through traced calls, and what returns twice" {
	start trace -O2
	# The first backtrace() loads the unwinder.
	expect_answer odd 71010
	SUM=$(text_sum)
	trace start
	expect_answer odd 71010
	trace report
	expect_calls frames 10
	expect_calls odd 1
	expect_trace_stops
	trace start --module='*'
	expect_status 0
	expect_answer odd 71010
	expect_trace_stops
}

@test "coroutines" {
	start trace -O2
	trace start
	expect_answer coroutine 147
	trace report
	expect_calls outer 21
	expect_calls switcher 1
	expect_trace_stops
}

@test "stopped while a coroutine waits in a traced call" {
	start trace -O2
	trace start -F switcher -F leaf
	expect_answer park 1
	trace stop
	expect_status 0
	expect_output "1 call on stacks that no thread is on .*: made to return without the tracer"
	tool uspl-trace status
	[[ $output != *"$TARGET "* ]] || fail 'something is left'
	expect_answer 'work 1' 7
	expect_answer unpark 2
	expect_trace_ended
}

@test "a child of fork is not traced, and goes on" {
	start trace -O2
	trace start
	expect_answer 'child 10' 7
	expect_answer 'work 1' 7
	trace report
	expect_calls outer 1
	expect_trace_stops
}

# waits_in CALL PID - true if the process sleeps in that system call
waits_in() {
	[ "$(cut -d ' ' -f 1 "/proc/$2/syscall")" = "$1" ]
}

@test "stop in a child of fork takes nothing that the child has mapped where there were rings" {
	local child
	start trace -O2
	trace start -F leaf
	ask linger
	child=$REPLY
	until_true 60 waits_in 128 "$child" || fail 'the child does not come to its wait'
	tool uspl-trace stop "$child"
	expect_status 0
	tool uspl-trace stop "$child"
	expect_status 1
	expect_answer "end $child" 7
	trace report
	expect_status 0
	expect_trace_stops
}

@test "a child that was forked in traced calls, which it never leaves, is traced like any process" {
	local child
	start trace -O2
	trace start
	ask linger
	child=$REPLY
	until_true 60 waits_in 128 "$child" || fail 'the child does not come to its wait'
	tool uspl-trace status --json
	[ "$(jq -r "select(.pid == $child) | .state" <<< "$output")" = forked ] || fail "the child: $output"
	[ "$(jq -r "select(.pid == $TARGET) | .state" <<< "$output")" = on ] || fail "the target: $output"
	tool uspl-trace start "$child"
	expect_status 0
	tool uspl-trace start "$child"
	expect_status 1
	expect_message 'is traced already'
	tool uspl-trace stop "$child"
	expect_status 0
	[[ $output != *'still in calls'* ]] || fail 'the memory stays'
	expect_answer "end $child" 7
	expect_trace_stops
}

@test "C++ exceptions pass through traced functions" {
	start trace-cxx -O2
	trace start
	expect_status 0
	expect_answer throw -10
	trace report
	expect_output 'shop::catcher\(int\)'
	[ "$(grep -c 'could not' <<< "$output")" = 0 ] || fail lost
	trace stop
	expect_status 0
	expect_answer throw -10
	trace stop
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	trace start -F shop::catcher
	expect_status 0
	expect_output ': 1 functions'
	trace stop
	expect_status 0
	expect_fine
}

# exceptions_run - with what is traced now exceptions are caught as before
exceptions_run() {
	expect_status 0 || return
	expect_answer throw -10 || return
	expect_answer throw -10 || return
	trace report
	expect_status 0 || return
	trace stop
	expect_answer throw -10 || return
	trace stop
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_fine
}

@test "C++ exceptions with every module traced, the unwinder too" {
	start_stripped trace-cxx -O2
	trace start --module='*'
	exceptions_run
}

@test "C++ exceptions in a static program" {
	build trace-cxx -O2 -static
	start trace-cxx -O2 -static
	trace start
	exceptions_run
}

@test "C++ exceptions in a static program that is stripped: refused" {
	build trace-cxx -O2 -static
	start_stripped trace-cxx -O2 -static
	trace start
	expect_status 1
	expect_message "exceptions could not pass through traced functions"
	expect_message "hint: '--tracer=function' leaves return addresses alone"
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	trace start --tracer=function
	expect_status 0
	expect_answer throw -10
	trace stop
	expect_fine
}

# answered WORD - the target, which waits for a line, gets one, and answers with that
answered() {
	send go
	receive
	ASKED=$((ASKED + 1))
	[ "$REPLY" = "$1" ] || fail "the answer is '$REPLY'"
}

@test "stopped while calls are open: they return where they were called, and it can be started again at once" {
	local sum
	start trace -O2
	sum=$SUM
	trace start -F answer -F next_line -F leaf
	send_and_block wait
	trace stop
	expect_status 0
	[[ $output != *'still in calls'* ]] || fail 'the memory stays'
	[ "$(text_sum)" = "$sum" ] || fail "the target's code has changed"
	tool uspl-trace status
	[[ $output != *$TARGET* ]] || fail "of what has ended status says: $output"
	trace start -F leaf -F next_line
	expect_status 0
	answered 0
	expect_answer 'work 1' 7
	trace report
	expect_calls leaf 4
	expect_calls next_line ''
	expect_trace_stops
}

@test "stopped while a call is open that an exception will leave" {
	start trace-cxx -O2
	trace start --module='*'
	expect_status 0
	send_and_block 'wait and throw'
	trace stop
	expect_status 0
	expect_trace_gone
	answered -1
	expect_answer throw -10
	expect_fine
}

@test "stopped while a thread unwinds its stack: its calls return through the tracer, then the memory goes" {
	start trace-cxx -O2
	trace start -F answer -F 'shop::*'
	send_and_block unwind
	trace stop
	expect_status 0
	expect_output '1 thread is still in calls that were traced'
	answered 1
	trace start -F 'shop::catcher*'
	expect_status 0
	expect_answer throw -10
	trace report
	expect_output '10 .* shop::catcher'
	expect_trace_stops
}

@test "stopped while calls are open on a stack that can't be followed: they return, then the memory goes" {
	build trace -O2 -fno-asynchronous-unwind-tables
	start trace -O2 -fno-asynchronous-unwind-tables
	trace start -F answer -F next_line -F leaf
	send_and_block wait
	trace stop
	expect_status 0
	expect_output '1 thread is still in calls that were traced'
	tool uspl-trace status
	expect_output "$TARGET +target +graph +draining +3"
	trace start
	expect_status 1
	expect_message "a thread of pid $TARGET may still be in calls that were traced before"
	answered 0
	expect_answer 'work 1' 7
	trace stop
	expect_status 0
	[[ $output != *'still in calls'* ]] || fail 'somebody stays in traced calls'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "started while a thread is still in calls that were traced before: waited for" {
	build trace -O2 -fno-asynchronous-unwind-tables
	start trace -O2 -fno-asynchronous-unwind-tables
	trace start -F answer -F next_line -F leaf
	send_and_block wait
	trace stop
	expect_status 0
	expect_output '1 thread is still in calls that were traced'
	"$USPL_BIN/uspl-trace" start -v "$TARGET" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	until_true 60 grep -qs 'are still in calls' "$BATS_TEST_TMPDIR/said"
	answered 0
	wait $! || fail "$(cat "$BATS_TEST_TMPDIR/said")"
	expect_answer 'work 1' 7
	trace report
	expect_calls leaf 4
	expect_trace_stops
}

@test "started again and again" {
	start trace -O2
	local maps i
	for i in 1 2 3 4 5 6; do
		trace start
		expect_status 0
		expect_answer 'work 10' 70
		trace report
		expect_calls leaf 40
		trace stop
		expect_status 0
		ask 'work 1'
		if [[ $output == *'still in calls'* ]]; then
			trace stop
			expect_status 0
		fi
		[ "$i" != 2 ] || maps=$(wc -l < "/proc/$TARGET/maps")
	done
	[ "$(wc -l < "/proc/$TARGET/maps")" -le "$maps" ] || fail 'mappings are left behind'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "a duration threshold" {
	start trace -O2
	trace start --threshold=1s
	expect_answer 'work 100' 700
	trace report
	[ -z "$(calls leaf)" ] || fail 'short calls are recorded'
	expect_trace_stops
}

@test "a ring that is too small says what is gone" {
	start trace -O2
	trace start -F leaf --buffer=4
	expect_answer 'work 1000' 7000
	trace cat
	expect_output '# [0-9]+ older records were overwritten before they were read'
	local kept gone
	kept=$(grep -c 'leaf()' <<< "$output")
	gone=$(sed -n 's/^# \([0-9]*\) older.*/\1/p' <<< "$output")
	[ $((kept + gone)) = 4000 ] || fail "$kept kept, $gone gone, of 4000"
	expect_trace_stops
}

@test "a tool that is killed leaves a target that goes on, and stop cleans up" {
	start trace -O2
	local delay
	for delay in 0.002 0.005 0.01 0.02 0.03 0.05 0.08; do
		timeout -s KILL "$delay" "$USPL_BIN/uspl-trace" start "$TARGET" > /dev/null 2>&1 || :
		expect_answer 'work 10' 70
		trace stop
		[ "$status" = 0 ] || expect_message 'is not traced'
		expect_answer 'work 10' 70
	done
	# The next one that goes through cleans up what the dead one has left in the space behind
	# the code.
	trace stop
	trace start
	expect_status 0
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
	expect_trace_stops
}

@test "what can't be" {
	start trace -O2
	tool uspl-trace
	expect_status 2
	tool uspl-trace begin
	expect_status 2
	expect_one_message
	trace start --tracer=nosuch
	expect_status 2
	expect_message "hint: there are 'graph', 'function'"
	trace start -F 'nosuch*'
	expect_status 1
	expect_message 'no function of pid [0-9]+ is to be traced'
	expect_message "hint: 'uspl-trace list $TARGET' says why"
	trace list -m 'nosuch*'
	expect_status 1
	expect_message 'no module of pid [0-9]+ is to be listed'
	trace cat
	expect_status 1
	expect_message 'is not traced'
	trace start
	expect_status 0
	trace start
	expect_status 1
	expect_message 'is traced already'
	expect_one_message
	trace start --threshold=fast
	expect_status 2
	tool uspl-trace start 999999999
	expect_status 3
	tool uspl-trace start
	expect_status 2
	tool uspl-trace cat
	expect_status 2
	expect_trace_stops
}

@test "a program that Go has built" {
	build trace -O2 -DGO
	start trace -O2 -DGO
	trace start
	expect_status 1
	expect_message 'no function of pid [0-9]+ is to be traced'
	trace list
	expect_output "none .* outer: it is Go's, whose stacks move"
	expect_fine
}

@test "the table of tracers, and their options" {
	tool uspl-trace tracers
	expect_status 0
	expect_output '^graph +[a-z]'
	expect_output 'function +which'
	tool uspl-trace tracers more
	expect_status 2
	expect_one_message
	tool uspl-trace start --tracer=function --help
	expect_status 0
	expect_output ' --notrace=GLOB'
	# A letter with its argument behind it isn't taken apart.
	tool uspl-trace start -Ft --trac function -tnosuch 1
	expect_status 2
	expect_message "there is no tracer 'nosuch'"
}

@test "formats for other programs" {
	start trace -O2
	trace start --json -F outer -F middle -F leaf
	[ "$(jq -c '[.pid, .tracer, .state, .functions, .quietened, .stop_us >= 0]' <<< "$output")" = "[$TARGET,\"graph\",\"on\",3,0,true]" ] || fail start
	expect_answer 'work 2' 14
	trace report --json
	[ "$(jq -c 'select(.name == "leaf") | [.calls, .module, .max_ns >= .p99_ns]' <<< "$output")" = '[8,"target",true]' ] || fail report
	trace list --json
	[ "$(jq -c 'select(.name == "leaf") | [.kind, .traceable, .reason]' <<< "$output")" = '["moved",true,null]' ] || fail list
	[ "$(jq -r 'select(.name == "_start").traceable' <<< "$output")" = false ] || fail 'what cannot be'
	trace cat --format=json
	expect_status 0
	[ "$(jq -s 'map(select(.name == "leaf")) | length' <<< "$output")" = 8 ] || fail json
	[ "$(jq -rs 'map(select(.name == "outer").module) | unique | join(" ")' <<< "$output")" = target ] || fail module
	trace cat --format=chrome
	[ "$(jq '.traceEvents | map(select(.ph == "X" and .name == "middle" and .dur >= 0)) | length' <<< "$output")" = 2 ] || fail chrome
	trace cat --format=folded
	expect_output "target-$TARGET;outer;middle;leaf [0-9]+"
	[ "$(wc -l <<< "$output")" = 4 ] || fail folded
	trace cat --format=pictures
	expect_status 2
	expect_message "hint: there are 'text', 'json'"
	trace stop
	ask 'work 1'
	trace stop
	trace start --tracer=function -F leaf
	expect_answer 'work 1' 7
	trace cat --format=json
	[ "$(jq -s 'map(select(.name == "leaf" and .caller == "middle")) | length' <<< "$output")" = 3 ] || fail json
	trace cat --format=folded
	expect_status 1
	expect_message 'needs durations'
	expect_trace_stops
}

@test "a folder that uftrace reads, when the process is gone" {
	start trace -O2
	local data=$BATS_TEST_TMPDIR/data
	trace start
	expect_answer 'threads 100' 5600
	trace record --format=uftrace --output="$data"
	expect_status 0
	trace record --format=uftrace --output="$data"
	expect_status 3
	expect_message 'cannot make the folder'
	target_stop
	run uftrace report -d "$data" --no-pager
	[ "$status" = 0 ] || fail report
	[ "$(awk '$NF == "outer" { print $(NF - 1) }' <<< "$output")" = 800 ] || fail outer
	[ "$(awk '$NF == "leaf" { print $(NF - 1) }' <<< "$output")" = 3200 ] || fail leaf
	run uftrace replay -d "$data" --no-pager -F outer
	# A call that another thread's line comes in between of stands on two lines.
	[ "$(grep -cE 'leaf\(\)(;| \{)' <<< "$output")" = 3200 ] || fail replay
}

@test "a file with all that is needed, when the process is gone" {
	start trace -O2
	local saved=$BATS_TEST_TMPDIR/saved
	trace start
	expect_answer 'threads 20' 1120
	trace record -o "$saved"
	expect_status 0
	expect_output "$saved: [0-9]+ calls"
	target_stop
	tool uspl-trace report "$saved"
	expect_calls outer 160
	expect_calls leaf 640
	expect_nothing_lost
	tool uspl-trace cat --format=json "$saved"
	[ "$(jq -s 'map(select(.name == "leaf")) | length' <<< "$output")" = 640 ] || fail json
	tool uspl-trace cat --format=chrome "$saved"
	[ "$(jq '.traceEvents | map(select(.name == "middle")) | length' <<< "$output")" = 160 ] || fail chrome
	tool uspl-trace record --format=uftrace -o "$BATS_TEST_TMPDIR/data" "$saved"
	expect_status 0
	run uftrace report -d "$BATS_TEST_TMPDIR/data" --no-pager
	[ "$(awk '$NF == "leaf" { print $(NF - 1) }' <<< "$output")" = 640 ] || fail 'uftrace report'
}

@test "a file says what the process says, with names of callers and of what was lost" {
	start trace -O2
	trace start -F 'outer' -F 'middle' -F leaf
	expect_answer 'work 20' 140
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_saved --format=folded --depth=2
	trace stop
	ask 'work 1'
	trace stop
	trace start --tracer=function -F leaf --buffer=4
	expect_answer 'work 1000' 7000
	trace record -o "$BATS_TEST_TMPDIR/saved"
	[[ $stderr = *'older records were overwritten'* ]] || fail 'nothing is said of what is lost'
	tool uspl-trace cat "$BATS_TEST_TMPDIR/saved"
	expect_output 'leaf <- middle'
	expect_output '# [0-9]+ older records were overwritten before they were read'
	tool uspl-trace record --format=uftrace -o "$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/saved"
	expect_status 1
	expect_message 'records no returns'
	expect_trace_stops
}

@test "what is saved into a pipe or a device doesn't take its place" {
	local pipe=$BATS_TEST_TMPDIR/pipe
	start trace -O2
	trace start -F leaf
	expect_answer 'work 10' 70
	mkfifo "$pipe"
	cat "$pipe" > "$BATS_TEST_TMPDIR/got" 3>&- &
	tool uspl-trace record --quiet --output="$pipe" "$TARGET"
	expect_status 0
	wait $!
	[ -p "$pipe" ] || fail 'the pipe was replaced'
	tool uspl-trace report "$BATS_TEST_TMPDIR/got"
	expect_calls leaf 40
	ln -s /dev/full "$BATS_TEST_TMPDIR/full"
	tool uspl-trace record --output="$BATS_TEST_TMPDIR/full" "$TARGET"
	expect_status 3
	expect_message 'cannot write'
	[ -L "$BATS_TEST_TMPDIR/full" ] && [ -c /dev/full ] || fail 'the device was replaced'
	tool uspl-trace record --output="$BATS_TEST_TMPDIR" "$TARGET"
	expect_status 3
	expect_message 'Is a directory'
	trace stop
	expect_status 0
}

@test "files that aren't saved traces, or not all of one" {
	start trace -O2
	local saved=$BATS_TEST_TMPDIR/saved
	trace start -F leaf
	expect_answer 'work 10' 70
	trace record -o "$saved"
	expect_status 0
	trace record -o "$saved" --format=tar
	expect_status 2
	expect_message "hint: there are 'uspl', 'uftrace'"
	trace record
	expect_status 2
	expect_message 'nowhere to save to'
	trace record -o /nonexistent/saved
	expect_status 3
	expect_one_message
	tool uspl-trace cat --follow "$saved"
	expect_status 2
	expect_message "a file doesn't grow"
	head -c 300 "$saved" > "$saved.cut"
	tool uspl-trace report "$saved.cut"
	expect_status 3
	expect_message "the trace in '.*saved.cut' is cut short"
	expect_one_message
	tool uspl-trace cat "$BATS_TEST_FILENAME"
	expect_status 3
	expect_message 'is no saved trace'
	tool uspl-trace report ./nosuch
	expect_status 3
	expect_message "cannot open './nosuch'"
	tool uspl-trace stop "$saved"
	expect_status 2
}

@test "following a process until it ends" {
	start trace -O2
	trace start -F leaf
	timeout 60 "$USPL_BIN/uspl-trace" cat --follow "$TARGET" > "$BATS_TEST_TMPDIR/out" &
	local follower=$!
	expect_answer 'work 10' 70
	until_true 60 grep -q leaf "$BATS_TEST_TMPDIR/out"
	expect_answer 'work 10' 70
	target_stop
	wait "$follower" || fail "cat --follow ends with status $?"
	[ "$(grep -c 'leaf()' "$BATS_TEST_TMPDIR/out")" -ge 40 ] || fail 'records are missing'
}

@test "who follows is told where records were lost" {
	local out=$BATS_TEST_TMPDIR/out lost all seen
	start trace -O2
	trace start -F leaf --buffer=4
	expect_answer 'work 1000' 7000
	timeout 60 "$USPL_BIN/uspl-trace" cat --follow "$TARGET" > "$out" &
	local follower=$!
	until_true 60 grep -q '^# LOST [0-9]* RECORDS' "$out"
	expect_answer 'work 1000' 7000
	kill -INT "$follower"
	wait "$follower" || fail "cat --follow ends with status $?"
	lost=$(awk '/^# LOST/ { sum += $3 } END { print sum }' "$out")
	all=$(awk '/older records were overwritten/ { print $2 }' "$out")
	seen=$(grep -c 'leaf()' "$out")
	[ "$lost" = "$all" ] || fail "lost here and there: $lost, in all: $all"
	[ $((lost + seen)) = 8000 ] || fail "$lost lost and $seen seen of 8000"
	expect_trace_stops
}

@test "a stripped program: PIE" {
	stripped_run -O2
}

@test "a stripped program: at fixed addresses" {
	stripped_run -O3 -fno-pie -no-pie
}

@test "a stripped program: static" {
	build trace -O2 -static
	stripped_run -O2 -static
}

@test "room before the entry, too" {
	build trace -O2 -fpatchable-function-entry=7,2
	counted_run -O2 -fpatchable-function-entry=7,2
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	build trace -O2 -fpatchable-function-entry=6,5 -fno-pie -no-pie
	counted_run -O2 -fpatchable-function-entry=6,5 -fno-pie -no-pie
}

@test "an endbr64 first, and room behind it" {
	build trace -O2 -fcf-protection=full -fpatchable-function-entry=5
	counted_run -O2 -fcf-protection=full -fpatchable-function-entry=5
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
}

@test "clang: room left by -fpatchable-function-entry, and by XRay" {
	command -v clang > /dev/null || skip 'no clang'
	TARGET_CC=clang build trace -O2 -fpatchable-function-entry=5
	counted_run -O2 -fpatchable-function-entry=5
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	TARGET_CC=clang build trace -O2 -fpatchable-function-entry=7,2
	counted_run -O2 -fpatchable-function-entry=7,2
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	TARGET_CC=clang build trace -O2 -fxray-instrument -fxray-instruction-threshold=1
	counted_run -O2 -fxray-instrument -fxray-instruction-threshold=1
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
}

@test "room that a table lists: -mfentry -mnop-mcount -mrecord-mcount" {
	[[ $TARGET_CC = *gcc* ]] || skip 'gcc only'
	build trace -O2 -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie
	counted_run -O2 -pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
}

@test "built with -pg: PIE" {
	expect_quiet -O2 -pg
}

@test "built with -pg: not PIE" {
	expect_quiet -O2 -pg -fno-pie -no-pie
}

@test "built with -pg -mfentry" {
	[[ $TARGET_CC = *gcc* ]] || skip 'gcc only'
	expect_quiet -O2 -pg -mfentry
	trace list
	expect_output 'nops +target +0x[0-9a-f]+ +outer'
}

@test "built with -pg, and left as it is" {
	build trace -O2 -pg
	start trace -O2 -pg
	trace start --keep-mcount
	expect_status 0
	[[ $output != *quietened* ]] || fail 'quietened'
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
	expect_trace_stops
}

@test "a library that is closed and opened again while it is traced" {
	start trace-dlopen -O2
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	expect_answer open open
	trace start --module='libtwice*'
	expect_status 0
	expect_answer use 42
	trace report
	expect_calls once 2
	expect_answer close closed
	trace report
	expect_status 0
	trace stop
	expect_status 0
	expect_answer open open
	expect_answer use 42
	trace start --module='libtwice*'
	expect_status 0
	expect_answer use 42
	expect_answer close closed
	expect_answer open open
	expect_answer use 42
	trace stop
	expect_status 0
	expect_answer use 42
	expect_fine
}

@test "a library's functions have no version in their names" {
	start trace-dlopen -O2
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	objcopy --redefine-sym twice=twice@@V1 "$TARGET_DIR/libtwice.so" # as in the C library's debugging information
	expect_answer open open
	trace start --module='libtwice*' -F twice
	expect_status 0
	expect_answer use 42
	trace report
	expect_calls twice 1
	trace list --module='libtwice*'
	[[ $output == *' twice'* && $output != *@* ]] || fail "a version in the list: $output"
	trace stop
	expect_status 0
	expect_fine
}

# traced_functions - how many the session has
traced_functions() {
	tool uspl-trace status --json
	jq -r --argjson pid "$TARGET" 'select(.pid == $pid).functions' <<< "$output"
}

# expect_traced NUMBER - as soon as libraries that were opened are traced, too
expect_traced() {
	until_true 60 bash -c "[ \"\$('$USPL_BIN/uspl-trace' status --json | jq -r 'select(.pid == $TARGET).functions')\" = $1 ]" ||
		fail "$(traced_functions) functions, not $1"
}

@test "a library that is opened while tracing goes on is traced from then on" {
	start trace-dlopen -O2
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	trace start -m '*' -F once -F answer
	expect_status 0
	expect_output ': 1 functions'
	expect_answer open open
	expect_traced 2
	for _ in {1..50}; do
		expect_answer use 42
	done
	trace report
	expect_calls once 100
	expect_calls answer 51
	expect_nothing_lost
	expect_output "# 'libtwice.so' was opened later: its calls are recorded from [0-9.]+ s on"
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	tool uspl-trace report "$BATS_TEST_TMPDIR/saved"
	expect_calls once 100
	# Closed, and opened again where it was: its functions have their jumps again.
	expect_answer close closed
	expect_answer use closed
	expect_answer open open
	until_true 60 twice_is_counted 100 || fail 'a library that was opened again is not traced'
	expect_fine
	trace stop
	expect_status 0
	expect_answer use 42
	expect_fine
	expect_answer close closed
	expect_trace_ended
}

# twice_is_counted CALLS - true if calls of once() are recorded: there were so many before
twice_is_counted() {
	expect_answer use 42
	trace report
	[ "$(calls once)" -gt "$1" ]
}

@test "a library that is opened while calls are saved" {
	start trace-dlopen -O2
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	"$USPL_BIN/uspl-trace" record --for=600s -m '*' -F once -F answer -o "$BATS_TEST_TMPDIR/saved" "$TARGET" > "$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	local record=$!
	expect_traced 1
	expect_answer open open
	expect_traced 2
	for _ in {1..50}; do
		expect_answer use 42
	done
	kill -INT "$record"
	wait "$record" || fail "$(cat "$BATS_TEST_TMPDIR/said")"
	tool uspl-trace report "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	expect_calls once 100
	expect_nothing_lost
	expect_output "# 'libtwice.so' was opened later"
	expect_answer close closed
	expect_trace_gone
	expect_fine
}

@test "a library that is opened later and isn't wanted, or another one where it was" {
	start trace-dlopen -O2
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	trace start -m '*target*' -m 'libother*'
	expect_status 0
	local before
	before=$(traced_functions)
	expect_answer open open
	expect_answer use 42
	trace report
	expect_calls once ''
	[ "$(traced_functions)" = "$before" ] || fail 'a library that is not wanted is traced'
	trace stop
	trace start -m '*' -F once -F twice
	expect_status 0
	expect_output ': 2 functions'
	expect_answer close closed
	# Another build, whose functions are elsewhere.
	sed 's/sink += x/sink += 2 * x + 1/' "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib" > "$BATS_TEST_TMPDIR/other.c"
	rm "$TARGET_DIR/libtwice.so"
	"$TARGET_CC" -O1 -shared -fPIC -o "$TARGET_DIR/libtwice.so" "$BATS_TEST_TMPDIR/other.c"
	expect_answer open open
	expect_answer use 42
	expect_fine
	trace stop
	expect_status 0
	expect_answer use 42
	expect_fine
}

@test "twenty libraries are traced at once" {
	local i libraries=
	"$TARGET_CC" -O2 -shared -fPIC -x c -o "$BATS_TEST_TMPDIR/lib1.so" "$BATS_TEST_DIRNAME/trace-dlopen/twice.lib"
	for i in {1..20}; do
		[ "$i" = 1 ] || cp "$BATS_TEST_TMPDIR/lib1.so" "$BATS_TEST_TMPDIR/lib$i.so"
		libraries+=$BATS_TEST_TMPDIR/lib$i.so:
	done
	LD_PRELOAD=$libraries start trace -O2
	trace start -m '*' -F once -F leaf
	expect_status 0
	expect_output ': 21 functions'
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
	expect_trace_stops
}

@test "a process that may not write large files" {
	local dir=$BATS_TEST_TMPDIR/run
	mkdir "$dir"
	cp "$BATS_FILE_TMPDIR/trace/-O2/tree/target" "$dir"
	target_start_by "$dir" bash -c 'ulimit -f 8; ./target'
	trace start -F leaf
	expect_status 0
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
	trace stop
	expect_status 0
	expect_fine
}

@test "a process that may not make code writable" {
	start trace -O2 -fpatchable-function-entry=5
	ask confine
	[[ $REPLY = 1 ]] || skip 'the kernel forbids no such thing'
	trace start -v
	expect_status 0
	expect_message 'all sites are written in stops'
	expect_answer 'work 10' 70
	trace report
	expect_calls leaf 40
	expect_trace_stops
}

@test "stopped while calls of a thread with a shadow stack are open: they return by the tracer, then the memory goes" {
	can_show_features
	start trace -O2
	trace start -F answer -F next_line -F leaf
	send_and_block wait
	with_features 'shstk ' uspl-trace stop "$TARGET"
	expect_status 0
	expect_output '1 thread is still in calls that were traced'
	with_features 'shstk ' uspl-trace stop --force "$TARGET"
	expect_status 0
	expect_output '1 thread is still in calls that were traced'
	answered 0
	expect_answer 'work 1' 7
	with_features 'shstk ' uspl-trace stop "$TARGET"
	expect_status 0
	[[ $output != *'still in calls'* ]] || fail 'somebody stays in traced calls'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}
