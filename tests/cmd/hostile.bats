# SPDX-License-Identifier: GPL-3.0-or-later
# hostile.bats - processes that say of themselves what isn't so, while root looks at all and at
# others
#
# A tool has little memory and little time here: what a process costs is bounded, and the others are
# served.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and run sets these in it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make || return
	"$TARGET_CC" -O1 -pthread -I"$USPL_TESTS/../include" -o "$BATS_FILE_TMPDIR/forge" "$BATS_TEST_DIRNAME/hostile/forge.c" || return
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/forge"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	export USPL_JOURNAL=$BATS_TEST_TMPDIR/journal TOOL_SECONDS=20
	FORGED=''
	SLOW=''
	THEIRS=65534
}

teardown() {
	[ -z "$FORGED" ] || kill -KILL "$FORGED"
	# With the server's end whatever waits for it goes on.
	[ -z "$SLOW" ] || { kill -KILL "$SLOW" && umount -l "$BATS_TEST_TMPDIR/slow"; }
	target_stop
}

# forge WHAT... - starts a hostile process as another user, if we are root; FORGED is its pid
forge() {
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid="$THEIRS" --regid="$THEIRS" --clear-groups)
	rm -f "$BATS_TEST_TMPDIR/forged"
	"${as[@]}" "$BATS_FILE_TMPDIR/forge" "$@" > "$BATS_TEST_TMPDIR/forged" 3>&- &
	FORGED=$!
	until_true 30 grep -qs ready "$BATS_TEST_TMPDIR/forged" || fail "the hostile process isn't ready"
}

# bounded TOOL ARG... - runs a tool that must do with 200 MB of memory and 10 s of processor time
bounded() {
	# shellcheck disable=SC2016 # for that shell to expand
	run --separate-stderr bash -c 'ulimit -v "$1" -t 10 && shift && exec timeout --kill-after=5 60 "$@"' bounded \
		"${BOUND_KB:-200000}" "$USPL_BIN/$1" "${@:2}"
}

# asan - true where the tools can't do with little address space
asan() {
	nm -D "$USPL_BIN/uspl" | grep -q __asan_init
}

# expect_viewed - what is shown of all processes has the target's update, and says which process it
# left
expect_viewed() {
	local limit=200000
	! asan || limit=unlimited
	apply
	expect_status 0
	BOUND_KB=$limit bounded uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET "
	expect_message "note: .*pid $FORGED"
}

# expect_served - what is asked of all processes is done for the target, and says which process it
# left
expect_served() {
	local limit=200000
	! asan || limit=unlimited
	expect_viewed
	BOUND_KB=$limit bounded uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	expect_message "note: .*pid $FORGED"
	expect_answer hello 'hello, world'
}

@test "probes of one site whose thunks lead to each other" {
	forge loop
	expect_served
}

@test "a hundred thousand names that are one string" {
	forge names
	expect_served
}

@test "records of traces as large as memory that isn't there" {
	forge sparse
	expect_served
}

@test "a record of a version to come" {
	forge version
	expect_served
	tool uspl-view "$FORGED"
	expect_status 1
	expect_message 'ABI version'
}

@test "sixty thousand mappings" {
	forge maps
	expect_served
}

@test "seven thousand libraries of one name that need many others" {
	forge modules
	expect_viewed
	BOUND_KB=400000 bounded uspl-view "$FORGED"
	expect_status 1
	expect_message 'takes too much work'
}

@test "a thousand updates, each for a thousand libraries" {
	forge ids
	expect_viewed
	bounded uspl-view "$FORGED"
	expect_status 0
	expect_output 'forged-999 +pending'
}

@test "what all processes run is asked beside one that has many libraries with long paths" {
	command -v dpkg-query > /dev/null || skip "needs Debian's packages"
	forge paths
	# What is offered is of no account.
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexit 0\n' > "$BATS_TEST_TMPDIR/bin/apt-cache"
	chmod +x "$BATS_TEST_TMPDIR/bin/apt-cache"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH TOOL_SECONDS=120 tool uspl-upgrade --dry-run coreutils
	expect_status 0
	expect_message "note: pid $FORGED is left out: .*paths"
}

