# SPDX-License-Identifier: GPL-3.0-or-later
# trace-back.bats - after a trace the code's pages are those of the files again
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
	source "$BATS_TEST_DIRNAME/../lib/pages.bash"
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
	many_start ready
}

teardown() {
	many_end
}

@test "what stop has put back is the file's again, but for a page on which a thread worked for the tool" {
	[ "$(copies)" = 0 ] || fail "before: $(copies) KB"
	for tracer in graph function profile; do
		tool uspl-trace start --tracer="$tracer" "$TARGET"
		expect_status 0
		[ "$(copies)" -ge 200 ] || fail "traced: $(copies) KB"
		tool uspl-trace stop "$TARGET"
		expect_status 0
		[ "$(copies)" -le 4 ] || fail "after $tracer: $(copies) KB"
	done
	: > said
	echo >&7
	until_true 10 grep -q ready said || fail 'it does not go on'
}

@test "a page that somebody else has changed meanwhile stays as it is" {
	tool uspl-trace start "$TARGET"
	expect_status 0
	change_byte f77
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_changed_byte
	[ "$(copies)" -le 8 ] || fail "$(copies) KB"
}
