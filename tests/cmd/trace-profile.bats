# SPDX-License-Identifier: GPL-3.0-or-later
# trace-profile.bats - the tracers that add up calls: profile, count, coverage. What they say is
# held against the calls that the program makes, and counts itself
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	cat > "$BATS_FILE_TMPDIR/adds.cc" <<- 'C'
		#include <atomic>
		#include <csetjmp>
		#include <csignal>
		#include <cstdio>
		#include <cstdlib>
		#include <cstring>
		#include <pthread.h>
		#include <stdexcept>
		#include <sys/time.h>
		#include <sys/wait.h>
		#include <ucontext.h>
		#include <unistd.h>
		#define KEPT extern "C" __attribute__((noinline))
		static volatile long sink;
		static thread_local volatile long own;
		static jmp_buf out;
		KEPT void thrower(int n) { sink += n; if (n % 2 == 0) throw std::runtime_error("even"); sink++; }
		KEPT void between(int n) { thrower(n); sink++; }
		KEPT void throwing(int n) { for (int i = 0; i < n; i++) try { between(i); } catch (const std::exception &) { sink++; } }
		KEPT void jumper(int n) { sink++; if (n % 2) longjmp(out, 1); sink++; }
		KEPT void jumping(int n) { for (volatile int i = 0; i < n; i++) if (!setjmp(out)) jumper(i); }
		KEPT long fib(int n) { if (n < 2) return n; long a = fib(n - 1), b = fib(n - 2); __asm__ volatile("" : "+r"(b)); return a + b; }
		KEPT void recursion(int n) { sink += fib(n); sink++; }
		KEPT void leaf(int n) { own += n; }
		KEPT void parent(int n) { for (int i = 0; i < n; i++) leaf(i); }
		KEPT void ender(void) { pthread_exit(nullptr); }
		static pthread_barrier_t all;
		static void *in_order(void *arg) { parent((int)(long)arg); return nullptr; }
		static void *at_once(void *arg) { pthread_barrier_wait(&all); parent((int)(long)arg); pthread_barrier_wait(&all); return nullptr; }
		static void *end(void *arg) { ender(); return arg; }
		static void run(void *(*start)(void *), int n, long arg, bool wait)
		{
			pthread_t *threads = new pthread_t[n];
			pthread_attr_t attr;
			pthread_attr_init(&attr), pthread_attr_setstacksize(&attr, 1 << 17);
			if (!wait) pthread_barrier_init(&all, nullptr, n);
			for (int i = 0; i < n; i++) { if (pthread_create(&threads[i], &attr, start, (void *)arg)) abort(); if (wait) pthread_join(threads[i], nullptr); }
			for (int i = 0; !wait && i < n; i++) pthread_join(threads[i], nullptr);
		}
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
		KEPT void tail_end(int n) { sink += n; __asm__ volatile(""); }
		KEPT void tail_begin(int n) { sink++; tail_end(n); }
		KEPT void tails(int n) { for (int i = 0; i < n; i++) tail_begin(i); }
		static volatile long handled;
		KEPT void in_handler(void) { handled++; parent(3); }
		static void handler(int) { in_handler(); }
		KEPT void interrupted(void)
		{
			static char other_stack[1 << 16];
			stack_t alt = { other_stack, 0, sizeof(other_stack) };
			struct sigaction act = {};
			itimerval often = { { 0, 100 }, { 0, 100 } }, never = {};
			act.sa_handler = handler, act.sa_flags = SA_ONSTACK | SA_RESTART;
			sigaltstack(&alt, nullptr), sigaction(SIGALRM, &act, nullptr), setitimer(ITIMER_REAL, &often, nullptr);
			long n = 0;
			while (handled < 2000) parent(10), n += 10;
			setitimer(ITIMER_REAL, &never, nullptr);
			printf("handled %ld leaves %ld\n", (long)handled, n + 3 * handled), fflush(stdout);
		}
		KEPT void never_called(void) { sink++; }
		KEPT void child(void) { pid_t pid = fork(); if (!pid) { parent(100); step(1); for (;;) pause(); } printf("child %d\n", pid), fflush(stdout); }
		KEPT void waiter(void) { pause(); sink++; }
		int main(int argc, char **argv)
		{
			const char *ways = argc > 1 ? argv[1] : "";
			if (strchr(ways, 'w')) raise(SIGSTOP);
			if (strchr(ways, 'a')) throwing(1000), jumping(1000), recursion(15), coroutine(), tails(100), run(in_order, 3, 1000, true), run(at_once, 4, 500, false);
			if (strchr(ways, 'm')) run(end, 3, 0, true);
			if (strchr(ways, 's')) interrupted();
			if (strchr(ways, 'o')) run(in_order, 300, 2, true);
			if (strchr(ways, 't')) run(at_once, 1100, 2, false);
			if (strchr(ways, 'f')) child();
			if (argc > 3) never_called();
			if (strchr(ways, 'p')) waiter();
			return strchr(ways, 'e') ? 5 : 0;
		}
	C
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	"${TARGET_CC/gcc/g++}" -O2 -g -w -fno-inline -pthread -o "$BATS_FILE_TMPDIR/adds" "$BATS_FILE_TMPDIR/adds.cc"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	[ -z "${CHILD:-}" ] || kill -KILL "$CHILD" 2> /dev/null || true
	[ -z "${PID:-}" ] || kill -KILL "$PID" 2> /dev/null || true
}

