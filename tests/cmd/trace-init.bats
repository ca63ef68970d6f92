# SPDX-License-Identifier: GPL-3.0-or-later
# trace-init.bats - the tracer 'init': its figures lie between what constructors and resolvers
# measure themselves and what they leave room for
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	cd "$BATS_FILE_TMPDIR" || return
	# Everybody who runs before main notes when it began and ended, and what it was given.
	cat > notes.h <<- 'C'
		#include <time.h>
		#define KEPT __attribute__((noinline))
		struct note { const char *name; long begin, end; };
		extern struct note notes[];
		extern int n_notes, bad_arguments, off_balance;
		static inline long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
		void takes(const char *name, long ms, int argc, char **argv, char **envp);
	C
	cat > library.c <<- 'C'
		#include <stdint.h>
		#include <string.h>
		#include <unistd.h>
		#include "notes.h"
		struct note notes[64];
		int n_notes, bad_arguments, off_balance;
		KEPT static void sees_vectors(void) { _Alignas(16) char at[16]; if ((uintptr_t)at % 16) off_balance++; }
		void takes(const char *name, long ms, int argc, char **argv, char **envp)
		{
			long begin = now();
			bad_arguments += argc != 2 || strcmp(argv[1], "given") || envp != &argv[3];
			off_balance += ((uintptr_t)__builtin_frame_address(0) % 16) != 0;
			sees_vectors();
			for (long until = begin + ms * 500000; now() < until;)
				;
			usleep((unsigned)ms * 500);
			notes[n_notes++] = (struct note){ name, begin, now() };
		}
		void by_dt_init(int argc, char **argv, char **envp) { takes("by_dt_init", 3, argc, argv, envp); }
		__attribute__((constructor(101))) static void first(int argc, char **argv, char **envp) { takes("first", 8, argc, argv, envp); }
		__attribute__((constructor(102))) static void second(int argc, char **argv, char **envp) { takes("second", 1, argc, argv, envp); }
		static int one(void) { return 1; }
		/* Runs while the library that refers to `chosen` is relocated: this one. There is no C library yet to call. */
		static void *resolve(void)
		{
			struct timespec pause = { 0, 20000000 };
			long nr = 35; /* nanosleep */
			__asm__ volatile("syscall" : "+a"(nr) : "D"(&pause), "S"(0L) : "rcx", "r11", "memory");
			return (void *)one;
		}
		int chosen(void) __attribute__((ifunc("resolve")));
		int (*chosen_at)(void) = chosen;
	C
	cat > program.cc <<- 'C'
		#include <stdio.h>
		#include <link.h>
		#include <dlfcn.h>
		extern "C" {
		#include "notes.h"
		}
		static int count(char **argv) { char **end = argv; while (*end) end++; takes("global", 2, 2, argv, end + 1); return 1; }
		static char *as_given[] = { (char *)"", (char *)"given", nullptr, nullptr };
		struct whole { int n; whole() : n(count(as_given)) { } } global __attribute__((init_priority(200)));
		static void early(int argc, char **argv, char **envp) { takes("early", 5, argc, argv, envp); }
		__attribute__((section(".preinit_array"), used)) static void (*early_at)(int, char **, char **) = early;
		static int each(struct dl_phdr_info *info, size_t, void *) { if (info->dlpi_name[0] == '/') printf("library %s\n", info->dlpi_name); return 0; }
		int main(int argc, char **)
		{
			for (int i = 0; i < n_notes; i++)
				printf("note %s %ld %ld\n", notes[i].name, notes[i].begin, notes[i].end);
			printf("bad %d %d\nconst %d\n", bad_arguments, off_balance, global.n);
			dl_iterate_phdr(each, nullptr);
			return dlopen("./later.so", RTLD_NOW) ? 7 : argc;
		}
	C
	echo '__attribute__((constructor)) static void later(void) { }' > later.c
	"$TARGET_CC" -O1 -fPIC -shared -Wl,-z,now,-init,by_dt_init -o liblibrary.so library.c
	"$TARGET_CC" -O1 -fPIC -shared -o later.so later.c
	g++ -O1 -o program program.cc -L. -llibrary -Wl,-rpath,"$BATS_FILE_TMPDIR"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
	cd "$BATS_FILE_TMPDIR" || return
	seen=$BATS_TEST_TMPDIR/seen
}

# begun [OPTION]... - the program is run under the tracer: what it says is in $output, what the
# tracer says in the file $seen
begun() {
	tool uspl-trace exec --tracer=init --output="$seen" "$@" -- ./program given
	expect_status 7
	expect_output 'bad 0 0'
}

# constructors FILTER - of the constructors in $seen, of the library and the program
constructors() {
	jq -rs "map(select(.kind == \"constructor\" and (.module | test(\"/(program|liblibrary.so)$\"))) | .name |= sub(\"[ (].*\"; \"\")) | $1" "$seen"
}

@test "constructors: which, in which order, and how long" {
	begun --format=json
	# by_dt_init, first and second are called as such, global by its unit's own.
	[ "$(sed -n 's/^note \([a-z_]*\) .*/\1/p' <<< "$output" | tr '\n' ' ')" = 'early by_dt_init first second global ' ] || fail 'the test itself is wrong'
	[ "$(constructors 'map(select(.name | test("^(early|by_dt_init|first|second|_GLOBAL__.*)$")) | .name | sub("_GLOBAL__.*"; "global")) | join(" ")')" = \
		'early by_dt_init first second global' ] || fail "the order: $(cat "$seen")"
	# Not less than each has measured itself, and not more than there is between the ends of
	# what came before and after.
	sed -n 's/^note //p' <<< "$output" > "$BATS_TEST_TMPDIR/notes"
	constructors '.[] | "\(.name | sub("_GLOBAL__.*"; "global")) \(.duration_ns)"' |
		awk 'NR == FNR { name[NR] = $1; begin[NR] = $2; end[NR] = $3; n = NR; next }
			{ took[$1] = $2 }
			END {
				for (i = 1; i <= n; i++) {
					least = end[i] - begin[i]
					most = i < n && i > 1 ? begin[i + 1] - end[i - 1] : 1e18
					printf "%s: %d <= %d <= %d\n", name[i], least, took[name[i]], most
					bad += took[name[i]] < 0.99 * least - 1000 || took[name[i]] > 1.01 * most + 1000
				}
				exit bad || n != 5
			}' "$BATS_TEST_TMPDIR/notes" - > "$BATS_TEST_TMPDIR/compared" || fail "$(cat "$BATS_TEST_TMPDIR/compared")"
}

