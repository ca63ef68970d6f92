# SPDX-License-Identifier: GPL-3.0-or-later
# trace-kernel.bats - what the kernel tells beside the calls: all of it, in the call in which it
# happened, in every form; what isn't permitted is said, and what is lost counted
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	cat > "$BATS_FILE_TMPDIR/busy.c" <<- 'C'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <time.h>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		#define AREA (8 * 4096)
		static volatile long sink;
		static char *area;
		KEPT void asker(void) { for (int i = 0; i < 20; i++) syscall(SYS_getppid); sink++; }
		KEPT void napper(void)
		{
			struct timespec ms = { 0, 1000000 };

			clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
			sink++;
		}
		KEPT void toucher(volatile char *at) { for (int i = 0; i < AREA; i += 4096) at[i] = 1; sink++; }
		/* For as long as others are held up by their loss. */
		KEPT void flood(long n) { for (long i = 0; i < n; i++) syscall(SYS_getppid); sink++; }
		KEPT void round_trip(int n)
		{
			for (int i = 0; i < n; i++) {
				asker();
				napper();
				madvise(area, AREA, MADV_DONTNEED);
				toucher(area);
			}
			sink++;
		}
		KEPT void waiter(void) { raise(SIGSTOP); sink++; }
		static void *born(void *arg) { for (int i = 0; i < 10; i++) asker(); return arg; }
		int main(int argc, char **argv)
		{
			pthread_t one;
			pid_t child;

			area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			madvise(area, AREA, MADV_NOHUGEPAGE);
			if (argc < 3)
				raise(SIGSTOP);
			if (argc > 1)
				flood(atol(argv[1]));
			round_trip(20);
			pthread_create(&one, NULL, born, NULL);
			pthread_join(one, NULL);
			child = fork();
			if (!child) {
				asker();
				_exit(0);
			}
			waitpid(child, NULL, 0);
			if (argc < 3)
				waiter();
			return 7;
		}
	C
	"$TARGET_CC" -g -O1 -fno-optimize-sibling-calls -pthread -o "$BATS_FILE_TMPDIR/busy" "$BATS_FILE_TMPDIR/busy.c"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	cd "$BATS_TEST_TMPDIR" || return
	FUNCTIONS=(-F asker -F napper -F toucher -F flood -F round_trip -F waiter)
}

teardown() {
	[ -z "${BUSY:-}" ] || { kill -KILL "$BUSY" && wait "$BUSY"; } 2> /dev/null || true
}

stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$BUSY/status"
}

# begin [ARG] - runs the program up to its first stop; BY is a command to run it by
begin() {
	${BY:-} "$BATS_FILE_TMPDIR/busy" "$@" 3>&- &
	BUSY=$!
	until_true 10 stopped || fail 'it does not begin'
}

# observe COMMAND ARG... - runs a subcommand that asks the kernel, until it does
observe() {
	${BY:-} "$USPL_BIN/uspl-trace" "$1" -v "${@:2}" "$BUSY" > seen 2> said 3>&- &
	WATCHER=$!
	until_true 30 grep -q 'the kernel tells of pid' said || fail "it does not ask: $(cat said)"
}

# observe_to_end - lets the program go on to its last stop, and then ends what observes it
observe_to_end() {
	kill -CONT "$BUSY"
	until_true 30 stopped || fail 'it does not come to its end' || return
	kill -INT "$WATCHER"
	wait "$WATCHER" || fail "it fails: $(cat said)"
}

# record [OPTION]... - saves what happens from the first stop to the last one; the process isn't
# traced before
record() {
	observe record --for=60 "${FUNCTIONS[@]}" -o "${SAVED:-saved}" "$@"
	observe_to_end
}

# json FILE - its lines, as one array
json() {
	"$USPL_BIN/uspl-trace" cat --json "$1" | jq -sc .
}

# count FILTER FILE - how many lines of JSON meet it; within(FUNCTION): they lie in a call of it
count() {
	json "$2" | jq '
		. as $all
		| def within($name): . as $it | any($all[]; .kind == null and .name == $name and .tid == $it.tid
			and .start_ns <= $it.start_ns and .start_ns + .duration_ns >= $it.start_ns + $it.duration_ns);
		map(select('"$1"')) | length'
}

