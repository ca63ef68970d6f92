# SPDX-License-Identifier: GPL-3.0-or-later
# trace-back.bats - after a trace the code's pages are those of the files again
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
	cd "$BATS_TEST_TMPDIR" || return
	{
		echo '#include <stdio.h>'
		for i in $(seq 0 199); do
			echo "__attribute__((noinline, aligned(1024))) int f$i(int n) { return n * $i + getpid(); }"
		done
		echo 'int main(void) { char line[9]; while (puts("ready"), fflush(stdout), fgets(line, 9, stdin)) {'
		for i in $(seq 0 199); do echo "f$i(3);"; done
		echo '} }'
	} > many.c
	$TARGET_CC -w -O1 -o many many.c
	mkfifo ask
	./many < ask > said 3>&- &
	PID=$!
	exec 7> ask
	until_true 10 grep -q ready said || fail 'it does not begin'
}

teardown() {
	kill -KILL "$PID" 2> /dev/null || true
	exec 7>&-
}

# copies - KB of the program's code that are the process's own
copies() {
	awk '/^[0-9a-f]+-/ { code = $2 ~ /x/ && $6 ~ /many$/ } /^Anonymous:/ && code { n += $2 } END { print n + 0 }' "/proc/$PID/smaps"
}

# at NAME - where the function lies in the process
at() {
	local base
	base=$(awk '$6 ~ /many$/ { sub("-.*", "", $1); print $1; exit }' "/proc/$PID/maps")
	printf '%d\n' $((0x$base + 0x$(nm many | awk -v name="$1" '$3 == name { print $1 }')))
}

@test "what stop has put back is the file's again, but for a page on which a thread worked for the tool" {
	[ "$(copies)" = 0 ] || fail "before: $(copies) KB"
	for tracer in graph function profile; do
		tool uspl-trace start --tracer="$tracer" "$PID"
		expect_status 0
		[ "$(copies)" -ge 200 ] || fail "traced: $(copies) KB"
		tool uspl-trace stop "$PID"
		expect_status 0
		[ "$(copies)" -le 4 ] || fail "after $tracer: $(copies) KB"
	done
	: > said
	echo >&7
	until_true 10 grep -q ready said || fail 'it does not go on'
}

@test "a page that somebody else has changed meanwhile stays as it is" {
	tool uspl-trace start "$PID"
	expect_status 0
	where=$(($(at f77) + 9))
	printf '\314' | dd of="/proc/$PID/mem" bs=1 seek="$where" conv=notrunc status=none
	tool uspl-trace stop "$PID"
	expect_status 0
	[ "$(dd if="/proc/$PID/mem" bs=1 skip="$where" count=1 status=none | od -An -tx1)" = ' cc' ] || fail 'the byte is gone'
	[ "$(copies)" -le 8 ] || fail "$(copies) KB"
}
