# SPDX-License-Identifier: GPL-3.0-or-later
# containers.bats - programs whose file is gone, or that run with another root folder, other users,
# other pids; and the tools there
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	RUN=$BATS_TEST_TMPDIR/run
	mkdir "$RUN"
	cp "$FIXTURE/tree/target" "$RUN"
}

teardown() {
	target_stop
}

# need_unshare OPTION... - skips the test where no such namespace can be made
need_unshare() {
	unshare "$@" true 2> /dev/null || skip "no namespace can be made here: unshare $*"
}

# root_make DIR - a root folder with the program and what it needs
root_make() {
	local file
	mkdir -p "$1/proc"
	cp "$RUN/target" "$1"
	for file in $(ldd "$RUN/target" | grep -o '/[^ ]*'); do
		mkdir -p "$1$(dirname "$file")"
		cp "$file" "$1$file"
	done
}

@test "the program's file was deleted" {
	target_start "$RUN"
	rm "$RUN/target"
	expect_update_works
}

@test "an upgrade has put another program in the place of the file" {
	target_start "$RUN"
	sed 's/"hello, %s"/"HELLO, %s"/' "$FIXTURE/tree/target.c" > "$BATS_TEST_TMPDIR/target.c"
	"$TARGET_CC" -O2 -I"$FIXTURE/tree" -o "$RUN/new" "$BATS_TEST_TMPDIR/target.c" "$FIXTURE"/tree/{main,serve}.c
	mv "$RUN/new" "$RUN/target"
	expect_update_works
}

@test "what an upgrade has put there is no program at all" {
	target_start "$RUN"
	echo 'not a program' > "$RUN/new"
	mv "$RUN/new" "$RUN/target"
	expect_update_works
}

@test "chroot: the program sees another root folder" {
	[ "$(id -u)" = 0 ] || skip 'only root can change the root folder'
	root_make "$RUN/root"
	target_start_by "$RUN" chroot root /target
	expect_update_works
}

@test "mount namespace: the program's file lies where we can't see it" {
	need_unshare --mount
	target_start_by "$RUN" unshare --mount sh -c 'mount -t tmpfs none /mnt && cp target /mnt && exec /mnt/target'
	[ ! -e "/mnt/target" ]
	expect_update_works
}

@test "pid namespace: the pid that counts is the one that we see" {
	need_unshare --pid --fork
	target_start_by "$RUN" unshare --pid --fork --mount-proc ./target
	[[ $(grep NSpid "/proc/$TARGET/status") = *1 ]]
	expect_update_works
}

@test "user namespace: the program is root there" {
	need_unshare --user --map-root-user
	target_start_by "$RUN" unshare --user --map-root-user ./target
	expect_update_works
}

@test "a container: all name spaces, and a root folder of its own" {
	need_unshare --mount --uts --ipc --net --pid --fork
	root_make "$RUN/root"
	target_start_by "$RUN" unshare --mount --uts --ipc --net --pid --fork --root="$RUN/root" /target
	expect_update_works
}

@test "undo without a pid finds the container's process" {
	need_unshare --mount --pid --fork
	target_start_by "$RUN" unshare --mount --pid --fork --mount-proc ./target
	apply
	expect_status 0
	tool uspl-undo "$ID"
	expect_status 0
	expect_output "undone $ID in pid $TARGET:"
}

@test "the tool is in a container, and the process outside" {
	need_unshare --pid --fork --mount-proc
	target_start "$RUN"
	SUM=$(text_sum)
	run --separate-stderr timeout 60 unshare --pid --fork --mount-proc "$USPL_BIN/uspl-apply" "$UPDATE" "$TARGET"
	expect_status 3
	expect_one_message
	expect_message "there is no process with pid $TARGET"
	expect_message 'hint: .*pid namespace'
	expect_untouched
}

@test "the tool is in a pid namespace, and /proc is that of another one" {
	need_unshare --pid --fork
	target_start "$RUN"
	SUM=$(text_sum)
	run --separate-stderr timeout 60 unshare --pid --fork "$USPL_BIN/uspl-apply" "$UPDATE" "$TARGET"
	expect_status 1
	expect_one_message
	expect_message "'/proc' shows the processes of another pid namespace"
	expect_untouched
}

@test "tool and program in the same container" {
	need_unshare --pid --fork --mount-proc
	target_start_by "$RUN" unshare --pid --fork --mount-proc sh -c './target; true'
	SUM=$(text_sum)
	inner=$(awk '/NSpid/ { print $NF }' "/proc/$TARGET/status")
	run --separate-stderr timeout 60 nsenter --target "$TARGET" --pid --mount "$USPL_BIN/uspl-apply" "$UPDATE" "$inner"
	expect_status 0
	expect_output "to pid $inner:"
	expect_answer hello 'goodbye, world'
	tool uspl-view "$TARGET"
	expect_output "$ID +applied +$TARGET "
	undo
	expect_status 0
	expect_untouched
}
