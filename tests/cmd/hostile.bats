# SPDX-License-Identifier: GPL-3.0-or-later
# hostile.bats - processes that say of themselves what isn't so, while root looks at all and at others
#
# A tool has little memory and little time here: what a process costs is bounded, and the others are served.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make || return
	"$TARGET_CC" -O1 -I"$USPL_TESTS/../include" -o "$BATS_FILE_TMPDIR/forge" "$BATS_TEST_DIRNAME/hostile/forge.c" || return
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/forge"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	export USPL_JOURNAL=$BATS_TEST_TMPDIR/journal TOOL_SECONDS=20
	FORGED=
}

teardown() {
	[ -z "$FORGED" ] || kill -KILL "$FORGED"
	target_stop
}

# forge WHAT... - starts a hostile process as another user, if we are root; FORGED is its pid
forge() {
	local as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" "$BATS_FILE_TMPDIR/forge" "$@" > "$BATS_TEST_TMPDIR/forged" 3>&- &
	FORGED=$!
	until_true 30 grep -q ready "$BATS_TEST_TMPDIR/forged" || fail "the hostile process isn't ready"
}

# bounded TOOL ARG... - runs a tool that must do with 200 MB of memory and 10 s of processor time
bounded() {
	# shellcheck disable=SC2016 # for that shell to expand
	run --separate-stderr bash -c 'ulimit -v "$1" -t 10 && shift && exec timeout --kill-after=5 60 "$@"' bounded \
		"${BOUND_KB:-200000}" "$USPL_BIN/$1" "${@:2}"
}

# asan - true where the tools can't do with little address space
asan() {
	nm -D "$USPL_BIN/uspl" | grep -q __asan_init
}

# expect_served - what is asked of all processes is done for the target, and says which process it left
expect_served() {
	local limit=200000
	! asan || limit=unlimited
	apply
	expect_status 0
	BOUND_KB=$limit bounded uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET "
	expect_message "note: .*pid $FORGED"
	BOUND_KB=$limit bounded uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	expect_message "note: .*pid $FORGED"
	expect_answer hello 'hello, world'
}

@test "probes of one site whose thunks lead to each other" {
	forge loop
	expect_served
}

@test "a hundred thousand names that are one string" {
	forge names
	expect_served
}

@test "records of traces as large as memory that isn't there" {
	forge sparse
	expect_served
}

@test "a record of a version to come" {
	forge version
	expect_served
	tool uspl-view "$FORGED"
	expect_status 1
	expect_message 'ABI version'
}

@test "sixty thousand mappings" {
	forge maps
	expect_served
}

@test "rings without number" {
	forge rings
	tool uspl-trace cat "$FORGED"
	expect_status 1
	expect_message 'damaged'
	tool uspl-trace status
	expect_status 0
}

@test "a claim to a real update is shown beside it, with its owner, and not believed" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	forge claim "$ID" "it isn't so"
	apply
	expect_status 0
	tool uspl-view
	expect_status 0
	expect_output "$ID +applied +$TARGET +target .* root "
	expect_output "$ID +[a-z]+ +$FORGED +forge .* nobody +it isn't so"
	[[ $output != *"$TARGET "*"it isn't so"*"$FORGED"* ]]
	expect_message "different updates have the id '$ID'"
	tool uspl-view --id="$ID"
	expect_status 0
	[ "$(grep -c '^id: ' <<< "$output")" = 2 ]
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	expect_message "note: pid $FORGED .*nobody.* is left out"
	expect_answer hello 'hello, world'
	[[ $output != *"pid $FORGED"* ]]
	tool uspl-undo "$ID"
	expect_status 1
	expect_message 'not applied in any process'
}

@test "another user's process that root has patched is found by its id" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	target_stop
	rm -rf "$BATS_TEST_TMPDIR/run"
	mkdir -m 755 "$BATS_TEST_TMPDIR/run"
	cp "$FIXTURE/tree/target" "$BATS_TEST_TMPDIR/run"
	chmod 755 "$BATS_TEST_TMPDIR"
	target_start_by "$BATS_TEST_TMPDIR/run" setpriv --reuid=65534 --regid=65534 --clear-groups ./target
	apply
	expect_status 0
	[ -f "$USPL_JOURNAL/$ID.journal" ]
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "pid $TARGET"
	[ ! -e "$USPL_JOURNAL/$ID.journal" ]
	apply
	rm -r "$USPL_JOURNAL"
	tool uspl-undo "$ID"
	expect_status 1
	expect_message "note: pid $TARGET .*nobody.* is left out"
	mkdir -m 777 "$USPL_JOURNAL"
	undo
	expect_status 0
	expect_answer hello 'hello, world'
}

@test "names that act on a terminal don't reach it" {
	forge escape
	for line in "view" "view $FORGED" "view --id=forged" "view -v" "trace status"; do
		# shellcheck disable=SC2086 # words
		tool uspl $line
		[[ $output$stderr != *$'\e'* ]] || fail "uspl $line writes an escape"
	done
}
