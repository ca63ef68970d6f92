# SPDX-License-Identifier: GPL-3.0-or-later
# seccomp.bats - a process under a filter, and a user who has no right to suspend it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of seccomp fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	[ "$(id -u)" = 0 ] || skip 'only root can become another user'
	PUBLIC=$(mktemp -d)
	install -m 755 "$FIXTURE/tree/target" "$USPL_BIN/uspl" "$PUBLIC"
	install -m 644 "$UPDATE" "$PUBLIC/update.tar.gz"
	ln -s uspl "$PUBLIC/uspl-apply"
	chmod 755 "$PUBLIC"
	target_start_by "$PUBLIC" setpriv --reuid=65534 --regid=65534 --clear-groups ./target
	expect_answer hello 'hello, world'
	SUM=$(text_sum)
}

teardown() {
	target_stop
	[ -z "${PUBLIC:-}" ] || rm -r "$PUBLIC"
}

# apply_as_nobody - applies as the user who runs the target
apply_as_nobody() {
	run --separate-stderr timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$PUBLIC/uspl-apply" "$PUBLIC/update.tar.gz" "$TARGET"
}

@test "without a filter: the user's own process is patched" {
	apply_as_nobody
	expect_status 0
	expect_answer hello 'goodbye, world'
}

@test "under a filter: refused before anything is done in the process" {
	expect_answer confine confined
	apply_as_nobody
	expect_status 1
	expect_one_message
	expect_message 'runs under seccomp.*hint: run as root'
	expect_untouched
}

@test "under a filter, and root: patched" {
	expect_answer confine confined
	apply
	expect_status 0
	expect_answer hello 'goodbye, world'
	undo
	expect_status 0
	expect_untouched
}
