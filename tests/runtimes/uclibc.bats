# SPDX-License-Identifier: GPL-3.0-or-later
# uclibc.bats - programs that use the C library uClibc-ng are patched: dynamic, static, with threads
# and thread-local variables
#
# The program answers each line that it reads, by a thread, with what it counted and what the
# patched function makes of the line.
bats_require_minimum_version 1.5.0

setup_file() {
	"$BATS_TEST_DIRNAME/uclibc" "$BATS_FILE_TMPDIR/specs" > "$BATS_FILE_TMPDIR/why" || :
}

setup() {
	[ -e "$BATS_FILE_TMPDIR/specs" ] || skip "$(cat "$BATS_FILE_TMPDIR/why")"
	cd "$BATS_TEST_TMPDIR" || return
	PROGRAM=
	mkdir tree
	cat > tree/main.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>

		static __thread unsigned int said;
		static unsigned int asked;
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
		static char *line;

		__attribute__((noinline)) static void answer(const char *text)
		{
			asked++;
			said++;
			printf("%s: %zu letters, %u %u\n", text, strlen(text), asked, said);
			fflush(stdout);
		}

		/* gcc's libgcc_eh was built for glibc, and asks this first when a stack is unwound. */
		int _dl_find_object(void *pc, void *found)
		{
			return pc && found ? -1 : -1;
		}

		#ifndef ALONE
		static void *work(void *arg)
		{
			(void)arg;
			pthread_mutex_lock(&lock);
			for (;;) {
				while (!line)
					pthread_cond_wait(&come, &lock);
				answer(line);
				free(line);
				line = NULL;
				pthread_cond_broadcast(&come);
			}
			return NULL;
		}
		#endif

		int main(void)
		{
			char text[100];
		#ifdef ALONE
			while (fgets(text, sizeof(text), stdin)) {
				text[strcspn(text, "\n")] = 0;
				answer(text);
			}
		#else
			pthread_t thread;

			if (pthread_create(&thread, NULL, work, NULL) != 0)
				return 2;
			while (fgets(text, sizeof(text), stdin)) {
				text[strcspn(text, "\n")] = 0;
				pthread_mutex_lock(&lock);
				line = strdup(text);
				pthread_cond_broadcast(&come);
				while (line)
					pthread_cond_wait(&come, &lock);
				pthread_mutex_unlock(&lock);
			}
		#endif
			return 0;
		}
	END
	# The tabs in front are taken away, of the source, too.
	cat > fix.patch <<-'END'
		--- a/main.c
		+++ b/main.c
		@@ -12,7 +12,10 @@
		 {
		 asked++;
		 said++;
		-printf("%s: %zu letters, %u %u\n", text, strlen(text), asked, said);
		+static __thread unsigned int patched;
		+
		+patched += 10;
		+printf("%s, %u %u, patched %u\n", text, asked, said, patched);
		 fflush(stdout);
		 }

	END
	# The context's empty last line has its blank, which an editor takes away.
	sed -i '$s/^$/ /' fix.patch
}

teardown() {
	exec 7>&-
	[ -z "$PROGRAM" ] || { kill -9 "$PROGRAM" && wait "$PROGRAM"; } 2> /dev/null || :
}

# says LINE ANSWER - the program's answer
says() {
	local before i
	before=$(wc -l < answers)
	echo "$1" >&7
	for ((i = 0; i < 600; i++)); do
		[ "$(wc -l < answers)" = "$before" ] || break
		sleep 0.1
	done
	echo "# $(tail -n 1 answers)"
	[ "$(tail -n 1 answers)" = "$2" ]
}

# launch OPTION... - the program, compiled with these options, runs, and there is an update of it
launch() {
	# shellcheck disable=SC2016 # make's own
	printf '%s\n\t%s\n' 'program: main.o' "gcc -specs=$BATS_FILE_TMPDIR/specs $* -o \$@ main.o -lpthread" \
		'main.o: main.c' "gcc -specs=$BATS_FILE_TMPDIR/specs $* -c -o \$@ main.c" > tree/Makefile
	make -s -C tree
	strings tree/program | grep -q uClibc
	"$USPL_BIN/uspl-create" --source=tree --patch=fix.patch --id=fix --output=.
	mkfifo asked
	tree/program < asked > answers &
	PROGRAM=$!
	exec 7> asked
	says one 'one: 3 letters, 1 1'
}

# patched OPTION... - the same, and it is patched and unpatched
patched() {
	launch "$@"
	"$USPL_BIN/uspl-apply" uspl-fix.tar.gz "$PROGRAM"
	says two 'two, 2 2, patched 10'
	says three 'three, 3 3, patched 20'
	"$USPL_BIN/uspl-undo" fix "$PROGRAM"
	says four 'four: 4 letters, 4 4'
}

@test "a program with uClibc as its shared library" {
	patched -O2 -g -fPIE
}

@test "the same, without symbols" {
	patched -O2 -fPIE -s
}

@test "a program with uClibc in it" {
	# Without threads there is nothing that new thread-local variables could be kept by.
	sed -i 's/^+static __thread/+static/' fix.patch
	patched -O2 -g -static -fno-pie -no-pie -DALONE
}

# With threads it has an unwinder, which has to be told of the new code by one of its threads. But
# the code that starts programs and threads has no call frame information here: no stack can be
# followed to its end.
@test "a program with uClibc and an unwinder in it is refused, and goes on" {
	launch -O2 -g -static -fno-pie -no-pie
	run "$USPL_BIN/uspl-apply" uspl-fix.tar.gz "$PROGRAM"
	echo "$output"
	[ "$status" = 1 ]
	[[ $output = *'cannot tell the unwinder of the new code: no thread'* ]]
	says two 'two: 3 letters, 2 2'
}

@test "the calls of a program with uClibc are traced" {
	mkdir -p bin
	gcc -specs="$BATS_FILE_TMPDIR/specs" -O2 -g -fPIE -o bin/program tree/main.c -lpthread
	mkfifo asked
	bin/program < asked > answers &
	PROGRAM=$!
	exec 7> asked
	says one 'one: 3 letters, 1 1'
	"$USPL_BIN/uspl-trace" start "$PROGRAM"
	says two 'two: 3 letters, 2 2'
	"$USPL_BIN/uspl-trace" report "$PROGRAM" | grep -E '^ *1 .*answer'
	"$USPL_BIN/uspl-trace" stop "$PROGRAM"
	says three 'three: 5 letters, 3 3'
}
