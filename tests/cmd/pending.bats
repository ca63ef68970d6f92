# SPDX-License-Identifier: GPL-3.0-or-later
# pending.bats - an update for a library alone: not loaded, loaded more than once, replaced by
# another build
#
# The program opens and closes copies of libplugin.so as it is told; see
# tests/cases/library-pending.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of library-pending plugin.diff
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
}

teardown() {
	[ -z "${STATIC:-}" ] || kill -KILL "$STATIC"
	target_stop
}

# load_copies - has the library loaded three times: from a second path, and into a name space of its
# own
load_copies() {
	cp "$TARGET_DIR/libplugin.so" "$TARGET_DIR/second.so"
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'load ./second.so' loaded
	expect_answer 'copy ./libplugin.so' loaded
}

# mappings - how many the target has
mappings() {
	wc -l < "/proc/$TARGET/maps"
}

# build_other - puts another build of the library, with other code in the changed function, where $1
# says
build_other() {
	sed 's/"old %s %d", word, calls/"other %d %s", calls, word/' "$FIXTURE/tree/plugin.c" > "$BATS_TEST_TMPDIR/plugin.c"
	"$TARGET_CC" -O2 -fPIC -shared -Wl,-soname,libplugin.so -o "$1" "$BATS_TEST_TMPDIR/plugin.c"
}

@test "nothing of it is loaded: pending, which is no failure, and undo forgets it" {
	apply --json
	expect_status 0
	expect_process "$TARGET" pending
	expect_output '"functions":\[\],"pending":\["libplugin.so"\]'
	apply
	expect_status 0
	expect_output "^already pending $ID in pid $TARGET: libplugin.so is not loaded$"
	tool uspl-view "$TARGET"
	expect_output "$ID +pending +$TARGET +target +0 +- "
	tool uspl-view --json "$TARGET"
	expect_process "$TARGET" pending
	undo
	expect_status 0
	expect_output "^undone $ID in pid $TARGET: it was pending for libplugin.so$"
	expect_not_applied
	undo
	expect_status 0
	expect_output "^already undone "
	apply
	expect_output "^pending $ID in pid $TARGET: libplugin.so is not loaded$"
	tool uspl-undo "$ID"
	expect_status 0
	expect_not_applied
	expect_fine
}

@test "pending and undone again and again: no mapping more" {
	local before
	apply
	before=$(mappings)
	for _ in {1..5}; do
		undo
		expect_status 0
		apply
		expect_status 0
	done
	[ "$(mappings)" = "$before" ] || fail "$(mappings) mappings, not $before"
	expect_fine
}

@test "loaded, patched and unloaded again and again: no mapping more" {
	local i before=()
	for i in {1..8}; do
		expect_answer 'load ./libplugin.so' loaded
		apply
		expect_status 0
		expect_answer 'call x' 'new x 1 1'
		# Where the library lies depends on what the last round has left: there are two
		# places, in turn.
		before[i]=$(mappings)
		[ "$i" -lt 4 ] || [ "${before[i]}" = "${before[i - 2]}" ] || fail "mappings: ${before[*]}"
		expect_answer unload unloaded
	done
	undo
	expect_output "it was pending for libplugin.so"
	expect_fine
}

@test "undone while the library is away: what it left behind is not used again" {
	expect_answer 'load ./libplugin.so' loaded
	apply
	expect_answer 'call x' 'new x 1 1'
	expect_answer unload unloaded
	undo
	expect_status 0
	expect_not_applied
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'call x' 'old x 1'
	apply
	expect_status 0
	expect_answer 'call x' 'new x 2 1'
	expect_fine
}

@test "all copies are patched: of two paths, and of two name spaces" {
	load_copies
	expect_answer 'call x' 'old x 1, old x 1, old x 1'
	apply --json
	expect_status 0
	[ "$(functions_of "$output")" = 'plugin plugin plugin' ] || fail "not three functions"
	expect_answer 'call x' 'new x 2 1, new x 2 1, new x 2 1'
	undo
	expect_status 0
	expect_answer 'call x' 'old x 3, old x 3, old x 3'
	expect_fine
}

