# SPDX-License-Identifier: GPL-3.0-or-later
# watch.bats - the service that applies what is enabled to what is started
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	fleet_make
	host_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	source "$BATS_TEST_DIRNAME/../lib/daemon.bash"
	FLEET=() TO=() FROM=()
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	WATCH=
}

teardown() {
	[ -z "$WATCH" ] || kill -KILL "$WATCH" 2> /dev/null || :
	fleet_stop
}

# host_make - for setup_file: a program that opens a library, and an update of that; HOST, LIBRARY,
# LIBRARY_UPDATE
host_make() {
	local dir=$BATS_FILE_TMPDIR/host
	mkdir "$dir"
	cp "$USPL_TESTS"/cmd/watch/{plugin.c,host.c,Makefile} "$USPL_TESTS"/lib/target/{main.c,serve.[ch]} "$dir"
	printf '%s\n' "NAME = $NAME" "CC = $TARGET_CC" "CFLAGS = -O2 -Wl,--build-id" > "$dir/config.mk"
	make -s -C "$dir" || return
	export FLEET_UPDATE=$UPDATE FLEET_ID=$ID
	create "$dir" "$USPL_TESTS/cmd/watch/plugin.patch"
	expect_status 0 || return
	export HOST=$dir/host LIBRARY=$dir/lib$NAME.so LIBRARY_UPDATE=$UPDATE UPDATE=$FLEET_UPDATE ID=$FLEET_ID
	"$TARGET_CC" -o "$BATS_FILE_TMPDIR/forks" "$USPL_TESTS/cmd/watch/forks.c"
}

@test "what runs when it begins has it, and what is started later, by whatever way: exec, a shell's, a daemon's" {
	fleet_start 1
	tool uspl-enable --later "$UPDATE"
	watch_start
	expect_comes 0 'goodbye, world'
	fleet_start 1
	expect_comes 1 'goodbye, world'
	# One pid after the other program.
	# shellcheck disable=SC2016 # the shell's
	fleet_start 1 sh -c 'exec "$0"'
	expect_comes 2 'goodbye, world'
	fleet_start 1 "$BATS_FILE_TMPDIR/forks"
	expect_comes 3 'goodbye, world'
	asked '"enabled":1,.*"applied":4,"processes":\[\]' || fail "it says '$output'"
	[ "$(grep -c "^applied $ID to pid" "$BATS_TEST_TMPDIR/watch.out")" = 4 ]
	# Those of which the parents have ended aren't in the list.
	pkill -KILL -x "$NAME"
	watch_end
}

@test "what is enabled and disabled while it watches; what has it keeps it" {
	fleet_start 1
	watch_start
	asked '"enabled":0,' || fail "it says '$output'"
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	expect_comes 0 'goodbye, world'
	tool uspl-disable "$ID"
	until_true 60 asked '"enabled":0,' || fail "it says '$output'"
	fleet_start 1
	# That it is enabled once more, and comes, shows that the watch has seen the process.
	until_true 60 asked '"execs":[1-9]' || fail "it says '$output'"
	expect_says 0 goodbye hello
	tool uspl-enable --later "$UPDATE"
	expect_comes 1 'goodbye, world'
	watch_end
}

@test "a library that is opened after all else, and one that was open before" {
	watch_start
	tool uspl-enable --later "$LIBRARY_UPDATE"
	expect_status 0
	fleet_start_program "$HOST"
	tell 0 "$LIBRARY"
	hear 0
	expect_comes 0 'new library'
	# The file is known by now: the next one is heard of.
	fleet_start_program "$HOST"
	tell 1 "$LIBRARY"
	hear 1
	expect_comes 1 'new library'
	asked '"opens":[1-9]' || fail "it says '$output'"
	# What only reads it isn't worked on.
	cat "$LIBRARY" > /dev/null
	asked '"processes":\[\]' || fail "it says '$output'"
	watch_end
}

@test "a busy function: tried again until it is left" {
	fleet_start 1
	hold 0
	watch_start
	tool uspl-enable --later "$UPDATE"
	until_true 120 asked "\"pid\":${FLEET[0]},\"state\":\"waiting\",\"id\":\"$ID\",\"error\":\"busy\"" ||
		fail "it says '$output'"
	tool uspl-list
	expect_status 1
	[[ $output == *"missing in pid ${FLEET[0]}, waiting: "*"on the stack of thread ${FLEET[0]}"* ]] || fail "it lists '$output'"
	tool uspl-list --json
	[[ $output == *"\"pid\":${FLEET[0]},\"state\":\"missing\",\"watch\":\"waiting\",\"message\":\""* ]] ||
		fail "it lists '$output'"
	tool uspl-list --format=prometheus
	[[ $output == *"{id=\"$ID\",state=\"waiting\"} 1"* && $output == *$'\nuspl_watch_up 1\n'* ]] || fail "it lists '$output'"
	release 0
	expect_comes 0 'goodbye, world'
	until_true 60 asked '"processes":\[\]' || fail "it says '$output'"
	watch_end
}

