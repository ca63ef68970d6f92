# SPDX-License-Identifier: GPL-3.0-or-later
# trace-args.bats - arguments and results of calls: they are those that the program has passed and
# returned, and nothing crashes for them
#
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-args -O2 -g
	build trace-args -O2
	build trace-args -O0 -g
	build trace-args -O2 -g -fpatchable-function-entry=5
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
}

teardown() {
	target_stop
}

# expect_line TEXT - some line of what was printed ends in it
expect_line() {
	grep -qF -- "  $1" <<< "$output" || fail "not seen: $1"
}

# ask_each - one call of each sort
ask_each() {
	local request
	for request in 'numbers 7' 'reals 3' 'texts some "words"' 'colors 0' 'colors 1' 'structures 40'; do
		ask "$request" > /dev/null || return
	done
}

WISHES=(-A numbers -R numbers -A reals -R reals -A texts -R texts -A colors -R colors -A structures)

# typed_run FLAG... - what each call was made with, as the program's types say
typed_run() {
	start trace-args "$@"
	trace start "${WISHES[@]}"
	expect_status 0 || return
	ask_each || return
	trace cat
	expect_status 0 || return
	expect_line 'numbers(tiny=-1, byte=200, small=-300, whole=4000000000, wide=-5000000000, word=18446744073709551615, seventh=7, eighth=65) = -1000000230;' || return
	expect_line 'reals(x=0.1, y=0.1, n=3, z=1e+100) = 1e+100;' || return
	expect_line 'texts(first="some "words"", second="edge") = "some "words"";' || return
	expect_line 'texts(first=0x10, second=NULL) = 0x10;' || return
	expect_line 'colors(color=RED, is_on=false) = BLUE;' || return
	expect_line 'colors(color=GREEN, is_on=true) = 7;' || return
	expect_line 'structures(pair={...}, mixed={...}, large={...}, behind=40, last=41);' || return
	expect_nothing_lost || return
	expect_trace_stops
}

@test "values of all types, by the debugging information" {
	typed_run -O2 -g
}

@test "in a program that wasn't optimized" {
	typed_run -O0 -g
}

@test "at entries with room for the jump" {
	typed_run -O2 -g -fpatchable-function-entry=5
}

@test "without debugging information: words, or what the user says" {
	start trace-args -O2
	trace start -A numbers@arg1,arg7,arg4/u -A reals@arg1/f,arg3/f,arg1/d -R reals/f -A texts@arg1/s,arg2/s -R texts/s -A quiet
	expect_status 0
	ask_each > /dev/null
	ask 'quiet 10' > /dev/null
	trace cat
	expect_line 'numbers(arg1=0xffffffff, arg7=0x7, arg4=4000000000);'
	expect_line 'reals(arg1=0.1, arg3=1e+100, arg1=3) = 1e+100;'
	grep -qF 'texts(arg1="some ' <<< "$output" || fail 'no string'
	grep -qE 'quiet\(arg1=0xa, arg2=0x[0-9a-f]+, ' <<< "$output" || fail 'not all registers'
	expect_trace_stops
	trace start -A numbers@byte
	expect_status 1
	expect_message "no argument 'byte' is known"
	expect_message "hint: ask for it by its number"
}

@test "as JSON and for Perfetto; from a file, when the process is gone" {
	start trace-args -O2 -g
	trace start "${WISHES[@]}"
	ask_each
	trace cat --format=json
	[ "$(jq -r 'select(.name == "numbers") | [.args.wide, .args.word, .args.eighth, .result] | map(tostring) | join(" ")' <<< "$output")" = \
		'-5000000000 18446744073709551615 65 -1000000230' ] || fail json
	[ "$(jq -r 'select(.name == "colors") | .args.color + " " + .result' <<< "$output" | head -1)" = 'RED BLUE' ] || fail enum
	[ "$(jq -r 'select(.name == "texts") | .args.first' <<< "$output" | head -1)" = 'some "words"' ] || fail text
	trace cat --format=chrome
	[ "$(jq -r '[.traceEvents[] | select(.name == "reals")][0].args | [.x, .n, .result > 1e99] | map(tostring) | join(" ")' <<< "$output")" != '' ] ||
		fail chrome
	[ "$(jq -r '[.traceEvents[] | select(.name == "numbers")][0].args.seventh' <<< "$output")" = 7 ] || fail 'chrome: seventh'
	trace cat
	live=$(grep -oE '[a-z]+\(.*' <<< "$output")
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	target_stop
	tool uspl-trace cat "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	[ "$(grep -oE '[a-z]+\(.*' <<< "$output")" = "$live" ] || fail 'the file says something else'
}

