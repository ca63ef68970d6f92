# SPDX-License-Identifier: GPL-3.0-or-later
# create.bats - uspl-create: options, diffs and builds that are wrong, and that the user's tree
# stays as it is
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/tree"
	cd "$BATS_TEST_TMPDIR/tree" || return
	printf '#include "limit.h"\n\nint limit(void)\n{\n\treturn LIMIT;\n}\n' > limit.c
	printf '#define LIMIT 1\n' > limit.h
	printf 'int limit(void);\n\nint main(void)\n{\n\treturn limit();\n}\n' > main.c
	printf 'server: limit.c main.c\n\t$(CC) -O2 -o $@ limit.c main.c\n' > Makefile
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
}

# Whatever the outcome, no temporary folder may stay.
teardown() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

# diff_of FILE SCRIPT - prints the diff that sed's SCRIPT makes to FILE
diff_of() {
	sed "$2" "$1" > "$1.new"
	diff -u --label "a/$1" --label "b/$1" "$1" "$1.new" || rm "$1.new"
}

# create_in ARG... - uspl-create with ../fix.diff, the update going to ../out
create_in() {
	tool uspl-create --output=../out "${PATCH:---patch=../fix.diff}" "$@"
}

# expect_refused STATUS REGEX - fails unless create said no, and wrote nothing
expect_refused() {
	expect_status "$1" || return
	expect_message "^uspl-create: .*$2" || return
	[ -z "$output" ] && [ ! -e ../out ]
}

# expect_functions NAME... - fails unless the update in ../out redirects these
expect_functions() {
	tool uspl-view --file=../out --json
	[ "$(functions_of "$output")" = "$*" ]
}

@test "the path of the update is the last line of the output" {
	create_in --id=fix-1
	expect_status 0
	[ "${lines[-1]}" = ../out ]
	expect_functions limit
}

@test "a folder as output" {
	mkdir ../folder
	tool uspl-create --patch=../fix.diff --id=fix-1 --output=../folder
	expect_status 0
	[ -f ../folder/uspl-fix-1.tar.gz ]
	tool uspl-create --patch=../fix.diff --id=fix-1
	expect_status 0
	[ "$output" = uspl-fix-1.tar.gz ]
	[ -f uspl-fix-1.tar.gz ]
	rm uspl-fix-1.tar.gz
}

@test "the tree stays as it is: names, contents, times" {
	make -s
	find . -printf '%p %y %m %s %T@\n' | sort > ../before
	find . -type f -exec md5sum {} + | sort > ../sums
	create_in
	expect_status 0
	find . -printf '%p %y %m %s %T@\n' | sort | cmp - ../before
	find . -type f -exec md5sum {} + | sort | cmp - ../sums
}

@test "a tree that is built already is built anew" {
	make -s
	create_in
	expect_status 0
	expect_functions limit
}

@test "a tree that is read-only" {
	chmod -R a-w .
	create_in
	chmod -R u+w .
	expect_status 0
}

