# SPDX-License-Identifier: GPL-3.0-or-later
# create-commits.bats - commits and mails as uspl-create takes them, and what they change that the
# tree lacks
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	need git
	tree_make tree
	makefile 'server: main.o limit.o' ";\$(CC) -o \$@ \$^ && : > $BATS_TEST_TMPDIR/built"
}

teardown() {
	expect_tidy
}

# git_tree - makes the tree a git repository
git_tree() {
	git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -q -m first
}

# commit MESSAGE - commits all that differs
commit() {
	git add -A .
	git -c user.name=a -c user.email=a@b commit -q -m "$1" "${@:2}"
}

# back [N] - the tree as before the last commits, and no repository
back() {
	git reset -q --hard "HEAD~${1:-1}"
	rm -rf .git
}

# expect_no_build - fails if the long first build was begun
expect_no_build() {
	[ ! -e ../built ] || fail 'it was built'
}

# expect_described FUNCTIONS TEXT - fails unless the update has these functions, and this
# description
expect_described() {
	expect_update server "$1" || return
	expect_output "\"description\":\"$2\"" || return
	rm ../out
}

# upstream_commit - a commit to limit.c, a change log, a picture and a page, of which the tree has
# only limit.c then
upstream_commit() {
	printf 'old\n' > ChangeLog
	git_tree
	mkdir docs
	printf 'new\nold\n' > ChangeLog
	printf 'a\0b' > docs/logo.png
	printf 'a page\n' > docs/page.md
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	commit "limit: a longer way to say that the limit of it all is higher by forty-one" -m "And why."
}

@test "an upstream commit as git show and as a mail: described by its subject; what the tree lacks is left out" {
	local how
	upstream_commit
	git show --binary > ../show.diff
	git format-patch --stdout -1 > ../mail.diff
	git reset -q --hard HEAD~1
	rm -r .git ChangeLog
	for how in show mail; do
		tool uspl-create --output="../$how.out" --patch="../$how.diff"
		expect_status 0
		expect_message "note: left out of '../$how.diff', since the tree has no such file: ChangeLog, docs/logo.png"
		tool uspl-view --file="../$how.out"
		expect_output 'limit: a longer way to say that the limit of it all is higher by forty-one'
		! grep -q 'diff --git a/docs/logo.png' <<< "$output"
	done
}

@test "a commit that changes nothing of the tree but what it lacks: no code" {
	upstream_commit
	git show --binary -- ChangeLog docs/logo.png > ../fix.diff
	git reset -q --hard HEAD~1
	rm ChangeLog
	create_in
	expect_refused 5 'changes no file of this tree'
	expect_no_build
}

# long_subject - commits a change whose subject must be encoded, and folded
long_subject() {
	git_tree
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	sed -i '1i /* größer = höher */' limit.c
	commit 'limit: größer als alles, was bisher je auf irgendeiner Straße gesehen wurde'
}

@test "mails with an encoded subject, folded; with DOS line ends; with the diff attached" {
	local subject='limit: größer als alles, was bisher je auf irgendeiner Straße gesehen wurde'
	long_subject
	git format-patch --stdout -1 > ../mail.diff
	git format-patch --stdout --attach -1 > ../attached.diff
	back
	grep -q '^Subject: \[PATCH\] =?UTF-8?q?' ../mail.diff
	sed 's/\[PATCH\]/Re: [a-devel] [PATCH v3 02\/17]/' ../mail.diff > ../reply.diff
	sed 's/$/\r/' ../mail.diff > ../dos.diff
	local how
	for how in mail reply dos attached; do
		tool uspl-create --output=../out --patch="../$how.diff"
		expect_described limit "$subject"
	done
}

# encode HOW - ../mail.diff with its body encoded so
encode() {
	local command='import quopri, sys; sys.stdout.buffer.write(quopri.encodestring(sys.stdin.buffer.read()))'
	sed '/^$/q' ../mail.diff | grep -v '^Content-Transfer-Encoding' | sed "s/^MIME-Version.*/&\nContent-Transfer-Encoding: $1/"
	case $1 in
	base64) sed '1,/^$/d' ../mail.diff | base64 ;;
	*) sed '1,/^$/d' ../mail.diff | python3 -c "$command" ;;
	esac
}

@test "mails whose bodies are encoded: quoted-printable, base64" {
	need python3
	local how
	long_subject
	git format-patch --stdout -1 > ../mail.diff
	back
	for how in quoted-printable base64; do
		encode "$how" > ../fix.diff
		! grep -q '^+.*größer = höher' ../fix.diff
		create_in
		expect_described limit 'limit: größer als alles, .*'
	done
}

@test "a mailbox of several patches, some of them encoded" {
	git_tree
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	commit 'One of two'
	sed -i 's/return limit()/return limit() + 1/' main.c
	commit 'Größer'
	git format-patch --stdout --cover-letter -2 | sed 's/\*\*\* SUBJECT HERE \*\*\*/All of it/' > ../fix.diff
	git format-patch --stdout -2 > ../two.diff
	back 2
	create_in
	expect_described 'limit main' 'All of it'
	mv ../two.diff ../fix.diff
	create_in
	expect_described 'limit main' 'One of two'
}

@test "commits as git show and git log write them" {
	local format
	git_tree
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	commit 'A higher limit' -m 'Subject: not this one'
	for format in short medium full fuller reference raw email oneline; do
		git show --format="$format" --stat -p > "../$format.diff"
	done
	git log -1 -p --decorate > ../log.diff
	back
	for format in short medium full fuller raw email log; do
		tool uspl-create --output=../out --patch="../$format.diff"
		expect_described limit 'A higher limit'
	done
	for format in oneline reference; do
		tool uspl-create --output=../out --patch="../$format.diff"
		expect_described limit '.*A higher limit.*'
	done
}

