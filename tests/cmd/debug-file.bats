# SPDX-License-Identifier: GPL-3.0-or-later
# debug-file.bats - source lines, types and variables of new code, in gdb
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

# sources - a program and a library, and a patch for both, in the current folder
sources() {
	mkdir -p tree/lib
	cat > tree/work.c <<- 'C'
		#include <signal.h>
		#include <time.h>
		#include "lib/part.h"
		#define KEPT __attribute__((noinline))
		struct point { int x, y; };
		KEPT int changed(struct point *at, int how);
		KEPT int later(int how);
		static volatile sig_atomic_t wanted;
		static int total = 5;
		static void on_signal(int sig) { wanted = sig; }
		KEPT int changed(struct point *at, int how)
		{
			at->x += how;
			return at->x + part(how);
		}
		KEPT int later(int how)
		{
			return how + 1;
		}
		int main(void)
		{
			struct point here = { 3, 4 };

			signal(SIGUSR2, on_signal);
			for (;;) {
				int how = wanted;

				wanted = 0;
				total += changed(&here, how ? 1200 + how : 0) & 1;
				total += later(how) & 1;
				nanosleep(&(struct timespec){ 0, 2000000 }, 0);
			}
		}
	C
	cat > tree/lib/part.h <<- 'C'
		int part(int how);
	C
	cat > tree/lib/part.c <<- 'C'
		#include "part.h"
		static int count;
		int part(int how)
		{
			count++;
			return count + how;
		}
	C
	cat > tree/Makefile <<- 'END'
		CFLAGS = $(DEBUG)
		.RECIPEPREFIX = >
		all: libpart.so work
		libpart.so: lib/part.c
		>$(CC) $(CFLAGS) -fPIC -shared -o $@ $<
		work: work.c libpart.so
		>$(CC) $(CFLAGS) -o $@ work.c -L. -lpart -Wl,-rpath,'$$ORIGIN'
	END
	cp -r tree patched
	# Two lines more in the program's function, and in the library's, whose line 8 has code in
	# the new source only.
	sed -i 's/^at->x += how;/struct point added = { how, total };\n\nat->x += added.x + added.y;\nat->y += 2 * how;/' patched/work.c
	sed -i 's/^count++;/if (how > 1000)\ncount += 2;\ncount++;/' patched/lib/part.c
	diff -ru --label a/work.c --label b/work.c tree/work.c patched/work.c > fix.diff || :
	diff -ru --label a/lib/part.c --label b/lib/part.c tree/lib/part.c patched/lib/part.c >> fix.diff || :
	rm -r patched
}

# create_debug - makes the update with its debug file
create_debug() {
	tool uspl-create --source=tree --output=. --id=lines --patch=fix.diff --debug-file
	expect_status 0 || return
	UPDATE=uspl-lines.tar.gz ID=lines
	[ -s uspl-lines.debug ] || fail 'no debug file'
}

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_FILE_TMPDIR" || return
	sources
	make -s -C tree CC="$TARGET_CC" DEBUG=-g || return
	create_debug
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	command -v gdb > /dev/null || skip 'gdb is not installed'
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	TARGET=''
	cd "$BATS_FILE_TMPDIR" || return
}

teardown() {
	[ -z "$TARGET" ] || kill -KILL "$TARGET" || true
}

# begin - starts the target, and applies the update
begin() {
	tree/work 3>&- &
	TARGET=$!
	until_true 10 handles USR2 || fail 'it does not begin' || return
	tool uspl-apply "${UPDATE:-uspl-lines.tar.gz}" "$TARGET"
	expect_status 0
}

# by_gdb ARG... - gdb with the script that tells it of new code
by_gdb() {
	PATH=$USPL_BIN:$PATH run timeout --kill-after=5 120 gdb -nx \
		-iex "source $BATS_TEST_DIRNAME/../../contrib/gdb/uspl.py" \
		-iex "set uspl debug-directory ${DEBUG_DIR-$PWD}" -batch "$@"
	[[ $output != *Python* && $output != *uspl.py* ]] || fail "the script fails: $output"
}

