# SPDX-License-Identifier: GPL-3.0-or-later
# create-prebuild.bats - uspl-create --prebuild: the first build is kept, and used again only if it
# is still right
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	unset CC CFLAGS
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/tree/sub"
	cd "$BATS_TEST_TMPDIR/tree" || return
	printf 'int limit(void)\n{\n\treturn 1;\n}\n' > limit.c
	printf 'int other(void)\n{\n\treturn 2;\n}\n' > sub/other.c
	printf 'int limit(void);\nint other(void);\n\nint main(void)\n{\n\treturn limit() + other();\n}\n' > main.c
	printf 'server: main.o limit.o sub/other.o\n\t$(CC) -o $@ $^\n%%.o: %%.c\n\t$(CC) -c -o $@ $<\n\techo $< >> %s\n' \
		"$BATS_TEST_TMPDIR/compiled" > Makefile
	diff_of limit.c s/1/41/ > ../limit.diff
	diff_of sub/other.c s/2/42/ > ../other.diff
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

# expect_create COMPILED NAME FUNCTION ARG... - fails unless the patch ../NAME.diff redirects the
# function, and as many sources were compiled for it
expect_create() {
	local count
	: > ../compiled
	tool uspl-create --prebuild=../kept --patch="../$2.diff" --output=../out "${@:4}"
	expect_status 0 || return
	count=$(wc -l < ../compiled)
	[ "$count" = "$1" ] || fail "$count sources were compiled, not $1" || return
	local message=$stderr
	tool uspl-view --file=../out --json
	[ "$(functions_of "$output")" = "$3" ] || fail "the functions are not '$3'" || return
	stderr=$message
}

@test "one patch after the other on one build" {
	expect_create 4 limit limit
	expect_create 1 other other
	expect_create 1 limit limit
	[ -z "$stderr" ]
	# The user's own build of the tree changes nothing.
	make -s
	expect_create 1 limit limit
}

@test "another uspl-create, after the one that made the build is gone" {
	mkdir ../old
	cp -a "$USPL_BUILD/bin" "$USPL_BUILD/libexec" ../old
	USPL_BIN=$BATS_TEST_TMPDIR/old/bin expect_create 4 limit limit
	rm -r ../old
	expect_create 1 other other
}

@test "a patch that brings files, and one that removes some, leave nothing behind" {
	printf -- '--- /dev/null\n+++ b/limit.h\n@@ -0,0 +1 @@\n+#define NEW 7\n' > ../new.diff
	sed 's/return 1/return NEW/; 1i #include "limit.h"' limit.c > limit.new
	diff -u --label a/limit.c --label b/limit.c limit.c limit.new >> ../new.diff || rm limit.new
	expect_create 4 new limit
	[ -e ../kept/work/tree/limit.h ]
	expect_create 1 other other
	[ ! -e ../kept/work/tree/limit.h ]
	grep -q 'return 1' ../kept/work/tree/limit.c
}

@test "a patch that breaks the build, and one that doesn't apply" {
	expect_create 4 limit limit
	diff_of limit.c 's/1;/nonsense;/' > ../bad.diff
	tool uspl-create --prebuild=../kept --patch=../bad.diff --output=../out
	expect_status 3
	expect_message 'the patch breaks the build'
	printf -- '--- a/limit.c\n+++ b/limit.c\n@@ -1 +1 @@\n-a\n+b\n' > ../bad.diff
	tool uspl-create --prebuild=../kept --patch=../bad.diff --output=../out
	expect_status 3
	expect_create 1 limit limit
}

@test "the tree has changed: built anew, and said why" {
	expect_create 4 limit limit
	printf '\nint more;\n' >> main.c
	expect_create 4 other other
	expect_message "note: the build in '../kept' is made anew: 'main.c' isn't what it was"
	: > extra.h
	expect_create 4 other other
	expect_message "'extra.h' isn't"
	rm extra.h
	expect_create 4 other other
	expect_message "'extra.h' isn't"
	CFLAGS=-O2 expect_create 4 other other
	expect_message "'CFLAGS' isn't"
	CFLAGS=-O2 expect_create 4 other other --build='make CFLAGS=-O1'
	expect_message "'the command' isn't"
	# What dpkg-buildflags and rules go by: profiles and options.
	CFLAGS=-O2 DEB_BUILD_PROFILES=nodoc expect_create 4 other other --build='make CFLAGS=-O1'
	expect_message "'DEB_BUILD_PROFILES' isn't"
	CFLAGS=-O2 DEB_BUILD_PROFILES=nodoc expect_create 1 limit limit --build='make CFLAGS=-O1'
}

@test "a first build that failed is no build" {
	printf '+\n' > bad.c
	sed -i 's/main.o/bad.o &/' Makefile
	tool uspl-create --prebuild=../kept --patch=../limit.diff --output=../out
	expect_status 3
	expect_message 'the build before the patch failed'
	: > bad.c
	expect_create 5 limit limit
}

@test "the folder may lie in the tree, and is ours alone" {
	mkdir ours
	ln -s tree/ours ../kept
	expect_create 4 limit limit
	expect_create 1 other other
	rm ../kept
	mkdir ../kept
	: > ../kept/precious
	tool uspl-create --prebuild=../kept --patch=../limit.diff --output=../out
	expect_status 3
	expect_one_message
	[ -e ../kept/precious ]
}

@test "two at once: the second is told" {
	expect_create 4 limit limit
	exec 8< ../kept/lock
	flock 8
	tool uspl-create --prebuild=../kept --patch=../limit.diff --output=../out 8<&-
	expect_status 3
	expect_message 'another uspl-create works in'
	expect_one_message
}

@test "--keep and --prebuild exclude each other" {
	tool uspl-create --prebuild=../kept --keep=../work --patch=../limit.diff --output=../out
	expect_status 2
	expect_message "can't be used together"
	[ ! -e ../kept ]
}

@test "another PATH: the build is kept as long as the same compilers are found" {
	expect_create 4 limit limit
	mkdir ../unrelated ../tools
	PATH=$BATS_TEST_TMPDIR/unrelated:$PATH expect_create 1 other other
	printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v ar)" > ../tools/ar
	chmod +x ../tools/ar
	PATH=$BATS_TEST_TMPDIR/tools:$PATH expect_create 4 limit limit
	expect_message "note: the build in '../kept' is made anew: '.*/tools/ar' isn't what it was"
}