# waits - true when it has made all calls
waits() {
	grep -q '^34 ' "/proc/$PID/syscall"
}

# begin WAYS [OPTION]... - runs it, traced from main() on, until it waits
begin() {
	"$BATS_FILE_TMPDIR/adds" "w${1}p" > said 3>&- &
	PID=$!
	until_true 10 grep -q 'State:.*T (stopped)' "/proc/$PID/status" || fail 'it does not begin' || return
	tool uspl-trace start "${@:2}" "$PID"
	expect_status 0 || return
	kill -CONT "$PID"
	until_true 60 waits || fail 'it does not come to its end'
}

# of FUNCTION FILTER - what jq makes of its object in the report
of() {
	jq -sc --arg name "$1" "map(select(.name == \$name)) | .[0] | $2" <<< "$output"
}

# expect_of FUNCTION FILTER WANT
expect_of() {
	[ "$(of "$1" "$2")" = "$3" ] || fail "$1, $2: $(of "$1" "$2"), not $3"
}

# report [OPTION]... - as JSON
report() {
	tool uspl-trace report --json "$@" "$PID"
	expect_status 0 || return
	[ -z "$stderr" ] || fail "the report says '$stderr'"
}

# expect_calls - those of the way 'a' are all there
expect_calls() {
	local name calls
	while read -r name calls; do
		expect_of "$name" .calls "$calls" || return
	done <<- 'END'
		throwing 1
		between 1000
		thrower 1000
		jumping 1
		jumper 1000
		recursion 1
		fib 1973
		coroutine 1
		switcher 1
		step 11
		tails 1
		tail_begin 100
		tail_end 100
		parent 7
		leaf 5000
	END
}