@test "rings without number" {
	forge rings
	tool uspl-trace cat "$FORGED"
	expect_status 1
	expect_message 'damaged'
	tool uspl-trace status
	expect_status 0
}

@test "a claim to a real update is shown beside it, with its owner, and not believed" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	forge claim "$ID" "it isn't so"
	apply
	expect_status 0
	tool uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET +target .* root "
	expect_output "$ID +[a-z]+ +$FORGED +forge .* nobody +it isn't so"
	[[ $output != *"$TARGET "*"it isn't so"*"$FORGED"* ]]
	expect_message "different updates have the id '$ID'"
	tool uspl-view --id="$ID"
	expect_status 0
	[ "$(grep -c '^id: ' <<< "$output")" = 2 ]
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	expect_message "note: pid $FORGED .*nobody.* is left out"
	expect_answer hello 'hello, world'
	[[ $output != *"pid $FORGED"* ]]
	tool uspl-undo "$ID"
	expect_status 1
	expect_message 'not applied in any process'
}

@test "another user's process that root has patched is found by its id" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	target_stop
	rm -rf "$BATS_TEST_TMPDIR/run"
	mkdir -m 755 "$BATS_TEST_TMPDIR/run"
	cp "$FIXTURE/tree/target" "$BATS_TEST_TMPDIR/run"
	chmod 755 "$BATS_TEST_TMPDIR"
	target_start_by "$BATS_TEST_TMPDIR/run" setpriv --reuid=65534 --regid=65534 --clear-groups ./target
	apply
	expect_status 0
	[ -f "$USPL_JOURNAL/$ID.journal" ]
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	[ ! -e "$USPL_JOURNAL/$ID.journal" ]
	apply
	rm -r "$USPL_JOURNAL"
	tool uspl-undo "$ID"
	expect_status 1
	expect_message "note: pid $TARGET .*nobody.* is left out"
	mkdir -m 777 "$USPL_JOURNAL"
	undo
	expect_status 0
	expect_answer hello 'hello, world'
}

@test "names that act on a terminal don't reach it" {
	forge escape
	for line in "view" "view $FORGED" "view --id=forged" "view -v" "trace status"; do
		# shellcheck disable=SC2086 # words
		tool uspl $line
		[ "$status" != 2 ] || fail "$stderr"
		[[ $output$stderr != *$'\e'* ]] || fail "uspl $line writes an escape"
	done
}

# started COMMAND... - starts a process of ours that says "ready"; FORGED is its pid
started() {
	rm -f "$BATS_TEST_TMPDIR/forged"
	"$@" > "$BATS_TEST_TMPDIR/forged" 3>&- &
	FORGED=$!
	until_true 30 grep -qs ready "$BATS_TEST_TMPDIR/forged" || fail "the process isn't ready"
}

# ended - waits for the process that ends by itself; its status
ended() {
	local pid=$FORGED
	FORGED=
	wait "$pid"
}

# expect_not_mapped LIBRARY - the tool reads it, also when it looks for debugging information
expect_not_mapped() {
	command -v strace > /dev/null || return 0
	LD_PRELOAD=$1 sleep 600 3>&- &
	FORGED=$!
	until_true 10 grep -qs "$1" "/proc/$FORGED/maps" || fail "the library isn't loaded"
	strace -y -e trace=openat,mmap -o "$BATS_TEST_TMPDIR/calls" \
		"$USPL_BIN/uspl-trace" list --module="$(basename "$1")" "$FORGED" > /dev/null
	kill -KILL "$FORGED"
	ended || :
	grep -q "openat.*$1>" "$BATS_TEST_TMPDIR/calls" || fail "the library isn't read"
	! grep "mmap.*$1>" "$BATS_TEST_TMPDIR/calls" || fail "the library is mapped"
}

