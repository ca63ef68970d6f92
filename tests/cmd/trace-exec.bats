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
		[ "$(jq -s "map(select(.name == \"$call\")) | length" seen)" = "$(awk -v call="$call" '$NF == call { print $4 }' counted)" ] ||
			fail "$call: $(grep -c "\"$call\"" seen), and strace says: $(grep "$call" counted)"
	done
	[ "$(jq -rs '.[0].name' seen)" = brk ] || fail 'it does not begin with the first'
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
	expect_calls run 1
	grep -q 'run.* open \*/' seen || fail "it does not return: $(cat seen)"
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
	expect_calls exit 1
	hooked returns --tracer=alloc
	grep -q '^# tracer: alloc' seen || fail "alloc: $(cat seen)"
}

@test "the status is the program's, whatever it is" {
	local status_wanted
	for status_wanted in 0 1 2 7; do
		tool uspl-trace exec -o seen -- sh -c "exit $status_wanted"
		expect_status "$status_wanted"
	done
}

@test "what can't be" {
	tool uspl-trace exec --tracer=sample -- ./no-such-program
	expect_status 3
	expect_one_message
	expect_message "cannot run './no-such-program': No such file"
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

@test "C++, and C that can be unwound: traced before the first constructor" {
	cat > throws.cc <<- 'C'
		#include <stdexcept>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(long x) { sink += x; if (x % 2) throw std::runtime_error("odd"); }
		KEPT int outer(int n) { int caught = 0; for (int i = 0; i < n; i++) try { leaf(i); } catch (const std::exception &) { caught++; } return caught; }
		static struct early { early() { outer(4); } } early;
		int main() { return outer(10); }
	C
	"${TARGET_CC/gcc/g++}" -O1 -o throws throws.cc
	tool uspl-trace exec --output=seen -- ./throws
	expect_status 5
	[ -z "$stderr" ] || fail 'a message'
	expect_once 'outer\(int\)\(\)' 2
	tool uspl-trace exec --tracer=alloc --output=seen -- ./throws
	expect_status 5
	grep -q '^# tracer: alloc' seen || fail "alloc: $(cat seen)"
	cat > unwound.c <<- 'C'
		extern int _Unwind_Backtrace(int (*)(void *, void *), void *);
		static int count(void *at, void *n) { (void)at; ++*(int *)n; return 0; }
		__attribute__((noinline)) int deep(void) { int n = 0; _Unwind_Backtrace(count, &n); return n; }
		int main(void) { return deep() > 2 ? 6 : 1; }
	C
	"$TARGET_CC" -O1 -o unwound unwound.c -lgcc_s
	tool uspl-trace exec --output=seen -- ./unwound
	expect_status 6
	expect_once 'deep\(\)' 1
}

# expect_once CALL NUMBER - the lines of seen with such a call are so many
expect_once() {
	[ "$(grep -cE "\\|  *($1)(;| \\{)" seen)" = "$2" ] || fail "$1: $(cat seen)"
}

@test "what can't be traced runs all the same, and says so" {
	"$TARGET_CC" -O1 -static -o static begin.c
	for tracer in graph function init alloc; do
		tool uspl-trace exec --tracer="$tracer" -- ./static
		expect_status 7
		expect_message 'the program runs without being traced: .* in dynamic programs with glibc only'
		[ "$output" = said ] || fail 'its own output'
	done
	tool uspl-trace exec -F no-such-function -- ./begin
	expect_status 7
	expect_message 'runs without being traced: .*no function of pid [0-9]+ is to be traced'
	cat > own.c <<- 'C'
		#include <stddef.h>
		static char heap[1 << 20];
		static size_t used;
		void *malloc(size_t len) { char *at = heap + used; used += (len + 31) & ~15ul; return used < sizeof(heap) ? at : NULL; }
		void *calloc(size_t n, size_t len) { return malloc(n * len); }
		void *realloc(void *old, size_t len) { char *at = malloc(len); for (size_t i = 0; old && i < len; i++) at[i] = ((char *)old)[i]; return at; }
		void free(void *at) { (void)at; }
		int main(void) { return 9; }
	C
	"$TARGET_CC" -O1 -fno-builtin -o own own.c -Wl,--no-as-needed -lgcc_s
	tool uspl-trace exec -- ./own
	expect_status 9
	expect_message 'runs without being traced: .* an allocator of its own'
}

# waiting NUMBER - true when so many of its threads wait for what they read, or for a signal
waiting() {
	[ "$(cat "/proc/$pid"/task/*/syscall | grep -cE '^(0|130) ')" = "$1" ]
}

# stopped - true when all of it has stopped
stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$pid/status"
}

# run_stopped WAY WAITING - runs it until it is stopped in such a way, when so many threads wait
run_stopped() {
	./stopped "$1" 3>&- &
	pid=$!
	until_true 10 waiting "$2" || fail 'it does not begin' || return
	if [[ $1 = *r* ]]; then kill -USR1 "$pid"; else kill -STOP "$pid"; fi
	until_true 10 stopped || fail 'it does not stop'
}

# run_end - ends it
run_end() {
	kill -KILL "$pid"
	wait "$pid" || true
}

# calls_of_outer - true if some are recorded
calls_of_outer() {
	"$USPL_BIN/uspl-trace" cat "$pid" | grep -q 'outer()'
}

@test "a process that is stopped: traced if no thread of it may hold a lock" {
	local pid way
	cat > stopped.cc <<- 'C'
		#include <csignal>
		#include <cstdlib>
		#include <cstring>
		#include <stdexcept>
		#include <thread>
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		static int ends[2];
		static void on_cont(int) { sink += write(ends[1], "xx", 2); }
		static void on_user(int) { }
		KEPT void leaf(long x) { sink += x; if (x % 2) throw std::runtime_error("odd"); }
		KEPT void outer() { for (int i = 0; i < 2; i++) try { leaf(i); } catch (const std::exception &) { } }
		KEPT void rest() { char c; while (read(ends[0], &c, 1) != 1) ; for (;;) { outer(); usleep(1000); } }
		/* In the C library's code nearly all the time, and in no call. */
		KEPT void fill() { static char room[64 << 20]; for (;;) memset(room, (int)sink, sizeof(room)); }
		int main(int argc, char **argv)
		{
			const char *way = argc > 1 ? argv[1] : "";
			sink += pipe(ends);
			signal(SIGCONT, on_cont);
			signal(SIGUSR1, on_user);
			sigset_t user, old;
			sigemptyset(&user);
			sigaddset(&user, SIGUSR1);
			sigprocmask(SIG_BLOCK, &user, &old);
			if (strchr(way, 't')) std::thread(rest).detach();
			if (strchr(way, 'f')) std::thread(fill).detach();
			if (strchr(way, 'r')) sigsuspend(&old), raise(SIGSTOP);
			rest();
		}
	C
	"${TARGET_CC/gcc/g++}" -O1 -fno-builtin -pthread -o stopped stopped.cc
	for way in '' t r tr; do
		if [[ $way = *t* ]]; then run_stopped "$way" 2; else run_stopped "$way" 1; fi
		tool uspl-trace start "$pid"
		kill -CONT "$pid"
		expect_status 0
		until_true 10 calls_of_outer || fail "not traced: $way"
		tool uspl-trace stop "$pid"
		expect_status 0
		run_end
	done
	run_stopped f 1
	tool uspl-trace start "$pid"
	run_end
	expect_status 1
	expect_one_message
	expect_message "pid $pid is stopped .SIGSTOP., and a thread of it may hold a lock of its libraries"
}

# hooked_program - makes ./ends, which calls leaf four times
hooked_program() {
	cat > ends.c <<- 'C'
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		KEPT void leaf(void) { sink++; }
		__attribute__((constructor)) static void early(void) { leaf(); leaf(); }
		int main(void) { leaf(); leaf(); return 0; }
	C
	"$TARGET_CC" -O1 -fno-optimize-sibling-calls -o ends ends.c
}

@test "what is recorded in every form, and saved" {
	hooked_program
	tool uspl-trace exec --output=page.html -F leaf -F early -- ./ends
	expect_status 0
	grep -q '"names":\[\[.*"leaf"' page.html || fail 'no page'
	tool uspl-trace exec --format=chrome --output=seen -F leaf -- ./ends
	expect_status 0
	[ "$(jq '.traceEvents | map(select(.name == "leaf")) | length' seen)" = 4 ] || fail chrome
	tool uspl-trace exec --format=uspl --output=saved -F leaf -- ./ends
	expect_status 0
	tool uspl-trace report --json saved
	[ "$(jq -r 'select(.name == "leaf").calls' <<< "$output")" = 4 ] || fail saved
	tool uspl-trace exec --tracer=count --format=json --output=seen -F leaf -- ./ends
	expect_status 0
	[ "$(jq -r 'select(.name == "leaf").calls' seen)" = 4 ] || fail 'sums'
}

@test "a form that can't be is said before the program runs" {
	hooked_program
	local line
	while read -r line; do
		# shellcheck disable=SC2086 # a list of words
		tool uspl-trace exec $line -- touch it-ran
		expect_one_message
		[[ $status = [12] ]] || fail "status $status"
		[ ! -e it-ran ] || fail "it ran with $line"
	done <<- 'END'
		--format=pictures
		--format=ctf
		--tracer=function --format=html
		--tracer=function --output=x.svg
		--tracer=count --format=html
		--tracer=profile --format=lcov
		--tracer=sample --format=chrome
	END
}

# opening_program - makes ./opens: threads open a library each, a third of them in C++, and use it
# when the file `go` is there; the argument says how it ends
opening_program() {
	local i
	cat > work.c <<- 'C'
		__attribute__((noipa)) static int once(int x) { static volatile long sink; sink += x; return x; }
		int work(int x) { return once(x) + once(x); }
	C
	cat > work.cc <<- 'C'
		#include <stdexcept>
		__attribute__((noipa)) static int thrower(int x) { if (x % 2) throw std::runtime_error("odd"); return x; }
		extern "C" int work(int x) { try { return thrower(x); } catch (const std::exception &) { return -1; } }
	C
	for i in 1 2; do
		"$TARGET_CC" -O1 -fno-optimize-sibling-calls -shared -fPIC -o "libopened$i.so" work.c
	done
	"${TARGET_CC/gcc/g++}" -O1 -shared -fPIC -o libopened3.so work.cc
	cat > opens.c <<- 'C'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((noipa)) static void *use(void *name)
		{
			void *library = dlopen(name, RTLD_NOW);
			int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : NULL;
			if (!work)
				abort();
			while (access("go", F_OK) != 0)
				usleep(1000);
			for (int i = 0; i < 50; i++)
				work(i);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			char *names[] = { "./libopened1.so", "./libopened2.so", "./libopened3.so" };
			pthread_t threads[3];
			alarm(100);
			for (int i = 0; i < 3; i++)
				pthread_create(&threads[i], NULL, use, names[i]);
			for (int i = 0; i < 3; i++)
				pthread_join(threads[i], NULL);
			if (argc > 1 && argv[1][0] == 'k')
				kill(getpid(), SIGKILL);
			return 6;
		}
	C
	"$TARGET_CC" -O1 -pthread -o opens opens.c
}

# added NUMBER - true if so many libraries have been added, in one portion or more
added() {
	[ "$(awk '/ are traced since they were opened$/ { n += $2 } END { print n + 0 }' said)" = "$1" ]
}

# opened WAY OPTION... - runs it, traced itself and in the libraries that the options name; it
# uses these when they are traced
opened() {
	local exec
	export USPL_TRACES=$PWD/traces
	rm -f go
	"$USPL_BIN/uspl-trace" exec -v "${@:2}" -m opens -F work -F once -F 'thrower*' -F use -- ./opens "$1" \
		> said 2>&1 3>&- &
	exec=$!
	until_true 60 added 3 || fail "not all libraries are traced: $(cat said)"
	touch go
	wait "$exec" && status=0 || status=$?
}

# expect_all_calls - each call in the libraries is there
expect_all_calls() {
	[ "$(grep -cE '\| +work\(\)' seen)" = 150 ] || fail "work: $(grep -c 'work()' seen): $(cat said)" || return
	[ "$(grep -cE '\| +once\(\)' seen)" = 200 ] || fail "once: $(grep -c 'once()' seen)"
}

@test "libraries that the program opens, in several threads, one in C++" {
	opening_program
	opened returns --output=seen -m 'libopened*'
	expect_status 6
	expect_all_calls
	[ "$(grep -cE '\| +thrower\(int\)\(\)' seen)" = 50 ] || fail "thrower: $(grep -c thrower seen)"
	[ "$(grep -cE 'thrower.*/\* left \*/' seen)" = 25 ] || fail "left: $(grep -c 'left' seen)"
	[ "$(grep -c "^# 'libopened[123].so' was opened later" seen)" = 3 ] || fail "$(tail -n 5 seen)"
	! grep -q '^uspl-trace: ' said || fail "a message: $(cat said)"
	opened returns --tracer=function --output=seen -m '*opened*'
	expect_status 6
	[ "$(grep -c ' work <- use' seen)" = 150 ] || fail "work: $(grep -c ' work <-' seen)"
	opened returns --format=uspl --output=saved -m '*opened*'
	expect_status 6
	tool uspl-trace report --json saved
	[ "$(jq -s 'map(select(.name == "once").calls) | add' <<< "$output")" = 200 ] || fail "saved: $output"
	# Nothing is left of it that someone else might take for a process's last trace.
	[ -z "$(ls "$USPL_TRACES" 2> /dev/null)" ] || fail "a trace stays: $(ls "$USPL_TRACES")"
}

@test "libraries that the program opens, and it is killed" {
	opening_program
	opened killed --output=seen -m 'libopened*'
	expect_status 137
	expect_all_calls
}

@test "the program ends while a library is added" {
	opening_program
	cat > leaves.c <<- 'C'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		static int held(void)
		{
			char text[4096], *at;
			FILE *file = fopen("/proc/self/status", "r");
			text[fread(text, 1, sizeof(text) - 1, file)] = 0;
			fclose(file);
			at = strstr(text, "\nTracerPid:");
			return at ? atoi(at + 11) : 0;
		}
		__attribute__((noipa)) static void leaf(void) { static volatile long sink; sink++; }
		int main(void)
		{
			alarm(100);
			while (!held())
				;
			leaf();
			dlopen("./libopened1.so", RTLD_NOW);
			while (held())
				;
			leaf();
			_exit(8);
		}
	C
	"$TARGET_CC" -O1 -o leaves leaves.c
	export USPL_TRACES=$PWD/traces
	if [ "$(id -u)" = 0 ]; then
		tool uspl-trace exec --output=seen -m '*opened*' -m leaves -F leaf -F once -- ./leaves
		expect_status 8
		[ "$(grep -cE '\| +leaf\(\)' seen)" = 2 ] || fail "leaf: $(cat seen)"
		[ -z "$stderr" ] || fail 'a message'
		[ -z "$(ls traces)" ] || fail "a trace stays: $(ls traces)"
	fi
	USPL_KEEPER=none tool uspl-trace exec --output=seen -m '*opened*' -m leaves -F leaf -F once -- ./leaves
	expect_status 8
	! grep -q leaf seen || fail "there is something: $(cat seen)"
	expect_one_message
	expect_message 'has ended while a library was added, and what was recorded went with it'
}
