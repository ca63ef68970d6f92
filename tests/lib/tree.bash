# SPDX-License-Identifier: GPL-3.0-or-later
# tree.bash - helpers: the tree that tests of uspl-create build, and what is expected of its update
#
# The program is of two sources and a header, without a makefile. Everything is beside or in the
# current folder, the tree.
# shellcheck disable=SC2016 # $(CC) and $@ are make's

USPL_TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
# shellcheck source=process.bash
source "$USPL_TESTS/lib/process.bash"
# shellcheck source=tools.bash
source "$USPL_TESTS/lib/tools.bash"

# tree_make NAME - for setup: the tree, in a folder of this name, and ../fix.diff, which changes
# limit()
tree_make() {
	unset CC CXX CFLAGS
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/$1"
	cd "$BATS_TEST_TMPDIR/$1" || return
	printf '#include "limit.h"\n\nint limit(void)\n{\n\treturn LIMIT;\n}\n' > limit.c
	printf '#define LIMIT 1\nint limit(void);\n' > limit.h
	printf '#include "limit.h"\n\nint main(void)\n{\n\treturn limit();\n}\n' > main.c
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
}

# expect_tidy - for teardown: whatever the outcome, no temporary folder may stay
expect_tidy() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

# need COMMAND... - skips the test where one is missing
need() {
	local name
	for name in "$@"; do
		command -v "$name" > /dev/null || skip "$name is not installed"
	done
}

# diff_of FILE SCRIPT - prints the diff that sed's SCRIPT makes to FILE
diff_of() {
	sed "$2" "$1" > "$1.new"
	diff -u --label "a/$1" --label "b/$1" "$1" "$1.new" || rm "$1.new"
}

# makefile RULE... - a Makefile of these lines, where ';' at the start of a word begins a recipe
# line
makefile() {
	printf '%s\n' "$@" | sed 's/^;/\t/' > Makefile
}

# create_in ARG... - uspl-create with ../fix.diff, the update going to ../out
create_in() {
	tool uspl-create --output=../out --patch=../fix.diff "$@"
}

# expect_update TARGETS FUNCTIONS - fails unless the update has these, sorted
expect_update() {
	expect_status 0 || return
	tool uspl-view --file=../out --json
	local targets
	targets=$(grep -o '"name":"[^"]*","path"' <<< "$output" | cut -d'"' -f4 | sort | xargs)
	[ "$targets" = "$1" ] || fail "the targets are '$targets', not '$1'" || return
	[ "$(functions_of "$output")" = "$2" ] || fail "the functions are not '$2'"
}

# expect_refused STATUS REGEX - fails unless create said no, and wrote nothing; if the change is
# refused it says where to read on
expect_refused() {
	expect_status "$1" || return
	expect_message "^uspl-create: .*$2" || return
	[ "$1" != 1 ] || expect_message 'see: docs/authors.md#' || return
	[ -z "$output" ] && [ ! -e ../out ]
}
