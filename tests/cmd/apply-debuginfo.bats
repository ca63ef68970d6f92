# SPDX-License-Identifier: GPL-3.0-or-later
# apply-debuginfo.bats - a stripped program that is busy: its debugging information, if it is found,
# tells the names
#
# The program is that of tests/cases/busy-middle: 'hold' waits in 'wait_for_line'.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of busy-middle fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	mkdir "$BATS_TEST_TMPDIR/run"
	strip -o "$BATS_TEST_TMPDIR/run/target" "$FIXTURE/tree/target"
	cd "$BATS_TEST_TMPDIR/run" || return
}

teardown() {
	target_stop
}

# expect_busy CHAIN - starts the program, which holds; fails unless apply refuses with such a chain
# of calls, and lets it go on
expect_busy() {
	target_start .
	send hold
	receive
	apply --wait=0.5
	expect_status 1 || return
	expect_one_message || return
	expect_message "'hold' is on the stack of thread $TARGET .*: .* < $1" || return
	send go
	receive
	ASKED=$((ASKED + 1))
	expect_fine || return
	apply
	expect_status 0
}

@test "kept beside the program, known by the link to it" {
	objcopy --only-keep-debug "$FIXTURE/tree/target" target.debug
	objcopy --add-gnu-debuglink=target.debug target
	expect_busy 'next_line < wait_for_line < hold < serve < main < '
}

@test "in the program itself, compressed" {
	command -v xz > /dev/null || skip 'xz is not installed (package xz-utils)'
	objcopy -S --keep-symbol={next_line,wait_for_line,hold,answer,serve,main} "$FIXTURE/tree/target" mini
	xz mini
	objcopy --add-section=.gnu_debugdata=mini.xz target
	expect_busy 'next_line < wait_for_line < hold < serve < main < '
}

@test "kept nowhere: the code is found all the same, and calls have addresses" {
	expect_busy 'target\+0x[0-9a-f]+ < target\+0x[0-9a-f]+ < target\+0x[0-9a-f]+ < '
}

# expect_other OPTION HINT - builds the program with another option, stripped, its debugging
# information apart; apply says so
expect_other() {
	cp -r "$FIXTURE/tree" other
	rm other/target other/*.o
	sed -i "s/^CFLAGS = .*/CFLAGS = -O2 -g $1/" other/config.mk
	make -s -C other
	objcopy --only-keep-debug other/target target.debug
	strip -o target other/target
	objcopy --add-gnu-debuglink=target.debug target
	target_start .
	apply
	expect_status 1 || return
	expect_one_message || return
	expect_message "isn't the code that the update was made from: .* the update has '.*', the running program at 0x[0-9a-f]+ \([a-z.]+:[0-9]+\) has '" ||
		return
	expect_message "hint: other options: only '[^']*/target' was compiled with '$2'$" || return
	expect_fine
}

@test "another build that isn't what the update was made from: by which options they differ" {
	expect_other -O0 -O0
}

@test "another build for other processors" {
	expect_other '-march=skylake -fstack-protector-all' "-march=skylake -fstack-protector-all', only the update with '-mtune=generic -march=x86-64"
}
