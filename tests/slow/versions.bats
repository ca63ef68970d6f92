# SPDX-License-Identifier: GPL-3.0-or-later
# versions.bats - uspl is upgraded while updates are applied, and downgraded: an older build, of the
# last commit with each older version of the layout (include/uspl/abi.h), and this one work on the
# same processes
#
# The older builds are kept below ${XDG_CACHE_HOME:-$HOME/.cache}/uspl/versions.
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

TREE=$BATS_TEST_DIRNAME/../..

# older_build VERSION - builds the last commit with that version: prints its programs' folder
older_build() {
	local commit dir
	commit=$(git -C "$TREE" log --format=%H -S"USPL_ABI_VERSION $(($1 + 1))" -- include/uspl/abi.h | tail -n 1)
	# The versions from 9 on are those of records with hooks, beside version 8.
	[ -n "$commit" ] || commit=$(git -C "$TREE" log --format=%H -S"USPL_ABI_VERSION_HOOKS $(($1 + 1))" -- include/uspl/abi.h | tail -n 1)
	[ -n "$commit" ] || return
	commit=$(git -C "$TREE" rev-parse "$commit^") || return
	dir=${XDG_CACHE_HOME:-$HOME/.cache}/uspl/versions/$commit
	if [ ! -e "$dir/built" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		git -C "$TREE" archive "$commit" | tar -x -C "$dir"
		env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD make -s -j"$(nproc)" -C "$dir" BUILD=build all > "$dir/log" 2>&1 || return
		touch "$dir/built"
	fi
	echo "$dir/build/bin"
}

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	git -C "$TREE" rev-parse HEAD > /dev/null 2>&1 || skip 'not a clone'
	git -C "$TREE" rev-parse -q --verify HEAD~300 > /dev/null || skip 'a clone without its history'
	export NEW=$USPL_BIN OLD_7 OLD_8
	OLD_7=$(older_build 7) || fail 'no build with version 7' || return
	OLD_8=$(older_build 8) || fail 'no build with version 8' || return
	fleet_make
	cp -r "$FIXTURE/tree" "$FIXTURE/next"
	patch -s -d "$FIXTURE/next" -p1 < "$USPL_TESTS/cmd/fleet/fix.patch"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	FLEET=() TO=() FROM=()
	fleet_start 1
}

teardown() {
	fleet_stop
}

# by BIN TOOL ARG... - that build's tool
by() {
	USPL_BIN=$1 tool "${@:2}"
}

# made_by BIN ID TREE PATCH [OPTION...] - sets UPDATE, which that build makes
made_by() {
	by "$1" uspl-create --source="$3" --patch="$USPL_TESTS/cmd/fleet/$4" --id="$2" --output="$BATS_TEST_TMPDIR" "${@:5}"
	expect_status 0 || return
	UPDATE=$BATS_TEST_TMPDIR/uspl-$2.tar.gz
}

# applied_by BIN - by that build, which the others don't know of
applied_by() {
	by "$1" uspl-apply "$UPDATE" "${FLEET[0]}"
	expect_status 0
}

@test "an update that an older uspl has made and applied: shown, undone, applied again" {
	local old
	for old in "$OLD_7" "$OLD_8"; do
		made_by "$old" older "$FIXTURE/tree" fix.patch
		applied_by "$old"
		expect_says 0 goodbye
		by "$NEW" uspl-view
		expect_output "older +applied +${FLEET[0]} "
		by "$NEW" uspl-apply "$UPDATE" "${FLEET[0]}"
		expect_status 0
		expect_output '^already applied older'
		by "$NEW" uspl-undo older
		expect_status 0
		expect_says 0 hello
		by "$NEW" uspl-apply "$UPDATE" "${FLEET[0]}"
		expect_status 0
		expect_says 0 goodbye
		by "$NEW" uspl-undo older "${FLEET[0]}"
		expect_status 0
		expect_says 0 hello
	done
}

@test "one on top of an older uspl's: built upon, and taken back in order" {
	local old first
	for old in "$OLD_7" "$OLD_8"; do
		made_by "$old" older "$FIXTURE/tree" fix.patch
		first=$UPDATE
		applied_by "$old"
		made_by "$NEW" newer "$FIXTURE/next" next.patch --after="$first"
		applied_by "$NEW"
		expect_says 0 farewell
		by "$NEW" uspl-undo older "${FLEET[0]}"
		expect_status 1
		expect_message newer
		expect_says 0 farewell
		by "$NEW" uspl-undo newer "${FLEET[0]}"
		expect_status 0
		expect_says 0 goodbye
		by "$NEW" uspl-undo older "${FLEET[0]}"
		expect_status 0
		expect_says 0 hello
	done
}

@test "what a newer uspl has applied: an older one refuses, and leaves the process alone" {
	made_by "$NEW" newer "$FIXTURE/tree" fix.patch
	applied_by "$NEW"
	for command in uspl-view 'uspl-undo newer'; do
		# shellcheck disable=SC2086 # a command and an operand
		by "$OLD_7" $command "${FLEET[0]}"
		expect_status 1
		expect_message 'ABI version [0-9]+, this program knows 7'
		expect_message 'hint: use the version of uspl that applied it'
	done
	expect_says 0 goodbye
	# The way back: by the newer one, before it is removed.
	by "$NEW" uspl-undo newer
	expect_status 0
	expect_says 0 hello
	# A file of a newer format is refused, and says so.
	by "$OLD_7" uspl-apply "$UPDATE" "${FLEET[0]}"
	expect_status 1
	expect_message 'formats up to 3'
	expect_says 0 hello
	# Version 9 is that of a record with hooks: without any, both know version 8.
	by "$OLD_8" uspl-apply "$UPDATE" "${FLEET[0]}"
	expect_status 0
	expect_says 0 goodbye
	by "$NEW" uspl-undo newer
	expect_status 0
	expect_says 0 hello
}

@test "a record with hooks: the uspl before hooks refuses, and leaves the process alone" {
	local new=$BATS_TEST_TMPDIR/hooked
	cp -r "$FIXTURE/tree" "$new"
	mkdir "$new/a" "$new/b"
	cp "$new/target.c" "$new/a"
	patch -s -o "$new/b/target.c" "$new/target.c" "$USPL_TESTS/cmd/fleet/fix.patch"
	printf '%s\n' '#include <uspl/hook.h>' 'static void ready(void) {}' 'USPL_POST_APPLY(ready);' >> "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c > "$BATS_TEST_TMPDIR/hooked.patch") || :
	by "$NEW" uspl-create --source="$FIXTURE/tree" --patch="$BATS_TEST_TMPDIR/hooked.patch" --id=hooked --output="$BATS_TEST_TMPDIR"
	expect_status 0
	UPDATE=$BATS_TEST_TMPDIR/uspl-hooked.tar.gz
	applied_by "$NEW"
	expect_says 0 goodbye
	by "$OLD_8" uspl-undo hooked "${FLEET[0]}"
	expect_status 1
	expect_message 'ABI version [0-9]+, this program knows 8'
	expect_says 0 goodbye
	by "$NEW" uspl-undo hooked
	expect_status 0
	expect_says 0 hello
}