@test "a library that is cut short and written anew while it is read" {
	"$TARGET_CC" -o "$BATS_TEST_TMPDIR/cut" "$BATS_TEST_DIRNAME/hostile/cut.c"
	for strip in -g -s; do
		for i in $(seq 3000); do
			echo "int a_function_with_a_name_of_its_own_$i(int n) { return n + $i; }"
		done | "$TARGET_CC" -O1 $strip -shared -fPIC -xc -o "$BATS_TEST_TMPDIR/libcut$strip.so" -
		expect_not_mapped "$BATS_TEST_TMPDIR/libcut$strip.so"
		started "$BATS_TEST_TMPDIR/cut" "$BATS_TEST_TMPDIR/libcut$strip.so"
		for _ in $(seq 20); do
			tool uspl-trace list --module="libcut$strip.so" "$FORGED"
			[ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 3 ] || fail "status $status"
			[[ $stderr != *'cut short while'* ]] || fail "the file was mapped"
		done
		kill -KILL "$FORGED"
		ended || :
	done
}

@test "names of libraries and functions that act on a terminal" {
	lib=$BATS_TEST_TMPDIR/$'lib\e[2J.so'
	"$TARGET_CC" -o "$BATS_TEST_TMPDIR/load" "$BATS_TEST_DIRNAME/hostile/load.c"
	# No assembler takes such a name: it is put in afterwards.
	echo 'int name_name_name(int n) { return n + 1; }' | "$TARGET_CC" -O1 -shared -fPIC -xc -o "$lib" -
	sed -i $'s/name_name_name/\e[2Jx\001forged__/g' "$lib"
	started "$BATS_TEST_TMPDIR/load" "$lib"
	for words in "list --module=lib* $FORGED" "list -v --module=lib* $FORGED" "mark $FORGED list"; do
		# shellcheck disable=SC2086 # words
		tool uspl-trace $words
		[ "$status" != 2 ] || fail "$stderr"
		[[ $output$stderr != *$'\e'* ]] || fail "uspl-trace $words writes an escape"
		[[ $output$stderr != *$'\001'* ]] || fail "uspl-trace $words writes a control character"
	done
}

@test "memory that its program never fills in keeps nobody waiting" {
	"$TARGET_CC" -D_GNU_SOURCE -o "$BATS_TEST_TMPDIR/unserved" "$BATS_TEST_DIRNAME/hostile/unserved.c"
	started "$BATS_TEST_TMPDIR/unserved"
	! grep -q refuses "$BATS_TEST_TMPDIR/forged" || { ended && skip "no userfaultfd here"; }
	apply
	expect_status 0
	tool uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET "
	tool uspl-view "$FORGED"
	expect_status 0
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
}

# linked NAME - a library of another user's with a link to NAME for its debugging information,
# loaded
linked() {
	chmod 755 "$BATS_TEST_TMPDIR"
	"$TARGET_CC" -o "$BATS_TEST_TMPDIR/load" "$BATS_TEST_DIRNAME/hostile/load.c"
	mkdir -p "$BATS_TEST_TMPDIR/theirs/.debug"
	cd "$BATS_TEST_TMPDIR/theirs" || return
	echo 'int f(int n) { return n + 1; }' | "$TARGET_CC" -O1 -shared -fPIC -xc -o lib.so -
	printf '%s\0' "$1" > debuglink
	while [ $(($(stat -c %s debuglink) % 4)) != 0 ]; do printf '\0' >> debuglink; done
	printf '\1\2\3\4' >> debuglink
	objcopy --strip-all --add-section ".gnu_debuglink=debuglink" lib.so
	chown -R 65534:65534 .
	started setpriv --reuid=65534 --regid=65534 --clear-groups "$BATS_TEST_TMPDIR/load" ./lib.so
}

@test "debugging information that keeps its reader waiting" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	mkdir -p "$BATS_TEST_TMPDIR/theirs/.debug"
	mkfifo -m 666 "$BATS_TEST_TMPDIR/theirs/.debug/fifo" "$BATS_TEST_TMPDIR/far"
	linked fifo
	tool uspl-trace list --module='lib.so' "$FORGED"
	expect_status 0
	kill -KILL "$FORGED"
	linked "../../../../../../../../$BATS_TEST_TMPDIR/far"
	tool uspl-trace list --module='lib.so' "$FORGED"
	expect_status 0
}