@test "profile: every call counts, however it ends, and its time is someone's own once" {
	begin a --tracer=profile -N '_*'
	report
	expect_calls
	expect_of thrower .left 500
	expect_of between .left 500
	expect_of jumper .left 500
	# A coroutine that has returned after all wasn't left, and its whole time counts.
	expect_of switcher '[.left, .open]' '[0,0]'
	expect_of switcher '[.histogram[].calls]' '[1]'
	expect_of never_called . null
	# Recursion counts once in the total: fib() within recursion().
	[ "$(jq -sc '(map(select(.name == "fib"))[0].total_ns) <= (map(select(.name == "recursion"))[0].total_ns)' <<< "$output")" = true ] ||
		fail 'the total of fib() is longer than the call around it'
	# The times of their own are the times of the outermost calls. Each is rounded to 1 ns.
	for names in 'throwing between thrower' 'jumping jumper' 'recursion fib' 'tails tail_begin tail_end'; do
		[ "$(jq -sc --arg names "$names" '($names | split(" ")) as $all |
			(map(select(.name as $n | $all | index($n)) | .self_ns) | add) - (map(select(.name == $all[0]))[0].total_ns) |
			fabs < 4' <<< "$output")" = true ] || fail "$names: $output"
	done
	[ "$(jq -sc 'map(select(.calls > 0) | select((.histogram | map(.calls) | add) != .calls)) | length' <<< "$output")" = 0 ] ||
		fail 'a histogram has other calls'
	[ "$(jq -sc 'map(select(.max_ns > .total_ns or .avg_ns > .max_ns)) | length' <<< "$output")" = 0 ] || fail 'a maximum is not'
}

@test "profile: as text, sorted, by thread, with histograms" {
	begin a --tracer=profile -F leaf -F parent -F thrower
	tool uspl-trace report --sort=calls "$PID"
	expect_status 0
	expect_output ' CALLS +TOTAL us +SELF us +AVG us +MAX us  FUNCTION'
	[ "$(awk '/^ *[0-9]/ { print $1, $6 }' <<< "$output")" = $'5000 leaf\n1000 thrower\n7 parent' ] || fail "$output"
	expect_output '# thrower: 500 calls were left without a return'
	for key in self total avg max; do
		tool uspl-trace report "--sort=$key" "$PID"
		expect_status 0
		awk -v key="$key" 'BEGIN { at["total"] = 2; at["self"] = 3; at["avg"] = 4; at["max"] = 5 }
			/^ *[0-9]/ { if (n++ && $at[key] > last) exit 1; last = $at[key] } END { exit n != 3 }' <<< "$output" || fail "not by $key: $output"
	done
	tool uspl-trace report --per-thread "$PID"
	expect_status 0
	# The main thread, three after each other, four at once.
	[ "$(grep -c '^# thread ' <<< "$output")" = 8 ] || fail "$output"
	[ "$(awk '$6 == "leaf" { print $1 }' <<< "$output" | sort -n | uniq -c | xargs)" = '4 500 3 1000' ] || fail "$output"
	report --per-thread
	[ "$(jq -sc --argjson pid "$PID" 'map(select(.tid == $pid) | [.name, .calls])' <<< "$output")" = '[["thrower",1000]]' ] || fail "$output"
	[ "$(jq -sc 'map(select(.name == "leaf") | .tid) | unique | length' <<< "$output")" = 7 ] || fail "$output"
	tool uspl-trace report --histogram "$PID"
	expect_status 0
	[ "$(awk '$5 == "|" || $4 ~ /^[0-9]+$/ && /\|/ { if (on) n += $4 } $6 == "leaf" { on = 1 } on && $6 != "leaf" && $6 ~ /^[a-z]/ { on = 0 } END { print n }' <<< "$output")" = 5000 ] ||
		fail "$output"
}

@test "profile: calls that are open have their time so far; what ends with its thread is said" {
	begin m --tracer=profile -F waiter -F ender
	report
	expect_of waiter '[.calls, .open, .open_ns > 0, .total_ns == .open_ns]' '[0,1,true,true]'
	expect_of ender '[.calls, .left]' '[3,3]'
	tool uspl-trace report "$PID"
	expect_output '# waiter: 1 calls are open, [0-9.]+ us so far, which TOTAL and SELF have'
	tool uspl-trace stop --report "$PID"
	expect_status 0
	expect_output '# waiter: 1 calls are open'
	expect_output 'stopped tracing pid'
}

@test "signal handlers on a stack of their own: no call is lost, in any of the threads" {
	for tracer in profile count; do
		begin s "--tracer=$tracer" -F leaf -F in_handler -F parent -F interrupted
		report
		read -r _ handled _ leaves < said
		expect_of in_handler .calls "$handled"
		expect_of leaf .calls "$leaves"
		[ "$tracer" = count ] || expect_of in_handler '[.left, .open]' '[0,0]'
		kill -KILL "$PID"
	done
}

@test "threads that come after each other, and more at once than there are tables" {
	for tracer in profile count; do
		begin o "--tracer=$tracer" -F leaf -F in_order
		report
		expect_of leaf .calls 600
		tool uspl-trace report --per-thread "$PID"
		expect_output '# thread [0-9]+ and [0-9]+ that ended before it'
		[ "$(awk '$NF == "leaf" { n += $1 } END { print n }' <<< "$output")" = 600 ] || fail "$output"
		kill -KILL "$PID"
	done
	begin t --tracer=count -F leaf
	tool uspl-trace report "$PID"
	expect_output '# [0-9]+ calls could not be followed'
	[ "$(awk '$NF == "leaf" || /could not/ { n += /could/ ? $2 : $1 } END { print n }' <<< "$output")" = 2200 ] || fail "$output"
}

@test "count: every call, and nothing else" {
	begin a --tracer=count -N '_*'
	report
	expect_calls
	expect_of leaf keys_unsorted '["name","module","calls"]'
	tool uspl-trace report "$PID"
	[ "$(awk '/^ *[0-9]/ { print $1 }' <<< "$output" | sort -c -n -r 2>&1)" = '' ] || fail "not by calls: $output"
	tool uspl-trace stop --report --json "$PID"
	expect_status 0
	expect_of leaf .calls 5000
	tool uspl-trace report "$PID"
	expect_status 1
	expect_message 'is not traced'
}

@test "only chosen threads are added up" {
	for tracer in profile count coverage; do
		"$BATS_FILE_TMPDIR/adds" wap > /dev/null 3>&- &
		PID=$!
		until_true 10 grep -q 'State:.*T (stopped)' "/proc/$PID/status" || fail 'it does not begin'
		tool uspl-trace start "--tracer=$tracer" "--tid=$PID" "$PID"
		expect_status 0
		kill -CONT "$PID"
		until_true 60 waits || fail 'it does not come to its end'
		report
		if [ "$tracer" = coverage ]; then
			expect_of thrower .called true
			expect_of leaf .called false
		else
			expect_of thrower .calls 1000
			expect_of leaf . null
		fi
		kill -KILL "$PID"
	done
}

@test "coverage: what was called at all, and genhtml reads it" {
	begin af --tracer=coverage
	CHILD=$(sed -n 's/^child //p' said)
	tool uspl-trace report "$PID"
	expect_status 0
	expect_output '# [0-9]+ of [0-9]+ functions were called'
	expect_output 'yes     leaf \([^ ]*/adds.cc:24\)'
	expect_output 'no      never_called \('
	report
	for name in throwing thrower jumper fib switcher tail_begin leaf child waiter; do
		expect_of "$name" .called true
	done
	expect_of never_called '[.called, .line > 0]' '[false,true]'
	expect_of in_handler .called false
	tool uspl-trace report --format=lcov "$PID"
	expect_status 0
	printf '%s\n' "$output" > seen.info
	for line in FNDA:1,leaf FNDA:0,never_called DA:24,1; do
		grep -qx "$line" seen.info || fail "no $line: $(cat seen.info)"
	done
	[ "$(grep -c '^FN:' seen.info)" = "$(grep -c '^FNDA:' seen.info)" ] || fail "$(cat seen.info)"
	if command -v genhtml > /dev/null; then
		run genhtml -q -o html seen.info
		[ "$status" = 0 ] || fail "genhtml: $output"
		grep -rq never_called html || fail 'genhtml shows something else'
	fi
	kill -0 "$CHILD" || fail 'the child is gone'
}

@test "a child of fork has nothing of it, and its parent's sums stay" {
	for tracer in profile count; do
		begin f "--tracer=$tracer"
		CHILD=$(sed -n 's/^child //p' said)
		report
		expect_of child .calls 1
		expect_of step . null
		tool uspl-trace report "$CHILD"
		expect_status 1
		expect_message 'is a child of a traced process, and isn.t traced itself'
		tool uspl-trace stop "$CHILD"
		expect_status 0
		kill -0 "$CHILD" || fail 'the child is gone'
		kill -KILL "$CHILD" "$PID"
	done
}

@test "exec: from the beginning to the end" {
	tool uspl-trace exec --tracer=profile -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/adds" ae
	expect_status 5
	[ "$(awk '$6 == "main" { print $1 }' seen)" = 1 ] || fail "$(cat seen)"
	[ "$(awk '$6 == "leaf" { print $1 }' seen)" = 5000 ] || fail "$(cat seen)"
	tool uspl-trace exec --tracer=count -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/adds" ae
	expect_status 5
	[ "$(awk '$2 == "leaf" { print $1 }' seen)" = 5000 ] || fail "$(cat seen)"
	tool uspl-trace exec --tracer=coverage -N '_*' --output=seen -- "$BATS_FILE_TMPDIR/adds" ae
	expect_status 5
	grep -q '^yes     leaf ' seen && grep -q '^no      never_called ' seen || fail "$(cat seen)"
}

@test "all modules, and the program goes on as before" {
	for tracer in profile count coverage; do
		begin a "--tracer=$tracer" -m '*'
		report
		[ "$tracer" = coverage ] || expect_of leaf .calls 5000
		[ "$(jq -r 'select(.module).module' <<< "$output" | sort -u | wc -l)" -ge 3 ] || fail 'no libraries'
		tool uspl-trace stop "$PID"
		expect_status 0
		until_true 20 grep -q '^State:.*S' "/proc/$PID/status" || fail 'it has not survived'
		kill -KILL "$PID"
	done
}

@test "what they don't have is refused" {
	begin '' --tracer=profile
	tool uspl-trace start --tracer=profile --depth=3 "$PID"
	expect_status 2
	expect_message "unknown option '--depth"
	tool uspl-trace cat "$PID"
	expect_status 1
	expect_message "the tracer 'profile' has sums, and no records"
	tool uspl-trace record -o there "$PID"
	expect_status 1
	tool uspl-trace report --sort=p99 "$PID"
	expect_status 2
	expect_message "can't be sorted by 'p99'"
	tool uspl-trace report --format=lcov "$PID"
	expect_status 1
	expect_message "the format 'lcov' is for the tracer 'coverage'"
	tool uspl-trace stop "$PID"
	tool uspl-trace start --tracer=count "$PID"
	tool uspl-trace report --histogram "$PID"
	expect_status 1
	expect_message "has no histograms"
	tool uspl-trace report --sort=self "$PID"
	expect_status 2
	expect_message 'no times are known'
	tool uspl-trace stop "$PID"
	tool uspl-trace start "$PID"
	tool uspl-trace report --per-thread "$PID"
	expect_status 1
	expect_message "'--per-thread' is for the tracers 'profile' and 'count'"
	tool uspl-trace stop --report "$PID"
	expect_status 1
	expect_message "'--report' is for tracers that add up, not for 'graph'"
}
