# SPDX-License-Identifier: GPL-3.0-or-later
# churn.bats - a server in which children, threads, libraries and mappings come and go all the time:
# what passes in milliseconds is waited for, and no command is refused for it
#
# CHURN_ROUNDS=N makes N rounds of each (3).
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of ../cmd/churn fix.patch '-O2 -pthread'
	"$TARGET_CC" -O2 -shared -fPIC -xc -o "$FIXTURE/tree/libplugin.so" "$BATS_TEST_DIRNAME/churn/plugin.lib"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	: "${CHURN_ROUNDS:=3}"
	REFUSED=0
	expect_answer 'start all' started
	until_true 60 nothing_idles
}

teardown() {
	target_stop
}

# nothing_idles - true if every worker has done something since this was asked last
nothing_idles() {
	ask progress && [ "$REPLY" = '0 idle' ]
}

# counted TOOL ARG... - runs a tool, and counts it if it is refused or fails
counted() {
	TOOL_SECONDS=120 tool "$@"
	[ "$status" = 0 ] && return
	REFUSED=$((REFUSED + 1))
	echo "$* (round $round): status $status: $stderr"
}

# expect_none_refused - and the server has noticed nothing
expect_none_refused() {
	[ "$REFUSED" = 0 ] || fail "$REFUSED commands were refused" || return
	until_true 60 nothing_idles || fail 'a thread does not go on' || return
	expect_answer wrong '0 wrong'
}

@test "apply and undo" {
	for round in $(seq "$CHURN_ROUNDS"); do
		counted uspl-apply "$UPDATE" "$TARGET"
		expect_answer version 2
		counted uspl-undo "$ID" "$TARGET"
		expect_answer version 1
	done
	expect_none_refused
}

@test "apply and undo with all threads stopped" {
	for round in $(seq "$CHURN_ROUNDS"); do
		counted uspl-apply --stop "$UPDATE" "$TARGET"
		expect_answer version 2
		counted uspl-undo --stop "$ID" "$TARGET"
		expect_answer version 1
	done
	expect_none_refused
}

@test "tracing starts and stops" {
	for round in $(seq "$CHURN_ROUNDS"); do
		counted uspl-trace start "$TARGET"
		expect_answer version 1
		counted uspl-trace stop "$TARGET"
		expect_answer version 1
	done
	expect_none_refused
}

@test "tracing of all modules starts and stops" {
	for round in $(seq "$CHURN_ROUNDS"); do
		counted uspl-trace start -m '*' --tracer=function "$TARGET"
		expect_answer version 1
		counted uspl-trace stop "$TARGET"
		expect_answer version 1
	done
	expect_none_refused
}