@test "names with blanks" {
	mkdir '../my tree'
	cp ./* '../my tree'
	cd '../my tree'
	create_in
	expect_status 0
	expect_functions limit
}

@test "a header that the makefile knows nothing of" {
	diff_of limit.h 's/1/2/' > ../fix.diff
	create_in
	expect_status 0
	expect_functions limit
}

@test "the diff from standard input, with -p0" {
	sed -i 's,[ab]/limit,limit,' ../fix.diff
	PATCH=--patch=- create_in --patch-opt=-p0 < ../fix.diff
	expect_status 0
	expect_functions limit
}

@test "several diffs, one upon the other" {
	cp limit.c limit.old
	patch -s -p1 < ../fix.diff
	diff_of limit.c 's/41/42/' > ../more.diff
	mv limit.old limit.c
	create_in --patch=../more.diff
	expect_status 0
	expect_functions limit
}

@test "absolute paths in CC" {
	CC=/usr/bin/gcc create_in
	expect_status 0
	expect_functions limit
}

@test "a build command, objects and archives in subfolders" {
	mkdir sub
	mv limit.c limit.h sub
	diff_of sub/limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	cat > build.sh <<- 'END'
		set -e
		gcc -O2 -c -o 'sub/li mit.o' sub/limit.c
		ar rc sub/libl.a 'sub/li mit.o'
		gcc -O2 -o server main.c -Lsub -ll
		gcc -O2 -shared -fPIC -o libother.so.1 main.c
	END
	create_in --build='sh build.sh'
	expect_status 0
	expect_functions limit
	tool uspl-view --file=../out --json
	expect_output '"name": *"server"'
	[[ ! $output =~ libother ]]
}

@test "a recursive make, an object made of objects, thin archives" {
	mkdir sub
	mv limit.c limit.h sub
	diff_of sub/limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	printf 'all:\n\t$(MAKE) -C sub\n\tgcc -O2 -o server main.c sub/libt.a\n' > Makefile
	printf 'libt.a: r.o\n\tar rcT $@ $<\nr.o: limit.o\n\tld -r -o $@ $<\nlimit.o: limit.c\n\tgcc -c $<\n' > sub/Makefile
	create_in -j4
	expect_status 0
	expect_functions limit
}

@test "--target narrows" {
	printf 'all: one two\none two: limit.c main.c\n\t$(CC) -O2 -o $@ limit.c main.c\n' > Makefile
	create_in --target=tw%
	expect_status 0
	tool uspl-view --file=../out --json
	expect_output '"name": *"two"'
	[[ ! $output =~ '"one"' ]]
	rm ../out
	create_in
	tool uspl-view --file=../out --json
	expect_output '"one".*"two"'
	rm ../out
	create_in --target=three
	expect_refused 2 "'three'"
	expect_one_message
	expect_message 'hint: .*one, two'
}

@test "the diff changes no code: status 5" {
	diff_of limit.c '3s/^/\/* a comment *\/ /' > ../fix.diff
	create_in
	expect_refused 5 'changes no code'
	expect_one_message
	printf -- '--- /dev/null\n+++ b/README\n@@ -0,0 +1 @@\n+words\n' > ../fix.diff
	create_in
	expect_refused 5 'changes no code'
}

@test "a diff that doesn't apply names file and hunk" {
	sed -i 's/LIMIT;/NONE;/; s/^ int/ long/; s/^ {/ [/; s/^ }/ ]/' ../fix.diff
	create_in
	expect_refused 3 'limit.c: Hunk #1 FAILED'
	expect_one_message
	printf -- '--- a/nosuch.c\n+++ b/nosuch.c\n@@ -1 +1 @@\n-a\n+b\n' > ../fix.diff
	create_in
	expect_refused 3 "nosuch.c: can't find file"
	expect_one_message
}

@test "a diff that is applied already" {
	patch -s -p1 < ../fix.diff
	create_in
	expect_refused 3 'previously applied'
	expect_one_message
}

@test "names that lead out of the tree" {
	: > ../victim.c
	printf -- '--- a/../victim.c\n+++ b/../victim.c\n@@ -0,0 +1 @@\n+x\n' > ../fix.diff
	create_in
	expect_refused 1 'not in the tree'
	expect_one_message
	printf -- '--- %s/victim.c\n+++ %s/victim.c\n@@ -0,0 +1 @@\n+x\n' "$PWD" "$PWD" > ../fix.diff
	create_in
	expect_refused 1 'not in the tree'
	[ ! -s ../victim.c ]
}

@test "no diff, an empty one, binary data, none at all" {
	echo words > ../fix.diff
	create_in
	expect_refused 3 'holds no diff'
	expect_one_message
	: > ../fix.diff
	create_in
	expect_refused 3 'holds no diff'
	printf -- '--- a\n+++ b\n@@ -1 +1 @@\n-\0\n+b\n' > ../fix.diff
	create_in
	expect_refused 3 'not a text'
	rm ../fix.diff
	create_in
	expect_refused 3 'fix.diff'
	expect_one_message
}

@test "a build that fails before the diff, and one that fails after it" {
	diff_of limit.c 's/return LIMIT/return NOSUCH/' > ../fix.diff
	create_in
	expect_status 3
	[[ $stderr =~ 'uspl-create: the patch breaks the build' ]]
	[[ ${stderr_lines[0]} =~ 'In function' ]]
	[[ $stderr =~ 'breaks the build: limit.c:5:'.*NOSUCH.*undeclared ]]
	[[ ! $stderr =~ 'make -j' ]]
	create_in --verbose
	expect_message 'make -j'
	sed -i 's/LIMIT;/LIMIT/' limit.c
	diff_of main.c 's/limit();/limit() + 1;/' > ../fix.diff
	create_in
	expect_status 3
	[[ $stderr =~ "expected ';'" ]]
	[[ $stderr =~ 'uspl-create: the build before the patch failed' ]]
	[ ! -e ../out ]
}

@test "compilers by their absolute path: noticed" {
	sed -i 's,\$(CC),/usr/bin/gcc,' Makefile
	create_in
	expect_refused 1 'could see'
	expect_one_message
	printf 'server: main.c limit.o\n\tgcc -O2 -o $@ main.c limit.o\nlimit.o: limit.c\n\t/usr/bin/gcc -c $<\n' > Makefile
	create_in
	expect_refused 1 "'limit.o' in 'server'"
	expect_one_message
	diff_of main.c 's/limit()/limit() + 1/' > ../fix.diff
	create_in --build='make server'
	expect_status 0
}

@test "a change in a static library that no program contains" {
	printf 'liblimit.a: limit.c\n\t$(CC) -c $<\n\tar rc $@ limit.o\nserver: main.c\n' > Makefile
	create_in
	expect_refused 1 'no program or library'
	expect_one_message
}

@test "a folder without a build, no folder at all, a file for a folder" {
	rm Makefile
	create_in
	expect_refused 1 'how this tree is built'
	expect_one_message
	create_in --source=nosuch
	expect_refused 3 nosuch
	create_in --source=main.c
	expect_refused 3 main.c
}

@test "wrong options" {
	for id in '' a/b 'a b' "$(printf %064d 0)"; do
		create_in --id="$id"
		expect_refused 2 "can't be an update's id"
		expect_one_message
	done
	create_in operand
	expect_refused 2 operand
	create_in -j0
	expect_refused 2 jobs
	tool uspl-create
	expect_status 2
	tool uspl-create --patch=../fix.diff --output=../nosuch/out
	expect_status 3
	expect_message nosuch/out
}

@test "--explain says why, and the path is still the last line" {
	create_in --id=fix-1 --explain
	expect_status 0
	[ "${lines[-1]}" = ../out ]
	expect_output "'limit' at limit\.c:3: changed"
	expect_output 'first difference at limit\+0x[0-9a-f]+, limit\.c:[56]:'
	expect_output '- mov \$0x1,%eax'
	expect_output '\+ mov \$0x2a,%eax'
	expect_output 'in all: 1 replaced, 0 new functions'
}

@test "--dry-run writes nothing, and ends as if it did" {
	create_in --dry-run
	expect_status 0
	[ -z "$output" ]
	[ ! -e ../out ]
	create_in --dry-run --explain
	expect_status 0
	expect_output "'limit' at limit\.c:3: changed"
	[ ! -e ../out ]
	printf 'int limit(void);\nint more = 1;\n\nint main(void)\n{\n\treturn limit() + more;\n}\n' > main.c
	diff_of main.c 's/more = 1/more = 2/' > ../fix.diff
	create_in --dry-run
	expect_refused 1 "main\.c:2: the initial value of 'more' changes from 1 to 2"
	expect_one_message
	diff_of limit.h 's/$/ \/* none *\//' > ../fix.diff
	create_in --dry-run
	expect_refused 5 'changes no code'
}

@test "--keep keeps the tree and the output of the builds" {
	create_in --keep=../kept
	expect_status 0
	[ -f ../kept/tree/server ]
	[ -s ../kept/build-pre.log ]
	[ -s ../kept/build-post.log ]
	create_in --keep=../kept
	expect_status 3
	expect_message kept
	[ -f ../kept/tree/server ]
}

@test "a signal ends the build and removes the temporary folder" {
	printf 'all:\n\techo started > "$(STARTED)"; exec sleep 60\n' > Makefile
	STARTED=$PWD/../started "$USPL_BIN/uspl-create" --patch=../fix.diff 3>&- &
	pid=$!
	until [ -s ../started ]; do sleep 0.05; done
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 143 ]
	[ -z "$(ls -A "$TMPDIR")" ]
}

# run_slowly - starts a build that doesn't end; RUN is the pid of uspl-create, SLEEPER that of the
# build, FOLDER its own one
run_slowly() {
	local before
	before=$(ls -A "$TMPDIR")
	rm -f ../started
	STARTED=$PWD/../started "$USPL_BIN/uspl-create" --patch=../fix.diff > /dev/null 2>&1 3>&- &
	RUN=$!
	until_true 60 [ -s ../started ] || return
	read -r SLEEPER < ../started
	# make keeps a FIFO of its own there, since 4.4.
	FOLDER=$TMPDIR/$(comm -13 <(echo "$before") <(ls -A "$TMPDIR") | grep "^uspl-create")
}

@test "what a killed run left is removed by the next one, but not what another one uses" {
	local left
	printf 'all:\n\techo $$$$ > "$(STARTED)"; exec sleep 60 3>&-\n' > Makefile
	run_slowly
	left=$FOLDER
	kill -KILL "$RUN" "$SLEEPER"
	wait "$RUN" || :
	[ -d "$left/tree" ]
	run_slowly
	mkdir "$TMPDIR/uspl-create.mine"
	[ ! -e "$left" ]
	create_in --build=false
	expect_status 3
	[ -d "$FOLDER/tree" ]
	[ -d "$TMPDIR/uspl-create.mine" ]
	rmdir "$TMPDIR/uspl-create.mine"
	kill -TERM "$RUN"
	wait "$RUN" || :
}

@test "folders with a ':' in their names: refused, since PATH can't have them" {
	mkdir ../a:b
	TMPDIR=$PWD/../a:b create_in
	expect_refused 2 "nothing can be built in '.*/a:b/uspl-create.*': its name has a ':'"
	[ -z "$(ls -A ../a:b)" ]
	create_in --keep=../c:d
	expect_refused 2 'nothing can be built'
	create_in --prebuild=../c:d
	expect_refused 2 'nothing can be built'
	[ ! -e ../c:d ]
	# The tree itself may lie in one.
	cp -r . ../a:b/tree
	tool uspl-create --source=../a:b/tree --output=../out --patch=../fix.diff
	expect_functions limit
}

