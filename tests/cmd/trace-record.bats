# SPDX-License-Identifier: GPL-3.0-or-later
# trace-record.bats - record --for: what comes is saved while it comes, and what is lost is counted
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	cat > "$BATS_FILE_TMPDIR/steady.c" <<- 'C'
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT long leaf(long n) { sink++; return n; }
		KEPT void waiter(void) { leaf(1); raise(SIGSTOP); sink++; }
		int main(int argc, char **argv)
		{
			raise(SIGSTOP);
			for (int i = 1; i < 100000; i++) {
				leaf(i);
				if (i % 500 == 0)
					usleep(1000);
			}
			if (argc > 1)
				kill(getpid(), atoi(argv[1]));
			waiter();
			return 0;
		}
	C
	"$TARGET_CC" -g -O1 -o "$BATS_FILE_TMPDIR/steady" "$BATS_FILE_TMPDIR/steady.c"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	kill -KILL "$STEADY" || true
}

stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$STEADY/status"
}

# begin ARGS [OPTION]... - runs the program up to its first stop, traced
begin() {
	# shellcheck disable=SC2086 # a list of words
	"$BATS_FILE_TMPDIR/steady" $1 3>&- &
	STEADY=$!
	until_true 10 stopped || fail 'it does not begin'
	tool uspl-trace start --buffer=64 "${@:2}" "$STEADY"
	expect_status 0
}

# recording - true when the tool has made its files and reads
recording() {
	find "/proc/$RECORD/fd" -lname '*/saved*deleted*' 2> /dev/null | grep -q .
}

# record TIME [FILE] - begins to record it
record() {
	"$USPL_BIN/uspl-trace" record "--for=$1" -o "${2:-saved}" "$STEADY" > said 2> lost 3>&- &
	RECORD=$!
	until_true 10 recording || fail 'it does not record'
}

# expect_all - every call is in the file, or is counted as lost
expect_all() {
	tool uspl-trace report --json saved
	expect_status 0
	[ "$(jq -s 'map(select(.name == "leaf").calls)[0] + map(select(.kind == "end").lost)[0]' <<< "$output")" = 100000 ] ||
		fail "of 100000 calls there are: $output"
	# The ring has room for 4096.
	[ "$(jq 'select(.name == "leaf").calls > 8192' <<< "$output")" = true ] || fail 'no more than the ring had'
}

@test "all calls for a time, which ^C ends" {
	begin '' -F leaf -F waiter
	record 60
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end'
	kill -INT "$RECORD"
	wait "$RECORD" || fail 'it fails'
	grep -q '^saved: [0-9]* calls$' said || fail "it says: $(cat said)"
	expect_all
	[ "$(jq -c 'select(.name == "waiter") | [.calls, .open]' <<< "$output")" = '[0,1]' ] || fail 'the open call'
	# What has no name isn't left behind.
	[ "$(echo saved*)" = saved ] || fail 'other files'
	tool uspl-trace record -o page.html saved
	expect_status 0
}

# expect_arguments FILE - records arguments to it, and fails unless they are those of their calls
expect_arguments() {
	begin '' -F leaf -A leaf@n
	record 60 "$1"
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end' || return
	kill -INT "$RECORD"
	wait "$RECORD" || fail 'it fails' || return
	tool uspl-trace cat --json "$1"
	expect_status 0 || return
	jq -se 'map(select(.name == "leaf" and .args)) | length > 4096' <<< "$output" > /dev/null ||
		fail 'none are there' || return
	jq -se '[.[] | select(.name == "leaf" and .args).args | to_entries[0].value] | .[:-1] | . == sort' <<< "$output" > /dev/null ||
		fail 'they are those of other calls'
}

@test "arguments, too" {
	expect_arguments saved
}

@test "a process that ends ends it" {
	begin 9 -F leaf
	record 60
	kill -CONT "$STEADY"
	wait "$RECORD" || fail 'it fails'
	tool uspl-trace report --json saved
	expect_status 0
	[ "$(jq 'select(.name == "leaf").calls > 8192' <<< "$output")" = true ] || fail "too few: $output"
}

@test "the entries of the tracer function, with their callers" {
	begin '' --tracer=function -F leaf
	record 60
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end'
	kill -INT "$RECORD"
	wait "$RECORD" || fail 'it fails'
	tool uspl-trace cat --json saved
	[ "$(jq -r 'select(.caller == "main").name' <<< "$output" | sort -u)" = leaf ] || fail 'no callers'
}

