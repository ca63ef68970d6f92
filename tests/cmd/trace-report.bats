# SPDX-License-Identifier: GPL-3.0-or-later
# trace-report.bats - the sums that uspl-trace report prints are those of the calls that cat prints
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace -O2
}

teardown() {
	[ -z "${SMALL:-}" ] || kill -KILL "$SMALL" 2> /dev/null || :
	[ -z "${LOADED:-}" ] || rm -f "$LOADED"
	target_stop
}

# sums_of FUNCTION - calls, and nanoseconds: all together, the shortest, the mean, what at most one
# call in a hundred takes longer than, the longest; out of the lines of `cat --format=json`
sums_of() {
	jq -sc --arg name "$1" 'map(select(.name == $name).duration_ns) | sort | length as $n |
		[$n, add, .[0], add / $n, .[(99 * $n / 100 | ceil) - 1], .[-1]]' <<< "$calls"
}

# expect_sums FUNCTION - fails unless the report has them; digits that were left out add up
expect_sums() {
	jq -se --argjson want "$(sums_of "$1")" --arg name "$1" '.[] | select(.name == $name) |
		[.calls, .total_ns, .min_ns, .avg_ns, .p99_ns, .max_ns] as $got | [$got, $want] | transpose |
		map(.[0] - .[1] | fabs) | .[0] == 0 and .[1] < $got[0] and (.[2:] | max) < 1.5' <<< "$output" > /dev/null ||
		fail "the report of $1 isn't $(sums_of "$1")"
}

@test "the report adds up what the calls took" {
	local calls name n
	trace start -F outer -F middle -F leaf
	for n in 3 400; do
		expect_answer "work $n" $((7 * n))
		trace record -o "$BATS_TEST_TMPDIR/saved"
		expect_status 0
		# Of a file, since the clock's rate is known the better the longer a process goes.
		tool uspl-trace cat --format=json "$BATS_TEST_TMPDIR/saved"
		calls=$output
		tool uspl-trace report --json "$BATS_TEST_TMPDIR/saved"
		expect_status 0
		for name in outer middle leaf; do
			expect_sums "$name"
		done
		# What a function takes by itself is what is left of it: all of these are within
		# outer.
		[ "$(jq -s '(map(.self_ns // 0) | add) - (map(select(.name == "outer").total_ns) | add) | fabs < 3' <<< "$output")" = true ] ||
			fail 'the times of their own are not the time of all'
	done
	expect_trace_stops
}

# small - makes a program with many small calls, which stops before them, and behind
small() {
	cat > small.c <<- 'C'
		#include <pthread.h>
		#include <signal.h>
		#include <sys/prctl.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(void) { for (int i = 0; i < 1000; i++) sink++; }
		KEPT void parent(void) { for (int i = 0; i < 2000; i++) leaf(); }
		KEPT long deep(int n) { sink++; leaf(); return n ? deep(n - 1) + 1 : 0; }
		static void *run(void *arg) { prctl(PR_SET_NAME, "the worker"); parent(); raise(SIGSTOP); return arg; }
		int main(void)
		{
			pthread_t one;
			raise(SIGSTOP);
			parent();
			deep(20);
			pthread_create(&one, NULL, run, NULL);
			return pthread_join(one, NULL);
		}
	C
	"$TARGET_CC" -O1 -fno-optimize-sibling-calls -pthread -o small small.c
}

# stopped - true when it has stopped
stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$SMALL/status"
}

