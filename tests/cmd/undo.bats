# SPDX-License-Identifier: GPL-3.0-or-later
# undo.bats - what uspl-undo refuses, and that the process is as it was
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
}

teardown() {
	target_stop
}

# entry_of - where the patched function begins, from what apply --json said
entry_of() {
	grep -oE '"old": *"0x[0-9a-f]+"' <<< "$output" | grep -oE '0x[0-9a-f]+'
}

# poke ADDRESS - writes the byte on its standard input into the target
poke() {
	dd of="/proc/$TARGET/mem" bs=1 seek=$(($1)) count=1 conv=notrunc status=none
}

# peek ADDRESS FILE - copies a byte of the target into a file
peek() {
	dd if="/proc/$TARGET/mem" of="$2" bs=1 skip=$(($1)) count=1 status=none
}

@test "an id that no process has" {
	tool uspl-undo no-such-id
	expect_status 1
	expect_one_message
	expect_message "'no-such-id'"
}

@test "an id with a typing error: undo and view have the one that was meant" {
	apply
	expect_status 0
	tool uspl-undo "x$ID"
	expect_status 1
	expect_one_message
	expect_message "hint: did you mean '$ID'\?$"
	tool uspl-view --id="x$ID"
	expect_status 1
	expect_one_message
	expect_message "hint: did you mean '$ID'\?$"
	expect_answer hello 'goodbye, world'
}

@test "an id that this process does not have" {
	undo
	expect_status 1
	expect_one_message
	expect_message "'$ID'"
	expect_untouched
}

@test "what can not be an id" {
	tool uspl-undo ../etc
	expect_status 3
	expect_one_message
}

@test "an entry that somebody else has written to: refused, and left as it is" {
	local entry
	apply --json
	entry=$(entry_of)
	peek "$entry" "$BATS_TEST_TMPDIR/byte"
	printf '\xcc' | poke "$entry"
	undo
	expect_status 1
	expect_one_message
	expect_message "'greet'"
	peek "$entry" "$BATS_TEST_TMPDIR/after"
	[ "$(od -An -tx1 "$BATS_TEST_TMPDIR/after")" = ' cc' ] || fail "undo has written to the entry"
	poke "$entry" < "$BATS_TEST_TMPDIR/byte"
	expect_answer hello 'goodbye, world'
	undo
	expect_status 0
	expect_untouched
}

@test "undo says what it did; a second one has nothing to do" {
	apply
	undo
	expect_status 0
	expect_output "^undone $ID in pid $TARGET: 1 function, stopped [0-9.]+ us"
	undo
	expect_status 0
	expect_output "^already undone $ID in pid $TARGET"
	expect_untouched
}

@test "the name of the tarball without its ending is as good as the id" {
	apply
	tool uspl-undo "uspl-$ID" "$TARGET"
	expect_status 0
	expect_untouched
}

@test "an update is named by its file, whatever that is called, or by the name of one that is gone" {
	local other=$BATS_TEST_TMPDIR/other.tar.gz
	cp "$UPDATE" "$other"
	for named in "$UPDATE" "$other" "uspl-$ID.tar.gz" "uspl-$ID"; do
		apply
		expect_answer hello 'goodbye, world'
		tool uspl-undo "$named" "$TARGET"
		expect_status 0
		expect_answer hello 'hello, world'
		tool uspl-view --id="$named" --all
		expect_status 0
		expect_output "$ID"
	done
	echo damaged > "$other"
	tool uspl-undo "$other" "$TARGET"
	expect_status 3
	expect_one_message
	tool uspl-undo "$BATS_TEST_TMPDIR/none.tar.gz" "$TARGET"
	expect_status 3
	expect_one_message
}

@test "pid 1, which doesn't have it: the hint says what that is" {
	[ "$(id -u)" = 0 ] || skip 'not root'
	for command in uspl-undo uspl-apply; do
		what=$ID
		[ "$command" = uspl-undo ] || what=$UPDATE
		# shellcheck disable=SC2016 # the words are bash's
		run --separate-stderr unshare --pid --fork --mount-proc \
			bash -c '"$0" "$@" 1; exit $?' "$USPL_BIN/$command" "$what"
		expect_status 1
		expect_message "pid 1 is the machine's init"
	done
	expect_message "'--all'"
}

@test "--json is one object a line" {
	apply
	undo --json
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_process "$TARGET" undone
	expect_output "^\{.*\"id\": *\"$ID\""
}

@test "apply and undo twenty times" {
	for _ in {1..20}; do
		apply
		expect_status 0
		expect_answer hello 'goodbye, world'
		undo
		expect_status 0
		expect_answer hello 'hello, world'
	done
	expect_untouched
}

@test "applying again and again does not add mappings" {
	local before after
	apply
	undo
	before=$(wc -l < "/proc/$TARGET/maps")
	for _ in {1..5}; do
		apply
		undo
	done
	after=$(wc -l < "/proc/$TARGET/maps")
	[ "$after" -le "$before" ] || fail "$after mappings, $before after the first undo"
	expect_untouched
}