@test "--explain never shows two equal lines: a table that only has other contents is passed over" {
	cat > limit.c <<- 'END'
		#include <stdio.h>
		int limit(void)
		{
			switch (getchar()) {
			case 0: return puts("a");
			case 1: return puts("b");
			case 2: return puts("c") + 1;
			case 3: return puts("d") + 2;
			case 4: return puts("e") * 3;
			case 5: return puts("f") * 5;
			}
			return 0;
		}
	END
	diff_of limit.c 's/puts("d") + 2/puts("e") * 3/' > ../fix.diff
	create_in --explain
	expect_status 0
	local old new
	old=$(sed -n 's/^      - //p' <<< "$output")
	new=$(sed -n 's/^      + //p' <<< "$output")
	[ -n "$new" ]
	[ "$old" != "$new" ]
}

# find_source - limit.c has a function that is inlined, and uses other registers if what surrounds
# it changes
find_source() {
	cat > limit.c <<- 'END'
		#include "limit.h"

		extern volatile int number;
		volatile int number = 7;

		static inline int find(int n)
		{
			int at;

			__asm__("lea 1(%1),%0" : "=r"(at) : "r"(n));
			return at;
		}

		int limit(void)
		{
			int n = number, at = find(n);

			number = 8;
			return at + LIMIT;
		}
	END
}

