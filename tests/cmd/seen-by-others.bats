# SPDX-License-Identifier: GPL-3.0-or-later
# seen-by-others.bats - new code as perf, gdb, eu-stack and backtrace(3) see it
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	mkdir "$BATS_FILE_TMPDIR/tree"
	cd "$BATS_FILE_TMPDIR/tree" || return
	cat > work.c <<- 'C'
		#include <execinfo.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		KEPT void below(int how);
		KEPT void changed(int how);
		KEPT void above(int how);
		static volatile unsigned long sink;
		static volatile sig_atomic_t wanted;
		static void on_signal(int sig) { wanted = sig; }
		KEPT void below(int how)
		{
			void *found[20];

			if (how == SIGUSR1)
				backtrace_symbols_fd(found, backtrace(found, 20), 1);
			if (how == SIGUSR2)
				raise(SIGSTOP);
			sink += how;
		}
		KEPT void changed(int how)
		{
			below(how);
			sink++;
		}
		KEPT void above(int how)
		{
			changed(how);
			sink++;
		}
		int main(void)
		{
			void *first[1];

			/* It loads libgcc_s, which new code is made known to. */
			if (!getenv("LATE"))
				backtrace(first, 1);
			signal(SIGUSR1, on_signal);
			signal(SIGUSR2, on_signal);
			for (;;) {
				int how = wanted;

				wanted = 0;
				above(how);
			}
		}
	C
	cat > Makefile <<- 'END'
		CFLAGS = -O2 -g -fno-optimize-sibling-calls
		work: work.c
	END
	sed 's/^\t*below(how);/\tfor (int i = 0; i < 100000; i++)\n\t\tsink += 2;\n\tbelow(how);/' work.c > new.c
	diff -u --label a/work.c --label b/work.c work.c new.c > ../fix.diff || true
	rm new.c
	make -s CC="$TARGET_CC" || return
	create "$PWD" ../fix.diff
	expect_status 0 || return
	export UPDATE ID
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BATS_FILE_TMPDIR/tree/work" .
	begin
	rm -f "$MAP"
}

# begin [VARIABLE=VALUE] - starts the target, and waits for its handlers
begin() {
	env "$@" ./work > said 3>&- &
	TARGET=$! MAP=/tmp/perf-$!.map
	until_true 10 handles USR2 || fail 'it does not begin'
}

teardown() {
	rm -f "$MAP"
	kill -KILL "$TARGET" || true
}

stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$TARGET/status"
}

# need_perf - skips the test where perf can't take samples
need_perf() {
	perf record -q -e cpu-clock -o try -- true > /dev/null 2>&1 || skip 'perf is not installed, or may not'
}

# expect_perf_names FILE - a report of these samples has the new function
expect_perf_names() {
	run --separate-stderr perf report -i "$1" --stdio --sort symbol
	expect_output "changed \[uspl $ID\]" || return
	[[ $output != *' [.] 0x0000'* ]] || fail 'some of the new code has no name'
}

@test "perf names new functions that apply has told it of" {
	need_perf
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_status 0
	[ -z "$stderr" ] || fail "it says: $stderr"
	[ "$(stat -c '%F %h' "$MAP")" = 'regular file 1' ] || fail 'no map'
	perf record -q -e cpu-clock -F 500 -p "$TARGET" -o attached -- sleep 1 2> /dev/null
	expect_perf_names attached
	# What is there already stays; another update's names are added.
	tool uspl-undo "$ID" "$TARGET"
	expect_status 0
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_status 0
	[ "$(grep -c "changed \[uspl $ID\]" "$MAP")" = 2 ] || fail 'the first is gone'
}

@test "the file for perf: whose it is, and what else has its name" {
	echo mine > other
	ln -s "$PWD/other" "$MAP"
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_status 0
	expect_message "note: perf is not told of the new code: '$MAP' is no file of this user's own"
	[ "$(cat other)" = mine ] || fail 'a link was followed'
	tool uspl-undo "$ID" "$TARGET"
	rm "$MAP"
	ln other "$MAP"
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_message 'no file of this user'
	[ "$(cat other)" = mine ] || fail 'a second name was taken'
	tool uspl-undo "$ID" "$TARGET"
	rm "$MAP"
	mkfifo "$MAP"
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_message 'no file of this user'
	tool uspl-undo "$ID" "$TARGET"
	rm "$MAP"
	# Of a process that had the pid before.
	echo '1000 10 gone' > "$MAP"
	touch -d '1 day ago' "$MAP"
	tool uspl-apply --perf-map "$UPDATE" "$TARGET"
	expect_status 0
	[ -z "$stderr" ] || fail "it says: $stderr"
	! grep -q gone "$MAP" || fail 'it has names of an older process'
	tool uspl-undo "$ID" "$TARGET"
	rm "$MAP"
	tool uspl-apply --check --perf-map "$UPDATE" "$TARGET"
	[ ! -e "$MAP" ] || fail 'a check leaves a file'
}