@test "a process that isn't traced is, for as long as it is recorded" {
	"$BATS_FILE_TMPDIR/steady" 3>&- &
	STEADY=$!
	until_true 10 stopped || fail 'it does not begin'
	"$USPL_BIN/uspl-trace" record --for=60s -F leaf -o saved "$STEADY" > said 2> lost 3>&- &
	RECORD=$!
	until_true 10 grep -q '^tracing pid' said || fail 'it does not record'
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end'
	tool uspl-trace record --for=1s -F leaf -o other "$STEADY"
	expect_status 2
	expect_message 'was chosen when tracing was started'
	kill -INT "$RECORD"
	wait "$RECORD" || fail 'it fails'
	tool uspl-trace report --json saved
	[ "$(jq -s 'map(select(.name == "leaf").calls)[0]' <<< "$output")" = 100000 ] || fail "$output"
	[ "$(jq -s 'map(select(.kind == "end").lost)[0]' <<< "$output")" = 0 ] || fail 'some are lost'
	tool uspl-trace cat "$STEADY"
	expect_status 1
	expect_message 'is not traced'
	# With what a wrong command line says nothing is started.
	tool uspl-trace record --for=1s -o x.html "$STEADY"
	expect_status 2
	tool uspl-trace record --for=1s -F nothing -o x "$STEADY"
	expect_message 'no function of pid'
}

@test "what it refuses" {
	begin '' -F leaf
	local line
	while read -r line; do
		# shellcheck disable=SC2086 # a list of words
		tool uspl-trace record --for=1 $line
		expect_status 2
		expect_one_message
	done <<- END
		$STEADY
		-o x.html $STEADY
		-o x --format=ctf $STEADY
	END
	tool uspl-trace record -o saved "$STEADY"
	tool uspl-trace record --for=1 -o other saved
	expect_status 2
	expect_message "a file doesn't grow"
	tool uspl-trace record --for=0.2 -o no/such/folder "$STEADY"
	expect_status 3
	expect_one_message
}

# expect_frame FILE - fails unless it begins as zstd does
expect_frame() {
	[ "$(head -c 4 "$1" | od -An -tx1)" = ' 28 b5 2f fd' ] || fail "'$1' is not packed"
}

# expect_same_file SUBCOMMAND OPTION... - fails unless the packed file says what the plain one does
expect_same_file() {
	tool uspl-trace "$@" saved
	expect_status 0 || return
	local plain=$output
	tool uspl-trace "$@" packed.zst
	expect_status 0 || return
	[ "$output" = "$plain" ] || fail 'the packed file says something else'
}

@test "a trace that is packed" {
	begin '' -F leaf -F waiter -A leaf@n
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end'
	tool uspl-trace record -o saved "$STEADY"
	expect_status 0
	tool uspl-trace record -o packed.zst saved
	expect_status 0
	expect_frame packed.zst
	[ "$(($(stat -c %s packed.zst) * 2))" -lt "$(stat -c %s saved)" ] || fail 'it is not smaller'
	expect_same_file report --json
	expect_same_file cat --json
	tool uspl-trace report --diff=packed.zst saved
	expect_status 0
	# By another name, it is known by what is in it.
	mv packed.zst packed
	tool uspl-trace report packed
	expect_status 0
	# Cut, damaged, and not ours.
	head -c -20 packed > cut.zst
	tool uspl-trace report cut.zst
	expect_status 3
	expect_message "'cut.zst' is cut short"
	head -c 1000 packed > damaged.zst
	head -c 1000 saved >> damaged.zst
	tool uspl-trace report damaged.zst
	expect_status 3
	expect_message "'damaged.zst' is "
	tool uspl-trace record --format=chrome -o packed.zst saved
	expect_status 2
	expect_message "'.zst' is for the form 'uspl' only"
	tool uspl-trace stop -o rest.zst "$STEADY"
	expect_status 0
	expect_frame rest.zst
}

@test "calls for a time, packed as they come" {
	begin '' -F leaf -F waiter
	record 60 saved.zst
	kill -CONT "$STEADY"
	until_true 30 stopped || fail 'it does not come to its end'
	kill -INT "$RECORD"
	wait "$RECORD" || fail "it fails: $(cat lost)"
	expect_frame saved.zst
	mv saved.zst saved
	expect_all
}

@test "arguments, packed as they come" {
	expect_arguments saved.zst
	expect_frame saved.zst
}
