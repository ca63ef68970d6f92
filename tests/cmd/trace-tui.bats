# SPDX-License-Identifier: GPL-3.0-or-later
# trace-tui.bats - uspl-trace tui: what it shows of a trace, in a terminal that tmux makes, is what
# was called, whichever keys lead there
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	cd "$BATS_FILE_TMPDIR" || return
	cat > calls.c <<- 'C'
		#include <pthread.h>
		#include <setjmp.h>
		#include <stdlib.h>
		#define KEPT __attribute__((noipa))
		static jmp_buf env;
		static volatile long sink;
		KEPT void leaf(void) { sink++; }
		KEPT void odd(int n) { leaf(); if (n % 2) longjmp(env, 1); }
		KEPT void parent(int n) { for (int i = 0; i < n; i++) leaf(); }
		KEPT void deep(int n) { if (n) deep(n - 1); else leaf(); }
		KEPT void *run(void *arg) { parent(5); return arg; }
		KEPT void last(void) { leaf(); exit(0); }
		KEPT void work(void)
		{
			for (volatile int i = 0; i < 6; i++)
				if (!setjmp(env))
					odd(i);
			parent(100);
			deep(40);
		}
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, run, NULL);
			pthread_join(thread, NULL);
			work();
			last();
		}
	C
	objcopy_name=$'odd\e[2Jname'
	"$TARGET_CC" -O1 -fno-optimize-sibling-calls -pthread -c calls.c
	objcopy --redefine-sym "last=$objcopy_name" calls.o
	"$TARGET_CC" -pthread -o calls calls.o
	"$USPL_BIN/uspl-trace" exec --format=uspl -o saved -N '_*' -N '*tm_clones' -N frame_dummy -- ./calls
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	source "$BATS_TEST_DIRNAME/../lib/terminal.bash"
	cd "$BATS_FILE_TMPDIR" || return
}

teardown() {
	terminal_end
	[ -z "${PID:-}" ] || kill "$PID" 2> /dev/null || :
}

# screen ARGUMENT... - tui in a terminal of 110 columns and 20 lines
screen() {
	terminal_run 110 20 "'$USPL_BIN/uspl-trace' tui $*"
	expect_shown 'FUNCTION'
}

# first_is TEXT - true if the uppermost line ends with that
first_is() {
	[[ $(shown | sed -n '4p') = *" $1" ]]
}

expect_first() {
	until_true 60 first_is "$1" || fail "not '$1' first: $(shown)"
}

# to NAME - moves the cursor to the line that ends with it, which the last line of the screen isn't
to() {
	local at
	expect_shown " $1\$"
	at=$(shown | sed -n '4,19p' | grep -n -- " $1\$" | head -n 1 | cut -d : -f 1)
	press Home
	for ((at--; at > 0; at--)); do press Down; done
}

@test "functions: their calls, sorted and filtered, with what was left and what is open" {
	screen saved
	expect_shown '^pid [0-9]* calls, graph: 166 calls in 2 threads$'
	expect_shown '^functions, by self, 8 shown$'
	expect_shown '^ *113 .* 0  leaf$'
	expect_shown '^ *6 .* 0  odd (3 left)$'
	expect_shown '^ *41 .* 0  deep$'
	expect_shown '^ *0 .* 1  main$'
	press c
	expect_shown '^functions, by calls, '
	expect_first leaf
	press n
	expect_first deep
	press /
	press 'pa' Enter
	expect_shown '^functions, by name, filter: pa, 1 shown$'
	expect_first parent
	press Escape
	expect_shown ', 8 shown$'
	press /
	press '*k' Enter
	expect_shown 'filter: \*k, 1 shown$'
	expect_first work
	press q
	expect_screen_ended 0
	screen --sort=name --filter=r saved
	expect_shown '^functions, by name, filter: r, 3 shown$'
	expect_first parent
	press C-c
	expect_screen_ended 0
}

three_left() {
	[ "$(shown | grep -c ' left  ')" = 3 ]
}

@test "callers and callees, and theirs; calls one by one, and what they have made" {
	screen --sort=calls saved
	expect_first leaf
	press Enter
	expect_shown '^callers and callees of leaf, by calls, 5 shown$'
	expect_shown '^called by  *105 .*  parent$'
	expect_shown '^called by  *6 .*  odd$'
	expect_shown '^called by  *1 .*  deep$'
	expect_shown '^all of it  *113 .*  leaf$'
	to parent
	press Enter
	expect_shown '^callers and callees of parent, '
	expect_shown '^called by  *1 .*  work$'
	expect_shown '^called by  *1 .*  run$'
	expect_shown '^calls  *105 .*  leaf$'
	press l
	press Escape
	to parent
	press Enter
	expect_shown '^calls of parent, by calls, 2 shown$'
	expect_first run
	press t
	expect_first work
	press Enter
	expect_shown '^calls made in a call of parent, by total, 100 shown$'
	press End Enter
	press Escape Escape Escape Escape
	expect_shown '^functions, by total'
	to 'odd (3 left)'
	press l
	expect_shown '^calls of odd, by total, 6 shown$'
	until_true 60 three_left || fail "$(shown)"
	press Escape
	to main
	press l
	expect_shown ' open *$'
	press q
	expect_screen_ended 0
}