@test "backtrace(3) goes through new code" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR1 "$TARGET"
	until_true 10 grep -q libc said || fail "it ends early: $(cat said)"
	# below, changed, above, main, two of the C library, _start.
	[ "$(wc -l < said)" = 7 ] || fail "other frames: $(cat said)"
}

@test "an unwinder that is loaded later doesn't know new code, and does no harm" {
	kill -KILL "$TARGET"
	begin LATE=1
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR1 "$TARGET"
	until_true 10 grep -q '^\[' said || fail "it says: $(cat said)"
	! grep -q libc said || fail 'docs/limitations.md says that it ends at the new code'
	kill -0 "$TARGET" || fail 'it has ended'
}

@test "gdb goes through new code, below and above, and names it" {
	command -v gdb > /dev/null || skip 'gdb is not installed'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	tool uspl-view --symbols=symbols "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	run gdb -nx -batch -p "$TARGET" -ex 'add-symbol-file symbols' -ex 'backtrace full'
	[[ $(grep -oE '^#[0-9]+ .*' <<< "$output" | tr '\n' ' ') =~ below.*changed.*above.*main ]] || fail 'frames are missing'
	# The core of the process, which is dead by then.
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core' > /dev/null 2>&1
	kill -KILL "$TARGET"
	run gdb -nx -batch ./work core -ex 'add-symbol-file symbols' -ex 'backtrace'
	[[ $(grep -oE '^#[0-9]+ .*' <<< "$output" | tr '\n' ' ') =~ below.*changed.*above.*main ]] || fail 'not in a core'
}

# frames_of - the names in the last output of eu-stack, in a line
frames_of() {
	sed -n 's/^#[0-9]* *0x[0-9a-f]*\( *- 1\)\? *//p' <<< "$output" | cut -d' ' -f1 | tr '\n' ' '
}

@test "eu-stack, of a process, goes through code around a patched function, and ends in new code" {
	command -v eu-stack > /dev/null || skip 'eu-stack is not installed'
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	run eu-stack -p "$TARGET"
	[[ $(frames_of) == *below\ changed\ above\ main* ]] || fail 'the old code'
	kill -CONT "$TARGET"
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	run eu-stack -p "$TARGET"
	[[ $(frames_of) == *below* ]] || fail 'the code below'
	[[ $(frames_of) != *main* ]] || fail 'docs/limitations.md says that it ends at the new code'
	# Undone, it goes all the way again.
	kill -CONT "$TARGET"
	tool uspl-undo "$ID" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	run eu-stack -p "$TARGET"
	[[ $(frames_of) == *below\ changed\ above\ main* ]] || fail 'the old code again'
}

# expect_core_named CORE - gdb goes through new code in it, with the symbols that the core itself
# has
expect_core_named() {
	rm -f symbols
	tool uspl-view --core="$1" --symbols=symbols
	expect_status 0 || return
	run gdb -nx -batch ./work "$1" -ex 'add-symbol-file symbols' -ex 'backtrace'
	[[ $(grep -oE '^#[0-9]+ .*' <<< "$output" | tr '\n' ' ') =~ below.*changed.*above.*main ]] || fail "frames are missing in $1"
}

# expect_core_walked CORE - eu-stack goes through new code in it, and names it
expect_core_walked() {
	run eu-stack -m -e work --core="$1"
	[[ $(frames_of) == *'below changed above main '* ]] || fail "frames are missing in $1" || return
	[[ $output =~ 'changed - uspl' ]] || fail 'new code has no module'
}

@test "eu-stack goes through the new code of a core dump" {
	command -v gdb eu-stack > /dev/null || skip 'gdb or eu-stack is not installed'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core' > /dev/null 2>&1
	expect_core_walked core
	# Also when one update lies on top of the other, in code of its own.
	kill -CONT "$TARGET"
	cp -r "$BATS_FILE_TMPDIR/tree" .
	patch -s -d tree -p1 < "$BATS_FILE_TMPDIR/fix.diff"
	sed 's/+= 2/+= 3/' tree/work.c > new.c
	diff -u --label a/work.c --label b/work.c tree/work.c new.c > second.diff || true
	create "$PWD/tree" second.diff
	expect_status 0
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core2' > /dev/null 2>&1
	expect_core_walked core2
}

@test "a core dump of a process that is dead tells the names of its new code" {
	command -v gdb > /dev/null || skip 'gdb is not installed'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core' > /dev/null 2>&1
	# One that the kernel writes, where it writes a file here.
	if [ "$(< /proc/sys/kernel/core_pattern)" = core ]; then
		prlimit --pid "$TARGET" --core=unlimited
		mkdir kernel
		ln core by-gdb
		rm core
		kill -ABRT "$TARGET"
		kill -CONT "$TARGET"
	else
		ln core by-gdb
		kill -KILL "$TARGET"
	fi
	wait "$TARGET" || :
	expect_core_named by-gdb
	[ ! -e core ] || [ "$(stat -c %i core)" = "$(stat -c %i by-gdb)" ] || expect_core_named core
}