@test "another build of that name: refused once, not for each process; the right one has it" {
	local other=$BATS_TEST_TMPDIR/other
	cp -r "$FIXTURE/tree" "$other"
	sed -i 's/"hello, %s"/"%s: hello"/' "$other/target.c"
	echo 'CFLAGS += -Wl,--build-id=sha1' >> "$other/config.mk"
	make -s -B -C "$other" "$NAME"
	tool uspl-enable --later "$UPDATE"
	watch_start
	fleet_start_program "$other/$NAME"
	until_true 60 grep -q "cannot apply .* to pid ${FLEET[0]}: " "$BATS_TEST_TMPDIR/watch.err" ||
		fail "nothing is said: $(cat "$BATS_TEST_TMPDIR/watch.out")"
	until_true 60 asked "\"pid\":${FLEET[0]},\"state\":\"refused\",\"id\":\"$ID\",\"error\":\"no-match\"" ||
		fail "it says '$output'"
	fleet_start_program "$other/$NAME" "$other/$NAME"
	fleet_start 1
	expect_comes 3 'goodbye, world'
	[ "$(grep -c 'cannot apply' "$BATS_TEST_TMPDIR/watch.err")" = 1 ]
	says 0 'world: hello'
	says 2 'world: hello'
	watch_end
}

@test "killed and started again, it goes on; there is one at a time" {
	tool uspl-enable --later "$UPDATE"
	watch_start
	tool uspl-watch
	expect_status 1
	expect_one_message
	expect_message 'a watch is at work already'
	kill -KILL "$WATCH"
	wait "$WATCH" || :
	fleet_start 1
	expect_says 0 hello
	tool uspl-watch --status
	expect_status 3
	expect_one_message
	expect_message 'no watch is at work'
	watch_start
	expect_comes 0 'goodbye, world'
	kill -HUP "$WATCH"
	until_true 60 asked '"sweeps":[3-9]' || fail "it says '$output'"
	fleet_start 1
	expect_comes 1 'goodbye, world'
	watch_end
}

@test "a damaged update is told of, others are applied; what others may write to counts for nothing" {
	tool uspl-enable --later "$UPDATE"
	tool uspl-enable --later "$LIBRARY_UPDATE"
	echo x >> "$USPL_STATE/uspl-$(basename "$LIBRARY_UPDATE" .tar.gz | cut -c 6-).tar.gz"
	watch_start
	grep -q "is not the file that was enabled" "$BATS_TEST_TMPDIR/watch.err"
	fleet_start 1
	expect_comes 0 'goodbye, world'
	chmod 0777 "$USPL_STATE"
	until_true 60 asked '"enabled":0,' || fail "it says '$output'"
	grep -q 'others may write to' "$BATS_TEST_TMPDIR/watch.err"
	chmod 0755 "$USPL_STATE"
	until_true 60 asked '"enabled":1,' || fail "it says '$output'"
	rm -r "$USPL_STATE"
	until_true 60 watch_gone || fail 'it goes on without its folder'
	rc=0
	wait "$WATCH" || rc=$?
	WATCH=
	[ "$rc" = 3 ]
	grep -q 'was removed' "$BATS_TEST_TMPDIR/watch.err"
}

# watch_gone - true once the service has ended
watch_gone() {
	[ "$(cut -d ' ' -f 3 "/proc/$WATCH/stat" 2> /dev/null || echo Z)" = Z ]
}

@test "where the kernel tells of nothing, in a network namespace of its own: a message, and nothing is begun" {
	unshare --net true || skip 'there are no network namespaces'
	run --separate-stderr unshare --net timeout 60 "$USPL_BIN/uspl-watch"
	expect_status 1
	expect_one_message
	expect_message 'tells nothing of new processes'
}

@test "apply --enabled: to what is named or selected; nothing enabled and nothing to do are no failures" {
	tool uspl-apply --enabled --all
	expect_status 0
	[ -z "$output$stderr" ]
	fleet_start 3
	tool uspl-enable --later "$UPDATE"
	tool uspl-apply --enabled --all --only="${FLEET[1]}"
	expect_status 0
	expect_output "^applied $ID to pid ${FLEET[1]}: "
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye hello
	tool uspl-apply --enabled "${FLEET[0]}"
	expect_status 0
	expect_says 0 goodbye goodbye hello
	tool uspl-apply --enabled --exe=/bin/true
	expect_status 0
	tool uspl-apply --enabled --only=0
	expect_status 2
	expect_one_message
	tool uspl-apply --enabled
	expect_status 2
	expect_message 'no pid given'
	tool uspl-undo --all --only="${FLEET[0]}" "$ID"
	expect_status 0
	expect_says 0 hello goodbye hello
}

@test "wrong words" {
	tool uspl-watch what
	expect_status 2
	expect_one_message
	tool uspl-watch --wait
	expect_status 2
	expect_one_message
}
