# SPDX-License-Identifier: GPL-3.0-or-later
# reads.bats - what a command reads of a process it reads once, and it asks no process of the
# machine that can't matter
#
# Counts, no timings. Stacks are looked at as often as an attempt is made, and on a busy machine
# there are several: so the best of some rounds counts.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	export FIXTURE=$BATS_FILE_TMPDIR
	cp -r "$USPL_TESTS/bench/target" "$FIXTURE/tree"
	make -s -C "$FIXTURE/tree" CC="$TARGET_CC" target || return
	create "$FIXTURE/tree" "$USPL_TESTS/bench/work.patch"
	expect_status 0 || return
	export UPDATE ID
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	command -v strace > /dev/null || skip 'strace is not installed'
	OTHERS=''
}

teardown() {
	# shellcheck disable=SC2086 # a list of pids
	kill -KILL ${TARGET:-} $OTHERS || true
}

# start - a process with four threads, one of which is busy: TARGET is its pid
start() {
	"$FIXTURE/tree/target" 4 "$BATS_TEST_TMPDIR/gaps" 3>&- &
	TARGET=$!
	until_true 30 has_threads 4 || fail 'the threads are not there'
}

# has_threads N - true once the target has as many
has_threads() {
	local tasks=("/proc/$TARGET"/task/*)
	[ "${#tasks[@]}" = "$1" ]
}

# calls NAME,... TOOL ARG... - runs a tool, and notes its system calls of these names in a file
calls() {
	local no_leaks=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # which strace is in the way of
	TOOL_BY="env ASAN_OPTIONS=$no_leaks strace --seccomp-bpf -f -y -s 0 -e abbrev=none -e signal=none -o $BATS_TEST_TMPDIR/calls -e trace=$1" \
		tool "${@:2}"
	expect_status 0
}

# ratio - of the reads of the target's memory that were noted: so many hundredths of those that
# differ
ratio() {
	awk '/pread64\(.*\/mem>/ || /process_vm_readv\(/ {
		sub(/^[0-9]+ +/, ""); sub(/ = .*/, ""); sub(/, ""\.*/, "")
		all++
		if (!seen[$0]++)
			distinct++
	} END { if (!distinct) exit 1; print int(100 * all / distinct) }' "$BATS_TEST_TMPDIR/calls"
}

@test "an apply reads at most 1.3 times as often as there is something else to read" {
	local round now best=1000
	start
	for round in 1 2 3 4 5; do
		calls pread64,process_vm_readv uspl-apply "$UPDATE" "$TARGET"
		now=$(ratio)
		((best <= now)) || best=$now
		echo "round $round: $now hundredths"
		undo
		expect_status 0
		((best > 130)) || return 0
	done
	fail "the best of five rounds was $best hundredths"
}

@test "processes that are no relatives aren't asked whether they share the memory" {
	local pid
	# As children of one that is no ancestor of the target, and long before it: what was born in
	# the last moment is asked.
	bash -c 'for ((i = 0; i < 100; i++)); do sleep 600 & echo $!; done; wait' > "$BATS_TEST_TMPDIR/others" 3>&- &
	OTHERS=$!
	until_true 30 has_lines 100 || fail 'the others are not there'
	OTHERS+=" $(tr '\n' ' ' < "$BATS_TEST_TMPDIR/others")"
	start
	calls kcmp uspl-apply "$UPDATE" "$TARGET"
	grep -q 'kcmp(' "$BATS_TEST_TMPDIR/calls" || fail 'nobody was asked'
	for pid in $(head -n 20 "$BATS_TEST_TMPDIR/others"); do
		! grep -q "kcmp([0-9<>/a-z]*, ${pid}[^0-9]" "$BATS_TEST_TMPDIR/calls" || fail "pid $pid was asked"
	done
}

# has_lines N - true once so many others are there
has_lines() {
	[ "$(wc -l < "$BATS_TEST_TMPDIR/others")" = "$1" ]
}