# expect_all FILE - each event that the program made is there, in the function that made it
expect_all() {
	local n
	# 20 rounds of the first thread, 10 of the one that was born, and none of the forked child.
	n=$(count '.kind == "syscall" and .name == "getppid"' "$1")
	[ "$n" = 600 ] || fail "$n of 600 calls of getppid" || return
	n=$(count '.kind == "syscall" and .name == "getppid" and .result == '$$' and .depth > 0 and within("asker")' "$1")
	[ "$n" = 600 ] || fail "$n of 600 lie in asker" || return
	n=$(count '.kind == "syscall" and .name == "clock_nanosleep" and .result == 0 and within("napper") and within("round_trip")' "$1")
	[ "$n" = 20 ] || fail "$n of 20 sleeps lie in napper" || return
	n=$(count '.kind == "off" and .why == "blocked" and .syscall == "clock_nanosleep" and .depth == 3 and within("napper")' "$1")
	[ "$n" -ge 20 ] || fail "it was off $n times while it slept" || return
	n=$(count '.kind == "fault" and .major == false and (.address | startswith("0x")) and within("toucher")' "$1")
	[ "$n" = 160 ] || fail "$n of 160 pages are touched in toucher" || return
	[ "$(count '.kind == "fault" and within("asker")' "$1")" = 0 ] || fail 'it touches no pages there' || return
	[ "$(json "$1" | jq 'map(select(.kind == "end"))[0] | .lost')" = 0 ] || fail 'some are lost'
}

@test "each event lies in the call in which it happened" {
	begin
	record --kernel
	grep -qE '^saved: [0-9]+ calls, [0-9]+ events of the kernel$' seen || fail "it says: $(cat seen)"
	expect_all saved
	# Where calls are summed up it is as ever: what a function has waited for is its own time.
	tool uspl-trace report --json saved
	[ "$(jq -s 'map(select(.kind == null).name) | sort | join(" ")' <<< "$output")" = '"asker napper round_trip toucher waiter"' ] ||
		fail 'other functions'
	[ "$(jq 'select(.name == "napper") | .self_ns == .total_ns' <<< "$output")" = true ] || fail 'own time'
}

@test "as text, nested; deeper ones left out; by thread" {
	begin
	record --kernel
	tool uspl-trace cat saved
	expect_status 0
	grep -A4 -E '^ +[0-9.]+ +'"$BUSY"'\) +\|    napper\(\) \{$' <<< "$output" > nap
	grep -qE '\|      sys:clock_nanosleep\(\) \{$' nap || fail call
	grep -qE ' us \|        off:blocked;$' nap || fail off
	grep -qE ' us \|      \} = 0; /\* sys:clock_nanosleep \*/$' nap || fail 'its end'
	grep -qE ' us \|      sys:getppid\(\) = '$$';$' <<< "$output" || fail getppid
	grep -qE ' us \|      fault:minor\(0x[0-9a-f]+\);$' <<< "$output" || fail fault
	tool uspl-trace cat --per-thread saved
	[ "$(grep -c '^# thread' <<< "$output")" = 2 ] || fail threads
	[ "$(grep -c 'sys:getppid' <<< "$output")" = 600 ] || fail 'by thread'
	tool uspl-trace cat --depth=1 saved
	[[ $output != *getppid* ]] || fail 'what is deeper'
	expect_output 'asker\(\);'
}

