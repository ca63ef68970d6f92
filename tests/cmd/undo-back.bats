# SPDX-License-Identifier: GPL-3.0-or-later
# undo-back.bats - after an undo the code's pages are those of the file again
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	mkdir "$BATS_FILE_TMPDIR/tree"
	cd "$BATS_FILE_TMPDIR/tree" || return
	{
		echo '#include <stdio.h>'
		echo '#include <unistd.h>'
		for i in $(seq 0 29); do
			echo "__attribute__((noinline, aligned(4096))) int f$i(int n) { return n * $i + (getpid() & 0); }"
			echo "__attribute__((noinline)) int g$i(int n) { return n + (getpid() & 0); }"
		done
		echo 'int main(void) { char line[9]; int sum = 0;'
		printf '%s\n' 'while (printf("sum %d\n", sum), fflush(stdout), fgets(line, 9, stdin)) { sum = 0;'
		for i in $(seq 0 29); do echo "sum += f$i(1) + g$i(0);"; done
		echo '} }'
	} > many.c
	printf 'CFLAGS = -O1 -w -fno-toplevel-reorder\nmany: many.c\n' > Makefile
	sed '/ f[0-9]*(/s/n \* /n + n * /' many.c > new.c
	diff -u --label a/many.c --label b/many.c many.c new.c > ../all.diff || true
	sed '/ g7(/s/n + /n + 100 + /' many.c > new.c
	diff -u --label a/many.c --label b/many.c many.c new.c > ../beside.diff || true
	rm new.c
	make -s CC="$TARGET_CC" || return
	create "$PWD" ../beside.diff
	expect_status 0 || return
	export BESIDE=$UPDATE BESIDE_ID=$ID
	create "$PWD" ../all.diff
	expect_status 0 || return
	export UPDATE ID
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/pages.bash"
	cd "$BATS_TEST_TMPDIR" || return
	cp "$BATS_FILE_TMPDIR/tree/many" .
	many_start sum
}

teardown() {
	many_end
}

# mappings - of the program's file; neighbours that differ in nothing count as one, since what was
# writable for a moment stays split (docs/limitations.md)
mappings() {
	awk '$6 ~ /many$/ {
		split($1, at, "-")
		if (at[1] == end && $2 == mode)
			printf("-")
		else
			printf("\n%s %s ", at[1], $2)
		end = at[2]
		mode = $2
		printf("%s", end)
	}' "/proc/$TARGET/maps" | sed -E 's/ [0-9a-f-]*-([0-9a-f]+)$/ \1/'
}

# expect_sum N - what the functions return together
expect_sum() {
	: > said
	echo >&7
	until_true 10 grep -q "^sum $1$" said || fail "not $1: $(cat said)"
}

@test "what undo has put back is the file's again, but for a page on which a thread worked for the tool" {
	mappings > before
	[ "$(copies)" = 0 ] || fail "before: $(copies) KB"
	for way in '' --stop ''; do
		expect_sum 435
		tool uspl-apply ${way:+"$way"} "$UPDATE" "$TARGET"
		expect_status 0
		expect_sum 465
		[ "$(copies)" -ge 120 ] || fail "applied: $(copies) KB"
		tool uspl-undo ${way:+"$way"} "$ID" "$TARGET"
		expect_status 0
		[ "$(copies)" -le 4 ] || fail "undone${way:+ with $way}: $(copies) KB"
		mappings | diff before - || fail 'other mappings'
	done
	expect_sum 435
}

@test "a page in which another update has its jump stays, and is given back with that one's undo" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	tool uspl-apply "$BESIDE" "$TARGET"
	expect_status 0
	expect_sum 565
	tool uspl-undo "$ID" "$TARGET"
	expect_status 0
	[ "$(copies)" -ge 4 ] && [ "$(copies)" -le 8 ] || fail "one is left: $(copies) KB"
	expect_sum 535
	tool uspl-undo "$BESIDE_ID" "$TARGET"
	expect_status 0
	[ "$(copies)" -le 4 ] || fail "none is left: $(copies) KB"
	expect_sum 435
}

@test "a page with a traced function, and one that somebody else has changed, stay" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	tool uspl-trace start -F g3 "$TARGET"
	expect_status 0
	change_byte g9
	tool uspl-undo "$ID" "$TARGET"
	expect_status 0
	expect_changed_byte
	[ "$(copies)" -ge 8 ] && [ "$(copies)" -le 12 ] || fail "$(copies) KB"
	tool uspl-trace report "$TARGET"
	expect_status 0
	tool uspl-trace stop "$TARGET"
	expect_status 0
	[ "$(copies)" -le 8 ] || fail "not traced any more: $(copies) KB"
}

@test "a check gives nothing back" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	local applied
	applied=$(copies)
	tool uspl-undo --check "$ID" "$TARGET"
	expect_status 0
	[ "$(copies)" = "$applied" ] || fail "$(copies) KB, not $applied"
	expect_sum 465
}
