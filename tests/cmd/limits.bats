# SPDX-License-Identifier: GPL-3.0-or-later
# limits.bats - processes that may not have more memory: the update is refused, and they live on;
# other limits are no matter
# shellcheck disable=SC2030,SC2031 # output and status are bats' own, and used in the test that sets them
#
# The update brings a variable and a long text, so that it has memory of every kind.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_of limits fix.patch
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	expect_answer hello 'hello, world'
}

teardown() {
	target_stop
	[ -z "${GROUP:-}" ] || until_true 60 rmdir "$GROUP"
}

# set_limit NAME VALUE - sets a limit of the target; the hard one stays, so that it can be raised
# again
set_limit() {
	prlimit --pid "$TARGET" "--$1=$2:"
}

# set_hard_limit NAME VALUE - sets both limits, and runs the tools without the right to raise them,
# root or not
set_hard_limit() {
	prlimit --pid "$TARGET" "--$1=$2:$2"
	[ "$(id -u)" != 0 ] || WEAK=(setpriv --bounding-set=-sys_resource)
}

tool() {
	run --separate-stderr timeout --kill-after=5 "${TOOL_SECONDS:-60}" "${WEAK[@]}" "$USPL_BIN/$1" "${@:2}"
}

# limit_of NAME - the soft limit
limit_of() {
	prlimit --pid "$TARGET" "--$1" --noheadings --raw --output SOFT
}

# size_of FIELD - a size in the target's status, in bytes
size_of() {
	echo $(($(status_of "$1") * 1024))
}

# group_make - puts the target into a memory control group of its own; GROUP is its folder, LIMIT
# and USAGE its files
group_make() {
	local root
	[ "$(id -u)" = 0 ] || skip 'only root can make a control group'
	if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
		root=/sys/fs/cgroup/memory LIMIT=memory.limit_in_bytes USAGE=memory.usage_in_bytes
	else
		root=/sys/fs/cgroup LIMIT=memory.max USAGE=memory.current
	fi
	GROUP=$root/uspl-test-$$-$BATS_TEST_NUMBER
	mkdir "$GROUP" 2> /dev/null || { GROUP= && skip 'no control group can be made here'; }
	[ -e "$GROUP/$LIMIT" ] || skip 'the memory controller is not there'
	echo "$TARGET" > "$GROUP/cgroup.procs"
}

# group_leave BYTES [ANSWER] - sets the group's limit so that it has so many bytes left; what the
# kernel keeps in stock for it is given back before, so that it doesn't count as used
group_leave() {
	echo 0 2> /dev/null > "$GROUP/memory.force_empty" || echo 1M 2> /dev/null > "$GROUP/memory.reclaim" || :
	echo $(($(cat "$GROUP/$USAGE") + $1)) > "$GROUP/$LIMIT"
	expect_answer hello "${2:-hello, world}"
}

@test "the address space: not a byte more" {
	set_hard_limit as "$(size_of VmSize)"
	expect_refused 3 'cannot map .* Cannot allocate memory.*hint: .*/limits'
}

@test "the address space: a page more, and not enough" {
	local size
	size=$(size_of VmSize)
	set_hard_limit as $((size + 4096))
	expect_refused 3 'cannot map .* Cannot allocate memory'
	[ "$(size_of VmSize)" = "$size" ] || fail 'something stays mapped'
}

@test "the size of its data" {
	set_hard_limit data "$(size_of VmData)"
	expect_refused 3 'cannot map .* Cannot allocate memory'
}

# expect_applied_or_refused - the update is applied and taken back, or refused with the limit's name
expect_applied_or_refused() {
	apply
	case $status in
	0) expect_answer hello 'goodbye, world 1' && undo && expect_status 0 || return ;;
	*) expect_status 3 && expect_one_message &&
		expect_message 'hint: the process has [0-9]+ mappings, and vm.max_map_count allows [0-9]+: raise it' || return ;;
	esac
	REFUSED=$((${REFUSED:-0} + (status == 3)))
	expect_untouched
}

@test "as many mappings as there may be, and a few less" {
	local left maps refused=0
	for left in 0 1 2 3 5 8 13; do
		ask "map all but $left"
		[ "$REPLY" = mapped ] || skip "the process may have too many: $REPLY"
		maps=$(wc -l < "/proc/$TARGET/maps")
		REFUSED=0
		expect_applied_or_refused || fail "with $left left"
		refused=$((refused + REFUSED))
		[ "$REFUSED" = 0 ] || [ "$(wc -l < "/proc/$TARGET/maps")" = "$maps" ] || fail "something stays mapped with $left left"
		tool uspl-trace start "$TARGET" -F greet
		[ "$status" = 0 ] || expect_message 'hint: the process has [0-9]+ mappings, and vm.max_map_count'
		[ "$status" != 0 ] || tool uspl-trace stop "$TARGET"
		expect_answer hello 'hello, world'
		target_stop
		rm -r "$BATS_TEST_TMPDIR/run"
		fixture_start
	done
	[ "$refused" -gt 1 ] || fail 'it was applied where nothing more could be mapped'
}