@test "saved again, packed, and in other forms" {
	begin
	SAVED=saved.zst record --kernel
	[ "$(head -c 4 saved.zst | od -An -tx1)" = ' 28 b5 2f fd' ] || fail 'it is not packed'
	expect_all saved.zst
	tool uspl-trace record -o again saved.zst
	expect_status 0
	expect_output 'again: [0-9]+ calls, [0-9]+ events of the kernel'
	[ "$(json again)" = "$(json saved.zst)" ] || fail 'another trace'
	# Chrome's events are nested in the printed digits.
	tool uspl-trace cat --format=chrome again
	[ "$(jq '[.traceEvents[] | select(.cat == "kernel" and .name == "sys:getppid" and .ph == "X" and .args.result == '$$')] | length' <<< "$output")" = 600 ] ||
		fail 'chrome: system calls'
	[ "$(jq '[.traceEvents[] | select(.cat == "kernel" and .name == "fault:minor" and .args.major == false)] | length >= 160' <<< "$output")" = true ] ||
		fail 'chrome: faults'
	[ "$(jq '[.traceEvents[] | select(.name == "off:blocked" and .args.syscall == "clock_nanosleep")] | length >= 20' <<< "$output")" = true ] ||
		fail 'chrome: switches'
	for form in folded svg speedscope uftrace; do
		tool uspl-trace record --format="$form" -o "other.$form" again
		expect_status 0
		! grep -rqE 'getppid|off:|fault:' "other.$form" || fail "$form has them"
	done
	# The page's timeline has them, its sums don't.
	tool uspl-trace record -o page.html again
	expect_status 0
	tool uspl-trace record --format=ctf -o ctf again
	expect_status 0
	command -v babeltrace2 > /dev/null || skip 'babeltrace2 is not installed'
	babeltrace2 ctf > events || fail 'babeltrace2 refuses it'
	[ "$(grep -c 'syscall_entry: .*syscall = ( "getppid"' events)" = 600 ] || fail 'ctf: entries'
	[ "$(grep -c 'syscall_exit: .*"getppid".*result = '$$',' events)" = 600 ] || fail 'ctf: exits'
	[ "$(grep -c 'sched_out: .*"blocked".*"clock_nanosleep"' events)" -ge 20 ] || fail 'ctf: switches'
	[ "$(grep -c 'sched_out: ' events)" = "$(grep -c 'sched_in: ' events)" ] || fail 'ctf: on and off'
	[ "$(grep -c 'fault_exit: .*"minor"' events)" -ge 160 ] || fail 'ctf: faults'
}

@test "a page has them in its timeline" {
	command -v chromium > /dev/null || skip 'chromium is not installed'
	begin
	record --kernel
	tool uspl-trace record -o page.html saved
	expect_status 0
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/browser.py" page.html \
		'eval:document.querySelector("#about").textContent' \
		'eval:[...calls.name].filter((name) => data.names[name][0] === "sys:getppid").length' \
		'eval:data.threads[0].lanes[2].some((call) => data.names[calls.name[call]][0] === "sys:clock_nanosleep")' \
		'eval:[...document.querySelectorAll("#rows tr")].map((row) => row.lastChild.textContent).sort().join()' \
		'eval:treeOfCalls(calls, false).children.size === new Set([...calls.name].filter((name, i) => !isKernel(name) && !calls.depth[i])).size' \
		'type:#search=sys:clock' 'eval:search.hits.length'
	[ -z "$stderr" ] || fail "on the page: $stderr"
	[[ ${lines[0]} =~ ^'"tracer graph, '[0-9]+' calls in 2 threads, '[0-9]+' events of the kernel"'$ ]] || fail "about: ${lines[0]}"
	[ "${lines[1]} ${lines[2]}" = '600 true' ] || fail timeline
	[[ ${lines[3]} = *'asker,napper,round_trip,toucher'* && ${lines[3]} != *sys:* ]] || fail "table: ${lines[3]}"
	[ "${lines[4]} ${lines[5]}" = 'true 20' ] || fail sums
}

@test "some of it only" {
	begin
	record --kernel=sched
	[ "$(count '.kind == "off" and .why == "blocked" and .syscall == null and within("napper")' saved)" -ge 20 ] || fail off
	[ "$(count '.kind == "syscall" or .kind == "fault"' saved)" = 0 ] || fail 'more than that'
	kill -KILL "$BUSY"
	begin
	record --kernel=faults,syscalls
	[ "$(count '.kind == "syscall" and .name == "getppid"' saved)" = 600 ] || fail calls
	[ "$(count '.kind == "fault" and within("toucher")' saved)" = 160 ] || fail faults
	[ "$(count '.kind == "off"' saved)" = 0 ] || fail 'more than that'
}

