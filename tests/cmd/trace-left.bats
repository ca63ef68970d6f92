# SPDX-License-Identifier: GPL-3.0-or-later
# trace-left.bats - calls that don't return: left by longjmp, an exception or their thread's end, or
# open when the trace is read
bats_require_minimum_version 1.5.0

setup_file() {
	cat > "$BATS_FILE_TMPDIR/left.cc" <<- 'C'
		#include <csetjmp>
		#include <csignal>
		#include <cstdlib>
		#include <cstring>
		#include <ctime>
		#include <pthread.h>
		#include <stdexcept>
		#include <ucontext.h>
		#include <unistd.h>
		#define KEPT extern "C" __attribute__((noinline))
		static volatile long sink;
		static jmp_buf out;
		static void wait_ms(long ms) { timespec for_ms = { 0, ms * 1000000 }; nanosleep(&for_ms, nullptr); }
		KEPT void thrower(int n) { sink += n; if (n % 2) throw std::runtime_error("odd"); sink++; }
		KEPT void between(int n) { thrower(n); sink++; }
		KEPT void throwing(int n) { for (int i = 0; i < n; i++) try { between(i); } catch (const std::exception &) { sink++; } }
		KEPT void jumper(int n) { sink++; if (n % 2) longjmp(out, 1); sink++; }
		KEPT void jumping(int n) { for (volatile int i = 0; i < n; i++) if (!setjmp(out)) jumper(i); }
		KEPT void slow(int ms) { wait_ms(ms); throw std::runtime_error("slow"); }
		KEPT void slowly(void) { try { slow(20); } catch (const std::exception &) { } }
		KEPT void ender(void) { pthread_exit(nullptr); }
		static void *end(void *arg) { ender(); return arg; }
		KEPT void threads(int n) { pthread_t one; for (int i = 0; i < n; i++) pthread_create(&one, nullptr, end, nullptr), pthread_join(one, nullptr); }
		static ucontext_t here, there;
		static char stack[1 << 16];
		KEPT void switcher(int n) { for (int i = 0; i < n; i++) swapcontext(&there, &here), sink++; }
		KEPT void step(int n) { sink += n; }
		static void other() { switcher(10); }
		KEPT void coroutine(void)
		{
			getcontext(&there);
			there.uc_stack.ss_sp = stack, there.uc_stack.ss_size = sizeof(stack), there.uc_link = &here;
			makecontext(&there, other, 0);
			for (int i = 0; i <= 10; i++) swapcontext(&here, &there), step(i);
		}
		KEPT void waiter(void) { pause(); sink++; }
		KEPT void crash(long at) { *(volatile int *)at = 1; sink++; }
		KEPT void to_crash(long at) { crash(at); sink++; }
		KEPT void quit(int status) { exit(status); }
		int main(int argc, char **argv)
		{
			const char *ways = argc > 1 ? argv[1] : "";
			if (strchr(ways, 'w')) raise(SIGSTOP);
			throwing(1000); jumping(1000); slowly(); threads(3); coroutine();
			if (strchr(ways, 'c')) to_crash(8);
			if (strchr(ways, 'k')) kill(getpid(), SIGKILL);
			if (strchr(ways, 'e')) quit(5);
			waiter();
		}
	C
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	"${TARGET_CC/gcc/g++}" -O1 -w -pthread -o "$BATS_FILE_TMPDIR/left" "$BATS_FILE_TMPDIR/left.cc"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	[ -z "${PID:-}" ] || kill -KILL "$PID" 2> /dev/null || true
}

# begin - runs it, traced from main() on, until it waits
begin() {
	"$BATS_FILE_TMPDIR/left" w 3>&- &
	PID=$!
	until_true 10 grep -q 'State:.*T (stopped)' "/proc/$PID/status" || fail 'it does not begin'
	tool uspl-trace start -N '_*' "$PID"
	expect_status 0 || return
	kill -CONT "$PID"
	until_true 10 waits || fail 'it does not come to its end'
}

