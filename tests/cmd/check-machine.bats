# SPDX-License-Identifier: GPL-3.0-or-later
# check-machine.bats - what the machine allows, here and elsewhere; what would stop an update
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	export PUBLIC=$BATS_FILE_TMPDIR/public
	mkdir "$PUBLIC"
	install -m 755 "$USPL_BIN/uspl" "$PUBLIC/uspl"
	"${TARGET_CC:-gcc}" -shared -fPIC -O -o "$PUBLIC/deny.so" "$BATS_TEST_DIRNAME/../lib/deny.c"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$PUBLIC"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
}

teardown() {
	local pid
	[ ! -e "${GROUP:-}/freezer.state" ] || echo THAWED > "$GROUP/freezer.state"
	for pid in $STARTED; do
		kill -KILL "$pid" 2> /dev/null || :
		wait "$pid" 2> /dev/null || :
	done
	[ -z "${GROUP:-}" ] || until_true 60 rmdir "$GROUP"
}

# start COMMAND... - starts a process that the test ends; PROCESS is its pid
start() {
	"$@" > /dev/null 2>&1 3>&- < /dev/null &
	PROCESS=$!
	STARTED+=" $PROCESS"
}

# start_sleep [COMMAND...] - the same, of a command that becomes sleep
start_sleep() {
	start "$@" sleep 300
	until_true 60 grep -qx sleep "/proc/$PROCESS/comm"
}

# check COMMAND... - runs the command that runs uspl check-machine
check() {
	run --separate-stderr timeout --kill-after=5 60 "$@"
}

# check_denied NAMES [ARG]... - the same where these calls fail (deny.c)
check_denied() {
	check env DENY="$1" LD_PRELOAD="$PUBLIC/deny.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0" \
		"$PUBLIC/uspl" check-machine "${@:2}"
}

# as_nobody - what is put before a command for a user without rights
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# need_root - skips a test that only root can make
need_root() {
	[ "$(id -u)" = 0 ] || skip "$1"
}

# expect_line ANSWER NAME [REGEX] - fails unless it is said so of that name, and the rest of the
# line is like that
expect_line() {
	grep -qE "^$1 +$2  .*${3:-}" <<< "$output" || fail "no line '$1 $2' like '${3:-}'"
}

@test "here: a line for each question, and for each tracer that there is" {
	local tracer
	check "$USPL_BIN/uspl-check-machine"
	expect_status 0
	[ -z "$stderr" ]
	! grep -vE '^(ok     |limited|no     )  [a-z-]+ +[^ ].*[^.]$' <<< "$output" ||
		fail 'a line of another form'
	expect_line ok update
	for tracer in $("$USPL_BIN/uspl-trace" tracers | cut -d ' ' -f 1); do
		expect_line '(ok|limited|no)' "trace-$tracer"
	done
	[ "$(id -u)" != 0 ] || expect_line ok trace-graph
}

@test "no process of ours is left, and none when it is killed" {
	start "$USPL_BIN/uspl" check-machine
	until_true 60 pgrep -P "$PROCESS"
	mapfile -t children < <(pgrep -P "$PROCESS")
	kill -KILL "$PROCESS"
	for child in "${children[@]}"; do
		until_true 60 is_gone "$child"
	done
}

# is_gone PROCESS - true if there is no such process, or it only waits for its parent
is_gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

@test "a user without rights: what is said is what the commands do" {
	need_root 'only root can become another user'
	check "${as_nobody[@]}" "$PUBLIC/uspl" check-machine --json
	expect_status 0
	python3 - "$output" << 'END'
import json, sys
told = json.loads(sys.argv[1])
assert told["works"] is True and told["kernel"]
answers = {a["name"]: a for a in told["machine"]}
assert len(answers) == len(told["machine"])
for a in told["machine"]:
    assert set(a) == {"name", "answer", "text", "way_out"}, a
    assert a["answer"] in ("ok", "limited", "no"), a
for name, answer in (("update", "ok"), ("rights", "limited"), ("taskstats", "limited"),
                     ("seccomp", "limited")):
    assert answers[name]["answer"] == answer, answers[name]
assert "root" in answers["rights"]["way_out"]
for name in ("syscall", "wakeup", "sched", "sample"):
    print(name, answers["trace-" + name]["answer"])
END
	local tracer answer
	start_sleep "${as_nobody[@]}"
	while read -r tracer answer; do
		run --separate-stderr timeout 60 "${as_nobody[@]}" "$PUBLIC/uspl" trace start \
			"--tracer=$tracer" --time=10ms "$PROCESS"
		case $answer in
		no) [ "$status" != 0 ] || fail "$tracer works" ;;
		*) [ "$status" = 0 ] || fail "$tracer doesn't work" ;;
		esac
	done < <(python3 -c 'import json, sys
for a in json.loads(sys.argv[1])["machine"]:
    if a["name"] in ("trace-syscall", "trace-wakeup", "trace-sched", "trace-sample"):
        print(a["name"][6:], a["answer"])' "$output")
}

