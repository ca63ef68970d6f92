# SPDX-License-Identifier: GPL-3.0-or-later
# real.bash - helpers: real servers, built from their Debian source packages, and clients that never
# let go of them
#
# Everything happens on UNIX sockets below the folder of the test file: no port can be taken,
# nothing is reachable from outside. A server is the TARGET of tests/lib/process.bash.

here=${BASH_SOURCE[0]%/*}
bats_require_minimum_version 1.5.0
load ../lib/process
load ../lib/tools

# A build of the tree, twice, on a slow machine.
export TOOL_SECONDS=${TOOL_SECONDS:-1200}

# give_up REASON - for setup_file: the tests of this file are to be skipped (this bats can't skip
# from there itself)
give_up() {
	export SKIP_REASON=$1
	return 1
}

# unless_given_up - for setup: skips the test, with the reason, if setup_file gave up
unless_given_up() {
	[ -z "${SKIP_REASON:-}" ] || skip "$SKIP_REASON"
}

# need COMMAND PACKAGE - gives up if a program is missing
need() {
	command -v "$1" > /dev/null || give_up "$1 is not installed (package $2)"
}

# need_header HEADER PACKAGE - gives up if a header is missing
need_header() {
	echo "#include <$1>" | gcc -E - > /dev/null 2>&1 || give_up "$1 is not installed (package $2)"
}

# source_unpack PACKAGE - unpacks its source to $BATS_FILE_TMPDIR/src; gives up, with the reason, if
# there is none
source_unpack() {
	local reason status=0
	reason=$("$here/source.sh" "$1" "$BATS_FILE_TMPDIR/src") || status=$?
	[ "$status" != 77 ] || give_up "$reason" || return
	[ "$status" = 0 ] || fail "source.sh ended with status $status: $reason"
}

# fix_take_out PATCH - the tree before a fix that the package carries: takes it out, and leaves it
# in $BATS_FILE_TMPDIR
fix_take_out() {
	local patch=debian/patches/$1
	cd "$BATS_FILE_TMPDIR/src" || return
	[ -e "$patch" ] || give_up "this version of the package has no $patch" || return
	cp "$patch" "$BATS_FILE_TMPDIR/"
	patch -p1 --reverse --force --no-backup-if-mismatch < "$patch" || fail "$patch can't be taken out"
}

# build COMMAND... - builds the unpacked source as its users do
build() {
	(cd "$BATS_FILE_TMPDIR/src" && "$@") > "$BATS_FILE_TMPDIR/build.log" 2>&1 ||
		fail "$* failed: $(tail -n 5 "$BATS_FILE_TMPDIR/build.log")"
}

# build_keeper - compiles the client that remembers
build_keeper() {
	gcc -O2 -o "$BATS_FILE_TMPDIR/keeper" "$here/keeper.c" -lpthread
}

# server_start PROGRAM ARG... - starts a server, by its path in the unpacked source; its socket is
# $BATS_FILE_TMPDIR/socket
server_start() {
	local program=$1
	[[ $program = /* ]] || program=$BATS_FILE_TMPDIR/src/$program
	shift
	SOCKET=$BATS_FILE_TMPDIR/socket
	rm -f "$SOCKET"
	(cd "$BATS_FILE_TMPDIR" && exec "$program" "$@") > "$BATS_FILE_TMPDIR/server.log" 2>&1 3>&- &
	TARGET=$!
	until_true 60 [ -S "$SOCKET" ] || fail "the server does not listen: $(cat "$BATS_FILE_TMPDIR/server.log")"
}

# keeper_start PROTOCOL CONNECTIONS - sets the clients that remember upon the server
keeper_start() {
	"$BATS_FILE_TMPDIR/keeper" "$1" "$SOCKET" "$2" > "$BATS_FILE_TMPDIR/keeper.log" 2>&1 3>&- &
	KEEPER=$!
}

# keeper_stop - ends them; fails unless every request was answered right and every key is there
keeper_stop() {
	local status=0
	kill -TERM "$KEEPER"
	wait "$KEEPER" || status=$?
	KEEPER=
	cat "$BATS_FILE_TMPDIR/keeper.log"
	[ "$status" = 0 ] || fail "the clients saw failures: $(tail -n 1 "$BATS_FILE_TMPDIR/keeper.log")"
}

# benchmark_start - redis' own load upon the server, without end
benchmark_start() {
	timeout 1800 redis-benchmark -s "$SOCKET" -l -c 50 -t set,get,lpush,lpop,ping \
		> "$BATS_FILE_TMPDIR/benchmark.log" 2>&1 3>&- &
	BENCHMARK=$!
}

# benchmark_stop - ends it; it must still be running, for it ends at the first error
benchmark_stop() {
	kill -0 "$BENCHMARK" || fail "redis-benchmark gave up: $(tail -n 3 "$BATS_FILE_TMPDIR/benchmark.log")" ||
		return
	kill -TERM "$BENCHMARK"
	wait "$BENCHMARK" || :
	BENCHMARK=
}

# child_end SIGNAL PID - ends a child, if there is one, and waits for it; not for all, bats' watch
# over the time is one too
child_end() {
	[ -n "$2" ] || return 0
	kill -"$1" "$2" 2> /dev/null || :
	wait "$2" 2> /dev/null || :
}

# all_stop - for teardown: ends what still runs of this test
all_stop() {
	child_end KILL "${KEEPER:-}"
	child_end TERM "${BENCHMARK:-}"
	target_stop
}

# tree_state - a checksum of the user's tree: names, modes, times and contents
tree_state() {
	(
		cd "$BATS_FILE_TMPDIR/src" || exit
		find . -printf '%p %m %T@ %l\n' | sort
		find . -type f -print0 | sort -z | xargs -0 sha256sum
	) | sha256sum
}

# expect_in_update REGEX... - fails unless the update redirects a function matching each
expect_in_update() {
	local pattern
	tool uspl-view --json --file="$UPDATE"
	expect_status 0 || return
	for pattern in "$@"; do
		functions_of "$output" | tr ' ' '\n' | grep -qx "$pattern" ||
			fail "no '$pattern' among the changed functions"
	done
}

# expect_reply REQUEST REPLY - asks the server, which must answer just that
expect_reply() {
	local reply
	reply=$("$BATS_FILE_TMPDIR/keeper" ask "$SOCKET" "$1") || fail "no reply to '$1'" || return
	[ "$reply" = "$2" ] || fail "the reply to '$1' is '$reply', not '$2'"
}

# apply_and_undo REQUEST OLD NEW - the main job: old reply, apply, new reply, undo, old reply, and
# the code is as it was
apply_and_undo() {
	local before after
	before=$(text_sum) || return
	expect_reply "$1" "$2" || return
	apply --wait=60
	expect_status 0 || return
	echo "$output"
	expect_reply "$1" "$3" || return
	expect_applied || return
	undo --wait=60
	expect_status 0 || return
	echo "$output"
	expect_reply "$1" "$2" || return
	after=$(text_sum) || return
	[ "$before" = "$after" ] || fail 'the code differs from what it was before'
	expect_untraced
}
