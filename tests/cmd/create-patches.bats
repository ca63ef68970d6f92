# SPDX-License-Identifier: GPL-3.0-or-later
# create-patches.bats - the diffs that uspl-create takes, and what it says of those that it doesn't
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	makefile 'server: main.o limit.o' ";\$(CC) -o \$@ \$^ && : > $BATS_TEST_TMPDIR/built"
}

teardown() {
	expect_tidy
}

# git_tree - makes the tree a git repository, for a diff to be written by git
git_tree() {
	need git
	git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -q -m first
}

# git_diff - the changes since git_tree as ../fix.diff; the tree is as before
git_diff() {
	git add -A . && git diff --cached -M "$@" > ../fix.diff
	git reset -q --hard
}

# dos FILE... - gives files DOS line ends
dos() {
	sed -i 's/$/\r/' "$@"
}

# expect_no_build - fails if the long first build was begun
expect_no_build() {
	[ ! -e ../built ] || fail 'it was built'
}

@test "one of several diffs that doesn't apply is named before anything is built" {
	diff_of limit.c 's/LIMIT/NUMBER/' > ../second.diff
	create_in --patch=../second.diff
	expect_refused 3 "'../second.diff' doesn't apply: limit.c: Hunk #1 FAILED"
	expect_one_message
	expect_no_build
}

@test "the second diff changes what the first one brings" {
	printf -- '--- /dev/null\n+++ b/more.h\n@@ -0,0 +1 @@\n+#define MORE 1\n' > ../first.diff
	printf -- '--- a/more.h\n+++ b/more.h\n@@ -1 +1 @@\n-#define MORE 1\n+#define MORE 42\n' > ../second.diff
	diff_of limit.c 's/return LIMIT/return MORE/; 1i #include "more.h"' > ../fix.diff
	tool uspl-create --output=../out --patch=../first.diff --patch=../second.diff --patch=../fix.diff
	expect_update server limit
}

@test "two diffs of one file in one text" {
	diff_of limit.c 's/return LIMIT/return LIMIT + 40/' > ../fix.diff
	cp limit.c limit.old
	patch -s -p1 < ../fix.diff
	diff_of limit.c 's/40/41/' >> ../fix.diff
	mv limit.old limit.c
	create_in
	expect_update server limit
}

@test "names without leading folders: -p0 is found by itself" {
	sed -i 's,[ab]/limit,limit,' ../fix.diff
	create_in
	expect_update server limit
	rm ../out
	create_in --patch-opt=-p1
	expect_refused 3 "'../fix.diff' doesn't apply: limit.c: can't find file to patch"
}

@test "names with two leading folders: -p2" {
	sed -i 's,[ab]/limit,x/y/limit,' ../fix.diff
	create_in
	expect_refused 3 "doesn't apply: x/y/limit.c: can't find file"
	expect_message 'hint: .*--patch-opt'
	create_in --patch-opt=-p2
	expect_update server limit
	[ -e ../built ]
}

@test "DOS line ends: in the source and the diff, in the diff alone, in the source's lines alone" {
	dos ../fix.diff
	create_in
	expect_update server limit
	rm ../out
	dos limit.c
	create_in
	expect_update server limit
	rm ../out
	sed -i '/^\(---\|+++\|@@\)/s/\r$//' ../fix.diff
	create_in
	expect_update server limit
}

@test "DOS line ends: an unchanged function below keeps its lines" {
	printf '\nint line(void)\n{\n\treturn __LINE__;\n}\n' >> limit.c
	dos limit.c
	diff_of limit.c 's/return LIMIT/int more = 41;\r\n\r\n\treturn LIMIT + more/' > ../fix.diff
	create_in
	expect_update server limit
}

@test "no newline at the end: before, after, and in the middle of the change" {
	printf '%s' "$(< limit.c)" > limit.new
	mv limit.new limit.c
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	grep -q 'No newline' ../fix.diff
	create_in
	expect_update server limit
	rm ../out
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/; $s/$/\n/' > ../fix.diff
	create_in
	expect_update server limit
}

@test "a git diff with a new, a removed and a renamed file" {
	makefile 'server: $(patsubst %.c,%.o,$(wildcard *.c))' ';$(CC) -o $@ $^'
	printf 'int old(void)\n{\n\treturn 3;\n}\n' > old.c
	printf 'int moved(void)\n{\n\treturn 4;\n}\n\nint also(void)\n{\n\treturn 5;\n}\n' > from.c
	git_tree
	git mv from.c to.c
	git rm -q -f old.c
	printf 'int added(void)\n{\n\treturn 41;\n}\n' > added.c
	sed -i 's/return LIMIT/return LIMIT + added()/; s/^int limit/int added(void);\n\n&/' limit.c
	git_diff
	grep -q '^rename from' ../fix.diff
	create_in
	expect_update server limit
}

@test "a git diff with other modes: nothing but modes is no code, beside code it does no harm" {
	git_tree
	chmod +x limit.h
	git_diff
	[ "$(grep -c '^@@' ../fix.diff)" = 0 ]
	create_in
	expect_refused 5 'changes no code'
	chmod +x limit.h
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	git_diff
	create_in
	expect_update server limit
}

@test "a git diff with an empty new file, and names with blanks" {
	mkdir 'a folder'
	printf '#define MORE 0\n' > 'a folder/more of it.h'
	sed -i 's/return LIMIT/return LIMIT + MORE/; 1i #include "a folder/more of it.h"' limit.c
	git_tree
	sed -i 's/0/41/' 'a folder/more of it.h'
	: > empty.h
	git_diff
	create_in
	expect_update server limit
}

@test "a tree whose path has blanks" {
	mkdir -p '../other tree' "$TMPDIR/a b"
	cp -- *.[ch] Makefile '../other tree'
	cd '../other tree'
	TMPDIR="$TMPDIR/a b" create_in
	rmdir "$TMPDIR/a b"
	expect_update server limit
}

@test "a file that isn't text is refused, and named" {
	printf 'a\0b' > logo.bin
	git_tree
	printf 'a\0c' > logo.bin
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	git_diff --binary
	create_in
	expect_refused 1 "'../fix.diff' changes a file that isn't text: 'diff --git a/logo.bin b/logo.bin'"
	expect_message 'hint: .*take these lines out'
	printf 'a\0c' > logo.bin
	git_diff
	grep -q '^Binary files' ../fix.diff
	create_in
	expect_refused 1 "isn't text: .*logo.bin"
	expect_no_build
}

@test "a diff that is applied already" {
	patch -s -p1 < ../fix.diff
	create_in
	expect_refused 3 "doesn't apply: limit.c: Reversed \(or previously applied\)"
	expect_no_build
}
