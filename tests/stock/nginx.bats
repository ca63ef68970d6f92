# SPDX-License-Identifier: GPL-3.0-or-later
# nginx.bats - master and workers of Debian's nginx are patched under load, all together, and
# unpatched

load stock

prepare() {
	# shellcheck disable=SC2046 # a list of words
	need wrk wrk && stock_prepare nginx nginx $(versions nginx)
}

setup_file() {
	export BATS_TEST_TIMEOUT=1800
	prepare || [ -n "${SKIP_REASON:-}" ]
}

setup() {
	unless_given_up
}

teardown() {
	child_end TERM "${LOAD:-}"
	child_end QUIT "${TARGET:-}"
	TARGET=
}

# nginx_start - starts the master in the background; TARGET is its pid, PORT where it listens, PIDS
# are all of them
nginx_start() {
	local dir=$BATS_TEST_TMPDIR try user=
	mkdir -p "$dir/www" "$dir/temp"
	echo 'nothing to see' > "$dir/www/index.html"
	[ "$(id -u)" != 0 ] || user='user root;'
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 12000))
		sed "s/PORT/$PORT/; s/^USER$/$user/" "$BATS_TEST_DIRNAME/nginx.conf" > "$dir/nginx.conf"
		"$STOCK/bin/usr/sbin/nginx" -p "$dir" -c "$dir/nginx.conf" 2> "$dir/nginx.log" 3>&- &
		TARGET=$!
		if until_true 60 workers_run; then
			PIDS=$(all_pids)
			return
		fi
		child_end TERM "$TARGET"
	done
	fail "nginx doesn't start after $try attempts: $(cat "$dir/nginx.log")"
}

# all_pids - the master and its workers
all_pids() {
	echo "$TARGET" "$(pgrep -P "$TARGET" | xargs)"
}

workers_run() {
	[ "$(pgrep -c -P "$TARGET")" = 2 ] && head_of / > /dev/null
}

# head_of PATH - the headers of a reply
head_of() {
	exec {connection}<> "/dev/tcp/127.0.0.1/$PORT" || return
	printf 'HEAD %s HTTP/1.0\r\n\r\n' "$1" >&"$connection"
	timeout 5 cat <&"$connection"
	exec {connection}>&-
} 2> /dev/null

# expect_tags MARK - fails unless every reply of twenty, from whichever worker, has an entity tag
# with that mark
expect_tags() {
	local i
	for i in {1..20}; do
		[[ $(head_of /) =~ ETag:\ \"[0-9a-f]+"$1"[0-9a-f]+\" ]] || fail "reply $i has no tag with '$1'" || return
	done
}

# sums - a checksum of the code of all of them
sums() {
	local TARGET
	for TARGET in $PIDS; do
		text_sum || return
	done
}

@test "stock nginx: master and workers, no request fails, no connection drops" {
	local before round
	nginx_start
	before=$(sums)
	expect_tags -
	TARGET_NAME=%/build-bin/objs/nginx ID=stocktag
	create_stock --patch="$BATS_TEST_DIRNAME/nginx.patch"
	expect_in_update 'ngx_http_set_etag.*'
	wrk -t 2 -c 60 -d 600 "http://127.0.0.1:$PORT/" > "$BATS_TEST_TMPDIR/wrk.log" 2>&1 3>&- &
	LOAD=$!
	for round in 1 2; do
		echo "round $round"
		# shellcheck disable=SC2086 # a list of pids
		tool uspl-apply --wait=60 "$UPDATE" $PIDS
		expect_status 0
		[ "$(grep -c '^applied' <<< "$output")" = 3 ]
		# It was made from the source alone: the build-id is one that it doesn't know.
		expect_message "note: '.*/nginx' in pid $TARGET is another build .*: its code is the same"
		expect_tags +
		# shellcheck disable=SC2086 # a list of pids
		tool uspl-undo --wait=60 "$ID" $PIDS
		expect_status 0
		expect_tags -
		[ "$(sums)" = "$before" ] || fail 'the code differs from what it was before'
	done
	[ "$(all_pids)" = "$PIDS" ] || fail 'a worker was replaced'
	kill -INT "$LOAD"
	wait "$LOAD" || :
	LOAD=
	cat "$BATS_TEST_TMPDIR/wrk.log"
	! grep -E 'Socket errors|Non-2xx' "$BATS_TEST_TMPDIR/wrk.log" || fail 'requests failed'
	grep -qE '[1-9][0-9]* requests in' "$BATS_TEST_TMPDIR/wrk.log"
}
