# SPDX-License-Identifier: GPL-3.0-or-later
# postgres.bats - the USDT probes of the PostgreSQL that Debian ships, in a backend that answers all
# the time

load stock

# A server of its own, on a socket in the file's folder; it doesn't run as root.
prepare() {
	PG=$(find /usr/lib/postgresql -path '*/bin/postgres' 2> /dev/null | sort -V | tail -n 1)
	[ -n "$PG" ] || give_up 'no PostgreSQL (package postgresql)' || return
	readelf -n "$PG" | grep -q 'Provider: postgresql' || give_up 'this PostgreSQL has no probes' || return
	export PG DB=$BATS_FILE_TMPDIR/db
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" "$BATS_FILE_TMPDIR"
	mkdir "$DB"
	chown postgres "$DB"
	as_postgres "${PG%/*}/initdb" --pgdata="$DB/data" --auth=trust --no-sync > "$BATS_FILE_TMPDIR/log" 2>&1 ||
		fail "initdb: $(tail -n 3 "$BATS_FILE_TMPDIR/log")"
	as_postgres "${PG%/*}/pg_ctl" --pgdata="$DB/data" -o "-k '$DB' -c listen_addresses=''" --log="$DB/log" --wait start > /dev/null 3>&- ||
		fail "pg_ctl: $(tail -n 3 "$DB/log")"
}

# as_postgres COMMAND... - runs it as the server's user
as_postgres() {
	(cd / && setpriv --reuid=postgres --regid=postgres --init-groups "$@")
}

setup_file() {
	prepare || [ -n "${SKIP_REASON:-}" ]
}

teardown_file() {
	[ -z "${DB:-}" ] || as_postgres "${PG%/*}/pg_ctl" --pgdata="$DB/data" --mode=immediate stop > /dev/null
}

setup() {
	unless_given_up
	coproc CLIENT { exec psql --host="$DB" --username=postgres --no-psqlrc --quiet --tuples-only --no-align postgres 2>&1 3>&-; }
	TARGET=$(query 'select pg_backend_pid()')
}

teardown() {
	[ -z "${CLIENT_PID:-}" ] || kill "$CLIENT_PID" 2> /dev/null || :
}

# query TEXT - its only row
query() {
	echo "$1;" >&"${CLIENT[1]}"
	read -r -t 30 REPLY <&"${CLIENT[0]}" || fail "no answer to '$1'"
	echo "$REPLY"
}

# expect_hits NAME NUMBER - so many records of the probe are there
expect_hits() {
	local hits
	tool uspl-trace cat "$TARGET"
	hits=$(grep -c " postgresql:$1\(:\|\$\)" <<< "$output" || :)
	[ "$hits" = "$2" ] || fail "$1 was hit $hits times, not $2"
}

@test "stock postgres: every query, transaction and its end, under load; then all is as it was" {
	local i text
	tool uspl-trace mark "$TARGET" list 'postgresql:*'
	[ "$(wc -l <<< "$output")" -gt 30 ] || fail 'there should be some dozens of probes'
	tool uspl-trace mark "$TARGET" on 'postgresql:query__*'
	expect_status 0
	tool uspl-trace mark "$TARGET" on 'postgresql:transaction__*'
	expect_status 0
	for ((i = 1; i <= 50; i++)); do
		[ "$(query "select $i * 2")" = $((2 * i)) ] || fail 'a wrong answer'
	done
	expect_hits query__start 50
	expect_hits query__done 50
	expect_hits transaction__start 50
	expect_hits transaction__commit 50
	tool uspl-trace mark "$TARGET" off
	expect_status 0
	text=$(query 'select 7')
	[ "$text" = 7 ] || fail "'$text'"
	tool uspl-trace mark "$TARGET" off
	expect_status 1
}

@test "stock postgres: switched on and off while it answers, every probe that can be" {
	local round
	echo "select count(*) from generate_series(1, 3000000);" >&"${CLIENT[1]}"
	for round in 1 2 3; do
		tool uspl-trace mark "$TARGET" on
		expect_status 0
		tool uspl-trace mark "$TARGET" off
		expect_status 0
	done
	read -r -t 60 REPLY <&"${CLIENT[0]}"
	[ "$REPLY" = 3000000 ] || fail "the answer is '$REPLY'"
	[ "$(query 'select 1')" = 1 ] || fail 'it does not answer any more'
}