@test "entries only" {
	start trace-args -O2 -g
	trace start --tracer=function -A 'numbers@seventh,tiny' -A texts --string=5
	ask_each
	trace cat
	grep -qF 'numbers(seventh=7, tiny=-1) <- answer' <<< "$output" || fail numbers
	grep -qF 'texts(first="some ...", second="edge") <- ' <<< "$output" || fail texts
	trace start -R numbers --tracer=function
	expect_status 2
	expect_message 'sees no returns'
	expect_trace_stops
}

@test "in several threads: each call has its own" {
	start trace-args -O2 -g
	trace start -F numbers -A numbers@seventh -R numbers
	expect_answer threads 0
	trace cat --format=json
	[ "$(jq -s 'map(select(.tid)) | length' <<< "$output")" = 200 ] || fail 'not all calls'
	[ "$(jq -s 'map(select(.tid and .result != .args.seventh - 1000000237)) | length' <<< "$output")" = 0 ] || fail 'results are not those of the arguments'
	[ "$(jq -rs 'map(select(.tid)) | group_by(.args.seventh) | map("\(.[0].args.seventh):\(length)") | join(" ")' <<< "$output")" = '1:50 2:50 3:50 4:50' ] || fail threads
	expect_trace_stops
}

@test "rings that are overwritten: no call has another one's values" {
	start trace-args -O2 -g
	trace start -F numbers -A numbers@seventh -R numbers --buffer=4
	for i in 1 2 3 4; do ask threads > /dev/null; done
	trace cat --format=json
	[ "$(jq -s 'length > 20' <<< "$output")" = true ] || fail 'nothing is left'
	[ "$(jq -s 'map(select(.args and .result and .result != .args.seventh - 1000000237)) | length' <<< "$output")" = 0 ] || fail mixed
	expect_trace_stops
}

@test "what can't be: names, kinds, functions" {
	start trace-args -O2 -g
	trace start -A numbers@nothing
	expect_status 1
	expect_message "'numbers' has no argument 'nothing'"
	trace start -A nobody
	expect_status 1
	expect_message "no function 'nobody' can be traced"
	trace start -A numbers@arg1/q
	expect_status 2
	expect_message "can't be understood"
	trace start -A numbers --string=1000
	expect_status 2
	expect_message 'above 120'
	expect_fine
}

@test "a trigger starts and stops it, at entries of functions" {
	start trace-args -O2 -g
	trace start -F quiet -F reals --trigger=start:colors --trigger=stop:structures
	for request in 'quiet 1' 'colors 0' 'quiet 2' 'reals 1' 'structures 1' 'quiet 3' 'colors 1' 'quiet 4'; do ask "$request" > /dev/null; done
	trace cat --format=json
	[ "$(jq -r '.name // empty' <<< "$output" | tr '\n' ' ')" = 'colors quiet reals colors quiet ' ] || [ "$(jq -r '.name // empty' <<< "$output" | tr '\n' ' ')" = 'quiet reals quiet ' ] || fail 'not what lies between'
	expect_trace_stops
	trace start --tracer=function -F quiet -F reals -A quiet --trigger=start:colors --trigger=stop:structures
	for request in 'quiet 1' 'colors 0' 'quiet 2' 'reals 1' 'structures 1' 'quiet 3' 'colors 1' 'quiet 4'; do ask "$request" > /dev/null; done
	trace cat --format=json
	[ "$(jq -r 'select(.name == "quiet").args.n' <<< "$output" | tr '\n' ' ')" = '2 4 ' ] || fail 'entries: not what lies between'
	expect_trace_stops
}

