# SPDX-License-Identifier: GPL-3.0-or-later
# apply-target.bats - processes that uspl-apply can't or won't patch: one message each, and the
# process is untouched
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
}

# as_nobody COMMAND... - runs a command as a user without rights
as_nobody() {
	run --separate-stderr timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# traced - true while a debugger is attached to the target
traced() {
	[ "$(status_of TracerPid)" != 0 ]
}

# untraced - true while none is
untraced() {
	! traced
}

teardown() {
	helper_stop
	target_stop
}

@test "a pid that does not exist" {
	target_stop
	read -r gone < <(exec sh -c 'echo $$')
	until_true 60 test ! -e "/proc/$gone"
	tool uspl-apply "$UPDATE" "$gone"
	expect_status 3
	expect_one_message
	expect_message "pid $gone"
}

@test "a zombie" {
	helper_start "$(helper_build zombie)"
	tool uspl-apply "$UPDATE" "$REPLY"
	expect_status 1
	expect_one_message
	expect_message "pid $REPLY.*zombie"
}

@test "a process that a debugger traces" {
	helper_start "$(helper_build seize)" "$TARGET"
	apply
	expect_status 1
	expect_one_message
	expect_message "pid $TARGET .*traced by pid $HELPER_PID"
	expect_message "'seize'"
	helper_stop
	expect_untouched
}

@test "a process that gdb is attached to" {
	command -v gdb > /dev/null || skip "gdb is not installed"
	helper_start gdb -q -nx -p "$TARGET" -ex 'echo ready\n'
	until_true 60 traced
	apply
	expect_status 1
	expect_one_message
	expect_message "'gdb'"
	helper_stop
	until_true 60 untraced
	expect_untouched
	expect_update_works
}

@test "a 32-bit process" {
	as --32 -o "$BATS_TEST_TMPDIR/idle32.o" "$USPL_TESTS/lib/idle32.S"
	ld -m elf_i386 -o "$BATS_TEST_TMPDIR/idle32" "$BATS_TEST_TMPDIR/idle32.o"
	helper_start "$BATS_TEST_TMPDIR/idle32" || skip "the kernel runs no 32-bit programs"
	tool uspl-apply "$UPDATE" "$HELPER_PID"
	expect_status 1
	expect_one_message
	expect_message '32-bit'
	kill -0 "$HELPER_PID"
}

@test "a process of another user" {
	local public
	if [ "$(id -u)" != 0 ]; then
		tool uspl-apply "$UPDATE" 1
		expect_status 3
		expect_message 'pid 1'
		return
	fi
	public=$(mktemp -d)
	install -m 755 "$USPL_BIN/uspl" "$public/uspl-apply"
	install -m 644 "$UPDATE" "$public/update.tar.gz"
	chmod 755 "$public"
	as_nobody "$public/uspl-apply" "$public/update.tar.gz" "$TARGET"
	rm -r "$public"
	expect_status 3
	expect_one_message
	expect_message "pid $TARGET"
	expect_untouched
}

# What a user without rights does in a folder of his own: starts the program, patches, asks, takes
# back. $1 is the update's id.
patch_own_process() {
	mkfifo in
	exec 5<> in
	./target < in > out &
	# It runs when it answers; before, it may be the shell yet.
	echo count >&5
	until grep -q . out || [ "$((tries++))" = 500 ]; do sleep 0.02; done
	./uspl-apply update.tar.gz $! && echo hello >&5
	until grep -q hello out || grep -q bye out || [ "$((tries++))" = 500 ]; do sleep 0.02; done
	cat out
	./uspl-undo "$1" $!
	kill $!
}

@test "one's own process, without being root" {
	[ "$(id -u)" = 0 ] || skip "the other tests show it when they don't run as root"
	local public
	public=$(mktemp -d)
	cp "$USPL_BIN/uspl" "$FIXTURE/tree/target" "$public"
	cp "$UPDATE" "$public/update.tar.gz"
	ln -s uspl "$public/uspl-apply"
	ln -s uspl "$public/uspl-undo"
	chown -R 65534:65534 "$public"
	as_nobody bash -c "cd '$public'; $(declare -f patch_own_process); patch_own_process '$ID'"
	rm -r "$public"
	expect_output 'goodbye, world'
	expect_status 0
}

@test "another program" {
	helper_start "$(helper_build zombie)"
	tool uspl-apply "$UPDATE" "$HELPER_PID"
	expect_status 1
	expect_one_message
	kill -0 "$HELPER_PID"
}

@test "another build of the program" {
	local other=$BATS_TEST_TMPDIR/other
	target_stop
	cp -r "$FIXTURE/tree" "$other"
	sed -i 's/hello, %s/another %s/' "$other/target.c"
	sed -i 's/-O2/-O0/' "$other/config.mk"
	make -C "$other"
	target_start "$other"
	SUM=$(text_sum)
	apply
	expect_status 1
	expect_one_message
	expect_message "isn't the code .*: at .*0x0 the update has '[^']+', the running program at 0x[0-9a-f]+ has '[^']+'"
	expect_message "hint: other options or another compiler, probably: only 0 of the .*'GCC: .*'GCC: "
	expect_message "another build than the update was made for: its build-id is"
	[ "$(text_sum)" = "$SUM" ]
	expect_answer hello 'another world'
	expect_fine
}

@test "another build of the program, of another source" {
	local other=$BATS_TEST_TMPDIR/other
	target_stop
	cp -r "$FIXTURE/tree" "$other"
	sed -i 's/hello, %s/another %s and more/' "$other/target.c"
	make -C "$other"
	target_start "$other"
	apply
	expect_status 1
	expect_one_message
	expect_message "hint: another source, probably: [0-9]+ of the [0-9]+ functions"
	expect_fine
}

@test "another build of the program, by another compiler: both versions" {
	local other=$BATS_TEST_TMPDIR/other
	other_gcc
	target_stop
	cp -r "$FIXTURE/tree" "$other"
	sed -i "s/-O2/-O1/; s/^CC = .*/CC = $OTHER_GCC/" "$other/config.mk"
	make -C "$other"
	target_start "$other"
	apply
	expect_status 1
	expect_one_message
	expect_message "made with '[^']*GCC: [^']* $OTHER_VERSION\\.[^']*'.* update .*'GCC: [^']* $GCC_VERSION\\."
	expect_fine
}

@test "an update that is not there" {
	tool uspl-apply "$BATS_TEST_TMPDIR/missing.tar.gz" "$TARGET"
	expect_status 3
	expect_one_message
	expect_message "missing\.tar\.gz"
	expect_untouched
}

@test "a second apply changes nothing and is done" {
	apply
	expect_status 0
	expect_output "^applied $ID to pid $TARGET: 1 function, stopped [0-9.]+ "
	apply
	expect_status 0
	expect_output "already applied"
	expect_answer hello 'goodbye, world'
	expect_fine
}

@test "--quiet says nothing" {
	apply --quiet
	expect_status 0
	[ -z "$output$stderr" ]
}

@test "--json is one object a line" {
	apply --json
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_output "^\{.*\"id\": *\"$ID\""
	expect_output "\"functions\": *\[\{\"name\": *\"greet\", *\"old\": *\"0x[0-9a-f]+\", *\"new\": *\"0x[0-9a-f]+\""
	expect_output '"stop_us": *[0-9]'
	expect_output '"attempts": *[1-9]'
}