@test "files that git renames and copies, with and without changes: sources, and others that the build uses" {
	makefile 'server: main.o limit.o copy.o $(wildcard twin.o)' ';$(CC) -o $@ $^' \
		'limit.o: $(wildcard limit.def limit.tab)' ';$(CC) -DTABLE=\"$(wildcard limit.def limit.tab)\" -c -o $@ limit.c' \
		'copy.o: $(wildcard pure.c copy.c)' ';$(CC) -c -o $@ $(firstword $(wildcard pure.c copy.c))'
	printf '#include TABLE\n#include "limit.h"\n\nint limit(void)\n{\n\treturn LIMIT + MORE;\n}\n' > limit.c
	printf '/* a long table */\n/* of constants */\n/* that are used */\n/* by limit() */\n#define MORE 1\n' > limit.def
	printf 'int first(void)\n{\n\treturn 4;\n}\n\nint second(void)\n{\n\treturn 5;\n}\n' > copy.c
	git_tree
	git mv limit.def limit.tab
	sed -i 's/MORE 1/MORE 41/' limit.tab
	sed 's/first/third/; s/second/fourth/' copy.c > twin.c
	chmod +x main.c
	printf '\nint fifth(void)\n{\n\treturn 6;\n}\n' >> copy.c
	git mv copy.c pure.c
	git add -A .
	git diff --cached -M30% -C30% --find-copies-harder > ../fix.diff
	git reset -q --hard
	rm -rf .git
	grep -q '^rename from limit.def' ../fix.diff
	grep -q '^rename from copy.c' ../fix.diff
	grep -q '^copy from' ../fix.diff
	create_in
	[[ ! $stderr =~ 'left out' ]]
	expect_update server limit
}

@test "names with two leading folders: what isn't a source is looked for under them, too" {
	makefile 'include flags.mk' 'server: main.o limit.o' ';$(CC) -o $@ $^'
	echo 'CFLAGS = -O0' > flags.mk
	{ diff_of flags.mk 's/-O0/-O0 -DLIMIT=42/' | sed 's,[ab]/flags,x/y/flags,'; sed 's,[ab]/limit,x/y/limit,' ../fix.diff; } > ../two.diff
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	mv ../two.diff ../fix.diff
	create_in --patch-opt=-p2 --keep=../kept
	[[ ! $stderr =~ 'left out' ]]
	expect_update server limit
	grep -q LIMIT=42 ../kept/build-post.log
}

# test_commit - a commit to limit.c, and to a test of it with its header, of which the tree has
# nothing then
test_commit() {
	mkdir -p tests/unit
	printf '#include "check.h"\nint main(void)\n{\n\treturn CHECK;\n}\n' > tests/unit/main.c
	printf '#define CHECK 1\n' > tests/unit/check.h
	printf 'check: main.c\n' > tests/unit/Makefile
	git_tree
	sed -i 's/return LIMIT/return LIMIT + 41/' limit.c
	sed -i 's/CHECK/CHECK + 1/' tests/unit/main.c
	sed -i 's/1/2/' tests/unit/check.h
	sed -i 's/main.c/main.c check.h/' tests/unit/Makefile
	commit 'A higher limit, and a test of it'
	git show > ../fix.diff
	back
	rm -r tests
}

@test "a commit that changes tests in a folder that the tree lacks: left out, with one note" {
	test_commit
	mv main.c serve.c
	sed -i s/main.o/serve.o/ Makefile
	create_in
	[ "$stderr" = "note: left out of '../fix.diff', since the tree has no such file: tests/unit/Makefile, tests/unit/check.h, tests/unit/main.c" ]
	expect_described limit 'A higher limit, and a test of it'
}

@test "a source that the tree lacks, and that it might have a use for: refused, and why" {
	test_commit
	create_in
	expect_refused 1 "'../fix.diff' changes 'tests/unit/main.c', which the tree lacks, and has a file of this name, 'main.c'"
	expect_message 'hint: is it a diff of this very source'
	mv main.c serve.c
	mkdir -p tests/unit
	create_in
	expect_refused 1 "changes 'tests/unit/check.h', which the tree lacks, and has its folder, 'tests/unit'"
	rmdir -p tests/unit
	sed -i 's/main.o/serve.o/' Makefile
	diff_of Makefile 's/^server:/all: server check.o\n&/' >> ../fix.diff
	create_in
	expect_refused 1 "changes 'tests/unit/check.h', which the tree lacks, and the diff names it in 'Makefile'"
	expect_no_build
}

@test "what sources and makefiles are made of, and only what is made is there: refused" {
	printf 'all:\n' > Makefile.in
	{ printf -- '--- a/Makefile.am\n+++ b/Makefile.am\n@@ -1 +1 @@\n-A\n+B\n'; cat ../fix.diff; } > ../made.diff
	create_in --patch=../made.diff
	expect_refused 1 "'../made.diff' changes 'Makefile.am', which the tree lacks"
	{ printf -- '--- a/parse.y\n+++ b/parse.y\n@@ -1 +1 @@\n-A\n+B\n'; cat ../fix.diff; } > ../made.diff
	create_in --patch=../made.diff
	expect_refused 1 "'../made.diff' changes 'parse.y', which the tree lacks"
}