# waits - true when it has made all calls
waits() {
	grep -q '^34 ' "/proc/$PID/syscall"
}

# of FUNCTION FILTER - what jq makes of the array of its calls in seen.json
of() {
	jq -sc --arg name "$1" "map(select(.name == \$name)) | $2" seen.json
}

# expect_of FUNCTION FILTER WANT
expect_of() {
	[ "$(of "$1" "$2")" = "$3" ] || fail "$1, $2: $(of "$1" "$2")"
}

@test "calls that are left count, with the time until then, and say so" {
	begin
	tool uspl-trace cat --format=json "$PID"
	expect_status 0
	printf '%s\n' "$output" > seen.json
	for name in thrower between jumper; do
		expect_of "$name" length 1000
		expect_of "$name" 'map(select(.left)) | length' 500
	done
	# No call is left before it is made, nor after who has made it.
	expect_of throwing 'map(select(.left)) | length' 0
	expect_of slow '[length, .[0].left]' '[1,true]'
	expect_of slow '.[0].duration_ns > 20000000' true
	[ "$(jq -s '(map(select(.name == "slowly"))[0].duration_ns) >= (map(select(.name == "slow"))[0].duration_ns)' seen.json)" = true ] ||
		fail 'it ends behind its caller'
	expect_of ender '[length, (map(select(.left)) | length)]' '[3,3]'
	expect_of ender 'map(select(.tid == '"$PID"')) | length' 0
	# Another stack isn't another end.
	expect_of switcher 'map(.left)' '[null]'
	expect_of step length 11
	tool uspl-trace report "$PID"
	[ "$(awk '$NF == "thrower" && !/^#/ { print $1 }' <<< "$output")" = 1000 ] || fail 'the report has others'
	expect_output '# thrower: 500 calls were left without a return'
	tool uspl-trace cat "$PID"
	[ "$(grep -c 'jumper(); /\* left \*/' <<< "$output")" = 500 ] || fail 'text says else'
	[ "$(grep -c '} /\* between, left \*/' <<< "$output")" = 500 ] || fail 'text says else'
	tool uspl-trace stop "$PID"
	expect_status 0
	until_true 20 grep -q '^State:.*S' "/proc/$PID/status" || fail 'it has not survived'
}

@test "calls that are open are shown, in a saved trace, too" {
	begin
	tool uspl-trace cat "$PID"
	[[ $(tail -n 1 <<< "$output") = *' waiter(); /* open */' ]] || fail "$(tail -n 3 <<< "$output")"
	tool uspl-trace record -o saved "$PID"
	expect_status 0
	for from in "$PID" saved; do
		tool uspl-trace cat --format=json "$from"
		printf '%s\n' "$output" > seen.json
		expect_of waiter '[length, .[0].open]' '[1,true]'
		[ "$(jq -s 'map(select(.open)) | length' seen.json)" = 1 ] || fail 'others are open, too'
		tool uspl-trace report "$from"
		expect_output '# waiter: 1 calls are open, [0-9.]+ us so far'
		tool uspl-trace report --json "$from"
		[ "$(jq -sc 'map(select(.name == "waiter"))[0] | [.calls, .open, .open_ns > 0]' <<< "$output")" = '[0,1,true]' ] || fail 'JSON'
	done
}

@test "what a program that ends was in is the last of its trace" {
	tool uspl-trace exec -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/left" c
	expect_status 139
	[ "$(grep -o '[a-z_]*(); /\* open \*/\|} /\* .*' seen | tail -n 3 | tr '\n' ' ')" = 'crash(); /* open */ } /* to_crash, open */ } /* main, open */ ' ] ||
		fail "$(tail -n 5 seen)"
	tool uspl-trace exec -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/left" e
	expect_status 5
	grep -q ' quit(); /\* open \*/' seen || fail "$(tail -n 5 seen)"
	tool uspl-trace exec -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/left" k
	expect_status 137
	[[ $(tail -n 1 seen) = *'} /* main, open */' ]] || fail "$(tail -n 5 seen)"
}