@test "threads, and the call tree, which is folded and unfolded" {
	screen saved
	press T
	expect_shown '^threads, by self, 2 shown$'
	press c n c
	expect_shown '^ *[0-9]* *157 .* 2  calls$'
	expect_shown '^ *[0-9]* *7 .* 0  calls$'
	press Down Enter
	expect_shown '^functions in thread [0-9]* calls, by calls, 3 shown$'
	expect_shown '^ *5 .*  leaf$'
	press C
	expect_shown '^call tree in thread [0-9]* calls, 2 shown$'
	press Down Right
	expect_shown '^ *5 .*        leaf$'
	expect_shown '^ *1 .*    - parent$'
	press Down Left
	expect_shown '^ *1 .*    - parent$'
	press Left
	expect_shown '^ *1 .*    + parent$'
	press Escape Escape Escape
	expect_shown '^functions, by '
	press C
	expect_shown '  - main$'
	shows_no 'deep$' || fail "$(shown)"
	press '*' End
	expect_shown '\[41\] deep$'
	press Home Enter
	expect_shown '  + main$'
	press h
	expect_shown 'unfold and fold'
	press q
	expect_screen_ended 0
}

@test "a name doesn't act on the terminal" {
	screen saved
	expect_shown '  odd\\x1b\[2Jname$'
	press q
	expect_screen_ended 0
}

@test "a terminal that is tiny, and another one, and gone" {
	screen saved
	resize 5 3
	press c Down Down Enter Escape h h
	resize 1 1
	press n End Enter l Escape Escape C '*' End
	resize 110 20
	expect_shown '\[41\] deep$'
	press Escape
	expect_shown '^functions, by name'
	resize 40 6
	until_true 60 shows '^s c t a p m n sort  / filter' || fail "$(shown)"
	local tui
	tui=$(tmux -S "$SOCKET" list-panes -F '#{pane_pid}')
	tui=$(pgrep -P "$tui" uspl-trace)
	[ -n "$tui" ] || fail 'it does not run'
	grep -q '^Seccomp:.*2' "/proc/$tui/status" || fail 'it has all its rights'
	terminal_end
	until_true 60 [ ! -e "/proc/$tui" ] || fail 'it stays without a terminal'
}

@test "no terminal, or none that is known; no trace, or a damaged one" {
	tool uspl-trace tui saved
	expect_status 1
	expect_one_message
	expect_message 'this needs a terminal'
	run script -qec "TERM=nosuch '$USPL_BIN/uspl-trace' tui saved" /dev/null < /dev/null
	[ "$status" = 1 ] || fail "status $status"
	[[ $output == *'a terminal that it knows'* ]] || fail 'it says something else'
	tool uspl-trace tui --sort=nosuch saved
	expect_status 2
	expect_message "can't be sorted by 'nosuch'"
	tool uspl-trace tui no-such-file
	expect_status 3
	tool uspl-trace tui
	expect_status 2
	local len
	for len in 0 7 100 1000 3000; do
		head -c "$len" saved > damaged
		run script -qec "'$USPL_BIN/uspl-trace' tui damaged" /dev/null < /dev/null
		[ "$status" = 3 ] || fail "$len bytes: status $status: $output"
		[[ $output == *"'damaged' is "* ]] || fail "$len bytes: $output"
	done
}

@test "packed files, a trace without durations, a process that runs, and one that adds up" {
	"$USPL_BIN/uspl-trace" exec --format=uspl -o saved.zst -F leaf -- ./calls
	screen saved.zst
	expect_shown ', graph: 113 calls in 2 threads$'
	press q
	expect_screen_ended 0
	"$USPL_BIN/uspl-trace" exec --tracer=function --format=uspl -o entries -F leaf -F parent -- ./calls
	screen entries
	expect_shown ', function: 115 calls in 2 threads$'
	press Enter l T Enter C q
	expect_screen_ended 0
	cat > runs.c <<- 'C'
		#include <unistd.h>
		__attribute__((noipa)) static void tick(void) { usleep(1000); }
		int main(void) { alarm(100); for (;;) tick(); }
	C
	"$TARGET_CC" -O1 -o runs runs.c
	./runs 3>&- &
	PID=$! TARGET=$!
	until_true 10 executes runs || fail 'it does not begin'
	tool uspl-trace start "$PID"
	expect_status 0
	screen "$PID"
	expect_shown ' tick$'
	press q
	expect_screen_ended 0
	tool uspl-trace stop "$PID"
	tool uspl-trace start --tracer=count "$PID"
	expect_status 0
	run script -qec "'$USPL_BIN/uspl-trace' tui $PID" /dev/null < /dev/null
	[ "$status" = 1 ] || fail "status $status"
	[[ $output == *'no calls were recorded there one by one'* ]] || fail "$output"
	tool uspl-trace stop "$PID"
	expect_status 0
}
