# SPDX-License-Identifier: GPL-3.0-or-later
# redis.bats - the redis-server of Debian's archive gets a fix that came after it, under load, and
# gives it back

load stock

# Of the newest source package. It is in four functions, one of which every new string passes.
fix=CVE-2026-25243.patch

# The oldest version that is still shipped, and the fix. Debian's redis-server is a link to
# redis-check-rdb.
prepare() {
	local newest=$BATS_FILE_TMPDIR/newest oldest
	oldest=$(versions redis-tools | tail -n 1)
	need redis-benchmark redis-tools && "$here/source.sh" redis "$newest" > /dev/null &&
		stock_prepare redis-tools redis "$oldest" && build_keeper || return
	[ -e "$newest/debian/patches/$fix" ] || give_up "the archive's newest redis has no $fix" || return
	[ ! -e "$STOCK/src/debian/patches/$fix" ] || give_up "the archive's oldest redis has $fix already" || return
	cp "$newest/debian/patches/$fix" "$BATS_FILE_TMPDIR/"
	ln -s "$STOCK/bin/usr/bin/redis-check-rdb" "$BATS_FILE_TMPDIR/redis-server"
}

setup_file() {
	export BATS_TEST_TIMEOUT=1800
	prepare || [ -n "${SKIP_REASON:-}" ]
}

setup() {
	unless_given_up
}

teardown() {
	all_stop
}

# redis_start NAME - starts the server by this name in the folder of the test file
redis_start() {
	server_start "$BATS_FILE_TMPDIR/$1" --port 0 --unixsocket "$BATS_FILE_TMPDIR/socket" --save '' --appendonly no
}

@test "stock redis-server: a fix from the package's history, no request fails, no connection drops, no key is lost" {
	local round program=$STOCK/bin/usr/bin/redis-check-rdb
	redis_start redis-server

	TARGET_NAME=src/redis-server ID=stockfix
	create_stock --against="$program" --patch="$BATS_FILE_TMPDIR/$fix" --patch="$BATS_TEST_DIRNAME/redis.patch"
	expect_in_update rdbLoadObject zipmapValidateIntegrity _sdsnewlen echoCommand
	benchmark_start
	keeper_start redis 20
	for round in 1 2; do
		echo "round $round"
		# The reply begins with its length.
		apply_and_undo 'ECHO hello' "\$5" "\$7"
	done
	keeper_stop
	benchmark_stop
	kill -0 "$TARGET"
}

# apply_noted NOTE - applies, which says what told that this is the program, and undoes
apply_noted() {
	apply --wait=60
	expect_status 0 || return
	expect_message "note: $1" || return
	expect_reply 'ECHO hello' "\$7" || return
	undo --wait=60
	expect_status 0 || return
	expect_reply 'ECHO hello' "\$5"
}

@test "stock redis-server without --against: known by the link that it was started by, or by its code alone" {
	TARGET_NAME=src/redis-server ID=stocklink
	create_stock --patch="$BATS_TEST_DIRNAME/redis.patch"
	redis_start redis-server
	apply_noted "'.*/redis-check-rdb' in pid $TARGET was started as 'redis-server', and is another build"
	all_stop
	cp "$STOCK/bin/usr/bin/redis-check-rdb" "$BATS_FILE_TMPDIR/cache"
	redis_start cache
	apply_noted "'.*/cache' in pid $TARGET has neither the name nor a build-id of 'redis-server', but its code: [0-9]+ of the"
}
