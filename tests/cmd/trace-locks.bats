# SPDX-License-Identifier: GPL-3.0-or-later
# trace-locks.bats - the tracers 'lock', 'sigoff' and 'pool': counts are those of the program, times
# at least those that it slept
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-locks -O2 -g
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace-locks -O2 -g
}

teardown() {
	target_stop
}

# lock NAME COLUMN - of the report's line for that lock: 1 taken, 2 held, 3 longest, 4 waited, 5
# longest wait, 6 kind
lock() {
	awk -v name="$1" -v column="$2" '$7 == name { print $column }' <<< "$output"
}

# at_least MS US - the time in us is as long as so many ms, and not more than three seconds
at_least() {
	awk -v ms="$1" -v us="$2" 'BEGIN { exit !(us >= ms * 1000 && us < 3000000) }' || fail "$2 us are not $1 ms and a little"
}

@test "a mutex: how often it is taken, how long held and waited for; the holder's calls" {
	trace start --tracer=lock
	expect_status 0
	ask 'hold 1000' > /dev/null
	ask 'hold 60000' > /dev/null
	ask 'hold 500' > /dev/null
	trace report
	expect_status 0
	[ "$(lock mutex 1) $(lock mutex 6)" = '3 mutex' ] || fail 'not taken three times'
	at_least 61 "$(lock mutex 2)"
	at_least 60 "$(lock mutex 3)"
	chain=$(grep -A3 'held for .* from hold ' <<< "$output" | tail -3 | awk '{ print $1 }' | tr '\n' ' ')
	[ "$chain" = 'hold_for hold answer ' ] || fail "the chain: $chain"
	ask 'contend 80000' > /dev/null
	trace report
	at_least 50 "$(lock mutex 5)"
	expect_output 'waited for .* in waiter '
	trace report --format=json
	[ "$(jq -rs 'map(select(.name == "mutex"))[0] | "\(.kind) \(.longest_ns >= 60000000) \(.longest_wait_ns >= 50000000) \(.longest_from | sub(" .*"; ""))"' <<< "$output")" = 'mutex true true hold' ] ||
		fail 'as JSON' || return
	[ "$(jq -rs 'map(select(.name == "mutex"))[0] | .longest_to[:2] | map(sub(" .*"; "")) | join(" ")' <<< "$output")" = 'hold_for hold' ] || fail 'the chain as JSON'
	expect_trace_stops
}

@test "while it waits for a condition a thread doesn't hold the mutex" {
	trace start --tracer=lock
	ask 'wait 200000' > /dev/null
	trace report
	[ "$(lock mutex 1)" = 1 ] || fail 'not taken once'
	awk -v us="$(lock mutex 3)" 'BEGIN { exit !(us < 100000) }' || fail "held for $(lock mutex 3) us"
	expect_trace_stops
}

@test "rwlocks, spin locks, and the program's own" {
	trace start --tracer=lock --lock=own_take --unlock=own_give
	expect_status 0
	ask 'others 30000' > /dev/null
	ask 'own 40000' > /dev/null
	trace report
	[ "$(lock rwlock 1) $(lock rwlock 6)" = '2 rwlock' ] || fail rwlock
	at_least 30 "$(lock rwlock 3)"
	[ "$(lock spin 1) $(lock spin 6)" = '1 spin' ] || fail spin
	at_least 30 "$(lock spin 3)"
	[ "$(lock own_lock 1) $(lock own_lock 6)" = '1 own' ] || fail own
	at_least 40 "$(lock own_lock 3)"
	expect_trace_stops
	trace start --tracer=lock --lock=own_take
	expect_status 2
	expect_message 'go together'
	trace start --tracer=lock --lock=own_take --unlock=nobody
	expect_status 1
	expect_message "no function 'nobody'"
}

@test "signals: which, for how long, from where to where" {
	trace start --tracer=sigoff
	expect_status 0
	ask 'block 1000' > /dev/null
	ask 'block 50000' > /dev/null
	trace report
	expect_output ' 2 .* USR1 TERM'
	at_least 51 "$(awk '/USR1 TERM/ { print $2 }' <<< "$output")"
	at_least 50 "$(awk '/USR1 TERM/ { print $3 }' <<< "$output")"
	expect_output 'blocked for .* from block_signals \(target.c'
	grep -A1 'blocked for' <<< "$output" | tail -1 | grep -q 'block_signals' || fail 'no chain'
	trace report --format=json
	[ "$(jq -rs 'map(select(.name == "USR1 TERM"))[0] | "\(.spans) \(.total_ns >= 51000000) \(.longest_to[0] | sub(" .*"; ""))"' <<< "$output")" = '2 true block_signals' ] ||
		fail 'as JSON'
	expect_trace_stops
}

@test "a pool: every item is counted once, each worker's time and latency" {
	trace start --tracer=pool --enqueue=enqueue --run=run_item
	expect_status 0
	ask 'pool 20 5000' > /dev/null
	trace report
	expect_output 'items: 20 queued, 20 begun, 20 done; 0 waiting, at most [0-9]+'
	[ "$(awk 'NR > 3 { run += $3; us += $4 } END { print run, (us >= 100000) }' <<< "$output")" = '20 1' ] || fail 'not all items, or times'
	# Two workers, ten rounds of 5 ms: the last one has waited for at least nine.
	at_least 40 "$(awk 'NR > 3 && $7 > max { max = $7 } END { print max }' <<< "$output")"
	trace report --format=json
	[ "$(jq -rs '"\(.[0].queued) \(.[0].done) \(.[1:-1] | map(.run) | add) \((.[1:-1] | map(.run_ns) | add) >= 100000000) \((.[1:-1] | map(.longest_latency_ns) | max) >= 40000000)"' <<< "$output")" = \
		'20 20 20 true true' ] || fail 'as JSON'
	expect_trace_stops
	trace start --tracer=pool --enqueue=enqueue@arg1 --run=run_item@arg1
	expect_status 0
	ask 'pool 10 2000' > /dev/null
	trace report
	expect_output 'items: 10 queued, 10 begun, 10 done'
	[[ $output != *'seen queued'* ]] || fail 'items are not found again'
	expect_trace_stops
	trace start --tracer=pool --enqueue=enqueue
	expect_status 2
	trace start --tracer=pool --enqueue=enqueue@arg1 --run=run_item
	expect_status 2
	trace start --tracer=pool --enqueue=enqueue --run=nobody
	expect_status 1
	expect_message "no function 'nobody'"
}
