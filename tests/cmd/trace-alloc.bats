# SPDX-License-Identifier: GPL-3.0-or-later
# trace-alloc.bats - the tracer 'alloc': its sums are those of the program's own books
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-alloc -O2
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	start trace-alloc -O2
}

teardown() {
	target_stop
}

# site FUNCTION COLUMN - of the report's line for calls in that function: 1 live bytes, 2 live
# blocks, 3 bytes, 4 calls
site() {
	awk -v name="$1" -v column="$2" '$7 ~ "^" name "[+ ]" || $8 ~ "^" name "[+ ]" { print $column }' <<< "$output"
}

# expect_site FUNCTION LIVE_BYTES LIVE_BLOCKS BYTES CALLS
expect_site() {
	trace report
	expect_status 0 || return
	[ "$(site "$1" 1) $(site "$1" 2) $(site "$1" 3) $(site "$1" 4)" = "$2 $3 $4 $5" ] ||
		fail "of $1: not $2 $3 $4 $5"
}

# leaked FUNCTION - bytes and blocks of that call site that nothing points to, by the last report as
# JSON
leaked() {
	jq -rs "map(select(.site and (.site | test(\"^$1[+ ]\"))))[0] | \"\\(.leaked_bytes) \\(.leaked_blocks)\"" <<< "$output"
}

@test "blocks and bytes by call site, live and freed; sizes; strangers" {
	ask 'malloc 100' > /dev/null
	trace start --tracer=alloc
	expect_status 0
	ask 'free 100' > /dev/null
	ask 'malloc 300' > /dev/null
	expect_site by_malloc 300000 300 300000 300
	ask 'free 200' > /dev/null
	expect_site by_malloc 100000 100 300000 300
	expect_output '100 that were there before'
	grep -qE '^ +1024 +300$' <<< "$output" || fail 'not among the sizes'
	peak=$(sed -n 's/.* at most \([0-9]*\); mapped.*/\1/p' <<< "$output")
	((peak > 290000 && peak < 310000)) || fail "the peak: $peak"
	expect_trace_stops
}

@test "the same as JSON, not cut short" {
	trace start --tracer=alloc
	ask 'malloc 300' > /dev/null
	ask 'free 200' > /dev/null
	trace report --format=json
	expect_status 0
	[ "$(jq -rs 'map(select(.site and (.site | startswith("by_malloc"))))[0] | "\(.live_bytes) \(.live_blocks) \(.bytes) \(.calls)"' <<< "$output")" = '100000 100 300000 300' ] ||
		fail 'the site' || return
	[ "$(jq -rs '.[0] | .live_bytes >= 100000 and .peak_bytes > 290000 and .peak_bytes < 310000' <<< "$output")" = true ] || fail 'sums' || return
	# All that sites have is what there is.
	[ "$(jq -rs '.[0].bytes == (map(select(.site) | .bytes) | add) and .[0].calls == (map(select(.site) | .calls) | add)' <<< "$output")" = true ] || fail 'sites' || return
	[ "$(jq -rs 'map(select(.size_below == 1024))[0].blocks' <<< "$output")" = 300 ] || fail 'sizes' || return
	trace report --format=chrome
	expect_status 1
	expect_message "has no format 'chrome'"
	expect_trace_stops
}

@test "each function that allocates; operator new isn't its malloc" {
	trace start --tracer=alloc
	ask 'calloc 50' > /dev/null
	expect_site by_calloc 500 1 500 1
	ask 'realloc 5000' > /dev/null
	expect_site by_calloc 0 0 500 1
	expect_site by_realloc 5000 1 5000 1
	ask 'realloc 100000' > /dev/null
	expect_site by_realloc 100000 1 105000 2
	ask 'memalign 200' > /dev/null
	expect_site by_memalign 200 1 200 1
	ask 'new 300' > /dev/null
	expect_site by_new 300 1 300 1
	ask delete > /dev/null
	expect_site by_new 0 0 300 1
	expect_output ' 0 that were there before'
	ask 'mmap 10000' > /dev/null
	expect_site by_mmap 12288 1 12288 1
	ask 'munmap 4096' > /dev/null
	expect_site by_mmap 8192 1 12288 1
	expect_trace_stops
}

