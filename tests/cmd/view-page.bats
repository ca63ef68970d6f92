# SPDX-License-Identifier: GPL-3.0-or-later
# view-page.bats - an update as a page for a browser: where it is, its source and its code before
# and after
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

# What text of the patch would do if the page took it for more than text.
HOSTILE="</td></table><script>document.title='bad'</script><img src=x onerror=document.title='bad'>"

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	mkdir "$BATS_FILE_TMPDIR/tree"
	cd "$BATS_FILE_TMPDIR/tree" || return
	cat > work.c <<- 'C'
		#include <unistd.h>
		#define KEPT __attribute__((noinline))
		KEPT void helper(long n);
		KEPT long changed(long n);
		KEPT long same(long n);
		static volatile long sink;
		KEPT void helper(long n)
		{
			sink += n;
		}
		KEPT long changed(long n)
		{
			helper(n);
			return 3 * n;
		}
		KEPT long same(long n)
		{
			helper(n);
			return 5 * n;
		}
		int main(void)
		{
			for (;;) {
				sink += changed(sink) + same(sink);
				usleep(1000);
			}
		}
	C
	cat > Makefile <<- 'END'
		CFLAGS = -O1 -g
		work: work.c
	END
	cd .. || return
	edit tree first "/return 3/i\\\tsink ^= 0x1234; /* $HOSTILE */"
	cp -r tree patched
	patch -s -d patched -p1 < first.diff || return
	edit patched second 's/return 3 \* n/return 7 * n/'
	make -s -C tree CC="$TARGET_CC" || return
	create "$PWD/tree" "$PWD/first.diff"
	expect_status 0 || return
	FIRST=$ID FIRST_UPDATE=$UPDATE
	create "$PWD/patched" "$PWD/second.diff"
	expect_status 0 || return
	export FIRST FIRST_UPDATE ID UPDATE
}

# edit TREE NAME SCRIPT - NAME.diff is what the script of sed makes of the source
edit() {
	sed "$3" "$1/work.c" > new.c
	diff -u --label a/work.c --label b/work.c "$1/work.c" new.c > "$2.diff" || true
	rm new.c
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_TEST_TMPDIR" || return
	"$BATS_FILE_TMPDIR/tree/work" 3>&- &
	TARGET=$!
	until_true 10 executes "$BATS_FILE_TMPDIR/tree/work" || fail 'it does not begin'
	tool uspl-apply "$FIRST_UPDATE" "$TARGET"
	expect_status 0
}

teardown() {
	kill -KILL "$TARGET" || true
}

# page ID - the page of an update
page() {
	tool uspl-view --html --id="$1" "$TARGET"
	expect_status 0 || return
	[ -z "$stderr" ] || fail "it says: $stderr"
	echo "$output" > page.html
}

@test "where it is, the source and the code before and after" {
	page "$FIRST"
	expect_output "<td>$TARGET<td>work<td>applied<td>20"
	expect_output 'return 3 [*] n;<td>[0-9]+<td>.*return 3 [*] n;</tr>'
	expect_output "<td><td><td>14<td class=\"is\">.*sink \^= 0x1234;"
	expect_output '<h2 class="function">changed</h2>'
	[[ $output != *'>same</h2>'* ]] || fail 'a function is there that has not changed'
	# The call is in both, what is new on one side only.
	expect_output '<td>call helper<td>[+]0x[0-9a-f]+<td>call helper</tr>'
	expect_output '<td><td><td>[+]0x[0-9a-f]+<td class="is">xor [$]0x1234,%'
	tool uspl-undo "$FIRST" "$TARGET"
	page "$FIRST"
	expect_output "<td>$TARGET<td>work<td>undone<td>"
	expect_output '<td>call helper<td>[+]0x[0-9a-f]+<td>call helper</tr>'
}

@test "an update of what another one has changed: before is that one's code" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	page "$ID"
	# It has the first one's change on both sides.
	expect_output '<td>xor [$]0x1234,%[a-z0-9]+<td>[+]0x[0-9a-f]+<td>xor [$]0x1234,%'
	[[ $output != *'class="was">jmp'* ]] || fail 'the jump to the first one is shown'
}

@test "in a browser: nothing of the patch is more than text" {
	command -v chromium > /dev/null || skip 'chromium is not installed'
	page "$FIRST"
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/browser.py" page.html eval:document.title \
		'eval:document.querySelectorAll("script, img").length' \
		'eval:document.querySelectorAll("#patch td.is").length' \
		'eval:document.querySelector("#patch td.is").textContent.includes("<img src=x")' \
		'eval:getComputedStyle(document.querySelector("#patch td.is")).backgroundColor' \
		'eval:(([a, b]) => Math.abs(a.offsetWidth - b.offsetWidth) < 10)(document.querySelectorAll("#patch tr:last-child td:nth-child(even)"))'
	[ -z "$stderr" ] || fail "on the page: $stderr"
	[ "${lines[0]}" = "\"update $FIRST\"" ] || fail title
	[ "${lines[*]:1:3}" = '0 1 true' ] || fail "${lines[*]}"
	[ "${lines[4]}" = '"rgb(221, 255, 221)"' ] || [ "${lines[4]}" = '"rgb(34, 85, 34)"' ] || fail "the colour: ${lines[4]}"
	[ "${lines[5]}" = true ] || fail 'the columns are not of one width'
}

@test "what can't be" {
	tool uspl-view --html "$TARGET"
	expect_status 2
	expect_message "'--html' is about one update"
	tool uspl-view --html --json --id="$FIRST" "$TARGET"
	expect_status 2
	tool uspl-view --html --id=nosuch "$TARGET"
	expect_status 1
	[ -z "$output" ] || fail 'half a page'
}