@test "--explain shows the changed source line, old and new, and names an inlined function only if it is the one" {
	find_source
	diff_of limit.c 's/return at + LIMIT/return n - at/' > ../fix.diff
	create_in --explain
	expect_status 0
	expect_output "'limit' at limit.c:14: changed
      first difference at limit.*, limit.c:10, inlined from 'find':
"
	expect_output 'changed source at limit.c:19:
        - return at \+ LIMIT;
        \+ return n - at;
'
	rm ../out
	diff_of limit.c 's/lea 1(%1)/lea 3(%1)/; s/return at + LIMIT/return n - at/' > ../fix.diff
	create_in --explain
	expect_output "'limit' at limit.c:14: changed, first in what is inlined from 'find'
"
	expect_output 'changed source at limit.c:10:
        - __asm__\("lea 1.*
        \+ __asm__\("lea 3'
	rm ../out
	diff_of limit.c '/number = 8/d' > ../fix.diff
	create_in --explain
	expect_output "'limit' at limit.c:14: changed
"
	expect_output 'changed source at limit.c:18:
        - number = 8;
  '
	rm ../out
	diff_of limit.h 's/LIMIT 1/LIMIT n/' > ../fix.diff
	create_in --explain
	expect_output "'limit' at limit.c:14: changed, first differs in what is inlined from 'find', which may be as it was
"
	[[ ! $output =~ 'changed source' ]]
}

@test "--explain of several diffs, and of lines that only move: no line of another's numbers" {
	find_source
	diff_of limit.c '3i /* one */\n/* two */' > ../one.diff
	cp limit.c limit.old
	patch -s -p1 < ../one.diff
	diff_of limit.c 's/at + LIMIT/at - LIMIT/' > ../fix.diff
	mv limit.old limit.c
	tool uspl-create --output=../out --patch=../one.diff --patch=../fix.diff --explain
	expect_status 0
	[[ ! $output =~ 'changed source' ]]
	rm ../out
	diff_of limit.c '3i /* one */\n/* two */
		s/^\tnumber = 8/\n\tnumber  = 8/; s/at + LIMIT/at - LIMIT/' > ../fix.diff
	create_in --explain
	expect_output 'changed source at limit.c:21:
        - return at \+ LIMIT;
        \+ return at - LIMIT;
'
}

@test "a program that counts what runs in it changes, and the same program without counters doesn't: no code" {
	printf 'all: server counting\nserver: limit.c main.c\n\t$(CC) -O2 -o $@ limit.c main.c\n' > Makefile
	printf 'counting: limit.c main.c\n\t$(CC) -O0 --coverage -o $@ limit.c main.c\n' >> Makefile
	diff_of limit.c 's/^\treturn/\tif (LIMIT > 2)\n\t\treturn LIMIT;\n&/' > ../fix.diff
	create_in
	expect_status 5
	expect_message 'uspl-create: the patch changes no code'
	create_in --target=counting
	expect_status 1
	expect_message "uspl-create: 'counting' is built to count"
}