# works - true when it has its thread
works() {
	cat "/proc/$SMALL"/task/*/comm | grep -q worker
}

# begin_small [OPTION]... - runs it between its two stops, traced
begin_small() {
	cd "$BATS_TEST_TMPDIR" || return
	small
	./small 3>&- &
	SMALL=$!
	until_true 10 stopped || fail 'it does not begin'
	tool uspl-trace start "$@" "$SMALL"
	expect_status 0
	kill -CONT "$SMALL"
	until_true 10 works || fail 'it makes no thread'
	until_true 10 stopped || fail 'it does not come to its end'
}

# sum NAME FILTER - what jq makes of a function's line of the report
sum() {
	jq -sc --arg name "$1" "map(select(.name == \$name))[0] | $2" <<< "$output"
}

@test "what was overwritten is nobody's own time" {
	begin_small --buffer=4 -F parent -F leaf
	tool uspl-trace report --json "$SMALL"
	expect_status 0
	[ "$(sum parent '[.calls, .cut, .self_ns, .total_ns > 100000]')" = '[1,1,0,true]' ] ||
		[ "$(sum parent '[.calls, .cut, .self_ns, .total_ns > 100000]')" = '[2,2,0,true]' ] || fail 'its own time'
	tool uspl-trace report "$SMALL"
	expect_output '# parent: SELF is without [12] calls that began before the oldest record'
	kill -KILL "$SMALL"
}

@test "a function within itself counts once; calls nest, and threads have names, for other programs" {
	begin_small -N '_*'
	tool uspl-trace report --json "$SMALL"
	# As long as the longest, which is the outermost: not some ten times that.
	[ "$(sum deep '[.calls, (.total_ns - .max_ns | fabs) < 2, .avg_ns < .max_ns]')" = '[21,true,true]' ] || fail 'the total'
	tool uspl-trace record -o saved "$SMALL"
	for from in "$SMALL" saved; do
		tool uspl-trace cat --format=chrome "$from"
		[ "$(jq -c '[.traceEvents[] | select(.name == "thread_name") | .args.name] | sort' <<< "$output")" = '["small","the worker"]' ] ||
			fail 'the names of its threads'
		# In thousandths of a microsecond, whole numbers: each call ends before the one
		# does that it is in.
		[ "$(jq '[.traceEvents[] | select(.ph == "X") | { tid, from: (.ts * 1000 | round), to: ((.ts + .dur) * 1000 | round) }]
			| group_by(.tid) | map(sort_by(.from, -.to) | reduce .[] as $c ({ open: [], wrong: 0 };
				.open |= map(select(.to > $c.from)) | if (.open | any(.to < $c.to)) then .wrong += 1 else . end | .open += [$c]) | .wrong)
			| add' <<< "$output")" = 0 ] || fail 'calls cross'
	done
	kill -KILL "$SMALL"
}

@test "the report by other columns, and of the tracer of entries" {
	trace start -F outer -F middle -F leaf
	expect_answer 'work 30' 210
	trace report
	[ "$(awk 'NR > 1 { print $1 }' <<< "$output" | sort -n | tail -n 1)" = 120 ] || fail 'leaf is called most'
	local column=0 key
	for key in calls total self min avg p99 max; do
		column=$((column + 1))
		trace report --sort="$key"
		expect_status 0
		[ "$(awk -v column=$column 'NR > 1 { print $column }' <<< "$output")" = "$(awk -v column=$column 'NR > 1 { print $column }' <<< "$output" | sort -gr)" ] ||
			fail "not by $key"
	done
	trace report --sort=beauty
	expect_status 2
	expect_one_message
	expect_message "can't be sorted by 'beauty'"
	expect_trace_stops
	trace start --tracer=function -F outer -F middle -F leaf
	expect_answer 'work 30' 210
	trace report
	expect_status 0
	[ "$output" = "$(printf '%10s  %s\n' CALLS FUNCTION 120 leaf 30 middle 30 outer)" ] ||
		[ "$output" = "$(printf '%10s  %s\n' CALLS FUNCTION 120 leaf 30 outer 30 middle)" ] || fail 'the calls'
	trace report --json
	[ "$(jq -sc 'map(select(.name) | [.name, .calls, .total_ns]) | sort' <<< "$output")" = '[["leaf",120,null],["middle",30,null],["outer",30,null]]' ] || fail 'JSON'
	trace report --sort=total
	expect_status 1
	expect_message "the tracer 'function' records no durations to sort by"
	expect_trace_stops
}

# known - makes a program in which each line that it reads makes three calls of leaf, two of them
# by outer, and starts it, traced
known() {
	cd "$BATS_TEST_TMPDIR" || return
	cat > known.c <<- 'C'
		#include <stdio.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(void) { sink++; }
		KEPT void outer(void) { leaf(); leaf(); sink++; }
		KEPT void seldom(void) { sink++; }
		int main(void)
		{
			char line[9];
			while (fgets(line, sizeof(line), stdin)) {
				outer();
				leaf();
				if (line[0] == 's')
					seldom();
				puts("done");
				fflush(stdout);
			}
			return 0;
		}
	C
	"$TARGET_CC" -g -O1 -fno-optimize-sibling-calls -o known known.c
	mkfifo asked
	./known < asked > answers 3>&- &
	KNOWN=$! TARGET=$!
	exec 7> asked
	until_true 10 executes known || fail 'it does not begin'
	tool uspl-trace start -F outer -F leaf -F seldom "$KNOWN"
	expect_status 0
}

# answers N - true when that many lines were answered
answers() {
	[ "$(wc -l < answers)" = "$1" ]
}

# known_ends - ends it
known_ends() {
	exec 7>&-
	wait "$KNOWN"
}

@test "callers and callees of a function" {
	known
	echo x >&7
	echo x >&7
	until_true 10 answers 2 || fail 'it does not answer'
	tool uspl-trace report --of=leaf "$KNOWN"
	expect_status 0
	expect_output '# leaf: calls of it, by caller'
	[ "$(awk '/^#/ { part = $0 } $1 ~ /^[0-9]/ { print part "|" $1 " " $NF }' <<< "$output")" = "# leaf: calls of it, by caller|4 outer
# leaf: all calls of it|6 leaf" ] || fail 'leaf'
	tool uspl-trace report --of=outer --json "$KNOWN"
	[ "$(jq -rs 'map(select(.name) | "\(.relation) \(.name) \(.calls)") | join(",")' <<< "$output")" = 'itself outer 2,callee leaf 4' ] || fail 'outer'
	[ "$(jq -s 'map(select(.relation == "callee").total_ns)[0] <= map(select(.relation == "itself").total_ns)[0]' <<< "$output")" = true ] || fail 'times'
	tool uspl-trace report --of=nothing "$KNOWN"
	expect_status 1
	expect_one_message
	expect_message "no call of 'nothing' was recorded"
	tool uspl-trace report --of=leaf --diff=x "$KNOWN"
	expect_status 2
	tool uspl-trace stop "$KNOWN"
	tool uspl-trace start --tracer=function -F leaf "$KNOWN"
	tool uspl-trace report --of=leaf "$KNOWN"
	expect_status 1
	expect_message "the tracer 'function' doesn't record which call made another one"
	known_ends
}

@test "a trace beside an older one" {
	known
	echo x >&7
	until_true 10 answers 1 || fail 'it does not answer'
	tool uspl-trace record -o older "$KNOWN"
	echo s >&7
	echo s >&7
	until_true 10 answers 3 || fail 'it does not answer'
	tool uspl-trace report --diff=older --sort=calls "$KNOWN"
	expect_status 0
	[ "$(awk '$1 ~ /^[0-9]/ { print $1, $2, $9, $10 }' <<< "$output" | sed 's/ $//')" = "9 +6 leaf
3 +2 outer
2 +2 seldom (new)" ] || [ "$(awk '$1 ~ /^[0-9]/ { print $1, $2, $9, $10 }' <<< "$output" | sed 's/ $//')" = "9 +6 leaf
2 +2 seldom (new)
3 +2 outer" ] || fail 'the calls'
	tool uspl-trace record -o newer "$KNOWN"
	tool uspl-trace report --diff=newer --json older
	[ "$(jq -rcs 'map(select(.name) | [.name, .calls, .before.calls]) | sort' <<< "$output")" = '[["leaf",3,9],["outer",1,3],["seldom",0,2]]' ] || fail 'JSON'
	tool uspl-trace report --diff=newer older
	expect_output 'seldom \(gone\)'
	tool uspl-trace report --diff=/dev/null "$KNOWN"
	expect_status 3
	expect_one_message
	tool uspl-trace stop "$KNOWN"
	tool uspl-trace start --tracer=function -F leaf "$KNOWN"
	tool uspl-trace report --diff=older "$KNOWN"
	expect_status 1
	expect_message "'older' can't be compared: only one of both traces has durations"
	known_ends
}

@test "where functions are in the source, of a process and of a saved trace" {
	known
	echo x >&7
	until_true 10 answers 1 || fail 'it does not answer'
	tool uspl-trace report --lines "$KNOWN"
	expect_output 'leaf \(known.c:4\)'
	tool uspl-trace record -o saved "$KNOWN"
	known_ends
	rm known known.c
	tool uspl-trace report --lines --json saved
	[ "$(jq -rcs 'map(select(.name) | [.name, .file, .line]) | sort' <<< "$output")" = '[["leaf","known.c",4],["outer","known.c",5]]' ] || fail 'the saved trace'
	tool uspl-trace report saved
	[[ $output != *known.c* ]] || fail 'not asked for'
}

@test "JSON says what was lost, and that it is complete" {
	known
	echo x >&7
	until_true 10 answers 1 || fail 'it does not answer'
	for command in cat report; do
		tool uspl-trace $command --json "$KNOWN"
		[ "$(tail -n 1 <<< "$output" | jq -c '[.kind, .version, .tracer, .pid, .lost]')" = "[\"end\",1,\"graph\",$KNOWN,0]" ] || fail "$command"
	done
	known_ends
	begin_small --buffer=4 -F parent -F leaf
	for command in cat report; do
		tool uspl-trace $command --json "$SMALL"
		[ "$(tail -n 1 <<< "$output" | jq '.lost > 1000 and .lost == .overwritten + .unrecorded')" = true ] || fail "$command: losses"
	done
	kill -KILL "$SMALL"
}

@test "stop keeps the records, or says that they are gone" {
	begin_small -F parent -F leaf -F deep
	tool uspl-trace stop --format=pictures -o saved "$SMALL"
	expect_status 2
	expect_one_message
	tool uspl-trace stop --format=html "$SMALL"
	expect_status 2
	tool uspl-trace stop -o saved "$SMALL" 1
	expect_status 2
	# What can't be written ends the stop: the records stay until they are kept, or not wanted.
	tool uspl-trace stop -o no/such/folder "$SMALL"
	[ "$status" != 0 ] || fail 'it says nothing'
	expect_message 'nothing is traced any more, and the records stay'
	tool uspl-trace stop --json -o saved "$SMALL"
	expect_status 0
	[ "$(jq -c '[.state, .saved]' <<< "$output")" = '["off","saved"]' ] || fail json
	tool uspl-trace report --json saved
	expect_status 0
	[ "$(sum leaf .calls) $(sum parent .calls)" = '4021 2' ] || fail 'other calls'
	tool uspl-trace status
	[[ $output != *$SMALL* ]] || fail 'something stays'
}

@test "an open call is open in what stop keeps" {
	cd "$BATS_TEST_TMPDIR" || return
	cat > waits.c <<- 'C'
		#include <signal.h>
		#include <unistd.h>
		static volatile long sink;
		__attribute__((noinline)) void leaf(void) { sink++; }
		__attribute__((noinline)) void loop(int n) { sink += n; while (sink) { leaf(); usleep(n); } sink++; }
		int main(void) { raise(SIGSTOP); loop(1000); return 0; }
	C
	"$TARGET_CC" -O1 -o waits waits.c
	./waits 3>&- &
	SMALL=$!
	until_true 10 stopped || fail 'it does not stop'
	tool uspl-trace start -F loop -F leaf "$SMALL"
	expect_status 0
	kill -CONT "$SMALL"
	begun() { "$USPL_BIN/uspl-trace" cat "$SMALL" | grep -q leaf; }
	until_true 20 begun || fail 'it does not begin'
	tool uspl-trace stop -o page.html "$SMALL"
	expect_status 0
	expect_output '^page.html: [0-9]+ calls'
	[[ $output != *'is gone'* ]] || fail 'it says that the records are gone'
	# 2: open
	grep -q '"calls":\[[0-9]*,[0-9]*,[0-9]*,2,' page.html || fail 'the loop is not open'
	tool uspl-trace start -F leaf "$SMALL"
	tool uspl-trace stop "$SMALL"
	expect_output "what was recorded is gone \('--output=FILE' keeps it\)"
	tool uspl-trace start --tracer=count -F leaf "$SMALL"
	tool uspl-trace stop -o saved "$SMALL"
	expect_status 1
	expect_message "for tracers that record calls"
	tool uspl-trace stop "$SMALL"
	[[ $output != *'is gone'* ]] || fail 'sums are no records'
	kill "$SMALL"
}

# start_slowly - another tool has begun to start; it goes on when the file $LOADED is gone
start_slowly() {
	! nm -D "$USPL_BIN/uspl" | grep -q __asan_init || skip 'the sanitizer is preloaded first'
	LIBRARY=$BATS_TEST_TMPDIR/loaded.so
	"$TARGET_CC" -O1 -shared -fPIC -I"$USPL_TESTS/../include" -o "$LIBRARY" "$USPL_TESTS/lib/loaded.c"
	export LOADED=$BATS_TEST_TMPDIR/loaded
	LD_PRELOAD=$LIBRARY "$USPL_BIN/uspl-trace" start -F leaf "$TARGET" > "$BATS_TEST_TMPDIR/start" 2>&1 3>&- &
	SLOW=$!
	[ -n "${LOADED_DIES:-}" ] || until_true 20 test -e "$LOADED"
}

@test "a report while another tool starts waits for it" {
	start_slowly
	"$USPL_BIN/uspl-trace" report --json "$TARGET" > "$BATS_TEST_TMPDIR/report" 2>&1 3>&- &
	local report=$!
	# It has looked, and sleeps until it looks again (clock_nanosleep).
	until_true 20 grep -qs '^230 ' "/proc/$report/syscall"
	rm "$LOADED"
	wait "$report" || fail "the report failed: $(cat "$BATS_TEST_TMPDIR/report")"
	wait "$SLOW" || fail "$(cat "$BATS_TEST_TMPDIR/start")"
	expect_trace_stops
}

@test "a report while another tool takes too long to start says so" {
	start_slowly
	trace report
	expect_status 1
	expect_message "another uspl is starting to trace pid $TARGET"
	rm "$LOADED"
	wait "$SLOW"
	expect_trace_stops
}

@test "a report on what a tool that died has left of its start" {
	LOADED_DIES=1 start_slowly
	wait "$SLOW" || :
	trace report
	expect_status 1
	expect_message "pid $TARGET is not traced: a start didn't come to its end"
	trace cat
	expect_status 1
	trace stop
	expect_status 0
	expect_trace_ended
}