@test "a call that takes long stops it, and is the last that is seen" {
	start trace-args -O2 -g
	trace start -F quiet --trigger='stop:slow>500ms' -A slow
	for request in 'quiet 1' 'slow 10' 'quiet 2' 'slow 600000' 'quiet 3'; do ask "$request" > /dev/null; done
	trace cat --format=json
	[ "$(jq -r 'select(.name) | .name + (.args.us // "" | tostring)' <<< "$output" | tr '\n' ' ')" = 'quiet slow10 quiet slow600000 ' ] || fail 'not until the slow call'
	expect_trace_stops
	trace start -F quiet --trigger='start:slow>500ms'
	for request in 'quiet 1' 'slow 10' 'quiet 2' 'slow 600000' 'quiet 3'; do ask "$request" > /dev/null; done
	trace cat --format=json
	[ "$(jq -r '.name // empty' <<< "$output" | tr '\n' ' ')" = 'quiet ' ] || [ "$(jq -r '.name // empty' <<< "$output" | tr '\n' ' ')" = 'slow quiet ' ] || fail 'not from the slow call on'
	expect_trace_stops
}

@test "a snapshot stays while the recording goes on" {
	start trace-args -O2 -g
	trace start -F numbers -A numbers@seventh --buffer=4 --trigger='snapshot:quiet'
	trace cat --snapshot
	expect_status 1
	expect_message 'no trigger has taken a snapshot'
	ask 'numbers 1000' > /dev/null
	ask 'quiet 1' > /dev/null
	for i in 1 2 3 4; do ask threads > /dev/null; done
	for i in $(seq 150); do ask "numbers $i" > /dev/null; done
	trace cat --snapshot --format=json
	[ "$(jq -r '.args.seventh // empty' <<< "$output")" = 1000 ] || fail 'not what was there'
	trace cat --format=json
	[ "$(jq -s 'length > 100' <<< "$output")" = true ] || fail 'nothing since'
	[ "$(jq -rs 'map(select(.args.seventh == 1000)) | length' <<< "$output")" = 1 ] || fail 'the snapshot is no part of all'
	expect_trace_stops
}

@test "triggers that can't be" {
	start trace-args -O2 -g
	for word in begin:quiet start: start quiet 'stop:>5ms'; do
		trace start --trigger="$word"
		expect_status 2 || return
		expect_message "can't be understood" || return
	done
	trace start --trigger=stop:nobody
	expect_status 1
	expect_message "no function 'nobody'"
	trace start --tracer=function --trigger='stop:slow>5ms'
	expect_status 2
	expect_message 'sees no returns'
	expect_fine
}

@test "a tracer that observes begins and ends by triggers, and leaves nothing" {
	local watcher seen=$BATS_TEST_TMPDIR/seen said=$BATS_TEST_TMPDIR/said
	start trace-args -O2 -g
	timeout --kill-after=5 60 "$USPL_BIN/uspl-trace" start -v --tracer=stack --trigger=start:colors --trigger='stop:slow>20ms' "$TARGET" \
		> "$seen" 2> "$said" 3>&- &
	watcher=$!
	until_true 60 grep -qs 'waiting for a trigger' "$said" || fail 'it does not wait'
	ask 'quiet 1' > /dev/null
	! grep -q observing "$said" || fail 'it has begun'
	ask 'colors 0' > /dev/null
	until_true 60 grep -q observing "$said" || fail 'it does not begin'
	ask 'slow 10' > /dev/null
	kill -0 "$watcher" || fail 'a short call has ended it'
	ask 'slow 30000' > /dev/null
	wait "$watcher" || fail "it has failed: $(< "$said")"
	grep -q '^# tracer: stack' "$seen" || fail 'it has printed nothing'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	trace stop
	expect_message 'is not traced'
	trace start --tracer=sched --trigger=snapshot:quiet
	expect_status 2
	tool uspl-trace exec --tracer=sched --trigger=stop:main -- true
	expect_status 1
	expect_message 'only for a process that runs already'
	expect_fine
}

