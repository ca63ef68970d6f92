# SPDX-License-Identifier: GPL-3.0-or-later
# trace-last.bats - what was recorded of a process outlives it, whatever it died of
bats_require_minimum_version 1.5.0

setup_file() {
	cat > "$BATS_FILE_TMPDIR/last.c" <<- 'C'
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/prctl.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(int n) { sink += n; }
		KEPT void work(int n) { for (int i = 0; i < n; i++) leaf(i); sink++; }
		KEPT void waiter(void) { for (;;) pause(), sink++; }
		KEPT void fall(long at) { *(volatile int *)at = 1; sink++; }
		KEPT void deep(int n, long at) { if (n) deep(n - 1, at); else fall(at); sink++; }
		KEPT void leave(int status) { exit(status); }
		KEPT void inner(void) { waiter(); sink++; }
		KEPT void *run(void *arg) { prctl(PR_SET_NAME, "worker"); work(10); inner(); return arg; }
		/* The child goes on in calls of the parent's, and returns from them. */
		KEPT int fork_here(void) { int pid = fork(); if (!pid) work(5); sink++; return pid; }
		KEPT int forked(void) { int pid = fork_here(); sink++; return pid; }
		KEPT void line(char *way)
		{
			pthread_t one;
			int n = 1, pid;

			sscanf(way + 1, "%d", &n);
			if (way[0] == 'w') work(n);
			if (way[0] == 't') pthread_create(&one, NULL, run, NULL);
			if (way[0] == 'c') deep(n, 8);
			if (way[0] == 'e') leave(n);
			if (way[0] == 'p') inner();
			if (way[0] == 'x') execl("/bin/sleep", "sleep", "60", NULL);
			if (way[0] == 'f') {
				pid = forked();
				if (!pid) work(3), _exit(7);
				waitpid(pid, &n, 0);
				if (WEXITSTATUS(n) != 7 || !WIFEXITED(n)) abort();
			}
			printf("%c\n", way[0]);
		}
		int main(int argc, char **argv)
		{
			struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
			struct sock_fprog filter = { 1, &all };
			char way[64];

			if (argc > 1) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (argc > 1 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 2;
			setvbuf(stdout, NULL, _IOLBF, 0);
			puts("ready");
			while (fgets(way, sizeof(way), stdin)) line(way);
			return 0;
		}
	C
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	$TARGET_CC -O1 -w -pthread -o "$BATS_FILE_TMPDIR/last" "$BATS_FILE_TMPDIR/last.c"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
	[ "$(id -u)" = 0 ] || skip 'what belongs to a process is opened by root only'
	cd "$BATS_TEST_TMPDIR" || return
	export USPL_TRACES=$BATS_TEST_TMPDIR/traces
	mkfifo ask
}

teardown() {
	[ -z "${PID:-}" ] || kill -KILL "$PID" 2> /dev/null || true
	exec 7>&-
	[ -z "${PID:-}" ] || [ ! -d "$USPL_TRACES" ] || "$USPL_BIN/uspl-trace" stop --quiet "$PID" 2> /dev/null || true
}

# begin [OPTION]... - runs it, traced
begin() {
	"$BATS_FILE_TMPDIR/last" ${FILTER:+"$FILTER"} < ask > said 3>&- 7>&- &
	PID=$!
	exec 7> ask
	until_true 10 grep -q ready said || fail 'it does not begin'
	tool uspl-trace start "$@" "$PID"
	expect_status 0
}

# does WAY... - has it do these, in their order
does() {
	local way

	for way; do
		: > said
		printf '%s\n' "$way" >&7
		until_true 10 grep -q "^${way:0:1}" said || fail "it does not do $way"
	done
}

# ends WAY - has it do the last thing
ends() {
	printf '%s\n' "$1" >&7
	wait "$PID" || true
}

# keepers - how many processes keep what is recorded of it
keepers() {
	pgrep -fc "^uspl-trace keep $PID\$"
}

# of FUNCTION FILTER - what jq makes of the array of its calls in seen.json
of() {
	jq -sc --arg name "$1" "map(select(.name == \$name)) | $2" seen.json
}

# expect_of FUNCTION FILTER WANT
expect_of() {
	[ "$(of "$1" "$2")" = "$3" ] || fail "$1, $2: $(of "$1" "$2")"
}

# see - its trace, in seen.json
see() {
	tool uspl-trace cat --format=json "$PID"
	expect_status 0 || return
	printf '%s\n' "$output" > seen.json
}

@test "after a crash cat, report and record have all calls, and those that were open" {
	begin
	does w100 w50
	ends c2
	see
	expect_of work length 2
	expect_of leaf length 150
	expect_of deep 'map(.open)' '[true,true,true]'
	expect_of fall 'map(.open)' '[true]'
	tool uspl-trace cat "$PID"
	[ "$(tail -n 5 <<< "$output" | grep -o '[a-z_]*(); /\* open \*/\|} /\* .*' | tr '\n' ' ')" = \
		'fall(); /* open */ } /* deep, open */ } /* deep, open */ } /* deep, open */ } /* line, open */ ' ] ||
		fail "$(tail -n 6 <<< "$output")"
	tool uspl-trace report --json "$PID"
	[ "$(jq -sc 'map(select(.name == "leaf"))[0].calls' <<< "$output")" = 150 ] || fail 'report'
	tool uspl-trace record -o saved "$PID"
	expect_status 0
	tool uspl-trace cat --format=json saved
	[ "$output" = "$(cat seen.json)" ] || fail 'the saved trace is another one'
	tool uspl-trace report --of=deep "$PID"
	expect_status 0
}

@test "after SIGKILL, an exit and a return from main(), too" {
	begin
	does w10
	printf 'p\n' >&7
	until_true 10 grep -q '^34 ' "/proc/$PID/syscall" || fail 'it does not wait'
	kill -KILL "$PID"
	wait "$PID" || true
	see
	expect_of leaf length 10
	for name in line inner; do expect_of "$name" '.[-1].open' true; done
	"$USPL_BIN/uspl-trace" stop --quiet "$PID"
	begin
	does w10
	ends e3
	see
	expect_of leaf length 10
	expect_of leave 'map(.open)' '[true]'
	"$USPL_BIN/uspl-trace" stop --quiet "$PID"
	begin
	does w10
	exec 7>&-
	wait "$PID" || true
	see
	expect_of leaf length 10
	[ "$(jq -sc 'map(select(.open)) | length' seen.json)" = 0 ] || fail 'calls are open'
}

@test "what was overwritten is counted, and entries have no open calls" {
	begin --buffer=16
	does w5000
	ends c1
	tool uspl-trace cat "$PID"
	expect_status 0
	expect_output '# [0-9]+ older records were overwritten'
	see
	expect_of leaf 'length > 500 and length <= 1024' true
	"$USPL_BIN/uspl-trace" stop --quiet "$PID"
	begin --tracer=function
	does w100
	ends c1
	see
	expect_of leaf length 100
	expect_of deep length 2
}

@test "each thread has its open calls" {
	begin
	does t
	for task in "/proc/$PID"/task/*; do worker=${task##*/}; done
	until_true 10 grep -q '^34 ' "/proc/$PID/task/$worker/syscall" || fail 'no thread waits'
	ends c0
	see
	expect_of run 'map([.tid, .open])' "[[$worker,true]]"
	expect_of inner 'map([.tid, .open])' "[[$worker,true]]"
	expect_of fall 'map([.tid, .open])' "[[$PID,true]]"
	expect_of line '.[-1] | [.tid, .open]' "[$PID,true]"
}