@test "freed by other threads; an exception out of operator new" {
	trace start --tracer=alloc
	ask threads > /dev/null
	expect_site by_malloc 0 0 100000 1000
	ask throw > /dev/null
	expect_site by_malloc 77 1 100077 1001
	[ -z "$(site by_new 1)" ] || fail 'what failed counts'
	[[ $output != *'could not be followed'* ]] || fail 'calls were missed'
	expect_trace_stops
}

@test "blocks that nothing points to; what is pointed to from wherever isn't one" {
	trace start --tracer=alloc
	ask 'malloc 100' > /dev/null
	ask 'ring 500' > /dev/null
	ask 'middle 1000' > /dev/null
	ask hide > /dev/null
	trace report --leaks --format=json
	expect_status 0
	for site in by_malloc linked held; do
		[ "$(leaked "$site")" = '0 0' ] || fail "$site: $(leaked "$site")" || return
	done
	ask 'lose 500' > /dev/null
	ask unring > /dev/null
	trace report --leaks --format=json
	for site in by_malloc held; do
		[ "$(leaked "$site")" = '0 0' ] || fail "$site: $(leaked "$site")" || return
	done
	# All of the ring point to each other. A word that happens to be left over keeps one of the
	# others, or all of the ring.
	[ "$(leaked linked)" = '28000 500' ] || fail "of the ring: $(leaked linked)" || return
	lost=$(leaked lost)
	((${lost#* } >= 490 && ${lost#* } <= 500 && ${lost% *} == 100 * ${lost#* })) || fail "lost: $lost" || return
	trace report --leaks
	expect_output '# leaks: [0-9]+ bytes in (99[0-9]|1000) blocks that nothing points to'
	grep -qE '^ +28000 +500 +28000 +500  linked' <<< "$output" || fail 'the line of the ring'
	expect_trace_stops
	trace start --tracer=lock
	trace report --leaks
	expect_status 1
	expect_message "the tracer 'lock' knows nothing of leaks"
	expect_trace_stops
}

@test "an allocator of the program's own" {
	trace start --tracer=alloc --malloc=pool_get --free=pool_put
	ask 'pool 100' > /dev/null
	ask 'pool 200' > /dev/null
	expect_site answer 300 2 300 2
	ask put > /dev/null
	expect_site answer 100 1 300 2
	expect_trace_stops
}

@test "what lies in the heap between the blocks" {
	trace start --tracer=alloc
	ask 'malloc 1000' > /dev/null
	trace report
	full=$(sed -n 's/.*: \([0-9]*\)\..* % fragmentation/\1/p' <<< "$output")
	ask 'free 900' > /dev/null
	trace report
	empty=$(sed -n 's/.*: \([0-9]*\)\..* % fragmentation/\1/p' <<< "$output")
	((full < 50 && empty > full && empty > 60)) || fail "fragmentation: $full, then $empty"
	expect_trace_stops
}

@test "between triggers only" {
	trace start --tracer=alloc --trigger=start:mark --trigger=stop:by_new
	ask 'malloc 10' > /dev/null
	trace report
	expect_output 'no trigger has started it yet'
	[ -z "$(site by_malloc 1)" ] || fail 'it has begun'
	ask mark > /dev/null
	ask 'malloc 5' > /dev/null
	ask 'new 5' > /dev/null
	ask 'malloc 3' > /dev/null
	expect_site by_malloc 5000 5 5000 5
	expect_output 'a trigger has stopped it'
	expect_trace_stops
}

@test "sums are no records" {
	trace cat
	expect_status 1
	trace start --tracer=alloc
	trace cat
	expect_status 1
	expect_message "the tracer 'alloc' has sums"
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_status 1
	trace start --tracer=alloc --trigger=snapshot:mark
	expect_status 2
	expect_trace_stops
}
