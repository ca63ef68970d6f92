# SPDX-License-Identifier: GPL-3.0-or-later
# replace-places.bats - uspl-apply --replace where entries lie in several modules, in libraries that
# aren't there, in functions shorter than the jump, and across words
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	FIXTURE=$BATS_TEST_TMPDIR WORK=$BATS_TEST_TMPDIR
	mkdir -p "$FIXTURE/updates"
}

teardown() {
	target_stop
}

# build_case CASE [CFLAGS] - builds its program, makes the update `old` of its patch, and starts it
build_case() {
	CASE=$USPL_TESTS/cases/$1
	tree_build "${2:--O2}" || return
	tool uspl-create --source="$WORK/tree" --patch="$CASE/fix.patch" --id=old --output="$FIXTURE/updates"
	expect_status 0 && fixture_start
}

# edited ID FILE SED [OPTION...] - an update that takes the place of `old`, the file being changed
# by sed's script
edited() {
	mkdir -p a b
	cp "$WORK/tree/$2" a
	sed "$3" "a/$2" > "b/$2"
	diff -u "a/$2" "b/$2" > "$1.patch" || :
	tool uspl-create --source="$WORK/tree" --patch="$1.patch" --id="$1" --output="$FIXTURE/updates" \
		--replaces=old "${@:4}"
	expect_status 0
}

# expect_back - the program is as it was
expect_back() {
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was" || return
	expect_fine
}

@test "in a program and in its library, which the new update leaves alone" {
	cd "$BATS_TEST_TMPDIR"
	build_case library-pending
	edited new target.c 's/"old"/"newer"/'
	expect_answer 'load ./libplugin.so' loaded
	SUM=$(text_sum)
	put old
	expect_status 0
	expect_answer 'call x' 'new x 1 1'
	put new --replace
	expect_status 0
	expect_output 'in the place of old'
	expect_answer hello 'newer hello'
	expect_answer 'call x' 'old x 2'
	expect_in_effect new
	take new
	expect_status 0
	expect_answer hello 'old hello'
	expect_back
}

@test "what the replaced update was pending for is forgotten, and the new one is pending for it" {
	cd "$BATS_TEST_TMPDIR"
	build_case library-pending
	sed 's/"new"/"newer"/; s/"new %s/"newer %s/' "$CASE/fix.patch" > newer.patch
	tool uspl-create --source="$WORK/tree" --patch=newer.patch --id=new --output="$FIXTURE/updates" --replaces=old
	expect_status 0
	put old
	expect_status 0
	put new --replace
	expect_status 0
	expect_output 'in the place of old; pending for libplugin.so'
	tool uspl-view "$TARGET"
	[[ $output != *old* ]]
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'call x' 'old x 1'
	put new
	expect_status 0
	expect_answer 'call x' 'newer x 2 1'
	take new
	expect_status 0
	expect_answer 'call x' 'old x 3'
	expect_answer hello 'old hello'
	expect_fine
}

@test "functions shorter than the jump: one goes over, one goes back" {
	cd "$BATS_TEST_TMPDIR"
	build_case short-functions
	edited new target.c 's/return 0;/return 9;/'
	put old
	expect_status 0
	expect_answer 5 '7 1'
	put new --replace
	expect_status 0
	expect_answer 5 '9 0'
	take new
	expect_status 0
	expect_answer 5 '0 0'
	put old
	expect_status 0
	expect_answer 5 '7 1'
	take old
	expect_back
}

@test "entries that lie across two words" {
	cd "$BATS_TEST_TMPDIR"
	build_case quiet-unaligned
	expect_status 0
	cp "$CASE/fix.patch" other.patch
	tool uspl-create --source="$WORK/tree" --patch=other.patch --id=new --output="$FIXTURE/updates" --replaces=old
	expect_status 0
	put old
	expect_status 0
	ask_all patched
	put new --replace
	expect_status 0
	expect_in_effect new
	ask_all patched
	take new
	expect_status 0
	ask_all undone
	expect_back
}
