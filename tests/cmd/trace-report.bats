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
	target_stop
}

# sums_of FUNCTION - calls, and microseconds: all together, the shortest, the mean, what at most one
# call in a hundred takes longer than, the longest; out of the lines of `cat --format=json`
sums_of() {
	jq -sc --arg name "$1" 'map(select(.function == $name).duration_us) | sort | length as $n |
		[$n, add, .[0], add / $n, .[(99 * $n / 100 | ceil) - 1], .[-1]]' <<< "$calls"
}

# expect_sums FUNCTION - fails unless the report has them; digits that were left out add up
expect_sums() {
	jq -se --argjson want "$(sums_of "$1")" --arg name "$1" '.[] | select(.name == $name) |
		[.calls, .total_us, .min_us, .avg_us, .p99_us, .max_us] as $got | [$got, $want] | transpose |
		map(.[0] - .[1] | fabs) | .[0] == 0 and .[1] < $got[0] * 0.001 and (.[2:] | max) < 0.0015' <<< "$output" > /dev/null ||
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
		[ "$(jq -s '(map(.self_us) | add) - (map(select(.name == "outer").total_us) | add) | fabs < 0.003' <<< "$output")" = true ] ||
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
	[ "$(sum parent '[.calls, .cut, .self_us, .total_us > 100]')" = '[1,1,0,true]' ] ||
		[ "$(sum parent '[.calls, .cut, .self_us, .total_us > 100]')" = '[2,2,0,true]' ] || fail 'its own time'
	tool uspl-trace report "$SMALL"
	expect_output '# parent: SELF is without [12] calls that began before the oldest record'
	kill -KILL "$SMALL"
}

@test "a function within itself counts once; calls nest, and threads have names, for other programs" {
	begin_small -N '_*'
	tool uspl-trace report --json "$SMALL"
	# As long as the longest, which is the outermost: not some ten times that.
	[ "$(sum deep '[.calls, (.total_us - .max_us | fabs) < 0.002, .avg_us < .max_us]')" = '[21,true,true]' ] || fail 'the total'
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
	[ "$(jq -sc 'map([.name, .calls, .total_us]) | sort' <<< "$output")" = '[["leaf",120,null],["middle",30,null],["outer",30,null]]' ] || fail 'JSON'
	trace report --sort=total
	expect_status 1
	expect_message "the tracer 'function' records no durations to sort by"
	expect_trace_stops
}
