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

# hooked WAY [OPTION]... - runs the program that ends in such a way with its functions traced; what
# is recorded is in seen
hooked() {
	tool uspl-trace exec --output=seen "${@:2}" -- ./ends "$1"
}

# expect_calls NAME NUMBER - so many calls of it are in seen
expect_calls() {
	[ "$(grep -cE "[ |]$1\(\)(;| \{)" seen)" = "$2" ] || fail "$1: $(cat seen)"
}

@test "functions from the first constructor on, however the program ends" {
	cat > ends.c <<- 'C'
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(void) { sink++; }
		__attribute__((constructor)) static void early(void) { leaf(); leaf(); }
		__attribute__((destructor)) static void late(void) { leaf(); }
		KEPT static void on(int sig) { (void)sig; leaf(); }
		KEPT static void *run(void *arg) { leaf(); exit(5); return arg; }
		int main(int argc, char **argv)
		{
			char way = argc > 1 ? argv[1][0] : 'r';
			pthread_t thread;
			signal(SIGUSR1, on);
			for (int i = 0; way == 's' && i < 100; i++)
				raise(SIGUSR1);
			for (int i = 0; way == 'f' && i < 5; i++)
				if (!fork())
					leaf(), _exit(0);
			while (way == 'f' && wait(NULL) > 0)
				;
			if (way == 't' || way == 'm')
				pthread_create(&thread, NULL, run, NULL);
			if (way == 't')
				pause();
			if (way == 'm')
				pthread_exit(NULL);
			if (way == 'a')
				abort();
			if (way == 'e')
				execl("/bin/echo", "echo", "another", NULL);
			return 3;
		}
	C
	"$TARGET_CC" -O1 -pthread -o ends ends.c
	hooked returns
	expect_status 3
	expect_calls early 1
	expect_calls leaf 3
	expect_calls late 1
	hooked signals
	expect_status 3
	expect_calls on 100
	expect_calls leaf 103
	hooked forks
	expect_status 3
	expect_calls leaf 3
	hooked thread
	expect_status 5
	expect_calls run 0 # it doesn't return
	expect_calls leaf 4
	hooked main-exits
	expect_status 5
	expect_calls leaf 4
	hooked aborts
	expect_status 134
	expect_calls leaf 2
	hooked exec
	expect_status 0
	[ "$output" = another ] || fail 'its own output'
	expect_message 'has run another program in its place'
	hooked returns --tracer=function -F leaf
	[ "$(grep -c ' leaf <- ' seen)" = 3 ] || fail "function: $(cat seen)"
	hooked returns -m '*'
	expect_calls leaf 3
	expect_calls exit 0
	hooked returns --tracer=alloc
	grep -q '^# tracer: alloc' seen || fail "alloc: $(cat seen)"
}

@test "what can't be" {
	tool uspl-trace exec --tracer=sample -- ./no-such-program
	expect_status 3
	expect_one_message
	expect_message "cannot run './no-such-program': No such file"
	"$TARGET_CC" -O1 -static -o static begin.c
	tool uspl-trace exec -- ./static
	expect_status 1
	expect_message 'in dynamic programs with glibc only'
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
