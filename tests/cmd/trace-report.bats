# SPDX-License-Identifier: GPL-3.0-or-later
# trace-report.bats - the sums that uspl-trace report prints are those of the calls that cat prints
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