@test "a child of fork returns from its parent's calls, and leaves its parent's trace alone" {
	for options in '' --threshold=1us; do
		begin $options
		does f f f
		kill -0 "$PID" || fail 'it has died'
		ends c0
		see
		[ -n "$options" ] || expect_of forked 'map(.open)' '[null,null,null]'
		expect_of line '.[-1].open' true
		expect_of work length 0
		"$USPL_BIN/uspl-trace" stop --quiet "$PID"
	done
}

@test "in a process with a filter of system calls, too" {
	FILTER=1 begin
	grep -q '^Seccomp:.*2' "/proc/$PID/status" || fail 'no filter'
	does w100
	ends c1
	see
	expect_of leaf length 100
	expect_of deep 'map(.open)' '[true,true]'
	expect_of line '.[-1].open' true
}

@test "following a process has all that it did before it died" {
	begin
	"$USPL_BIN/uspl-trace" cat --follow --format=json "$PID" > seen.json 3>&- &
	CAT=$!
	until_true 10 test -s seen.json || true
	does w1000
	ends c1
	wait "$CAT" || fail "cat ended with $?"
	expect_of leaf length 1000
	expect_of fall 'map(.open)' '[true]'
	expect_of line '.[-1].open' true
}

@test "a stream has the end of the process" {
	begin
	"$USPL_BIN/uspl-trace" record --for=60s -o stream "$PID" > out 3>&- &
	RECORD=$!
	until_true 10 sh -c 'ls stream.* > /dev/null 2>&1; grep -q poll\\\|nanosleep /proc/'"$RECORD"'/wchan 2> /dev/null || sleep 0.2' || true
	does w1000
	ends c1
	wait "$RECORD" || fail "record ended with $?"
	tool uspl-trace cat --format=json stream
	printf '%s\n' "$output" > seen.json
	expect_of leaf length 1000
	expect_of fall 'map(.open)' '[true]'
}