# stop_at PLACE COMMAND... - gdb stops there, after a signal has made the target take that way
stop_at() {
	local place=$1 command commands=()
	shift
	for command in "$@"; do
		commands+=(-ex "$command")
	done
	by_gdb -p "$TARGET" -ex "break $place if how > 1000" -ex 'handle SIGUSR2 nostop noprint pass' \
		-ex "python __import__('os').kill($TARGET, 12)" -ex continue "${commands[@]}"
}

@test "gdb stops at a line of new code, and shows its source, arguments and variables" {
	begin
	# The line is one that the patch has added.
	stop_at work.c:15 'backtrace full' 'info line' list 'ptype at' 'print *at' 'print total == 5' 'finish'
	expect_output 'changed \(at=0x[0-9a-f]*, how=1212\) at work\.c:15'
	expect_output 'added = \{x = 1212, y = [0-9]+\}'
	expect_output '#1 .* in main \(\) at work\.c:'
	expect_output 'Line 15 of "[^"]*work\.c" starts at address'
	expect_output $'14\t\n15\tat->x \\+= added\\.x \\+ added\\.y;'
	expect_output 'type = struct point \{'
	expect_output '\{x = [0-9]+, y = 4\}'
	expect_output 'Value returned is'
	[[ $output != *Error* && $output != *'No symbol'* && $output != *'Cannot'* ]] || fail "gdb complains: $output"
}

@test "gdb is told another folder while it has the process" {
	mkdir "$BATS_TEST_TMPDIR/moved"
	cp uspl-lines.debug "$BATS_TEST_TMPDIR/moved"
	begin
	by_gdb -p "$TARGET" -ex "set uspl debug-directory $BATS_TEST_TMPDIR/moved" -ex 'info line work.c:16'
	expect_output 'Line 16 of "[^"]*work\.c" starts at address [0-9a-fx]* <changed'
}

@test "gdb stops in new code of a library" {
	begin
	stop_at part.c:6 'backtrace' list 'info locals'
	expect_output '#0 +part \(how=1212\) at lib/part\.c:6'
	expect_output '#1 .*changed \(at=.*, how=.*\) at work\.c:17'
	expect_output $'5\tif \\(how > 1000\\)\n6\tcount \\+= 2;'
}

@test "the lines of new code in a core dump, and after an undo" {
	begin
	stop_at part.c:6 "generate-core-file $BATS_TEST_TMPDIR/core"
	kill -KILL "$TARGET"
	TARGET=''
	by_gdb tree/work "$BATS_TEST_TMPDIR/core" -ex 'backtrace full'
	expect_output '#0 +part \(how=1212\) at lib/part\.c:6'
	expect_output '#1 .*changed \(at=.*\) at work\.c:17'
	expect_output 'added = \{'
	begin
	tool uspl-undo lines "$TARGET"
	expect_status 0
	by_gdb -p "$TARGET" -ex 'info line part.c:8'
	expect_output 'Line 8 of "[^"]*part\.c" starts at address .*<part\+'
}

@test "the folders are named once more while gdb holds the process" {
	begin
	by_gdb -p "$TARGET" -ex "set uspl debug-directory /nonexistent:$PWD" -ex 'info line part.c:8'
	expect_output 'Line 8 of "[^"]*part\.c" starts at address .*<part\+'
}

@test "a program without debugging information, and an update whose source is patched by now" {
	cp -r tree "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	cp "$BATS_FILE_TMPDIR/fix.diff" .
	make -s -C tree clean all CC="$TARGET_CC" DEBUG= 2> /dev/null || make -s -B -C tree CC="$TARGET_CC" DEBUG=
	create_debug
	patch -s -p1 -d tree < fix.diff
	begin
	stop_at work.c:15 'info source' 'print total' list 'backtrace'
	# It is the tree's own file, since that has the text.
	expect_output "Located in $PWD/tree/work\.c"
	expect_output "\\\$1 = [0-9]"
	expect_output $'15\tat->x \\+= added\\.x \\+ added\\.y;'
	expect_output 'changed \(at=.*, how=1212\) at work\.c:15'
}