# session FUNCTION - of a program at it: that of entries, or of returns
session() {
	[[ $1 == *:exit ]] && echo exit || echo entry
}

# probe FUNCTION [OPTION]... - puts a program to it that records all
probe() {
	tool uspl-trace probe --at="$1" --session="$(session "$1")" "${@:2}" "$TARGET" "$BATS_TEST_DIRNAME/probe/letters.c"
}

# expect_probes_off SESSION... - ends them; nothing is left
expect_probes_off() {
	local session
	for session; do
		tool uspl-trace mark "$TARGET" off --session="$session"
		expect_status 0 || return
		[[ $output != *'still inside'* ]] || fail 'somebody is inside' || return
	done
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_fine
}

# expect_hit TEXT - a record of the program's ends in it
expect_hit() {
	grep -qF -- ": $1" <<< "$output" || fail "not seen: $1"
}

@test "a user's program gets them typed, and what is returned" {
	start trace-args -O2 -g
	local name
	for name in numbers reals texts colors structures numbers:exit reals:exit texts:exit colors:exit quiet:exit; do
		probe "$name"
		expect_status 0
	done
	ask_each
	ask 'quiet 10'
	trace cat --session=entry
	expect_hit "numbers: tiny=-1 byte=200 small=-300 whole=4000000000 wide=-5000000000 word=$((0x$(printf iuiuiuii | rev | od -An -tx1 | tr -d ' '))) seventh=7 eighth=65"
	expect_hit 'reals: x=0.1 y=0.1 n=3 z=1e+100'
	expect_hit 'texts: first="some "words"" second="edge"'
	expect_hit 'texts: first="(not read)" second="(null)"'
	expect_hit 'colors: color=0 is_on=0'
	expect_hit 'colors: color=5 is_on=1'
	expect_hit 'structures: pair={0x200000001} mixed={0x3ff8000000000000} large={0x9} behind=40 last=41'
	trace cat --session=exit
	expect_hit 'numbers:exit: ret=-1000000230'
	expect_hit 'reals:exit: ret=1e+100'
	expect_hit 'texts:exit: ret="some "words""'
	expect_hit 'colors:exit: ret=6'
	grep -q ': quiet:exit$' <<< "$output" || fail 'what returns nothing has a value'
	expect_probes_off entry exit
}

# expect_passed FUNCTION FILTER NUMBER - so many calls of ask_each pass the filter
expect_passed() {
	probe "$1" --filter="$2"
	expect_status 0 || return
	ask_each || return
	trace cat --session="$(session "$1")"
	[ "$(grep -c " $1: " <<< "$output")" = "$3" ] || fail "not $3 calls of $1 pass '$2'" || return
	expect_probes_off "$(session "$1")"
}

@test "filters by names and types" {
	start trace-args -O2 -g
	expect_passed reals 'x == 0.1 && y == 0.1f && y > 0.1 && z > 9e99' 1
	expect_passed reals 'x > 0.1 || y == 0.1' 0
	expect_passed numbers 'tiny < 0 && byte == 200 && wide < -4999999999 && eighth == 65' 1
	expect_passed texts 'second == "edge"' 1
	expect_passed texts 'second != "edg" && first != "nothing"' 2
	expect_passed reals:exit 'ret > 1e99 && ret < 1e101' 1
	probe numbers --filter='nosuch == 1'
	expect_status 2
	expect_message "'numbers' has no argument 'nosuch'"
	expect_fine
}

@test "without debugging information a user's program gets words, which have no names" {
	start trace-args -O2
	probe numbers --filter='byte == 200'
	expect_status 2
	expect_message "'numbers' has no argument 'byte'"
	expect_message 'there is no debugging information of the function: its arguments are words, arg1 to arg6'
	probe numbers --filter='arg2 == 200'
	expect_status 0
	probe numbers:exit
	expect_status 0
	ask 'numbers 7'
	trace cat --session=entry
	expect_hit 'numbers: arg1=4294967295 arg2=200 arg3='
	trace cat --session=exit
	expect_hit 'numbers:exit: ret=0xffffffffc465351a'
	expect_probes_off entry exit
}