@test "a process that calls exec again and again, and leaves its old memory with another" {
	"$TARGET_CC" -O1 -o "$BATS_TEST_TMPDIR/execs" "$BATS_TEST_DIRNAME/hostile/execs.c"
	echo 0 > "$BATS_TEST_TMPDIR/count"
	started "$BATS_TEST_TMPDIR/execs" "$BATS_TEST_TMPDIR/count" 6
	while kill -0 "$FORGED" 2> /dev/null && [ "$(cut -d ' ' -f 3 "/proc/$FORGED/stat")" != Z ]; do
		for verb in 'start -F changed' stop 'start --module=libc* -F mem*' stop; do
			# shellcheck disable=SC2086 # words
			tool uspl-trace $verb "$FORGED"
			[ "$status" != 2 ] || fail "$stderr"
			[[ $status = 0 || $stderr =~ 'called exec'|'not traced'|'no function'|'has exited'|'no process'|'cannot read'|'stays mapped'|'no room for' ]] || fail "$stderr"
		done
	done
	ended || fail "the process ended with status $?"
	[ "$(cat "$BATS_TEST_TMPDIR/count")" -gt 3 ]
}

@test "a thread's id given for a process's" {
	tid=
	"$TARGET_CC" -pthread -xc -o "$BATS_TEST_TMPDIR/threads" - <<- 'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static void *run(void *arg) { printf("ready %d\n", gettid()); fflush(stdout); pause(); return arg; }
		int main(void) { pthread_t t; pthread_create(&t, NULL, run, NULL); pthread_join(t, NULL); }
	END
	started "$BATS_TEST_TMPDIR/threads"
	tid=$(cut -d ' ' -f 2 "$BATS_TEST_TMPDIR/forged")
	for command in "uspl-apply $UPDATE" "uspl-undo $ID" uspl-view "uspl-trace start" "uspl-trace list"; do
		# shellcheck disable=SC2086 # words
		tool $command "$tid"
		expect_status 1
		expect_message "$tid is a thread of pid $FORGED"
	done
}

# expect_given_up COMMAND... - the command has set its filter before it looks at the process, and
# the filter is in nobody's way
expect_given_up() {
	run strace -f -o "$BATS_TEST_TMPDIR/calls" "$USPL_BIN/$1" "${@:2}"
	[ "$status" = 0 ] || fail "$* ended with status $status: $output" || return
	awk '/PR_SET_SECCOMP|SECCOMP_SET/ { f = 1 } /"\/proc("|\/[0-9]+\/)/ { exit !f } END { exit !f }' "$BATS_TEST_TMPDIR/calls" ||
		fail "$* looks at /proc before" || return
	! grep -E 'PR_SET_SECCOMP.*= -1' "$BATS_TEST_TMPDIR/calls" || fail "the kernel refused the filter" || return
	[ "$(grep -c 'EPERM' "$BATS_TEST_TMPDIR/calls")" -lt 3 ] || fail "$*: $(grep EPERM "$BATS_TEST_TMPDIR/calls")"
}

@test "commands that look have given up their powers before" {
	command -v strace > /dev/null || skip "needs strace"
	! asan || skip "sanitizers call what the filter forbids"
	expect_given_up uspl-view
	expect_given_up uspl-view --perf-map "$TARGET"
	expect_given_up uspl-trace status
	expect_given_up uspl-trace list "$TARGET"
	expect_given_up uspl-trace list --module='libc*' "$TARGET"
	tool uspl-trace start "$TARGET"
	expect_status 0
	expect_given_up uspl-trace cat "$TARGET"
	expect_given_up uspl-trace report "$TARGET"
	tool uspl-trace record -o "$BATS_TEST_TMPDIR/saved" "$TARGET"
	expect_status 0
	tool uspl-trace stop "$TARGET"
	expect_status 0
	expect_given_up uspl-trace cat "$BATS_TEST_TMPDIR/saved"
	expect_given_up uspl-trace report "$BATS_TEST_TMPDIR/saved"
}