@test "as it comes, with functions or their entries" {
	begin
	tool uspl-trace start "${FUNCTIONS[@]}" "$BUSY"
	observe cat --follow --kernel --json
	observe_to_end
	[ "$(jq -s 'map(select(.kind == "syscall" and .name == "getppid")) | length' seen)" = 600 ] || fail calls
	[ "$(jq -s 'map(select(.kind == "fault")) | length >= 160' seen)" = true ] || fail faults
	# It isn't there any more.
	tool uspl-trace cat --json "$BUSY"
	[[ $output == *asker* && $output != *getppid* ]] || fail 'it is kept'
	tool uspl-trace stop "$BUSY"
	kill -KILL "$BUSY"
	begin
	tool uspl-trace start --tracer=function "${FUNCTIONS[@]}" "$BUSY"
	observe cat --follow --kernel=syscalls
	observe_to_end
	[ "$(grep -cE "^ +busy-[0-9]+ +\[[0-9]+\] +[0-9.]+: sys:getppid\(\) = $$ [0-9.]+ us$" seen)" = 600 ] || fail 'entries'
	[ "$(grep -c ': asker <- ' seen)" = 30 ] || fail functions
}

@test "a program that is run" {
	tool uspl-trace exec --kernel "${FUNCTIONS[@]}" -o saved.zst -- "$BATS_FILE_TMPDIR/busy" 0 ends
	expect_status 7
	[ "$(count '.kind == "syscall" and .name == "getppid" and within("asker")' saved.zst)" = 600 ] || fail calls
	[ "$(count '.kind == "syscall" and .name == "clock_nanosleep" and within("napper")' saved.zst)" = 20 ] || fail sleeps
	[ "$(count '.kind == "fault" and within("toucher")' saved.zst)" = 160 ] || fail faults
	tool uspl-trace exec --kernel=syscalls "${FUNCTIONS[@]}" -- "$BATS_FILE_TMPDIR/busy" 0 ends
	expect_status 7
	[ "$(grep -c '|      sys:getppid() = ' <<< "$output")" = 400 ] || fail text
	expect_output 'sys:exit_group\(\);'
	tool uspl-trace exec --kernel --tracer=count -- true
	expect_status 2
	expect_one_message
	tool uspl-trace exec --kernel=all -- true
	expect_status 2
	expect_message "'all' isn't recorded"
}

# has_saved - true when the tool's worker has a nameless file of more than 100000 bytes
has_saved() {
	local file
	for file in /proc/"$(pgrep -P "$WATCHER")"/fd/*; do
		[[ $(readlink "$file") != */saved*deleted* ]] || [ "$(stat -L -c %s "$file")" -le 100000 ] || return 0
	done
	return 1
}

@test "a process that is killed meanwhile: what came before stays" {
	begin 1000000000
	observe record --for=60 --kernel=syscalls,sched "${FUNCTIONS[@]}" -o saved
	kill -CONT "$BUSY"
	until_true 30 has_saved || fail 'it saves nothing'
	kill -KILL "$BUSY"
	wait "$WATCHER" || fail "it fails: $(cat said)"
	[ "$(count '.kind == "syscall" and .name == "getppid" and .result == '$$ saved)" -gt 1000 ] || fail 'too few'
}

@test "a tool that is killed leaves nothing of it" {
	begin
	tool uspl-trace start "${FUNCTIONS[@]}" "$BUSY"
	observe record --for=60 --kernel -o saved
	find "/proc/$WATCHER/fd" -lname '*perf_event*' | grep -q . || fail 'it has no events'
	kill -KILL "$WATCHER"
	wait "$WATCHER" || true
	kill -CONT "$BUSY"
	until_true 30 stopped || fail 'it does not go on'
	! find "/proc/$BUSY/fd" -lname '*perf_event*' | grep -q . || fail 'it has events of ours'
	tool uspl-trace stop "$BUSY"
	expect_status 0
}