@test "memory that can't be written: no update, and the setting is named" {
	check_denied write
	expect_status 1
	expect_line ok processes
	expect_line no memory-write 'proc_mem\.force_override'
	expect_line no map-memory
	expect_line no update
	expect_line no trace-graph
}

@test "no ptrace: no update, and no tracer in functions; those that observe work" {
	check_denied ptrace
	expect_status 1
	expect_line ok memory-write
	expect_line no map-memory
	expect_line no trace-graph
	expect_line '(ok|limited)' trace-sched
}

@test "a machine with much to do: a thread that gets no processor for a while is waited for" {
	check_denied late
	expect_status 0
	expect_line ok update
	expect_line ok memory-write
}

@test "no perf events: updates go, with those stopped that run; tracers say what they can't" {
	check_denied perf
	expect_status 0
	expect_line limited quiet-way 'those that run are stopped'
	expect_line limited clock-samples 'perf_event_paranoid'
	expect_line limited breakpoints 'Permission denied; way out: '
	expect_line no perf-events
	expect_line ok trace-graph
	expect_line no trace-sample
	expect_line limited trace-sched 'sums only'
	expect_line no trace-wakeup
}

@test "no kcmp, no netlink: what is not known then" {
	start_sleep
	check_denied 'kcmp netlink' "$PROCESS"
	expect_status 0
	expect_line limited shared-memory 'CONFIG_KCMP'
	expect_line limited taskstats 'one by one'
	expect_line ok quiet-way
}

@test "a container: a pid namespace of its own" {
	unshare --pid --fork --mount-proc true 2> /dev/null || skip 'no namespace can be made here'
	check unshare --pid --fork --mount-proc "$USPL_BIN/uspl" check-machine
	expect_status 0
	expect_line limited container 'pid namespace'
	expect_line ok update
}

@test "processes that are hidden, Yama's setting, and a filter that is our own" {
	need_root 'only root can mount and become another user'
	unshare --mount mount -t tmpfs none /proc/sys/kernel 2> /dev/null ||
		skip 'nothing can be mounted here'
	cat > "$BATS_TEST_TMPDIR/surroundings" << 'END'
set -e
mount -t proc -o hidepid=2 none /proc
mount -t tmpfs none /proc/sys/kernel
mkdir /proc/sys/kernel/yama
echo 1 > /proc/sys/kernel/yama/ptrace_scope
exec "$@"
END
	check unshare --mount sh "$BATS_TEST_TMPDIR/surroundings" "${as_nobody[@]}" --no-new-privs \
		"$PUBLIC/uspl" check-machine
	expect_status 0
	expect_line limited proc 'hidepid'
	expect_line limited yama 'ptrace_scope is 1.*way out: '
	expect_line limited rights 'no_new_privs'
}

@test "a filter of our own, as in a container: no process under one can be patched" {
	"${TARGET_CC:-gcc}" -o "$BATS_TEST_TMPDIR/refuse" "$BATS_TEST_DIRNAME/../lib/refuse.c"
	start_sleep
	check "$BATS_TEST_TMPDIR/refuse" perf_event_open "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 1
	expect_line no map-memory 'run it outside of the container'
	expect_line limited seccomp
	expect_line ok process-seccomp
}

@test "a process that can be patched" {
	start_sleep
	check "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 0
	expect_line ok process "pid $PROCESS"
	expect_line ok process-threads '1: each'
	[[ $output != *trace-* ]]
	check "$USPL_BIN/uspl" check-machine --quiet "$PROCESS"
	expect_status 0
	[ -z "$output" ]
}

