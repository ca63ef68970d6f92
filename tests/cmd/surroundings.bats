# SPDX-License-Identifier: GPL-3.0-or-later
# surroundings.bats - debuggers that come and go, frozen control groups, and who may trace whom
# shellcheck disable=SC2030,SC2031 # each test has its own
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
}

teardown() {
	[ -z "${GROUP:-}" ] || echo THAWED > "$GROUP/freezer.state" 2> /dev/null || echo 0 > "$GROUP/cgroup.freeze"
	tracer_stop
	target_stop
	[ -z "${GROUP:-}" ] || until_true 60 rmdir "$GROUP"
}

# tracer_start COMMAND... - starts a program that attaches to the target, and waits until it has
tracer_start() {
	"$@" > "$BATS_TEST_TMPDIR/tracer" 2>&1 3>&- < /dev/null &
	TRACER=$!
	until_true 60 is_traced || fail "$1 does not attach"
}

# tracer_stop - ends it
tracer_stop() {
	[ -n "${TRACER:-}" ] || return 0
	kill -KILL "$TRACER" 2> /dev/null || :
	wait "$TRACER" 2> /dev/null || :
	TRACER=
}

is_traced() {
	[ "$(status_of TracerPid)" != 0 ]
}

is_untraced() {
	! is_traced
}

# expect_refused_while_traced NAME - refused by the tracer's name; when it has left, all works
expect_refused_while_traced() {
	apply
	expect_status 1 || return
	expect_one_message || return
	expect_message "traced by pid [0-9]+ \('$1'\).*hint: detach" || return
	tracer_stop
	until_true 60 is_untraced || fail "$1 does not go" || return
	expect_update_works
}

@test "strace is attached: refused; when it has left, it works" {
	command -v strace > /dev/null || skip 'strace is not installed'
	tracer_start strace -qq -o /dev/null -p "$TARGET"
	expect_refused_while_traced strace
}

@test "a debugger that was killed a moment ago, and has not let go yet, is waited for" {
	local seize
	seize=$(helper_build seize)
	for _ in 1 2 3; do
		helper_start "$seize" "$TARGET" 300
		kill -KILL "$HELPER_PID"
		apply
		expect_status 0
		helper_stop
		undo
		expect_status 0
	done
	expect_untouched
}

@test "a debugger that comes after the update sees the new code, and undo is refused until it has left" {
	command -v strace > /dev/null || skip 'strace is not installed'
	apply
	expect_status 0
	tracer_start strace -qq -o /dev/null -p "$TARGET"
	undo
	expect_status 1
	expect_message "traced by pid [0-9]+ \('strace'\)"
	expect_answer hello 'goodbye, world'
	tracer_stop
	until_true 60 is_untraced
	undo
	expect_status 0
	expect_untouched
}

# freeze - puts the target into a control group of its own, and freezes that
freeze() {
	local root=/sys/fs/cgroup
	[ "$(id -u)" = 0 ] || skip 'only root can make a control group'
	[ ! -d $root/freezer ] || root=/sys/fs/cgroup/freezer
	GROUP=$root/uspl-test-$$-$BATS_TEST_NUMBER
	mkdir "$GROUP" 2> /dev/null || { GROUP= && skip 'no control group can be made here'; }
	[ -e "$GROUP/freezer.state" ] || skip 'this kernel freezes groups so that their threads can be stopped'
	echo "$TARGET" > "$GROUP/cgroup.procs"
	echo FROZEN > "$GROUP/freezer.state"
	until_true 60 is_frozen
}

is_frozen() {
	[ "$(cat "$GROUP/freezer.state")" = FROZEN ]
}

@test "a frozen process: refused in time, and it goes on as before" {
	local option
	SUM=$(text_sum)
	freeze
	for option in --wait=0.1 --stop --check; do
		TOOL_SECONDS=30 apply "$option"
		expect_status 1
		expect_one_message
		expect_message 'does not stop: state D, waiting in .*hint: .*frozen control group'
		expect_untraced
	done
	TOOL_SECONDS=30 tool uspl-trace start --wait=0.1 "$TARGET"
	expect_status 1
	expect_message 'does not stop: state D, waiting in .*hint: .*a longer --wait'
	expect_untraced
	echo THAWED > "$GROUP/freezer.state"
	expect_untouched
	expect_update_works
}

# as_nobody_under_yama SCOPE COMMAND... - runs a command as a user without rights, where Yama's
# setting reads SCOPE
as_nobody_under_yama() {
	local set="mkdir /proc/sys/kernel/yama && echo $1 > /proc/sys/kernel/yama/ptrace_scope"
	shift
	[ "$(id -u)" = 0 ] || skip 'only root can become another user'
	unshare --mount mount -t tmpfs none /proc/sys/kernel || skip 'nothing can be mounted here'
	run --separate-stderr timeout 60 unshare --mount sh -c "mount -t tmpfs none /proc/sys/kernel && $set && exec \"\$@\"" sh \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

@test "a process that may not be touched: the hint says what Yama's setting means" {
	local public scope
	public=$(mktemp -d)
	install -m 755 "$USPL_BIN/uspl" "$public/uspl-undo"
	chmod 755 "$public"
	for scope in '0 as the process.s user or as root' '1 as root: kernel.yama.ptrace_scope is 1' \
		'2 as root: kernel.yama.ptrace_scope is 2' '3 until the machine is started anew'; do
		as_nobody_under_yama "${scope%% *}" "$public/uspl-undo" some "$TARGET"
		expect_status 3
		expect_one_message
		expect_message "cannot open the memory of pid $TARGET.*hint: .*${scope#* }"
	done
	rm -r "$public"
	expect_answer hello 'hello, world'
}

@test "a process in a frozen control group of version 2 is refused at once, and named" {
	local root
	[ "$(id -u)" = 0 ] || skip 'only root can make a control group'
	root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	[ -n "$root" ] || skip 'no hierarchy of version 2 is mounted'
	GROUP=$root/uspl-test-$$-$BATS_TEST_NUMBER
	mkdir "$GROUP" 2> /dev/null || { GROUP= && skip 'no control group can be made here'; }
	[ -e "$GROUP/cgroup.freeze" ] || skip 'this kernel freezes no groups of version 2'
	echo "$TARGET" > "$GROUP/cgroup.procs"
	echo 1 > "$GROUP/cgroup.freeze"
	until_true 60 grep -q 'frozen 1' "$GROUP/cgroup.events"
	apply
	expect_status 1
	expect_message "is in the frozen control group '/uspl-test-.*hint: .*thawed"
	tool uspl-trace start "$TARGET"
	expect_status 1
	expect_message 'is in the frozen control group'
	echo 0 > "$GROUP/cgroup.freeze"
	apply
	expect_status 0
	expect_answer hello 'goodbye, world'
	undo
	expect_status 0
}