@test "status shows it, and stop removes it, saved before if that is wanted" {
	begin
	does w10
	[ "$(keepers)" = 1 ] || fail 'no keeper'
	ends c0
	tool uspl-trace status
	expect_output "$PID +last +graph +over +[0-9]+"
	[ "$(keepers)" = 0 ] || fail 'the keeper is still there'
	tool uspl-trace status --json
	[ "$(jq -sc "map(select(.pid == $PID)) | map([.state, .tracer, .command])" <<< "$output")" = '[["over","graph","last"]]' ] || fail "$output"
	tool uspl-trace stop -o saved "$PID"
	expect_status 0
	expect_output "pid $PID is over: removed"
	tool uspl-trace cat saved
	expect_output 'fall\(\); /\* open \*/'
	tool uspl-trace cat "$PID"
	[[ $stderr = *"there is no process with pid $PID"* ]] || fail 'there is'
	tool uspl-trace stop "$PID"
	[[ $stderr = *"there is no process with pid $PID"* ]] || fail 'there is'
	[ -z "$(ls "$USPL_TRACES")" ] || fail 'it is still there'
}

@test "stop ends the keeper, and another start has its own" {
	begin
	"$USPL_BIN/uspl-trace" stop --quiet "$PID"
	until_true 10 test "$(keepers)" = 0 || fail 'the keeper stays'
	[ -z "$(ls "$USPL_TRACES")" ] || fail 'its file stays'
	"$USPL_BIN/uspl-trace" start "$PID" > /dev/null
	[ "$(keepers)" = 1 ] || fail 'not one keeper'
	does w7
	ends c0
	see
	expect_of leaf length 7
}