@test "all that the modules' dynamic sections have, and nothing that came later" {
	local module entries
	begun --format=json
	for module in program liblibrary.so; do
		entries=$(readelf -dW "$module" | awk '/\(INIT\)/ { n++ } /INIT_ARRAYSZ|PREINIT_ARRAYSZ/ { n += $3 / 8 } END { print n }')
		[ "$(jq -s "map(select(.kind == \"constructor\" and (.module | endswith(\"/$module\")))) | length" "$seen")" = "$entries" ] ||
			fail "of $module, which has $entries: $(cat "$seen")"
	done
	! grep -q later "$seen" || fail 'it has seen what dlopen brought'
}

@test "libraries: which, and what their relocation takes" {
	local before whole
	begun --format=json
	before=$(sed -n 's/^note global [0-9]* //p' <<< "$output")
	# All that the program has seen of itself, each once.
	[ "$(jq -r 'select(.relocated_ns) | .name' "$seen" | sed 's,.*/,,; s,\.so.*,,' | grep -v '^program$' | sort)" = \
		"$(sed -n 's,^library .*/,,p' <<< "$output" | sed 's,\.so.*,,' | sort)" ] || fail "libraries: $(cat "$seen")"
	[ "$(jq -rs 'map(select(.mapped_ns and (.mapped_ns <= 0 or .relocated_ns < 0))) | length' "$seen")" = 0 ] || fail 'without a time'
	# What slept for 20 ms while the library was relocated is a part of it.
	[ "$(jq -r 'select(.relocated_ns and (.name | endswith("/liblibrary.so"))) | .relocated_ns >= 19800000' "$seen")" = true ] ||
		fail "relocation: $(cat "$seen")"
	# And all of it is over when the first constructor begins, in a program that began when the
	# one before had ended.
	begun
	whole=$(sed -n 's/^# tracer: init, pid [0-9]* (program): \([0-9.]*\) us until all was loaded, .*/\1/p' "$seen")
	awk -v us="$whole" -v before="$before" -v begin="$(sed -n 's/^note early \([0-9]*\) .*/\1/p' <<< "$output")" \
		'BEGIN { exit !(us > 19800 && us < (begin - before) / 1e3) }' || fail "$whole us, from $before on"
	grep -qE '^ +[0-9.]+ +[0-9.]+  +liblibrary.so +first \(library.c|^ +[0-9.]+ +[0-9.]+  liblibrary.so +first$' "$seen" || fail "as text: $(cat "$seen")"
}

@test "constructors that don't return, or run another program" {
	cat > ends.c <<- 'C'
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((constructor(101))) static void fine(void) { (void)getppid(); }
		__attribute__((constructor(102))) static void leaves(int argc, char **argv) { if (argv[1][0] == 'x') execl("/bin/echo", "echo", "another", NULL); exit(argc + 1); }
		int main(void) { return 1; }
	C
	"$TARGET_CC" -O1 -o ends ends.c
	tool uspl-trace exec --tracer=init --output="$seen" -- ./ends exit
	expect_status 3
	grep -qE '^ +[0-9.]+ +-  ends +leaves' "$seen" || fail "$(cat "$seen")"
	grep -qE '^ +[0-9.]+ +[0-9.]+  ends +fine' "$seen" || fail "$(cat "$seen")"
	tool uspl-trace exec --tracer=init --output="$seen" -- ./ends x
	expect_status 0
	[ "$output" = another ] || fail 'its own output'
	expect_message 'has run another program in its place'
}

@test "more constructors than can be timed are run" {
	awk 'BEGIN { print "int n;"; for (i = 0; i < 4200; i++) printf "__attribute__((constructor)) static void c%d(void) { n++; }\n", i; print "int main(void) { return n == 4200 ? 0 : 1; }" }' > many.c
	"$TARGET_CC" -O0 -o many many.c
	tool uspl-trace exec --tracer=init --format=json --output="$seen" -- ./many
	expect_status 0
	[ "$(grep -c '"constructor"' "$seen")" = 4096 ] || fail "$(grep -c '"constructor"' "$seen") lines"
	expect_message '[0-9]+ constructors were too many'
}

@test "what can't be" {
	tool uspl-trace start --tracer=init $$
	expect_status 1
	expect_one_message
	expect_message "the tracer 'init' sees how a program begins"
	expect_message 'hint: .*uspl-trace exec --tracer=init'
	tool uspl-trace exec --tracer=init --format=folded -- ./program
	expect_status 1
	expect_message "has no format 'folded'"
	[ -z "$output" ] || fail 'it was run'
	"$TARGET_CC" -O1 -static -o static later.c -x c - <<< 'int main(void) { return 0; }'
	# It runs all the same, and its status is the tool's.
	tool uspl-trace exec --tracer=init -- ./static
	expect_status 0
	expect_message 'the program runs without being traced'
	expect_message 'in dynamic programs with glibc only'
}