@test "processes that can't be: 32 bits, traced, a zombie, a kernel thread" {
	local helpers=$BATS_TEST_DIRNAME/../lib target
	start_sleep
	target=$PROCESS
	if command -v strace > /dev/null; then
		start strace -qq -o /dev/null -p "$target"
		until_true 60 is_traced "$target"
		check "$USPL_BIN/uspl" check-machine "$target"
		expect_status 1
		expect_line no process "traced by pid [0-9]+ \('strace'\).*way out: detach"
	fi
	if "${TARGET_CC:-gcc}" -m32 -nostdlib -static -o "$BATS_TEST_TMPDIR/idle32" "$helpers/idle32.S"; then
		# A kernel without 32-bit programs starts none (126).
		# shellcheck disable=SC2016 # bash's own
		check timeout 1 bash -c 'exec "$0"' "$BATS_TEST_TMPDIR/idle32"
		[ "$status" -eq 126 ] || start "$BATS_TEST_TMPDIR/idle32"
		[ "$status" -eq 126 ] || until_true 60 grep -qx idle32 "/proc/$PROCESS/comm"
		if [ "$status" -ne 126 ]; then
			check "$USPL_BIN/uspl" check-machine --json "$PROCESS"
			expect_status 1
			expect_output '"works": ?false'
			expect_output "pid $PROCESS is a 32-bit process"
		fi
	fi
	if grep -q '^Kthread:.1' /proc/2/status 2> /dev/null; then
		check "$USPL_BIN/uspl" check-machine 2
		expect_status 1
		expect_line no process 'kernel thread'
	fi
}

# is_traced PROCESS - true if a tracer is attached
is_traced() {
	grep -q '^TracerPid:.[1-9]' "/proc/$1/status"
}

@test "a process under seccomp: by root, and by its user" {
	need_root 'only root can become another user'
	"${TARGET_CC:-gcc}" -o "$PUBLIC/refuse" "$BATS_TEST_DIRNAME/../lib/refuse.c"
	start_sleep "${as_nobody[@]}" "$PUBLIC/refuse" perf_event_open
	check "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 0
	expect_line ok process-seccomp 'suspended'
	check "${as_nobody[@]}" "$PUBLIC/uspl" check-machine "$PROCESS"
	expect_status 1
	expect_line no process-seccomp 'way out: run as root'
}

@test "a process at its limits" {
	start_sleep
	prlimit --pid "$PROCESS" --as=$(($(awk '/^VmSize/ { print $2 }' "/proc/$PROCESS/status") * 1024)):
	check "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 0
	expect_line limited process-limits 'address space leaves 0 KiB'
	need_root 'only root can make a control group'
	memory_group "$PROCESS"
	check "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 1
	expect_line no process-memory 'has [0-9]+ KiB left.*way out: raise'
}

# memory_group PID - puts the process into a memory control group with 100 KiB left
memory_group() {
	local root=/sys/fs/cgroup limit=memory.max usage=memory.current
	[ ! -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] || {
		root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes usage=memory.usage_in_bytes
	}
	GROUP=$root/uspl-test-$$-$BATS_TEST_NUMBER
	mkdir "$GROUP" 2> /dev/null || { GROUP= && skip 'no control group can be made here'; }
	[ -e "$GROUP/$limit" ] || skip 'the memory controller is not there'
	echo "$1" > "$GROUP/cgroup.procs"
	echo $(($(cat "$GROUP/$usage") + 102400)) > "$GROUP/$limit"
}

@test "a frozen process can't be stopped" {
	local freezer=/sys/fs/cgroup/freezer
	need_root 'only root can make a control group'
	[ -d $freezer ] || skip 'this kernel freezes groups so that their threads can be stopped'
	start_sleep
	GROUP=$freezer/uspl-test-$$-$BATS_TEST_NUMBER
	mkdir "$GROUP" 2> /dev/null || { GROUP= && skip 'no control group can be made here'; }
	echo "$PROCESS" > "$GROUP/cgroup.procs"
	echo FROZEN > "$GROUP/freezer.state"
	until_true 60 grep -qx FROZEN "$GROUP/freezer.state"
	check "$USPL_BIN/uspl" check-machine "$PROCESS"
	expect_status 1
	expect_line no process-threads 'frozen control group'
	echo THAWED > "$GROUP/freezer.state"
}

@test "no such process, and wrong command lines" {
	check "$USPL_BIN/uspl" check-machine 4194303
	expect_status 3
	expect_message '^uspl-check-machine: there is no process with pid 4194303'
	check "$USPL_BIN/uspl" check-machine 1 2
	expect_status 2
	check "$USPL_BIN/uspl" check-machine x
	expect_status 2
	expect_message "'x' is not a pid"
}
