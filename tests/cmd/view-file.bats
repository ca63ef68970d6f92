# SPDX-License-Identifier: GPL-3.0-or-later
# view-file.bats - what uspl-view says of an update file, and of processes that have no update
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/update.bash"
	cd "$BATS_FILE_TMPDIR" || return
	update_make
	# shellcheck disable=SC2119
	update_pack
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/update.bash"
	cd "$BATS_FILE_TMPDIR" || return
	sleeper_start
}

teardown() {
	target_stop
}

@test "a file, for people" {
	for file in update.tar.gz uspl-good; do
		tool uspl-view --file="$file"
		expect_status 0
		expect_output $'^id: +good\n'
		expect_output $'\ndescription: +reads one byte less\n'
		expect_output $'\ncreated: +2026-01-31T12:00:00Z\n'
		expect_output $'\ntool: +uspl by hand\n'
		expect_output $'\ntarget: +src/server\n'
		expect_output $'\nbuild-id: +0123456789abcdef\n'
		expect_output $'\n  parse +src/parse.c +changed\n'
		[[ $output = *$'\npatch:\n'"$(cat uspl-good/patch)" ]] || fail "the patch is not there"
	done
}

@test "a file, as JSON" {
	tool uspl-view --file=update.tar.gz --json
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_output '^\{"id":"good",.*"targets":\[\{"name":"server",.*"build_ids":\["0123456789abcdef"\]'
	expect_output '"functions":\[\{"name":"parse",.*"reason":"changed"\}\]'
	expect_output '"patch":"--- a/src/parse.c\\n\+\+\+ b/src/parse.c\\n.*\\n"\}$'
}

@test "a file, in short" {
	tool uspl-view -q --file=update.tar.gz
	expect_status 0
	[ "$output" = good ]
}

@test "what is in a file can't act on the terminal" {
	cp -r uspl-good "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	printf '\e[2J\r\xc2\x9b' >> uspl-good/patch
	manifest_edit 's/reads one/reads\\u001b]0;x\\u0007\\u202e one/; s/"changed"/"\\nchanged\\r"/'
	for format in --json --verbose; do
		tool uspl-view --file=uspl-good "$format"
		expect_status 0
		! LC_ALL=C grep -q $'[\e\r\a]' <<< "$output"
		! LC_ALL=C grep -q $'\xc2\x9b' <<< "$output"
		! LC_ALL=C grep -q $'\xe2\x80\xae' <<< "$output"
	done
	expect_output 'reads\\x1b\]0;x\\x07\\u202e one'
	expect_output '\\nchanged\\x0d'
}

@test "a file and processes don't go together" {
	for arg in --id=good --all "$TARGET"; do
		tool uspl-view --file=update.tar.gz "$arg"
		expect_status 2
		expect_one_message
	done
}

@test "a process without updates" {
	tool uspl-view "$TARGET"
	expect_status 0
	[ "$output" = 'no updates are applied' ]
	tool uspl-view --json "$TARGET"
	expect_status 0
	[ "$output" = '[]' ]
	tool uspl-view --quiet --all "$TARGET"
	expect_status 0
	[ -z "$output" ]
}

@test "an id that is nowhere" {
	tool uspl-view --id=no-such-id "$TARGET"
	expect_status 1
	expect_one_message
	expect_message "'no-such-id'"
	tool uspl-view --id=no-such-id --json
	expect_status 1
	[ -z "$output" ]
}

@test "a pid that does not exist, and what is no pid" {
	gone=$TARGET
	target_stop
	tool uspl-view "$gone"
	expect_status 3
	expect_one_message
	expect_message "pid $gone"
	for pid in 0 -- 1x ''; do
		tool uspl-view -- "$pid"
		expect_status 2
		expect_one_message
	done
}

@test "another user's process" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	run --separate-stderr timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$USPL_BIN/uspl-view" "$TARGET"
	expect_status 3
	expect_one_message
	expect_message "pid $TARGET"
}

@test "looking does no harm" {
	tool uspl-view --all
	expect_status 0
	expect_sleeper_untouched
}