@test "what is lost is counted" {
	begin 2000000
	tool uspl-trace start "${FUNCTIONS[@]}" "$BUSY"
	observe record --for=60 --kernel=syscalls -o saved
	kill -STOP "$WATCHER"
	kill -CONT "$BUSY"
	until_true 60 stopped || fail 'it does not come to its end'
	kill -CONT "$WATCHER"
	kill -INT "$WATCHER"
	wait "$WATCHER" || fail "it fails: $(cat said)"
	grep -qE '^# [0-9]+ notes of the kernel could not be kept$' said || fail "it says: $(cat said)"
	tool uspl-trace cat --json saved
	# Each call has two notes; those of other calls are few.
	[ "$(jq -s 'map(select(.kind == "end"))[0].unrecorded > 1000000' <<< "$output")" = true ] || fail 'the end'
	[ "$(jq -s 'map(select(.name == "getppid" and .result == '$$')) | length > 1000' <<< "$output")" = true ] || fail 'none is left'
	tool uspl-trace cat saved
	expect_output '# [0-9]+ notes of the kernel could not be kept'
}

@test "without the rights of root: what isn't known is said, the rest is there" {
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip 'nothing is permitted (kernel.perf_event_paranoid)'
	BY='setpriv --inh-caps=-all --bounding-set=-all'
	chmod a+rwx .
	begin
	record --kernel
	[ "$(grep -c '^# system calls are not recorded: ' said)" = 1 ] || fail "it says: $(cat said)"
	[ "$(count '.kind == "off" and .why == "blocked" and within("napper")' saved)" -ge 20 ] || fail off
	[ "$(count '.kind == "fault" and .major == false and within("toucher")' saved)" = 160 ] || fail faults
	[ "$(count '.kind == "syscall"' saved)" = 0 ] || fail calls
	kill -KILL "$BUSY"
	begin
	TOOL_BY=$BY tool uspl-trace record --for=1 --kernel=syscalls -F asker -o other "$BUSY"
	expect_status 3
	expect_one_message
	expect_message 'nothing of what was asked of the kernel can be recorded'
	[ ! -e other ] || fail 'a file'
	tool uspl-trace status "$BUSY"
	[[ $output != *asker* ]] || fail status
	tool uspl-trace stop "$BUSY"
	expect_message 'is not traced'
}

@test "where perf events are refused, or too few, nothing is begun" {
	begin
	TOOL_BY="$(helper_build refuse) perf_event_open" tool uspl-trace record --for=1 --kernel -F asker -o saved "$BUSY"
	expect_status 3
	expect_one_message
	tool uspl-trace stop "$BUSY"
	expect_message 'is not traced'
	# As many as there are descriptors for.
	TOOL_BY='prlimit --nofile=20:20' tool uspl-trace record --for=1 --kernel -F asker -o saved "$BUSY"
	expect_status 3
	expect_one_message
	expect_message 'one for each thread on each processor'
	tool uspl-trace stop "$BUSY"
	expect_message 'is not traced'
	# Of a program that is run it is a note.
	TOOL_BY="$(helper_build refuse) perf_event_open" tool uspl-trace exec --kernel -F asker -- "$BATS_FILE_TMPDIR/busy" 0 ends
	expect_status 7
	expect_message 'note: the program runs without being traced: nothing of what was asked'
}

@test "what can't be asked" {
	begin
	tool uspl-trace start -F asker "$BUSY"
	local line
	while read -r line; do
		# shellcheck disable=SC2086 # a list of words
		tool uspl-trace $line
		expect_status 2
		expect_one_message
	done <<- END
		record --kernel -o x $BUSY
		record --for=1 --kernel=waits -o x $BUSY
		record --for=1 --kernel=sched, -o x $BUSY
		cat --kernel $BUSY
		cat --follow --kernel=waits $BUSY
		cat --follow --kernel --format=folded $BUSY
	END
	expect_message "doesn't show what the kernel tells"
}

@test "beside markers alone it is refused" {
	"$TARGET_CC" -g -O1 -I "$BATS_TEST_DIRNAME/../../include" -x c -o marked - <<- 'C'
		#include <signal.h>
		#include <uspl/mark.h>
		int main(void) { raise(SIGSTOP); USPL_MARK(app, step, "x=%d", 1); return 0; }
	C
	./marked 3>&- &
	BUSY=$!
	until_true 10 stopped || fail 'it does not begin'
	tool uspl-trace mark "$BUSY" on app:step
	expect_status 0
	tool uspl-trace cat --follow --kernel "$BUSY"
	expect_status 1
	expect_message 'stands beside calls'
}