@test "limits that may be lifted for the moment are, and put back" {
	local limit=$(($(size_of VmSize))) data=$(($(size_of VmData)))
	set_limit as "$limit"
	set_limit data "$data"
	apply
	expect_status 0
	expect_answer hello 'goodbye, world 1'
	[ "$(limit_of as) $(limit_of data)" = "$limit $data" ] || fail "limits are $(limit_of as) $(limit_of data)"
	undo
	expect_status 0
	expect_untouched
}

@test "a tool that is killed while limits are lifted: they are put back" {
	local limit=$(($(size_of VmSize)))
	set_limit as "$limit"
	# Its child takes its time before it lifts them.
	USPL_WORKER=none strace -f -o "$BATS_TEST_TMPDIR/calls" -e trace=setsid,prlimit64 -e inject=setsid:delay_exit=500000 \
		"$USPL_BIN/uspl-apply" "$UPDATE" "$TARGET" > /dev/null 2>&1 &
	until_true 60 grep -q 'setsid' "$BATS_TEST_TMPDIR/calls"
	kill -9 "$(awk 'NR == 1 { print $1 }' "$BATS_TEST_TMPDIR/calls")"
	wait $! || :
	grep -q 'RLIMIT_AS, {rlim_cur=[A-Z]' "$BATS_TEST_TMPDIR/calls" || fail 'no limit was lifted'
	[ "$(limit_of as)" = "$limit" ] || fail "the limit is $(limit_of as)"
}

@test "locked memory: it locks all that it maps" {
	[ "$(id -u)" = 0 ] || skip 'without root the process may lock too little'
	expect_answer lock locked
	set_limit memlock 0
	apply
	expect_status 0
	expect_answer hello 'goodbye, world 1'
	undo
	expect_status 0
	expect_untouched
}

@test "locked memory: it locks all that it maps, and has no right to more" {
	[ "$(id -u)" = 0 ] || skip 'only root can take rights away'
	expect_answer lock locked
	set_limit memlock 4096
	expect_answer 'drop rights' dropped
	expect_refused 3 'cannot map .* Resource temporarily unavailable.*hint: .*locked memory'
}

@test "processes, files, sizes of files, processor time, signals: no matter" {
	set_limit nproc 1
	set_limit nofile 3
	set_limit fsize 0
	set_limit sigpending 0
	set_limit core 0
	set_limit rtprio 0
	set_limit stack 8192
	apply
	expect_status 0
	expect_answer hello 'goodbye, world 1'
	undo
	expect_status 0
	expect_untouched
}

@test "a memory control group that is nearly full: refused, and nobody is killed" {
	group_make
	group_leave 300000
	expect_refused 1 "the memory control group '.*${GROUP##*/}' has [0-9]+ KiB left.*hint: raise its limit"
}

@test "a memory control group that is full, and an update to be undone: refused until there is room" {
	group_make
	apply
	expect_status 0
	expect_answer hello 'goodbye, world 1'
	group_leave 20000 'goodbye, world 2'
	undo
	expect_status 1
	expect_one_message
	expect_message 'the memory control group .* KiB left'
	expect_answer hello 'goodbye, world 3'
	group_leave 4000000 'goodbye, world 4'
	undo
	expect_status 0
	expect_untouched
}

@test "a memory control group with room for the update" {
	group_make
	group_leave 4000000
	apply
	expect_status 0
	expect_answer hello 'goodbye, world 1'
	undo
	expect_status 0
	expect_untouched
}

@test "a memory control group with no room for rings: tracing is refused, before and after it is loaded" {
	local left
	group_make
	for left in 300000 2500000; do
		group_leave "$left"
		run -1 "$USPL_BIN/uspl-trace" start "$TARGET"
		[[ $output =~ 'memory control group '.*${GROUP##*/}.*' KiB left, and '[0-9]+' may be needed' ]] ||
			fail "$output"
		[[ $output == *'hint: '*--buffer* ]] || fail "$output"
	done
	group_leave 4000000
	run -0 "$USPL_BIN/uspl-trace" start --buffer=64 "$TARGET"
	expect_answer hello 'hello, world'
	run -0 "$USPL_BIN/uspl-trace" stop "$TARGET"
	group_leave 16000000
	run -0 "$USPL_BIN/uspl-trace" start "$TARGET"
	expect_answer hello 'hello, world'
	run -0 "$USPL_BIN/uspl-trace" stop "$TARGET"
	expect_untouched
}