@test "a FIFO where a library was isn't opened" {
	cd "$BATS_TEST_TMPDIR" || return
	"$TARGET_CC" -o load "$BATS_TEST_DIRNAME/hostile/load.c"
	echo 'int f(int n) { return n + 1; }' | "$TARGET_CC" -O1 -shared -fPIC -xc -o lib.so -
	# Root opens what is mapped, unless the mapping changes just then; others go by its name.
	as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --bounding-set=-all --inh-caps=-all)
	started "${as[@]}" ./load ./lib.so
	rm lib.so
	mkfifo lib.so
	(exec 9> lib.so && touch opened) 3>&- &
	writer=$!
	TOOL_BY=${as[*]} tool uspl-trace list --module='lib.so' "$FORGED"
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "status $status: $stderr"
	kill -KILL "$writer" || fail 'the FIFO was opened'
	wait "$writer" 2> /dev/null || :
	[ ! -e opened ] || fail 'the FIFO was opened'
}

# chunks_copied TOOL ARG... - how many pieces of a MiB the tool writes, if there is strace
chunks_copied() {
	strace -f -qq -e trace=write -e signal=none -o "$BATS_TEST_TMPDIR/calls" "$USPL_BIN/$1" "${@:2}" > /dev/null 2>&1 3>&- || :
	grep -c '= 1048576$' "$BATS_TEST_TMPDIR/calls" || :
}

@test "a program whose file is all holes isn't copied" {
	command -v strace > /dev/null || skip 'strace is not installed'
	"$TARGET_CC" -o "$BATS_TEST_TMPDIR/holes" "$BATS_TEST_DIRNAME/hostile/load.c"
	truncate -s 900M "$BATS_TEST_TMPDIR/holes"
	started "$BATS_TEST_TMPDIR/holes" libm.so.6
	n=$(chunks_copied uspl-apply --check "$UPDATE" "$FORGED")
	[ "$n" -lt 20 ] || fail "$n MiB of 900 were copied"
	kill -KILL "$FORGED"
	ended || :
	truncate -s 2G "$BATS_TEST_TMPDIR/holes"
	started "$BATS_TEST_TMPDIR/holes" libm.so.6
	n=$(chunks_copied uspl-apply --check "$UPDATE" "$FORGED")
	[ "$n" = 0 ] || fail "$n MiB of a file that is too large were copied"
}

@test "saved traces in a folder of others', or as large as a disk" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return
	export USPL_TRACES=$PWD/traces
	tool uspl-trace start "$TARGET"
	expect_status 0
	tool uspl-trace record --output=saved "$TARGET"
	expect_status 0
	tool uspl-trace stop "$TARGET"
	expect_status 0
	cp saved traces/4194303-1.trace
	tool uspl-trace status
	expect_output "$TARGET .* over "
	for how in 'chown 65534' 'chmod 777'; do
		$how traces
		tool uspl-trace status
		expect_status 0
		[[ $output != *' over '* ]] || fail "what others may have put there is shown after $how"
		tool uspl-trace cat 4194303
		expect_status 3
		tool uspl-trace start "$TARGET"
		expect_status 0
		expect_message "note: the records of pid $TARGET go with the process: others than this user may write to '$USPL_TRACES'"
		tool uspl-trace stop "$TARGET"
		expect_status 0
		chown 0 traces
		chmod 700 traces
	done
	printf 'uspltrc\n' > huge
	truncate -s 20G huge
	for file in huge /dev/zero; do
		bounded uspl-trace cat "$file"
		expect_status 3
		expect_one_message
		expect_message 'is larger than 4 GiB|is no saved trace'
	done
}

@test "updates whose threads are said to go over one by one, by selectors that follow each other" {
	forge slots
	apply
	expect_status 0
	bounded uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET "
	expect_output "by thread, 32 left +$FORGED "
	bounded uspl-view "$FORGED"
	expect_status 0
	[ "$(grep -c forged- <<< "$output")" = 100 ]
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
}

@test "records that change while they are read" {
	forge changing
	apply
	expect_status 0
	for _ in {1..20}; do
		bounded uspl-view
		expect_status 0
		expect_output "$ID +applied +$TARGET "
		bounded uspl-view "$FORGED"
		[ "$status" = 0 ] || [ "$status" = 1 ] || fail "status $status: $stderr"
		bounded uspl-undo changing-3 "$FORGED"
		[ "$status" = 0 ] || [ "$status" = 1 ] || fail "status $status: $stderr"
	done
	kill -0 "$FORGED" || fail 'the process has died'
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
}