@test "the keeper sleeps, is small, and gives up its rights" {
	begin
	keeper=$(pgrep -f "^uspl-trace keep $PID\$")
	before=$(awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$keeper/status")
	does w1000 w1000 w1000
	[ "$(awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$keeper/status")" = "$before" ] || fail 'it has run'
	grep -q '^Seccomp:.*2' "/proc/$keeper/status" || fail 'it may do anything'
	[ "$(readlink "/proc/$keeper/fd/0")" = /dev/null ] || fail 'it holds what the start was given'
	[ "$(readlink "/proc/$keeper/cwd")" = / ] || fail 'it stays in a folder'
}

@test "what ran before an exec is there when the process is over" {
	begin
	does w20
	printf 'x\n' >&7
	until_true 10 grep -q sleep "/proc/$PID/comm" || fail 'no exec'
	tool uspl-trace cat "$PID"
	[[ $stderr = *"pid $PID is not traced"* ]] || fail 'it is traced'
	kill -KILL "$PID"
	wait "$PID" || true
	see
	expect_of leaf length 20
}

@test "an ordinary user's processes take their records along" {
	run -0 setpriv --reuid=65534 --regid=65534 --clear-groups true
	chmod 755 "$BATS_TEST_TMPDIR"
	chmod 666 ask
	touch said
	chmod 666 said
	setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_FILE_TMPDIR/last" < ask > said 3>&- 7>&- &
	PID=$!
	exec 7> ask
	until_true 10 grep -q ready said || fail 'it does not begin'
	TOOL_BY='setpriv --reuid=65534 --regid=65534 --clear-groups' tool uspl-trace start "$PID"
	expect_status 0
	[ "$(keepers)" = 0 ] || fail 'there is a keeper'
	does w10
	ends c0
	tool uspl-trace cat "$PID"
	[[ $stderr = *"there is no process with pid $PID"* ]] || fail 'there is'
}

@test "traces that are old, or too many, are removed when another one begins" {
	mkdir -p "$USPL_TRACES"
	for i in $(seq 1 70); do echo x > "$USPL_TRACES/$((4000000 + i))-1.trace"; done
	echo x > "$USPL_TRACES/3999999-1.trace"
	touch -d '8 days ago' "$USPL_TRACES/3999999-1.trace"
	echo x > "$USPL_TRACES/other"
	begin
	left=("$USPL_TRACES"/*)
	[ "${#left[@]}" = 65 ] || fail "there are ${#left[@]}"
	[ ! -e "$USPL_TRACES/3999999-1.trace" ] || fail 'the old one stays'
	[ -e "$USPL_TRACES/other" ] || fail 'what is no trace was removed'
}

@test "calls of a library that was opened later" {
	printf 'void later(void); static volatile int sink; void later(void) { sink++; }\n' > later.c
	"$TARGET_CC" -O1 -shared -fPIC -o later.so later.c
	cat > opens.c <<- 'C'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(void)
		{
			void (*later)(void) = NULL;
			char word[8];
			setvbuf(stdout, NULL, _IOLBF, 0);
			puts("ready");
			while (fgets(word, sizeof(word), stdin)) {
				if (*word == 'o') later = (void (*)(void))dlsym(dlopen("./later.so", RTLD_NOW), "later");
				if (*word == 'c') later();
				if (*word == 'a') abort();
				puts("done");
			}
			return 0;
		}
	C
	"$TARGET_CC" -O1 -w -o opens opens.c -ldl
	./opens < ask > said 2> /dev/null 3>&- &
	PID=$! TARGET=$!
	exec 7> ask
	until_true 20 grep -q ready said
	trace start -m '*' -F later -F main
	expect_status 0
	echo o >&7
	until_true 60 bash -c "'$USPL_BIN/uspl-trace' status --json | jq -e 'select(.pid == $TARGET).functions == 2' > /dev/null"
	for _ in {1..7}; do echo c >&7; done
	# shellcheck disable=SC2016 # the other shell's
	until_true 20 bash -c '[ "$(grep -c done said)" = 8 ]'
	trace report
	expect_output '  7 .* later'
	until_true 20 bash -c "grep -qs later.so /proc/$TARGET/maps && ls -l /proc/\$(pgrep -f 'uspl-trace keep $TARGET\$')/fd | grep -q later.so"
	echo a >&7
	wait "$TARGET" || :
	trace report
	expect_status 0
	expect_output '  7 .* later'
}
