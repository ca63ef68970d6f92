# SPDX-License-Identifier: GPL-3.0-or-later
# rounds.bats - a server of 16 threads that are all busy is patched and unpatched again and again:
# no request fails, no thread gets stuck, and the process has as much memory and as many mappings
# after the last round as after the tenth
#
# The server and its clients are the demonstration's: each client has a thread of the server for
# itself, asks without a pause, checks every answer, and counts one that takes ten seconds as
# failed. Every eighth round stops all threads (--stop).
# shellcheck disable=SC2030,SC2031 # bats runs each test in a shell of its own
bats_require_minimum_version 1.5.0

CLIENTS=16

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	DEMO=$BATS_TEST_DIRNAME/../demo
	cp -r "$DEMO/thermo" "$BATS_TEST_TMPDIR"
	cp "$DEMO/client.c" "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return
	# They end by themselves, in the demonstration after minutes.
	sed -i 's/^#define LIFETIME_SECONDS .*/#define LIFETIME_SECONDS 14400/' client.c thermo/server.c
	gcc -O2 -pthread -o client client.c
	make -s -C thermo
	thermo/thermo "$BATS_TEST_TMPDIR/socket" 3>&- &
	SERVER=$!
	until_true 30 ./client socket ask count > /dev/null || fail 'the server does not answer'
	tool uspl-create --source=thermo --patch="$DEMO/fix.patch" --id=rounds
	expect_status 0
}

teardown() {
	local pid
	for pid in ${LOAD:-} ${SERVER:-}; do
		kill "$pid" 2> /dev/null || true
		wait "$pid" 2> /dev/null || true
	done
}

# threads_are N - true if the server has so many
threads_are() {
	[ "$(find "/proc/$SERVER/task" -mindepth 1 -maxdepth 1 | wc -l)" = "$1" ]
}

# memory - leaves in MEMORY the server's mappings, KiB of address space, and KiB of memory of its
# own that are neither on a thread's stack nor malloc's: what an update can have brought, to the
# last page; in STACKS and MALLOC the KiB of these. A thread's stack has been made with 8 MiB, and
# an arena of malloc begins at a multiple of 64 MiB.
memory() {
	local kib
	kib=$(LC_ALL=C awk '
		/^[0-9a-f]+-/ {
			arena = $1 ~ /^[0-9a-f]*[048c]000000-/ && NF == 5
			name = $6
		}
		/^Size:/ { kind = name == "[heap]" || arena ? "malloc" : $2 == 8192 || name == "[stack]" ? "stack" : "rest" }
		/^Anonymous:/ { sum[kind] += $2 }
		END { print sum["rest"] + 0, sum["stack"] + 0, sum["malloc"] + 0 }' "/proc/$SERVER/smaps")
	read -r kib STACKS MALLOC <<< "$kib"
	MEMORY="$(wc -l < "/proc/$SERVER/maps") mappings, $(awk '/^VmSize:/ { print $2 }' "/proc/$SERVER/status") KiB of addresses, $kib KiB"
}

# expect_round SWITCH... - applied and undone, and both can be seen
expect_round() {
	tool uspl-apply --quiet "$@" uspl-rounds.tar.gz "$SERVER"
	expect_status 0 || return
	[ "$(./client socket ask get boiler)" = 'boiler is 100 C' ] || fail 'not patched' || return
	tool uspl-undo --quiet "$@" rounds "$SERVER"
	expect_status 0 || return
	[ "$(./client socket ask get boiler)" = 'boiler is 0 C' ] || fail 'still patched'
}

@test "a thousand rounds on a busy server of 16 threads" {
	local round way early early_stacks early_malloc
	./client socket ask put boiler 212
	./client socket load "$CLIENTS" > counted 3>&- &
	LOAD=$!
	until_true 30 threads_are $((CLIENTS + 1)) || fail 'the clients are not there'
	for ((round = 1; round <= ${ROUNDS:-1000}; round++)); do
		way=()
		((round % 8)) || way=(--stop)
		expect_round "${way[@]}" || fail "round $round"
		kill -0 "$LOAD" || fail "a request failed by round $round: $(cat counted)"
		((round != 10)) || { until_true 30 threads_are $((CLIENTS + 1)); memory; early=$MEMORY early_stacks=$STACKS early_malloc=$MALLOC; }
	done
	# Those that asked for the boiler have gone, and no client's thread has.
	until_true 30 threads_are $((CLIENTS + 1)) || fail "not all threads are there"
	memory
	echo "# after 10 rounds: $early, of stacks $early_stacks, of malloc $early_malloc" >&3
	echo "# after $((round - 1)): $MEMORY, of stacks $STACKS, of malloc $MALLOC" >&3
	kill "$LOAD"
	wait "$LOAD" || fail "requests failed: $(cat counted)"
	LOAD=''
	echo "# $(cat counted)" >&3
	[ "$MEMORY" = "$early" ] || fail "$MEMORY, after 10 rounds $early"
	# Each stack may have been gone down a page or two deeper, once; and whoever asks has a
	# thread, and may get an arena that had none yet. Neither grows with the rounds.
	[ "$STACKS" -le $((early_stacks + 8 * (CLIENTS + 2))) ] || fail "$STACKS KiB of stacks, after 10 rounds $early_stacks"
	[ "$MALLOC" -le $((early_malloc + 8 * (CLIENTS + 2))) ] || fail "$MALLOC KiB of malloc's, after 10 rounds $early_malloc"
	[ "$(sed -n 's/^TracerPid:\t//p' "/proc/$SERVER/status")" = 0 ] || fail 'it is still held'
}