@test "a copy more, loaded after the update: view says so, and the next apply patches it" {
	expect_answer 'load ./libplugin.so' loaded
	apply
	expect_status 0
	expect_answer 'copy ./libplugin.so' loaded
	expect_answer 'call x' 'new x 1 1, old x 1'
	tool uspl-view --json "$TARGET"
	expect_process "$TARGET" applied
	expect_output '"pending":\["libplugin.so"\]'
	apply
	expect_status 0
	expect_output 'applied .*: 2 functions'
	expect_answer 'call x' 'new x 2 2, new x 2 1'
	expect_answer unload unloaded
	tool uspl-view --json "$TARGET"
	[[ $output != *pending* ]] || fail "a copy that is gone counts as pending"
	expect_answer 'call x' 'new x 3 3'
	undo
	expect_status 0
	expect_answer 'call x' 'old x 4'
	expect_fine
}

@test "copies in two name spaces: the new code calls the libc of its own" {
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'copy ./libplugin.so' loaded
	WORK=$BATS_TEST_TMPDIR/where
	mkdir "$WORK"
	cp -r "$FIXTURE/tree" "$WORK/tree"
	create "$WORK/tree" "$USPL_TESTS/cases/library-pending/where.diff"
	expect_status 0
	apply
	expect_status 0
	ask 'call at'
	[[ $REPLY =~ ^at\ (0x[0-9a-f]+),\ at\ (0x[0-9a-f]+)$ ]] || fail "the answer is '$REPLY'"
	[ "${BASH_REMATCH[1]}" != "${BASH_REMATCH[2]}" ] || fail "both copies call the same libc"
	undo
	expect_status 0
	expect_answer 'call x' 'old x 2, old x 2'
	expect_fine
}

@test "another build of the same name beside it: left as it is, and said" {
	build_other "$TARGET_DIR/other.so"
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'load ./other.so' loaded
	apply
	expect_status 0
	expect_message "^warning: '[^']*/other.so' in pid $TARGET is another build"
	expect_answer 'call x' 'new x 1 1, other 1 x'
	undo
	expect_status 0
	expect_answer 'call x' 'old x 2, other 2 x'
	expect_fine
}

@test "an upgrade has put another build in the place of the file: what runs is patched" {
	expect_answer 'load ./libplugin.so' loaded
	build_other "$BATS_TEST_TMPDIR/new.so"
	mv "$BATS_TEST_TMPDIR/new.so" "$TARGET_DIR/libplugin.so"
	grep -q 'libplugin.so (deleted)' "/proc/$TARGET/maps"
	apply
	expect_status 0
	expect_answer 'call x' 'new x 1 1'
	undo
	expect_status 0
	expect_answer 'call x' 'old x 2'
	expect_fine
}

@test "another build of the same name alone: refused" {
	build_other "$TARGET_DIR/other.so"
	expect_answer 'load ./other.so' loaded
	apply
	expect_status 1
	expect_one_message
	expect_message "'plugin' isn't the code that the update was made from"
	expect_answer 'call x' 'other 1 x'
	expect_not_applied
	expect_fine
}

@test "a static program can't load it: refused" {
	echo 'int main(void) { alarm(300); return pause(); }' |
		"$TARGET_CC" -include unistd.h -static -xc -o "$BATS_TEST_TMPDIR/static" -
	"$BATS_TEST_TMPDIR/static" 3>&- &
	STATIC=$!
	until_true 60 grep -q /static "/proc/$STATIC/maps"
	tool uspl-apply "$UPDATE" "$STATIC"
	expect_status 1
	expect_one_message
	expect_message "maps no 'libplugin.so'"
}

@test "a library that the program has opened is changed while all threads stand still: it might be closed" {
	expect_answer 'load ./libplugin.so' loaded
	apply --json
	expect_status 0
	expect_output '"way":"full stop"'
	undo --json
	expect_status 0
	expect_output '"way":"full stop"'
}
