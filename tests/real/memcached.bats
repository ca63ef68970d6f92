# SPDX-License-Identifier: GPL-3.0-or-later
# memcached.bats - a change in a function that all worker threads run goes into memcached under
# load, and out again

load real

# Fetches and builds; false also if it gave up.
prepare() {
	need_header event.h libevent-dev && source_unpack memcached &&
		build ./configure && build make -j"$(nproc)" memcached && build_keeper
}

setup_file() {
	export BATS_TEST_TIMEOUT=1500
	prepare || [ -n "${SKIP_REASON:-}" ]
}

setup() {
	unless_given_up
}

teardown() {
	all_stop
}

@test "memcached: a change in what all workers run, no request fails, no connection drops, no key is lost" {
	local tree round version
	tree=$(tree_state)
	tool uspl-create --source="$BATS_FILE_TMPDIR/src" --patch="$here/memcached.patch" --target=memcached \
		--id=version --output="$BATS_TEST_TMPDIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=version
	expect_in_update 'process_command_ascii.*' # gcc may have split it
	[ "$tree" = "$(tree_state)" ] || fail 'the source tree is not as it was'

	server_start memcached -u "$(id -un)" -s "$BATS_FILE_TMPDIR/socket" -t 8 -c 512
	keeper_start memcached 120
	version=$("$BATS_FILE_TMPDIR/keeper" ask "$SOCKET" version)
	for round in 1 2; do
		echo "round $round"
		apply_and_undo version "$version" "$version patched"
	done
	keeper_stop
	kill -0 "$TARGET"
}
