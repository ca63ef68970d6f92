# SPDX-License-Identifier: GPL-3.0-or-later
# trace-top.bats - uspl-trace top: its tables are what was called between them, its screen does what
# keys say (in a terminal that tmux makes), and nothing is left however it ends
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-top -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	source "$BATS_TEST_DIRNAME/../lib/terminal.bash"
	start trace-top -O2
}

teardown() {
	terminal_end
	target_stop
}

# batch OPTION... - tables, in the background; TOP is its pid
batch() {
	TABLES=$BATS_TEST_TMPDIR/tables
	rm -f "$TABLES"
	"$USPL_BIN/uspl-trace" top --interval=50ms "$@" "$TARGET" > "$TABLES" 2> "$TABLES.err" 3>&- &
	TOP=$!
	until_true 60 [ -s "$TABLES" ] || fail "there is no table: $(cat "$TABLES.err")"
}

is_untraced() {
	[ "$(text_sum)" = "$SUM" ]
}

# counted FUNCTION - how many calls of it all tables have
counted() {
	jq -s --arg name "$1" 'map(select(.name == $name).calls) | add // 0' "$TABLES"
}

has_counted() {
	[ "$(counted "$1")" = "$2" ]
}

# screen OPTION... - top in a terminal of 100 columns and 20 lines
screen() {
	terminal_run 100 20 "'$USPL_BIN/uspl-trace' top --interval=50ms $* $TARGET"
	expect_shown 'FUNCTION'
}

# expect_ended - the screen is over, with status 0, and nothing is traced
expect_ended() {
	expect_screen_ended 0
	expect_trace_ended
}

@test "tables have every call once, whatever their intervals" {
	batch --json
	for ((i = 0; i < 20; i++)); do ask "work $((i * 37))"; done
	until_true 60 has_counted parent 20 || fail "parent: $(counted parent)"
	until_true 60 has_counted leaf $((190 * 37)) || fail "leaf: $(counted leaf)"
	kill "$TOP"
	wait "$TOP" || fail "status $?"
	has_counted leaf $((190 * 37)) || fail "leaf: $(counted leaf)"
	[ "$(jq -s 'map(select(.kind == "table")) | all(.lost == 0 and .duration_ns > 0 and .pid == '"$TARGET"')' "$TABLES")" = true ] ||
		fail 'tables say something else'
	[ "$(jq -s 'map(select(.name == "parent")) | all(.total_ns >= .self_ns and .max_ns >= .avg_ns and .module == "target")' "$TABLES")" = true ] ||
		fail 'times contradict each other'
	expect_trace_ended
}