@test "a core dump that isn't one, is cut off, or has no updates" {
	command -v gdb > /dev/null || skip 'gdb is not installed'
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core' > /dev/null 2>&1
	tool uspl-view --core=core --symbols=symbols
	expect_status 1
	expect_message 'the process has no new code'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	gdb -nx -batch -p "$TARGET" -ex 'generate-core-file core' > /dev/null 2>&1
	local size
	for size in 64 4096 $(($(stat -c %s core) / 2)); do
		head -c "$size" core > part
		tool uspl-view --core=part --symbols=symbols
		expect_status 3
		expect_message "the core dump 'part' is damaged, or was cut off"
	done
	for file in work fix /dev/null; do
		[ -e "$file" ] || echo text > "$file"
		tool uspl-view --core="$file" --symbols=symbols
		expect_status 1
		expect_message 'is no core dump'
	done
	tool uspl-view --core=core
	expect_status 2
	tool uspl-view --core=core --symbols=symbols "$TARGET"
	expect_status 2
	[ ! -e symbols ] || fail 'a failure leaves a file'
}

# by_script ARG... - gdb with the script that tells it of new code
by_script() {
	PATH=$USPL_BIN:$PATH run gdb -nx -iex "source $BATS_TEST_DIRNAME/../../contrib/gdb/uspl.py" -batch "$@"
}

# expect_frames - the last backtrace goes through new code and all around it
expect_frames() {
	[[ $(grep -oE '^#[0-9]+ .*' <<< "$output" | tr '\n' ' ') =~ below.*changed.*above.*main ]] || fail "frames are missing: $1"
	expect_quiet
}

# expect_quiet - nothing is wrong with the script
expect_quiet() {
	[[ $output != *Python* && $output != *uspl.py* ]] || fail "the script fails: $output"
}

@test "gdb needs no help: a process, and a core dump" {
	command -v gdb > /dev/null || skip 'gdb is not installed'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	kill -USR2 "$TARGET"
	until_true 10 stopped || fail 'it does not stop'
	by_script -p "$TARGET" -ex 'backtrace full' -ex 'info symbol changed' -ex 'generate-core-file core'
	expect_frames 'of the process'
	kill -KILL "$TARGET"
	by_script ./work core -ex 'backtrace full'
	expect_frames 'of the core dump'
}

expect_changed() {
	expect_quiet && expect_output 'changed in section .text'
}

@test "gdb's script: processes and core dumps without updates, no uspl-view" {
	command -v gdb > /dev/null || skip 'gdb is not installed'
	by_script -p "$TARGET" -ex 'info symbol changed' -ex 'generate-core-file core'
	expect_changed
	by_script ./work core -ex 'info symbol changed'
	expect_changed
	USPL_BIN=/nonexistent by_script -p "$TARGET" -ex 'info symbol changed'
	expect_changed
	by_script ./work -ex 'info symbol changed' -ex 'start' -ex 'kill'
	expect_changed
}

@test "uspl-trace names the new code that allocates memory" {
	mkdir tree
	cat > tree/grow.c <<- 'C'
		#include <signal.h>
		#include <stdlib.h>
		#include <time.h>
		static void on_signal(int sig) { (void)sig; }
		__attribute__((noinline)) int grown(int how)
		{
			return how + 1;
		}
		int main(void)
		{
			int (*volatile call)(int) = grown;
			void *volatile first = malloc(10);
			int sum = 0;

			free(first);
			signal(SIGUSR2, on_signal);
			for (;;) {
				sum = call(sum) & 1;
				nanosleep(&(struct timespec){ 0, 1000000 }, 0);
			}
		}
	C
	printf 'CFLAGS = -O2\ngrow: grow.c\n' > tree/Makefile
	sed 's/^return how + 1;/void *volatile more = malloc(100);\nfree(more);\n&/' tree/grow.c > new.c
	diff -u --label a/grow.c --label b/grow.c tree/grow.c new.c > fix.diff || :
	make -s -C tree CC="$TARGET_CC"
	create "$PWD/tree" fix.diff
	expect_status 0
	kill -KILL "$TARGET"
	tree/grow 3>&- &
	TARGET=$!
	until_true 10 handles USR2 || fail 'it does not begin'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	tool uspl-trace start --tracer=alloc "$TARGET"
	expect_status 0
	allocates() {
		tool uspl-trace report "$TARGET"
		[[ $output == *grown+0x* ]]
	}
	until_true 20 allocates || fail 'the call has no name'
	tool uspl-trace stop "$TARGET"
}