@test "two updates, of which the second one changes the first one's code" {
	mkdir "$BATS_TEST_TMPDIR/two"
	cp -r tree "$BATS_TEST_TMPDIR/two"
	cp uspl-lines.debug "$BATS_TEST_TMPDIR/two"
	begin
	cd "$BATS_TEST_TMPDIR/two"
	patch -s -p1 -d tree < "$BATS_FILE_TMPDIR/fix.diff"
	cat > more.diff <<- 'DIFF'
		--- a/work.c
		+++ b/work.c
		@@ -18,3 +18,5 @@
		 KEPT int later(int how)
		 {
		+if (how > 1)
		+total += how;
		 return how + 1;
	DIFF
	sed -i 's/^@@.*/@@ -19,3 +19,5 @@/' more.diff
	tool uspl-create --source=tree --output=. --id=more --patch=more.diff --debug-file \
		--after="$BATS_FILE_TMPDIR/uspl-lines.tar.gz"
	expect_status 0
	tool uspl-apply uspl-more.tar.gz "$TARGET"
	expect_status 0
	by_gdb -p "$TARGET" -ex 'break work.c:22 if how > 1' -ex 'handle SIGUSR2 nostop noprint pass' \
		-ex "python __import__('os').kill($TARGET, 12)" -ex continue -ex backtrace -ex list -ex 'info line work.c:15'
	expect_output 'later \(how=(how@entry=)?12\) at work\.c:22'
	expect_output '#1 .*main \(\) at work\.c:'
	expect_output $'22\ttotal \\+= how;'
	expect_output 'Line 15 of "[^"]*work\.c" starts at address [0-9a-fx]* <changed'
	# Frames of both updates' code are known, the program's and the library's.
	tool uspl-view --symbols=symbols --debug-dir=. "$TARGET"
	expect_status 0
	local addr functions=0 frames
	frames=$(readelf --debug-dump=frames symbols 2> /dev/null)
	for addr in $(nm symbols | sed -n 's/ T .*//p'); do
		[[ $frames == *"pc=$addr.."* ]] || fail "no frame of the function at $addr: $frames"
		functions=$((functions + 1))
	done
	[ "$functions" = 3 ] || fail "$functions functions"
}

# lines_in OPTION... - what gdb says of new code that was compiled so
lines_in() {
	local room=$BATS_TEST_TMPDIR/$RANDOM
	mkdir "$room"
	cp -r "$BATS_FILE_TMPDIR/tree" "$BATS_FILE_TMPDIR/fix.diff" "$room"
	cd "$room" || return
	make -s -B -C tree CC="$CC" DEBUG="$*" || return
	tool uspl-create --source=tree --output=. --id=lines --patch=fix.diff --debug-file --build="make -s CC=$CC DEBUG='$*'"
	expect_status 0 || return
	UPDATE=uspl-lines.tar.gz begin || return
	stop_at work.c:15 backtrace || return
	kill -KILL "$TARGET" || return
	TARGET=''
	expect_output "changed \\(at=.*, how=1212\\) at [^ ]*work\\.c:15" || return
	expect_output '#1 .*main \(\) at [^ ]*work\.c:'
}

@test "forms of debugging information, gcc's and clang's" {
	CC=gcc lines_in -g -gdwarf-4
	CC=gcc lines_in -g -gdwarf-5 -gsplit-dwarf -gz
	CC=gcc lines_in -O1 -g3 -gdwarf-5
	# Bytes before the function, which new code lacks.
	CC=gcc lines_in -g -fpatchable-function-entry=8,3
	command -v clang > /dev/null || skip 'clang is not installed'
	CC=clang lines_in -g -gdwarf-4
	CC=clang lines_in -O1 -g -gdwarf-5 -gz
	CC=clang lines_in -gdwarf-5 -gsplit-dwarf
}

@test "C++: names as people write them" {
	command -v g++ > /dev/null || skip 'g++ is not installed'
	mkdir "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/cxx/tree"
	cd "$BATS_TEST_TMPDIR/cxx"
	cat > tree/main.cc <<- 'CC'
		#include <csignal>
		#include <ctime>
		#include <string>
		static volatile sig_atomic_t wanted;
		static void on_signal(int sig) { wanted = sig; }
		namespace shop {
		class Till {
		public:
			template <class T> [[gnu::noinline]] int take(const T &what, int how);
			int sum = 0;
		};
		template <class T> int Till::take(const T &what, int how)
		{
			sum += how;
			return sum + static_cast<int>(what.size());
		}
		}
		int main()
		{
			shop::Till till;
			std::string what = "apple";
			signal(SIGUSR2, on_signal);
			for (;;) {
				int how = wanted;
				wanted = 0;
				if (till.take(what, how ? 1200 + how : 0) == 7)
					what += "x";
				timespec pause = { 0, 2000000 };
				nanosleep(&pause, nullptr);
			}
		}
	CC
	printf 'work: main.cc\n\tg++ -g -o $@ main.cc\n' > tree/Makefile
	cp tree/main.cc new.cc
	sed -i 's/^sum += how;/if (how)\nsum += 2;\nsum += how;/' new.cc
	diff -u --label a/main.cc --label b/main.cc tree/main.cc new.cc > fix.diff || :
	make -s -C tree
	create_debug
	begin
	stop_at main.cc:15 'backtrace 1' 'print sum' 'ptype this' list
	expect_output 'shop::Till::take<std::.*string.* > \(this=.*, what=.*how=1212\) at main\.cc:15'
	expect_output $'15\tsum \\+= 2;'
	expect_output "\\\$1 = [0-9]"
}

@test "files that belong to another update, are damaged, or are missing" {
	begin
	mkdir "$BATS_TEST_TMPDIR/other"
	cd "$BATS_TEST_TMPDIR/other"
	# Another update of the same id.
	cp "$BATS_FILE_TMPDIR/fix.diff" .
	cp -r "$BATS_FILE_TMPDIR/tree" .
	sed -i 's/2 \* how/3 * how/' fix.diff
	create_debug
	local what
	for what in other damaged cut; do
		[ "$what" != damaged ] || sed 's/a/b/g' "$BATS_FILE_TMPDIR/uspl-lines.debug" > uspl-lines.debug
		[ "$what" != cut ] || head -c 500 "$BATS_FILE_TMPDIR/uspl-lines.debug" > uspl-lines.debug
		rm -f symbols
		tool uspl-view --symbols=symbols --debug-dir=. "$TARGET"
		expect_status 0
		expect_message "note: no source lines of 'lines': .*uspl-lines\.debug'"
		[ "$what" != other ] || expect_message 'belongs to another update'
		! readelf -SW symbols | grep -q debug_info || fail "lines of what is $what"
		nm symbols | grep -q changed || fail "no names, since the file is $what"
	done
	# The next folder has it.
	tool uspl-view --symbols=symbols --debug-dir=. --debug-dir="$BATS_FILE_TMPDIR" "$TARGET"
	expect_status 0
	readelf -SW symbols | grep -q debug_info || fail 'no lines from the second folder'
	tool uspl-view --symbols=symbols --debug-dir=/nonexistent "$TARGET"
	expect_status 0
	[ -z "$stderr" ] || fail "it says: $stderr"
	DEBUG_DIR=/nonexistent by_gdb -p "$TARGET" -ex 'info line part.c:8' -ex 'info symbol changed'
	expect_output 'changed in section .text'
	tool uspl-view --debug-dir=. "$TARGET"
	expect_status 2
	tool uspl-view --symbols=symbols --sources=. "$TARGET"
	expect_status 3
	expect_message "cannot make the folder '\.'"
	tool uspl-view --symbols=symbols --sources=sources $$
	expect_status 1
	[ ! -e sources ] || fail 'a failure leaves a folder'
}

@test "an update that was applied from a folder tells of no file" {
	mkdir "$BATS_TEST_TMPDIR/unpacked"
	tar -C "$BATS_TEST_TMPDIR/unpacked" -xzf uspl-lines.tar.gz
	UPDATE=$BATS_TEST_TMPDIR/unpacked/uspl-lines begin
	tool uspl-view --symbols="$BATS_TEST_TMPDIR/symbols" --debug-dir=. "$TARGET"
	expect_status 0
	expect_message 'belongs to another update'
}

@test "the same sources make the same debug file" {
	export SOURCE_DATE_EPOCH=1700000000
	mkdir "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
	tool uspl-create --source=tree --output="$BATS_TEST_TMPDIR/first" --id=lines --patch=fix.diff --debug-file
	expect_status 0
	tool uspl-create --source=tree --output="$BATS_TEST_TMPDIR/second" --id=lines --patch=fix.diff --debug-file
	expect_status 0
	cmp "$BATS_TEST_TMPDIR/first/uspl-lines.debug" "$BATS_TEST_TMPDIR/second/uspl-lines.debug"
	# The update doesn't depend on it.
	tool uspl-create --source=tree --output="$BATS_TEST_TMPDIR/second" --id=lines --patch=fix.diff
	expect_status 0
	cmp "$BATS_TEST_TMPDIR/first/uspl-lines.tar.gz" "$BATS_TEST_TMPDIR/second/uspl-lines.tar.gz"
}

@test "code that link-time optimisation has made has no lines, which is said" {
	mkdir "$BATS_TEST_TMPDIR/lto"
	cp -r tree fix.diff "$BATS_TEST_TMPDIR/lto"
	cd "$BATS_TEST_TMPDIR/lto"
	local build="make -s CC=gcc DEBUG='-O1 -g -flto'"
	(cd tree && make -s -B CC=gcc DEBUG='-O1 -g -flto') || skip 'gcc has no link-time optimisation'
	tool uspl-create --source=tree --output=. --id=lines --patch=fix.diff --target=work --debug-file --build="$build"
	expect_status 0
	expect_message "warning: the new code of 'work' has no debugging information"
	UPDATE=uspl-lines.tar.gz begin
	tool uspl-view --symbols=symbols --debug-dir=. "$TARGET"
	expect_status 0
	[ -z "$stderr" ] || fail "it says: $stderr"
	nm symbols | grep -q ' changed' || fail 'no names'
	! readelf -SW symbols | grep -q debug_info || fail 'docs/limitations.md says that there are no lines'
}

@test "an update that is enabled keeps its debug file, where gdb finds it" {
	"$PWD/tree/work" 3>&- &
	TARGET=$!
	until_true 10 handles USR2 || fail 'it does not begin'
	tool uspl-enable --later uspl-lines.tar.gz
	expect_status 0
	cmp uspl-lines.debug "$USPL_STATE/uspl-lines.debug"
	tool uspl-apply uspl-lines.tar.gz "$TARGET"
	expect_status 0
	DEBUG_DIR='' by_gdb -p "$TARGET" -ex 'info line part.c:8'
	expect_output 'Line 8 of "[^"]*part\.c" starts at address .*<part\+'
	tool uspl-disable lines
	expect_status 0
	[ ! -e "$USPL_STATE/uspl-lines.debug" ] || fail 'it is left behind'
	# What isn't this update's is left where it is.
	mkdir "$BATS_TEST_TMPDIR/strange"
	cp uspl-lines.tar.gz "$BATS_TEST_TMPDIR/strange"
	echo nonsense > "$BATS_TEST_TMPDIR/strange/uspl-lines.debug"
	tool uspl-enable --later "$BATS_TEST_TMPDIR/strange/uspl-lines.tar.gz"
	expect_status 0
	expect_message 'note: .*uspl-lines\.debug'
	[ ! -e "$USPL_STATE/uspl-lines.debug" ] || fail 'a file that is none was taken'
}