@test "text: sorted, filtered, so many tables of so many lines" {
	tool uspl-trace top --interval=20ms --count=3 "$TARGET"
	expect_status 0
	[ "$(grep -c "^# pid $TARGET target, " <<< "$output")" = 3 ] || fail 'there are other tables'
	batch --sort=calls --filter='*e[an]*' --rows=1
	until_true 60 called_often || fail "$(tail "$TABLES")"
	kill "$TOP"
	wait "$TOP" || fail "status $?"
	# Where both are leaf comes first, since it is called more often.
	! grep -q ' parent$\| answer$' "$TABLES" || fail "$(cat "$TABLES")"
	batch --sort=name --filter='*e[an]*'
	until_true 60 called_often || fail "$(tail "$TABLES")"
	kill "$TOP"
	wait "$TOP" || fail "status $?"
	grep -A 1 ' leaf$' "$TABLES" | grep -q ' parent$' || fail "$(cat "$TABLES")"
	! grep -q ' answer$' "$TABLES" || fail 'more is shown than was asked for'
	tool uspl-trace top --sort=nosuch "$TARGET"
	expect_status 2
	expect_message "can't be sorted by 'nosuch'"
	expect_trace_ended
}

called_often() {
	ask 'work 100'
	grep -q ' leaf$' "$TABLES"
}

@test "it is ended by signals, by a kill of the command, and by a reader that goes" {
	local signal
	for signal in INT TERM HUP; do
		batch --json
		kill -"$signal" "$TOP"
		wait "$TOP" || fail "$signal: status $?"
		expect_trace_ended
	done
	batch
	kill -KILL "$TOP"
	wait "$TOP" || :
	until_true 60 is_untraced || fail 'a killed one leaves the process traced'
	until_true 60 expect_trace_gone > /dev/null || expect_trace_gone
	"$USPL_BIN/uspl-trace" top --interval=20ms "$TARGET" 2> /dev/null 3>&- | head -n 1 > "$BATS_TEST_TMPDIR/head"
	grep -q '^# pid' "$BATS_TEST_TMPDIR/head" || fail 'there was no table'
	expect_trace_ended
}

@test "the process ends: so does it" {
	batch --json
	send end
	wait "$TOP" || fail "status $?: $(cat "$TABLES.err")"
}

@test "a profile that goes on already stays; another tracer is left alone" {
	trace start --tracer=profile
	expect_status 0
	ask 'work 5'
	tool uspl-trace top --interval=20ms --count=2 "$TARGET"
	expect_status 0
	# What was called before isn't in its tables.
	[[ $output != *leaf* ]] || fail 'old calls are shown'
	trace report
	expect_calls leaf 5
	expect_trace_stops
	trace start
	tool uspl-trace top "$TARGET"
	expect_status 1
	expect_message "is traced already, not by 'profile'"
	expect_one_message
	trace cat
	expect_status 0
	expect_trace_stops
}

@test "the profile is stopped by another command: it says so and ends" {
	batch --json
	trace stop
	expect_status 0
	! wait "$TOP" || fail 'it ends well'
	grep -q 'is traced no more' "$TABLES.err" || fail "$(cat "$TABLES.err")"
	expect_trace_ended
}

@test "the screen: sorted by keys, filtered, another size, paused" {
	ask hold
	# Each table stays long enough to be seen.
	screen --interval=500ms
	# Open calls are there all the time.
	ask 'work 1000'
	expect_shown 'by self'
	press c
	expect_shown 'by calls'
	until_true 60 first_is leaf 'work 1000' || fail "$(shown)"
	press n
	expect_shown 'by name'
	until_true 60 first_is answer 'work 10' || fail "$(shown)"
	press /
	press wait
	press Enter
	expect_shown 'filter: wait, '
	until_true 60 shows_no ' answer$' || fail "$(shown)"
	press Escape
	until_true 60 first_is answer 'work 10' || fail "$(shown)"
	press h
	expect_shown 'stop reading, and go on'
	resize 60 10
	until_true 60 fits 10 || fail "$(shown)"
	press Space
	expect_shown 'paused'
	press Space
	until_true 60 shows_no 'paused' || fail "$(shown)"
	press q
	expect_ended
	ask release
}

# first_is FUNCTION REQUEST - true if the uppermost one is that, while the target works
first_is() {
	ask "$2"
	[ "$(shown | sed -n '/FUNCTION/{n;p}' | awk '{ print $NF }')" = "$1" ]
}

# fits LINES - true if the line of keys is the last one
fits() {
	shown | sed -n "$1p" | grep -q '^s c t a'
}

@test "the screen: callers of what is open, and theirs" {
	ask hold
	screen --filter=wait_here
	# A call that began before it was traced isn't known.
	ask release
	press C-c
	expect_ended
	tmux -S "$SOCKET" kill-server
	until_true 60 [ ! -S "$SOCKET" ] || :
	screen --filter=wait_here
	ask hold
	expect_shown ' 1  wait_here$'
	press Enter
	expect_shown 'callers of wait_here: '
	expect_shown ' 100.0  first'
	press Enter
	expect_shown 'callers of first: '
	expect_shown ' 100.0  second'
	press Escape
	expect_shown ' wait_here$'
	ask release
	press q
	expect_ended
}

@test "a name doesn't act on the terminal" {
	screen
	until_true 60 odd_is_shown || fail "$(shown)"
	press q
	expect_ended
	batch
	until_true 60 odd_is_printed || fail "$(cat "$TABLES")"
	kill "$TOP"
	wait "$TOP"
	! grep -q $'\x1b' "$TABLES" || fail 'an escape is printed'
	expect_trace_ended
}

odd_is_shown() {
	ask 'odd 3'
	shows 'odd\\x1b\[2Jname$'
}

odd_is_printed() {
	ask 'odd 3'
	grep -q 'odd\\x1b\[2Jname$' "$TABLES"
}

@test "the terminal is gone, or isn't known" {
	screen
	tmux -S "$SOCKET" kill-server
	until_true 60 is_untraced || fail 'the process stays traced'
	until_true 60 expect_trace_gone > /dev/null || expect_trace_gone
	run script -qec "TERM=nosuch '$USPL_BIN/uspl-trace' top $TARGET" /dev/null < /dev/null
	[ "$status" = 1 ] || fail "status $status"
	[[ $output == *'a terminal that it knows'* ]] || fail 'it says something else'
	expect_trace_ended
}