# expect_waited_for_once - the message is of one of the processes that keep their readers waiting
expect_waited_for_once() {
	[ "$(grep -c 'keeps those waiting' <<< "$stderr")" = 1 ] || fail "not one note: $stderr" || return
	expect_message "pid ($1|$2) keeps those waiting .*the other processes of its user, $THEIRS"
}

# slow_file - a file of which every read waits for ever; SLOW is its server
slow_file() {
	mkdir "$BATS_TEST_TMPDIR/slow"
	"$TARGET_CC" -D_GNU_SOURCE -o "$BATS_TEST_TMPDIR/slow-server" "$BATS_TEST_DIRNAME/hostile/slow.c" || return
	"$BATS_TEST_TMPDIR/slow-server" "$BATS_TEST_TMPDIR/slow" > "$BATS_TEST_TMPDIR/served" 3>&- &
	SLOW=$!
	until_true 30 grep -qs ready "$BATS_TEST_TMPDIR/served" || fail "the file isn't served" || return
	! grep -q refuses "$BATS_TEST_TMPDIR/served" || { SLOW='' && skip 'no FUSE here'; }
}

@test "a library in a file system that never answers" {
	local first
	[ "$(id -u)" = 0 ] || skip 'another user is needed, and a file system'
	slow_file
	# Other tests that run now have processes of nobody's, which would be left out.
	THEIRS=65533
	# The folders above are closed to others.
	cd "$BATS_TEST_TMPDIR/slow"
	forge waiting forged lib.so
	first=$FORGED
	forge waiting forged lib.so
	cd "$BATS_TEST_TMPDIR"
	apply
	expect_status 0
	tool uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET "
	expect_waited_for_once "$first" "$FORGED"
	tool uspl-view "$FORGED"
	expect_status 1
	expect_one_message
	expect_message "uspl-view: pid $FORGED keeps those waiting"
	tool uspl-trace list "$FORGED"
	expect_status 1
	expect_one_message
	expect_message "uspl-trace: pid $FORGED keeps those waiting"
	tool uspl-trace start "$TARGET" -F greet
	expect_status 0
	tool uspl-trace status
	expect_status 0
	expect_output "$TARGET .*graph"
	tool uspl-trace stop "$TARGET"
	expect_status 0
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	expect_answer hello 'hello, world'
	tool uspl-apply --tree="$$" "$UPDATE"
	expect_status 0
	expect_waited_for_once "$first" "$FORGED"
	expect_answer hello 'goodbye, world'
	kill -KILL "$first"
}

# switches_of_thread - how often threads of FORGED have gone to sleep so far
switches_of_thread() {
	cat "/proc/$FORGED"/task/*/status | awk '/^voluntary/ { n += $2 } END { print n }'
}

# has_slept_since COUNT - so often that the tracer of stacks, which looks ten times a second and
# passes over a thread that runs just then, has looked several times
has_slept_since() {
	[ "$(switches_of_thread)" -ge $(($1 + 500)) ]
}

@test "names of threads that act on a terminal" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	# shellcheck source=../lib/watch.bash
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	"$TARGET_CC" -O1 -pthread -xc -o "$BATS_TEST_TMPDIR/named" - <<- 'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <unistd.h>
		static void *run(void *arg)
		{
			prctl(PR_SET_NAME, "\033[2J\nnamed");
			puts("ready");
			fflush(stdout);
			for (;;)
				usleep(1000);
			return arg;
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, run, NULL);
			pthread_join(thread, NULL);
			return 0;
		}
	END
	started "$BATS_TEST_TMPDIR/named"
	TRACED=$TARGET TARGET=$FORGED
	for tracer in wakeup stack; do
		watch_begin "$tracer"
		from=$(switches_of_thread)
		until_true 30 has_slept_since "$from" || fail 'the thread sleeps no more'
		watch_end
		[[ $output = *'x1b[2J'* ]] || fail "$tracer doesn't name the thread: $output"
		[[ $output != *$'\e'* ]] || fail "$tracer writes an escape"
	done
	TARGET=$TRACED
}
