# SPDX-License-Identifier: GPL-3.0-or-later
# trace-exec.bats - a program that is observed from its first instruction
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	cd "$BATS_TEST_TMPDIR" || return
	cat > begin.c <<- 'C'
		#include <unistd.h>
		volatile unsigned long sink;
		__attribute__((constructor)) static void early(void) { for (int i = 0; i < 50; i++) sink += (unsigned long)getppid(); }
		__attribute__((noinline)) void burn(void) { for (unsigned long i = 0; i < 900000000; i++) sink += i; }
		int main(int argc, char **argv) { (void)argv; if (argc > 1) burn(); return write(1, "said\n", 5) == 5 ? 7 : 1; }
	C
	"$TARGET_CC" -O1 -o begin begin.c
}

@test "every system call, from the dynamic linker's first on, as strace counts them" {
	run strace -c -o counted ./begin
	tool uspl-trace exec --tracer=syscall --format=json --output=seen -- ./begin
	expect_status 7
	[ "$output" = said ] || fail 'its own output'
	for call in getppid openat mmap mprotect write; do
		[ "$(jq -s "map(select(.syscall == \"$call\")) | length" seen)" = "$(awk -v call="$call" '$NF == call { print $4 }' counted)" ] ||
			fail "$call: $(grep -c "\"$call\"" seen), and strace says: $(grep "$call" counted)"
	done
	[ "$(jq -rs '.[0].syscall' seen)" = brk ] || fail 'it does not begin with the first'
}

@test "samples, and the status of a program that a signal ends" {
	tool uspl-trace exec --tracer=sample --format=folded --output=seen -- ./begin slowly
	expect_status 7
	[ "$(awk '/;main;burn( |;)/ { n += $NF } END { print n + 0 }' seen)" -gt 50 ] || fail "burn: $(cat seen)"
	# shellcheck disable=SC2016
	tool uspl-trace exec --tracer=sched -- sh -c 'kill -KILL $$'
	expect_status 137
}

@test "what can't be" {
	tool uspl-trace exec --tracer=sample -- ./no-such-program
	expect_status 3
	expect_one_message
	expect_message "cannot run './no-such-program': No such file"
	tool uspl-trace exec -- ./begin
	expect_status 1
	expect_message "'graph' can't begin with a program"
	[ -z "$output" ] || fail 'it was run'
	tool uspl-trace exec --tracer=sample --output=no/such/folder -- ./begin
	expect_status 3
	[ -z "$output" ] || fail 'it was run'
	tool uspl-trace exec --tracer=sample
	expect_status 2
	expect_one_message
	tool uspl-trace exec --tracer=sample --time=never -- ./begin
	expect_status 2
	[ -z "$output" ] || fail 'it was run'
}
