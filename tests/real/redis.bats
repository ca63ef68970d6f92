# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# redis.bats - two fixes of the Debian package go into redis-server under load, and out again

load real

# The first shows in a reply; the second is in a function that every reply to every client passes.
reply_fix=0002-Fix-Read-Write-key-pattern-selector-CVE-2024-51741-1.patch
hot_fix=0001-Limiting-output-buffer-for-unauthenticated-client-CV.patch

# Fetches and builds; false also if it gave up.
prepare() {
	need redis-benchmark redis-tools && source_unpack redis &&
		fix_take_out "$hot_fix" && fix_take_out "$reply_fix" &&
		build make -j"$(nproc)" -C src MALLOC=libc redis-server && build_keeper
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

@test "redis: two real fixes under load, no request fails, no connection drops, no key is lost" {
	local tree round
	tree=$(tree_state)
	tool uspl-create --source="$BATS_FILE_TMPDIR/src" --build='make -C src MALLOC=libc redis-server' \
		--patch="$BATS_FILE_TMPDIR/$reply_fix" --patch="$BATS_FILE_TMPDIR/$hot_fix" \
		--id=redisfix --output="$BATS_TEST_TMPDIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=redisfix
	expect_in_update ACLSetSelector checkClientOutputBufferLimits
	[ "$tree" = "$(tree_state)" ] || fail 'the source tree is not as it was'

	server_start src/redis-server --port 0 --unixsocket "$BATS_FILE_TMPDIR/socket" --save '' --appendonly no
	benchmark_start
	keeper_start redis 20
	for round in 1 2; do
		echo "round $round"
		# A permission on keys without a pattern: only the fix refuses it.
		apply_and_undo 'ACL SETUSER someone %' +OK \
			"-ERR Error in ACL SETUSER modifier '%': Syntax error"
	done
	keeper_stop
	benchmark_stop
	kill -0 "$TARGET"
}
